#include "sandbox/mount/staged.h"

#include "sandbox/plan/spec.h"

void ab_staged_name(const struct ab_spec *spec, size_t i, char ret[AB_STAGED_NAME])
{
	uint32_t same = spec->files[i].same;

	snprintf(ret, AB_STAGED_NAME, "e%zu", same ? same - 1 : i);
}

/* The masked folder in which file i is shown, or NULL. */
static const struct ab_mount *find_folder(const struct ab_spec *spec, size_t i)
{
	const struct ab_file *f = &spec->files[i];
	const struct ab_mount *m = f->over_mask ? ab_plan_find(&spec->plan, f->path) : NULL;

	return m && m->op == AB_MOUNT_MASK && m->as == AB_AS_DIR ? m : NULL;
}

static bool is_device(const char *path)
{
	return strncmp(path, "/dev/", 5) == 0;
}

bool ab_staged_in_place(const struct ab_spec *spec, size_t i)
{
	return is_device(spec->files[i].path) || find_folder(spec, i);
}

void ab_staged_mask(const struct ab_spec *spec, size_t i, char ret[AB_STAGED_NAME])
{
	const struct ab_mount *m = &spec->plan.v[i];

	for (size_t k = 0; k < spec->nfiles; k++)
		if (find_folder(spec, k) == m) {
			snprintf(ret, AB_STAGED_NAME, "m%zu", i);
			return;
		}
	snprintf(ret, AB_STAGED_NAME, m->as == AB_AS_DIR ? "d" : "f");
}

/* The path of file i in the tmpfs; NULL if it is mounted instead. */
static char *get_stage_path(const struct ab_spec *spec, size_t i)
{
	const char *path = spec->files[i].path;
	const struct ab_mount *m;

	if (is_device(path))
		return ab_strdup(path + 1);
	m = find_folder(spec, i);
	if (!m)
		return NULL;
	return ab_printf("m%zu%s", (size_t)(m - spec->plan.v), path + strlen(m->path));
}

/* Folders in a mask can be entered, but not listed. */
static int make_folders(int stage, char *path)
{
	mode_t mode = path[0] == 'd' ? 0755 : 0311;

	for (char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		int r;

		*p = '\0';
		r = mkdirat(stage, path, mode);
		*p = '/';
		if (r < 0 && errno != EEXIST)
			return -1;
	}
	return 0;
}

static int write_bytes(const struct ab_file *f, int stage, const char *name)
{
	ab_autoclose int fd =
		openat(stage, name, O_WRONLY | O_CREAT | O_CLOEXEC, f->mode ? f->mode : 0444);

	return fd < 0 ? -1 : ab_write_all(fd, f->data, f->len);
}

static int make_file(const struct ab_spec *spec, size_t i, int stage)
{
	const struct ab_file *f = &spec->files[i];
	ab_autofree char *path = get_stage_path(spec, i);
	char name[AB_STAGED_NAME];

	ab_staged_name(spec, i, name);
	if (!f->same && write_bytes(f, stage, name) < 0)
		return -1;
	if (!path)
		return 0;
	return make_folders(stage, path) < 0 ? -1 : linkat(stage, name, stage, path, 0);
}

/* Nothing of them can be changed in the box: /dev is read-only there. */
static int make_tools(const struct ab_spec *spec, int stage)
{
	static const char folder[] = AB_TOOLS_FOLDER;

	if (!spec->tools.len)
		return 0;
	if (mkdirat(stage, folder + 1, 0755) < 0)
		return -1;
	for (size_t i = 0; i < spec->tools.len; i++) {
		ab_autofree char *path = ab_printf("%s/%s", folder + 1, spec->tools.v[i]);

		if (symlinkat(AB_OWN_PROGRAM, stage, path) < 0)
			return -1;
	}
	return 0;
}

int ab_staged_make(const struct ab_spec *spec, int stage, struct ab_error *err)
{
	for (size_t i = 0; i < spec->nfiles; i++) {
		int errnum;

		if (make_file(spec, i, stage) == 0)
			continue;
		errnum = errno;
		ab_fail(err, AB_ESYSTEM, errnum, "create the box's own %s", spec->files[i].path);
		if (errnum == ENOSPC)
			ab_hint(err, "there is no space left; increase filesystem.tmpSize");
		return -1;
	}
	if (make_tools(spec, stage) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create %s", AB_TOOLS_FOLDER);
	return 0;
}
