#include "proxy/wire/hello.h"

#include "base/data/mem.h"
#include "proxy_first.h"

#define OTHER AB_FIRST_OTHER
#define HTTP AB_FIRST_HTTP
#define BAD AB_FIRST_BAD

static const struct {
	const char *name;
	const uint8_t *data;
	size_t len, decided; /* 0: by the last byte */
	enum ab_first want;
} firsts[] = {
	/* The server speaks first, or waits for the end of the first thing. */
	{ "ssh", BYTES("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"), 0, OTHER },
	{ "ssh without a comment", BYTES("SSH-2.0-dropbear\r\n"), 0, OTHER },
	{ "SMTP", BYTES("EHLO client.example\r\n"), 0, OTHER },
	{ "SMTP, the older", BYTES("HELO [127.0.0.1]\r\n"), 0, OTHER },
	{ "FTP", BYTES("USER anonymous\r\n"), 0, OTHER },
	{ "POP3", BYTES("CAPA\r\n"), 0, OTHER },
	{ "IMAP", BYTES("a1 CAPABILITY\r\n"), 0, OTHER },
	{ "IRC", BYTES("NICK me\r\nUSER me 0 * :me\r\n"), 9, OTHER },
	{ "redis", BYTES("*1\r\n$4\r\nPING\r\n"), 4, OTHER },
	{ "redis by hand", BYTES("PING\r\n"), 0, OTHER },
	{ "redis by hand, with words", BYTES("SET a http://b/\r\n"), 0, OTHER },
	{ "memcached", BYTES("get /a/b\r\n"), 0, OTHER },
	{ "memcached, binary", BYTES("\200\13\0\0\0\0\0\0"), 1, OTHER },
	{ "NATS", BYTES("CONNECT {\"verbose\":false}\r\n"), 0, OTHER },
	{ "STOMP", BYTES("CONNECT\naccept-version:1.2\n\n\0"), 8, OTHER },
	{ "VNC", BYTES("RFB 003.008\n"), 0, OTHER },
	{ "rsync", BYTES("@RSYNCD: 31.0\n"), 1, OTHER },
	{ "svn", BYTES("( 2 ( edit-pipeline ) ) "), 1, OTHER },
	{ "XMPP", BYTES("<?xml version='1.0'?>"), 1, OTHER },
	{ "JSON", BYTES("{\"id\":1,\"method\":\"x\"}"), 1, OTHER },
	{ "git", BYTES("0026git-upload-pack /a.git\0host=a.b\0"), 27, OTHER },
	{ "AMQP", BYTES("AMQP\0\0\11\1"), 5, OTHER },
	{ "PostgreSQL", BYTES("\0\0\0\51\0\3\0\0user\0me\0"), 1, OTHER },
	{ "PostgreSQL, SSL", BYTES("\0\0\0\10\4\322\26\57"), 1, OTHER },
	{ "MySQL", BYTES("\265\0\0\1\205\246\377\1\0\0\0\1\55"), 1, OTHER },
	{ "MySQL, SSL", BYTES("\40\0\0\1\205\256\377\1\0\0\0\1\377"), 2, OTHER },
	{ "SQL Server", BYTES("\22\1\0\57\0\0\1\0\0\0\32\0\6"), 1, OTHER },
	{ "Oracle", BYTES("\0\113\0\0\1\0\0\0\1\71\1\54"), 1, OTHER },
	{ "MongoDB", BYTES("\26\1\0\0\1\0\0\0\0\0\0\0\335\7\0\0"), 6, OTHER },
	{ "MongoDB, odd id", BYTES("\25\1\0\0\1\0\0\0\0\0\0\0\335\7\0\0"), 5, OTHER },
	{ "Cassandra", BYTES("\4\0\0\1\5\0\0\0\0"), 1, OTHER },
	{ "Kafka", BYTES("\0\0\0\43\0\22\0\3"), 1, OTHER },
	{ "LDAP", BYTES("\60\14\2\1\1\140\7\2\1\3\4\0\200\0"), 3, OTHER },
	{ "MQTT", BYTES("\20\20\0\4MQTT\4\2\0\74\0\4abcd"), 1, OTHER },
	{ "RDP", BYTES("\3\0\0\23\16\340\0\0\0\0\0\1\0\10\0\3\0\0\0"), 1, OTHER },
	{ "telnet", BYTES("\377\375\1\377\375\3"), 1, OTHER },
	{ "SOCKS 5", BYTES("\5\1\0"), 1, OTHER },
	{ "DNS", BYTES("\0\35\1\1\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1"), 1, OTHER },
	{ "X11", BYTES("l\0\13\0\0\0"), 2, OTHER },
	{ "X11, the other end", BYTES("B\0\0\13\0\0"), 2, OTHER },
	{ "a high byte", BYTES("\371\276\264\331version"), 1, OTHER },

	{ "a request", BYTES("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 11, HTTP },
	{ "a URL", BYTES("GET http://a/ HTTP/1.1\r\n\r\n"), 19, HTTP },
	{ "CONNECT", BYTES("CONNECT a:443 HTTP/1.1\r\n\r\n"), 19, HTTP },
	{ "OPTIONS", BYTES("OPTIONS * HTTP/1.1\r\n\r\n"), 15, HTTP },
	{ "any method", BYTES("m-search~1 * HTTP/1.1\r\n\r\n"), 18, HTTP },
	{ "a long one", BYTES("ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZ / HTTP/1.1"),
	  60, HTTP },
	{ "one that is no word for it", BYTES("SSH-2.0-x / HTTP/1.1\r\n"), 17, HTTP },
	{ "line ends before it", BYTES("\r\n\n\rGET / HTTP/1.1\r\n"), 15, HTTP },
	{ "blanks before it", BYTES(" \tGET / HTTP/1.1\r\n"), 13, HTTP },
	{ "many blanks", BYTES("GET \t /  HTTP/1.1 \r\n"), 14, HTTP },
	{ "other blanks", BYTES("GET\240/\205HTTP/1.1\r\n"), 11, HTTP },
	{ "blanks of ASCII", BYTES("GET\34/\37HTTP/1.1\r\n"), 11, HTTP },
	{ "a carriage return", BYTES("GET\r/\rHTTP/1.1\r\n"), 11, HTTP },
	{ "no line", BYTES("GET / HTTP/1.1"), 11, HTTP },
	{ "lower case", BYTES("get / http/1.1\r\n"), 11, HTTP },
	{ "bytes in the path", BYTES("GET /\377\"{ HTTP/1.1\r\n"), 14, HTTP },
	{ "control bytes in it", BYTES("GET /\1 HTTP/1.1\r\n"), 6, HTTP },
	{ "NUL", BYTES("GET /\0 HTTP/1.1\r\n"), 6, HTTP },
	{ "RTSP", BYTES("GET / RTSP/1.0\r\n"), 11, HTTP },
	{ "ICE", BYTES("SOURCE / ICE/1.0\r\n"), 13, HTTP },
	{ "HTTP/0.9", BYTES("GET /\r\n"), 0, HTTP },
	{ "HTTP/0.9, LF", BYTES("GET /\n"), 0, HTTP },
	{ "HTTP/0.9 and a URL", BYTES("GET http://a/\r\n"), 0, HTTP },
	{ "a version and no path", BYTES("GET HTTP/1.1\r\n"), 9, HTTP },

	{ "a word before a version", BYTES("x alice/HTTP/1.1\r\n"), 0, OTHER },
	{ "almost a version", BYTES("x HTTP 1.1\r\n"), 0, OTHER },
	{ "a version in another line", BYTES("x y\r\nz HTTP/1.1\r\n"), 5, OTHER },
	{ "SIP", BYTES("OPTIONS sip:a SIP/2.0\r\n"), 0, OTHER },

	{ "HTTP/2", BYTES("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 14, AB_FIRST_HTTP2 },
	{ "not quite", BYTES("PRI * HTTP/2.1\r\n\r\n"), 14, HTTP },
	{ "nor so", BYTES("\r\nPRI * HTTP/2.0\r\n"), 13, HTTP },

	{ "a proxy-protocol line", BYTES("PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n"), 6, BAD },
	{ "its second form", BYTES("\r\n\r\n\0\r\nQUIT\n\41\21\0\14"), 5, BAD },
	{ "a method like it", BYTES("PROXYX / HTTP/1.1\r\n"), 14, HTTP },

	/* What some server takes for TLS. */
	{ "a warning first", BYTES("\25\3\1\0\2\1\132\26\3\1"), 2, BAD },
	{ "an empty record", BYTES("\26\3\1\0\0\26\3\1"), 5, BAD },
	{ "change_cipher_spec", BYTES("\24\3\3\0\1\1\26\3\1"), 2, BAD },
	{ "application data", BYTES("\27\3\3\0\0\26\3\1"), 2, BAD },
	{ "heartbeat", BYTES("\30\3\3\0\1\1"), 2, BAD },
	{ "record version 1.0", BYTES("\26\1\0\0\4\1\0\0\0"), 6, BAD },
	{ "record version 15.0", BYTES("\26\17\0\0\4\1\0\0\0"), 6, BAD },
	{ "record version 32.0", BYTES("\26\40\0\0\4\1\0\0\0"), 6, BAD },
	{ "an empty one of 1.0", BYTES("\26\1\0\0\0\26\3\1"), 5, BAD },
	{ "a warning of 1.0", BYTES("\25\1\0\0\2\1\132"), 5, BAD },
	{ "an alert of 32.0", BYTES("\25\40\0\0\2\377\132"), 5, BAD },
	{ "change_cipher_spec of 1.0", BYTES("\24\1\0\0\1\1"), 6, BAD },
	{ "a hello request", BYTES("\26\3\1\0\4\0\0\0\0"), 6, BAD },
	{ "a long record", BYTES("\26\3\1\100\1\1\0\0\0"), 5, BAD },
	{ "a long message", BYTES("\26\3\1\0\5\1\1\0\0\0"), 9, BAD },
	{ "a message and more", BYTES("\26\3\1\0\6\1\0\0\1\0\0"), 9, BAD },
	{ "an empty message", BYTES("\26\3\1\0\4\1\0\0\0"), 9, BAD },
	{ "a warning in between", BYTES("\26\3\1\0\1\1\25\3\1\0\2"), 7, BAD },
	{ "a version in between", BYTES("\26\3\1\0\1\1\26\1\1\0\2"), 8, BAD },
	{ "an empty record in between", BYTES("\26\3\1\0\1\1\26\3\1\0\0"), 11, BAD },
	{ "another type in pieces", BYTES("\26\3\1\0\1\2"), 6, BAD },
	{ "SSL 2", BYTES("\200\34\1\3\3\0\3\0\0\0\20\0\300\57RRRRRRRRRRRRRRRR"), 1, OTHER },
	{ "SSL 2, padded", BYTES("\0\44\10\1\3\3\0\3\0\0\0\20\0\300\57RRRRRRRRRRRRRRRR"), 1,
	  OTHER },
	{ "SSL 2, newer", BYTES("\200\34\1\177\3\0\3\0\0\0\20"), 1, OTHER },
	{ "SSL 2 itself", BYTES("\200\34\1\0\2\0\3\0\0\0\20\0\300\57"), 1, OTHER },
	{ "SSL 2 that does not add up", BYTES("\200\34\1\3\3\0\6\0\0\0\20\0"), 1, OTHER },
};

static void test_firsts(void)
{
	for (size_t i = 0; i < AB_COUNT(firsts); i++) {
		size_t decided = firsts[i].decided ? firsts[i].decided : firsts[i].len;

		ok(decides(ab_hello_detect, firsts[i].data, firsts[i].len, firsts[i].want, decided),
		   "%s after %zu bytes: %s", first_names[firsts[i].want], decided, firsts[i].name);
	}
}

/* A line that does not end is decided before the limit, and not passed. */
static void test_endless(void)
{
	enum { LONGEST = 8192 };
	static uint8_t data[AB_HELLO_MAX];
	static const struct {
		const char *begin;
		char rest;
	} lines[] = { { "", ' ' }, { "", '\n' }, { "", 'A' }, { "x /", 'a' } };
	struct ab_hello h;

	for (size_t i = 0; i < AB_COUNT(lines); i++) {
		memset(data, lines[i].rest, sizeof(data));
		memcpy(data, lines[i].begin, strlen(lines[i].begin));
		ok(ab_hello_detect(data, LONGEST - 1, &h) == AB_FIRST_MORE &&
			   ab_hello_detect(data, LONGEST, &h) == AB_FIRST_HTTP &&
			   ab_hello_detect(data, AB_HELLO_MAX, &h) == AB_FIRST_HTTP,
		   "HTTP: \"%s\" and then '%c' without end", lines[i].begin,
		   lines[i].rest == '\n' ? 'n' : lines[i].rest);
	}
}

int main(void)
{
	test_firsts();
	test_endless();
	return done();
}
