#pragma once
/*
 * Watches and steers a live run: questions of the proxy, which the terminal,
 * the control socket or the approver answers; grants; new lists; thresholds;
 * violations.
 *
 *	proxy  -> wanted, settled  -> steering -> prompt, control, approver
 *	answer -> steering -> proxy (answer), broker (always)
 *
 * It lives on the supervisor's loop and owns nothing of the box: others carry
 * out what it decides.
 *
 * steering.c: questions; control_requests.c: requests over the socket; list_change.c:
 * new lists; alarms.c: violations and thresholds; notices.c: questions that nobody seems to see.
 */
#include "base/base.h"
#include "broker/broker.h"
#include "proxy/thread/proxy.h"

struct ab_control;
struct ab_control_client;
struct ab_control_request;
struct ab_steering;
struct ab_box_network;
struct ab_log;
struct ab_policy;
struct ab_host_prompt;
struct ab_request;
struct ab_spec;
struct ab_threshold_alarm;
struct ab_violations;

/* What the run provides; opened before the lock. */
struct ab_steering_setup {
	const struct ab_request *request;
	const struct ab_policy *policy;
	const struct ab_spec *spec;
	const char *run_id;
	const char *const *home; /* what the home folder is, once it is known; or NULL */
	int dir;		 /* the run's folder */
	struct ab_broker *broker;
	struct ab_log *log;
	struct ab_control *control;
	struct ab_host_prompt *prompt; /* or NULL: no terminal to ask on */
	struct ab_violations *violations;
	bool bell; /* standard error is the user's terminal */
};

/* Actions that others carry out. */
struct ab_steering_hands {
	struct ab_loop *loop;
	struct ab_box_network *box_network; /* or NULL: the run has no proxy */
	void (*stop)(void *arg, uint64_t grace_ms);
	void (*fail)(void *arg, const struct ab_error *err); /* ends the run */
	void (*redraw)(void *arg);
	/* The answer to a question about a tool; NULL: there are no tools. */
	void (*tool)(void *arg, uint32_t number, enum ab_host_answer answer, const char *by);
	/* For a box that stays (session/stay/stay.h); else NULL. */
	void (*start)(void *arg, struct ab_control_client *client,
		      const struct ab_control_request *request);
	void (*describe)(void *arg, struct ab_buf *status);
	void *arg;
};

int ab_steering_open(const struct ab_steering_setup *setup, const struct ab_steering_hands *hands,
		     struct ab_steering **ret, struct ab_error *err);
/* Does a box with this policy ask about hosts? Then a client with a terminal shows the questions. */
bool ab_steering_has_questions(const struct ab_policy *policy);
/* Can anybody answer a question about a host? The default profile asks only on a terminal; an
 * explicit "ask" can be answered over the socket, too. */
bool ab_steering_asks(const struct ab_steering_setup *setup);
/* The error of a run that an alarm has ended. Returns -1. */
int ab_alarm_error(const struct ab_threshold_alarm *alarm, const char *run_id,
		   struct ab_error *err);

/* From the proxy, on the supervisor's thread. */
void ab_steering_wanted(struct ab_steering *steering, const struct ab_host_question *wanted);
void ab_steering_settled(struct ab_steering *steering, uint32_t number, enum ab_settled how,
			 uint32_t released);
void ab_steering_crossed(struct ab_steering *steering, const struct ab_threshold_alarm *alarm);
void ab_steering_surveyed(struct ab_steering *steering, const char *json);

/* For the request's `watch`. */
void ab_steering_tell_denied(const struct ab_request *request, const char *record);
/* The number of denials so far, without those of files that programs try to write on their own and do
 * without. */
uint64_t ab_steering_denials(struct ab_steering *steering);

/* A program in the box listens on a port that nobody outside can reach. */
void ab_steering_server(struct ab_steering *steering, uint16_t port);

/* From the broker, except secrets. */
void ab_steering_news(struct ab_steering *steering, const struct ab_broker_news *news);

/* We have the terminal again, or its size has changed. */
void ab_steering_resumed(struct ab_steering *steering);
void ab_steering_resized(struct ab_steering *steering);

/* Does a client still wait for the proxy, or for the broker? */
bool ab_steering_awaits_proxy(const struct ab_steering *steering);
bool ab_steering_awaits_broker(const struct ab_steering *steering);

/* After the loop has ended and the prompt is closed. `status` is the command's wait status. */
void ab_steering_close(struct ab_steering *steering, int status);
