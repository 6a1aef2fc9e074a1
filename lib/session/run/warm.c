/*
 * Theory of operation.
 *
 * The key of a box is everything that its init was told, without the command, and the identity of
 * every file that a mount or a rule of Landlock is about: a mount moves with the name below it if the
 * host renames it, and a file with the same name would be open then. A number of an inode can be used
 * again, so the time of birth belongs to the identity (of a file system that has none, the time of the
 * last change). A link to the same file can take the place of the name: while there are two, their
 * number tells it, or the time of the last change if there always were; without the old one its mount
 * has ended. The key is made before the mounts, after the proof, and at the take.
 *
 * A mount ends if the host removes or replaces the name below it, whatever has this name now; and a
 * file system that the host has mounted or unmounted since is not what the box has there. So neither
 * the mounts of the box nor those of the host may have changed: a descriptor of "mountinfo" tells it.
 *
 * Messages that init sends before READY (sockets of the box) are kept for the supervisor's loop.
 */
#include "session/run/warm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "policy/layers/environment.h"
#include "policy/model/policy.h"
#include "sandbox/start/bridge.h"
#include "session/lock/lockdown.h"
#include "session/run/prepare.h"
#include "session/run/run_state.h"

struct ab_warm {
	struct ab_box box; /* sock -1: taken */
	struct ab_network network;
	struct ab_cgroup cgroup;
	struct ab_heard heard;
	struct ab_buf key, launch;
	int mounts[2]; /* of the host and of the box, as they were */
	char *run_id;
};

/* ---- the key ---- */

static void add_identity(struct ab_buf *key, const char *path)
{
	const unsigned wanted = STATX_INO | STATX_TYPE | STATX_NLINK | STATX_CTIME | STATX_BTIME;
	struct statx st = { 0 };
	bool found = statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, wanted, &st) == 0;
	bool birth = st.stx_mask & STATX_BTIME;
	uint64_t links = S_ISDIR(st.stx_mode) ? 1 : st.stx_nlink;
	const struct statx_timestamp *time = birth && links == 1 ? &st.stx_btime : &st.stx_ctime;
	const uint64_t identity[] = {
		found, st.stx_dev_major,       st.stx_dev_minor, st.stx_ino, st.stx_mode & S_IFMT,
		links, (uint64_t)time->tv_sec, time->tv_nsec
	};

	ab_buf_add(key, (const char *)identity, sizeof(identity));
}

/* What init was told at its launch, and the limits of its cgroup: what a run must know about a box
 * before it takes it. */
static void add_launch(struct ab_buf *key, const struct ab_policy *policy)
{
	const uint64_t numbers[] = { policy->net.mode,	       policy->assurance.engine,
				     policy->fs.tmp_size,      policy->limits.memory,
				     policy->limits.processes, policy->net.host_ports.len };

	ab_buf_add(key, (const char *)numbers, sizeof(numbers));
	ab_buf_add(key, (const char *)policy->net.host_ports.v,
		   policy->net.host_ports.len * sizeof(policy->net.host_ports.v[0]));
}

static int make_key(const struct run *r, struct ab_buf *ret, struct ab_error *err)
{
	const struct ab_spec *spec = &r->prepared->spec;
	struct ab_spec box = *spec; /* borrowed */

	box.argv = box.env = box.streams = box.keep_fds = (struct ab_strv){ 0 };
	/* Where the write fence was proved depends on the folder of the command. */
	box.unwritable = (struct ab_strv){ 0 };
	box.cwd = box.run_id = NULL;
	box.cwd_ino = box.started_ns = 0;
	box.timing = box.waits = false;
	if (ab_spec_write(&box, ret, err) < 0)
		return ab_step(err, "specification");
	for (size_t i = 0; i < spec->plan.len; i++)
		add_identity(ret, spec->plan.v[i].path);
	for (size_t i = 0; i < spec->nfiles; i++)
		add_identity(ret, spec->files[i].path);
	for (size_t i = 0; i < spec->nrules; i++)
		add_identity(ret, spec->rules[i].path);
	return 0;
}

static bool has_key(const struct ab_buf *key, const struct ab_buf *other)
{
	return key->len == other->len && memcmp(key->data, other->data, key->len) == 0;
}

/* ---- mounts ---- */

static int watch_mounts(int *ret, struct ab_error *err)
{
	*ret = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	return *ret < 0 ? ab_fail(err, AB_ESYSTEM, errno, "open /proc/self/mountinfo") : 0;
}

static bool have_mounts_changed(const struct ab_warm *w)
{
	struct pollfd p[] = { { .fd = w->mounts[0], .events = POLLPRI },
			      { .fd = w->mounts[1], .events = POLLPRI } };

	return poll(p, AB_COUNT(p), 0) != 0;
}

/* ---- preparing ---- */

