#ifndef AB_STEER_PERMIT_H
#define AB_STEER_PERMIT_H
/*
 * `allow` and `deny`: a person's word about a host or a path, for a run that
 * goes on, for the next one, or for all.
 *
 *	permit_read.c	what is meant by a word
 *	permit_judge.c	what can be done about a denial
 *	permit_place.c	what may become writable
 *	permit_words.c	sentences and command lines
 *	permit_run.c	the run that is meant
 *	permit_host.c, permit_path.c, permit_always.c	what is done
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/strv.h"

struct ab_error;
struct ab_policy_input;

struct ab_permit {
	const struct ab_policy_input *input;
	const char *what;	/* ID, DOMAIN or PATH */
	const char *run;	/* its id or name, or NULL */
	bool deny;
	bool always;		/* in the user's own settings, too */
	uint64_t for_ms;	/* 0: as long as the run */
};

struct ab_permitted {
	char run[8];		/* that was changed; "": none */
	struct ab_strv entries;	/* hosts that it was about */
	uint64_t released;	/* connections that waited for it */
	char *path;		/* or a path, for the next run */
	char *workspace;	/* in this one, or NULL: only always */
	char *command;		/* that would start it again, or NULL */
	char *file;		/* settings that were looked at, or NULL */
	struct ab_strv diff;	/* how they changed, safe to print */
	struct ab_strv said;	/* what happened, in sentences */
	struct ab_strv notes;	/* what is worth knowing about it */
};

/* *ret tells what was done also when the rest of it failed. */
int ab_permit(const struct ab_permit *permit, struct ab_permitted *ret,
	      struct ab_error *err);
char *ab_permitted_json(const struct ab_permit *permit,
			const struct ab_permitted *permitted);
void ab_permitted_fini(struct ab_permitted *permitted);

#endif
