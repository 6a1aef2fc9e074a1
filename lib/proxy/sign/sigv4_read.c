/* Reads what a request says about its AWS signature. */
#include "proxy/sign/sigv4.h"

#include "base/text/units.h"

#define ALGORITHM "AWS4-HMAC-SHA256"

static struct ab_http_text query_of(const struct ab_http_request *rq)
{
	struct ab_http_text query = rq->path;

	ab_http_until(&query, '?');
	return query;
}

const char *const ab_sigv4_own[AB_SIGV4_OWN + 1] = { "X-Amz-Credential", "X-Amz-Security-Token",
						     "X-Amz-Signature", "X-Amz-Expires" };

/* "AWS4-..." or, of version 2, "AWS ID:SIGNATURE". */
static bool is_aws_login(const struct ab_http_field *f)
{
	return ab_http_is(f->name, "authorization") &&
	       (ab_http_begins(f->value, "aws4") || ab_http_begins(f->value, "aws ") ||
		ab_http_begins(f->value, "aws3"));
}

enum ab_sigv4_place ab_sigv4_find(const struct ab_http_request *rq)
{
	static const char *const marks[] = { "X-Amz-Algorithm", "X-Amz-Signature",
					     "X-Amz-Credential", "AWSAccessKeyId" };
	struct ab_http_text query = query_of(rq), name, value;

	for (size_t i = 0; i < rq->head.nfields; i++)
		if (is_aws_login(&rq->head.fields[i]))
			return AB_SIGV4_FIELD;
	while (ab_http_parameter(&query, &name, &value))
		if (ab_http_decodes_to_one(name, marks, AB_COUNT(marks)))
			return AB_SIGV4_QUERY;
	return AB_SIGV4_NOWHERE;
}

/* The only field of that name. NULL: ret is set, empty if there is none. */
static const char *find_field(const struct ab_http_head *head, const char *name,
			      struct ab_http_text *ret)
{
	bool any = false;

	*ret = (struct ab_http_text){ "", 0 };
	for (size_t i = 0; i < head->nfields; i++) {
		if (!ab_http_is(head->fields[i].name, name))
			continue;
		if (any)
			return "a header of the signature is there twice";
		*ret = head->fields[i].value;
		any = true;
	}
	return NULL;
}

static bool copy_text(struct ab_http_text s, char *ret, size_t room)
{
	if (!s.len || s.len >= room)
		return false;
	memcpy(ret, s.s, s.len);
	ret[s.len] = '\0';
	return true;
}

/* Percent-decoded; printable ASCII only. */
static bool copy_decoded(struct ab_http_text s, char *ret, size_t room)
{
	size_t n = 0;

	for (size_t at = 0; at < s.len;) {
		unsigned char c = ab_percent_next(s.s, s.len, &at);

		if (n + 1 >= room || c <= ' ' || c > '~')
			return false;
		ret[n++] = (char)c;
	}
	ret[n] = '\0';
	return n > 0;
}

/* One of the words of a scope: up to the next slash. */
static bool take_word(const char **at, char *ret, size_t room)
{
	size_t n = strcspn(*at, "/");

	if (!n || n >= room || !ab_has_only(*at, n, "-_."))
		return false;
	memcpy(ret, *at, n);
	ret[n] = '\0';
	*at += n;
	*at += **at == '/';
	return true;
}

/* "ID/20150830/us-east-1/service/aws4_request" */
static bool read_credential(const char *text, struct ab_sigv4 *ret)
{
	return take_word(&text, ret->id, sizeof(ret->id)) &&
	       take_word(&text, ret->day, sizeof(ret->day)) &&
	       take_word(&text, ret->region, sizeof(ret->region)) &&
	       take_word(&text, ret->service, sizeof(ret->service)) &&
	       strcmp(text, "aws4_request") == 0;
}

static bool read_signature(const char *text, struct ab_sigv4 *ret)
{
	if (strlen(text) != 64)
		return false;
	for (size_t i = 0; i < 64; i++)
		if (!ab_is_digit(text[i]) && (text[i] < 'a' || text[i] > 'f'))
			return false;
	memcpy(ret->signature, text, 65);
	return true;
}

/* Since 1970. Without the C library, which reads the time zone for this. */
static int64_t days_before(int year, int month, int day)
{
	static const int month_days[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 };
	/* Leap days up to the last February. */
	int64_t y = month > 2 ? year : year - 1;
	int64_t leap = y / 4 - y / 100 + y / 400 - (1969 / 4 - 1969 / 100 + 1969 / 400);

	return (year - 1970) * 365LL + leap + month_days[month - 1] + day - 1;
}

