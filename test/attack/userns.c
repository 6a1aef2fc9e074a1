/*
 * Attempts from a user namespace that was made in the box, where the process has every capability:
 * to take a wall of the box off, to get around the guard, to leave the network. The names of files
 * are in variables: MASKED_FILE and MASKED_FOLDER are masked, WORK is the workspace, OUTSIDE a
 * folder of the host that is not writable.
 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/mount.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "attack.h"

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : 0;
}

/* All that --allow-userns is for. */
static int enter_with(int further)
{
	char uid[32], gid[32];

	snprintf(uid, sizeof(uid), "0 %u 1", (unsigned int)getuid());
	snprintf(gid, sizeof(gid), "0 %u 1", (unsigned int)getgid());
	if (unshare(CLONE_NEWUSER | further) < 0 || put("/proc/self/setgroups", "deny") < 0 ||
	    put("/proc/self/uid_map", uid) < 0)
		return -1;
	return put("/proc/self/gid_map", gid);
}

/* Twin of everything below. */
static int enter(char **a)
{
	(void)a;
	return enter_with(CLONE_NEWNET | CLONE_NEWPID);
}

#define INSIDE(name, expression)                  \
	static int name(char **a)                 \
	{                                         \
		(void)a;                          \
		if (enter_with(CLONE_NEWNET) < 0) \
			return -1;                \
		return (int)(expression);         \
	}

INSIDE(umount_mask, umount2(getenv("MASKED_FILE"), MNT_DETACH))
INSIDE(cover_mask, mount("none", getenv("MASKED_FOLDER"), "tmpfs", 0, NULL))
INSIDE(bind_root, mount("/", getenv("WORK"), NULL, MS_BIND | MS_REC, NULL))
INSIDE(remount, mount("none", "/", NULL, MS_REMOUNT | MS_BIND, NULL))
INSIDE(share_mounts, mount("none", "/", NULL, MS_REC | MS_SHARED, NULL))
INSIDE(clone_tree, syscall(SYS_open_tree, AT_FDCWD, "/", 1))
INSIDE(new_proc, syscall(SYS_fsopen, "proc", 0))
INSIDE(set_attributes, syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, NULL, 0))
INSIDE(swap_roots, syscall(SYS_pivot_root, ".", "."))
INSIDE(enter_namespace, setns(open("/proc/1/ns/mnt", O_RDONLY), 0))
INSIDE(mount_namespace, unshare(CLONE_NEWNS))
INSIDE(ipc_namespace, unshare(CLONE_NEWIPC))
INSIDE(uts_namespace, unshare(CLONE_NEWUTS))
INSIDE(all_namespaces,
       syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0))
INSIDE(raw_socket, socket(AF_INET, SOCK_RAW, IPPROTO_RAW))
INSIDE(packet_socket, socket(AF_PACKET, SOCK_RAW, 0))
INSIDE(firewall, socket(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER))
INSIDE(device, mknod("disk", S_IFBLK | 0600, makedev(8, 0)))
INSIDE(host_name, sethostname("x", 1))
INSIDE(use_bpf, syscall(SYS_bpf, BPF_PROG_LOAD, NULL, 0))
INSIDE(other_user, setresuid(1, 1, 1))
INSIDE(trace_init, ptrace(PTRACE_SEIZE, 1, 0, 0))
INSIDE(init_memory, open("/proc/1/mem", O_RDONLY))
INSIDE(init_root, open("/proc/1/root/etc", O_RDONLY))
INSIDE(sysctl, open("/proc/sys/user/max_user_namespaces", O_WRONLY))
INSIDE(write_outside, mkdirat(open(getenv("OUTSIDE"), O_PATH), "made", 0700))
INSIDE(write_config, open(".git/config", O_WRONLY))
INSIDE(make_protected, open(".envrc", O_CREAT | O_WRONLY, 0600))
INSIDE(make_plain, open("plain", O_CREAT | O_WRONLY, 0600))

/* Opening an empty file in its place is no success: the capability to ignore modes counts here. */
static int read_secret(char **a)
{
	char text[16];
	int fd;

	(void)a;
	fd = enter_with(0) < 0 ? -1 : open(getenv("MASKED_FILE"), O_RDONLY);
	if (fd < 0)
		return -1;
	errno = EACCES;
	return read(fd, text, sizeof(text)) > 0 ? 0 : -1;
}

