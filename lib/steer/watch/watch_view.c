/*
 * The screen of `watch`, from top to bottom: the run, its totals, questions,
 * events, open connections and hosts, the keys. Connections and hosts are at the
 * right on a wide screen, and left out on a small one.
 *
 * Lines are measured before styles are added. The right side is placed by column
 * number, so a character of unexpected width does not move it.
 */
#include "audit/read/stats.h"
#include "audit/read/words.h"
#include "steer/watch/watch_model.h"
#include "terminal/columns.h"

enum {
	WIDE = 100, /* columns needed for a right side */
	SIDE = 42,
	SIDE_ROWS = 16, /* rows needed to show it at the bottom instead */
	NARROW = 50,	/* columns below which the time is left out */
	OPEN_SHOWN = 8,
};

enum style { PLAIN, TITLE, STRONG, BAD, WEAK, GOOD };

static const char *const styles[] = {
	[TITLE] = "\033[7m", [STRONG] = "\033[1m", [BAD] = "\033[31m",
	[WEAK] = "\033[2m",  [GOOD] = "\033[32m",
};

struct page {
	const struct ab_watch_look *look;
	struct ab_strv *lines;
	size_t rows; /* left */
};

static void style_text(const struct page *p, struct ab_buf *b, enum style style, const char *text)
{
	bool styled = styles[style] && p->look->colour;

	if (styled)
		ab_buf_puts(b, styles[style]);
	ab_buf_puts(b, text);
	if (styled)
		ab_buf_puts(b, "\033[0m");
}

static void add_line(struct page *p, enum style style, const char *text)
{
	struct ab_buf b = { 0 };

	style_text(p, &b, style, text);
	ab_strv_give(p->lines, ab_buf_take(&b));
	p->rows--;
}

/* Add a line; the text is cut and escaped. */
static void put_line(struct page *p, enum style style, const char *text)
{
	ab_autobuf struct ab_buf cut = { 0 };
	size_t used;

	if (p->rows == 0)
		return;
	used = ab_columns_head(&cut, text, p->look->cols);
	/* A title fills the line. */
	for (; style == TITLE && used < p->look->cols; used++)
		ab_buf_puts(&cut, " ");
	add_line(p, style, cut.data);
}

static void put_buffer(struct page *p, enum style style, struct ab_buf *b)
{
	put_line(p, style, b->data ? b->data : "");
	ab_buf_fini(b);
}

/* --- the top --- */

static void put_header(struct page *p, const struct ab_watch_model *m)
{
	uint64_t to = m->ended ? m->ended_at : p->look->now;
	char age[AB_AMOUNT_ROOM];
	struct ab_buf b = { 0 };

	ab_words_time((to > m->started ? to - m->started : 0) / 1000 * 1000, age);
	ab_buf_printf(&b, " %s%s%s  %s  %s", m->id, m->name ? " " : "", m->name ? m->name : "", age,
		      m->command ? m->command : "");
	put_buffer(p, TITLE, &b);
}

static void put_totals(struct page *p, const struct ab_watch_model *m)
{
	char up[AB_AMOUNT_ROOM], down[AB_AMOUNT_ROOM];
	struct ab_buf b = { 0 };

	ab_buf_printf(&b, " %llu allowed  %llu denied", (unsigned long long)m->allowed,
		      (unsigned long long)m->denied);
	if (m->failed)
		ab_buf_printf(&b, "  %llu failed", (unsigned long long)m->failed);
	if (m->refused)
		ab_buf_printf(&b, "  %llu denied inside", (unsigned long long)m->refused);
	ab_buf_printf(&b, "  %s up  %s down  %zu open", ab_words_size(m->up, up),
		      ab_words_size(m->down, down), m->nopen);
	if (m->profile)
		ab_buf_printf(&b, "  profile %s", m->profile);
	put_buffer(p, PLAIN, &b);
}

