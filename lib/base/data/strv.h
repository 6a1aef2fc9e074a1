#pragma once
/*
 * A list of strings that owns them. Zero-initialized is empty. Once something was
 * added, v[len] is always NULL, so `v` can be used as an argv.
 */
#include "base/data/mem.h"

struct ab_strv {
	char **v;
	size_t len;
};

void ab_strv_add(struct ab_strv *sv, const char *s); /* copies */
void ab_strv_give(struct ab_strv *sv, char *s);	     /* takes ownership */
void ab_strv_addf(struct ab_strv *sv, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same, escaped as a whole: what comes from a box or a project needs no copy of its own. */
void ab_strv_add_safe(struct ab_strv *sv, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void ab_strv_extend(struct ab_strv *sv, const struct ab_strv *from);
void ab_strv_add_once(struct ab_strv *sv, const char *s); /* unless it is there */
bool ab_strv_has(const struct ab_strv *sv, const char *s);
bool ab_strv_has_sorted(const struct ab_strv *sv, const char *s); /* after ab_strv_sort() */
bool ab_strv_same(const struct ab_strv *a, const struct ab_strv *b);
void ab_strv_remove(struct ab_strv *sv, size_t index);
void ab_strv_sort(struct ab_strv *sv);
/* One text, which the caller frees. */
char *ab_strv_join(const struct ab_strv *sv, const char *separator);
void ab_strv_fini(struct ab_strv *sv);
#define ab_autostrv __attribute__((cleanup(ab_strv_fini)))
#define ab_strv_fini_all(...) ab_each(struct ab_strv *, ab_strv_fini, __VA_ARGS__)

/* "K=V" lists: the value of `name`, or NULL; set replaces or adds; remove removes all of that name. */
const char *ab_env_get(const struct ab_strv *env, const char *name);
void ab_env_set(struct ab_strv *env, const char *name, const char *value);
void ab_env_remove(struct ab_strv *env, const char *name);
/* Add those whose name has no value yet. */
void ab_env_add_missing(struct ab_strv *env, const struct ab_strv *from);
