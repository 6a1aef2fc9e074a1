#include "proxy/wire/hello.h"

#include <errno.h>
#include <stdlib.h>

#include "base/data/mem.h"
#include "proxy_first.h"

/* Bytes that are being put together. */
struct out {
	uint8_t data[3 * AB_HELLO_MAX];
	size_t len;
};

static void put(struct out *o, const void *data, size_t len)
{
	if (len > 0)
		memcpy(o->data + o->len, data, len);
	o->len += len;
}

static void put_int(struct out *o, size_t bytes, size_t value)
{
	while (bytes-- > 0)
		o->data[o->len++] = (uint8_t)(value >> 8 * bytes);
}

static void put_block(struct out *o, size_t length_bytes, const void *data, size_t len)
{
	put_int(o, length_bytes, len);
	put(o, data, len);
}

static void put_extension(struct out *o, unsigned type, const void *data, size_t len)
{
	put_int(o, 2, type);
	put_block(o, 2, data, len);
}

static void put_name(struct out *o, const void *name, size_t len)
{
	struct out list = { .len = 0 };

	put_int(&list, 2, len + 3);
	put_int(&list, 1, 0);
	put_block(&list, 2, name, len);
	put_extension(o, 0, list.data, list.len);
}

/* The shape of a hello; what is left out is as usual. */
struct shape {
	unsigned version, session, suites, compression;
	const struct out *extensions; /* NULL: none, not even their length */
	int behind;		      /* more (fewer) bytes than the lengths say */
	size_t piece;		      /* bytes in a record; 0: all */
};

static void put_records(struct out *o, const struct out *message, size_t piece)
{
	for (size_t at = 0; at < message->len; at += piece) {
		size_t n = message->len - at < piece ? message->len - at : piece;

		put(o, "\26\3\1", 3);
		put_block(o, 2, message->data + at, n);
	}
}

static void put_hello(struct out *o, struct shape s)
{
	static const uint8_t zero[256];
	static struct out body, message;

	body.len = message.len = 0;
	put_int(&body, 2, s.version);
	put(&body, zero, 32);
	put_block(&body, 1, zero, s.session);
	put_block(&body, 2, zero, s.suites);
	put_block(&body, 1, zero, s.compression);
	if (s.extensions)
		put_block(&body, 2, s.extensions->data, s.extensions->len);
	if (s.behind < 0)
		body.len -= (size_t)-s.behind;
	else
		put(&body, zero, (size_t)s.behind);
	put_int(&message, 1, 1);
	put_block(&message, 3, body.data, body.len);
	put_records(o, &message, s.piece ? s.piece : 1 << 14);
}

#define USUAL .version = 0x303, .session = 32, .suites = 4, .compression = 1

/* TLS with this name ("": without one) exactly at the end, whatever follows. */
static void check_tls(const struct out *o, const char *name, bool ech, const char *what)
{
	static struct out more;
	struct ab_hello h = { .used = 0 };

	more.len = 0;
	put(&more, o->data, o->len);
	put(&more, "\24\3\3\0\1\1", 6);
	ok(decides(ab_hello_detect, more.data, more.len, AB_FIRST_TLS, o->len), "a hello: %s",
	   what);
	ab_hello_detect(guarded(o->data, o->len), o->len, &h);
	ok(h.has_name == (name[0] != '\0') && strcmp(h.name.text, name) == 0 && h.ech == ech &&
		   h.used == o->len,
	   "for \"%s\"%s", h.name.text, h.ech ? ", encrypted" : "");
}

static void check_bad(const struct out *o, const char *what)
{
	struct ab_hello h;
	size_t tls = 0;

	for (size_t n = 0; n < o->len; n++)
		tls += ab_hello_detect(guarded(o->data, n), n, &h) == AB_FIRST_TLS;
	ok(tls == 0 && ab_hello_detect(guarded(o->data, o->len), o->len, &h) == AB_FIRST_BAD,
	   "bad: %s", what);
}

