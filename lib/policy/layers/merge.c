#include "policy/model/config.h"

#include "policy/layers/environment.h"
#include "policy/model/commands.h"
#include "policy/model/http_config.h"
#include "policy/model/secrets_config.h"
#include "policy/values/host.h"
#include "policy/values/image.h"

void ab_value_append(struct ab_arena *a, enum ab_key_id id, struct ab_value *v,
		     const struct ab_value *more)
{
	/* In a list of patterns the order matters ("!" takes back what comes
	 * before it), so a repeated entry is another entry. */
	bool ordered = ab_keys[id].type == AB_TYPE_PATTERNS || ab_keys[id].type == AB_TYPE_NAMES;
	size_t before = v->len;

	for (size_t i = 0; i < more->len; i++) {
		struct ab_value old = { .items = v->items, .len = before };
		struct ab_item *same = ordered ? NULL : ab_value_find(&old, more->items[i].text);

		if (!same)
			ab_value_add(a, v, more->items[i]);
		else
			same->from = more->items[i].from; /* the later layer counts */
	}
	v->all = v->all || more->all;
	v->from = more->from;
}

/* Does this list replace the earlier one? "all" includes every list, so a list after it restricts
 * it. */
static bool replaces_list(const struct ab_value *old, const struct ab_value *fresh)
{
	return fresh->only || fresh->all || (old->all && fresh->len);
}

static void replace_by_name(struct ab_arena *a, struct ab_value *v, const struct ab_value *more)
{
	for (size_t i = 0; i < more->len; i++)
		ab_value_set(a, v, ab_value_find_named(v, more->items[i].text), more->items[i]);
	v->from = more->from;
}

static void put_in_front(struct ab_arena *a, struct ab_value *v, const struct ab_value *more)
{
	struct ab_value all = { .from = more->from };

	ab_value_reserve(a, &all, more->len + v->len + 1);
	for (size_t i = 0; i < more->len; i++)
		ab_value_add(a, &all, more->items[i]);
	for (size_t i = 0; i < v->len; i++)
		ab_value_add(a, &all, v->items[i]);
	*v = all;
}

/* More may be appended to the list later, so it must not share its memory. */
static void replace_value(struct ab_value *v, const struct ab_value *with)
{
	*v = *with;
	v->room = v->len;
}

/* An option and a variable add to every list. */
static bool always_adds(const struct ab_origin *from)
{
	return from->layer == AB_LAYER_ENVIRONMENT || from->layer == AB_LAYER_FLAG;
}

void ab_config_merge(struct ab_arena *a, struct ab_config *base, const struct ab_config *layer)
{
	for (int id = 0; id < AB_KEY_COUNT; id++) {
		const struct ab_value *fresh = &layer->v[id];

		if (!fresh->from)
			continue;
		switch (ab_keys[id].merge) {
		case AB_MERGE_REPLACE:
			replace_value(&base->v[id], fresh);
			break;
		case AB_MERGE_ADD:
			if (replaces_list(&base->v[id], fresh) && !always_adds(fresh->from))
				replace_value(&base->v[id], fresh);
			else
				ab_value_append(a, id, &base->v[id], fresh);
			break;
		case AB_MERGE_GROW:
			ab_value_append(a, id, &base->v[id], fresh);
			break;
		case AB_MERGE_BY_NAME:
			if (id == AB_KEY_SECRETS && always_adds(fresh->from))
				ab_secrets_add(a, &base->v[id], fresh);
			else
				replace_by_name(a, &base->v[id], fresh);
			break;
		case AB_MERGE_FRONT:
			put_in_front(a, &base->v[id], fresh);
			break;
		}
	}
}

/* The entry of v that includes this path, or NULL. */
static const char *top_of(const struct ab_value *v, const char *path)
{
	for (size_t i = 0; i < v->len; i++)
		if (ab_path_within(path, v->items[i].text))
			return v->items[i].text;
	return NULL;
}

/* A socket or a file is one path; a folder is everything in it. */
static bool covers_path(const struct ab_key *key, const struct ab_value *v, const char *text)
{
	return key->exact ? ab_value_find(v, text) != NULL : top_of(v, text) != NULL;
}

