#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/error.h"
#include "consent/hook_dialects.h"
#include "policy/model/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever is read has what its subject needs, within its bounds. */
static void check_event(const struct ab_hook_event *e)
{
	if (!e->about)
		return;
	if (strlen(e->tool) > AB_TOOL_NAME_MAX || (e->subject == AB_HOOK_COMMAND) != !!e->command)
		abort();
	if ((e->subject > AB_HOOK_COMMAND && !e->paths.len && e->subject == AB_HOOK_PATCH) ||
	    e->paths.len > 256)
		abort();
	for (size_t i = 0; i < e->paths.len; i++)
		if (!e->paths.v[i][0] || strlen(e->paths.v[i]) >= PATH_MAX)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;

	for (size_t i = 0; ab_hook_at(i); i++) {
		struct ab_error err = { 0 };
		struct ab_hook_event event;

		if (ab_hook_read(ab_hook_at(i), text, size, &event, &err) < 0)
			continue;
		check_event(&event);
		ab_hook_event_fini(&event);
	}
	return 0;
}
