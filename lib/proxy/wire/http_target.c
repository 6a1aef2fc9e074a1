#include "proxy/wire/http.h"

#include <string.h>

static bool read_port(struct ab_http_text s, uint16_t *ret)
{
	return s.len && s.s[0] != '0' && ab_port_parse(s.s, s.len, ret);
}

bool ab_http_authority(struct ab_http_text s, struct ab_host *ret_host, uint16_t *ret_port)
{
	bool bracket = s.len && s.s[0] == '[';
	const char *colon = memrchr(s.s, ':', s.len);
	const char *close = bracket ? memrchr(s.s, ']', s.len) : NULL;
	size_t n = s.len;
	uint16_t port = 0;

	/* Ignore colons inside brackets: they belong to an IPv6 address. */
	if (colon && (!bracket || (close && colon > close))) {
		n = (size_t)(colon - s.s);
		if (memchr(s.s, ':', n) && !bracket)
			return false;
		if (!read_port((struct ab_http_text){ colon + 1, s.len - n - 1 }, &port))
			return false;
	}
	if (bracket && (n < 2 || s.s[n - 1] != ']'))
		return false;
	if (ab_host_parse(s.s, n, ret_host, NULL) < 0)
		return false;
	*ret_port = port;
	return true;
}

static const struct ab_http_field *find_host(const struct ab_http_head *head)
{
	for (size_t i = 0; i < head->nfields; i++)
		if (head->fields[i].id == AB_HTTP_HOST)
			return &head->fields[i];
	return NULL;
}

/* http://host:port/path?query */
static const char *read_absolute(struct ab_http_request *rq)
{
	struct ab_http_text rest = { rq->target.s + 7, rq->target.len - 7 };
	struct ab_http_text authority = { rest.s, 0 };

	while (authority.len < rest.len && rest.s[authority.len] != '/' &&
	       rest.s[authority.len] != '?')
		authority.len++;
	if (memchr(authority.s, '@', authority.len))
		return "user name in the target";
	if (!ab_http_authority(authority, &rq->host, &rq->port))
		return "malformed host in the target";
	rq->form = AB_HTTP_ABSOLUTE;
	rq->has_host = true;
	rq->path = (struct ab_http_text){ rest.s + authority.len, rest.len - authority.len };
	return NULL;
}

static const char *read_connect(struct ab_http_request *rq)
{
	if (!ab_http_authority(rq->target, &rq->host, &rq->port) || !rq->port)
		return "CONNECT needs host:port";
	if (rq->head.body != AB_HTTP_NONE)
		return "CONNECT with a body";
	rq->form = AB_HTTP_AUTHORITY;
	rq->path = (struct ab_http_text){ rq->target.s, 0 };
	rq->has_host = true;
	return NULL;
}

static const char *read_target(struct ab_http_request *rq)
{
	struct ab_http_text t = rq->target;

	for (size_t i = 0; i < t.len; i++)
		if (t.s[i] == '\t' || t.s[i] == '#')
			return "invalid character in the target";
	if (ab_http_is_exactly(rq->method, "CONNECT"))
		return read_connect(rq);
	rq->path = t;
	if (t.s[0] == '/') {
		rq->form = AB_HTTP_ORIGIN;
		return NULL;
	}
	if (ab_http_is_exactly(t, "*")) {
		rq->form = AB_HTTP_ASTERISK;
		return ab_http_is_exactly(rq->method, "OPTIONS")
			       ? NULL
			       : "target * is valid with OPTIONS only";
	}
	if (t.len >= 7 && ab_http_is((struct ab_http_text){ t.s, 7 }, "http://"))
		return read_absolute(rq);
	if (memmem(t.s, t.len, "://", 3))
		return "use CONNECT for https://; only http:// URLs can be requested";
	return "malformed target";
}

/* Is it the same authority? A missing port means the default. */
static bool is_same_authority(const struct ab_http_request *rq, const struct ab_host *host,
			      uint16_t port)
{
	uint16_t usual = rq->form == AB_HTTP_AUTHORITY ? rq->port : 80;

	return strcmp(rq->host.text, host->text) == 0 &&
	       (rq->port ? rq->port : usual) == (port ? port : usual);
}

const char *ab_http_target(struct ab_http_request *rq, bool local)
{
	const struct ab_http_field *f = find_host(&rq->head);
	const char *why = read_target(rq);
	struct ab_host host;
	uint16_t port;

	if (why)
		return why;
	/* CONNECT is not forwarded and needs only its target; from 1.1 on every
	 * other request needs a Host. */
	if (!f)
		return rq->head.minor && rq->form != AB_HTTP_AUTHORITY ? "no Host field" : NULL;
	if (!ab_http_authority(f->value, &host, &port))
		return local ? NULL : "malformed Host field";
	if (rq->has_host)
		return is_same_authority(rq, &host, port) ? NULL : "Host differs from the target";
	rq->has_host = true;
	rq->host = host;
	rq->port = port;
	return NULL;
}
