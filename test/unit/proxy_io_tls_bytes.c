/*
 * Bytes through TLS: whole in both directions whatever the sockets hold, ends
 * told apart, nothing that waits unseen. And what connections share: leaves
 * and sessions, each for its own name only.
 */
#include "proxy/io/tls.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tls_help.h"

static struct ab_tls_site *box, *out;
static struct ab_tls *a, *b; /* near, as the host; far, as its client */

static bool open_both(int room)
{
	open_pair(room);
	a = accept_as(box, "api.example.com");
	b = connect_to(out, &far, "api.example.com");
	return shake(a, b);
}

static void close_both(void)
{
	ab_tls_free(a);
	ab_tls_free(b);
	close_pair();
}

static uint8_t byte_at(size_t i)
{
	return (uint8_t)(i * 31 + (i >> 8));
}

struct stream {
	struct ab_tls *from, *to;
	size_t sent, got, wrong;
};

/* Once in each direction of a stream; `step` bytes are offered at a time, the
 * rest is offered again as the contract has it. */
static void turn(struct stream *s, size_t len, size_t step, size_t room)
{
	static uint8_t data[200000];
	size_t left = len - s->sent, n = left < step ? left : step;
	ssize_t ret;

	for (size_t i = 0; i < n; i++)
		data[i] = byte_at(s->sent + i);
	ret = n ? ab_tls_write(s->from, data, n) : 0;
	if (ret > 0)
		s->sent += (size_t)ret;
	ret = ab_tls_read(s->to, data, room);
	for (ssize_t i = 0; i < ret; i++)
		s->wrong += data[i] != byte_at(s->got + (size_t)i);
	if (ret > 0)
		s->got += (size_t)ret;
}

static void carry(size_t len, size_t step, size_t room, int buffer)
{
	struct stream up, down;
	bool good = open_both(buffer);

	up = (struct stream){ b, a, 0, 0, 0 };
	down = (struct stream){ a, b, 0, 0, 0 };
	for (size_t i = 0; good && i < 200000; i++) {
		if (up.got == len && down.got == len)
			break;
		wake();
		turn(&up, len, step, room);
		turn(&down, len, step, room);
	}
	ok(good && up.got == len && down.got == len && !up.wrong && !down.wrong,
	   "%zu bytes both ways, written by %zu, read by %zu, sockets of %d", len, step, room,
	   buffer);
	close_both();
}

static void ends(void)
{
	char text[64];

	open_both(0);
	ok(ab_tls_write(a, "last", 4) == 4 && ab_tls_shut(a) && ab_tls_shut(a),
	   "close_notify is sent once");
	wake();
	ok(ab_tls_read(b, text, sizeof(text)) == 4 && ab_tls_pending(b) &&
		   ab_tls_read(b, text, sizeof(text)) == 0 &&
		   ab_tls_read(b, text, sizeof(text)) == 0,
	   "what was said before it is read, then the end");
	ok(ab_tls_write(b, "more", 4) == 4, "the other direction goes on");
	wake();
	ok(read_all(a, text, 4) == 4, "and is read");
	close_both();

	open_both(0);
	ok(ab_tls_write(a, "last", 4) == 4, "an end without goodbye");
	shutdown(near.source.fd, SHUT_WR);
	wake();
	ok(ab_tls_read(b, text, sizeof(text)) == 4 && ab_tls_pending(b) &&
		   ab_tls_read(b, text, sizeof(text)) == -1 && errno == ECONNRESET &&
		   ab_tls_read(b, text, sizeof(text)) == -1 && errno == ECONNRESET,
	   "is broken, after what was said");
	close_both();

	open_both(0);
	if (write(near.source.fd,
		  "\x17\x03\x03\x00\x20 and thirty-two bytes "
		  "that nobody sealed..",
		  37) != 37)
		abort();
	wake();
	ok(ab_tls_read(b, text, sizeof(text)) == -1 && errno == EPROTO,
	   "bytes that nobody sealed are an error");
	close_both();
}

/* Sends until the socket is full; how many were taken. */
static size_t fill(struct ab_tls *tls)
{
	static const char block[16384];
	size_t sum = 0;
	ssize_t n;

	while ((n = ab_tls_write(tls, block, sizeof(block))) > 0)
		sum += (size_t)n;
	return errno == EAGAIN ? sum : 0;
}

static size_t drain(struct ab_tls *tls)
{
	static char block[16384];
	size_t sum = 0;
	ssize_t n;

	while ((n = ab_tls_read(tls, block, sizeof(block))) > 0)
		sum += (size_t)n;
	return sum;
}

static void waiting(void)
{
	char text[64];
	size_t sent;

	open_both(0);
	ok(ab_tls_read(a, text, 1) == -1 && errno == EAGAIN && !near.readable && near.writable &&
		   !ab_tls_pending(a),
	   "nothing to read: the side says so");
	sent = fill(a);
	ok(sent && !near.writable, "a full socket: the side says so");
	wake();
	ok(ab_tls_read(b, text, 10) == 10 && ab_tls_pending(b),
	   "a read of a part leaves some in memory");
	far.readable = false;
	ok(ab_tls_read(b, text, 10) == 10, "which is read without the socket");
	close_both();
}

