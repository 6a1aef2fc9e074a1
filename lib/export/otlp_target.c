#include "export/otlp_target.h"

#include "base/text/base64.h"
enum { PORT_USUAL = 4318 }; /* of OTLP over HTTP */

static const char name_letters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

bool ab_otlp_is_target(const char *audit)
{
	return strncmp(audit, AB_OTLP_PREFIX, strlen(AB_OTLP_PREFIX)) == 0;
}

static int fail_target(struct ab_error *err, const char *why)
{
	/* The URL is not repeated: it may hold a password. */
	ab_fail(err, AB_EUSAGE, 0, "--audit otlp: %s", why);
	ab_hint(err,
		"use otlp:http://HOST:4318 or otlp:https://HOST; the path /v1/logs is added if "
		"there is none");
	return ab_step(err, "record");
}

/* "x.y:4318", "[::1]:4318", "x.y" */
static int parse_authority(const char *text, size_t len, struct ab_otlp_target *ret,
			   struct ab_error *err)
{
	const char *colon = memrchr(text, ':', len);
	size_t host = len;

	if (colon && !memchr(colon, ']', len - (size_t)(colon - text))) {
		host = (size_t)(colon - text);
		if (!ab_port_parse(colon + 1, len - host - 1, &ret->port))
			return fail_target(err, "invalid port");
	}
	if (host > 2 && text[0] == '[' && text[host - 1] == ']') {
		text++;
		host -= 2;
	}
	return ab_host_parse(text, host, &ret->host, NULL) < 0 ? fail_target(err, "invalid host")
							       : 0;
}

static bool parse_headers(const char *text, char **ret)
{
	ab_autobuf struct ab_buf b = { 0 };

	while (*text) {
		size_t len, name;

		text += strspn(text, " ,");
		len = strcspn(text, ",");
		name = strspn(text, name_letters);
		if (len == 0)
			break;
		if (name == 0 || name >= len || text[name] != '=')
			return false;
		ab_buf_add(&b, text, name);
		ab_buf_puts(&b, ": ");
		if (!ab_percent_add(&b, text + name + 1, len - name - 1, false))
			return false;
		ab_buf_puts(&b, "\r\n");
		text += len;
	}
	*ret = ab_buf_take(&b);
	return true;
}

static bool is_path(const char *path)
{
	for (; *path; path++)
		if ((unsigned char)*path <= ' ' || (unsigned char)*path >= 127)
			return false;
	return true;
}

static int parse_url(const char *url, struct ab_otlp_target *t, struct ab_error *err)
{
	static const struct {
		const char *scheme;
		bool tls;
	} schemes[] = { { "http://", false }, { "https://", true } };
	const char *rest = NULL;
	size_t len;

	for (size_t i = 0; i < AB_COUNT(schemes) && !rest; i++)
		if (strncmp(url, schemes[i].scheme, strlen(schemes[i].scheme)) == 0) {
			rest = url + strlen(schemes[i].scheme);
			t->tls = schemes[i].tls;
			t->port = t->tls ? 443 : PORT_USUAL;
		}
	if (!rest)
		return fail_target(err, "not an http:// or https:// URL");
	len = strcspn(rest, "/?#");
	if (memchr(rest, '@', len))
		return fail_target(err, "a URL with a password; put it into "
					"OTEL_EXPORTER_OTLP_HEADERS");
	if (rest[len] == '?' || strchr(rest, '#') || !is_path(rest + len))
		return fail_target(err, "invalid path");
	if (parse_authority(rest, len, t, err) < 0)
		return -1;
	t->authority = ab_strndup(rest, len);
	t->path = ab_strdup(rest[len] == '\0' || strcmp(rest + len, "/") == 0 ? "/v1/logs"
									      : rest + len);
	return 0;
}

int ab_otlp_target_parse(const char *audit, const char *headers, struct ab_otlp_target *ret,
			 struct ab_error *err)
{
	struct ab_otlp_target t = { 0 };
	int result = parse_url(audit + strlen(AB_OTLP_PREFIX), &t, err);

	if (result == 0 && !parse_headers(headers ? headers : "", &t.headers))
		result = fail_target(err, "invalid OTEL_EXPORTER_OTLP_HEADERS; use name=value,...");
	if (result < 0)
		ab_otlp_target_fini(&t);
	else
		*ret = t;
	return result;
}

void ab_otlp_target_fini(struct ab_otlp_target *target)
{
	ab_free_all(target->authority, target->path, target->headers);
	*target = (struct ab_otlp_target){ 0 };
}
