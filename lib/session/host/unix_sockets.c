#include "session/host/unix_sockets.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/data/mem.h"
#include "base/system/fd.h"

/*
 * "Num RefCount Protocol Flags Type St Inode Path". Every bound name counts, listening or not: a
 * datagram socket receives without listening. Accepted sockets have the listener's name too, hence
 * "distinct". A name with a newline can at most make us check a path that is not a socket.
 */
void ab_unix_sockets_parse(const char *text, struct ab_strv *ret)
{
	struct ab_strv all = { 0 };

	while (*text) {
		const char *end = strchrnul(text, '\n');
		const char *path = memmem(text, (size_t)(end - text), " /", 2);

		if (path)
			ab_strv_give(&all, ab_strndup(path + 1, (size_t)(end - path - 1)));
		text = *end ? end + 1 : end;
	}
	ab_strv_sort(&all);
	for (size_t i = 0; i < all.len; i++)
		if (i == 0 || strcmp(all.v[i - 1], all.v[i]) != 0)
			ab_strv_add(ret, all.v[i]);
	ab_strv_fini(&all);
}

void ab_unix_sockets_list(struct ab_strv *ret)
{
	ab_autoclose int fd = open("/proc/net/unix", O_RDONLY | O_CLOEXEC);
	ab_autostrv struct ab_strv names = { 0 };
	ab_autofree char *text = NULL;
	size_t len;

	if (fd < 0 || ab_read_all(fd, 64 << 20, &text, &len) < 0)
		return;
	ab_unix_sockets_parse(text, &names);
	for (size_t i = 0; i < names.len; i++) {
		struct stat st;

		if (stat(names.v[i], &st) < 0 || !S_ISSOCK(st.st_mode))
			continue;
		/* By its real path: the mask is mounted on the object. */
		char *real = realpath(names.v[i], NULL);

		if (real)
			ab_strv_give(ret, real);
	}
}

/* To connect a datagram socket changes only that socket; any other kind answers EPROTOTYPE. */
static bool takes_datagrams(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	ab_autoclose int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof(un.sun_path))
		return true; /* it cannot be ruled out */
	memcpy(un.sun_path, path, strlen(path));
	return connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0;
}

bool ab_unix_sockets_have_datagrams(const struct ab_strv *paths)
{
	for (size_t i = 0; i < paths->len; i++)
		if (takes_datagrams(paths->v[i]))
			return true;
	return false;
}
