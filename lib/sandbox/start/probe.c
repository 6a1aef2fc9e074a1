/*
 * No allocation here: the process shares its parent's memory. A probe returns NULL
 * if the property holds, otherwise the reason why not.
 *
 * A probe must not change anything if a wall is missing: a probe that tries to
 * rename a protected folder might succeed.
 */
#include "sandbox/start/probe.h"

#include <dirent.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/magic.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "base/data/addr.h"
#include "base/system/folder.h"
#include "netns/loopback.h"
#include "sandbox/fence/descendants.h"
#include "sandbox/mount/furniture.h"
#include "sandbox/plan/engine.h"
#include "sandbox/plan/spec.h"
#include "sandbox/start/box_wire.h"
#include "sandbox/start/limits.h"
#include "sandbox/start/target.h"

enum { NEIGHBOURS_MAX = 256 };

struct proof {
	const struct ab_spec *spec;
	const struct ab_box_engine_traits *engine;
	enum ab_capture capture;
	bool landlock;
	uint32_t held; /* the properties proved by earlier probes */
	char why[128];
};

static const char *set_reason(struct proof *p, const char *what, const char *path)
{
	snprintf(p->why, sizeof(p->why), "%s %.80s", what, path);
	return p->why;
}

/* Of what is removed, the kernel takes off the mask before the name. A reader of the folder waits for
 * the removal, then sees what is left. */
static bool is_removed(const char *path)
{
	char folder[PATH_MAX], entry[512] __attribute__((aligned(8)));
	ab_autoclose int fd = -1;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
	fd = open(*folder ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return (fd >= 0 ? getdents64(fd, entry, sizeof(entry)) >= 0 : errno == ENOENT) &&
	       access(path, F_OK) < 0 && errno == ENOENT;
}

static const char *check_namespace(struct proof *p, enum ab_ns ns, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return set_reason(p, "cannot examine", path);
	if (st.st_ino == p->spec->host_ns[ns])
		return set_reason(p, "shared with the host:", path);
	return NULL;
}

/* Not with unshare(): it fails in any case, because this process shares its parent's memory. */
static bool can_create_user_namespace(void)
{
	long pid = syscall(SYS_clone, (unsigned long)CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	return pid > 0;
}

static bool has_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2];

	return syscall(SYS_capget, &head, caps) < 0 ||
	       (caps[0].permitted | caps[1].permitted | caps[0].effective | caps[1].effective |
		caps[0].inheritable | caps[1].inheritable);
}

static const char *probe_user_ns(struct proof *p)
{
	if (!p->engine->namespaces)
		return "the engine has no user namespace";
	if (has_capabilities())
		return "it still has capabilities";
	for (int cap = 0; cap < 64; cap++) {
		int in = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);

		if (in < 0)
			break;
		if (in)
			return "the bounding set is not empty";
	}
	if (p->spec->userns)
		return "given up: userNamespaces is \"allow\"";
	return can_create_user_namespace() ? "another user namespace can be created" : NULL;
}

/* Is this one of the box's own, an earlier command of a box that stays? It may be inspected. */
static bool is_of_box(const struct proof *p, int proc, const char *pid)
{
	struct stat self, other;
	char path[40];

	if (!p->engine->namespaces)
		return false;
	snprintf(path, sizeof(path), "%.16s/ns/pid", pid);
	return fstatat(proc, path, &other, 0) == 0 && fstatat(proc, "self/ns/pid", &self, 0) == 0 &&
	       ab_stat_same(&self, &other);
}

/*
 * Does this process in a shared /proc let itself be inspected or changed? Opening changes nothing.
 * `init`: until the exec this process shares the memory of the box's init.
 */
