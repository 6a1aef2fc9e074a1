#include "proxy/wire/hello.h"

#include "proxy/io/ssh_text.h"
#include "proxy/wire/http.h"

/*
 * Theory of operation.
 *
 * The result depends on the bytes alone and is final: once it is not MORE it
 * stays the same whatever follows, however the bytes were split. MORE ends at
 * AB_HELLO_MAX at the latest, and never with OTHER.
 *
 * OTHER bytes pass without further checks, so OTHER must not be a way around
 * the checks on TLS and HTTP. The question is therefore not what the standards
 * call TLS or HTTP, but what some server accepts as such. If it is well formed
 * it is TLS or HTTP; the rest is BAD, or HTTP for the strict parser to reject.
 *
 * TLS. The first record is a handshake, 22 3.x. But (seen in tests):
 * - Go accepts a first record with any version below 16.0; NSS and Java ignore
 *   the version. OpenSSL and GnuTLS require 3.x.
 * - Go, Java and NSS skip a warning before the hello, NSS every alert that is
 *   not fatal; OpenSSL, Java and NSS skip empty handshake records, GnuTLS a
 *   change_cipher_spec.
 * So a first byte of 20 to 24 is TLS if a version 3.x follows, and with any
 * other version if the record is empty, an alert by its length, or begins with
 * 1: the type of a client hello, the one value of change_cipher_spec.
 * - Many servers accept a hello in SSL 2 format. It has no server name, so it
 *   is like a hello without one: OTHER.
 * - A proxy-protocol header may precede anything; a server that accepts one
 *   from any client would see the hello after it: BAD.
 * After the first byte of a 22 3.x record nothing is OTHER: records that are
 * empty, too long or of another type, another message before or after the
 * hello, a name that is not a host name, two names: BAD.
 *
 * HTTP. A token, a blank, and anywhere later in the line a blank and "HTTP/" in
 * any case. Servers skip line ends before it (nginx, Apache, node), blanks too
 * (Python), and accept various bytes as a blank (RFC 9112, 3; Python splits at
 * every blank of Unicode in Latin-1). A line without a version is an HTTP/0.9
 * request if it has a method and a path or URL; it matters because a URL names
 * a host. Other protocols begin with a line of text too (EHLO x, NICK x,
 * SSH-2.0-x y, RFB 003.008), so a word and a space are not enough. Their clients
 * send whole lines, so waiting for the end of the line costs nothing; a line
 * without end is HTTP. The git protocol has a NUL instead of the line end.
 *
 * TLS that begins later in a connection (STARTTLS, the SSL request of
 * databases) belongs to a protocol that is not recognized here.
 */

enum {
	RECORD_FIRST = 20, /* change_cipher_spec ... */
	RECORD_ALERT = 21,
	RECORD_HANDSHAKE = 22,
	RECORD_LAST = 24, /* ... heartbeat */
	RECORD_HEADER = 5,
	RECORD_MAX = 1 << 14,
	CLIENT_HELLO = 1,
	MAJOR = 3,
};

static unsigned get16(const uint8_t *p)
{
	return (unsigned)(p[0] << 8 | p[1]);
}

/* A record that no client sends, but that some server accepts? */
static enum ab_first detect_odd_record(const uint8_t *data, size_t len)
{
	enum { ALERT_SIZE = 2 };
	unsigned n;

	if (data[0] < RECORD_FIRST || data[0] > RECORD_LAST)
		return AB_FIRST_OTHER;
	if (len > 1 && data[1] == MAJOR)
		return AB_FIRST_BAD;
	if (len < RECORD_HEADER)
		return AB_FIRST_MORE;
	n = get16(data + 3);
	if (n == 0 || (data[0] == RECORD_ALERT && n == ALERT_SIZE))
		return AB_FIRST_BAD;
	if (data[0] == RECORD_ALERT)
		return AB_FIRST_OTHER;
	if (len == RECORD_HEADER)
		return AB_FIRST_MORE;
	return data[RECORD_HEADER] == 1 ? AB_FIRST_BAD : AB_FIRST_OTHER;
}

