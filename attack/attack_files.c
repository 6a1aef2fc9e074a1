#include <dirent.h>
#include <linux/openat2.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "attack/attack.h"
#include "policy/model/policy.h"
#include "sandbox/seccomp/seccomp.h"

#define W (O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define R (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define LEAVE_MS 3000

/* A file without a name: it disappears with its descriptor if a wall is missing. */
static enum ab_hold create_unnamed(struct ab_attacker *a, const struct ab_try *t)
{
	const char *dir = ab_attacker_path(a, t->arg);

	if (!dir[0])
		return ab_untried(a, "there is no such folder");
	return ab_refused_fd(a, open(dir, O_TMPFILE | W, 0600));
}

static enum ab_hold open_write(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused_fd(a, open(ab_attacker_path(a, t->arg), W));
}

static enum ab_hold open_read(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused_fd(a, open(ab_attacker_path(a, t->arg), R));
}

/* What a box sees of such a file has no logins in it. */
static enum ab_hold read_login(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autoclose int fd = open(ab_attacker_path(a, t->arg), R);
	ab_autofree char *text = NULL;
	size_t len;

	if (fd < 0 || ab_read_all(fd, 4096, &text, &len) < 0)
		return ab_held(a, "%s", strerror(errno));
	return strstr(text, AB_PLANTED_LOGIN) ? ab_broken(a, "it is there")
					      : ab_held(a, "%zu bytes without it", len);
}

static enum ab_hold read_late_login(struct ab_attacker *a, const struct ab_try *t)
{
	return access(ab_attacker_path(a, t->arg), F_OK) < 0 && errno == ENOENT
		       ? ab_untried(a, "no command that doctor can start has written it")
		       : read_login(a, t);
}

static enum ab_hold create_named(struct ab_attacker *a, const struct ab_try *t)
{
	const char *path = ab_attacker_path(a, t->arg);
	int fd = open(path, W | O_CREAT | O_EXCL, 0600);

	if (fd >= 0)
		unlink(path);
	return ab_refused_fd(a, fd);
}

/* A name that did not exist cannot be closed; it must not stay. */
static enum ab_hold leave_named(struct ab_attacker *a, const struct ab_try *t)
{
	const char *path = ab_attacker_path(a, t->arg);
	int fd = open(path, W | O_CREAT | O_EXCL, 0700);

	if (fd < 0)
		return ab_refused_fd(a, fd);
	close(fd);
	for (int ms = 0; ms < LEAVE_MS; ms++) {
		if (access(path, F_OK) < 0)
			return ab_held(a, "moved after %d ms", ms);
		usleep(1000);
	}
	unlink(path);
	return ab_broken(a, "it stayed for %d ms", LEAVE_MS);
}

static enum ab_hold list_folder(struct ab_attacker *a, const struct ab_try *t)
{
	DIR *dir = opendir(ab_attacker_path(a, t->arg));
	struct dirent *entry;
	int n = 0;

	if (!dir)
		return ab_held(a, "%s", strerror(errno));
	while ((entry = readdir(dir)) != NULL)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n ? ab_broken(a, "it lists %d names", n) : ab_held(a, "empty");
}

static enum ab_hold change_mode(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused(a, chmod(ab_attacker_path(a, t->arg), 0777));
}

/* It may, and the run's end takes it back: ab_stage_inspect() compares modes. */
static enum ab_hold open_shared(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_held(a, "%s",
		       chmod(ab_attacker_path(a, t->arg), 04777) < 0
			       ? strerror(errno)
			       : "for this run only: see the files outside");
}

/* Sets the current mode: needs the permission, but changes nothing. */
static enum ab_hold set_same_mode(struct ab_attacker *a, const struct ab_try *t)
{
	struct stat st;

	if (stat(t->arg, &st) < 0)
		return ab_held(a, "%s", strerror(errno));
	return ab_refused(a, chmod(t->arg, st.st_mode & 07777));
}

/*
 * A running program can never be written, so check whether its mount would
 * permit that once it has ended.
 */
static enum ab_hold write_program(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autoclose int fd = open(t->arg, O_PATH | O_CLOEXEC);
	ssize_t n = readlink(t->arg, a->path, sizeof(a->path) - 1);
	struct statvfs fs;

	a->path[n > 0 ? n : 0] = '\0';
	if (fd < 0 || fstatvfs(fd, &fs) < 0)
		return ab_untried(a, "%s: %s", t->arg, strerror(errno));
	if (access(a->path, F_OK) < 0)
		return ab_untried(a, "it is in a folder that is private in the box");
	if (!(fs.f_flag & ST_RDONLY) && !ab_seccomp_marked())
		return ab_broken(a, "it is on a writable mount");
	return open_write(a, t);
}

