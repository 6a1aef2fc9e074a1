#include "session/walls.h"

#include <stddef.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "sandbox/plan.h"

struct wall {
	const struct ab_mount *mount;
	dev_t dev;
	ino_t ino;
	bool fallen;
};

struct ab_walls {
	struct wall *v;
	size_t len;
};

struct ab_walls *ab_walls_open(const struct ab_plan *plan)
{
	struct ab_walls *w = ab_alloc(sizeof(*w));

	w->v = ab_alloc(plan->len * sizeof(w->v[0]));
	for (size_t i = 0; i < plan->len; i++) {
		const struct ab_mount *m = &plan->v[i];
		struct stat st;

		/* A host socket that comes back is a late one: nothing is
		 * promised about those. */
		if ((m->op != AB_MOUNT_CLOSE && m->op != AB_MOUNT_MASK) ||
		    lstat(m->path, &st) < 0 || S_ISSOCK(st.st_mode))
			continue;
		w->v[w->len++] = (struct wall){ .mount = m,
						.dev = st.st_dev,
						.ino = st.st_ino };
	}
	return w;
}

bool ab_walls_look(struct ab_walls *walls)
{
	bool fallen = false;

	for (size_t i = 0; i < walls->len; i++) {
		struct wall *w = &walls->v[i];
		struct stat st;

		/* Gone: there is nothing to be protected, and the name is
		 * watched like any other that does not exist. */
		if (!w->fallen && lstat(w->mount->path, &st) == 0)
			w->fallen = st.st_dev != w->dev || st.st_ino != w->ino;
		fallen |= w->fallen && w->mount->op == AB_MOUNT_CLOSE;
	}
	return fallen;
}

int ab_walls_explain(const struct ab_walls *walls, struct ab_error *err)
{
	for (size_t i = 0; i < walls->len; i++) {
		const struct wall *w = &walls->v[i];
		ab_autofree char *path = NULL;

		if (!w->fallen || w->mount->op != AB_MOUNT_CLOSE)
			continue;
		path = ab_escape(w->mount->path);
		ab_fail(err, AB_EPROPERTY, 0,
			"%s was replaced on the host while the run was going "
			"on, and was no longer protected: the run was ended",
			path);
		ab_hint(err, "look at the file, then run it again; --fallback "
			     "warn only tells");
		return ab_step(err, "protected names");
	}
	return ab_fail(err, AB_EPROPERTY, 0, "a protected file was replaced");
}

void ab_walls_lines(const struct ab_walls *walls, struct ab_strv *ret)
{
	for (size_t i = 0; i < walls->len; i++) {
		const struct wall *w = &walls->v[i];
		ab_autofree char *path = NULL;

		if (!w->fallen)
			continue;
		path = ab_escape(w->mount->path);
		ab_strv_addf(ret, w->mount->op == AB_MOUNT_CLOSE ?
				     "%s was replaced on the host during the "
				     "run; the command could change the new "
				     "one: look at it" :
				     "%s was replaced on the host during the "
				     "run; the command could read the new one",
			     path);
	}
}
