#include "audit/read/query.h"
#include "audit/read/sentences.h"
#include "audit/read/words.h"
#include "audit/show/page_state.h"

enum { CHART_HEIGHT = 100, CHART_STEP = 10, CHART_BAR = 8 };

static void add_text(struct ab_buf *b, const char *text)
{
	ab_autofree char *safe = ab_escape(text);

	ab_page_markup(b, safe, strlen(safe));
}

static void add_field(struct ab_buf *b, const struct ab_detail *field)
{
	ab_autofree char *text = ab_detail_dup(field);

	add_text(b, text ? text : "");
}

/* Between these tags. */
static void add_within(struct ab_buf *b, const char *before, const struct ab_detail *field,
		       const char *after)
{
	ab_buf_puts(b, before);
	add_field(b, field);
	ab_buf_puts(b, after);
}

static void add_time(struct ab_buf *b, const char *stamp, bool date)
{
	char local[AB_LOCAL_ROOM];

	ab_buf_puts(b, "<time datetime=\"");
	add_text(b, stamp);
	ab_buf_puts(b, "\">");
	ab_time_local(stamp, local);
	add_text(b, date || strlen(local) < 19 ? local : local + 11);
	ab_buf_puts(b, "</time>");
}

static void add_fact(struct ab_buf *b, const char *name, const struct ab_detail *value)
{
	if (value->kind != AB_DETAIL_TEXT)
		return;
	ab_buf_printf(b, "<div><dt>%s</dt>", name);
	add_within(b, "<dd>", value, "</dd></div>");
}

static void add_command(struct ab_buf *b, const struct ab_detail *argv)
{
	struct ab_detail word;
	size_t at = 0, n = 0;

	ab_buf_puts(b, "<p class=\"command\">");
	while (ab_detail_next(argv, &at, &word)) {
		ab_buf_puts(b, n++ ? " " : "");
		add_field(b, &word);
	}
	ab_buf_puts(b, n ? "</p>" : "(command not known)</p>");
}

/* "make test - agentbox run 7kq2x", for the tabs of a browser. */
static void add_title(const struct ab_page *page, struct ab_buf *b)
{
	enum { TITLE_MAX = 80 };
	static const char *const names[] = { "command", "run_id" };
	struct ab_detail f[AB_COUNT(names)] = { 0 }, word;
	const char *start = page->start ? page->start : "{}";
	ab_autobuf struct ab_buf command = { 0 };
	size_t at = 0, len;

	ab_details_find(start, strlen(start), names, AB_COUNT(names), f);
	while (command.len <= TITLE_MAX && ab_detail_next(&f[0], &at, &word)) {
		ab_autofree char *text = ab_detail_dup(&word);

		ab_buf_printf(&command, "%s%s", command.len ? " " : "", text ? text : "");
	}
	len = command.len < TITLE_MAX ? command.len : TITLE_MAX;
	/* Not within a character. */
	while (len && len < command.len && ((unsigned char)command.data[len] & 0xc0) == 0x80)
		len--;
	if (len) {
		bool cut = len < command.len;

		command.data[len] = '\0';
		add_text(b, command.data);
		ab_buf_puts(b, cut ? "... - " : " - ");
	}
	ab_buf_puts(b, "agentbox run ");
	add_field(b, &f[1]);
}

static void add_holds(struct ab_buf *b, const char *assurance)
{
	static const char *const names[] = { "holds", "missing_why", "missing", "given_up" };
	struct ab_detail f[AB_COUNT(names)], one;
	const struct ab_detail *missing;
	size_t at = 0;

	if (!assurance ||
	    ab_details_find(assurance, strlen(assurance), names, AB_COUNT(names), f) < 0)
		return;
	ab_buf_puts(b, "<ul class=\"holds\" aria-label=\"Guarantees in force\">");
	while (ab_detail_next(&f[0], &at, &one))
		add_within(b, "<li>", &one, "</li>");
	/* Records of older releases have only a text. */
	missing = f[1].kind == AB_DETAIL_TEXT ? &f[1] : &f[2];
	if (missing->kind == AB_DETAIL_TEXT && missing->len)
		add_within(b, "<li class=\"missing\">missing: ", missing, "</li>");
	if (f[3].kind == AB_DETAIL_TEXT && f[3].len)
		add_within(b, "<li class=\"missing\">given up: ", &f[3], "</li>");
	ab_buf_puts(b, "</ul>");
}