static void test_shapes(void)
{
	static struct out ext, o;

#define GOOD(shape_name, name, ...)                           \
	do {                                                  \
		o.len = 0;                                    \
		put_hello(&o, (struct shape){ __VA_ARGS__ }); \
		check_tls(&o, name, false, shape_name);       \
	} while (0)
#define REFUSED(shape_name, ...)                              \
	do {                                                  \
		o.len = 0;                                    \
		put_hello(&o, (struct shape){ __VA_ARGS__ }); \
		check_bad(&o, shape_name);                    \
	} while (0)

	GOOD("without extensions", "", USUAL);
	ext.len = 0;
	GOOD("with none", "", USUAL, .extensions = &ext);
	put_extension(&ext, 43, "\2\3\4", 3);
	GOOD("with another", "", USUAL, .extensions = &ext);
	put_name(&ext, "Example.COM", 11);
	put_extension(&ext, 0xaaaa, "", 0);
	GOOD("with a name", "example.com", USUAL, .extensions = &ext);
	for (size_t piece = 1; piece < 12; piece++)
		GOOD("in pieces", "example.com", USUAL, .extensions = &ext, .piece = piece);
	GOOD("of SSL 3.0", "example.com", .version = 0x300, .suites = 2, .compression = 2,
	     .extensions = &ext);

	REFUSED("version 2.0", .version = 0x200, .suites = 2, .compression = 1);
	REFUSED("version 4.0", .version = 0x400, .suites = 2, .compression = 1);
	REFUSED("a session of 33", .version = 0x303, .session = 33, .suites = 2, .compression = 1);
	REFUSED("no suite", .version = 0x303, .compression = 1);
	REFUSED("half a suite", .version = 0x303, .suites = 3, .compression = 1);
	REFUSED("no compression", .version = 0x303, .suites = 2);
	REFUSED("a byte behind", USUAL, .extensions = &ext, .behind = 1);
	REFUSED("a byte in place of extensions", USUAL, .behind = 1);
	for (int n = 1; n <= 60; n++)
		if (n != (int)ext.len + 2) /* all of them: see above */
			REFUSED("cut short inside", USUAL, .extensions = &ext, .behind = -n);
	put(&ext, "\0", 1);
	REFUSED("a byte behind the extensions", USUAL, .extensions = &ext);
}

static const struct {
	const char *what;
	const uint8_t *data; /* of server_name */
	size_t len;
} bad_names[] = {
	{ "empty", BYTES("") },
	{ "no list", BYTES("\0") },
	{ "an empty list", BYTES("\0\0") },
	{ "an empty name", BYTES("\0\3\0\0\0") },
	{ "another type", BYTES("\0\6\1\0\3a.b") },
	{ "two names", BYTES("\0\14\0\0\3a.b\0\0\3c.d") },
	{ "twice the same", BYTES("\0\14\0\0\3a.b\0\0\3a.b") },
	{ "a name and another type", BYTES("\0\14\0\0\3a.b\1\0\3c.d") },
	{ "a list too short", BYTES("\0\5\0\0\3a.b") },
	{ "a list too long", BYTES("\0\7\0\0\3a.b") },
	{ "a name too long", BYTES("\0\6\0\0\4a.b") },
	{ "a name too short", BYTES("\0\6\0\0\2a.b") },
	{ "a byte behind", BYTES("\0\6\0\0\3a.b\0") },
	{ "NUL inside", BYTES("\0\10\0\0\5a.b\0c") },
	{ "NUL at the end", BYTES("\0\7\0\0\4a.b\0") },
	{ "an address", BYTES("\0\12\0\0\0071.2.3.4") },
	{ "an address in disguise", BYTES("\0\15\0\0\012"
					  "0x7f000001") },
	{ "an IPv6 address", BYTES("\0\6\0\0\3::1") },
	{ "the same in brackets", BYTES("\0\10\0\0\5[::1]") },
	{ "a port", BYTES("\0\11\0\0\6a.b:80") },
	{ "a line end", BYTES("\0\10\0\0\5a.b\r\n") },
	{ "UTF-8", BYTES("\0\7\0\0\4\303\274.b") },
	{ "an asterisk", BYTES("\0\10\0\0\5*.a.b") },
};

