/*
 * From placeholders to values: where a secret may travel, its value is put
 * in; where not, the request is stopped, and no value was written anywhere.
 */
#include "proxy/secrets/swap.h"

#include "base/text/base64.h"
#include "guard.h"
#include "tap.h"
#include "vault_help.h"

/* From a template, see help_fill(), to which HTTP/1.1 and Host are added. */
struct request {
	char *head;
	struct ab_http_request rq;
};

static void read_request(const struct ab_vault *vault, const char *host, const char *text,
			 struct request *ret)
{
	struct ab_http_scan scan = { 0 };
	const char *line = strchr(text, '\n');
	char *whole = ab_printf("%.*s HTTP/1.1\r\nHost: %s\r\n%s\r\n", (int)(line - text), text,
				host, line + 1);

	ret->head = help_fill(vault, whole);
	free(whole);
	if (ab_http_read_request(&scan, ret->head, strlen(ret->head), &ret->rq) <= 0) {
		printf("# not read: %s: %s\n", scan.why, ret->head);
		abort();
	}
}

/* What goes out: request line and fields but for Host, '\n' behind each. */
static char *written(const struct ab_http_request *rq)
{
	char *s = ab_printf("%.*s %.*s\n", (int)rq->method.len, rq->method.s, (int)rq->path.len,
			    rq->path.s);

	for (size_t i = 0; i < rq->head.nfields; i++) {
		const struct ab_http_field *f = &rq->head.fields[i];
		char *more;

		if (f->id == AB_HTTP_HOST)
			continue;
		more = ab_printf("%s%.*s: %.*s\n", s, (int)f->name.len, f->name.s,
				 (int)f->value.len, f->value.s);
		free(s);
		s = more;
	}
	return s;
}

#define ONE "api.one.test"
#define QUIET "accept-encoding: identity\n"

