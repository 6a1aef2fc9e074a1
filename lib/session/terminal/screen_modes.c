/*
 * Theory of operation.
 *
 * The states are those of a terminal's own parser, as far as they decide where
 * a sequence begins and ends:
 *
 *	GROUND	text; only ESC matters, so it is searched for
 *	ESCAPE	after ESC, with the intermediate byte in `inter` if any
 *	CSI	after ESC [: marker, parameters, intermediate, final byte
 *	STRING	after ESC ] and the like: up to BEL, or ESC with what follows
 *	NUMBER	the beginning of one after ESC ]: what it is about
 *
 * ESC begins a new sequence in every state, CAN and SUB end the present one,
 * other control characters inside one do not disturb it.
 *
 * The eight-bit forms are two bytes in UTF-8, which terminals speak today, and
 * only some terminals know them (xterm, VTE and the console do, tmux and kitty
 * do not). So what such a form switches on is on, and what it switches off
 * is not off.
 *
 * Should: when in doubt call a mode on; undoing what is off harms nothing.
 * Mustn't: keep anything whose size the bytes decide.
 */
#include "session/terminal/screen_modes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

/* What a soft reset (DECSTR) puts back. */
#define SOFT                                                                        \
	(BIT(CURSOR_KEYS) | BIT(ORIGIN) | BIT(CURSOR) | BIT(KEYPAD) | BIT(REGION) | \
	 BIT(LETTERS_G0) | BIT(LETTERS_G1) | BIT(COLOURS))

static void put(struct ab_screen_modes *m, enum bit bit, bool on)
{
	if (on)
		m->on |= BIT(bit);
	else
		m->on &= ~BIT(bit);
}

static void leave_screen(struct ab_screen_modes *m)
{
	m->on &= ~SCREENS;
	m->keyboards[1] = 0;
}

static void put_private(struct ab_screen_modes *m, bool set)
{
	for (size_t i = 0; i < m->nparams; i++)
		for (size_t b = 0; b < NBITS; b++)
			if (ab_mode_table[b].number == m->params[i] && m->params[i])
				put(m, (enum bit)b, set != ab_mode_table[b].usual);
	/* There is one full screen; whichever way, it is left. */
	for (size_t i = 0; i < m->nparams && !set; i++)
		if (m->params[i] == 47 || m->params[i] == 1047 || m->params[i] == 1049)
			leave_screen(m);
}

static bool all_zero(const struct ab_screen_modes *m)
{
	for (size_t i = 0; i < m->nparams; i++)
		if (m->params[i])
			return false;
	return true;
}

static uint16_t param(const struct ab_screen_modes *m, size_t i)
{
	return i < m->nparams ? m->params[i] : 0;
}

/* Each of the two screens has its own stack of keyboard modes. */
static void push_keyboard(struct ab_screen_modes *m)
{
	uint8_t *depth = &m->keyboards[(m->on & SCREENS) != 0];

	if (*depth < UINT8_MAX)
		(*depth)++;
}

static void pop_keyboards(struct ab_screen_modes *m)
{
	uint8_t *depth = &m->keyboards[(m->on & SCREENS) != 0];
	unsigned int n = param(m, 0) ? param(m, 0) : 1;

	*depth = n < *depth ? (uint8_t)(*depth - n) : 0;
}

#define KEY(marker, inter, final) \
	((unsigned int)(marker) << 16 | (unsigned int)(inter) << 8 | (final))

static bool has_param(const struct ab_screen_modes *m, uint16_t n)
{
	for (size_t i = 0; i < m->nparams; i++)
		if (m->params[i] == n)
			return true;
	return false;
}

