#ifndef AB_SESSION_TERMINAL_SCREEN_MODES_H
#define AB_SESSION_TERMINAL_SCREEN_MODES_H
/*
 * Which modes of a terminal a stream of bytes has switched on: full screen,
 * mouse reports, hidden cursor and the like, so that a terminal can be given
 * back without those that a killed program left behind.
 *
 * Pure and of fixed size, whatever the bytes are; zero-initialised is a
 * terminal with nothing switched on. The stream may be cut anywhere. Holds no
 * pointer, so it may lie in memory that two processes share.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AB_MODES_PARAMS 32

struct ab_screen_modes {
	uint32_t on;	       /* rows of the table that are not as usual */
	uint8_t keyboards[2];  /* pushed keyboard modes: main, full screen */
	uint8_t state;	       /* of the parser */
	uint8_t marker, inter; /* of the sequence that is being read */
	uint8_t nparams;
	uint8_t device;	 /* a device's string, in screen_modes.c */
	uint8_t painted; /* colours by name or number were changed */
	uint8_t lost;	 /* and nothing is shown, or understood */
	bool lead;	 /* the last byte may begin a control character */
	bool eight;	 /* the sequence has begun with such a one */
	uint16_t params[AB_MODES_PARAMS];
};

void ab_screen_modes_feed(struct ab_screen_modes *modes, const void *data, size_t len);

/* Where either may be the truth: on is what is on in one of them. */
void ab_screen_modes_join(struct ab_screen_modes *modes, const struct ab_screen_modes *other);

/* More than any sequence that the two below write. */
#define AB_MODES_ROOM 512

/* The bytes that undo exactly what is on; returns their number, 0: nothing
 * is. Fed to the same modes they leave nothing on. */
size_t ab_screen_modes_undo(const struct ab_screen_modes *modes, char ret[AB_MODES_ROOM]);

/* The bytes that bring it back after an undo, but for what a program sets
 * anew with each thing it draws (colours, letters, region) and for pushed
 * keyboard modes, whose flags are not kept. A sequence in whose middle it was
 * goes on there; a string (a title, a picture) goes on as one that means
 * nothing. */
size_t ab_screen_modes_redo(const struct ab_screen_modes *modes, char ret[AB_MODES_ROOM]);

/* Is the program on the full screen? */
bool ab_screen_modes_full(const struct ab_screen_modes *modes);

/*
 * A screen of our own over all of it: plain keys, no cursor, lines that end at
 * the margin; and back, where nothing is lost but what stood on a full screen.
 */
size_t ab_screen_modes_cover(const struct ab_screen_modes *modes, char ret[AB_MODES_ROOM]);
size_t ab_screen_modes_uncover(const struct ab_screen_modes *modes, char ret[AB_MODES_ROOM]);

#endif
