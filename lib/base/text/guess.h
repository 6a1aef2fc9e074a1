#ifndef AB_BASE_TEXT_GUESS_H
#define AB_BASE_TEXT_GUESS_H
/*
 * "Did you mean ...?": for words that people mistype.
 */
#include <stddef.h>

/* Of `n` words, the one that `s` is probably meant to be, or NULL. */
const char *ab_guess(const char *s, const char *const *words, size_t n);

#endif
