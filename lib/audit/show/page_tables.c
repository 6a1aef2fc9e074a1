#include <string.h>

#include "audit/read/query.h"
#include "audit/read/sentences.h"
#include "audit/read/words.h"
#include "audit/show/page_state.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/system/path.h"

/* `kind`: a class for its looks. */
static void open_table(struct ab_buf *b, const char *kind, const char *title, const char *caption,
		       const char *const *columns)
{
	ab_buf_printf(b,
		      "<section><h2>%s</h2><div class=\"scroll\"><table "
		      "class=\"%s\"><caption>%s</caption><thead><tr>",
		      title, kind, caption);
	/* A column that begins with "#" has numbers, one with "=" bars. */
	for (; *columns; columns++)
		ab_buf_printf(b, "<th scope=\"col\"%s>%s</th>",
			      **columns == '#'	 ? " class=\"n\""
			      : **columns == '=' ? " class=\"bars\""
						 : "",
			      *columns + (**columns == '#' || **columns == '='));
	ab_buf_puts(b, "</tr></thead><tbody>\n");
}

static void close_table(struct ab_buf *b)
{
	ab_buf_puts(b, "</tbody></table></div></section>\n");
}

static void add_number(struct ab_buf *b, uint64_t n, const char *kind)
{
	ab_buf_printf(b, "<td class=\"n\"><span class=\"%s\">%llu</span></td>", n ? kind : "zero",
		      (unsigned long long)n);
}

static void add_size(struct ab_buf *b, int64_t n)
{
	char text[AB_AMOUNT_ROOM];

	if (n > 0)
		ab_buf_printf(b, "<td class=\"n\">%s</td>", ab_words_size((uint64_t)n, text));
	else
		ab_buf_puts(b, "<td class=\"n\"><span class=\"zero\">-</span>"
			       "</td>");
}

static void add_host_bar(struct ab_buf *b, const char *kind, uint64_t n, uint64_t most)
{
	if (n)
		ab_buf_printf(b,
			      "<span class=\"bar%s\" style=\"width:%.1f%%\">"
			      "</span>",
			      kind, (double)n * 100 / (double)most);
}

void ab_page_hosts(struct ab_page *page, struct ab_buf *b)
{
	size_t n, shown;
	const struct ab_stats_row *rows = ab_stats_rows(page->stats, &n);
	uint64_t most = 1;

	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++) {
		most = rows[i].requests > most ? rows[i].requests : most;
		most = rows[i].denied > most ? rows[i].denied : most;
	}
	shown = n < AB_PAGE_ROWS ? n : AB_PAGE_ROWS;
	open_table(b, "plain", "Hosts", "Hosts that the run connected to or was denied",
		   (const char *const[]){ "Host", "#Requests", "#Sent", "#Received", "#Denied",
					  "=Share", NULL });
	for (size_t i = 0; i < shown; i++) {
		ab_buf_puts(b, "<tr><th scope=\"row\">");
		ab_page_text(b, rows[i].host ? rows[i].host : "(others)");
		ab_buf_puts(b, "</th>");
		add_number(b, rows[i].requests, "");
		add_size(b, (int64_t)rows[i].up);
		add_size(b, (int64_t)rows[i].down);
		add_number(b, rows[i].denied, "no");
		ab_buf_puts(b, "<td class=\"bars\">");
		add_host_bar(b, "", rows[i].requests, most);
		add_host_bar(b, " no", rows[i].denied, most);
		ab_buf_puts(b, "</td></tr>\n");
	}
	if (shown < n)
		ab_buf_printf(b, "<tr><td colspan=\"6\">and %zu more</td></tr>", n - shown);
	close_table(b);
}

/* The nearest process first. */
static void add_chain(struct ab_buf *b, const struct ab_detail *chain)
{
	ab_autobuf struct ab_buf text = { 0 };

	if (ab_words_chain(&text, chain, 8))
		ab_page_text(b, text.data);
}

static void add_sentence(struct ab_buf *b, unsigned int parts, const char *line)
{
	ab_autobuf struct ab_buf text = { 0 };

	ab_sentence(&text, parts, line, strlen(line));
	ab_page_text(b, text.len ? text.data : "");
}

