#include "session/reach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/strv.h"

enum { LINKS = 40 }; /* as the kernel has it */

bool ab_reach_writes(const struct ab_strv *writable, const char *real)
{
	for (size_t i = 0; i < writable->len; i++) {
		ab_autofree char *root = realpath(writable->v[i], NULL);

		if (ab_path_within(real, root ? root : writable->v[i]))
			return true;
	}
	return false;
}

/* The first name of *rest, which is left with what is behind it; NULL: none. */
static char *next_name(const char **rest)
{
	const char *name = *rest + strspn(*rest, "/");
	size_t len = strcspn(name, "/");

	*rest = name + len;
	return len ? ab_strndup(name, len) : NULL;
}

static void move_to(char **at, char *path)
{
	free(*at);
	*at = path;
}

char *ab_reach_follow(const struct ab_strv *writable, const char *path, bool *ret_led)
{
	ab_autofree char *at = ab_strdup("/"), *text = ab_strdup(path);
	const char *rest = text;
	unsigned links = 0;

	*ret_led = false;
	for (;;) {
		ab_autofree char *name = next_name(&rest), *to = NULL;
		char target[PATH_MAX];
		ssize_t n;

		if (!name)
			return ab_take(at);
		if (strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0) {
			move_to(&at, ab_path_parent(at));
			continue;
		}
		to = ab_path_join(at, name);
		n = readlink(to, target, sizeof(target));
		if (n < 0 && errno != EINVAL)
			return NULL;
		if (n < 0) {
			move_to(&at, ab_take(to));
			continue;
		}
		if (n == sizeof(target) || ++links > LINKS) {
			errno = ELOOP;
			return NULL;
		}
		*ret_led |= ab_reach_writes(writable, at);
		if (target[0] == '/')
			move_to(&at, ab_strdup("/"));
		rest = ab_printf("%.*s/%s", (int)n, target, rest);
		free(text);
		text = (char *)rest;
	}
}

int ab_reach_open(const char *real)
{
	struct open_how how = {
		.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, AT_FDCWD, real, &how, sizeof(how));
}
