#pragma once
/*
 * Find the records below a folder to which they were collected, whoever wrote
 * what is there.
 *
 *	a folder with audit.jsonl	the record of one run; nothing else in
 *					there is read (a box may have written it)
 *	a folder with runs/ and live/	a state folder: only these are read
 *	NAME.jsonl			a copy (run --audit), of one or more runs
 *
 * In the order of their names. Links are never followed, and only regular files
 * are opened. Memory does not grow with the number of records below, but with
 * the names in the folders on the way; AB_COLLECT_NAMES and AB_COLLECT_DEPTH
 * limit these.
 */
#include "base/base.h"

enum {
	AB_COLLECT_NAMES = 200000, /* in one folder */
	AB_COLLECT_DEPTH = 16,	   /* folders in each other */
};

struct ab_collected {
	const char *path; /* below the folder; valid until the next call */
	bool run;	  /* fd is the folder of a run; else a file */
	int fd;		  /* the caller's */
};

/* What was left out. */
struct ab_left_out {
	uint64_t links;
	uint64_t others; /* records that are not regular files */
	uint64_t deep;	 /* folders below AB_COLLECT_DEPTH others */
	uint64_t full;	 /* folders with more than AB_COLLECT_NAMES names */
	uint64_t closed; /* files and folders that could not be opened */
};

struct ab_collect;

int ab_collect_open(const char *folder, struct ab_collect **ret, struct ab_error *err);
/* The next record; false: there are no more. */
bool ab_collect_next(struct ab_collect *collect, struct ab_collected *ret);
const struct ab_left_out *ab_collect_left_out(const struct ab_collect *collect);
void ab_collect_close(struct ab_collect *collect);
