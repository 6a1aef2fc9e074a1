/*
 * Canonical requests, strings to sign and signatures, against published examples:
 *
 * `suite` is the AWS Signature Version 4 test suite ("aws-sig-v4-test-suite" of
 * the AWS General Reference): the request, the hash of its canonical form as in
 * the .sts file, and the signature of the .authz file. Left out is
 * get-header-value-multiline, whose folded header no parser here accepts.
 *
 * `s3` are the examples of the Amazon S3 API Reference, "Authenticating
 * Requests: Using the Authorization Header" and "... Using Query Parameters".
 */
#include "proxy/sign/sigv4.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "tap.h"

#define DATE "Host:example.amazonaws.com\nX-Amz-Date:20150830T123600Z\n"
#define HOST_DATE "host;x-amz-date"
#define TOKEN                                                                                    \
	"AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRX" \
	"mxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburE" \
	"Dy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL" \
	"64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="
#define LETTERS "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define VANILLA "bb579772317eb040ac9ed261061d46c1f17a8133879d6129b6e1c25292927e63"
#define VANILLA_SIGNED "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"

struct vector {
	const char *name, *method, *path, *fields, *body, *names;
	const char *hash; /* of the canonical request; or NULL */
	const char *signature;
};

static const struct vector suite[] = {
	{ "get-header-key-duplicate", "GET", "/",
	  "Host:example.amazonaws.com\nMy-Header1:value2\nMy-Header1:value2\nMy-Header1:value1\n"
	  "X-Amz-Date:20150830T123600Z\n",
	  "", "host;my-header1;x-amz-date",
	  "dc7f04a3abfde8d472b0ab1a418b741b7c67174dad1551b4117b15527fbe966c",
	  "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea" },
	{ "get-header-value-order", "GET", "/",
	  "Host:example.amazonaws.com\nMy-Header1:value4\nMy-Header1:value1\nMy-Header1:value3\n"
	  "My-Header1:value2\nX-Amz-Date:20150830T123600Z\n",
	  "", "host;my-header1;x-amz-date",
	  "31ce73cd3f3d9f66977ad3dd957dc47af14df92fcd8509f59b349e9137c58b86",
	  "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01" },
	{ "get-header-value-trim", "GET", "/",
	  "Host:example.amazonaws.com\nMy-Header1: value1\nMy-Header2: \"a   b   c\"\n"
	  "X-Amz-Date:20150830T123600Z\n",
	  "", "host;my-header1;my-header2;x-amz-date",
	  "a726db9b0df21c14f559d0a978e563112acb1b9e05476f0a6a1c7d68f28605c7",
	  "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736" },
	{ "get-unreserved", "GET", "/" LETTERS, DATE, "", HOST_DATE,
	  "6a968768eefaa713e2a6b16b589a8ea192661f098f37349f4e2c0082757446f9",
	  "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f" },
	{ "get-utf8", "GET", "/\341\210\264", DATE, "", HOST_DATE, NULL,
	  "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85" },
	{ "get-vanilla", "GET", "/", DATE, "", HOST_DATE, VANILLA, VANILLA_SIGNED },
	{ "get-vanilla-empty-query-key", "GET", "/?Param1=value1", DATE, "", HOST_DATE,
	  "1e24db194ed7d0eec2de28d7369675a243488e08526e8c1c73571282f7c517ab",
	  "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb" },
	{ "get-vanilla-query", "GET", "/", DATE, "", HOST_DATE, VANILLA, VANILLA_SIGNED },
	{ "get-vanilla-query-order-key", "GET", "/?Param1=value2&Param1=Value1", DATE, "",
	  HOST_DATE, "704b4cef673542d84cdff252633f065e8daeba5f168b77116f8b1bcaf3d38f89",
	  "eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1" },
	{ "get-vanilla-query-order-key-case", "GET", "/?Param2=value2&Param1=value1", DATE, "",
	  HOST_DATE, "816cd5b414d056048ba4f7c5386d6e0533120fb1fcfa93762cf0fc39e2cf19e0",
	  "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500" },
	{ "get-vanilla-query-order-value", "GET", "/?Param1=value2&Param1=value1", DATE, "",
	  HOST_DATE, "c968629d70850097a2d8781c9bf7edcb988b04cac14cca9be4acc3595f884606",
	  "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694" },
	{ "get-vanilla-query-unreserved", "GET", "/?" LETTERS "=" LETTERS, DATE, "", HOST_DATE,
	  "c30d4703d9f799439be92736156d47ccfb2d879ddf56f5befa6d1d6aab979177",
	  "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197" },
	{ "get-vanilla-utf8-query", "GET", "/?\341\210\264=bar", DATE, "", HOST_DATE,
	  "eb30c5bed55734080471a834cc727ae56beb50e5f39d1bff6d0d38cb192a7073",
	  "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04" },
	{ "post-header-key-case", "POST", "/", DATE, "", HOST_DATE,
	  "553f88c9e4d10fc9e109e2aeb65f030801b70c2f6468faca261d401ae622fc87",
	  "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b" },
	{ "post-header-key-sort", "POST", "/",
	  "Host:example.amazonaws.com\nMy-Header1:value1\nX-Amz-Date:20150830T123600Z\n", "",
	  "host;my-header1;x-amz-date",
	  "9368318c2967cf6de74404b30c65a91e8f6253e0a8659d6d5319f1a812f87d65",
	  "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c" },
	{ "post-header-value-case", "POST", "/",
	  "Host:example.amazonaws.com\nMy-Header1:VALUE1\nX-Amz-Date:20150830T123600Z\n", "",
	  "host;my-header1;x-amz-date",
	  "d51ced243e649e3de6ef63afbbdcbca03131a21a7103a1583706a64618606a93",
	  "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d" },
	{ "post-sts-header-after", "POST", "/", DATE, "", HOST_DATE,
	  "553f88c9e4d10fc9e109e2aeb65f030801b70c2f6468faca261d401ae622fc87",
	  "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b" },
	{ "post-sts-header-before", "POST", "/", DATE "X-Amz-Security-Token:" TOKEN "\n", "",
	  "host;x-amz-date;x-amz-security-token",
	  "c237e1b440d4c63c32ca95b5b99481081cb7b13c7e40434868e71567c1a882f6",
	  "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead" },
	{ "post-vanilla-query", "POST", "/?Param1=value1", DATE, "", HOST_DATE,
	  "9d659678c1756bb3113e2ce898845a0a79dbbc57b740555917687f1b3340fbbd",
	  "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11" },
	/* The .creq and .sts of these two sign the length, too; the signatures do not. */
	{ "post-x-www-form-urlencoded", "POST", "/",
	  "Content-Type:application/x-www-form-urlencoded\n" DATE "Content-Length:13\n",
	  "Param1=value1", "content-type;host;x-amz-date", NULL,
	  "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a" },
	{ "post-x-www-form-urlencoded-parameters", "POST", "/",
	  "Content-Type:application/x-www-form-urlencoded; charset=utf8\n" DATE
	  "Content-Length:13\n",
	  "Param1=value1", "content-type;host;x-amz-date", NULL,
	  "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe" },
	{ "get-relative", "GET", "/example/..", DATE, "", HOST_DATE, VANILLA, VANILLA_SIGNED },
	{ "get-relative-relative", "GET", "/example1/example2/../..", DATE, "", HOST_DATE, VANILLA,
	  VANILLA_SIGNED },
	{ "get-slash", "GET", "//", DATE, "", HOST_DATE, VANILLA, VANILLA_SIGNED },
	{ "get-slash-dot-slash", "GET", "/./", DATE, "", HOST_DATE, VANILLA, VANILLA_SIGNED },
	{ "get-slash-pointless-dot", "GET", "/./example", DATE, "", HOST_DATE,
	  "214d50c111a8edc4819da6a636336472c916b5240f51e9a51b5c3305180cf702",
	  "ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5" },
	{ "get-slashes", "GET", "//example//", DATE, "", HOST_DATE,
	  "cb96b4ac96d501f7c5c15bc6d67b3035061cfced4af6585ad927f7e6c985c015",
	  "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84" },
	{ "get-space", "GET", "/example space/", DATE, "", HOST_DATE,
	  "63ee75631ed7234ae61b5f736dfc7754cdccfedbff4b5128a915706ee9390d86",
	  "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741" },
};

