#include "sandbox/plan/plan.h"

void ab_objects_add(struct ab_objects *list, const char *path, enum ab_as as)
{
	*ab_append(list->v, list->len) = (struct ab_object){ .path = ab_strdup(path), .as = as };
}

const struct ab_object *ab_objects_around(const struct ab_objects *list, const char *path)
{
	for (size_t i = 0; i < list->len; i++)
		if (ab_path_within(path, list->v[i].path))
			return &list->v[i];
	return NULL;
}

void ab_objects_fini(struct ab_objects *list)
{
	ab_free_rows(list->v, list->len, path);
	*list = (struct ab_objects){ 0 };
}

struct ab_layer_mount *ab_layer_mounts_add(struct ab_layer_mounts *list, const char *path)
{
	struct ab_layer_mount *l = ab_append(list->v, list->len);

	*l = (struct ab_layer_mount){ .path = ab_strdup(path) };
	return l;
}

struct ab_layer_mount *ab_layer_mounts_find(const struct ab_layer_mounts *list, const char *path)
{
	return ab_find_row(list->v, list->len, path, path);
}

static void free_layer(struct ab_layer_mount *l)
{
	ab_free_all(l->path, l->upper, l->below, l->work);
	ab_strv_fini_all(&l->hidden, &l->parents, &l->instead);
}

void ab_layer_mounts_drop(struct ab_layer_mounts *list, const char *path)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->len; i++)
		if (ab_path_within(list->v[i].path, path))
			free_layer(&list->v[i]);
		else
			list->v[kept++] = list->v[i];
	list->len = kept;
}

void ab_layer_mounts_fini(struct ab_layer_mounts *list)
{
	for (size_t i = 0; i < list->len; i++)
		free_layer(&list->v[i]);
	free(list->v);
	*list = (struct ab_layer_mounts){ 0 };
}

static struct ab_mount *add_mount(struct ab_plan *plan, enum ab_mount_op op, const char *path,
				  enum ab_as as)
{
	struct ab_mount *m = ab_append(plan->v, plan->len);

	*m = (struct ab_mount){ .op = op, .as = as, .path = ab_strdup(path) };
	return m;
}

/* "/a" < "/a/b" < "/a-b": a slash sorts first, so that a folder's own tree follows
 * it directly. Of several operations on one path, the strongest comes last. */
static int compare_paths(const void *pa, const void *pb)
{
	const struct ab_mount *a = pa, *b = pb;
	const char *x = a->path, *y = b->path;

	while (*x && *x == *y)
		x++, y++;
	if (!*x && !*y)
		return (int)a->op - (int)b->op;
	if (!*x || !*y)
		return *x ? 1 : -1;
	if (*x == '/' || *y == '/')
		return *x == '/' ? -1 : 1;
	return (unsigned char)*x - (unsigned char)*y;
}

const struct ab_mount *ab_plan_find(const struct ab_plan *plan, const char *path)
{
	const struct ab_mount *deepest = NULL;

	for (size_t i = 0; i < plan->len; i++)
		if (ab_path_within(path, plan->v[i].path))
			deepest = &plan->v[i];
	return deepest;
}

bool ab_plan_shows(const struct ab_plan *plan, bool hidden_root, const char *path)
{
	const struct ab_mount *m = ab_plan_find(plan, path);

	return m ? m->op != AB_MOUNT_MASK && m->op != AB_MOUNT_PRIVATE : !hidden_root;
}

const struct ab_mount *ab_plan_at(const struct ab_plan *plan, const char *path)
{
	return ab_find_row(plan->v, plan->len, path, path);
}

static bool is_closed_as(const struct ab_plan *plan, const char *dir, const char *name,
			 enum ab_as as)
{
	ab_autofree char *path = ab_path_join(dir, name);
	const struct ab_mount *m = ab_plan_at(plan, path);

	return m && m->op == AB_MOUNT_CLOSE && m->as == as;
}

enum ab_stage ab_plan_stage(const struct ab_plan *plan, size_t i)
{
	const struct ab_mount *m = &plan->v[i];
	const char *name = ab_path_name(m->path);
	ab_autofree char *dir = NULL;

