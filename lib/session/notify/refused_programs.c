#include "session/notify/refused_programs.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "session/notify/program_judge.h"
#include "session/notify/refused_files.h"
#include "shell/command/rules.h"

enum {
	REMEMBERED = 64, /* a later one gets a new number each time */
	ROWS = 10,
	WIDTH = 40, /* of a command that is shown */
};

struct row {
	char *command, *rule, *reason, *by;
	bool escalated;
	uint64_t count;
};

struct ab_refused_programs {
	char run_id[8];
	struct ab_log *log;
	bool strict;
	struct ab_buf line;
	struct row v[REMEMBERED];
	uint32_t len, last;
	uint64_t count;
	struct ab_refused_files *denials; /* of files and calls */
};

struct ab_refused_programs *ab_refused_programs_new(const char *run_id, struct ab_log *log,
						    bool strict)
{
	struct ab_refused_programs *r = ab_alloc(sizeof(*r));

	snprintf(r->run_id, sizeof(r->run_id), "%s", run_id);
	r->log = log;
	r->strict = strict;
	r->denials = ab_refused_files_new(run_id, log);
	return r;
}

void ab_refused_programs_free(struct ab_refused_programs *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->len; i++) {
		free(r->v[i].command);
		free(r->v[i].rule);
		free(r->v[i].reason);
		free(r->v[i].by);
	}
	ab_refused_files_free(r->denials);
	ab_buf_fini(&r->line);
	free(r);
}

/* Its number. */
static uint32_t remember(struct ab_refused_programs *r, const struct ab_note *note)
{
	uint32_t i = 0;

	while (i < r->len && (strcmp(r->v[i].rule, note->rule) != 0 ||
			      strcmp(r->v[i].command, note->command) != 0))
		i++;
	if (i < r->len) {
		r->v[i].count++;
		return i + 1;
	}
	if (r->len < REMEMBERED)
		r->v[r->len++] = (struct row){
			.command = ab_strdup(note->command),
			.rule = ab_strdup(note->rule),
			.reason = ab_strdup(note->reason),
			.by = ab_strdup(note->by),
			.escalated = note->decision == AB_ESCALATED,
			.count = 1,
		};
	return ++r->last;
}

static int take_exec(struct ab_refused_programs *r, const struct ab_note *note,
		     struct ab_error *err)
{
	struct ab_buf *line = &r->line;
	char id[24] = "";

	r->count += note->before + (note->told != 0);
	if (note->told)
		snprintf(id, sizeof(id), "%s-e%" PRIu32, r->run_id, remember(r, note));
	ab_record_open(line, r->run_id, "exec");
	ab_record_maybe(line, "id", id);
	ab_record_maybe(line, "command", note->command);
	if (note->cut)
		ab_record_json(line, "command_cut", "true");
	ab_record_maybe(line, "path", note->path);
	ab_record_maybe(line, "by", note->by);
	ab_record_json(line, "allowed", "false");
	if (note->told)
		ab_record_text(line, "decision", ab_decision_names[note->decision]);
	ab_record_maybe(line, "rule", note->rule);
	if (note->told)
		ab_record_text(line, "reason", note->reason);
	if (note->before)
		ab_record_number(line, "repeated", (int64_t)note->before);
	return ab_log_write(r->log, line, err);
}

static int take_program(struct ab_refused_programs *r, const struct ab_note *note,
			struct ab_error *err)
{
	ab_record_open(&r->line, r->run_id, "program");
	ab_record_text(&r->line, "path", note->path);
	return ab_log_write(r->log, &r->line, err);
}

static int take(struct ab_refused_programs *r, const struct ab_note *note, struct ab_error *err)
{
	switch (note->kind) {
	case AB_NOTE_EXEC:
		return take_exec(r, note, err);
	case AB_NOTE_PROGRAM:
		return take_program(r, note, err);
	default:
		return ab_refused_files_take(r->denials, note, err);
	}
}

