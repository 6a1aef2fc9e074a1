/*
 * Theory of operation.
 *
 * A run notes the permissions in its start record before its box exists, and puts them back before its
 * record has an end. So a folder has its own permissions unless a run in live/ without an end has noted it,
 * and then the note counts: also that of a run that was killed and is not swept yet. The look at the folder
 * and the look at live/ are two: a run may end between them. Therefore the folder is looked at before and
 * after, and again if it has changed.
 *
 * Only runs of this state folder are seen.
 */
#include "state/shared_modes.h"

#include <sys/file.h>

#include "base/system/folder.h"
#include "state/state.h"
#include "workspace/survey/survey.h"

enum {
	TRIES = 100,
	FOR_OTHERS = 07022, /* what the end of a run takes away */
};

struct others {
	struct ab_survey *v;
	size_t n;
};

/* A run without a record has not begun: its box has changed nothing. */
static struct others read_others(const struct ab_state *state)
{
	ab_autodir DIR *list = ab_folder_list(state->live, ".");
	struct others all = { 0 };
	const char *id;

	while ((id = ab_folder_next(list)) != NULL) {
		ab_autoclose int dir = openat(state->live, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		const struct ab_run run = { .dir = dir };
		/* The lock costs less than the end of a long record. */
		bool ended = dir >= 0 && flock(dir, LOCK_SH | LOCK_NB) == 0 && ab_run_ended(&run);
		json_auto_t *start = dir < 0 || ended ? NULL : ab_run_start(&run);
		struct ab_survey survey;

		if (ab_run_survey(start, &survey) == 0)
			*ab_append(all.v, all.n) = survey;
	}
	return all;
}

static bool is_same_folder(const struct ab_folder_mode *a, const struct ab_folder_mode *b)
{
	return a->dev == b->dev && a->ino == b->ino;
}

/* False: the other run has nothing to do with the folder. */
static bool limit_mode(struct ab_folder_mode *m, const struct ab_survey *other)
{
	for (size_t i = 0; i < other->nmodes; i++) {
		const struct ab_folder_mode *before = &other->modes[i];

		if (!is_same_folder(before, m))
			continue;
		m->mode = (before->mode & 0700) | (before->mode & m->mode & 07077);
		m->acl = m->acl && before->acl;
		return true;
	}
	/* What it has not noted had no such rights. */
	if (!ab_path_within_any(m->path, &other->shared) ||
	    ab_time_later(other->started, m->changed))
		return false;
	m->mode &= ~(mode_t)FOR_OTHERS;
	return true;
}

/* True: these are its own permissions. False: look again. */
static bool settle_mode(struct ab_folder_mode *m, const struct others *others)
{
	struct ab_folder_mode now = *m;
	bool settled;

	ab_folder_mode_read(m->path, &now);
	settled = is_same_folder(&now, m) && now.mode == m->mode && now.acl == m->acl &&
		  ab_time_same(now.changed, m->changed);
	for (size_t i = 0; i < others->n; i++)
		settled |= limit_mode(&now, &others->v[i]);
	*m = now;
	return settled;
}

void ab_shared_modes_settle(const struct ab_state *state, struct ab_survey *survey)
{
	bool settled = survey->nmodes == 0;

	for (int i = 0; i < TRIES && !settled; i++) {
		struct others others = read_others(state);

		settled = true;
		for (size_t k = 0; k < survey->nmodes; k++)
			settled &= settle_mode(&survey->modes[k], &others);
		for (size_t k = 0; k < others.n; k++)
			ab_survey_fini(&others.v[k]);
		free(others.v);
	}
	for (size_t i = 0; i < survey->nmodes && !settled; i++)
		survey->modes[i].mode &= ~(mode_t)FOR_OTHERS;
}