	if (m->op == AB_MOUNT_PIN && strcmp(name, ".git") == 0)
		return is_closed_as(plan, m->path, "hooks", AB_AS_DIR) &&
				       is_closed_as(plan, m->path, "config", AB_AS_FILE)
			       ? AB_STAGE_TOP
			       : AB_STAGE_NONE;
	if (m->op != AB_MOUNT_CLOSE || m->as != AB_AS_DIR || strcmp(name, "hooks") != 0)
		return AB_STAGE_NONE;
	dir = ab_path_parent(m->path);
	return is_closed_as(plan, dir, "config", AB_AS_FILE) ? AB_STAGE_HOOKS : AB_STAGE_NONE;
}

/* Sort, and keep only the strongest operation of each path. */
static void sort_plan(struct ab_plan *plan)
{
	size_t out = 0;

	if (plan->len > 1)
		qsort(plan->v, plan->len, sizeof(plan->v[0]), compare_paths);
	for (size_t i = 0; i < plan->len; i++) {
		if (out > 0 && strcmp(plan->v[out - 1].path, plan->v[i].path) == 0) {
			plan->v[i].may_vanish &= plan->v[out - 1].may_vanish;
			free(plan->v[--out].path);
		}
		plan->v[out++] = plan->v[i];
	}
	plan->len = out;
}

/*
 * Does `m` still have an effect below `above`, the operation that already applies
 * to its path? NULL is the read-only root.
 */
static bool has_effect(const struct ab_mount *m, const struct ab_mount *above,
		       const struct ab_layer_mounts *layers)
{
	const struct ab_layer_mount *layer;

	if (above && above->op == AB_MOUNT_MASK)
		return false; /* nothing below a mask is reachable */
	switch (m->op) {
	case AB_MOUNT_LAYER:
		return !above || above->op != AB_MOUNT_CLOSE;
	case AB_MOUNT_WRITE:
		/* A closed tree stays closed; a writable one is already writable. */
		return !above || (above->op != AB_MOUNT_CLOSE && above->op != AB_MOUNT_WRITE &&
				  above->op != AB_MOUNT_PIN);
	case AB_MOUNT_SHOW:
		if (!above || above->op != AB_MOUNT_LAYER)
			return above && above->op == AB_MOUNT_PRIVATE;
		/* Through an overlay the host's sockets are not reachable; its links are there. */
		layer = ab_layer_mounts_find(layers, above->path);
		return m->as != AB_AS_LINK || (layer && layer->bare);
	case AB_MOUNT_PRIVATE:
		return true;
	case AB_MOUNT_CLOSE:
		return above && (above->op == AB_MOUNT_WRITE || above->op == AB_MOUNT_PIN);
	case AB_MOUNT_MASK:
		return !above || above->op != AB_MOUNT_PRIVATE;
	case AB_MOUNT_PIN:
		/* Only something writable can be renamed. */
		return above && (above->op == AB_MOUNT_WRITE || above->op == AB_MOUNT_PIN);
	}
	return false;
}

/*
 * Drop, from the top down, entries that have no effect because of an operation
 * above them. The list is sorted, so a parent always comes before its children:
 * `above[i]` is the parent of the kept entry i.
 */
static void drop_shadowed(struct ab_plan *plan, const struct ab_layer_mounts *layers)
{
	ab_autofree ssize_t *above = ab_alloc(plan->len * sizeof(above[0]));
	struct ab_plan kept = { .v = plan->v };

	for (size_t i = 0; i < plan->len; i++) {
		struct ab_mount m = plan->v[i];
		ssize_t up = (ssize_t)kept.len - 1;

		while (up >= 0 && !ab_path_within(m.path, kept.v[up].path))
			up = above[up];
		if (has_effect(&m, up < 0 ? NULL : &kept.v[up], layers)) {
			above[kept.len] = up;
			kept.v[kept.len++] = m;
		} else {
			free(m.path);
		}
	}
	*plan = kept;
}

/*
 * A mount point cannot be renamed, but its parent can, and then the closed name
 * could be created again. So every folder between a writable root and a closed,
 * masked, layered or private path in it becomes a mount point, too.
 */
