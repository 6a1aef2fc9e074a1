#pragma once
/*
 * Tracks which modes of a terminal a stream of bytes has switched on: full
 * screen, mouse reports, hidden cursor and the like, to switch off those that
 * a killed program left on.
 *
 * Pure and of fixed size for any bytes; all zero is a terminal with nothing
 * switched on. The stream may be cut anywhere. Contains no pointer, so two
 * processes can share it.
 */
#include "base/base.h"
#include "terminal/csi.h"

struct ab_screen_modes {
	uint32_t on;	      /* rows of the table that are not at their default */
	uint8_t keyboards[2]; /* pushed keyboard modes: main, full screen */
	uint8_t state;	      /* of the parser */
	uint8_t device;	      /* enum device in screen_modes.c */
	uint8_t painted;      /* the palette was changed */
	uint8_t lost;	      /* output is not shown, or not understood */
	bool lead;	      /* the last byte may begin an eight-bit control character */
	bool eight;	      /* the sequence began with one */
	struct ab_csi csi;    /* of the current sequence */
};

void ab_screen_modes_feed(struct ab_screen_modes *modes, const void *data, size_t len);

/* If either may be true: a mode is on if it is on in one of them. */
void ab_screen_modes_join(struct ab_screen_modes *modes, const struct ab_screen_modes *other);

/* Adds the bytes that switch off exactly what is on. Fed to the same modes they
 * leave nothing on. */
void ab_screen_modes_undo(const struct ab_screen_modes *modes, struct ab_buf *out);

/* Those that restore it after an undo, except what a program sets again
 * whenever it draws (colours, charset, region), and pushed keyboard modes, of
 * which we do not keep the flags. An unfinished sequence continues; an
 * unfinished string (a title, an image) continues as one without a meaning. */
void ab_screen_modes_redo(const struct ab_screen_modes *modes, struct ab_buf *out);

/* Is the program on the full screen? */
bool ab_screen_modes_full(const struct ab_screen_modes *modes);

/*
 * Covers the screen with our own: plain keys, no cursor, no line wrap. Uncover
 * restores everything but the content of a full screen.
 */
void ab_screen_modes_cover(const struct ab_screen_modes *modes, struct ab_buf *out);
void ab_screen_modes_uncover(const struct ab_screen_modes *modes, struct ab_buf *out);