#define S3_HOST "Host:examplebucket.s3.amazonaws.com\n"
#define S3_DATE "x-amz-date:20130524T000000Z\n"
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static const struct vector s3[] = {
	{ "GET Object", "GET", "/test.txt",
	  S3_HOST "Range:bytes=0-9\nx-amz-content-sha256:" EMPTY "\n" S3_DATE, "",
	  "host;range;x-amz-content-sha256;x-amz-date",
	  "7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972",
	  "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41" },
	{ "PUT Object, with a $ in its name", "PUT", "/test$file.text",
	  S3_HOST "Date:Fri, 24 May 2013 00:00:00 GMT\n" S3_DATE
		  "x-amz-storage-class:REDUCED_REDUNDANCY\nx-amz-content-sha256:"
		  "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072\n",
	  "Welcome to Amazon S3.", "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
	  "9e0e90d9c76de8fa5b200d8c849cd5b8dc7a3be3951ddb7f6a76b4158342019d",
	  "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd" },
	{ "the same name, escaped", "PUT", "/test%24file.text",
	  S3_HOST "Date:Fri, 24 May 2013 00:00:00 GMT\n" S3_DATE
		  "x-amz-storage-class:REDUCED_REDUNDANCY\nx-amz-content-sha256:"
		  "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072\n",
	  "Welcome to Amazon S3.", "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
	  "9e0e90d9c76de8fa5b200d8c849cd5b8dc7a3be3951ddb7f6a76b4158342019d",
	  "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd" },
	{ "GET Bucket Lifecycle", "GET", "/?lifecycle",
	  S3_HOST S3_DATE "x-amz-content-sha256:" EMPTY "\n", "",
	  "host;x-amz-content-sha256;x-amz-date",
	  "9766c798316ff2757b517bc739a67f6213b4ab36dd5da2f94eaebf79c77395ca",
	  "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543" },
	{ "GET Bucket (List Objects)", "GET", "/?max-keys=2&prefix=J",
	  S3_HOST S3_DATE "x-amz-content-sha256:" EMPTY "\n", "",
	  "host;x-amz-content-sha256;x-amz-date",
	  "df57d21db20da04d7fa30298dd4488ba3a2b47ca3a489c74750e0f1e7df1b9b7",
	  "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7" },
};

