#include "policy/layers/compare.h"

#include "policy/layers/layers.h"
#include "policy/model/commands.h"
#include "policy/model/config.h"
#include "policy/model/http_config.h"
#include "policy/model/policy.h"
#include "policy/toolchains/registries.h"
#include "shell/judge/ruling.h"

static void add_difference(struct ab_strv *lines, enum ab_key_id id, const char *lead,
			   const char *text, const char *other)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_printf(&b, "%s: %s", ab_keys[id].path, lead);
	ab_buf_escape(&b, text);
	if (other) {
		ab_buf_puts(&b, ", not ");
		ab_buf_escape(&b, other);
	}
	/* Several elements of one side may point at the same element of the other. */
	ab_strv_add_once(lines, b.data);
}

static void add_scalar(enum ab_key_id id, struct ab_arena *arena, const struct ab_value *a,
		       const struct ab_value *b, struct ab_strv *lines)
{
	add_difference(lines, id, "", ab_value_text(arena, id, b), ab_value_text(arena, id, a));
}

/* Everything that b permits must be permitted by a. */
static void wider_permission(enum ab_key_id id, const struct ab_value *a, const struct ab_value *b,
			     struct ab_strv *lines)
{
	if (b->all && !a->all)
		add_difference(lines, id, "", "all", NULL);
	for (size_t i = 0; !b->all && i < b->len; i++)
		if (!ab_value_covers(id, a, b->items[i].text))
			add_difference(lines, id, "", b->items[i].text, NULL);
}

/* The prohibitions after position i: a "!" there does not remove them. */
static struct ab_value slice_after(const struct ab_value *v, size_t i)
{
	return (struct ab_value){ .items = v->items + i + 1, .len = v->len - i - 1 };
}

static size_t find_position(const struct ab_value *v, const char *text)
{
	size_t i = v->len;

	while (i > 0 && strcmp(v->items[i - 1].text, text) != 0)
		i--;
	return i; /* 1-based; 0: not there */
}

/* Every policy gets these where it needs them: see protect_ours() and protect_registries(). */
static bool is_added_always(const struct ab_item *item)
{
	return item->from && item->from->layer == AB_LAYER_ALWAYS;
}

/* b must forbid everything that a forbids. What b takes back, a must take back
 * too, and must not forbid again after that. */
static void wider_prohibition(enum ab_key_id id, const struct ab_value *a, const struct ab_value *b,
			      struct ab_strv *lines)
{
	for (size_t i = 0; i < a->len; i++)
		if (a->items[i].text[0] != '!' && !is_added_always(&a->items[i]) &&
		    !ab_value_covers(id, b, a->items[i].text))
			add_difference(lines, id, "without ", a->items[i].text, NULL);
	for (size_t i = 0; i < b->len; i++) {
		const char *text = b->items[i].text;
		size_t at = text[0] == '!' ? find_position(a, text) : 0;
		struct ab_value left, right;

		if (text[0] != '!')
			continue;
		right = slice_after(b, i);
		if (ab_value_covers(id, &right, text + 1))
			continue; /* forbidden again */
		if (at == 0) {
			add_difference(lines, id, "", text, NULL);
			continue;
		}
		left = slice_after(a, at - 1);
		for (size_t k = 0; k < left.len; k++)
			if (left.items[k].text[0] != '!' && !is_added_always(&left.items[k]) &&
			    !ab_value_covers(id, &right, left.items[k].text))
				add_difference(lines, id, "without ", left.items[k].text, NULL);
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
			add_difference(lines, AB_KEY_OVERRIDE, "", text,
				       ab_decision_names[x.strong]);
	}
}

/* Do both have the same texts in the same order, apart from what does not count? */
static bool same_texts(const struct ab_value *a, const struct ab_value *b,
		       bool (*counts)(const struct ab_item *item))
{
	size_t i = 0, k = 0;

	for (;; i++, k++) {
		while (i < a->len && !counts(&a->items[i]))
			i++;
		while (k < b->len && !counts(&b->items[k]))
			k++;
		if (i == a->len || k == b->len)
			return i == a->len && k == b->len;
		if (strcmp(a->items[i].text, b->items[k].text) != 0)
			return false;
	}
}