static const struct {
	const char *name, *host, *in;
	enum ab_swap_result result;
	int secret;
	const char *out; /* with DONE or NONE */
} cases[] = {
	{ "nothing in it", ONE, "GET /a?b=c\nAccept: */*\r\n", AB_SWAP_NONE, -1,
	  "GET /a?b=c\nAccept: */*\n" QUIET },
	{ "a host without secrets", "no.test",
	  "GET /a\nAccept-Encoding: gzip\r\nRange: bytes=1-\r\n", AB_SWAP_NONE, -1,
	  "GET /a\nAccept-Encoding: gzip\nRange: bytes=1-\n" },

	/* fields */
	{ "bearer", ONE, "GET /a\nAuthorization: Bearer $0\r\n", AB_SWAP_DONE, 0,
	  "GET /a\nAuthorization: Bearer @0\n" QUIET },
	{ "its field in other letters", ONE, "GET /a\nAUTHORIZATION: bearer $0\r\n", AB_SWAP_DONE,
	  0, "GET /a\nAUTHORIZATION: bearer @0\n" QUIET },
	{ "a field of its own", ONE, "GET /a\nX-Api-Key: $1\r\n", AB_SWAP_DONE, 1,
	  "GET /a\nX-Api-Key: @1\n" QUIET },
	{ "two of them", ONE, "GET /a\nX-Api-Key: $1\r\nAuthorization: Bearer $0\r\n", AB_SWAP_DONE,
	  0, "GET /a\nX-Api-Key: @1\nAuthorization: Bearer @0\n" QUIET },
	{ "in a field of another carrier", ONE, "GET /a\nX-Api-Key: $0\r\n", AB_SWAP_MISPLACED, 0,
	  NULL },
	{ "in any other field", ONE, "GET /a\nX-Other: $1\r\n", AB_SWAP_MISPLACED, 1, NULL },
	{ "no carriers: any field", "any.test", "GET /a\nX-Other: a $2 $2b\r\n", AB_SWAP_DONE, 2,
	  "GET /a\nX-Other: a @2 @2b\n" QUIET },
	{ "cookies", "any.test", "GET /a\nCookie: t=$2; u=v\r\n", AB_SWAP_DONE, 2,
	  "GET /a\nCookie: t=@2; u=v\n" QUIET },
	{ "not the referer", "any.test", "GET /a\nReferer: http://x/$2\r\n", AB_SWAP_MISPLACED, 2,
	  NULL },
	{ "not the origin", "any.test", "GET /a\nOrigin: $2\r\n", AB_SWAP_MISPLACED, 2, NULL },
	{ "not Connection", "any.test", "GET /a\nConnection: $2\r\n", AB_SWAP_MISPLACED, 2, NULL },
	{ "not Upgrade", "any.test", "GET /a\nUpgrade: $2\r\n", AB_SWAP_MISPLACED, 2, NULL },
	{ "not what Connection names", "any.test", "GET /a\nConnection: x-a\r\nX-A: $2\r\n",
	  AB_SWAP_MISPLACED, 2, NULL },
	{ "not a field's name", "any.test", "GET /a\n$2: x\r\n", AB_SWAP_MISPLACED, 2, NULL },
	{ "not the method", "any.test", "$2 /a\nA: b\r\n", AB_SWAP_MISPLACED, 2, NULL },
	{ "percent-encoded in a field", "any.test", "GET /a\nX: ${esc2}\r\n", AB_SWAP_MISPLACED, 2,
	  NULL },

	/* query and path */
	{ "the query's parameter", ONE, "GET /a?x=1&key=$1&y=2\nA: b\r\n", AB_SWAP_DONE, 1,
	  "GET /a?x=1&key=0123%2Babc%2FDEF%3Dghi%2525%22q%5Cz&y=2\nA: b\n" QUIET },
	{ "with escapes", ONE, "GET /a?k%65y=${esc1}\nA: b\r\n", AB_SWAP_DONE, 1,
	  "GET /a?k%65y=0123%2Babc%2FDEF%3Dghi%2525%22q%5Cz\nA: b\n" QUIET },
	{ "another parameter", ONE, "GET /a?keys=$1\nA: b\r\n", AB_SWAP_MISPLACED, 1, NULL },
	{ "the parameter's name", ONE, "GET /a?$1=key\nA: b\r\n", AB_SWAP_MISPLACED, 1, NULL },
	{ "a query of a secret without one", ONE, "GET /a?key=$0\nA: b\r\n", AB_SWAP_MISPLACED, 0,
	  NULL },
	{ "no carriers: any parameter", "any.test", "GET /a?b=$2&c=d\nA: b\r\n", AB_SWAP_DONE, 2,
	  "GET /a?b=@2&c=d\nA: b\n" QUIET },
	{ "the path by choice", "any.test", "GET /bot$2/send?b=$2\nA: b\r\n", AB_SWAP_DONE, 2,
	  "GET /bot@2/send?b=@2\nA: b\n" QUIET },
	{ "the path else", ONE, "GET /$1/x\nA: b\r\n", AB_SWAP_MISPLACED, 1, NULL },

	/* what is another host's */
	{ "another host's in a field", ONE, "GET /a\nAuthorization: Bearer $3\r\n",
	  AB_SWAP_TRIPWIRE, 3, NULL },
	{ "another host's beside its own", ONE, "GET /a\nAuthorization: Bearer $0\r\nX: $2\r\n",
	  AB_SWAP_TRIPWIRE, 2, NULL },
	{ "another host's before a misplaced one", ONE, "GET /a\nX-Other: $0\r\nX-Api-Key: $3\r\n",
	  AB_SWAP_TRIPWIRE, 3, NULL },
	{ "another host's in the query", ONE, "GET /a?key=$3\nA: b\r\n", AB_SWAP_TRIPWIRE, 3,
	  NULL },
	{ "another host's with escapes", ONE, "GET /a?b=${esc3}\nA: b\r\n", AB_SWAP_TRIPWIRE, 3,
	  NULL },
	{ "another host's in the path", ONE, "GET /$3\nA: b\r\n", AB_SWAP_TRIPWIRE, 3, NULL },
	{ "another host's as a name", ONE, "GET /a\n$3: b\r\n", AB_SWAP_TRIPWIRE, 3, NULL },
	{ "another host's at one without any", "no.test", "GET /a\nX: $0\r\n", AB_SWAP_TRIPWIRE, 0,
	  NULL },
	{ "its own for the proxy", ONE, "GET /a\nProxy-Authorization: Bearer $0\r\n",
	  AB_SWAP_TRIPWIRE, 0, NULL },

	/* what an answer would escape by */
	{ "ranges, codings, trailers", ONE,
	  "GET /a\nAuthorization: Bearer $0\r\nRange: bytes=0-1\r\nTE: trailers\r\n"
	  "If-Range: x\r\nAccept-Encoding: gzip\r\nTrailer: x\r\n"
	  "accept-encoding: br\r\nSec-WebSocket-Extensions: permessage-deflate\r\n"
	  "grpc-accept-encoding: gzip\r\n",
	  AB_SWAP_DONE, 0, "GET /a\nAuthorization: Bearer @0\nTE: trailers\nTrailer: x\n" QUIET },
	{ "ranges without a value", ONE, "GET /a\nRange: bytes=0-1\r\nAccept-Encoding: gzip\r\n",
	  AB_SWAP_NONE, -1, "GET /a\n" QUIET },
};

