#ifndef AB_POLICY_LAYERS_LAYERS_H
#define AB_POLICY_LAYERS_LAYERS_H
/*
 * From layers to a policy. Later wins:
 *
 *	profile < /etc/agentbox/config.json < user file < project file
 *		< AGENTBOX_NET < flags
 *
 * The user file is $XDG_CONFIG_HOME/agentbox/config.json (else ~/.config), or
 * what --config or AGENTBOX_CONFIG names. The project file is .agentbox.json
 * in the workspace. The profile is the last one named: `extends` of a file,
 * AGENTBOX_PROFILE, --profile; profiles of the user's own are files in
 * profiles/ beside the user file, and build on what they extend.
 *
 * Scalars: later wins. Lists that permit (filesystem.write, read, unix;
 * network.allow, allowPrivate, hostPorts, publish; env.pass) and
 * assurance.require: a list in a later file replaces the earlier one, flags
 * add. Lists that forbid
 * (denyRead, denyWrite, network.deny, env.strip) only ever grow; "!entry"
 * takes back an earlier entry. env.set and commands.override replace by name;
 * commands.rules of a later file stand in front. An empty list means nothing.
 *
 * A project file is hostile until `agentbox trust` has recorded its content
 * (policy/layers/trust.h): until then it can only tighten, key by key, and what it
 * asked for beyond that is left out and noted.
 *
 * Relative paths: in flags and variables from cwd, in the project file from
 * its folder, elsewhere from the workspace; "~" is home.
 */
#include <stdbool.h>
#include <stddef.h>

#include "policy/model/policy.h"

struct ab_error;
struct ab_strv;

struct ab_setting {
	const char *key; /* "network.allow" */
	/* As typed; lists: one element. NULL: empty what lower layers have
	 * in this list (before any other flag adds to it). */
	const char *value;
	const char *origin; /* "--allow": shown to people */
};

struct ab_policy_input {
	const char *cwd;			  /* clean absolute */
	const char *home;			  /* clean absolute, or NULL */
	char *const *environ;			  /* the caller's */
	const char *workspace, *profile, *config; /* flags, or NULL */
	const char *system_config;		  /* NULL: /etc/agentbox/config.json */
	bool judging;				  /* nothing will run: any folder will do */
	/* Files that count as not there, and folders whose files do; clean
	 * paths; or NULL. */
	const struct ab_strv *absent;
	bool no_project; /* whatever the folder: its file has no say */
	const struct ab_setting *settings;
	size_t nsettings;
};

/*
 * The policy of a run; free with ab_policy_free(). `ret_notes` (may be NULL)
 * gets one line for each thing that a person should know. Fails with
 * AB_ECONFIG (a file) or AB_EUSAGE (flags, variables, workspace).
 */
int ab_policy_load(const struct ab_policy_input *in, struct ab_policy **ret_policy,
		   struct ab_strv *ret_notes, struct ab_error *err);

/* The policy that a profile, or a file (a name with "/" or ".json"), makes by
 * itself: no other layer. */
int ab_policy_load_one(const struct ab_policy_input *in, const char *what,
		       struct ab_policy **ret_policy, struct ab_error *err);

/*
 * All problems of one file, a line each: "file:line: key: what is wrong; what
 * would be right". None: the file is good. Fails when it cannot be read.
 */
int ab_policy_check_file(const struct ab_policy_input *in, const char *path,
			 struct ab_strv *ret_problems, struct ab_error *err);

/* The bytes of a file in which nothing is wrong; free them. */
int ab_policy_read_file(const struct ab_policy_input *in, const char *path, char **ret_text,
			size_t *ret_len, struct ab_error *err);

/* The files that a run looks at. */
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

/* The user's own settings file, whether it exists or not; free it. NULL: there
 * is no place for one. */
char *ab_policy_user_file(const struct ab_policy_input *in, struct ab_error *err);

/* Names of all profiles, built in first; `ret_docs` has a line for each. */
void ab_policy_profiles(const struct ab_policy_input *in, struct ab_strv *ret_names,
			struct ab_strv *ret_docs);

#endif
