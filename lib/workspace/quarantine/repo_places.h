#pragma once
/*
 * Paths in the configuration of a repository that the run made: where git would push, and where it
 * would check out. They are looked at as they are now; what counts is the last look, when the box
 * is gone.
 */
#include "base/base.h"
#include "workspace/git/gitkeys.h"

struct ab_quarantine;

struct ab_repo_places {
	struct ab_quarantine *q;
	const char *path; /* of the git directory, real */
	struct ab_strv tops;
	struct ab_strv safe; /* addresses that were looked at */
	size_t naddresses;
	struct ab_gitkeys_terms terms; /* for its configuration */
};

/* It must stay where it is. */
void ab_repo_places_open(struct ab_repo_places *ret, struct ab_quarantine *q, int gitdir,
			 const char *path);
void ab_repo_places_close(struct ab_repo_places *places);
