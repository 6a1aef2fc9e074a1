#include "session/sources.h"

#include <errno.h>
#include <jansson.h>
#include <malloc.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "policy/paths.h"
#include "session/reach.h"
#include "session/sources_state.h"

enum {
	FILE_MAX = 1024 * 1024,
	DEPTH = 16, /* of a key */
};

void *ab_sourced_pages(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	(void)mlock(p, len);
	(void)madvise(p, len, MADV_DONTDUMP);
	(void)madvise(p, len, MADV_DONTFORK);
	return p;
}

void ab_sourced_drop(void *p, size_t len)
{
	if (!p)
		return;
	explicit_bzero(p, len);
	munmap(p, len);
}

void ab_sourced_fini(struct ab_sourced *s)
{
	ab_sourced_drop(s->data, AB_SECRET_MAX + 1);
	*s = (struct ab_sourced){ 0 };
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

void ab_sourced_trim(const char **s, size_t *len)
{
	while (*len > 0 && is_blank((*s)[*len - 1]))
		(*len)--;
	while (*len > 0 && is_blank(**s)) {
		(*s)++;
		(*len)--;
	}
}

int ab_sourced_keep(const struct ab_secret *secret, const char *where, const char *value,
		    size_t len, struct ab_sourced *ret, struct ab_error *err)
{
	ab_sourced_trim(&value, &len);
	if (len == 0) {
		ab_fail(err, AB_EUSAGE, 0, "the secret %s is empty: %s", secret->name, where);
		return ab_hint(err, "nothing could be put in for it; set it, "
				    "or leave the secret out");
	}
	if (len > AB_SECRET_MAX)
		return ab_fail(err, AB_EUSAGE, 0, "the secret %s is longer than %d KiB: %s",
			       secret->name, AB_SECRET_MAX / 1024, where);
	if (!ret->data)
		ret->data = ab_sourced_pages(AB_SECRET_MAX + 1);
	memmove(ret->data, value, len);
	explicit_bzero(ret->data + len, AB_SECRET_MAX + 1 - len);
	ret->len = len;
	return 0;
}

static int read_env(const struct ab_secret *secret, char *const *env, struct ab_sourced *ret,
		    struct ab_error *err)
{
	const char *value = ab_environ_get(env, secret->env);
	ab_autofree char *where = ab_printf("variable %s", secret->env);

	if (!value)
		return 0;
	return ab_sourced_keep(secret, where, value, strlen(value), ret, err);
}

/* The library keeps copies of what it reads; none of them stays behind. */
static void free_wiped(void *p)
{
	if (p)
		explicit_bzero(p, malloc_usable_size(p));
	free(p);
}

/* Where the key leads to, from object to object. A name may have dots itself
 * ("auths.ghcr.io.auth"), so the longest one that is there is tried first. */
static const json_t *find_key(const json_t *at, const char *key, unsigned left)
{
	char name[256];

	for (size_t len = strlen(key); len > 0; len--) {
		const json_t *found;
		const json_t *below;

		if ((key[len] != '\0' && key[len] != '.') || len >= sizeof(name))
			continue;
		memcpy(name, key, len);
		name[len] = '\0';
		found = json_object_get(at, name);
		if (!found)
			continue;
		if (key[len] == '\0')
			return found;
		below = left ? find_key(found, key + len + 1, left - 1) : NULL;
		if (below)
			return below;
	}
	return NULL;
}

static int pick_key(const struct ab_secret *secret, const char *text, size_t len,
		    struct ab_sourced *ret, struct ab_error *err)
{
	json_error_t wrong;
	json_t *json = json_loadb(text, len, 0, &wrong);
	const json_t *found = json ? find_key(json, secret->key, DEPTH) : NULL;
	int r;

	/* Not wrong.text: that has words of the file. */
	if (!json)
		r = ab_fail(err, AB_EUSAGE, 0, "the secret %s: %s is not JSON (line %d)",
			    secret->name, secret->file, wrong.line);
	else if (!found)
		r = ab_fail(err, AB_EUSAGE, 0, "the secret %s: %s has no key %s", secret->name,
			    secret->file, secret->key);
	else if (!json_is_string(found))
		r = ab_fail(err, AB_EUSAGE, 0, "the secret %s: %s of %s is not a text",
			    secret->name, secret->key, secret->file);
	else
		r = ab_sourced_keep(secret, secret->file, json_string_value(found),
				    json_string_length(found), ret, err);
	json_decref(json);
	return r;
}

/* One thread reads sources, so what is global may be changed meanwhile. */
static int pick_key_wiped(const struct ab_secret *secret, const char *text, size_t len,
			  struct ab_sourced *ret, struct ab_error *err)
{
	json_malloc_t get;
	json_free_t put;
	int r;

	json_get_alloc_funcs(&get, &put);
	json_set_alloc_funcs(malloc, free_wiped);
	r = pick_key(secret, text, len, ret, err);
	json_set_alloc_funcs(get, put);
	return r;
}

static int refuse_link(const struct ab_secret *secret, struct ab_error *err)
{
	ab_fail(err, AB_EUSAGE, 0,
		"the secret %s: the box could have put the link there by which "
		"%s leads elsewhere",
		secret->name, secret->file);
	return ab_hint(err, "name the file itself, or keep it outside of what "
			    "the box can write");
}

static int open_file(const struct ab_secret *secret, struct ab_error *err)
{
	bool led;
	ab_autofree char *real = ab_reach_follow(&secret->writable, secret->file, &led);
	ab_autoclose int fd = -1;
	struct stat st;

	if (led)
		return refuse_link(secret, err);
	fd = real ? ab_reach_open(real) : -1;
	if (fd < 0 || fstat(fd, &st) < 0)
		return ab_fail(err, AB_EUSAGE, errno, "the secret %s: open %s", secret->name,
			       secret->file);
	if (S_ISREG(st.st_mode))
		return ab_take_fd(&fd);
	ab_fail(err, AB_EUSAGE, 0, "the secret %s: %s is not a plain file", secret->name,
		secret->file);
	return ab_hint(err, "it is read again when it changes; for anything "
			    "else there is \"from\": \"command\"");
}

static int read_file(const struct ab_secret *secret, struct ab_sourced *ret, struct ab_error *err)
{
	size_t room = secret->key ? FILE_MAX : AB_SECRET_MAX + 64;
	ab_autoclose int fd = open_file(secret, err);
	ssize_t len;
	char *text;
	int r;

	if (fd < 0)
		return -1;
	text = ab_sourced_pages(room);
	len = ab_read_full(fd, text, room);
	if (len < 0)
		r = ab_fail(err, AB_EUSAGE, errno, "the secret %s: read %s", secret->name,
			    secret->file);
	else if ((size_t)len == room)
		r = ab_fail(err, AB_EUSAGE, 0, "the secret %s: %s is too large (over %zu KiB)",
			    secret->name, secret->file, room / 1024);
	else if (secret->key)
		r = pick_key_wiped(secret, text, (size_t)len, ret, err);
	else
		r = ab_sourced_keep(secret, secret->file, text, (size_t)len, ret, err);
	ab_sourced_drop(text, room);
	return r;
}

int ab_source_read(const struct ab_secret *secret, char *const *env, unsigned ms,
		   struct ab_sourced *ret, struct ab_error *err)
{
	struct ab_sourced s = { 0 };
	int r = -1;

	switch (secret->from) {
	case AB_FROM_ENV:
		r = read_env(secret, env, &s, err);
		break;
	case AB_FROM_FILE:
		r = read_file(secret, &s, err);
		break;
	case AB_FROM_COMMAND:
		r = ab_source_run(secret, env, ms, &s, err);
		break;
	}
	if (r < 0) {
		ab_sourced_fini(&s);
		if (!err->hint[0])
			ab_hint(err,
				"asked for by %s; the run does not begin "
				"without it",
				secret->origin);
		return ab_step(err, "secrets");
	}
	*ret = s;
	return 0;
}

static uint64_t mix(const struct stat *st)
{
	const uint64_t parts[] = { st->st_dev,
				   st->st_ino,
				   (uint64_t)st->st_size,
				   (uint64_t)st->st_mtim.tv_sec,
				   (uint64_t)st->st_mtim.tv_nsec,
				   (uint64_t)st->st_ctim.tv_sec,
				   (uint64_t)st->st_ctim.tv_nsec };
	uint64_t stamp = 14695981039346656037u;

	for (size_t i = 0; i < AB_COUNT(parts); i++)
		stamp = (stamp ^ parts[i]) * 1099511628211u;
	return stamp ? stamp : 1;
}

uint64_t ab_source_stamp(const struct ab_secret *secret)
{
	struct stat st;

	if (secret->from != AB_FROM_FILE || stat(secret->file, &st) < 0)
		return 0;
	return mix(&st);
}
