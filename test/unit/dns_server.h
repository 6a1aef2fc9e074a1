#ifndef AB_TEST_DNS_SERVER_H
#define AB_TEST_DNS_SERVER_H
/*
 * A name server in a thread of the test, by UDP and TCP on one port, with a
 * table of names. A name that is not in it, below "many.test", is 127.0.0.1;
 * any other one does not exist.
 */
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum dns_manner {
	DNS_ANSWER,
	DNS_SILENT,
	DNS_SERVFAIL,
	DNS_BIG,     /* truncated by UDP, whole by TCP */
	DNS_NO_AAAA, /* silent to that question only */
	DNS_GARBAGE, /* an answer whose records are cut off */
};

struct dns_name {
	const char *name;
	const char *a[24], *aaaa[24];
	const char *cname;
	uint32_t ttl;
	enum dns_manner manner;
};

struct dns_server {
	const struct dns_name *names;
	size_t len;
	uint16_t port;
	int udp, tcp, stop[2];
	atomic_uint asked, by_tcp; /* questions */
	atomic_bool hold;	   /* say nothing for the time being */
	pthread_t thread;
};

static void dns_put16(uint8_t **p, unsigned v)
{
	*(*p)++ = (uint8_t)(v >> 8);
	*(*p)++ = (uint8_t)v;
}

static void dns_put_name(uint8_t **p, const char *name)
{
	while (*name) {
		size_t n = strcspn(name, ".");

		*(*p)++ = (uint8_t)n;
		memcpy(*p, name, n);
		*p += n;
		name += n + (name[n] == '.');
	}
	*(*p)++ = 0;
}

static void dns_put_head(uint8_t **p, unsigned owner, unsigned type, uint32_t ttl)
{
	dns_put16(p, 0xc000 | owner);
	dns_put16(p, type);
	dns_put16(p, ns_c_in);
	dns_put16(p, ttl >> 16);
	dns_put16(p, ttl & 0xffff);
}

static const struct dns_name *dns_find(const struct dns_server *s, const char *name)
{
	static const struct dns_name many = { .a = { "127.0.0.1" }, .ttl = 100 };
	const char *end = strstr(name, ".many.test");

	for (size_t i = 0; i < s->len; i++)
		if (strcmp(s->names[i].name, name) == 0)
			return &s->names[i];
	return end && strcmp(end, ".many.test") == 0 ? &many : NULL;
}

static bool dns_read_name(const uint8_t *q, size_t len, char name[256], size_t *ret_at)
{
	size_t at = 12, n = 0;

	while (at < len && q[at]) {
		if (at + q[at] + 1 > len || n + q[at] > 250)
			return false;
		if (n)
			name[n++] = '.';
		memcpy(name + n, q + at + 1, q[at]);
		n += q[at];
		at += q[at] + 1u;
	}
	name[n] = '\0';
	*ret_at = at + 1;
	return at + 5 <= len;
}

static unsigned dns_put_addresses(uint8_t **p, const struct dns_name *known, unsigned type,
				  unsigned owner)
{
	const char *const *v = type == ns_t_a	   ? known->a
			       : type == ns_t_aaaa ? known->aaaa
						   : (const char *[]){ NULL };
	unsigned size = type == ns_t_a ? 4 : 16, n = 0;

	for (; v[n]; n++) {
		dns_put_head(p, owner, type, known->ttl);
		dns_put16(p, size);
		if (inet_pton(type == ns_t_a ? AF_INET : AF_INET6, v[n], *p) != 1)
			abort();
		*p += size;
	}
	return n;
}

