/* Why a start fails on an unusual machine: what to do, from the step, the error and a look. */
#include <sys/utsname.h>

#include "sandbox/plan/engine.h"
#include "sandbox/start/launch.h"

enum { KERNEL_MAJOR = 5, KERNEL_MINOR = 13 };

bool ab_box_in_chroot(void)
{
	struct statx stx;

	return statx(AT_FDCWD, "/", 0, STATX_TYPE, &stx) == 0 &&
	       (stx.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) &&
	       !(stx.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

bool ab_box_is_filtered(void)
{
	char text[8192];

	ab_read_start(AT_FDCWD, "/proc/self/status", text, sizeof(text));
	return strstr(text, "\nSeccomp:\t2") != NULL;
}

static bool lacks_proc(void)
{
	return access("/proc/self/status", F_OK) < 0 && errno == ENOENT;
}

static bool is_old_kernel(void)
{
	struct utsname name;
	char *end = NULL;
	long major, minor;

	if (uname(&name) < 0)
		return false;
	major = strtol(name.release, &end, 10);
	minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
	return major < KERNEL_MAJOR || (major == KERNEL_MAJOR && minor < KERNEL_MINOR);
}

#define APPARMOR                                                                                  \
	"AppArmor lets programs create user namespaces but not use them; a profile for agentbox " \
	"permits it: agentbox doctor --fix"

/*
 * The first row that applies is used; a row without a look comes after those for the same step and
 * error. NULL and 0: any. The text of the error says what failed.
 */
static const struct {
	const char *step;
	int errnum;
	bool (*look)(void);
	const char *hint;
	const char *text; /* with which the error begins; NULL: any */
} causes[] = {
	{ NULL, 0, lacks_proc,
	  "/proc is not mounted here, and agentbox needs it; as root: mount -t proc proc /proc" },
	{ NULL, ENOSYS, is_old_kernel,
	  "this kernel is too old: agentbox needs Linux 5.13; agentbox doctor shows what is "
	  "missing" },
	{ NULL, ENOSYS, NULL,
	  "a filter around agentbox refuses this system call, probably the old seccomp profile of "
	  "a container; use a newer one (Docker, Podman: --security-opt seccomp=FILE, or "
	  "unconfined)" },
	{ NULL, EMFILE, NULL,
	  "too few open files are allowed: agentbox itself needs about 32; ulimit -n 1024" },
	/* The kernel lets a user have as many descriptors on their way between processes. */
	{ NULL, ETOOMANYREFS, NULL,
	  "too few open files are allowed, or programs of this user have sent too many that were not "
	  "received; ulimit -n 1024" },
	{ NULL, EFBIG, NULL, "files may not become large enough here; ulimit -f unlimited" },
	{ "namespaces", EPERM, ab_box_in_chroot,
	  "this is a chroot, in which the kernel creates no user namespaces; enter the tree with "
	  "pivot_root instead (unshare, systemd-nspawn, a container)" },
	{ "namespaces", EPERM, ab_box_is_filtered,
	  "a system call filter forbids user namespaces, probably that of a container; " AB_ENGINE_UNFILTER },
	{ "namespaces", EPERM, NULL,
	  "user namespaces are forbidden here; as root: sysctl kernel.unprivileged_userns_clone=1, "
	  "or a security module forbids them; agentbox doctor finds out which" },
	{ "namespaces", ENOSPC, NULL,
	  "user namespaces are disabled; as root: sysctl user.max_user_namespaces=15000" },
	{ "namespaces", EUSERS, NULL,
	  "user namespaces are disabled; as root: sysctl user.max_user_namespaces=15000" },
	{ "namespaces", EINVAL, NULL,
	  "this kernel lacks one of the namespaces; agentbox doctor finds out which" },
	{ "namespaces", 0, NULL, "run agentbox doctor to find the cause" },
	/* The kernel creates a user namespace, but lets nothing be done in it. */
	{ "identity maps", EACCES, NULL, APPARMOR },
	/* Linux 5.12 and later let only a process with CAP_SETFCAP map user 0. */
	{ "identity maps", EPERM, NULL,
	  "root needs the capability SETFCAP here, which this container lacks; " AB_ENGINE_SETFCAP,
	  "map uid 0:" },
	{ "identity maps", EPERM, NULL, APPARMOR },
	{ "capabilities", EACCES, NULL, APPARMOR },
	{ "capabilities", EPERM, NULL, APPARMOR },
	{ "user namespaces", EROFS, NULL,
	  "/proc/sys is read-only here, as in most containers; " AB_ENGINE_UNMASK
	  ", or use --engine auto" },
	{ "user namespaces", EACCES, NULL,
	  "/proc/sys is closed here, as in some containers; " AB_ENGINE_UNMASK
	  ", or use --engine auto" },
	{ "user namespaces", ENOENT, NULL,
	  "/proc/sys/user is missing: this kernel was built without it, or /proc is covered, as in "
	  "some containers; " AB_ENGINE_UNMASK ", or use --engine auto" },
	{ "ground", EPERM, NULL,
	  "the kernel mounts a new /proc or /dev only if nothing covers parts of the old ones, as "
	  "most containers do; " AB_ENGINE_UNMASK ", or use --engine auto" },
	{ "ground", ENODEV, NULL, "this kernel lacks a file system; agentbox doctor shows which" },
};

/* A limit of this process: whatever failed failed for that, and no other folder would help. */
static bool is_own_limit(int errnum)
{
	return errnum == EMFILE || errnum == EFBIG;
}

void ab_box_explain(struct ab_error *err)
{
	if ((err->code != AB_ESYSTEM || err->hint[0]) && !is_own_limit(err->errnum))
		return;
	for (size_t i = 0; i < AB_COUNT(causes); i++) {
		if ((causes[i].step && strcmp(causes[i].step, err->step) != 0) ||
		    (causes[i].errnum && causes[i].errnum != err->errnum) ||
		    (causes[i].text &&
		     strncmp(err->text, causes[i].text, strlen(causes[i].text)) != 0) ||
		    (causes[i].look && !causes[i].look()))
			continue;
		ab_hint(err, "%s", causes[i].hint);
		return;
	}
}
