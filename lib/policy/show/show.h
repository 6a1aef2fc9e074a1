#pragma once
/*
 * A policy as text. Pure. Output for people is escaped; the caller frees all
 * results.
 */
#include "base/base.h"

struct ab_policy;

/* Every value with its origin: a table, or one JSON object. */
char *ab_policy_show(const struct ab_policy *policy, bool json);

/* Only a part of it. */
struct ab_show_part {
	const char *section; /* "network", or one key, "network.allow"; NULL: all */
	bool changed;	     /* what the profile does not say */
};
char *ab_policy_show_part(const struct ab_policy *policy, const struct ab_show_part *part,
			  bool json);
/* Is there such a section or key? Else *ret_near is one with a similar name, or NULL. */
bool ab_policy_has_section(const char *section, const char **ret_near);

/* The value of one key without its origin: a scalar on a line, each element of a list on one; or
 * JSON as in a file. NULL: there is no such key. */
char *ab_policy_value(const struct ab_policy *policy, const char *key, bool json);

/* The resolved values in the form of a settings file, one line, for the
 * record of a run. Without the values of env.set (only the names) and the
 * password of network.upstream: they may be secrets. */
char *ab_policy_json(const struct ab_policy *policy);

/* Where the lists and words of network and filesystem come from, for the record of a
 * run: {"network.allow":["--allow","~/x.json:3"]}. Without those that are only
 * from the profile. */
char *ab_policy_origins(const struct ab_policy *policy);

/* SHA-256 of all resolved values. */
void ab_policy_digest(const struct ab_policy *policy, char ret_hex[65]);

/* The rules for commands: the user's own, then the built-in ones with the
 * verdicts in force. */
char *ab_policy_rules(const struct ab_policy *policy, bool json);
