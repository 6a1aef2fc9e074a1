#include "proxy/wire/ssh_agent.h"

#include "base/data/mem.h"
#include "proxy_bytes.h"
#include "tap.h"

#define BIND "\0\0\0\x18session-bind@openssh.com"
#define LOGIN(method, more)                                                       \
	"\0\0\0\4abcd\x32\0\0\0\3git\0\0\0\xessh-connection" method "\1\0\0\0\xb" \
	"ssh-ed25519\0\0\0\3key" more
#define PLAIN "\0\0\0\x9publickey"
#define BOUND "\0\0\0\x23publickey-hostbound-v00@openssh.com"
#define DIGEST "0123456789abcdef0123456789abcdef"

static const struct {
	const char *name;
	const uint8_t *data;
	size_t len;
	ssize_t used;
	enum ab_agent_kind kind;
} requests[] = {
	{ "a list", BYTES("\0\0\0\1\xb"), 5, AB_AGENT_LIST },
	{ "a list, and the next request", BYTES("\0\0\0\1\xb\0\0"), 5, AB_AGENT_LIST },
	{ "a list with more in it", BYTES("\0\0\0\2\xbx"), 6, AB_AGENT_BAD },
	{ "a signature", BYTES("\0\0\0\xf\xd\0\0\0\1k\0\0\0\1d\0\0\0\4"), 19, AB_AGENT_SIGN },
	{ "a signature without flags", BYTES("\0\0\0\xb\xd\0\0\0\1k\0\0\0\1d"), 15, AB_AGENT_BAD },
	{ "a signature of less than it says", BYTES("\0\0\0\xf\xd\0\0\0\1k\0\0\0\2d\0\0\0\4"), 19,
	  AB_AGENT_BAD },
	{ "a length that wraps",
	  BYTES("\0\0\0\x9\xd\xff\xff\xff\xff"
		"abcd"),
	  13, AB_AGENT_BAD },
	{ "a binding", BYTES("\0\0\0\x2d\x1b" BIND "\0\0\0\1k\0\0\0\1s\0\0\0\1g\1"), 49,
	  AB_AGENT_BIND },
	{ "a binding with another flag",
	  BYTES("\0\0\0\x2d\x1b" BIND "\0\0\0\1k\0\0\0\1s\0\0\0\1g\2"), 49, AB_AGENT_BAD },
	{ "a binding that is cut", BYTES("\0\0\0\x27\x1b" BIND "\0\0\0\1k\0\0\0\1s"), 43,
	  AB_AGENT_BAD },
	{ "another extension", BYTES("\0\0\0\xa\x1b\0\0\0\5query"), 14, AB_AGENT_OTHER },
	{ "an extension without a name", BYTES("\0\0\0\3\x1b\0\0"), 7, AB_AGENT_BAD },
	{ "remove all", BYTES("\0\0\0\1\x13"), 5, AB_AGENT_OTHER },
	{ "nothing", BYTES("\0\0\0\0"), -1, 0 },
	{ "far too much", BYTES("\xff\xff\xff\xff"), -1, 0 },
	{ "too much", BYTES("\0\0\x80\0"), -1, 0 },
};

static void test_requests(void)
{
	for (size_t i = 0; i < AB_COUNT(requests); i++) {
		struct ab_agent_request r = { .kind = AB_AGENT_BAD };
		size_t len = requests[i].len, early = 0;
		ssize_t n = ab_agent_request_parse(guarded(requests[i].data, len), len, &r);

		ok(n == requests[i].used && (n < 0 || r.kind == requests[i].kind), "request: %s",
		   requests[i].name);
		for (size_t cut = 0; n > 0 && cut < (size_t)n; cut++)
			early += ab_agent_request_parse(guarded(requests[i].data, cut), cut, &r) !=
				 0;
		ok(early == 0, "cut anywhere it needs more");
	}
}

static void test_again(void)
{
	const uint8_t *data = requests[7].data;
	struct ab_agent_request r;
	ab_autobuf struct ab_buf b = { 0 };

	ok(ab_agent_request_parse(data, requests[7].len, &r) > 0 && r.forwards &&
		   ab_ssh_is(r.host_key, "k") && ab_ssh_is(r.session, "s") &&
		   ab_ssh_is(r.signature, "g"),
	   "a binding has its parts");
	ab_agent_put_request(&b, &r);
	ok(b.len == requests[7].len && memcmp(b.data, data, b.len) == 0, "and is the same again");
	ab_buf_fini(&b);
	b = (struct ab_buf){ 0 };
	ok(ab_agent_request_parse(requests[3].data, requests[3].len, &r) > 0 && r.flags == 4,
	   "flags");
	ab_agent_put_request(&b, &r);
	ok(b.len == requests[3].len && memcmp(b.data, requests[3].data, b.len) == 0,
	   "so is a request to sign");
}

