/*
 * Requests that placeholders signed: which are signed anew, with what, and which
 * are refused and why. And bodies in signed chunks.
 *
 * The chunks are the examples of the Amazon S3 API Reference, "Signature
 * Calculations for the Authorization Header: Transferring Payload in Multiple
 * Chunks" and "... with Trailing Headers".
 */
#include "proxy/sign/sign.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "proxy/secrets/vault.h"
#include "proxy/sign/sign_chunks.h"
#include "tap.h"

#define ID "ASIAREALREALREALREAL"
#define KEY "RealSecretKey/0123456789+abcdefghijklmno"
#define TOKEN "RealToken//0123456789+abcdefghijklmnop=="
#define DAY "20150830"
#define AT DAY "T123600Z"

enum { NOW = 1440938160 }; /* AT */

static char host_text[] = "*.eu-west-1.amazonaws.com:443";
static char *hosts[] = { host_text };
static char service_text[] = "s3", other_service[] = "sts", region_text[] = "eu-west-1";
static char *services[] = { service_text, other_service };
static char *regions[] = { region_text };

#define PART(n, p)                                                                         \
	{                                                                                  \
		.name = (n), .sign = true, .part = (p), .hosts = { .v = hosts, .len = 1 }, \
		.services = { .v = services, .len = 2 }, .regions = {                      \
			.v = regions,                                                      \
			.len = 1                                                           \
		}                                                                          \
	}

static struct ab_secret secrets[AB_PARTS] = {
	PART("AWS", AB_PART_ID),
	PART("AWS_SECRET_ACCESS_KEY", AB_PART_KEY),
	PART("AWS_SESSION_TOKEN", AB_PART_TOKEN),
};

static struct ab_vault *new_vault(const char *value)
{
	static const uint8_t seed[AB_VAULT_SEED] ab_unterminated =
		"thirty-two bytes, all made up...";
	static const struct ab_secrets all = { .v = secrets, .len = AB_PARTS };
	struct ab_vault *vault;
	struct ab_error err;

	if (ab_vault_new(&all, seed, &vault, &err) < 0 ||
	    ab_vault_set(vault, 0, value, strlen(value), &err) < 0) {
		printf("# %s\n", err.text);
		abort();
	}
	return vault;
}

static void read_head(const char *text, struct ab_http_request *ret)
{
	struct ab_http_scan scan = { 0 };

	if (ab_http_read_request(&scan, text, strlen(text), ret) <= 0) {
		printf("# not read: %s\n", scan.why);
		abort();
	}
}

/* How a client in the box would sign, or the server verify. */
struct signer {
	const char *id, *key, *service, *region, *at;
};

static void sign_as(const struct signer *by, const struct ab_http_request *rq, const char *host,
		    const char *names, const char *payload, char ret[65])
{
	struct ab_sigv4 sig = { .day = DAY };
	struct ab_sigv4_input in = {
		.method = rq->method,
		.path = rq->path,
		.head = &rq->head,
		.host = { host, strlen(host) },
		.signed_names = names,
		.payload = payload,
		.s3 = strcmp(by->service, "s3") == 0,
	};
	struct ab_buf canonical = { 0 }, text = { 0 };
	uint8_t key[AB_SHA256_SIZE];

	memcpy(sig.at, by->at, sizeof(sig.at));
	snprintf(sig.region, sizeof(sig.region), "%s", by->region);
	snprintf(sig.service, sizeof(sig.service), "%s", by->service);
	if (!ab_sigv4_canonical(&in, &canonical))
		abort();
	ab_sigv4_string(&sig, &canonical, &text);
	ab_sigv4_key(by->key, strlen(by->key), &sig, key);
	ab_sigv4_sign(key, &text, ret);
	ab_buf_fini(&canonical);
	ab_buf_fini(&text);
}

