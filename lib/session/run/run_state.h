#pragma once
/* Shared by the files of one run (run.c): its state and the lines of its record. */
#include "audit/write/copy.h"
#include "audit/write/log.h"
#include "audit/write/seal.h"
#include "base/base.h"
#include "proxy/thread/proxy.h"
#include "sandbox/start/bridge.h"
#include "sandbox/start/launch.h"
#include "guard/connect/connect.h"
#include "consent/consent.h"
#include "consent/request.h"
#include "host/cgroup.h"
#include "session/review/reviewer.h"
#include "session/supervise/supervisor.h"
#include "guard/sockets/sockets.h"
#include "state/state.h"
#include "terminal/streams.h"

struct ab_box_engine_traits;
struct ab_broker_wait;
struct ab_container_watch;
struct ab_tool_watch;
struct ab_stay;
struct ab_stayed;

struct run {
	const struct ab_request *request;
	struct ab_prepared *prepared;
	struct ab_consent consent;
	struct ab_run dir;
	struct ab_log log;
	struct ab_seal seal;   /* loaded once the broker has been forked */
	struct ab_copy result; /* the caller's --result file, if any */
	struct ab_box box;
	struct ab_network network; /* until box_network takes it over */
	struct ab_box_network *box_network;
	bool had_network; /* the run had a box_network */
	struct ab_cgroup cgroup;
	bool warm; /* the box was prepared: its network is up, and `heard` was read */
	struct ab_heard heard;
	/* of the start record, if they were made ahead; else NULL */
	char *policy_text, *origins_text, *process_text, *watch_text;
	struct ab_broker *broker;
	struct ab_container_watch *containers; /* or NULL: the box has no container engine */
	struct ab_tool_watch *tools;	       /* or NULL: the box has no host tools */
	struct ab_guard_link *children;	       /* answers the calls that the kernel holds */
	struct ab_connect_terms connects;      /* for the guard */
	struct stat *movable;		       /* for it */
	struct ab_socket_terms sockets;	       /* the same, if it makes the sockets */
	int to_proxy; /* the guard's end of netns/destination.h; ours stays open, so that the proxy sees
		       * no end of it */
	struct ab_refused_programs *refusals;
	struct ab_terminal *terminal;
	struct ab_streams streams;
	struct ab_violations *violations;
	struct ab_control *control;
	struct ab_host_prompt *prompt; /* or NULL: no question on a terminal */
	bool bell;		       /* standard error is the user's terminal */
	const char *piped;	       /* a stream that is a pipe, or NULL */
	const char *unasked;	       /* why no person is asked about hosts; NULL: one is */
	struct ab_outcome outcome;
	struct ab_error ended;	       /* what ended the command, if not it itself; else AB_ENONE */
	struct ab_strv refused;	       /* lines about programs, at the end */
	struct ab_proxy_report report; /* the network's, at the end */
	struct ab_helper reviewer;     /* of a reviewed run, else pid 0 */
	struct ab_review_sum review;   /* its result; json NULL: none */
	uint32_t held;		       /* properties that were proved, AB_PROP_BIT()s */
	uint32_t missing;	       /* those that are not: required, or not in the engine */
	const struct ab_box_engine_traits *engine; /* NULL: no box was built, or a nested run */
	const char *home;			   /* ab_home_describe(), once the command starts */
	bool result_written;
	/* of a box that stays */
	bool apart; /* we are its supervisor, in a process of our own */
	struct ab_request apart_request;
	int starter;	      /* socket to the process that started it, until it is ready; or -1 */
	struct ab_stay *stay; /* its commands, while it is supervised */
	struct ab_stayed *stayed; /* for the caller; NULL: not a box that stays */
	uint16_t rows, cols;	  /* of the caller's terminal; 0: none */
	bool asked;		  /* the broker sweeps as soon as the box is gone */
	bool unswept;		  /* the broker died: the next start sweeps the workspace */
	bool streams_open;
	bool blocked; /* signals, by us */
	bool locked;  /* ab_run_lock() has begun: the host's files are out of reach */
	struct timespec started;
	uint64_t begun_ns, loaded_ns, launched_ns, planned_ns;
};

