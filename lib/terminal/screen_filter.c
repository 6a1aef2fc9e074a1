/*
 * Theory of operation.
 *
 *	GROUND	text
 *	ESCAPE	after ESC, with intermediate bytes
 *	CSI	after ESC [
 *	OSC	after ESC ], up to where its meaning is known
 *	DCS	after ESC P, the same
 *	PALETTE	after ESC ] P: seven digits (the console's, without an end)
 *	PASS	the rest of a string that passes
 *	DROP	the rest of one that does not
 *
 * Terminals differ about what ends a sequence or a string. So a sequence is held
 * until it is complete, and one that is cut short is dropped from its beginning:
 * the terminal never sees the beginning of something that it could complete
 * itself. A string that passes is ended with ESC \ if another sequence cuts it.
 *
 * Should: pass what is not known to be more than output (CSI, ESC); there are too
 * many harmless ones.
 * Mustn't: pass a string (OSC, DCS) whose meaning is not in the tables; nobody
 * knows them all.
 */
#include "terminal/screen_filter.h"

enum state { GROUND, ESCAPE, CSI, OSC, DCS, PALETTE, PASS, DROP };

/* Commands of iTerm2 and ConEmu have names. */
enum rule { PASSES, ASKS, BY_NAME };

static const struct osc {
	uint16_t first, last;
	enum rule rule;
} oscs[] = {
	{ 0, 2, PASSES },	  /* titles */
	{ 4, 5, ASKS },		  /* numbered colours */
	{ 7, 8, PASSES },	  /* current folder, links */
	{ 9, 9, BY_NAME },	  /* progress; else notifications and macros */
	{ 10, 19, ASKS },	  /* colours of text, background and the like */
	{ 22, 22, PASSES },	  /* shape of the pointer */
	{ 66, 66, PASSES },	  /* size of text */
	{ 104, 106, PASSES },	  /* reset colours */
	{ 110, 119, PASSES },	  /* reset colours */
	{ 133, 133, PASSES },	  /* where a prompt begins and ends */
	{ 1337, 1337, BY_NAME },  /* iTerm2 */
	{ 30001, 30001, PASSES }, /* save colours */
	{ 30101, 30101, PASSES }, /* restore colours */
};

static const struct {
	uint16_t number;
	const char name[16];
} osc_names[] = {
	{ 9, "4;" },
	{ 1337, "SetMark" },
	{ 1337, "CurrentDir=" },
	{ 1337, "CursorShape=" },
	{ 1337, "ReportCellSize" },
};

struct out {
	char *data;
	size_t len;
};

static void emit(struct out *out, const void *data, size_t len)
{
	memcpy(out->data + out->len, data, len);
	out->len += len;
}

static void emit_byte(struct out *out, unsigned char c)
{
	out->data[out->len++] = (char)c;
}

static void begin_state(struct ab_screen_filter *f, enum state state)
{
	f->state = (uint8_t)state;
	f->more = 0;
	if (state == CSI)
		f->csi = (struct ab_csi){ 0 };
	if (state != GROUND)
		return;
	f->len = 0;
	f->overlong = f->asks = false;
}

static void hold_byte(struct ab_screen_filter *f, unsigned char c)
{
	if (f->len < AB_SCREEN_FILTER_HELD)
		f->held[f->len++] = (char)c;
	else
		f->overlong = true;
}

/* The sequence passes: send what was held. */
static void release(struct ab_screen_filter *f, struct out *out, enum state next)
{
	emit(out, f->held, f->len);
	f->len = 0;
	begin_state(f, next);
}

/* The end of a string that was sent must not be left to the terminal. */
static void abandon(struct ab_screen_filter *f, struct out *out)
{
	if (f->state == PASS)
		emit(out, "\033\\", 2);
	begin_state(f, GROUND);
}

/* Where the text after the introducer begins: ESC [, or one byte, or that one in
 * UTF-8. */
static size_t find_text(const struct ab_screen_filter *f)
{
	unsigned char first = (unsigned char)f->held[0];

	return first == ESC || first == LEAD ? 2 : 1;
}

/* When in doubt it has the parameter. */
static bool may_have(const struct ab_csi *csi, uint16_t param)
{
	return csi->many || ab_csi_has(csi, param);
}

