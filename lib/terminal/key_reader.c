/*
 * Theory of operation.
 *
 *	GROUND	each byte is a key
 *	ESCAPE	after ESC: the key itself, or the beginning of a sequence
 *	CSI	after ESC [, up to its final byte; that byte and the first
 *		parameter identify the key
 *	FINAL	after ESC O: one byte, which identifies the key
 *	PASS	skips a number of bytes, such as the three of an X10 mouse
 *		report
 *	STRING	after ESC ] and the like, up to BEL or ESC
 *
 * ESC begins a new sequence in every state; CAN and SUB end one.
 */
#include "terminal/key_reader.h"

#include "terminal/csi.h"

enum state { GROUND, ESCAPE, CSI, PASS, FINAL, STRING };

enum { PASTE_BEGINS = 200, PASTE_ENDS = 201 };

static const struct {
	char final;
	uint16_t param; /* for '~' only */
	int key;
} special[] = {
	{ 'A', 0, AB_KEY_UP },	    { 'B', 0, AB_KEY_DOWN },	  { 'H', 0, AB_KEY_HOME },
	{ 'F', 0, AB_KEY_END },	    { '~', 1, AB_KEY_HOME },	  { '~', 4, AB_KEY_END },
	{ '~', 5, AB_KEY_PAGE_UP }, { '~', 6, AB_KEY_PAGE_DOWN }, { '~', 7, AB_KEY_HOME },
	{ '~', 8, AB_KEY_END },
};

static int find_special(char final, uint16_t param)
{
	for (size_t i = 0; i < AB_COUNT(special); i++)
		if (special[i].final == final && (final != '~' || special[i].param == param))
			return special[i].key;
	return 0;
}

static void set_state(struct ab_key_reader *k, enum state state, uint8_t left)
{
	k->state = (uint8_t)state;
	k->left = left;
	k->param = 0;
}

static void take_escape_byte(struct ab_key_reader *k, unsigned char c)
{
	if (c == '[')
		set_state(k, CSI, 0);
	else if (c == 'O')
		set_state(k, FINAL, 0);
	else if (strchr("]PX^_", c) && c)
		set_state(k, STRING, 0);
	else /* with Alt held */
		set_state(k, GROUND, 0);
}

static int finish_csi(struct ab_key_reader *k, unsigned char c)
{
	uint16_t param = k->param;
	bool bare = !param && !k->left;

	/* ESC [ [ A: a function key of the Linux console. */
	if (bare && (c == '[' || c == 'M'))
		set_state(k, PASS, c == 'M' ? 3 : 1);
	else
		set_state(k, GROUND, 0);
	if (c == '~' && (param == PASTE_BEGINS || param == PASTE_ENDS)) {
		k->pasting = param == PASTE_BEGINS;
		return 0;
	}
	return k->pasting ? 0 : find_special((char)c, param);
}

static int take_csi_byte(struct ab_key_reader *k, unsigned char c)
{
	if (c >= 0x40 && c <= 0x7e)
		return finish_csi(k, c);
	if (c >= '0' && c <= '9' && !k->left)
		k->param = ab_csi_digit(k->param, c);
	else
		k->left = 1; /* the first parameter is over */
	return 0;
}

static int take_byte(struct ab_key_reader *k, unsigned char c)
{
	if (c == ESC) {
		set_state(k, ESCAPE, 0);
		return 0;
	}
	if ((c == CAN || c == SUB) && k->state != GROUND) {
		set_state(k, GROUND, 0);
		return 0;
	}
	switch ((enum state)k->state) {
	case GROUND:
		return k->pasting ? 0 : c;
	case ESCAPE:
		take_escape_byte(k, c);
		return 0;
	case CSI:
		return take_csi_byte(k, c);
	case FINAL:
		set_state(k, GROUND, 0);
		return k->pasting ? 0 : find_special((char)c, 0);
	case PASS:
		if (--k->left == 0)
			set_state(k, GROUND, 0);
		return 0;
	case STRING:
		if (c == BEL)
			set_state(k, GROUND, 0);
		return 0;
	}
	return 0;
}

size_t ab_key_reader_feed(struct ab_key_reader *k, const char *data, size_t len, int *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		int key = take_byte(k, (unsigned char)data[i]);

		if (key)
			ret[n++] = key;
	}
	return n;
}

bool ab_key_reader_open(const struct ab_key_reader *k)
{
	return k->state == ESCAPE && !k->pasting;
}

bool ab_key_reader_alone(struct ab_key_reader *k)
{
	if (!ab_key_reader_open(k))
		return false;
	set_state(k, GROUND, 0);
	return true;
}