static const char *check_neighbour(struct proof *p, int proc, const char *pid, bool init)
{
	static const struct {
		const char *name;
		int flags;
		bool memory;
	} files[] = {
		{ "environ", O_RDONLY, true },
		{ "mem", O_RDONLY, true },
		{ "oom_score_adj", O_WRONLY, false },
		{ "autogroup", O_WRONLY, false },
	};
	char path[40], root[8];

	if (is_of_box(p, proc, pid))
		return NULL;
	snprintf(path, sizeof(path), "%.16s/root", pid);
	if (readlinkat(proc, path, root, sizeof(root)) >= 0)
		return set_reason(p, "can be inspected: process", pid);
	for (size_t i = 0; i < AB_COUNT(files); i++) {
		ab_autoclose int fd = -1;

		if (init && files[i].memory)
			continue;
		snprintf(path, sizeof(path), "%.16s/%s", pid, files[i].name);
		fd = openat(proc, path, files[i].flags | O_CLOEXEC);
		if (fd >= 0)
			return set_reason(p, "can be opened:", path);
	}
	return NULL;
}

/* The other processes that a shared /proc shows, as far as there are not too many. */
static const char *check_neighbours(struct proof *p)
{
	ab_autoclose int proc = open(p->engine->namespaces ? AB_SHARED_PROC : "/proc",
				     O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ab_entries entries = { .fd = proc };
	const struct dirent64 *d;
	const char *why = NULL;
	size_t left = NEIGHBOURS_MAX;
	/* The numbers that this process and its parent have there. */
	struct ab_process self;

	if (proc < 0 || !ab_process_read(proc, "self", &self))
		return "cannot examine the shared /proc";
	while (!why && left && (d = ab_entries_next(&entries))) {
		long pid = strtol(d->d_name, NULL, 10);

		if (pid <= 0 || pid == self.pid)
			continue;
		why = check_neighbour(p, proc, d->d_name, pid == self.parent);
		left--;
	}
	return why ? why : entries.len < 0 ? "cannot list the shared /proc" : NULL;
}

/* Without a pid namespace: signals must not leave the box. Limits and priorities are the guard's
 * matter (ab_probe_unasked()). */
static const char *check_signals(struct proof *p)
{
	if (p->spec->landlock_abi < 6)
		return "fencing signals without a pid namespace needs Landlock ABI 6 (Linux 6.12)";
	if (kill(getppid(), 0) == 0 || errno != EPERM)
		return "init can be signalled";
	return check_neighbours(p);
}

static const char *probe_pid_fence(struct proof *p)
{
	char root[8];

	if (!p->engine->namespaces)
		return check_signals(p);
	/* A further command is started by its leader (keeper.h). */
	if (!p->spec->nested && !p->spec->proved && getppid() != 1)
		return "process 1 is not the init of the box";
	if (!p->engine->new_proc)
		return check_neighbours(p);
	/* Needs the right to trace init. Reading init's memory would prove nothing:
	 * until the exec this process shares it. */
	if (readlink("/proc/1/root", root, sizeof(root)) >= 0)
		return "init can be inspected";
	return NULL;
}

/* /proc must show the processes of this namespace, and only these. */
static const char *probe_pid_view(struct proof *p)
{
	char self[16], want[16];
	ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);

	if (!p->engine->namespaces)
		return "the engine shares /proc: it shows processes outside";
	if (!p->engine->new_proc)
		return "the engine shares /proc: " AB_SHARED_PROC " shows processes outside";
	snprintf(want, sizeof(want), "%d", getpid());
	if (n < 0 || strncmp(self, want, (size_t)n) != 0 || want[n])
		return "/proc shows another namespace";
	return NULL;
}

static bool can_open_sockets(int family)
{
	ab_autoclose int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd >= 0;
}

/* Without a network namespace: may this process itself bind or connect? Nobody listens on this
 * port, and nobody could connect to a socket that does not listen. */
static const char *check_tcp(int family)
{
	ab_autoclose int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct ab_sockaddr at = ab_sockaddr_loopback(family == AF_INET6, 1);

	if (fd < 0)
		return NULL;
	if (connect(fd, &at.any, at.len) == 0 || errno != EACCES)
		return "TCP connections can be made";
	at = ab_sockaddr_loopback(family == AF_INET6, 0);
	return bind(fd, &at.any, at.len) == 0 || errno != EACCES ? "TCP ports can be bound" : NULL;
}

/* What the filter that asks does about datagrams is tried later (ab_probe_asked()). */
static const char *check_sockets(void)
{
	const char *why = has_capabilities() ? "it still has capabilities" : check_tcp(AF_INET);

	return why ? why : check_tcp(AF_INET6);
}

