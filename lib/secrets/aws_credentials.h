#pragma once
/*
 * AWS credentials in the forms that their tools write: the shared credentials
 * file with its profiles, and the JSON of `credential_process`. Pure.
 */
#include "base/base.h"

struct ab_aws_credentials {
	int64_t expires; /* wall clock, in seconds; 0: not said */
};

/*
 * Appends "ID KEY" or "ID KEY TOKEN" to `out`, which must wipe. NULL, or what is
 * wrong with the text; that never contains a byte of it. `profile` may be NULL:
 * "default", or the whole text if it has no profiles.
 */
const char *ab_aws_credentials_read(const char *text, size_t len, const char *profile,
				    struct ab_buf *out, struct ab_aws_credentials *ret);
/* The same from the three variables; token may be NULL. */
const char *ab_aws_credentials_join(const char *id, const char *key, const char *token,
				    struct ab_buf *out);
