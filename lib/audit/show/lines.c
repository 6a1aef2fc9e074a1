#include "audit/show/lines.h"

#include <stdio.h>
#include <string.h>

#include "audit/read/details.h"
#include "audit/read/query.h"
#include "audit/read/words.h"
#include "base/data/buf.h"
#include "base/data/mem.h"

enum {
	M_TIMESTAMP,
	M_RUN_ID,
	M_KIND,
	M_ID,
	M_COUNT,
};

static const char *const members[M_COUNT] = {
	[M_TIMESTAMP] = "timestamp",
	[M_RUN_ID] = "run_id",
	[M_KIND] = "kind",
	[M_ID] = "id",
};

static void add_text(struct ab_buf *b, const struct ab_detail *f)
{
	ab_autofree char *text = ab_detail_dup(f);

	ab_buf_escape(b, text ? text : "");
}

/* With a text before it, if it is there at all. */
static void add_maybe(struct ab_buf *b, const char *before, const struct ab_detail *f)
{
	if (f->kind != AB_DETAIL_TEXT || !f->len)
		return;
	ab_buf_puts(b, before);
	add_text(b, f);
}

static void add_list(struct ab_buf *b, const struct ab_detail *list, const char *between)
{
	struct ab_detail element;
	size_t at = 0, n = 0;

	while (ab_detail_next(list, &at, &element)) {
		ab_buf_puts(b, n++ ? between : "");
		add_text(b, &element);
	}
}

static void add_number(struct ab_buf *b, const struct ab_detail *f, const char *behind)
{
	ab_buf_printf(b, "%lld%s", (long long)ab_detail_number(f, 0), behind);
}

static void add_target(struct ab_buf *b, const struct ab_detail *domain,
		       const struct ab_detail *port)
{
	ab_autofree char *host = ab_detail_dup(domain);
	ab_autofree char *safe = ab_escape(host ? host : "(no host)");

	ab_words_target(b, safe, (uint16_t)ab_detail_number(port, 0));
}

static void add_size(struct ab_buf *b, const struct ab_detail *f, const char *behind)
{
	int64_t n = ab_detail_number(f, 0);
	char text[AB_AMOUNT_ROOM];

	if (n > 0)
		ab_buf_printf(b, "  %s %s", ab_words_size((uint64_t)n, text), behind);
}

static void add_time(struct ab_buf *b, const char *before, const struct ab_detail *f)
{
	int64_t n = ab_detail_number(f, -1);
	char text[AB_AMOUNT_ROOM];

	if (n >= 0)
		ab_buf_printf(b, "%s%s", before, ab_words_time((uint64_t)n, text));
}

/* Of the process that did it, its name. */
static void add_process(struct ab_buf *b, const struct ab_detail *chain)
{
	static const char *const names[] = { "pid", "exe" };
	struct ab_detail first, f[AB_COUNT(names)];
	ab_autofree char *exe = NULL;
	size_t at = 0;

	if (!ab_detail_next(chain, &at, &first) ||
	    ab_details_find(first.at, first.len, names, AB_COUNT(names), f) < 0)
		return;
	exe = ab_detail_dup(&f[1]);
	if (!exe || !*exe)
		return;
	ab_buf_puts(b, "  by ");
	ab_buf_escape(b, strrchr(exe, '/') ? strrchr(exe, '/') + 1 : exe);
	if (ab_detail_number(&f[0], 0) > 0)
		ab_buf_printf(b, ", pid %lld", (long long)ab_detail_number(&f[0], 0));
}

/* A kind of record: its own members, and what is said. */
struct kind {
	const char *kind;
	const char *mark;
	const char *const *names;
	void (*say)(struct ab_buf *b, const struct ab_detail f[]);
};

enum { KIND_MEMBERS = 12 };
#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void say_start(struct ab_buf *b, const struct ab_detail f[])
{
	static const char *const names[] = { "profile" };
	struct ab_detail profile[1];

	add_list(b, &f[0], " ");
	add_maybe(b, "  in ", &f[1]);
	if (f[2].kind == AB_DETAIL_NESTED &&
	    ab_details_find(f[2].at, f[2].len, names, 1, profile) == 0)
		add_maybe(b, ", profile ", &profile[0]);
	add_maybe(b, ", name ", &f[3]);
}

static void say_holds(struct ab_buf *b, const struct ab_detail f[])
{
	add_list(b, &f[0], " ");
	add_maybe(b, "; missing ", &f[1]);
}