/*
 * Routes prove nothing: with a proxy every address has one, and all of them lead to
 * the loopback device. If no other device is up, nothing can leave.
 */
static const char *probe_net_fence(struct proof *p)
{
	const char *why;

	if (!p->spec->own_net)
		return "the network is that of the host";
	if (p->spec->no_sockets)
		return can_open_sockets(AF_INET) || can_open_sockets(AF_INET6)
			       ? "internet sockets can be created"
			       : NULL;
	if (!p->engine->namespaces)
		return check_sockets();
	why = check_namespace(p, AB_NS_NET, "/proc/self/ns/net");
	if (!why && !ab_loopback_alone())
		why = "there is another network device";
	return why;
}

/* Is a listener at this path reachable? Without mounts that is the guard's matter, who makes the
 * connections of the box, but not yet; without a guard the filter refuses them all. */
static bool can_connect(const struct proof *p, const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET };

	if (!p->engine->namespaces || access(path, F_OK) < 0)
		return false;
	if (strlen(path) >= sizeof(un.sun_path))
		return true;
	memcpy(un.sun_path, path, strlen(path) + 1);
	for (size_t i = 0; i < AB_COUNT(types); i++) {
		ab_autoclose int fd = socket(AF_UNIX, types[i] | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		if (fd < 0)
			return true;
		if (connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0 || errno == EAGAIN)
			return !is_removed(path);
		if (errno == EACCES)
			return false;
	}
	return false;
}

static const char *probe_dns_fence(struct proof *p)
{
	/* Sockets of the host's resolver. */
	static const char *const doors[] = {
		"/run/systemd/resolve/io.systemd.Resolve",
		"/run/nscd/socket",
		"/var/run/nscd/socket",
		"/run/dbus/system_bus_socket",
		"/run/avahi-daemon/socket",
	};
	const char *why = p->held & AB_PROP_BIT(AB_PROP_NET_FENCE) ? NULL : "net-fence is missing";

	for (size_t i = 0; !why && i < AB_COUNT(doors); i++)
		if (can_connect(p, doors[i]))
			why = set_reason(p, "the host's resolver is reachable at", doors[i]);
	return why;
}

static const char *check_unwritable(struct proof *p, const char *dir)
{
	struct statvfs fs;
	int fd;

	if (statvfs(dir, &fs) < 0)
		return NULL; /* not visible, so not writable */
	if (!p->spec->nested && p->engine->namespaces && !(fs.f_flag & ST_RDONLY))
		return set_reason(p, "writable mount at", dir);
	/* A file without a name disappears with its descriptor. */
	fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	close(fd);
	return set_reason(p, "a file can be created in", dir);
}

/* In another layer. */
static bool is_piece(const struct ab_layer_mounts *layers, const struct ab_layer_mount *l)
{
	for (size_t i = 0; i < layers->len; i++)
		if (&layers->v[i] != l && ab_layer_is_made(&layers->v[i]) &&
		    ab_path_within(l->path, layers->v[i].path))
			return true;
	return false;
}

/* An overlay; or a copy, which must not be the host's own folder. Where an earlier box has closed a folder of its
 * home, nobody can look at a piece of that; what is around it is a layer, too. */
static bool is_layer(const struct ab_layer_mounts *layers, const struct ab_layer_mount *l)
{
	struct statx stx;
	struct statfs fs;
	struct stat st;

	if (l->work || !l->upper)
		return statfs(l->path, &fs) == 0 ? fs.f_type == OVERLAYFS_SUPER_MAGIC
						 : errno == EACCES && is_piece(layers, l);
	return statx(AT_FDCWD, l->path, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &stx) == 0 &&
	       (stx.stx_attributes & STATX_ATTR_MOUNT_ROOT) && stat(l->path, &st) == 0 &&
	       l->host_ino && (st.st_dev != l->host_dev || st.st_ino != l->host_ino);
}

