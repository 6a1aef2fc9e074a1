#include "cmd.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static const struct option options_log[] = {
	{ "follow", 'f', OPT_FLAG, ID_FOLLOW, NULL, NULL, "keep printing until the run ends" },
	{ "all", 0, OPT_FLAG, ID_ALL, NULL, NULL, "every run, oldest first" },
	{ "denied", 0, OPT_FLAG, ID_DENIED, NULL, NULL, "only what was denied" },
	{ "allowed", 0, OPT_FLAG, ID_ALLOWED, NULL, NULL, "only what was allowed" },
	{ "host", 0, OPT_VALUE, ID_HOST, "HOST|*.DOMAIN", NULL,
	  "only this host, or hosts of this domain" },
	{ "since", 0, OPT_VALUE, ID_SINCE, "TIME", NULL, "from this time on" },
	{ "until", 0, OPT_VALUE, ID_UNTIL, "TIME", NULL, "before this time" },
	{ "json", 0, OPT_FLAG, ID_JSON, NULL, NULL, "print the records, one per line" },
	{ "stats", 0, OPT_FLAG, ID_STATS, NULL, NULL, "summarize hosts, bytes and denials" },
	{ "html", 0, OPT_VALUE, ID_HTML, "FILE", NULL, "write an HTML page about the run" },
	{ 0 },
};

struct view {
	const struct args *args;
	struct ab_records *records;
	struct ab_query query;
	struct ab_line_style style;
	uint64_t lost; /* lines that are not valid records */
};

static int read_time(const struct args *args, enum option_id id, const char *name,
		     char ret[AB_STAMP_ROOM])
{
	struct timespec now;

	if (!given(args, id))
		return -1;
	clock_gettime(CLOCK_REALTIME, &now);
	if (ab_time_parse(args->values[id], &now, ret) == 0)
		return -1;
	return misuse(args->command,
		      "--%s: invalid time \"%s\"; use 10m, 2026-01-31 or "
		      "\"2026-01-31 12:00\"",
		      name, args->values[id]);
}

/* Reject what no record can contain: it would look as if nothing had happened. */
static int read_host(const struct args *args, const char **ret)
{
	const char *host = args->values[ID_HOST];

	*ret = host;
	if (!given(args, ID_HOST))
		return -1;
	if (strstr(host, "://") || strchr(host, '/'))
		return misuse(args->command, "--host: %s is a URL; use its host name", host);
	/* An IPv6 address has more than one colon. */
	if (strchr(host, ':') && strchr(host, ':') == strrchr(host, ':'))
		return misuse(args->command, "--host: %s has a port; use %.*s", host,
			      (int)strcspn(host, ":"), host);
	return -1;
}

static int read_query(const struct args *args, struct ab_query *ret)
{
	bool denied = given(args, ID_DENIED), allowed = given(args, ID_ALLOWED);
	int status = read_time(args, ID_SINCE, "since", ret->since);

	if (status < 0)
		status = read_time(args, ID_UNTIL, "until", ret->until);
	if (status < 0)
		status = read_host(args, &ret->host);
	if (status >= 0)
		return status;
	if (denied && allowed)
		return misuse(args->command, "--denied and --allowed cannot be combined");
	ret->verdict = denied ? AB_QUERY_DENIED : allowed ? AB_QUERY_ALLOWED : AB_QUERY_ANY;
	return -1;
}

static int check_options(const struct args *args)
{
	const struct command *command = args->command;
	bool stats = given(args, ID_STATS), html = given(args, ID_HTML);

	if (given(args, ID_FOLLOW) && (stats || html || given(args, ID_ALL)))
		return misuse(command, "-f cannot be combined with --stats, --html or --all");
	if (html && (stats || given(args, ID_JSON)))
		return misuse(command, "--html cannot be combined with --stats or --json");
	if (given(args, ID_ALL) && (html || args->nrest))
		return misuse(command, html ? "--html cannot be combined with --all"
					    : "--all cannot be combined with RUN");
	return check_words(args, 0, 1);
}

