#ifndef AB_SESSION_MODES_STATE_H
#define AB_SESSION_MODES_STATE_H
/* What modes.c, which reads, and modes_say.c, which writes, share. */
#include "session/modes.h"

enum state { GROUND, ESCAPE, CSI, STRING, NUMBER };

/*
 * Some terminals (tmux after ESC P, GNU screen after all that begin a string,
 * ESC k and ESC ! as well) take all that follows for a part of it, BEL and
 * other sequences as well, until ESC \; a title alone may end with BEL. What
 * is true of this one is not known, so that is kept beside the state.
 */
enum device { NO_DEVICE, TITLE, TITLE_ESCAPE, DEVICE, DEVICE_ESCAPE };

/*
 * Bits of `lost`. A printer that is switched on gets all that is written; a
 * VT52 knows none of our sequences, and what ends it can be hidden behind one
 * of its own: so these are never taken for over.
 */
enum { PRINTS = 1, VT52 = 2 };

enum { BEL = 0x07, CAN = 0x18, SUB = 0x1a, ESC = 0x1b, DEL = 0x7f };
enum { LEAD = 0xc2 }; /* in UTF-8, of 0x80 to 0xbf */

/* No sequence has this marker: one that is malformed and means nothing. */
enum { MALFORMED = 0xff };

/* In the order of undoing. The full screens come after all that may belong to
 * them, and before what returning from them brings back. */
enum bit {
	SYNCHRONIZED,
	CURSOR_KEYS,
	ORIGIN,
	MARGINS,
	WRAP,
	MOUSE_X10,
	MOUSE_CLICKS,
	MOUSE_HIGHLIGHT,
	MOUSE_DRAG,
	MOUSE_ALL,
	FOCUS,
	MOUSE_UTF8,
	MOUSE_SGR,
	MOUSE_URXVT,
	MOUSE_PIXELS,
	CURSOR,
	PASTE,
	COLOUR_REPORTS,
	SIZE_REPORTS,
	WINDOWS_KEYS,
	KEYPAD,
	OTHER_KEYS,
	CURSOR_SHAPE,
	SCREEN_47,
	SCREEN_1047,
	SCREEN_1049,
	KEYBOARD,
	REGION,
	LETTERS_G0,
	LETTERS_G1,
	COLOURS,
	NBITS,
};

#define BIT(b) (1u << (b))
#define SCREENS (BIT(SCREEN_47) | BIT(SCREEN_1047) | BIT(SCREEN_1049))

/* Either a private mode, by its number, or the two sequences in full. */
struct ab_mode {
	uint16_t number;
	bool usual; /* on when nobody has touched it */
	const char *undo, *redo;
};
extern const struct ab_mode ab_mode_table[NBITS];

#endif