static enum ab_hold open_each(struct ab_attacker *a, const struct ab_try *t)
{
	int errnum = ENOENT;

	for (long i = 0; i < t->number; i++) {
		char path[64];
		int fd;

		snprintf(path, sizeof(path), "%s/%ld", t->arg, i);
		fd = open(path, R);
		if (fd >= 0) {
			close(fd);
			return ab_broken(a, "%s can be opened", path);
		}
		if (errno != ENOENT)
			errnum = errno;
	}
	return ab_held(a, "%s", strerror(errnum));
}

static enum ab_hold truncate_it(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused(a, truncate(ab_attacker_path(a, t->arg), 0));
}

static enum ab_hold unlink_it(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused(a, unlink(ab_attacker_path(a, t->arg)));
}

/* Rename it, and rename it back if that worked. */
static enum ab_hold rename_it(struct ab_attacker *a, const struct ab_try *t)
{
	const char *from = ab_attacker_path(a, t->arg);
	char to[sizeof(a->path) + 8];
	int r;

	snprintf(to, sizeof(to), "%s-moved", from);
	r = rename(from, to);
	if (r == 0)
		rename(to, from);
	return ab_refused(a, r);
}

static enum ab_hold exchange_it(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autofree char *other = ab_printf("%s/home/project/own", a->base);
	const char *path = ab_attacker_path(a, t->arg);
	enum ab_hold hold;

	if (mkdir(other, 0700) < 0)
		return ab_untried(a, "cannot create a folder to exchange it with");
	hold = ab_refused(a, renameat2(AT_FDCWD, other, AT_FDCWD, path, RENAME_EXCHANGE));
	if (hold == AB_HOLD_BROKEN)
		renameat2(AT_FDCWD, other, AT_FDCWD, path, RENAME_EXCHANGE);
	rmdir(other);
	return hold;
}

static enum ab_hold link_into_workspace(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autofree char *to = ab_printf("%s/home/project/stolen", a->base);
	int r = link(ab_attacker_path(a, t->arg), to);

	if (r == 0)
		unlink(to);
	return ab_refused(a, r);
}

/* Open it through a link in the workspace. */
static enum ab_hold open_through_link(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autofree char *link = ab_printf("%s/home/project/link", a->base);
	enum ab_hold hold;

	if (symlink(ab_attacker_path(a, t->arg), link) < 0)
		return ab_untried(a, "cannot create a link: %s", strerror(errno));
	hold = ab_refused_fd(a, open(link, (int)t->number));
	unlink(link);
	return hold;
}

static enum ab_hold create_through_parent_link(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autofree char *link = ab_printf("%s/home/project/g", a->base);
	enum ab_hold hold;

	if (symlink(".git", link) < 0)
		return ab_untried(a, "cannot create a link: %s", strerror(errno));
	hold = create_named(a, t);
	unlink(link);
	return hold;
}

/* Reopen an O_PATH descriptor for writing. */
static enum ab_hold reopen_handle(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autoclose int fd = open(ab_attacker_path(a, t->arg), O_PATH | O_CLOEXEC);
	char path[32];

	if (fd < 0)
		return ab_held(a, "cannot even get a handle: %s", strerror(errno));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return ab_refused_fd(a, open(path, W));
}

static enum ab_hold open_with_openat2(struct ab_attacker *a, const struct ab_try *t)
{
	struct open_how how = { .flags = W, .resolve = RESOLVE_IN_ROOT };
	ab_autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return ab_refused_fd(a, (int)syscall(SYS_openat2, root, ab_attacker_path(a, t->arg), &how,
					     sizeof(how)));
}

static enum ab_hold make_device(struct ab_attacker *a, const struct ab_try *t)
{
	const char *path = ab_attacker_path(a, t->arg);
	int r = mknod(path, (mode_t)t->number | 0600, makedev(1, 1));

	if (r == 0)
		unlink(path);
	return ab_refused(a, r);
}

static int write_file(const char *path, const char *text)
{
	ab_autoclose int fd = open(path, W | O_CREAT | O_EXCL, 0600);

	return fd < 0 ? -1 : ab_write_all(fd, text, strlen(text));
}

