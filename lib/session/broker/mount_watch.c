#include "session/broker/mount_watch.h"

#include <stddef.h>
#include <sys/stat.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/path.h"
#include "sandbox/plan/plan.h"

struct wall {
	const char *path;
	enum wall_kind {
		MASKED,
		CLOSED,
		SECRET, /* covered or masked, for a value that is in it */
	} kind;
	dev_t dev;
	ino_t ino;
	bool fallen;
};

struct ab_mount_watch {
	struct wall *v;
	size_t len;
};

static void add(struct ab_mount_watch *w, const char *path, enum wall_kind kind)
{
	struct stat st;

	/* A host socket that comes back is a late one: nothing is promised
	 * about those. */
	if (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode))
		w->v[w->len++] = (struct wall){
			.path = path, .kind = kind, .dev = st.st_dev, .ino = st.st_ino
		};
}

/* In a hidden or private folder nothing of the host's is seen. */
static bool is_inside(const struct ab_plan *plan, const char *path)
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
			add(w, m->path, m->op == AB_MOUNT_CLOSE ? CLOSED : MASKED);
	}
	/* The plan need not name them: where the box cannot write nothing has
	 * to be closed. */
	for (size_t i = 0; i < secret->len; i++)
		if (!is_inside(plan, secret->v[i]))
			add(w, secret->v[i], SECRET);
	return w;
}

bool ab_mount_watch_look(struct ab_mount_watch *walls)
{
	bool fallen = false;

	for (size_t i = 0; i < walls->len; i++) {
		struct wall *w = &walls->v[i];
		struct stat st;

		/* Gone: there is nothing to be protected, and the name is
		 * watched like any other that does not exist. */
		if (!w->fallen && lstat(w->path, &st) == 0)
			w->fallen = st.st_dev != w->dev || st.st_ino != w->ino;
		fallen |= w->fallen && w->kind != MASKED;
	}
	return fallen;
}

int ab_mount_watch_explain(const struct ab_mount_watch *walls, struct ab_error *err)
{
	for (size_t i = 0; i < walls->len; i++) {
		const struct wall *w = &walls->v[i];
		ab_autofree char *path = NULL;

		if (!w->fallen || w->kind == MASKED)
			continue;
		path = ab_escape(w->path);
		ab_fail(err, AB_EPROPERTY, 0,
			"%s was replaced on the host while the run was going "
			"on, and was no longer %s: the run was ended",
			path, w->kind == SECRET ? "hidden" : "protected");
		ab_hint(err, w->kind == SECRET ? "in a folder that is denied for reading "
						 "it can be replaced; --fallback warn only "
						 "tells"
					       : "look at the file, then run it again; "
						 "--fallback warn only tells");
		return ab_step(err, "protected names");
	}
	return ab_fail(err, AB_EPROPERTY, 0, "a protected file was replaced");
}

void ab_mount_watch_lines(const struct ab_mount_watch *walls, struct ab_strv *ret)
{
	for (size_t i = 0; i < walls->len; i++) {
		const struct wall *w = &walls->v[i];
		ab_autofree char *path = NULL;

		if (!w->fallen)
			continue;
		path = ab_escape(w->path);
		ab_strv_addf(ret,
			     w->kind == CLOSED ? "%s was replaced on the host during the "
						 "run; the command could change the new "
						 "one: look at it"
					       : "%s was replaced on the host during the "
						 "run; the command could read the new one",
			     path);
	}
}
