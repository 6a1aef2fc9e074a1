#include "host/cgroup.h"

#include <linux/magic.h>
#include <sys/statfs.h>

#include "base/system/folder.h"
#include "base/text/words.h"

#define NAME "agentbox-"
#define ID_LETTER "[a-km-np-z2-9]" /* ab_run_pick_id() */

enum { REMOVE_TRIES = 100, REMOVE_MS = 5 };

/* Version 2 is mounted here, alone or next to version 1. */
static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };

static bool is_cgroup2(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

static int open_file(const char *dir, const char *name, int flags)
{
	ab_autofree char *path = ab_path_join(dir, name);

	return open(path, flags | O_CLOEXEC);
}

static char *read_text(const char *dir, const char *name)
{
	ab_autofree char *path = ab_path_join(dir, name);
	char *text = NULL;
	size_t len;

	(void)ab_read_file(AT_FDCWD, path, 0, 1 << 16, &text, &len);
	return text;
}

static const char *find_mount(void)
{
	for (size_t i = 0; i < AB_COUNT(mounts); i++)
		if (is_cgroup2(mounts[i]))
			return mounts[i];
	return NULL;
}

/* Where a line of the text begins with `key`, or NULL. */
static char *find_line(const char *text, const char *key)
{
	while (text && strncmp(text, key, strlen(key)) != 0)
		text = (text = strchr(text, '\n')) ? text + 1 : NULL;
	return (char *)(uintptr_t)text;
}

/* Our own cgroup, as a path in the file system; NULL without version 2. */
static char *find_own_cgroup(const char *mount)
{
	ab_autofree char *text = read_text("/proc/self", "cgroup");
	char *line = find_line(text, "0::/");

	if (!line)
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	return ab_path_resolve(line + 4, mount, NULL) ?: ab_strdup(mount);
}

/* Can the children of this group be limited? */
static bool limits_children(const char *dir, bool memory, bool processes)
{
	ab_autofree char *on = read_text(dir, "cgroup.subtree_control");

	if (on)
		on[strcspn(on, "\n")] = '\0';
	return (!memory || ab_word_listed(on, "memory", 6)) &&
	       (!processes || ab_word_listed(on, "pids", 4));
}

/* The nearest group at or above ours in which we can create and limit children. A group has only
 * what the one above it gives to its children, so often one look is enough. */
static char *find_parent(bool memory, bool processes)
{
	const char *mount = find_mount();
	char *dir =
		mount && limits_children(mount, memory, processes) ? find_own_cgroup(mount) : NULL;

	while (dir) {
		ab_autofree char *procs = ab_path_join(dir, "cgroup.procs");
		char *up;

		if (limits_children(dir, memory, processes) && access(dir, W_OK) == 0 &&
		    access(procs, W_OK) == 0)
			return dir;
		up = strcmp(dir, mount) == 0 ? NULL : ab_path_parent(dir);
		free(dir);
		dir = up;
	}
	return NULL;
}

static int write_number(int fd, uint64_t value)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%llu", (unsigned long long)value);

	return ab_write_all(fd, text, (size_t)n);
}

static int write_value(const char *dir, const char *name, uint64_t value, struct ab_error *err)
{
	ab_autoclose int fd = open_file(dir, name, O_WRONLY);

	if (fd < 0 || write_number(fd, value) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "write %s/%s", dir, name);
	return 0;
}

static int keep_open(const char *dir, const char *name, int *ret_fd, struct ab_error *err)
{
	*ret_fd = open_file(dir, name, O_WRONLY);
	return *ret_fd < 0 ? ab_fail(err, AB_ESYSTEM, errno, "open %s/%s", dir, name) : 0;
}

int ab_cgroup_make(const char *id, uint64_t memory, uint64_t processes, struct ab_cgroup *ret,
		   struct ab_error *err)
{
	/* Except for root, the kernel limits the number of processes without a cgroup, and finding
	 * one takes time. */
	struct ab_cgroup cg = AB_CGROUP_NONE;
	ab_autofree char *parent = NULL, *path = NULL;
	int made;

