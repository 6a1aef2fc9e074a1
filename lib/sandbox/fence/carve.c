#include "sandbox/fence/carve.h"

#include "base/system/folder.h"
#include "landlock/landlock.h"
#include "sandbox/plan/spec.h"

struct carving {
	int ruleset, abi;
	struct ab_strv holes;
};

static bool is_socket(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

static bool is_writable(const struct ab_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->len; i++)
		if (plan->v[i].op == AB_MOUNT_WRITE && ab_path_within(path, plan->v[i].path))
			return true;
	return false;
}

/* Opening a socket reads nothing; who may connect to one is another matter. */
static bool is_hole(const struct ab_plan *plan, const struct ab_mount *m)
{
	if (m->op == AB_MOUNT_PRIVATE)
		return !is_writable(plan, m->path);
	return m->op == AB_MOUNT_MASK && !is_writable(plan, m->path) && !is_socket(m->path);
}

static bool has_hole_in(const struct carving *c, const char *path)
{
	for (size_t i = 0; i < c->holes.len; i++)
		if (ab_path_within(c->holes.v[i], path))
			return true;
	return false;
}

static int carve_folder(const struct carving *c, int fd, const char *path, struct ab_error *err);

/* What is a link leads elsewhere, where the rules of that place apply. */
static int carve_entry(const struct carving *c, int dir, const char *folder, const char *name,
		       struct ab_error *err)
{
	ab_autofree char *path = ab_path_join(folder, name);
	ab_autoclose int fd = -1;
	struct stat st;

	if (ab_strv_has(&c->holes, path))
		return 0;
	fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || S_ISLNK(st.st_mode))
		return 0;
	if (S_ISDIR(st.st_mode) && has_hole_in(c, path))
		return carve_folder(c, fd, path, err);
	return ab_landlock_allow_fd(c->ruleset, c->abi, fd, AB_LL_READ | AB_LL_EXEC, err);
}

static int carve_folder(const struct carving *c, int fd, const char *path, struct ab_error *err)
{
	ab_autodir DIR *list = ab_folder_list(fd, ".");
	const char *name;
	int r = ab_landlock_allow_fd(c->ruleset, c->abi, fd, AB_LL_LIST, err);

	/* Without a list: nothing in a folder that we cannot list can be read. */
	while (r == 0 && (name = ab_folder_next(list)) != NULL)
		r = carve_entry(c, dirfd(list), path, name, err);
	return r;
}

static int carve_root(const struct carving *c, const char *path, struct ab_error *err)
{
	ab_autoclose int fd = ab_open_real(AT_FDCWD, path, O_PATH, 0);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? 0 : ab_fail(err, AB_ESYSTEM, errno, "open %s", path);
	if (fstat(fd, &st) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "examine %s", path);
	if (S_ISDIR(st.st_mode) && has_hole_in(c, path))
		return carve_folder(c, fd, path, err);
	return ab_landlock_allow_fd(c->ruleset, c->abi, fd, AB_LL_READ | AB_LL_EXEC, err);
}

int ab_carve(const struct ab_spec *spec, int ruleset, struct ab_error *err)
{
	const struct ab_plan *plan = &spec->plan;
	struct carving c = { .ruleset = ruleset, .abi = spec->landlock_abi };
	int r = 0;

	/* Its devices have rules of their own. */
	ab_strv_add(&c.holes, "/dev");
	for (size_t i = 0; i < plan->len; i++)
		if (is_hole(plan, &plan->v[i]))
			ab_strv_add(&c.holes, plan->v[i].path);
	/* To show a file without its login needs a mount. */
	for (size_t i = 0; i < spec->nfiles; i++)
		if (spec->files[i].over_mask && !is_writable(plan, spec->files[i].path))
			ab_strv_add(&c.holes, spec->files[i].path);
	if (!spec->hidden_root)
		r = carve_root(&c, "/", err);
	for (size_t i = 0; i < plan->len && r == 0; i++)
		if (plan->v[i].op == AB_MOUNT_SHOW && plan->v[i].as != AB_AS_LINK)
			r = carve_root(&c, plan->v[i].path, err);
	ab_strv_fini(&c.holes);
	return r;
}
