#pragma once
/*
 * The result of a run as one JSON object, for programs that want to know more
 * than an exit status. Pure, except reading; outcome.c and in_child.c fill it in and write it.
 *
 *	{"version":1,"run_id","name","command":[],"cwd","profile",
 *	 "exit":N,"status":N|null,"signal":"SIGTERM"|null,"timed_out",
 *	 "error":TEXT|null,"hint":TEXT|null,"started","duration_ms",
 *	 "decision","rule","approved",
 *	 "assurance":{"engine","holds":[],"missing":[],"given_up":[]},
 *	 "network":{"allowed","denied","failed","bytes_up","bytes_down"}|null,
 *	 "violations":[],"violations_total":N,"findings":[],
 *	 "review":{..}|null}
 *
 * Every key is always present; an unknown value is null or an empty list.
 */
#include "base/base.h"

struct ab_ledger_totals;

enum { AB_RESULT_VERSION = 1, AB_RESULT_MAX = 64 << 20 };

struct ab_result {
	const char *run_id; /* these may be NULL: unknown */
	const char *name;
	const char *cwd;
	const char *profile;
	const char *decision;
	const char *rule;
	const char *approved;
	const struct ab_strv *command;
	int exit;   /* agentbox's own exit status */
	bool ran;   /* the command ran; else no `status` */
	int status; /* of the command, as from wait() */
	bool timed_out;
	const struct ab_error *error; /* agentbox's own, or NULL */
	struct timespec started;
	uint64_t duration_ms;
	uint32_t holds, missing, given_up;	/* AB_PROP_BIT()s */
	const char *engine;			/* or NULL: no box was built */
	const struct ab_ledger_totals *network; /* or NULL: no network */
	const struct ab_strv *violations;	/* records, or NULL */
	uint64_t nviolations;			/* total, also those not listed */
	const struct ab_strv *findings;		/* or NULL */
	const char *review;			/* JSON, or NULL: the run was not reviewed */
};

/* The object, without a newline. */
void ab_result_json(const struct ab_result *result, struct ab_buf *ret);
/* The object that a supervisor wrote into this file; NULL: none. Free it. */
char *ab_result_read(int fd);

/* What was captured of a stream: the first `len` bytes of `total`. */
struct ab_stream {
	char *data;
	size_t len;
	uint64_t total;
};

/*
 * Add the captured output to the object: "stdout" or, if it is not UTF-8, "stdout_base64", with
 * "stdout_truncated" and "stdout_bytes"; the same for "stderr". A character that was cut in two at
 * the end is left out. NULL: that stream was not captured.
 */
void ab_result_add_streams(struct ab_buf *object, const struct ab_stream *out,
			   const struct ab_stream *err);
