#include "shell/judge/judge_report.h"

#include "shell/judge/point_at.h"

static void put_command(struct ab_buf *b, const struct ab_judged *c)
{
	ab_buf_jsonf(b, ",{'argv':[");
	for (size_t i = 0; i < c->argc; i++) {
		const struct ab_field *word = &c->argv[i];

		ab_buf_puts(b, i ? "," : "");
		if (word->unknown)
			ab_buf_puts(b, "null");
		else
			ab_buf_json_n(b, word->text.s, word->text.len);
	}
	ab_buf_jsonf(b, "],'range':[%u,%u],'decision':%s,'rule':%s?,'via':%s}", c->range.from,
		     c->range.to, ab_decision_names[c->decision], ab_text_or_null(c->rule), c->via);
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

	ab_buf_jsonf(b,
		     "{'decision':%s,'rule':%s,'reason':%s,'command':%.*s,'range':[%u,%u],"
		     "'segment':%.*s,'commands':[",
		     ab_decision_names[j->decision], ab_text_or_null(j->rule), j->reason,
		     (int)j->text.len, j->text.s, j->range.from, j->range.to, (int)segment.len,
		     segment.s);
	for (const struct ab_judged *c = j->commands; c; c = c->next)
		put_command(b, c);
	ab_buf_jsonf(b, "]?,'userRule':%s?,'instead':%s", j->user_rule, j->instead);
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
