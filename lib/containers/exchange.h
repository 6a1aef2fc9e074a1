#pragma once
/*
 * One connection of the box: one request to the container engine, and the engine's answer. A pure
 * state machine: bytes and events in, bytes and wishes out. Its owner has the sockets and the clock
 * (relay_conn.c), or is a fuzzer.
 *
 * Promises: nothing of the box gets into `to_engine` but one request that was judged and written
 * anew, and, only after an answer that opens the stream that this request asked for, what the box
 * sends after the request. Every request is told to `record` once, before the box gets its answer.
 */
#include "containers/docker/engine_api.h"
#include "containers/engine_judge.h"
#include "proxy/wire/http.h"
#include "proxy/wire/http_chunks.h"

/* A request, for the record. */
struct ab_engine_note {
	char method[16];
	char path[512]; /* without the query; of a malformed request, its first bytes */
	char image[AB_IMAGE_MAX + 16];
	char rule[32];	  /* of a denial */
	char reason[512]; /* why it was denied, or has no answer of the engine */
	uint32_t number;  /* of a denial: the same for the same reason and path; 0: not denied */
	bool allowed;	  /* the judge let it pass */
	bool stream;	  /* the connection became a stream */
	int32_t status;	  /* that the box got; 0: none */
	int32_t engine;	  /* that the engine answered; 0: nothing, or nothing that was read */
	int64_t ms;	  /* the owner's */
};

enum ab_engine_state {
	AB_ENGINE_HEAD,	   /* the request's head is read */
	AB_ENGINE_BODY,	   /* its body is read, all of it, before anything is judged */
	AB_ENGINE_CONNECT, /* the request is allowed; the owner connects to the engine */
	AB_ENGINE_ASKED,   /* it is sent, and the head of the answer is read */
	AB_ENGINE_COLLECT, /* the answer is read whole, because the box gets another one */
	AB_ENGINE_PASS,	   /* the answer's body goes to the box as it comes, up to its end */
	AB_ENGINE_STREAM,  /* bytes go in both directions */
	AB_ENGINE_LAST,	   /* what is left for the box is written */
	AB_ENGINE_OVER,
};

struct ab_engine_exchange {
	struct ab_buf to_client, to_engine; /* the owner sends these, and skips what is sent */
	enum ab_engine_state state;
	struct ab_engine_judge *judge;
	/* A record. -1: it cannot be written, and the exchange is over. */
	int (*record)(void *arg, struct ab_engine_note *note);
	void *arg;
	/* The rest is the machine's. */
	struct ab_buf in, reply; /* what is not read yet, of the box and of the engine */
	struct ab_buf body, target, sent_body, whole;
	struct ab_http_scan scan;
	struct ab_http_chunks chunks;
	enum ab_http_body framing; /* of the body that is read */
	uint64_t left;
	struct ab_api_call call;
	struct ab_engine_job job;
	struct ab_engine_note note;
	bool upgrade; /* the client asked for a stream by an upgrade */
	bool to_head; /* the request is HEAD */
	bool recorded;
	bool client_ended, client_gone, engine_ended, engine_deaf;
	unsigned interim;
};

/* What the owner is to do. */
struct ab_engine_wishes {
	bool connect; /* to the engine, and then say how it went */
	bool read_client, read_engine;
	bool shut_engine; /* tell it that nothing more comes */
	bool drop_engine; /* close its connection, if there is one */
	bool over;
};

void ab_engine_exchange_init(struct ab_engine_exchange *x, struct ab_engine_judge *judge,
			     int (*record)(void *arg, struct ab_engine_note *note), void *arg);
void ab_engine_exchange_fini(struct ab_engine_exchange *x);

void ab_engine_exchange_client_data(struct ab_engine_exchange *x, const void *data, size_t len);
void ab_engine_exchange_client_ended(struct ab_engine_exchange *x); /* it sends no more */
void ab_engine_exchange_client_gone(struct ab_engine_exchange *x);  /* nor does it read */
void ab_engine_exchange_connected(struct ab_engine_exchange *x);
void ab_engine_exchange_unreachable(struct ab_engine_exchange *x, const char *why);
void ab_engine_exchange_engine_data(struct ab_engine_exchange *x, const void *data, size_t len);
void ab_engine_exchange_engine_ended(struct ab_engine_exchange *x);
void ab_engine_exchange_engine_deaf(struct ab_engine_exchange *x); /* it reads no more */
/* The time for the request is over, or the run is. */
void ab_engine_exchange_expire(struct ab_engine_exchange *x);
void ab_engine_exchange_abandon(struct ab_engine_exchange *x, const char *why);

struct ab_engine_wishes ab_engine_exchange_wishes(const struct ab_engine_exchange *x);
/* Must the engine's answer be waited for? */
bool ab_engine_exchange_matters(const struct ab_engine_exchange *x);