/* What would allow it; "-" where nothing does. */
static void add_remedy(struct ab_buf *b, const struct ab_detail *id, const struct ab_detail *hint)
{
	if (hint->kind != AB_DETAIL_TEXT || !hint->len) {
		ab_buf_puts(b, "<span class=\"zero\">-</span>");
		return;
	}
	ab_buf_puts(b, "<div><code>agentbox allow ");
	ab_page_field(b, id);
	ab_buf_puts(b, "</code></div><div><code>");
	ab_page_field(b, hint);
	ab_buf_puts(b, "</code></div>");
}

static void add_denial(const struct ab_page_denial *d, struct ab_buf *b)
{
	static const char *const names[] = { "id", "rule", "hint", "process", "by" };
	struct ab_detail f[AB_COUNT(names)];

	if (ab_details_find(d->line, strlen(d->line), names, AB_COUNT(names), f) < 0)
		return;
	ab_buf_puts(b, "<tr><td data-name=\"Id\"><code class=\"id\">");
	ab_page_field(b, &f[0]);
	ab_buf_puts(b, "</code></td><td class=\"w\" data-name=\"What\">");
	add_sentence(b, AB_ABOUT, d->line);
	ab_buf_puts(b, "</td><td class=\"w\" data-name=\"Why\">");
	add_sentence(b, AB_SAID, d->line);
	ab_buf_puts(b, " <span class=\"chain\">");
	ab_page_field(b, &f[1]);
	ab_buf_printf(b,
		      "</span></td><td class=\"n\" data-name=\"Times\"><span "
		      "class=\"no\">%llu</span></td><td data-name=\"First\">",
		      (unsigned long long)d->count);
	ab_page_time_of(b, d->first, false);
	ab_buf_puts(b, "</td><td class=\"w\" data-name=\"Process\">"
		       "<span class=\"chain\">");
	add_chain(b, &f[3]);
	ab_page_field(b, &f[4]);
	ab_buf_puts(b, "</span></td><td class=\"w\" data-name=\"Remedy\">");
	add_remedy(b, &f[0], &f[2]);
	ab_buf_puts(b, "</td></tr>\n");
}

void ab_page_denials(const struct ab_page *page, struct ab_buf *b)
{
	if (!page->ndenials && !page->unlisted)
		return;
	open_table(b, "stack", "Denials", "What was denied, and what would allow it",
		   (const char *const[]){ "Id", "What", "Why", "#Times", "First", "Process",
					  "How to allow it", NULL });
	for (size_t i = 0; i < page->ndenials; i++)
		add_denial(&page->denials[i], b);
	if (page->unlisted)
		ab_buf_printf(b,
			      "<tr><td colspan=\"7\">and %llu more that are not "
			      "listed</td></tr>",
			      (unsigned long long)page->unlisted);
	close_table(b);
}

/* A row with the time of a record, and its sentence in as many columns as it has
 * parts. */
static void add_event(const char *line, const unsigned int *parts, struct ab_buf *b)
{
	static const char *const names[] = { "timestamp" };
	struct ab_detail stamp;
	char at[AB_STAMP_ROOM];

	if (ab_details_find(line, strlen(line), names, 1, &stamp) < 0)
		return;
	ab_detail_copy(&stamp, at, sizeof(at));
	ab_buf_puts(b, "<tr><td>");
	ab_page_time_of(b, at, false);
	for (; *parts; parts++) {
		ab_buf_puts(b, "</td><td class=\"w\">");
		add_sentence(b, *parts, line);
	}
	ab_buf_puts(b, "</td></tr>\n");
}

static void add_more(struct ab_buf *b, int columns, uint64_t n)
{
	if (n)
		ab_buf_printf(b,
			      "<tr><td colspan=\"%d\">and %llu more</td>"
			      "</tr>",
			      columns, (unsigned long long)n);
}

void ab_page_questions(const struct ab_page *page, struct ab_buf *b)
{
	if (!page->questions.len)
		return;
	open_table(b, "plain", "Questions", "What was asked, and who answered",
		   (const char *const[]){ "Time", "Host", "Answer", "Process", NULL });
	for (size_t i = 0; i < page->questions.len; i++)
		add_event(page->questions.v[i],
			  (const unsigned int[]){ AB_ABOUT, AB_SAID, AB_MORE, 0 }, b);
	add_more(b, 4, page->more_questions);
	close_table(b);
}

