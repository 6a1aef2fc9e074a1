/*
 * No allocation here: the process shares its parent's memory. A probe
 * returns NULL when the property holds, else why it does not.
 *
 * Mustn't: change anything when a wall is missing. A probe that renames a
 * protected folder to see whether it can has renamed it.
 */
#include "sandbox/start/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "base/system/fd.h"
#include "netns/loopback.h"
#include "policy/model/policy.h"
#include "sandbox/mount/furniture.h"
#include "sandbox/plan/spec.h"
#include "sandbox/start/box_wire.h"
#include "sandbox/start/limits.h"
#include "sandbox/start/target.h"

struct proof {
	const struct ab_spec *spec;
	enum ab_capture capture;
	bool landlock;
	uint32_t held; /* what earlier probes have proved */
	char why[128];
};

static const char *because(struct proof *p, const char *what, const char *path)
{
	snprintf(p->why, sizeof(p->why), "%s %.80s", what, path);
	return p->why;
}

static const char *own_namespace(struct proof *p, enum ab_ns ns, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return because(p, "cannot look at", path);
	if (st.st_ino == p->spec->host_ns[ns])
		return because(p, "is the host's:", path);
	return NULL;
}

static const char *user_ns(struct proof *p)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2];

	(void)p;
	if (syscall(SYS_capget, &head, caps) < 0 ||
	    (caps[0].permitted | caps[1].permitted | caps[0].effective | caps[1].effective |
	     caps[0].inheritable | caps[1].inheritable))
		return "capabilities are left";
	for (int cap = 0; cap < 64; cap++) {
		int in = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);

		if (in < 0)
			break;
		if (in)
			return "the bounding set is not empty";
	}
	if (unshare(CLONE_NEWUSER) == 0)
		return "a further user namespace can be made";
	return NULL;
}

static const char *pid_fence(struct proof *p)
{
	char self[16], want[16], root[8];
	ssize_t n;

	if (!p->spec->nested && getppid() != 1)
		return "process 1 is not ours";
	/* /proc shows this namespace and no other. */
	n = readlink("/proc/self", self, sizeof(self) - 1);
	snprintf(want, sizeof(want), "%d", getpid());
	if (n < 0 || strncmp(self, want, (size_t)n) != 0 || want[n])
		return "/proc is of another namespace";
	/* Asks for the right to trace init. Its memory cannot be the question:
	 * until the exec it is our own. */
	if (readlink("/proc/1/root", root, sizeof(root)) >= 0)
		return "init can be looked into";
	return NULL;
}

static bool has_sockets(int family)
{
	ab_autoclose int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd >= 0;
}

/*
 * Routes prove nothing: with a door there is one for every address, and all of
 * them lead to the loopback device. Where no other device is up, nothing can
 * leave.
 */
static const char *net_fence(struct proof *p)
{
	const char *why;

	if (!p->spec->own_net)
		return "the network is the host's";
	if (p->spec->no_sockets)
		return has_sockets(AF_INET) || has_sockets(AF_INET6)
			       ? "internet sockets can be made"
			       : NULL;
	why = own_namespace(p, AB_NS_NET, "/proc/self/ns/net");
	if (!why && !ab_loopback_alone())
		why = "there is another network device";
	return why;
}

/* Can a listener at this path be reached? */
static bool connects(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET };

	if (access(path, F_OK) < 0)
		return false;
	if (strlen(path) >= sizeof(un.sun_path))
		return true;
	memcpy(un.sun_path, path, strlen(path) + 1);
	for (size_t i = 0; i < AB_COUNT(types); i++) {
		ab_autoclose int fd = socket(AF_UNIX, types[i] | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		if (fd < 0)
			return true;
		if (connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0 || errno == EAGAIN)
			return true;
		if (errno == EACCES)
			return false;
	}
	return false;
}

static const char *dns_fence(struct proof *p)
{
	/* Doors to the host's resolver that are files, not addresses. */
	static const char *const doors[] = {
		"/run/systemd/resolve/io.systemd.Resolve",
		"/run/nscd/socket",
		"/var/run/nscd/socket",
		"/run/dbus/system_bus_socket",
		"/run/avahi-daemon/socket",
	};
	const char *why = p->held & AB_PROP_BIT(AB_PROP_NET_FENCE) ? NULL : "there is no net-fence";

	for (size_t i = 0; !why && i < AB_COUNT(doors); i++)
		if (connects(doors[i]))
			why = because(p, "the host resolves through", doors[i]);
	return why;
}

static const char *write_fence(struct proof *p)
{
	for (size_t i = 0; i < p->spec->unwritable.len; i++) {
		const char *dir = p->spec->unwritable.v[i];
		struct statvfs fs;
		int fd;

		if (statvfs(dir, &fs) < 0)
			continue; /* not visible: not writable either */
		if (!p->spec->nested && !(fs.f_flag & ST_RDONLY))
			return because(p, "writable mount at", dir);
		/* Nameless: gone with the descriptor if it is ever made. */
		fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
		if (fd >= 0) {
			close(fd);
			return because(p, "a file can be made in", dir);
		}
	}
	if (!p->landlock)
		return "no Landlock for the second lock";
	if (mount("none", "/", NULL, MS_REMOUNT | MS_BIND, NULL) == 0)
		return "the root can be remounted";
	return NULL;
}

/* Is this a file that the specification shows over a mask, and really that
 * one: on the file system of the box's own? */
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

static const char *read_deny(struct proof *p)
{
	for (size_t i = 0; i < p->spec->plan.len; i++) {
		const struct ab_mount *m = &p->spec->plan.v[i];
		ab_autoclose int fd = -1;

		if (m->op != AB_MOUNT_MASK)
			continue;
		fd = open(m->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 && !is_shown(p->spec, m->path, fd))
			return because(p, "can be read:", m->path);
	}
	return NULL;
}

