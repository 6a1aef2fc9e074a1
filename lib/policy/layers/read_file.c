#include <string.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "policy/layers/layers.h"
#include "policy/read/settings_file.h"

int ab_policy_read_file(const struct ab_policy_input *in, const char *path, char **ret_text,
			size_t *ret_len, struct ab_error *err)
{
	ab_autoproblems struct ab_problems problems = { 0 };
	ab_autofree char *text = NULL;
	struct ab_arena arena = { 0 };
	struct ab_config config;
	struct ab_context ctx = {
		.arena = &arena,
		.base = in->cwd,
		.home = in->home,
		.environ = in->environ,
	};
	size_t len;
	int r = 0;

	if (ab_settings_file_read(path, path, false, &text, &len, err) < 0)
		return -1;
	if (!text)
		return ab_fail(err, AB_ECONFIG, 0, "%s does not exist", path);
	memset(&config, 0, sizeof(config));
	ab_settings_file_parse(&ctx, AB_LAYER_USER, path, text, len, &config, &problems);
	if (problems.wrong.len)
		r = ab_settings_file_fail(&problems, err);
	ab_arena_fini(&arena);
	if (r == 0) {
		*ret_text = ab_take(text);
		*ret_len = len;
	}
	return r;
}