/* What the configuration has, and one line more. */
#define CONFIG "[core]\n\tbare = false\n[include]\n\tpath = ../first.inc\n"
static const char *const lines[] = { "[core]\n\thooksPath = planted\n",
				     "[remote]\n\tpushDefault = planted\n" };

/* As git does: write the lock file, then rename it. */
static enum ab_hold commit_config(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autofree char *lock = ab_strdup(ab_attacker_path(a, "./.git/config.lock"));
	ab_autofree char *text = ab_printf("%s%s", CONFIG, lines[t->number]);
	enum ab_hold hold;

	if (write_file(lock, text) < 0)
		return ab_untried(a, "the lock file cannot be written");
	hold = ab_refused(a, rename(lock, ab_attacker_path(a, t->arg)));
	unlink(lock);
	return hold;
}

/* A setting that no git knows yet, in a repository of the box. */
static enum ab_hold leave_setting(struct ab_attacker *a, const struct ab_try *t)
{
	static const char *const folders[] = { "", "/.git", "/.git/objects", "/.git/refs" };
	ab_autofree char *top = ab_strdup(ab_attacker_path(a, t->arg));
	ab_autofree char *config = ab_path_join(top, ".git/config");
	ab_autofree char *head = ab_path_join(top, ".git/HEAD");
	bool made = true, gone = false;
	int ms = 0;

	for (size_t i = 0; i < AB_COUNT(folders); i++) {
		ab_autofree char *path = ab_printf("%s%s", top, folders[i]);

		made &= mkdir(path, 0700) == 0;
	}
	made = made && write_file(head, "ref: refs/heads/main\n") == 0 &&
	       write_file(config, "[of]\n\ttomorrow = ./planted\n") == 0;
	for (; made && !gone && ms < LEAVE_MS; ms++) {
		struct stat st;

		gone = stat(config, &st) < 0 || st.st_size == 0;
		usleep(1000);
	}
	unlink(config);
	unlink(head);
	for (size_t i = AB_COUNT(folders); i-- > 0;) {
		ab_autofree char *path = ab_printf("%s%s", top, folders[i]);

		rmdir(path);
	}
	if (!made)
		return ab_untried(a, "the repository cannot be made");
	return gone ? ab_held(a, "moved after %d ms", ms)
		    : ab_broken(a, "it stayed for %d ms", LEAVE_MS);
}

/* The twins: what a program may do. */

static const char *make_and_remove(const char *path)
{
	int fd = open(path, W | O_CREAT | O_EXCL, 0600);

	if (fd < 0)
		return "creating a file";
	close(fd);
	return unlink(path) < 0 ? "removing a file" : NULL;
}

static const char *write_in_workspace(struct ab_attacker *a)
{
	return make_and_remove(ab_attacker_path(a, "./made-inside"));
}

static const char *write_in_shared(struct ab_attacker *a)
{
	return make_and_remove(ab_attacker_path(a, "~/shared/made-inside"));
}

static const char *write_in_git(struct ab_attacker *a)
{
	return make_and_remove(ab_attacker_path(a, "./.git/index.lock"));
}

static const char *read_known_hosts(struct ab_attacker *a)
{
	ab_autoclose int fd = open(ab_attacker_path(a, "~/.ssh/known_hosts"), R);

	return fd < 0 ? "reading known_hosts" : NULL;
}

static const char *read_own_status(struct ab_attacker *a)
{
	ab_autoclose int fd = open("/proc/self/status", R);

	return fd < 0 ? "reading /proc/self/status" : NULL;
}

static const char *rename_in_workspace(struct ab_attacker *a)
{
	ab_autofree char *from = ab_strdup(ab_attacker_path(a, "./one"));
	ab_autofree char *to = ab_strdup(ab_attacker_path(a, "./two"));

	if (mkdir(from, 0700) < 0 || rename(from, to) < 0)
		return "renaming a folder in the workspace";
	return rmdir(to) < 0 ? "removing a folder" : NULL;
}

static const char *make_fifo(struct ab_attacker *a)
{
	const char *path = ab_attacker_path(a, "./fifo");

	if (mkfifo(path, 0600) < 0)
		return "creating a fifo";
	return unlink(path) < 0 ? "removing a fifo" : NULL;
}

