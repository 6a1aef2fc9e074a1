#ifndef AB_POLICY_MEMBERS_H
#define AB_POLICY_MEMBERS_H
/*
 * Inside lib/policy: an object of a file that has a fixed set of members.
 */
#include "policy/reader.h"

/*
 * Each member that is there, and its node, by the index of its name; the
 * arrays are zero before. false: there is another one, which was reported.
 */
bool ab_members_find(struct ab_reader *r, uint32_t node, const char *path,
		     const json_t *object, const char *const *names, size_t n,
		     const json_t **ret_given, uint32_t *ret_at);

#endif