bool ab_hello_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || (c >= '\v' && c <= '\r') || (c >= 0x1c && c <= 0x1f) ||
	       c == 0x85 || c == 0xa0;
}

/* Does the word look like a method name? */
static bool is_method(const uint8_t *word, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((word[i] < 'A' || word[i] > 'Z') && word[i] != '-' && word[i] != '_')
			return false;
	return len >= 3;
}

/* A path or a URL. */
static bool is_target(const uint8_t *data, size_t len)
{
	size_t n = 0;

	while (n < len && !ab_hello_blank(data[n]))
		n++;
	return n > 0 && (data[0] == '/' || memmem(data, n, "://", 3));
}

/* node's parser accepts the last two as HTTP, with some methods. */
static bool is_version(const uint8_t *data, size_t len)
{
	static const char *const names[] = { "HTTP/", "RTSP/", "ICE/" };

	for (size_t i = 0; i < AB_COUNT(names); i++) {
		size_t n = strlen(names[i]);

		if (len >= n && strncasecmp((const char *)data, names[i], n) == 0)
			return true;
	}
	return false;
}

static enum ab_first detect_line(const uint8_t *data, size_t len)
{
	/* Each new byte means reading the line again, so limit its length. */
	enum { LONGEST = 8192 };
	enum ab_first undecided = len < LONGEST ? AB_FIRST_MORE : AB_FIRST_HTTP;
	size_t word, target, i = 0;
	bool method;

	len = len < LONGEST ? len : LONGEST;
	while (i < len && (ab_hello_blank(data[i]) || data[i] == '\n'))
		i++;
	word = i;
	while (i < len && ab_http_tchar(data[i]))
		i++;
	if (i == len)
		return undecided;
	if (i == word || !ab_hello_blank(data[i]))
		return AB_FIRST_OTHER;
	if (i - word == 5 && memcmp(data + word, "PROXY", 5) == 0)
		return AB_FIRST_BAD;
	method = is_method(data + word, i - word);
	while (i < len && ab_hello_blank(data[i]))
		i++;
	target = i;
	for (; i < len; i++) {
		if (data[i] == '\n')
			return method && is_target(data + target, i - target) ? AB_FIRST_HTTP
									      : AB_FIRST_OTHER;
		if (ab_hello_blank(data[i - 1]) && is_version(data + i, len - i))
			return AB_FIRST_HTTP;
		/* Some servers accept any byte in a path. */
		if ((data[i] < ' ' || data[i] == 0x7f) && !ab_hello_blank(data[i]))
			return method ? AB_FIRST_HTTP : AB_FIRST_OTHER;
	}
	return undecided;
}

static enum ab_first detect_text(const uint8_t *data, size_t len)
{
	static const struct {
		const char *text;
		size_t len;
		enum ab_first is;
	} starts[] = {
		{ "PRI * HTTP/2.0", 14, AB_FIRST_HTTP2 },
		/* Version 2 of the proxy protocol; version 1 is a line. */
		{ "\r\n\r\n\0", 5, AB_FIRST_BAD },
	};

	for (size_t i = 0; i < AB_COUNT(starts); i++) {
		size_t n = len < starts[i].len ? len : starts[i].len;

		if (memcmp(data, starts[i].text, n) == 0)
			return n < starts[i].len ? AB_FIRST_MORE : starts[i].is;
	}
	return detect_line(data, len);
}

enum ab_first ab_hello_detect(const uint8_t *data, size_t len, struct ab_hello *ret)
{
	size_t n = len < AB_HELLO_MAX ? len : AB_HELLO_MAX;
	enum ab_first odd;

	if (n == 0)
		return AB_FIRST_MORE;
	if (data[0] == RECORD_HANDSHAKE && (n == 1 || data[1] == MAJOR))
		return ab_hello_read(data, n, ret);
	odd = detect_odd_record(data, n);
	return odd == AB_FIRST_OTHER ? detect_text(data, n) : odd;
}

