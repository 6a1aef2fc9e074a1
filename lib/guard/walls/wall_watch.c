#include "guard/walls/wall_watch.h"

#include "guard/walls/denied_watch.h"
#include "guard/walls/git_files.h"
#include "guard/walls/inside.h"
#include "sandbox/mount/staged.h"
#include "sandbox/plan/spec.h"

enum {
	RETRY_MS = 300, /* rename() drops the mount first and moves the name later */
	RETRY_NS = 10000,
	GONE_LOOKS = 3,	  /* regular checks in a row without a file that must be there */
	AGAIN_MAX = 1000, /* how often the host may replace a file while we work on it */
};

struct watched {
	char *path;
	enum watched_kind {
		CLOSED,
		SECRET, /* covered or masked because it contains a secret */
		MASKED,
	} kind;
	struct stat st;
	char cover[AB_STAGED_NAME]; /* what is mounted on it; "": itself, read-only */
	bool mounted;		    /* the box has a mount here */
	bool layered;		    /* in a layer: a change on the host does not remove the mount */
	bool pending;		    /* the wall is down and could not be put up yet */
	bool again;		    /* it is up, but the file was replaced again meanwhile */
	bool told;
	unsigned gone, times;
	struct ab_git_file *git; /* or NULL */
};

struct ab_wall_watch {
	struct ab_wall_watch_setup setup;
	struct watched *v; /* CLOSED and SECRET before MASKED */
	size_t len;
	bool started;
	struct ab_inside inside;
	int mountinfo;
	int stage; /* the staging tmpfs */
	struct ab_git_files *git;
	struct ab_denied_watch *denied;
	struct ab_error failed;
	bool has_failed, failure_taken;
	struct ab_strv lines;
	size_t taken; /* lines */
};

static struct watched *add_watched(struct ab_wall_watch *w, const char *path,
				   enum watched_kind kind)
{
	struct watched *e;
	struct stat st;

	/* Nothing is guaranteed for a host socket that is created again. */
	if (lstat(path, &st) < 0 || S_ISSOCK(st.st_mode))
		return NULL;
	e = ab_append(w->v, w->len);
	*e = (struct watched){ .path = ab_strdup(path), .kind = kind, .st = st };
	return e;
}

/* Is the folder that contains it in such a mount? */
static bool is_in_mount(const struct ab_plan *plan, const char *path, enum ab_mount_op op)
{
	ab_autofree char *parent = ab_path_parent(path);
	const struct ab_mount *m = ab_plan_find(plan, parent);

	return m && m->op == op;
}

static void add_plan(struct ab_wall_watch *w, enum ab_mount_op op)
{
	const struct ab_plan *plan = &w->setup.spec->plan;

	for (size_t i = 0; i < plan->len; i++) {
		const struct ab_mount *m = &plan->v[i];
		struct watched *e = NULL;

		if (m->op == op && !ab_strv_has(w->setup.secret, m->path))
			e = add_watched(w, m->path, op == AB_MOUNT_CLOSE ? CLOSED : MASKED);
		if (!e)
			continue;
		e->mounted = true;
		e->layered = is_in_mount(plan, m->path, AB_MOUNT_LAYER);
		if (op == AB_MOUNT_MASK)
			ab_staged_mask(w->setup.spec, i, e->cover);
	}
}

/* What the box sees in its place: our own version of it, or a mask. The plan may name neither: it
 * closes nothing where the box cannot write. */
static void find_cover(const struct ab_spec *spec, struct watched *e)
{
	const struct ab_file *own = ab_find_row(spec->files, spec->nfiles, path, e->path);
	const struct ab_mount *m = ab_plan_at(&spec->plan, e->path);

	e->mounted = own || (m && m->op == AB_MOUNT_MASK);
	if (own)
		ab_staged_name(spec, (size_t)(own - spec->files), e->cover);
	else if (e->mounted)
		ab_staged_mask(spec, (size_t)(m - spec->plan.v), e->cover);
}

