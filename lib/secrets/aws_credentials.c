#include "secrets/aws_credentials.h"

#include <jansson.h>
#include <strings.h>

enum { ID, KEY, TOKEN, PROCESS, FIELDS };

struct field {
	const char *s;
	size_t len;
};

/* A value is one word of printable ASCII. */
static bool is_word(struct field f)
{
	for (size_t i = 0; i < f.len; i++)
		if (f.s[i] <= ' ' || f.s[i] > '~')
			return false;
	return f.len > 0;
}

static const char *put_fields(const struct field v[FIELDS], struct ab_buf *out)
{
	if (!v[ID].len || !v[KEY].len)
		return "has no access key id and secret access key";
	if (!is_word(v[ID]) || !is_word(v[KEY]) || (v[TOKEN].len && !is_word(v[TOKEN])))
		return "has a value with blanks or special characters";
	for (size_t i = ID; i <= TOKEN; i++) {
		if (!v[i].len)
			continue;
		ab_buf_puts(out, i ? " " : "");
		ab_buf_add(out, v[i].s, v[i].len);
	}
	return NULL;
}

const char *ab_aws_credentials_join(const char *id, const char *key, const char *token,
				    struct ab_buf *out)
{
	const struct field v[FIELDS] = {
		[ID] = { id, strlen(id) },
		[KEY] = { key, strlen(key) },
		[TOKEN] = { token, token ? strlen(token) : 0 },
	};

	return put_fields(v, out);
}

static struct field trim(struct field f)
{
	while (f.len && ab_is_space(f.s[0])) {
		f.s++;
		f.len--;
	}
	while (f.len && ab_is_space(f.s[f.len - 1]))
		f.len--;
	return f;
}

static struct field next_line(struct field *rest)
{
	const char *end = memchr(rest->s, '\n', rest->len);
	struct field line = { rest->s, end ? (size_t)(end - rest->s) : rest->len };

	rest->s += line.len + (end != NULL);
	rest->len -= line.len + (end != NULL);
	return trim(line);
}

static bool equals(struct field f, const char *word)
{
	return f.len == strlen(word) && strncasecmp(f.s, word, f.len) == 0;
}

/* "[dev]", or "[profile dev]" as in the config file. */
static bool is_section(struct field line, const char *profile)
{
	static const char word[] = "profile ";
	struct field name = { line.s + 1, line.len - 2 };

	if (line.len < 2 || line.s[line.len - 1] != ']')
		return false;
	name = trim(name);
	if (name.len > sizeof(word) - 1 && memcmp(name.s, word, sizeof(word) - 1) == 0)
		name = trim(
			(struct field){ name.s + sizeof(word) - 1, name.len - sizeof(word) + 1 });
	return name.len == strlen(profile) && memcmp(name.s, profile, name.len) == 0;
}

static void take_setting(struct field line, struct field v[FIELDS])
{
	static const char *const names[FIELDS] = {
		[ID] = "aws_access_key_id",
		[KEY] = "aws_secret_access_key",
		[TOKEN] = "aws_session_token",
		[PROCESS] = "credential_process",
	};
	const char *mark = memchr(line.s, '=', line.len);
	struct field name, value;

	if (!mark)
		return;
	name = trim((struct field){ line.s, (size_t)(mark - line.s) });
	value = trim((struct field){ mark + 1, line.len - (size_t)(mark + 1 - line.s) });
	for (size_t i = 0; i < FIELDS; i++)
		if (equals(name, names[i]))
			v[i] = value;
}

static const char *read_profile(struct field text, const char *profile, struct ab_buf *out)
{
	const char *wanted = profile ? profile : "default";
	struct field v[FIELDS] = { 0 };
	bool any = false, here = !profile, found = false;

	while (text.len) {
		struct field line = next_line(&text);

		if (!line.len || line.s[0] == '#' || line.s[0] == ';')
			continue;
		if (line.s[0] == '[') {
			/* What stands before the first profile is in none. */
			if (!any)
				memset(v, 0, sizeof(v));
			any = true;
			here = is_section(line, wanted);
			found |= here;
		} else if (here) {
			take_setting(line, v);
		}
	}
	if (any && !found)
		return profile ? "has no such profile" : "has no profile default";
	if (!any && profile)
		return "has no such profile";
	if (!v[ID].len && v[PROCESS].len)
		return "names a credential_process; use \"from\": \"command\" with its words";
	return put_fields(v, out);
}

/* "2015-08-30T12:36:00Z", also with a fraction and with an offset. */
static bool read_time(const char *s, int64_t *ret)
{
	struct tm tm = { 0 };
	int n = 0, hours, minutes;
	int64_t offset = 0;

	if (sscanf(s, "%4d-%2d-%2dT%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
		   &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &n) != 6)
		return false;
	s += n;
	if (*s == '.')
		s += 1 + strspn(s + 1, "0123456789");
	if ((*s == '+' || *s == '-') && sscanf(s + 1, "%2d:%2d", &hours, &minutes) == 2)
		offset = (*s == '-' ? -60 : 60) * (int64_t)(hours * 60 + minutes);
	else if (strcmp(s, "Z") != 0)
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	*ret = (int64_t)timegm(&tm) - offset;
	return true;
}

static struct field get_string(const json_t *object, const char *name)
{
	const json_t *v = json_object_get(object, name);

	return (struct field){ json_string_value(v), v ? json_string_length(v) : 0 };
}

static const char *read_object(const json_t *json, struct ab_buf *out,
			       struct ab_aws_credentials *ret)
{
	const struct field v[FIELDS] = {
		[ID] = get_string(json, "AccessKeyId"),
		[KEY] = get_string(json, "SecretAccessKey"),
		[TOKEN] = get_string(json, "SessionToken"),
	};
	const json_t *version = json_object_get(json, "Version");
	const char *expiration = json_string_value(json_object_get(json, "Expiration"));

	if (!json_is_integer(version) || json_integer_value(version) != 1)
		return "is not the JSON of credential_process, version 1";
	if (expiration && !read_time(expiration, &ret->expires))
		return "has an Expiration that is not a time like 2030-01-31T12:00:00Z";
	return put_fields(v, out);
}

/* The JSON library copies what it reads: wipe the copies. */
/* Changes the library's global allocator: only one thread reads sources. */
static const char *read_json(const char *text, size_t len, struct ab_buf *out,
			     struct ab_aws_credentials *ret)
{
	json_malloc_t get;
	json_free_t put;
	json_error_t wrong;
	const char *why;
	json_t *json;

	json_get_alloc_funcs(&get, &put);
	json_set_alloc_funcs(malloc, ab_free_wiped);
	json = json_loadb(text, len, 0, &wrong);
	why = json ? read_object(json, out, ret) : "is not valid JSON";
	json_decref(json);
	json_set_alloc_funcs(get, put);
	return why;
}

const char *ab_aws_credentials_read(const char *text, size_t len, const char *profile,
				    struct ab_buf *out, struct ab_aws_credentials *ret)
{
	struct field all = trim((struct field){ text, len });

	*ret = (struct ab_aws_credentials){ 0 };
	if (all.len && all.s[0] == '{')
		return profile ? "is JSON, which has no profiles"
			       : read_json(all.s, all.len, out, ret);
	return read_profile(all, profile, out);
}