static void add_when(const struct ab_page *page, struct ab_buf *b)
{
	int64_t from = ab_time_ms(page->first), to = ab_time_ms(page->last);
	char text[AB_AMOUNT_ROOM];

	ab_buf_puts(b, "<div><dt>Began</dt><dd>");
	add_time(b, page->first, true);
	ab_buf_puts(b, "</dd></div>");
	if (from < 0 || to < from)
		return;
	ab_buf_printf(b, "<div><dt>%s</dt><dd>%s</dd></div>",
		      page->end ? "Took" : "Active, or killed, after",
		      ab_words_time((uint64_t)(to - from), text));
}

static void add_header(const struct ab_page *page, struct ab_buf *b)
{
	static const char *const names[] = {
		"command", "cwd", "policy", "run_id", "name", "reason"
	};
	struct ab_detail f[AB_COUNT(names)] = { 0 }, profile = { 0 };
	const char *start = page->start ? page->start : "{}";

	ab_details_find(start, strlen(start), names, AB_COUNT(names), f);
	add_within(b, "<header><h1>agentbox run <b>", &f[3], "</b></h1>");
	add_command(b, &f[0]);
	ab_buf_puts(b, "<dl class=\"facts\">");
	add_when(page, b);
	if (f[2].kind == AB_DETAIL_NESTED && ab_details_one(f[2].at, f[2].len, "profile", &profile))
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
	struct ab_detail status = { 0 };
	int64_t n;

	if (page->end)
		(void)ab_details_one(page->end, strlen(page->end), "status", &status);
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

/* At least high enough to be seen. */
static double scale_height(uint64_t n, uint64_t most)
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
		double denied = scale_height(t->denied[i], most);

		if (!t->passed[i] && !t->denied[i])
			continue;
		ab_buf_printf(b, "<g><title>%llu allowed, %llu denied</title>",
			      (unsigned long long)t->passed[i], (unsigned long long)t->denied[i]);
		add_bar(b, i, 0, denied, "no");
		add_bar(b, i, denied, scale_height(t->passed[i], most), "ok");
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
	add_time(b, page->first, false);
	ab_buf_puts(b, "<span><span class=\"key\"></span>allowed"
		       "<span class=\"key no\"></span>denied</span>");
	add_time(b, page->last, false);
	ab_buf_puts(b, "</div></section>");
}

/* "#" marks a column of numbers, "=" one of bars. */
static void add_columns(struct ab_buf *b, const char *const *columns)
{
	ab_buf_puts(b, "<thead><tr>");
	for (; *columns; columns++)
		ab_buf_printf(b, "<th scope=\"col\"%s>%s</th>",
			      **columns == '#'	 ? " class=\"n\""
			      : **columns == '=' ? " class=\"bars\""
						 : "",
			      *columns + (**columns == '#' || **columns == '='));
	ab_buf_puts(b, "</tr></thead><tbody>\n");
}

/* `kind` is a CSS class. */
static void open_table(struct ab_buf *b, const char *kind, const char *title, const char *caption,
		       const char *const *columns)
{
	ab_buf_printf(b,
		      "<section><h2>%s</h2><div class=\"scroll\"><table "
		      "class=\"%s\"><caption>%s</caption>",
		      title, kind, caption);
	add_columns(b, columns);
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

static void add_more(struct ab_buf *b, int columns, uint64_t n)
{
	if (n)
		ab_buf_printf(b,
			      "<tr><td colspan=\"%d\">and %llu more</td>"
			      "</tr>",
			      columns, (unsigned long long)n);
}

static void add_host_bar(struct ab_buf *b, const char *kind, uint64_t n, uint64_t most)
{
	if (n)
		ab_buf_printf(b,
			      "<span class=\"bar%s\" style=\"width:%.1f%%\">"
			      "</span>",
			      kind, (double)n * 100 / (double)most);
}

static void add_hosts(struct ab_page *page, struct ab_buf *b)
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
		add_text(b, rows[i].host ? rows[i].host : "(others)");
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
	add_more(b, 6, n - shown);
	close_table(b);
}

