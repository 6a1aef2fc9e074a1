#pragma once
/*
 * The part of a policy that can change in a live run: the lists of hosts. The
 * broker, which can read files, resolves the settings again and writes the
 * lists; the supervisor, which cannot, reads them. They travel as one text:
 *
 *	{"allow":[...],"deny":[...],"denyFrom":[...],"allowPrivate":[...],"unknown":"ask",
 *	 "mode":"filtered","intercepted":[...],"notes":[...],"waiting":[...]}
 *
 * with canonical entries; `denyFrom` says where each one of `deny` was set. `intercepted` are the hosts of secrets and of rules
 * about methods and paths: an active run cannot start to intercept another
 * host, nor change its mode, and reports it; `waiting` are the other keys that are not what they were when
 * the run began. Writing and reading are pure.
 */
#include "base/base.h"
#include "policy/model/policy.h"

struct ab_host_lists {
	struct ab_strv allow, deny, deny_from, allow_private, intercepted, notes, waiting;
	enum ab_unknown unknown;
	enum ab_net_mode mode;
};

void ab_host_lists_write(struct ab_buf *b, const struct ab_policy *policy,
			 const struct ab_strv *notes, const struct ab_strv *waiting);
/* -1: the text is not from ab_host_lists_write(). */
int ab_host_lists_read(const char *text, size_t len, struct ab_host_lists *ret,
		       struct ab_error *err);
void ab_host_lists_fini(struct ab_host_lists *lists);

/* The changes, as lines for people ("+ github.com allowed"). */
void ab_host_lists_compare(const struct ab_host_lists *before, const struct ab_host_lists *after,
			   struct ab_strv *ret);
