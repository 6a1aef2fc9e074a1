#ifndef AB_SESSION_CONTROL_STEERING_STATE_H
#define AB_SESSION_CONTROL_STEERING_STATE_H
/* What the files of the steering share. Private to session/steering*.c. */
#include <jansson.h>

#include "base/system/loop.h"
#include "session/broker/list_wire.h"
#include "session/control/control_socket.h"
#include "session/control/open_questions.h"
#include "session/control/steering.h"
#include "session/control/thresholds.h"

struct ab_steering {
	struct ab_steering_setup setup;
	struct ab_steering_hands hands;
	struct ab_open_questions questions;
	struct ab_source violated;
	struct ab_thresholds *monitor;
	struct ab_host_lists lists; /* that are in force */
	bool listed;		    /* they have been filled in */
	bool hook_failed;	    /* and that was said */
	unsigned remembering;	    /* rules that the broker writes down */
	struct ab_strv unsaid;	    /* while a question is shown; the first
					 * letter: note or warning */
	unsigned told;		    /* lines about questions, so far */
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

struct ab_proxy *ab_steering_proxy(const struct ab_steering *steering); /* or NULL */
__attribute__((format(printf, 3, 4))) void ab_steering_say(struct ab_steering *steering, bool note,
							   const char *fmt, ...);
/* A record that cannot be written is the end of the run. */
void ab_steering_record(struct ab_steering *steering, struct ab_buf *line);

/* steering.c: one question as everybody sees it; and an answer to one. */
json_t *ab_steering_question(const struct ab_steering *steering,
			     const struct ab_open_question *question);
void ab_steering_answer(struct ab_steering *steering, uint32_t number, enum ab_answer answer,
			const char *by);

/* control_requests.c */
void ab_steering_asked(void *arg, struct ab_control_client *client,
		       const struct ab_control_request *request);
void ab_steering_reloaded(struct ab_steering *steering, const struct ab_broker_news *news);
/* What a question's end is to those who have answered it. */
void ab_steering_released(struct ab_steering *steering, uint32_t number, enum ab_settled how,
			  uint32_t released);

/* list_change.c: new lists, or why there are none; `cut`: close what they
 * deny. The changes are for the caller, as lines. */
int ab_steering_use_lists(struct ab_steering *steering, const struct ab_broker_news *news, bool cut,
			  struct ab_strv *ret_changes, struct ab_error *err);

/* alarms.c */
void ab_steering_violated(struct ab_source *source, uint32_t events);

#endif