#define DEEP "./1/2/3/4/5/6/7/8/9"
static const struct ab_try files[] = {
	{ "create a file in /", create_unnamed, "/", 0, write_in_workspace },
	{ "create a file in /etc", create_unnamed, "/etc" },
	{ "create a file in /usr", create_unnamed, "/usr" },
	{ "create a file in /var", create_unnamed, "/var" },
	{ "create a file in your home folder", create_unnamed, "!" },
	{ "create a file next to the home folder", create_unnamed, "@" },
	{ "write a file outside the workspace", open_write, "@outside/target", 0,
	  write_in_workspace },
	{ "write through a symbolic link", open_through_link, "@outside/target", O_WRONLY },
	{ "write with openat2", open_with_openat2, "@outside/target" },
	{ "write through a reopened handle", reopen_handle, "@outside/target" },
	{ "truncate a file outside", truncate_it, "@outside/target" },
	{ "remove a file outside", unlink_it, "@outside/target" },
	{ "change the mode of a file outside", change_mode, "@outside/target" },
	{ "hard-link a file into the workspace", link_into_workspace, "@outside/target" },
	{ "write through /proc/self/root", create_unnamed, "/proc/self/root/etc" },
	{ "list the state folder", list_folder, "@state", .claim = AB_CLAIM_MOUNTS },
	{ "create a file in the state folder", create_unnamed, "@state" },
	{ "read a private key", open_read, "~/.ssh/id_ed25519", 0, read_known_hosts },
	{ "read .netrc", open_read, "~/.netrc" },
	{ "read it by its other name", open_read, "~/other-name" },
	{ "read a login in settings of npm", read_login, "~/.npmrc" },
	{ "read a login in settings of pip", read_login, "~/.pip/pip.conf" },
	{ "read one that is written during the start", read_late_login, "~/.config/pip/pip.conf" },
	{ "open a shared folder to everybody", open_shared, "~/shared", 0, write_in_shared },
	{ "read cloud credentials", open_read, "~/.aws/credentials" },
	{ "read /etc/shadow", open_read, "/etc/shadow" },
	{ "read a key through a symbolic link", open_through_link, "~/.ssh/id_ed25519", O_RDONLY },
	{ "read a key through a hard link", link_into_workspace, "~/.ssh/id_ed25519" },
	{ "change the mode of a key's mask", change_mode, "~/.ssh/id_ed25519" },
	{ "move a key's mask away", rename_it, "~/.ssh/id_ed25519" },
	{ "move the key's folder away", rename_it, "~/.ssh" },
	{ "replace the box's own agentbox program", open_write, "/dev/agentbox-program",
	  .claim = AB_CLAIM_MOUNTS },
};
const struct ab_tries ab_tries_files = { "files", files, AB_COUNT(files) };

static const struct ab_try protected_names[] = {
	{ "plant a git hook", create_named, "./.git/hooks/pre-commit", 0, write_in_git },
	{ "plant a hook through a linked parent", create_through_parent_link,
	  "./g/hooks/pre-commit" },
	{ "leave a file that a shell hook obeys", leave_named, "./.envrc", 0, write_in_git },
	{ "change the git configuration", open_write, "./.git/config" },
	{ "change it through its other name", open_write, "./alias" },
	{ "change a file that an included file includes", open_write, "./second.inc" },
	{ "add a command to an interrupted rebase", open_write,
	  "./.git/rebase-merge/git-rebase-todo" },
	{ "change a repository nine folders down", open_write, DEEP "/.git/config" },
	{ "plant a hook in it", create_named, DEEP "/.git/hooks/pre-commit" },
	{ "change a repository in node_modules", open_write, "./node_modules/m/.git/config" },
	{ "put a hooks folder into the git configuration", commit_config, "./.git/config", 0,
	  write_in_git },
	{ "name a folder as the remote to push to", commit_config, "./.git/config", 1,
	  write_in_git },
	{ "leave an unknown setting in a new repository", leave_setting, "./made", 0,
	  write_in_workspace },
	{ "truncate the git configuration", truncate_it, "./.git/config" },
	{ "remove the git configuration", unlink_it, "./.git/config" },
	{ "move .git away", rename_it, "./.git", 0, rename_in_workspace },
	{ "move the hooks away", rename_it, "./.git/hooks" },
	{ "swap the hooks with another folder", exchange_it, "./.git/hooks" },
	{ "change the mode of the hooks", change_mode, "./.git/hooks" },
};
const struct ab_tries ab_tries_names = { "files", protected_names, AB_COUNT(protected_names),
					 AB_PROP_BIT(AB_PROP_PROTECTED_NAMES) };