/* ${escN}: the placeholder with every second character escaped. */
static char *expand(const struct ab_vault *vault, const char *s)
{
	const char *hole = strstr(s, "${esc"), *p;
	char *text, *more;

	if (!hole)
		return ab_strdup(s);
	p = ab_vault_at(vault, (size_t)(hole[5] - '0'))->placeholder;
	text = ab_strndup(s, (size_t)(hole - s));
	for (size_t i = 0; p[i]; i++) {
		more = ab_printf(i % 2 ? "%s%c" : "%s%%%02x", text, p[i]);
		free(text);
		text = more;
	}
	more = ab_printf("%s%s", text, hole + 7);
	free(text);
	return more;
}

static void check_case(const struct ab_vault *vault, const char *name, const char *host,
		       const char *in, enum ab_swap_result result, int secret, const char *out)
{
	struct ab_host h = help_host(host);
	char *text = expand(vault, in), *got, *want;
	struct request r;
	struct ab_swapped s;

	read_request(vault, host, text, &r);
	ab_swap_request(vault, &h, 443, true, &r.rq, &s);
	ok(s.result == result && s.secret == secret, "%s: %d of %d", name, s.result, s.secret);
	ok(s.injected == (result == AB_SWAP_DONE), "it is said whether it carries");
	if (out && s.result == result) {
		got = written(&s.request);
		want = help_fill(vault, out);
		is_str(got, want, name);
		free(got);
		free(want);
	}
	if (s.result == AB_SWAP_DONE || s.result == AB_SWAP_NONE)
		ab_swapped_fini(&s);
	ok(!s.texts, "nothing is left to free");
	free(text);
	free(r.head);
}

static void test_cases(void)
{
	struct ab_vault *vault = help_vault();

	for (size_t i = 0; i < AB_COUNT(cases); i++)
		check_case(vault, cases[i].name, cases[i].host, cases[i].in, cases[i].result,
			   cases[i].secret, cases[i].out);
	ab_vault_free(vault);
}

/* The same without TLS: any placeholder is a tripwire, none is none. */
static void test_plain(void)
{
	struct ab_vault *vault = help_vault();
	struct ab_secret *require = &help_secrets[HELP_BEARER];

	require->require = require->inject = true;
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_host h = help_host(cases[i].host);
		char *text = expand(vault, cases[i].in), *got, *was;
		bool any = strchr(text, '$') || strcmp(text, cases[i].in) != 0;
		struct request r;
		struct ab_swapped s;

		read_request(vault, cases[i].host, text, &r);
		ab_swap_request(vault, &h, 443, false, &r.rq, &s);
		was = written(&r.rq);
		got = written(&s.request);
		ok(s.result == (any ? AB_SWAP_TRIPWIRE : AB_SWAP_NONE) &&
			   (any || strcmp(was, got) == 0) && !s.injected,
		   "without TLS: %s", cases[i].name);
		free(was);
		free(got);
		free(text);
		free(r.head);
		ab_swapped_fini(&s);
	}
	require->require = require->inject = false;
	ab_vault_free(vault);
}

