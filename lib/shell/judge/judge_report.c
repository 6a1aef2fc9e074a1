#include "shell/judge/judge_report.h"

#include "shell/expand/fields.h"
#include "shell/judge/point_at.h"

/* Not by ab_buf_jsonf(): every command has these. `before` is the text up to their values. */
static void put_range(struct ab_buf *b, const char *before, struct ab_span range)
{
	char room[AB_NUMBER_SIZE];
	struct ab_text from = ab_number_text(range.from, room), to;

	ab_buf_puts(b, before);
	ab_buf_add(b, from.s, from.len);
	ab_buf_puts(b, ",");
	to = ab_number_text(range.to, room);
	ab_buf_add(b, to.s, to.len);
}

/* The names need no escapes; no rule is null. */
static void put_verdict(struct ab_buf *b, const char *before, enum ab_decision decision,
			const char *rule)
{
	ab_buf_puts(b, before);
	ab_buf_puts(b, ab_decision_names[decision]);
	ab_buf_puts(b, rule[0] ? "\",\"rule\":\"" : "\",\"rule\":null");
	ab_buf_puts(b, rule);
	ab_buf_puts(b, rule[0] ? "\"" : "");
}

static void put_command(struct ab_buf *b, const struct ab_judged *c)
{
	ab_buf_puts(b, "{\"argv\":[");
	for (size_t i = 0; i < c->argc; i++) {
		const struct ab_field *word = &c->argv[i];

		ab_buf_puts(b, i ? "," : "");
		if (word->unknown)
			ab_buf_puts(b, "null");
		else
			ab_buf_json_n(b, word->text.s, word->text.len);
	}
	put_range(b, "],\"range\":[", c->range);
	put_verdict(b, "],\"decision\":\"", c->decision, c->rule);
	if (c->via)
		ab_buf_jsonf(b, ",'via':%s", c->via);
	ab_buf_puts(b, c->next ? "}," : "}");
}

struct ab_text ab_judgement_text(const struct ab_judgement *j, struct ab_span range)
{
	uint32_t to = range.to < j->text.len ? range.to : j->text.len;
	uint32_t from = range.from < to ? range.from : to;

	return (struct ab_text){ j->text.s + from, to - from };
}

void ab_judgement_json(const struct ab_judgement *j, struct ab_buf *b)
{
	struct ab_text segment = ab_judgement_text(j, j->range);

	put_verdict(b, "{\"decision\":\"", j->decision, j->rule);
	ab_buf_puts(b, ",\"reason\":");
	ab_buf_json(b, j->reason);
	ab_buf_puts(b, ",\"command\":");
	ab_buf_json_n(b, j->text.s, j->text.len);
	put_range(b, ",\"range\":[", j->range);
	ab_buf_puts(b, "],\"segment\":");
	ab_buf_json_n(b, segment.s, segment.len);
	ab_buf_puts(b, ",\"commands\":[");
	for (const struct ab_judged *c = j->commands; c; c = c->next)
		put_command(b, c);
	ab_buf_puts(b, "]");
	if (j->user_rule || j->instead)
		ab_buf_jsonf(b, "?,'userRule':%s?,'instead':%s", j->user_rule, j->instead);
	if (j->script.error)
		ab_buf_jsonf(b, ",'error':{'text':%s,'at':%u}", j->script.error,
			     j->script.error_at);
	ab_buf_puts(b, "}");
}

enum { LINE = 100 }; /* columns */

/* Shows the line in which the decisive part begins. */
bool ab_judgement_point(const struct ab_judgement *j, const char *indent, struct ab_buf *b)
{
	struct ab_text segment = ab_judgement_text(j, j->range), line;
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