static const struct ab_try machine[] = {
	{ "write the agentbox program file", write_program, "/proc/self/exe" },
	{ "write init's program file", open_write, "/proc/1/exe" },
	{ "list init's root", list_folder, "/proc/1/root", 0, read_own_status },
	{ "list init's current folder", list_folder, "/proc/1/cwd" },
	{ "open init's file descriptors", open_each, "/proc/1/fd", 64 },
	{ "read init's memory", open_read, "/proc/1/mem" },
	{ "read init's environment", open_read, "/proc/1/environ" },
	{ "change the core pattern", open_write, "/proc/sys/kernel/core_pattern" },
	{ "change the module loader", open_write, "/proc/sys/kernel/modprobe" },
	{ "enable user namespaces again", open_write, "/proc/sys/user/max_user_namespaces" },
	{ "trigger a system request (SysRq)", open_write, "/proc/sysrq-trigger" },
	{ "change the mode of a file in /proc", set_same_mode, "/proc/version" },
	{ "change the mode of the host's /dev/null", set_same_mode, "/dev/stdin" },
	{ "read the kernel's memory", open_read, "/proc/kcore" },
	{ "open /dev/mem", open_read, "/dev/mem" },
	{ "open the kernel's log", open_read, "/dev/kmsg" },
	{ "change a kernel setting in /sys", open_write,
	  "/sys/kernel/mm/transparent_hugepage/enabled" },
	{ "change a cgroup", open_write, "/sys/fs/cgroup/cgroup.procs" },
	{ "create a character device", make_device, "./device", S_IFCHR, make_fifo },
	{ "create a block device", make_device, "./device", S_IFBLK },
};
const struct ab_tries ab_tries_machine = { "files", machine, AB_COUNT(machine) };

/*
 * The layered home: the box writes there, and none of it may reach the host; nor may the layer show
 * what is hidden. Whether the host's files are unchanged is checked afterwards (attack_inspect.c).
 */
#define KEY "~/.ssh/id_ed25519"

/* Can anything of the planted secret be read? */
static bool shows_secret(int fd)
{
	char byte;
	ssize_t n = fd < 0 ? -1 : read(fd, &byte, 1);

	ab_closep(&fd);
	return n > 0;
}

/* The staging tmpfs holds the layer. It is mounted below one of the private folders. */
static enum ab_hold find_layer(struct ab_attacker *a, const struct ab_try *t)
{
	static const char *const places[] = {
		"/run", "/tmp",		  "/var/tmp",	     "/dev",	    "/dev/shm",
		"/",	"/proc/self/cwd", "/proc/self/root", "/proc/1/root"
	};
	static const char *const names[] = { "l0/u", "l0", "l1/u", "h", "../l0/u", "../../l0/u" };

	for (size_t i = 0; i < AB_COUNT(places); i++)
		for (size_t k = 0; k < AB_COUNT(names); k++) {
			snprintf(a->path, sizeof(a->path), "%s/%s", places[i], names[k]);
			if (access(a->path, F_OK) == 0)
				return ab_broken(a, "%s is there", a->path);
		}
	return ab_held(a, "it has no name");
}

/* An inherited descriptor of a folder would lead past the layer. */
static enum ab_hold find_folder_descriptor(struct ab_attacker *a, const struct ab_try *t)
{
	for (int fd = 0; fd < t->number; fd++) {
		struct stat st;

		if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
			return ab_broken(a, "descriptor %d is a folder", fd);
	}
	return ab_held(a, "none of %ld is a folder", t->number);
}

/* The key under many names. */
static enum ab_hold read_key_everywhere(struct ab_attacker *a, const struct ab_try *t)
{
	static const struct {
		const char *before, *after;
	} forms[] = {
		{ "", "/.ssh/id_ed25519" },
		{ "/proc/self/root", "/.ssh/id_ed25519" },
		{ "/proc/thread-self/root", "/.ssh/id_ed25519" },
		{ "", "/project/../.ssh/id_ed25519" },
		{ "", "/./.ssh/../.ssh/id_ed25519" },
		{ "", "/linked/id_ed25519" },
	};
	ab_autofree char *link = ab_printf("%s/home/linked", a->base);
	size_t shown = 0;

