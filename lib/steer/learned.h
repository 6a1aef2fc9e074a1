#ifndef AB_STEER_LEARNED_H
#define AB_STEER_LEARNED_H
/*
 * From the record of a run to the smallest policy that would have allowed it.
 *
 * Hosts: those that were reached, by name and, where it is not a usual one,
 * port; never a wildcard. Files: the folders of those that it was refused to
 * write, where a folder of a person's own is meant; others are notes, as is
 * everything that stays refused. A rule that is worth a second look has a
 * reason beside it (the key `reason` of its section).
 *
 * Pure: lines in, texts out. The record has bytes of the box in it, and as
 * many lines as it wanted: what is kept is bounded, and what is too much is
 * counted. Equal records in whichever order give equal texts.
 */
#include <stddef.h>

#include "base/strv.h"

struct ab_learned;
struct ab_policy;

enum {
	AB_LEARNED_HOSTS = 512,		/* that a policy can get */
	AB_LEARNED_FOLDERS = 64,
	AB_LEARNED_NOTES = 200,		/* of one kind, that are kept */
};

struct ab_learned *ab_learned_new(void);
void ab_learned_free(struct ab_learned *learned);

/* One line of the record; what is none, or tells nothing, is passed over. */
void ab_learned_take(struct ab_learned *learned, const char *line, size_t len);

/* What the run began with. */
struct ab_learned_from {
	const struct ab_policy *base;	/* its profile, by itself */
	const char *extends;		/* the profile's name */
	const char *workspace;		/* without links, or "" */
	const char *home;		/* without links, or NULL */
	const struct ab_strv *closed;	/* where ab_learned_closed lead, where
					   that is elsewhere; or NULL */
};

/* Folders of the home folder that no policy gets by itself; NULL at the end.
 * A record has paths as they really are, so that whoever has links there is
 * to say where they lead. */
extern const char *const ab_learned_closed[];

/* A configuration file, as text with an end of line; free it. */
char *ab_learned_policy(const struct ab_learned *learned,
			const struct ab_learned_from *from);
/* What a person should know, for ab_request's say; lines that begin with a
 * space belong to the one before. */
void ab_learned_notes(const struct ab_learned *learned,
		      const struct ab_learned_from *from, struct ab_strv *ret);
/* What is in the policy that this one, which was made with it, does not
 * allow: "network.allow: x.y". */
void ab_learned_check(const struct ab_learned *learned,
		      const struct ab_learned_from *from,
		      const struct ab_policy *policy, struct ab_strv *ret);

#endif
