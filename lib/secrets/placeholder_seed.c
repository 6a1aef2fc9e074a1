#include <sys/random.h>

#include "base/system/new_file.h"
#include "secrets/secrets.h"

#define NAME "placeholders.key"

/* A user who knows the key can compute our placeholders. */
static int check_private(int fd, struct ab_error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "look at " NAME);
	if (S_ISREG(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077) &&
	    st.st_size == AB_VAULT_SEED)
		return 0;
	ab_fail(err, AB_ESYSTEM, 0, NAME " in the state folder is not a file private to you");
	return ab_hint(err, "remove it; the next run creates a new one, which changes "
			    "placeholders once");
}

static int read_seed(int fd, uint8_t ret[AB_VAULT_SEED], struct ab_error *err)
{
	if (check_private(fd, err) < 0)
		return -1;
	if (pread(fd, ret, AB_VAULT_SEED, 0) != AB_VAULT_SEED)
		return ab_fail(err, AB_ESYSTEM, errno, "read " NAME);
	return 0;
}

/* If two runs create it at the same time, the first one wins. */
static int make_seed(int state, struct ab_error *err)
{
	uint8_t seed[AB_VAULT_SEED];
	bool made;

	if (getrandom(seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		return ab_fail(err, AB_ESYSTEM, errno, "get random bytes");
	made = ab_new_file_write(state, NAME, NULL, seed, sizeof(seed),
				 AB_NEW_FILE_ONLY | AB_NEW_FILE_NO_SYNC) == 0 ||
	       errno == EEXIST;
	explicit_bzero(seed, sizeof(seed));
	return made ? 0 : ab_fail(err, AB_ESYSTEM, errno, "create " NAME " in the state folder");
}

int ab_safe_seed(int state, uint8_t ret[AB_VAULT_SEED], struct ab_error *err)
{
	static const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	ab_autoclose int fd = openat(state, NAME, flags);

	if (fd < 0 && errno == ENOENT) {
		if (make_seed(state, err) < 0)
			return -1;
		fd = openat(state, NAME, flags);
	}
	if (fd < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open " NAME " in the state folder");
	return read_seed(fd, ret, err);
}
