#include "steer/runs/history.h"

#include "audit/read/details.h"
#include "audit/read/query.h"
#include "shell/syntax/quote.h"
#include "steer/client/table.h"

struct row {
	char id[16], started[AB_STAMP_ROOM];
	char *name, *cwd; /* or NULL */
	struct ab_strv command;
	bool active, ended, refused, timed_out;
	int64_t status, ms, denied;
};

struct ab_history {
	struct row *rows;
	size_t len;
};

/* clang-format off */
#define WANTED(X) \
	X(KIND, "kind") X(RUN, "run_id") X(TIME, "timestamp") X(NAME, "name") X(CWD, "cwd") \
	X(COMMAND, "command") X(STATUS, "status") X(MS, "ms") X(TIMED_OUT, "timed_out") \
	X(REQUESTS, "requests_denied") X(FILES, "files_denied")
/* clang-format on */
AB_MEMBERS(WANTED)

struct ab_history *ab_history_new(void)
{
	return ab_alloc(sizeof(struct ab_history));
}

void ab_history_free(struct ab_history *history)
{
	if (!history)
		return;
	for (size_t i = 0; i < history->len; i++) {
		ab_free_all(history->rows[i].name, history->rows[i].cwd);
		ab_strv_fini(&history->rows[i].command);
	}
	ab_free_all(history->rows, history);
}

static void add_run(struct ab_history *h, const struct ab_detail f[M_COUNT])
{
	struct ab_detail word;
	struct row *row;
	size_t at = 0;

	row = ab_append(h->rows, h->len);
	*row = (struct row){ .refused = ab_detail_is(&f[M_KIND], "refused") };
	ab_detail_copy(&f[M_RUN], row->id, sizeof(row->id));
	ab_detail_copy(&f[M_TIME], row->started, sizeof(row->started));
	row->name = ab_detail_dup(&f[M_NAME]);
	row->cwd = ab_detail_dup(&f[M_CWD]);
	while (f[M_COMMAND].kind == AB_DETAIL_NESTED && ab_detail_next(&f[M_COMMAND], &at, &word)) {
		ab_autofree char *text = ab_detail_dup(&word);

		ab_strv_add(&row->command, text ? text : "");
	}
}

bool ab_history_add(struct ab_history *history, const char *line, size_t len)
{
	struct ab_detail f[M_COUNT];
	struct row *row = history->len ? &history->rows[history->len - 1] : NULL;

	if (ab_details_find(line, len, members, M_COUNT, f) < 0)
		return false;
	if (ab_detail_is(&f[M_KIND], "start") || ab_detail_is(&f[M_KIND], "refused")) {
		add_run(history, f);
		return true;
	}
	if (row && ab_detail_is(&f[M_KIND], "end") && ab_detail_is(&f[M_RUN], row->id)) {
		row->ended = true;
		row->status = ab_detail_number(&f[M_STATUS], -1);
		row->ms = ab_detail_number(&f[M_MS], -1);
		row->timed_out = f[M_TIMED_OUT].kind == AB_DETAIL_TRUE;
		row->denied =
			ab_detail_number(&f[M_REQUESTS], 0) + ab_detail_number(&f[M_FILES], 0);
	}
	return false;
}

void ab_history_active(struct ab_history *history, bool active)
{
	history->rows[history->len - 1].active = active;
}

/* --- what is shown --- */

static const char *name_result(const struct row *row)
{
	if (row->refused)
		return "refused";
	if (row->timed_out)
		return "timeout";
	/* Its end was written by another process, which does not know the status. */
	if (row->ended)
		return row->status < 0 ? "killed" : "exit";
	return row->active ? "active" : "killed";
}

static const char *const titles[] = { "BOX",	"?NAME",   "START",  ">TIME",
				      "RESULT", ">DENIED", "COMMAND" };

static void add_time(struct ab_table *table, const struct row *row)
{
	if (!row->ended || row->ms < 0)
		ab_table_cell(table, NULL);
	else if (row->ms < 1000)
		ab_table_cellf(table, "%lldms", (long long)row->ms);
	else if (row->ms < 60000)
		ab_table_cellf(table, "%.1fs", (double)row->ms / 1000);
	else
		ab_table_cellf(table, "%lldm%02llds", (long long)(row->ms / 60000),
			       (long long)(row->ms / 1000 % 60));
}

static void add_row(struct ab_table *table, const struct row *row)
{
	ab_autobuf struct ab_buf words = { 0 };
	char local[AB_LOCAL_ROOM];

	ab_table_cell(table, row->id);
	ab_table_cell(table, row->name);
	ab_table_cell(table, ab_time_local(row->started, local));
	add_time(table, row);
	if (row->ended && !row->timed_out && row->status >= 0)
		ab_table_cellf(table, "%s %lld", name_result(row), (long long)row->status);
	else
		ab_table_cell(table, name_result(row));
	if (row->ended)
		ab_table_cellf(table, "%lld", (long long)row->denied);
	else
		ab_table_cell(table, NULL);
	ab_quote_argv(&words, (const char *const *)row->command.v, row->command.len);
	ab_table_cellf(table, "%s", words.data ? words.data : "");
}

static size_t count_rows(const struct ab_history *h, size_t most)
{
	return most && most < h->len ? most : h->len;
}

char *ab_history_text(const struct ab_history *history, size_t most, size_t columns)
{
	struct ab_table table = AB_TABLE(titles);

	for (size_t i = 0; i < count_rows(history, most); i++)
		add_row(&table, &history->rows[history->len - 1 - i]);
	return ab_table_text(&table, columns);
}

static void json_row(struct ab_buf *b, const struct row *row)
{
	ab_buf_jsonf(b, "{'id':%s,'name':%s,'started':%s,'result':%s", row->id, row->name,
		     row->started, name_result(row));
	ab_buf_json_number(b, "status", row->ended && row->status >= 0, row->status);
	ab_buf_json_number(b, "ms", row->ended && row->ms >= 0, row->ms);
	ab_buf_json_number(b, "denied", row->ended, row->denied);
	ab_buf_jsonf(b, ",'cwd':%s,'command':%p}", row->cwd, ab_list(&row->command));
}

char *ab_history_json(const struct ab_history *history, size_t most)
{
	struct ab_buf b = { 0 };
	size_t n = count_rows(history, most);

	ab_buf_puts(&b, "[");
	for (size_t i = 0; i < n; i++) {
		ab_buf_puts(&b, i ? "," : "");
		json_row(&b, &history->rows[history->len - 1 - i]);
	}
	ab_buf_puts(&b, "]\n");
	return ab_buf_take(&b);
}
