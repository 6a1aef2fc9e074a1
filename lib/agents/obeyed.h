#pragma once
/*
 * Names of files that programs outside the box run or obey, by the program: what a box cannot
 * write, what a run reports, what labels a change, and what a person is told about a name. Pure.
 */
#include "base/base.h"

/* When the program obeys the file. */
enum ab_obeyed_when {
	AB_OBEYED_AGENT, /* an agent works */
	AB_OBEYED_NEVER, /* the name alone says nothing: layer/diff/label_git.c */
	AB_OBEYED_GIT,
	AB_OBEYED_LOGIN,
	AB_OBEYED_FOLDER,
	AB_OBEYED_CI,
	AB_OBEYED_BUILD,
	AB_OBEYED_SETTINGS, /* as BUILD, but if it is gone, the program may run or ask more */
	AB_OBEYED_PACKAGES,
	AB_OBEYED_CREDENTIALS,
};

enum ab_obeyed_list {
	AB_OBEYED_CLOSED,   /* no box can write it: filesystem.denyWrite of the profile `default` */
	AB_OBEYED_REPORTED, /* an ordinary file of projects: a run that changed it says so */
	AB_OBEYED_OPEN,	    /* a change of it is labelled, that is all */
	AB_OBEYED_LIKE,	    /* names that users close themselves: explained like the first */
	AB_OBEYED_LISTS,
};

/* A row: a program, and the names that it obeys. "*" is any text in one component; patterns stand
 * for everything below them, too. */
struct ab_obeyed {
	char who[17];
	uint8_t when; /* enum ab_obeyed_when */
	uint8_t why;  /* what a person is told; 0: an agent obeys it */
	union {
		/* Words, separated by blanks. A name is in one of the first three lists. */
		struct {
			const char *closed, *reported, *open, *like;
		};
		const char *lists[AB_OBEYED_LISTS];
	};
};

struct ab_obeyed_name {
	const char *pattern;
	const struct ab_obeyed *by;
};

/* One row after the other, from 0, those of agents at last; NULL behind them. */
const struct ab_obeyed *ab_obeyed_row(size_t index);

/* The names of one list, of all programs. The array stays; it is made at the first call. */
const struct ab_obeyed_name *ab_obeyed_names(enum ab_obeyed_list list, size_t *ret_len);

/* A clause about an entry of filesystem.denyWrite, or about a file below one: "direnv runs it when
 * you enter the folder". The difference between ".envrc" and ".vimrc" is what a person must know
 * before allowing one. Never NULL. */
const char *ab_obeyed_by(const char *name);