static void say_end(struct ab_buf *b, const struct ab_detail f[])
{
	if (f[0].kind == AB_DETAIL_NUMBER) {
		ab_buf_puts(b, "exit ");
		add_number(b, &f[0], "");
	}
	add_time(b, " after ", &f[1]);
	if (f[2].kind == AB_DETAIL_TRUE)
		ab_buf_puts(b, ", its time was up");
	add_maybe(b, f[0].kind == AB_DETAIL_NUMBER ? ", " : "", &f[3]);
	if (ab_detail_number(&f[4], 0) + ab_detail_number(&f[5], 0) > 0) {
		ab_buf_puts(b, "; ");
		add_number(b, &f[4], " requests, ");
		add_number(b, &f[5], " denied");
	}
	for (size_t at = 0, n = 0; n < 20; n++) {
		struct ab_detail finding;

		if (!ab_detail_next(&f[6], &at, &finding))
			break;
		ab_buf_puts(b, "; ");
		add_text(b, &finding);
	}
}

static void say_refused(struct ab_buf *b, const struct ab_detail f[])
{
	add_list(b, &f[0], " ");
	add_maybe(b, "  ", &f[1]);
	add_maybe(b, "  rule ", &f[2]);
}

static void say_request(struct ab_buf *b, const struct ab_detail f[])
{
	add_maybe(b, "", &f[0]);
	ab_buf_puts(b, f[0].kind == AB_DETAIL_TEXT ? " " : "");
	add_target(b, &f[1], &f[2]);
	add_maybe(b, "", &f[3]);
	if (ab_detail_number(&f[4], 0)) {
		ab_buf_puts(b, "  ");
		add_number(b, &f[4], "");
	}
	add_size(b, &f[5], "up");
	add_size(b, &f[6], "down");
	add_time(b, "  ", &f[7]);
	add_maybe(b, "  ", &f[8]);
	add_maybe(b, "  with ", &f[9]);
}

static void say_question(struct ab_buf *b, const struct ab_detail f[])
{
	static const struct {
		const char *answer, *words;
	} answers[] = {
		{ "once", "allowed once" },	    { "run", "allowed for this run" },
		{ "always", "allowed always" },	    { "no", "denied" },
		{ "timeout", "no answer, denied" }, { "gone", "nobody waits any more" },
	};

	add_target(b, &f[0], &f[1]);
	ab_buf_puts(b, "  ");
	for (size_t i = 0; i < AB_COUNT(answers); i++)
		if (ab_detail_is(&f[2], answers[i].answer))
			ab_buf_puts(b, answers[i].words);
	if (!ab_detail_is(&f[3], "timeout"))
		add_maybe(b, ", by ", &f[3]);
	add_time(b, ", after ", &f[4]);
	add_process(b, &f[5]);
}

static void say_grant(struct ab_buf *b, const struct ab_detail f[])
{
	add_text(b, &f[0]);
	ab_buf_puts(b, f[1].kind == AB_DETAIL_TRUE ? "  allowed" : "  denied");
	if (ab_detail_number(&f[3], 0) > 0)
		add_time(b, " for ", &f[3]);
	else
		ab_buf_puts(b, " for this run");
	add_maybe(b, ", by ", &f[2]);
	add_maybe(b, ", in vain: ", &f[4]);
}

static void say_reload(struct ab_buf *b, const struct ab_detail f[])
{
	if (f[1].kind == AB_DETAIL_TEXT) {
		ab_buf_puts(b, "failed, the lists stay as they were: ");
		add_text(b, &f[1]);
		return;
	}
	if (f[0].len <= 2)
		ab_buf_puts(b, "nothing is different");
	add_list(b, &f[0], ", ");
}

static void say_monitor(struct ab_buf *b, const struct ab_detail f[])
{
	add_text(b, &f[0]);
	ab_buf_puts(b, ": ");
	add_number(b, &f[1], "");
	ab_buf_puts(b, " where ");
	add_number(b, &f[2], " are expected");
	add_maybe(b, "  ", &f[3]);
	add_maybe(b, "  action ", &f[4]);
}

static void say_secret(struct ab_buf *b, const struct ab_detail f[])
{
	add_text(b, &f[0]);
	add_maybe(b, "  ", &f[1]);
	add_maybe(b, ": ", &f[2]);
}

static void say_program(struct ab_buf *b, const struct ab_detail f[])
{
	add_text(b, &f[0]);
}

static void say_continued(struct ab_buf *b, const struct ab_detail f[])
{
	ab_buf_puts(b, "the record goes on in another file");
	add_maybe(b, "; older lines are gone with ", &f[0]);
}