static bool csi_passes(const struct ab_csi *csi, unsigned char final)
{
	if (csi->marker == AB_CSI_MALFORMED || csi->inter == AB_CSI_MALFORMED)
		return false;
	switch (AB_CSI_KEY(csi->marker, csi->inter, final)) {
	case AB_CSI_KEY(0, 0, 'i'): /* print */
	case AB_CSI_KEY('?', 0, 'i'):
	case AB_CSI_KEY(0, '*', 'y'): /* sums of what is on the screen */
	case AB_CSI_KEY(0, '*', 'z'): /* run a macro */
	case AB_CSI_KEY(0, '$', 'u'): /* report the terminal's state, */
	case AB_CSI_KEY(0, '$', 'w'): /* the cursor's, */
	case AB_CSI_KEY(0, '&', 'u'): /* the charset's name */
		return false;
	case AB_CSI_KEY(0, 0, 't'): /* report the titles */
		return !may_have(csi, 20) && !may_have(csi, 21);
	case AB_CSI_KEY('?', 0, 'l'): /* become a VT52, which has other sequences */
		return !may_have(csi, 2);
	default:
		return true;
	}
}

static bool csi_asks(const struct ab_csi *csi, unsigned char final)
{
	switch (AB_CSI_KEY(csi->marker, csi->inter, final)) {
	case AB_CSI_KEY(0, 0, 'c'):
	case AB_CSI_KEY('>', 0, 'c'):
	case AB_CSI_KEY('=', 0, 'c'):
	case AB_CSI_KEY(0, 0, 'n'):
	case AB_CSI_KEY('?', 0, 'n'):
	case AB_CSI_KEY(0, 0, 'x'):
	case AB_CSI_KEY('>', 0, 'q'):
	case AB_CSI_KEY('?', 0, 'u'):
	case AB_CSI_KEY('?', 0, 'm'):
	case AB_CSI_KEY('?', 0, 'S'):
	case AB_CSI_KEY(0, '$', 'p'):
	case AB_CSI_KEY('?', '$', 'p'):
	case AB_CSI_KEY(0, '"', 'v'):
	case AB_CSI_KEY(0, '\'', '|'):
		return true;
	case AB_CSI_KEY(0, 0, 't'):
		return csi->params[0] >= 11 && csi->params[0] <= 19;
	default:
		return csi->inter == '#';
	}
}

static void finish_csi(struct ab_screen_filter *f, unsigned char final, struct out *out)
{
	if (!f->overlong && csi_passes(&f->csi, final)) {
		f->asked |= csi_asks(&f->csi, final);
		release(f, out, GROUND);
	}
	begin_state(f, GROUND);
}

/* The held bytes are ESC, intermediate bytes, and the final one. */
static bool escape_passes(const struct ab_screen_filter *f)
{
	char inter = f->held[1], final = f->held[f->len - 1];

	if (f->len < 3)
		return true;
	if (f->overlong)
		return false;
	if (inter == '%') /* UTF-8, and no other encoding */
		return f->len == 3 && final == 'G';
	return inter != ' ' || final != 'G'; /* answers in eight bits */
}

static void begin_string(struct ab_screen_filter *f, unsigned char kind)
{
	f->kind = kind;
	begin_state(f, kind == ']' ? OSC : kind == 'P' ? DCS : DROP);
}

static bool begins_string(unsigned char c)
{
	return c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_';
}

static void finish_escape(struct ab_screen_filter *f, unsigned char c, struct out *out)
{
	bool alone = f->len == 2;

	if (alone && c == '[') {
		begin_state(f, CSI);
	} else if (alone && begins_string(c)) {
		begin_string(f, c);
	} else {
		if (escape_passes(f)) {
			f->asked |= alone && c == 'Z';
			release(f, out, GROUND);
		}
		begin_state(f, GROUND);
	}
}

static bool read_number(const char *s, size_t len, uint16_t *ret)
{
	unsigned n = 0;

	for (size_t i = 0; i < len; i++) {
		if (!ab_is_digit(s[i]) || n > 6000)
			return false;
		n = n * 10 + (unsigned)(s[i] - '0');
	}
	*ret = (uint16_t)n;
	return len > 0 && n <= UINT16_MAX;
}

