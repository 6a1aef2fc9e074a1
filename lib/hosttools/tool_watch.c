#include "hosttools/tool_watch.h"

#include <inttypes.h>

#include "audit/read/summary.h"
#include "audit/read/words.h"
#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "base/process/helper_watch.h"
#include "hosttools/tool_broker.h"
#include "proxy/record/events.h"

enum {
	END_MS = 10000, /* how long the supervisor waits for one more note at the end */
	WIDTH = 48,
};

struct ab_tool_watch {
	struct ab_helper_watch broker;
	struct ab_tool_watch_hands hands;
	struct ab_log *log;
	struct ab_buf line;
	struct ab_summary denied;
	struct { /* questions that are open */
		uint32_t number;
		char words[600];
	} asked[AB_TOOL_CALLS_MAX];
	unsigned nasked;
};

/* Only a missing pattern can be added. */
static char *find_advice(const struct ab_tool_note *note)
{
	if (strcmp(note->rule, "tools.allow") != 0)
		return NULL;
	return ab_printf("add a pattern to tools.%s.allow in your settings", note->tool);
}

static void count_denial(struct ab_tool_watch *w, const struct ab_tool_note *note)
{
	struct ab_summary_row *row = ab_summary_count(&w->denied, 't', note->number);
	ab_autobuf struct ab_buf about = { 0 };
	ab_autofree char *words = NULL;

	if (!row)
		return;
	words = ab_escape(note->words[0] ? note->words : "(no words)");
	ab_words_short(&about, words, WIDTH);
	row->about = ab_buf_take(&about);
	row->reason = ab_escape(note->why);
	row->advice = find_advice(note);
}

static void open_record(struct ab_tool_watch *w, const char *kind, uint32_t number)
{
	char id[24];

	snprintf(id, sizeof(id), "%s-t%" PRIu32, w->denied.run_id, number);
	ab_record_open(&w->line, w->denied.run_id, kind);
	ab_buf_jsonf(&w->line, ",'id':%s,'door':'tool'", id);
}

static void put_call(struct ab_buf *line, const struct ab_tool_note *note)
{
	ab_buf_jsonf(line, ",'tool':%s,'command':%s,'cwd':%s", note->tool, note->words,
		     ab_text_or_null(note->cwd));
}

static int write_denial(struct ab_tool_watch *w, const struct ab_tool_note *note,
			struct ab_error *err)
{
	ab_autofree char *hint = find_advice(note);
	struct ab_buf *line = &w->line;

	count_denial(w, note);
	open_record(w, "violation", note->number);
	put_call(line, note);
	ab_buf_jsonf(line, ",'allowed':false,'rule':%s,'reason':%s?,'hint':%s", note->rule,
		     note->why, hint);
	return ab_log_write(w->log, line, err);
}

static void note_question(struct ab_tool_watch *w, const struct ab_tool_note *note)
{
	if (w->nasked < AB_TOOL_CALLS_MAX) {
		w->asked[w->nasked].number = note->number;
		memcpy(w->asked[w->nasked++].words, note->words, sizeof(note->words));
	}
	if (w->hands.wants)
		w->hands.wants(w->hands.arg, note);
}

static void forget_question(struct ab_tool_watch *w, const struct ab_tool_note *note)
{
	for (unsigned i = 0; i < w->nasked; i++)
		if (w->asked[i].number == note->number) {
			w->asked[i] = w->asked[--w->nasked];
			break;
		}
	if (w->hands.settled)
		w->hands.settled(w->hands.arg, note->number, note->status);
}

static int take_note(void *arg, const void *data, struct ab_error *err)
{
	struct ab_tool_watch *w = arg;
	const struct ab_tool_note *note = data;
	struct ab_buf *line = &w->line;

	switch ((enum ab_tool_news)note->news) {
	case AB_TOOL_NEWS_DENIED:
		return write_denial(w, note, err);
	case AB_TOOL_NEWS_WAITS:
		note_question(w, note);
		return 0;
	case AB_TOOL_NEWS_SETTLED:
		forget_question(w, note);
		return 0;
	case AB_TOOL_NEWS_STARTED:
		ab_record_open(line, w->denied.run_id, "tool");
		put_call(line, note);
		ab_buf_jsonf(line, ",'allowed':true,'rule':%s,'pattern':%s,'boxed':%hhd",
			     note->rule, ab_text_or_null(note->why), (bool)!note->unconfined);
		return ab_log_write(w->log, line, err);
	case AB_TOOL_NEWS_ENDED:
		ab_record_open(line, w->denied.run_id, "tool");
		put_call(line, note);
		ab_buf_jsonf(line, ",'status':%d,'ms':%ju",
			     note->status < 0 ? 128 - note->status : note->status, note->ms);
		return ab_log_write(w->log, line, err);
	}
	return 0;
}

int ab_tool_watch_start(const struct ab_tool_broker_setup *setup, struct ab_log *log, bool strict,
			struct ab_tool_watch **ret, struct ab_error *err)
{
	struct ab_tool_watch *w = ab_alloc(sizeof(*w));

	w->log = log;
	w->denied.run_id = setup->run;
	w->broker = (struct ab_helper_watch){
		.strict = strict, .size = sizeof(struct ab_tool_note), .take = take_note, .arg = w
	};
	if (ab_tool_broker_start(setup, &w->broker.helper, err) < 0) {
		free(w);
		return -1;
	}
	*ret = w;
	return 0;
}

int ab_tool_watch_attach(struct ab_tool_watch *w, struct ab_loop *loop,
			 const struct ab_tool_watch_hands *hands, struct ab_error *err)
{
	w->hands = *hands;
	return ab_helper_watch_attach(&w->broker, loop, hands->fail, hands->arg, err);
}

void ab_tool_watch_listen(struct ab_tool_watch *w, int fd)
{
	struct ab_tool_order order = { 0 };

	/* If the broker is gone, connections of the box fail. */
	(void)ab_send_fds(w->broker.helper.sock, &order, sizeof(order), &fd, 1);
	close(fd);
}

void ab_tool_watch_answer(struct ab_tool_watch *w, uint32_t number, int answer, const char *by)
{
	static const char *const answers[] = {
		[AB_HOST_ANSWER_NO] = "no", [AB_HOST_ANSWER_ONCE] = "once", [AB_HOST_ANSWER_RUN] = "run"
	};
	struct ab_tool_order order = { .number = number, .answer = (uint32_t)answer };
	struct ab_error err = { 0 };
	unsigned i = 0;

	while (i < w->nasked && w->asked[i].number != number)
		i++;
	open_record(w, "question", number);
	ab_buf_jsonf(&w->line, ",'command':%s,'answer':%s,'by':%s",
		     ab_text_or_null(i < w->nasked ? w->asked[i].words : NULL), answers[answer],
		     by);
	if (ab_log_write(w->log, &w->line, &err) < 0)
		ab_helper_watch_failed(&w->broker, &err);
	(void)ab_send_fds(w->broker.helper.sock, &order, sizeof(order), NULL, 0);
}

void ab_tool_watch_end(struct ab_tool_watch *w)
{
	w->hands = (struct ab_tool_watch_hands){ 0 };
	ab_helper_watch_end(&w->broker);
}

int ab_tool_watch_ended(struct ab_tool_watch *w, struct ab_strv *ret_denied, struct ab_error *err)
{
	int result = ab_helper_watch_await(&w->broker, END_MS, err);

	ab_summary_denied(&w->denied, "call of host tools was", "calls of host tools were",
			  ret_denied);
	ab_buf_fini(&w->line);
	free(w);
	return result;
}