/* The length of the answer; 0: none. */
static size_t dns_reply(struct dns_server *s, const uint8_t *q, size_t len, bool tcp, uint8_t *out)
{
	const struct dns_name *known;
	unsigned type, owner = 12, count = 0, code = ns_r_noerror;
	char name[256];
	uint8_t *p;
	size_t at;

	if (len < 17 || !dns_read_name(q, len, name, &at))
		return 0;
	type = (unsigned)q[at] << 8 | q[at + 1];
	s->asked++;
	s->by_tcp += tcp;
	known = dns_find(s, name);
	if (s->hold || (known && (known->manner == DNS_SILENT ||
				  (known->manner == DNS_NO_AAAA && type == ns_t_aaaa))))
		return 0;
	memcpy(out, q, at + 4);
	memset(out + 6, 0, 6);
	out[2] = 0x84 | (q[2] & 1);
	p = out + at + 4;
	if (!known)
		code = ns_r_nxdomain;
	else if (known->manner == DNS_SERVFAIL)
		code = ns_r_servfail;
	else if (known->manner == DNS_BIG && !tcp)
		out[2] |= 2;
	else if (known->manner == DNS_GARBAGE)
		count = 3;
	else {
		if (known->cname) {
			uint8_t *size;

			dns_put_head(&p, owner, ns_t_cname, known->ttl);
			size = p;
			p += 2;
			owner = (unsigned)(p - out);
			dns_put_name(&p, known->cname);
			dns_put16(&size, (unsigned)(p - size) - 2);
			count++;
		}
		count += dns_put_addresses(&p, known, type, owner);
	}
	out[3] = (uint8_t)(0x80 | code);
	out[7] = (uint8_t)count;
	return (size_t)(p - out);
}

static void dns_serve_udp(struct dns_server *s)
{
	struct sockaddr_storage from;
	socklen_t size = sizeof(from);
	uint8_t q[512], out[4096];
	ssize_t n = recvfrom(s->udp, q, sizeof(q), 0, (void *)&from, &size);
	size_t len = n > 0 ? dns_reply(s, q, (size_t)n, false, out) : 0;

	if (len)
		sendto(s->udp, out, len, 0, (void *)&from, size);
}

/* One question of one connection. */
static void dns_serve_tcp(struct dns_server *s)
{
	struct timeval patience = { .tv_sec = 2 };
	int fd = accept4(s->tcp, NULL, NULL, SOCK_CLOEXEC);
	uint8_t q[514], out[4098];
	size_t len = 0;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (recv(fd, q, 2, MSG_WAITALL) == 2 && q[0] < 2) {
		size_t n = (size_t)q[0] << 8 | q[1];

		if (recv(fd, q + 2, n, MSG_WAITALL) == (ssize_t)n)
			len = dns_reply(s, q + 2, n, true, out + 2);
	}
	out[0] = (uint8_t)(len >> 8);
	out[1] = (uint8_t)len;
	if (len && send(fd, out, len + 2, MSG_NOSIGNAL) > 0)
		recv(fd, q, 1, 0);
	close(fd);
}

static void *dns_run(void *arg)
{
	struct dns_server *s = arg;
	struct pollfd fds[] = { { .fd = s->udp, .events = POLLIN },
				{ .fd = s->tcp, .events = POLLIN },
				{ .fd = s->stop[0], .events = POLLIN } };

	for (;;) {
		if (poll(fds, 3, -1) < 0)
			continue;
		if (fds[2].revents)
			return NULL;
		if (fds[0].revents)
			dns_serve_udp(s);
		if (fds[1].revents)
			dns_serve_tcp(s);
	}
}

/* On this loopback address; port 0: one that is free. */
static void dns_start(struct dns_server *s, const char *address, uint16_t port,
		      const struct dns_name *names, size_t len)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	int size = 4 * 1024 * 1024;

	*s = (struct dns_server){ .names = names, .len = len };
	at.sin_addr.s_addr = inet_addr(address);
	/* A port that is free for UDP may be taken for TCP. */
	for (int i = 0;; i++) {
		socklen_t n = sizeof(at);

		s->udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		s->tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		at.sin_port = htons(port);
		if (bind(s->udp, (void *)&at, sizeof(at)) == 0 &&
		    getsockname(s->udp, (void *)&at, &n) == 0 &&
		    bind(s->tcp, (void *)&at, sizeof(at)) == 0 && listen(s->tcp, 64) == 0)
			break;
		if (i == 20)
			abort();
		close(s->udp);
		close(s->tcp);
	}
	setsockopt(s->udp, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	s->port = ntohs(at.sin_port);
	if (pipe(s->stop) < 0 || pthread_create(&s->thread, NULL, dns_run, s))
		abort();
}

static void dns_stop(struct dns_server *s)
{
	if (write(s->stop[1], "x", 1) != 1)
		abort();
	pthread_join(s->thread, NULL);
	close(s->udp);
	close(s->tcp);
	close(s->stop[0]);
	close(s->stop[1]);
}

/* A file with this text; its name is kept in `path`. */
static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	if (!f || fputs(text, f) < 0 || fclose(f) != 0)
		abort();
}

#endif