enum {
	RECORD_CHANGE_CIPHER = 20,
	RECORD_APPLICATION = 23,
	MESSAGE_HEADER = 4,
	SERVER_HELLO = 2,
	RANDOM_AT = MESSAGE_HEADER + 2,
	RANDOM = 32,
	SESSION_MAX = 32,
};

enum {
	EXT_SERVER_NAME = 0,
	EXT_ALPN = 16,
	EXT_ECH = 0xfe0d,
	EXT_ESNI = 0xffce, /* its predecessor */
	NAME_TYPE_HOST = 0,
};

/* A block after its length of one or two bytes. */
static struct ab_ssh_reader read_block(struct ab_ssh_reader *r, size_t length_bytes)
{
	struct ab_ssh_reader block =
		ab_ssh_read(ab_ssh_bytes(r, ab_ssh_number_of(r, length_bytes)));

	block.bad = r->bad;
	return block;
}

/* Exactly one name, of type host. */
static bool read_server_name(struct ab_ssh_reader r, struct ab_hello *hello)
{
	struct ab_ssh_reader list = read_block(&r, 2), name;
	uint8_t type = ab_ssh_byte(&list);

	name = read_block(&list, 2);
	if (hello->has_name || !ab_ssh_ended(&r) || type != NAME_TYPE_HOST ||
	    !ab_ssh_ended(&list) ||
	    ab_host_parse((const char *)name.at, name.left, &hello->name, NULL) < 0 ||
	    hello->name.kind != AB_HOST_NAME)
		return false;
	hello->has_name = true;
	return true;
}

/* A malformed list offers nothing; the TLS library refuses it later. */
static bool offers_h2(struct ab_ssh_reader r)
{
	struct ab_ssh_reader list = read_block(&r, 2);

	while (list.left && !list.bad) {
		struct ab_ssh_reader name = read_block(&list, 1);

		if (!name.bad && name.left == 2 && memcmp(name.at, "h2", 2) == 0)
			return true;
	}
	return false;
}

static bool read_extensions(struct ab_ssh_reader r, struct ab_hello *hello)
{
	while (r.left > 0) {
		uint32_t type = ab_ssh_number_of(&r, 2);
		struct ab_ssh_reader body = read_block(&r, 2);

		if (r.bad)
			return false;
		switch (type) {
		case EXT_SERVER_NAME:
			if (!read_server_name(body, hello))
				return false;
			break;
		case EXT_ALPN:
			hello->h2 = offers_h2(body);
			break;
		case EXT_ECH:
		case EXT_ESNI:
			hello->ech = true;
			break;
		}
	}
	return true;
}

/* A whole message with its header. */
static bool read_message(const uint8_t *data, size_t len, struct ab_hello *hello)
{
	struct ab_ssh_reader r = { .at = data + MESSAGE_HEADER, .left = len - MESSAGE_HEADER };
	struct ab_ssh_reader session, suites, compression, extensions;
	uint32_t version = ab_ssh_number_of(&r, 2);

	ab_ssh_bytes(&r, RANDOM);
	session = read_block(&r, 1);
	suites = read_block(&r, 2);
	compression = read_block(&r, 1);
	if (r.bad || version >> 8 != MAJOR || session.left > SESSION_MAX || suites.left == 0 ||
	    suites.left % 2 != 0 || compression.left == 0)
		return false;
	if (r.left == 0)
		return true; /* before TLS 1.3 extensions are optional */
	extensions = read_block(&r, 2);
	return ab_ssh_ended(&r) && read_extensions(extensions, hello);
}

static enum ab_first detect_records(const uint8_t *data, size_t len, struct ab_hello *ret)
{
	uint8_t message[AB_HELLO_MAX]; /* its records joined */
	struct ab_hello hello = { 0 };
	size_t want = AB_HELLO_MAX, have = 0, at = 0;

