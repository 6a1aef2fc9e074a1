#include "base/text/guess.h"
#include "policy/layers/load.h"
#include "policy/read/settings_file.h"
#include "policy/values/paths.h"

static bool is_file(const char *what)
{
	size_t n = strlen(what);

	return strchr(what, '/') || (n > 5 && !strcmp(what + n - 5, ".json"));
}

/* Can it become the system's file? Not a project's file, nor one in the folder of the user's. */
static bool may_be_system(const struct ab_policy_input *in, const char *path)
{
	ab_autofree char *dir = ab_config_dir(in->environ, in->home);

	return strcmp(ab_path_name(path), AB_PROJECT_CONFIG) != 0 &&
	       !(dir && ab_path_within(path, dir));
}

static int load_one(struct ab_load *l, const char *what)
{
	struct ab_config *base = &l->policy->store->config;
	const struct ab_value *parent;
	ab_autofree char *path = NULL;
	ab_autostrv struct ab_strv unread = { 0 };
	struct ab_config *layer, *managed;
	bool exists = false;

	if (!is_file(what)) {
		l->policy->profile = ab_arena_dup(l->arena, what);
		return ab_load_profile(l, what, NULL, 0, base);
	}
	path = ab_path_resolve(what, l->in->cwd, l->in->home);
	layer = ab_arena_alloc(l->arena, sizeof(*layer));
	managed = ab_arena_alloc(l->arena, sizeof(*managed));
	if (path && ab_load_file(l, AB_LAYER_USER, path, layer,
				 may_be_system(l->in, path) ? managed : NULL, &exists) < 0)
		return -1;
	if (!exists)
		return ab_fail(l->err, AB_EUSAGE, 0, "%s does not exist", path ? path : what);
	parent = &layer->v[AB_KEY_EXTENDS];
	l->policy->profile = parent->from ? parent->text : "default";
	if (ab_load_profile(l, l->policy->profile, parent->from, 0, base) < 0)
		return -1;
	ab_config_merge(l->arena, base, layer);
	ab_config_restrict(l->arena, base, managed, NULL, &unread);
	return 0;
}

int ab_policy_load_one(const struct ab_policy_input *in, const char *what,
		       struct ab_policy **ret_policy, struct ab_error *err)
{
	struct ab_value *extends;
	struct ab_load l;

	if (ab_load_init(&l, in, NULL, err) < 0 || load_one(&l, what) < 0) {
		ab_policy_free(l.policy);
		return -1;
	}
	/* The policy is only shown, so any folder will do. */
	l.chosen = true;
	extends = &l.policy->store->config.v[AB_KEY_EXTENDS];
	*extends = (struct ab_value){ .text = l.policy->profile };
	if (ab_load_finish(&l) < 0) {
		ab_policy_free(l.policy);
		return -1;
	}
	*ret_policy = l.policy;
	return 0;
}

/* Parse a text as the only layer. */
static void parse_alone(const struct ab_policy_input *in, struct ab_arena *arena, const char *name,
			const char *text, size_t len, struct ab_config *ret,
			struct ab_config *ret_managed, struct ab_problems *problems)
{
	struct ab_context ctx = {
		.arena = arena,
		.base = in->cwd,
		.home = in->home,
	};

	memset(ret, 0, sizeof(*ret));
	ab_settings_file_parse(&ctx, AB_LAYER_USER, name, text, len, ret, ret_managed, problems);
}

int ab_policy_check_text(const struct ab_policy_input *in, const char *name, const char *text,
			 size_t len, struct ab_error *err)
{
	ab_autoproblems struct ab_problems problems = { 0 };
	struct ab_arena arena = { 0 };
	struct ab_config config;

	parse_alone(in, &arena, name, text, len, &config, NULL, &problems);
	ab_arena_fini(&arena);
	return problems.wrong.len ? ab_settings_file_fail(&problems, err) : 0;
}

