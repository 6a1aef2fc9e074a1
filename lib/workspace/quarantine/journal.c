#include "workspace/quarantine/journal.h"

#include <jansson.h>

#include "workspace/survey/survey.h"

#define JOURNAL_MAX (16 * 1024 * 1024)

/* Written by hand, because every start needs it. Plain bytes need no escape in JSON
 * either. */
static bool is_plain(unsigned char c)
{
	return c > 0x20 && c < 0x7f && c != '%' && c != '"' && c != '\\';
}

void ab_journal_put_path(struct ab_buf *b, const char *path)
{
	const unsigned char *p = (const void *)path;

	ab_buf_add(b, "\"", 1);
	while (*p) {
		size_t n = 0;

		while (is_plain(p[n]))
			n++;
		ab_buf_add(b, p, n);
		p += n;
		if (*p)
			ab_buf_printf(b, "%%%02x", *p++);
	}
	ab_buf_add(b, "\"", 1);
}

char *ab_journal_get_path(const char *s)
{
	ab_autobuf struct ab_buf b = { 0 };

	for (; s && *s; s++) {
		int c = *s == '%' ? ab_percent(s, 3) : (unsigned char)*s;
		char byte = (char)c;

		if (c <= 0)
			return NULL;
		ab_buf_add(&b, &byte, 1);
		s += *s == '%' ? 2 : 0;
	}
	return s ? ab_buf_take(&b) : NULL;
}

static char *read_path(const json_t *value)
{
	return ab_journal_get_path(json_string_value(value));
}

static void write_list(struct ab_buf *b, const char *key, const struct ab_strv *sv)
{
	ab_buf_jsonf(b, ",%s:[", key);
	for (size_t i = 0; i < sv->len; i++) {
		ab_buf_puts(b, i ? "," : "");
		ab_journal_put_path(b, sv->v[i]);
	}
	ab_buf_puts(b, "]");
}

static int read_list(const json_t *list, struct ab_strv *sv)
{
	if (!json_is_array(list))
		return -1;
	for (size_t i = 0; i < json_array_size(list); i++) {
		char *s = read_path(json_array_get(list, i));

		if (!s)
			return -1;
		ab_strv_give(sv, s);
	}
	return 0;
}

/* Records of older versions do not have it. */
static int read_optional(const json_t *list, struct ab_strv *sv)
{
	return list ? read_list(list, sv) : 0;
}

static void write_modes(struct ab_buf *b, const struct ab_survey *s)
{
	ab_buf_jsonf(b, ",'mask':%d,'modes':[", (int)s->mask);
	for (size_t i = 0; i < s->nmodes; i++) {
		const struct ab_folder_mode *m = &s->modes[i];

		ab_buf_printf(b, "%s[%jd,%jd,%u,%d]", i ? "," : "", (intmax_t)m->dev,
			      (intmax_t)m->ino, m->mode, m->acl);
	}
	ab_buf_puts(b, "]");
}

static json_int_t get_number(const json_t *list, size_t i)
{
	return json_integer_value(json_array_get(list, i));
}

/* Records of older versions do not have them. */
static int read_modes(const json_t *o, struct ab_survey *s)
{
	const json_t *list = json_object_get(o, "modes");

	s->mask = (mode_t)json_integer_value(json_object_get(o, "mask"));
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);

		*ab_append(s->modes, s->nmodes) =
			(struct ab_folder_mode){ .dev = (dev_t)get_number(one, 0),
						 .ino = (ino_t)get_number(one, 1),
						 .mode = (mode_t)get_number(one, 2),
						 .acl = get_number(one, 3) != 0 };
	}
	return s->nmodes && s->nmodes < s->shared.len ? -1 : 0;
}

static void write_time(struct ab_buf *b, const struct timespec *started)
{
	ab_buf_jsonf(b, "{'sec':%lld,'nsec':%lld", (long long)started->tv_sec,
		     (long long)started->tv_nsec);
}

static const char after_time[] = ",\"write\":";

