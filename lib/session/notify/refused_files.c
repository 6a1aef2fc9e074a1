#include "session/notify/refused_files.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "session/notify/program_judge.h"

enum {
	REMEMBERED = 1024, /* the judge tells of no more */
	ROWS = 10,
};

struct row {
	bool call;
	char *what;		    /* the call, or how it is accessed and the path */
	char *path, *access, *name; /* of the call */
	char *rule, *reason, *hint, *by, *process;
	int pid;
	uint64_t count;
};

struct ab_refused_files {
	char run_id[8];
	struct ab_log *log;
	struct ab_buf line;
	struct row *v;
	uint32_t len;
	uint64_t untold;
};

struct ab_refused_files *ab_refused_files_new(const char *run_id, struct ab_log *log)
{
	struct ab_refused_files *d = ab_alloc(sizeof(*d));

	snprintf(d->run_id, sizeof(d->run_id), "%s", run_id);
	d->log = log;
	return d;
}

static void free_row(struct row *row)
{
	free(row->what);
	free(row->path);
	free(row->access);
	free(row->name);
	free(row->rule);
	free(row->reason);
	free(row->hint);
	free(row->by);
	free(row->process);
}

void ab_refused_files_free(struct ab_refused_files *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; i < d->len; i++)
		free_row(&d->v[i]);
	free(d->v);
	ab_buf_fini(&d->line);
	free(d);
}

/* [{"pid":3,"exe":"/usr/bin/cp","argv":["cp","a","b"]}] */
static char *process_of(const struct ab_note *note)
{
	struct ab_buf b = { 0 };
	const char *word = note->command, *end = word + note->words;

	ab_buf_printf(&b, "[{\"pid\":%d,\"exe\":", note->pid);
	ab_buf_json(&b, note->exe);
	ab_buf_puts(&b, ",\"argv\":[");
	while (word < end) {
		size_t len = strnlen(word, (size_t)(end - word));

		ab_buf_puts(&b, word > note->command ? "," : "");
		ab_buf_json_n(&b, word, len);
		word += len + 1;
	}
	ab_buf_puts(&b, "]}]");
	return ab_buf_take(&b);
}

static struct row *add_row(struct ab_refused_files *d, const struct ab_note *note)
{
	struct row *row;

	if (d->len % 16 == 0)
		d->v = ab_realloc(d->v, (d->len + 16) * sizeof(d->v[0]));
	row = &d->v[d->len++];
	*row = (struct row){
		.call = note->kind == AB_NOTE_CALL,
		.path = ab_strdup(note->path),
		.access = ab_strdup(note->access),
		.name = ab_strdup(note->call),
		.rule = ab_strdup(note->rule),
		.reason = ab_strdup(note->reason),
		.hint = ab_strdup(note->hint),
		.by = ab_escape(note->by),
		.process = process_of(note),
		.pid = note->pid,
		.count = 1,
	};
	if (row->call) {
		row->what = ab_escape(note->call);
	} else {
		ab_autofree char *path = ab_escape(note->path);

		row->what = ab_printf("%s %s", note->access, path);
	}
	return row;
}

static int write_row(struct ab_refused_files *d, const struct row *row, uint64_t repeated,
		     struct ab_error *err)
{
	struct ab_buf *line = &d->line;
	char id[24];

	snprintf(id, sizeof(id), "%s-f%" PRIu32, d->run_id, (uint32_t)(row - d->v) + 1);
	ab_record_open(line, d->run_id, "violation");
	ab_record_text(line, "id", id);
	ab_record_text(line, "door", row->call ? "call" : "file");
	ab_record_maybe(line, "path", row->path);
	ab_record_maybe(line, "access", row->access);
	ab_record_maybe(line, "call", row->name);
	ab_record_json(line, "allowed", "false");
	ab_record_text(line, "rule", row->rule);
	ab_record_text(line, "reason", row->reason);
	if (row->hint[0])
		ab_record_text(line, "hint", row->hint);
	ab_record_json(line, "process", row->process);
	if (repeated)
		ab_record_number(line, "repeated", (int64_t)repeated);
	return ab_log_write(d->log, line, err);
}

