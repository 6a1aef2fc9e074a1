#include "proxy/wire/known_hosts.h"

#include "base/data/glob.h"
#include "base/text/base64.h"
#include "proxy/wire/http.h"

enum { USUAL_PORT = 22, FIELD_MAX = 32 * 1024, SALT_MAX = 64 };

static struct ab_http_text take_field(struct ab_http_text *line)
{
	struct ab_http_text field;

	while (line->len && ab_is_blank(*line->s))
		line->s++, line->len--;
	field = *line;
	while (line->len && !ab_is_blank(*line->s))
		line->s++, line->len--;
	field.len -= line->len;
	return field;
}

/* A pattern with "!" that matches excludes the host, whatever else does. */
static bool matches_names(struct ab_http_text names, const char *name)
{
	bool found = false;

	while (names.len) {
		struct ab_http_text one = ab_http_until(&names, ',');
		bool no = one.len && one.s[0] == '!';

		if (ab_glob_matches(one.s + no, one.len - no, name, strlen(name), true)) {
			if (no)
				return false;
			found = true;
		}
	}
	return found;
}

/* "|1|SALT|HASH" */
static bool matches_hash(const struct ab_known_hosts *known, struct ab_http_text field,
			 const char *name)
{
	uint8_t salt[SALT_MAX + 3], wanted[SALT_MAX + 3], hash[AB_KNOWN_HOSTS_HASH];
	struct ab_http_text digits, first;
	size_t salt_len, wanted_len;

	if (field.len < 4 || memcmp(field.s, "|1|", 3) != 0)
		return false;
	digits = (struct ab_http_text){ field.s + 3, field.len - 3 };
	first = ab_http_until(&digits, '|');
	if (first.len > SALT_MAX || digits.len > SALT_MAX ||
	    !ab_base64_decode(first.s, first.len, salt, &salt_len) ||
	    !ab_base64_decode(digits.s, digits.len, wanted, &wanted_len) ||
	    wanted_len != sizeof(hash))
		return false;
	known->hash(salt, salt_len, name, hash);
	return memcmp(hash, wanted, sizeof(hash)) == 0;
}

static void report_key(const struct ab_known_hosts *known, struct ab_http_text type,
		       struct ab_http_text digits, bool revoked)
{
	ab_autofree uint8_t *blob = NULL;
	struct ab_ssh_text key;
	struct ab_ssh_reader r;
	size_t len;

	if (!digits.len || digits.len > FIELD_MAX)
		return;
	blob = ab_alloc(digits.len / 4 * 3 + 3);
	if (!ab_base64_decode(digits.s, digits.len, blob, &len))
		return;
	key = (struct ab_ssh_text){ blob, len };
	r = ab_ssh_read(key);
	if (ab_ssh_same(ab_ssh_string(&r),
			(struct ab_ssh_text){ (const uint8_t *)type.s, type.len }) &&
	    !r.bad)
		known->found(known->arg, key, revoked);
}

static void take_line(struct ab_known_hosts *known, struct ab_http_text line, const char *name)
{
	struct ab_http_text names = take_field(&line), mark = { 0 }, type;

	if (!names.len || names.s[0] == '#')
		return;
	if (names.s[0] == '@') {
		mark = names;
		names = take_field(&line);
	}
	if (!names.len ||
	    !(names.s[0] == '|' ? matches_hash(known, names, name) : matches_names(names, name)))
		return;
	type = take_field(&line);
	if (!mark.len || ab_http_is_exactly(mark, "@revoked"))
		report_key(known, type, take_field(&line), mark.len != 0);
	else if (ab_http_is_exactly(mark, "@cert-authority"))
		known->authorities++;
}

void ab_known_hosts_find(struct ab_known_hosts *known, const char *text, size_t len,
			 const char *host, uint16_t port)
{
	struct ab_http_text rest = { text, len };
	ab_autofree char *name =
		port == USUAL_PORT ? ab_strdup(host) : ab_printf("[%s]:%u", host, port);

	while (rest.len) {
		struct ab_http_text line = ab_http_until(&rest, '\n');

		line.len -= line.len && line.s[line.len - 1] == '\r';
		take_line(known, line, name);
	}
}
