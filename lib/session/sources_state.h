#ifndef AB_SESSION_SOURCES_STATE_H
#define AB_SESSION_SOURCES_STATE_H
/* Between sources.c and sources_command.c. */
#include "session/sources.h"

/* Pages of its own: in no core file and in no child; locked where the limit
 * of locked memory lets it be. */
void *ab_sourced_pages(size_t len);
void ab_sourced_drop(void *pages, size_t len); /* wipes */

/* Without what is around it, which is no part of a value. */
void ab_sourced_trim(const char **s, size_t *len);

/* Into ret, which may have room already; `where` is for people. */
int ab_sourced_keep(const struct ab_secret *secret, const char *where, const char *value,
		    size_t len, struct ab_sourced *ret, struct ab_error *err);

/* sources_command.c */
int ab_source_run(const struct ab_secret *secret, char *const *env, unsigned ms,
		  struct ab_sourced *ret, struct ab_error *err);

#endif