char *ab_journal_restart(const char *text, const struct timespec *started)
{
	const char *rest = strstr(text, after_time);
	struct ab_buf b = { 0 };

	write_time(&b, started);
	ab_buf_puts(&b, rest ? rest : "}");
	return ab_buf_take(&b);
}

char *ab_journal_write(const struct ab_survey *s)
{
	struct ab_buf b = { 0 };

	write_time(&b, &s->started);
	write_list(&b, "write", &s->write);
	write_list(&b, "shared", &s->shared);
	write_list(&b, "unshared", &s->unshared);
	if (s->nmodes)
		write_modes(&b, s);
	write_list(&b, "repos", &s->repos);
	write_list(&b, "names", &s->names.top);
	ab_buf_jsonf(&b, ",'watch':[");
	for (size_t i = 0; i < s->nwatch; i++) {
		const struct ab_watch *w = &s->watch[i];

		ab_buf_jsonf(&b, ",{'dir':");
		ab_journal_put_path(&b, w->dir);
		/* Inode numbers may use all 64 bits; JSON integers are signed. */
		ab_buf_jsonf(&b, ",'dev':%jd,'ino':%jd", (intmax_t)w->dev, (intmax_t)w->ino);
		if (!ab_strv_same(&w->names, &s->names.top))
			write_list(&b, "names", &w->names);
		ab_buf_puts(&b, "}");
	}
	ab_buf_puts(&b, "]}");
	return ab_buf_take(&b);
}

/* Without names of its own it has those of the survey, as most have. */
static int read_watch(const json_t *one, const struct ab_strv *usual, struct ab_watch *w)
{
	const json_t *names = json_object_get(one, "names");
	const json_t *dev = json_object_get(one, "dev");
	const json_t *ino = json_object_get(one, "ino");

	w->dir = read_path(json_object_get(one, "dir"));
	if (!w->dir || w->dir[0] != '/' || !json_is_integer(dev) || !json_is_integer(ino))
		return -1;
	w->dev = (dev_t)json_integer_value(dev);
	w->ino = (ino_t)json_integer_value(ino);
	if (names)
		return read_list(names, &w->names);
	ab_strv_extend(&w->names, usual);
	return 0;
}

static int read_survey(const json_t *o, struct ab_survey *s)
{
	const json_t *watches = json_object_get(o, "watch");
	const json_t *sec = json_object_get(o, "sec");
	const json_t *nsec = json_object_get(o, "nsec");
	size_t n = json_array_size(watches);
	ab_autostrv struct ab_strv names = { 0 };

	if (!json_is_array(watches) || !json_is_integer(sec) || !json_is_integer(nsec))
		return -1;
	s->started.tv_sec = (time_t)json_integer_value(sec);
	s->started.tv_nsec = (long)json_integer_value(nsec);
	if (read_list(json_object_get(o, "write"), &s->write) < 0 ||
	    read_optional(json_object_get(o, "shared"), &s->shared) < 0 ||
	    read_optional(json_object_get(o, "unshared"), &s->unshared) < 0 ||
	    read_modes(o, s) < 0 || read_list(json_object_get(o, "repos"), &s->repos) < 0 ||
	    read_list(json_object_get(o, "names"), &names) < 0)
		return -1;
	ab_names_init(&s->names, &names);
	for (size_t i = 0; i < n; i++) {
		struct ab_watch *w = ab_append(s->watch, s->nwatch);

		*w = (struct ab_watch){ 0 };
		if (read_watch(json_array_get(watches, i), &s->names.top, w) < 0)
			return -1;
	}
	return 0;
}

int ab_journal_read(const char *text, size_t len, struct ab_survey *ret, struct ab_error *err)
{
	struct ab_survey s = { 0 };
	json_auto_t *o = len <= JOURNAL_MAX ? json_loadb(text, len, 0, NULL) : NULL;

	if (!o || read_survey(o, &s) < 0) {
		ab_survey_fini(&s);
		return ab_fail(err, AB_ECONFIG, 0, "cannot read the journal of a run");
	}
	*ret = s;
	return 0;
}
