/*
 * The two files of the state folder that placeholders are derived from: the user's key, created once, and
 * how often the user replaced the placeholder of each secret, {"NAME": TIMES}. A user who knows the key
 * can compute our placeholders.
 */
#include <jansson.h>
#include <sys/file.h>
#include <sys/random.h>

#include "base/system/new_file.h"
#include "secrets/secrets.h"

#define SEED "placeholders.key"
#define ROTATED "placeholders.rotated"

enum { ROTATED_MAX = 64 * 1024, LOCK_MS = 2000 };

static int fail_file(const char *name, const char *why, struct ab_error *err)
{
	ab_fail(err, AB_ESYSTEM, 0, "%s in the state folder %s", name, why);
	return ab_hint(err,
		       "remove both files of placeholders there; the next run creates a new key, "
		       "which changes placeholders once");
}

/* *ret -1: it does not exist. */
static int open_private(int state, const char *name, int *ret, struct ab_error *err)
{
	ab_autoclose int fd = openat(state, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open %s in the state folder", name);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
		return fail_file(name, "is not a file private to you", err);
	*ret = ab_take_fd(&fd);
	return 0;
}

/* If two runs create it at the same time, the first one wins. */
static int make_seed(int state, struct ab_error *err)
{
	uint8_t seed[AB_VAULT_SEED];
	bool made;

	if (getrandom(seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		return ab_fail(err, AB_ESYSTEM, errno, "get random bytes");
	made = ab_new_file_write(state, SEED, NULL, seed, sizeof(seed),
				 AB_NEW_FILE_ONLY | AB_NEW_FILE_NO_SYNC) == 0 ||
	       errno == EEXIST;
	explicit_bzero(seed, sizeof(seed));
	return made ? 0 : ab_fail(err, AB_ESYSTEM, errno, "create " SEED " in the state folder");
}

int ab_safe_seed(int state, uint8_t ret[AB_VAULT_SEED], struct ab_error *err)
{
	ab_autoclose int fd = -1;

	if (open_private(state, SEED, &fd, err) < 0 ||
	    (fd < 0 && (make_seed(state, err) < 0 || open_private(state, SEED, &fd, err) < 0)))
		return -1;
	return lseek(fd, 0, SEEK_END) != AB_VAULT_SEED ||
			       pread(fd, ret, AB_VAULT_SEED, 0) != AB_VAULT_SEED
		       ? fail_file(SEED, "is broken", err)
		       : 0;
}

/* An empty object without the file. */
static int read_rotated(int state, json_t **ret, struct ab_error *err)
{
	ab_autofree char *text = NULL;
	json_auto_t *times = NULL;
	ab_autoclose int fd = -1;
	const char *name;
	json_t *one;
	size_t len;

	if (open_private(state, ROTATED, &fd, err) < 0)
		return -1;
	if (fd >= 0 && ab_read_all(fd, ROTATED_MAX, &text, &len) == 0)
		times = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	else if (fd < 0)
		times = json_object();
	json_object_foreach(times, name,
			    one) if (json_integer_value(one) < 1 ||
				     json_integer_value(one) >=
					     INT32_MAX) return fail_file(ROTATED, "is broken", err);
	if (!json_is_object(times))
		return fail_file(ROTATED, "is broken", err);
	*ret = ab_take(times);
	return 0;
}

/* All parts have the name of the first one. */
static unsigned times_of(const json_t *times, const struct ab_secret *secret)
{
	return (unsigned)json_integer_value(json_object_get(times, (secret - secret->part)->name));
}

int ab_safe_rotated(int state, const struct ab_secrets *secrets, struct ab_vault *vault,
		    struct ab_error *err)
{
	json_auto_t *times = NULL;

	if (read_rotated(state, &times, err) < 0)
		return -1;
	for (size_t i = 0; i < secrets->len; i++)
		ab_vault_rotated(vault, i, times_of(times, &secrets->v[i]));
	return 0;
}

int ab_safe_check(int state, const struct ab_secrets *secrets, const struct ab_vault *vault,
		  struct ab_error *err)
{
	json_auto_t *times = NULL;

	if (!vault || !secrets->len)
		return 0;
	if (read_rotated(state, &times, err) < 0)
		return -1;
	for (size_t i = 0; i < secrets->len; i++) {
		const struct ab_secret *secret = &secrets->v[i];

		if (secret->life == AB_LIFE_RUN ||
		    ab_vault_times(vault, i) == times_of(times, secret))
			continue;
		ab_fail(err, AB_ESYSTEM, 0, "the placeholder of %s was replaced meanwhile",
			secret->name);
		ab_hint(err, "start the run again");
		return ab_step(err, "secrets");
	}
	return 0;
}

int ab_safe_rotate(int state, const struct ab_strv *names, struct ab_error *err)
{
	ab_autoclose int lock = openat(state, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ab_autofree char *text = NULL;
	json_auto_t *times = NULL;

	if (lock < 0 || ab_lock_wait(lock, LOCK_EX, LOCK_MS) != 0)
		return ab_fail(err, AB_ESYSTEM, 0,
			       "another program holds the lock of the state folder");
	if (read_rotated(state, &times, err) < 0)
		return -1;
	for (size_t i = 0; i < names->len; i++) {
		json_int_t was = json_integer_value(json_object_get(times, names->v[i]));

		json_object_set_new(times, names->v[i], json_integer(was + 1));
	}
	text = json_dumps(times, JSON_COMPACT);
	/* Once the user was told, the old ones must not come back after a crash. */
	return ab_new_file_write(state, ROTATED, NULL, text, strlen(text), AB_NEW_FILE_SYNC_NAME) <
			       0
		       ? ab_fail(err, AB_ESYSTEM, errno, "write " ROTATED " in the state folder")
		       : 0;
}
