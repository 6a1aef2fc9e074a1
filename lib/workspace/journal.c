#include "workspace/journal.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "workspace/survey.h"

#define JOURNAL_MAX (16 * 1024 * 1024)

static json_t *write_path(const char *path)
{
	ab_autobuf struct ab_buf b = { 0 };
	json_t *value;

	ab_buf_puts(&b, "");
	for (const unsigned char *p = (const void *)path; *p; p++) {
		if (*p > 0x20 && *p < 0x7f && *p != '%')
			ab_buf_add(&b, p, 1);
		else
			ab_buf_printf(&b, "%%%02x", *p);
	}
	value = json_string(b.data);
	if (!value)
		abort();
	return value;
}

static int hex(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* NULL when it is not what write_path() makes. */
static char *read_path(const json_t *value)
{
	const char *s = json_string_value(value);
	ab_autobuf struct ab_buf b = { 0 };

	if (!s)
		return NULL;
	for (; *s; s++) {
		char byte = *s;

		if (*s == '%') {
			int high = hex(s[1]);
			int low = high < 0 ? -1 : hex(s[2]);

			if (low < 0 || (high == 0 && low == 0))
				return NULL;
			byte = (char)(high << 4 | low);
			s += 2;
		}
		ab_buf_add(&b, &byte, 1);
	}
	return ab_buf_take(&b);
}

static json_t *write_list(const struct ab_strv *sv)
{
	json_t *list = json_array();

	for (size_t i = 0; i < sv->len; i++)
		json_array_append_new(list, write_path(sv->v[i]));
	return list;
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

char *ab_journal_write(const struct ab_survey *s)
{
	json_t *o = json_object(), *watches = json_array();
	char *text;

	for (size_t i = 0; i < s->nwatch; i++) {
		const struct ab_watch *w = &s->watch[i];
		json_t *one = json_object();

		/* Inode numbers may use all 64 bits; the sign is ours. */
		json_object_set_new(one, "dir", write_path(w->dir));
		json_object_set_new(one, "dev",
				    json_integer((json_int_t)w->dev));
		json_object_set_new(one, "ino",
				    json_integer((json_int_t)w->ino));
		json_object_set_new(one, "names", write_list(&w->names));
		json_array_append_new(watches, one);
	}
	json_object_set_new(o, "sec", json_integer(s->started.tv_sec));
	json_object_set_new(o, "nsec", json_integer(s->started.tv_nsec));
	json_object_set_new(o, "searched", json_boolean(s->searched));
	json_object_set_new(o, "write", write_list(&s->write));
	json_object_set_new(o, "repos", write_list(&s->repos));
	json_object_set_new(o, "names", write_list(&s->names));
	json_object_set_new(o, "watch", watches);
	text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	if (!text)
		abort();
	return text;
}

static int read_watch(const json_t *one, struct ab_watch *w)
{
	const json_t *dev = json_object_get(one, "dev");
	const json_t *ino = json_object_get(one, "ino");

	w->dir = read_path(json_object_get(one, "dir"));
	if (!w->dir || w->dir[0] != '/' || !json_is_integer(dev) ||
	    !json_is_integer(ino))
		return -1;
	w->dev = (dev_t)json_integer_value(dev);
	w->ino = (ino_t)json_integer_value(ino);
	return read_list(json_object_get(one, "names"), &w->names);
}

static int read_survey(const json_t *o, struct ab_survey *s)
{
	const json_t *watches = json_object_get(o, "watch");
	const json_t *sec = json_object_get(o, "sec");
	const json_t *nsec = json_object_get(o, "nsec");
	size_t n = json_array_size(watches);

	if (!json_is_array(watches) || !json_is_integer(sec) ||
	    !json_is_integer(nsec))
		return -1;
	s->started.tv_sec = (time_t)json_integer_value(sec);
	s->started.tv_nsec = (long)json_integer_value(nsec);
	s->searched = json_is_true(json_object_get(o, "searched"));
	if (read_list(json_object_get(o, "write"), &s->write) < 0 ||
	    read_list(json_object_get(o, "repos"), &s->repos) < 0 ||
	    read_list(json_object_get(o, "names"), &s->names) < 0)
		return -1;
	s->watch = ab_alloc(n * sizeof(s->watch[0]));
	for (; s->nwatch < n; s->nwatch++)
		if (read_watch(json_array_get(watches, s->nwatch),
			       &s->watch[s->nwatch]) < 0) {
			s->nwatch++;	/* half read: freed with the rest */
			return -1;
		}
	return 0;
}

int ab_journal_read(const char *text, size_t len, struct ab_survey *ret,
		    struct ab_error *err)
{
	struct ab_survey s = { 0 };
	json_t *o = len <= JOURNAL_MAX ? json_loadb(text, len, 0, NULL) : NULL;

	if (!o || read_survey(o, &s) < 0) {
		json_decref(o);
		ab_survey_fini(&s);
		return ab_fail(err, AB_ECONFIG, 0,
			       "the journal of a run cannot be read");
	}
	json_decref(o);
	*ret = s;
	return 0;
}
