/*
 * Theory of operation.
 *
 * The states are those of a terminal's parser that decide where a sequence
 * begins and ends:
 *
 *	GROUND	text; only ESC matters
 *	ESCAPE	after ESC, with the intermediate byte in `inter` if any
 *	CSI	after ESC [: marker, parameters, intermediate, final byte
 *	STRING	after ESC ] and the like: up to BEL or ESC
 *	NUMBER	the beginning of a string after ESC ]: its subject
 *
 * ESC begins a new sequence in every state, CAN and SUB end the current one;
 * other control characters do not affect it.
 *
 * An eight-bit control character is two bytes in UTF-8. Only some terminals
 * know them (xterm, VTE and the console do, tmux and kitty do not), so such a
 * sequence can switch a mode on here, but not off.
 *
 * Should: when in doubt assume that a mode is on; undoing it does no harm.
 * Mustn't: keep anything whose size the bytes determine.
 */
#include "terminal/screen_modes.h"

enum state { GROUND, ESCAPE, CSI, STRING, NUMBER };

/*
 * Some terminals (tmux after ESC P, GNU screen after everything that begins a
 * string, also ESC k and ESC !) end a string only at ESC \, not at BEL or at
 * another sequence; only a title may end with BEL. We do not know which
 * terminal this is, so this is tracked besides the state.
 */
enum device { NO_DEVICE, TITLE, TITLE_ESCAPE, DEVICE, DEVICE_ESCAPE };

/*
 * Bits of `lost`. A printer that is switched on gets all output. A VT52 knows
 * none of our sequences, and could take the one that ends it for a part of its
 * own. So these bits are never cleared.
 */
enum { PRINTS = 1, VT52 = 2 };

/*
 * The modes in the order of undoing. The full screens come after every mode that may belong to them,
 * and before those that leaving them restores. MODE is a private mode, by its number; USUAL is one
 * that is on by default; OWN has sequences of its own to undo and redo it. Setting the region moves
 * the cursor home.
 */
/* clang-format off */
#define MODES(MODE, USUAL, OWN) \
	MODE(SYNCHRONIZED, 2026) \
	MODE(CURSOR_KEYS, 1) \
	MODE(ORIGIN, 6) \
	MODE(MARGINS, 69) \
	USUAL(WRAP, 7) \
	MODE(MOUSE_X10, 9) \
	MODE(MOUSE_CLICKS, 1000) \
	MODE(MOUSE_HIGHLIGHT, 1001) \
	MODE(MOUSE_DRAG, 1002) \
	MODE(MOUSE_ALL, 1003) \
	MODE(FOCUS, 1004) \
	MODE(MOUSE_UTF8, 1005) \
	MODE(MOUSE_SGR, 1006) \
	MODE(MOUSE_URXVT, 1015) \
	MODE(MOUSE_PIXELS, 1016) \
	USUAL(CURSOR, 25) \
	MODE(PASTE, 2004) \
	MODE(COLOUR_REPORTS, 2031) \
	MODE(SIZE_REPORTS, 2048) \
	MODE(WINDOWS_KEYS, 9001) \
	OWN(KEYPAD, 66, "\033>", "\033=") \
	OWN(OTHER_KEYS, 0, "\033[>4m", "\033[>4;2m") \
	OWN(CURSOR_SHAPE, 0, "\033[0 q", NULL) \
	MODE(SCREEN_47, 47) \
	MODE(SCREEN_1047, 1047) \
	MODE(SCREEN_1049, 1049) \
	OWN(KEYBOARD, 0, "\033[=0u", NULL) \
	OWN(REGION, 0, "\0337\033[r\0338", NULL) \
	OWN(LETTERS_G0, 0, "\033(B", NULL) \
	OWN(LETTERS_G1, 0, "\033)B\017", NULL) \
	OWN(COLOURS, 0, "\033[0m", NULL)
/* clang-format on */

#define NAME_OF(name, ...) name,
enum bit { MODES(NAME_OF, NAME_OF, NAME_OF) NBITS };

#define BIT(b) (1u << (b))
#define SCREENS (BIT(SCREEN_47) | BIT(SCREEN_1047) | BIT(SCREEN_1049))

#define MODE_ROW(name, number) { number, false, NULL, NULL },
#define USUAL_ROW(name, number) { number, true, NULL, NULL },
#define OWN_ROW(name, number, undo, redo) { number, false, undo, redo },

static const struct {
	uint16_t number;
	bool usual; /* on by default */
	const char *undo, *redo;
} mode_table[NBITS] = { MODES(MODE_ROW, USUAL_ROW, OWN_ROW) };

