#include "cmd.h"

static const struct option options_log[] = {
	FLAG("follow", 'f', "keep printing until the run ends"),
	VALUE("lines", 'n', "N", "only the last N lines, or runs"),
	FLAG("all", 0, "every run, oldest first"),
	FLAG("list", 'l', "list the runs, newest first"),
	VALUE("dir", 0, "FOLDER", "every record below this folder"),
	FLAG("denied", 0, "only what was denied"),
	FLAG("allowed", 0, "only what was allowed"),
	VALUE("host", 0, "HOST|*.DOMAIN", "only this host, or hosts of this domain"),
	VALUE("since", 0, "TIME", "from this time on"),
	VALUE("until", 0, "TIME", "before this time"),
	FLAG("json", 0, "print the records, one per line"),
	FLAG("stats", 0, "summarize hosts, bytes and denials"),
	VALUE("html", 0, "FILE", "write an HTML page about the run"),
	FLAG("verify", 0, "check that nobody changed the record"),
	VALUE("key", 0, "FILE", "with --verify: also know these public keys"),
	{ 0 },
};

/* The last lines are kept in memory until the end is known. */
enum { MOST_LINES = 100000 };

struct view {
	struct args *args;
	struct ab_records *records;
	struct ab_query query;
	struct ab_line_style style;
	uint64_t lost;	 /* lines that are not valid records */
	size_t most;	 /* of -n; 0: all */
	uint64_t headed; /* in a folder: the record that had the last heading */
};

static int read_time(const struct args *args, const char *name, char ret[AB_STAMP_ROOM],
		     struct ab_error *err)
{
	const char *text = value_of(args, name);
	struct timespec now;

	if (!text)
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	if (ab_time_parse(text, &now, ret) == 0)
		return 0;
	return misuse(args, err,
		      "--%s: invalid time \"%s\"; use 10m, 2026-01-31 or "
		      "\"2026-01-31 12:00\"",
		      name, text);
}

/* Reject what no record can contain: it would look as if nothing had happened. */
static int read_host(const struct args *args, const char **ret, struct ab_error *err)
{
	const char *host = value_of(args, "host");

	*ret = host;
	if (!given(args, "host"))
		return 0;
	if (strstr(host, "://") || strchr(host, '/'))
		return misuse(args, err, "--host: %s is a URL; use its host name", host);
	/* An IPv6 address has more than one colon. */
	if (strchr(host, ':') && strchr(host, ':') == strrchr(host, ':'))
		return misuse(args, err, "--host: %s has a port; use %.*s", host,
			      (int)strcspn(host, ":"), host);
	return 0;
}

static int read_query(const struct args *args, struct ab_query *ret, struct ab_error *err)
{
	if (read_time(args, "since", ret->since, err) < 0 ||
	    read_time(args, "until", ret->until, err) < 0 || read_host(args, &ret->host, err) < 0)
		return -1;
	ret->verdict = given(args, "denied")	? AB_QUERY_DENIED
		       : given(args, "allowed") ? AB_QUERY_ALLOWED
						: AB_QUERY_ANY;
	return 0;
}

