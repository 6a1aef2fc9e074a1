#ifndef AB_POLICY_EDIT_INHERITED_LISTS_H
#define AB_POLICY_EDIT_INHERITED_LISTS_H
/*
 * Lists and the layers they come from, for whoever adds to the user's own file.
 * A list there that permits something replaces those of the layers below, so a
 * new one begins with what was in force.
 */
struct ab_error;
struct ab_policy;
struct ab_policy_input;
struct ab_strv;

/* What this profile and the system's file say, in the words of a file: "."
 * for the workspace, "@npm" for a group. */
int ab_policy_below(const struct ab_policy_input *in, const char *profile, const char *key,
		    struct ab_strv *ret, struct ab_error *err);

/* Where an element of a list came from, or with NULL the list as a whole:
 * "~/.config/agentbox/config.json:3"; NULL: it is not there. */
char *ab_policy_origin(const struct ab_policy *policy, const char *key, const char *element);

#endif