/* The modes that a soft reset (DECSTR) resets. */
#define SOFT                                                                        \
	(BIT(CURSOR_KEYS) | BIT(ORIGIN) | BIT(CURSOR) | BIT(KEYPAD) | BIT(REGION) | \
	 BIT(LETTERS_G0) | BIT(LETTERS_G1) | BIT(COLOURS))

static void set_bit(struct ab_screen_modes *m, enum bit bit, bool on)
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

static void set_private_modes(struct ab_screen_modes *m, bool set)
{
	for (size_t i = 0; i < m->csi.nparams; i++)
		for (size_t b = 0; b < NBITS; b++)
			if (mode_table[b].number == m->csi.params[i] && m->csi.params[i])
				set_bit(m, (enum bit)b, set != mode_table[b].usual);
	/* There is only one full screen; each of the three modes leaves it. */
	for (size_t i = 0; i < m->csi.nparams && !set; i++)
		if (m->csi.params[i] == 47 || m->csi.params[i] == 1047 || m->csi.params[i] == 1049)
			leave_screen(m);
}

static bool all_zero(const struct ab_csi *csi)
{
	for (size_t i = 0; i < csi->nparams; i++)
		if (csi->params[i])
			return false;
	return true;
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
	unsigned int n = ab_csi_param(&m->csi, 0) ? ab_csi_param(&m->csi, 0) : 1;

	*depth = n < *depth ? (uint8_t)(*depth - n) : 0;
}

#define KEY AB_CSI_KEY