/* "20150830T123600Z" of the day of the scope. */
static bool read_time(const char *text, struct ab_sigv4 *ret)
{
	size_t n = strlen(text);
	int year, month, day, hour, minute, second;

	if (n != 16 || text[8] != 'T' || text[15] != 'Z')
		return false;
	for (size_t i = 0; i < 15; i++)
		if (i != 8 && !ab_is_digit(text[i]))
			return false;
	if (sscanf(text, "%4d%2d%2dT%2d%2d%2d", &year, &month, &day, &hour, &minute, &second) !=
		    6 ||
	    year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 ||
	    minute > 59 || second > 60)
		return false;
	ret->time = ((days_before(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
	memcpy(ret->at, text, 17);
	return strncmp(ret->day, text, 8) == 0 && strlen(ret->day) == 8;
}

/* Sorted, no name twice, with "host". */
static const char *check_names(const char *names)
{
	const char *last = "";
	size_t last_len = 0, n = 0;
	bool host = false;

	for (const char *s = names;;) {
		size_t len = strcspn(s, ";");
		size_t least = len < last_len ? len : last_len;
		int order = memcmp(last, s, least);

		if (!len || len > AB_SIGV4_NAME || ++n > AB_SIGV4_NAMES ||
		    !ab_has_only(s, len, "-_.!#$%&'*+^`|~"))
			return "its list of signed headers is malformed";
		for (size_t i = 0; i < len; i++)
			if (s[i] != (char)ab_lower(s[i]))
				return "its list of signed headers is not in lower case";
		if (n > 1 && (order > 0 || (order == 0 && last_len >= len)))
			return "its list of signed headers is not sorted";
		host |= len == 4 && memcmp(s, "host", 4) == 0;
		last = s;
		last_len = len;
		s += len;
		if (!*s)
			break;
		s++;
	}
	return host ? NULL : "it does not sign the Host header";
}

static enum ab_sigv4_payload read_payload(const char *s)
{
	static const struct word {
		const char *word;
		enum ab_sigv4_payload payload;
	} words[] = {
		{ "", AB_SIGV4_ABSENT },
		{ "UNSIGNED-PAYLOAD", AB_SIGV4_UNSIGNED },
		{ "STREAMING-UNSIGNED-PAYLOAD-TRAILER", AB_SIGV4_UNSIGNED },
		{ "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", AB_SIGV4_CHUNKS },
		{ "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", AB_SIGV4_TRAILER },
	};
	const struct word *known = ab_find_row(words, AB_COUNT(words), word, s);
	size_t n = strlen(s);

	if (known)
		return known->payload;
	for (size_t i = 0; i < n; i++)
		if (ab_hex(s[i]) < 0)
			return AB_SIGV4_UNKNOWN;
	return n == 64 ? AB_SIGV4_HASH : AB_SIGV4_UNKNOWN;
}

static const char *read_content(struct ab_http_text text, struct ab_sigv4 *ret)
{
	if (text.len && !copy_text(text, ret->content, sizeof(ret->content)))
		return "its x-amz-content-sha256 is malformed";
	ret->payload = read_payload(ret->content);
	return NULL;
}

enum { P_ALGORITHM, P_CREDENTIAL, P_DATE, P_EXPIRES, P_SIGNED, P_SIGNATURE, P_TOKEN, P_CONTENT };

static const char *const parameters[] = {
	[P_ALGORITHM] = "X-Amz-Algorithm",
	[P_CREDENTIAL] = "X-Amz-Credential",
	[P_DATE] = "X-Amz-Date",
	[P_EXPIRES] = "X-Amz-Expires",
	[P_SIGNED] = "X-Amz-SignedHeaders",
	[P_SIGNATURE] = "X-Amz-Signature",
	[P_TOKEN] = "X-Amz-Security-Token",
	[P_CONTENT] = "X-Amz-Content-Sha256",
};

/* The parts that say which key has signed what; `copy`: how their texts are read. */
static bool read_parts(const struct ab_http_text v[],
		       bool (*copy)(struct ab_http_text s, char *ret, size_t room),
		       struct ab_sigv4 *ret)
{
	char credential[AB_SIGV4_ID + 2 * AB_SIGV4_WORD + 32], signature[80];

	return v[P_CREDENTIAL].s && copy(v[P_CREDENTIAL], credential, sizeof(credential)) &&
	       read_credential(credential, ret) && v[P_SIGNED].s &&
	       copy(v[P_SIGNED], ret->signed_names, sizeof(ret->signed_names)) &&
	       v[P_SIGNATURE].s && copy(v[P_SIGNATURE], signature, sizeof(signature)) &&
	       read_signature(signature, ret);
}

/* "Name=value" between commas and blanks. */
static bool next_component(struct ab_http_text *s, struct ab_http_text *ret_name,
			   struct ab_http_text *ret_value)
{
	while (s->len && (ab_is_blank(s->s[0]) || s->s[0] == ',')) {
		s->s++;
		s->len--;
	}
	if (!s->len)
		return false;
	*ret_value = ab_http_until(s, ',');
	*ret_name = ab_http_until(ret_value, '=');
	while (ret_value->len && ab_is_blank(ret_value->s[ret_value->len - 1]))
		ret_value->len--;
	return true;
}

static const char *read_login(struct ab_http_text login, struct ab_sigv4 *ret)
{
	static const char malformed[] = "its Authorization header is malformed";
	struct ab_http_text v[AB_COUNT(parameters)] = { 0 }, name, value;

	if (ab_http_begins(login, "aws4-ecdsa"))
		return "it uses SigV4A (AWS4-ECDSA-P256-SHA256), which cannot be signed anew; "
		       "use SigV4 with one region";
	if (login.len < sizeof(ALGORITHM) || memcmp(login.s, ALGORITHM " ", sizeof(ALGORITHM)) != 0)
		return "only AWS4-HMAC-SHA256 signatures can be signed anew; set the client to "
		       "signature version 4";
	login.s += sizeof(ALGORITHM);
	login.len -= sizeof(ALGORITHM);
	while (next_component(&login, &name, &value)) {
		/* Their names are those of the parameters, without the prefix. */
		static const size_t parts[] = { P_CREDENTIAL, P_SIGNED, P_SIGNATURE };
		size_t i = 0;

		while (i < AB_COUNT(parts) &&
		       !ab_http_is_exactly(name, parameters[parts[i]] + strlen("X-Amz-")))
			i++;
		if (i == AB_COUNT(parts) || v[parts[i]].s)
			return malformed;
		v[parts[i]] = value;
	}
	return read_parts(v, copy_text, ret) ? NULL : malformed;
}

static const char *read_field(const struct ab_http_request *rq, struct ab_sigv4 *ret)
{
	struct ab_http_text login, date, content;
	const char *why = find_field(&rq->head, "authorization", &login);
	char at[32];

	if (!why)
		why = find_field(&rq->head, "x-amz-date", &date);
	if (!why)
		why = find_field(&rq->head, "x-amz-content-sha256", &content);
	if (!why)
		why = find_field(&rq->head, "x-amz-security-token", &ret->token);
	if (!why)
		why = read_login(login, ret);
	if (!why)
		why = read_content(content, ret);
	if (why)
		return why;
	ret->has_token = ret->token.len > 0;
	if (!copy_text(date, at, sizeof(at)) || !read_time(at, ret))
		return "it has no x-amz-date of the day that its signature names";
	return NULL;
}

static bool read_number(const char *s, uint32_t most, uint32_t *ret)
{
	uint64_t n;

	if (strlen(s) > 9 || !ab_parse_digits(s, strlen(s), &n))
		return false;
	*ret = (uint32_t)n;
	return n > 0 && n <= most;
}

/* NULL, or why. */
static const char *gather_parameters(struct ab_http_text query,
				     struct ab_http_text ret[AB_COUNT(parameters)])
{
	struct ab_http_text name, value;

	while (ab_http_parameter(&query, &name, &value))
		for (size_t i = 0; i < AB_COUNT(parameters); i++) {
			if (!ab_http_decodes_to(name, parameters[i]))
				continue;
			if (ret[i].s)
				return "a parameter of its signature is there twice";
			ret[i] = value;
		}
	return NULL;
}

static const char *read_query(const struct ab_http_request *rq, struct ab_sigv4 *ret)
{
	struct ab_http_text v[AB_COUNT(parameters)] = { 0 }, content;
	const char *why = gather_parameters(query_of(rq), v);
	char text[80];

	if (why)
		return why;
	if (!v[P_ALGORITHM].s || !ab_http_decodes_to(v[P_ALGORITHM], ALGORITHM))
		return "only AWS4-HMAC-SHA256 signatures can be signed anew; set the client to "
		       "signature version 4";
	if (!read_parts(v, copy_decoded, ret))
		return "the parameters of its signature are malformed";
	if (!v[P_DATE].s || !copy_decoded(v[P_DATE], text, sizeof(text)) || !read_time(text, ret))
		return "it has no X-Amz-Date of the day that its signature names";
	if (!v[P_EXPIRES].s || !copy_decoded(v[P_EXPIRES], text, sizeof(text)) ||
	    !read_number(text, AB_SIGV4_EXPIRES_MAX, &ret->expires))
		return "its X-Amz-Expires is not a number of seconds up to seven days";
	ret->has_token = v[P_TOKEN].s != NULL;
	ret->token = v[P_TOKEN];
	why = find_field(&rq->head, "x-amz-content-sha256", &content);
	return why ? why : read_content(v[P_CONTENT].s ? v[P_CONTENT] : content, ret);
}

const char *ab_sigv4_read(const struct ab_http_request *rq, struct ab_sigv4 *ret)
{
	struct ab_http_text query = query_of(rq), name, value;
	const char *why;

	*ret = (struct ab_sigv4){ .place = ab_sigv4_find(rq) };
	if (ret->place == AB_SIGV4_QUERY) {
		why = read_query(rq, ret);
		return why ? why : check_names(ret->signed_names);
	}
	while (ab_http_parameter(&query, &name, &value))
		if (ab_http_decodes_to_one(name, ab_sigv4_own, AB_SIGV4_OWN))
			return "it has a signature both in its URL and in Authorization";
	why = read_field(rq, ret);
	return why ? why : check_names(ret->signed_names);
}