/* What a run gets anew each time, or holds a lock on, cannot be prepared. */
static int check_policy(const struct ab_policy *policy, struct ab_error *err)
{
	const struct {
		bool there;
		const char *what;
	} obstacles[] = {
		{ ab_safe_needed(policy), "secrets, path rules or intercepted hosts" },
		{ policy->fs.review != AB_REVIEW_NONE, "a review of its changes" },
		{ policy->fs.home == AB_HOME_KEPT, "a home folder that is kept" },
		{ policy->fs.share.len > 0, "shared folders" },
	};

	for (size_t i = 0; i < AB_COUNT(obstacles); i++)
		if (obstacles[i].there) {
			ab_fail(err, AB_EUSAGE, 0,
				"a box with %s cannot be prepared before its command is known",
				obstacles[i].what);
			ab_hint(err, "run its commands without a pool");
			return ab_step(err, "pool");
		}
	return 0;
}

static int check_engine(const struct run *r, struct ab_error *err)
{
	if (r->box.namespaces)
		return 0;
	ab_fail(err, AB_EPROPERTY, 0,
		"without namespaces there is nothing that could be prepared before the command is "
		"known");
	ab_hint(err, "%s; or run commands without a pool",
		r->box.refused.hint[0] ? r->box.refused.hint : "use --engine auto");
	return ab_step(err, "pool");
}

static int keep_message(struct ab_heard *heard, const struct ab_msg *msg, struct ab_fds *fds,
			struct ab_error *err)
{
	struct ab_heard_message *m = &heard->v[heard->len];

	if (heard->len == AB_COUNT(heard->v) || fds->len > 1) {
		ab_fds_close(fds);
		return ab_fail(err, AB_ESYSTEM, 0, "the box sent too many messages");
	}
	*m = (struct ab_heard_message){ .type = msg->type, .fd = -1 };
	if (fds->len)
		m->fd = ab_take_fd(&fds->v[0]);
	fds->len = 0;
	heard->len++;
	return 0;
}

static int await_ready(struct run *r, struct ab_heard *heard, int *ret_mounts, struct ab_error *err)
{
	for (;;) {
		struct ab_msg msg;
		struct ab_fds fds;
		int n = ab_box_hear(&r->box, &msg, &fds, 0);

		if (n < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "receive from the box");
		if (n == 0)
			return ab_fail(err, AB_ESYSTEM, 0, "the box ended before it was ready");
		if (msg.type == AB_MSG_READY) {
			if (fds.len)
				*ret_mounts = ab_take_fd(&fds.v[0]);
			ab_fds_close(&fds);
			return *ret_mounts >= 0
				       ? 0
				       : ab_fail(err, AB_ESYSTEM, 0, "the box sent no mounts");
		}
		if (msg.type == AB_MSG_FAILED) {
			ab_fds_close(&fds);
			*err = msg.u.error;
			return -1;
		}
		if (keep_message(heard, &msg, &fds, err) < 0)
			return -1;
	}
}

static int build_box(struct run *r, struct ab_warm *w, struct ab_error *err)
{
	struct ab_spec *spec = &r->prepared->spec;
	ab_autobuf struct ab_buf key = { 0 };

	if (ab_run_launch(r, err) < 0 || check_engine(r, err) < 0)
		return -1;
	ab_policy_protect_registries(r->prepared->policy, &r->request->policy);
	if (ab_run_make_spec(r, err) < 0)
		return -1;
	spec->waits = true;
	if (make_key(r, &w->key, err) < 0 || ab_box_specify(&r->box, spec, err) < 0)
		return -1;
	if (spec->door && ab_bridge_raise(&r->box, &r->network, err) < 0)
		return -1;
	if (await_ready(r, &r->heard, &w->mounts[1], err) < 0 || make_key(r, &key, err) < 0)
		return -1;
	if (has_key(&key, &w->key))
		return 0;
	ab_fail(err, AB_ESYSTEM, 0, "files changed while the box was prepared");
	return ab_step(err, AB_WARM_UNFIT);
}

static void drop_box(struct run *r)
{
	if (r->box.sock >= 0) {
		ab_box_kill(&r->box);
		ab_box_fini(&r->box);
	}
	ab_network_fini(&r->network);
	ab_heard_fini(&r->heard);
}

