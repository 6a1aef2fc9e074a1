/*
 * Managed settings: the most that any run on this machine may do. They are applied last, to what
 * the other layers add up to, and only make it stricter:
 *
 *	a limit or a word	the stricter of the two
 *	a list that allows	what is not within the managed list is left out
 *	a list that forbids	the managed entries come last, so no "!entry" takes them back
 *	rules			can only make a verdict stricter
 *	anything else		exactly the managed value
 *
 * A layer that asks for more is not an error: it gets what is permitted, and the wish is reported.
 */

#include "policy/model/commands.h"
#include "policy/model/config.h"
#include "policy/model/http_config.h"
#include "policy/model/policy.h"

enum { ATTEMPTS_MAX = 64 };

/* One list that forbids, and the list of wishes that it overrides. */
static const struct {
	enum ab_key_id forbids, allows;
	const char *stays;
} opposites[] = {
	{ AB_KEY_NET_DENY, AB_KEY_NET_ALLOW, "denied" },
	{ AB_KEY_DENY_WRITE, AB_KEY_WRITE, "read-only" },
	{ AB_KEY_ENV_STRIP, AB_KEY_ENV_PASS, "removed" },
};

/* Nobody asked for a default, and the administrator decides about the system file. */
static bool is_wish(const struct ab_origin *from)
{
	switch (from->layer) {
	case AB_LAYER_PROFILE:
		return from->line > 0;
	case AB_LAYER_USER:
	case AB_LAYER_PROJECT:
	case AB_LAYER_ENVIRONMENT:
	case AB_LAYER_FLAG:
		return true;
	case AB_LAYER_SYSTEM:
	case AB_LAYER_MANAGED:
	case AB_LAYER_ALWAYS:
		break;
	}
	return false;
}

__attribute__((format(printf, 3, 4))) static void
add_attempt(struct ab_strv *attempts, const struct ab_origin *from, const char *fmt, ...)
{
	ab_autofree char *origin = from ? ab_origin_text(from) : NULL, *text = NULL;
	va_list ap;

	if (!from || !is_wish(from) || attempts->len == ATTEMPTS_MAX)
		return;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	ab_strv_addf(attempts, "%s (%s)", text, origin);
}

static void fix_scalar(struct ab_arena *a, enum ab_key_id id, struct ab_value *v,
		       const struct ab_value *managed, struct ab_strv *attempts)
{
	if (!ab_value_same_scalar(v, managed))
		add_attempt(attempts, v->from, "%s stays %s, not %s", ab_keys[id].path,
			    ab_value_text(a, id, managed), ab_value_text(a, id, v));
	*v = *managed;
}

static void restrict_list(struct ab_arena *a, enum ab_key_id id, struct ab_value *v,
			  const struct ab_value *managed, ab_plain_fn *plain,
			  struct ab_strv *attempts)
{
	struct ab_value kept = { .from = v->from, .only = managed->from };

	if (managed->all)
		return;
	if (v->all) {
		add_attempt(attempts, v->from, "%s stays restricted, not all", ab_keys[id].path);
		*v = *managed;
		v->room = v->len; /* more may be appended: do not share the memory */
		return;
	}
	for (size_t i = 0; i < v->len; i++) {
		const struct ab_item *item = &v->items[i];

		if (ab_value_may_stay(id, managed, item->text, plain))
			ab_value_add(a, &kept, *item);
		else
			add_attempt(attempts, item->from, "%s leaves out %s", ab_keys[id].path,
				    item->text);
	}
	*v = kept;
}

/* Does "!text" mean one of the managed entries? */
static bool takes_back(enum ab_key_id id, const struct ab_value *managed, const char *text)
{
	struct ab_item item = { .text = text };
	struct ab_value one = { .items = &item, .len = 1 };

	if (ab_value_covers(id, managed, text))
		return true;
	for (size_t i = 0; i < managed->len; i++)
		if (ab_value_covers(id, &one, managed->items[i].text))
			return true;
	return false;
}

static void report_overridden(struct ab_config *base, enum ab_key_id id,
			      const struct ab_value *managed, struct ab_strv *attempts)
{
	for (size_t k = 0; k < AB_COUNT(opposites); k++) {
		enum ab_key_id allows = opposites[k].allows;

		for (size_t i = 0; opposites[k].forbids == id && i < base->v[allows].len; i++) {
			const struct ab_item *item = &base->v[allows].items[i];

			if (ab_value_covers(id, managed, item->text))
				add_attempt(attempts, item->from, "%s: %s stays %s",
					    ab_keys[allows].path, item->text, opposites[k].stays);
		}
	}
}

static void add_denials(struct ab_arena *a, enum ab_key_id id, struct ab_config *base,
			const struct ab_value *managed, struct ab_strv *attempts)
{
	struct ab_value *v = &base->v[id];

	for (size_t i = 0; i < v->len; i++)
		if (v->items[i].text[0] == '!' && takes_back(id, managed, v->items[i].text + 1))
			add_attempt(attempts, v->items[i].from, "%s: %s has no effect",
				    ab_keys[id].path, v->items[i].text);
	report_overridden(base, id, managed, attempts);
	ab_value_append(a, id, v, managed);
}

