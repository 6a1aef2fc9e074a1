#pragma once
/*
 * The built-in profiles as tables of settings, so that a start needs no file.
 * A profile builds on its parent as a file does.
 */
#include "policy/model/keys.h"

struct ab_agent;

struct ab_preset {
	enum ab_key_id key;
	const char *value; /* lists: words (base/text/words.h); NULL: an empty list */
};

struct ab_profile {
	const char *name;
	const char *parent; /* or NULL */
	const char *doc;
	const struct ab_preset *presets;
	size_t npresets;
	const struct ab_agent *agent; /* whose profile it is, or NULL */
};

/* The profiles, a parent before its children. False: there are no more. */
bool ab_profile_at(size_t index, struct ab_profile *ret);
bool ab_profile_find(const char *name, struct ab_profile *ret);

/* The lists of the profile `default`; filesystem.denyWrite is in agents/obeyed.h. */
extern const char *const ab_default_deny_read[];
extern const char *const ab_default_strip[];

/* A variable for agents that wonder about what fails: NAME=value. */
extern const char ab_sandbox_note[];
