/*
 * What was learned, as a file and in words.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/system/path.h"
#include "policy/model/policy.h"
#include "policy/values/host.h"
#include "steer/learn/learned_state.h"

enum { SHOWN = 40 }; /* lines of one note */

/* A list or an object on lines of its own, one element each. */
struct block {
	struct ab_buf *b;
	char close;
	bool any;
};

static struct block open_block(struct ab_buf *b, const char *key, char open)
{
	ab_buf_printf(b, "    \"%s\": %c", key, open);
	return (struct block){ .b = b, .close = open == '[' ? ']' : '}' };
}

static void put_element(struct block *block, const char *key, const char *value)
{
	ab_buf_printf(block->b, "%s\n      ", block->any ? "," : "");
	ab_buf_json(block->b, key);
	if (value) {
		ab_buf_puts(block->b, ": ");
		ab_buf_json(block->b, value);
	}
	block->any = true;
}

static void close_block(struct block *block)
{
	ab_buf_printf(block->b, "%s%c", block->any ? "\n    " : "", block->close);
}

static void open_section(struct ab_buf *b, const char *name)
{
	ab_buf_printf(b, ",\n  \"%s\": {\n", name);
}

static bool needs_network(const struct ab_learned *l, const struct ab_policy *base)
{
	for (size_t i = 0; i < l->reached.len; i++)
		if (base->net.mode != AB_NET_FILTERED ||
		    !ab_hosts_cover(base->net.allow.v, base->net.allow.len, l->reached.v[i].text,
				    false))
			return true;
	return false;
}

static void put_reasons(struct ab_buf *b, const struct ab_strv *entries,
			const struct ab_strv *reasons)
{
	struct block block;

	if (reasons->len == 0)
		return;
	ab_buf_puts(b, ",\n");
	block = open_block(b, "reason", '{');
	for (size_t i = 0; i < reasons->len; i++)
		put_element(&block, entries->v[i], reasons->v[i]);
	close_block(&block);
}

/* A list in a profile stands in place of the one that it builds on, so all
 * that were reached are in it. */
static void put_network(struct ab_buf *b, const struct ab_learned *l, const struct ab_policy *base)
{
	ab_autostrv struct ab_strv entries = { 0 }, reasons = { 0 };
	struct block block;

	if (!needs_network(l, base))
		return;
	open_section(b, "network");
	if (base->net.mode != AB_NET_FILTERED)
		ab_buf_puts(b, "    \"mode\": \"filtered\",\n");
	block = open_block(b, "allow", '[');
	for (size_t i = 0; i < l->reached.len; i++) {
		char *why = ab_learned_risk(l->reached.v[i].text);

		put_element(&block, l->reached.v[i].text, NULL);
		if (!why)
			continue;
		ab_strv_add(&entries, l->reached.v[i].text);
		ab_strv_give(&reasons, why);
	}
	close_block(&block);
	put_reasons(b, &entries, &reasons);
	ab_buf_puts(b, "\n  }");
}

static bool is_outside(const char *path, const struct ab_learned_from *from)
{
	return !from->workspace[0] || !ab_path_within(path, from->workspace);
}

static void put_files(struct ab_buf *b, const struct ab_learned *l,
		      const struct ab_learned_from *from)
{
	ab_autostrv struct ab_strv folders = { 0 }, entries = { 0 };
	ab_autostrv struct ab_strv reasons = { 0 };
	struct block block;

	ab_learned_folders(l, from, &folders);
	if (folders.len == 0)
		return;
	open_section(b, "filesystem");
	block = open_block(b, "write", '[');
	for (size_t i = 0; i < from->base->fs.write.len; i++) {
		ab_autofree char *text = ab_learned_short(from->base->fs.write.v[i], from);

		put_element(&block, text, NULL);
	}
	for (size_t i = 0; i < folders.len; i++) {
		ab_autofree char *text = ab_learned_short(folders.v[i], from);

		put_element(&block, text, NULL);
		if (!is_outside(folders.v[i], from))
			continue;
		ab_strv_add(&entries, text);
		ab_strv_add(&reasons, "outside of the workspace");
	}
	close_block(&block);
	put_reasons(b, &entries, &reasons);
	ab_buf_puts(b, "\n  }");
}

