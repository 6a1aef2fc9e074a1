/*
 * The least that looks into TLS: it accepts with a certificate that it is
 * given, connects to one upstream that it verifies, and copies between the two
 * in blocks of 16 KiB. One thread, epoll, no HTTP. What intercept.sh compares
 * with.
 *
 *   tls_relay PORT CERT KEY UPSTREAM-IP UPSTREAM-PORT NAME
 *
 * The roots for the upstream are those of SSL_CERT_FILE.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

enum { BLOCK = 16 * 1024, EVENTS = 256 };

struct pair;

struct leg {
	struct pair *pair;
	SSL *ssl;
	int fd;
	bool greeted, eof, shut;
	/* Read here, to be written to the other. */
	char data[BLOCK];
	size_t start, end;
};

struct pair {
	struct leg leg[2]; /* the client's, the upstream's */
	bool dead;
	struct pair *next; /* of the dead */
};

static int poller;
static SSL_CTX *server, *client;
static struct sockaddr_in upstream;
static const char *name;
static struct pair *dead;

static void bury(struct pair *p)
{
	if (p->dead)
		return;
	p->dead = true;
	for (int i = 0; i < 2; i++) {
		SSL_free(p->leg[i].ssl);
		close(p->leg[i].fd);
	}
	p->next = dead;
	dead = p;
}

/* 1: done; 0: wait; -1: broken; -2: the peer's end. */
static int outcome(struct leg *leg, int ret)
{
	if (ret > 0)
		return 1;
	switch (SSL_get_error(leg->ssl, ret)) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return 0;
	case SSL_ERROR_ZERO_RETURN:
		return -2;
	default:
		return -1;
	}
}

/* From one leg to the other until one of them waits. */
static int copy(struct leg *from, struct leg *to)
{
	for (;;) {
		size_t n;
		int ret;

		ERR_clear_error();
		while (from->start < from->end) {
			ret = outcome(to, SSL_write_ex(to->ssl, from->data + from->start,
						       from->end - from->start, &n));
			if (ret <= 0)
				return ret < 0 ? -1 : 0;
			from->start += n;
		}
		if (from->eof) {
			if (!to->shut)
				SSL_shutdown(to->ssl);
			to->shut = true;
			return 0;
		}
		ret = outcome(from, SSL_read_ex(from->ssl, from->data, BLOCK, &n));
		if (ret == 0)
			return 0;
		if (ret == -1)
			return -1;
		from->eof = ret == -2;
		from->start = 0;
		from->end = ret == 1 ? n : 0;
	}
}

static void move(struct pair *p)
{
	for (int i = 0; i < 2; i++) {
		struct leg *leg = &p->leg[i];
		int ret;

		if (leg->greeted)
			continue;
		ERR_clear_error();
		ret = outcome(leg, SSL_do_handshake(leg->ssl));
		if (ret < 0) {
			bury(p);
			return;
		}
		leg->greeted = ret;
	}
	if (!p->leg[0].greeted || !p->leg[1].greeted)
		return;
	if (copy(&p->leg[0], &p->leg[1]) < 0 || copy(&p->leg[1], &p->leg[0]) < 0 ||
	    (p->leg[0].shut && p->leg[1].shut))
		bury(p);
}

static void watch(struct leg *leg, struct pair *p, int fd, SSL *ssl)
{
	struct epoll_event e = { EPOLLIN | EPOLLOUT | EPOLLET, { .ptr = leg } };
	int one = 1;

	leg->pair = p;
	leg->fd = fd;
	leg->ssl = ssl;
	SSL_set_fd(ssl, fd);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	epoll_ctl(poller, EPOLL_CTL_ADD, fd, &e);
}

static void take(int fd)
{
	struct pair *p = calloc(1, sizeof(*p));
	int out = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	SSL *ssl;

	if (connect(out, (struct sockaddr *)&upstream, sizeof(upstream)) < 0 &&
	    errno != EINPROGRESS) {
		perror("connect");
		exit(1);
	}
	ssl = SSL_new(server);
	SSL_set_accept_state(ssl);
	watch(&p->leg[0], p, fd, ssl);
	ssl = SSL_new(client);
	SSL_set_connect_state(ssl);
	SSL_set_tlsext_host_name(ssl, name);
	SSL_set1_host(ssl, name);
	watch(&p->leg[1], p, out, ssl);
}

static int listen_at(int port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				    .sin_port = htons((uint16_t)port) };
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 || listen(fd, 1024) < 0) {
		perror("listen");
		exit(1);
	}
	return fd;
}

static void prepare(char **argv)
{
	server = SSL_CTX_new(TLS_server_method());
	client = SSL_CTX_new(TLS_client_method());
	SSL_CTX_set_mode(server,
			 SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_mode(client,
			 SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_verify(client, SSL_VERIFY_PEER, NULL);
	upstream.sin_family = AF_INET;
	upstream.sin_port = htons((uint16_t)atoi(argv[5]));
	name = argv[6];
	if (SSL_CTX_use_certificate_chain_file(server, argv[2]) != 1 ||
	    SSL_CTX_use_PrivateKey_file(server, argv[3], SSL_FILETYPE_PEM) != 1 ||
	    SSL_CTX_set_default_verify_paths(client) != 1 ||
	    inet_pton(AF_INET, argv[4], &upstream.sin_addr) != 1) {
		ERR_print_errors_fp(stderr);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct epoll_event events[EVENTS], e = { .events = EPOLLIN };
	int listener;

	if (argc != 7)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	prepare(argv);
	poller = epoll_create1(0);
	listener = listen_at(atoi(argv[1]));
	epoll_ctl(poller, EPOLL_CTL_ADD, listener, &e);
	for (;;) {
		int fd, n = epoll_wait(poller, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			struct leg *leg = events[i].data.ptr;

			if (leg && !leg->pair->dead)
				move(leg->pair);
			while (!leg && (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0)
				take(fd);
		}
		while (dead) {
			struct pair *p = dead;

			dead = p->next;
			free(p);
		}
	}
}