static void add_secret(struct ab_wall_watch *w, const char *path)
{
	const struct ab_plan *plan = &w->setup.spec->plan;
	struct watched *e;

	/* Nothing of the host is visible in a hidden or private folder. */
	if (is_in_mount(plan, path, AB_MOUNT_MASK) || is_in_mount(plan, path, AB_MOUNT_PRIVATE))
		return;
	e = add_watched(w, path, SECRET);
	if (!e)
		return;
	find_cover(w->setup.spec, e);
	e->layered = e->mounted && is_in_mount(plan, e->path, AB_MOUNT_LAYER);
}

/* Those that are given, and what the box sees in part. */
static void add_secrets(struct ab_wall_watch *w)
{
	const struct ab_strv *secret = w->setup.secret;
	const struct ab_spec *spec = w->setup.spec;

	for (size_t i = 0; i < secret->len; i++)
		add_secret(w, secret->v[i]);
	for (size_t i = 0; i < spec->nfiles; i++)
		if (spec->files[i].over_mask && !ab_strv_has(secret, spec->files[i].path))
			add_secret(w, spec->files[i].path);
}

struct ab_wall_watch *ab_wall_watch_open(const struct ab_wall_watch_setup *setup)
{
	struct ab_wall_watch *w = ab_alloc(sizeof(*w));

	*w = (struct ab_wall_watch){
		.setup = *setup, .inside = { .root = -1 }, .mountinfo = -1, .stage = -1
	};
	add_plan(w, AB_MOUNT_CLOSE);
	add_secrets(w);
	add_plan(w, AB_MOUNT_MASK);
	return w;
}

bool ab_wall_watch_started(const struct ab_wall_watch *w)
{
	return w->started;
}

int ab_wall_watch_fd(const struct ab_wall_watch *w)
{
	return w->mountinfo;
}

static void add_line(struct ab_wall_watch *w, struct watched *e, const char *fmt)
{
	ab_autofree char *path = ab_escape(e->path);

	if (e->told)
		return;
	e->told = true;
	ab_strv_addf(&w->lines, "%s %s", path, fmt);
}

/* A protected file was open to the box: `what` says how. */
static void fail_run(struct ab_wall_watch *w, struct watched *e, const char *what)
{
	ab_autofree char *path = ab_escape(e->path);

	add_line(w, e, what);
	if (!w->setup.strict || w->has_failed)
		return;
	w->has_failed = true;
	ab_fail(&w->failed, AB_EPROPERTY, 0, "%s %s; the run was ended", path, what);
	ab_hint(&w->failed, "check the file, then run it again; --fallback warn only warns");
	ab_step(&w->failed, "protected names");
}

static void fail_change(struct ab_wall_watch *w, struct watched *e, const struct ab_gitchange *c)
{
	ab_autofree char *key = ab_escape(c->key);
	ab_autofree char *what =
		ab_printf("was replaced on the host during the run, when the command could change "
			  "it, too: %s %s",
			  c->key[0] ? key : "it", c->why);

	fail_run(w, e, what);
}

#define CHANGED "was changed on the host during the run and is protected again"
#define OPENED                                                                           \
	"was replaced on the host during the run, and the command could change the new " \
	"file"
#define REMOVED "was removed on the host during the run, and the command can create it again"
#define SHOWN                                                                             \
	"was replaced on the host during the run and is hidden again; the command could " \
	"read the new file for a moment"
#define READABLE "was replaced on the host during the run; the command can read the new file"
#define CREATED                                                                            \
	"was created on the host during the run and is hidden now, as denyRead says; the " \
	"command could read it for a moment"

static void remember(struct watched *e)
{
	struct stat st;

	if (lstat(e->path, &st) == 0)
		e->st = st;
}

static bool is_replaced(const struct watched *e)
{
	const struct stat *known = e->git ? &e->git->st : &e->st;
	struct stat st;

	return !e->layered && lstat(e->path, &st) == 0 && !ab_stat_same(&st, known);
}

/* The box has ended: nothing can be mounted in it, and it can do nothing. */
static bool is_over(const struct ab_wall_watch *w)
{
	return ab_poll(w->inside.init, POLLIN, 0) > 0;
}