#define S3 "s3.eu-west-1.amazonaws.com"
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* A signed head, as a client writes it. `token`: with the placeholder of the token. */
static char *write_head(const struct ab_vault *vault, const struct signer *by, bool token,
			const char *payload, const char *more)
{
	const char *names = token ? "host;x-amz-content-sha256;x-amz-date;x-amz-security-token"
				  : "host;x-amz-content-sha256;x-amz-date";
	const struct ab_vault_entry *t = ab_vault_at(vault, AB_PART_TOKEN);
	ab_autofree char *fields =
		ab_printf("PUT /bucket/a%%20b?x-id=Put HTTP/1.1\r\nHost: " S3
			  "\r\nX-Amz-Date: %s\r\nX-Amz-Content-SHA256: %s\r\n"
			  "Content-Length: 10\r\n%s%s%s%s",
			  by->at, payload, more, token ? "X-Amz-Security-Token: " : "",
			  token ? t->placeholder : "", token ? "\r\n" : "");
	ab_autofree char *unsigned_head = ab_printf("%s\r\n", fields);
	struct ab_http_request rq;
	char signature[65];

	read_head(unsigned_head, &rq);
	sign_as(by, &rq, S3, names, payload, signature);
	return ab_printf("%sAuthorization: AWS4-HMAC-SHA256 Credential=%s/" DAY
			 "/%s/%s/aws4_request, SignedHeaders=%s, Signature=%s\r\n\r\n",
			 fields, by->id, by->region, by->service, names, signature);
}

static const char *field_of(const struct ab_http_request *rq, const char *name, char ret[1024])
{
	for (size_t i = 0; i < rq->head.nfields; i++)
		if (ab_http_is(rq->head.fields[i].name, name)) {
			snprintf(ret, 1024, "%.*s", (int)rq->head.fields[i].value.len,
				 rq->head.fields[i].value.s);
			return ret;
		}
	return "";
}

static uint32_t presigned = AB_SIGN_PRESIGNED;

static void verify(const struct ab_vault *vault, const char *head, int64_t now, const char *at,
		   struct ab_http_request *ret_asked, struct ab_sign *ret)
{
	struct ab_http_request rq;
	struct ab_host host;
	struct ab_sign_setup setup = {
		.vault = vault, .host = &host, .port = 443, .now = now, .presigned = presigned
	};

	ab_host_parse(at, strlen(at), &host, NULL);
	read_head(head, &rq);
	*ret_asked = rq;
	ab_sign_verify(&setup, &rq, ret_asked, ret);
}

/* Verified, and signed anew: the server accepts it. */
static void test_renewal(const char *value, bool client_token, bool token)
{
	struct ab_vault *vault = new_vault(value);
	const char *id = ab_vault_at(vault, AB_PART_ID)->placeholder;
	const char *key = ab_vault_at(vault, AB_PART_KEY)->placeholder;
	const struct signer client = { id, key, "s3", "eu-west-1", AT };
	const struct signer server = { ID, KEY, "s3", "eu-west-1", AT };
	ab_autofree char *head = write_head(vault, &client, client_token, EMPTY, "");
	struct ab_swapped swapped = { .secret = -1 };
	struct ab_http_request asked;
	struct ab_sign sign;
	char signature[65], right[65], text[1024];
	const char *names = token ? "host;x-amz-content-sha256;x-amz-date;x-amz-security-token"
				  : "host;x-amz-content-sha256;x-amz-date";
	ab_autofree char *login = NULL;

	ok(strlen(id) == 20 && strlen(key) == 40 && strncmp(id, "ASIA", 4) == 0,
	   "placeholders have the form of a key");
	verify(vault, head, NOW, S3, &asked, &sign);
	ok(sign.result == AB_SIGN_DONE && sign.secret == 0, "verified: %s", sign.why);
	is_str(field_of(&asked, "authorization", text), "", "the old signature is gone");
	is_str(field_of(&asked, "x-amz-security-token", text), "", "and the token's placeholder");
	swapped.request = asked;
	ok(ab_sign_renew(&sign, (struct ab_http_text){ S3, strlen(S3) }, &swapped, signature),
	   "signed anew");
	sign_as(&server, &swapped.request, S3, names, EMPTY, right);
	is_str(signature, right, "as with the real key");
	login = ab_printf("AWS4-HMAC-SHA256 Credential=" ID "/" DAY
			  "/eu-west-1/s3/aws4_request, SignedHeaders=%s, Signature=%s",
			  names, right);
	is_str(field_of(&swapped.request, "authorization", text), login, "the header");
	is_str(field_of(&swapped.request, "x-amz-security-token", text), token ? TOKEN : "",
	       "the token");
	ab_sign_fini(&sign);
	ab_swapped_fini(&swapped);
	ab_vault_free(vault);
}

