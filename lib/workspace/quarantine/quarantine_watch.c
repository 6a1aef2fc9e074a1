/*
 * Theory of operation.
 *
 * States: waiting (the ctime of the folders is checked every few milliseconds), armed
 * (inotify), armed and polling (inotify has no room, or refused a folder: both).
 * Every folder is looked at once after its watch is set, so nothing that appears
 * before that is missed.
 *
 * An event names the entry that appeared, so a folder with many files is not listed
 * for each of them. If the kernel dropped events, everything is looked at.
 *
 * Unpacking, cloning and building create files by the thousand. To wake us for each of
 * them costs the box more than the file, so events that were harmless are followed by a
 * pause in which the next ones are collected. The first event after a quiet moment, and
 * those after something was moved, are taken at once.
 */
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <sys/inotify.h>
#include <sys/syscall.h>

#include "workspace/quarantine/quarantine_state.h"
#include "workspace/tree/names.h"

enum {
	APPEARS = IN_CREATE | IN_MOVED_TO,
	CHANGES = APPEARS | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB,
	TICK_MS = 30, /* more than the longest clock tick of file times, twice */
	SLICE_MS = 2, /* for repositories, before names are looked at again */
	PAUSE_MS = 2, /* while events are collected */
};

static int add_watch(struct ab_quarantine *q, int fd, uint32_t mask)
{
	char self[32];
	int wd;

	if (q->inotify < 0)
		return -1;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	wd = inotify_add_watch(q->inotify, self, mask | IN_ONLYDIR | IN_MASK_ADD);
	q->polling |= wd < 0;
	return wd;
}

void ab_quarantine_watch_held(struct ab_quarantine *q, struct ab_held_folder *held)
{
	if (held->wd < 0)
		held->wd = add_watch(q, held->fd, APPEARS);
}

void ab_quarantine_watch_writes(struct ab_quarantine *q, const struct ab_held_folder *held)
{
	if (held->wd >= 0)
		add_watch(q, held->fd, APPEARS | IN_MODIFY | IN_CLOSE_WRITE);
}

void ab_quarantine_watch_repo(struct ab_quarantine *q, struct ab_repo *repo)
{
	if (repo->wd < 0)
		repo->wd = add_watch(q, repo->fd, CHANGES);
	if (repo->hooks >= 0 && repo->hooks_wd < 0)
		repo->hooks_wd = add_watch(q, repo->hooks, APPEARS);
}

bool ab_quarantine_ticks_apart(const struct timespec *before, const struct timespec *after)
{
	return (after->tv_sec - before->tv_sec) * 1000 +
		       (after->tv_nsec - before->tv_nsec) / 1000000 >
	       TICK_MS;
}

/*
 * Before Linux 6.13 file times have the resolution of the clock tick: a change in the
 * same tick as our check does not change the ctime, so a folder that has just
 * changed is checked again until a tick has passed.
 */
bool ab_quarantine_has_changed(struct ab_held_folder *h)
{
	struct timespec now;
	struct stat st;
	bool changed;

	if (fstat(h->fd, &st) < 0)
		return true;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	changed = st.st_ctim.tv_sec != h->seen.tv_sec || st.st_ctim.tv_nsec != h->seen.tv_nsec;
	h->seen =
		ab_quarantine_ticks_apart(&st.st_ctim, &now) ? st.st_ctim : (struct timespec){ 0 };
	return changed;
}

static void look_at_held(struct ab_quarantine *q, size_t index)
{
	q->touched = true;
	ab_quarantine_sweep_held(q, index, NULL);
	if (q->held[index].grow)
		ab_repos_list(q, index);
}

/* Repositories take longer than names, and the box decides how many there are: after a
 * moment, look at the names again and continue later. */
static void look_at_dirty(struct ab_quarantine *q)
{
	int64_t until = ab_now_ms() + SLICE_MS;

	for (size_t i = 0; i < q->nrepos; i++) {
		if (!q->repos[i].dirty)
			continue;
		if (ab_now_ms() > until) {
			q->repos_at = until;
			return;
		}
		q->repos[i].dirty = false;
		ab_repos_look(q, i);
	}
}

static bool any_changed(struct ab_quarantine *q)
{
	for (size_t i = 0; i < q->nheld; i++) {
		struct timespec seen = q->held[i].seen;

		if (ab_quarantine_has_changed(&q->held[i])) {
			q->held[i].seen = seen; /* it is still to be looked at */
			return true;
		}
	}
	return false;
}

/*
 * The shortest time slice: since Linux 6.12 a task that asks for less at a time is
 * run sooner after it wakes up, also beside a box that uses every core. Older
 * kernels ignore it.
 */