static const char presigned[] =
	"GET /test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F"
	"20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400"
	"&X-Amz-SignedHeaders=host&X-Amz-Signature="
	"aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404 HTTP/1.1\r\n"
	"Host: examplebucket.s3.amazonaws.com\r\n\r\n";

/* "Name:value" lines become fields; the parser of heads would refuse some of them. */
static void read_fields(const char *text, struct ab_http_head *ret, struct ab_http_text *ret_host)
{
	for (; *text; text += strcspn(text, "\n") + 1) {
		size_t name = strcspn(text, ":"), end = strcspn(text, "\n");
		struct ab_http_field *f = &ret->fields[ret->nfields++];

		f->name = (struct ab_http_text){ text, name };
		f->value = (struct ab_http_text){ text + name + 1, end - name - 1 };
		if (ab_http_is(f->name, "host"))
			*ret_host = f->value;
	}
}

static void try_vector(const struct vector *v, const struct ab_sigv4 *sig, const char *secret,
		       bool is_s3)
{
	struct ab_http_head *head = ab_alloc(sizeof(*head));
	struct ab_buf canonical = { 0 }, text = { 0 };
	struct ab_sigv4_input in = {
		.method = { v->method, strlen(v->method) },
		.path = { v->path, strlen(v->path) },
		.head = head,
		.signed_names = v->names,
		.s3 = is_s3,
	};
	uint8_t key[AB_SHA256_SIZE];
	char payload[65], hash[65], signature[65];

	read_fields(v->fields, head, &in.host);
	ab_sha256(v->body, strlen(v->body), payload);
	in.payload = payload;
	ok(ab_sigv4_canonical(&in, &canonical), "%s: its headers are there", v->name);
	ab_sha256(canonical.data, canonical.len, hash);
	if (v->hash)
		is_str(hash, v->hash, v->name);
	ab_sigv4_string(sig, &canonical, &text);
	ab_sigv4_key(secret, strlen(secret), sig, key);
	ab_sigv4_sign(key, &text, signature);
	is_str(signature, v->signature, v->name);
	ab_buf_fini(&canonical);
	ab_buf_fini(&text);
	free(head);
}