/* Writes in a layer are fine if it is one, or read-only. */
static const char *check_layers(struct proof *p)
{
	for (size_t i = 0; i < p->spec->layers.len && !p->spec->nested; i++) {
		const struct ab_layer_mount *l = &p->spec->layers.v[i];
		const char *why = NULL;

		if (ab_layer_is_made(l) && !is_layer(&p->spec->layers, l))
			why = set_reason(p, "not a layer:", l->path);
		else if (l->errnum > 0)
			why = check_unwritable(p, l->path);
		if (why)
			return why;
	}
	return NULL;
}

static const char *probe_write_fence(struct proof *p)
{
	const char *why = check_layers(p);

	for (size_t i = 0; !why && i < p->spec->unwritable.len; i++)
		why = check_unwritable(p, p->spec->unwritable.v[i]);
	if (why)
		return why;
	if (!p->landlock)
		return "Landlock is not available";
	if (mount("none", "/", NULL, MS_REMOUNT | MS_BIND, NULL) == 0)
		return "the root can be remounted";
	return NULL;
}

/* Is this a file that the specification shows over a mask, and really that one,
 * on the box's own file system? */
static bool is_shown(const struct ab_spec *spec, const char *path, int fd)
{
	struct stat ours, st;

	if (stat(AB_MARKER, &ours) < 0 || fstat(fd, &st) < 0 || ours.st_dev != st.st_dev)
		return false;
	for (size_t i = 0; i < spec->nfiles; i++)
		if (spec->files[i].over_mask && strcmp(spec->files[i].path, path) == 0)
			return true;
	return false;
}

/* Can a file in this folder be opened? It can be listed, without mounts. */
static bool has_readable_file(int dir)
{
	char list[2048] __attribute__((aligned(8)));
	ssize_t n = getdents64(dir, list, sizeof(list));

	for (ssize_t at = 0; at < n;) {
		const struct dirent64 *d = (const struct dirent64 *)(list + at);
		ab_autoclose int fd = -1;

		at += d->d_reclen;
		if (d->d_type != DT_REG)
			continue;
		fd = openat(dir, d->d_name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0)
			return true;
	}
	return false;
}

static const char *probe_read_deny(struct proof *p)
{
	/* No path leads us there: that it exists is known from outside. */
	if (p->spec->readable && *p->spec->readable)
		return set_reason(p, "readable under another name:", p->spec->readable);
	for (size_t i = 0; i < p->spec->plan.len; i++) {
		const struct ab_mount *m = &p->spec->plan.v[i];
		ab_autoclose int fd = -1;

		if (m->op != AB_MOUNT_MASK)
			continue;
		fd = open(m->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 && !p->engine->namespaces && m->as == AB_AS_DIR) {
			if (has_readable_file(fd))
				return set_reason(p, "readable: files in", m->path);
			continue;
		}
		if (fd >= 0 && !is_shown(p->spec, m->path, fd) && !is_removed(m->path))
			return set_reason(p, "readable:", m->path);
	}
	return NULL;
}

static const char *probe_protected_names(struct proof *p)
{
	if (!p->engine->namespaces)
		return "the engine has no mounts that close them";
	if (!p->spec->protected_complete)
		return "the writable folders could not be searched completely";
	for (size_t i = 0; i < p->spec->plan.len; i++) {
		const struct ab_mount *m = &p->spec->plan.v[i];
		struct statx stx;

		if (m->op != AB_MOUNT_CLOSE && m->op != AB_MOUNT_PIN)
			continue;
		if (statx(AT_FDCWD, m->path, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &stx) < 0) {
			if (errno == ENOENT && m->may_vanish)
				continue;
			return set_reason(p, "cannot examine", m->path);
		}
		if (!(stx.stx_attributes & STATX_ATTR_MOUNT_ROOT))
			return set_reason(p, "can be renamed:", m->path);
		if (m->op == AB_MOUNT_CLOSE && m->as != AB_AS_LINK &&
		    faccessat(AT_FDCWD, m->path, W_OK, 0) == 0)
			return set_reason(p, "writable:", m->path);
	}
	return NULL;
}

/* System V's calls and message queues are refused where they would be shared. */
static const char *check_shared_ipc(void)
{
	if (syscall(SYS_shmget, 0, 1, 0) >= 0 || errno != EPERM)
		return "System V memory is shared";
	return syscall(SYS_mq_open, "a", 0, 0, NULL) >= 0 || errno != EPERM
		       ? "message queues are shared"
		       : NULL;
}

