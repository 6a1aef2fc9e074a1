#pragma once
/* The two stores behind state/approvals.h: a folder for each session, with a file for each
 * answer, and one file for the "always" answers. */
#include <jansson.h>

#include "base/base.h"
#include "state/approvals.h"

/* One entry as JSON, and back; -1: it is not valid, see `ret_why`. */
void ab_approval_write(struct ab_buf *b, const struct ab_approval *approval);
int ab_approval_read(json_t *json, struct ab_approval *ret, char *ret_why, size_t room);
/* The list takes it over. */
void ab_approval_list_give(struct ab_approval_list *list, struct ab_approval *approval);
/* Open a regular file that we own and others cannot write. -1 with errno (EPERM if it is another
 * user's). */
int ab_approval_open(int dir, const char *name);
/* Open a folder that is private to us: -1 with errno. `make`: create it if it is missing. */
int ab_approval_folder(int dir, const char *name, bool make);

/* The folder of a session; *ret_dir is -1 if there is none. `make`: create it. */
int ab_sessions_open(const struct ab_policy_input *in, const struct ab_session_key *session,
		     bool make, int *ret_dir, struct ab_error *err);
int ab_sessions_find(int session, const char *key, struct ab_approval *ret,
		     struct ab_error *err); /* 1: found */
int ab_sessions_add(int session, const struct ab_approval *approval, struct ab_error *err);
int ab_sessions_list(int session, struct ab_approval_list *list, struct ab_error *err);
int ab_sessions_revoke(int session, const char *id, size_t *n, struct ab_error *err);

/* The state folder, likewise. */
int ab_kept_open(const struct ab_policy_input *in, bool make, int *ret_dir, struct ab_error *err);
/* All entries that have not expired at `now`. */
int ab_kept_read(int state, int64_t now, struct ab_approval_list *list, struct ab_error *err);
int ab_kept_add(int state, int64_t now, const struct ab_approval *approval, struct ab_error *err);
int ab_kept_revoke(int state, int64_t now, const char *id, size_t *n, struct ab_error *err);