static const struct {
	const char *name;
	const uint8_t *data;
	size_t len;
	enum ab_signed_kind kind;
} data[] = {
	{ "a login", BYTES(LOGIN(PLAIN, "")), AB_SIGNED_LOGIN },
	{ "a login with the server's key", BYTES(LOGIN(BOUND, "\0\0\0\4host")), AB_SIGNED_LOGIN },
	{ "a login that lacks it", BYTES(LOGIN(BOUND, "")), AB_SIGNED_UNKNOWN },
	{ "a login with more", BYTES(LOGIN(PLAIN, "x")), AB_SIGNED_UNKNOWN },
	{ "another method", BYTES(LOGIN("\0\0\0\x9hostbased", "")), AB_SIGNED_UNKNOWN },
	{ "another service",
	  BYTES("\0\0\0\4abcd\x32\0\0\0\3git\0\0\0\xcssh-userauth" PLAIN "\1\0\0\0\1x\0\0\0\3key"),
	  AB_SIGNED_UNKNOWN },
	{ "another message",
	  BYTES("\0\0\0\4abcd\x33\0\0\0\3git\0\0\0\xessh-connection" PLAIN
		"\1\0\0\0\1x\0\0\0\3key"),
	  AB_SIGNED_UNKNOWN },
	{ "no session",
	  BYTES("\0\0\0\0\x32\0\0\0\3git\0\0\0\xessh-connection" PLAIN "\1\0\0\0\1x\0\0\0\3key"),
	  AB_SIGNED_UNKNOWN },
	{ "a commit", BYTES("SSHSIG\0\0\0\3git\0\0\0\0\0\0\0\6sha256\0\0\0\x20" DIGEST),
	  AB_SIGNED_DOCUMENT },
	{ "a digest of another length",
	  BYTES("SSHSIG\0\0\0\3git\0\0\0\0\0\0\0\6sha512\0\0\0\x20" DIGEST), AB_SIGNED_UNKNOWN },
	{ "something reserved", BYTES("SSHSIG\0\0\0\3git\0\0\0\1x\0\0\0\6sha256\0\0\0\x20" DIGEST),
	  AB_SIGNED_UNKNOWN },
	{ "no namespace", BYTES("SSHSIG\0\0\0\0\0\0\0\0\0\0\0\6sha256\0\0\0\x20" DIGEST),
	  AB_SIGNED_UNKNOWN },
	{ "text", BYTES("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904"), AB_SIGNED_UNKNOWN },
	{ "nothing", BYTES(""), AB_SIGNED_UNKNOWN },
};

static void test_data(void)
{
	for (size_t i = 0; i < AB_COUNT(data); i++) {
		struct ab_signed s;
		size_t other = 0;

		ab_signed_parse((struct ab_ssh_text){ guarded(data[i].data, data[i].len),
						      data[i].len },
				&s);
		ok(s.kind == data[i].kind, "data: %s", data[i].name);
		for (size_t cut = 0; cut < data[i].len; cut++) {
			ab_signed_parse((struct ab_ssh_text){ guarded(data[i].data, cut), cut },
					&s);
			other += s.kind != AB_SIGNED_UNKNOWN;
		}
		/* One method is the beginning of nothing else, and so is the other. */
		ok(other == (strcmp(data[i].name, "a login with more") == 0), "not if it is cut");
	}
}

static void test_replies(void)
{
	static const uint8_t keys[] = "\0\0\0\x17\xc\0\0\0\2\0\0\0\1k\0\0\0\1c\0\0\0\0\0\0\0\0";
	static const uint8_t less[] = "\0\0\0\xf\xc\0\0\0\2\0\0\0\1k\0\0\0\1c";
	struct ab_agent_reply r;
	struct ab_agent_keys list;
	struct ab_ssh_text key;

	ok(ab_agent_reply_parse(keys, sizeof(keys) - 1, &r) == 27 && r.kind == AB_AGENT_KEYS,
	   "keys");
	ab_agent_keys_begin(r.body, &list);
	ok(ab_agent_keys_next(&list, &key) && ab_ssh_is(key, "k"), "the first");
	ok(ab_agent_keys_next(&list, &key) && key.len == 0, "an empty one");
	ok(!ab_agent_keys_next(&list, &key), "no more");
	ok(ab_agent_reply_parse(less, sizeof(less) - 1, &r) == 19, "a list that is too short");
	ab_agent_keys_begin(r.body, &list);
	ok(ab_agent_keys_next(&list, &key) && !ab_agent_keys_next(&list, &key), "ends early");
	ok(ab_agent_reply_parse(BYTES("\0\0\0\6\xe\0\0\0\1s"), &r) == 10 &&
		   r.kind == AB_AGENT_SIGNATURE && ab_ssh_is(r.body, "s"),
	   "a signature");
	ok(ab_agent_reply_parse(BYTES("\0\0\0\7\xe\0\0\0\1sx"), &r) == 11 &&
		   r.kind == AB_AGENT_REFUSED,
	   "a malformed one");
	ok(ab_agent_reply_parse(BYTES("\0\0\0\1\5"), &r) == 5 && r.kind == AB_AGENT_REFUSED, "no");
	ok(ab_agent_reply_parse(BYTES("\0\x10\0\0"), &r) < 0, "too much");
}

static void test_plain(void)
{
	static const struct ab_ssh_text plain = { BYTES("\0\0\0\xbssh-ed25519\0\0\0\1k") },
					cert = { BYTES("\0\0\0\x20ssh-ed25519-cert-v01@openssh.com"
						       "\0\0\0\1k") },
					none = { BYTES("\0\0\0\0") };

	ok(ab_ssh_key_is_plain(plain), "a key");
	ok(!ab_ssh_key_is_plain(cert), "a certificate");
	ok(!ab_ssh_key_is_plain(none), "neither");
}

int main(void)
{
	test_requests();
	test_again();
	test_data();
	test_replies();
	test_plain();
	return done();
}
