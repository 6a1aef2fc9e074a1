/*
 * What a hostile server, or a container engine that lies, could give to the box: see
 * attack_stand_ins.h. Each attempt first does what is allowed, by the same means.
 */
#include <sys/un.h>

#include "attack/attack.h"
#include "base/data/addr.h"
#include "netns/capture.h"
#include "proxy/io/tls.h"
#include "proxy/sign/sigv4.h"

#define ENGINE "unix:///run/agentbox/"

/* A client that trusts the run's own authority. */
static struct ab_tls_site *make_client(void)
{
	const char *file = getenv("SSL_CERT_FILE");
	ab_autoclose int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
	ab_autostrv struct ab_strv hosts = { 0 };
	struct ab_tls_setup setup = { .hosts = &hosts };
	ab_autofree char *roots = NULL;
	struct ab_tls_site *site;
	struct ab_error err;

	ab_strv_add(&hosts, AB_STAND_IN);
	if (fd < 0 || ab_read_all(fd, 4 << 20, &roots, &setup.roots_len) < 0)
		return NULL;
	setup.roots = roots;
	return ab_tls_site_new(&setup, &site, &err) < 0 ? NULL : site;
}

bool ab_wire_dial(struct ab_side *ret, const char *to)
{
	struct ab_sockaddr door = ab_sockaddr_loopback(false, AB_PORT_DOOR);
	ab_autofree char *text = ab_printf("CONNECT %s HTTP/1.1\r\n\r\n", to);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int connected = connect(fd, &door.any, door.len);

	*ret = ab_wire_open(fd);
	return connected == 0 && ab_wire_send(ret, text) && ab_wire_message(ret) &&
	       strncmp(ret->in.data, "HTTP/1.1 2", 10) == 0;
}

static bool reach_host(struct ab_side *ret)
{
	static struct ab_tls_site *site;

	if (!site)
		site = make_client();
	if (!site || !ab_wire_dial(ret, AB_STAND_IN ":443"))
		return false;
	ab_buf_skip(&ret->in, ret->in.len);
	return ab_wire_use_tls(ret, site, false);
}

/* The status of the answer to the request, which is in side->in; 0: there is none. */
static int send_whole(struct ab_side *side, const char *text)
{
	if (!reach_host(side) || !ab_wire_send(side, text))
		return 0;
	while (ab_wire_more(side))
		;
	return side->in.len > 12 ? (int)strtol(side->in.data + 9, NULL, 10) : 0;
}

static int ask_host(struct ab_side *side, const char *method, const char *path, const char *form)
{
	const char *value = getenv(AB_STAND_IN_VARIABLE), *placeholder = value ? value : "";
	ab_autofree char *text = ab_printf("%s %s HTTP/1.1\r\nHost: " AB_STAND_IN "\r\n"
					   "Authorization: Bearer %s\r\nConnection: close\r\n"
					   "Content-Type: application/x-www-form-urlencoded\r\n"
					   "Content-Length: %zu\r\n\r\n%s",
					   method, path, placeholder, strlen(form), form);

	return value ? send_whole(side, text) : 0;
}

static enum ab_hold judge_answer(struct ab_attacker *a, const char *method, const char *path,
				 const char *form, const char *token)
{
	struct ab_side side = { 0 }, after;
	int status;

	if (ask_host(&side, "GET", "/plain", "") != 200)
		return ab_untried(a, "this run reaches no server that doctor can start");
	status = ask_host(&side, method, path, form);
	/* So the proxy answers, too, for a server that is gone. */
	if (!status || (status == 502 && ask_host(&after, "GET", "/plain", "") != 200))
		return ab_untried(a, "no answer came");
	if (token ? side.in.len && strstr(side.in.data, token) : status == 200)
		return ab_broken(a, "it came, with status %d", status);
	return ab_held(a, "status %d", status);
}

static enum ab_hold find_token(struct ab_attacker *a, const struct ab_try *t)
{
	return judge_answer(a, "GET", t->arg, "", ab_spelled[t->number]);
}

/* Its server must never get this request. */
static enum ab_hold ask_for_token(struct ab_attacker *a, const struct ab_try *t)
{
	return judge_answer(a, "POST", t->arg, "grant_type=client_credentials&client_id=x", NULL);
}

/* AWS signatures. */

enum { IN_FIELD, IN_URL, LATER };

