#include "policy/read/members.h"

#include <assert.h>
#include <string.h>

#include "base/data/mem.h"
#include "base/text/guess.h"
#include "policy/values/complaint.h"

static void report(struct ab_members *m, uint32_t node, const char *name, const char *wrong,
		   const char *right)
{
	ab_autofree char *path = ab_printf("%s.%s", m->path, name);

	ab_reader_report(m->r, node, path, wrong, right);
	m->bad = true;
}

static void report_type(struct ab_members *m, uint32_t node, const char *name, const json_t *value,
			const char *wanted, const char *right)
{
	ab_autofree char *path = ab_printf("%s.%s", m->path, name);

	ab_reader_wrong_type(m->r, node, path, value, wanted, right);
	m->bad = true;
}

static bool check_fit(struct ab_members *m, uint32_t node, const char *name, const char *text)
{
	if (!m->kind->fits || m->kind->fits(text))
		return true;
	report(m, node, name, "is too long, or holds control characters", m->kind->fitting);
	return false;
}

static void report_unknown(struct ab_members *m, uint32_t node, const char *name)
{
	const char *guess = ab_guess(name, m->kind->names, m->kind->n);
	ab_autofree char *right = guess ? ab_printf("did you mean %s?", guess) : NULL;

	report(m, node, name, "no such key", right ? right : "");
}

void ab_members_find(struct ab_members *m, const json_t *object)
{
	const struct ab_members_kind *kind = m->kind;
	struct ab_reader *r = m->r;

	assert(kind->n <= AB_MEMBERS_MAX);
	for (uint32_t k = m->node + 1; k < r->nodes[m->node].next; k = r->nodes[k].next) {
		json_t *key = ab_reader_key(r, k);
		const char *name = json_string_value(key);
		size_t i = 0;

		while (i < kind->n && strcmp(kind->names[i], name) != 0)
			i++;
		if (i < kind->n) {
			m->given[i] = json_object_get(object, name);
			m->at[i] = k;
		} else {
			report_unknown(m, k, name);
		}
		json_decref(key);
	}
}

void ab_members_complain(struct ab_members *m, size_t which, const char *wrong, const char *right)
{
	report(m, m->given[which] ? m->at[which] : m->node, m->kind->names[which], wrong, right);
}

void ab_members_wrong_type(struct ab_members *m, size_t which, const char *wanted,
			   const char *right)
{
	report_type(m, m->at[which], m->kind->names[which], m->given[which], wanted, right);
}

bool ab_members_fit(struct ab_members *m, size_t which, const char *text)
{
	return check_fit(m, m->at[which], m->kind->names[which], text);
}

const char *ab_members_text(struct ab_members *m, size_t which)
{
	const char *text = json_string_value(m->given[which]);

	if (!m->given[which])
		return NULL;
	if (!text)
		ab_members_wrong_type(m, which, "a text", "put it in quotes");
	else if (!text[0])
		ab_members_complain(m, which, "is empty", "");
	else if (ab_members_fit(m, which, text))
		return ab_arena_dup(m->r->ctx->arena, text);
	return NULL;
}

unsigned ab_members_word(struct ab_members *m, size_t which, const char *const *words, size_t n,
			 const char *right)
{
	const char *text = json_string_value(m->given[which]);
	struct ab_complaint why;

	if (!m->given[which])
		return 0;
	if (!text) {
		ab_members_wrong_type(m, which, "a text", right);
		return 0;
	}
	for (unsigned i = 0; i < n; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	ab_complaint_value(&why, text, "is not possible here", "%s", right);
	ab_members_complain(m, which, why.wrong, why.right);
	return 0;
}

void ab_members_each(struct ab_members *m, size_t which, ab_members_take *take, void *to)
{
	const json_t *list = m->given[which];
	uint32_t k = m->at[which] + 1;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *e = json_array_get(list, i);
		const char *text = json_string_value(e);
		ab_autofree char *name = ab_printf("%s[%zu]", m->kind->names[which], i);
		struct ab_complaint why = { .right = "" };

		if (!text)
			report_type(m, k, name, e, "a text", "put it in quotes");
		else if (check_fit(m, k, name, text) && take(m, to, text, &why) < 0)
			report(m, k, name, why.wrong, why.right);
		k = m->r->nodes[k].next;
	}
}

void ab_members_list(const struct ab_members_list *l, struct ab_reader *r, uint32_t node,
		     const json_t *list)
{
	ab_autofree char *whole = ab_printf("write [%s]", l->example);
	ab_autofree char *one = ab_printf("write %s", l->example);
	const char *key = ab_keys[l->key].path;
	uint32_t k = node + 1;

	if (!json_is_array(list)) {
		ab_reader_wrong_type(r, node, key, list, "a list", whole);
		return;
	}
	if (json_array_size(list) > l->most) {
		ab_reader_report(r, node, key, l->too_many, l->instead);
		return;
	}
	r->config->v[l->key].from = ab_reader_origin(r, node);
	for (size_t i = 0; i < json_array_size(list) && !ab_reader_full(r); i++) {
		const json_t *object = json_array_get(list, i);
		ab_autofree char *path = ab_printf("%s[%zu]", key, i);
		struct ab_members m = { .r = r, .path = path, .node = k, .kind = l->kind };

		if (json_is_object(object)) {
			ab_members_find(&m, object);
			l->read(&m);
		} else {
			ab_reader_wrong_type(r, k, path, object, "an object", one);
		}
		k = r->nodes[k].next;
	}
}