/* May this text be the name of a command that passes? *ret_whole: it is one. */
static bool matches_name(uint16_t number, const char *s, size_t len, bool *ret_whole)
{
	bool any = false;

	for (size_t i = 0; i < AB_COUNT(osc_names); i++) {
		size_t n = strlen(osc_names[i].name);

		if (osc_names[i].number != number ||
		    memcmp(osc_names[i].name, s, len < n ? len : n) != 0)
			continue;
		any = true;
		*ret_whole |= len >= n;
	}
	return any;
}

static const struct osc *find_osc(uint16_t number)
{
	for (size_t i = 0; i < AB_COUNT(oscs); i++)
		if (number >= oscs[i].first && number <= oscs[i].last)
			return &oscs[i];
	return NULL;
}

enum verdict { UNDECIDED, YES, NO };

/* `ended`: the string has no more than what is held. */
static enum verdict judge_osc(struct ab_screen_filter *f, bool ended)
{
	size_t len = f->len - find_text(f), digits;
	const char *s = f->held + find_text(f), *semi = memchr(s, ';', len);
	const struct osc *osc;
	bool whole = false;
	uint16_t number;

	digits = semi ? (size_t)(semi - s) : len;
	if (!digits && !semi && !ended)
		return UNDECIDED;
	if (!read_number(s, digits, &number))
		return NO;
	if (!semi && !ended)
		return UNDECIDED;
	osc = find_osc(number);
	if (!osc)
		return NO;
	f->asks = osc->rule == ASKS;
	if (osc->rule != BY_NAME)
		return YES;
	if (!semi || !matches_name(number, semi + 1, len - digits - 1, &whole))
		return NO;
	f->asked |= whole && number == 1337;
	return whole ? YES : ended ? NO : UNDECIDED;
}

/* ESC P, parameters, a final byte: only images (sixel), and the marks around a
 * synchronized update. */
static bool dcs_passes(const struct ab_screen_filter *f)
{
	size_t i = find_text(f);
	char final = f->held[f->len - 1];
	bool update = i + 1 < f->len && f->held[i] == '=';

	if (f->overlong)
		return false;
	for (i += update; i + 1 < f->len; i++)
		if (!ab_is_digit(f->held[i]) && f->held[i] != ';')
			return false;
	return final == (update ? 's' : 'q');
}

/* The string's end has come; the terminator follows if it passes. */
static void end_string(struct ab_screen_filter *f, const char *end, size_t len, struct out *out)
{
	bool passes = f->state == PASS;

	if (f->state == OSC && judge_osc(f, true) == YES) {
		emit(out, f->held, f->len);
		passes = true;
	}
	if (passes)
		emit(out, end, len);
	begin_state(f, GROUND);
}

static bool in_string(const struct ab_screen_filter *f)
{
	return f->state >= OSC;
}

static void take_osc_byte(struct ab_screen_filter *f, unsigned char c, struct out *out)
{
	bool first = f->len == find_text(f);

	hold_byte(f, c);
	if (first && c == 'P') {
		begin_state(f, PALETTE);
		return;
	}
	if (first && c == 'R') {
		release(f, out, GROUND);
		return;
	}
	switch (judge_osc(f, false)) {
	case UNDECIDED:
		if (f->overlong)
			begin_state(f, DROP);
		break;
	case YES:
		release(f, out, PASS);
		break;
	case NO:
		begin_state(f, DROP);
		break;
	}
}

static void take_string_byte(struct ab_screen_filter *f, unsigned char c, struct out *out)
{
	if (c == BEL && f->kind == ']') {
		end_string(f, "\007", 1, out);
	} else if (f->state == PASS) {
		f->asked |= f->asks && c == '?';
		emit_byte(out, c);
	} else if (f->state == DROP || c < 0x20) {
		return;
	} else if (f->state == OSC) {
		take_osc_byte(f, c, out);
	} else if (f->state == DCS) {
		hold_byte(f, c);
		if (c >= 0x80 || (c >= 0x40 && !dcs_passes(f)))
			begin_state(f, DROP);
		else if (c >= 0x40)
			release(f, out, PASS);
	} else if (ab_hex(c) < 0) { /* PALETTE */
		begin_state(f, DROP);
	} else {
		hold_byte(f, c);
		if (f->len == find_text(f) + 1 + 7)
			release(f, out, GROUND);
	}
}

