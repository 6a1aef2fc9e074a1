/*
 * A client of intercept.sh: HTTP/1.1 over TLS, a new connection with a full
 * handshake for each request. The roots are those of SSL_CERT_FILE.
 *
 *   tls_load bulk NAME PORT PATH             megabytes a second of one answer
 *   tls_load connections NAME PORT PATH S    a second, by WORKERS, for S seconds
 *
 * Before either is timed there is one connection that is not. CONNECT_TO=IP
 * goes to that address in place of the name's.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

enum { WORKERS = 4, BLOCK = 256 * 1024 };

static SSL_CTX *ctx;
static struct addrinfo *address;
static const char *name;
static char request[1024];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what)
{
	perror(what);
	ERR_print_errors_fp(stderr);
	exit(1);
}

static size_t body_of(char *data, size_t len)
{
	char *end = memmem(data, len, "\r\n\r\n", 4);

	if (!end || strncmp(data, "HTTP/1.1 200 ", 13) != 0) {
		fprintf(stderr, "%.*s\n", (int)(len < 300 ? len : 300), data);
		exit(1);
	}
	return len - (size_t)(end + 4 - data);
}

/* One request; the length of the answer's body. */
static size_t fetch(void)
{
	static char data[BLOCK];
	int one = 1, fd = socket(address->ai_family, SOCK_STREAM, 0);
	size_t sum = 0, n;
	bool begun = false;
	SSL *ssl = SSL_new(ctx);

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(fd, address->ai_addr, address->ai_addrlen) < 0)
		die("connect");
	SSL_set_fd(ssl, fd);
	SSL_set_tlsext_host_name(ssl, name);
	SSL_set1_host(ssl, name);
	if (SSL_connect(ssl) != 1)
		die("handshake");
	if (SSL_write(ssl, request, (int)strlen(request)) <= 0)
		die("write");
	while (SSL_read_ex(ssl, data, sizeof(data), &n) == 1) {
		sum += begun ? n : body_of(data, n);
		begun = true;
	}
	SSL_shutdown(ssl);
	SSL_free(ssl);
	close(fd);
	return sum;
}

static void bulk(void)
{
	double begun;
	size_t sum;

	fetch();
	begun = now();
	sum = fetch();
	printf("%.1f\n", (double)sum / 1e6 / (now() - begun));
}

static long count_until(double end)
{
	long n = 0;

	while (now() < end) {
		if (!fetch())
			exit(1);
		n++;
	}
	return n;
}

static void connections(double seconds)
{
	double begun;
	int pipe_fd[2], status, failed = 0;
	long n, sum = 0;

	fetch();
	if (pipe(pipe_fd) < 0)
		die("pipe");
	begun = now();
	for (int i = 0; i < WORKERS; i++) {
		if (fork() == 0) {
			n = count_until(begun + seconds);
			_exit(write(pipe_fd[1], &n, sizeof(n)) != sizeof(n));
		}
	}
	for (int i = 0; i < WORKERS; i++) {
		wait(&status);
		failed += status != 0;
	}
	if (failed) {
		fprintf(stderr, "%d workers failed\n", failed);
		exit(1);
	}
	for (int i = 0; i < WORKERS; i++)
		if (read(pipe_fd[0], &n, sizeof(n)) == sizeof(n))
			sum += n;
	printf("%.1f\n", (double)sum / (now() - begun));
}

int main(int argc, char **argv)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
	const char *instead = getenv("CONNECT_TO");
	const char *key = getenv("OPENAI_API_KEY");

	if (argc < 5)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	name = argv[2];
	ctx = SSL_CTX_new(TLS_client_method());
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	if (SSL_CTX_set_default_verify_paths(ctx) != 1 ||
	    getaddrinfo(instead ? instead : name, argv[3], &hints, &address))
		die("setup");
	snprintf(request, sizeof(request),
		 "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"
		 "Connection: close\r\n\r\n",
		 argv[4], name, key ? key : "none");
	if (strcmp(argv[1], "bulk") == 0)
		bulk();
	else
		connections(argc > 5 ? atof(argv[5]) : 2);
	return 0;
}
