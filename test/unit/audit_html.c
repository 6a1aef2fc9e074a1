/*
 * The page about a run: bounded, and nothing but text comes from the record.
 */
#include "audit/show/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "tap.h"

static char *write_page(struct ab_page *page)
{
	struct ab_buf b = { 0 };

	ab_page_write(page, 0, &b);
	ab_page_free(page);
	return ab_buf_take(&b);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)) != NULL; text++)
		n++;
	return n;
}

static void add(struct ab_page *page, const char *line)
{
	ab_page_add(page, line, strlen(line));
}

static void check_empty(void)
{
	ab_autofree char *text = write_page(ab_page_new());

	ok(strstr(text, "(command not known)") && strstr(text, "</html>"),
	   "a page about nothing is whole");
	ok(!strstr(text, "<table") && !strstr(text, "<svg"), "without empty tables");
}

/* Each text of a record where a page has it, as what ends everything. */
static void check_escapes(void)
{
	static const char *const lines[] = {
		"{\"timestamp\":\"%s\",\"kind\":\"start\",\"run_id\":\"%s\","
		"\"command\":[\"%s\"],\"cwd\":\"%s\",\"name\":\"%s\","
		"\"policy\":{\"profile\":\"%s\"}}",
		"{\"timestamp\":\"%s\",\"kind\":\"assurance\",\"holds\":[\"%s\"],"
		"\"missing\":\"%s\"}",
		"{\"timestamp\":\"%s\",\"kind\":\"request\",\"allowed\":true,"
		"\"domain\":\"%s\",\"method\":\"%s\",\"path\":\"%s\","
		"\"error\":\"%s\"}",
		"{\"timestamp\":\"%s\",\"kind\":\"violation\",\"allowed\":false,"
		"\"id\":\"abcde-1\",\"domain\":\"%s\",\"reason\":\"%s\","
		"\"rule\":\"%s\",\"hint\":\"%s\",\"process\":[{\"pid\":1,"
		"\"exe\":\"%s\"}]}",
		"{\"timestamp\":\"%s\",\"kind\":\"exec\",\"id\":\"abcde-e1\","
		"\"command\":\"%s\",\"by\":\"%s\",\"reason\":\"%s\"}",
		"{\"timestamp\":\"%s\",\"kind\":\"violation\",\"id\":\"abcde-f1\","
		"\"door\":\"file\",\"path\":\"%s\",\"access\":\"%s\"}",
		"{\"timestamp\":\"%s\",\"kind\":\"question\",\"domain\":\"%s\","
		"\"answer\":\"%s\",\"by\":\"%s\",\"process\":[{\"exe\":\"%s\"}]}",
		"{\"timestamp\":\"%s\",\"kind\":\"%s\",\"x\":\"%s\"}",
		"{\"timestamp\":\"%s\",\"kind\":\"end\",\"error\":\"%s\"}",
	};
	static const char evil[] = "\\\"'><script>&\\u202e\\u0007</style>";
	struct ab_page *page = ab_page_new();
	ab_autofree char *text = NULL;

	for (size_t i = 0; i < AB_COUNT(lines); i++) {
		ab_autobuf struct ab_buf line = { 0 };
		const char *p = lines[i], *at;

		for (; (at = strstr(p, "%s")) != NULL; p = at + 2) {
			ab_buf_add(&line, p, (size_t)(at - p));
			ab_buf_puts(&line, evil);
		}
		ab_buf_puts(&line, p);
		add(page, line.data);
	}
	text = write_page(page);
	ok(count(text, "&quot;&#39;&gt;&lt;script&gt;&amp;\\xe2\\x80\\xae\\x07"
		       "&lt;/style&gt;") > 20,
	   "what is hostile is there as text");
	ok(count(text, "<script") == 0 && count(text, "</style>") == 1, "and as nothing else");
	ok(!strstr(text, "\xe2\x80\xae") && !strchr(text, '\a'),
	   "what cannot be seen is an escape");
}

static void check_bounds(void)
{
	struct ab_page *page = ab_page_new();
	ab_autofree char *text = NULL;
	char line[256];

	for (int i = 0; i < AB_PAGE_REQUESTS + 5; i++) {
		snprintf(line, sizeof(line),
			 "{\"timestamp\":\"2026-01-01T%02d:%02d:00.000Z\","
			 "\"kind\":\"request\",\"allowed\":true,\"domain\":"
			 "\"h\",\"path\":\"/p%d.\"}",
			 i / 60 % 24, i % 60, i);
		add(page, line);
	}
	for (int i = 1; i <= 2 * AB_PAGE_ROWS; i++) {
		snprintf(line, sizeof(line),
			 "{\"timestamp\":\"2026-01-02T00:00:00.000Z\",\"kind\":"
			 "\"exec\",\"id\":\"abcde-e%d\",\"command\":\"c\"}",
			 i);
		add(page, line);
		add(page, "{\"kind\":\"question\"}");
		add(page, "{\"kind\":\"grant\",\"entry\":\"x\"}");
	}
	text = write_page(page);
	ok(strstr(text, "The newest 10000 of 12005") && !strstr(text, "/p5.") &&
		   !strstr(text, "/p2004.") && strstr(text, "/p2005."),
	   "the newest requests are kept");
	ok(count(text, "<code class=\"id\">") == AB_PAGE_ROWS &&
		   strstr(text, "and 1000 more denials"),
	   "denials are bounded, and that is said");
	ok(count(text, "and 1000 more</td>") == 2, "so are questions and events");
	ok(count(text, "<g>") <= 96, "the chart has so many bars at most");
}

static void check_clock(void)
{
	struct ab_page *page = ab_page_new();
	ab_autofree char *text = NULL;

	add(page, "{\"timestamp\":\"2026-01-02T00:00:00.000Z\",\"kind\":"
		  "\"request\",\"allowed\":true}");
	add(page, "{\"timestamp\":\"1999-01-02T00:00:00.000Z\",\"kind\":"
		  "\"request\",\"allowed\":true}");
	add(page, "{\"timestamp\":\"9999-12-31T23:59:59.999Z\",\"kind\":"
		  "\"request\",\"allowed\":true}");
	text = write_page(page);
	ok(count(text, "<g>") == 2, "a clock that was set is no harm");
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	check_empty();
	check_escapes();
	check_bounds();
	check_clock();
	return done();
}