static void apply_csi(struct ab_screen_modes *m, unsigned char final)
{
	const struct ab_csi *csi = &m->csi;

	switch (KEY(csi->marker, csi->inter, final)) {
	case KEY('?', 0, 'h'):
	case KEY('?', 0, 'l'):
		set_private_modes(m, final == 'h');
		if (final == 'l' && ab_csi_has(csi, 2))
			m->lost |= VT52;
		break;
	case KEY(0, 0, 'i'):
	case KEY('?', 0, 'i'):
		if (ab_csi_has(csi, 5))
			m->lost |= PRINTS;
		break;
	case KEY(0, 0, 'm'):
		set_bit(m, COLOURS, !all_zero(csi));
		break;
	case KEY(0, 0, 'r'):
		set_bit(m, REGION, !all_zero(csi));
		break;
	case KEY(0, ' ', 'q'):
		set_bit(m, CURSOR_SHAPE, ab_csi_param(&m->csi, 0) != 0);
		break;
	case KEY('>', 0, 'm'):
		if (ab_csi_param(&m->csi, 0) == 4 || m->csi.nparams == 0)
			set_bit(m, OTHER_KEYS, ab_csi_param(&m->csi, 1) != 0);
		break;
	case KEY('>', 0, 'n'):
		if (ab_csi_param(&m->csi, 0) == 4)
			set_bit(m, OTHER_KEYS, false);
		break;
	case KEY('>', 0, 'u'):
		push_keyboard(m);
		break;
	case KEY('<', 0, 'u'):
		pop_keyboards(m);
		break;
	case KEY('=', 0, 'u'):
		/* The second parameter: 1 sets the flags, 2 adds, 3 removes. */
		if (ab_csi_param(&m->csi, 0) != 0 && ab_csi_param(&m->csi, 1) != 3)
			set_bit(m, KEYBOARD, true);
		else if (ab_csi_param(&m->csi, 1) < 2)
			set_bit(m, KEYBOARD, false);
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

	apply_csi(m, final);
	if (!m->eight)
		return;
	m->on |= before.on;
	for (size_t i = 0; i < 2; i++)
		if (m->keyboards[i] < before.keyboards[i])
			m->keyboards[i] = before.keyboards[i];
}

static void finish_escape(struct ab_screen_modes *m, unsigned char final)
{
	switch (KEY(0, m->csi.inter, final)) {
	case KEY(0, 0, '='):
	case KEY(0, 0, '>'):
		set_bit(m, KEYPAD, final == '=');
		break;
	case KEY(0, 0, 'c'): /* full reset */
		m->on = 0;
		m->keyboards[0] = m->keyboards[1] = 0;
		break;
	default:
		if (m->csi.inter == '(')
			set_bit(m, LETTERS_G0, final != 'B');
		else if (m->csi.inter == ')')
			set_bit(m, LETTERS_G1, final != 'B');
		break;
	}
}

static void begin_state(struct ab_screen_modes *m, enum state state)
{
	m->state = (uint8_t)state;
	if (m->csi.nparams || m->csi.marker || m->csi.inter)
		m->csi = (struct ab_csi){ 0 };
}

static void take_escape_byte(struct ab_screen_modes *m, unsigned char c)
{
	if (c < 0x20 || c == DEL)
		return;
	if (m->csi.inter == 0 && strchr("PX^_k!", c) && m->device < DEVICE)
		m->device = DEVICE;
	if (c < 0x30) {
		ab_csi_take(&m->csi, c);
		return;
	}
	if (m->csi.inter == 0 && c == '[') {
		begin_state(m, CSI);
		return;
	}
	if (m->csi.inter == 0 && strchr("]PX^_", c)) {
		if (c == ']' && !m->device)
			m->device = TITLE;
		begin_state(m, c == ']' ? NUMBER : STRING);
		return;
	}
	finish_escape(m, c);
	begin_state(m, GROUND);
}

/* 4 and 5 set numbered colours, 10 to 19 those of text, background and the
 * like, 21 (kitty) both; P is the console's sequence. */
static void take_number(struct ab_screen_modes *m, unsigned char c)
{
	uint16_t *n = &m->csi.params[0];
	bool colours;

	if (c >= '0' && c <= '9') {
		m->csi.nparams = 1;
		*n = ab_csi_digit(*n, c);
		return;
	}
	colours = *n == 4 || *n == 5 || (*n >= 10 && *n <= 19) || *n == 21;
	m->painted |= c == 'P' || (c == ';' && colours);
	begin_state(m, c == BEL ? GROUND : STRING);
}

static void take_csi_byte(struct ab_screen_modes *m, unsigned char c)
{
	if (c < 0x20 || c == DEL)
		return;
	if (c < 0x40) {
		ab_csi_take(&m->csi, c);
		return;
	}
	if (c < DEL)
		finish_csi(m, c);
	begin_state(m, GROUND);
}

/* The number of bytes, of text or of a string, up to the next one that may
 * begin a sequence. */
static size_t skip_plain(struct ab_screen_modes *m, const unsigned char *p, size_t len)
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

static void take_byte(struct ab_screen_modes *m, unsigned char c)
{
	if (c == ESC) {
		begin_state(m, ESCAPE);
		m->eight = false;
	} else if (c == CAN || c == SUB) {
		begin_state(m, GROUND);
	} else if (m->state == ESCAPE) {
		take_escape_byte(m, c);
	} else if (m->state == NUMBER) {
		take_number(m, c);
	} else if (m->state == CSI) {
		take_csi_byte(m, c);
	} else if (m->state == STRING && c == BEL) {
		m->state = GROUND;
	}
}

/* After LEAD: an eight-bit control character, or a letter. */
static void take_second(struct ab_screen_modes *m, unsigned char c)
{
	m->lead = false;
	if (c < 0x80 || c > 0x9f) {
		/* Else the letter was cut off. */
		if (c >= 0x80)
			take_byte(m, LEAD);
		take_byte(m, c);
		return;
	}
	begin_state(m, ESCAPE);
	m->eight = true;
	take_escape_byte(m, c - 0x40);
}

void ab_screen_modes_feed(struct ab_screen_modes *m, const void *data, size_t len)
{
	const unsigned char *p = data, *end = p + len;

	while (p < end) {
		if ((m->state == GROUND || m->state == STRING) && !m->lead) {
			p += skip_plain(m, p, (size_t)(end - p));
			if (p == end)
				return;
		}
		follow_device(m, *p);
		if (m->lead)
			take_second(m, *p);
		else if (*p == LEAD)
			m->lead = true;
		else
			take_byte(m, *p);
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

static void emit_mode(struct ab_buf *out, enum bit bit, bool set)
{
	const char *text = set ? mode_table[bit].redo : mode_table[bit].undo;

	if (text)
		ab_buf_puts(out, text);
	else if (mode_table[bit].number && !mode_table[bit].undo)
		ab_buf_printf(out, "\033[?%u%c", mode_table[bit].number,
			      set != mode_table[bit].usual ? 'h' : 'l');
}

/* An unfinished sequence would swallow what follows. ESC \ twice: the first ESC
 * may come after another one. */
static void emit_abort(struct ab_buf *out, const struct ab_screen_modes *m)
{
	if (m->device > TITLE)
		ab_buf_puts(out, "\033\\\033\\");
	else if (m->device || m->state == STRING || m->state == NUMBER)
		ab_buf_puts(out, "\033\\");
	else if (m->state != GROUND)
		ab_buf_printf(out, "%c", CAN);
	if (m->lost & PRINTS)
		ab_buf_puts(out, "\033[4i");
	if (m->lost & VT52)
		ab_buf_puts(out, "\033<");
}

/* Puts the terminal back into the middle of the sequence. */
static void emit_resumed(struct ab_buf *out, const struct ab_screen_modes *m)
{
	const struct ab_csi *csi = &m->csi;

	if (m->state == GROUND)
		return;
	if (m->state == NUMBER) {
		ab_buf_puts(out, "\033]");
		if (csi->nparams)
			ab_buf_printf(out, "%u", csi->params[0]);
		return;
	}
	if (m->state == STRING) {
		ab_buf_puts(out, "\033]9999;");
		return;
	}
	ab_buf_puts(out, m->state == CSI ? "\033[" : "\033");
	if (csi->marker && csi->marker != AB_CSI_MALFORMED)
		ab_buf_printf(out, "%c", csi->marker);
	for (size_t i = 0; i < csi->nparams && i < AB_CSI_PARAMS && m->state == CSI; i++) {
		ab_buf_puts(out, i ? ";" : "");
		if (csi->params[i])
			ab_buf_printf(out, "%u", csi->params[i]);
	}
	if (csi->marker == AB_CSI_MALFORMED)
		ab_buf_puts(out, "0?");
	if (csi->inter == AB_CSI_MALFORMED)
		ab_buf_puts(out, "!!");
	else if (csi->inter)
		ab_buf_printf(out, "%c", csi->inter);
}

void ab_screen_modes_undo(const struct ab_screen_modes *m, struct ab_buf *out)
{
	emit_abort(out, m);
	if (m->keyboards[1])
		ab_buf_printf(out, "\033[<%uu", m->keyboards[1]);
	for (size_t b = 0; b < NBITS; b++) {
		if (m->on & BIT(b))
			emit_mode(out, (enum bit)b, false);
		if (b == SCREEN_1049 && m->keyboards[0])
			ab_buf_printf(out, "\033[<%uu", m->keyboards[0]);
	}
}

/* The screen first: the other modes apply to it. */
static void emit_modes_back(struct ab_buf *out, uint32_t on)
{
	for (size_t b = NBITS; b-- > 0;)
		if ((on & BIT(b)) && (mode_table[b].redo || !mode_table[b].undo))
			emit_mode(out, (enum bit)b, true);
}

void ab_screen_modes_redo(const struct ab_screen_modes *m, struct ab_buf *out)
{
	emit_modes_back(out, m->on);
	emit_resumed(out, m);
}

bool ab_screen_modes_full(const struct ab_screen_modes *m)
{
	return m->on & SCREENS;
}

/* These modes do no harm on our screen, and could not be restored. */
#define LEFT (SCREENS | BIT(KEYBOARD) | BIT(REGION) | BIT(CURSOR_SHAPE))

/* Each screen has its own keyboard modes. */
static bool has_keyboard(const struct ab_screen_modes *m)
{
	return ab_screen_modes_full(m) && (m->keyboards[1] || (m->on & BIT(KEYBOARD)));
}

void ab_screen_modes_cover(const struct ab_screen_modes *m, struct ab_buf *out)
{
	emit_abort(out, m);
	/* Both save the cursor with its colours and charset. */
	ab_buf_puts(out, ab_screen_modes_full(m) ? "\0337" : "\033[?1049h");
	if (has_keyboard(m))
		ab_buf_puts(out, "\033[>0u");
	for (size_t b = 0; b < NBITS; b++)
		if (m->on & ~LEFT & BIT(b))
			emit_mode(out, (enum bit)b, false);
	/* Many sequences can make text invisible or unreadable: always reset
	 * charset and colours, also if they seem to be at their defaults. */
	ab_buf_puts(out, "\033(B\017\033[0m");
	if (m->painted)
		ab_buf_puts(out, "\033]104\033\\\033]105\033\\\033]110\033\\"
				 "\033]111\033\\\033]R\033\\");
	ab_buf_puts(out, "\033[?7l\033[?25l\033[H\033[2J");
}

void ab_screen_modes_uncover(const struct ab_screen_modes *m, struct ab_buf *out)
{
	ab_buf_puts(out, "\033[0m\033[H\033[2J\033[?7h\033[?25h");
	if (has_keyboard(m))
		ab_buf_puts(out, "\033[<u");
	emit_modes_back(out, m->on & ~LEFT);
	ab_buf_puts(out, ab_screen_modes_full(m) ? "\0338" : "\033[?1049l");
	emit_resumed(out, m);
}
