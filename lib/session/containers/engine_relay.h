#ifndef AB_SESSION_CONTAINERS_ENGINE_RELAY_H
#define AB_SESSION_CONTAINERS_ENGINE_RELAY_H
/*
 * The filter between the box and the container engine: accepts connections of the box, judges one
 * request on each, and passes what is allowed to the engine. One epoll loop, bounded in connections
 * and buffers. The head parser is the proxy's.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/system/loop.h"
#include "session/docker/create_body.h"
#include "session/containers/own_containers.h"

struct ab_api_call;
struct ab_error;
struct ab_engine_exchange;
struct ab_refusal;

enum { AB_ENGINE_RELAY_MAX = 64 }; /* connections at the same time */

/* A request that is judged. */
struct ab_engine_relay_note {
	char method[16];
	char path[512]; /* without the query */
	char image[AB_IMAGE_MAX + 16];
	char rule[32];	  /* of a denial */
	char reason[512]; /* the same */
	uint32_t number;  /* of a denial: the same for the same reason and path; 0: allowed */
	int32_t status;	  /* of the reply; 0: there was none */
	int64_t ms;
};

struct ab_engine_relay {
	struct ab_loop loop;
	struct ab_source listener;
	const char *engine; /* its socket */
	struct ab_create_terms terms;
	bool pull;
	/* NULL, or why the folders of the run must not be mounted now. */
	const char *(*moved)(void *arg);
	/* A note; its connection ends if this fails. */
	int (*note)(void *arg, const struct ab_engine_relay_note *note);
	void *arg;
	struct ab_own_containers own;
	struct ab_engine_exchange *open;
	size_t nopen;
	struct ab_strv denials; /* "PATH REASON": the index is the number - 1 */
	bool ending;
	struct ab_timer end;
};

int ab_engine_relay_init(struct ab_engine_relay *relay, struct ab_error *err);
/* Takes over the listening socket. */
int ab_engine_relay_listen(struct ab_engine_relay *relay, int fd, struct ab_error *err);
/* No more requests: the loop stops when the engine has answered those that change something. */
void ab_engine_relay_end(struct ab_engine_relay *relay);
void ab_engine_relay_fini(struct ab_engine_relay *relay);

/* relay_judge.c: decide about a request whose body is complete. */
struct ab_engine_relay_job {
	struct ab_api_call *call;
	const char *body;
	size_t body_len;
	struct ab_buf *target, *ret_body; /* for the engine */
	bool has_body;
	struct ab_create_facts facts;
};
int ab_engine_relay_judge(struct ab_engine_relay *relay, struct ab_engine_relay_job *job,
			  struct ab_refusal *why);
/* A good reply of the engine, whose body the box does not get as it is. -1: it is not understood. */
bool ab_engine_relay_rewrites(const struct ab_api_call *call);
int ab_engine_relay_rewrite(struct ab_engine_relay *relay, const struct ab_engine_relay_job *job,
			    const char *body, size_t len, struct ab_buf *ret);
/* The engine has answered. */
void ab_engine_relay_answered(struct ab_engine_relay *relay, const struct ab_engine_relay_job *job,
			      int status);
uint32_t ab_engine_relay_number(struct ab_engine_relay *relay, const char *path,
				const char *reason);

/* exchange.c: one connection. Takes over the socket. */
void ab_engine_exchange_start(struct ab_engine_relay *relay, int fd);
void ab_engine_exchange_end(struct ab_engine_exchange *x);
/* Must the engine's answer be waited for? */
bool ab_engine_exchange_matters(const struct ab_engine_exchange *x);
struct ab_engine_exchange *ab_engine_exchange_next(const struct ab_engine_exchange *x);

#endif
