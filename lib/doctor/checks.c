#include <linux/keyctl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "base/data/addr.h"
#include "doctor/doctor.h"
#include "host/home/home.h"
#include "landlock/landlock.h"
#include "netns/loopback.h"
#include "policy/layers/layers.h"
#include "policy/model/policy.h"
#include "sandbox/mount/tree.h"
#include "sandbox/seccomp/seccomp.h"

static int report_errno(struct ab_verdict *v, const char *what)
{
	ab_verdict_set(v, AB_HEALTH_FAIL, "%s: %s", what, strerror(errno));
	return -1;
}

static void require_kernel(struct ab_verdict *v, const char *what, const char *version)
{
	struct utsname name;

	uname(&name);
	ab_verdict_set(v, AB_HEALTH_FAIL,
		       "%s: this is Linux %.60s\n"
		       "needs Linux %s or newer",
		       what, name.release, version);
}

void ab_check_userns(struct ab_verdict *v)
{
	unsigned int uid = getuid();

	/* The first operation that needs a capability there. */
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
		ab_userns_explain(errno, "change a mount", v);
		return;
	}
	ab_verdict_set(v, AB_HEALTH_OK, "created one, mapped %u, changed a mount", uid);
}

void ab_check_namespaces(struct ab_verdict *v)
{
	static const struct {
		int flag;
		const char *name;
	} kinds[] = {
		{ CLONE_NEWNS, "mount" },      { CLONE_NEWPID, "pid" },
		{ CLONE_NEWNET, "network" },   { CLONE_NEWIPC, "ipc" },
		{ CLONE_NEWUTS, "host name" }, { CLONE_NEWCGROUP, "cgroup" },
	};
	ab_autobuf struct ab_buf names = { 0 };

	for (size_t i = 0; i < AB_COUNT(kinds); i++) {
		if (unshare(kinds[i].flag) < 0) {
			ab_verdict_set(v, AB_HEALTH_FAIL, "no %s namespace: %s", kinds[i].name,
				       strerror(errno));
			ab_verdict_remedy(
				v,
				errno == EINVAL
					? "this kernel was built without it; use the distribution's standard kernel"
					: "check the limits in /proc/sys/user");
			return;
		}
		ab_buf_printf(&names, "%s%s", i ? ", " : "", kinds[i].name);
	}
	ab_verdict_set(v, AB_HEALTH_OK, "%s", names.data);
}

void ab_check_proc(struct ab_verdict *v)
{
	char self[16] = { 0 };
	pid_t pid;

	pid = fork();
	if (pid < 0) {
		report_errno(v, "create the first process of a namespace");
		return;
	}
	if (pid > 0) {
		/* The child continues and reports. */
		waitpid(pid, NULL, 0);
		_exit(0);
	}
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) {
		int errnum = errno;

		report_errno(v, "mount it");
		if (errnum == EPERM) {
			v->need = AB_NEED_UNMASKED;
			ab_verdict_set(
				v, AB_HEALTH_WARN,
				"the kernel mounts none, because parts of /proc are covered here: boxes have the engine shared-proc");
			ab_verdict_remedy(v, AB_ENGINE_UNMASK);
		}
		return;
	}
	if (readlink("/proc/self", self, sizeof(self) - 1) < 0 || strcmp(self, "1") != 0) {
		ab_verdict_set(v, AB_HEALTH_FAIL, "it shows the processes of another namespace");
		return;
	}
	ab_verdict_set(v, AB_HEALTH_OK, "mounted, shows only its own processes");
}

