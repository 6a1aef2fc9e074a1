#ifndef AB_SESSION_CONTROL_STEERING_STATE_H
#define AB_SESSION_CONTROL_STEERING_STATE_H
/* What the files of the desk share. Private to session/desk*.c. */
#include <jansson.h>

#include "base/system/loop.h"
#include "session/broker/list_wire.h"
#include "session/control/control_socket.h"
#include "session/control/open_questions.h"
#include "session/control/steering.h"
#include "session/control/thresholds.h"

struct ab_desk {
	struct ab_desk_setup setup;
	struct ab_desk_hands hands;
	struct ab_questions questions;
	struct ab_source violated;
	struct ab_monitor *monitor;
	struct ab_lists lists; /* that are in force */
	bool listed;	       /* they have been filled in */
	bool hook_failed;      /* and that was said */
	unsigned remembering;  /* rules that the broker writes down */
	struct ab_strv unsaid; /* while a question is shown; the first
					 * letter: note or warning */
	unsigned told;	       /* lines about questions, so far */
	uint64_t begun_ms;
	uint32_t ticket; /* the last one that was given out */
	/* Who waits for the proxy to have done what it was told before: in
	 * the order in which it was asked (ab_proxy_survey). */
	struct ab_control_client *surveys[64];
	size_t nsurveys;
	struct ab_control_client *reloads[64]; /* who waits for lists */
	size_t nreloads;
	struct ab_error failure; /* room, for whoever fails */
};

struct ab_proxy *ab_desk_proxy(const struct ab_desk *desk); /* or NULL */
__attribute__((format(printf, 3, 4))) void ab_desk_say(struct ab_desk *desk, bool note,
						       const char *fmt, ...);
/* A record that cannot be written is the end of the run. */
void ab_desk_record(struct ab_desk *desk, struct ab_buf *line);

/* steering.c: one question as everybody sees it; and an answer to one. */
json_t *ab_desk_question(const struct ab_desk *desk, const struct ab_open_question *question);
void ab_desk_answer(struct ab_desk *desk, uint32_t number, enum ab_answer answer, const char *by);

/* control_requests.c */
void ab_desk_asked(void *arg, struct ab_control_client *client,
		   const struct ab_control_request *request);
void ab_desk_reloaded(struct ab_desk *desk, const struct ab_broker_news *news);
/* What a question's end is to those who have answered it. */
void ab_desk_released(struct ab_desk *desk, uint32_t number, enum ab_settled how,
		      uint32_t released);

/* list_change.c: new lists, or why there are none; `cut`: close what they
 * deny. The changes are for the caller, as lines. */
int ab_desk_use_lists(struct ab_desk *desk, const struct ab_broker_news *news, bool cut,
		      struct ab_strv *ret_changes, struct ab_error *err);

/* alarms.c */
void ab_desk_violated(struct ab_source *source, uint32_t events);

#endif