static void test_names(void)
{
	static struct out ext, o;
	char longest[255];

	for (size_t i = 0; i < AB_COUNT(bad_names); i++) {
		ext.len = o.len = 0;
		put_extension(&ext, 0, bad_names[i].data, bad_names[i].len);
		put_hello(&o, (struct shape){ USUAL, .extensions = &ext });
		check_bad(&o, bad_names[i].what);
	}
	ext.len = o.len = 0;
	put_name(&ext, "a.b", 3);
	put_extension(&ext, 16, "", 0);
	put_name(&ext, "a.b", 3);
	put_hello(&o, (struct shape){ USUAL, .extensions = &ext });
	check_bad(&o, "the extension twice");

	ext.len = o.len = 0;
	put_name(&ext, "a.b.", 4);
	put_hello(&o, (struct shape){ USUAL, .extensions = &ext });
	check_tls(&o, "a.b", false, "a dot at the end");

	memset(longest, 'a', sizeof(longest));
	for (size_t i = 1; i < sizeof(longest); i += 2)
		longest[i] = '.';
	longest[253] = '\0';
	ext.len = o.len = 0;
	put_name(&ext, longest, 253);
	put_hello(&o, (struct shape){ USUAL, .extensions = &ext });
	check_tls(&o, longest, false, "the longest name");

	ext.len = o.len = 0;
	put_name(&ext, "a.b", 3);
	put_extension(&ext, 0xfe0d, "\0\0\1", 3);
	put_hello(&o, (struct shape){ USUAL, .extensions = &ext });
	check_tls(&o, "a.b", true, "encrypted hello inside");
	ext.len = o.len = 0;
	put_extension(&ext, 0xffce, "", 0);
	put_hello(&o, (struct shape){ USUAL, .extensions = &ext });
	check_tls(&o, "", true, "encrypted name instead of one");
}

/* Nothing is undecided at the limit. */
static void test_limit(void)
{
	static struct out ext, o;
	struct ab_hello h;

	ext.len = o.len = 0;
	put_extension(&ext, 21, o.data, AB_HELLO_MAX - 200);
	put_name(&ext, "a.b", 3);
	put_hello(&o, (struct shape){ USUAL, .extensions = &ext });
	ok(o.len < AB_HELLO_MAX && ab_hello_detect(o.data, o.len, &h) == AB_FIRST_TLS && h.has_name,
	   "a hello of %zu bytes", o.len);
	ext.len = o.len = 0;
	put_extension(&ext, 21, o.data, AB_HELLO_MAX);
	put_hello(&o, (struct shape){ USUAL, .extensions = &ext });
	ok(ab_hello_detect(o.data, 9, &h) == AB_FIRST_BAD,
	   "one that cannot fit is refused by its length");
	ext.len = o.len = 0;
	put_extension(&ext, 21, o.data, AB_HELLO_MAX / 2);
	put_hello(&o, (struct shape){ USUAL, .extensions = &ext, .piece = 1 });
	ok(ab_hello_detect(o.data, AB_HELLO_MAX - 1, &h) == AB_FIRST_MORE &&
		   ab_hello_detect(o.data, AB_HELLO_MAX, &h) == AB_FIRST_BAD &&
		   ab_hello_detect(o.data, o.len, &h) == AB_FIRST_BAD,
	   "one of many records that does not end");
}

static void read_sample(const char *name, struct out *o)
{
	const char *root = getenv("AB_SOURCE_ROOT");
	ab_autofree char *path =
		ab_printf("%s/test/fuzz/corpus/proxy_wire_hello/%s", root ? root : ".", name);
	FILE *f = fopen(path, "r");

	o->len = 0;
	if (!f) {
		printf("# %s: %s\n", path, strerror(errno));
		return;
	}
	o->len = fread(o->data, 1, AB_HELLO_MAX, f);
	fclose(f);
}

static const struct {
	const char *file, *name;
	bool ech;
} samples[] = {
	{ "openssl", "example.com", false }, { "openssl-noname", "", false },
	{ "curl", "example.com", false },    { "node", "example.com", false },
	{ "java", "example.com", false },    { "gnutls", "example.com", false },
	{ "nss", "example.com", false },     { "go", "example.com", false },
	{ "split", "example.com", false },   { "bytes", "example.com", false },
	{ "ech", "public.example", true },
};