int ab_policy_read_file(const struct ab_policy_input *in, const char *path, char **ret_text,
			size_t *ret_len, struct ab_error *err)
{
	ab_autofree char *text = NULL;
	size_t len;

	if (ab_settings_file_read(path, path, false, &text, &len, err) < 0)
		return -1;
	if (!text)
		return ab_fail(err, AB_ECONFIG, 0, "%s does not exist", path);
	if (ab_policy_check_text(in, path, text, len, err) < 0)
		return -1;
	*ret_text = ab_take(text);
	*ret_len = len;
	return 0;
}

/* Report a file that extends a profile which does not exist. */
static void check_extends(const struct ab_policy_input *in, const char *path,
			  const struct ab_value *extends, struct ab_strv *problems)
{
	ab_autostrv struct ab_strv names = { 0 };
	const char *guess;

	ab_policy_profiles(in, &names, NULL);
	guess = ab_guess(extends->text, (const char *const *)names.v, names.len);
	if (!ab_strv_has(&names, extends->text))
		ab_strv_addf(problems, "%s:%u:%u: extends: unknown profile \"%s\"%s%s%s", path,
			     extends->from->line, extends->from->column, extends->text,
			     guess ? "; did you mean \"" : "", guess ? guess : "",
			     guess ? "\"?" : "");
}

int ab_policy_check_file(const struct ab_policy_input *in, const char *path,
			 struct ab_strv *ret_problems, struct ab_error *err)
{
	ab_autoproblems struct ab_problems problems = { 0 };
	ab_autofree char *real = ab_path_resolve(path, in->cwd, in->home);
	ab_autofree char *text = NULL;
	struct ab_arena arena = { 0 };
	struct ab_config config, managed = { 0 };
	size_t len;

	if (!real)
		return ab_fail(err, AB_EUSAGE, 0, "\"%s\" is not a file", path);
	if (ab_settings_file_read(real, path, false, &text, &len, err) < 0)
		return -1;
	if (!text)
		return ab_fail(err, AB_EUSAGE, 0, "%s does not exist", path);
	parse_alone(in, &arena, path, text, len, &config, may_be_system(in, real) ? &managed : NULL,
		    &problems);
	for (size_t i = 0; i < problems.wrong.len; i++)
		ab_strv_addf(ret_problems, "%s%s%s", problems.wrong.v[i],
			     problems.right.v[i][0] ? "; " : "", problems.right.v[i]);
	if (config.v[AB_KEY_EXTENDS].from)
		check_extends(in, path, &config.v[AB_KEY_EXTENDS], ret_problems);
	ab_arena_fini(&arena);
	return 0;
}

static void add_path(struct ab_policy_paths *p, const char *layer, char *path)
{
	if (path)
		p->v[p->len++] = (struct ab_policy_path){
			.layer = layer,
			.path = path,
			.exists = access(path, F_OK) == 0,
		};
}

int ab_policy_paths(const struct ab_policy_input *in, struct ab_policy_paths *ret_paths,
		    struct ab_error *err)
{
	ab_autofree char *dir = ab_config_dir(in->environ, in->home);
	ab_autofree char *workspace =
		ab_path_resolve(in->workspace ? in->workspace : ".", in->cwd, in->home);
	struct ab_policy_paths p = { .len = 0 };
	bool must;

	if (!workspace)
		return ab_fail(err, AB_EUSAGE, 0, "--workspace: \"%s\" is not a folder",
			       in->workspace);
	add_path(&p, "system", ab_strdup(in->system_config ? in->system_config : AB_SYSTEM_CONFIG));
	add_path(&p, "user", ab_load_user_path(in, &must));
	add_path(&p, "project", ab_path_join(workspace, AB_PROJECT_CONFIG));
	add_path(&p, "profiles", dir ? ab_path_join(dir, "profiles") : NULL);
	*ret_paths = p;
	return 0;
}

void ab_policy_paths_fini(struct ab_policy_paths *paths)
{
	for (size_t i = 0; i < paths->len; i++)
		free(paths->v[i].path);
	paths->len = 0;
}

char *ab_policy_user_file(const struct ab_policy_input *in, struct ab_error *err)
{
	bool must;
	char *path = ab_load_user_path(in, &must);

	if (path)
		return path;
	ab_fail(err, AB_EUSAGE, 0, "there is no folder for your settings");
	ab_hint(err, "set HOME or AGENTBOX_CONFIG");
	return NULL;
}