static void take_sequence_byte(struct ab_screen_filter *f, unsigned char c, struct out *out)
{
	if (c >= 0x80) {
		begin_state(f, GROUND);
		emit_byte(out, c);
	} else if (c < 0x20) {
		emit_byte(out, c); /* has its effect at once */
	} else if (c != DEL) {
		hold_byte(f, c);
		if (f->state == CSI && c >= 0x40)
			finish_csi(f, c, out);
		else if (f->state == CSI)
			ab_csi_take(&f->csi, c);
		else if (f->state == ESCAPE && c >= 0x30)
			finish_escape(f, c, out);
	}
}

static void take_plain(struct ab_screen_filter *f, unsigned char c, struct out *out)
{
	if (f->state == GROUND)
		emit_byte(out, c);
	else if (in_string(f))
		take_string_byte(f, c, out);
	else
		take_sequence_byte(f, c, out);
}

static void begin_escape(struct ab_screen_filter *f, struct out *out)
{
	abandon(f, out);
	begin_state(f, ESCAPE);
	hold_byte(f, ESC);
}

/* An eight-bit control character: one byte, or two in UTF-8. */
static void take_eight_bit(struct ab_screen_filter *f, unsigned char c, bool utf8, struct out *out)
{
	const char text[2] = { (char)LEAD, (char)c };

	if (c == 0x9c && in_string(f)) {
		end_string(f, text + !utf8, 1u + utf8, out);
		return;
	}
	abandon(f, out);
	if (utf8)
		hold_byte(f, LEAD);
	hold_byte(f, c);
	c -= 0x40;
	if (c == '[') {
		begin_state(f, CSI);
	} else if (begins_string(c)) {
		begin_string(f, c);
	} else {
		f->asked |= c == 'Z';
		release(f, out, GROUND);
	}
}

/* How many bytes follow this one in UTF-8. */
static uint8_t count_more(unsigned char c)
{
	return c >= 0xc2 && c < 0xe0   ? 1
	       : c >= 0xe0 && c < 0xf0 ? 2
	       : c >= 0xf0 && c < 0xf5 ? 3
				       : 0;
}

static void take_byte(struct ab_screen_filter *f, unsigned char c, struct out *out)
{
	/* It is gone wherever it is, so what is around it belongs together. */
	if (c == ENQ)
		return;
	if (f->lead) {
		f->lead = false;
		if (c >= 0x80 && c <= 0x9f) {
			take_eight_bit(f, c, true, out);
			return;
		}
		take_plain(f, LEAD, out);
		f->more = 1;
	}
	if (f->escape) {
		f->escape = false;
		if (c == '\\') {
			end_string(f, "\033\\", 2, out);
			return;
		}
		begin_escape(f, out);
	}
	if (f->more && c >= 0x80 && c < 0xc0) {
		uint8_t more = f->more - 1;

		take_plain(f, c, out);
		f->more = more;
		return;
	}
	f->more = 0;
	if (c == ESC && in_string(f)) {
		f->escape = true;
	} else if (c == ESC) {
		begin_escape(f, out);
	} else if (c == CAN || c == SUB) {
		abandon(f, out);
		emit_byte(out, c);
	} else if (c == LEAD) {
		f->lead = true;
	} else if (c >= 0x80 && c <= 0x9f) {
		take_eight_bit(f, c, false, out);
	} else {
		take_plain(f, c, out);
		f->more = count_more(c);
	}
}

/* The number of bytes up to the next one that matters: plain text. */
static size_t skip_text(const unsigned char *p, size_t len)
{
	size_t n = 0;

	while (n < len && p[n] < 0x80 && p[n] != ESC && p[n] != ENQ)
		n++;
	return n;
}

size_t ab_screen_filter_take(struct ab_screen_filter *f, const void *data, size_t len, char *ret)
{
	const unsigned char *p = data, *end = p + len;
	struct out out = { .data = ret };

	while (p < end) {
		if (f->state == GROUND && !f->lead && !f->more) {
			size_t n = skip_text(p, (size_t)(end - p));

			emit(&out, p, n);
			p += n;
			if (p == end)
				break;
		}
		take_byte(f, *p++, &out);
	}
	return out.len;
}