static char *encode(const struct ab_vault *vault, const char *pattern)
{
	char *text = help_fill(vault, pattern);
	char *s = ab_alloc(AB_BASE64_ROOM(strlen(text)) + 1);

	ab_base64_encode(text, strlen(text), AB_BASE64_STANDARD, s);
	free(text);
	return s;
}

static const struct {
	const char *name, *host, *field, *in;
	enum ab_swap_result result;
	int secret;
	const char *out;
} logins[] = {
	{ "the password", ONE, "Authorization: Basic ", "user:$0", AB_SWAP_DONE, 0, "user:@0" },
	{ "the user", ONE, "Authorization: basic  ", "$0:", AB_SWAP_DONE, 0, "@0:" },
	{ "both", ONE, "Authorization: BASIC ", "$0:x$0", AB_SWAP_DONE, 0, "@0:x@0" },
	{ "longer than before", "any.test", "Authorization: Basic ", "ab:$2", AB_SWAP_DONE, 2,
	  "ab:@2" },
	{ "not by this carrier", ONE, "Authorization: Basic ", "a:$1", AB_SWAP_MISPLACED, 1, NULL },
	{ "not in another scheme", ONE, "Authorization: Other ", "a:$0", AB_SWAP_MISPLACED, 0,
	  NULL },
	{ "not in another field", "any.test", "X-Auth: Basic ", "a:$2", AB_SWAP_MISPLACED, 2,
	  NULL },
	{ "another host's", ONE, "Authorization: Basic ", "a:$3", AB_SWAP_TRIPWIRE, 3, NULL },
	{ "another host's beside its own", ONE, "Authorization: Basic ", "$0:$3", AB_SWAP_TRIPWIRE,
	  3, NULL },
	{ "for the proxy", ONE, "Proxy-Authorization: Basic ", "a:$0", AB_SWAP_TRIPWIRE, 0, NULL },
};

static void test_basic(void)
{
	struct ab_vault *vault = help_vault();

	for (size_t i = 0; i < AB_COUNT(logins); i++) {
		char *in = encode(vault, logins[i].in);
		char *text = ab_printf("GET /a\n%s%s\r\n", logins[i].field, in);
		char *want = NULL, *out = NULL;

		if (logins[i].out) {
			want = encode(vault, logins[i].out);
			out = ab_printf("GET /a\nAuthorization: Basic %s\n" QUIET, want);
		}
		check_case(vault, logins[i].name, logins[i].host, text, logins[i].result,
			   logins[i].secret, out);
		free(in);
		free(text);
		free(want);
		free(out);
	}
	ab_vault_free(vault);
}

/* A placeholder that was replaced: a tripwire at its own host, in every form, and never in its place. */
static void test_retired(void)
{
	enum { OLD = HELP_BEARER + AB_SECRETS_MAX };
	static const struct {
		const char *name, *in;
		enum ab_swap_result result;
		int secret;
	} texts[] = {
		{ "the new one", "GET /a\nAuthorization: Bearer $0\r\n", AB_SWAP_DONE, 0 },
		{ "in its field", "GET /a\nAuthorization: Bearer <\r\n", AB_SWAP_TRIPWIRE, OLD },
		{ "beside the new one", "GET /a\nAuthorization: Bearer $0 <\r\n", AB_SWAP_TRIPWIRE,
		  OLD },
		{ "in another field", "GET /a\nAuthorization: Bearer $0\r\nA: <\r\n",
		  AB_SWAP_TRIPWIRE, OLD },
		{ "in the query", "GET /a?b=<\nA: b\r\n", AB_SWAP_TRIPWIRE, OLD },
		{ "as a name", "GET /a\n<: b\r\n", AB_SWAP_TRIPWIRE, OLD },
		{ "for the proxy", "GET /a\nProxy-Authorization: <\r\n", AB_SWAP_TRIPWIRE, OLD },
	};
	struct ab_vault *before = help_vault(), *vault = help_vault_rotated(2);
	const char *old = ab_vault_at(before, HELP_BEARER)->placeholder;
	char *login = encode(before, "a:$0"), *text;

	for (size_t i = 0; i < AB_COUNT(texts); i++) {
		const char *hole = strchr(texts[i].in, '<');

		text = hole ? ab_printf("%.*s%s%s", (int)(hole - texts[i].in), texts[i].in, old,
					hole + 1)
			    : ab_strdup(texts[i].in);
		check_case(vault, texts[i].name, ONE, text, texts[i].result, texts[i].secret, NULL);
		free(text);
	}
	text = ab_printf("GET /a\nAuthorization: Basic %s\r\n", login);
	check_case(vault, "as a login", ONE, text, AB_SWAP_TRIPWIRE, OLD, NULL);
	check_case(before, "where it is the one in force", ONE, text, AB_SWAP_DONE, 0, NULL);
	free(text);
	free(login);
	ab_vault_free(before);
	ab_vault_free(vault);
}

