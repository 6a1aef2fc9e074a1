#pragma once
/*
 * From layers to a policy. Later layers override earlier ones:
 *
 *	profile < /etc/agentbox/config.json < user file < project file
 *		< AGENTBOX_NET < flags
 *
 * The user file is $XDG_CONFIG_HOME/agentbox/config.json (default ~/.config),
 * or the file that --config or AGENTBOX_CONFIG names, or the text of --config if it
 * begins with "{". The project file is
 * .agentbox.json in the workspace. The profile is the last one named: `extends`
 * in a file, AGENTBOX_PROFILE, --profile. If none of them names one, and a profile
 * of an agent or of the user's own has the name of the program, that one is used.
 * The user's own profiles are files in profiles/ next to the user file, and build
 * on what they extend.
 *
 * A later scalar replaces an earlier one. Lists add up. A list that does not
 * forbid (filesystem.write, read, unix; network.allow, allowPrivate, hostPorts,
 * publish; env.pass; assurance.require and others) replaces the earlier one if
 * it is written { "only": [...] }, or if it is empty, which means nothing; and
 * filesystem.read also if the earlier value is "all". In lists that forbid
 * (denyRead, denyWrite, network.deny, env.strip) "!entry" takes back an earlier
 * entry. env.set and commands.override replace by name; commands.rules of a
 * later file come first.
 *
 * A project file is untrusted until `agentbox trust` has recorded its content
 * (policy/layers/trust.h). Until then it can only tighten, key by key; anything beyond
 * that is ignored, with a note.
 *
 * Relative paths start at cwd in flags and variables, at its folder in the
 * project file, elsewhere at the workspace; "~" is home.
 */
#include "policy/model/policy.h"

#define AB_NEXT_RUN_ORIGIN "agentbox allow" /* of a setting that was granted for one run */

struct ab_setting {
	const char *key; /* "network.allow" */
	/* As typed; one element of a list. NULL: empty the list of the lower
	 * layers, before any other flag adds to it. */
	const char *value;
	const char *origin; /* "--allow": shown to people */
};

struct ab_policy_input {
	const char *cwd;	  /* clean absolute */
	const char *home;	  /* clean absolute, or NULL */
	const char *account_home; /* for "~" in managed settings; NULL: that of /etc/passwd */
	char *const *environ;	  /* the caller's */
	const char *workspace, *profile, *config; /* flags, or NULL */
	/* The program that will run, as typed, or NULL. The file that the run's PATH leads to can
	 * choose the profile; one in the workspace does not: a box could have put it there. */
	const char *program;
	const char *system_config; /* NULL: /etc/agentbox/config.json */
	bool judging;		   /* nothing will run, so any folder will do */
	/* Files and folders that are treated as missing; clean paths; or
	 * NULL. */
	const struct ab_strv *absent;
	bool no_project; /* ignore the project file */
	/* The caller uses nothing of denyWrite before ab_policy_protect_registries(). */
	bool registries_later;
	/* Settings in place of the user file; NULL: read the file. For the box of a tool. */
	const char *config_text;
	bool details; /* name each key of which an untrusted file asks for more */
	const struct ab_setting *settings;
	size_t nsettings;
};

/*
 * The policy of a run; free with ab_policy_free(). `ret_notes` (may be NULL)
 * gets one line for each thing that the user should know. Fails with
 * AB_ECONFIG (a file) or AB_EUSAGE (flags, variables, workspace).
 */
int ab_policy_load(const struct ab_policy_input *in, struct ab_policy **ret_policy,
		   struct ab_strv *ret_notes, struct ab_error *err);

/*
 * Add the files in which tools keep their registry to denyWrite, where the box could write. It takes as
 * long as the rest of loading, and the launch needs nothing of it. Does nothing the second time.
 */
void ab_policy_protect_registries(struct ab_policy *policy, const struct ab_policy_input *in);
/* Another program has run since, and may have written them: the next time looks again. */
void ab_policy_forget_registries(struct ab_policy *policy);

/* The policy of one profile or file (a name with "/" or ".json"), without any
 * other layer. */
int ab_policy_load_one(const struct ab_policy_input *in, const char *what,
		       struct ab_policy **ret_policy, struct ab_error *err);

/*
 * All mistakes in one file, one line each: "file:line:column: key: what is
 * wrong; what would be right". None: the file is good. Fails if it cannot be
 * read.
 */
int ab_policy_check_file(const struct ab_policy_input *in, const char *path,
			 struct ab_strv *ret_problems, struct ab_error *err);

/* The first mistake of a text that would be a settings file; `name` is for messages. */
int ab_policy_check_text(const struct ab_policy_input *in, const char *name, const char *text,
			 size_t len, struct ab_error *err);

/* The bytes of a file without a mistake; free them. */
int ab_policy_read_file(const struct ab_policy_input *in, const char *path, char **ret_text,
			size_t *ret_len, struct ab_error *err);

/* The name of a file in messages: relative to cwd, to "~", or absolute. */
char *ab_policy_file_name(const struct ab_policy_input *in, const char *path);

/* The files that a run reads. */
struct ab_policy_path {
	const char *layer; /* "system", "user", "project", "profiles" */
	char *path;
	bool exists;
};

struct ab_policy_paths {
	struct ab_policy_path v[4];
	size_t len;
};

int ab_policy_paths(const struct ab_policy_input *in, struct ab_policy_paths *ret_paths,
		    struct ab_error *err);
void ab_policy_paths_fini(struct ab_policy_paths *paths);

/* The path of the user's settings file, which need not exist; free it. NULL:
 * there is no folder for it. */
char *ab_policy_user_file(const struct ab_policy_input *in, struct ab_error *err);

/* Names of all profiles, built in first; `ret_docs` has a line for each: its description, or of one
 * of the user's own without one its path. */
void ab_policy_profiles(const struct ab_policy_input *in, struct ab_strv *ret_names,
			struct ab_strv *ret_docs);