static void pin_ancestors(struct ab_plan *plan)
{
	size_t len = plan->len;

	for (size_t i = 0; i < len; i++) {
		const char *path = plan->v[i].path, *root = NULL;
		enum ab_mount_op op = plan->v[i].op;
		ab_autofree char *dir = NULL;

		if (op != AB_MOUNT_CLOSE && op != AB_MOUNT_MASK && op != AB_MOUNT_PIN &&
		    op != AB_MOUNT_PRIVATE && op != AB_MOUNT_LAYER)
			continue;
		for (size_t k = i; k-- > 0 && !root;) {
			if (!ab_path_within(path, plan->v[k].path))
				continue;
			if (plan->v[k].op == AB_MOUNT_CLOSE || plan->v[k].op == AB_MOUNT_LAYER)
				break; /* nothing in it can be renamed, or only in the layer */
			if (plan->v[k].op == AB_MOUNT_WRITE)
				root = plan->v[k].path;
		}
		if (!root)
			continue;
		dir = ab_path_parent(path);
		while (strlen(dir) > strlen(root)) {
			char *up = ab_path_parent(dir);

			add_mount(plan, AB_MOUNT_PIN, dir, AB_AS_DIR)->may_vanish =
				op == AB_MOUNT_MASK;
			free(dir);
			dir = up;
		}
	}
	/* Keep one pin per folder, and none where there is a stronger operation. */
	sort_plan(plan);
}

void ab_plan_make(const struct ab_facts *facts, struct ab_plan *ret)
{
	const struct {
		const struct ab_objects *list;
		enum ab_mount_op op;
	} from[] = {
		{ &facts->pinned, AB_MOUNT_PIN },  { &facts->write, AB_MOUNT_WRITE },
		{ &facts->show, AB_MOUNT_SHOW },   { &facts->closed, AB_MOUNT_CLOSE },
		{ &facts->masked, AB_MOUNT_MASK },
	};
	struct ab_plan plan = { 0 };

	for (size_t i = 0; i < facts->privates.len; i++) {
		bool wanted = false;

		/* Do not replace a host folder that the user made writable by
		 * name with an empty one. */
		for (size_t k = 0; k < facts->write.len; k++)
			wanted |= strcmp(facts->write.v[k].path, facts->privates.v[i]) == 0;
		if (!wanted)
			add_mount(&plan, AB_MOUNT_PRIVATE, facts->privates.v[i], AB_AS_DIR);
	}
	for (size_t i = 0; i < AB_COUNT(from); i++)
		for (size_t k = 0; k < from[i].list->len; k++) {
			const struct ab_object *o = &from[i].list->v[k];

			/* If nothing above it is writable, the plan has no entry for the closed
			 * folder itself. */
			if (from[i].op == AB_MOUNT_WRITE &&
			    ab_objects_around(&facts->closed, o->path))
				continue;
			add_mount(&plan, from[i].op, o->path, o->as);
		}
	for (size_t i = 0; i < facts->layers.len; i++)
		add_mount(&plan, AB_MOUNT_LAYER, facts->layers.v[i].path, AB_AS_DIR);
	sort_plan(&plan);
	drop_shadowed(&plan, &facts->layers);
	pin_ancestors(&plan);
	*ret = plan;
}

static bool has_name(const struct ab_strv *names, const char *name, size_t len)
{
	for (size_t i = names->len; i-- > 0;)
		if (strncmp(names->v[i], name, len) == 0 && !names->v[i][len])
			return true;
	return false;
}

/* The folders on the way to hidden names. */
static void find_parents(struct ab_layer_mount *l)
{
	l->hides = l->hidden.len > 0;
	for (size_t i = 0; i < l->hidden.len; i++) {
		const char *name = l->hidden.v[i];

		for (const char *p = strchr(name, '/'); p; p = strchr(p + 1, '/')) {
			size_t n = (size_t)(p - name);

			if (!has_name(&l->parents, name, n))
				ab_strv_give(&l->parents, ab_strndup(name, n));
		}
	}
}

void ab_plan_take_layers(const struct ab_plan *plan, struct ab_facts *facts,
			 struct ab_layer_mounts *ret)
{
	struct ab_layer_mounts *from = &facts->layers;
	size_t left = 0;

	*ret = (struct ab_layer_mounts){ 0 };
	for (size_t i = 0; i < from->len; i++) {
		const struct ab_mount *m = ab_plan_at(plan, from->v[i].path);

		if (m && m->op == AB_MOUNT_LAYER) {
			find_parents(&from->v[i]);
			*ab_append(ret->v, ret->len) = from->v[i];
		} else {
			from->v[left++] = from->v[i];
		}
	}
	from->len = left;
}

void ab_plan_fini(struct ab_plan *plan)
{
	ab_free_rows(plan->v, plan->len, path);
	*plan = (struct ab_plan){ 0 };
}