/* run.c: the beginning. */
void ab_run_init(struct run *ret, const struct ab_request *request, struct ab_prepared *prepared);
int ab_run_launch(struct run *r, struct ab_error *err);
/* Look at the host, and specify the box. */
int ab_run_make_spec(struct run *r, struct ab_error *err);
/* A stream that is a pipe, or NULL: its other end may use the terminal, so questions are not asked
 * there. */
const char *ab_run_find_pipe(void);
/* Kill the box and wait for its end. */
void ab_run_drop_box(struct run *r);
/* Undo a launch that does not become a run. */
void ab_run_abandon(struct run *r, struct ab_error *err);
/* The end of every run: write what is missing of its result, and close what is open. Returns
 * `result`. */
int ab_run_conclude(struct run *r, int result, struct ab_error *err);
/* Only the last part of that, for a run that never began: box, broker and network are gone. */
void ab_run_release(struct run *r);

uint64_t ab_run_now_ns(void);
/* If so, the upstream proxy checks the addresses of names, not we. */
bool ab_run_has_upstream(const struct run *r);

/* What gives a better engine than this one: for the machine that refused one, else in general. */
const char *ab_run_remedy(const struct run *r, const struct ab_box_engine_traits *engine);

/* host_setup.c: the run's folder and its log. `reserve`: the run may come. */
int ab_run_open_record(struct run *r, bool reserve, struct ab_error *err);
/* Set up what the run needs on the host while init builds the box, and let the command start. */
int ab_run_set_up_host(struct run *r, struct ab_error *err);
/* Parts of it: the broker; the other processes and the network; the supervisor locks itself in. */
int ab_run_start_broker(struct run *r, const struct ab_broker_wait *wait, struct ab_error *err);
int ab_run_start_services(struct run *r, struct ab_error *err);
int ab_run_open_network(struct run *r, struct ab_error *err); /* the first of them */
void ab_run_release_stdio(const struct run *r);
int ab_run_lock(struct run *r, struct ab_error *err);
/* The run ends before its command. */
void ab_run_abandon_services(struct run *r);

/* live.c */
#define ab_run_say(r, ...) ab_request_say((r)->request, __VA_ARGS__)
void ab_run_say_all(const struct run *r, enum ab_level level, const struct ab_strv *lines);
void ab_run_say_guarantees(const struct run *r, const char *who, const struct ab_strv *held);
/* Let the command start. If the box is already gone, its error is read later. */
int ab_run_go(struct run *r, struct ab_error *err);
/* Returns when everything has ended and is on record. */
int ab_run_supervise(struct run *r, int *ret_status, struct ab_error *err);

/* finish.c: after the box: quarantine, messages, the last record, the run's folder. `supervised`: 0, or
 * -1 with *err. */
int ab_run_finish(struct run *r, int supervised, int *ret_status, struct ab_error *err);
/* Count and tell the denials that are left. */
void ab_run_drain_violations(struct run *r, bool hook);
/* In milliseconds; 0: none. */
uint64_t ab_run_time_limit(const struct run *r);

/* `arg`: the run. The command has ended; ask before waiting for init, so that the broker
 * sweeps as soon as it can. `alone`: init is the only process left in the box. Returns whether
 * ab_run_conclude() waits for init's end. */
bool ab_run_ask_for_sweep(void *arg, bool alone);

/* record.c: the lines for the start, the proved properties, and the end. */
void ab_run_prepare_start(struct run *r); /* what takes long */
int ab_run_write_start(struct run *r, struct ab_error *err);
int ab_run_write_holds(struct run *r, const struct ab_holds *holds, const struct ab_strv *held,
		       struct ab_error *err);
/* The only line of a run that was refused. */
int ab_run_write_refused(struct run *r, struct ab_error *err);
int ab_run_write_end(struct run *r, int status, const struct ab_strv *moved, struct ab_error *err);

/* outcome.c: the result, for --result. Open it before anything else can fail. */
int ab_run_open_result(struct run *r, struct ab_error *err);
/* The words of the command as in the record, without secrets. */
void ab_run_get_command(const struct run *r, struct ab_strv *ret);
/* For the request's `description`. */
void ab_run_describe(struct run *r);
/* Call once, with 0 and the status or -1 and the error. `moved` may be NULL. */
int ab_run_write_result(struct run *r, int result, int status, const struct ab_strv *moved,
			const struct ab_error *failed, struct ab_error *err);