/* What is put in although the client did not ask. */
static void test_inject(void)
{
	static const struct ab_carrier basic = { .kind = AB_CARRY_BASIC },
				       query = { AB_CARRY_QUERY, "k y" };
	struct ab_vault *vault = help_vault();
	struct ab_secret *token = &help_secrets[HELP_BEARER], *any = &help_secrets[HELP_ANY],
			 was = *any;
	char *login = encode(vault, "x-access-token:@2"), *text;

	token->inject = true;
	check_case(vault, "a field", ONE, "GET /a\nA: b\r\n", AB_SWAP_DONE, 0,
		   "GET /a\nA: b\nauthorization: Bearer @0\n" QUIET);
	check_case(vault, "in place of the client's", ONE,
		   "GET /a\nAuthorization: Bearer x\r\nauthorization: y\r\n"
		   "A: b\r\nConnection: authorization, accept-encoding\r\n",
		   AB_SWAP_DONE, 0,
		   "GET /a\nA: b\nConnection: authorization, accept-encoding\n"
		   "authorization: Bearer @0\n" QUIET);
	check_case(vault, "where the placeholder is, it is swapped", ONE,
		   "GET /a\nAuthorization: token $0\r\n", AB_SWAP_DONE, 0,
		   "GET /a\nAuthorization: token @0\n" QUIET);
	token->format = "Custom <{}>";
	check_case(vault, "in its format", ONE, "GET /a\nA: b\r\n", AB_SWAP_DONE, 0,
		   "GET /a\nA: b\nauthorization: Custom <@0>\n" QUIET);
	check_case(vault, "not elsewhere", "any.test", "GET /a\nA: b\r\n", AB_SWAP_NONE, -1,
		   "GET /a\nA: b\n" QUIET);
	token->format = NULL;
	token->inject = false;

	any->inject = true;
	check_case(vault, "no carriers: bearer", "any.test", "GET /a\nA: b\r\n", AB_SWAP_DONE, 2,
		   "GET /a\nA: b\nauthorization: Bearer @2\n" QUIET);
	any->ncarriers = 1;
	any->carriers = &basic;
	text = ab_printf("GET /a\nA: b\nauthorization: Basic %s\n" QUIET, login);
	check_case(vault, "Basic", "any.test", "GET /a\nA: b\r\n", AB_SWAP_DONE, 2, text);
	any->format = "Basic x-access-token:{}";
	check_case(vault, "Basic, said in full", "any.test", "GET /a\nA: b\r\n", AB_SWAP_DONE, 2,
		   text);
	any->format = NULL;
	any->carriers = &query;
	check_case(vault, "a parameter", "any.test", "GET /a\nA: b\r\n", AB_SWAP_DONE, 2,
		   "GET /a?k%20y=@2\nA: b\n" QUIET);
	check_case(vault, "behind others", "any.test", "GET /a?b=c&&d\nA: b\r\n", AB_SWAP_DONE, 2,
		   "GET /a?b=c&d&k%20y=@2\nA: b\n" QUIET);
	check_case(vault, "in place of one", "any.test", "GET /a?k%20y=1&b=c&%6b%20y\nA: b\r\n",
		   AB_SWAP_DONE, 2, "GET /a?b=c&k%20y=@2\nA: b\n" QUIET);
	check_case(vault, "not where there is no query", "any.test", "OPTIONS *\nA: b\r\n",
		   AB_SWAP_NONE, -1, "OPTIONS *\nA: b\n" QUIET);
	*any = was;
	free(text);
	free(login);
	ab_vault_free(vault);
}

