#include "policy/read/members.h"

#include <assert.h>

#include "base/text/guess.h"

static void report_mistake(struct ab_members *m, const struct ab_json_scan_node *node,
			   const char *wrong, const char *right)
{
	ab_reader_report(m->r, node, NULL, wrong, right);
	m->bad = true;
}

static void report_type(struct ab_members *m, const struct ab_json_scan_node *node,
			const char *wanted, const char *right)
{
	ab_reader_wrong_type(m->r, node, wanted, right);
	m->bad = true;
}

/* A file name may be in any language. */
static bool is_plain(const char *text, size_t most)
{
	const unsigned char *c = (const unsigned char *)text;

	for (; *c; c++)
		if (*c < ' ' || *c == 0x7f)
			return false;
	return strlen(text) <= most;
}

static bool check_fit(struct ab_members *m, const struct ab_json_scan_node *node, const char *text)
{
	if (m->kind->fits ? m->kind->fits(text) : !m->kind->most || is_plain(text, m->kind->most))
		return true;
	report_mistake(m, node, "is too long or contains control characters", m->kind->fitting);
	return false;
}

void ab_members_find(struct ab_members *m)
{
	const struct ab_members_kind *kind = m->kind;

	assert(kind->n <= AB_MEMBERS_MAX);
	ab_json_scan_each(k, m->node)
	{
		size_t i = ab_word_at(kind->names, kind->n, k->key);

		if (i < kind->n) {
			m->given[i] = k;
		} else {
			const char *guess = ab_guess(k->key, kind->names, kind->n);
			ab_autofree char *right =
				guess ? ab_printf("did you mean %s?", guess) : NULL;

			report_mistake(m, k, "unknown key", right ? right : "");
		}
	}
}

void ab_members_complain(struct ab_members *m, size_t which, const char *wrong, const char *right)
{
	ab_reader_report(m->r, m->given[which] ? m->given[which] : m->node,
			 m->given[which] ? NULL : m->kind->names[which], wrong, right);
	m->bad = true;
}

void ab_members_wrong_type(struct ab_members *m, size_t which, const char *wanted,
			   const char *right)
{
	report_type(m, m->given[which], wanted, right);
}

bool ab_members_fit(struct ab_members *m, size_t which, const char *text)
{
	return check_fit(m, m->given[which], text);
}

const char *ab_members_text(struct ab_members *m, size_t which)
{
	const struct ab_json_scan_node *given = m->given[which];

	if (!given)
		return NULL;
	if (!given->text)
		report_type(m, given, "a string", "put it in quotes");
	else if (!given->text[0])
		report_mistake(m, given, "is empty", "give it a value, or remove it");
	else if (check_fit(m, given, given->text))
		return ab_arena_dup(m->r->ctx->arena, given->text);
	return NULL;
}

unsigned ab_members_word(struct ab_members *m, size_t which, const char *const *words, size_t n,
			 const char *right)
{
	const struct ab_json_scan_node *given = m->given[which];
	size_t i;

	if (!given)
		return 0;
	if (!given->text) {
		report_type(m, given, "a string", right);
		return 0;
	}
	i = ab_word_at(words, n, given->text);
	if (i < n)
		return (unsigned)i;
	ab_why_invalid(&m->why, given->text, right);
	ab_members_refuse(m, which);
	return 0;
}

void ab_members_strings(struct ab_members *m, size_t which, size_t most, ab_members_take *take,
			struct ab_strv *to, const char *right)
{
	const struct ab_json_scan_node *list = m->given[which];
	ab_autofree char *too_many = ab_printf("has more than %zu entries", most);

	if (!list)
		return;
	if (list->kind != '[')
		report_type(m, list, "a list", right);
	else if (list->count == 0 || list->count > most)
		report_mistake(m, list, list->count ? too_many : "is empty", right);
	else
		ab_json_scan_each(e, list)
		{
			if (!e->text)
				report_type(m, e, "a string", "put it in quotes");
			else if (check_fit(m, e, e->text) &&
				 take(m->r->ctx, to, e->text, &m->why) < 0)
				report_mistake(m, e, m->why.wrong, m->why.right);
		}
}

bool ab_members_flag(struct ab_members *m, size_t which)
{
	const struct ab_json_scan_node *given = m->given[which];

	if (given && given->kind != 't' && given->kind != 'f')
		report_type(m, given, "true or false", "use true or false");
	return given && given->kind == 't';
}

void ab_members_refuse(struct ab_members *m, size_t which)
{
	ab_members_complain(m, which, m->why.wrong, m->why.right);
}

void ab_members_add(struct ab_members *m, enum ab_key_id id, struct ab_item item)
{
	item.from = ab_reader_origin(m->r, m->node);
	ab_value_add(m->r->ctx->arena, &m->r->config->v[id], item);
}

static void read_one(const struct ab_members_list *l, struct ab_reader *r,
		     const struct ab_json_scan_node *object)
{
	struct ab_members m = { .r = r, .node = object, .kind = l->kind };
	ab_autofree char *right = ab_printf("use %s", l->example);
	struct ab_complaint why = { .right = "" };

	if (l->check_name && l->check_name(object->key, &why) < 0) {
		ab_reader_report(r, object, NULL, why.wrong, why.right);
	} else if (object->kind != '{') {
		ab_reader_wrong_type(r, object, "an object", right);
	} else {
		ab_members_find(&m);
		l->read(&m);
	}
}

void ab_members_list(const struct ab_members_list *l, struct ab_reader *r,
		     const struct ab_json_scan_node *value)
{
	const struct ab_json_scan_node *list = ab_reader_only(r, value, l->key);
	ab_autofree char *whole =
		l->object ? ab_printf("use %s", l->object) : ab_printf("use [%s]", l->example);

	if (!list)
		return;
	if (list->kind != (l->object ? '{' : '[')) {
		ab_reader_wrong_type(r, list, l->object ? "an object" : "a list", whole);
		return;
	}
	if (l->most && list->count > l->most) {
		ab_reader_report(r, list, NULL, l->too_many, l->instead);
		return;
	}
	r->config->v[l->key].from = ab_reader_origin(r, list);
	ab_json_scan_each(object, list)
	{
		if (ab_reader_full(r))
			return;
		read_one(l, r, object);
	}
}
