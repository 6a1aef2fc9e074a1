#pragma once
/* Lists in tables: words in one string, separated by single blanks. NULL is an empty list. */
#include "base/base.h"

/* The next word, which is not terminated, and its length. NULL: there are no more. */
static inline const char *ab_word_next(const char **list, size_t *ret_len)
{
	const char *word = *list;

	if (!word || !*word)
		return NULL;
	*ret_len = strcspn(word, " ");
	*list = word + *ret_len + (word[*ret_len] == ' ');
	return word;
}

static inline bool ab_word_listed(const char *list, const char *word, size_t len)
{
	const char *one;

	for (size_t n; (one = ab_word_next(&list, &n));)
		if (n == len && memcmp(one, word, len) == 0)
			return true;
	return false;
}