static void do_csi(struct ab_screen_modes *m, unsigned char final)
{
	switch (KEY(m->marker, m->inter, final)) {
	case KEY('?', 0, 'h'):
	case KEY('?', 0, 'l'):
		put_private(m, final == 'h');
		if (final == 'l' && has_param(m, 2))
			m->lost |= VT52;
		break;
	case KEY(0, 0, 'i'):
	case KEY('?', 0, 'i'):
		if (has_param(m, 5))
			m->lost |= PRINTS;
		break;
	case KEY(0, 0, 'm'):
		put(m, COLOURS, !all_zero(m));
		break;
	case KEY(0, 0, 'r'):
		put(m, REGION, !all_zero(m));
		break;
	case KEY(0, ' ', 'q'):
		put(m, CURSOR_SHAPE, param(m, 0) != 0);
		break;
	case KEY('>', 0, 'm'):
		if (param(m, 0) == 4 || m->nparams == 0)
			put(m, OTHER_KEYS, param(m, 1) != 0);
		break;
	case KEY('>', 0, 'n'):
		if (param(m, 0) == 4)
			put(m, OTHER_KEYS, false);
		break;
	case KEY('>', 0, 'u'):
		push_keyboard(m);
		break;
	case KEY('<', 0, 'u'):
		pop_keyboards(m);
		break;
	case KEY('=', 0, 'u'):
		/* Way 1 sets the flags, 2 adds some, 3 takes some away. */
		if (param(m, 0) != 0 && param(m, 1) != 3)
			put(m, KEYBOARD, true);
		else if (param(m, 1) < 2)
			put(m, KEYBOARD, false);
		break;
	case KEY(0, '!', 'p'):
		m->on &= ~SOFT;
		break;
	default:
		break;
	}
}

static void finish_csi(struct ab_screen_modes *m, unsigned char final)
{
	struct ab_screen_modes before = *m;

	do_csi(m, final);
	if (!m->eight)
		return;
	m->on |= before.on;
	for (size_t i = 0; i < 2; i++)
		if (m->keyboards[i] < before.keyboards[i])
			m->keyboards[i] = before.keyboards[i];
}

static void finish_escape(struct ab_screen_modes *m, unsigned char final)
{
	switch (KEY(0, m->inter, final)) {
	case KEY(0, 0, '='):
	case KEY(0, 0, '>'):
		put(m, KEYPAD, final == '=');
		break;
	case KEY(0, 0, 'c'): /* full reset */
		m->on = 0;
		m->keyboards[0] = m->keyboards[1] = 0;
		break;
	default:
		if (m->inter == '(')
			put(m, LETTERS_G0, final != 'B');
		else if (m->inter == ')')
			put(m, LETTERS_G1, final != 'B');
		break;
	}
}

static void begin(struct ab_screen_modes *m, enum state state)
{
	if (m->nparams)
		memset(m->params, 0, sizeof(m->params));
	m->state = (uint8_t)state;
	m->marker = m->inter = m->nparams = 0;
}

static void take_escape(struct ab_screen_modes *m, unsigned char c)
{
	if (c < 0x20 || c == DEL)
		return;
	if (m->inter == 0 && strchr("PX^_k!", c) && m->device < DEVICE)
		m->device = DEVICE;
	if (c < 0x30) {
		m->inter = m->inter ? MALFORMED : c;
		return;
	}
	if (m->inter == 0 && c == '[') {
		begin(m, CSI);
		return;
	}
	if (m->inter == 0 && strchr("]PX^_", c)) {
		if (c == ']' && !m->device)
			m->device = TITLE;
		begin(m, c == ']' ? NUMBER : STRING);
		return;
	}
	finish_escape(m, c);
	begin(m, GROUND);
}

/* 4 and 5 are numbered colours, 10 to 19 those of text, background and the
 * like, 21 kitty's for both; P is the console's. */
static void take_number(struct ab_screen_modes *m, unsigned char c)
{
	uint16_t *n = &m->params[0];
	bool colours;

	if (c >= '0' && c <= '9') {
		m->nparams = 1;
		*n = *n < 6000 ? (uint16_t)(*n * 10 + (c - '0')) : UINT16_MAX;
		return;
	}
	colours = *n == 4 || *n == 5 || (*n >= 10 && *n <= 19) || *n == 21;
	m->painted |= c == 'P' || (c == ';' && colours);
	begin(m, c == BEL ? GROUND : STRING);
}

