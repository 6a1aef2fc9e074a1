#include "host/process/socket_owner.h"

#include <inttypes.h>

#include "base/system/folder.h"
#include "host/process/box_processes.h"
#include "proxy/record/events.h"
#include "sandbox/start/box_wire.h"

enum {
	STATUS_MAX = 16 << 10,
	EXE_MAX = 3072,
	/* The whole answer fits into a packet, whatever is escaped in it. */
	ANSWER_MAX = 46 << 10,
};

struct search {
	struct ab_box_processes box;
	const struct ab_peer *peer; /* NULL: the listener of `port` */
	uint16_t port;
	uint64_t inode; /* 0: not found */
	bool several;	/* datagram sockets may be the wanted one */
	bool late;	/* not everything was read */
};

pid_t ab_socket_owner_pid(int pidfd)
{
	static const char key[] = "\nPid:";
	char path[64], text[512];
	ab_autoclose int fd = -1;
	const char *line;
	ssize_t n;
	long pid;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : ab_read_full(fd, text, sizeof(text) - 1);
	if (n < 0)
		return 0;
	text[n] = '\0';
	line = strstr(text, key);
	pid = line ? strtol(line + strlen(key), NULL, 10) : 0;
	return pid > 0 ? (pid_t)pid : 0;
}

static bool is_wanted(const struct search *s, const struct ab_socket_owner_socket *socket)
{
	if (s->peer)
		return ab_socket_owner_is_end(socket, s->peer);
	return socket->listens && socket->inode && socket->port == s->port;
}

int ab_socket_owner_lines(int fd, bool (*take)(void *arg, const char *line, size_t len), void *arg)
{
	char text[16384];
	size_t have = 0;
	ssize_t n;

	while ((n = read(fd, text + have, sizeof(text) - have)) > 0) {
		const char *at = text, *end;

		have += (size_t)n;
		for (; (end = memchr(at, '\n', have)) != NULL; at = end + 1) {
			if (!take(arg, at, (size_t)(end - at)))
				return 0;
			have -= (size_t)(end - at) + 1;
		}
		memmove(text, at, have);
	}
	return n < 0 || have ? -1 : 0; /* or a line without an end */
}

/* False: the rest need not be read. */
static bool look_at(void *search, const char *line, size_t len)
{
	struct search *s = search;
	struct ab_socket_owner_socket socket;

	s->late |= ab_box_processes_late(&s->box);
	if (!ab_socket_owner_parse_socket(line, len, &socket))
		return !s->late;
	if (!is_wanted(s, &socket)) {
		/* Its sender chooses the address of a datagram, among all that are local. */
		s->several |= s->peer && s->peer->udp && socket.port == s->peer->port;
		return !s->late;
	}
	s->several |= s->inode && s->inode != socket.inode;
	s->inode = socket.inode;
	return s->peer && s->peer->udp;
}