/* Order decides nothing: kinds differ. A mark that is NULL depends. */
static const struct kind kinds[] = {
	{ "start", "start", NAMES("command", "cwd", "policy", "name"), say_start },
	{ "assurance", "holds", NAMES("holds", "missing"), say_holds },
	{ "end", "end",
	  NAMES("status", "ms", "timed_out", "error", "requests_allowed", "requests_denied",
		"findings"),
	  say_end },
	{ "refused", "refused", NAMES("command", "reason", "rule"), say_refused },
	{ "request", NULL,
	  NAMES("method", "domain", "port", "path", "status", "bytes_up", "bytes_down", "ms",
		"error", "secret"),
	  say_request },
	{ "question", "asked", NAMES("domain", "port", "answer", "by", "ms", "process"),
	  say_question },
	{ "grant", "grant", NAMES("entry", "allowed", "by", "for_ms", "error"), say_grant },
	{ "reload", "reload", NAMES("changes", "error"), say_reload },
	{ "monitor", "monitor", NAMES("threshold", "value", "limit", "domain", "action"),
	  say_monitor },
	{ "secret", "secret", NAMES("name", "event", "reason"), say_secret },
	{ "program", "program", NAMES("path"), say_program },
	{ "continued", "file", NAMES("removed"), say_continued },
};

/* "denied": a network, program or file violation. */
static void say_denial(struct ab_buf *b, const char *line, size_t len, const struct ab_detail *id)
{
	static const char *const names[] = { "process", "repeated", "packets", "by", "kind" };
	struct ab_detail f[AB_COUNT(names)];

	if (ab_details_find(line, len, names, AB_COUNT(names), f) < 0)
		return;
	ab_words_denial(b, line, len);
	if (ab_detail_number(&f[2], 0) > 0) {
		ab_buf_puts(b, "  ");
		add_number(b, &f[2], " of them");
	}
	if (f[0].kind == AB_DETAIL_NESTED)
		add_process(b, &f[0]);
	else
		add_maybe(b, "  by ", &f[3]);
	if (ab_detail_number(&f[1], 0) > 0) {
		bool one = id->kind == AB_DETAIL_TEXT;

		ab_buf_puts(b, one ? "  and " : "  ");
		add_number(b, &f[1], one ? " times more" : " of them");
	}
	add_maybe(b, "  ", id);
}

static void begin(struct ab_buf *b, const struct ab_line_style *style, const struct ab_detail m[],
		  const char *mark, bool red)
{
	char stamp[AB_STAMP_ROOM], local[AB_LOCAL_ROOM];

	ab_detail_copy(&m[M_TIMESTAMP], stamp, sizeof(stamp));
	ab_buf_printf(b, "%s%s  ", red && style->colour ? "\033[31m" : "",
		      ab_time_local(stamp, local));
	if (style->run) {
		add_text(b, &m[M_RUN_ID]);
		ab_buf_puts(b, "  ");
	}
	ab_buf_printf(b, "%-8s ", mark);
}

static void finish(struct ab_buf *b, const struct ab_line_style *style, bool red)
{
	ab_buf_puts(b, red && style->colour ? "\033[0m\n" : "\n");
}

static void show_kind(struct ab_buf *b, const struct ab_line_style *style, const struct kind *kind,
		      const char *line, size_t len, const struct ab_detail m[])
{
	struct ab_detail f[KIND_MEMBERS];
	const char *mark = kind->mark;
	bool red = strcmp(kind->kind, "refused") == 0;
	size_t n = 0;

	while (kind->names[n])
		n++;
	if (ab_details_find(line, len, kind->names, n, f) < 0)
		return;
	/* A request: with an id it was denied, and the violation says it. */
	if (!mark && m[M_ID].kind == AB_DETAIL_TEXT)
		return;
	if (!mark)
		mark = f[8].kind == AB_DETAIL_TEXT ? "failed" : "ok";
	begin(b, style, m, mark, red);
	kind->say(b, f);
	finish(b, style, red);
}

void ab_line_show(struct ab_buf *b, const struct ab_line_style *style, const char *line, size_t len)
{
	struct ab_detail m[M_COUNT];

	if (ab_details_find(line, len, members, M_COUNT, m) < 0)
		return;
	for (size_t i = 0; i < AB_COUNT(kinds); i++)
		if (ab_detail_is(&m[M_KIND], kinds[i].kind)) {
			show_kind(b, style, &kinds[i], line, len, m);
			return;
		}
	if (ab_detail_is(&m[M_KIND], "violation") || ab_detail_is(&m[M_KIND], "exec")) {
		begin(b, style, m, "denied", true);
		say_denial(b, line, len, &m[M_ID]);
		finish(b, style, true);
		return;
	}
	begin(b, style, m, "other", false);
	ab_buf_escape_n(b, line, len);
	finish(b, style, false);
}
