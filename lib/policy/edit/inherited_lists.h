#ifndef AB_POLICY_EDIT_INHERITED_LISTS_H
#define AB_POLICY_EDIT_INHERITED_LISTS_H
/*
 * Lists and the layers they come from, for code that adds to the user's own
 * file. A list of permissions there replaces the lists of the layers below it,
 * so a new list starts with the entries that were in force.
 */
struct ab_error;
struct ab_policy;
struct ab_policy_input;
struct ab_strv;

/* The entries of this profile and of the system's file, as a file spells them:
 * "." for the workspace, "@npm" for a group. */
int ab_policy_below(const struct ab_policy_input *in, const char *profile, const char *key,
		    struct ab_strv *ret, struct ab_error *err);

/* Where an element of a list comes from, or, for a NULL element, the list:
 * "~/.config/agentbox/config.json:3". NULL: there is none. */
char *ab_policy_origin(const struct ab_policy *policy, const char *key, const char *element);

#endif
