#pragma once
/*
 * Memory: allocation that cannot fail (it aborts instead), and cleanup by scope. A
 * pointer marked ab_autofree is freed when it goes out of scope; ab_take() makes a
 * handover visible. And tables in it.
 */
#include "base/data/libc.h"

void *ab_alloc(size_t size); /* zeroed */
void *ab_realloc(void *p, size_t size);
char *ab_strdup(const char *s); /* NULL stays NULL */
char *ab_strndup(const char *s, size_t n);
char *ab_vprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
char *ab_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Overwrite it first. */
void ab_free_wiped(void *p);

static inline void ab_freep(void *p)
{
	free(*(void **)p);
}
#define ab_autofree __attribute__((cleanup(ab_freep)))

/* Calls `fini` with the address of the variable, which must be initialized, when it goes out of
 * scope. */
#define ab_auto(fini) __attribute__((cleanup(fini)))

/* Calls `fini` with each of the further arguments, which are of this type, in their order. All are
 * read first: a struct can follow its members. */
#define ab_each(type, fini, ...)                                                 \
	do {                                                                     \
		type each_[] = { __VA_ARGS__ };                                  \
		for (size_t i_ = 0; i_ < sizeof(each_) / sizeof(each_[0]); i_++) \
			fini(each_[i_]);                                         \
	} while (0)
#define ab_free_all(...) ab_each(void *, free, __VA_ARGS__)

#define ab_take(p)                          \
	({                                  \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;                 \
		taken_;                     \
	})

#define AB_COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Of an array of characters: a string fills it to the last one, and nothing ends it. */
#if __has_attribute(nonstring)
#define ab_unterminated __attribute__((nonstring))
#else
#define ab_unterminated
#endif

/* Room for one more element in an array that only this has allocated; its size is a power of two, so
 * it needs no number of its own. */
#define ab_make_room(v, len)                                                     \
	do {                                                                     \
		if (((len) & ((len) + 1)) == 0)                                  \
			(v) = ab_realloc((v), 2 * ((len) + 1) * sizeof((v)[0])); \
	} while (0)

/* The new last element of such an array. */
#define ab_append(v, len)             \
	({                            \
		ab_make_room(v, len); \
		&(v)[(len)++];        \
	})

/* Free such an array, and the text that each of its rows owns. */
#define ab_free_rows(rows, n, member)               \
	do {                                        \
		for (size_t i_ = 0; i_ < (n); i_++) \
			free((rows)[i_].member);    \
		free(rows);                         \
	} while (0)

/* The first of `n` rows whose `member` is `text`, or NULL. */
#define ab_find_row(rows, n, member, text)                               \
	({                                                               \
		const char *text_ = (text);                              \
		size_t i_ = 0, n_ = (n);                                 \
		while (i_ < n_ && strcmp((rows)[i_].member, text_) != 0) \
			i_++;                                            \
		i_ < n_ ? &(rows)[i_] : NULL;                            \
	})

/* The index of `text` among `n` words; n: it is none of them, or NULL. */
#define ab_word_at(words, n, text)                                             \
	({                                                                     \
		const char *text_ = (text);                                    \
		size_t i_ = 0, n_ = (n);                                       \
		while (i_ < n_ && (!text_ || strcmp((words)[i_], text_) != 0)) \
			i_++;                                                  \
		i_;                                                            \
	})
#define ab_has_word(words, n, text) (ab_word_at(words, n, text) < (n))
/* Is it one of the words of an array? Then *ret, an enumerator, gets its index. */
#define ab_word_parse(words, text, ret)                                \
	({                                                             \
		size_t at_ = ab_word_at(words, AB_COUNT(words), text); \
		if (at_ < AB_COUNT(words))                             \
			*(ret) = (__typeof__(*(ret)))at_;              \
		at_ < AB_COUNT(words);                                 \
	})