	*ret = cg;
	cg.memory = memory > 0;
	cg.processes = processes > 0 && geteuid() == 0;
	cg.pids = processes;
	if (!cg.memory && !cg.processes)
		return 0;
	parent = find_parent(cg.memory, cg.processes);
	if (!parent)
		return 0;
	path = ab_printf("%s/" NAME "%s", parent, id);
	made = ab_folder_make_held(path, 0755, &cg.lock);
	if (made <= 0)
		return made < 0 ? ab_fail_step(err, "cgroup", errno, "lock %s", path) : 0;
	cg.path = ab_take(path);
	if ((memory &&
	     (write_value(cg.path, "memory.max", memory, err) < 0 ||
	      /* Otherwise the box would just use swap. */
	      (write_value(cg.path, "memory.swap.max", 0, err) < 0 && err->errnum != ENOENT))) ||
	    (cg.processes && (write_value(cg.path, "pids.max", 2, err) < 0 ||
			      keep_open(cg.path, "pids.max", &cg.pids_max, err) < 0)) ||
	    keep_open(cg.path, "cgroup.procs", &cg.procs, err) < 0) {
		rmdir(cg.path);
		ab_cgroup_fini(&cg);
		return ab_step(err, "cgroup");
	}
	if (cg.processes)
		cg.pids_events = open_file(cg.path, "pids.events", O_RDONLY); /* Linux 4.8 */
	*ret = cg;
	return 0;
}

int ab_cgroup_enter(struct ab_cgroup *cg, pid_t init, struct ab_error *err)
{
	if (!cg->path || write_number(cg->procs, (uint64_t)init) == 0)
		return 0;
	return ab_fail_step(err, "cgroup", errno, "move the box into its cgroup");
}

uint64_t ab_cgroup_refused(const char *events)
{
	const char *line = find_line(events, "max ");

	return line ? strtoull(line + strlen("max "), NULL, 10) : 0;
}

static uint64_t read_refused(const struct ab_cgroup *cg)
{
	char text[256];
	ssize_t n = cg->pids_events < 0 ? 0 : pread(cg->pids_events, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return ab_cgroup_refused(text);
}

int ab_cgroup_release(struct ab_cgroup *cg, struct ab_error *err)
{
	if (!cg->processes)
		return 0;
	cg->refused = read_refused(cg);
	if (write_number(cg->pids_max, cg->pids) == 0)
		return 0;
	return ab_fail_step(err, "cgroup", errno, "set the process limit");
}

void ab_cgroup_look(struct ab_cgroup *cg)
{
	if (read_refused(cg) > cg->refused)
		cg->was_full = true;
}

void ab_cgroup_fini(struct ab_cgroup *cg)
{
	free(cg->path);
	ab_close_all(&cg->lock, &cg->procs, &cg->pids_max, &cg->pids_events);
	*cg = (struct ab_cgroup)AB_CGROUP_NONE;
}

int ab_cgroup_try_remove(const char *path, const char *id)
{
	ab_autofree char *parent = ab_path_parent(path);
	ab_autofree char *name = ab_printf(NAME "%s", id);
	struct statfs fs;
	int r = statfs(parent, &fs);

	if (strcmp(ab_path_name(path), name) != 0 || (r == 0 && fs.f_type != CGROUP2_SUPER_MAGIC))
		return 0;
	/* A mount that is read-only says that first, also of a folder that is not there. */
	return (r == 0 && rmdir(path) == 0) || (access(path, F_OK) < 0 && errno == ENOENT) ? 0 : -1;
}

int ab_cgroup_remove(const char *path, const char *id)
{
	int r, tries = REMOVE_TRIES;

	/* A process that has been waited for may leave its cgroup a moment later. */
	while ((r = ab_cgroup_try_remove(path, id)) < 0 && errno == EBUSY && tries-- > 0)
		poll(NULL, 0, REMOVE_MS);
	return r;
}

void ab_cgroup_remove_left(const char *path)
{
	ab_autofree char *parent = ab_path_parent(path);

	ab_folder_remove_unheld(parent, NAME ID_LETTER ID_LETTER ID_LETTER ID_LETTER ID_LETTER);
}
