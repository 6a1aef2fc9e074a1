#include "session/tools/tool_records.h"

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
#include "proxy/record/events.h"
#include "session/tools/tool_broker.h"

enum { WIDTH = 48 };

struct row {
	uint32_t number;
	char *about, *reason, *advice;
	uint64_t count;
};

struct ab_tool_records {
	char run_id[8];
	struct ab_log *log;
	struct ab_buf line;
	struct row v[AB_SUMMARY_ROWS];
	uint32_t len;
	uint64_t count;
	struct { /* questions that are open */
		uint32_t number;
		char words[600];
	} asked[AB_TOOL_CALLS_MAX];
	unsigned nasked;
};

struct ab_tool_records *ab_tool_records_new(const char *run_id, struct ab_log *log)
{
	struct ab_tool_records *r = ab_alloc(sizeof(*r));

	snprintf(r->run_id, sizeof(r->run_id), "%s", run_id);
	r->log = log;
	return r;
}

void ab_tool_records_free(struct ab_tool_records *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->len; i++) {
		free(r->v[i].about);
		free(r->v[i].reason);
		free(r->v[i].advice);
	}
	ab_buf_fini(&r->line);
	free(r);
}

/* Only a missing pattern can be added. */
static char *find_advice(const struct ab_tool_note *note)
{
	if (strcmp(note->rule, "tools.allow") != 0)
		return NULL;
	return ab_printf("add a pattern to tools.%s.allow in your settings", note->tool);
}

static void count_denial(struct ab_tool_records *r, const struct ab_tool_note *note)
{
	struct row *row = r->v;

	r->count++;
	while (row < r->v + r->len && row->number != note->number)
		row++;
	if (row == r->v + AB_SUMMARY_ROWS)
		return;
	row->count++;
	if (row < r->v + r->len)
		return;
	r->len++;
	row->number = note->number;
	row->about = ab_escape(note->words[0] ? note->words : "(no words)");
	row->reason = ab_escape(note->why);
	row->advice = find_advice(note);
}

static void put_call(struct ab_buf *line, const struct ab_tool_note *note)
{
	ab_record_text(line, "tool", note->tool);
	ab_record_text(line, "command", note->words);
	ab_record_maybe(line, "cwd", note->cwd);
}

static int write_denial(struct ab_tool_records *r, const struct ab_tool_note *note,
			struct ab_error *err)
{
	ab_autofree char *hint = find_advice(note);
	struct ab_buf *line = &r->line;
	char id[24];

	count_denial(r, note);
	snprintf(id, sizeof(id), "%s-t%" PRIu32, r->run_id, note->number);
	ab_record_open(line, r->run_id, "violation");
	ab_record_text(line, "id", id);
	ab_record_text(line, "door", "tool");
	put_call(line, note);
	ab_record_json(line, "allowed", "false");
	ab_record_text(line, "rule", note->rule);
	ab_record_text(line, "reason", note->why);
	if (hint)
		ab_record_text(line, "hint", hint);
	return ab_log_write(r->log, line, err);
}

static void note_question(struct ab_tool_records *r, const struct ab_tool_note *note)
{
	if (r->nasked == AB_TOOL_CALLS_MAX)
		return;
	r->asked[r->nasked].number = note->number;
	memcpy(r->asked[r->nasked++].words, note->words, sizeof(note->words));
}

static void forget_question(struct ab_tool_records *r, uint32_t number)
{
	for (unsigned i = 0; i < r->nasked; i++)
		if (r->asked[i].number == number) {
			r->asked[i] = r->asked[--r->nasked];
			return;
		}
}

int ab_tool_records_answer(struct ab_tool_records *r, uint32_t number, int answer, const char *by,
			   struct ab_error *err)
{
	static const char *const answers[] = {
		[AB_HOST_ANSWER_NO] = "no", [AB_HOST_ANSWER_ONCE] = "once", [AB_HOST_ANSWER_RUN] = "run"
	};
	struct ab_buf *line = &r->line;
	unsigned i = 0;
	char id[24];

	while (i < r->nasked && r->asked[i].number != number)
		i++;
	snprintf(id, sizeof(id), "%s-t%" PRIu32, r->run_id, number);
	ab_record_open(line, r->run_id, "question");
	ab_record_text(line, "id", id);
	ab_record_text(line, "door", "tool");
	ab_record_maybe(line, "command", i < r->nasked ? r->asked[i].words : NULL);
	ab_record_text(line, "answer", answers[answer]);
	ab_record_text(line, "by", by);
	return ab_log_write(r->log, line, err);
}

int ab_tool_records_take(struct ab_tool_records *r, const struct ab_tool_note *note,
			 struct ab_error *err)
{
	struct ab_buf *line = &r->line;

	switch ((enum ab_tool_news)note->news) {
	case AB_TOOL_NEWS_DENIED:
		return write_denial(r, note, err);
	case AB_TOOL_NEWS_WAITS:
		note_question(r, note);
		return 0;
	case AB_TOOL_NEWS_SETTLED:
		forget_question(r, note->number);
		return 0;
	case AB_TOOL_NEWS_STARTED:
		ab_record_open(line, r->run_id, "tool");
		put_call(line, note);
		ab_record_json(line, "allowed", "true");
		ab_record_text(line, "rule", note->rule);
		ab_record_maybe(line, "pattern", note->why);
		ab_record_json(line, "boxed", note->unconfined ? "false" : "true");
		return ab_log_write(r->log, line, err);
	case AB_TOOL_NEWS_ENDED:
		ab_record_open(line, r->run_id, "tool");
		put_call(line, note);
		ab_record_number(line, "status",
				 note->status < 0 ? 128 - note->status : note->status);
		ab_record_number(line, "ms", (int64_t)note->ms);
		return ab_log_write(r->log, line, err);
	}
	return 0;
}

void ab_tool_records_summary(const struct ab_tool_records *r, struct ab_strv *ret)
{
	struct ab_summary summary = { .run_id = r->run_id, .rest = r->count };
	ab_autofree char *headline =
		ab_printf("%" PRIu64 " call%s of host tools %s denied", r->count,
			  r->count == 1 ? "" : "s", r->count == 1 ? "was" : "were");

	for (uint32_t i = 0; i < r->len; i++) {
		struct ab_summary_row *row;
		ab_autobuf struct ab_buf about = { 0 };

		summary.rest -= r->v[i].count;
		row = ab_summary_add(&summary, r->v[i].count);
		snprintf(row->id, sizeof(row->id), "%s-t%" PRIu32, r->run_id, r->v[i].number);
		ab_words_short(&about, r->v[i].about, WIDTH);
		row->about = ab_buf_take(&about);
		row->reason = ab_strdup(r->v[i].reason);
		row->advice = ab_strdup(r->v[i].advice);
	}
	ab_summary_end(&summary, headline, ret);
}
