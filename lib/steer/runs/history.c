#include "steer/runs/history.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "audit/read/details.h"
#include "audit/read/query.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
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
	size_t len, room;
};

enum { KIND, RUN, TIME, NAME, CWD, COMMAND, STATUS, MS, TIMED_OUT, REQUESTS, FILES, MEMBERS };

static const char *const members[MEMBERS] = {
	[KIND] = "kind",
	[RUN] = "run_id",
	[TIME] = "timestamp",
	[NAME] = "name",
	[CWD] = "cwd",
	[COMMAND] = "command",
	[STATUS] = "status",
	[MS] = "ms",
	[TIMED_OUT] = "timed_out",
	[REQUESTS] = "requests_denied",
	[FILES] = "files_denied",
};

struct ab_history *ab_history_new(void)
{
	return ab_alloc(sizeof(struct ab_history));
}

void ab_history_free(struct ab_history *history)
{
	if (!history)
		return;
	for (size_t i = 0; i < history->len; i++) {
		free(history->rows[i].name);
		free(history->rows[i].cwd);
		ab_strv_fini(&history->rows[i].command);
	}
	free(history->rows);
	free(history);
}

static void add_row(struct ab_history *h, const struct ab_detail f[MEMBERS])
{
	struct ab_detail word;
	struct row *row;
	size_t at = 0;

	if (h->len == h->room) {
		h->room = h->room ? 2 * h->room : 64;
		h->rows = ab_realloc(h->rows, h->room * sizeof(h->rows[0]));
	}
	row = &h->rows[h->len++];
	*row = (struct row){ .refused = ab_detail_is(&f[KIND], "refused") };
	ab_detail_copy(&f[RUN], row->id, sizeof(row->id));
	ab_detail_copy(&f[TIME], row->started, sizeof(row->started));
	row->name = ab_detail_dup(&f[NAME]);
	row->cwd = ab_detail_dup(&f[CWD]);
	while (f[COMMAND].kind == AB_DETAIL_NESTED && ab_detail_next(&f[COMMAND], &at, &word)) {
		ab_autofree char *text = ab_detail_dup(&word);

		ab_strv_add(&row->command, text ? text : "");
	}
}

static void end_row(struct row *row, const struct ab_detail f[MEMBERS])
{
	row->ended = true;
	row->status = ab_detail_number(&f[STATUS], -1);
	row->ms = ab_detail_number(&f[MS], -1);
	row->timed_out = f[TIMED_OUT].kind == AB_DETAIL_TRUE;
	row->denied = ab_detail_number(&f[REQUESTS], 0) + ab_detail_number(&f[FILES], 0);
}

bool ab_history_add(struct ab_history *history, const char *line, size_t len)
{
	struct ab_detail f[MEMBERS];
	struct row *row = history->len ? &history->rows[history->len - 1] : NULL;

	if (ab_details_find(line, len, members, MEMBERS, f) < 0)
		return false;
	if (ab_detail_is(&f[KIND], "start") || ab_detail_is(&f[KIND], "refused")) {
		add_row(history, f);
		return true;
	}
	if (row && ab_detail_is(&f[KIND], "end") && ab_detail_is(&f[RUN], row->id))
		end_row(row, f);
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

static void put_result(struct ab_buf *b, const struct row *row)
{
	ab_buf_puts(b, name_result(row));
	if (row->ended && !row->timed_out && row->status >= 0)
		ab_buf_printf(b, " %lld", (long long)row->status);
}

static void put_id(struct ab_buf *b, const struct row *row)
{
	ab_buf_escape(b, row->id);
}

static void put_name(struct ab_buf *b, const struct row *row)
{
	ab_buf_escape(b, row->name ? row->name : "-");
}

static void put_started(struct ab_buf *b, const struct row *row)
{
	char local[AB_LOCAL_ROOM];

	ab_buf_escape(b, ab_time_local(row->started, local));
}

static void put_time(struct ab_buf *b, const struct row *row)
{
	if (!row->ended || row->ms < 0)
		ab_buf_puts(b, "-");
	else if (row->ms < 1000)
		ab_buf_printf(b, "%lldms", (long long)row->ms);
	else if (row->ms < 60000)
		ab_buf_printf(b, "%.1fs", (double)row->ms / 1000);
	else
		ab_buf_printf(b, "%lldm%02llds", (long long)(row->ms / 60000),
			      (long long)(row->ms / 1000 % 60));
}

static void put_denied(struct ab_buf *b, const struct row *row)
{
	if (row->ended)
		ab_buf_printf(b, "%lld", (long long)row->denied);
	else
		ab_buf_puts(b, "-");
}

static void put_command(struct ab_buf *b, const struct row *row)
{
	ab_autobuf struct ab_buf words = { 0 };

	ab_quote_argv(&words, (const char *const *)row->command.v, row->command.len);
	if (words.data)
		ab_buf_escape_n(b, words.data, words.len);
}

/* The last column takes the rest of the line. */
static const struct {
	struct ab_table_column column;
	void (*put)(struct ab_buf *b, const struct row *row);
} columns_all[] = {
	{ { "BOX", false }, put_id },	       { { "NAME", false }, put_name },
	{ { "START", false }, put_started },   { { "TIME", true }, put_time },
	{ { "RESULT", false }, put_result },   { { "DENIED", true }, put_denied },
	{ { "COMMAND", false }, put_command },
};

static size_t count_rows(const struct ab_history *h, size_t most)
{
	return most && most < h->len ? most : h->len;
}

char *ab_history_text(const struct ab_history *history, size_t most, size_t columns)
{
	enum { COLUMNS = AB_COUNT(columns_all), NAMES = 1 };
	ab_autostrv struct ab_strv cells = { 0 };
	struct ab_table_column titles[COLUMNS];
	bool hidden[COLUMNS] = { [NAMES] = true };
	struct ab_table table = { .columns = titles,
				  .ncolumns = COLUMNS,
				  .hidden = hidden,
				  .nrows = count_rows(history, most) };

	for (size_t k = 0; k < COLUMNS; k++)
		titles[k] = columns_all[k].column;
	for (size_t i = 0; i < table.nrows; i++) {
		const struct row *row = &history->rows[history->len - 1 - i];

		hidden[NAMES] &= !row->name;
		for (size_t k = 0; k < COLUMNS; k++) {
			struct ab_buf cell = { 0 };

			ab_buf_puts(&cell, "");
			columns_all[k].put(&cell, row);
			ab_strv_give(&cells, ab_buf_take(&cell));
		}
	}
	table.cells = cells.v;
	return ab_table_text(&table, columns);
}

static void json_number(struct ab_buf *b, const char *key, bool known, int64_t n)
{
	if (known)
		ab_buf_printf(b, ",\"%s\":%lld", key, (long long)n);
	else
		ab_buf_printf(b, ",\"%s\":null", key);
}

static void json_row(struct ab_buf *b, const struct row *row)
{
	ab_buf_puts(b, "{\"id\":");
	ab_buf_json(b, row->id);
	ab_buf_json_member(b, "name", row->name);
	ab_buf_json_member(b, "started", row->started);
	ab_buf_json_member(b, "result", name_result(row));
	json_number(b, "status", row->ended && row->status >= 0, row->status);
	json_number(b, "ms", row->ended && row->ms >= 0, row->ms);
	json_number(b, "denied", row->ended, row->denied);
	ab_buf_json_member(b, "cwd", row->cwd);
	ab_buf_puts(b, ",\"command\":");
	ab_buf_json_list(b, &row->command);
	ab_buf_puts(b, "}");
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