/* What real clients send, also in pieces, and with any one length wrong. */
static void test_samples(void)
{
	static struct out sample, message, o;

	for (size_t i = 0; i < AB_COUNT(samples); i++) {
		read_sample(samples[i].file, &sample);
		if (sample.len < 5) {
			ok(false, "sample %s", samples[i].file);
			continue;
		}
		check_tls(&sample, samples[i].name, samples[i].ech, samples[i].file);
		if (sample.len != 5u + sample.data[3] * 256u + sample.data[4])
			continue; /* is in pieces */
		message.len = o.len = 0;
		put(&message, sample.data + 5, sample.len - 5);
		put_records(&o, &message, 7);
		check_tls(&o, samples[i].name, samples[i].ech, "in pieces");
	}
}

/* The first hello is for example.com, the second one for another name. */
static void test_retry(void)
{
	static struct out up, down, o;
	struct ab_hello first = { .used = 0 }, second = { .used = 0 };
	enum ab_retry retry;
	size_t n, wrong = 0;

	read_sample("retried", &up);
	read_sample("retry", &down);
	ok(ab_hello_detect(up.data, up.len, &first) == AB_FIRST_TLS && first.used < up.len,
	   "a hello, and more behind it");
	for (n = 0; n < down.len; n++) {
		retry = ab_hello_retry(guarded(down.data, n), n);
		wrong += retry != (n < 43 ? AB_RETRY_MORE : AB_RETRY_YES);
	}
	ok(down.len > 43 && wrong == 0,
	   "the server's request for another one is known by 43 bytes");

	put(&o, up.data + first.used, up.len - first.used);
	ok(decides(ab_hello_again, o.data, o.len, AB_FIRST_TLS, o.len),
	   "the second hello, behind change_cipher_spec");
	ab_hello_again(o.data, o.len, &second);
	ok(second.used == o.len && strcmp(second.name.text, "evil.example") == 0, "is for %s",
	   second.name.text);
	o.len = 0;
	put(&o, "\24\3\3\0\1\1\27\3\3\0\3abc\27\3\3\0\3abc", 22);
	put(&o, up.data, first.used);
	ok(decides(ab_hello_again, o.data, o.len, AB_FIRST_TLS, o.len), "behind early data");
	ok(decides(ab_hello_again, BYTES("\24\3\3\0\1\1\25\3\3\0\2"), AB_FIRST_BAD, 7),
	   "behind an alert: bad");
	ok(decides(ab_hello_again, BYTES("GET / HTTP/1.1\r\n"), AB_FIRST_BAD, 1),
	   "something else: bad");
	memset(o.data, 23, sizeof(o.data));
	ok(ab_hello_again(o.data, AB_HELLO_MAX, &second) == AB_FIRST_BAD,
	   "early data without end: bad");

	o.len = 0;
	put(&o, "\25\3\3\0\2\1\160\26\3\3\0\2", 12);
	put(&o, down.data + 5, 2);
	put(&o, "\26\3\3\0\44", 5);
	put(&o, down.data + 7, 36);
	ok(ab_hello_retry(guarded(o.data, o.len), o.len) == AB_RETRY_YES &&
		   ab_hello_retry(guarded(o.data, o.len - 1), o.len - 1) == AB_RETRY_MORE,
	   "behind a warning, and in pieces");
	down.data[40] ^= 1;
	ok(ab_hello_retry(down.data, down.len) == AB_RETRY_NO, "a usual server hello");
	ok(ab_hello_retry(BYTES("\26\3\3\0\4\13")) == AB_RETRY_NO, "another message");
	ok(ab_hello_retry(BYTES("H")) == AB_RETRY_NO, "not TLS at all");
	memset(o.data, 21, sizeof(o.data));
	ok(ab_hello_retry(o.data, AB_HELLO_MAX - 1) == AB_RETRY_MORE &&
		   ab_hello_retry(o.data, AB_HELLO_MAX) == AB_RETRY_YES,
	   "alerts without end: expect the worst");
}

int main(void)
{
	test_shapes();
	test_names();
	test_limit();
	test_samples();
	test_retry();
	return done();
}
