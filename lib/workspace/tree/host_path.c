#include "workspace/tree/host_path.h"

#include "base/system/linkwalk.h"

/* A root that is itself a link means its target. */
static void find_real_roots(const struct ab_strv *roots, struct ab_strv *ret)
{
	for (size_t i = 0; i < roots->len; i++) {
		char *real = realpath(roots->v[i], NULL);

		ab_strv_give(ret, real ? real : ab_strdup(roots->v[i]));
	}
}

/* The innermost root that contains `path`, or NULL. */
static const char *find_root(const struct ab_strv *roots, const char *path)
{
	const char *found = NULL;

	for (size_t i = 0; i < roots->len; i++)
		if (ab_path_within(path, roots->v[i]) &&
		    (!found || strlen(roots->v[i]) > strlen(found)))
			found = roots->v[i];
	return found;
}

bool ab_host_path_writes(const struct ab_strv *roots, const char *path)
{
	ab_autostrv struct ab_strv real = { 0 };

	find_real_roots(roots, &real);
	return find_root(&real, path) != NULL;
}

/* The links in roots that a path leads through, and the root of each. */
struct crossed {
	struct ab_strv links, roots;
};

static char *walk_path(const struct ab_strv *roots, const char *path, struct crossed *ret,
		       char **ret_end)
{
	ab_autostrv struct ab_strv real = { 0 };
	ab_autolinkwalk struct ab_linkwalk w;
	enum ab_linkwalk_step step;
	int saved;

	find_real_roots(roots, &real);
	ab_linkwalk_init(&w, "/", path);
	while ((step = ab_linkwalk_step(&w)) <= AB_LINKWALK_LINK) {
		const char *root = step == AB_LINKWALK_LINK ? find_root(&real, w.at) : NULL;

		if (root) {
			ab_strv_add(&ret->links, w.path);
			ab_strv_add(&ret->roots, root);
		}
	}
	saved = errno;
	if (ret_end)
		*ret_end = ab_strdup(step == AB_LINKWALK_FAILED && w.path ? w.path : w.at);
	errno = saved;
	return step == AB_LINKWALK_END ? ab_take(w.at) : NULL;
}

static void free_crossed(struct crossed *c)
{
	int saved = errno;

	ab_strv_fini_all(&c->links, &c->roots);
	errno = saved;
}
#define auto_crossed __attribute__((cleanup(free_crossed)))

char *ab_host_path_follow(const struct ab_strv *roots, const char *path, bool *ret_led)
{
	auto_crossed struct crossed c = { 0 };
	char *real = walk_path(roots, path, &c, NULL);

	*ret_led = c.links.len > 0;
	return real;
}

char *ab_host_path_resolve(const struct ab_strv *roots, const char *path, char **ret_stray)
{
	auto_crossed struct crossed c = { 0 };
	ab_autofree char *end = NULL;
	char *real = walk_path(roots, path, &c, &end);

	*ret_stray = NULL;
	for (size_t i = 0; i < c.links.len && !*ret_stray; i++)
		if (!ab_path_within(end, c.roots.v[i]))
			*ret_stray = ab_strdup(c.links.v[i]);
	return real;
}

bool ab_host_path_is_open(const struct ab_strv *roots, const char *path)
{
	auto_crossed struct crossed c = { 0 };
	ab_autofree char *end = NULL;
	ab_autofree char *real = walk_path(roots, path, &c, &end);

	if (c.links.len > 0 || ab_host_path_writes(roots, real ? real : end))
		return true;
	/* A root that does not exist yet. */
	return !real && ab_host_path_writes(roots, path);
}

int ab_host_path_open(const char *real)
{
	return ab_open_real(AT_FDCWD, real, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
}
