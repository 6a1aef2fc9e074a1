#include "proxy/wire/known_hosts.h"

#include "base/data/glob.h"
#include "base/text/base64.h"

enum { USUAL_PORT = 22, FIELD_MAX = 32 * 1024, SALT_MAX = 64 };

static struct ab_ssh_text take_field(struct ab_ssh_text *line)
{
	struct ab_ssh_text field = { line->at, 0 };

	while (line->len && (*line->at == ' ' || *line->at == '\t'))
		line->at++, line->len--;
	field.at = line->at;
	while (line->len && *line->at != ' ' && *line->at != '\t')
		line->at++, line->len--;
	field.len = (size_t)(line->at - field.at);
	return field;
}

/* A pattern with "!" that matches excludes the host, whatever else does. */
static bool matches_names(struct ab_ssh_text names, const char *name)
{
	bool found = false;

	while (names.len) {
		const uint8_t *comma = memchr(names.at, ',', names.len);
		size_t n = comma ? (size_t)(comma - names.at) : names.len;
		bool no = n && names.at[0] == '!';

		if (ab_glob_matches((const char *)names.at + no, n - no, name, strlen(name),
				    true)) {
			if (no)
				return false;
			found = true;
		}
		n += comma != NULL;
		names.at += n;
		names.len -= n;
	}
	return found;
}

/* "|1|SALT|HASH" */
static bool matches_hash(const struct ab_known_hosts *known, struct ab_ssh_text field,
			 const char *name)
{
	uint8_t salt[SALT_MAX + 3], wanted[SALT_MAX + 3], hash[AB_KNOWN_HOSTS_HASH];
	const uint8_t *bar;
	size_t salt_len, wanted_len, n;

	if (field.len < 4 || memcmp(field.at, "|1|", 3) != 0)
		return false;
	field.at += 3;
	field.len -= 3;
	bar = memchr(field.at, '|', field.len);
	n = bar ? (size_t)(bar - field.at) : 0;
	if (!bar || n > SALT_MAX || field.len - n - 1 > SALT_MAX ||
	    !ab_base64_decode((const char *)field.at, n, salt, &salt_len) ||
	    !ab_base64_decode((const char *)bar + 1, field.len - n - 1, wanted, &wanted_len) ||
	    wanted_len != sizeof(hash))
		return false;
	known->hash(salt, salt_len, name, hash);
	return memcmp(hash, wanted, sizeof(hash)) == 0;
}

static void report_key(const struct ab_known_hosts *known, struct ab_ssh_text type,
		       struct ab_ssh_text digits, bool revoked)
{
	ab_autofree uint8_t *blob = NULL;
	struct ab_ssh_text key;
	struct ab_ssh_reader r;
	size_t len;

	if (!digits.len || digits.len > FIELD_MAX)
		return;
	blob = ab_alloc(digits.len / 4 * 3 + 3);
	if (!ab_base64_decode((const char *)digits.at, digits.len, blob, &len))
		return;
	key = (struct ab_ssh_text){ blob, len };
	r = ab_ssh_read(key);
	if (ab_ssh_same(ab_ssh_string(&r), type) && !r.bad)
		known->found(known->arg, key, revoked);
}

static void take_line(struct ab_known_hosts *known, struct ab_ssh_text line, const char *name)
{
	struct ab_ssh_text names = take_field(&line), mark = { 0 }, type;

	if (!names.len || names.at[0] == '#')
		return;
	if (names.at[0] == '@') {
		mark = names;
		names = take_field(&line);
	}
	if (!names.len ||
	    !(names.at[0] == '|' ? matches_hash(known, names, name) : matches_names(names, name)))
		return;
	type = take_field(&line);
	if (!mark.len || ab_ssh_is(mark, "@revoked"))
		report_key(known, type, take_field(&line), mark.len != 0);
	else if (ab_ssh_is(mark, "@cert-authority"))
		known->authorities++;
}

void ab_known_hosts_find(struct ab_known_hosts *known, const char *text, size_t len,
			 const char *host, uint16_t port)
{
	ab_autofree char *name =
		port == USUAL_PORT ? ab_strdup(host) : ab_printf("[%s]:%u", host, port);

	while (len) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;
		size_t line = n && text[n - 1] == '\r' ? n - 1 : n;

		take_line(known, (struct ab_ssh_text){ (const uint8_t *)text, line }, name);
		n += end != NULL;
		text += n;
		len -= n;
	}
}