int ab_warm_prepare(const struct ab_request *request, struct ab_warm **ret, struct ab_error *err)
{
	struct ab_prepared prepared;
	struct run r;
	struct ab_warm *w;
	int result;

	ab_run_init(&r, request, &prepared);
	if (ab_prepare(request, &prepared, err) < 0)
		return -1;
	prepared.result = &r.result;
	w = ab_alloc(sizeof(*w));
	*w = (struct ab_warm){ .box = { .pidfd = -1, .sock = -1 },
			       .cgroup = AB_CGROUP_NONE,
			       .mounts = { -1, -1 } };
	result = prepared.nested ? ab_fail(err, AB_EUSAGE, 0, "inside a box, no box is prepared")
				 : check_policy(prepared.policy, err);
	if (result == 0)
		result = watch_mounts(&w->mounts[0], err);
	add_launch(&w->launch, prepared.policy);
	if (result == 0)
		result = build_box(&r, w, err);
	if (result < 0) {
		ab_box_explain(err);
		drop_box(&r);
		if (r.cgroup.path)
			ab_cgroup_remove(r.cgroup.path, prepared.spec.run_id);
		ab_cgroup_fini(&r.cgroup);
		ab_supervise_release();
	} else {
		w->box = r.box;
		w->network = r.network;
		w->heard = r.heard;
		w->cgroup = r.cgroup;
		w->run_id = ab_strdup(prepared.spec.run_id);
	}
	ab_prepared_fini(&prepared);
	if (result < 0)
		ab_warm_free(w);
	else
		*ret = w;
	return result;
}

int ab_warm_fd(const struct ab_warm *warm)
{
	return warm->box.sock;
}

/* Nothing is left that a run could take. */
static void discard(struct ab_warm *w)
{
	if (w->box.sock >= 0) {
		ab_box_kill(&w->box);
		ab_box_fini(&w->box);
	}
	w->box = (struct ab_box){ .pidfd = -1, .sock = -1 };
	ab_network_fini(&w->network);
	ab_heard_fini(&w->heard);
	if (w->cgroup.path)
		ab_cgroup_remove(w->cgroup.path, w->run_id);
	ab_cgroup_fini(&w->cgroup);
}

void ab_warm_free(struct ab_warm *w)
{
	if (!w)
		return;
	discard(w);
	for (size_t i = 0; i < AB_COUNT(w->mounts); i++)
		ab_closep(&w->mounts[i]);
	ab_buf_fini(&w->key);
	ab_buf_fini(&w->launch);
	free(w->run_id);
	free(w);
}

/* ---- taking ---- */

static void say_unused(const struct run *r, const char *why)
{
	ab_run_say(r, AB_SAY_DETAIL, "the prepared box is not used: %s", why);
}

/* NULL: nothing so far. */
static const char *find_obstacle(struct run *r, const struct ab_warm *w)
{
	struct ab_prepared *p = r->prepared;
	ab_autobuf struct ab_buf launch = { 0 };

	add_launch(&launch, p->policy);
	if (!has_key(&launch, &w->launch))
		return "the engine, the network or the limits are others now";
	/* Its cgroup has the id in its name. */
	if (ab_prepare_record(r->request, p, &(struct ab_error){ 0 }) < 0 ||
	    ab_state_has_id(&p->state, w->run_id))
		return "the state folder is another one now, or has a run with its id";
	return NULL;
}

bool ab_warm_take(struct run *r)
{
	struct ab_warm *w = r->request->warm;
	struct ab_prepared *p = r->prepared;
	const char *why;

	if (!w || w->box.sock < 0)
		return false;
	why = find_obstacle(r, w);
	if (why) {
		say_unused(r, why);
		discard(w);
		return false;
	}
	free(p->spec.run_id);
	p->spec.run_id = ab_strdup(w->run_id);
	r->box = w->box;
	r->network = w->network;
	r->heard = w->heard;
	r->cgroup = w->cgroup;
	r->warm = true;
	w->box = (struct ab_box){ .pidfd = -1, .sock = -1 };
	w->network = (struct ab_network){ .n = 0 };
	w->heard = (struct ab_heard){ .len = 0 };
	w->cgroup = (struct ab_cgroup)AB_CGROUP_NONE;
	return true;
}

int ab_warm_settle(struct run *r, struct ab_error *err)
{
	struct ab_warm *w = r->request->warm;
	ab_autobuf struct ab_buf key = { 0 };
	const char *why = NULL;
	int gone = 1;

	if (make_key(r, &key, err) < 0)
		return -1;
	if (!has_key(&key, &w->key))
		why = "what it protects, hides or may write has changed";
	else if (have_mounts_changed(w))
		why = "file systems were mounted or unmounted";
	else if (!ab_box_takes(r->streams.box))
		why = "a standard stream is neither a pipe nor a socket nor /dev/null";
	for (size_t i = 0; i < AB_COUNT(w->mounts); i++)
		ab_closep(&w->mounts[i]);
	if (!why)
		gone = ab_box_hand(&r->box, &r->prepared->spec, r->streams.box, err);
	if (gone == 0)
		return 1;
	if (gone > 0)
		say_unused(r, why ? why : "it has ended");
	r->warm = false;
	drop_box(r);
	return gone < 0 ? -1 : 0;
}