void ab_page_events(const struct ab_page *page, struct ab_buf *b)
{
	if (!page->events.len)
		return;
	open_table(b, "plain", "Other events", "What else is in the record",
		   (const char *const[]){ "Time", "Event", "What", NULL });
	for (size_t i = 0; i < page->events.len; i++)
		add_event(page->events.v[i], (const unsigned int[]){ AB_MARK, AB_SENTENCE, 0 }, b);
	add_more(b, 3, page->more_events);
	close_table(b);
}

static void add_request(const char *line, struct ab_buf *b)
{
	static const char *const names[] = { "timestamp", "status", "bytes_up", "bytes_down",
					     "ms",	  "error",  "allowed" };
	struct ab_detail f[AB_COUNT(names)];
	ab_autobuf struct ab_buf about = { 0 };
	char stamp[AB_STAMP_ROOM], text[AB_AMOUNT_ROOM];
	bool allowed;
	const char *mark;

	if (ab_details_find(line, strlen(line), names, AB_COUNT(names), f) < 0)
		return;
	allowed = f[6].kind == AB_DETAIL_TRUE;
	mark = ab_sentence(&about, AB_ABOUT, line, strlen(line));
	ab_detail_copy(&f[0], stamp, sizeof(stamp));
	ab_buf_puts(b, "<tr><td>");
	ab_page_time_of(b, stamp, false);
	ab_buf_printf(b, "</td><td><span class=\"%s\">%s</span></td><td class=\"w\">",
		      strcmp(mark, "ok") == 0 ? "ok" : "no", mark);
	ab_page_text(b, about.len ? about.data : "");
	if (allowed && f[5].kind == AB_DETAIL_TEXT) {
		ab_buf_puts(b, " <span class=\"chain\">");
		ab_page_field(b, &f[5]);
		ab_buf_puts(b, "</span>");
	}
	ab_buf_puts(b, "</td><td class=\"n\">");
	if (ab_detail_number(&f[1], 0) > 0)
		ab_buf_printf(b, "%lld", (long long)ab_detail_number(&f[1], 0));
	ab_buf_puts(b, "</td>");
	add_size(b, ab_detail_number(&f[2], 0));
	add_size(b, ab_detail_number(&f[3], 0));
	ab_buf_printf(b, "<td class=\"n\">%s</td></tr>\n",
		      allowed ? ab_words_time((uint64_t)ab_detail_number(&f[4], 0), text) : "");
}

void ab_page_requests(const struct ab_page *page, struct ab_buf *b)
{
	uint64_t all = page->nrequests;
	uint64_t shown = all < AB_PAGE_REQUESTS ? all : AB_PAGE_REQUESTS;

	if (!all)
		return;
	ab_buf_puts(b, "<section><details");
	ab_buf_puts(b, all <= 50 ? " open>" : ">");
	ab_buf_printf(b, "<summary><h2>All events</h2></summary>"
			 "<div class=\"scroll\"><table><caption>");
	if (shown < all)
		ab_buf_printf(b, "The newest %llu of %llu", (unsigned long long)shown,
			      (unsigned long long)all);
	else
		ab_buf_puts(b, "Requests and denials, oldest first");
	ab_buf_puts(b, "</caption><thead><tr><th scope=\"col\">Time</th>"
		       "<th scope=\"col\">Verdict</th>"
		       "<th scope=\"col\">What</th>"
		       "<th scope=\"col\" class=\"n\">Status</th>"
		       "<th scope=\"col\" class=\"n\">Sent</th>"
		       "<th scope=\"col\" class=\"n\">Received</th>"
		       "<th scope=\"col\" class=\"n\">Took</th></tr></thead>"
		       "<tbody>\n");
	for (uint64_t i = all - shown; i < all; i++)
		add_request(page->requests[i % AB_PAGE_REQUESTS], b);
	ab_buf_puts(b, "</tbody></table></div></details></section>\n");
}
