#pragma once
/*
 * Which requests of Docker's engine API the box may make. A request is matched with a table of
 * routes, its query with the parameters of the route, and what is sent to the engine is written
 * anew from the result: a spelling that another parser would read differently never gets there.
 * Pure.
 */
#include "policy/values/image.h"

struct ab_http_request;
struct ab_refusal;

/* What a request is about, and so how it is judged and answered. */
enum ab_api_use {
	AB_API_PLAIN,	    /* nothing of anybody: passed on */
	AB_API_INFO,	    /* the reply is reduced */
	AB_API_LIST,	    /* containers: only those of the run */
	AB_API_IMAGES,	    /* images: only those that the settings allow */
	AB_API_IMAGE,	    /* one of these */
	AB_API_PULL,	    /* download one */
	AB_API_CREATE,	    /* a container; the body is checked */
	AB_API_CONTAINER,   /* something with a container of the run */
	AB_API_START,	    /* the same: its mounts are made */
	AB_API_REMOVE,	    /* the same, and then it is gone */
	AB_API_EXEC_CREATE, /* the same; the body is checked */
	AB_API_EXEC,	    /* something with a command in a container of the run */
	AB_API_EXEC_START,  /* the same; the body is checked */
};

struct ab_api_route {
	const char *method;
	const char *path; /* "*" is one part; the last part but one of an image may have "/" */
	enum ab_api_use use;
	const char *params; /* allowed in the query, with blanks between them */
	bool streams;	    /* the answer may be a stream in both directions */
};

struct ab_api_call {
	const struct ab_api_route *route;
	char version[12];	    /* "/v1.41", or "" */
	char id[AB_IMAGE_MAX + 16]; /* of a container or a command, or the name of an image */
	struct ab_strv params;	    /* "K=V", decoded */
};

/* -1: refused, see *why. */
int ab_api_read(const struct ab_http_request *rq, struct ab_api_call *ret, struct ab_refusal *why);
void ab_api_call_fini(struct ab_api_call *call);

/* Its value, or NULL. */
const char *ab_api_param(const struct ab_api_call *call, const char *name);
/* Write the target for the engine, with this in the place of call->id. */
void ab_api_write_target(struct ab_buf *out, const struct ab_api_call *call, const char *id);
/* May a container, or a command in one, be called this? */
bool ab_api_is_id(const char *s);

/* Every route, for tests. */
extern const struct ab_api_route ab_api_routes[];
extern const unsigned int ab_api_route_count;