static int list_secrets(char **a)
{
	char path[4096];

	(void)a;
	snprintf(path, sizeof(path), "%s/key", getenv("MASKED_FOLDER"));
	if (enter_with(0) < 0)
		return -1;
	/* The same name behind the mask. */
	return open(path, O_RDONLY) < 0 ? (errno = EACCES, -1) : 0;
}

static int in_root(const char *path)
{
	if (enter_with(0) < 0 || chroot(getenv("WORK")) < 0)
		return -1;
	return open(path, O_CREAT | O_WRONLY, 0600);
}

static int root_protected(char **a)
{
	(void)a;
	return in_root("/.envrc");
}

static int root_dots(char **a)
{
	(void)a;
	return in_root("/../../.envrc");
}

static int root_plain(char **a)
{
	(void)a;
	return in_root("/../other");
}

/* Its number in a namespace of its own is that of init in the box. */
static int own_number(const char *path)
{
	int status;
	pid_t pid;

	if (enter_with(CLONE_NEWPID) < 0 || (pid = fork()) < 0)
		return -1;
	if (pid == 0)
		_exit(getpid() == 1 && open(path, O_CREAT | O_WRONLY, 0600) < 0 ? errno : 0);
	waitpid(pid, &status, 0);
	errno = WEXITSTATUS(status);
	return errno ? -1 : 0;
}

static int own_number_protected(char **a)
{
	(void)a;
	return own_number("/proc/self/cwd/.envrc");
}

static int own_number_plain(char **a)
{
	(void)a;
	return own_number("/proc/self/cwd/third");
}

static int leave_network(char **a)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(80) };

	(void)a;
	to.sin_addr.s_addr = htonl(0xc0000201);
	if (enter_with(CLONE_NEWNET) < 0)
		return -1;
	return connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&to, sizeof(to));
}

static int raise_limit(char **a)
{
	struct rlimit limit;

	(void)a;
	getrlimit(RLIMIT_NPROC, &limit);
	limit.rlim_max++;
	return enter_with(0) < 0 ? -1 : setrlimit(RLIMIT_NPROC, &limit);
}

/* More processes than the limit, in a namespace that counts anew. */
static int fork_on(char **a)
{
	int ends[2], r = 0;
	char byte;

	(void)a;
	if (enter_with(0) < 0 || pipe(ends) < 0)
		return -1;
	for (int i = 0; i < 100 && r == 0; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			close(ends[1]);
			_exit(read(ends[0], &byte, 1) != 0);
		}
		r = pid < 0 ? -1 : 0;
	}
	close(ends[1]);
	return r;
}

/* Network namespaces that a descriptor keeps: each takes a lot of the kernel's memory. */
static int many_networks(char **a)
{
	int r = enter_with(0);

	(void)a;
	for (int i = 0; i < 300 && r == 0; i++)
		r = unshare(CLONE_NEWNET) < 0 || open("/proc/self/ns/net", O_RDONLY) < 0 ? -1 : 0;
	return r;
}

static const struct attempt attempts[] = {
	{ "enter", enter },
	{ "umount-mask", umount_mask },
	{ "cover-mask", cover_mask },
	{ "bind-root", bind_root },
	{ "remount", remount },
	{ "share-mounts", share_mounts },
	{ "clone-tree", clone_tree },
	{ "new-proc", new_proc },
	{ "set-attributes", set_attributes },
	{ "swap-roots", swap_roots },
	{ "enter-namespace", enter_namespace },
	{ "mount-namespace", mount_namespace },
	{ "ipc-namespace", ipc_namespace },
	{ "uts-namespace", uts_namespace },
	{ "all-namespaces", all_namespaces },
	{ "raw-socket", raw_socket },
	{ "packet-socket", packet_socket },
	{ "firewall", firewall },
	{ "device", device },
	{ "host-name", host_name },
	{ "bpf", use_bpf },
	{ "other-user", other_user },
	{ "trace-init", trace_init },
	{ "init-memory", init_memory },
	{ "init-root", init_root },
	{ "sysctl", sysctl },
	{ "read-secret", read_secret },
	{ "list-secrets", list_secrets },
	{ "write-outside", write_outside },
	{ "write-config", write_config },
	{ "make-protected", make_protected },
	{ "make-plain", make_plain },
	{ "root-protected", root_protected },
	{ "root-dots", root_dots },
	{ "root-plain", root_plain },
	{ "own-number-protected", own_number_protected },
	{ "own-number-plain", own_number_plain },
	{ "leave-network", leave_network },
	{ "raise-limit", raise_limit },
	{ "fork-on", fork_on },
	{ "many-networks", many_networks },
};
ATTACK_MAIN(attempts)
