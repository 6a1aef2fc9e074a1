#pragma once
/*
 * What a run without a layer changed, as far as it is known: files in its writable
 * folders whose status changed (ctime, which nobody can set) while the run was active.
 *
 * The record has no list of written files: nobody watches each write. What a file
 * contained before, which files are gone, and who else wrote at the same time is not
 * known. git is not asked: it would obey the settings of a repository that the
 * run may have changed.
 *
 * The folders may be hostile. The walk is bounded and follows no link.
 */
#include "audit/write/audit.h"
#include "base/base.h"

struct ab_change;
struct ab_found_run;

struct ab_run_changes {
	char since[AB_STAMP_ROOM], until[AB_STAMP_ROOM]; /* until: "" if it is not known */
	bool live, refused;				 /* refused: nothing was started */
	struct ab_strv roots;				 /* writable folders */
	struct ab_strv gone;				 /* those that cannot be read now */
	struct ab_strv findings;			 /* what the record says about files */
	/* Sorted by path, which is absolute. Added, or modified: it existed, as far as the file system
	 * knows. */
	struct ab_change *v;
	size_t len, room;
	size_t later;	/* files that changed after the end, and perhaps before */
	size_t folders; /* in which names were added, removed or renamed */
	bool cut;	/* not everything was looked at */
};

#define AB_RUN_FILES_MAX 100000

/* `skip`: a folder that is not looked at (the state folder), or NULL. */
int ab_run_changes_collect(const struct ab_found_run *run, const char *skip,
			   struct ab_run_changes *ret, struct ab_error *err);
void ab_run_changes_fini(struct ab_run_changes *changes);