/* A rule of a trusted file can also permit. */
static bool is_trusted(const struct ab_item *rule)
{
	return !rule->tighten;
}

/* The first match wins, so the effect of a rule depends on those before it.
 * Every rule that one side lacks may matter, and so may the order. */
static void wider_rules(const struct ab_value *a, const struct ab_value *b, struct ab_strv *lines)
{
	size_t before = lines->len;

	for (size_t i = 0; i < a->len; i++)
		if (!ab_value_covers(AB_KEY_RULES, b, a->items[i].text) &&
		    a->items[i].rule->decision != AB_ALLOW)
			add_difference(lines, AB_KEY_RULES, "without ", a->items[i].text, NULL);
	for (size_t i = 0; i < b->len; i++)
		if (!b->items[i].tighten && !ab_value_covers(AB_KEY_RULES, a, b->items[i].text) &&
		    b->items[i].rule->decision != AB_FORBIDDEN)
			add_difference(lines, AB_KEY_RULES, "", b->items[i].text, NULL);
	if (lines->len == before && a->len == b->len && !same_texts(a, b, is_trusted))
		add_difference(lines, AB_KEY_RULES, "", "in a different order", NULL);
}

/* Rules restrict a host to what they list; a host without rules is not
 * restricted. */
static void wider_http(const struct ab_value *a, const struct ab_value *b, struct ab_strv *lines)
{
	for (size_t i = 0; i < a->len; i++)
		if (!ab_http_binds(b, &a->items[i]))
			add_difference(lines, AB_KEY_HTTP, "without ", a->items[i].text, NULL);
	for (size_t i = 0; i < b->len; i++)
		if (ab_http_wider(a, &b->items[i]))
			add_difference(lines, AB_KEY_HTTP, "", b->items[i].text, NULL);
}

static void wider_tools(const struct ab_value *a, const struct ab_value *b, struct ab_strv *lines)
{
	for (size_t i = 0; i < a->len; i++)
		if (!ab_tool_allows(&a->items[i]) && !ab_tool_is_covered(b, &a->items[i]))
			add_difference(lines, AB_KEY_TOOLS, "without ", a->items[i].text, NULL);
	for (size_t i = 0; i < b->len; i++)
		if (ab_tool_allows(&b->items[i]) && !ab_tool_is_covered(a, &b->items[i]))
			add_difference(lines, AB_KEY_TOOLS, "", b->items[i].text, NULL);
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
			if (y->number > x->number)
				add_scalar(id, &arena, x, y, ret_lines);
			break;
		case AB_TIGHTEN_STRICTEST:
			if (y->number != 0 && y->number != x->number)
				add_scalar(id, &arena, x, y, ret_lines);
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
			else if (id == AB_KEY_TOOLS)
				wider_tools(x, y, ret_lines);
			else
				wider_rules(x, y, ret_lines);
			break;
		case AB_TIGHTEN_NEVER:
			/* A variable can mean anything to a program, and
			 * another proxy can lead anywhere. */
			if (ab_key_is_list(&ab_keys[id]))
				wider_permission(id, x, y, ret_lines);
			else if ((id == AB_KEY_UPSTREAM || id == AB_KEY_DOCKER_SOCKET) &&
				 strcmp(x->text, y->text) != 0)
				add_scalar(id, &arena, x, y, ret_lines);
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
	ab_buf_puts(out, "allowed by ");
	ab_buf_escape(out, name);
	ab_buf_puts(out, ", not by ");
	ab_buf_escape(out, other);
	ab_buf_puts(out, ":\n");
	for (size_t i = 0; i < lines->len; i++)
		ab_buf_printf(out, "  %s\n", lines->v[i]);
}

static void print_side_json(struct ab_buf *out, const char *name, const struct ab_strv *lines)
{
	ab_buf_jsonf(out, ",%s:[", name);
	for (size_t i = 0; i < lines->len; i++) {
		const char *colon = strstr(lines->v[i], ": ");

		ab_buf_jsonf(out, ",{'key':%.*s,'value':%s}", (int)(colon - lines->v[i]),
			     lines->v[i], colon + 2);
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
		ab_buf_jsonf(&out, "{'a':%s,'b':%s", a_name, b_name);
		print_side_json(&out, "aAllows", &less);
		print_side_json(&out, "bAllows", &more);
		ab_buf_puts(&out, "}\n");
		return ab_buf_take(&out);
	}
	print_side(&out, &less, a_name, b_name);
	print_side(&out, &more, b_name, a_name);
	if (!less.len && !more.len)
		ab_buf_puts(&out, "both allow the same\n");
	return ab_buf_take(&out);
}

