#pragma once
/*
 * Finds keys in the bytes that a terminal sends. A key of several bytes counts
 * as one. Replies to a program's queries, mouse reports and pasted text are not
 * keys, wherever the stream is cut: no letter in them may pass for a typed one.
 *
 * Pure and of fixed size; all zero is the initial state.
 */
#include "base/base.h"

struct ab_key_reader {
	uint8_t state;
	uint8_t left; /* PASS: bytes to skip; CSI: the first parameter is over */
	bool pasting;
	uint16_t param;
};

/* Any other key is its byte. */
enum ab_key {
	AB_KEY_ESCAPE = 27,
	AB_KEY_UP = 256,
	AB_KEY_DOWN,
	AB_KEY_PAGE_UP,
	AB_KEY_PAGE_DOWN,
	AB_KEY_HOME,
	AB_KEY_END,
};

/* Returns the number of keys, at most one for each byte. */
size_t ab_key_reader_feed(struct ab_key_reader *keys, const char *data, size_t len, int *ret);

/* Is an Escape pending that may begin a sequence? If nothing follows it within
 * AB_KEYS_MS, call ab_key_reader_alone: true, it was the key. */
bool ab_key_reader_open(const struct ab_key_reader *keys);
bool ab_key_reader_alone(struct ab_key_reader *keys);

enum { AB_KEYS_MS = 100 };
