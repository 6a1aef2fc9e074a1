#include <stdio.h>
#include <string.h>

#include "audit/read/query.h"
#include "audit/read/words.h"
#include "audit/show/page_state.h"
#include "base/data/buf.h"
#include "base/data/mem.h"

enum { CHART_HEIGHT = 100, CHART_STEP = 10, CHART_BAR = 8 };

void ab_page_text(struct ab_buf *b, const char *text)
{
	ab_autofree char *safe = ab_escape(text);

	for (const char *p = safe; *p; p++) {
		switch (*p) {
		case '&':
			ab_buf_puts(b, "&amp;");
			break;
		case '<':
			ab_buf_puts(b, "&lt;");
			break;
		case '>':
			ab_buf_puts(b, "&gt;");
			break;
		case '"':
			ab_buf_puts(b, "&quot;");
			break;
		case '\'':
			ab_buf_puts(b, "&#39;");
			break;
		default:
			ab_buf_add(b, p, 1);
		}
	}
}

void ab_page_field(struct ab_buf *b, const struct ab_detail *field)
{
	ab_autofree char *text = ab_detail_dup(field);

	ab_page_text(b, text ? text : "");
}

void ab_page_time_of(struct ab_buf *b, const char *stamp, bool date)
{
	char local[AB_LOCAL_ROOM];

	ab_buf_puts(b, "<time datetime=\"");
	ab_page_text(b, stamp);
	ab_buf_puts(b, "\">");
	ab_time_local(stamp, local);
	ab_page_text(b, date || strlen(local) < 19 ? local : local + 11);
	ab_buf_puts(b, "</time>");
}

static void add_fact(struct ab_buf *b, const char *name, const struct ab_detail *value)
{
	if (value->kind != AB_DETAIL_TEXT)
		return;
	ab_buf_printf(b, "<div><dt>%s</dt><dd>", name);
	ab_page_field(b, value);
	ab_buf_puts(b, "</dd></div>");
}

static void add_command(struct ab_buf *b, const struct ab_detail *argv)
{
	struct ab_detail word;
	size_t at = 0, n = 0;

	ab_buf_puts(b, "<p class=\"command\">");
	while (ab_detail_next(argv, &at, &word)) {
		ab_buf_puts(b, n++ ? " " : "");
		ab_page_field(b, &word);
	}
	ab_buf_puts(b, n ? "</p>" : "(command not known)</p>");
}

static void add_holds(struct ab_buf *b, const char *assurance)
{
	static const char *const names[] = { "holds", "missing" };
	struct ab_detail f[AB_COUNT(names)], one;
	size_t at = 0;

	if (!assurance ||
	    ab_details_find(assurance, strlen(assurance), names, AB_COUNT(names), f) < 0)
		return;
	ab_buf_puts(b, "<ul class=\"holds\" aria-label=\"What held\">");
	while (ab_detail_next(&f[0], &at, &one)) {
		ab_buf_puts(b, "<li>");
		ab_page_field(b, &one);
		ab_buf_puts(b, "</li>");
	}
	if (f[1].kind == AB_DETAIL_TEXT && f[1].len) {
		ab_buf_puts(b, "<li class=\"missing\">missing: ");
		ab_page_field(b, &f[1]);
		ab_buf_puts(b, "</li>");
	}
	ab_buf_puts(b, "</ul>");
}

static void add_when(const struct ab_page *page, struct ab_buf *b)
{
	int64_t from = ab_time_ms(page->first), to = ab_time_ms(page->last);
	char text[AB_AMOUNT_ROOM];

	ab_buf_puts(b, "<div><dt>Began</dt><dd>");
	ab_page_time_of(b, page->first, true);
	ab_buf_puts(b, "</dd></div>");
	if (from < 0 || to < from)
		return;
	ab_buf_printf(b, "<div><dt>%s</dt><dd>%s</dd></div>",
		      page->end ? "Took" : "Goes on, or was cut off, after",
		      ab_words_time((uint64_t)(to - from), text));
}

static void add_header(const struct ab_page *page, struct ab_buf *b)
{
	static const char *const names[] = {
		"command", "cwd", "policy", "run_id", "name", "reason"
	};
	static const char *const inner[] = { "profile" };
	struct ab_detail f[AB_COUNT(names)] = { 0 }, profile = { 0 };
	const char *start = page->start ? page->start : "{}";

	ab_details_find(start, strlen(start), names, AB_COUNT(names), f);
	ab_buf_puts(b, "<header><h1>agentbox run <b>");
	ab_page_field(b, &f[3]);
	ab_buf_puts(b, "</b></h1>");
	add_command(b, &f[0]);
	ab_buf_puts(b, "<dl class=\"facts\">");
	add_when(page, b);
	if (f[2].kind == AB_DETAIL_NESTED &&
	    ab_details_find(f[2].at, f[2].len, inner, 1, &profile) == 0)
		add_fact(b, "Profile", &profile);
	add_fact(b, "Folder", &f[1]);
	add_fact(b, "Name", &f[4]);
	add_fact(b, "Refused", &f[5]);
	ab_buf_puts(b, "</dl>");
	add_holds(b, page->assurance);
	ab_buf_puts(b, "</header>");
}

static void add_card(struct ab_buf *b, const char *kind, const char *name, const char *value)
{
	ab_buf_printf(b, "<div class=\"card%s\"><dt>%s</dt><dd>%s</dd></div>", kind, name, value);
}

static void add_count(struct ab_buf *b, const char *kind, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	add_card(b, kind, name, text);
}

