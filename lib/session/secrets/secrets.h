#ifndef AB_SESSION_SECRETS_SECRETS_H
#define AB_SESSION_SECRETS_SECRETS_H
/*
 * The secrets of one run, before it starts: values into the vault, and out of
 * everything that the box will see. Nothing is made, and no TLS library
 * initialised, where the policy has no secrets and no rules about paths.
 */
#include "base/data/strv.h"
#include "proxy/io/tls.h"
#include "proxy/secrets/vault.h"

struct ab_error;
struct ab_facts;
struct ab_policy;
struct ab_policy_input;
struct ab_spec;

struct ab_safe_file { /* declared, and holding a value */
	char *path;   /* real */
	char *data;   /* with the value covered */
	size_t len;
	uint32_t mode;
};

struct ab_safe {		    /* all zero: nothing of it is needed */
	struct ab_vault *vault;	    /* NULL: no secrets */
	struct ab_tls_site *site;   /* NULL: nothing is looked into */
	struct ab_strv intercepted; /* canonical entries, each with a port */
	const struct ab_policy_input *input;
	struct ab_strv environ; /* the caller's, with values covered */
	struct ab_safe_file *files;
	size_t nfiles;
	struct ab_strv sources;		 /* files that values come from, real */
	struct ab_strv hidden;		 /* these, and those of `files` */
	struct ab_strv details;		 /* like notes, for those who want more */
	uint64_t stamps[AB_SECRETS_MAX]; /* of file sources, when read */
};

/* Is there anything to do? */
bool ab_safe_needed(const struct ab_policy *policy);

/*
 * Read every source, draw the placeholders, make the authority, and wipe the
 * values from our own environment block. `state` is the state folder (for the
 * key of stable placeholders). Notes: what a person should know.
 */
int ab_safe_open(const struct ab_policy *policy, const struct ab_policy_input *input, int state,
		 struct ab_safe *ret, struct ab_strv *ret_notes, struct ab_error *err);
void ab_safe_fini(struct ab_safe *safe);

/* The caller's environment, from which nothing can be learned any more. */
char *const *ab_safe_environ(const struct ab_safe *safe, const struct ab_policy_input *input);

/* A covered file that is replaced on the host would be seen as it is: such
 * files are walls. A file that a value comes from is hidden, unless it is one
 * of those. Before the plan is made. */
void ab_safe_guard(const struct ab_safe *safe, struct ab_facts *facts);

/*
 * What the box gets to see: placeholders in environment and argv, base URLs,
 * the authority in the view of the system's bundles and in the variables that
 * clients read, declared files with placeholders in them. Our own command line
 * is wiped of values. Fails on a collision: `--env` or env.set that sets a
 * variable of ours to something else.
 */
int ab_safe_fill(const struct ab_safe *safe, const struct ab_policy *policy, struct ab_spec *spec,
		 struct ab_strv *ret_notes, struct ab_error *err);

/* Cover each word in which a value is; how many there were. */
size_t ab_safe_cover(const struct ab_vault *vault, struct ab_strv *words);

/* Before there is a run, or where there is none: those values that can be had
 * without running anything, so that no question and no record tells them.
 * NULL: no secrets. */
struct ab_vault *ab_safe_peek(const struct ab_policy *policy, const struct ab_policy_input *input);

/* masked_files.c: read and cover the declared files. */
int ab_safe_read_files(struct ab_safe *safe, const struct ab_policy *policy,
		       struct ab_strv *ret_notes, struct ab_error *err);

/* placeholder_seed.c: the user's own key for stable placeholders, made once. */
int ab_safe_seed(int state, uint8_t ret[AB_VAULT_SEED], struct ab_error *err);

#endif
