/*
 * Theory of operation.
 *
 *	GROUND	each byte is a key
 *	ESCAPE	after ESC: the key itself, or the beginning of what follows
 *	CSI	after ESC [: up to its final byte; only that and the first
 *		parameter say which key it is
 *	PASS	so many bytes more, whatever they are: after ESC O one, the
 *		three of an old mouse report
 *	STRING	after ESC ] and the like: up to BEL, or ESC with what follows
 *
 * ESC begins anew in every state, CAN and SUB end it.
 */
#include "session/terminal/key_reader.h"

#include <string.h>

#include "base/data/mem.h"

enum state { GROUND, ESCAPE, CSI, PASS, FINAL, STRING };

enum { BEL = 0x07, CAN = 0x18, SUB = 0x1a, ESC = 0x1b };
enum { PASTE_BEGINS = 200, PASTE_ENDS = 201 };

static const struct {
	char final;
	uint16_t param; /* matters for '~' only */
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

static void go(struct ab_key_reader *k, enum state state, uint8_t left)
{
	k->state = (uint8_t)state;
	k->left = left;
	k->param = 0;
}

static void after_escape(struct ab_key_reader *k, unsigned char c)
{
	if (c == '[')
		go(k, CSI, 0);
	else if (c == 'O')
		go(k, FINAL, 0);
	else if (strchr("]PX^_", c) && c)
		go(k, STRING, 0);
	else /* with Alt held */
		go(k, GROUND, 0);
}

static int finish_csi(struct ab_key_reader *k, unsigned char c)
{
	uint16_t param = k->param;
	bool bare = !param && !k->left;

	/* ESC [ [ A: the function keys of the console. */
	if (bare && (c == '[' || c == 'M'))
		go(k, PASS, c == 'M' ? 3 : 1);
	else
		go(k, GROUND, 0);
	if (c == '~' && (param == PASTE_BEGINS || param == PASTE_ENDS)) {
		k->pasting = param == PASTE_BEGINS;
		return 0;
	}
	return k->pasting ? 0 : find_special((char)c, param);
}

static int in_csi(struct ab_key_reader *k, unsigned char c)
{
	if (c >= 0x40 && c <= 0x7e)
		return finish_csi(k, c);
	if (c >= '0' && c <= '9' && !k->left)
		k->param = k->param < 6000 ? (uint16_t)(k->param * 10 + (c - '0')) : UINT16_MAX;
	else
		k->left = 1; /* the first parameter is over */
	return 0;
}

static int take(struct ab_key_reader *k, unsigned char c)
{
	if (c == ESC) {
		go(k, ESCAPE, 0);
		return 0;
	}
	if ((c == CAN || c == SUB) && k->state != GROUND) {
		go(k, GROUND, 0);
		return 0;
	}
	switch ((enum state)k->state) {
	case GROUND:
		return k->pasting ? 0 : c;
	case ESCAPE:
		after_escape(k, c);
		return 0;
	case CSI:
		return in_csi(k, c);
	case FINAL:
		go(k, GROUND, 0);
		return k->pasting ? 0 : find_special((char)c, 0);
	case PASS:
		if (--k->left == 0)
			go(k, GROUND, 0);
		return 0;
	case STRING:
		if (c == BEL)
			go(k, GROUND, 0);
		return 0;
	}
	return 0;
}

size_t ab_key_reader_feed(struct ab_key_reader *k, const char *data, size_t len, int *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		int key = take(k, (unsigned char)data[i]);

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
	go(k, GROUND, 0);
	return true;
}
