#include "session/way.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "sandbox/plan.h"

enum { LINKS_MAX = 40 }; /* as in the kernel */

static bool is_writable(const struct ab_plan *plan, const char *folder)
{
	const struct ab_mount *m = ab_plan_find(plan, folder);

	return m && (m->op == AB_MOUNT_WRITE || m->op == AB_MOUNT_PIN);
}

/* One step, which is through no link. */
static void enter(char **at, const char *name)
{
	char *next = strcmp(name, "..") == 0 ? ab_path_parent(*at) : ab_path_join(*at, name);

	free(*at);
	*at = next;
}

bool ab_way_is_open(const struct ab_plan *plan, const char *path)
{
	/* Without links, so that the plan knows it. */
	ab_autofree char *at = ab_strdup("/"), *left = ab_strdup(path);
	unsigned int links = 0;

	for (;;) {
		size_t begin = strspn(left, "/");
		size_t n = strcspn(left + begin, "/");
		ab_autofree char *name = ab_strndup(left + begin, n);
		ab_autofree char *next = NULL;
		char target[PATH_MAX], *rest;
		ssize_t len;

		if (n == 0)
			return false;
		rest = ab_strdup(left + begin + n);
		free(left);
		left = rest;
		if (strcmp(name, ".") == 0)
			continue;
		next = ab_path_join(at, name);
		len = strcmp(name, "..") == 0 ? -1 : readlink(next, target, sizeof(target) - 1);
		if (len < 0) {
			enter(&at, name);
			continue;
		}
		if (is_writable(plan, at) || ++links > LINKS_MAX)
			return true;
		target[len] = '\0';
		rest = ab_printf("%s/%s", target, left);
		free(left);
		left = rest;
		if (target[0] == '/') {
			free(at);
			at = ab_strdup("/");
		}
	}
}