static void put_end(struct page *p, const struct ab_watch_model *m)
{
	struct ab_buf b = { 0 };

	if (!m->ended)
		return;
	ab_buf_puts(&b, " the run has ended");
	if (m->status >= 0)
		ab_buf_printf(&b, " with status %d", m->status);
	ab_buf_puts(&b, "; q quits");
	put_buffer(p, STRONG, &b);
}

/* --- questions --- */

/* The end of a host name tells its owner, so cut the process first, and then the
 * beginning of the name. */
static void put_question(struct page *p, const struct ab_watch_question *q, bool chosen)
{
	uint64_t left = q->ends > p->look->now ? q->ends - p->look->now : 0;
	ab_autofree char *lead = ab_printf("%s%3llu s  ", chosen ? "> " : "  ",
					   (unsigned long long)(left + 999) / 1000);
	ab_autofree char *mark =
		ab_printf("%s%s", q->punycode ? "  (punycode: not ASCII letters)" : "",
			  q->held ? "  (the network is paused)" : "");
	ab_autofree char *who = ab_printf("  %s", q->asker);
	size_t cols = p->look->cols, used;
	ab_autobuf struct ab_buf line = { 0 };

	if (p->rows == 0)
		return;
	used = ab_columns_head(&line, lead, cols);
	used += ab_columns_tail(&line, q->target, cols - used);
	used += ab_columns_head(&line, mark, cols - used);
	ab_columns_head(&line, who, cols - used);
	add_line(p, chosen ? STRONG : PLAIN, line.data);
}

static void put_questions(struct page *p, const struct ab_watch_model *m)
{
	long chosen = ab_watch_selected(m);
	size_t room = p->look->rows / 3, first;
	ab_autofree char *title = NULL;

	if (m->nquestions == 0)
		return;
	room = room < 2 ? 1 : room - 1;
	if (room > m->nquestions)
		room = m->nquestions;
	/* The selected question is always shown. */
	first = chosen >= (long)room ? (size_t)chosen - room + 1 : 0;
	title = ab_printf(" %zu question%s waiting:  [o]nce  [r]un  [a]lways  "
			  "[n]o",
			  m->nquestions, m->nquestions == 1 ? "" : "s");
	if (p->look->rows > 5)
		put_line(p, STRONG, title);
	for (size_t i = first; i < first + room; i++)
		put_question(p, m->questions[i], (long)i == chosen);
}

/* --- the side: what is open, and hosts --- */

static int compare_hosts(const void *a, const void *b)
{
	const struct ab_stats_row *x = *(const void *const *)a, *y = *(const void *const *)b;
	uint64_t n = x->requests + x->denied, k = y->requests + y->denied;

	return n != k ? (n < k) - (n > k) : strcmp(x->host, y->host);
}

static void add_side(struct ab_strv *side, size_t cols, const char *name, const char *rest)
{
	size_t tail = strlen(rest), used;
	struct ab_buf b = { 0 };

	if (cols < tail + 8)
		tail = 0;
	used = ab_columns_tail(&b, name, cols - tail);
	for (; tail && used < cols - tail; used++)
		ab_buf_puts(&b, " ");
	ab_buf_puts(&b, tail ? rest : "");
	ab_strv_give(side, ab_buf_take(&b));
}

static void add_open(struct ab_strv *side, const struct ab_watch_model *m, size_t cols)
{
	char up[AB_AMOUNT_ROOM], down[AB_AMOUNT_ROOM];

	for (size_t i = 0; i < m->nopen && i < OPEN_SHOWN; i++) {
		const struct ab_watch_open *o = &m->open[i];
		ab_autofree char *rest =
			ab_printf("%9s%9s", ab_words_size(o->up, up), ab_words_size(o->down, down));

		add_side(side, cols, o->target, rest);
	}
	if (m->nopen > OPEN_SHOWN)
		ab_strv_addf(side, "and %zu more", m->nopen - OPEN_SHOWN);
}

