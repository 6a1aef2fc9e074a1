#pragma once
/*
 * Overlay cannot rename a folder that the lower folder has: rename(2) fails with EXDEV, and git,
 * Python and Node have no other way. So the broker does what such a program would have to do: it
 * copies the folder beside the target, renames the copy, and removes the old folder. The caller
 * waits meanwhile.
 *
 * A worker process does it in the box's user and mount namespace, with the rights of the box's user,
 * in the folders that the guard found, without following a link or leaving the layer's mount. It
 * leaves mount points alone. So it can do nothing that the box could not
 * do itself with more calls. It is not atomic: for a moment both names exist, and what another
 * process writes into the old folder meanwhile may be lost. If anything fails, the copy is removed
 * and the kernel answers the call, with EXDEV.
 */

#include "base/base.h"

struct ab_moves;
struct ab_move_ask;
struct ab_plan;

enum { AB_MOVES_MAX = 4 }; /* at once */

/* `init`: pidfd of the box's init, whose number here is `pid`. Everything lives longer. */
struct ab_moves *ab_moves_new(const struct ab_plan *plan, pid_t pid, int init);

/* Begin; the answer is sent to `sock`. `dirs`: the two descriptors, or fewer. */
void ab_moves_take(struct ab_moves *m, struct ab_move_ask *ask, const int *dirs, size_t ndirs,
		   int sock);
/* The descriptors to wait for. */
size_t ab_moves_poll(const struct ab_moves *m, struct pollfd *ret);
/* Answer calls whose worker has ended. */
void ab_moves_update(struct ab_moves *m);
/* The box is gone: workers remove their copies and end. */
void ab_moves_end(struct ab_moves *m);
/* Sentences about folders that were too large. */
void ab_moves_lines(const struct ab_moves *m, struct ab_strv *ret);

/* moves_worker.c: what a worker does; its result is its exit status. */
enum ab_move_result {
	AB_MOVE_DONE = 0,  /* 1 to 199: this errno */
	AB_MOVE_NOT = 200, /* nothing has changed: the kernel decides */
	AB_MOVE_TOO_LARGE,
	AB_MOVE_NO_SPACE,
	AB_MOVE_OTHERS, /* something in it belongs to another user or group */
};
int ab_move_folder(const struct ab_move_ask *ask, int from_dir, int to_dir);