/* The nearest process first. */
static void add_chain(struct ab_buf *b, const struct ab_detail *chain)
{
	ab_autobuf struct ab_buf text = { 0 };

	if (ab_words_chain(&text, chain, 8))
		add_text(b, text.data);
}

static void add_sentence(struct ab_buf *b, unsigned int parts, const char *line)
{
	ab_autobuf struct ab_buf text = { 0 };

	ab_sentence(&text, parts, line, strlen(line));
	add_text(b, text.len ? text.data : "");
}

/* A host may break anywhere on a narrow page, its port must not. */
static void add_target(struct ab_buf *b, const char *line)
{
	ab_autobuf struct ab_buf text = { 0 };
	const char *port;
	size_t digits;

	ab_sentence(&text, AB_ABOUT, line, strlen(line));
	ab_buf_puts(&text, "");
	port = strrchr(text.data, ':');
	digits = port ? strspn(port + 1, "0123456789") : 0;
	if (digits == 0 || port[1 + digits]) {
		add_text(b, text.data);
		return;
	}
	text.data[port - text.data] = '\0';
	add_text(b, text.data);
	ab_buf_printf(b, "<span class=\"port\">:%s</span>", port + 1);
}

/* What `agentbox allow ID` needs to lift it, or NULL: it cannot. As `why` has it. */
static const char *find_allow_option(const struct ab_page *page, const struct ab_detail *rule,
				     const struct ab_detail *domain)
{
	/* Nothing can be changed in a run that has ended. */
	if (domain->kind == AB_DETAIL_TEXT &&
	    (ab_detail_is(rule, "network.allow") || ab_detail_is(rule, "grant")))
		return page->end ? " --always" : "";
	if (ab_detail_is(rule, "filesystem.write"))
		return "";
	return ab_detail_is(rule, "filesystem.denyWrite") ? " --always" : NULL;
}

/* What would allow it, or "-". */
static void add_remedy(struct ab_buf *b, const struct ab_detail *id, const struct ab_detail *hint,
		       const struct ab_detail *door, const char *option)
{
	bool moved = ab_detail_is(door, "quarantine");

	if (moved)
		add_within(b, "<div><code>agentbox quarantine restore ", id, "</code></div>");
	if (moved && !hint->len)
		return;
	if (hint->kind != AB_DETAIL_TEXT || !hint->len) {
		ab_buf_puts(b, "<span class=\"zero\">-</span>");
		return;
	}
	if (option) {
		add_within(b, "<div><code>agentbox allow ", id, option);
		ab_buf_puts(b, "</code></div>");
	}
	add_within(b, "<div><code>", hint, "</code></div>");
}

static void add_denial(const struct ab_page *page, const struct ab_page_denial *d, struct ab_buf *b)
{
	static const char *const names[] = {
		"id", "rule", "hint", "process", "by", "door", "domain"
	};
	struct ab_detail f[AB_COUNT(names)];

	if (ab_details_find(d->line, strlen(d->line), names, AB_COUNT(names), f) < 0)
		return;
	add_within(b, "<tr><td data-name=\"Id\"><code class=\"id\">", &f[0],
		   "</code></td><td class=\"w\" data-name=\"What\">");
	add_target(b, d->line);
	ab_buf_puts(b, "</td><td class=\"w\" data-name=\"Why\">");
	add_sentence(b, AB_SAID, d->line);
	add_within(b, " <span class=\"chain\">", &f[1], "</span>");
	ab_buf_printf(b,
		      "</td><td class=\"n\" data-name=\"Times\"><span "
		      "class=\"no\">%llu</span></td><td data-name=\"First\">",
		      (unsigned long long)d->count);
	add_time(b, d->first, false);
	ab_buf_puts(b, "</td><td class=\"w\" data-name=\"Process\">"
		       "<span class=\"chain\">");
	add_chain(b, &f[3]);
	add_field(b, &f[4]);
	ab_buf_puts(b, "</span></td><td class=\"w\" data-name=\"Remedy\">");
	add_remedy(b, &f[0], &f[2], &f[5], find_allow_option(page, &f[1], &f[6]));
	ab_buf_puts(b, "</td></tr>\n");
}

