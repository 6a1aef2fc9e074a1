#include "shell/judge/judge_report.h"

#include "shell/judge/point_at.h"

/*
 * The text is written through a pointer to its end, into room that was made before: `to`
 * goes in, the new end comes out. A copy of constant length is one instruction or two, so
 * literals are copied with the bytes after them, up to PADDING.
 */
enum {
	PADDING = 16,
	FIXED = 256, /* covers the literals and numbers of a judgement or a command */
};

static inline char *begin_text(struct ab_buf *b, size_t len)
{
	if (b->room - b->skipped - b->len <= len + FIXED)
		ab_buf_room(b, len + FIXED);
	return b->data + b->len;
}

static inline void end_text(struct ab_buf *b, char *to)
{
	*to = '\0';
	b->len = (size_t)(to - b->data);
}

/* Nothing in `s` is read beyond `len` rounded up to PADDING. */
static inline char *put_padded(char *to, const char *s, size_t len)
{
	memcpy(to, s, (len + PADDING - 1) / PADDING * PADDING);
	return to + len;
}

#define PUT(to, literal) \
	put_padded(to, literal "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", sizeof(literal) - 1)

static char *put_number(char *to, uint32_t n)
{
	if (n >= 100)
		to = put_number(to, n / 10);
	else if (n >= 10)
		*to++ = (char)('0' + n / 10);
	*to = (char)('0' + n % 10);
	return to + 1;
}

/* Most words are short: two pieces that may overlap are faster than a call. */
static inline char *put_bytes(char *to, struct ab_text text)
{
	const char *s = text.s;
	size_t len = text.len;

	if (len >= 8 && len <= 16) {
		memcpy(to, s, 8);
		memcpy(to + len - 8, s + len - 8, 8);
	} else if (len >= 4 && len < 8) {
		memcpy(to, s, 4);
		memcpy(to + len - 4, s + len - 4, 4);
	} else if (len >= 2 && len < 4) {
		memcpy(to, s, 2);
		to[len - 1] = s[len - 1];
	} else if (len == 1) {
		*to = *s;
	} else if (len) {
		memcpy(to, s, len);
	}
	return to + len;
}

/* Nothing in it needs an escape. */
static char *put_plain(char *to, struct ab_text text)
{
	*to++ = '"';
	to = put_bytes(to, text);
	*to++ = '"';
	return to;
}

static char *put_span(char *to, struct ab_span range)
{
	to = put_number(to, range.from);
	*to++ = ',';
	return put_number(to, range.to);
}

static const struct {
	char text[2 * PADDING];
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

/* No rule is null. The names of rules are shorter than FIXED. */
static char *put_verdict(char *to, enum ab_decision decision, const char *rule)
{
	memcpy(to, verdicts[decision].text, sizeof(verdicts->text));
	to += verdicts[decision].len;
	if (!rule[0])
		return PUT(to, "null");
	return put_plain(to, ab_text_of(rule));
}

static void put_command(struct ab_buf *b, const struct ab_judged *c)
{
	size_t room = 0;
	char *to;

	for (size_t i = 0; i < c->argc; i++)
		room += c->argv[i].text.len + sizeof("\"\",null");
	to = PUT(begin_text(b, room), "{\"argv\":[");
	for (size_t i = 0; i < c->argc; i++) {
		const struct ab_field *word = &c->argv[i];

		if (i)
			*to++ = ',';
		if (word->unknown) {
			to = PUT(to, "null");
		} else if (!ab_field_has(word, AB_BYTES_ESCAPED)) {
			to = put_plain(to, word->text);
		} else {
			end_text(b, to);
			ab_buf_json_n(b, word->text.s, word->text.len);
			to = begin_text(b, room);
		}
	}
	to = put_span(PUT(to, "],\"range\":["), c->range);
	to = put_verdict(PUT(to, "],"), c->decision, c->rule);
	if (c->via) {
		end_text(b, PUT(to, ",\"via\":"));
		ab_buf_json(b, c->via);
		to = begin_text(b, 0);
	}
	*to++ = '}';
	if (c->next)
		*to++ = ',';
	end_text(b, to);
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
	struct ab_text segment = ab_judgement_segment(j);
	size_t before;
	bool plain;
	char *to;

	to = put_verdict(PUT(begin_text(b, 0), "{"), j->decision, j->rule);
	end_text(b, PUT(to, ",\"reason\":"));
	ab_buf_json(b, j->reason);
	end_text(b, PUT(begin_text(b, 0), ",\"command\":"));
	before = b->len;
	ab_buf_json_n(b, j->text.s, j->text.len);
	/* An escape is longer than what it replaces. */
	plain = b->len - before == j->text.len + 2;
	to = begin_text(b, segment.len);
	to = put_span(PUT(to, ",\"range\":["), j->range);
	to = PUT(to, "],\"segment\":");
	if (plain) {
		to = put_plain(to, segment);
	} else {
		end_text(b, to);
		ab_buf_json_n(b, segment.s, segment.len);
		to = begin_text(b, 0);
	}
	end_text(b, PUT(to, ",\"commands\":["));
	for (const struct ab_judged *c = j->commands; c; c = c->next)
		put_command(b, c);
	to = begin_text(b, 0);
	*to++ = ']';
	end_text(b, to);
	if (j->user_rule)
		ab_buf_jsonf(b, ",'userRule':%s", j->user_rule);
	if (j->instead)
		ab_buf_jsonf(b, ",'instead':%s", j->instead);
	if (j->script.error)
		ab_buf_jsonf(b, ",'error':{'text':%s,'at':%u}", j->script.error,
			     j->script.error_at);
	ab_buf_puts(b, "}");
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