/* Refused, and which is not known. */
static int write_untold(struct ab_refused_files *d, uint64_t n, struct ab_error *err)
{
	struct ab_buf *line = &d->line;

	d->untold += n;
	ab_record_open(line, d->run_id, "violation");
	ab_record_maybe(line, "id", NULL);
	ab_record_text(line, "door", "file");
	ab_record_json(line, "allowed", "false");
	ab_record_number(line, "repeated", (int64_t)n);
	return ab_log_write(d->log, line, err);
}

int ab_refused_files_take(struct ab_refused_files *d, const struct ab_note *note,
			  struct ab_error *err)
{
	int result = 0;

	if (note->before)
		result = write_untold(d, note->before, err);
	if (!note->told)
		return result;
	if (note->kind == AB_NOTE_AGAIN) {
		struct row *row;

		if (note->number == 0 || note->number > d->len)
			return result;
		row = &d->v[note->number - 1];
		row->count += note->times;
		return write_row(d, row, note->times, err) < 0 ? -1 : result;
	}
	if (d->len == REMEMBERED)
		return result;
	return write_row(d, add_row(d, note), 0, err) < 0 ? -1 : result;
}

uint64_t ab_refused_files_count(const struct ab_refused_files *d)
{
	uint64_t n = d->untold;

	for (uint32_t i = 0; i < d->len; i++)
		n += d->v[i].count;
	return n;
}

/* The columns: ids, what, reasons. */
static void show_row(const struct ab_refused_files *d, uint32_t i, const int width[3],
		     struct ab_strv *ret)
{
	const struct row *row = &d->v[i];
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_printf(&b, "  %s-f%" PRIu32, d->run_id, i + 1);
	ab_buf_printf(&b, "%*s  %-*s  %-*s  ", width[0] - (int)b.len, "", width[1], row->what,
		      width[2], row->reason);
	ab_buf_printf(&b, "%s, pid %d", row->by, row->pid);
	if (row->count > 1)
		ab_buf_printf(&b, ", %" PRIu64 " times", row->count);
	ab_strv_add(ret, b.data);
}

/* What allows several in a row is said once, below them. */
static void show_hint(const char *hint, int ids, struct ab_strv *ret)
{
	if (hint[0])
		ab_strv_addf(ret, "%*s  allow it next time:  %s", ids, "", hint);
}

/* The rows of one kind. */
static void sum_up(const struct ab_refused_files *d, bool call, uint64_t untold, const char *one,
		   const char *many, struct ab_strv *ret)
{
	uint64_t count = untold, shown = 0;
	uint32_t rows = 0, last = 0;
	int width[3] = { 0 };
	const char *hint = "";

	for (uint32_t i = 0; i < d->len; i++) {
		if (d->v[i].call != call)
			continue;
		count += d->v[i].count;
		if (rows++ >= ROWS)
			continue;
		shown += d->v[i].count;
		last = i + 1;
		ab_strv_widen(&width[1], d->v[i].what);
		ab_strv_widen(&width[2], d->v[i].reason);
	}
	if (!count)
		return;
	ab_strv_addf(ret, "%" PRIu64 " %s refused", count, count == 1 ? one : many);
	width[0] = snprintf(NULL, 0, "  %s-f%" PRIu32, d->run_id, last);
	for (uint32_t i = 0; i < last; i++) {
		if (d->v[i].call != call)
			continue;
		if (strcmp(d->v[i].hint, hint) != 0)
			show_hint(hint, width[0], ret);
		hint = d->v[i].hint;
		show_row(d, i, width, ret);
	}
	show_hint(hint, width[0], ret);
	if (count > shown)
		ab_strv_addf(ret, "  and %" PRIu64 " more: agentbox log %s --denied", count - shown,
			     d->run_id);
}

void ab_refused_files_summary(const struct ab_refused_files *d, struct ab_strv *ret)
{
	sum_up(d, false, d->untold, "access to a file was", "accesses to files were", ret);
	sum_up(d, true, 0, "system call was", "system calls were", ret);
}
