#pragma once
/*
 * Make the smallest policy that would have allowed a run from its record.
 *
 * Hosts: each one that was reached, by name, with its port if that is unusual;
 * never a wildcard. Files: the folder of each file that the run was not allowed
 * to write, if the user owns it. Other folders, and whatever stays denied,
 * become notes. Secrets that --secret named stay named. A rule that deserves a second look gets a reason (the key
 * `reason` of its section).
 *
 * Pure: lines in, text out. The box controls content and number of the records,
 * so memory is bounded and the rest is counted. The order of the lines makes no
 * difference.
 */
#include "base/base.h"

struct ab_learned;
struct ab_policy;
struct ab_secrets;

enum {
	AB_LEARNED_HOSTS = 512, /* in one policy */
	AB_LEARNED_FOLDERS = 64,
	AB_LEARNED_NOTES = 200, /* of each kind */
};

struct ab_learned *ab_learned_new(void);
void ab_learned_free(struct ab_learned *learned);

/* One line of the record. Lines that are not records, or do not matter here,
 * are ignored. */
void ab_learned_take(struct ab_learned *learned, const char *line, size_t len);

/* What the run started with. */
struct ab_learned_from {
	const struct ab_policy *base;	  /* its profile alone */
	const char *extends;		  /* the profile's name */
	const char *workspace;		  /* real path, or "" */
	const char *home;		  /* real path, or NULL */
	const struct ab_strv *closed;	  /* real paths of those folders of
					 * ab_learned_closed that are links;
					 * or NULL */
	const struct ab_secrets *secrets; /* of the run; or NULL */
};

/* Folders below the home folder that are never opened automatically, as words. Records hold real
 * paths, so the caller resolves those that are links (`closed` above). */
extern const char ab_learned_closed[];

/* The text of a settings file, with its final newline; free it. */
char *ab_learned_policy(const struct ab_learned *learned, const struct ab_learned_from *from);
/* Notes for the user, for ab_request's `say`; a line that begins with a blank
 * continues the one before. */
void ab_learned_notes(const struct ab_learned *learned, const struct ab_learned_from *from,
		      struct ab_strv *ret);
/* The learned rules that are not in force in `policy`, which was resolved with
 * the learned profile: "network.allow: x.y". */
void ab_learned_check(const struct ab_learned *learned, const struct ab_learned_from *from,
		      const struct ab_policy *policy, struct ab_strv *ret);
