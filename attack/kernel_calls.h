#pragma once
/*
 * System calls that no program in the box needs. `doctor --attack` and the tests (test/attack)
 * try the same ones.
 *
 * Each returns 0 when it got through, and -1 with errno when it was refused. None does harm where
 * it gets through: the kernel would be asked for something of the caller's own, or for nothing.
 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/fanotify.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

static inline int ab_call_bpf(void)
{
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_ARRAY };

	attr.key_size = attr.value_size = 4;
	attr.max_entries = 1;
	return syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)) < 0 ? -1 : 0;
}

static inline int ab_call_perf(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.exclude_kernel = 1 };

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0 ? -1 : 0;
}

static inline int ab_call_io_uring(void)
{
	struct io_uring_params p = { 0 };

	return syscall(SYS_io_uring_setup, 1, &p) < 0 ? -1 : 0;
}

static inline int ab_call_handle_of(void)
{
	struct {
		struct file_handle head;
		unsigned char bytes[128];
	} h = { .head = { .handle_bytes = sizeof(h.bytes) } };
	int mount_id;

	return name_to_handle_at(AT_FDCWD, "/", &h.head, &mount_id, 0);
}

static inline int ab_call_handle_open(void)
{
	struct {
		struct file_handle head;
		unsigned char bytes[8];
	} h = { .head = { .handle_bytes = 8, .handle_type = 1 } };

	h.bytes[0] = 2; /* the root folder of an ext4 */
	return open_by_handle_at(AT_FDCWD, &h.head, O_RDONLY) < 0 ? -1 : 0;
}

static inline int ab_call_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return clock_settime(CLOCK_REALTIME, &now);
}

static inline int ab_call_time_of_day(void)
{
	struct timeval now;

	gettimeofday(&now, NULL);
	return settimeofday(&now, NULL);
}

static inline int ab_call_adjust(void)
{
	struct timex t = { .modes = ADJ_STATUS };

	return adjtimex(&t) < 0 ? -1 : 0;
}

#define AB_CALL(name, ...)                                            \
	static inline int ab_call_##name(void)                        \
	{                                                             \
		return syscall(SYS_##name, __VA_ARGS__) < 0 ? -1 : 0; \
	}
AB_CALL(userfaultfd, 1) /* USER_MODE_ONLY */
AB_CALL(io_uring_enter, -1, 0, 0, 0, NULL, 0)
AB_CALL(keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1)
AB_CALL(add_key, "user", "agentbox-attack", "x", 1, KEY_SPEC_PROCESS_KEYRING)
AB_CALL(request_key, "user", "agentbox-attack", NULL, KEY_SPEC_PROCESS_KEYRING)
AB_CALL(fanotify_init, FAN_CLASS_NOTIF, O_RDONLY)
AB_CALL(kexec_load, 0, 0, NULL, 0)
AB_CALL(kexec_file_load, -1, -1, 0, NULL, 0)
AB_CALL(init_module, "", 0, "")
AB_CALL(finit_module, -1, "", 0)
AB_CALL(delete_module, "", 0)
AB_CALL(reboot, 0, 0, 0, NULL) /* without magic numbers */
AB_CALL(swapon, "/nonexistent", 0)
AB_CALL(quotactl, 0x800001, NULL, 0, NULL)
AB_CALL(acct, "/nonexistent")
AB_CALL(syslog, 10, NULL, 0)
AB_CALL(sethostname, NULL, -1)
AB_CALL(move_pages, 0, 0UL, NULL, NULL, NULL, 0)
#undef AB_CALL

static inline int ab_call_personality(void)
{
	return personality(PER_LINUX32) < 0 ? -1 : 0;
}

static inline int ab_call_executable(void)
{
	return personality(READ_IMPLIES_EXEC) < 0 ? -1 : 0;
}

static inline int ab_call_set_mm(void)
{
	return prctl(PR_SET_MM, PR_SET_MM_START_CODE, 0, 0, 0);
}

/* Every one of them: X(title, function). */
#define AB_KERNEL_CALLS(X)                                  \
	X("bpf", ab_call_bpf)                               \
	X("perf_event_open", ab_call_perf)                  \
	X("userfaultfd", ab_call_userfaultfd)               \
	X("io_uring_setup", ab_call_io_uring)               \
	X("io_uring_enter", ab_call_io_uring_enter)         \
	X("keyctl", ab_call_keyctl)                         \
	X("add_key", ab_call_add_key)                       \
	X("request_key", ab_call_request_key)               \
	X("fanotify_init", ab_call_fanotify_init)           \
	X("name_to_handle_at", ab_call_handle_of)           \
	X("open_by_handle_at", ab_call_handle_open)         \
	X("kexec_load", ab_call_kexec_load)                 \
	X("kexec_file_load", ab_call_kexec_file_load)       \
	X("init_module", ab_call_init_module)               \
	X("finit_module", ab_call_finit_module)             \
	X("delete_module", ab_call_delete_module)           \
	X("reboot", ab_call_reboot)                         \
	X("swapon", ab_call_swapon)                         \
	X("quotactl", ab_call_quotactl)                     \
	X("acct", ab_call_acct)                             \
	X("syslog", ab_call_syslog)                         \
	X("clock_settime", ab_call_clock)                   \
	X("settimeofday", ab_call_time_of_day)              \
	X("adjtimex", ab_call_adjust)                       \
	X("sethostname", ab_call_sethostname)               \
	X("move_pages", ab_call_move_pages)                 \
	X("change the personality", ab_call_personality)    \
	X("make all memory executable", ab_call_executable) \
	X("forge what /proc shows", ab_call_set_mm)
