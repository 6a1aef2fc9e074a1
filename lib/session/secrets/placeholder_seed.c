#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/system/fd.h"
#include "session/secrets/secrets.h"

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

/* linkat makes it appear complete; if two runs create it at the same time, the
 * first one wins. */
static int make_seed(int state, struct ab_error *err)
{
	struct {
		uint64_t tail;
		uint8_t seed[AB_VAULT_SEED];
	} random;
	ab_autoclose int fd = -1;
	char name[64];
	bool made;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return ab_fail(err, AB_ESYSTEM, errno, "get random bytes");
	snprintf(name, sizeof(name), NAME ".%016" PRIx64, random.tail);
	fd = openat(state, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	made = fd >= 0 && ab_write_all(fd, random.seed, AB_VAULT_SEED) == 0 &&
	       (linkat(state, name, state, NAME, 0) == 0 || errno == EEXIST);
	explicit_bzero(&random, sizeof(random));
	if (!made)
		ab_fail(err, AB_ESYSTEM, errno, "create " NAME " in the state folder");
	if (fd >= 0)
		unlinkat(state, name, 0);
	return made ? 0 : -1;
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
