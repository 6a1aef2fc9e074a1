#include "cmd.h"

struct view {
	bool json;
	bool many; /* only those that are not whole are listed */
	uint64_t records, fine;
};

bool tell_left_out(const struct ab_left_out *left_out)
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

static void add_broken(struct ab_buf *b, const struct ab_chain_verdict *v)
{
	ab_buf_printf(b, "broken at line %llu", (unsigned long long)v->line);
	if (v->file[0])
		ab_buf_printf(b, " of %s", v->file);
	ab_buf_printf(b, ": %s", v->why);
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
		add_broken(b, v);
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
	struct view *view = arg;
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

static int check_options(const struct args *args, const struct ab_query *query,
			 struct ab_error *err)
{
	if (given(args, "follow") || given(args, "lines") || given(args, "list") ||
	    given(args, "stats") || given(args, "html"))
		return misuse(args, err,
			      "--verify cannot be combined with -f, -n, --list, "
			      "--stats or --html");
	if (!ab_query_empty(query))
		return misuse(args, err,
			      "--verify reads whole records: --denied, --allowed, --host, --since "
			      "and --until cannot be combined with it");
	return 0;
}

int log_verify(struct args *args, const struct ab_query *query, struct ab_error *err)
{
	struct view view = { .json = given(args, "json"),
			     .many = given(args, "all") || given(args, "dir") };
	struct ab_verify_request request = { .what = args->rest[0],
					     .all = given(args, "all"),
					     .folder = value_of(args, "dir"),
					     .keys = value_of(args, "key"),
					     .fn = show_verdict,
					     .arg = &view };
	struct ab_left_out left_out;
	bool partial;

	if (check_options(args, query, err) < 0 || ab_caller_init(&args->input, err) < 0 ||
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
