#include "host/unix_sockets.h"

#include <sys/un.h>

#define TABLE "/proc/net/unix"

enum {
	CHUNK = 16 * 1024,
	NAME_ROOM = sizeof(((struct sockaddr_un *)NULL)->sun_path),
	/* The kernel writes no longer line: seven numbers and a name. */
	LINE_ROOM = 256 + NAME_ROOM,
};

/* "Num: RefCount Protocol Flags Type St Inode Path": a hexadecimal number comes first. */
static bool is_entry(const char *line, size_t len)
{
	size_t n = 0;

	while (n < len && ab_hex(line[n]) >= 0)
		n++;
	return n >= 8 && len - n >= 2 && line[n] == ':' && line[n + 1] == ' ';
}

static void keep_name(struct ab_unix_names *names)
{
	if (names->named)
		ab_strv_give(&names->found, ab_strndup(names->name.data, names->name.len));
	names->named = false;
	names->name.len = 0;
}

/*
 * Every bound name counts, listening or not: a datagram socket receives without listening. The
 * kernel does not escape names, so a line that is not an entry continues the name before it.
 */
static void take_line(struct ab_unix_names *names, const char *line, size_t len)
{
	const char *path;

	if (!is_entry(line, len)) {
		if (names->named && names->name.len + len < NAME_ROOM) {
			ab_buf_puts(&names->name, "\n");
			ab_buf_add(&names->name, line, len);
		}
		return;
	}
	keep_name(names);
	path = memmem(line, len, " /", 2);
	names->named = path != NULL;
	if (path)
		ab_buf_add(&names->name, path + 1, (size_t)(line + len - path - 1));
}

void ab_unix_names_feed(struct ab_unix_names *names, const char *data, size_t len)
{
	while (len > 0) {
		const char *end = memchr(data, '\n', len);
		size_t n = end ? (size_t)(end - data) : len;
		size_t room = names->line.len < LINE_ROOM ? LINE_ROOM - names->line.len : 0;

		ab_buf_add(&names->line, data, n < room ? n : room);
		if (!end)
			return;
		take_line(names, names->line.data ? names->line.data : "", names->line.len);
		names->line.len = 0;
		data = end + 1;
		len -= n + 1;
	}
}

void ab_unix_names_take(struct ab_unix_names *names, struct ab_strv *ret)
{
	struct ab_strv *all = &names->found;

	if (names->line.len)
		take_line(names, names->line.data, names->line.len);
	keep_name(names);
	ab_strv_sort(all);
	/* An accepted socket has the listener's name, too. */
	for (size_t i = 0; i < all->len; i++)
		if (i == 0 || strcmp(all->v[i - 1], all->v[i]) != 0)
			ab_strv_add(ret, all->v[i]);
	ab_strv_fini(all);
	ab_buf_fini_all(&names->line, &names->name);
	*names = (struct ab_unix_names){ 0 };
}

/* Streamed, without a limit: any user can create enough sockets to exceed one. */
static int read_names(struct ab_strv *ret, struct ab_error *err)
{
	ab_autoclose int fd = open(TABLE, O_RDONLY | O_CLOEXEC);
	char chunk[CHUNK];
	struct ab_unix_names names = { 0 };
	ssize_t n = -1;

	if (fd >= 0)
		while ((n = ab_read_full(fd, chunk, CHUNK)) > 0)
			ab_unix_names_feed(&names, chunk, (size_t)n);
	if (n < 0)
		ab_fail(err, AB_ESYSTEM, errno, "read the host's sockets in " TABLE);
	ab_unix_names_take(&names, ret);
	return n < 0 ? -1 : 0;
}

/* Nothing can be reached by this name now. */
static bool is_gone(int errnum)
{
	return errnum == ENOENT || errnum == ENOTDIR || errnum == ELOOP;
}

/* The folder on the way to `path` that we cannot enter. */
static int add_closed_folder(const char *path, struct ab_strv *ret, struct ab_error *err)
{
	ab_autofree char *dir = ab_path_parent(path);
	ab_autofree char *real = realpath(dir, NULL);

	if (!real && errno == EACCES && dir[1])
		return add_closed_folder(dir, ret, err);
	if (!real && is_gone(errno))
		return 0;
	if (!real)
		return ab_fail(err, AB_ESYSTEM, errno, "find the host's socket %s", path);
	ab_strv_add_once(ret, real);
	return 0;
}

static int add_socket(const char *name, struct ab_strv *ret_sockets, struct ab_strv *ret_folders,
		      struct ab_error *err)
{
	struct stat st;
	char *real;

	if (stat(name, &st) == 0) {
		if (!S_ISSOCK(st.st_mode))
			return 0;
		/* By its real path: the mask is mounted on the object. */
		real = realpath(name, NULL);
		if (real) {
			ab_strv_give(ret_sockets, real);
			return 0;
		}
	}
	if (is_gone(errno))
		return 0;
	if (errno == EACCES)
		return add_closed_folder(name, ret_folders, err);
	return ab_fail(err, AB_ESYSTEM, errno, "find the host's socket %s", name);
}

int ab_unix_sockets_list(struct ab_strv *ret_sockets, struct ab_strv *ret_folders,
			 struct ab_error *err)
{
	ab_autostrv struct ab_strv names = { 0 };

	if (read_names(&names, err) < 0)
		goto fail;
	for (size_t i = 0; i < names.len; i++)
		if (add_socket(names.v[i], ret_sockets, ret_folders, err) < 0)
			goto fail;
	return 0;
fail:
	ab_hint(err, "agentbox must know the host's sockets to hide them from the box");
	return ab_step(err, "sockets");
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
