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

		ab_ssh_kex_feed(&kex, guarded(data + at, n), n);
	}
	*ret_done = kex.done;
	ab_ssh_kex_fini(&kex);
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
	ab_buf_fini(&seen);
	return done();
}
