#include "state/claim.h"

#include <sys/file.h>

#include "base/system/signals.h"
#include "state/live_writers.h"
#include "state/state.h"

#define CLAIM "claim"
#define CLAIMS "claims"

enum {
	WAIT_MS = 10 * 1000,
	SHORT_MS = 200, /* an unlisted claim is over sooner, and a listed one is found afterwards */
	PAUSE_MS = 20,
	LISTED = 16,
};

/* The file "claims": how many there were, then the last ones, each at its number modulo LISTED. */
struct listed {
	uint64_t number;
	char place[PATH_MAX];
};

static void pause_shortly(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = PAUSE_MS * 1000000L }, NULL);
}

/* Signals are blocked while a box is being made. */
static int fail_interrupted(struct ab_error *err)
{
	return ab_fail(err, AB_ESYSTEM, EINTR, "wait for the end of an apply");
}

/* The folder of the claim that holds the lock; "" while it is not written yet. */
static char *read_place(int fd)
{
	char path[PATH_MAX];
	ssize_t n = pread(fd, path, sizeof(path), 0);

	return ab_strndup(path, n > 0 ? (size_t)n : 0);
}

/* ---- the list of claims ---- */

static off_t find_slot(uint64_t number)
{
	return (off_t)(sizeof(uint64_t) + number % LISTED * sizeof(struct listed));
}

static uint64_t read_count(int fd)
{
	uint64_t n;

	return pread(fd, &n, sizeof(n), 0) == sizeof(n) ? n : 0;
}