/* With the key that the box has. NULL: it has none. */
static char *sign_request(long number)
{
	bool url = number == IN_URL;
	const char *names = url ? "host" : "host;x-amz-content-sha256;x-amz-date";
	const char *id = getenv("AWS_ACCESS_KEY_ID"), *key = getenv("AWS_SECRET_ACCESS_KEY");
	struct ab_sigv4 sig = { .region = AB_STAND_IN_REGION, .service = AB_STAND_IN_SERVICE };
	ab_autobuf struct ab_buf scope = { 0 }, canonical = { 0 }, text = { 0 };
	ab_autofree char *query = NULL, *fields = NULL;
	uint8_t signing[AB_SHA256_SIZE];
	time_t now = time(NULL);
	char signature[65];
	struct tm tm;

	if (!id || !key)
		return NULL;
	strftime(sig.at, sizeof(sig.at), "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
	snprintf(sig.day, sizeof(sig.day), "%.8s", sig.at);
	ab_sigv4_scope(&sig, &scope);
	if (url)
		query = ab_printf(
			"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=%s%%2F%s%%2F" AB_STAND_IN_REGION
			"%%2F" AB_STAND_IN_SERVICE "%%2Faws4_request&X-Amz-Date=%s"
			"&X-Amz-Expires=60&X-Amz-SignedHeaders=host",
			id, sig.day, sig.at);
	else
		fields =
			ab_printf("x-amz-content-sha256:UNSIGNED-PAYLOAD\nx-amz-date:%s\n", sig.at);
	ab_buf_printf(&canonical,
		      "GET\n/signed/%ld\n%s\nhost:" AB_STAND_IN "\n%s\n%s\nUNSIGNED-PAYLOAD",
		      number, query ? query : "", fields ? fields : "", names);
	ab_sigv4_string(&sig, &canonical, &text);
	ab_sigv4_key(key, strlen(key), &sig, signing);
	ab_sigv4_sign(signing, &text, signature);
	return url ? ab_printf(
			     "GET /signed/%ld?%s&X-Amz-Signature=%s HTTP/1.1\r\nHost: " AB_STAND_IN
			     "\r\nConnection: close\r\n\r\n",
			     number, query, signature)
		   : ab_printf(
			     "GET /signed/%ld HTTP/1.1\r\nHost: " AB_STAND_IN
			     "\r\nConnection: close\r\nX-Amz-Content-SHA256: UNSIGNED-PAYLOAD\r\n"
			     "X-Amz-Date: %s\r\nAuthorization: AWS4-HMAC-SHA256 Credential=%s/%s, "
			     "SignedHeaders=%s, Signature=%s\r\n\r\n",
			     number, sig.at, id, scope.data, names, signature);
}

/* Which is 64 digits long. Those that are no signature pass. */
static enum ab_hold judge_signature(struct ab_attacker *a, const struct ab_side *side)
{
	const char *at = side->in.len ? strstr(side->in.data, "Signature=") : NULL;

	if (!at || strcspn(at + 10, " \r\n") < 64)
		return ab_untried(a, "no answer came");
	if (strspn(at + 10, "0123456789abcdef") >= 56)
		return ab_broken(a, "it came");
	return strstr(side->in.data, AB_STAND_IN_DIGITS)
		       ? ab_held(a, "%.18s...", at)
		       : ab_broken(a, "something allowed fails: other digits");
}

static enum ab_hold find_signature(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autofree char *text = sign_request(t->number);
	struct ab_side first, side;
	int status;

	if (!text || ask_host(&side, "GET", "/plain", "") != 200)
		return ab_untried(a, "this run reaches no server that doctor can start");
	/* An answer that has begun before the signature is made. */
	if (t->number == LATER && (!reach_host(&first) ||
				   !ab_wire_send(&first, "GET /later HTTP/1.1\r\nHost: " AB_STAND_IN
							 "\r\nConnection: close\r\n\r\n") ||
				   !ab_wire_message(&first)))
		return ab_untried(a, "no answer came");
	status = send_whole(&side, text);
	if (status != 200)
		return ab_untried(a, "the proxy does not sign it: status %d", status);
	if (t->number != LATER)
		return judge_signature(a, &side);
	while (ab_wire_more(&first))
		;
	return judge_signature(a, &first);
}

static const struct ab_try secrets[] = {
	{ "the value in an answer", find_token, "/value", AB_SPELL_PLAIN },
	{ "the value in base64, in lines", find_token, "/lines", AB_SPELL_LINES },
	{ "the value in sloppy HTML", find_token, "/html", AB_SPELL_HTML },
	{ "a part of a document, by its status", find_token, "/part", AB_SPELL_PART },
	{ "a part of a document, by its field", find_token, "/range", AB_SPELL_PART },
	{ "parts of a document, by their type", find_token, "/ranges", AB_SPELL_PART },
	{ "the value after a protocol switch", find_token, "/switch", AB_SPELL_PLAIN },
	{ "a real AWS signature in an answer", find_signature, NULL, IN_FIELD },
	{ "one of a presigned URL", find_signature, NULL, IN_URL },
	{ "one in an answer that began before", find_signature, NULL, LATER },
	{ "ask the token URL for another token", ask_for_token, "/token" },
	{ "the same as //token", ask_for_token, "//token" },
	{ "the same as /./token", ask_for_token, "/./token" },
	{ "the same as /a/../token", ask_for_token, "/a/../token" },
	{ "the same as /%74oken", ask_for_token, "/%74oken" },
	{ "the same as /token;a=b", ask_for_token, "/token;a=b" },
	{ "the same as /Token", ask_for_token, "/Token" },
	{ "a path with an escaped slash", ask_for_token, "/a%2f..%2ftoken" },
	{ "a path that leads out", ask_for_token, "/../token" },
	{ "a path with half an escape", ask_for_token, "/token%" },
};
const struct ab_tries ab_tries_secrets = { "secrets", secrets, AB_COUNT(secrets) };

/* The container filter. */

static bool ask_engine(struct ab_side *side, const char *path, const char *fields, const char *body)
{
	const char *host = getenv("DOCKER_HOST");
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ab_autofree char *text = ab_printf(
		"POST /v1.41%s HTTP/1.1\r\nHost: x\r\n%sContent-Type: application/json\r\n"
		"Content-Length: %zu\r\n\r\n%s",
		path, fields, strlen(body), body);

	if (!host || strncmp(host, ENGINE, strlen(ENGINE)) != 0)
		return false;
	snprintf(un.sun_path, sizeof(un.sun_path), "%s", host + strlen("unix://"));
	if (fd < 0 || connect(fd, (struct sockaddr *)&un, sizeof(un)) < 0)
		return false;
	*side = ab_wire_open(fd);
	return ab_wire_send(side, text) && ab_wire_message(side);
}

/* Start the command of this number, and send more behind the request: does the engine hear it? -1: the
 * filter did not answer. */
static int is_heard(int number, const char *start)
{
	ab_autofree char *create = ab_printf("/containers/%064d/exec", 0);
	ab_autofree char *words = ab_printf("{\"Cmd\":[\"%d\"]}", number);
	ab_autofree char *path = ab_printf("/exec/%064d/start", number);
	struct ab_side side;
	bool heard = false;

	if (!ask_engine(&side, "/containers/create", "", "{\"Image\":\"" AB_STAND_IN_IMAGE "\"}") ||
	    !ask_engine(&side, create, "", words) ||
	    !ask_engine(&side, path, "Connection: Upgrade\r\nUpgrade: tcp\r\n", start))
		return -1;
	ab_wire_send(&side, "POST /containers/create HTTP/1.1\r\nHost: x\r\n\r\n");
	while (!(heard = side.in.len && strstr(side.in.data, AB_STAND_IN_HEARD)) &&
	       ab_wire_more(&side))
		;
	return heard;
}

static enum ab_hold deceive_filter(struct ab_attacker *a, const struct ab_try *t)
{
	int heard;

	if (is_heard(0, "{}") != 1)
		return ab_untried(a, "this run has no container filter that doctor can start");
	heard = is_heard((int)t->number, t->arg);
	if (heard < 0)
		return ab_untried(a, "no answer came");
	return heard ? ab_broken(a, "the engine hears it") : ab_held(a, "the engine hears nothing");
}

static const struct ab_try containers[] = {
	{ "a detached command as a stream", deceive_filter, "{\"Detach\":true}", 1 },
	{ "an answer with a length as a stream", deceive_filter, "{}", 2 },
	{ "bytes after an answer as a stream", deceive_filter, "{}", 3 },
	{ "a switch to another protocol", deceive_filter, "{}", 4 },
};
const struct ab_tries ab_tries_containers = { "containers", containers, AB_COUNT(containers) };