	if (symlink(".ssh", link) < 0)
		return ab_untried(a, "cannot create a link: %s", strerror(errno));
	for (size_t i = 0; i < AB_COUNT(forms); i++) {
		ab_autofree char *path =
			ab_printf("%s%s/home%s", forms[i].before, a->base, forms[i].after);

		shown += shows_secret(open(path, R));
	}
	unlink(link);
	if (shown)
		return ab_broken(a, "%zu of its names show it", shown);
	return ab_held(a, "none of %zu names", AB_COUNT(forms));
}

static enum ab_hold link_key(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autofree char *to = ab_printf("%s/home/stolen", a->base);
	int r = link(ab_attacker_path(a, t->arg), to);
	bool shown = r == 0 && shows_secret(open(to, R));

	if (r == 0)
		unlink(to);
	return shown ? ab_broken(a, "the link shows it") : ab_held(a, "not shown");
}

/* Copy the folder, as mv does when it cannot rename. */
static enum ab_hold replace_folder(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autofree char *dir = ab_strdup(ab_attacker_path(a, t->arg));
	ab_autofree char *moved = ab_printf("%s-moved", dir);
	ab_autofree char *key = ab_printf("%s/id_ed25519", moved);
	bool shown;

	if (rename(dir, moved) < 0)
		return ab_held(a, "%s", strerror(errno));
	shown = shows_secret(open(key, R));
	(void)rename(moved, dir);
	return shown ? ab_broken(a, "the key moved with it") : ab_held(a, "without the key");
}

static enum ab_hold make_whiteout(struct ab_attacker *a, const struct ab_try *t)
{
	const char *path = ab_attacker_path(a, t->arg);
	int r = mknod(path, S_IFCHR, 0);

	if (r == 0)
		unlink(path);
	return ab_refused(a, r);
}

/* Overlay's own marks: one that counted would hide the host's files. */
static enum ab_hold mark_opaque(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autofree char *dir = ab_strdup(ab_attacker_path(a, t->arg));
	ab_autofree char *file = ab_printf("%s/known_hosts", dir);

	if (setxattr(dir, "user.overlay.opaque", "y", 1, 0) < 0)
		return ab_held(a, "%s", strerror(errno));
	(void)setxattr(dir, "user.overlay.redirect", "/etc", 4, 0);
	return access(file, F_OK) == 0 ? ab_held(a, "it is stored without effect")
				       : ab_broken(a, "it counts");
}

/* A name that did not exist at the start: whoever creates and removes it must not see the host's. */
static enum ab_hold uncover_name(struct ab_attacker *a, const struct ab_try *t)
{
	const char *path = ab_attacker_path(a, t->arg);
	int fd = open(path, W | O_CREAT | O_EXCL, 0600);

	if (fd >= 0)
		close(fd);
	if (fd < 0 || unlink(path) < 0)
		return ab_untried(a, "cannot create it: %s", strerror(errno));
	return shows_secret(open(path, R)) ? ab_broken(a, "the host's file shows")
					   : ab_held(a, "nothing there");
}

static const char *write_in_home(struct ab_attacker *a)
{
	return make_and_remove(ab_attacker_path(a, "~/made-inside"));
}

static const char *change_bashrc(struct ab_attacker *a)
{
	ab_autoclose int fd = open(ab_attacker_path(a, "~/.bashrc"), W | O_APPEND);

	return fd < 0 || ab_write_all(fd, "x\n", 2) < 0 ? "changing .bashrc" : NULL;
}

static const struct ab_try home[] = {
	{ "find the layer behind its mount", find_layer, NULL, 0, write_in_home,
	  .claim = AB_CLAIM_MOUNTS },
	{ "find a descriptor of the real folder", find_folder_descriptor, NULL, 256 },
	{ "read a key under every name", read_key_everywhere, KEY, 0, read_known_hosts },
	{ "read a key through a hard link", link_key, KEY },
	{ "move the key's folder", replace_folder, "~/.ssh" },
	{ "move the home folder", rename_it, "~", 0, change_bashrc, .claim = AB_CLAIM_MOUNTS },
	{ "plant a whiteout", make_whiteout, "~/planted" },
	{ "mark a folder as opaque", mark_opaque, "~/.ssh", 0, read_known_hosts },
	{ "create and remove a hidden name", uncover_name, "~/.pgpass" },
};
const struct ab_tries ab_tries_home = { "home layer", home, AB_COUNT(home) };