static bool covers_host(const struct ab_key *key, const struct ab_value *v, const char *text)
{
	ab_autofree char **entries = ab_alloc((v->len + 1) * sizeof(char *));

	for (size_t i = 0; i < v->len; i++)
		entries[i] = (char *)(uintptr_t)v->items[i].text;
	/* Without a port, a range has every port, as a denied host has. */
	return ab_hosts_cover(entries, v->len, text,
			      key->merge == AB_MERGE_GROW || key->type == AB_TYPE_CIDRS);
}

static bool covers_variable(const struct ab_key *key, const struct ab_value *v, const char *text)
{
	if (ab_path_is_pattern(text))
		return ab_value_find(v, text) != NULL;
	for (size_t i = 0; i < v->len; i++)
		if (ab_name_matches(v->items[i].text, text, key->merge == AB_MERGE_GROW))
			return true;
	return false;
}

/* A prohibition is covered if the list has it, or a folder that contains it. */
static bool covers_denial(const struct ab_key *key, const struct ab_value *v, const char *text)
{
	(void)key;
	if (ab_value_find(v, text))
		return true;
	if (text[0] != '/')
		return false;
	for (size_t i = 0; i < v->len; i++)
		if (v->items[i].text[0] == '/' && !ab_path_is_pattern(v->items[i].text) &&
		    ab_path_within(text, v->items[i].text))
			return true;
	return false;
}

static bool covers_image(const struct ab_key *key, const struct ab_value *v, const char *text)
{
	(void)key;
	for (size_t i = 0; i < v->len; i++)
		if (ab_image_matches(v->items[i].text, text))
			return true;
	return false;
}

typedef bool covers_fn(const struct ab_key *key, const struct ab_value *v, const char *text);

/* Elements of other types are covered only by the same text. */
static covers_fn *const covers_types[] = {
	[AB_TYPE_PATHS] = covers_path,	    [AB_TYPE_READ] = covers_path,
	[AB_TYPE_HOSTS] = covers_host,	    [AB_TYPE_CIDRS] = covers_host,
	[AB_TYPE_IMAGES] = covers_image,    [AB_TYPE_VARIABLES] = covers_variable,
	[AB_TYPE_PATTERNS] = covers_denial, [AB_TYPE_NAMES] = covers_denial,
};

bool ab_value_covers(enum ab_key_id id, const struct ab_value *v, const char *text)
{
	const struct ab_key *key = &ab_keys[id];
	covers_fn *covers = key->type < AB_COUNT(covers_types) ? covers_types[key->type] : NULL;

	return v->all || (covers ? covers(key, v, text) : ab_value_find(v, text) != NULL);
}

bool ab_value_may_stay(enum ab_key_id id, const struct ab_value *base, const char *text,
		       ab_plain_fn *plain)
{
	const char *top;

	if (!ab_value_covers(id, base, text))
		return false;
	if ((id != AB_KEY_WRITE && id != AB_KEY_READ) || base->all || !plain)
		return true;
	if (ab_value_find(base, text))
		return true;
	top = top_of(base, text);
	return top && plain(top, text);
}

static void keep_covered(struct ab_arena *a, enum ab_key_id id, struct ab_value *base,
			 const struct ab_value *layer, ab_plain_fn *plain, size_t *ret_dropped)
{
	struct ab_value kept = { .from = layer->from, .only = layer->from };

	kept.all = base->all && layer->all;
	*ret_dropped = layer->all && !base->all;
	for (size_t i = 0; i < layer->len; i++)
		if (ab_value_may_stay(id, base, layer->items[i].text, plain))
			ab_value_add(a, &kept, layer->items[i]);
		else
			++*ret_dropped;
	/* Between "all" and a list the list is stricter. */
	if (layer->all && !base->all)
		return;
	*base = kept;
}

/* How many elements would an untrusted list add? */
static size_t count_uncovered(enum ab_key_id id, const struct ab_value *base,
			      const struct ab_value *layer)
{
	size_t n = 0;

	for (size_t i = 0; i < layer->len; i++)
		n += !ab_value_covers(id, base, layer->items[i].text);
	return n;
}