	while (len - at >= RECORD_HEADER) {
		const uint8_t *p = data + at;
		size_t n = get16(p + 3), seen = len - at - RECORD_HEADER;

		if (p[0] != RECORD_HANDSHAKE || p[1] != MAJOR || n == 0 || n > RECORD_MAX)
			return AB_FIRST_BAD;
		seen = seen < n ? seen : n;
		memcpy(message + have, p + RECORD_HEADER, seen);
		if (have + seen > 0 && message[0] != CLIENT_HELLO)
			return AB_FIRST_BAD;
		if (have + seen >= MESSAGE_HEADER)
			want = MESSAGE_HEADER + ((size_t)message[1] << 16 | get16(message + 2));
		/* No protocol has a second message after the hello. */
		if (want > AB_HELLO_MAX || have + n > want)
			return AB_FIRST_BAD;
		if (seen < n)
			return AB_FIRST_MORE;
		have += n;
		at += RECORD_HEADER + n;
		if (have < want)
			continue;
		hello.used = at;
		if (!read_message(message, want, &hello))
			return AB_FIRST_BAD;
		*ret = hello;
		return AB_FIRST_TLS;
	}
	if ((len > at && data[at] != RECORD_HANDSHAKE) || (len > at + 1 && data[at + 1] != MAJOR))
		return AB_FIRST_BAD;
	return AB_FIRST_MORE;
}

enum ab_first ab_hello_read(const uint8_t *data, size_t len, struct ab_hello *ret)
{
	size_t n = len < AB_HELLO_MAX ? len : AB_HELLO_MAX;
	enum ab_first r = detect_records(data, n, ret);

	return r == AB_FIRST_MORE && n == AB_HELLO_MAX ? AB_FIRST_BAD : r;
}

enum ab_first ab_hello_again(const uint8_t *data, size_t len, struct ab_hello *ret)
{
	size_t n = len < AB_HELLO_MAX ? len : AB_HELLO_MAX, at = 0;
	enum ab_first r = AB_FIRST_MORE;

	while (at < n && (data[at] == RECORD_CHANGE_CIPHER || data[at] == RECORD_APPLICATION)) {
		if (n - at < RECORD_HEADER)
			at = n;
		else
			at += RECORD_HEADER + get16(data + at + 3);
	}
	if (at < n)
		r = ab_hello_read(data + at, n - at, ret);
	if (r == AB_FIRST_TLS)
		ret->used += at;
	return r == AB_FIRST_MORE && n == AB_HELLO_MAX ? AB_FIRST_BAD : r;
}

/* Could this byte of the server's first message be of a HelloRetryRequest? */
static bool is_retry(size_t at, uint8_t c)
{
	/* The random value that marks it (RFC 8446, 4.1.3). */
	static const uint8_t magic[RANDOM] = {
		0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c,
		0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb,
		0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
	};

	if (at == 0)
		return c == SERVER_HELLO;
	return at < RANDOM_AT || c == magic[at - RANDOM_AT];
}

enum ab_retry ab_hello_retry(const uint8_t *data, size_t len)
{
	size_t at = 0, have = 0;

	while (at < len) {
		size_t n, seen;

		/* Some servers send a warning before the hello. */
		if (data[at] != RECORD_HANDSHAKE && data[at] != RECORD_ALERT)
			return AB_RETRY_NO;
		if (len - at < RECORD_HEADER)
			break;
		n = get16(data + at + 3);
		seen = len - at - RECORD_HEADER;
		seen = seen < n ? seen : n;
		for (size_t i = 0; data[at] == RECORD_HANDSHAKE && i < seen; i++) {
			if (!is_retry(have, data[at + RECORD_HEADER + i]))
				return AB_RETRY_NO;
			if (++have == RANDOM_AT + RANDOM)
				return AB_RETRY_YES;
		}
		at += RECORD_HEADER + n;
	}
	/* No reply to a hello is that long: assume the worst. */
	return len < AB_HELLO_MAX ? AB_RETRY_MORE : AB_RETRY_YES;
}