/* The inode of the wanted socket, if it is in this table. */
static void find_inode(struct search *s, const char *table)
{
	ab_autoclose int dir = ab_box_processes_hold(&s->box, s->box.init);
	ab_autoclose int fd = dir < 0 ? -1 : openat(dir, table, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		s->late |= ab_socket_owner_lines(fd, look_at, s) < 0;
}

static bool has_socket(const struct search *s, pid_t pid)
{
	ab_autoclose int dir = ab_box_processes_hold(&s->box, pid);
	ab_autodir DIR *fds = dir < 0 ? NULL : ab_folder_list(dir, "fd");
	char want[40], link[40];
	bool found = false;

	snprintf(want, sizeof(want), "socket:[%" PRIu64 "]", s->inode);
	for (int i = 0; i < AB_OWNER_FDS && !found; i++) {
		const char *fd = ab_folder_next(fds);
		ssize_t n = fd ? readlinkat(dirfd(fds), fd, link, sizeof(link) - 1) : -1;

		if (!fd)
			break;
		if (n <= 0)
			continue;
		link[n] = '\0';
		found = strcmp(link, want) == 0;
		if (i % 64 == 63 && ab_box_processes_late(&s->box))
			break;
	}
	return found;
}

static bool read_status(int dir, pid_t *ret_inner, pid_t *ret_parent)
{
	ab_autoclose int fd = openat(dir, "status", O_RDONLY | O_CLOEXEC);
	ab_autofree char *text = ab_alloc(STATUS_MAX);
	ssize_t n = fd < 0 ? -1 : ab_read_full(fd, text, STATUS_MAX);

	return n > 0 && ab_socket_owner_parse_status(text, (size_t)n, ret_inner, ret_parent);
}

/* Parents first: the process that created the socket comes before those that inherited it. */
static pid_t find_process(struct search *s)
{
	pid_t pid;

	while ((pid = ab_box_processes_next(&s->box)) != 0)
		if (has_socket(s, pid))
			return pid;
	return 0;
}

static void describe_process(int dir, pid_t inner, struct ab_buf *b)
{
	ab_autoclose int fd = openat(dir, "cmdline", O_RDONLY | O_CLOEXEC);
	char exe[EXE_MAX + 1], text[AB_OWNER_ARGV + 1];
	ssize_t n = readlinkat(dir, "exe", exe, sizeof(exe));

	if (n > EXE_MAX)
		memcpy(exe + (n = EXE_MAX) - 3, "...", 3);
	exe[n > 0 ? n : 0] = '\0';
	n = fd < 0 ? -1 : ab_read_full(fd, text, sizeof(text));
	ab_socket_owner_describe(inner, exe, text, n > 0 ? (size_t)n : 0, false, b);
}

/* A process outside may have this pid by now. */
static bool is_in_box(const struct search *s, pid_t pid)
{
	for (size_t i = 0; i < s->box.len; i++)
		if (s->box.v[i] == pid)
			return true;
	return false;
}

/* Our own process that has started a command in a box that stays, between it and init. */
static bool is_leader(const struct search *s, int dir, pid_t parent)
{
	ab_autoclose int init = ab_box_processes_hold(&s->box, s->box.init);
	ab_autoclose int comm = openat(dir, "comm", O_RDONLY | O_CLOEXEC);
	struct stat ours, its;
	char name[32] = "";

	/* Every process can take the name, but not our program. */
	if (comm < 0 || ab_read_full(comm, name, sizeof(name) - 1) < 0 ||
	    strcmp(name, AB_LEADER_NAME "\n") != 0)
		return false;
	return parent == s->box.init && init >= 0 && fstatat(init, "exe", &ours, 0) == 0 &&
	       fstatat(dir, "exe", &its, 0) == 0 && ab_stat_same(&ours, &its);
}

/* Write one process; returns its parent, or 0 to stop. */
static pid_t write_process(const struct search *s, pid_t pid, bool first, struct ab_buf *b)
{
	ab_autobuf struct ab_buf one = { 0 };
	/* Held open, so that everything read is about the same process. */
	ab_autoclose int dir = ab_box_processes_hold(&s->box, pid);
	pid_t inner, parent;

	if (dir < 0 || !read_status(dir, &inner, &parent) || (!first && is_leader(s, dir, parent)))
		return 0;
	ab_buf_puts(&one, first ? "" : ",");
	describe_process(dir, inner, &one);
	if (b->len + one.len > ANSWER_MAX)
		return 0;
	ab_buf_add(b, one.data, one.len);
	return parent;
}

static pid_t find_owner(struct search *s)
{
	static const char *const tables[][2] = { { "net/tcp", "net/tcp6" },
						 { "net/udp", "net/udp6" } };
	bool udp = s->peer && s->peer->udp;

	find_inode(s, tables[udp][0]);
	if (udp || !s->inode)
		find_inode(s, tables[udp][1]);
	return s->inode && !s->several && !(udp && s->late) ? find_process(s) : 0;
}

/* Fills s->box up to it. */
static pid_t find_in_box(struct search *s, pid_t wanted)
{
	pid_t pid;

	while ((pid = ab_box_processes_next(&s->box)) > 0)
		if (pid == wanted)
			return pid;
	return 0;
}

static void write_owner(struct search *s, pid_t init, int most, struct ab_buf *b)
{
	pid_t pid;

	ab_box_processes_open(init, AB_OWNER_MS, &s->box);
	pid = init <= 0			? 0
	      : s->peer && s->peer->pid ? find_in_box(s, s->peer->pid)
					: find_owner(s);
	ab_buf_puts(b, "[");
	for (int i = 0; i < most && is_in_box(s, pid); i++)
		pid = write_process(s, pid, i == 0, b);
	ab_buf_puts(b, "]");
	ab_box_processes_fini(&s->box);
}

void ab_socket_owner(pid_t init, const struct ab_peer *peer, struct ab_buf *b)
{
	struct search s = { .peer = peer };

	write_owner(&s, init, AB_OWNER_CHAIN, b);
}

void ab_socket_owner_listener(pid_t init, uint16_t port, struct ab_buf *b)
{
	struct search s = { .port = port };

	write_owner(&s, init, 1, b);
}