/* Its wall is up again; the box may have changed it, or may have kept it open. */
static void renew_closed(struct ab_wall_watch *w, struct watched *e)
{
	struct ab_gitchange change;
	bool allowed = true;
	int errnum;

	if (!e->git) {
		fail_run(w, e, OPENED);
		return;
	}
	errnum = ab_git_file_renew(e->git, &w->inside, &allowed, &change);
	/* It was the file's content, even if it has changed again. */
	if (!allowed)
		fail_change(w, e, &change);
	if (errnum && is_over(w))
		return;
	e->again = (errnum == EAGAIN || errnum == ENOENT) && e->times++ < AGAIN_MAX;
	if (e->again)
		return; /* the host has replaced it once more */
	e->times = 0;
	if (errnum)
		fail_run(w, e, OPENED);
	else
		add_line(w, e, CHANGED);
}

/* The wall is down: put it up. */
static void restore(struct ab_wall_watch *w, struct watched *e)
{
	int errnum = e->cover[0] ? ab_inside_cover(&w->inside, e->path, w->stage, e->cover)
				 : ab_inside_protect(&w->inside, e->path);

	e->pending = errnum != 0 && !is_over(w);
	if (errnum)
		return;
	if (e->kind == CLOSED)
		renew_closed(w, e);
	else
		add_line(w, e, SHOWN);
	remember(e);
}

/* Nothing can be put up: it can only be told. */
static void give_up_on(struct ab_wall_watch *w, struct watched *e)
{
	e->pending = false;
	if (e->kind == CLOSED)
		fail_run(w, e, OPENED);
	else
		add_line(w, e, READABLE);
	e->mounted = false;
	remember(e);
}

static void check(struct ab_wall_watch *w, struct watched *e)
{
	enum ab_wall_state state;

	if (w->inside.root < 0 || !e->mounted) {
		if (is_replaced(e))
			give_up_on(w, e);
		return;
	}
	state = ab_inside_look(&w->inside, e->path);
	e->pending = e->again = false;
	e->gone = state == AB_WALL_GONE ? e->gone + 1 : 0;
	if (state == AB_WALL_DOWN)
		restore(w, e);
	else if (state == AB_WALL_UP && e->git && is_replaced(e))
		renew_closed(w, e);
	else if (state == AB_WALL_UP && e->git)
		ab_git_file_refresh(e->git);
	else if (state == AB_WALL_GONE && e->git && e->git->is_config && e->gone == GONE_LOOKS)
		fail_run(w, e, REMOVED);
}

void ab_wall_watch_start(struct ab_wall_watch *w, pid_t pid, int pidfd, struct ab_fds *walls)
{
	char path[32];

	if (w->started || walls->len == 0)
		return;
	w->started = true;
	/* Without them a replaced file is only seen. */
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	w->mountinfo = open(path, O_RDONLY | O_CLOEXEC);
	if (w->mountinfo < 0 || ab_inside_open(&w->inside, pid, pidfd) < 0)
		return;
	w->stage = ab_take_fd(&walls->v[0]);
	w->git = ab_git_files_open(&w->setup.spec->plan, walls, w->setup.spec->run_id);
	for (size_t i = 0; i < w->len; i++)
		if (w->v[i].kind == CLOSED)
			w->v[i].git = ab_git_files_find(w->git, w->v[i].path);
	if (w->setup.deny)
		w->denied = ab_denied_watch_open(w->setup.deny);
	/* What was replaced before this; the many masks have time until the regular check. */
	for (size_t i = 0; i < w->len; i++)
		if (w->v[i].kind != MASKED)
			check(w, &w->v[i]);
}

static bool check_pending(struct ab_wall_watch *w, bool all)
{
	bool pending = false;

	for (size_t i = 0; i < w->len; i++) {
		if (all || w->v[i].pending || w->v[i].again)
			check(w, &w->v[i]);
		pending |= w->v[i].pending || w->v[i].again;
	}
	return pending;
}

/* Everything, and again until the names have moved. */
void ab_wall_watch_event(struct ab_wall_watch *w)
{
	const struct timespec pause = { .tv_nsec = RETRY_NS };
	int64_t until = 0;

	for (bool all = true; check_pending(w, all); all = false) {
		if (!until)
			until = ab_now_ms() + RETRY_MS;
		if (ab_now_ms() >= until)
			break;
		nanosleep(&pause, NULL);
	}
	for (size_t i = 0; i < w->len; i++)
		if (w->v[i].pending)
			give_up_on(w, &w->v[i]);
}

