#include "policy/layers/compare.h"

#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "policy/model/commands.h"
#include "policy/model/config.h"
#include "policy/model/http_config.h"
#include "policy/model/policy.h"
#include "shell/judge/ruling.h"

static void say(struct ab_strv *lines, enum ab_key_id id, const char *lead, const char *text,
		const char *other)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_printf(&b, "%s: %s", ab_keys[id].path, lead);
	ab_buf_escape(&b, text);
	if (other) {
		ab_buf_puts(&b, ", not ");
		ab_buf_escape(&b, other);
	}
	/* Several elements of one side may lack the same one of the other. */
	ab_strv_add_once(lines, b.data);
}

static void wider_scalar(enum ab_key_id id, struct ab_arena *arena, const struct ab_value *a,
			 const struct ab_value *b, struct ab_strv *lines)
{
	if (b->number > a->number)
		say(lines, id, "", ab_value_text(arena, id, b), ab_value_text(arena, id, a));
}

/* Everything that b permits must be permitted by a. */
static void wider_permission(enum ab_key_id id, const struct ab_value *a, const struct ab_value *b,
			     struct ab_strv *lines)
{
	if (b->all && !a->all)
		say(lines, id, "", "all", NULL);
	for (size_t i = 0; !b->all && i < b->len; i++)
		if (!ab_value_covers(id, a, b->items[i].text))
			say(lines, id, "", b->items[i].text, NULL);
}

/* The prohibitions that stand behind position i: a "!" there does not touch
 * them. */
static struct ab_value behind(const struct ab_value *v, size_t i)
{
	return (struct ab_value){ .items = v->items + i + 1, .len = v->len - i - 1 };
}

static size_t position(const struct ab_value *v, const char *text)
{
	size_t i = v->len;

	while (i > 0 && strcmp(v->items[i - 1].text, text) != 0)
		i--;
	return i; /* 1-based; 0: not there */
}

/* Everything that a forbids must be forbidden by b; what b takes back must be
 * taken back by a, and not forbidden again behind it. */
static void wider_prohibition(enum ab_key_id id, const struct ab_value *a, const struct ab_value *b,
			      struct ab_strv *lines)
{
	for (size_t i = 0; i < a->len; i++)
		if (a->items[i].text[0] != '!' && !ab_value_covers(id, b, a->items[i].text))
			say(lines, id, "without ", a->items[i].text, NULL);
	for (size_t i = 0; i < b->len; i++) {
		const char *text = b->items[i].text;
		size_t at = text[0] == '!' ? position(a, text) : 0;
		struct ab_value left, right;

		if (text[0] != '!')
			continue;
		if (at == 0) {
			say(lines, id, "", text, NULL);
			continue;
		}
		left = behind(a, at - 1);
		right = behind(b, i);
		for (size_t k = 0; k < left.len; k++)
			if (left.items[k].text[0] != '!' &&
			    !ab_value_covers(id, &right, left.items[k].text))
				say(lines, id, "without ", left.items[k].text, NULL);
	}
}

static void wider_overrides(const struct ab_value *a, const struct ab_value *b,
			    struct ab_strv *lines)
{
	for (unsigned i = 0; i < AB_RULE_COUNT; i++) {
		struct ab_decided x = ab_override_decided(a, i);
		struct ab_decided y = ab_override_decided(b, i);
		ab_autofree char *text =
			ab_printf("%s=%s", ab_rules[i].name, ab_decision_names[y.strong]);

		if (y.strong < x.strong || y.weak < x.weak)
			say(lines, AB_KEY_OVERRIDE, "", text, ab_decision_names[x.strong]);
	}
}

/* The next rule of v that can also permit, from *i on; NULL: none. */
static const struct ab_item *next_free(const struct ab_value *v, size_t *i)
{
	while (*i < v->len && v->items[*i].tighten)
		++*i;
	return *i < v->len ? &v->items[(*i)++] : NULL;
}

static bool same_rules(const struct ab_value *a, const struct ab_value *b)
{
	const struct ab_item *x, *y;
	size_t i = 0, k = 0;

	do {
		x = next_free(a, &i);
		y = next_free(b, &k);
	} while (x && y && strcmp(x->text, y->text) == 0);
	return !x && !y;
}

/* The first match counts: what one rule means depends on those before it. So
 * every rule that one side lacks may make a difference, and so may order. */
static void wider_rules(const struct ab_value *a, const struct ab_value *b, struct ab_strv *lines)
{
	size_t before = lines->len;

	for (size_t i = 0; i < a->len; i++)
		if (!ab_value_covers(AB_KEY_RULES, b, a->items[i].text) &&
		    a->items[i].rule->decision != AB_ALLOW)
			say(lines, AB_KEY_RULES, "without ", a->items[i].text, NULL);
	for (size_t i = 0; i < b->len; i++)
		if (!b->items[i].tighten && !ab_value_covers(AB_KEY_RULES, a, b->items[i].text) &&
		    b->items[i].rule->decision != AB_FORBIDDEN)
			say(lines, AB_KEY_RULES, "", b->items[i].text, NULL);
	if (lines->len == before && a->len == b->len && !same_rules(a, b))
		say(lines, AB_KEY_RULES, "", "in another order", NULL);
}