static const char *probe_ipc_fence(struct proof *p)
{
	const char *why = p->engine->namespaces ? check_namespace(p, AB_NS_IPC, "/proc/self/ns/ipc")
						: check_shared_ipc();

	for (size_t i = 0; !why && i < p->spec->sockets.len; i++)
		if (can_connect(p, p->spec->sockets.v[i]))
			why = set_reason(p, "reachable:", p->spec->sockets.v[i]);
	if (why)
		return why;
	/* Abstract names belong to the network namespace, or Landlock's scope
	 * isolates them. */
	if (!(p->spec->own_net && p->engine->namespaces) && p->spec->landlock_abi < 6)
		return "isolating abstract sockets on the host's network needs "
		       "Landlock ABI 6";
	return NULL;
}

/* Without Landlock's rule: the guard makes each connection. The filter that asks it is loaded
 * after the proof; if it cannot be, this property is taken back (ab_probe_unasked()). */
static const char *check_connects(const struct proof *p)
{
	if (!p->spec->connects)
		return "needs Landlock ABI 9 (Linux 7.1)";
	if (!p->spec->own_net)
		return "on the host's network it needs Landlock ABI 9 (Linux 7.1)";
	if (p->spec->datagrams)
		return "filesystem.unixDatagrams allows datagrams, or filesystem.unix does";
	for (int fd = 0; fd < 3; fd++)
		if (ab_is_unix_socket(fd, SOCK_DGRAM))
			return "a datagram socket was passed as a standard descriptor";
	return NULL;
}

static const char *probe_ipc_fence_late(struct proof *p)
{
	const char *why = p->landlock && p->spec->landlock_abi >= 9 ? NULL : check_connects(p);

	if (why)
		return why;
	return p->held & AB_PROP_BIT(AB_PROP_IPC_FENCE) ? NULL : "ipc-fence is missing";
}

static const char *probe_syscalls(struct proof *p)
{
	(void)p;
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2)
		return "no filter is in force";
	/* Without the filter, each would return another error: EBADF, EFAULT,
	 * EINVAL, ENOKEY. */
	if (syscall(SYS_bpf, -1, NULL, 0) == 0 || errno != EPERM)
		return "bpf is allowed";
	if (syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0) >= 0 ||
	    errno != EPERM)
		return "keyctl is allowed";
	if (ioctl(-1, TIOCSTI, "") == 0 || errno != EPERM)
		return "TIOCSTI is allowed";
	if (socket(AF_PACKET, SOCK_RAW, 0) >= 0)
		return "packet sockets are allowed";
	return NULL;
}

static const char *probe_no_new_privs(struct proof *p)
{
	(void)p;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? NULL : "not set";
}

static const char *probe_limits(struct proof *p)
{
	const char *name = ab_limits_unheld(p->spec);

	return name ? set_reason(p, "not enforced:", name) : NULL;
}

/* Can an address be bound that is reserved for documentation? No device has it. */
static bool can_bind_any_address(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(0xcb007101) } };
	ab_autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0;
}

/*
 * Makes no connection, because it would arrive at the proxy and be recorded. The
 * kernel has accepted the rules, all of them or none. The probe verifies that they
 * apply to this process: a route makes every address local, so any address can
 * be bound.
 */
static const char *probe_transparent(struct proof *p)
{
	if (!p->spec->door || p->spec->nested)
		return "connections are not captured in this mode";
	if (!p->engine->namespaces)
		return NULL; /* the guard makes them all; see ab_probe_unasked() */
	switch (p->capture) {
	case AB_CAPTURE_TPROXY:
	case AB_CAPTURE_REDIRECT:
		return can_bind_any_address() ? NULL : "the routes are not in force";
	case AB_CAPTURE_PORTS:
		return "only well-known ports are captured: nftables is not "
		       "available";
	case AB_CAPTURE_NONE:
	case AB_CAPTURE_COUNT:
		break;
	}
	return "only programs that use HTTP_PROXY reach the network: "
	       "cannot create routes";
}