static void test_require(void)
{
	struct ab_vault *vault = help_vault();
	struct ab_secret *token = &help_secrets[HELP_BEARER], *any = &help_secrets[HELP_ANY];
	struct ab_host host = help_host("any.test");
	struct ab_error err;
	struct ab_swapped s;
	struct request r;

	token->require = true;
	check_case(vault, "it must be there", ONE, "GET /a\nA: b\r\n", AB_SWAP_MISSING, 0, NULL);
	check_case(vault, "another does not do", ONE, "GET /a\nX-Api-Key: $1\r\n", AB_SWAP_MISSING,
		   0, NULL);
	check_case(vault, "it is there", ONE, "GET /a\nAuthorization: Bearer $0\r\n", AB_SWAP_DONE,
		   0, "GET /a\nAuthorization: Bearer @0\n" QUIET);
	check_case(vault, "not elsewhere", "any.test", "GET /a\nA: b\r\n", AB_SWAP_NONE, -1, NULL);
	token->inject = true;
	check_case(vault, "it is put in", ONE, "GET /a\nA: b\r\n", AB_SWAP_DONE, 0, NULL);
	if (ab_vault_set(vault, HELP_BEARER, NULL, 0, &err) < 0)
		abort();
	check_case(vault, "there is none to put in", ONE, "GET /a\nA: b\r\n", AB_SWAP_ABSENT, 0,
		   NULL);
	token->require = token->inject = false;
	check_case(vault, "nor to swap", ONE, "GET /a\nAuthorization: Bearer $0\r\n",
		   AB_SWAP_ABSENT, 0, NULL);

	any->require = true;
	check_case(vault, "no body, so it is missing", "any.test", "GET /a\nA: b\r\n",
		   AB_SWAP_MISSING, 2, NULL);
	read_request(vault, "any.test", "POST /a\nContent-Length: 5\r\n", &r);
	ab_swap_request(vault, &host, 443, true, &r.rq, &s);
	ok(s.result == AB_SWAP_NONE && s.injected,
	   "it may be in a body, and then the answer is searched");
	ab_swapped_fini(&s);
	free(r.head);
	any->require = false;
	ab_vault_free(vault);
}

/* At the limits of a head. */
static void test_long(void)
{
	struct ab_vault *vault = help_vault();
	struct ab_host host = help_host("any.test");
	struct ab_error err;
	struct ab_buf text = { 0 };
	char *big = ab_alloc(AB_SECRET_MAX);
	char *s;

	memset(big, 'k', AB_SECRET_MAX);
	if (ab_vault_set(vault, HELP_ANY, big, AB_SECRET_MAX, &err) < 0)
		abort();
	check_case(vault, "three times 16 KiB", "any.test", "GET /a\nA: $2$2$2\r\n", AB_SWAP_DONE,
		   2, "GET /a\nA: @2@2@2\n" QUIET);
	check_case(vault, "four times", "any.test", "GET /a\nA: $2$2$2$2\r\n", AB_SWAP_TOO_LONG, 2,
		   NULL);
	check_case(vault, "a target of more than 16 KiB", "any.test", "GET /a?$2\nA: b\r\n",
		   AB_SWAP_TOO_LONG, 2, NULL);
	for (int fields = AB_HTTP_FIELDS - 2; fields < AB_HTTP_FIELDS; fields++) {
		struct ab_swapped sw;
		struct request r;

		ab_buf_add(&text, "GET /$2\n", 8);
		for (int i = 0; i < fields; i++)
			ab_buf_add(&text, "A: b\r\n", 6);
		ab_buf_add(&text, "", 1);
		s = ab_strdup(text.data);
		ab_vault_set(vault, HELP_ANY, "short-value", 11, &err);
		read_request(vault, "any.test", s, &r);
		ab_swap_request(vault, &host, 443, true, &r.rq, &sw);
		ok(sw.result == (fields < AB_HTTP_FIELDS - 1 ? AB_SWAP_DONE : AB_SWAP_TOO_LONG),
		   "%d fields and Host", fields);
		ab_swapped_fini(&sw);
		ab_buf_fini(&text);
		free(s);
		free(r.head);
	}
	free(big);
	ab_vault_free(vault);
}