static void add_hosts(struct ab_strv *side, const struct ab_watch_model *m, size_t rows,
		      size_t cols)
{
	size_t n, len = 0;
	const struct ab_stats_row *hosts = ab_stats_rows(m->hosts, &n);
	ab_autofree const struct ab_stats_row **v = ab_alloc((n + 1) * sizeof(const void *));
	char down[AB_AMOUNT_ROOM];

	/* Without the row of all others. */
	for (size_t i = 0; i < n && hosts[i].host; i++)
		v[len++] = &hosts[i];
	qsort(v, len, sizeof(const void *), compare_hosts);
	for (size_t i = 0; i < len && side->len < rows; i++) {
		uint64_t bytes = v[i]->up + v[i]->down;
		ab_autofree char *rest =
			ab_printf("%6llu%5llu%9s", (unsigned long long)v[i]->requests,
				  (unsigned long long)v[i]->denied,
				  bytes ? ab_words_size(bytes, down) : "-");

		add_side(side, cols, v[i]->host, rest);
	}
}

static void make_side(struct ab_strv *side, const struct ab_watch_model *m, size_t rows,
		      size_t cols)
{
	if (m->nopen) {
		add_side(side, cols, "OPEN", "       UP     DOWN");
		add_open(side, m, cols);
	}
	add_side(side, cols, "HOST", " ALLOW DENY    BYTES");
	add_hosts(side, m, rows, cols);
}

/* --- what happens --- */

static enum style choose_style(const struct ab_watch_row *row)
{
	if (row->denied)
		return BAD;
	if (strcmp(row->mark, "failed") == 0)
		return WEAK;
	return strcmp(row->mark, "ok") == 0 ? PLAIN : GOOD;
}

static void add_row(const struct page *p, struct ab_buf *b, const struct ab_watch_row *row,
		    size_t cols)
{
	ab_autobuf struct ab_buf line = { 0 };
	ab_autofree char *lead = ab_printf(" %s%s%-7s ", cols < NARROW ? "" : row->time,
					   cols < NARROW ? "" : " ", row->mark);
	size_t used = ab_columns_head(&line, lead, cols), more;

	more = *row->more ? ab_columns_width(row->more) + 2 : 0;
	/* Leave out the details before cutting too much of the text. */
	if (used + 24 + more > cols)
		more = 0;
	used += ab_columns_head(&line, row->text, cols - used - more);
	if (more) {
		ab_buf_puts(&line, "  ");
		ab_columns_head(&line, row->more, cols - used - 2);
	}
	style_text(p, b, choose_style(row), line.data);
}

/* The newest rows that fit, oldest first. Returns their number. */
static size_t pick_rows(const struct ab_watch_model *m, size_t room,
			const struct ab_watch_row **ret)
{
	uint64_t end = m->paused ? m->paused_at : m->nrows;
	uint64_t oldest = m->nrows > AB_WATCH_ROWS ? m->nrows - AB_WATCH_ROWS : 0;
	size_t n = 0;

	for (uint64_t i = end; i-- > oldest && n < room;) {
		const struct ab_watch_row *row = &m->rows[i % AB_WATCH_ROWS];

		if (!m->denied_only || row->denied)
			ret[n++] = row;
	}
	for (size_t i = 0; i < n / 2; i++) {
		const struct ab_watch_row *other = ret[i];

		ret[i] = ret[n - 1 - i];
		ret[n - 1 - i] = other;
	}
	return n;
}

static void put_rows(struct page *p, const struct ab_watch_model *m, size_t rows, size_t cols,
		     const struct ab_strv *side)
{
	ab_autofree const struct ab_watch_row **v = ab_alloc((rows + 1) * sizeof(const void *));
	size_t n = pick_rows(m, rows, v);

	for (size_t i = 0; i < rows && p->rows; i++, p->rows--) {
		struct ab_buf b = { 0 };

		if (i < n)
			add_row(p, &b, v[i], cols);
		if (side && i < side->len)
			ab_buf_printf(&b, "\033[%zuG%s", cols + 2, side->v[i]);
		ab_buf_puts(&b, "");
		ab_strv_give(p->lines, ab_buf_take(&b));
	}
}

