#pragma once
/*
 * The control socket of a run, for other processes of the same user that watch
 * or steer it. live/ID/control in the state folder, 0600, SOCK_SEQPACKET; the
 * peer's uid must be ours. The box cannot reach it.
 *
 * One packet is one JSON object of at most AB_CONTROL_MAX bytes. The client
 * sends {"v":1,"do":NAME,...} and gets {"ok":true,...} or
 * {"ok":false,"error":"...","hint":"..."}. A request is answered before the
 * next one is read.
 *
 *	status		"run","name","command":[],"cwd","profile","home","pid",
 *			"age_ms","pending":N,"network":{...} (see ab_proxy_survey, null
 *			where there is none), "violations":N,
 *			"published":[{"port":3000,"host":8080}]
 *	pending		{"from":K}: the questions from number K on, at most 100:
 *			"pending":[{"id","domain","port","door","why","age_ms",
 *			"left_ms","process":[{"pid","exe","argv"}]}],
 *			"next": K for the rest, or 0
 *	answer		{"id":"7kq2-1","answer":"once|run|always|no"}: "released":N
 *	allow, deny	{"entry":"x.y:443","for_ms":0}: "released":N. An error if
 *			a grant cannot override it (deny list, denied range)
 *	reload		{"cut":false}: "changes":["+ x.y allowed"],"notes":[]
 *	stop		{"grace_ms":5000}: TERM, then KILL; answered at once
 *	start		a command in a box that stays; with descriptors: the client's
 *			end of session/stay/stay_wire.h, the strings
 *			(session/stay/start_strings.h), and those of 0-2 that are
 *			passed on. {"argc":1,"env":20,"script":false,"behind":false,"shell":false,
 *			"streams":["passed|terminal|DEVICE", ...],"approved":"once"}:
 *			"number":N, or "verdict":{...} if it needs approval or is refused
 *	attach		{"number":0}: the terminal of a detached command; with two
 *			descriptors: as above, and a stream for its bytes. "number":N
 *	publish		{"port":3000,"host":8080}, with one descriptor that listens on
 *			127.0.0.1:8080: its connections go to port 3000 of the box
 *	follow		answered with "ok", then a packet for each event:
 *			{"event":"asked", as in pending},
 *			{"event":"settled","id","how":"answered|time|gone",
 *			 "released":N}, {"event":"said","text"},
 *			{"event":"missed"} (events were dropped: no room),
 *			{"event":"end","status":N}; the log has the records
 *			themselves
 */
#include "base/base.h"
#include "base/system/loop.h"
#include "consent/ask/host_choice.h"
#include "policy/values/host.h"

enum { AB_CONTROL_VERSION = 1, AB_CONTROL_MAX = 64 * 1024 };

enum ab_control_do {
	AB_DO_STATUS,
	AB_DO_PENDING,
	AB_DO_ANSWER,
	AB_DO_ALLOW,
	AB_DO_DENY,
	AB_DO_RELOAD,
	AB_DO_STOP,
	AB_DO_FOLLOW,
	AB_DO_START,
	AB_DO_ATTACH,
	AB_DO_PUBLISH,
	AB_DO_COUNT,
};

/* A checked request; unused members are 0. */
struct ab_control_request {
	enum ab_control_do what;
	uint32_t number; /* answer: of the question; pending: from; attach */
	enum ab_host_choice answer;
	char entry[AB_HOST_ENTRY_TEXT]; /* allow, deny: canonical */
	uint64_t ms;			/* allow, deny: for how long; stop: grace */
	bool cut;			/* reload */
	uint16_t port, host_port;	/* publish */
	struct {
		size_t argc, nenv;
		bool script, behind, shell;
		char streams[3][16];
		const char *approved; /* one of a few words, or NULL; "no": record the refusal */
	} start;
	struct ab_fds *fds; /* that came with it; the callee may take them */
};

/* control_parse.c, pure. `run_id` is the run that gets the request. */
int ab_control_parse(const char *run_id, const char *text, size_t len,
		     struct ab_control_request *ret, struct ab_error *err);

struct ab_control;
struct ab_control_client;

/* Before the lock: create the socket. It gets its name when the run has lasted a moment or has a
 * question, so a short run pays nothing. */
int ab_control_open(struct ab_control **ret, struct ab_error *err);
struct ab_control_watch {
	struct ab_loop *loop;
	int dir; /* the run's folder */
	const char *run_id;
	/* Answer with ab_control_reply(), now or later. */
	void (*asked)(void *arg, struct ab_control_client *client,
		      const struct ab_control_request *request);
	void (*failed)(void *arg, const struct ab_error *err); /* it cannot be named */
	void *arg;
};
void ab_control_attach(struct ab_control *control, const struct ab_control_watch *watch);
/* After that: a connected socket whose other end is a client that follows from the start. It is
 * copied. */
int ab_control_adopt(struct ab_control *control, int sock, struct ab_error *err);
/* Name the socket now. */
int ab_control_name(struct ab_control *control, struct ab_error *err);
/* The answer, or a refusal. Frees a client that has left meanwhile. The template (ab_buf_jsonf())
 * has the members before "ok"; ab_control_done() answers without any. */
void ab_control_reply(struct ab_control_client *client, const char *pattern, ...)
	__attribute__((format(printf, 2, 3)));
void ab_control_done(struct ab_control_client *client);
void ab_control_refuse(struct ab_control_client *client, const struct ab_error *err);
/* From now on the client gets all events. */
void ab_control_follow(struct ab_control_client *client);
void ab_control_tell(struct ab_control *control, const char *pattern, ...)
	__attribute__((format(printf, 2, 3)));
bool ab_control_followed(const struct ab_control *control);
/* Memory in the client for what its request waits for. */
void *ab_control_note(struct ab_control_client *client);
void ab_control_close(struct ab_control *control);
