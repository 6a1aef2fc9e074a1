#pragma once
/*
 * Lookup by name. A table is an array of rows that each begin with a name (an
 * array of char), sorted by name in byte order.
 */
#include <endian.h>
#include <strings.h>

#include "base/data/glob.h"
#include "shell/syntax/field.h"

/* Inline: most names differ in their first bytes, so a call would cost more. */
static inline int ab_name_compare(struct ab_text name, const char *other)
{
	for (uint32_t i = 0; i < name.len; i++) {
		unsigned char c = (unsigned char)name.s[i];
		unsigned char o = (unsigned char)other[i];

		if (c != o)
			return c - o;
		if (c == '\0')
			return 1;
	}
	return -(other[name.len] != '\0');
}

static inline uint32_t ab_name_load4(const char *s)
{
	uint32_t bytes;

	memcpy(&bytes, s, sizeof(bytes));
	return le32toh(bytes);
}

/* The first eight bytes of a name, as a number with the same order. Without a loop, whose
 * end would be unpredictable: pieces that overlap have the same bytes. */
static inline uint64_t ab_name_number(struct ab_text name)
{
	const unsigned char *s = (const unsigned char *)name.s;
	uint32_t len = name.len < 8 ? name.len : 8, last = len - 1, middle = len / 2;
	uint64_t number;

	if (len == 0)
		return 0;
	if (len >= 4)
		number = ab_name_load4(name.s) | (uint64_t)ab_name_load4(name.s + len - 4)
							 << 8 * (len - 4);
	else
		number = s[0] | (uint64_t)s[middle] << 8 * middle | (uint64_t)s[last] << 8 * last;
	return __builtin_bswap64(number);
}

/* The same for a row whose name takes `room` bytes. */
static inline uint64_t ab_row_number(const char *row, size_t room)
{
	uint64_t bytes = 0;

	memcpy(&bytes, row, room < sizeof(bytes) ? room : sizeof(bytes));
	return be64toh(bytes);
}

/*
 * Branch-free search: the branches would be unpredictable, and a wrong
 * prediction costs more than a step.
 */
static inline const void *ab_name_table_find(const void *rows, size_t n, size_t size, size_t room,
					     struct ab_text name)
{
	uint64_t number = ab_name_number(name);
	const char *row = rows, *end = row + n * size;

	if (name.len == 0)
		return NULL;
	while (n > 0) {
		size_t half = (n + 1) / 2;
		const char *last = row + (half - 1) * size;

		row += ab_row_number(last, room) < number ? half * size : 0;
		n -= half;
	}
	for (; row < end && ab_row_number(row, room) == number; row += size)
		if (ab_name_compare(name, row) == 0)
			return row;
	return NULL;
}

/* The entry with that name, or NULL. Rows are words, or have a `name`. */
#define AB_LOOKUP_WORD(table, name) AB_LOOKUP_BY(table, (table)[0], name)
#define AB_LOOKUP(table, key) AB_LOOKUP_BY(table, (table)[0].name, key)

#define AB_LOOKUP_BY(table, first, name)                                                 \
	({                                                                               \
		struct ab_text name_ = (name);                                           \
		_Static_assert(!__builtin_types_compatible_p(__typeof__(first),          \
							     __typeof__(&(first)[0])),   \
			       "a row holds its name, not a pointer");                   \
		(const __typeof__((table)[0]) *)ab_name_table_find(                      \
			(table), sizeof(table) / sizeof((table)[0]), sizeof((table)[0]), \
			sizeof(first), name_);                                           \
	})

/* The next word of a list separated by blanks; len 0: no more. */
static inline struct ab_text ab_list_next(const char **list)
{
	const char *from = *list, *to;

	while (*from == ' ')
		from++;
	for (to = from; *to != ' ' && *to;)
		to++;
	*list = to;
	return (struct ab_text){ from, (uint32_t)(to - from) };
}

/* Does `word` begin with one of a list separated by blanks? */
static inline bool ab_starts_listed(const char *list, struct ab_text word)
{
	struct ab_text w;

	while ((w = ab_list_next(&list)).len > 0)
		if (w.len <= word.len && w.s[0] == word.s[0] && memcmp(w.s, word.s, w.len) == 0)
			return true;
	return false;
}

/* Does `text` contain one of a list separated by blanks? */
static inline bool ab_contains_listed(const char *list, struct ab_text text)
{
	struct ab_text w;

	while ((w = ab_list_next(&list)).len > 0)
		if (text.len && memmem(text.s, text.len, w.s, w.len))
			return true;
	return false;
}

/* The same, whatever the case of its letters. */
static inline bool ab_contains_any_case(const char *list, struct ab_text text)
{
	struct ab_text w;

	while ((w = ab_list_next(&list)).len > 0)
		for (uint32_t i = 0; i + w.len <= text.len; i++)
			if (strncasecmp(text.s + i, w.s, w.len) == 0)
				return true;
	return false;
}

/* Does `text` match a pattern of the list, in which "*" is any text? `fold`: in any case. */
static inline bool ab_matches_listed(const char *list, struct ab_text text, bool fold)
{
	struct ab_text w;

	while (text.len > 0 && (w = ab_list_next(&list)).len > 0)
		if (ab_glob_matches(w.s, w.len, text.s, text.len, fold))
			return true;
	return false;
}

/* Is `word` in a list separated by blanks? */
static inline bool ab_listed(const char *list, struct ab_text word)
{
	struct ab_text w;

	if (!list || word.len == 0)
		return false;
	while ((w = ab_list_next(&list)).len > 0)
		if (w.len == word.len && w.s[0] == word.s[0] && memcmp(w.s, word.s, w.len) == 0)
			return true;
	return false;
}