/* Looks for a route and sends nothing. The addresses are reserved for documentation. */
static bool has_route(bool v6)
{
	static const uint8_t out4[] = { 203, 0, 113, 1 };
	static const uint8_t out6[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 };
	struct ab_sockaddr to = ab_sockaddr(v6, v6 ? out6 : out4, 9);
	ab_autoclose int fd = socket(to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && connect(fd, &to.any, to.len) == 0;
}

static bool can_use_loopback(void)
{
	struct ab_sockaddr to = ab_sockaddr_loopback(false, 0);
	ab_autoclose int here = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ab_autoclose int there = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return here >= 0 && there >= 0 && bind(here, &to.any, to.len) == 0 &&
	       listen(here, 1) == 0 && getsockname(here, &to.any, &to.len) == 0 &&
	       connect(there, &to.any, to.len) == 0;
}

void ab_check_network(struct ab_verdict *v)
{
	struct ab_error err = { 0 };

	if (ab_loopback_up(&err) < 0) {
		ab_userns_explain(err.errnum, "bring up the loopback device", v);
		return;
	}
	if (has_route(false) || has_route(true))
		ab_verdict_set(v, AB_HEALTH_FAIL, "a new network namespace has a route out");
	else if (!can_use_loopback())
		report_errno(v, "use the loopback device");
	else
		ab_verdict_set(v, AB_HEALTH_OK, "no route out, loopback up");
}

void ab_check_mounts(struct ab_verdict *v)
{
	ab_autoclose int root = -1, tree = -1;
	struct ab_error err = { 0 };
	struct statvfs fs;

	/* Open it in the new namespace: only its own mounts can be cloned. */
	root = open("/", O_PATH | O_CLOEXEC);
	tree = ab_tree_clone_with(root, MOUNT_ATTR_RDONLY, true, "/", &err);
	if (tree < 0) {
		if (err.errnum == ENOSYS)
			require_kernel(v, "mount_setattr is missing", "5.12");
		else
			ab_verdict_set(v, AB_HEALTH_FAIL, "%.200s", err.text);
		return;
	}
	if (fstatvfs(tree, &fs) < 0 || !(fs.f_flag & ST_RDONLY))
		ab_verdict_set(v, AB_HEALTH_FAIL, "the tree cannot be made read-only as a whole");
	else
		ab_verdict_set(v, AB_HEALTH_OK, "the tree can be made read-only as a whole");
}

/* The same sentences as those of a run. */
void ab_check_home(struct ab_verdict *v)
{
	ab_autopolicy struct ab_policy *policy = NULL;
	ab_autostrv struct ab_strv lines = { 0 };
	ab_autofree char *text = NULL;
	struct ab_error err = { 0 };

	if (ab_policy_load(v->in, &policy, NULL, &err) < 0 || !ab_home_lines(policy, &lines))
		return;
	text = ab_strv_join(&lines, "; ");
	if (strstr(text, "read-only"))
		ab_verdict_set(v, AB_HEALTH_WARN,
			       "%.300s\n"
			       "name folders with --write to write to them directly, or run with "
			       "--home private",
			       text);
	else
		ab_verdict_set(v, AB_HEALTH_OK, "%.300s",
			       lines.len ? text : "boxes can write to a layer above it");
}

void ab_check_terminal(struct ab_verdict *v)
{
	ab_autoclose int master = -1, slave = -1;
	int locked = 0;

	/* Any folder works as the mount point, and /proc always exists. */
	if (mount("devpts", "/proc", "devpts", MS_NOSUID | MS_NOEXEC,
		  "newinstance,ptmxmode=0666,mode=0620") < 0) {
		report_errno(v, "mount devpts");
		return;
	}
	master = open("/proc/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0 || ioctl(master, TIOCSPTLCK, &locked) < 0 ||
	    (slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0) {
		report_errno(v, "open a new terminal");
		return;
	}
	ab_verdict_set(v, AB_HEALTH_OK, "opened one in a new devpts");
}

static void explain_no_landlock(int errnum, struct ab_verdict *v)
{
	char lsm[160];

	ab_first_line("/sys/kernel/security/lsm", lsm, sizeof(lsm));
	if (errnum == EOPNOTSUPP) {
		ab_verdict_set(v, AB_HEALTH_FAIL, "built in, but disabled");
		/* The list replaces the kernel's own: without the others they would be off. */
		if (lsm[0])
			ab_verdict_remedy(
				v, "enable it on the kernel command line: lsm=landlock,%s", lsm);
		else
			ab_verdict_remedy(
				v,
				"enable it on the kernel command line: lsm=landlock, and behind the comma what /sys/kernel/security/lsm has (mount -t securityfs securityfs /sys/kernel/security)");
	} else if (errnum == ENOSYS) {
		require_kernel(v, "not in this kernel",
			       "5.13, built with CONFIG_SECURITY_LANDLOCK,");
	} else {
		ab_verdict_set(
			v, AB_HEALTH_FAIL,
			"not available: %s\n"
			"a container's filter may block it; allow the landlock_* calls there",
			strerror(errnum));
	}
}

void ab_check_landlock(struct ab_verdict *v)
{
	int abi = ab_landlock_abi();
	ab_autoclose int ruleset = -1, fd = -1;
	ab_autobuf struct ab_buf brings = { 0 };
	struct ab_error err = { 0 };

	if (abi == 0) {
		explain_no_landlock(errno, v);
		return;
	}
	for (int i = 1; i <= abi && i <= AB_LL_NEWEST; i++)
		ab_buf_printf(&brings, "%s%s", i > 1 ? ", " : "", ab_landlock_brings(i));
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	ruleset = ab_landlock_open(abi > AB_LL_NEWEST ? AB_LL_NEWEST : abi, 0, &err);
	if (ruleset < 0 || ab_landlock_enter(ruleset) < 0) {
		ab_verdict_set(v, AB_HEALTH_FAIL, "ABI %d, but it cannot be enabled", abi);
		return;
	}
	/* Nothing is allowed now: if the root can still be listed, the kernel
	 * accepted the rules and does not enforce them. */
	fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		ab_verdict_set(v, AB_HEALTH_FAIL, "ABI %d, but it does not enforce anything", abi);
	else
		ab_verdict_set(v, AB_HEALTH_OK, "ABI %d (%s)", abi, brings.data);
}

void ab_check_landlock_newest(struct ab_verdict *v)
{
	int abi = ab_landlock_abi();

	if (abi == 0 || abi >= 9)
		return; /* already reported, or nothing to report */
	if (abi < 6)
		ab_verdict_set(
			v, AB_HEALTH_WARN,
			"without ABI 6 (Linux 6.12), --net allowed leaves the host's abstract sockets reachable");
	else
		ab_verdict_set(
			v, AB_HEALTH_WARN,
			"without ABI 9 (Linux 7.1), --net allowed leaves host sockets that are created later reachable");
}

void ab_check_seccomp(struct ab_verdict *v)
{
	int r;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	r = ab_seccomp_load(AB_FILTER_TARGET);
	if (r < 0) {
		ab_verdict_set(v, AB_HEALTH_FAIL,
			       "cannot load the filter: %s\n"
			       "needs a kernel with CONFIG_SECCOMP_FILTER",
			       strerror(-r));
		return;
	}
	/* Anyone may do that; only a filter returns EPERM. */
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2 ||
	    syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0) >= 0 ||
	    errno != EPERM)
		ab_verdict_set(v, AB_HEALTH_FAIL, "the filter loads, but is not enforced");
	else
		ab_verdict_set(v, AB_HEALTH_OK, "filter loads, %zu calls allowed",
			       ab_seccomp_allowed_count(AB_FILTER_TARGET));
}

void ab_check_privileges(struct ab_verdict *v)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		report_errno(v, "set it");
	else if (prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0)
		ab_verdict_set(v, AB_HEALTH_FAIL, "it can be undone");
	else
		ab_verdict_set(v, AB_HEALTH_OK, "set, cannot be undone");
}