/* With the lock. The number is written last: a run that sees it can read the place. */
static int list_claim(struct ab_claim *claim, const char *place, struct ab_error *err)
{
	const struct ab_state *state = claim->state;
	ab_autoclose int fd =
		openat(state->root, CLAIMS, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct listed l = { 0 };

	l.number = fd < 0 ? 0 : read_count(fd) + 1;
	snprintf(l.place, sizeof(l.place), "%s", place);
	if (fd < 0 || pwrite(fd, &l, sizeof(l), find_slot(l.number)) != sizeof(l) ||
	    pwrite(fd, &l.number, sizeof(l.number), 0) != sizeof(l.number))
		return ab_fail(err, AB_ESYSTEM, errno, "write %s/" CLAIMS, state->path);
	claim->used = true;
	return 0;
}

/* ---- the claim ---- */

/* -1 with errno EWOULDBLOCK: another process has it. */
static int try_lock(const struct ab_state *state)
{
	ab_autoclose int fd = openat(state->root, CLAIM,
				     O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	struct stat ours, named;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &ours) < 0)
		return -1;
	/* The one who had it has removed the file. */
	if (fstatat(state->root, CLAIM, &named, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !ab_stat_same(&named, &ours))
		return ab_errno(EWOULDBLOCK);
	return ab_take_fd(&fd);
}

static int fail_busy(const struct ab_state *state, struct ab_error *err)
{
	ab_autoclose int fd = openat(state->root, CLAIM, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ab_autofree char *place = fd < 0 ? NULL : read_place(fd);
	ab_autofree char *shown = ab_escape(place && place[0] ? place : "a workspace");

	ab_fail(err, AB_EREFUSED, 0, "another command is changing files in %s", shown);
	return ab_hint(err, "try again when it has ended");
}

static int lock_claim(const struct ab_claim *claim, int *ret, struct ab_error *err)
{
	const struct ab_state *state = claim->state;
	int64_t until = ab_now_ms() + (claim->hasty ? 0 : WAIT_MS);

	for (;;) {
		int fd = try_lock(state);

		if (fd >= 0) {
			*ret = fd;
			return 0;
		}
		if (errno != EWOULDBLOCK)
			return ab_fail(err, AB_ESYSTEM, errno, "lock %s/" CLAIM, state->path);
		if (ab_must_end(true))
			return fail_interrupted(err);
		if (ab_now_ms() >= until)
			return fail_busy(state, err);
		pause_shortly();
	}
}

static int check_writers(struct ab_claim *claim, const char *place, const struct ab_strv *paths,
			 struct ab_error *err)
{
	struct ab_writer_search search = { .root = place, .paths = paths, .except = claim->own };

	if (!ab_find_live_writer(claim->state, &search, claim->busy))
		return 0;
	return ab_fail_live_writer(place, claim->busy, err);
}

int ab_claim_take(struct ab_claim *claim, const char *root, const struct ab_strv *paths,
		  struct ab_error *err)
{
	ab_autofree char *real = realpath(root, NULL);
	const char *place = real ? real : root;

	claim->busy[0] = '\0';
	if (lock_claim(claim, &claim->lock, err) < 0)
		return -1;
	if (ftruncate(claim->lock, 0) < 0 || ab_write_all(claim->lock, place, strlen(place)) < 0)
		ab_fail(err, AB_ESYSTEM, errno, "write %s/" CLAIM, claim->state->path);
	else if (check_writers(claim, place, paths, err) == 0 &&
		 (claim->unlisted || list_claim(claim, place, err) == 0))
		return 0;
	ab_claim_release(claim);
	return -1;
}

void ab_claim_release(struct ab_claim *claim)
{
	if (claim->lock < 0)
		return;
	/* Without the file a start costs one call. The lock is ours until it is gone. */
	unlinkat(claim->state->root, CLAIM, 0);
	ab_closep(&claim->lock);
}

static int enter_guard(struct ab_host_guard *guard, const char *root, const struct ab_strv *paths,
		       struct ab_error *err)
{
	return ab_claim_take((struct ab_claim *)guard, root, paths, err);
}

static void leave_guard(struct ab_host_guard *guard)
{
	ab_claim_release((struct ab_claim *)guard);
}

void ab_claim_init(struct ab_claim *ret, const struct ab_state *state, const char *own)
{
	*ret = (struct ab_claim){ .guard = { .enter = enter_guard, .leave = leave_guard },
				  .state = state,
				  .own = own,
				  .lock = -1 };
}

/* ---- the run ---- */

static bool overlaps_any(const char *place, const struct ab_strv *roots)
{
	for (size_t i = 0; i < roots->len; i++) {
		/* Policies have paths with links in them. */
		ab_autofree char *real = realpath(roots->v[i], NULL);

		if (!place[0] || ab_paths_overlap(place, real ? real : roots->v[i]))
			return true;
	}
	return false;
}

/* 1: *ret_place is being changed, and a root is in it or contains it. */
static int find_claim(const struct ab_state *state, const struct ab_strv *roots, char **ret_place,
		      struct ab_error *err)
{
	ab_autoclose int fd =
		openat(state->root, CLAIM, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ab_autofree char *place = NULL;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0)
		return 0; /* of a command that was killed */
	if (fd < 0 || errno != EWOULDBLOCK)
		return ab_fail_step(err, "workspace", errno, "look at %s/" CLAIM, state->path);
	place = read_place(fd);
	if (!overlaps_any(place, roots))
		return 0;
	*ret_place = ab_take(place);
	return 1;
}

/* 1: *ret_place was changed after `seen` claims, or may have been (""). */
static int find_listed(const struct ab_state *state, const struct ab_strv *roots, uint64_t seen,
		       char **ret_place, struct ab_error *err)
{
	ab_autoclose int fd = openat(state->root, CLAIMS, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	uint64_t now = fd < 0 ? 0 : read_count(fd);

	if (fd < 0 && errno != ENOENT)
		return ab_fail_step(err, "workspace", errno, "look at %s/" CLAIMS, state->path);
	for (uint64_t n = seen + 1; roots->len && now != seen && n != now + 1; n++) {
		struct listed l;
		bool known = now - seen < LISTED &&
			     pread(fd, &l, sizeof(l), find_slot(n)) == sizeof(l) && l.number == n &&
			     memchr(l.place, '\0', sizeof(l.place));

		if (!overlaps_any(known ? l.place : "", roots))
			continue;
		*ret_place = ab_strdup(known ? l.place : "");
		return 1;
	}
	return 0;
}

static uint64_t count_claims(const struct ab_state *state)
{
	ab_autoclose int fd = openat(state->root, CLAIMS, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? 0 : read_count(fd);
}

/* `over`: the change has ended. */
static int fail_changed(const char *place, bool over, struct ab_error *err)
{
	ab_autofree char *shown = ab_escape(place[0] ? place : "the workspace");

	/* Not the policy: the same run starts a moment later. */
	ab_fail(err, AB_ESYSTEM, 0, "agentbox %s files in %s (apply or undo)%s",
		over ? "changed" : "is changing", shown,
		over ? " while the run was being planned" : "");
	ab_hint(err, "start the run again%s", over ? "" : " when that has ended");
	return ab_step(err, "workspace");
}

int ab_claim_wait(const struct ab_state *state, const struct ab_strv *roots,
		  void (*tell)(void *arg, const char *text), void *arg, uint64_t *ret_seen,
		  struct ab_error *err)
{
	int64_t until = ab_now_ms() + WAIT_MS;

	for (bool told = false;; told = true) {
		/* First: a claim that begins now is either found, or not counted. */
		uint64_t seen = count_claims(state);
		ab_autofree char *place = NULL;
		int found = find_claim(state, roots, &place, err);

		if (found == 0)
			*ret_seen = seen;
		if (found <= 0)
			return found;
		if (ab_must_end(true))
			return fail_interrupted(err);
		if (ab_now_ms() >= until)
			return fail_changed(place, false, err);
		if (!told)
			tell(arg, "waiting: agentbox is changing files in the workspace (apply or "
				  "undo)");
		pause_shortly();
	}
}

int ab_claim_check(const struct ab_state *state, const struct ab_strv *roots, uint64_t seen,
		   struct ab_error *err)
{
	ab_autofree char *place = NULL, *changed = NULL;
	int64_t until = ab_now_ms() + SHORT_MS;
	int found;

	while ((found = find_claim(state, roots, &place, err)) > 0) {
		if (ab_now_ms() >= until || ab_must_end(true))
			return fail_changed(place, false, err);
		free(ab_take(place));
		pause_shortly();
	}
	if (found < 0)
		return -1;
	found = find_listed(state, roots, seen, &changed, err);
	return found > 0 ? fail_changed(changed, true, err) : found;
}
