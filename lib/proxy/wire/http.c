#include "proxy/wire/http.h"

#include "base/text/units.h"
#include "base/text/words.h"

enum {
	ONCE = 1,    /* a second one makes the head malformed */
	UNNAMED = 2, /* end-to-end: Connection must not name it */
};

static const struct {
	const char *name;
	enum ab_http_name id;
	unsigned flags;
} known[] = {
	{ "connection", AB_HTTP_CONNECTION, 0 },
	{ "content-length", AB_HTTP_CONTENT_LENGTH, ONCE | UNNAMED },
	{ "expect", AB_HTTP_EXPECT, 0 },
	{ "host", AB_HTTP_HOST, ONCE | UNNAMED },
	{ "http2-settings", AB_HTTP_HTTP2_SETTINGS, 0 },
	{ "keep-alive", AB_HTTP_HOP, 0 },
	{ "proxy-authenticate", AB_HTTP_HOP, 0 },
	{ "proxy-authentication-info", AB_HTTP_HOP, 0 },
	{ "proxy-authorization", AB_HTTP_HOP, 0 },
	{ "proxy-connection", AB_HTTP_HOP, 0 },
	{ "te", AB_HTTP_TE, 0 },
	{ "trailer", AB_HTTP_TRAILER, 0 },
	{ "transfer-encoding", AB_HTTP_TRANSFER_ENCODING, ONCE | UNNAMED },
	{ "upgrade", AB_HTTP_UPGRADE, 0 },
};

/* Upgrades to these protocols would hide requests from the filter (matched by
 * prefix). */
static const char *const unjudged[] = { "h2", "http", "tls" };

bool ab_http_begins(struct ab_http_text s, const char *word)
{
	size_t n = strlen(word);

	return s.len >= n && strncasecmp(s.s, word, n) == 0;
}

bool ab_http_is_exactly(struct ab_http_text s, const char *word)
{
	return s.len == strlen(word) && memcmp(s.s, word, s.len) == 0;
}

bool ab_http_is(struct ab_http_text s, const char *word)
{
	return s.len == strlen(word) && ab_http_begins(s, word);
}

bool ab_http_is_one(struct ab_http_text s, const char *words)
{
	const char *word;

	for (size_t n; (word = ab_word_next(&words, &n));)
		if (s.len == n && strncasecmp(s.s, word, n) == 0)
			return true;
	return false;
}