/* In this order: a probe may rely on those before it. */
static const char *(*const probes[AB_PROP_COUNT])(struct proof *) = {
	[AB_PROP_USER_NS] = probe_user_ns,     [AB_PROP_PID_FENCE] = probe_pid_fence,
	[AB_PROP_PID_VIEW] = probe_pid_view,   [AB_PROP_NET_FENCE] = probe_net_fence,
	[AB_PROP_DNS_FENCE] = probe_dns_fence, [AB_PROP_WRITE_FENCE] = probe_write_fence,
	[AB_PROP_READ_DENY] = probe_read_deny, [AB_PROP_PROTECTED_NAMES] = probe_protected_names,
	[AB_PROP_IPC_FENCE] = probe_ipc_fence, [AB_PROP_IPC_FENCE_LATE] = probe_ipc_fence_late,
	[AB_PROP_SYSCALLS] = probe_syscalls,   [AB_PROP_NO_NEW_PRIVS] = probe_no_new_privs,
	[AB_PROP_LIMITS] = probe_limits,       [AB_PROP_TRANSPARENT] = probe_transparent,
};

static void add_missing(struct ab_holds *holds, const struct ab_spec *spec, size_t property,
			const char *why)
{
	size_t n = strlen(holds->missing);

	if (ab_box_engine_tells(holds->engine, spec) & AB_PROP_BIT(property))
		snprintf(holds->missing + n, sizeof(holds->missing) - n, "%s%s (%s)", n ? ", " : "",
			 ab_property_names[property], why);
}

void ab_probe(const struct ab_target *target, uint32_t properties, struct ab_holds *holds)
{
	const struct ab_spec *spec = target->spec;
	struct proof proof = { .spec = spec,
			       .engine = &ab_box_engines[holds->engine],
			       .capture = target->capture,
			       .landlock = target->ruleset >= 0,
			       .held = holds->properties };

	for (size_t i = 0; i < AB_PROP_COUNT; i++) {
		const char *why;

		if (!(properties & AB_PROP_BIT(i)))
			continue;
		why = probes[i](&proof);
		if (why)
			add_missing(holds, spec, i, why);
		else
			proof.held |= AB_PROP_BIT(i);
	}
	holds->properties = proof.held;
}

static void take_back(const struct ab_spec *spec, struct ab_holds *holds, size_t property,
		      const char *why)
{
	if (!(holds->properties & AB_PROP_BIT(property)))
		return;
	holds->properties &= ~AB_PROP_BIT(property);
	add_missing(holds, spec, property, why);
}

/* Does the filter refuse an option or a flag by itself? Without it the answer is EBADF. */
static const char *check_corks(void)
{
	static const int levels[] = { IPPROTO_UDP, 136 /* UDP-Lite */ };
	int off = 0;

	for (size_t i = 0; i < AB_COUNT(levels); i++)
		if (setsockopt(-1, levels[i], 1 /* UDP_CORK */, &off, sizeof(off)) == 0 ||
		    errno != ENOPROTOOPT)
			return "datagram sockets can be uncorked";
	if (setsockopt(-1, SOL_SOCKET, SO_BINDTODEVICE, "", 0) == 0 || errno != EPERM)
		return "sockets can be bound to another device";
	if (sendto(-1, "", 0, MSG_FASTOPEN, NULL, 0) == 0 || errno != EOPNOTSUPP)
		return "MSG_FASTOPEN is allowed";
	return NULL;
}

void ab_probe_asked(const struct ab_spec *spec, struct ab_holds *holds)
{
	const char *why = spec->no_namespaces && spec->own_net ? check_corks() : NULL;

	if (!why)
		return;
	take_back(spec, holds, AB_PROP_NET_FENCE, why);
	take_back(spec, holds, AB_PROP_DNS_FENCE, "net-fence is missing");
}

void ab_probe_unasked(const struct ab_spec *spec, struct ab_holds *holds)
{
	static const char why[] = "a container around agentbox has the only listener";

	if (spec->connects)
		take_back(spec, holds, AB_PROP_IPC_FENCE_LATE, why);
	if (spec->no_namespaces)
		take_back(spec, holds, AB_PROP_TRANSPARENT, why);
}