static bool is_watched(const struct ab_wall_watch *w, const char *path)
{
	for (size_t i = 0; i < w->len; i++)
		if (ab_path_within(path, w->v[i].path) && w->v[i].kind != CLOSED)
			return true;
	return false;
}

/* Hide what denyRead covers and was not there at the start. */
static void hide_created(struct ab_wall_watch *w, const struct ab_guard *g)
{
	const struct ab_mount *m = ab_plan_find(&w->setup.spec->plan, g->path);
	struct watched *e;

	/* Nothing of the host is there; or the box may have made it itself, and needs it. */
	if ((m && (m->op == AB_MOUNT_MASK || m->op == AB_MOUNT_PRIVATE || m->op == AB_MOUNT_WRITE ||
		   m->op == AB_MOUNT_PIN)) ||
	    is_watched(w, g->path))
		return;
	if (ab_inside_look(&w->inside, g->path) != AB_WALL_DOWN)
		return;
	e = add_watched(w, g->path, MASKED);
	if (!e)
		return;
	snprintf(e->cover, sizeof(e->cover), g->kind == AB_NODE_DIR ? "d" : "f");
	e->mounted = ab_inside_cover(&w->inside, e->path, w->stage, e->cover) == 0;
	add_line(w, e, e->mounted ? CREATED : READABLE);
	remember(e);
}

static void look_for_denied(struct ab_wall_watch *w)
{
	struct ab_guard *v;
	size_t n;

	if (!w->denied || !ab_denied_watch_look(w->denied, &v, &n))
		return;
	for (size_t i = 0; i < n; i++)
		hide_created(w, &v[i]);
	ab_guards_free(v, n);
}

void ab_wall_watch_look(struct ab_wall_watch *w)
{
	if (!w->started)
		return;
	ab_wall_watch_event(w);
	look_for_denied(w);
}

/* The box's mounts say nothing any more. */
void ab_wall_watch_release(struct ab_wall_watch *w)
{
	ab_close_all(&w->mountinfo, &w->inside.root, &w->stage);
}

void ab_wall_watch_end(struct ab_wall_watch *w)
{
	ab_wall_watch_release(w);
	for (size_t i = 0; i < w->len; i++) {
		struct watched *e = &w->v[i];
		struct ab_gitchange change;

		if (!is_replaced(e))
			continue;
		if (e->git && ab_git_file_compare(e->git, &change))
			add_line(w, e, CHANGED);
		else if (e->git)
			fail_change(w, e, &change);
		else if (e->kind == CLOSED)
			fail_run(w, e, OPENED);
		else
			add_line(w, e, READABLE);
	}
}

bool ab_wall_watch_failed(struct ab_wall_watch *w, struct ab_error *ret)
{
	if (!w->has_failed || w->failure_taken)
		return false;
	w->failure_taken = true;
	*ret = w->failed;
	return true;
}

const char *ab_wall_watch_line(struct ab_wall_watch *w)
{
	return w->taken < w->lines.len ? w->lines.v[w->taken++] : NULL;
}

void ab_wall_watch_lines(const struct ab_wall_watch *w, struct ab_strv *ret)
{
	ab_strv_extend(ret, &w->lines);
}

int ab_wall_watch_commit(struct ab_wall_watch *w, const struct stat *dir, const char *from,
			 const char *to, const char **ret_path, bool *ret_created,
			 struct ab_gitchange *ret)
{
	struct ab_git_file *f = w->git ? ab_git_files_at(w->git, dir, to) : NULL;
	struct watched *e;
	bool missing;
	int errnum;

	if (!f)
		return -1;
	*ret_path = f->path;
	missing = f->missing;
	errnum = ab_git_file_commit(f, &w->inside, from, ret);
	*ret_created = missing && !f->missing;
	e = *ret_created ? add_watched(w, f->path, CLOSED) : NULL;
	if (e) {
		e->mounted = true;
		e->git = f;
	}
	return errnum;
}
