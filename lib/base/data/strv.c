#include "base/data/strv.h"

#include "base/data/buf.h"

void ab_strv_give(struct ab_strv *sv, char *s)
{
	/* Grow at each power of two: one reallocation per doubling. */
	*ab_append(sv->v, sv->len) = s;
	sv->v[sv->len] = NULL;
}

void ab_strv_add(struct ab_strv *sv, const char *s)
{
	ab_strv_give(sv, ab_strdup(s));
}

void ab_strv_addf(struct ab_strv *sv, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ab_strv_give(sv, ab_vprintf(fmt, ap));
	va_end(ap);
}

void ab_strv_add_safe(struct ab_strv *sv, const char *fmt, ...)
{
	ab_autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = ab_vprintf(fmt, ap);
	va_end(ap);
	ab_strv_give(sv, ab_escape(text));
}

void ab_strv_extend(struct ab_strv *sv, const struct ab_strv *from)
{
	for (size_t i = 0; i < from->len; i++)
		ab_strv_add(sv, from->v[i]);
}

bool ab_strv_has(const struct ab_strv *sv, const char *s)
{
	return ab_has_word(sv->v, sv->len, s);
}

void ab_strv_add_once(struct ab_strv *sv, const char *s)
{
	if (!ab_strv_has(sv, s))
		ab_strv_add(sv, s);
}

bool ab_strv_same(const struct ab_strv *a, const struct ab_strv *b)
{
	if (a->len != b->len)
		return false;
	for (size_t i = 0; i < a->len; i++)
		if (strcmp(a->v[i], b->v[i]) != 0)
			return false;
	return true;
}

void ab_strv_remove(struct ab_strv *sv, size_t index)
{
	free(sv->v[index]);
	memmove(sv->v + index, sv->v + index + 1, (sv->len - index) * sizeof(sv->v[0]));
	sv->len--;
}

static int compare_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void ab_strv_sort(struct ab_strv *sv)
{
	size_t i = 1;

	/* Lists from tables often are. */
	while (i < sv->len && strcmp(sv->v[i - 1], sv->v[i]) <= 0)
		i++;
	if (i < sv->len)
		qsort(sv->v, sv->len, sizeof(sv->v[0]), compare_bytes);
}

bool ab_strv_has_sorted(const struct ab_strv *sv, const char *s)
{
	return sv->len && bsearch(&s, sv->v, sv->len, sizeof(sv->v[0]), compare_bytes);
}

char *ab_strv_join(const struct ab_strv *sv, const char *separator)
{
	struct ab_buf b = { 0 };

	for (size_t i = 0; i < sv->len; i++)
		ab_buf_printf(&b, "%s%s", i ? separator : "", sv->v[i]);
	return ab_buf_take(&b);
}

void ab_strv_fini(struct ab_strv *sv)
{
	for (size_t i = 0; i < sv->len; i++)
		free(sv->v[i]);
	free(sv->v);
	*sv = (struct ab_strv){ 0 };
}

static size_t find_variable(const struct ab_strv *env, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < env->len; i++)
		if (strncmp(env->v[i], name, n) == 0 && env->v[i][n] == '=')
			return i;
	return env->len;
}

const char *ab_env_get(const struct ab_strv *env, const char *name)
{
	size_t i = find_variable(env, name);

	return i < env->len ? env->v[i] + strlen(name) + 1 : NULL;
}

void ab_env_set(struct ab_strv *env, const char *name, const char *value)
{
	size_t i = find_variable(env, name);
	char *entry = ab_printf("%s=%s", name, value);

	if (i == env->len) {
		ab_strv_give(env, entry);
		return;
	}
	free(env->v[i]);
	env->v[i] = entry;
}

void ab_env_remove(struct ab_strv *env, const char *name)
{
	size_t i;

	while ((i = find_variable(env, name)) < env->len)
		ab_strv_remove(env, i);
}

void ab_env_add_missing(struct ab_strv *env, const struct ab_strv *from)
{
	for (size_t i = 0; i < from->len; i++) {
		ab_autofree char *name = ab_strndup(from->v[i], strcspn(from->v[i], "="));

		if (!ab_env_get(env, name))
			ab_strv_add(env, from->v[i]);
	}
}