bool ab_http_tchar(int c)
{
	return ab_is_alnum(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

bool ab_http_token(struct ab_http_text s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!ab_http_tchar(s.s[i]))
			return false;
	return s.len > 0;
}

bool ab_http_status(struct ab_http_text s, int *ret)
{
	if (s.len != 3 || s.s[0] < '1' || s.s[0] > '9' || !ab_is_digit(s.s[1]) ||
	    !ab_is_digit(s.s[2]))
		return false;
	*ret = (s.s[0] - '0') * 100 + (s.s[1] - '0') * 10 + s.s[2] - '0';
	return true;
}

static int find_known(struct ab_http_text name)
{
	for (size_t i = 0; i < AB_COUNT(known); i++)
		if (ab_http_is(name, known[i].name))
			return (int)i;
	return -1;
}

enum ab_http_name ab_http_name(struct ab_http_text name)
{
	int i = find_known(name);

	return i < 0 ? AB_HTTP_OTHER : known[i].id;
}

static ssize_t reject_head(struct ab_http_scan *scan, int status, const char *why)
{
	scan->why = why;
	return -status;
}

/* The length of the head. It also rejects control bytes, so later code need not
 * handle them. */
static ssize_t find_end(struct ab_http_scan *scan, const uint8_t *data, size_t len)
{
	enum { FIRST_MAX = AB_HTTP_METHOD_MAX + AB_HTTP_TARGET_MAX + 16 };
	size_t limit = len < AB_HTTP_HEAD_MAX ? len : AB_HTTP_HEAD_MAX;

	for (; scan->at < limit; scan->at++) {
		uint8_t c = data[scan->at];
		bool first = scan->at == scan->line;

		if (c == '\r') {
			if (scan->at + 1 >= limit)
				break;
			if (data[scan->at + 1] != '\n')
				return reject_head(scan, 400, "CR without LF");
			if (first && !scan->lines)
				return reject_head(scan, 400, "empty first line");
			if (first)
				return (ssize_t)scan->at + 2;
			if (++scan->lines > AB_HTTP_FIELDS + 1)
				return reject_head(scan, 431, "more than 128 header fields");
			scan->at++;
			scan->line = scan->at + 1;
		} else if (c == '\n') {
			return reject_head(scan, 400, "line ends without CR");
		} else if ((c < 0x20 && c != '\t') || c == 0x7f) {
			return reject_head(scan, 400, "control character");
		} else if (first && ab_is_blank(c)) {
			return reject_head(scan, 400, "folded line");
		} else if (!scan->lines && scan->at > FIRST_MAX) {
			return reject_head(scan, 414, "first line too long");
		}
	}
	if (len >= AB_HTTP_HEAD_MAX)
		return reject_head(scan, 431, "head longer than 64 KiB");
	return 0;
}

/* The next line without its CRLF, which find_end has seen. */
static struct ab_http_text take_line(struct ab_http_text *rest)
{
	const char *end = memchr(rest->s, '\r', rest->len);
	struct ab_http_text line = { rest->s, (size_t)(end - rest->s) };

	rest->s += line.len + 2;
	rest->len -= line.len + 2;
	return line;
}

struct ab_http_text ab_http_until(struct ab_http_text *rest, char c)
{
	const char *end = rest->len ? memchr(rest->s, c, rest->len) : NULL;
	struct ab_http_text part = { rest->s, end ? (size_t)(end - rest->s) : rest->len };

	rest->s += part.len + (end != NULL);
	rest->len -= part.len + (end != NULL);
	return part;
}

bool ab_http_decodes_to(struct ab_http_text s, const char *word)
{
	size_t at = 0;

	while (at < s.len && *word)
		if (ab_percent_next(s.s, s.len, &at) != (unsigned char)*word++)
			return false;
	return at == s.len && !*word;
}

bool ab_http_decodes_to_one(struct ab_http_text s, const char *const words[], size_t n)
{
	while (n && !ab_http_decodes_to(s, words[n - 1]))
		n--;
	return n > 0;
}

bool ab_http_parameter(struct ab_http_text *query, struct ab_http_text *ret_name,
		       struct ab_http_text *ret_value)
{
	struct ab_http_text parameter = { 0 };

	while (query->len && !parameter.len)
		parameter = ab_http_until(query, '&');
	if (!parameter.len)
		return false;
	*ret_name = ab_http_until(&parameter, '=');
	*ret_value = parameter;
	return true;
}

static struct ab_http_text trim_blanks(struct ab_http_text s)
{
	while (s.len && ab_is_blank(s.s[0])) {
		s.s++;
		s.len--;
	}
	while (s.len && ab_is_blank(s.s[s.len - 1]))
		s.len--;
	return s;
}

/* "1.0" or "1.1" after "HTTP/". */
static bool take_version(struct ab_http_text s, int *ret_minor)
{
	if (s.len != 8 || memcmp(s.s, "HTTP/1.", 7) != 0 || (s.s[7] != '0' && s.s[7] != '1'))
		return false;
	*ret_minor = s.s[7] - '0';
	return true;
}

static const char *add_options(struct ab_http_head *head, struct ab_http_text value)
{
	while (value.len) {
		struct ab_http_text word = trim_blanks(ab_http_until(&value, ','));
		int i = find_known(word);

		if (!word.len)
			continue;
		if (!ab_http_token(word))
			return "malformed Connection field";
		if (i >= 0 && known[i].flags & UNNAMED)
			return "Connection names an end-to-end field";
		if (head->noptions == AB_HTTP_OPTIONS)
			return "too many options in Connection";
		head->options[head->noptions++] = word;
	}
	return NULL;
}

static const char *add_field(struct ab_http_head *head, struct ab_http_text line, unsigned *seen)
{
	struct ab_http_field *f = &head->fields[head->nfields++];
	int i;

	if (!memchr(line.s, ':', line.len))
		return "header field without a colon";
	f->secret = false;
	f->name = ab_http_until(&line, ':');
	f->value = trim_blanks(line);
	if (!ab_http_token(f->name))
		return "malformed header field name";
	i = find_known(f->name);
	f->id = i < 0 ? AB_HTTP_OTHER : known[i].id;
	if (i >= 0 && known[i].flags & ONCE && *seen & 1u << f->id)
		return "duplicate header field that must be unique";
	*seen |= 1u << f->id;
	return f->id == AB_HTTP_CONNECTION ? add_options(head, f->value) : NULL;
}

bool ab_http_encoded(const struct ab_http_head *head)
{
	/* The second is about each message in the body. */
	for (size_t i = 0; i < head->nfields; i++)
		if (ab_http_is_one(head->fields[i].name, "content-encoding grpc-encoding") &&
		    !ab_http_is(head->fields[i].value, "identity"))
			return true;
	return false;
}

/* "bytes 0-3/10". With an asterisk for the first part it says that there is no such part. Without a unit
 * ("0-24/319") it counts rows of a table, as PostgREST does in every answer. */
static bool names_part(struct ab_http_text value)
{
	struct ab_http_text unit = ab_http_until(&value, ' ');

	if (!value.len && memchr(unit.s, '/', unit.len))
		return unit.s[0] != '*' && !ab_is_digit(unit.s[0]);
	value = trim_blanks(value);
	return !value.len || value.s[0] != '*';
}

bool ab_http_partial(const struct ab_http_response *rs)
{
	enum { PARTIAL = 206, DIFFERENCE = 226 };

	if (rs->status == PARTIAL || rs->status == DIFFERENCE)
		return true;
	for (size_t i = 0; i < rs->head.nfields; i++) {
		const struct ab_http_field *f = &rs->head.fields[i];

		if ((ab_http_is(f->name, "content-range") && names_part(f->value)) ||
		    ab_http_is(f->name, "im") ||
		    (ab_http_is(f->name, "content-type") &&
		     (ab_http_begins(f->value, "multipart/byteranges") ||
		      ab_http_begins(f->value, "multipart/x-byteranges"))))
			return true;
	}
	return false;
}

const struct ab_http_field *ab_http_find(const struct ab_http_head *head, const char *name)
{
	for (size_t i = 0; i < head->nfields; i++)
		if (ab_http_is(head->fields[i].name, name))
			return &head->fields[i];
	return NULL;
}

void ab_http_remove(struct ab_http_head *head, const char *name)
{
	for (size_t k = head->nfields; k-- > 0;)
		if (ab_http_is(head->fields[k].name, name))
			memmove(&head->fields[k], &head->fields[k + 1],
				(--head->nfields - k) * sizeof(head->fields[0]));
}

bool ab_http_grpc(const struct ab_http_head *head)
{
	const struct ab_http_field *type = ab_http_find(head, "content-type");

	return type && ab_http_begins(type->value, "application/grpc");
}

bool ab_http_upgrades_to(const struct ab_http_head *head, const char *protocol)
{
	const struct ab_http_field *upgrade = ab_http_find(head, "upgrade");

	return upgrade && ab_http_is(upgrade->value, protocol);
}

const char *ab_http_bad_switch(const struct ab_http_response *rs, bool asked)
{
	if (!asked)
		return "unrequested protocol switch";
	if (!rs->head.minor)
		return "protocol switch in HTTP/1.0";
	/* A client can make some servers return any status. A server that
	 * continues with HTTP would then get requests that were not judged. */
	return rs->head.upgrade ? NULL : "protocol switch without an Upgrade field";
}

bool ab_http_option(const struct ab_http_head *head, struct ab_http_text word)
{
	for (size_t i = 0; i < head->noptions; i++)
		if (head->options[i].len == word.len &&
		    strncasecmp(head->options[i].s, word.s, word.len) == 0)
			return true;
	return false;
}

static bool has_option(const struct ab_http_head *head, const char *word)
{
	return ab_http_option(head, ab_http_text(word));
}

static bool is_unjudged(struct ab_http_text protocols)
{
	while (protocols.len) {
		struct ab_http_text word = trim_blanks(ab_http_until(&protocols, ','));

		for (size_t i = 0; i < AB_COUNT(unjudged); i++)
			if (ab_http_begins(word, unjudged[i]))
				return true;
	}
	return false;
}

/* Read the header fields. On entry head->body is the default if none of them
 * describes a body. */
static ssize_t read_fields(struct ab_http_scan *scan, struct ab_http_text rest,
			   struct ab_http_head *head)
{
	const struct ab_http_field *length = NULL, *coding = NULL;
	unsigned seen = 0;

	while (rest.len > 2) {
		const char *why = add_field(head, take_line(&rest), &seen);

		if (why)
			return reject_head(scan, 400, why);
	}
	head->keep = !has_option(head, "close") && (head->minor || has_option(head, "keep-alive"));
	for (size_t i = 0; i < head->nfields; i++) {
		const struct ab_http_field *f = &head->fields[i];

		if (f->id == AB_HTTP_CONTENT_LENGTH)
			length = f;
		else if (f->id == AB_HTTP_TRANSFER_ENCODING)
			coding = f;
		else if (f->id == AB_HTTP_EXPECT)
			head->expect |= ab_http_is(f->value, "100-continue");
		else if (f->id == AB_HTTP_UPGRADE) {
			head->upgrade = has_option(head, "upgrade");
			head->upgrade_unjudged |= is_unjudged(f->value);
		}
	}
	if (head->upgrade_unjudged)
		head->upgrade = false;
	if (length && coding)
		return reject_head(scan, 400, "both Content-Length and Transfer-Encoding");
	if (length) {
		if (!ab_parse_digits(length->value.s, length->value.len, &head->length))
			return reject_head(scan, 400, "invalid Content-Length");
		head->body = head->length ? AB_HTTP_LENGTH : AB_HTTP_NONE;
	}
	if (coding) {
		if (!ab_http_is(coding->value, "chunked"))
			return reject_head(scan, 501, "Transfer-Encoding other than \"chunked\"");
		if (!head->minor)
			return reject_head(scan, 400, "Transfer-Encoding in HTTP/1.0");
		head->body = AB_HTTP_CHUNKED;
	}
	return 0;
}

static bool read_port(struct ab_http_text s, uint16_t *ret)
{
	return s.len && s.s[0] != '0' && ab_port_parse(s.s, s.len, ret);
}

/* "host", "host:80", "[::1]:80". */
static bool read_authority(struct ab_http_text s, struct ab_host *ret_host, uint16_t *ret_port)
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
	if (!read_authority(authority, &rq->host, &rq->port))
		return "malformed host in the target";
	rq->form = AB_HTTP_ABSOLUTE;
	rq->has_host = true;
	rq->path = (struct ab_http_text){ rest.s + authority.len, rest.len - authority.len };
	return NULL;
}

