#pragma once
/* Where a value comes from: a secret's, or the client secret of its "oauth". */
#include "policy/read/members.h"

struct ab_secret;

/* The first members of both objects. */
enum ab_source_member {
	AB_SOURCE_FROM,
	AB_SOURCE_ENV,
	AB_SOURCE_FILE,
	AB_SOURCE_KEY,
	AB_SOURCE_COMMAND,
	AB_SOURCE_MEMBERS,
};
#define AB_SOURCE_NAMES                                                                \
	[AB_SOURCE_FROM] = "from", [AB_SOURCE_ENV] = "env", [AB_SOURCE_FILE] = "file", \
	[AB_SOURCE_KEY] = "key", [AB_SOURCE_COMMAND] = "command"

/* For struct ab_members_kind. */
#define AB_SOURCE_FITTING "at most 1024 bytes"

/* `file`: what is read if the object names no file, or NULL. `env_needed`: there is no variable
 * unless the object names one. */
void ab_source_members_read(struct ab_members *m, const char *file, bool env_needed,
			    struct ab_secret *s);