/* A presigned URL, as a client makes it. */
static char *write_presigned(const struct signer *by, unsigned expires)
{
	ab_autofree char *url =
		ab_printf("/bucket/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=%s%%2F" DAY
			  "%%2Feu-west-1%%2Fs3%%2Faws4_request&X-Amz-Date=%s&X-Amz-Expires=%u"
			  "&X-Amz-SignedHeaders=host",
			  by->id, by->at, expires);
	ab_autofree char *text = ab_printf("GET %s HTTP/1.1\r\nHost: " S3 "\r\n\r\n", url);
	struct ab_http_request rq;
	char signature[65];

	read_head(text, &rq);
	sign_as(by, &rq, S3, "host", "UNSIGNED-PAYLOAD", signature);
	return ab_printf("GET %s&X-Amz-Signature=%s HTTP/1.1\r\nHost: " S3 "\r\n\r\n", url,
			 signature);
}

/* The new one ends when it may at the latest, whatever its date is. */
static void test_presigned(void)
{
	static const struct {
		uint32_t most;
		unsigned asked;
		int64_t age;
		unsigned expires; /* 0: refused */
		const char *why;
	} cases[] = {
		{ AB_SIGN_PRESIGNED, 60, 0, 60, "shorter than it may be" },
		{ AB_SIGN_PRESIGNED, 604800, 0, 900, "15 minutes" },
		{ AB_SIGN_PRESIGNED, 604800, 3600, 4500, "from now on, not from its date" },
		{ AB_SIGN_PRESIGNED, 604800, -600, 300, "a date that is to come" },
		{ AB_SIGN_PRESIGNED, 604800, -900, 1, "as late as it may be" },
		{ AB_SIGN_PRESIGNED, 604800, -901, 0, "too late" },
		{ 20, 60, 0, 20, "the run ends sooner" },
		{ 20, 10, 0, 10, "not that soon" },
		{ 20, 604800, 3600, 3620, "an old one" },
		{ 20, 604800, -15, 5, "a date before the end" },
		{ 20, 604800, -21, 0, "a date after the end" },
		{ 1, 604800, 0, 1, "the last second" },
	};
	struct ab_vault *vault = new_vault(ID " " KEY);
	const struct signer client = { ab_vault_at(vault, AB_PART_ID)->placeholder,
				       ab_vault_at(vault, AB_PART_KEY)->placeholder, "s3",
				       "eu-west-1", AT };

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autofree char *head = write_presigned(&client, cases[i].asked);
		ab_autofree char *field = ab_printf("X-Amz-Expires=%u&", cases[i].expires);
		struct ab_swapped swapped = { .secret = -1 };
		struct ab_http_request asked;
		struct ab_sign sign;
		char signature[65] = "";

		presigned = cases[i].most;
		verify(vault, head, NOW + cases[i].age, S3, &asked, &sign);
		ok(sign.result == (cases[i].expires ? AB_SIGN_DONE : AB_SIGN_REFUSED),
		   "presigned: %s: %s", cases[i].why, sign.why);
		swapped.request = asked;
		if (cases[i].expires)
			ab_sign_renew(&sign, (struct ab_http_text){ S3, strlen(S3) }, &swapped,
				      signature);
		ok(!cases[i].expires || (strlen(signature) == 64 &&
					 memmem(swapped.request.path.s, swapped.request.path.len,
						field, strlen(field))),
		   "its end is in what is signed");
		ab_sign_fini(&sign);
		ab_swapped_fini(&swapped);
	}
	presigned = AB_SIGN_PRESIGNED;
	ab_vault_free(vault);
}

