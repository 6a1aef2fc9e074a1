#include "policy/layers/load.h"

#include <dirent.h>
#include <string.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/text/guess.h"
#include "policy/layers/profiles.h"
#include "policy/values/paths.h"

enum { DEPTH = 8 };

static void put_all(const struct ab_context *ctx, struct ab_config *c, enum ab_key_id id,
		    const char *const *texts, const struct ab_origin *from)
{
	size_t n = 0;

	while (texts[n])
		n++;
	/* Room also for what the last step adds. */
	ab_value_reserve(ctx->arena, &c->v[id], n + 8);
	for (; *texts; texts++)
		ab_value_put(ctx, id, &c->v[id], *texts, from, NULL);
	c->v[id].from = from;
}

static void put_builtin(struct ab_load *l, const struct ab_profile *p, struct ab_config *c)
{
	struct ab_context ctx = {
		.arena = l->arena,
		.base = l->workspace,
		.home = l->in->home,
		.follows = true,
		.builtin = true,
		.environ = l->in->environ,
	};
	struct ab_origin *from = ab_arena_alloc(l->arena, sizeof(*from));

	from->layer = AB_LAYER_PROFILE;
	from->name = p->name;
	for (size_t i = 0; i < p->npresets; i++) {
		const struct ab_preset *s = &p->presets[i];

		if (s->value)
			ab_value_put(&ctx, s->key, &c->v[s->key], s->value, from, NULL);
		c->v[s->key].from = from;
	}
	if (!p->parent) {
		put_all(&ctx, c, AB_KEY_DENY_READ, ab_default_deny_read, from);
		put_all(&ctx, c, AB_KEY_DENY_WRITE, ab_default_deny_write, from);
		put_all(&ctx, c, AB_KEY_ENV_STRIP, ab_default_strip, from);
	}
}

static void load_builtin(struct ab_load *l, const struct ab_profile *p, struct ab_config *base)
{
	struct ab_config layer;

	if (!p->parent) {
		put_builtin(l, p, base);
		return;
	}
	load_builtin(l, ab_profile_find(p->parent), base);
	memset(&layer, 0, sizeof(layer));
	put_builtin(l, p, &layer);
	ab_config_merge(l->arena, base, &layer);
}

static int refuse_profile(struct ab_load *l, const char *name, const struct ab_origin *from)
{
	ab_autostrv struct ab_strv names = { 0 };
	ab_autofree char *where = from ? ab_origin_place(from) : NULL;
	const char *guess;

	ab_policy_profiles(l->in, &names, NULL);
	guess = ab_guess(name, (const char *const *)names.v, names.len);
	ab_fail(l->err, from && from->line ? AB_ECONFIG : AB_EUSAGE, 0,
		"%s%sunknown profile \"%s\"", where ? where : "", where ? ": " : "", name);
	if (guess)
		return ab_hint(l->err, "did you mean \"%s\"?", guess);
	return ab_hint(l->err, "list them with: agentbox profile list");
}

static char *profile_path(const struct ab_policy_input *in, const char *name)
{
	ab_autofree char *dir = ab_config_dir(in->environ, in->home);

	if (!dir || name[0] == '.' || strchr(name, '/'))
		return NULL;
	return ab_printf("%s/profiles/%s.json", dir, name);
}

static int load_named(struct ab_load *l, const char *name, const struct ab_origin *from, int depth,
		      struct ab_config *base)
{
	const struct ab_profile *p = ab_profile_find(name);
	const struct ab_value *parent;
	ab_autofree char *path = NULL;
	struct ab_config layer;
	bool exists = false;

	if (p) {
		load_builtin(l, p, base);
		return 0;
	}
	if (depth >= DEPTH)
		return ab_fail(
			l->err, AB_ECONFIG, 0,
			"%s:%u:%u: extends: profiles extend each other in a circle, or more than %d levels deep",
			from->name, from->line, from->column, DEPTH);
	path = profile_path(l->in, name);
	memset(&layer, 0, sizeof(layer));
	if (path && ab_load_file(l, AB_LAYER_PROFILE, path, false, &layer, &exists) < 0)
		return -1;
	if (!exists)
		return refuse_profile(l, name, from);
	parent = &layer.v[AB_KEY_EXTENDS];
	if (load_named(l, parent->from ? parent->text : "default", parent->from, depth + 1, base) <
	    0)
		return -1;
	ab_config_merge(l->arena, base, &layer);
	return 0;
}

int ab_load_profile(struct ab_load *l, const char *name, const struct ab_origin *from,
		    struct ab_config *base)
{
	return load_named(l, name, from, 0, base);
}

void ab_policy_profiles(const struct ab_policy_input *in, struct ab_strv *ret_names,
			struct ab_strv *ret_docs)
{
	ab_autofree char *dir = ab_config_dir(in->environ, in->home);
	ab_autofree char *path = dir ? ab_printf("%s/profiles", dir) : NULL;
	ab_autostrv struct ab_strv own = { 0 };
	DIR *d = path ? opendir(path) : NULL;
	struct dirent *e;

	for (size_t i = 0; i < ab_profile_count; i++) {
		ab_strv_add(ret_names, ab_profiles[i].name);
		if (ret_docs)
			ab_strv_add(ret_docs, ab_profiles[i].doc);
	}
	while (d && (e = readdir(d))) {
		size_t n = strlen(e->d_name);
		ab_autofree char *name = NULL;

		if (n <= 5 || strcmp(e->d_name + n - 5, ".json") != 0 || e->d_name[0] == '.')
			continue;
		name = ab_strndup(e->d_name, n - 5);
		/* A built-in name always means the built-in profile. */
		if (!ab_profile_find(name))
			ab_strv_add(&own, name);
	}
	if (d)
		closedir(d);
	ab_strv_sort(&own);
	for (size_t i = 0; i < own.len; i++) {
		ab_strv_add(ret_names, own.v[i]);
		if (ret_docs)
			ab_strv_addf(ret_docs, "%s/%s.json", path, own.v[i]);
	}
}
