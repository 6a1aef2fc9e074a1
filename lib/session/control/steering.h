#ifndef AB_SESSION_CONTROL_STEERING_H
#define AB_SESSION_CONTROL_STEERING_H
/*
 * Where everything meets that watches and steers a live run: the proxy's
 * questions, answered by the terminal, the control socket or the approver;
 * grants; new lists; thresholds; violations on their way to whoever wants them.
 *
 *	proxy  -> wanted, settled  -> desk -> prompt, control, approver
 *	answer -> desk -> proxy (word), broker (always)
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
struct ab_desk;
struct ab_error;
struct ab_gate;
struct ab_log;
struct ab_loop;
struct ab_policy;
struct ab_prompt;
struct ab_strv;
struct ab_violations;

/* What a run brings: opened before the lock. */
struct ab_desk_setup {
	const struct ab_policy *policy;
	const char *run_id;
	int dir;	  /* of the run */
	const char *name; /* or NULL */
	const char *cwd;
	const struct ab_strv *command;
	struct ab_broker *broker;
	struct ab_log *log;
	struct ab_control *control;
	struct ab_prompt *prompt; /* or NULL: nobody is at a terminal */
	struct ab_violations *violations;
	bool approver; /* a program is asked, not a person */
	bool hook;     /* violations go to a program */
	/* Say it to who started the run; note: not a warning. */
	void (*say)(void *arg, bool note, const char *text);
	void *arg;
};

/* What it has others do. */
struct ab_desk_hands {
	struct ab_loop *loop;
	struct ab_gate *gate; /* or NULL: no network of ours */
	void (*stop)(void *arg, uint64_t grace_ms);
	void (*fail)(void *arg, const struct ab_error *err); /* the end */
	void (*redraw)(void *arg);
	void *arg;
};

int ab_desk_open(const struct ab_desk_setup *setup, const struct ab_desk_hands *hands,
		 struct ab_desk **ret, struct ab_error *err);
/* Can anybody be asked about a host? The default profile asks only where there
 * is a terminal; an explicit "ask" can be answered over the socket, too. */
bool ab_desk_asks(const struct ab_desk_setup *setup);
/* Does a threshold need to know what is uploaded? */
bool ab_desk_counts(const struct ab_policy *policy);

/* From the gate, on the supervisor's thread. */
void ab_desk_wanted(struct ab_desk *desk, const struct ab_wanted *wanted);
void ab_desk_settled(struct ab_desk *desk, uint32_t number, enum ab_settled how, uint32_t released);
void ab_desk_sent(struct ab_desk *desk, const char *host, uint64_t bytes);
void ab_desk_opened(struct ab_desk *desk, const char *host);
void ab_desk_surveyed(struct ab_desk *desk, const char *json);

/* From the broker, all but secrets. */
void ab_desk_news(struct ab_desk *desk, const struct ab_broker_news *news);

/* The terminal is ours again, or has another size. */
void ab_desk_resumed(struct ab_desk *desk);
void ab_desk_resized(struct ab_desk *desk);

/* Is somebody still to hear that the proxy, or the broker, has done what was
 * asked for? */
bool ab_desk_awaits_proxy(const struct ab_desk *desk);
bool ab_desk_awaits_broker(const struct ab_desk *desk);

/* The loop has ended, and the prompt is closed; `status` as the command's
 * own. */
void ab_desk_close(struct ab_desk *desk, int status);

#endif