static void unite_items(struct ab_arena *a, enum ab_key_id id, struct ab_value *base,
			const struct ab_value *layer, size_t *ret_dropped)
{
	struct ab_value more = { .from = layer->from };

	*ret_dropped = 0;
	for (size_t i = 0; i < layer->len; i++)
		if (layer->items[i].text[0] == '!')
			++*ret_dropped;
		else
			ab_value_add(a, &more, layer->items[i]);
	if (more.len)
		ab_value_append(a, id, base, &more);
}

static void note_scalar(struct ab_arena *a, struct ab_strv *notes, const char *name,
			enum ab_key_id id, const struct ab_value *base,
			const struct ab_value *layer)
{
	const char *kept = base->from ? ab_value_text(a, id, base) : NULL;

	ab_strv_addf(notes, "%s: %s stays %s instead of %s", name, ab_keys[id].path,
		     kept ? kept : "as it is", ab_value_text(a, id, layer));
}

/* Every rule is added, because a request must match the rules of both. */
static void tighten_http(struct ab_arena *a, struct ab_value *base, const struct ab_value *layer,
			 const char *name, struct ab_strv *notes)
{
	size_t wider = 0;

	for (size_t i = 0; i < layer->len; i++)
		wider += ab_http_wider(base, &layer->items[i]);
	for (size_t i = 0; i < layer->len; i++) {
		struct ab_item item = layer->items[i];

		item.tighten = true;
		ab_value_add(a, base, item);
	}
	if (wider)
		ab_strv_addf(notes, "%s: %s: %zu %s only where stricter", name,
			     ab_keys[AB_KEY_HTTP].path, wider,
			     wider == 1 ? "rule applies" : "rules apply");
}

static void tighten_commands(struct ab_arena *a, enum ab_key_id id, struct ab_value *base,
			     const struct ab_value *layer, size_t *ret_dropped)
{
	ab_tighten_fn *tighten = id == AB_KEY_RULES	 ? ab_rule_tighten
				 : id == AB_KEY_OVERRIDE ? ab_override_tighten
							 : ab_tool_tighten;

	for (size_t i = 0; i < layer->len; i++)
		*ret_dropped += tighten(a, base, layer->items[i]);
}

void ab_config_tighten(struct ab_arena *a, struct ab_config *base, const struct ab_config *layer,
		       const char *name, ab_plain_fn *plain, struct ab_strv *notes)
{
	for (int id = 0; id < AB_KEY_COUNT; id++) {
		const struct ab_value *fresh = &layer->v[id];
		struct ab_value *old = &base->v[id];
		size_t dropped = 0;

		if (!fresh->from)
			continue;
		switch (ab_keys[id].tighten) {
		case AB_TIGHTEN_STRICTER:
			if (fresh->number <= old->number)
				replace_value(old, fresh);
			else
				note_scalar(a, notes, name, id, old, fresh);
			break;
		case AB_TIGHTEN_STRICTEST:
			if (fresh->number == 0)
				replace_value(old, fresh);
			else if (!ab_value_same_scalar(old, fresh))
				note_scalar(a, notes, name, id, old, fresh);
			break;
		case AB_TIGHTEN_COVERED:
			if (replaces_list(old, fresh))
				keep_covered(a, id, old, fresh, plain, &dropped);
			else
				dropped = count_uncovered(id, old, fresh);
			break;
		case AB_TIGHTEN_UNION:
			unite_items(a, id, old, fresh, &dropped);
			break;
		case AB_TIGHTEN_MARKED:
			if (id == AB_KEY_HTTP)
				tighten_http(a, old, fresh, name, notes);
			else
				tighten_commands(a, id, old, fresh, &dropped);
			break;
		case AB_TIGHTEN_NEVER:
			if (ab_key_is_list(&ab_keys[id]))
				dropped = fresh->len;
			else if (!ab_value_same_scalar(old, fresh))
				note_scalar(a, notes, name, id, old, fresh);
			break;
		}
		if (dropped)
			ab_strv_addf(notes, "%s: %s: %zu %s ignored", name, ab_keys[id].path,
				     dropped, dropped == 1 ? "entry" : "entries");
	}
}