/* A host that rules bind may be asked for what they have; one that they do not
 * bind, for anything. */
static void wider_http(const struct ab_value *a, const struct ab_value *b, struct ab_strv *lines)
{
	for (size_t i = 0; i < a->len; i++)
		if (!ab_http_binds(b, &a->items[i]))
			say(lines, AB_KEY_HTTP, "without ", a->items[i].text, NULL);
	for (size_t i = 0; i < b->len; i++)
		if (ab_http_wider(a, &b->items[i]))
			say(lines, AB_KEY_HTTP, "", b->items[i].text, NULL);
}

void ab_policy_wider(const struct ab_policy *a, const struct ab_policy *b,
		     struct ab_strv *ret_lines)
{
	struct ab_arena arena = { 0 };

	for (int id = 0; id < AB_KEY_COUNT; id++) {
		const struct ab_value *x = &a->store->config.v[id];
		const struct ab_value *y = &b->store->config.v[id];

		switch (ab_keys[id].tighten) {
		case AB_TIGHTEN_STRICTER:
			wider_scalar(id, &arena, x, y, ret_lines);
			break;
		case AB_TIGHTEN_COVERED:
			wider_permission(id, x, y, ret_lines);
			break;
		case AB_TIGHTEN_UNION:
			wider_prohibition(id, x, y, ret_lines);
			break;
		case AB_TIGHTEN_MARKED:
			if (id == AB_KEY_OVERRIDE)
				wider_overrides(x, y, ret_lines);
			else if (id == AB_KEY_HTTP)
				wider_http(x, y, ret_lines);
			else
				wider_rules(x, y, ret_lines);
			break;
		case AB_TIGHTEN_NEVER:
			/* A variable can mean anything to a program, and any
			 * other proxy can lead anywhere. */
			if (ab_key_is_list(&ab_keys[id]))
				wider_permission(id, x, y, ret_lines);
			else if (id == AB_KEY_UPSTREAM && strcmp(x->text, y->text) != 0)
				say(ret_lines, id, "", ab_value_text(&arena, id, y),
				    ab_value_text(&arena, id, x));
			break;
		}
	}
	ab_arena_fini(&arena);
}

static void print_side(struct ab_buf *out, const struct ab_strv *lines, const char *name,
		       const char *other)
{
	if (!lines->len)
		return;
	ab_buf_escape(out, name);
	ab_buf_puts(out, " allows beyond ");
	ab_buf_escape(out, other);
	ab_buf_puts(out, ":\n");
	for (size_t i = 0; i < lines->len; i++)
		ab_buf_printf(out, "  %s\n", lines->v[i]);
}

static void json_side(struct ab_buf *out, const char *name, const struct ab_strv *lines)
{
	ab_buf_json(out, name);
	ab_buf_puts(out, ":[");
	for (size_t i = 0; i < lines->len; i++) {
		const char *colon = strstr(lines->v[i], ": ");
		ab_autofree char *key = ab_strndup(lines->v[i], (size_t)(colon - lines->v[i]));

		ab_buf_puts(out, i ? ",{\"key\":" : "{\"key\":");
		ab_buf_json(out, key);
		ab_buf_puts(out, ",\"value\":");
		ab_buf_json(out, colon + 2);
		ab_buf_puts(out, "}");
	}
	ab_buf_puts(out, "]");
}

char *ab_policy_diff(const struct ab_policy *a, const char *a_name, const struct ab_policy *b,
		     const char *b_name, bool json)
{
	ab_autostrv struct ab_strv more = { 0 }, less = { 0 };
	struct ab_buf out = { 0 };

	ab_policy_wider(b, a, &less);
	ab_policy_wider(a, b, &more);
	if (json) {
		ab_buf_puts(&out, "{\"a\":");
		ab_buf_json(&out, a_name);
		ab_buf_puts(&out, ",\"b\":");
		ab_buf_json(&out, b_name);
		ab_buf_puts(&out, ",");
		json_side(&out, "aAllows", &less);
		ab_buf_puts(&out, ",");
		json_side(&out, "bAllows", &more);
		ab_buf_puts(&out, "}\n");
		return ab_buf_take(&out);
	}
	print_side(&out, &less, a_name, b_name);
	print_side(&out, &more, b_name, a_name);
	if (!less.len && !more.len)
		ab_buf_puts(&out, "no difference in what they allow\n");
	return ab_buf_take(&out);
}
