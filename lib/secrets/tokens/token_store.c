#include "secrets/tokens/token_store.h"

#include <sys/file.h>

#include "base/system/new_file.h"
#include "base/text/sha256.h"
#include "policy/model/secrets.h"

/* Depends on the token, so that an old replacement is never used for a new login. */
static void make_name(const struct ab_oauth *oauth, const char *token, size_t len, char ret[33])
{
	ab_autobuf struct ab_buf text = { .wipe = true };
	char hex[65];

	ab_buf_printf(&text, "%s\n%s\n", oauth->url, oauth->client ? oauth->client : "");
	ab_buf_add(&text, token, len);
	ab_sha256(text.data, text.len, hex);
	memcpy(ret, hex, 32);
	ret[32] = '\0';
}

static bool is_private(int fd, mode_t type)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == type && st.st_uid == geteuid() &&
	       !(st.st_mode & 077);
}

static int open_file(const struct ab_token_store *store, const char *suffix, int flags)
{
	char name[48];

	snprintf(name, sizeof(name), "%s%s", store->name, suffix);
	return openat(store->dir, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
}

static int fail_store(struct ab_error *err)
{
	return ab_fail(err, AB_ESYSTEM, errno, "cannot keep refresh tokens in the state folder");
}

static int take_lock(int fd, unsigned ms, struct ab_error *err)
{
	int locked = ab_lock_wait(fd, LOCK_EX, ms);

	if (locked > 0)
		return ab_fail(err, AB_ESYSTEM, 0,
			       "another run is still exchanging the same refresh token");
	return locked < 0 ? fail_store(err) : 0;
}

int ab_token_store_open(int state, const struct ab_oauth *oauth, const char *token, size_t len,
			unsigned ms, struct ab_token_store *ret, struct ab_error *err)
{
	struct ab_token_store s = { .dir = -1, .lock = -1 };

	make_name(oauth, token, len, s.name);
	if (mkdirat(state, "oauth", 0700) < 0 && errno != EEXIST)
		return fail_store(err);
	s.dir = openat(state, "oauth", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s.dir >= 0 && is_private(s.dir, S_IFDIR))
		s.lock = open_file(&s, ".lock", O_RDWR | O_CREAT);
	if (s.lock < 0 || !is_private(s.lock, S_IFREG))
		fail_store(err);
	else if (take_lock(s.lock, ms, err) == 0) {
		*ret = s;
		return 0;
	}
	ab_token_store_close(&s);
	return -1;
}

void ab_token_store_close(struct ab_token_store *store)
{
	ab_close_all(&store->lock, &store->dir);
}

char *ab_token_store_get(const struct ab_token_store *store)
{
	ab_autoclose int fd = open_file(store, "", O_RDONLY);
	char *text = NULL;
	size_t len;

	if (fd < 0 || !is_private(fd, S_IFREG) || ab_read_all(fd, AB_SECRET_MAX, &text, &len) < 0)
		return NULL;
	if (len < AB_SECRET_MIN || strlen(text) != len) {
		explicit_bzero(text, len);
		free(text);
		return NULL;
	}
	return text;
}

/* Complete before it has its name. */
int ab_token_store_put(const struct ab_token_store *store, const char *token, struct ab_error *err)
{
	char fresh[48];

	snprintf(fresh, sizeof(fresh), "%s.new", store->name);
	if (ab_new_file_write(store->dir, store->name, fresh, token, strlen(token), 0) < 0)
		return fail_store(err);
	return 0;
}

void ab_token_store_forget(const struct ab_token_store *store)
{
	(void)unlinkat(store->dir, store->name, 0);
}
