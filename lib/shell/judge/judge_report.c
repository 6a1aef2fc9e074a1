#include "shell/judge/judge_report.h"

#include <string.h>

#include "base/data/buf.h"
#include "shell/judge/point_at.h"
#include "shell/judge/judge.h"

/* Is there room for this many bytes and a NUL? */
static inline bool has_room(const struct ab_buf *b, size_t len)
{
	return b->room - b->skipped - b->len > len;
}

/* `size` includes the final NUL. Copies in place if there is room: faster than
 * ab_buf_add(). */
static inline void put_text(struct ab_buf *b, const char *s, size_t size)
{
	if (!has_room(b, size)) {
		ab_buf_add(b, s, size - 1);
		return;
	}
	memcpy(b->data + b->len, s, size);
	b->len += size - 1;
}

static void put_number(struct ab_buf *b, uint32_t n)
{
	char text[11];
	size_t at = sizeof(text) - 1;

	text[at] = '\0';
	do {
		text[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	put_text(b, text + at, sizeof(text) - at);
}

#define PUT(b, literal) put_text(b, literal, sizeof(literal))

/* `plain`: nothing in it needs an escape. */
static void put_string(struct ab_buf *b, struct ab_text text, bool plain)
{
	char *to = b->data + b->len;

	if (!plain || !has_room(b, text.len + 2)) {
		ab_buf_json_n(b, text.s, text.len);
		return;
	}
	*to++ = '"';
	memcpy(to, text.s, text.len);
	to[text.len] = '"';
	to[text.len + 1] = '\0';
	b->len += text.len + 2;
}

static void put_span(struct ab_buf *b, struct ab_span range)
{
	put_number(b, range.from);
	PUT(b, ",");
	put_number(b, range.to);
}

/* With its room: a copy of constant length is one instruction or two. */
static const struct {
	char text[32];
	uint8_t len;
} verdicts[] = {
#define VERDICT(name)                                                     \
	{                                                                 \
		"\"decision\":\"" name "\",\"rule\":",                    \
			sizeof("\"decision\":\"" name "\",\"rule\":") - 1 \
	}
	[AB_ALLOW] = VERDICT("allow"),
	[AB_SANDBOXED] = VERDICT("sandboxed"),
	[AB_ESCALATED] = VERDICT("escalated"),
	[AB_FORBIDDEN] = VERDICT("forbidden"),
#undef VERDICT
};

/* No rule is null. */
static void put_verdict(struct ab_buf *b, enum ab_decision decision, const char *rule)
{
	put_text(b, verdicts[decision].text, sizeof(verdicts->text));
	b->len -= sizeof(verdicts->text) - 1 - verdicts[decision].len;
	if (rule[0])
		put_string(b, (struct ab_text){ rule, (uint32_t)strlen(rule) }, true);
	else
		PUT(b, "null");
}

static void put_command(struct ab_buf *b, const struct ab_judged *c)
{
	PUT(b, "{\"argv\":[");
	for (size_t i = 0; i < c->argc; i++) {
		const struct ab_field *word = &c->argv[i];

		if (i)
			PUT(b, ",");
		if (word->unknown)
			PUT(b, "null");
		else
			put_string(b, word->text, !ab_field_has(word, AB_BYTES_ESCAPED));
	}
	PUT(b, "],\"range\":[");
	put_span(b, c->range);
	PUT(b, "],");
	put_verdict(b, c->decision, c->rule);
	if (c->via) {
		PUT(b, ",\"via\":");
		ab_buf_json(b, c->via);
	}
	PUT(b, "}");
}

struct ab_text ab_judgement_segment(const struct ab_judgement *j)
{
	uint32_t from = j->range.from, to = j->range.to;

	if (to > j->text.len)
		to = j->text.len;
	if (from > to)
		from = to;
	return (struct ab_text){ j->text.s + from, to - from };
}

void ab_judgement_json(const struct ab_judgement *j, struct ab_buf *b)
{
	const struct ab_judged *c;
	size_t before;
	bool plain;

	PUT(b, "{");
	put_verdict(b, j->decision, j->rule);
	PUT(b, ",\"reason\":");
	ab_buf_json(b, j->reason);
	PUT(b, ",\"command\":");
	before = b->len;
	ab_buf_json_n(b, j->text.s, j->text.len);
	/* An escape is longer than what it replaces. */
	plain = b->len - before == j->text.len + 2;
	PUT(b, ",\"range\":[");
	put_span(b, j->range);
	PUT(b, "],\"segment\":");
	put_string(b, ab_judgement_segment(j), plain);
	PUT(b, ",\"commands\":[");
	for (c = j->commands; c; c = c->next) {
		put_command(b, c);
		if (c->next)
			PUT(b, ",");
	}
	PUT(b, "]");
	if (j->user_rule) {
		PUT(b, ",\"userRule\":");
		ab_buf_json(b, j->user_rule);
	}
	if (j->instead) {
		PUT(b, ",\"instead\":");
		ab_buf_json(b, j->instead);
	}
	if (j->script.error) {
		PUT(b, ",\"error\":{\"text\":");
		ab_buf_json(b, j->script.error);
		PUT(b, ",\"at\":");
		put_number(b, j->script.error_at);
		PUT(b, "}");
	}
	PUT(b, "}");
}

enum { LINE = 100 }; /* columns */

/* Shows the line in which the decisive part begins. */
bool ab_judgement_point(const struct ab_judgement *j, const char *indent, struct ab_buf *b)
{
	struct ab_text segment = ab_judgement_segment(j), line;
	uint32_t from = (uint32_t)(segment.s - j->text.s);
	uint32_t first = from, last = from, to = from + segment.len;

	if (segment.len == 0 || segment.len == j->text.len)
		return false;
	while (last < j->text.len && j->text.s[last] != '\n')
		last++;
	while (first > 0 && j->text.s[first - 1] != '\n')
		first--;
	line = (struct ab_text){ j->text.s + first, last - first };
	to = to < last ? to : last;
	ab_point(b, line, (struct ab_span){ from - first, to - first }, indent, LINE);
	return true;
}
