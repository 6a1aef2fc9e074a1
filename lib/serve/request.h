#pragma once
/*
 * A line of the channel as a checked request. Pure; the caller is trusted, but its mistakes are
 * reported, not guessed at: an unknown member is an error.
 */
#include <jansson.h>

#include "base/base.h"

enum {
	AB_SERVE_PROTOCOL = 1,
	AB_SERVE_LINE_MAX = 4 << 20,
	AB_SERVE_RUNS_MAX = 100,
	AB_SERVE_BOXES_MAX = 64, /* prepared ones, of all pools */
	AB_SERVE_FDS_MAX = 16,
	AB_SERVE_CAPTURE = 10 << 20,
	AB_SERVE_CAPTURE_MAX = 64 << 20,
};

enum ab_serve_do {
	AB_SERVE_HELLO,
	AB_SERVE_RUN,
	AB_SERVE_CHECK,
	AB_SERVE_DOCTOR,
	AB_SERVE_WRAP,
	AB_SERVE_ANSWER,
	AB_SERVE_INPUT,
	AB_SERVE_SIGNAL,
	AB_SERVE_STOP,
	AB_SERVE_UPDATE,
	AB_SERVE_STATUS,
	AB_SERVE_POOL,
	AB_SERVE_CLOSE,
	AB_SERVE_DO_COUNT,
};

enum ab_stream_kind {
	AB_STREAM_NULL,
	AB_STREAM_CAPTURED,
	AB_STREAM_STREAMED,
	AB_STREAM_FD,
	AB_STREAM_BYTES, /* stdin: of the request */
	AB_STREAM_PIPE,	 /* stdin: see AB_SERVE_INPUT */
	AB_STREAM_SAME,	 /* stderr: as stdout */
};

struct ab_stream_spec {
	enum ab_stream_kind kind;
	size_t fd; /* index among the passed descriptors */
};

/* How the policy of a run comes about; strings are those of the line. */
struct ab_serve_policy {
	const char *cwd, *profile, *workspace;
	char *config; /* a path, or the text of settings; or NULL */
	bool no_project;
	struct ab_setting *settings;
	size_t nsettings;
	struct ab_strv env; /* "K=V" */
	bool has_env;
};

struct ab_serve_request {
	const char *text; /* the line itself, which the caller keeps */
	size_t text_len;
	json_t *line; /* keeps the strings alive */
	json_t *id;   /* in `line`; NULL: not known */
	enum ab_serve_do what;
	size_t nfds;
	uint64_t protocol;  /* hello */
	const char *client; /* the same */
	/* run, check, wrap */
	struct ab_strv argv;
	const char *script; /* or NULL */
	struct ab_serve_policy policy;
	const char *name;
	uint64_t deadline_ms, ask_ms;
	struct ab_stream_spec streams[3];
	uint64_t capture;
	bool ask, yes, records, messages, require_covered, trace_denials;
	bool records_fd;
	size_t records_at;
	uint64_t pool; /* run: 0: none; close */
	uint64_t size; /* pool */
	/* about a run */
	uint64_t run;
	const char *question, *answer, *reason;
	char *bytes; /* run: standard input; input */
	size_t nbytes;
	bool eof;
	int signal;
	uint64_t ms;	      /* stop: grace; update: for how long */
	json_t *allow, *deny; /* in `line`, or NULL */
};

/* Always call ab_serve_request_fini(), also after a failure; then `id` may be known. */
int ab_serve_request_parse(const char *line, size_t len, struct ab_serve_request *ret,
			   struct ab_error *err);
void ab_serve_request_fini(struct ab_serve_request *request);

/* request_policy.c: one member about the policy. 1: it is none of them. */
int ab_serve_policy_member(struct ab_serve_policy *policy, const char *name, const json_t *value,
			   struct ab_error *err);
void ab_serve_policy_fini(struct ab_serve_policy *policy);
/* The text, if the member is one without NUL bytes. */
int ab_serve_text(const char *name, const json_t *value, const char **ret, struct ab_error *err);

/* The argv that runs the request's command in a box: the program itself first. `option_of`: that of
 * run for a key, without the dashes, or NULL. */
int ab_serve_wrap(const struct ab_serve_request *request, const char *program,
		  const char *(*option_of)(const char *key), struct ab_strv *ret_argv,
		  struct ab_error *err);
