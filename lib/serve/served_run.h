#pragma once
/*
 * One run of the program that we serve. Its supervisor is a child process (session/run/run.h); a
 * socket connects us as its controller (session/control/control_socket.h), and carries besides the
 * supervisor's messages:
 *
 *	{"event":"began","run_id"} {"event":"message","level","text"}
 *	{"event":"denied","record":{}} {"event":"failed","code","error","hint","exit"}
 *
 * served_run.c: the processes and the streams; served_events.c: the socket.
 */
#include <jansson.h>

#include "base/base.h"
#include "base/system/loop.h"
#include "serve/capture.h"
#include "serve/request.h"
#include "session/run/result_json.h"

struct ab_channel;
struct ab_pool;

/* A request that the supervisor answers, in one packet or several. */
struct ab_steered {
	json_t *id;
	enum ab_serve_do what;
	size_t left; /* packets */
	uint64_t released;
	json_t *error; /* the first one, or NULL */
};

struct ab_steer_packet {
	struct ab_steer_packet *next;
	char *text;
	struct ab_steered *of;
};

/* Bytes for standard input. */
struct ab_served_input {
	struct ab_served_input *next;
	json_t *id; /* or NULL: those of the request that started the run */
	char *bytes;
	size_t len, done;
	bool eof;
};

struct ab_served_output {
	struct ab_source pipe;
	enum ab_stream_kind kind;
	struct ab_stream kept;
	struct ab_cut_char cut;
};

struct ab_served_run {
	struct ab_served_run *next;
	struct ab_loop *loop;
	struct ab_channel *channel;
	struct ab_pool *pool; /* or NULL */
	bool prepared;	      /* it has taken a box of it */
	uint64_t number;
	pid_t pid;
	struct timespec started;
	uint64_t capture;
	struct ab_source steer, records, input;
	struct ab_buf record_bytes;
	struct ab_served_output out[2];
	int result;	   /* a file in memory */
	bool began, asked; /* asked: about the command */
	bool stopped;	   /* by a request, before it began */
	bool records_wanted;
	bool failed;
	struct ab_error why;
	int exit;
	uint64_t held_signals; /* until it began */
	struct ab_steer_packet *packets, **packets_end;
	bool sent; /* the first of them */
	size_t npackets;
	struct ab_served_input *inputs, **inputs_end;
	size_t ninputs;
	uint64_t missed;
	struct ab_later later; /* for its owner */
};

/* `fds`: those of the request, which stay the caller's. `pool` or NULL. */
int ab_served_start(struct ab_serve_request *request, const int *fds, const sigset_t *before,
		    struct ab_loop *loop, struct ab_channel *channel, struct ab_pool *pool,
		    uint64_t number, struct ab_served_run **ret, struct ab_error *err);
/* The channel has room again. */
void ab_served_continue(struct ab_served_run *run);
/* Its process has ended, as waitid() says: read what is left, and send the last event. */
void ab_served_ended(struct ab_served_run *run, int code, int status);
void ab_served_free(struct ab_served_run *run);

/* Requests; the reply is sent now or later. -1: it is refused. */
int ab_served_input(struct ab_served_run *run, struct ab_serve_request *request,
		    struct ab_error *err);
int ab_served_signal(struct ab_served_run *run, struct ab_serve_request *request,
		     struct ab_error *err);
/* served_events.c */
int ab_served_answer(struct ab_served_run *run, struct ab_serve_request *request,
		     struct ab_error *err);
int ab_served_update(struct ab_served_run *run, struct ab_serve_request *request,
		     struct ab_error *err);
int ab_served_status(struct ab_served_run *run, struct ab_serve_request *request,
		     struct ab_error *err);
/* `id` NULL: no reply. */
void ab_served_stop(struct ab_served_run *run, json_t *id, uint64_t grace_ms);
/* Read every packet that is there: `steer` of a run is ready. */
void ab_served_hear(struct ab_source *source, uint32_t events);
/* The question about the command is over: "answered", "time", "gone". Nothing if there is none. */
void ab_served_settle_command(struct ab_served_run *run, const char *how);
/* No answer will come. */
void ab_served_refuse_steered(struct ab_served_run *run);
/* An event that may be dropped: sent as {"event":NAME,"run":N and these members. */
void ab_served_tell(struct ab_served_run *run, const char *event, const char *members);

/* serve.c: replies, with the members of a template (ab_buf_jsonf()). */
void ab_serve_reply(struct ab_channel *channel, const json_t *id, const char *pattern, ...)
	__attribute__((format(printf, 3, 4)));
void ab_serve_refuse(struct ab_channel *channel, const json_t *id, const struct ab_error *err);

/* The failure that a packet tells: *ret. */
void ab_served_failure(const json_t *packet, struct ab_error *ret);
/* A text of a packet; "": there is none. */
static inline const char *ab_served_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}