static void add_exit(const struct ab_page *page, struct ab_buf *b)
{
	static const char *const names[] = { "status" };
	struct ab_detail status = { 0 };
	int64_t n;

	if (page->end)
		ab_details_find(page->end, strlen(page->end), names, 1, &status);
	n = ab_detail_number(&status, -1);
	if (n >= 0)
		add_count(b, n ? " bad" : " good", "Exit status", (uint64_t)n);
	else
		add_card(b, "", "Exit status", page->end ? "killed" : "none");
}

static void add_cards(const struct ab_page *page, struct ab_buf *b)
{
	struct ab_stats_totals t;
	char text[AB_AMOUNT_ROOM];

	ab_stats_totals(page->stats, &t);
	ab_buf_puts(b, "<dl class=\"cards\">");
	add_exit(page, b);
	add_count(b, "", "Requests", t.requests);
	add_count(b, t.denied ? " bad" : "", "Denied", t.denied);
	add_count(b, "", "Hosts", t.hosts);
	add_card(b, "", "Sent", ab_words_size(t.up, text));
	add_card(b, "", "Received", ab_words_size(t.down, text));
	ab_buf_puts(b, "</dl>");
}

static void add_bar(struct ab_buf *b, size_t i, double from, double height, const char *kind)
{
	if (height > 0)
		ab_buf_printf(b,
			      "<rect class=\"%s\" x=\"%zu\" y=\"%.2f\" "
			      "width=\"%d\" height=\"%.2f\"></rect>",
			      kind, i * CHART_STEP, CHART_HEIGHT - from - height, CHART_BAR,
			      height);
}

/* Not less than can be seen. */
static double height_of(uint64_t n, uint64_t most)
{
	double h = most ? (double)n * CHART_HEIGHT / (double)most : 0;

	return n && h < 1.5 ? 1.5 : h;
}

static void add_chart(const struct ab_page_time *t, size_t n, uint64_t most, struct ab_buf *b)
{
	char part[AB_AMOUNT_ROOM];

	ab_buf_printf(b,
		      "<svg viewBox=\"0 0 %zu %d\" preserveAspectRatio=\"none\" "
		      "role=\"img\" aria-label=\"Requests over time, at most "
		      "%llu in %s\">",
		      n * CHART_STEP, CHART_HEIGHT + 1, (unsigned long long)most,
		      ab_words_time((uint64_t)t->part, part));
	for (size_t i = 0; i < n; i++) {
		double denied = height_of(t->denied[i], most);

		if (!t->passed[i] && !t->denied[i])
			continue;
		ab_buf_printf(b, "<g><title>%llu passed, %llu denied</title>",
			      (unsigned long long)t->passed[i], (unsigned long long)t->denied[i]);
		add_bar(b, i, 0, denied, "no");
		add_bar(b, i, denied, height_of(t->passed[i], most), "ok");
		ab_buf_puts(b, "</g>");
	}
	ab_buf_printf(b,
		      "<line class=\"axis\" x1=\"0\" x2=\"%zu\" y1=\"%d.5\" "
		      "y2=\"%d.5\"></line></svg>",
		      n * CHART_STEP, CHART_HEIGHT, CHART_HEIGHT);
}

static void add_timeline(const struct ab_page *page, struct ab_buf *b)
{
	const struct ab_page_time *t = &page->time;
	uint64_t most = 0;
	size_t n;

	if (t->begin < 0)
		return;
	n = (size_t)((t->last - t->begin) / t->part) + 1;
	for (size_t i = 0; i < n; i++)
		if (t->passed[i] + t->denied[i] > most)
			most = t->passed[i] + t->denied[i];
	if (!most)
		return;
	ab_buf_puts(b, "<section><h2>Timeline</h2>");
	add_chart(t, n, most, b);
	ab_buf_puts(b, "<div class=\"ends\">");
	ab_page_time_of(b, page->first, false);
	ab_buf_puts(b, "<span><span class=\"key\"></span>passed"
		       "<span class=\"key no\"></span>denied</span>");
	ab_page_time_of(b, page->last, false);
	ab_buf_puts(b, "</div></section>");
}

void ab_page_write(struct ab_page *page, uint64_t lost, struct ab_buf *b)
{
	ab_buf_puts(b, "<!DOCTYPE html>\n<html lang=\"en\"><head>"
		       "<meta charset=\"utf-8\">"
		       "<meta http-equiv=\"Content-Security-Policy\" "
		       "content=\"default-src 'none'; style-src "
		       "'unsafe-inline'\">"
		       "<meta name=\"viewport\" content=\"width=device-width, "
		       "initial-scale=1\">"
		       "<meta name=\"color-scheme\" content=\"light dark\">"
		       "<meta name=\"referrer\" content=\"no-referrer\">"
		       "<title>agentbox run</title><style>");
	ab_buf_puts(b, ab_page_style);
	ab_buf_puts(b, "</style></head>\n<body><main>");
	add_header(page, b);
	add_cards(page, b);
	add_timeline(page, b);
	ab_page_denials(page, b);
	ab_page_hosts(page, b);
	ab_page_questions(page, b);
	ab_page_events(page, b);
	ab_page_requests(page, b);
	ab_buf_puts(b, "<footer><p>Times are of the clock of the machine that "
		       "wrote this page.");
	if (lost)
		ab_buf_printf(b,
			      " Lines of the record that could not be read: "
			      "%llu.",
			      (unsigned long long)lost);
	ab_buf_puts(b, "</p></footer></main></body></html>\n");
}