static void test_vectors(void)
{
	static const struct ab_sigv4 one = { .day = "20150830",
					     .at = "20150830T123600Z",
					     .region = "us-east-1",
					     .service = "service" };
	static const struct ab_sigv4 two = {
		.day = "20130524", .at = "20130524T000000Z", .region = "us-east-1", .service = "s3"
	};

	for (size_t i = 0; i < AB_COUNT(suite); i++)
		try_vector(&suite[i], &one, "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", false);
	for (size_t i = 0; i < AB_COUNT(s3); i++)
		try_vector(&s3[i], &two, "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", true);
}

static void read_head(const char *text, struct ab_http_request *ret)
{
	struct ab_http_scan scan = { 0 };

	if (ab_http_read_request(&scan, text, strlen(text), ret) <= 0) {
		printf("# not read: %s\n", scan.why);
		abort();
	}
}

static void test_presigned(void)
{
	static const char secret[] = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
	struct ab_buf canonical = { 0 }, text = { 0 };
	struct ab_http_request rq;
	struct ab_sigv4_input in = { .payload = "UNSIGNED-PAYLOAD", .s3 = true };
	struct ab_sigv4 sig;
	uint8_t key[AB_SHA256_SIZE];
	char signature[65];

	read_head(presigned, &rq);
	is_str(ab_sigv4_read(&rq, &sig), NULL, "the presigned URL of the reference is read");
	is_str(sig.id, "AKIAIOSFODNN7EXAMPLE", "its key");
	is_str(sig.region, "us-east-1", "its region");
	ok(sig.expires == 86400 && sig.time == 1369353600 && sig.place == AB_SIGV4_QUERY,
	   "its time");
	in.method = rq.method;
	in.path = rq.path;
	in.head = &rq.head;
	in.host = rq.head.fields[0].value;
	in.signed_names = sig.signed_names;
	ok(ab_sigv4_canonical(&in, &canonical), "its headers are there");
	ab_sigv4_string(&sig, &canonical, &text);
	ab_sigv4_key(secret, strlen(secret), &sig, key);
	ab_sigv4_sign(key, &text, signature);
	is_str(signature, sig.signature, "its signature");
	ab_buf_fini(&canonical);
	ab_buf_fini(&text);
}

#define CREDENTIAL "Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request"
#define SIGNATURE "Signature=" VANILLA
#define LOGIN                                         \
	"Authorization: AWS4-HMAC-SHA256 " CREDENTIAL \
	", SignedHeaders=host;x-amz-date, " SIGNATURE "\r\n"
#define AT "X-Amz-Date: 20150830T123600Z\r\n"
#define QUERY                                                                                  \
	"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=A/20150830/r/s/aws4_request&X-Amz-" \
	"SignedHeaders=host&X-Amz-Date=20150830T123600Z&X-Amz-Signature=" VANILLA

