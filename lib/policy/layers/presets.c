#include "base/text/words.h"
#include "policy/layers/load.h"
#include "policy/toolchains/toolchains.h"
#include "policy/values/paths.h"

/* The presets with "auto" resolved. Only our own rows can be selected, whatever the workspace has. */
void ab_load_resolve_auto(struct ab_load *l, struct ab_value *v)
{
	struct ab_value all = { .from = v->from };

	for (size_t i = 0; i < v->len; i++) {
		ab_autostrv struct ab_strv found = { 0 };

		if (strcmp(v->items[i].text, AB_TOOLCHAIN_AUTO) != 0) {
			ab_value_add_once(l->arena, &all, v->items[i].text, v->items[i].from, NULL);
			continue;
		}
		ab_toolchains_detect(l->workspace, &found, NULL);
		for (size_t k = 0; k < found.len; k++)
			ab_value_add_once(l->arena, &all, found.v[k], v->items[i].from,
					  AB_TOOLCHAIN_AUTO);
	}
	*v = all;
}

static void add_hosts(struct ab_load *l, const struct ab_toolchain *t, const struct ab_item *by)
{
	struct ab_context ctx = ab_load_context(l);
	struct ab_value *allow = &l->policy->store->config.v[AB_KEY_NET_ALLOW];
	struct ab_value more = { 0 };
	const char *list = t->hosts, *word;

	for (size_t n; (word = ab_word_next(&list, &n));)
		ab_value_put(&ctx, AB_KEY_NET_ALLOW, &more, ab_arena_ndup(l->arena, word, n),
			     by->from, NULL);
	for (size_t i = 0; i < more.len; i++)
		if (!ab_value_find(allow, more.items[i].text))
			ab_value_add(l->arena, allow, more.items[i]);
}

static void add_variables(struct ab_load *l, const struct ab_toolchain *t, const struct ab_item *by)
{
	struct ab_value *set = &l->policy->store->config.v[AB_KEY_ENV_SET];
	const char *list = t->env, *word;

	for (size_t n; (word = ab_word_next(&list, &n));) {
		const char *one = ab_arena_ndup(l->arena, word, n);
		ab_autofree char *name = ab_strndup(one, strcspn(one, "="));

		if (!ab_value_find_named(set, one) && !ab_environ_get(l->in->environ, name))
			ab_value_add_once(l->arena, set, one, by->from, t->name);
	}
}

void ab_load_presets(struct ab_load *l)
{
	struct ab_value *v = &l->policy->store->config.v[AB_KEY_WITH];

	for (size_t i = 0; i < v->len; i++) {
		const struct ab_toolchain *t = ab_toolchain_find(v->items[i].text);

		add_hosts(l, t, &v->items[i]);
		add_variables(l, t, &v->items[i]);
	}
}