static void take_param(struct ab_screen_modes *m, unsigned char c)
{
	uint16_t *last;

	if (m->inter) {
		m->marker = MALFORMED;
		return;
	}
	if (m->nparams == 0)
		m->nparams = 1;
	if (c >= ':') {
		/* One more than fits is counted, and its digits dropped. */
		if (m->nparams <= AB_MODES_PARAMS)
			m->nparams++;
		return;
	}
	if (m->nparams > AB_MODES_PARAMS)
		return;
	last = &m->params[m->nparams - 1];
	*last = *last < 6000 ? (uint16_t)(*last * 10 + (c - '0')) : UINT16_MAX;
}

static void take_csi(struct ab_screen_modes *m, unsigned char c)
{
	if (c < 0x20 || c == DEL)
		return;
	if (c < 0x30) {
		m->inter = m->inter ? MALFORMED : c;
	} else if (c < 0x3c) {
		take_param(m, c);
	} else if (c < 0x40) {
		m->marker = m->marker || m->inter || m->nparams ? MALFORMED : c;
	} else {
		if (m->nparams > AB_MODES_PARAMS)
			m->nparams = AB_MODES_PARAMS;
		if (c < DEL)
			finish_csi(m, c);
		begin(m, GROUND);
	}
}

/* Up to the next byte that may begin a sequence, or all; it is all the same in
 * text and in strings. */
static size_t skip(struct ab_screen_modes *m, const unsigned char *p, size_t len)
{
	const unsigned char *esc = memchr(p, ESC, len), *lead;
	size_t n = esc ? (size_t)(esc - p) : len;

	lead = memchr(p, LEAD, n);
	n = lead ? (size_t)(lead - p) : n;
	if ((m->state == STRING || m->device == TITLE) && n && memchr(p, BEL, n)) {
		m->state = m->state == STRING ? GROUND : m->state;
		m->device = m->device == TITLE ? NO_DEVICE : m->device;
	}
	return n;
}

static void follow_device(struct ab_screen_modes *m, unsigned char c)
{
	switch ((enum device)m->device) {
	case NO_DEVICE:
		break;
	case TITLE_ESCAPE:
	case DEVICE_ESCAPE:
		m->device = c == '\\' ? NO_DEVICE : m->device - 1;
		break;
	case TITLE:
	case DEVICE:
		if (c == ESC)
			m->device++;
		else if (c == BEL && m->device == TITLE)
			m->device = NO_DEVICE;
		break;
	}
}

static void take(struct ab_screen_modes *m, unsigned char c)
{
	if (c == ESC) {
		begin(m, ESCAPE);
		m->eight = false;
	} else if (c == CAN || c == SUB) {
		begin(m, GROUND);
	} else if (m->state == ESCAPE) {
		take_escape(m, c);
	} else if (m->state == NUMBER) {
		take_number(m, c);
	} else if (m->state == CSI) {
		take_csi(m, c);
	} else if (m->state == STRING && c == BEL) {
		m->state = GROUND;
	}
}

/* What the last byte began is one of the control characters from 0x80, or a
 * letter. */
static void take_second(struct ab_screen_modes *m, unsigned char c)
{
	m->lead = false;
	if (c < 0x80 || c > 0x9f) {
		/* Of a letter that was cut off nothing comes. */
		if (c >= 0x80)
			take(m, LEAD);
		take(m, c);
		return;
	}
	begin(m, ESCAPE);
	m->eight = true;
	take_escape(m, c - 0x40);
}

void ab_screen_modes_feed(struct ab_screen_modes *m, const void *data, size_t len)
{
	const unsigned char *p = data, *end = p + len;

	while (p < end) {
		if ((m->state == GROUND || m->state == STRING) && !m->lead) {
			p += skip(m, p, (size_t)(end - p));
			if (p == end)
				return;
		}
		follow_device(m, *p);
		if (m->lead)
			take_second(m, *p);
		else if (*p == LEAD)
			m->lead = true;
		else
			take(m, *p);
		p++;
	}
}

