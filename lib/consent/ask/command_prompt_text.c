#include "base/text/wrap.h"
#include "consent/ask/command_prompt.h"
#include "shell/judge/point_at.h"

enum {
	ROWS_MAX = 12,	  /* a longer command is cut */
	CONTEXT_ROWS = 3, /* shown before the deciding part of a cut command */
	COLS_MIN = 40,
	MARGIN = 10, /* "agentbox: " */
};

static const char margin[] = "          ";
static const char menu[] = "          [o]nce   [s]ession   [a]lways   [n]o   [?] more  ";
static const char narrow_menu[] = "          [o]nce [s]ession [a]lways [n]o [?] more  ";

static void put_menu(struct ab_buf *b, size_t cols)
{
	ab_buf_puts(b, strlen(menu) < cols ? menu : narrow_menu);
}

void ab_command_prompt_show(struct ab_buf *b, struct ab_text text)
{
	for (size_t at = 0; at < text.len;) {
		struct ab_glyph g = ab_glyph_get(text, at);

		ab_buf_add(b, g.text, g.len);
		at += g.bytes;
	}
}

/*
 * Adds the text in lines behind a margin, at most `rows` of them (0: all), and
 * returns the number of bytes shown. Terminals disagree on the width of a
 * character, so g.room is the widest: no terminal may wrap a line.
 */
static size_t put_block(struct ab_buf *b, struct ab_text text, size_t cols, size_t rows)
{
	size_t room = cols - MARGIN - 3, col = 0, row = 1, at = 0;

	ab_buf_printf(b, "%s| ", margin);
	while (at < text.len) {
		struct ab_glyph g = ab_glyph_get(text, at);
		bool line = text.s[at] == '\n';

		if (line || col + g.room > room) {
			if (row++ == rows)
				break;
			ab_buf_printf(b, "\n%s%c ", margin, line ? '|' : ':');
			col = 0;
		}
		if (!line) {
			ab_buf_add(b, g.text, g.len);
			col += g.room;
		}
		at += g.bytes;
	}
	ab_buf_puts(b, "\n");
	return at;
}

static size_t measure_room(struct ab_text text, size_t from, size_t to)
{
	size_t room = 0;

	while (from < to && from < text.len) {
		struct ab_glyph g = ab_glyph_get(text, from);

		room += g.room;
		from += g.bytes;
	}
	return room;
}

/* Wraps our own lines: a reason, a pattern or a folder may be long. */
static void put_lines(struct ab_buf *b, struct ab_text text, size_t cols)
{
	size_t col = MARGIN;

	ab_buf_puts(b, margin);
	for (size_t at = 0; at < text.len;) {
		struct ab_glyph g = ab_glyph_get(text, at);

		if (col + g.room >= cols) {
			ab_buf_printf(b, "\n%s", margin);
			col = MARGIN;
		}
		ab_buf_add(b, g.text, g.len);
		col += g.room;
		at += g.bytes;
	}
	ab_buf_puts(b, "\n");
}

/* The offset to begin at: the part is shown with a little context before it. */
static size_t find_excerpt(struct ab_text text, size_t part, size_t cols)
{
	size_t at = part < text.len ? part : text.len, lines = 0;
	size_t least = at > CONTEXT_ROWS * cols ? at - CONTEXT_ROWS * cols : 0;

	while (at > least && lines < CONTEXT_ROWS)
		lines += text.s[--at] == '\n';
	/* Not in the middle of a character. */
	while (at && at < part && ((unsigned char)text.s[at] & 0xc0) == 0x80)
		at++;
	/* Escaped characters take more columns than they have bytes. */
	for (size_t room = measure_room(text, at, part); room > CONTEXT_ROWS * cols;) {
		struct ab_glyph g = ab_glyph_get(text, at);

		room -= g.room;
		at += g.bytes;
	}
	return at;
}

static void put_excerpt(struct ab_buf *b, const struct ab_question *q, size_t cols)
{
	size_t at = find_excerpt(q->text, q->range.from, cols), shown;
	struct ab_text rest = { q->text.s + at, (uint32_t)(q->text.len - at) };

	if (at)
		ab_buf_printf(b, "%s... %zu bytes before this\n", margin, at);
	shown = put_block(b, rest, cols, ROWS_MAX);
	if (shown < rest.len)
		ab_buf_printf(b, "%s... %zu bytes after this\n", margin, rest.len - shown);
	ab_buf_printf(b, "%s[?] shows all of it\n", margin);
}

