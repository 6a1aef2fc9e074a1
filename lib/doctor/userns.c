/*
 * User namespaces are missing most often, for four reasons that look different: a
 * limit of zero, a setting of the distribution, a container's filter, and
 * AppArmor, which lets a program create one but not use it. All are found by
 * trying; the settings are read only to name the cause.
 */
#include <sched.h>

#include "base/process/own_program.h"
#include "doctor/doctor.h"
#include "sandbox/start/launch.h"

#define MAX_USERNS "/proc/sys/user/max_user_namespaces"
#define USERNS_CLONE "/proc/sys/kernel/unprivileged_userns_clone"
#define APPARMOR "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"

static bool has_value(const char *path, const char *value)
{
	char buf[32];

	return strcmp(ab_first_line(path, buf, sizeof(buf)), value) == 0;
}

static bool in_chroot(void)
{
	struct stat here, init;

	if (ab_box_in_chroot())
		return true;
	return stat("/", &here) == 0 && stat("/proc/1/root", &init) == 0 &&
	       (here.st_ino != init.st_ino || here.st_dev != init.st_dev);
}

static void suggest_sysctl(struct ab_verdict *v, const char *key, const char *value)
{
	ab_verdict_remedy(v,
			  "now, as root:  sysctl -w %s=%s\n"
			  "permanently:   echo %s=%s > /etc/sysctl.d/90-agentbox.conf",
			  key, value, key, value);
}

static void explain_missing(int errnum, struct ab_verdict *v)
{
	char buf[32];

	v->health = AB_HEALTH_FAIL;
	switch (errnum) {
	case ENOSPC:
	case EUSERS:
		if (has_value(MAX_USERNS, "0")) {
			ab_verdict_set(v, AB_HEALTH_FAIL, "disabled (user.max_user_namespaces=0)");
			suggest_sysctl(v, "user.max_user_namespaces", "15000");
			return;
		}
		ab_verdict_set(
			v, AB_HEALTH_FAIL,
			"cannot create another one: the limit user.max_user_namespaces=%s is reached, or an outer namespace allows none\n"
			"check user.max_user_namespaces here and on the host of this container",
			ab_first_line(MAX_USERNS, buf, sizeof(buf)));
		return;
	case EPERM:
		if (has_value(USERNS_CLONE, "0")) {
			ab_verdict_set(v, AB_HEALTH_FAIL,
				       "disabled (kernel.unprivileged_userns_clone=0)");
			suggest_sysctl(v, "kernel.unprivileged_userns_clone", "1");
		} else if (ab_box_is_filtered()) {
			v->need = AB_NEED_UNFILTERED;
			ab_verdict_set(v, AB_HEALTH_FAIL,
				       "blocked by a system call filter, probably of a container");
			ab_verdict_remedy(v, AB_ENGINE_UNFILTER);
		} else if (in_chroot()) {
			ab_verdict_set(
				v, AB_HEALTH_FAIL,
				"the kernel does not create them in a chroot\n"
				"enter the tree with pivot_root instead (unshare, systemd-nspawn)");
		} else {
			ab_verdict_set(v, AB_HEALTH_FAIL,
				       "the kernel does not create one (%s)\n"
				       "a security module forbids it; see its log for the rule",
				       strerror(errnum));
		}
		return;
	case EINVAL:
	case ENOSYS:
		ab_verdict_set(v, AB_HEALTH_FAIL,
			       "this kernel was built without them (CONFIG_USER_NS)\n"
			       "use the distribution's standard kernel");
		return;
	default:
		ab_verdict_set(v, AB_HEALTH_FAIL, "cannot create one: %s", strerror(errnum));
	}
}

void ab_userns_explain(int errnum, const char *step, struct ab_verdict *v)
{
	if ((errnum == EPERM || errnum == EACCES) && has_value(APPARMOR, "1")) {
		ab_autofree char *path = ab_own_program();

		ab_apparmor_explain(path ? path : "", v);
		return;
	}
	if (access("/proc/self/status", F_OK) < 0) {
		ab_verdict_set(v, AB_HEALTH_FAIL,
			       "/proc is not mounted (%s: %s)\n"
			       "as root:  mount -t proc proc /proc",
			       step, strerror(errnum));
		return;
	}
	ab_verdict_set(v, AB_HEALTH_FAIL,
		       "the kernel creates one, but does not let us use it (%s: %s)\n"
		       "a security module forbids it; see its log for the rule",
		       step, strerror(errnum));
}

/* Linux 5.12 and later let only a process with CAP_SETFCAP map user 0. */
static void explain_root(struct ab_verdict *v)
{
	v->need = AB_NEED_SETFCAP;
	ab_verdict_set(v, AB_HEALTH_FAIL,
		       "root lacks the capability SETFCAP, without which it cannot use one");
	ab_verdict_remedy(v, AB_ENGINE_SETFCAP);
}

int ab_userns_enter(int further, struct ab_verdict *v)
{
	unsigned int uid = getuid(), gid = getgid();
	char map[2][48];
	const char *const files[][2] = {
		{ "/proc/self/setgroups", "deny" },
		{ "/proc/self/uid_map", map[0] },
		{ "/proc/self/gid_map", map[1] },
	};

	snprintf(map[0], sizeof(map[0]), "%u %u 1", uid, uid);
	snprintf(map[1], sizeof(map[1]), "%u %u 1", gid, gid);
	if (unshare(CLONE_NEWUSER) < 0) {
		explain_missing(errno, v);
		return -1;
	}
	for (size_t i = 0; i < 3; i++)
		if (ab_write_file(AT_FDCWD, files[i][0], files[i][1]) < 0) {
			if (uid == 0 && i == 1 && errno == EPERM)
				explain_root(v);
			else
				ab_userns_explain(errno, files[i][0], v);
			return -1;
		}
	if (further && unshare(further) < 0) {
		ab_userns_explain(errno, "create further namespaces", v);
		return -1;
	}
	return 0;
}
