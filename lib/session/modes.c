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
#include "session/modes.h"

#include <string.h>

#include "session/modes_state.h"

/* What a soft reset (DECSTR) puts back. */
#define SOFT                                                                        \
	(BIT(CURSOR_KEYS) | BIT(ORIGIN) | BIT(CURSOR) | BIT(KEYPAD) | BIT(REGION) | \
	 BIT(LETTERS_G0) | BIT(LETTERS_G1) | BIT(COLOURS))

static void put(struct ab_modes *m, enum bit bit, bool on)
{
	if (on)
		m->on |= BIT(bit);
	else
		m->on &= ~BIT(bit);
}

static void leave_screen(struct ab_modes *m)
{
	m->on &= ~SCREENS;
	m->keyboards[1] = 0;
}

static void put_private(struct ab_modes *m, bool set)
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

static bool all_zero(const struct ab_modes *m)
{
	for (size_t i = 0; i < m->nparams; i++)
		if (m->params[i])
			return false;
	return true;
}

static uint16_t param(const struct ab_modes *m, size_t i)
{
	return i < m->nparams ? m->params[i] : 0;
}

/* Each of the two screens has its own stack of keyboard modes. */
static void push_keyboard(struct ab_modes *m)
{
	uint8_t *depth = &m->keyboards[(m->on & SCREENS) != 0];

	if (*depth < UINT8_MAX)
		(*depth)++;
}

static void pop_keyboards(struct ab_modes *m)
{
	uint8_t *depth = &m->keyboards[(m->on & SCREENS) != 0];
	unsigned int n = param(m, 0) ? param(m, 0) : 1;

	*depth = n < *depth ? (uint8_t)(*depth - n) : 0;
}

#define KEY(marker, inter, final) \
	((unsigned int)(marker) << 16 | (unsigned int)(inter) << 8 | (final))

static bool has_param(const struct ab_modes *m, uint16_t n)
{
	for (size_t i = 0; i < m->nparams; i++)
		if (m->params[i] == n)
			return true;
	return false;
}

static void do_csi(struct ab_modes *m, unsigned char final)
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

static void finish_csi(struct ab_modes *m, unsigned char final)
{
	struct ab_modes before = *m;

	do_csi(m, final);
	if (!m->eight)
		return;
	m->on |= before.on;
	for (size_t i = 0; i < 2; i++)
		if (m->keyboards[i] < before.keyboards[i])
			m->keyboards[i] = before.keyboards[i];
}

static void finish_escape(struct ab_modes *m, unsigned char final)
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

static void begin(struct ab_modes *m, enum state state)
{
	if (m->nparams)
		memset(m->params, 0, sizeof(m->params));
	m->state = (uint8_t)state;
	m->marker = m->inter = m->nparams = 0;
}

static void take_escape(struct ab_modes *m, unsigned char c)
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
static void take_number(struct ab_modes *m, unsigned char c)
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

static void take_param(struct ab_modes *m, unsigned char c)
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

static void take_csi(struct ab_modes *m, unsigned char c)
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
static size_t skip(struct ab_modes *m, const unsigned char *p, size_t len)
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

static void follow_device(struct ab_modes *m, unsigned char c)
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

static void take(struct ab_modes *m, unsigned char c)
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
static void take_second(struct ab_modes *m, unsigned char c)
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

void ab_modes_feed(struct ab_modes *m, const void *data, size_t len)
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

void ab_modes_join(struct ab_modes *m, const struct ab_modes *other)
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
