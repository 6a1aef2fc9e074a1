#include "session/notify/refused_programs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/read/summary.h"
#include "audit/read/words.h"
#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "session/notify/program_judge.h"
#include "session/notify/refused_files.h"
#include "shell/command/rules.h"

enum {
	REMEMBERED = 64, /* a later one gets a new number each time */
	WIDTH = 40,	 /* of a command that is shown */
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

static int take_note(struct ab_refused_programs *r, const struct ab_note *note,
		     struct ab_error *err)
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
	return take_note(r, note, err) < 0 && r->strict ? -1 : 0;
}

char *ab_refused_programs_notice(struct ab_refused_programs *r, const struct ab_note *note)
{
	return ab_refused_files_notice(r->denials, note);
}

uint64_t ab_refused_programs_others(const struct ab_refused_programs *r)
{
	return ab_refused_files_count(r->denials);
}

uint64_t ab_refused_programs_count(const struct ab_refused_programs *r)
{
	return r->count;
}

static void fill_row(const struct ab_refused_programs *r, uint32_t i, struct ab_summary_row *ret)
{
	const struct row *row = &r->v[i];
	ab_autobuf struct ab_buf reason = { 0 }, about = { 0 };
	enum ab_rule_id known;

	snprintf(ret->id, sizeof(ret->id), "%s-e%" PRIu32, r->run_id, i + 1);
	ab_words_short(&about, row->command[0] ? row->command : row->by, WIDTH);
	ret->about = row->command[0] ? ab_buf_take(&about)
				     : ab_printf("(started by %s)", about.len ? about.data : "?");
	ab_words_clause(&reason, row->reason);
	ret->reason = ab_buf_take(&reason);
	ret->more = row->rule[0] ? ab_printf("rule %s", row->rule) : NULL;
	ret->next = row->escalated ? ab_strdup("agentbox run --yes -- ...") : NULL;
	if (ab_rule_find(row->rule, strlen(row->rule), &known))
		ret->always =
			ab_printf("agentbox config set commands.override.%s sandboxed", row->rule);
}

static void sum_up_programs(const struct ab_refused_programs *r, struct ab_strv *ret)
{
	struct ab_summary summary = { .run_id = r->run_id, .rest = r->count };
	ab_autofree char *headline = ab_printf("%" PRIu64 " program%s denied", r->count,
					       r->count == 1 ? " was" : "s were");

	for (uint32_t i = 0; i < r->len && i < AB_SUMMARY_ROWS; i++) {
		summary.rest -= r->v[i].count;
		fill_row(r, i, ab_summary_add(&summary, r->v[i].count));
	}
	ab_summary_end(&summary, headline, ret);
}

void ab_refused_programs_summary(const struct ab_refused_programs *r, bool all, struct ab_strv *ret)
{
	sum_up_programs(r, ret);
	ab_refused_files_summary(r->denials, all, ret);
}