static void ask_for_short_slices(void)
{
	struct sched_attr attr = { .size = sizeof(attr),
				   .sched_flags = SCHED_FLAG_RESET_ON_FORK | SCHED_FLAG_KEEP_POLICY,
				   .sched_nice = getpriority(PRIO_PROCESS, 0),
				   .sched_runtime = 100 * 1000 };

	(void)syscall(SYS_sched_setattr, 0, &attr, 0);
}

static void arm_watch(struct ab_quarantine *q)
{
	ask_for_short_slices();
	q->armed = true;
	q->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	q->polling = q->inotify < 0;
	for (size_t i = 0; i < q->nheld; i++)
		ab_quarantine_watch_held(q, &q->held[i]);
	ab_repos_begin(q);
}

int ab_quarantine_fd(const struct ab_quarantine *q)
{
	return q->events_at ? -1 : q->inotify;
}

int64_t ab_quarantine_events_at(const struct ab_quarantine *q)
{
	return q->events_at ? q->events_at : INT64_MAX;
}

void ab_quarantine_unwatch(struct ab_quarantine *q)
{
	int pair[2];

	if (q->inotify < 0)
		return;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0) {
		(void)ab_send_fds(pair[0], "", 1, (const int[]){ q->inotify, pair[1] }, 2);
		close(pair[0]);
		close(pair[1]);
	}
	ab_closep(&q->inotify);
}

int64_t ab_quarantine_due(const struct ab_quarantine *q)
{
	if (q->nheld == 0 && q->nrepos == 0)
		return INT64_MAX;
	if (!q->armed || q->polling)
		return q->next_look;
	return q->repos_at ? q->repos_at : INT64_MAX;
}

void ab_quarantine_look(struct ab_quarantine *q)
{
	int64_t now = ab_now_ms();

	if (q->nheld == 0 && q->nrepos == 0)
		return;
	q->live = true;
	q->next_look = now + AB_QUARANTINE_POLL_MS;
	q->repos_at = 0;
	if (!q->armed && !any_changed(q) && now < q->arm_at)
		return;
	if (!q->armed)
		arm_watch(q);
	/* Both lists grow meanwhile. */
	for (size_t i = 0; i < q->nheld; i++) {
		if (ab_quarantine_has_changed(&q->held[i]))
			look_at_held(q, i);
		else if (q->held[i].gitfile)
			ab_repos_appeared(q, i, ".git", false);
	}
	if (now >= q->next_repos) {
		q->next_repos = now + (q->polling ? AB_QUARANTINE_POLL_MS : AB_QUARANTINE_MS);
		for (size_t i = 0; i < q->nrepos; i++)
			q->repos[i].dirty = true;
	}
	look_at_dirty(q);
}

static void take_event(struct ab_quarantine *q, const struct inotify_event *e)
{
	const char *name = e->len ? e->name : "";

	for (size_t i = 0; i < q->nheld; i++) {
		if (q->held[i].wd != e->wd)
			continue;
		/* A ".git" file is empty when it appears, and can be written again later. */
		if (!(e->mask & APPEARS)) {
			if (q->held[i].gitfile && ab_name_may_be(name, ".git"))
				ab_repos_appeared(q, i, name, false);
			continue;
		}
		q->touched = true;
		ab_quarantine_sweep_held(q, i, name);
		if (q->held[i].grow)
			ab_repos_appeared(q, i, name, e->mask & IN_ISDIR);
	}
	/* git itself writes other files all the time: locks, objects, references. */
	for (size_t i = 0; i < q->nrepos; i++)
		if (q->repos[i].hooks_wd == e->wd ||
		    (q->repos[i].wd == e->wd && ab_repos_concerns(&q->repos[i], name)))
			q->repos[i].dirty = true;
}

void ab_quarantine_events(struct ab_quarantine *q)
{
	_Alignas(struct inotify_event) char raw[16384];
	size_t moved = q->report.nmoved, alerts = q->report.alerts.len;
	ssize_t n = read(q->inotify, raw, sizeof(raw));

	q->live = true;
	for (ssize_t at = 0; at < n;) {
		const struct inotify_event *e = (const void *)(raw + at);

		at += (ssize_t)(sizeof(*e) + e->len);
		if (e->mask & IN_Q_OVERFLOW) {
			for (size_t i = 0; i < q->nheld; i++)
				look_at_held(q, i);
			for (size_t i = 0; i < q->nrepos; i++)
				q->repos[i].dirty = true;
			continue;
		}
		take_event(q, e);
	}
	look_at_dirty(q);
	/* More may be waiting if it did not fit. */
	q->events_at = 0;
	if (n > 0 && n < (ssize_t)sizeof(raw) / 2 && q->report.nmoved == moved &&
	    q->report.alerts.len == alerts)
		q->events_at = ab_now_ms() + PAUSE_MS;
}