static void put_middle(struct page *p, const struct ab_watch_model *m, size_t rows)
{
	size_t cols = p->look->cols, below = 0, hosts;
	ab_autostrv struct ab_strv side = { 0 };

	if (cols >= WIDE) {
		make_side(&side, m, rows, SIDE);
		put_rows(p, m, rows, cols - SIDE - 2, &side);
		return;
	}
	(void)ab_stats_rows(m->hosts, &hosts);
	if (p->look->rows >= SIDE_ROWS && (hosts || m->nopen)) {
		make_side(&side, m, rows / 3, cols);
		below = side.len < rows / 3 ? side.len : rows / 3;
	}
	put_rows(p, m, rows - below, cols, NULL);
	for (size_t i = 0; i < below && p->rows; i++, p->rows--)
		ab_strv_add(p->lines, side.v[i]);
}

/* --- the bottom --- */

static const char *const help[] = {
	"",
	"  o r a n        answer the selected question: once, for this run,",
	"                 always (written to your settings), no",
	"  up down, k j   select a question",
	"  d              show denials only",
	"  p              pause, resume",
	"  q              quit; the run continues",
	"  ?              this page; any key closes it",
	"",
	"  For more about a denial:  agentbox why ID",
	"  For the whole record:     agentbox log",
};

static void put_help(struct page *p, size_t rows)
{
	for (size_t i = 0; i < rows; i++)
		put_line(p, PLAIN, i < AB_COUNT(help) ? help[i] : "");
}

static void put_foot(struct page *p, const struct ab_watch_model *m)
{
	struct ab_buf b = { 0 };

	if (m->message && p->look->now < m->message_ends) {
		ab_buf_printf(&b, " %s   q quit  ? help", m->message);
	} else {
		ab_buf_printf(&b, " q quit  d %s  p %s  ? help",
			      m->denied_only ? "all" : "denied only",
			      m->paused ? "resume" : "pause");
		if (m->paused)
			ab_buf_printf(&b, "   paused, %llu new",
				      (unsigned long long)(m->nrows - m->paused_at));
	}
	put_buffer(p, WEAK, &b);
}

void ab_watch_view(const struct ab_watch_model *m, const struct ab_watch_look *look,
		   struct ab_strv *ret)
{
	struct page p = { .look = look, .lines = ret, .rows = look->rows };
	size_t foot = look->rows > 3;

	p.rows -= foot;
	put_header(&p, m);
	if (look->rows > 5 || m->nquestions == 0)
		put_totals(&p, m);
	put_end(&p, m);
	put_questions(&p, m);
	if (m->help)
		put_help(&p, p.rows);
	else if (p.rows)
		put_middle(&p, m, p.rows);
	p.rows = foot;
	put_foot(&p, m);
}

void ab_watch_choose(const struct ab_watch_choice *v, size_t n, size_t selected,
		     const struct ab_watch_look *look, struct ab_strv *ret)
{
	struct page p = { .look = look, .lines = ret, .rows = look->rows };
	size_t room = look->rows > 2 ? look->rows - 2 : 1, first;

	if (n == 0) {
		put_line(&p, PLAIN, " no active runs; waiting for one");
	} else {
		put_line(&p, TITLE, " choose a run with up and down, then press Enter");
		first = selected >= room ? selected - room + 1 : 0;
		for (size_t i = first; i < n && i < first + room; i++) {
			ab_autofree char *line =
				ab_printf("%s%s%s%s  %s", i == selected ? "> " : "  ", v[i].id,
					  v[i].name ? " " : "", v[i].name ? v[i].name : "",
					  v[i].command ? v[i].command : "");

			put_line(&p, i == selected ? STRONG : PLAIN, line);
		}
	}
	while (p.rows > 1)
		put_line(&p, PLAIN, "");
	put_line(&p, WEAK, " q quit");
}
