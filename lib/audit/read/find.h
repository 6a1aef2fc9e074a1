#pragma once
/*
 * Find runs and their denials by what a person types. `live` and `runs` are the
 * folders of the state folder (state/state.h) that contain the folders of
 * runs. Nothing there is changed.
 */
#include "audit/write/audit.h"

struct ab_detail; /* audit/read/details.h */

struct ab_found_run {
	char id[8];
	char began[AB_STAMP_ROOM];
	bool live; /* its processes hold the lock on the folder */
	int dir;
	char *first; /* the line with kind start or refused */
};

/* Does a text look like a run's id? */
bool ab_run_id_valid(const char *text);

/* `run` is an id or a name (if several had it, the newest of them); NULL: the
 * newest run of all. */
int ab_find_run(int live, int runs, const char *run, struct ab_found_run *ret,
		struct ab_error *err);
void ab_found_run_fini(struct ab_found_run *run);
/* The ids of all runs that have a record, in the order in which they began. */
int ab_find_all(int live, int runs, struct ab_strv *ret_ids, struct ab_error *err);
/* Is the run of this folder live, so that its record may grow? The folder may
 * have been moved. */
bool ab_find_live(int dir);

/* In the number of a question: it is one of AB_DENIAL_TOOL, else of AB_DENIAL_NETWORK. */
#define AB_QUESTION_OF_TOOL (1u << 31)

enum ab_denial_kind {
	AB_DENIAL_NETWORK,   /* RUN-1 */
	AB_DENIAL_PROGRAM,   /* RUN-e1 */
	AB_DENIAL_FILE,	     /* RUN-f1: files and calls */
	AB_DENIAL_MOVED,     /* RUN-q1: moved to quarantine */
	AB_DENIAL_CONTAINER, /* RUN-c1: a request to the container engine */
	AB_DENIAL_TOOL,	     /* RUN-t1: a call of a host tool */
	AB_DENIAL_KINDS,
};

struct ab_denial_name {
	char run[8];
	enum ab_denial_kind kind;
	uint32_t number;
};

/* -1 if it is not the id of a denial. */
int ab_denial_parse(const char *text, struct ab_denial_name *ret);

/* How many denials a record stands for, by its members id, door and repeated.
 * For hosts and programs: itself, and those that were only counted. For files
 * and calls: a record with a count says how many followed the first. */
uint64_t ab_denial_times(const struct ab_detail *id, const struct ab_detail *door,
			 const struct ab_detail *repeated);

/* What the record has about one id. Lines are unchanged; NULL: there is none. */
struct ab_found_denial {
	char id[32];
	char first[AB_STAMP_ROOM], last[AB_STAMP_ROOM];
	uint64_t count; /* of denials; 0: it was asked about and allowed */
	char *denied;	/* violation or exec, the most detailed */
	char *request;	/* what the client got last */
	char *question; /* the last question, with its answer */
};

/* `id` NULL: the last denial of the run. 1: found; 0: there is none; -1. */
int ab_find_denial(int dir, const char *id, struct ab_found_denial *ret, struct ab_error *err);
void ab_found_denial_fini(struct ab_found_denial *denial);

/* A line for each denial, "7kq2x-1  x.y:443  not on the allow list", in order
 * and escaped, at most `most` of them; *ret_n is how many there are. */
int ab_find_denials(int dir, size_t most, struct ab_strv *ret, size_t *ret_n, struct ab_error *err);
