#include "landlock/landlock.h"

#include <sys/syscall.h>

/*
 * Debian 12's header has only ABI 1, so the kernel interface is defined here. The
 * struct grew with the ABI: its size tells the kernel which members are present.
 */
struct ruleset_attr {
	uint64_t fs;
	uint64_t net;	 /* ABI 4 */
	uint64_t scoped; /* ABI 6 */
};

struct path_beneath_attr {
	uint64_t access;
	int32_t parent_fd;
} __attribute__((packed));

enum { RULE_PATH_BENEATH = 1, CREATE_VERSION = 1 };
enum { AT_REFER = 13 };

#define BIT(n) (1ULL << (n))

/*
 * Every file right of the kernel: its bit, the ABI that introduced it, the right of
 * ours that it belongs to, and whether a rule on a plain file may have it (for the
 * others the kernel returns EINVAL).
 */
static const struct {
	unsigned int bit;
	int abi;
	unsigned int word;
	int on_file;
} rights[] = {
	{ 0, 1, AB_LL_EXEC, 1 },	      /* EXECUTE */
	{ 1, 1, AB_LL_WRITE, 1 },	      /* WRITE_FILE */
	{ 2, 1, AB_LL_READ, 1 },	      /* READ_FILE */
	{ 3, 1, AB_LL_READ | AB_LL_LIST, 0 }, /* READ_DIR */
	{ 4, 1, AB_LL_MAKE, 0 },	      /* REMOVE_DIR */
	{ 5, 1, AB_LL_MAKE, 0 },	      /* REMOVE_FILE */
	{ 6, 1, AB_LL_MAKE, 0 },	      /* MAKE_CHAR */
	{ 7, 1, AB_LL_MAKE, 0 },	      /* MAKE_DIR */
	{ 8, 1, AB_LL_MAKE, 0 },	      /* MAKE_REG */
	{ 9, 1, AB_LL_MAKE, 0 },	      /* MAKE_SOCK */
	{ 10, 1, AB_LL_MAKE, 0 },	      /* MAKE_FIFO */
	{ 11, 1, AB_LL_MAKE, 0 },	      /* MAKE_BLOCK */
	{ 12, 1, AB_LL_MAKE, 0 },	      /* MAKE_SYM */
	{ AT_REFER, 2, AB_LL_MAKE, 0 },	      /* REFER */
	{ 14, 3, AB_LL_WRITE, 1 },	      /* TRUNCATE */
	{ 15, 5, AB_LL_DEVICE, 1 },	      /* IOCTL_DEV */
	{ 16, 9, AB_LL_SOCKET, 1 },	      /* RESOLVE_UNIX */
};

static const char *const brings[AB_LL_NEWEST + 1] = {
	NULL,
	"files",
	"renames",
	"truncation",
	"ports",
	"device ioctls",
	"signals, abstract sockets",
	"audit control",
	"all threads at once",
	"pathname sockets",
};

static uint64_t get_kernel_rights(int abi, unsigned int words, int on_file)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < AB_COUNT(rights); i++)
		if (rights[i].abi <= abi && (rights[i].word & words) &&
		    (rights[i].on_file || !on_file))
			bits |= BIT(rights[i].bit);
	return bits;
}

int ab_landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

const char *ab_landlock_brings(int abi)
{
	return abi > 0 && abi <= AB_LL_NEWEST ? brings[abi] : NULL;
}

int ab_landlock_open(int abi, unsigned int scopes, struct ab_error *err)
{
	struct ruleset_attr attr = { .fs = get_kernel_rights(abi, AB_LL_ALL, 0) };
	size_t size = sizeof(attr.fs);
	long fd;

	if (abi >= 4 && (scopes & AB_LL_SCOPE_TCP)) {
		attr.net = BIT(0) | BIT(1); /* BIND_TCP, CONNECT_TCP */
		size = offsetof(struct ruleset_attr, scoped);
	}
	if (abi >= 6 && (scopes & (AB_LL_SCOPE_ABSTRACT | AB_LL_SCOPE_SIGNAL))) {
		attr.scoped = ((scopes & AB_LL_SCOPE_ABSTRACT) ? BIT(0) : 0) |
			      ((scopes & AB_LL_SCOPE_SIGNAL) ? BIT(1) : 0);
		size = sizeof(attr);
	}
	fd = syscall(SYS_landlock_create_ruleset, &attr, size, 0);
	if (fd < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create a Landlock ruleset (ABI %d)", abi);
	return (int)fd;
}

int ab_landlock_allow_fd(int ruleset, int abi, int fd, unsigned int words, struct ab_error *err)
{
	struct path_beneath_attr attr = { .parent_fd = fd };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "stat for Landlock");
	attr.access = get_kernel_rights(abi, words, !S_ISDIR(st.st_mode));
	if (!attr.access)
		return 0;
	/* EBADFD: a file in memory, which has no path and is not restricted. */
	if (syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &attr, 0) < 0 &&
	    errno != EBADFD)
		return ab_fail(err, AB_ESYSTEM, errno, "add a Landlock rule");
	return 0;
}

int ab_landlock_enter(int ruleset)
{
	return syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? -errno : 0;
}

/*
 * Together with another ruleset that handles files, the kernel denies REFER in one that handles
 * none: rename() and link() between two folders would fail with EXDEV. So this one handles REFER,
 * and allows it everywhere.
 */
static int allow_refer(int ruleset)
{
	ab_autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct path_beneath_attr attr = { .access = BIT(AT_REFER), .parent_fd = root };

	if (root < 0 || syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &attr, 0) < 0)
		return -errno;
	return 0;
}

int ab_landlock_enter_scope(void)
{
	const struct ruleset_attr attr = { .fs = BIT(AT_REFER), .scoped = BIT(1) };
	ab_autoclose int fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	int r = fd < 0 ? -errno : allow_refer(fd);

	return r < 0 ? r : ab_landlock_enter(fd);
}