int ab_refused_programs_take(struct ab_refused_programs *r, const struct ab_note *note,
			     struct ab_error *err)
{
	return take(r, note, err) < 0 && r->strict ? -1 : 0;
}

uint64_t ab_refused_programs_others(const struct ab_refused_programs *r)
{
	return ab_refused_files_count(r->denials);
}

uint64_t ab_refused_programs_count(const struct ab_refused_programs *r)
{
	return r->count;
}

/* "Publishes commits." in the middle of a line: "publishes commits". */
static void add_clause(struct ab_buf *b, const char *sentence)
{
	size_t at = b->len;

	ab_buf_escape(b, sentence);
	if (b->len > at + 1 && b->data[b->len - 1] == '.')
		b->data[--b->len] = '\0';
	if (b->len > at + 1 && isupper((unsigned char)b->data[at]) &&
	    !isupper((unsigned char)b->data[at + 1]))
		b->data[at] = (char)tolower((unsigned char)b->data[at]);
}

/* Bytes that can be shown, cut where there are too many. */
static char *shown(const struct row *row)
{
	ab_autofree char *all = ab_escape(row->command);
	ab_autofree char *by = ab_escape(row->by);
	size_t n = 0, step;

	if (!all[0])
		return ab_printf("(asked for by %s)", by);
	if (strlen(all) <= WIDTH)
		return ab_take(all);
	while ((step = ab_printable(all + n, strlen(all + n))) > 0 && n + step <= WIDTH - 3)
		n += step;
	return ab_printf("%.*s...", (int)n, all);
}

static void add_row(const struct ab_refused_programs *r, uint32_t i, int width, struct ab_strv *ret)
{
	const struct row *row = &r->v[i];
	ab_autofree char *command = shown(row);
	ab_autobuf struct ab_buf b = { 0 };
	enum ab_rule_id known;
	int ids = snprintf(NULL, 0, "  %s-e%" PRIu32, r->run_id, r->len);

	ab_buf_printf(&b, "  %s-e%" PRIu32, r->run_id, i + 1);
	ab_buf_printf(&b, "%*s  %-*s  ", ids - (int)b.len, "", width, command);
	add_clause(&b, row->reason);
	if (row->rule[0])
		ab_buf_printf(&b, "     rule %s", row->rule);
	if (row->count > 1)
		ab_buf_printf(&b, ", %" PRIu64 " times", row->count);
	ab_strv_add(ret, b.data);
	if (row->escalated)
		ab_strv_addf(ret,
			     "%*s  allow it next time:  agentbox run --yes "
			     "-- ...",
			     ids, "");
	if (ab_rule_find(row->rule, strlen(row->rule), &known))
		ab_strv_addf(ret,
			     "%*s  allow it always:     { \"commands\": { "
			     "\"override\": { \"%s\": \"sandboxed\" } } } "
			     "in ~/.config/agentbox/config.json",
			     ids, "", row->rule);
}

static void sum_up(const struct ab_refused_programs *r, struct ab_strv *ret)
{
	uint32_t rows = r->len < ROWS ? r->len : ROWS;
	uint64_t counted = 0;
	int width = 0;

	if (r->count == 0)
		return;
	ab_strv_addf(ret, "%" PRIu64 " program%s not executed", r->count,
		     r->count == 1 ? " was" : "s were");
	for (uint32_t i = 0; i < rows; i++) {
		ab_autofree char *command = shown(&r->v[i]);

		if ((int)strlen(command) > width)
			width = (int)strlen(command);
	}
	for (uint32_t i = 0; i < rows; i++) {
		add_row(r, i, width, ret);
		counted += r->v[i].count;
	}
	if (r->count > counted)
		ab_strv_addf(ret, "  and %" PRIu64 " more: agentbox log %s --denied",
			     r->count - counted, r->run_id);
}

void ab_refused_programs_summary(const struct ab_refused_programs *r, struct ab_strv *ret)
{
	sum_up(r, ret);
	ab_refused_files_summary(r->denials, ret);
}
