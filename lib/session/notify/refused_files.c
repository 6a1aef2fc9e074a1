#include "session/notify/refused_files.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/read/summary.h"
#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "session/notify/program_judge.h"
#include "session/notify/trace.h"

enum {
	REMEMBERED = 1024, /* the judge tells of no more */
};

enum weight {
	PLAIN,
	INCIDENTAL, /* listed only if the command failed */
	HISTORY,    /* never listed: no command fails because of it */
};

/* Patterns of one name in a path, for what programs write on their own. Order does not matter:
 * the heaviest counts. */
static const struct {
	enum weight weight;
	const char *pattern;
} incidental[] = {
	{ INCIDENTAL, "__pycache__" },
	{ INCIDENTAL, "*.pyc" },
	{ INCIDENTAL, ".cache" },
	{ INCIDENTAL, ".npm" },
	{ INCIDENTAL, "_cacache" },
	{ INCIDENTAL, "_logs" },
	{ INCIDENTAL, "_update-notifier-*" },
	{ INCIDENTAL, ".package-cache*" },
	{ INCIDENTAL, ".global-cache" },
	{ INCIDENTAL, ".terminfo" },
	{ INCIDENTAL, "configstore" },
	{ INCIDENTAL, "procps" }, /* top */
	{ INCIDENTAL, "*.lock" },
	{ INCIDENTAL, "*.lck" },
	{ INCIDENTAL, ".lock" },
	{ INCIDENTAL, "LOCK" },
	{ INCIDENTAL, ".*.sw[a-z]" }, /* vim's swap file beside a file that it shows */
	{ INCIDENTAL, ".#*" },	      /* emacs' lock */
	{ HISTORY, "*_history" },
	{ HISTORY, ".lesshs[tQ]" }, /* less renames one to the other */
	{ HISTORY, "lesshs[tQ]" },
	{ HISTORY, ".viminf*" },
	{ HISTORY, ".wget-hsts" },
	{ HISTORY, ".node_repl_*" },
};

struct row {
	bool call;
	enum weight weight;
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
	bool noticed;
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

static enum weight weigh_name(const char *name)
{
	enum weight weight = PLAIN;

	for (size_t i = 0; i < AB_COUNT(incidental); i++)
		if (incidental[i].weight > weight && fnmatch(incidental[i].pattern, name, 0) == 0)
			weight = incidental[i].weight;
	return weight;
}

static enum weight weigh_path(const char *path)
{
	enum weight weight = PLAIN;
	char name[256];

	while (*path) {
		size_t n = strcspn(path, "/");

		if (n > 0 && n < sizeof(name)) {
			enum weight one;

			memcpy(name, path, n);
			name[n] = '\0';
			one = weigh_name(name);
			if (one == HISTORY && path[n])
				one = INCIDENTAL; /* a folder, for all we know */
			weight = one > weight ? one : weight;
		}
		path += n + (path[n] == '/');
	}
	return weight;
}

bool ab_refused_is_incidental(const char *path)
{
	return weigh_path(path) != PLAIN;
}

/* Agents create these in their shared folders on their own, and work without
 * (policy/layers/profiles.c). */
static bool is_agents_own(const struct ab_note *note)
{
	const char *slash = strrchr(note->path, '/');
	const char *name = slash ? slash + 1 : note->path;

	return strcmp(note->rule, "filesystem.denyWrite") == 0 &&
	       (strcmp(name, "memory") == 0 || strcmp(name, "workflows") == 0);
}

static enum weight weigh_note(const struct ab_note *note)
{
	if (is_agents_own(note))
		return INCIDENTAL;
	/* syslog() tries it on its own, and works without. */
	if (strcmp(note->rule, "filesystem.unixDatagrams") == 0)
		return INCIDENTAL;
	if (strcmp(note->access, "write") == 0 && strcmp(note->rule, "filesystem.write") == 0)
		return weigh_path(note->path);
	return PLAIN;
}

static struct row *add_row(struct ab_refused_files *d, const struct ab_note *note)
{
	struct row *row;

	if (d->len % 16 == 0)
		d->v = ab_realloc(d->v, (d->len + 16) * sizeof(d->v[0]));
	row = &d->v[d->len++];
	*row = (struct row){
		.call = note->kind == AB_NOTE_CALL,
		.weight = weigh_note(note),
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

static void write_id(const struct ab_refused_files *d, const struct row *row, char ret[24])
{
	snprintf(ret, 24, "%s-f%" PRIu32, d->run_id, (uint32_t)(row - d->v) + 1);
}

static int write_row(struct ab_refused_files *d, const struct row *row, uint64_t repeated,
		     struct ab_error *err)
{
	struct ab_buf *line = &d->line;
	char id[24];

	write_id(d, row, id);
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
	if (row->weight != PLAIN)
		ab_record_json(line, "incidental", "true");
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

char *ab_refused_files_notice(struct ab_refused_files *d, const struct ab_note *note)
{
	char *text;
	char id[24];

	if (d->noticed || note->kind != AB_NOTE_CALL || !note->told || !d->len)
		return NULL;
	write_id(d, &d->v[d->len - 1], id);
	text = ab_namespace_notice(note->by, note->pid, id, note->rule, note->reason);
	d->noticed = text != NULL;
	return text;
}

uint64_t ab_refused_files_count(const struct ab_refused_files *d)
{
	uint64_t n = d->untold;

	for (uint32_t i = 0; i < d->len; i++)
		n += d->v[i].count;
	return n;
}

static void fill_row(const struct ab_refused_files *d, uint32_t i, struct ab_summary_row *ret)
{
	const struct row *row = &d->v[i];

	write_id(d, row, ret->id);
	ret->about = ab_strdup(row->what);
	ret->reason = ab_strdup(row->reason);
	ret->more = ab_printf("%s, pid %d", row->by, row->pid);
	ret->next = row->hint[0] ? ab_strdup(row->hint) : NULL;
}

/* One line for a group of rows without a hint. */
static void point_to_why(struct ab_summary *s)
{
	for (size_t i = 0; i < s->len; i++) {
		struct ab_summary_row *row = &s->rows[i];

		if (!row->next && (i + 1 == s->len || s->rows[i + 1].next))
			row->advice = ab_printf("what to do:  agentbox why %s", row->id);
	}
}

static void sum_up_kind(const struct ab_refused_files *d, bool call, bool all, uint64_t untold,
			const char *noun, struct ab_strv *ret)
{
	struct ab_summary summary = { .run_id = d->run_id, .rest = untold };
	uint64_t count = untold, minor = 0;
	ab_autofree char *headline = NULL;

	for (uint32_t i = 0; i < d->len; i++) {
		struct ab_summary_row *row;

		if (d->v[i].call != call)
			continue;
		count += d->v[i].count;
		if (d->v[i].weight > (all ? INCIDENTAL : PLAIN)) {
			minor += d->v[i].count;
			continue;
		}
		row = ab_summary_add(&summary, d->v[i].count);
		if (row)
			fill_row(d, i, row);
	}
	if (minor == count)
		return;
	summary.rest += minor;
	if (!call)
		point_to_why(&summary);
	headline = ab_printf("%" PRIu64 " %s%s denied", count, noun,
			     count == 1 ? " was"
			     : call	? "s were"
					: "es were");
	ab_summary_end(&summary, headline, ret);
}

void ab_refused_files_summary(const struct ab_refused_files *d, bool all, struct ab_strv *ret)
{
	sum_up_kind(d, false, all, d->untold, "file access", ret);
	sum_up_kind(d, true, all, 0, "system call", ret);
}