char *ab_learned_policy(const struct ab_learned *l, const struct ab_learned_from *from)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_puts(&b, "{\n  \"extends\": ");
	ab_buf_json(&b, from->extends);
	put_files(&b, l, from);
	put_network(&b, l, from->base);
	ab_buf_puts(&b, "\n}\n");
	return ab_buf_take(&b);
}

/* "  x.y:8080  3 times  why": what the box chose is escaped where it is
 * shown. */
static void note_item(const struct learned_item *item, const char *why, struct ab_strv *ret)
{
	ab_autofree char *times =
		item->count > 1 ? ab_printf("  %" PRIu64 " times", item->count) : ab_strdup("");

	ab_strv_addf(ret, "  %.300s%s%s%.300s", item->text, times, why ? "  " : "", why ? why : "");
}

static void note_rest(const struct learned_list *list, size_t shown, struct ab_strv *ret)
{
	uint64_t left = list->len - shown + list->lost;

	if (left)
		ab_strv_addf(ret, "  and %" PRIu64 " more", left);
}

static void note_list(const struct learned_list *list, const char *title, struct ab_strv *ret)
{
	size_t n = list->len < SHOWN ? list->len : SHOWN;

	if (list->len == 0)
		return;
	ab_strv_add(ret, title);
	for (size_t i = 0; i < n; i++)
		note_item(&list->v[i], list->v[i].why, ret);
	note_rest(list, n, ret);
}

static void note_reached(const struct learned_list *list, struct ab_strv *ret)
{
	size_t n = list->len < SHOWN ? list->len : SHOWN;

	if (list->len == 0)
		return;
	ab_strv_addf(ret, "it reached %zu host%s:", list->len, list->len == 1 ? "" : "s");
	for (size_t i = 0; i < n; i++) {
		ab_autofree char *why = ab_learned_risk(list->v[i].text);

		note_item(&list->v[i], why, ret);
	}
	note_rest(list, n, ret);
	if (list->lost)
		ab_strv_addf(ret, "the policy has room for %zu of them", list->most);
}

/* One that was reached at another time is none of them. */
static void note_failed(const struct ab_learned *l, struct ab_strv *ret)
{
	struct learned_list left = { .v = ab_alloc(sizeof(left.v[0]) * (l->failed.len + 1)),
				     .lost = l->failed.lost };

	for (size_t i = 0; i < l->failed.len; i++)
		if (!ab_learned_has(&l->reached, l->failed.v[i].text))
			left.v[left.len++] = l->failed.v[i];
	note_list(&left, "it could not reach these, which the policy leaves out:", ret);
	free(left.v);
}

static void note_unwritten(const struct ab_learned *l, const struct ab_learned_from *from,
			   struct ab_strv *ret)
{
	size_t shown = 0;
	const char *why;

	for (size_t i = 0; i < l->unwritten.len && shown < SHOWN; i++) {
		const struct learned_item *item = &l->unwritten.v[i];
		ab_autofree char *folder = ab_learned_folder(item->text, from, &why);

		if (folder)
			continue;
		if (shown++ == 0)
			ab_strv_add(ret, "it could not write here, and the "
					 "policy does not let it:");
		note_item(item, why, ret);
	}
	if (l->unwritten.lost)
		ab_strv_addf(ret,
			     "of the paths that it could not write, %" PRIu64
			     " more were not looked at",
			     l->unwritten.lost);
}

void ab_learned_notes(const struct ab_learned *l, const struct ab_learned_from *from,
		      struct ab_strv *ret)
{
	note_reached(&l->reached, ret);
	note_failed(l, ret);
	note_list(&l->denied, "it was refused these hosts, and still is:", ret);
	note_unwritten(l, from, ret);
	note_list(&l->refused, "it was refused this, and still is:", ret);
	note_list(&l->programs, "programs that it ran:", ret);
}