static size_t screen_width(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

/* The next record that matches the query. */
static int next_match(struct view *v, const char **line, size_t *len, struct ab_error *err)
{
	int more, match;

	do {
		more = ab_records_next(v->records, line, len, err);
		if (more <= 0)
			return more;
		match = ab_query_matches(&v->query, *line, *len);
		v->lost += match < 0;
	} while (match <= 0);
	return 1;
}

static uint64_t count_lost(const struct view *v)
{
	return v->lost + ab_records_lost(v->records);
}

static void print_line(struct view *v, const char *line, size_t len)
{
	ab_autobuf struct ab_buf b = { 0 };

	if (given(v->args, ID_JSON)) {
		fwrite(line, 1, len, stdout);
		putchar('\n');
		return;
	}
	ab_line_show(&b, &v->style, line, len);
	if (b.len) /* some kinds of records are not shown */
		fwrite(b.data, 1, b.len, stdout);
}

static int print_lines(struct view *v, struct ab_error *err)
{
	const char *line;
	size_t len;
	int more;

	do {
		while ((more = next_match(v, &line, &len, err)) > 0)
			print_line(v, line, len);
		if (more < 0)
			return -1;
		fflush(stdout);
	} while (given(v->args, ID_FOLLOW) && !ferror(stdout) && ab_records_wait(v->records) > 0);
	return 0;
}

static int print_stats(struct view *v, struct ab_error *err)
{
	struct ab_stats *stats = ab_stats_new();
	ab_autobuf struct ab_buf b = { 0 };
	bool all = ab_query_empty(&v->query);
	const char *line;
	size_t len;
	int more;

	/* ab_stats_add() recognizes invalid lines itself, so without a query
	 * each of a million lines is parsed only once. */
	while ((more = all ? ab_records_next(v->records, &line, &len, err)
			   : next_match(v, &line, &len, err)) > 0)
		v->lost += !ab_stats_add(stats, line, len);
	if (more == 0 && given(v->args, ID_JSON)) {
		ab_stats_json(stats, count_lost(v), &b);
		ab_buf_puts(&b, "\n");
	} else if (more == 0) {
		ab_stats_text(stats, screen_width(), &b);
	}
	fwrite(b.data, 1, b.len, stdout);
	ab_stats_free(stats);
	return more;
}

static int write_page(struct view *v, struct ab_error *err)
{
	const char *file = v->args->values[ID_HTML];
	struct ab_page *page = ab_page_new();
	ab_autobuf struct ab_buf b = { 0 };
	const char *line;
	size_t len;
	int more;

	while ((more = next_match(v, &line, &len, err)) > 0)
		ab_page_add(page, line, len);
	if (more == 0) {
		ab_page_write(page, count_lost(v), &b);
		if (strcmp(file, "-") == 0)
			fwrite(b.data, 1, b.len, stdout);
		else
			more = ab_records_save(file, b.data, b.len, err);
	}
	ab_page_free(page);
	if (more == 0 && strcmp(file, "-") != 0)
		tell("wrote %s", file);
	return more;
}

static int log_main(struct args *args)
{
	struct view v = { .args = args };
	struct ab_error err = { 0 };
	uint64_t lost;
	int result, status = check_options(args);

	if (status < 0)
		status = read_query(args, &v.query);
	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_records_open(&args->input, args->nrest ? args->rest[0] : NULL, given(args, ID_ALL),
			    &v.records, &err) < 0)
		return complain(args, &err);
	v.style.colour = wants_colour(STDOUT_FILENO);
	v.style.run = given(args, ID_ALL);
	if (given(args, ID_HTML))
		result = write_page(&v, &err);
	else if (given(args, ID_STATS))
		result = print_stats(&v, &err);
	else
		result = print_lines(&v, &err);
	lost = count_lost(&v);
	ab_records_close(v.records);
	if (result < 0)
		return complain(args, &err);
	if (lost)
		tell("skipped %llu damaged or overlong line%s of the record",
		     (unsigned long long)lost, lost == 1 ? "" : "s");
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

const struct command command_log = {
	.name = "log",
	.usage = "[OPTIONS] [RUN]",
	.summary = "show what a run did, and what was denied",
	.more = "Prints the record of a run, one line per event. RUN is an id or a name; without\n"
		"it, log shows the latest run, active or ended.\n"
		"\n"
		"TIME is a duration counted back from now (10m), a local time\n"
		"(\"2026-01-31 12:00\"), or a time with its zone (2026-01-31T12:00:00Z).",
	.groups = OPTION_GROUPS({ NULL, options_log }),
	.main = log_main,
};
