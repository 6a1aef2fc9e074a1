#include "shell/syntax/lex.h"

/* The delimiter as text: without quotes, and not expanded. */
static struct ab_text join_delimiter(struct ab_reader *r, uint32_t from,
				     const struct ab_part *parts)
{
	uint32_t len = 0;
	char *text;

	if (parts && !parts->next && parts->kind == AB_PART_TEXT)
		return parts->text;
	text = ab_arena_alloc(r->arena, r->at - from);
	for (const struct ab_part *p = parts; p; p = p->next) {
		if (p->kind != AB_PART_TEXT)
			return (struct ab_text){ r->s + from, r->at - from };
		memcpy(text + len, p->text.s, p->text.len);
		len += p->text.len;
	}
	return (struct ab_text){ text, len };
}

void ab_parse_heredoc(struct ab_reader *r, struct ab_redir *redir, bool strip)
{
	struct ab_heredoc *doc = ab_lex_new(r, sizeof(*doc));
	uint32_t from = r->at;
	const struct ab_shell_word *word = ab_parse_word(r, AB_WORD_PLAIN);

	redir->target = ab_lex_new(r, sizeof(*redir->target));
	redir->target->range = word->range;
	doc->redir = redir;
	doc->strip = strip;
	doc->delimiter = join_delimiter(r, from, word->parts);
	for (uint32_t i = from; i < r->at; i++)
		doc->quoted |= r->s[i] == '\'' || r->s[i] == '"' || r->s[i] == '\\';
	if (r->heredocs)
		*r->heredocs_tail = doc;
	else
		r->heredocs = doc;
	r->heredocs_tail = &doc->next;
}

/* Is the line at r->at the delimiter? *ret_next: where reading continues. */
static bool is_delimiter(const struct ab_reader *r, const struct ab_heredoc *doc, uint32_t line_end,
			 uint32_t *ret_next)
{
	uint32_t at = r->at, len = doc->delimiter.len;

	while (doc->strip && at < line_end && r->s[at] == '\t')
		at++;
	if (line_end - at < len || memcmp(r->s + at, doc->delimiter.s, len))
		return false;
	at += len;
	if (at == line_end) {
		*ret_next = line_end < r->end ? line_end + 1 : line_end;
		return true;
	}
	/* Inside $( ) bash accepts "E)" as the end. */
	*ret_next = at;
	return r->in_command && memchr(r->s + at, ')', line_end - at);
}

/* Skips the body and its delimiter; returns the end of the body. */
static uint32_t skip_body(struct ab_reader *r, const struct ab_heredoc *doc)
{
	while (r->at < r->end) {
		const char *p = memchr(r->s + r->at, '\n', r->end - r->at);
		uint32_t line_end = p ? p - r->s : r->end, body = r->at, next;

		r->work += line_end - r->at;
		if (is_delimiter(r, doc, line_end, &next)) {
			r->at = next;
			return body;
		}
		r->at = p ? line_end + 1 : line_end;
	}
	return r->end;
}

static void add_literal(struct ab_reader *r, struct ab_parts *parts, const struct ab_heredoc *doc)
{
	while (r->at < r->end) {
		uint32_t from = r->at;

		while (doc->strip && ab_lex_at(r, '\t'))
			from = ++r->at;
		while (r->at < r->end && r->s[r->at] != AB_UNKNOWN &&
		       !(doc->strip && r->s[r->at] == '\n'))
			r->at++;
		r->at += ab_lex_at(r, '\n');
		r->work += r->at - from;
		if (r->at > from)
			ab_parts_text(r, parts, from, r->at, true);
		if (ab_lex_at(r, AB_UNKNOWN))
			ab_parts_unknown(r, parts, true);
	}
}

static void parse_body(struct ab_reader *r, const struct ab_heredoc *doc)
{
	uint32_t from = r->at, to = skip_body(r, doc);
	struct ab_reader inner = ab_lex_inner(r, r->s, from, to);
	struct ab_shell_word *word = doc->redir->target;
	struct ab_parts parts = { 0 };

	if (doc->quoted)
		add_literal(&inner, &parts, doc);
	else
		ab_parse_quoted(&inner, &parts, AB_LEX_BODY, doc->strip);
	ab_parse_heredoc_bodies(&inner);
	word->parts = parts.first;
	word->range = ab_lex_span(r, from, to);
	ab_lex_outer(r, &inner);
}

void ab_parse_heredoc_bodies(struct ab_reader *r)
{
	while (r->heredocs) {
		struct ab_heredoc *doc = r->heredocs;

		r->heredocs = doc->next;
		parse_body(r, doc);
	}
}