/* A key update while there is no room for its answer. */
static void key_updates(void)
{
	static const char block[16384];
	char text[64];
	size_t sent, got = 0;
	ssize_t n;

	open_both(4096);
	drain(b);
	SSL_key_update(b->ssl, SSL_KEY_UPDATE_REQUESTED);
	wake();
	ok(ab_tls_write(b, "new keys", 8) == 8, "a key update and data");
	sent = fill(a);
	near.readable = true;
	ok(read_all(a, text, 8) == 8 && memcmp(text, "new keys", 8) == 0,
	   "are read while the answer has no room");
	for (int i = 0; i < 1000 && sent < 1000000; i++) {
		wake();
		got += drain(b);
		n = ab_tls_write(a, block, sizeof(block));
		sent += n > 0 ? (size_t)n : 0;
	}
	wake();
	got += drain(b);
	ok(sent >= 1000000 && got == sent, "the answer comes between the data");
	close_both();

	open_both(0);
	for (int i = 0; i < 5000; i++) {
		SSL_key_update(b->ssl, SSL_KEY_UPDATE_NOT_REQUESTED);
		wake();
		if (SSL_do_handshake(b->ssl) != 1)
			break;
	}
	wake();
	ok(ab_tls_read(a, text, 8) == -1, "nothing but key updates");
	close_both();
}

/* A new key that is half written: what is read waits for it, though there are
 * bytes. */
static void half_a_key(void)
{
	static const char block[4096];
	struct ab_flow flow = AB_FLOW_INIT;
	struct ab_pipes *pipes = ab_pipes_new();
	struct ab_side sink = { .source = { .fd = -1 } };
	uint64_t all = AB_FLOW_ALL;

	open_both(0);
	drain(b);
	while (send(near.source.fd, block, sizeof(block), MSG_NOSIGNAL) > 0)
		;
	SSL_key_update(a->ssl, SSL_KEY_UPDATE_NOT_REQUESTED);
	near.tls = a;
	wake();
	if (ab_tls_write(a, "x", 1) != -1 || ab_tls_write(b, "data", 4) != 4)
		abort();
	near.readable = true;
	alarm(240);
	ok(ab_flow_move(&flow, pipes, &near, &sink, &all) == AB_IO_WAIT,
	   "a read that waits for room is waited for, and not tried for ever");
	alarm(0);
	near.tls = NULL;
	ab_flow_fini(&flow, pipes);
	ab_pipes_free(pipes);
	close_both();
}

/* What others have read goes first. */
static void around(void)
{
	bool good;

	open_pair(0);
	b = connect_to(out, &far, "api.example.com");
	ok(ab_tls_handshake(b) == AB_TLS_WAIT, "a client says hello");
	ok(ab_side_read(&near, 100) == AB_IO_DONE, "and is looked at");
	a = accept_as(box, "api.example.com");
	ok(near.in.len == 0, "what was read is taken over");
	good = shake(a, b);
	ok(good, "and the handshake goes on");
	close_both();
}

static void leaves(void)
{
	struct ab_host one = host("api.example.com");
	X509 *first = ab_tls_site_leaf(box, &one), *again, *other;

	again = ab_tls_site_leaf(box, &one);
	one = host("b.wild.example.com");
	other = ab_tls_site_leaf(box, &one);
	ok(first && first == again, "a leaf is made once");
	ok(other && ASN1_INTEGER_cmp(X509_get0_serialNumber(first),
				     X509_get0_serialNumber(other)) != 0,
	   "each has its own number");
	one = host("a.very.long.name.of.more.than.sixty.four.bytes.that.is."
		   "a.host.nevertheless.wild.example.com");
	ok(ab_tls_site_leaf(box, &one) != NULL, "long names too");
}

static unsigned dropped;

static void count_dropped(void *value)
{
	free(value);
	dropped++;
}

static void bounds(void)
{
	struct ab_tls_memo *memo = ab_tls_memo_new(1024, count_dropped);
	char name[32], *last;

	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "h%d.example", i);
		ab_tls_memo_put(memo, name, ab_strdup(name));
	}
	last = ab_tls_memo_get(memo, name);
	ok(last && strcmp(last, name) == 0, "the newest is there");
	ok(dropped >= 5000 - 1024 && dropped < 4500, "the oldest are not");
	ab_tls_memo_put(memo, name, ab_strdup("other"));
	is_str(ab_tls_memo_get(memo, name), "other", "one for each name");
	ab_tls_memo_put(memo, name, NULL);
	ok(!ab_tls_memo_get(memo, name), "forgotten");
	ab_tls_memo_free(memo);
	ok(dropped == 5001, "each is dropped once");
}

