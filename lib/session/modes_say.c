#include <stdarg.h>
#include <stdio.h>

#include "session/modes_state.h"

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
static void say_cut(struct out *out, const struct ab_modes *m)
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
static void say_resumed(struct out *out, const struct ab_modes *m)
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

size_t ab_modes_undo(const struct ab_modes *m, char ret[AB_MODES_ROOM])
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

size_t ab_modes_redo(const struct ab_modes *m, char ret[AB_MODES_ROOM])
{
	struct out out = { .data = ret };

	say_rows_back(&out, m->on);
	say_resumed(&out, m);
	return out.len;
}

bool ab_modes_full(const struct ab_modes *m)
{
	return m->on & SCREENS;
}

/* What does no harm to a screen of ours, and could not be brought back. */
#define LEFT (SCREENS | BIT(KEYBOARD) | BIT(REGION) | BIT(CURSOR_SHAPE))

/* The other screen has keyboard modes of its own. */
static bool has_keyboard(const struct ab_modes *m)
{
	return ab_modes_full(m) && (m->keyboards[1] || (m->on & BIT(KEYBOARD)));
}

size_t ab_modes_cover(const struct ab_modes *m, char ret[AB_MODES_ROOM])
{
	struct out out = { .data = ret };

	say_cut(&out, m);
	/* Each saves the cursor with its colours and letters. */
	say(&out, ab_modes_full(m) ? "\0337" : "\033[?1049h");
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

size_t ab_modes_uncover(const struct ab_modes *m, char ret[AB_MODES_ROOM])
{
	struct out out = { .data = ret };

	say(&out, "\033[0m\033[H\033[2J\033[?7h\033[?25h");
	if (has_keyboard(m))
		say(&out, "\033[<u");
	say_rows_back(&out, m->on & ~LEFT);
	say(&out, ab_modes_full(m) ? "\0338" : "\033[?1049l");
	say_resumed(&out, m);
	return out.len;
}
