/*
 * c-ares passes its sockets to watch_sock and must be called when they are
 * ready, and at intervals for its timeouts (tick_channel).
 *
 * Only ares_send is used. ares_query draws ids from a generator that c-ares
 * seeds from /dev/urandom, else from rand(), and the supervisor has given up
 * /dev; guessable ids would let an attacker spoof answers. ares_getaddrinfo
 * links getservbyname, which loads NSS modules in a static program.
 */
#include "proxy/dial/dns_client.h"

#include <ares.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <sys/epoll.h>
#include <sys/random.h>

#include "base/system/loop.h"
#include "proxy/dial/answer.h"

enum {
	/* c-ares doubles it for each further try: 14 seconds per server in total.
	 * That is longer than the resolver waits (resolver.c), and a server that is
	 * down is left early. An answer to an earlier try counts, too. */
	TRY_MS = 2000,
	TRIES = 3,
	/* Newer versions begin with a multiple of what the server took lately, a quarter of a
	 * second at least, and hear no answer to an earlier try. They wait for no longer than
	 * TRY_MS each time, so that both families are asked again together: a server that was
	 * slow has the answer by then. */
	TRIES_NEWER = 10,
	SERVERS_MAX = 3, /* as in the C library */
	TICK_MS = 200,
};

/* A socket of c-ares. After it leaves the loop it must live until the end of
 * the batch. */
struct sock {
	struct ab_source source;
	struct ab_later later;
	struct sock *next;
};

struct ab_lookups {
	struct ab_loop *loop;
	char *path;
	uint16_t port;
	ares_channel channel; /* NULL: not open */
	struct sock *socks;
	struct ab_timer tick;
	size_t pending;
	bool closing, reopening;
	struct ab_lookup *again; /* while reopening */
};

static void sock_ready(struct ab_source *source, uint32_t events)
{
	struct ab_lookups *l = source->owner;
	/* c-ares reads errors from the socket. */
	bool in = events & (EPOLLIN | EPOLLERR | EPOLLHUP);
	bool out = events & (EPOLLOUT | EPOLLERR | EPOLLHUP);

	ares_process_fd(l->channel, in ? source->fd : ARES_SOCKET_BAD,
			out ? source->fd : ARES_SOCKET_BAD);
}

static void free_sock(struct ab_later *later)
{
	free(later->owner);
}

static void drop_sock(struct ab_lookups *l, struct sock **link)
{
	struct sock *s = *link;

	*link = s->next;
	ab_loop_remove(l->loop, &s->source);
	ab_loop_later(l->loop, &s->later);
}

/* Called by c-ares with the events to watch; none: it closes the socket. */
static void watch_sock(void *arg, ares_socket_t fd, int in, int out)
{
	struct ab_lookups *l = arg;
	struct sock **link = &l->socks, *s;
	uint32_t events = (in ? EPOLLIN : 0) | (out ? EPOLLOUT : 0);
	struct ab_error err;

	while (*link && (*link)->source.fd != fd)
		link = &(*link)->next;
	if (*link && events)
		ab_loop_set(l->loop, &(*link)->source, events);
	else if (*link)
		drop_sock(l, link);
	if (*link || !events)
		return;
	s = ab_alloc(sizeof(*s));
	s->source = (struct ab_source){ .fd = fd, .ready = sock_ready, .owner = l };
	s->later = (struct ab_later){ .run = free_sock, .owner = s };
	s->next = l->socks;
	l->socks = s;
	/* On failure the server looks like one that never answers. */
	ab_loop_add(l->loop, &s->source, events, &err);
}

static int open_channel(struct ab_lookups *l)
{
	char lookups[] = "b";
	struct ares_options options = {
		.timeout = TRY_MS,
		.tries = TRIES,
		.udp_port = l->port,
		.tcp_port = l->port,
		.lookups = lookups,
		.sock_state_cb = watch_sock,
		.sock_state_cb_data = l,
		.resolvconf_path = l->path,
	};
	int mask = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_DOMAINS | ARES_OPT_LOOKUPS |
		   ARES_OPT_SOCK_STATE_CB | ARES_OPT_RESOLVCONF |
		   (l->port ? ARES_OPT_UDP_PORT | ARES_OPT_TCP_PORT : 0);

#ifdef ARES_OPT_QUERY_CACHE
	/* The resolver decides what is remembered, and for how long: the cache's longest time is 0. */
	mask |= ARES_OPT_QUERY_CACHE | ARES_OPT_MAXTIMEOUTMS;
	options.maxtimeout = TRY_MS;
	options.tries = TRIES_NEWER;
#endif
	if (ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS)
		return -1;
	if (ares_init_options(&l->channel, &options, mask) != ARES_SUCCESS) {
		l->channel = NULL;
		ares_library_cleanup();
		return -1;
	}
	return 0;
}

static void close_channel(struct ab_lookups *l)
{
	if (!l->channel)
		return;
	ares_destroy(l->channel);
	l->channel = NULL;
	ares_library_cleanup();
	/* c-ares reports the sockets that it closes; drop any others too. */
	while (l->socks)
		drop_sock(l, &l->socks);
}

