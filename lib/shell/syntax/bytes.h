#pragma once
/*
 * Kinds of bytes that occur in a text. Most checks concern only words with such bytes, so a
 * text is read once and each check tests a bit. Pure.
 */
#include "base/base.h"

enum ab_bytes {
	AB_BYTES_READ = 1,	/* the others are known */
	AB_BYTES_SLASH = 2,	/* / */
	AB_BYTES_UP = 4,	/* ~ . */
	AB_BYTES_SEPARATOR = 8, /* = @ : , ; and quotes */
	AB_BYTES_CODE = 16,	/* ( [ | { */
	AB_BYTES_PATTERN = 32,	/* * ? [ ] */
	AB_BYTES_UNKNOWN = 64,	/* AB_UNKNOWN */
};

/* The kinds in this text, with AB_BYTES_READ: lex.c. */
uint8_t ab_bytes_read(const char *s, uint32_t len);
