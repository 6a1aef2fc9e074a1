#include "guard/writes/place.h"

#include "sandbox/plan/plan.h"
#include "workspace/survey/survey.h"
#include "workspace/tree/names.h"

static bool is_dots(const char *name, size_t len, size_t dots)
{
	return len == dots && strncmp(name, "..", dots) == 0;
}

/* Nothing to clean? Names that begin with a dot are left to the loop. */
static bool is_clean(const char *path)
{
	size_t i;

	if (path[0] != '/')
		return false;
	for (i = 0; path[i]; i++)
		if (path[i] == '/' && (path[i + 1] == '/' || path[i + 1] == '.' || !path[i + 1]))
			return false;
	return i + 1 < PATH_MAX;
}

const char *ab_place_clean(struct ab_arena *arena, const char *dir, const char *path)
{
	char text[PATH_MAX];
	size_t len = 0;

	if (!path[0] || (path[0] != '/' && (!dir || dir[0] != '/')))
		return NULL;
	if (is_clean(path))
		return path;
	if (path[0] != '/') {
		len = strlen(dir);
		if (len >= sizeof(text))
			return NULL;
		memcpy(text, dir, len);
		len -= len == 1; /* "/" */
	}
	for (const char *at = path; *at;) {
		size_t n = strcspn(at, "/");

		if (is_dots(at, n, 2) || len + n + 2 > sizeof(text))
			return NULL;
		if (n && !is_dots(at, n, 1)) {
			text[len++] = '/';
			memcpy(text + len, at, n);
			len += n;
		}
		at += n + (at[n] == '/');
	}
	return ab_arena_ndup(arena, len ? text : "/", len ? len : 1);
}

const char *ab_place_last(const char *text, size_t *ret_len)
{
	size_t end = strlen(text), at;

	while (end && text[end - 1] == '/')
		end--;
	for (at = end; at && text[at - 1] != '/'; at--)
		;
	*ret_len = end - at;
	return text + at;
}

const char *ab_place_above(struct ab_arena *arena, const char *text)
{
	size_t len, n = (size_t)(ab_place_last(text, &len) - text);

	return n ? ab_arena_ndup(arena, text, n) : ".";
}

bool ab_place_is_open(const struct ab_plan *plan, const char *path)
{
	bool open = false, itself = false;

	/* The box's own devices, independent of the host's. */
	if (ab_path_within(path, "/dev"))
		return true;
	/* Parents come before children, so the last one that applies decides. */
	for (size_t i = 0; i < plan->len; i++) {
		const struct ab_mount *m = &plan->v[i];

		if (!ab_path_within(path, m->path))
			continue;
		itself = strcmp(path, m->path) == 0;
		/* A pin is as writable as what it is in. Below a hidden root, unnamed paths are
		 * read-only. */
		if (m->op != AB_MOUNT_PIN)
			open = m->op == AB_MOUNT_WRITE || m->op == AB_MOUNT_LAYER ||
			       (m->op == AB_MOUNT_PRIVATE && m->path[1]);
	}
	return open && !itself;
}

/* Not strchr: this is asked about every name for every call that creates something. */
static bool is_wild(char c)
{
	return c == '*' || c == '?' || c == '[' || c == '\\';
}

static bool has_name(const struct ab_strv *names, const char *rest)
{
	for (size_t i = 0; i < names->len; i++) {
		const char *name = names->v[i];
		size_t n;

		/* Nearly all names differ in the first byte. */
		if (name[0] != rest[0] && !is_wild(name[0]))
			continue;
		/* The whole name, neither a folder above it nor something below. */
		n = ab_name_measure(name, rest);
		if (n && !rest[n])
			return true;
	}
	return false;
}

bool ab_place_is_protected(const struct ab_survey *survey, const char *path)
{
	for (size_t i = 0; i < survey->nwatch; i++) {
		const struct ab_watch *w = &survey->watch[i];
		size_t n;

		if (!ab_path_within(path, w->dir))
			continue;
		n = strlen(w->dir);
		n -= n == 1; /* "/" */
		if (path[n] == '/' && path[n + 1] && has_name(&w->names, path + n + 1))
			return true;
	}
	return false;
}

/* The length of a folder that may contain the path; "/" counts as empty. */
static size_t count_common(const char *path, const char *dir, size_t most)
{
	size_t n = dir[1] ? strlen(dir) : 0;

	return n > most && ab_path_within(path, dir) ? n : most;
}

/* Can a name of the watched folder `dir` be below `top`, as far as its first component tells? */
static bool has_names_in(const struct ab_watch *w, const char *top)
{
	size_t n = w->dir[1] ? strlen(w->dir) : 0, len;
	char first[NAME_MAX + 1];

	if (ab_path_within(w->dir, top))
		return true;
	if (!ab_path_within(top, w->dir))
		return false;
	len = strcspn(top + n + 1, "/");
	if (len > NAME_MAX)
		return false;
	memcpy(first, top + n + 1, len);
	first[len] = '\0';
	for (size_t i = 0; i < w->names.len; i++) {
		const char *rest;

		if (ab_name_starts(w->names.v[i], first, &rest))
			return true;
	}
	return false;
}

size_t ab_place_find_folder(const struct ab_plan *plan, const struct ab_survey *survey,
			    const char *path, bool *ret_same)
{
	size_t n = 0;
	char top[PATH_MAX];

	for (size_t i = 0; i < plan->len; i++)
		n = count_common(path, plan->v[i].path, n);
	for (size_t i = 0; i < survey->nwatch; i++)
		n = count_common(path, survey->watch[i].dir, n);
	if (!path[n])
		return 0;
	n += 1 + strcspn(path + n + 1, "/");
	if (path[n] != '/' || n >= sizeof(top))
		return 0;
	memcpy(top, path, n);
	top[n] = '\0';
	*ret_same = true;
	for (size_t i = 0; i < plan->len && *ret_same; i++)
		*ret_same = !ab_path_within(plan->v[i].path, top);
	for (size_t i = 0; i < survey->nwatch && *ret_same; i++)
		*ret_same = !has_names_in(&survey->watch[i], top);
	return n;
}
