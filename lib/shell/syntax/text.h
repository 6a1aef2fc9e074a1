#pragma once
/* Views of bytes that somebody else keeps: most texts of the judge are parts of what it judges. */
#include "base/base.h"

/* Borrowed bytes, not terminated. */
struct ab_text {
	const char *s;
	uint32_t len;
};

#define AB_TEXT(literal)                     \
	(struct ab_text)                     \
	{                                    \
		literal, sizeof(literal) - 1 \
	}

static inline struct ab_text ab_text_of(const char *s)
{
	return (struct ab_text){ s, (uint32_t)strlen(s) };
}

/* Compare the first byte before anything else: most texts differ there. */
static inline bool ab_text_is(struct ab_text t, const char *s)
{
	size_t len;

	if (t.len == 0 || t.s[0] != s[0])
		return t.len == 0 && s[0] == '\0';
	len = strlen(s);
	return t.len == len && memcmp(t.s, s, len) == 0;
}

static inline bool ab_text_starts(struct ab_text t, const char *s)
{
	size_t len;

	if (t.len == 0 || t.s[0] != s[0])
		return s[0] == '\0';
	len = strlen(s);
	return t.len >= len && memcmp(t.s, s, len) == 0;
}

static inline bool ab_text_ends(struct ab_text t, const char *s)
{
	size_t len = strlen(s);

	return t.len >= len && memcmp(t.s + t.len - len, s, len) == 0;
}

static inline bool ab_text_same(struct ab_text a, struct ab_text b)
{
	return a.len == b.len && memcmp(a.s, b.s, a.len) == 0;
}

static inline uint32_t ab_text_hash(struct ab_text t)
{
	uint32_t hash = 2166136261u;

	for (uint32_t i = 0; i < t.len; i++)
		hash = (hash ^ (unsigned char)t.s[i]) * 16777619u;
	return hash;
}

/* The offset of a byte; the length: it is not there. */
static inline uint32_t ab_text_find(struct ab_text t, char c)
{
	const char *found = t.len ? memchr(t.s, c, t.len) : NULL;

	return found ? (uint32_t)(found - t.s) : t.len;
}

static inline bool ab_text_has(struct ab_text t, char c)
{
	return t.len && memchr(t.s, c, t.len);
}

static inline bool ab_text_contains(struct ab_text t, const char *s)
{
	return t.len && memmem(t.s, t.len, s, strlen(s));
}

/* Both in one piece, and a NUL. */
static inline struct ab_text ab_text_join(struct ab_arena *arena, struct ab_text a,
					  struct ab_text b)
{
	char *s = ab_arena_alloc(arena, (size_t)a.len + b.len + 1);

	if (a.len)
		memcpy(s, a.s, a.len);
	if (b.len)
		memcpy(s + a.len, b.s, b.len);
	return (struct ab_text){ s, a.len + b.len };
}

/* Without its first bytes. */
static inline struct ab_text ab_text_rest(struct ab_text t, uint32_t from)
{
	return (struct ab_text){ t.s + from, t.len - from };
}

/* Without the bytes at its end that are in `set`. */
static inline struct ab_text ab_text_trim(struct ab_text t, const char *set)
{
	while (t.len && t.s[t.len - 1] && strchr(set, t.s[t.len - 1]))
		t.len--;
	return t;
}

/* If it starts with `s`, takes that off. */
static inline bool ab_text_skip(struct ab_text *t, const char *s)
{
	bool starts = ab_text_starts(*t, s);

	if (starts)
		*t = ab_text_rest(*t, (uint32_t)strlen(s));
	return starts;
}

/* Takes off the bytes at its beginning that are in `set`. */
static inline void ab_text_skip_set(struct ab_text *t, const char *set)
{
	while (t->len && t->s[0] && strchr(set, t->s[0]))
		*t = ab_text_rest(*t, 1);
}

/* Takes off what is before the first `end`, and that byte; all of it if there is none. */
static inline struct ab_text ab_text_cut(struct ab_text *t, char end)
{
	struct ab_text first = { t->s, ab_text_find(*t, end) };

	/* Nothing may be added to a NULL. */
	if (t->len)
		*t = ab_text_rest(*t, first.len + (first.len < t->len));
	return first;
}

/* The last part of a path. */
static inline struct ab_text ab_text_base(struct ab_text path)
{
	const char *slash = path.len ? memrchr(path.s, '/', path.len) : NULL;

	return slash ? ab_text_rest(path, (uint32_t)(slash + 1 - path.s)) : path;
}