/* A plain client that comes with a session; what it has after it. */
static SSL_SESSION *visit(const char *name, SSL_SESSION *with, bool reused, int version,
			  const char *what)
{
	SSL_CTX *ctx = plain_client();
	SSL_SESSION *session = NULL;
	char text[8];
	SSL *plain;

	SSL_CTX_set_max_proto_version(ctx, version);
	open_pair(0);
	a = accept_as(box, name);
	plain = plain_on_far(ctx, true);
	SSL_set_tlsext_host_name(plain, name);
	if (with)
		SSL_set_session(plain, with);
	ok(shake_plain(a, plain) && SSL_session_reused(plain) == reused, "%s", what);
	wake();
	if (ab_tls_write(a, "x", 1) == 1 && SSL_read(plain, text, 1) == 1)
		session = SSL_get1_session(plain);
	SSL_shutdown(plain);
	SSL_free(plain);
	ab_tls_free(a);
	close_pair();
	return session;
}

static void tickets(int version, const char *name)
{
	SSL_SESSION *s, *s2, *s3;

	printf("# tickets of %s\n", name);
	s = visit("api.example.com", NULL, false, version, "a first visit");
	s2 = visit("api.example.com", s, true, version, "a second goes on");
	s3 = visit("a.wild.example.com", s, false, version, "with another host it begins anew");
	SSL_SESSION_free(s);
	SSL_SESSION_free(s2);
	SSL_SESSION_free(s3);
}

static void sessions(void)
{
	char text[8];

	ab_tls_memo_put(out->sessions, "api.example.com", NULL);
	for (int i = 0; i < 3; i++) {
		ok(open_both(0) && SSL_session_reused(b->ssl) == (i > 0),
		   "connection %d to a host %s", i + 1,
		   i ? "goes on with the session" : "begins one");
		ok(ab_tls_write(a, "x", 1) == 1 && read_all(b, text, 1) == 1, "and serves");
		close_both();
	}
	open_pair(0);
	a = accept_as(box, "a.wild.example.com");
	b = connect_to(out, &far, "a.wild.example.com");
	ok(shake(a, b) && !SSL_session_reused(b->ssl), "another host has none of it");
	close_both();
}

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif
#define KILL(nr)                                         \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

/* A process that may open nothing any more, as the supervisor. */
static void lock_in(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		KILL(__NR_openat),
		KILL(__NR_openat2),
		KILL(__NR_socket),
		KILL(__NR_connect),
		KILL(__NR_faccessat),
		KILL(__NR_readlinkat),
		KILL(__NR_execve),
#ifdef __NR_open
		KILL(__NR_open),
		KILL(__NR_access),
		KILL(__NR_readlink),
		KILL(__NR_stat),
#endif
		KILL(__NR_newfstatat),
		KILL(__NR_statx),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		_exit(3);
}

/* In a process that has done nothing else: all that is made when it is first
 * needed is made behind the lock. */
static int locked(bool lock)
{
	struct ab_tls_site *one, *two;
	struct ab_host other = host("b.wild.example.com");
	char text[8];
	bool good;

	one = SITE_FOR("", "api.example.com", "*.wild.example.com");
	two = SITE_FOR(ab_tls_site_pem(one), "unused.example");
	open_pair(0);
	if (lock)
		lock_in();
	a = accept_as(one, "api.example.com");
	b = connect_to(two, &far, "api.example.com");
	good = shake(a, b) && ab_tls_write(a, "x", 1) == 1 && read_all(b, text, 1) == 1 &&
	       ab_tls_site_leaf(one, &other);
	close_both();
	open_pair(0);
	a = accept_as(one, "b.wild.example.com");
	b = connect_to(two, &far, "c.wild.example.com");
	good = good && !shake(a, b) && *ab_tls_why(a) && *ab_tls_why(b);
	close_both();
	ab_tls_site_free(one);
	ab_tls_site_free(two);
	return good ? 0 : 1;
}

static int in_child(int (*fn)(bool), bool arg)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(fn(arg));
	waitpid(pid, &status, 0);
	return status;
}

int main(void)
{
	ok(in_child(locked, false) == 0, "two ends, not locked in");
	ok(in_child(locked, true) == 0, "locked in: nothing is opened after a site is made");
	box = SITE_FOR("", "api.example.com", "*.wild.example.com");
	out = SITE_FOR(ab_tls_site_pem(box), "unused.example");
	carry(1, 1, 1, 0);
	carry(3000, 7, 5, 0);
	carry(300000, 200000, 200000, 0);
	carry(100000, 20000, 100, 4096);
	carry(1000000, 50000, 16384, 4096);
	carry(4000000, 200000, 65536, 0);
	ends();
	waiting();
	key_updates();
	half_a_key();
	around();
	leaves();
	bounds();
	tickets(TLS1_3_VERSION, "TLS 1.3");
	tickets(TLS1_2_VERSION, "TLS 1.2");
	sessions();
	ab_tls_site_free(box);
	ab_tls_site_free(out);
	return done();
}