static void add_denials(const struct ab_page *page, struct ab_buf *b)
{
	if (!page->ndenials && !page->unlisted)
		return;
	open_table(b, "stack", "Denials", "What was denied, and how to allow it",
		   (const char *const[]){ "Id", "What", "Why", "#Times", "First", "Process",
					  "Remedy", NULL });
	for (size_t i = 0; i < page->ndenials; i++)
		add_denial(page, &page->denials[i], b);
	if (page->unlisted)
		ab_buf_printf(b, "<tr><td colspan=\"7\">and %llu more denials</td></tr>",
			      (unsigned long long)page->unlisted);
	close_table(b);
}

/* A row with the time of a record, and its sentence in as many columns as it has
 * parts. */
static void add_event(const char *line, const unsigned int *parts, struct ab_buf *b)
{
	struct ab_detail stamp;
	char at[AB_STAMP_ROOM];

	if (!ab_details_one(line, strlen(line), "timestamp", &stamp))
		return;
	ab_detail_copy(&stamp, at, sizeof(at));
	ab_buf_puts(b, "<tr><td>");
	add_time(b, at, false);
	for (; *parts; parts++) {
		ab_buf_puts(b, "</td><td class=\"w\">");
		add_sentence(b, *parts, line);
	}
	ab_buf_puts(b, "</td></tr>\n");
}

static void add_questions(const struct ab_page *page, struct ab_buf *b)
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

static void add_events(const struct ab_page *page, struct ab_buf *b)
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
	add_time(b, stamp, false);
	ab_buf_printf(b, "</td><td><span class=\"%s\">%s</span></td><td class=\"w\">",
		      strcmp(mark, "ok") == 0 ? "ok" : "no", mark);
	add_text(b, about.len ? about.data : "");
	if (allowed && f[5].kind == AB_DETAIL_TEXT)
		add_within(b, " <span class=\"chain\">", &f[5], "</span>");
	ab_buf_puts(b, "</td><td class=\"n\">");
	if (ab_detail_number(&f[1], 0) > 0)
		ab_buf_printf(b, "%lld", (long long)ab_detail_number(&f[1], 0));
	ab_buf_puts(b, "</td>");
	add_size(b, ab_detail_number(&f[2], 0));
	add_size(b, ab_detail_number(&f[3], 0));
	ab_buf_printf(b, "<td class=\"n\">%s</td></tr>\n",
		      allowed ? ab_words_time((uint64_t)ab_detail_number(&f[4], 0), text) : "");
}

static void add_requests(const struct ab_page *page, struct ab_buf *b)
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
	ab_buf_puts(b, "</caption>");
	add_columns(b, (const char *const[]){ "Time", "Verdict", "What", "#Status", "#Sent",
					      "#Received", "#Took", NULL });
	for (uint64_t i = all - shown; i < all; i++)
		add_request(page->requests[i % AB_PAGE_REQUESTS], b);
	ab_buf_puts(b, "</tbody></table></div></details></section>\n");
}

void ab_page_write(struct ab_page *page, uint64_t lost, struct ab_buf *b)
{
	ab_autobuf struct ab_buf title = { 0 };

	add_title(page, &title);
	ab_page_begin(b, title.data, "");
	add_header(page, b);
	add_cards(page, b);
	add_timeline(page, b);
	add_denials(page, b);
	add_hosts(page, b);
	add_questions(page, b);
	add_events(page, b);
	add_requests(page, b);
	ab_buf_puts(b, "<footer><p>Times are local to the machine that "
		       "generated this page.");
	if (lost)
		ab_buf_printf(b, " %llu lines of the record could not be read.",
			      (unsigned long long)lost);
	ab_buf_puts(b, "</p></footer></main></body></html>\n");
}