static int read_most(const struct args *args, size_t *ret, struct ab_error *err)
{
	const char *text = value_of(args, "lines");
	uint64_t n;

	if (!given(args, "lines"))
		return 0;
	if (!ab_parse_digits(text, strlen(text), &n) || n < 1 || n > MOST_LINES)
		return misuse(args, err, "-n: invalid value \"%s\"; use 1 to %d", text, MOST_LINES);
	*ret = (size_t)n;
	return 0;
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

/* Some kinds of records are not shown. */
static void show_line(struct view *v, const char *line, size_t len, struct ab_buf *ret)
{
	if (!given(v->args, "json")) {
		ab_line_show(ret, &v->style, line, len);
		return;
	}
	/* Our records have no such characters, but those of a folder may be anybody's. */
	if (isatty(STDOUT_FILENO))
		ab_buf_escape_n(ret, line, len);
	else
		ab_buf_add(ret, line, len);
	ab_buf_puts(ret, "\n");
}

/* In a folder, ids of runs are not unique: say which record the next lines are from. */
static void print_heading(struct view *v)
{
	ab_autobuf struct ab_buf b = { 0 };
	uint64_t number;
	const char *path = ab_records_path(v->records, &number);

	if (!path || number == v->headed || given(v->args, "json"))
		return;
	ab_buf_puts(&b, v->headed ? "\n== " : "== ");
	ab_buf_escape(&b, path);
	ab_buf_puts(&b, "\n");
	fwrite(b.data, 1, b.len, stdout);
	v->headed = number;
}

static void print_line(struct view *v, const char *line, size_t len)
{
	ab_autobuf struct ab_buf b = { 0 };

	show_line(v, line, len, &b);
	if (!b.len)
		return;
	print_heading(v);
	fwrite(b.data, 1, b.len, stdout);
}

/* The last lines of what there is so far. */
static int print_last(struct view *v, struct ab_error *err)
{
	struct ab_buf *last = ab_alloc(v->most * sizeof(*last));
	const char *line;
	size_t len, n = 0;
	int more;

	while ((more = next_match(v, &line, &len, err)) > 0) {
		ab_autobuf struct ab_buf shown = { 0 };

		show_line(v, line, len, &shown);
		if (!shown.len)
			continue;
		ab_buf_fini(&last[n % v->most]);
		last[n++ % v->most] = shown;
		shown = (struct ab_buf){ 0 };
	}
	for (size_t i = n > v->most ? n - v->most : 0; i < n && more == 0; i++)
		fwrite(last[i % v->most].data, 1, last[i % v->most].len, stdout);
	for (size_t i = 0; i < v->most && i < n; i++)
		ab_buf_fini(&last[i]);
	free(last);
	return more;
}

static int print_lines(struct view *v, struct ab_error *err)
{
	const char *line;
	size_t len;
	int more;

	if (v->most && print_last(v, err) < 0)
		return -1;
	do {
		while ((more = next_match(v, &line, &len, err)) > 0)
			print_line(v, line, len);
		if (more < 0)
			return -1;
		fflush(stdout);
	} while (given(v->args, "follow") && !ferror(stdout) && ab_records_wait(v->records) > 0);
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
	if (more == 0 && given(v->args, "json")) {
		ab_stats_json(stats, count_lost(v), &b);
		ab_buf_puts(&b, "\n");
	} else if (more == 0) {
		uint64_t records;

		ab_stats_text(stats, ab_tty_columns(STDOUT_FILENO, 80), &b);
		ab_records_path(v->records, &records);
		if (given(v->args, "dir"))
			ab_buf_printf(&b, "%llu record%s read\n", (unsigned long long)records,
				      records == 1 ? "" : "s");
	}
	fwrite(b.data, 1, b.len, stdout);
	ab_stats_free(stats);
	return more;
}

static int print_runs(struct view *v, struct ab_error *err)
{
	struct ab_history *history = ab_history_new();
	ab_autofree char *text = NULL;
	const char *line;
	size_t len;
	int more;

	while ((more = next_match(v, &line, &len, err)) > 0)
		if (ab_history_add(history, line, len))
			ab_history_active(history, ab_records_active(v->records));
	if (more == 0) {
		text = given(v->args, "json") ? ab_history_json(history, v->most)
					      : ab_history_text(history, v->most, output_columns());
		fputs(text, stdout);
	}
	ab_history_free(history);
	return more;
}

static int write_page(struct view *v, struct ab_error *err)
{
	const char *file = value_of(v->args, "html");
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

static int open_records(struct view *v, struct ab_error *err)
{
	struct args *args = v->args;

	if (given(args, "dir"))
		return ab_records_open_folder(value_of(args, "dir"), &v->records, err);
	if (ab_caller_init(&args->input, err) < 0)
		return -1;
	return ab_records_open(&args->input, args->rest[0],
			       given(args, "all") || given(args, "list"), &v->records, err);
}

struct verifying {
	bool json;
	bool many; /* only those that are not whole are listed */
	uint64_t records, fine;
};

/* What a folder of records has that was not read. True: an answer from it is not complete. NULL: it was
 * not a folder. */
static bool tell_left_out(const struct ab_left_out *left_out)
{
	const struct {
		uint64_t n;
		const char *one, *more;
	} rows[] = {
		{ left_out ? left_out->links : 0, "link, which is never followed",
		  "links, which are never followed" },
		{ left_out ? left_out->others : 0, "record that is not a regular file",
		  "records that are not regular files" },
		{ left_out ? left_out->deep : 0, "folder that is too deep",
		  "folders that are too deep" },
		{ left_out ? left_out->full : 0, "folder only in part: it has too many names",
		  "folders only in part: they have too many names" },
		{ left_out ? left_out->closed : 0, "file or folder that cannot be opened",
		  "files or folders that cannot be opened" },
	};

	for (size_t i = 0; i < AB_COUNT(rows); i++)
		if (rows[i].n)
			tell("skipped %llu %s", (unsigned long long)rows[i].n,
			     rows[i].n == 1 ? rows[i].one : rows[i].more);
	return left_out && (left_out->deep || left_out->full || left_out->closed);
}

static void add_json(struct ab_buf *b, const char *path, const struct ab_chain_verdict *v)
{
	char key[AB_CHAIN_KEY_ROOM];

	ab_chain_key(v, key);
	ab_buf_jsonf(b, "{'run':%s,'path':%s,'state':%s,'lines':%ju", v->run, path,
		     ab_chain_state_names[v->state], v->lines);
	if (v->state == AB_CHAIN_BROKEN)
		ab_buf_jsonf(b, ",'file':%s,'line':%ju,'why':%s", v->file, v->line, v->why);
	if (v->keyed)
		ab_buf_jsonf(b, ",'key':%s", key);
	if (v->unswept)
		ab_buf_jsonf(b, ",'swept':false");
	ab_buf_jsonf(b, ",'removed_files':%ju,'torn_lines':%ju}\n", v->removed, v->torn);
}

static void add_sentence(struct ab_buf *b, const struct ab_chain_verdict *v)
{
	static const char *const sentences[AB_CHAIN_STATES] = {
		[AB_CHAIN_WHOLE] = "whole and signed",
		[AB_CHAIN_ACTIVE] = "whole so far; the run is active",
		[AB_CHAIN_UNENDED] = "whole so far, but its end is missing: the run was killed or "
				     "failed to start, or the end was cut off",
		[AB_CHAIN_UNKNOWN] = "whole, but signed with a key that is not known: ",
		[AB_CHAIN_UNSIGNED] = "whole, but its end is not signed",
		[AB_CHAIN_UNCHAINED] = "has no chain: an older version wrote it, or the chain "
				       "was removed",
	};
	char key[AB_CHAIN_KEY_ROOM];

	if (v->state == AB_CHAIN_BROKEN) {
		ab_buf_printf(b, "broken at line %llu", (unsigned long long)v->line);
		if (v->file[0])
			ab_buf_printf(b, " of %s", v->file);
		ab_buf_printf(b, ": %s", v->why);
		return;
	}
	ab_buf_puts(b, sentences[v->state]);
	ab_chain_key(v, key);
	if (v->state == AB_CHAIN_UNKNOWN)
		ab_buf_puts(b, key);
	ab_buf_printf(b, " (%llu line%s", (unsigned long long)v->lines, v->lines == 1 ? "" : "s");
	if (v->removed)
		ab_buf_printf(b, "; the run removed %llu full file%s",
			      (unsigned long long)v->removed, v->removed == 1 ? "" : "s");
	if (v->torn)
		ab_buf_printf(b, "; %llu unfinished line%s", (unsigned long long)v->torn,
			      v->torn == 1 ? "" : "s");
	if (v->unswept)
		ab_buf_puts(b, "; the workspace was not swept at its end");
	ab_buf_puts(b, ")");
}

static void add_text(struct ab_buf *b, const char *path, const struct ab_chain_verdict *v)
{
	if (path) {
		ab_buf_escape(b, path);
		ab_buf_puts(b, "  ");
	}
	if (v->run[0]) {
		ab_buf_puts(b, "run ");
		ab_buf_escape(b, v->run);
		ab_buf_puts(b, "  ");
	}
	add_sentence(b, v);
	ab_buf_puts(b, "\n");
}

static void show_verdict(void *arg, const char *path, const struct ab_chain_verdict *v)
{
	struct verifying *view = arg;
	bool fine = v->state == AB_CHAIN_WHOLE || v->state == AB_CHAIN_ACTIVE;
	ab_autobuf struct ab_buf b = { 0 };

	view->records++;
	view->fine += fine;
	if (view->json)
		add_json(&b, path, v);
	else if (!view->many || !fine)
		add_text(&b, path, v);
	if (b.len)
		fwrite(b.data, 1, b.len, stdout);
}

static int verify_records(struct args *args, struct ab_error *err)
{
	struct verifying view = { .json = given(args, "json"),
				  .many = given(args, "all") || given(args, "dir") };
	struct ab_verify_request request = { .what = args->rest[0],
					     .all = given(args, "all"),
					     .folder = value_of(args, "dir"),
					     .keys = value_of(args, "key"),
					     .fn = show_verdict,
					     .arg = &view };
	struct ab_left_out left_out;
	bool partial;

	if (ab_caller_init(&args->input, err) < 0 ||
	    ab_records_verify(&args->input, &request, &left_out, err) < 0)
		return -1;
	partial = tell_left_out(&left_out);
	if (view.many && !view.json)
		printf("%llu of %llu record%s whole\n", (unsigned long long)view.fine,
		       (unsigned long long)view.records, view.records == 1 ? " is" : "s are");
	if (!view.records)
		tell("there is no record to check");
	if (fflush(stdout) != 0 || ferror(stdout))
		return 1;
	return view.records && view.fine == view.records && !partial ? 0 : 1;
}

static int log_main(struct args *args, struct ab_error *err)
{
	struct view v = { .args = args };
	bool partial;
	uint64_t lost;
	int result;

	if (read_query(args, &v.query, err) < 0 || read_most(args, &v.most, err) < 0)
		return -1;
	if (given(args, "verify"))
		return verify_records(args, err);
	if (open_records(&v, err) < 0)
		return -1;
	v.style.colour = wants_colour(STDOUT_FILENO);
	v.style.run = given(args, "all") || given(args, "dir");
	if (given(args, "html"))
		result = write_page(&v, err);
	else if (given(args, "stats"))
		result = print_stats(&v, err);
	else if (given(args, "list"))
		result = print_runs(&v, err);
	else
		result = print_lines(&v, err);
	lost = count_lost(&v);
	partial = tell_left_out(ab_records_left_out(v.records));
	ab_records_close(v.records);
	if (result < 0)
		return -1;
	if (lost)
		tell("skipped %llu damaged or overlong line%s of the record",
		     (unsigned long long)lost, lost == 1 ? "" : "s");
	return fflush(stdout) == 0 && !ferror(stdout) && !partial ? 0 : 1;
}

const struct command command_log = {
	.name = "log",
	.usage = "[OPTIONS] [RUN]",
	.summary = "show what a run did, and what was denied",
	.groups = OPTION_GROUPS({ NULL, options_log }),
	.words = { 0, 1 },
	.rows = OPTION_ROWS("denied allowed", "follow stats html all",
			    "dir follow lines html all list RUN", "html stats json all", "all RUN",
			    "list follow stats html denied allowed host RUN", "lines stats html",
			    "key needs verify", "verify follow lines list stats html",
			    "verify denied allowed host since until: it reads whole records"),
	.bare = true,
	.main = log_main,
};
