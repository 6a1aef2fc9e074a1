#pragma once
/*
 * Prepares the secrets of one run before it starts: puts their values into the
 * vault, and covers them, that is, replaces them by placeholders in everything
 * that the box will see. Without secrets and path rules in the policy nothing
 * is created, and the TLS library is not initialised.
 */
#include "proxy/io/tls.h"
#include "proxy/secrets/vault.h"

struct ab_facts;
struct ab_policy;
struct ab_policy_input;
struct ab_spec;

struct ab_safe_file { /* declared by a secret, and contains a value; or the key of a service account */
	char *path; /* real */
	char *data; /* with values covered */
	size_t len;
	uint32_t mode;
};

struct ab_safe {		    /* all zero: not needed */
	struct ab_vault *vault;	    /* NULL: no secrets */
	struct ab_tls_site *site;   /* NULL: no TLS is decrypted */
	struct ab_strv intercepted; /* canonical entries, each with a port */
	const struct ab_policy_input *input;
	struct ab_strv environ; /* the caller's environment, covered */
	struct ab_safe_file *files;
	size_t nfiles;
	struct ab_strv sources;		 /* real paths of file sources */
	struct ab_strv hidden;		 /* `sources` and the paths of `files` */
	struct timespec ran;		 /* when the first command of a source began; 0: none */
	struct ab_strv details;		 /* messages for -v */
	uint64_t stamps[AB_SECRETS_MAX]; /* of file sources when read */
	int64_t expires[AB_SECRETS_MAX]; /* ab_sourced.expires */
	/* Values of variables, and of files that the box can write, that are exchanged for access
	 * tokens, for the broker: it must not read them again. Of part 1, and of part 0 the client
	 * secret; else NULL. */
	char *held[AB_SECRETS_MAX];
};

bool ab_safe_needed(const struct ab_policy *policy);

/*
 * Reads every source, draws the placeholders, creates the certificate
 * authority, and wipes the values from our own environment block. `state` is
 * the state folder, which has the key of placeholders. Every command of a
 * source has ended when it returns: look at the host after it.
 */
int ab_safe_open(const struct ab_policy *policy, const struct ab_policy_input *input, int state,
		 struct ab_safe *ret, struct ab_strv *ret_notes, struct ab_error *err);
void ab_safe_fini(struct ab_safe *safe);
/* The broker has its copy. */
void ab_safe_forget_held(struct ab_safe *safe);

/* The caller's environment, covered. */
char *const *ab_safe_environ(const struct ab_safe *safe, const struct ab_policy_input *input);
/* Names of its variables that contain a placeholder now. */
void ab_safe_find_covered(const struct ab_safe *safe, struct ab_strv *ret_names);

/* Call before the mount plan is made. Protects covered files from the box: if
 * one were replaced on the host, the box would see the new file's values. File
 * sources are hidden unless they are covered files. */
void ab_safe_guard(const struct ab_safe *safe, struct ab_facts *facts);

/*
 * Fills in what the box sees: placeholders in the environment and argv, base
 * URLs, our authority in the system's bundles and in the variables that clients
 * read, and the covered files. Wipes values from our own command line. Fails if
 * `--env` or env.set gives another value to a variable that we set.
 */
int ab_safe_fill(const struct ab_safe *safe, const struct ab_policy *policy, struct ab_spec *spec,
		 struct ab_strv *ret_notes, struct ab_error *err);

/* Covers the words, in place; returns how many contained a value. */
size_t ab_safe_cover(const struct ab_vault *vault, struct ab_strv *words);

/* A vault of the values that can be read without running a command, to keep
 * them out of prompts and records when there is no run. NULL: no secrets. */
struct ab_vault *ab_safe_peek(const struct ab_policy *policy, const struct ab_policy_input *input);

/* masked_files.c: show this text in the box in place of the secret's file. */
int ab_safe_show_file(struct ab_safe *safe, const struct ab_secret *secret, const char *data,
		      size_t len, struct ab_error *err);
/* reads and covers the declared files. */
int ab_safe_read_files(struct ab_safe *safe, const struct ab_policy *policy,
		       struct ab_strv *ret_notes, struct ab_error *err);

/* placeholder_seed.c: the user's key for placeholders, created once. */
int ab_safe_seed(int state, uint8_t ret[AB_VAULT_SEED], struct ab_error *err);
/* How often the user replaced the placeholders, for the vault. */
int ab_safe_rotated(int state, const struct ab_secrets *secrets, struct ab_vault *vault,
		    struct ab_error *err);
/* Once the run is in live/, where the user sees it as active: they must not have been replaced since. */
int ab_safe_check(int state, const struct ab_secrets *secrets, const struct ab_vault *vault,
		  struct ab_error *err);
/* Replace those of secrets with these names, for every run that starts from now on. */
int ab_safe_rotate(int state, const struct ab_strv *names, struct ab_error *err);
