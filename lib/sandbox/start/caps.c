#include "sandbox/start/caps.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static const unsigned int needed[] = {
	CAP_SYS_ADMIN,	      /* mounts */
	CAP_NET_ADMIN,	      /* loopback, routes */
	CAP_NET_BIND_SERVICE, /* listeners on low ports */
	CAP_SYS_RESOURCE,     /* max_user_namespaces */
	CAP_SETPCAP,	      /* the bounding set and securebits */
	/* An overlay works with the capabilities of the process that made it: it enters its work
	 * folder, which has mode 0, and copies owners and modes. They count for files of the user and
	 * the group that the box has, and for nobody else's. */
	CAP_CHOWN,
	CAP_DAC_OVERRIDE,
	CAP_FOWNER,
	CAP_FSETID,
};

static int set_caps(uint64_t effective, uint64_t inheritable)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	for (int i = 0; i < 2; i++) {
		data[i].effective = (uint32_t)(effective >> 32 * i);
		data[i].permitted = (uint32_t)(effective >> 32 * i);
		data[i].inheritable = (uint32_t)(inheritable >> 32 * i);
	}
	return syscall(SYS_capset, &head, data) < 0 ? -errno : 0;
}

int ab_caps_carry(void)
{
	uint64_t set = 0;
	int r;

	for (size_t i = 0; i < AB_COUNT(needed); i++)
		set |= 1ULL << needed[i];
	r = set_caps(set, set);
	for (size_t i = 0; i < AB_COUNT(needed) && r == 0; i++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, needed[i], 0, 0) < 0)
			r = -errno;
	return r;
}

int ab_caps_drop(bool owned, struct ab_error *err)
{
	int r;

	if (prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED |
					     SECBIT_NO_CAP_AMBIENT_RAISE |
					     SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED) < 0 &&
	    (owned || errno != EPERM))
		return ab_fail(err, AB_ESYSTEM, errno, "lock the securebits");
	for (unsigned long cap = 0; cap < 64; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0) {
			if (errno == EINVAL)
				break; /* the kernel has no more */
			if (!owned && errno == EPERM)
				break;
			return ab_fail(err, AB_ESYSTEM, errno, "empty the bounding set");
		}
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "clear ambient capabilities");
	r = set_caps(0, 0);
	if (r < 0)
		return ab_fail(err, AB_ESYSTEM, -r, "drop capabilities");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "set no_new_privs");
	return 0;
}