void ab_screen_modes_join(struct ab_screen_modes *m, const struct ab_screen_modes *other)
{
	m->on |= other->on;
	m->painted |= other->painted;
	m->lost |= other->lost;
	if (m->device < other->device)
		m->device = other->device;
	for (size_t i = 0; i < 2; i++)
		if (m->keyboards[i] < other->keyboards[i])
			m->keyboards[i] = other->keyboards[i];
	if (m->state == GROUND)
		m->state = other->state;
}

const struct ab_mode ab_mode_table[NBITS] = {
	[SYNCHRONIZED] = { 2026 },
	[CURSOR_KEYS] = { 1 },
	[ORIGIN] = { 6 },
	[MARGINS] = { 69 },
	[WRAP] = { 7, .usual = true },
	[MOUSE_X10] = { 9 },
	[MOUSE_CLICKS] = { 1000 },
	[MOUSE_HIGHLIGHT] = { 1001 },
	[MOUSE_DRAG] = { 1002 },
	[MOUSE_ALL] = { 1003 },
	[FOCUS] = { 1004 },
	[MOUSE_UTF8] = { 1005 },
	[MOUSE_SGR] = { 1006 },
	[MOUSE_URXVT] = { 1015 },
	[MOUSE_PIXELS] = { 1016 },
	[CURSOR] = { 25, .usual = true },
	[PASTE] = { 2004 },
	[COLOUR_REPORTS] = { 2031 },
	[SIZE_REPORTS] = { 2048 },
	[WINDOWS_KEYS] = { 9001 },
	[KEYPAD] = { 66, .undo = "\033>", .redo = "\033=" },
	[OTHER_KEYS] = { .undo = "\033[>4m", .redo = "\033[>4;2m" },
	[CURSOR_SHAPE] = { .undo = "\033[0 q" },
	[SCREEN_47] = { 47 },
	[SCREEN_1047] = { 1047 },
	[SCREEN_1049] = { 1049 },
	[KEYBOARD] = { .undo = "\033[=0u" },
	/* Setting the region moves the cursor home. */
	[REGION] = { .undo = "\0337\033[r\0338" },
	[LETTERS_G0] = { .undo = "\033(B" },
	[LETTERS_G1] = { .undo = "\033)B\017" },
	[COLOURS] = { .undo = "\033[0m" },
};

