#ifndef AB_POLICY_LAYERS_PROFILES_H
#define AB_POLICY_LAYERS_PROFILES_H
/*
 * The built-in profiles as tables of settings, so that a start needs no file.
 * A profile builds on its parent as a file does.
 */
#include <stdbool.h>
#include <stddef.h>

#include "policy/model/keys.h"

struct ab_preset {
	enum ab_key_id key;
	const char *value; /* lists: one element each; NULL: empty list */
};

struct ab_profile {
	const char *name;
	const char *parent; /* or NULL */
	const char *doc;
	const struct ab_preset *presets;
	size_t npresets;
	bool agent; /* for the agent whose program has this name */
	/* Words for its command line that switch off the agent's own sandbox, unless one of
	 * its arguments begins with one of these. */
	const char *words[3], *unless[6];
	/* With one of these subcommands the agent reads another variable for its key. */
	struct {
		const char *commands[2], *ignored, *read;
	} key;
};

extern const struct ab_profile ab_profiles[];
extern const size_t ab_profile_count;

const struct ab_profile *ab_profile_find(const char *name);
/* The profile for an agent that is started by this path or name, or NULL. */
const struct ab_profile *ab_profile_of_agent(const char *program);

/* The words that belong behind the program's name: their number, perhaps 0. Pure. */
size_t ab_profile_words(const struct ab_profile *profile, const char *const *argv, size_t argc,
			const char *const **ret);

/* The variable that this command reads instead of `name`, or NULL: it may read that one. Pure. */
const char *ab_profile_key(const struct ab_profile *profile, const char *const *argv, size_t argc,
			   const char *name);

/* The lists of the profile `default`. */
extern const char *const ab_default_deny_read[];
extern const char *const ab_default_deny_write[];
extern const char *const ab_default_strip[];

#endif
