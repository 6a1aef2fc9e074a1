#pragma once
/*
 * "Did you mean ...?" for mistyped words.
 */
#include "base/base.h"

/* The word that `s` probably means, or NULL. */
const char *ab_guess(const char *s, const char *const *words, size_t n);
