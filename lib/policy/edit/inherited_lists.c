#include "policy/edit/inherited_lists.h"

#include <string.h>

#include "base/data/mem.h"
#include "base/system/path.h"
#include "policy/layers/load.h"
#include "policy/values/paths.h"

static const struct ab_value *find_list(const struct ab_policy *policy, const char *key)
{
	const struct ab_key *found = ab_key_find(key, strlen(key));

	return found ? &policy->store->config.v[found - ab_keys] : NULL;
}

/* Spell a path relative to the workspace or the home folder, so that it follows
 * them. */
static char *spell_path(const struct ab_load *l, const struct ab_item *item)
{
	const char *top = item->here ? l->workspace : l->in->home;
	size_t n = top ? strlen(top) : 0;

	if (item->via)
		return ab_strdup(item->via);
	if (item->text[0] != '/' || n < 2 || !ab_path_within(item->text, top))
		return ab_strdup(item->text);
	if (!item->text[n])
		return ab_strdup(item->here ? "." : "~");
	return ab_printf("%s%s", item->here ? "." : "~", item->text + n);
}

static int load_below(struct ab_load *l, const char *profile)
{
	const char *system = l->in->system_config ? l->in->system_config : AB_SYSTEM_CONFIG;
	struct ab_config *base = &l->policy->store->config;
	struct ab_config *layer = ab_arena_alloc(l->arena, sizeof(*layer));
	bool exists = false;

	if (ab_load_profile(l, profile, NULL, base) < 0 ||
	    ab_load_file(l, AB_LAYER_SYSTEM, system, layer, &exists) < 0)
		return -1;
	if (exists)
		ab_config_merge(l->arena, base, layer);
	return 0;
}

int ab_policy_below(const struct ab_policy_input *in, const char *profile, const char *key,
		    struct ab_strv *ret, struct ab_error *err)
{
	const struct ab_value *list;
	struct ab_load l;
	int result;

	result = ab_load_init(&l, in, NULL, err);
	if (result == 0)
		result = load_below(&l, profile);
	list = result == 0 ? find_list(l.policy, key) : NULL;
	for (size_t i = 0; list && i < list->len; i++) {
		ab_autofree char *text = spell_path(&l, &list->items[i]);

		if (!ab_strv_has(ret, text))
			ab_strv_give(ret, ab_take(text));
	}
	ab_policy_free(l.policy);
	return result;
}

char *ab_policy_origin(const struct ab_policy *policy, const char *key, const char *element)
{
	const struct ab_value *list = find_list(policy, key);
	const struct ab_item *item = list && element ? ab_value_find(list, element) : NULL;
	const struct ab_origin *from = item ? item->from : list && !element ? list->from : NULL;

	return from ? ab_origin_text(from) : NULL;
}