static const char *protected_names(struct proof *p)
{
	if (!p->spec->protected_complete)
		return "a protected file has other names that were not all "
		       "found";
	for (size_t i = 0; i < p->spec->plan.len; i++) {
		const struct ab_mount *m = &p->spec->plan.v[i];
		struct statx stx;

		if (m->op != AB_MOUNT_CLOSE && m->op != AB_MOUNT_PIN)
			continue;
		if (statx(AT_FDCWD, m->path, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &stx) < 0 ||
		    !(stx.stx_attributes & STATX_ATTR_MOUNT_ROOT))
			return because(p, "can be renamed:", m->path);
		if (m->op == AB_MOUNT_CLOSE && m->as != AB_AS_LINK &&
		    faccessat(AT_FDCWD, m->path, W_OK, 0) == 0)
			return because(p, "can be written:", m->path);
	}
	return NULL;
}

static const char *ipc_fence(struct proof *p)
{
	const char *why = own_namespace(p, AB_NS_IPC, "/proc/self/ns/ipc");

	for (size_t i = 0; !why && i < p->spec->sockets.len; i++)
		if (connects(p->spec->sockets.v[i]))
			why = because(p, "reachable:", p->spec->sockets.v[i]);
	if (why)
		return why;
	/* Abstract names belong to the network namespace, or are fenced by
	 * Landlock's scope. */
	if (!p->spec->own_net && p->spec->landlock_abi < 6)
		return "abstract sockets need Landlock ABI 6 when the network "
		       "is the host's";
	return NULL;
}

static const char *ipc_fence_late(struct proof *p)
{
	if (!p->landlock || p->spec->landlock_abi < 9)
		return "needs Landlock ABI 9 (Linux 7.1)";
	return p->held & AB_PROP_BIT(AB_PROP_IPC_FENCE) ? NULL : "there is no ipc-fence";
}

static const char *syscalls(struct proof *p)
{
	(void)p;
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2)
		return "no filter is in force";
	/* Each would answer otherwise without the filter: EBADF, EFAULT,
	 * EINVAL, ENOKEY. */
	if (syscall(SYS_bpf, -1, NULL, 0) == 0 || errno != EPERM)
		return "bpf is open";
	if (syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0) >= 0 ||
	    errno != EPERM)
		return "keyctl is open";
	if (ioctl(-1, TIOCSTI, "") == 0 || errno != EPERM)
		return "TIOCSTI is open";
	if (socket(AF_PACKET, SOCK_RAW, 0) >= 0)
		return "packet sockets are open";
	return NULL;
}

static const char *no_new_privs(struct proof *p)
{
	(void)p;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? NULL : "not set";
}

static const char *limits(struct proof *p)
{
	const char *name = ab_limits_unheld(p->spec);

	return name ? because(p, "not enforced:", name) : NULL;
}

/* An address for documentation, that no device has. */
static bool is_local(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(0xcb007101) } };
	ab_autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0;
}

/*
 * No connection is made: it would arrive at the door, and be on record. That
 * the rules are in force was answered by the kernel, which takes all of them
 * or none; what is tried is that this process is where they are, by the route
 * that makes every address local: one can be bound.
 */
static const char *transparent(struct proof *p)
{
	if (!p->spec->door || p->spec->nested)
		return "no connection is captured in this mode";
	switch (p->capture) {
	case AB_CAPTURE_TPROXY:
	case AB_CAPTURE_REDIRECT:
		return is_local() ? NULL : "the routes are not in force";
	case AB_CAPTURE_PORTS:
		return "only well-known ports are captured: nftables cannot "
		       "be used";
	case AB_CAPTURE_NONE:
	case AB_CAPTURE_COUNT:
		break;
	}
	return "only programs that use a proxy reach the network: routes "
	       "cannot be made";
}

/* In this order: a probe may build on those before it. */
static const char *(*const probes[AB_PROP_COUNT])(struct proof *) = {
	[AB_PROP_USER_NS] = user_ns,
	[AB_PROP_PID_FENCE] = pid_fence,
	[AB_PROP_NET_FENCE] = net_fence,
	[AB_PROP_DNS_FENCE] = dns_fence,
	[AB_PROP_WRITE_FENCE] = write_fence,
	[AB_PROP_READ_DENY] = read_deny,
	[AB_PROP_PROTECTED_NAMES] = protected_names,
	[AB_PROP_IPC_FENCE] = ipc_fence,
	[AB_PROP_IPC_FENCE_LATE] = ipc_fence_late,
	[AB_PROP_SYSCALLS] = syscalls,
	[AB_PROP_NO_NEW_PRIVS] = no_new_privs,
	[AB_PROP_LIMITS] = limits,
	[AB_PROP_TRANSPARENT] = transparent,
};

void ab_probe(const struct ab_target *target, struct ab_holds *holds)
{
	const struct ab_spec *spec = target->spec;
	struct proof proof = { .spec = spec,
			       .capture = target->capture,
			       .landlock = target->ruleset >= 0 };
	size_t n = 0;

	holds->missing[0] = '\0';
	for (size_t i = 0; i < AB_PROP_COUNT; i++) {
		const char *why = probes[i](&proof);

		if (!why) {
			proof.held |= AB_PROP_BIT(i);
			continue;
		}
		/* Only what was asked for is worth a word. */
		if (n < sizeof(holds->missing) && (spec->require & AB_PROP_BIT(i)))
			n += (size_t)snprintf(holds->missing + n, sizeof(holds->missing) - n,
					      "%s%s (%s)", n ? ", " : "", ab_property_names[i],
					      why);
	}
	holds->properties = proof.held;
}
