#pragma once
/* Shared by the files of the steering (steering.h). */

#include "base/system/loop.h"
#include "broker/list_wire.h"
#include "consent/ask/host_choice.h"
#include "consent/request.h"
#include "session/control/control_socket.h"
#include "session/control/open_questions.h"
#include "session/control/steering.h"
#include "session/control/thresholds.h"

struct ab_steering {
	struct ab_steering_setup setup;
	struct ab_steering_hands hands;
	struct ab_open_questions questions;
	struct ab_source violated;
	uint64_t ndenied; /* without incidental ones */
	struct ab_thresholds thresholds;
	struct ab_host_lists lists; /* the lists in force */
	bool has_lists;		    /* `lists` is filled in */
	bool hook_failed;	    /* and the user was told */
	unsigned remembering;	    /* rules that the broker is saving */
	struct ab_strv saved;	    /* changes of the settings that answers of this run made */
	/* messages held back while a question is shown; the first letter: note or warning */
	struct ab_strv deferred;
	unsigned nhints;	/* hints about questions, so far */
	struct ab_timer notice; /* notices.c */
	uint64_t noticed_ms;	/* the last time, or 0 */
	unsigned nnotices;
	uint64_t begun_ms;
	uint32_t ticket; /* the last one used */
	/* Clients that wait until the proxy has carried out their requests, in the order of
	 * ab_proxy_survey() calls. */
	struct ab_control_client *surveys[64];
	size_t nsurveys;
	struct ab_control_client *reloads[64]; /* clients that wait for lists */
	size_t nreloads;
	struct ab_error failure; /* storage for an error to report */
};

struct ab_proxy *ab_steering_proxy(const struct ab_steering *steering); /* or NULL */
__attribute__((format(printf, 3, 4))) void ab_steering_say(struct ab_steering *steering, bool note,
							   const char *fmt, ...);
/* If the record cannot be written, the run ends. */
void ab_steering_record(struct ab_steering *steering, struct ab_buf *line);

/* steering.c: a question as JSON; answer a question (`why`: the reason, or NULL). */
void ab_steering_question(const struct ab_steering *steering, const struct ab_open_question *q,
			  struct ab_buf *b);
void ab_steering_answer(struct ab_steering *steering, uint32_t number, enum ab_host_choice choice,
			const char *by, const char *why);

/* control_requests.c */
void ab_steering_asked(void *arg, struct ab_control_client *client,
		       const struct ab_control_request *request);
void ab_steering_reloaded(struct ab_steering *steering, const struct ab_broker_news *news);
/* A question has ended: note it for the clients that answered it. */
void ab_steering_released(struct ab_steering *steering, uint32_t number, enum ab_settled how,
			  uint32_t released);

/* list_change.c: put new lists in force, or report why there are none; `cut`: close connections
 * that they no longer allow. *ret_changes: lines for the user. */
int ab_steering_use_lists(struct ab_steering *steering, const struct ab_broker_news *news, bool cut,
			  struct ab_strv *ret_changes, struct ab_error *err);

/* notices.c: tell the user about a question outside of the terminal, now or later. */
void ab_steering_notify(struct ab_steering *steering);

/* alarms.c */
void ab_steering_violated(struct ab_source *source, uint32_t events);