struct out {
	char *data;
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void say(struct out *out, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(out->data + out->len, AB_MODES_ROOM - out->len, fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < AB_MODES_ROOM - out->len)
		out->len += (size_t)n;
}

static void say_row(struct out *out, enum bit bit, bool set)
{
	const char *text = set ? ab_mode_table[bit].redo : ab_mode_table[bit].undo;

	if (text)
		say(out, "%s", text);
	else if (ab_mode_table[bit].number && !ab_mode_table[bit].undo)
		say(out, "\033[?%u%c", ab_mode_table[bit].number,
		    set != ab_mode_table[bit].usual ? 'h' : 'l');
}

/* A sequence that was cut off would swallow what comes next. Twice: the first
 * ESC may come after another one. */
static void say_cut(struct out *out, const struct ab_screen_modes *m)
{
	if (m->device > TITLE)
		say(out, "\033\\\033\\");
	else if (m->device || m->state == STRING || m->state == NUMBER)
		say(out, "\033\\");
	else if (m->state != GROUND)
		say(out, "%c", CAN);
	if (m->lost & PRINTS)
		say(out, "\033[4i");
	if (m->lost & VT52)
		say(out, "\033<");
}

/* And the terminal is in the middle of it again. */
static void say_resumed(struct out *out, const struct ab_screen_modes *m)
{
	size_t n = m->nparams < AB_MODES_PARAMS ? m->nparams : AB_MODES_PARAMS;

	if (m->state == GROUND)
		return;
	if (m->state == NUMBER) {
		say(out, "\033]");
		if (m->nparams)
			say(out, "%u", m->params[0]);
		return;
	}
	if (m->state == STRING) {
		say(out, "\033]9999;");
		return;
	}
	say(out, m->state == CSI ? "\033[" : "\033");
	if (m->marker && m->marker != MALFORMED)
		say(out, "%c", m->marker);
	for (size_t i = 0; i < n && m->state == CSI; i++) {
		say(out, i ? ";" : "");
		if (m->params[i])
			say(out, "%u", m->params[i]);
	}
	if (m->marker == MALFORMED)
		say(out, "0?");
	if (m->inter == MALFORMED)
		say(out, "!!");
	else if (m->inter)
		say(out, "%c", m->inter);
}

size_t ab_screen_modes_undo(const struct ab_screen_modes *m, char ret[AB_MODES_ROOM])
{
	struct out out = { .data = ret };

	say_cut(&out, m);
	if (m->keyboards[1])
		say(&out, "\033[<%uu", m->keyboards[1]);
	for (size_t b = 0; b < NBITS; b++) {
		if (m->on & BIT(b))
			say_row(&out, (enum bit)b, false);
		if (b == SCREEN_1049 && m->keyboards[0])
			say(&out, "\033[<%uu", m->keyboards[0]);
	}
	return out.len;
}

/* The screen first: the rest is for what is on it. */
static void say_rows_back(struct out *out, uint32_t on)
{
	for (size_t b = NBITS; b-- > 0;)
		if ((on & BIT(b)) && (ab_mode_table[b].redo || !ab_mode_table[b].undo))
			say_row(out, (enum bit)b, true);
}

size_t ab_screen_modes_redo(const struct ab_screen_modes *m, char ret[AB_MODES_ROOM])
{
	struct out out = { .data = ret };

	say_rows_back(&out, m->on);
	say_resumed(&out, m);
	return out.len;
}

bool ab_screen_modes_full(const struct ab_screen_modes *m)
{
	return m->on & SCREENS;
}

/* What does no harm to a screen of ours, and could not be brought back. */
#define LEFT (SCREENS | BIT(KEYBOARD) | BIT(REGION) | BIT(CURSOR_SHAPE))

/* The other screen has keyboard modes of its own. */
static bool has_keyboard(const struct ab_screen_modes *m)
{
	return ab_screen_modes_full(m) && (m->keyboards[1] || (m->on & BIT(KEYBOARD)));
}

size_t ab_screen_modes_cover(const struct ab_screen_modes *m, char ret[AB_MODES_ROOM])
{
	struct out out = { .data = ret };

	say_cut(&out, m);
	/* Each saves the cursor with its colours and letters. */
	say(&out, ab_screen_modes_full(m) ? "\0337" : "\033[?1049h");
	if (has_keyboard(m))
		say(&out, "\033[>0u");
	for (size_t b = 0; b < NBITS; b++)
		if (m->on & ~LEFT & BIT(b))
			say_row(&out, (enum bit)b, false);
	/* So many ways lead to words that cannot be seen or read that these
	 * are put right whether they seem to be wrong or not. */
	say(&out, "\033(B\017\033[0m");
	if (m->painted)
		say(&out, "\033]104\033\\\033]105\033\\\033]110\033\\"
			  "\033]111\033\\\033]R\033\\");
	say(&out, "\033[?7l\033[?25l\033[H\033[2J");
	return out.len;
}

size_t ab_screen_modes_uncover(const struct ab_screen_modes *m, char ret[AB_MODES_ROOM])
{
	struct out out = { .data = ret };

	say(&out, "\033[0m\033[H\033[2J\033[?7h\033[?25h");
	if (has_keyboard(m))
		say(&out, "\033[<u");
	say_rows_back(&out, m->on & ~LEFT);
	say(&out, ab_screen_modes_full(m) ? "\0338" : "\033[?1049l");
	say_resumed(&out, m);
	return out.len;
}
