#include "guard/sockets/own_server.h"

#include <netinet/tcp.h>

#include "guard/sockets/made.h"
#include "host/process/socket_owner.h"

struct search {
	struct ab_made_table *kept;
	bool stream;
	const struct ab_destination *to;
	const char *name; /* of a Unix socket */
	size_t name_len;
	size_t own, others;
};

/* False: the rest need not be read. The kernel lists sockets that listen before all others, which
 * may be thousands. */
static bool look_at_inet(void *search, const char *line, size_t len)
{
	struct search *s = search;
	struct ab_socket_owner_socket socket;
	bool own;

	if (!ab_socket_owner_parse_socket(line, len, &socket))
		return true; /* the heading */
	if (s->stream && !socket.listens)
		return false;
	if (!ab_inet_serves(&socket, s->to) || (!s->stream && socket.state == TCP_ESTABLISHED))
		return true;
	own = s->stream ? ab_made_is_listener(s->kept, socket.inode)
			: ab_made_find(s->kept, socket.inode) != NULL;
	s->own += own;
	s->others += !own;
	return true;
}

static bool look_at_unix(void *search, const char *line, size_t len)
{
	struct search *s = search;
	uint64_t inode = ab_inet_unix_listener(line, len, s->name, s->name_len);
	bool own = inode && ab_made_is_listener(s->kept, inode);

	s->own += own;
	s->others += inode && !own;
	return true;
}

/* A list that cannot be read has another server, unless it does not exist (no IPv6). */
static void look_through(struct search *s, const char *path,
			 bool (*look)(void *search, const char *line, size_t len))
{
	ab_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);

	s->others += fd < 0 ? errno != ENOENT : ab_socket_owner_lines(fd, look, s) < 0;
}

static bool is_own_server(struct ab_made_table *kept, bool stream, const struct ab_destination *to)
{
	struct search s = { .kept = kept, .stream = stream, .to = to };

	look_through(&s, stream ? "/proc/net/tcp" : "/proc/net/udp", look_at_inet);
	look_through(&s, stream ? "/proc/net/tcp6" : "/proc/net/udp6", look_at_inet);
	return s.own && !s.others;
}

enum ab_inet_way ab_own_way(struct ab_made_table *kept, const struct ab_inet_terms *terms,
			    bool stream, struct ab_destination *to)
{
	ab_inet_normalize(to);
	return ab_inet_judge(terms, stream, to,
			     ab_inet_is_loopback(to) && is_own_server(kept, stream, to));
}

bool ab_own_unix_server(struct ab_made_table *kept, const char *name, size_t len)
{
	struct search s = { .kept = kept, .name = name, .name_len = len };

	look_through(&s, "/proc/net/unix", look_at_unix);
	return s.own && !s.others;
}
