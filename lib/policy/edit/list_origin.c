#include "policy/edit/list_origin.h"

#include "policy/model/config.h"
#include "policy/model/policy.h"

static const struct ab_value *find_list(const struct ab_policy *policy, const char *key)
{
	const struct ab_key *found = ab_key_find(key, strlen(key));

	return found ? &policy->store->config.v[found - ab_keys] : NULL;
}

char *ab_policy_origin(const struct ab_policy *policy, const char *key, const char *element)
{
	const struct ab_value *list = find_list(policy, key);
	const struct ab_item *item = list && element ? ab_value_find(list, element) : NULL;
	const struct ab_origin *from = item ? item->from : list && !element ? list->from : NULL;

	return from ? ab_origin_text(from) : NULL;
}

char *ab_policy_replaced_by(const struct ab_policy *policy, const char *key, bool *ret_project)
{
	const struct ab_value *list = find_list(policy, key);

	if (!list || !list->only)
		return NULL;
	*ret_project = list->only->layer == AB_LAYER_PROJECT;
	return ab_origin_text(list->only);
}