static void put_command(struct ab_buf *b, const struct ab_question *q, size_t cols, bool whole)
{
	static const char head[] = "agentbox: approval needed:";
	ab_autobuf struct ab_buf block = { 0 };

	ab_buf_puts(b, head);
	if (!memchr(q->text.s, '\n', q->text.len) &&
	    measure_room(q->text, 0, q->text.len) + sizeof(head) < cols) {
		ab_buf_puts(b, " ");
		ab_command_prompt_show(b, q->text);
		ab_buf_puts(b, "\n");
		return;
	}
	ab_buf_puts(b, "\n");
	if (put_block(&block, q->text, cols, whole ? 0 : ROWS_MAX) < q->text.len)
		put_excerpt(b, q, cols);
	else
		ab_buf_add(b, block.data, block.len);
}

static void put_reason(struct ab_buf *b, const struct ab_question *q, size_t cols)
{
	ab_autofree char *why = ab_printf("%s     rule %s", q->reason, q->rule);
	ab_autofree char *where = ab_printf("in %s", q->cwd);

	put_lines(b, (struct ab_text){ why, (uint32_t)strlen(why) }, cols);
	put_lines(b, (struct ab_text){ where, (uint32_t)strlen(where) }, cols);
}

void ab_command_prompt_question(struct ab_buf *b, const struct ab_question *q, size_t cols)
{
	if (cols < COLS_MIN)
		cols = COLS_MIN;
	put_command(b, q, cols, false);
	put_reason(b, q, cols);
	put_menu(b, cols);
}

static void put_answers(struct ab_buf *b, size_t cols)
{
	static const struct {
		char name[12], text[112];
	} answers[] = {
		{ "once", "run it now; ask again next time" },
		{ "session", "run it, and do not ask again for this command in this folder and "
			     "policy until this terminal session ends" },
		{ "always", "" },
		{ "no", "do not run it, now or later in this session" },
	};
	ab_autofree char *always = ab_printf(
		"the same for %d days; to see them: agentbox approvals list", AB_ALWAYS_DAYS);

	for (size_t i = 0; i < AB_COUNT(answers); i++) {
		ab_buf_printf(b, "%s%-10s", margin, answers[i].name);
		ab_wrap_message(b, answers[i].text[0] ? answers[i].text : always, MARGIN + 10,
				cols - 1);
		ab_buf_puts(b, "\n");
	}
	ab_buf_puts(b, margin);
	ab_wrap_message(b, "Whatever you answer, it only ever runs in the box.", MARGIN, cols - 1);
	ab_buf_puts(b, "\n");
}

void ab_command_prompt_more(struct ab_buf *b, const struct ab_question *q, size_t cols)
{
	struct ab_span r = q->range;
	struct ab_text part = { q->text.s + r.from, r.to - r.from };

	if (cols < COLS_MIN)
		cols = COLS_MIN;
	put_command(b, q, cols, true);
	if (r.from < r.to && r.to <= q->text.len && part.len < q->text.len) {
		ab_buf_printf(b, "%sbecause of this part:\n", margin);
		put_block(b, part, cols, 0);
	}
	put_reason(b, q, cols);
	put_answers(b, cols);
	put_menu(b, cols);
}

bool ab_command_prompt_key(const char *keys, size_t len, enum ab_answer *ret)
{
	/* 3, 4, 27, 28: Ctrl-C, Ctrl-D, Escape and Ctrl-\ count as no. */
	static const struct {
		char key;
		enum ab_answer answer;
	} meaning[] = {
		{ 'o', AB_ANSWER_ONCE }, { 's', AB_ANSWER_SESSION }, { 'a', AB_ANSWER_ALWAYS },
		{ 'n', AB_ANSWER_NO },	 { 3, AB_ANSWER_NO },	     { 4, AB_ANSWER_NO },
		{ 28, AB_ANSWER_NO },	 { 27, AB_ANSWER_NO },
	};

	if (len != 1)
		return false;
	for (size_t i = 0; i < AB_COUNT(meaning); i++)
		if (meaning[i].key == keys[0]) {
			*ret = meaning[i].answer;
			return true;
		}
	return false;
}

char *ab_command_prompt_rule(const struct ab_judgement *judgement)
{
	struct ab_buf b = { 0 };

	if (!judgement->user_rule)
		return ab_strdup(judgement->rule);
	ab_buf_puts(&b, "\"");
	ab_command_prompt_show(&b, (struct ab_text){ judgement->user_rule,
						     (uint32_t)strlen(judgement->user_rule) });
	ab_buf_puts(&b, "\"");
	return ab_buf_take(&b);
}
