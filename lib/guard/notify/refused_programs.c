#include "guard/notify/refused_programs.h"

#include <inttypes.h>

#include "audit/read/summary.h"
#include "audit/read/words.h"
#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "guard/notify/guard_link.h"
#include "guard/notify/refused_files.h"
#include "shell/command/rules.h"

enum {
	REMEMBERED = 64, /* a later one gets a new number each time */
	WIDTH = 40,	 /* of a command that is shown */
};

struct ab_refused_programs {
	struct ab_log *log;
	bool strict;
	struct ab_buf line;
	struct ab_strv known; /* "RULE COMMAND": the number is the index + 1 */
	uint32_t last;
	uint64_t count; /* of all */
	struct ab_summary denied;
	struct ab_refused_files denials; /* of files and calls */
};

struct ab_refused_programs *ab_refused_programs_new(const char *run_id, struct ab_log *log,
						    bool strict)
{
	struct ab_refused_programs *r = ab_alloc(sizeof(*r));

	r->denied.run_id = run_id;
	r->log = log;
	r->strict = strict;
	r->denials = (struct ab_refused_files){ .run_id = run_id, .log = log };
	return r;
}

void ab_refused_programs_free(struct ab_refused_programs *r)
{
	if (!r)
		return;
	ab_strv_fini(&r->known);
	ab_summary_fini(&r->denied);
	ab_refused_files_fini(&r->denials);
	ab_buf_fini(&r->line);
	free(r);
}

static uint32_t find_number(struct ab_refused_programs *r, const struct ab_note *note)
{
	ab_autofree char *key = ab_printf("%s %s", note->rule, note->command);

	for (uint32_t i = 0; i < r->known.len; i++)
		if (strcmp(r->known.v[i], key) == 0)
			return i + 1;
	if (r->known.len < REMEMBERED)
		ab_strv_add(&r->known, key);
	return ++r->last;
}

static void fill_row(struct ab_summary_row *row, const struct ab_note *note)
{
	ab_autobuf struct ab_buf reason = { 0 }, about = { 0 };
	enum ab_rule_id known;

	ab_words_short(&about, note->command[0] ? note->command : note->by, WIDTH);
	row->about = note->command[0] ? ab_buf_take(&about)
				      : ab_printf("(started by %s)", about.len ? about.data : "?");
	ab_words_clause(&reason, note->reason);
	row->reason = ab_buf_take(&reason);
	row->more = note->rule[0] ? ab_printf("rule %s", note->rule) : NULL;
	row->next = note->decision == AB_ESCALATED ? ab_strdup("agentbox run --yes -- ...") : NULL;
	if (ab_rule_find(note->rule, strlen(note->rule), &known))
		row->always =
			ab_printf("agentbox config set commands.override.%s sandboxed", note->rule);
}

/* Its number. */
static uint32_t remember(struct ab_refused_programs *r, const struct ab_note *note)
{
	uint32_t number = find_number(r, note);
	struct ab_summary_row *row = ab_summary_count(&r->denied, 'e', number);

	if (row)
		fill_row(row, note);
	return number;
}

static int take_exec(struct ab_refused_programs *r, const struct ab_note *note,
		     struct ab_error *err)
{
	struct ab_buf *line = &r->line;
	char id[24] = "";

	r->count += note->before + (note->told != 0);
	r->denied.rest += note->before;
	if (note->told)
		snprintf(id, sizeof(id), "%s-e%" PRIu32, r->denied.run_id, remember(r, note));
	ab_record_open(line, r->denied.run_id, "exec");
	ab_buf_jsonf(line,
		     ",'id':%s,'command':%s?,'command_cut':%-s,'path':%s,'by':%s,'allowed':false"
		     "?,'decision':%s,'rule':%s?,'reason':%s",
		     ab_text_or_null(id), ab_text_or_null(note->command), note->cut ? "true" : NULL,
		     ab_text_or_null(note->path), ab_text_or_null(note->by),
		     note->told ? ab_decision_names[note->decision] : NULL,
		     ab_text_or_null(note->rule), note->told ? note->reason : NULL);
	if (note->before)
		ab_record_number(line, "repeated", (int64_t)note->before);
	return ab_log_write(r->log, line, err);
}

static int take_note(struct ab_refused_programs *r, const struct ab_note *note,
		     struct ab_error *err)
{
	switch (note->kind) {
	case AB_NOTE_EXEC:
		return take_exec(r, note, err);
	case AB_NOTE_PROGRAM:
		ab_record_open(&r->line, r->denied.run_id, "program");
		ab_record_text(&r->line, "path", note->path);
		return ab_log_write(r->log, &r->line, err);
	default:
		return ab_refused_files_take(&r->denials, note, err);
	}
}

int ab_refused_programs_take(struct ab_refused_programs *r, const struct ab_note *note,
			     struct ab_error *err)
{
	return take_note(r, note, err) < 0 && r->strict ? -1 : 0;
}

char *ab_refused_programs_notice(struct ab_refused_programs *r, const struct ab_note *note)
{
	return ab_refused_files_notice(&r->denials, note);
}

uint64_t ab_refused_programs_others(const struct ab_refused_programs *r)
{
	return ab_refused_files_count(&r->denials);
}

uint64_t ab_refused_programs_count(const struct ab_refused_programs *r)
{
	return r->count;
}

void ab_refused_programs_summary(struct ab_refused_programs *r, bool all, struct ab_strv *ret)
{
	ab_summary_denied(&r->denied, "program was", "programs were", ret);
	ab_refused_files_summary(&r->denials, all, ret);
}