static const struct {
	const char *name, *path, *fields;
	const char *why; /* a part of it; NULL: it is read */
} readings[] = {
	{ "as clients write it", "/", LOGIN AT, NULL },
	{ "without blanks", "/",
	  "Authorization: AWS4-HMAC-SHA256 " CREDENTIAL ",SignedHeaders=host;x-amz-date," SIGNATURE
	  "\r\n" AT,
	  NULL },
	{ "in another order", "/",
	  "Authorization: AWS4-HMAC-SHA256 " SIGNATURE
	  ", SignedHeaders=host;x-amz-date, " CREDENTIAL "\r\n" AT,
	  NULL },
	{ "no date", "/", LOGIN, "x-amz-date" },
	{ "the date of another day", "/", LOGIN "X-Amz-Date: 20150831T123600Z\r\n", "x-amz-date" },
	{ "two dates", "/", LOGIN AT AT, "twice" },
	{ "two signatures", "/", LOGIN LOGIN AT, "twice" },
	{ "also in the query", "/?X-Amz-Signature=1", LOGIN AT, "both" },
	{ "no signature", "/",
	  "Authorization: AWS4-HMAC-SHA256 " CREDENTIAL ", SignedHeaders=host\r\n" AT,
	  "malformed" },
	{ "a part twice", "/",
	  "Authorization: AWS4-HMAC-SHA256 " CREDENTIAL ", " CREDENTIAL
	  ", SignedHeaders=host, " SIGNATURE "\r\n" AT,
	  "malformed" },
	{ "an unknown part", "/",
	  "Authorization: AWS4-HMAC-SHA256 " CREDENTIAL ", Other=1, SignedHeaders=host, " SIGNATURE
	  "\r\n" AT,
	  "malformed" },
	{ "a signature that is too short", "/",
	  "Authorization: AWS4-HMAC-SHA256 " CREDENTIAL
	  ", SignedHeaders=host, Signature=abc\r\n" AT,
	  "malformed" },
	{ "a scope with another end", "/",
	  "Authorization: AWS4-HMAC-SHA256 Credential=A/20150830/r/s/other, SignedHeaders=host, " SIGNATURE
	  "\r\n" AT,
	  "malformed" },
	{ "headers that are not sorted", "/",
	  "Authorization: AWS4-HMAC-SHA256 " CREDENTIAL
	  ", SignedHeaders=x-amz-date;host, " SIGNATURE "\r\n" AT,
	  "not sorted" },
	{ "a header twice", "/",
	  "Authorization: AWS4-HMAC-SHA256 " CREDENTIAL ", SignedHeaders=host;host, " SIGNATURE
	  "\r\n" AT,
	  "not sorted" },
	{ "capital letters", "/",
	  "Authorization: AWS4-HMAC-SHA256 " CREDENTIAL ", SignedHeaders=Host, " SIGNATURE
	  "\r\n" AT,
	  "lower case" },
	{ "an empty name", "/",
	  "Authorization: AWS4-HMAC-SHA256 " CREDENTIAL ", SignedHeaders=a;;host, " SIGNATURE
	  "\r\n" AT,
	  "malformed" },
	{ "without the host", "/",
	  "Authorization: AWS4-HMAC-SHA256 " CREDENTIAL ", SignedHeaders=x-amz-date, " SIGNATURE
	  "\r\n" AT,
	  "does not sign the Host" },
	{ "version 2", "/", "Authorization: AWS AKIDEXAMPLE:abc=\r\n" AT, "version 4" },
	{ "version 4a", "/", "Authorization: AWS4-ECDSA-P256-SHA256 " CREDENTIAL "\r\n" AT,
	  "SigV4A" },
	{ "version 2 in a query", "/?AWSAccessKeyId=A&Signature=b&Expires=1", "", "version 4" },
	{ "a query", "/?" QUERY "&X-Amz-Expires=60", "", NULL },
	{ "a query without an end", "/?" QUERY, "", "X-Amz-Expires" },
	{ "a query that is valid too long", "/?" QUERY "&X-Amz-Expires=604801", "",
	  "X-Amz-Expires" },
	{ "a parameter twice", "/?" QUERY "&X-Amz-Expires=60&X-Amz-Expires=61", "", "twice" },
	{ "a parameter twice, once escaped", "/?" QUERY "&X-Amz-Expires=60&X-Amz%2DExpires=61", "",
	  "twice" },
};

static void test_reading(void)
{
	for (size_t i = 0; i < AB_COUNT(readings); i++) {
		ab_autofree char *text = ab_printf("GET %s HTTP/1.1\r\nHost: h.test\r\n%s\r\n",
						   readings[i].path, readings[i].fields);
		struct ab_http_request rq;
		struct ab_sigv4 sig;
		const char *why;

		read_head(text, &rq);
		ok(ab_sigv4_find(&rq) != AB_SIGV4_NOWHERE, "%s: found", readings[i].name);
		why = ab_sigv4_read(&rq, &sig);
		ok(readings[i].why ? why && strstr(why, readings[i].why) : !why, "%s: %s",
		   readings[i].name, why ? why : "read");
	}
}

static void test_unsigned(void)
{
	static const char *const heads[] = {
		"GET /a?b=c HTTP/1.1\r\nHost: h.test\r\n\r\n",
		"GET /a?x-amz-signature=c HTTP/1.1\r\nHost: h.test\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h.test\r\nAuthorization: Bearer AWS4\r\n\r\n",
	};
	struct ab_http_request rq;

	for (size_t i = 0; i < AB_COUNT(heads); i++) {
		read_head(heads[i], &rq);
		ok(ab_sigv4_find(&rq) == AB_SIGV4_NOWHERE, "not signed: %zu", i);
	}
}

int main(void)
{
	test_vectors();
	test_presigned();
	test_reading();
	test_unsigned();
	return done();
}
