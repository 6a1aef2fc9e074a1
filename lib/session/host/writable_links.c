#include "session/host/writable_links.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/system/linkwalk.h"
#include "base/system/path.h"

bool ab_writable_links_writes(const struct ab_strv *writable, const char *real)
{
	for (size_t i = 0; i < writable->len; i++) {
		ab_autofree char *root = realpath(writable->v[i], NULL);

		if (ab_path_within(real, root ? root : writable->v[i]))
			return true;
	}
	return false;
}

char *ab_writable_links_follow(const struct ab_strv *writable, const char *path, bool *ret_led)
{
	ab_autolinkwalk struct ab_linkwalk w;
	enum ab_linkwalk_step step;

	ab_linkwalk_init(&w, "/", path);
	*ret_led = false;
	while ((step = ab_linkwalk_step(&w)) <= AB_LINKWALK_LINK)
		if (step == AB_LINKWALK_LINK)
			*ret_led |= ab_writable_links_writes(writable, w.at);
	return step == AB_LINKWALK_END ? ab_take(w.at) : NULL;
}

int ab_writable_links_open(const char *real)
{
	struct open_how how = {
		.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, AT_FDCWD, real, &how, sizeof(how));
}