static const char *read_connect(struct ab_http_request *rq)
{
	if (!read_authority(rq->target, &rq->host, &rq->port) || !rq->port)
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
	if (ab_http_begins(t, "http://"))
		return read_absolute(rq);
	if (ab_http_begins(t, "https://"))
		return "use CONNECT for https://; only http:// URLs can be requested";
	if (ab_http_begins(t, "ftp://"))
		return "ftp:// URLs cannot be requested: the proxy has no FTP; use the site's http:// or "
		       "https:// URL";
	if (memmem(t.s, t.len, "://", 3))
		return "only http:// URLs can be requested; use CONNECT for other protocols";
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

/* Fills form, path, host and port from method, target and fields; `local` as in
 * struct ab_http_scan. NULL, or why it is malformed. */
static const char *settle_target(struct ab_http_request *rq, bool local)
{
	const struct ab_http_field *f = ab_http_find(&rq->head, "host");
	const char *why = read_target(rq);
	struct ab_host host;
	uint16_t port;

	if (why)
		return why;
	/* CONNECT is not forwarded and needs only its target; from 1.1 on every
	 * other request needs a Host. */
	if (!f)
		return rq->head.minor && rq->form != AB_HTTP_AUTHORITY ? "no Host field" : NULL;
	if (!read_authority(f->value, &host, &port))
		return local ? NULL : "malformed Host field";
	if (rq->has_host)
		return is_same_authority(rq, &host, port) ? NULL : "Host differs from the target";
	rq->has_host = true;
	rq->host = host;
	rq->port = port;
	return NULL;
}

ssize_t ab_http_read_request(struct ab_http_scan *scan, const void *data, size_t len,
			     struct ab_http_request *ret)
{
	ssize_t end = find_end(scan, data, len), r;
	struct ab_http_text rest, line;
	const char *why;

	if (end <= 0)
		return end;
	memset(ret, 0, offsetof(struct ab_http_request, head.fields));
	ret->head.size = (size_t)end;
	rest = (struct ab_http_text){ data, (size_t)end };
	line = take_line(&rest);
	ret->method = ab_http_until(&line, ' ');
	ret->target = ab_http_until(&line, ' ');
	if (!ab_http_token(ret->method) || !ret->target.len || !line.len)
		return reject_head(scan, 400, "invalid request line");
	if (!take_version(line, &ret->head.minor))
		return line.len == 8 && memcmp(line.s, "HTTP/", 5) == 0
			       ? reject_head(scan, 505, "not HTTP/1.0 or 1.1")
			       : reject_head(scan, 400, "invalid request line");
	if (ret->method.len > AB_HTTP_METHOD_MAX)
		return reject_head(scan, 501, "method too long");
	if (ret->target.len > AB_HTTP_TARGET_MAX)
		return reject_head(scan, 414, "target longer than 16 KiB");
	r = read_fields(scan, rest, &ret->head);
	if (r < 0)
		return r;
	why = settle_target(ret, scan->local);
	return why ? reject_head(scan, 400, why) : end;
}

ssize_t ab_http_read_response(struct ab_http_scan *scan, const void *data, size_t len, bool to_head,
			      struct ab_http_response *ret)
{
	ssize_t end = find_end(scan, data, len), r;
	struct ab_http_head *head = &ret->head;
	struct ab_http_text rest, line;

	if (end <= 0)
		return end ? reject_head(scan, 502, scan->why) : 0;
	memset(ret, 0, offsetof(struct ab_http_response, head.fields));
	head->size = (size_t)end;
	rest = (struct ab_http_text){ data, (size_t)end };
	line = take_line(&rest);
	if (!take_version(ab_http_until(&line, ' '), &head->minor))
		return reject_head(scan, 502, "not HTTP/1.0 or 1.1");
	if (!ab_http_status(ab_http_until(&line, ' '), &ret->status))
		return reject_head(scan, 502, "invalid status line");
	ret->reason = line;
	head->body = AB_HTTP_CLOSE;
	r = read_fields(scan, rest, head);
	if (r < 0)
		return reject_head(scan, 502, scan->why);
	/* Some clients would believe the length rather than the status. */
	if ((ret->status < 200 || ret->status == 204) &&
	    (head->body == AB_HTTP_LENGTH || head->body == AB_HTTP_CHUNKED))
		return reject_head(scan, 502, "body not allowed with its status");
	if (to_head || ret->status < 200 || ret->status == 204 || ret->status == 304)
		head->body = AB_HTTP_NONE;
	if (head->body == AB_HTTP_CLOSE)
		head->keep = false;
	return end;
}
