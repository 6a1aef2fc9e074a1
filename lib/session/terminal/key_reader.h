#ifndef AB_SESSION_TERMINAL_KEY_READER_H
#define AB_SESSION_TERMINAL_KEY_READER_H
/*
 * Keys in what a terminal sends. A key of several bytes is one, and what the
 * terminal sends by itself (answers to questions that a program asked it, the
 * mouse, a paste) is none, however it is cut: no letter in it may pass for one
 * that somebody typed.
 *
 * Pure and of fixed size; zero-initialised is the start.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_key_reader {
	uint8_t state;
	uint8_t left; /* bytes to be passed over */
	bool pasting;
	uint16_t param;
};

/* Others are the byte itself. */
enum ab_key {
	AB_KEY_ESCAPE = 27,
	AB_KEY_UP = 256,
	AB_KEY_DOWN,
	AB_KEY_PAGE_UP,
	AB_KEY_PAGE_DOWN,
	AB_KEY_HOME,
	AB_KEY_END,
};

/* At most one for each byte; how many there are. */
size_t ab_key_reader_feed(struct ab_key_reader *keys, const char *data, size_t len, int *ret);

/* Is there an Escape that may be the beginning of something longer? Call
 * ab_key_reader_alone when nothing came after it for AB_KEYS_MS: it was the key. */
bool ab_key_reader_open(const struct ab_key_reader *keys);
bool ab_key_reader_alone(struct ab_key_reader *keys);

enum { AB_KEYS_MS = 100 };

#endif
