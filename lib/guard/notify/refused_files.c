#include "guard/notify/refused_files.h"

#include <fnmatch.h>
#include <inttypes.h>

#include "audit/read/summary.h"
#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "base/text/words.h"
#include "guard/notify/guard_link.h"
#include "guard/notify/trace.h"
#include "host/process/socket_owner.h"

enum {
	REMEMBERED = 1024, /* the guard tells of no more */
};

enum weight {
	PLAIN,
	INCIDENTAL, /* listed only if the command failed */
	HISTORY,    /* never listed: no command fails because of it */
};

/* Patterns of one name in a path, for what programs write on their own: top (procps), vim's swap file
 * beside a file that it shows, emacs' lock; less renames one of its files to the other. */
static const char *const patterns[] = {
	[INCIDENTAL] = "__pycache__ *.pyc .cache .npm _cacache _logs _update-notifier-* "
		       ".package-cache* .global-cache .terminfo configstore procps *.lock *.lck "
		       ".lock LOCK .*.sw[a-z] .#*",
	[HISTORY] = "*_history .lesshs[tQ] lesshs[tQ] .viminf* .wget-hsts .node_repl_*",
};

struct ab_refused_file {
	struct ab_note note; /* as it came first */
	enum weight weight;
	uint64_t count;
};

void ab_refused_files_fini(struct ab_refused_files *d)
{
	for (uint32_t i = 0; i < d->len; i++)
		free(d->v[i]);
	free(d->v);
	ab_buf_fini(&d->line);
}

/* [{"pid":3,"exe":"/usr/bin/cp","argv":["cp","a","b"]}] */
static char *process_of(const struct ab_note *note)
{
	struct ab_buf b = { 0 };

	ab_buf_puts(&b, "[");
	ab_socket_owner_describe(note->pid, note->exe, note->command, note->words,
				 note->words == sizeof(note->command) - 1, &b);
	ab_buf_puts(&b, "]");
	return ab_buf_take(&b);
}

static bool matches_one(const char *list, const char *name)
{
	const char *word;

	for (size_t n; (word = ab_word_next(&list, &n)) != NULL;) {
		ab_autofree char *pattern = ab_strndup(word, n);

		if (fnmatch(pattern, name, 0) == 0)
			return true;
	}
	return false;
}

/* The heaviest counts. */
static enum weight weigh_name(const char *name)
{
	for (enum weight weight = HISTORY; weight > PLAIN; weight--)
		if (matches_one(patterns[weight], name))
			return weight;
	return PLAIN;
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
	const char *name = ab_path_name(note->path);

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

static uint32_t add_row(struct ab_refused_files *d, const struct ab_note *note)
{
	struct ab_refused_file *row = ab_alloc(sizeof(*row));

	*row = (struct ab_refused_file){ .note = *note, .weight = weigh_note(note), .count = 1 };
	*ab_append(d->v, d->len) = row;
	return d->len;
}

/* Rows are numbered from 1. */
static void write_id(const struct ab_refused_files *d, uint32_t number, char ret[24])
{
	snprintf(ret, 24, "%s-f%" PRIu32, d->run_id, number);
}

static int write_row(struct ab_refused_files *d, uint32_t number, uint64_t repeated,
		     struct ab_error *err)
{
	const struct ab_refused_file *row = d->v[number - 1];
	const struct ab_note *note = &row->note;
	ab_autofree char *process = process_of(note);
	struct ab_buf *line = &d->line;
	char id[24];

	write_id(d, number, id);
	ab_record_open(line, d->run_id, "violation");
	ab_buf_jsonf(line,
		     ",'id':%s,'door':%s,'path':%s,'access':%s,'call':%s,'allowed':false,'rule':%s,"
		     "'reason':%s?,'hint':%s?,'incidental':%-s,'process':%-s",
		     id, note->kind == AB_NOTE_CALL ? "call" : "file", ab_text_or_null(note->path),
		     ab_text_or_null(note->access), ab_text_or_null(note->call), note->rule,
		     note->reason, ab_text_or_null(note->hint),
		     row->weight != PLAIN ? "true" : NULL, process);
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
	ab_buf_jsonf(line, ",'id':null,'door':'file','allowed':false,'repeated':%ju", n);
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
		if (note->number == 0 || note->number > d->len)
			return result;
		d->v[note->number - 1]->count += note->times;
		return write_row(d, note->number, note->times, err) < 0 ? -1 : result;
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
	write_id(d, d->len, id);
	text = ab_namespace_notice(note->by, note->pid, id, note->rule, note->reason);
	d->noticed = text != NULL;
	return text;
}

uint64_t ab_refused_files_count(const struct ab_refused_files *d)
{
	uint64_t n = d->untold;

	for (uint32_t i = 0; i < d->len; i++)
		n += d->v[i]->count;
	return n;
}

static void fill_row(const struct ab_refused_files *d, uint32_t i, struct ab_summary_row *ret)
{
	const struct ab_note *note = &d->v[i]->note;
	bool call = note->kind == AB_NOTE_CALL;
	ab_autofree char *what = ab_escape(call ? note->call : note->path);
	ab_autofree char *by = ab_escape(note->by);

	write_id(d, i + 1, ret->id);
	ret->about = ab_printf("%s%s%s", call ? "" : note->access, call ? "" : " ", what);
	ret->reason = ab_strdup(note->reason);
	ret->more = ab_printf("%s, pid %d", by, note->pid);
	ret->next = note->hint[0] ? ab_strdup(note->hint) : NULL;
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
		const struct ab_refused_file *r = d->v[i];
		struct ab_summary_row *row;

		if ((r->note.kind == AB_NOTE_CALL) != call)
			continue;
		count += r->count;
		if (r->weight > (all ? INCIDENTAL : PLAIN)) {
			minor += r->count;
			continue;
		}
		row = ab_summary_add(&summary, r->count);
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