/* In pieces of `step`; NULL: a tripwire. */
static char *swap_body(const struct ab_vault *vault, const char *name, const char *in, size_t step)
{
	struct ab_host host = help_host(name);
	struct ab_swap_body *body = ab_swap_body_new(vault, &host, 443);
	struct ab_buf out = { 0 };
	size_t len = strlen(in), at = 0;
	char *s = NULL;

	do {
		size_t n = len - at < step ? len - at : step;

		if (ab_swap_body_take(body, guarded(in + at, n), n, at + n == len, &out) ==
		    AB_SWAP_TRIPWIRE)
			break;
		at += n;
	} while (at < len);
	if (at == len)
		s = ab_strndup(out.data, out.len);
	ok(out.wipe, "what comes out is wiped");
	ab_buf_fini(&out);
	ab_swap_body_free(body);
	return s;
}

static const struct {
	const char *name, *host, *in, *out;
} bodies[] = {
	{ "a value", "any.test", "{\"key\":\"$2\",\"n\":1}", "{\"key\":\"@2\",\"n\":1}" },
	{ "several", "any.test", "$2$2 $2", "@2@2 @2" },
	{ "none", "any.test", "nothing to see", "nothing to see" },
	{ "one that stays in headers", ONE, "a=$0", "a=$0" },
	{ "another host's", "any.test", "a=$2&b=$0", NULL },
};

static void test_bodies(void)
{
	struct ab_vault *vault = help_vault();
	struct ab_host any = help_host("any.test"), one = help_host(ONE);
	struct ab_swap_body *body;
	struct ab_error err;
	struct ab_vault *later = help_vault_rotated(1);
	char *login = encode(vault, "user:$0");

	ok(!swap_body(vault, "any.test", login, 7), "another host's in base64 is one too");
	ok(!swap_body(later, "any.test", ab_vault_at(vault, HELP_ANY)->placeholder, 7),
	   "and one that was replaced");
	free(login);
	ab_vault_free(later);
	for (size_t i = 0; i < AB_COUNT(bodies); i++) {
		char *in = help_fill(vault, bodies[i].in);
		char *want = bodies[i].out ? help_fill(vault, bodies[i].out) : NULL;

		for (size_t step = 1; step <= strlen(in); step += 1 + step / 3) {
			char *got = swap_body(vault, bodies[i].host, in, step);

			is_str(got, want, bodies[i].name);
			free(got);
		}
		free(in);
		free(want);
	}
	ok(ab_swap_wants_body(vault, &any, 443) && !ab_swap_wants_body(vault, &any, 80) &&
		   !ab_swap_wants_body(vault, &one, 443),
	   "bodies are wanted where a secret is for them");
	body = ab_swap_body_new(vault, &any, 443);
	ok(!ab_swap_body_keeps_length(body), "a short value has another length");
	ab_swap_body_free(body);
	ab_vault_set(vault, HELP_ANY, "22-bytes-of-some-value", 22, &err);
	body = ab_swap_body_new(vault, &any, 443);
	ok(ab_swap_body_keeps_length(body), "one of 22 bytes the same");
	ab_swap_body_free(body);
	ab_vault_free(vault);
}

int main(void)
{
	test_cases();
	test_plain();
	test_basic();
	test_retired();
	test_inject();
	test_require();
	test_long();
	test_bodies();
	return done();
}