static void test_refusals(void)
{
	struct ab_vault *vault = new_vault(ID " " KEY);
	const char *id = ab_vault_at(vault, AB_PART_ID)->placeholder;
	const char *key = ab_vault_at(vault, AB_PART_KEY)->placeholder;
	const struct {
		const char *name, *host, *payload, *more;
		struct signer by;
		int64_t now;
		const char *why; /* NULL: signed; "": not looked at */
	} cases[] = {
		{ "right", S3, EMPTY, "", { id, key, "s3", "eu-west-1", AT }, NOW, NULL },
		{ "an unsigned payload",
		  S3,
		  "UNSIGNED-PAYLOAD",
		  "",
		  { id, key, "s3", "eu-west-1", AT },
		  NOW,
		  NULL },
		{ "unsigned with a trailer",
		  S3,
		  "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
		  "",
		  { id, key, "s3", "eu-west-1", AT },
		  NOW,
		  NULL },
		{ "the last second",
		  S3,
		  EMPTY,
		  "",
		  { id, key, "s3", "eu-west-1", AT },
		  NOW + AB_SIGN_SKEW,
		  NULL },
		{ "too late",
		  S3,
		  EMPTY,
		  "",
		  { id, key, "s3", "eu-west-1", AT },
		  NOW + AB_SIGN_SKEW + 1,
		  "too old" },
		{ "too early",
		  S3,
		  EMPTY,
		  "",
		  { id, key, "s3", "eu-west-1", AT },
		  NOW - AB_SIGN_SKEW - 1,
		  "in the future" },
		{ "another key",
		  S3,
		  EMPTY,
		  "",
		  { id, KEY, "s3", "eu-west-1", AT },
		  NOW,
		  "does not match" },
		{ "another id",
		  S3,
		  EMPTY,
		  "",
		  { ID, key, "s3", "eu-west-1", AT },
		  NOW,
		  "another key" },
		{ "another service",
		  S3,
		  EMPTY,
		  "",
		  { id, key, "ec2", "eu-west-1", AT },
		  NOW,
		  "not for the service ec2" },
		{ "another region",
		  S3,
		  EMPTY,
		  "",
		  { id, key, "s3", "us-east-1", AT },
		  NOW,
		  "not for the region us-east-1" },
		{ "a strange token",
		  S3,
		  EMPTY,
		  "X-Amz-Security-Token: x\r\n",
		  { id, key, "s3", "eu-west-1", AT },
		  NOW,
		  "session token" },
		{ "an event stream",
		  S3,
		  "STREAMING-AWS4-HMAC-SHA256-EVENTS",
		  "",
		  { id, key, "s3", "eu-west-1", AT },
		  NOW,
		  "cannot be signed anew" },
		{ "another host",
		  "other.test",
		  EMPTY,
		  "",
		  { id, key, "s3", "eu-west-1", AT },
		  NOW,
		  "" },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autofree char *head =
			write_head(vault, &cases[i].by, false, cases[i].payload, cases[i].more);
		struct ab_http_request asked;
		struct ab_sign sign;

		verify(vault, head, cases[i].now, cases[i].host, &asked, &sign);
		if (!cases[i].why)
			ok(sign.result == AB_SIGN_DONE, "%s: %s", cases[i].name, sign.why);
		else if (!cases[i].why[0])
			ok(sign.result == AB_SIGN_NONE && sign.secret < 0, "%s", cases[i].name);
		else
			ok(sign.result == AB_SIGN_REFUSED && strstr(sign.why, cases[i].why),
			   "%s: %s", cases[i].name, sign.why);
		ab_sign_fini(&sign);
	}
	ab_vault_free(vault);
}

static void test_values(void)
{
	static const char *const wrong[] = { "",	  "one-value-only",
					     ID " short", ID " " KEY " ",
					     ID "  " KEY, ID " " KEY " " TOKEN " more-than-three" };
	struct ab_vault *vault = new_vault(ID " " KEY " " TOKEN);
	struct ab_error err;

	for (size_t i = 0; i < AB_COUNT(wrong); i++) {
		/* Blanks around a value are not part of it. */
		if (i == 3)
			continue;
		ok(ab_vault_set(vault, 0, wrong[i], strlen(wrong[i]), &err) < 0, "not a key: %zu",
		   i);
		ok(!strstr(err.text, "Real"), "and the error does not show it");
	}
	is_str(ab_vault_at(vault, AB_PART_KEY)->value, KEY, "the old one stays");
	is_str(ab_vault_at(vault, AB_PART_TOKEN)->value, TOKEN, "with its token");
	ok(ab_vault_set(vault, 0, ID " " KEY, strlen(ID " " KEY), &err) == 0, "without a token");
	ok(!ab_vault_at(vault, AB_PART_TOKEN)->value, "the token is gone");
	ok(ab_vault_set(vault, 0, NULL, 0, &err) == 0 && !ab_vault_at(vault, AB_PART_KEY)->value,
	   "all parts can be removed");
	ab_vault_free(vault);
}

/* The examples of the reference. */
#define DOC_KEY "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"

static const struct {
	bool trailer;
	const char *seed, *first, *second, *last, *trailer_signature;
} doc[] = {
	{ false, "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
	  "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
	  "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
	  "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9", NULL },
	{ true, "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e",
	  "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
	  "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
	  "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992",
	  "d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435" },
};

