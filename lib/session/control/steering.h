#ifndef AB_SESSION_CONTROL_STEERING_H
#define AB_SESSION_CONTROL_STEERING_H
/*
 * Where everything meets that watches and steers a live run: the proxy's
 * questions, answered by the terminal, the control socket or the approver;
 * grants; new lists; thresholds; violations on their way to whoever wants them.
 *
 *	proxy  -> wanted, settled  -> steering -> prompt, control, approver
 *	answer -> steering -> proxy (word), broker (always)
 *
 * It lives on the supervisor's loop and owns nothing of the box: others carry
 * out what it decides.
 *
 * steering.c: questions; control_requests.c: requests over the socket; list_change.c:
 * new lists; alarms.c: violations and thresholds.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proxy/thread/proxy.h"
#include "session/broker/broker.h"

enum ab_level;
struct ab_control;
struct ab_steering;
struct ab_error;
struct ab_box_network;
struct ab_log;
struct ab_loop;
struct ab_policy;
struct ab_host_prompt;
struct ab_strv;
struct ab_violations;

/* What a run brings: opened before the lock. */
struct ab_steering_setup {
	const struct ab_policy *policy;
	const char *run_id;
	int dir;	  /* of the run */
	const char *name; /* or NULL */
	const char *cwd;
	const struct ab_strv *command;
	struct ab_broker *broker;
	struct ab_log *log;
	struct ab_control *control;
	struct ab_host_prompt *prompt; /* or NULL: nobody is at a terminal */
	struct ab_violations *violations;
	bool approver; /* a program is asked, not a person */
	bool hook;     /* violations go to a program */
	/* Say it to who started the run; note: not a warning. */
	void (*say)(void *arg, bool note, const char *text);
	void *arg;
};

/* What it has others do. */
struct ab_steering_hands {
	struct ab_loop *loop;
	struct ab_box_network *box_network; /* or NULL: no network of ours */
	void (*stop)(void *arg, uint64_t grace_ms);
	void (*fail)(void *arg, const struct ab_error *err); /* the end */
	void (*redraw)(void *arg);
	void *arg;
};

int ab_steering_open(const struct ab_steering_setup *setup, const struct ab_steering_hands *hands,
		     struct ab_steering **ret, struct ab_error *err);
/* Can anybody be asked about a host? The default profile asks only where there
 * is a terminal; an explicit "ask" can be answered over the socket, too. */
bool ab_steering_asks(const struct ab_steering_setup *setup);
/* Does a threshold need to know what is uploaded? */
bool ab_steering_counts(const struct ab_policy *policy);

/* From the proxy, on the supervisor's thread. */
void ab_steering_wanted(struct ab_steering *steering, const struct ab_wanted *wanted);
void ab_steering_settled(struct ab_steering *steering, uint32_t number, enum ab_settled how,
			 uint32_t released);
void ab_steering_sent(struct ab_steering *steering, const char *host, uint64_t bytes);
void ab_steering_opened(struct ab_steering *steering, const char *host);
void ab_steering_surveyed(struct ab_steering *steering, const char *json);

/* From the broker, all but secrets. */
void ab_steering_news(struct ab_steering *steering, const struct ab_broker_news *news);

/* The terminal is ours again, or has another size. */
void ab_steering_resumed(struct ab_steering *steering);
void ab_steering_resized(struct ab_steering *steering);

/* Is somebody still to hear that the proxy, or the broker, has done what was
 * asked for? */
bool ab_steering_awaits_proxy(const struct ab_steering *steering);
bool ab_steering_awaits_broker(const struct ab_steering *steering);

/* The loop has ended, and the prompt is closed; `status` as the command's
 * own. */
void ab_steering_close(struct ab_steering *steering, int status);

#endif