static void fix_assignments(struct ab_arena *a, struct ab_value *v, const struct ab_value *managed,
			    struct ab_strv *attempts)
{
	for (size_t i = 0; i < managed->len; i++) {
		const struct ab_item *item = &managed->items[i];
		const struct ab_item *same = ab_value_find_named(v, item->text);

		/* Neither value: one of them may be a secret. */
		if (same && strcmp(same->text, item->text) != 0)
			add_attempt(attempts, same->from, "%s keeps its %.*s",
				    ab_keys[AB_KEY_ENV_SET].path, (int)strcspn(item->text, "="),
				    item->text);
		ab_value_set(a, v, same, *item);
	}
}

static void add_http(struct ab_arena *a, struct ab_value *v, const struct ab_value *managed,
		     struct ab_strv *attempts)
{
	for (size_t i = 0; i < v->len; i++)
		if (ab_http_wider(managed, &v->items[i]))
			add_attempt(attempts, v->items[i].from,
				    "%s: %s applies only where stricter", ab_keys[AB_KEY_HTTP].path,
				    v->items[i].text);
	ab_commands_manage(a, AB_KEY_HTTP, v, managed);
}

static void add_rules(struct ab_arena *a, enum ab_key_id id, struct ab_value *v,
		      const struct ab_value *managed, struct ab_strv *attempts)
{
	struct ab_value before = *v;

	ab_value_reserve(a, &before, before.len + 1);
	ab_commands_manage(a, id, v, managed);
	for (size_t i = 0; i < before.len; i++)
		if (before.items[i].text != v->items[i].text &&
		    strcmp(before.items[i].text, v->items[i].text) != 0)
			add_attempt(attempts, before.items[i].from, "%s: %s, not %s",
				    ab_keys[id].path, v->items[i].text, before.items[i].text);
}

/* Lists of hosts are without effect on the host's own network. */
static void imply_filter(struct ab_config *managed)
{
	static const enum ab_key_id keys[] = { AB_KEY_NET_ALLOW,     AB_KEY_NET_DENY,
					       AB_KEY_ALLOW_PRIVATE, AB_KEY_HTTP,
					       AB_KEY_NET_UNKNOWN,   AB_KEY_NET_SNI,
					       AB_KEY_NET_ECH,	     AB_KEY_HOST_PORTS,
					       AB_KEY_PUBLISH,	     AB_KEY_UPSTREAM };
	const struct ab_key *mode = &ab_keys[AB_KEY_NET_MODE];
	struct ab_value *v = &managed->v[AB_KEY_NET_MODE];
	const struct ab_origin *from = NULL;
	size_t filtered = 0;

	for (size_t i = 0; !from && i < AB_COUNT(keys); i++)
		from = managed->v[keys[i]].from;
	while (mode->words[filtered].number != AB_NET_FILTERED)
		filtered++;
	if (from && (!v->from || v->number > filtered))
		*v = (struct ab_value){ .from = from, .number = filtered };
}

void ab_config_restrict_key(struct ab_arena *a, struct ab_config *base,
			    const struct ab_config *most, enum ab_key_id id, ab_plain_fn *plain,
			    struct ab_strv *attempts)
{
	const struct ab_value *managed = &most->v[id];
	struct ab_value *v = &base->v[id];

	if (!managed->from)
		return;
	switch (ab_keys[id].tighten) {
	case AB_TIGHTEN_STRICTER:
		if (managed->number <= v->number)
			fix_scalar(a, id, v, managed, attempts);
		break;
	case AB_TIGHTEN_STRICTEST:
		if (v->number != 0 || managed->number == 0)
			fix_scalar(a, id, v, managed, attempts);
		break;
	case AB_TIGHTEN_COVERED:
		restrict_list(a, id, v, managed, plain, attempts);
		break;
	case AB_TIGHTEN_UNION:
		add_denials(a, id, base, managed, attempts);
		break;
	case AB_TIGHTEN_MARKED:
		if (id == AB_KEY_HTTP)
			add_http(a, v, managed, attempts);
		else
			add_rules(a, id, v, managed, attempts);
		break;
	case AB_TIGHTEN_NEVER:
		if (id == AB_KEY_ENV_SET)
			fix_assignments(a, v, managed, attempts);
		else if (ab_key_is_list(&ab_keys[id]))
			restrict_list(a, id, v, managed, plain, attempts);
		else
			fix_scalar(a, id, v, managed, attempts);
		break;
	}
}

bool ab_config_fixes_unknown(const struct ab_config *managed)
{
	const struct ab_value *mode = &managed->v[AB_KEY_NET_MODE];

	return managed->v[AB_KEY_NET_UNKNOWN].from ||
	       (mode->from &&
		ab_keys[AB_KEY_NET_MODE].words[mode->number].number == AB_NET_BLOCKED);
}

void ab_config_restrict(struct ab_arena *a, struct ab_config *base, struct ab_config *managed,
			ab_plain_fn *plain, struct ab_strv *attempts)
{
	imply_filter(managed);
	for (int id = 0; id < AB_KEY_COUNT; id++)
		ab_config_restrict_key(a, base, managed, id, plain, attempts);
}