static struct ab_sign_chunks *new_chunks(size_t i, const char *seed)
{
	struct ab_sigv4 sig = {
		.day = "20130524", .at = "20130524T000000Z", .region = "us-east-1", .service = "s3"
	};
	struct ab_sign_chunks_setup setup = { .sig = &sig,
					      .trailer = doc[i].trailer,
					      .signature = seed };

	memcpy(sig.signature, doc[i].seed, sizeof(sig.signature));
	ab_sigv4_key(DOC_KEY, strlen(DOC_KEY), &sig, setup.old_key);
	ab_sigv4_key(DOC_KEY, strlen(DOC_KEY), &sig, setup.new_key);
	return ab_sign_chunks_new(&setup);
}

static void write_body(size_t i, struct ab_buf *out)
{
	char data[65536];

	memset(data, 'a', sizeof(data));
	ab_buf_printf(out, "10000;chunk-signature=%s\r\n", doc[i].first);
	ab_buf_add(out, data, sizeof(data));
	ab_buf_printf(out, "\r\n400;chunk-signature=%s\r\n", doc[i].second);
	ab_buf_add(out, data, 1024);
	ab_buf_printf(out, "\r\n0;chunk-signature=%s\r\n", doc[i].last);
	if (doc[i].trailer)
		ab_buf_printf(out,
			      "x-amz-checksum-crc32c:sOO8/Q==\r\nx-amz-trailer-signature:%s\r\n",
			      doc[i].trailer_signature);
	ab_buf_puts(out, "\r\n");
}

static void test_chunks(void)
{
	static const size_t sizes[] = { 1, 7, 4096, 70000, 1 << 20 };

	for (size_t i = 0; i < AB_COUNT(doc); i++) {
		struct ab_buf body = { 0 };

		write_body(i, &body);
		/* With the same key on both sides nothing changes. */
		for (size_t k = 0; k < AB_COUNT(sizes); k++) {
			struct ab_sign_chunks *chunks = new_chunks(i, doc[i].seed);
			struct ab_buf out = { 0 };
			const char *why = NULL;

			for (size_t at = 0; at < body.len && !why; at += sizes[k]) {
				size_t n = body.len - at < sizes[k] ? body.len - at : sizes[k];

				why = ab_sign_chunks_take(chunks, body.data + at, n,
							  at + n == body.len, &out);
			}
			is_str(why, NULL, "the chunks of the reference are right");
			ok(out.len == body.len && memcmp(out.data, body.data, out.len) == 0,
			   "in portions of %zu bytes", sizes[k]);
			ab_buf_fini(&out);
			ab_sign_chunks_free(chunks);
		}
		ab_buf_fini(&body);
	}
}

/* Every change of a byte is noticed, and no byte of that chunk is passed on. */
static void test_wrong_chunks(void)
{
	for (size_t i = 0; i < AB_COUNT(doc); i++) {
		struct ab_buf body = { 0 };
		size_t bad = 0, tried = 0, leaked = 0;

		write_body(i, &body);
		for (size_t at = 0; at < body.len; at += at < 90 || at > 65600 ? 1 : 5000) {
			struct ab_sign_chunks *chunks = new_chunks(i, doc[i].seed);
			struct ab_buf out = { 0 };

			body.data[at] ^= 1;
			tried++;
			bad += !!ab_sign_chunks_take(chunks, body.data, body.len, true, &out);
			leaked += at < 65600 && out.len;
			body.data[at] ^= 1;
			ab_buf_fini(&out);
			ab_sign_chunks_free(chunks);
		}
		ok(bad == tried, "%zu of %zu changes are noticed", bad, tried);
		ok(!leaked, "before the chunk is passed on");
		for (size_t cut = 1; cut < 400; cut += 13) {
			struct ab_sign_chunks *chunks = new_chunks(i, doc[i].seed);
			struct ab_buf out = { 0 };

			if (!ab_sign_chunks_take(chunks, body.data, body.len - cut, true, &out))
				ok(false, "%zu bytes are missing", cut);
			ab_buf_fini(&out);
			ab_sign_chunks_free(chunks);
		}
		ab_buf_fini(&body);
	}
}

int main(void)
{
	test_renewal(ID " " KEY, false, false);
	test_renewal(ID " " KEY " " TOKEN, true, true);
	test_renewal(ID " " KEY " " TOKEN, false, true);
	test_refusals();
	test_presigned();
	test_values();
	test_chunks();
	test_wrong_chunks();
	return done();
}