/* ---- the same ---- */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_origin(const struct ab_origin *a, const struct ab_origin *b)
{
	return a == b || (a && b && a->layer == b->layer && a->line == b->line &&
			  a->column == b->column && same_text(a->name, b->name));
}

static bool same_item(const struct ab_item *a, const struct ab_item *b)
{
	return a->here == b->here && a->tighten == b->tighten && a->managed == b->managed &&
	       same_text(a->text, b->text) && same_text(a->via, b->via) &&
	       same_origin(a->from, b->from);
}

static bool same_value(const struct ab_value *a, const struct ab_value *b)
{
	if (a->number != b->number || a->all != b->all || a->len != b->len ||
	    !same_text(a->text, b->text) || !same_origin(a->from, b->from) ||
	    !same_origin(a->only, b->only))
		return false;
	for (size_t i = 0; i < a->len; i++)
		if (!same_item(&a->items[i], &b->items[i]))
			return false;
	return true;
}

static bool same_registries(const struct ab_registry_file *a, const struct ab_registry_file *b)
{
	for (; a && b && a->missing == b->missing && strcmp(a->path, b->path) == 0; a = a->next)
		b = b->next;
	return !a && !b;
}

static bool same_store(const struct ab_policy_store *a, const struct ab_policy_store *b)
{
	for (size_t i = 0; i < AB_KEY_COUNT; i++)
		if (!same_value(&a->config.v[i], &b->config.v[i]))
			return false;
	return same_value(&a->most_hosts, &b->most_hosts) &&
	       same_value(&a->most_published, &b->most_published) &&
	       same_value(&a->never_passed, &b->never_passed) &&
	       a->unknown_fixed == b->unknown_fixed &&
	       a->registries_protected == b->registries_protected &&
	       same_registries(a->registries, b->registries);
}

bool ab_policy_same(const struct ab_policy *a, const struct ab_policy *b)
{
	/* Those that also depend on links in the file system. */
	const struct ab_strv *const lists[][2] = {
		{ &a->fs.write, &b->fs.write },	    { &a->fs.write_itself, &b->fs.write_itself },
		{ &a->fs.touched, &b->fs.touched }, { &a->fs.deny_write, &b->fs.deny_write },
		{ &a->attempts, &b->attempts },
	};

	if (!same_text(a->profile, b->profile) || !same_text(a->workspace, b->workspace) ||
	    !same_text(a->home, b->home) || !same_store(a->store, b->store))
		return false;
	for (size_t i = 0; i < AB_COUNT(lists); i++)
		if (!ab_strv_same(lists[i][0], lists[i][1]))
			return false;
	return true;
}

/* ---- what waits for the next run ---- */

static bool is_live(enum ab_key_id id)
{
	static const enum ab_key_id live[] = { AB_KEY_NET_ALLOW, AB_KEY_NET_DENY,
					       AB_KEY_ALLOW_PRIVATE, AB_KEY_NET_UNKNOWN,
					       AB_KEY_NET_MODE };

	for (size_t i = 0; i < AB_COUNT(live); i++)
		if (live[i] == id)
			return true;
	return false;
}

static bool is_of_settings(const struct ab_item *item)
{
	return !is_added_always(item) &&
	       !(item->from && same_text(item->from->name, AB_NEXT_RUN_ORIGIN));
}

static bool same_settings(const struct ab_value *a, const struct ab_value *b)
{
	return a->number == b->number && a->all == b->all && same_text(a->text, b->text) &&
	       same_texts(a, b, is_of_settings);
}

void ab_policy_changed_keys(const struct ab_policy *a, const struct ab_policy *b,
			    struct ab_strv *ret_keys)
{
	for (size_t i = 0; i < AB_KEY_COUNT; i++)
		if (!is_live((enum ab_key_id)i) &&
		    !same_settings(&a->store->config.v[i], &b->store->config.v[i]))
			ab_strv_add(ret_keys, ab_keys[i].path);
}
