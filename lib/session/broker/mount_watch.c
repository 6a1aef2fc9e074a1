#include "session/broker/mount_watch.h"

#include <stddef.h>
#include <sys/stat.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/path.h"
#include "sandbox/plan/plan.h"

struct watched {
	const char *path;
	enum watched_kind {
		MASKED,
		CLOSED,
		SECRET, /* covered or masked because it contains a secret */
	} kind;
	dev_t dev;
	ino_t ino;
	bool replaced;
};

struct ab_mount_watch {
	struct watched *v;
	size_t len;
};

static void add_watched(struct ab_mount_watch *w, const char *path, enum watched_kind kind)
{
	struct stat st;

	/* Nothing is guaranteed for a host socket that is created again. */
	if (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode))
		w->v[w->len++] = (struct watched){
			.path = path, .kind = kind, .dev = st.st_dev, .ino = st.st_ino
		};
}

/* Nothing of the host is visible in a hidden or private folder. */
static bool is_in_hidden_folder(const struct ab_plan *plan, const char *path)
{
	ab_autofree char *parent = ab_path_parent(path);
	const struct ab_mount *m = ab_plan_find(plan, parent);

	return m && (m->op == AB_MOUNT_MASK || m->op == AB_MOUNT_PRIVATE);
}

struct ab_mount_watch *ab_mount_watch_open(const struct ab_plan *plan, const struct ab_strv *secret)
{
	struct ab_mount_watch *w = ab_alloc(sizeof(*w));

	w->v = ab_alloc((plan->len + secret->len + 1) * sizeof(w->v[0]));
	for (size_t i = 0; i < plan->len; i++) {
		const struct ab_mount *m = &plan->v[i];

		if ((m->op == AB_MOUNT_CLOSE || m->op == AB_MOUNT_MASK) &&
		    !ab_strv_has(secret, m->path))
			add_watched(w, m->path, m->op == AB_MOUNT_CLOSE ? CLOSED : MASKED);
	}
	/* The plan may not name them: it closes nothing where the box cannot write. */
	for (size_t i = 0; i < secret->len; i++)
		if (!is_in_hidden_folder(plan, secret->v[i]))
			add_watched(w, secret->v[i], SECRET);
	return w;
}

bool ab_mount_watch_look(struct ab_mount_watch *watch)
{
	bool replaced = false;

	for (size_t i = 0; i < watch->len; i++) {
		struct watched *w = &watch->v[i];
		struct stat st;

		/* If it is gone, there is nothing to protect, and the name is watched like any
		 * other missing one. */
		if (!w->replaced && lstat(w->path, &st) == 0)
			w->replaced = st.st_dev != w->dev || st.st_ino != w->ino;
		replaced |= w->replaced && w->kind != MASKED;
	}
	return replaced;
}

int ab_mount_watch_explain(const struct ab_mount_watch *watch, struct ab_error *err)
{
	for (size_t i = 0; i < watch->len; i++) {
		const struct watched *w = &watch->v[i];
		ab_autofree char *path = NULL;

		if (!w->replaced || w->kind == MASKED)
			continue;
		path = ab_escape(w->path);
		ab_fail(err, AB_EPROPERTY, 0,
			"%s was replaced on the host during the run and is no longer %s; the run "
			"was ended",
			path, w->kind == SECRET ? "hidden" : "protected");
		ab_hint(err, w->kind == SECRET
				     ? "keep it in a folder that denyRead hides; --fallback warn "
				       "only warns"
				     : "check the file, then run it again; --fallback warn only "
				       "warns");
		return ab_step(err, "protected names");
	}
	return ab_fail(err, AB_EPROPERTY, 0, "a protected file was replaced");
}

void ab_mount_watch_lines(const struct ab_mount_watch *watch, struct ab_strv *ret)
{
	for (size_t i = 0; i < watch->len; i++) {
		const struct watched *w = &watch->v[i];
		ab_autofree char *path = NULL;

		if (!w->replaced)
			continue;
		path = ab_escape(w->path);
		ab_strv_addf(ret,
			     w->kind == CLOSED
				     ? "%s was replaced on the host during the run; the command "
				       "could change the new file: check it"
				     : "%s was replaced on the host during the run; the command "
				       "could read the new file",
			     path);
	}
}