static void tick_channel(struct ab_timer *timer)
{
	struct ab_lookups *l = timer->owner;

	if (l->channel)
		ares_process_fd(l->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	if (l->pending)
		ab_loop_timer(l->loop, &l->tick, TICK_MS);
}

struct found {
	uint8_t addrs[AB_ANSWER_MAX * 16];
	size_t n;
	unsigned ttl;
};

static void add_found(struct found *f, const void *addr, size_t size, int ttl)
{
	unsigned seconds = ttl > 0 ? (unsigned)ttl : 0;

	memcpy(f->addrs + f->n++ * size, addr, size);
	if (f->n == 1 || seconds < f->ttl)
		f->ttl = seconds;
}

static int parse_addresses(const unsigned char *msg, int len, bool v6, struct found *f)
{
	struct ares_addr6ttl v[AB_ANSWER_MAX];
	struct ares_addrttl v4[AB_ANSWER_MAX];
	int n = AB_ANSWER_MAX;
	int r = v6 ? ares_parse_aaaa_reply(msg, len, NULL, v, &n)
		   : ares_parse_a_reply(msg, len, NULL, v4, &n);

	for (int i = 0; r == ARES_SUCCESS && i < n; i++)
		add_found(f, v6 ? (void *)&v[i].ip6addr : &v4[i].ipaddr, v6 ? 16 : 4,
			  v6 ? v[i].ttl : v4[i].ttl);
	return r;
}

/* Parse a message that c-ares accepted as the answer. */
static enum ab_lookup_status read_answer(const unsigned char *msg, int len, bool v6,
					 struct found *f)
{
	int code, r;

	if (len < NS_HFIXEDSZ)
		return AB_LOOKUP_FAILED;
	code = msg[3] & 0xf;
	if (code == ns_r_nxdomain)
		return AB_LOOKUP_NONE;
	if (code != ns_r_noerror)
		return AB_LOOKUP_FAILED;
	r = parse_addresses(msg, len, v6, f);
	if (r == ARES_ENODATA || (r == ARES_SUCCESS && f->n == 0))
		return AB_LOOKUP_NONE;
	return r == ARES_SUCCESS ? AB_LOOKUP_OK : AB_LOOKUP_FAILED;
}

static void finish_lookup(struct ab_lookup *lookup, enum ab_lookup_status status,
			  const struct found *f)
{
	lookup->home->pending--;
	lookup->done(lookup, status, f->addrs, f->n, f->ttl);
}

static void query_answered(void *arg, int status, int timeouts, unsigned char *msg, int len)
{
	struct ab_lookup *lookup = arg;
	struct ab_lookups *l = lookup->home;
	enum ab_lookup_status result = AB_LOOKUP_FAILED;
	struct found f = { .n = 0 };

	(void)timeouts;
	if (l->closing)
		return;
	if (l->reopening) {
		lookup->next = l->again;
		l->again = lookup;
		return;
	}
	if (status == ARES_SUCCESS && msg)
		result = read_answer(msg, len, lookup->v6, &f);
	finish_lookup(lookup, result, &f);
}

static void send_query(struct ab_lookups *l, struct ab_lookup *lookup)
{
	static const struct found nothing;
	unsigned char *msg = NULL;
	unsigned short id;
	int len, r = ARES_ENOTINITIALIZED;

	if (getrandom(&id, sizeof(id), 0) == sizeof(id) && (l->channel || open_channel(l) == 0))
		r = ares_create_query(lookup->name, ns_c_in, lookup->v6 ? ns_t_aaaa : ns_t_a, id, 1,
				      &msg, &len, 0);
	if (r == ARES_SUCCESS)
		ares_send(l->channel, msg, len, query_answered, lookup);
	else /* c-ares does not query names under .onion (RFC 7686). */
		finish_lookup(lookup, r == ARES_ENOTFOUND ? AB_LOOKUP_NONE : AB_LOOKUP_FAILED,
			      &nothing);
	ares_free_string(msg);
}

unsigned ab_lookups_servers(struct ab_lookups *l)
{
	struct ares_addr_port_node *servers = NULL;
	unsigned n = 0;

	if ((l->channel || open_channel(l) == 0) &&
	    ares_get_servers_ports(l->channel, &servers) == ARES_SUCCESS)
		for (struct ares_addr_port_node *s = servers; s; s = s->next)
			n++;
	ares_free_data(servers);
	return n < 1 ? 1 : n > SERVERS_MAX ? SERVERS_MAX : n;
}

void ab_lookup_start(struct ab_lookups *l, struct ab_lookup *lookup)
{
	lookup->home = l;
	if (!l->pending++)
		ab_loop_timer(l->loop, &l->tick, TICK_MS);
	send_query(l, lookup);
}

void ab_lookups_reopen(struct ab_lookups *l)
{
	struct ab_lookup *again;

	l->reopening = true;
	close_channel(l);
	l->reopening = false;
	again = ab_take(l->again);
	while (again) {
		struct ab_lookup *next = again->next;

		send_query(l, again);
		again = next;
	}
}

struct ab_lookups *ab_lookups_new(struct ab_loop *loop, const char *resolv_conf, uint16_t port)
{
	struct ab_lookups *l = ab_alloc(sizeof(*l));

	l->loop = loop;
	l->path = ab_strdup(resolv_conf);
	l->port = port;
	l->tick = (struct ab_timer){ .fire = tick_channel, .owner = l };
	return l;
}

void ab_lookups_free(struct ab_lookups *l)
{
	if (!l)
		return;
	l->closing = true;
	close_channel(l);
	ab_loop_timer_stop(l->loop, &l->tick);
	ab_free_all(l->path, l);
}
