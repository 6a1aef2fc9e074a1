/*
 * The layered home: the box writes there, and none of it may reach the host; nor may the layer show
 * what is hidden. Whether the host's files are unchanged is checked afterwards (attack_inspect.c).
 */
#include <sys/xattr.h>

#include "attack/attack.h"
#include "base/base.h"

#define W (O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define R (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
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

	(void)t;
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

	(void)t;
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

static enum ab_hold rename_home(struct ab_attacker *a, const struct ab_try *t)
{
	const char *from = ab_attacker_path(a, t->arg);
	ab_autofree char *to = ab_printf("%s-moved", from);
	int r = rename(from, to);

	if (r == 0)
		(void)rename(to, from);
	return ab_refused(a, r);
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

/* The twins. */

static const char *write_in_home(struct ab_attacker *a)
{
	const char *path = ab_attacker_path(a, "~/made-inside");
	int fd = open(path, W | O_CREAT | O_EXCL, 0600);

	if (fd < 0)
		return "creating a file in the home folder";
	close(fd);
	return unlink(path) < 0 ? "removing it" : NULL;
}

static const char *change_bashrc(struct ab_attacker *a)
{
	ab_autoclose int fd = open(ab_attacker_path(a, "~/.bashrc"), W | O_APPEND);

	return fd < 0 || ab_write_all(fd, "x\n", 2) < 0 ? "changing .bashrc" : NULL;
}

static const char *read_host_file(struct ab_attacker *a)
{
	ab_autoclose int fd = open(ab_attacker_path(a, "~/.ssh/known_hosts"), R);

	return fd < 0 ? "reading known_hosts" : NULL;
}

#define HOME "home layer"
static const struct ab_try home[] = {
	{ HOME, "find the layer behind its mount", find_layer, NULL, 0, write_in_home,
	  .claim = AB_CLAIM_MOUNTS },
	{ HOME, "find a descriptor of the real folder", find_folder_descriptor, NULL, 256 },
	{ HOME, "read a key under every name", read_key_everywhere, KEY, 0, read_host_file },
	{ HOME, "read a key through a hard link", link_key, KEY },
	{ HOME, "move the key's folder", replace_folder, "~/.ssh" },
	{ HOME, "move the home folder", rename_home, "~", 0, change_bashrc,
	  .claim = AB_CLAIM_MOUNTS },
	{ HOME, "plant a whiteout", make_whiteout, "~/planted" },
	{ HOME, "mark a folder as opaque", mark_opaque, "~/.ssh", 0, read_host_file },
	{ HOME, "create and remove a hidden name", uncover_name, "~/.pgpass" },
};
const struct ab_tries ab_tries_home = { home, AB_COUNT(home) };
