#include "proxy/wire/ssh_kex.h"

#include "base/data/mem.h"
#include "proxy_bytes.h"
#include "tap.h"

static struct ab_buf seen;

static void note(void *arg, struct ab_ssh_text key, struct ab_ssh_text signature)
{
	(void)arg;
	ab_buf_printf(&seen, "[%.*s %.*s]", (int)key.len, (const char *)key.at, (int)signature.len,
		      (const char *)signature.at);
}

#define VERSION "SSH-2.0-Test_1\r\n"
#define KEXINIT "\0\0\0\x6\2\24ab\0\0"
#define REPLY "\0\0\0\x13\2\x1f\0\0\0\1k\0\0\0\1f\0\0\0\1s\0\0"
#define GEX_GROUP "\0\0\0\xd\1\x1f\0\0\0\1p\0\0\0\1g\0"
#define GEX_REPLY "\0\0\0\x12\1\x21\0\0\0\1k\0\0\0\1f\0\0\0\1t\0"
#define NEWKEYS "\0\0\0\x3\1\x15\0"

static const struct {
	const char *name;
	const uint8_t *data;
	size_t len;
	const char *seen;
	bool done;
} streams[] = {
	{ "an exchange", BYTES(VERSION KEXINIT REPLY NEWKEYS "secret"), "[k s]", true },
	{ "with a group", BYTES(VERSION KEXINIT GEX_GROUP GEX_REPLY NEWKEYS), "[k t]", true },
	{ "lines before the version", BYTES("hello\r\nthere\n" VERSION KEXINIT REPLY), "[k s]",
	  false },
	{ "nothing after the new keys", BYTES(VERSION NEWKEYS REPLY), "", true },
	{ "SSH 1", BYTES("SSH-1.5-x\n" KEXINIT REPLY), "", false },
	{ "HTTP", BYTES("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), "", false },
	{ "a packet of no length", BYTES(VERSION "\0\0\0\0\0"), "", true },
	{ "padding that is longer", BYTES(VERSION "\0\0\0\5\5abcd"), "", true },
	{ "a packet that is too long", BYTES(VERSION "\0\1\0\0\4"), "", true },
	{ "a reply that is cut", BYTES(VERSION "\0\0\0\xd\2\x1f\0\0\0\1k\0\0\0\1f" REPLY), "",
	  false },
};

static void feed(const uint8_t *data, size_t len, size_t step, bool *ret_done)
{
	struct ab_ssh_kex kex = { .signed_by = note };

	ab_buf_fini(&seen);
	ab_buf_puts(&seen, "");
	for (size_t at = 0; at < len; at += step) {
		size_t n = len - at < step ? len - at : step;

		/* The guarded room is as large as all that is read. */
		ab_ssh_kex_feed(&kex, n > AB_SSH_KEX_MAX ? data + at : guarded(data + at, n), n);
	}
	*ret_done = kex.done;
	ab_ssh_kex_fini(&kex);
}

/* The same result in one piece and in pieces of 1 to 1,100 bytes and of 64 KiB. */
static bool reads_same(const uint8_t *data, size_t len, const char *want, bool want_done)
{
	bool is_done;

	feed(data, len, len, &is_done);
	if (strcmp(seen.data, want) != 0 || is_done != want_done)
		return false;
	for (size_t step = 1; step < 66000; step = step < 1100 ? step + 1 : step + 64436) {
		feed(data, len, step, &is_done);
		if (strcmp(seen.data, want) != 0 || is_done != want_done)
			return false;
	}
	return true;
}

/* A line of `line` bytes with its end, then an exchange. */
static void test_line(size_t line, bool is_read)
{
	static const char rest[] = VERSION KEXINIT REPLY;
	static uint8_t data[4096];

	memset(data, 'x', line);
	data[line - 1] = '\n';
	memcpy(data + line, rest, sizeof(rest) - 1);
	ok(reads_same(data, line + sizeof(rest) - 1, is_read ? "[k s]" : "", !is_read),
	   "a line of %zu bytes is %s, however it is cut", line, is_read ? "read" : "too long");
}

/* The same for a version of that length. */
static void test_version(size_t line, bool is_read)
{
	static const char rest[] = KEXINIT REPLY;
	static uint8_t data[4096];

	memset(data, 'x', line);
	memcpy(data, "SSH-2.0-", 8);
	data[line - 1] = '\n';
	memcpy(data + line, rest, sizeof(rest) - 1);
	ok(reads_same(data, line + sizeof(rest) - 1, is_read ? "[k s]" : "", !is_read),
	   "a version of %zu bytes is %s, however it is cut", line, is_read ? "read" : "too long");
}

/* An exchange that ends `before` bytes before the limit of all that is read. */
static void test_limit(size_t before, bool is_read)
{
	static const char rest[] = VERSION KEXINIT REPLY;
	static uint8_t data[AB_SSH_KEX_MAX + 100];
	size_t at = AB_SSH_KEX_MAX - before - (sizeof(rest) - 1);
	bool is_done;

	memset(data, '\n', sizeof(data));
	memcpy(data + at, rest, sizeof(rest) - 1);
	feed(data, at + sizeof(rest) - 1, sizeof(data), &is_done);
	ok(strcmp(seen.data, is_read ? "[k s]" : "") == 0 && is_done != is_read,
	   "%zu bytes before the limit, in one piece", before);
	feed(data, at + sizeof(rest) - 1, 777, &is_done);
	ok(strcmp(seen.data, is_read ? "[k s]" : "") == 0 && is_done != is_read,
	   "%zu bytes before the limit, in many", before);
}

int main(void)
{
	static uint8_t much[AB_SSH_KEX_MAX + 10];
	bool is_done;

	for (size_t i = 0; i < AB_COUNT(streams); i++) {
		size_t other = 0;

		feed(streams[i].data, streams[i].len, streams[i].len, &is_done);
		ok(strcmp(seen.data, streams[i].seen) == 0 && is_done == streams[i].done, "%s",
		   streams[i].name);
		for (size_t step = 1; step < 9; step++) {
			feed(streams[i].data, streams[i].len, step, &is_done);
			other += strcmp(seen.data, streams[i].seen) != 0 ||
				 is_done != streams[i].done;
		}
		ok(other == 0, "in pieces it is the same");
	}
	memset(much, '\n', sizeof(much));
	feed(much, sizeof(much), 100000, &is_done);
	ok(is_done, "it gives up");
	memset(much, 'x', 2000);
	feed(much, 2000, 2000, &is_done);
	ok(is_done, "also on a long line");
	test_line(1024, true);
	test_line(1025, false);
	test_line(2000, false);
	test_version(1024, true);
	test_version(1025, false);
	test_limit(0, true);
	test_limit((size_t)-1, false);
	ab_buf_fini(&seen);
	return done();
}
