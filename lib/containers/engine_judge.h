#pragma once
/*
 * Decides about requests to the container engine, and remembers what that needs: the containers of
 * this run. No I/O; what it must know of the world it asks for through callbacks.
 */
#include "containers/docker/create_body.h"
#include "containers/own_containers.h"

struct ab_api_call;
struct ab_refusal;

struct ab_engine_judge {
	struct ab_create_terms terms;
	bool pull;
	/* NULL, or why the folders of the run must not be mounted now. */
	const char *(*moved)(void *arg);
	/* The ids of the run's containers, as the engine has them now. */
	int (*list)(void *arg, struct ab_strv *ret);
	void *arg;
	struct ab_own_containers own;
	struct ab_strv denials; /* "PATH REASON": the index is the number - 1 */
};

/* A request whose body is complete. */
struct ab_engine_job {
	struct ab_api_call *call;
	const char *body;
	size_t body_len;
	struct ab_buf *target, *ret_body; /* for the engine */
	bool has_body;
	bool streams; /* the answer may become a stream in both directions */
	struct ab_create_facts facts;
};

/* -1: denied, see *why. */
int ab_engine_judge_request(struct ab_engine_judge *judge, struct ab_engine_job *job,
			    struct ab_refusal *why);
/* A good answer of the engine, whose body the box does not get as it is. -1: it is not understood. */
bool ab_engine_judge_rewrites(const struct ab_api_call *call);
int ab_engine_judge_rewrite(struct ab_engine_judge *judge, const struct ab_engine_job *job,
			    const char *body, size_t len, struct ab_buf *ret);
/* The engine has answered. */
void ab_engine_judge_answered(struct ab_engine_judge *judge, const struct ab_engine_job *job,
			      int status);
/* Of a denial: the same for the same path and reason. */
uint32_t ab_engine_judge_number(struct ab_engine_judge *judge, const char *path,
				const char *reason);
void ab_engine_judge_fini(struct ab_engine_judge *judge);
