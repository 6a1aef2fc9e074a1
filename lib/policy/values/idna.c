#include "policy/values/idna.h"

enum { LABEL = 63 };

/* A label has letters of one script. Latin includes ASCII; Japanese writes three of
 * them together, and EAST may have ASCII letters as well. */
enum script { COMMON, LATIN, GREEK, CYRILLIC, HEBREW, ARABIC, GEORGIAN, HANGUL, EAST };

enum fold {
	SAME, /* is a lower-case letter, or its script has only one case */
	ADD,  /* upper case: `add` more is the lower-case letter */
	EVEN, /* pairs: an even letter is upper case, the next one is lower case */
	ODD,  /* pairs: the same for odd letters */
};

/*
 * Sorted. Every letter that a row yields is valid (RFC 5892: PVALID), needs no
 * composition, and UTS 46 maps the same letters to it. Left out on purpose: sharp s
 * and final sigma, which older programs replace; letters that become several; marks,
 * which have to be composed and sorted; digits of other scripts.
 */
static const struct letters {
	uint32_t first, last;
	enum script script;
	enum fold fold;
	uint32_t add;
} table[] = {
	{ 0x00c0, 0x00d6, LATIN, ADD, 0x20 },	 { 0x00d8, 0x00de, LATIN, ADD, 0x20 },
	{ 0x00e0, 0x00f6, LATIN, SAME, 0 },	 { 0x00f8, 0x00ff, LATIN, SAME, 0 },
	{ 0x0100, 0x012f, LATIN, EVEN, 0 },	 { 0x0131, 0x0131, LATIN, SAME, 0 },
	{ 0x0134, 0x0137, LATIN, EVEN, 0 },	 { 0x0138, 0x0138, LATIN, SAME, 0 },
	{ 0x0139, 0x013e, LATIN, ODD, 0 },	 { 0x0141, 0x0148, LATIN, ODD, 0 },
	{ 0x014a, 0x0177, LATIN, EVEN, 0 },	 { 0x0179, 0x017e, LATIN, ODD, 0 },
	{ 0x01a0, 0x01a1, LATIN, EVEN, 0 },	 { 0x01af, 0x01b0, LATIN, ODD, 0 },
	{ 0x0218, 0x021b, LATIN, EVEN, 0 },	 { 0x0386, 0x0386, GREEK, ADD, 0x26 },
	{ 0x0388, 0x038a, GREEK, ADD, 0x25 },	 { 0x038c, 0x038c, GREEK, ADD, 0x40 },
	{ 0x038e, 0x038f, GREEK, ADD, 0x3f },	 { 0x0390, 0x0390, GREEK, SAME, 0 },
	{ 0x0391, 0x03a1, GREEK, ADD, 0x20 },	 { 0x03a3, 0x03ab, GREEK, ADD, 0x20 },
	{ 0x03ac, 0x03c1, GREEK, SAME, 0 },	 { 0x03c3, 0x03ce, GREEK, SAME, 0 },
	{ 0x0400, 0x040f, CYRILLIC, ADD, 0x50 }, { 0x0410, 0x042f, CYRILLIC, ADD, 0x20 },
	{ 0x0430, 0x045f, CYRILLIC, SAME, 0 },	 { 0x048a, 0x04bf, CYRILLIC, EVEN, 0 },
	{ 0x04d0, 0x04ff, CYRILLIC, EVEN, 0 },	 { 0x05d0, 0x05ea, HEBREW, SAME, 0 },
	{ 0x0620, 0x063f, ARABIC, SAME, 0 },	 { 0x0641, 0x064a, ARABIC, SAME, 0 },
	{ 0x10d0, 0x10fa, GEORGIAN, SAME, 0 },	 { 0x1e00, 0x1e95, LATIN, EVEN, 0 },
	{ 0x1ea0, 0x1eff, LATIN, EVEN, 0 },	 { 0x3005, 0x3007, EAST, SAME, 0 },
	{ 0x3041, 0x3096, EAST, SAME, 0 },	 { 0x30a1, 0x30fa, EAST, SAME, 0 },
	{ 0x30fc, 0x30fe, EAST, SAME, 0 },	 { 0x3400, 0x4dbf, EAST, SAME, 0 },
	{ 0x4e00, 0x9fff, EAST, SAME, 0 },	 { 0xac00, 0xd7a3, HANGUL, SAME, 0 },
};

static uint32_t fold_letter(const struct letters *row, uint32_t c)
{
	switch (row->fold) {
	case SAME:
		break;
	case ADD:
		return c + row->add;
	case EVEN:
		return c | 1;
	case ODD:
		return c + (c & 1);
	}
	return c;
}

/* The folded form of one character and its script. */
static bool fold_character(uint32_t c, uint32_t *ret_c, enum script *ret_script)
{
	if (c < 0x80) {
		bool letter = ab_is_alnum((int)c) && !ab_is_digit((int)c);

		if (!ab_is_alnum((int)c) && c != '-')
			return false;
		*ret_c = (uint32_t)ab_lower((int)c);
		*ret_script = letter ? LATIN : COMMON;
		return true;
	}
	for (size_t i = 0; i < AB_COUNT(table); i++)
		if (c >= table[i].first && c <= table[i].last) {
			*ret_c = fold_letter(&table[i], c);
			*ret_script = table[i].script;
			return true;
		}
	return false;
}

static bool may_join(enum script label, enum script letter)
{
	bool plain = label == LATIN || letter == LATIN;

	return label == COMMON || letter == COMMON || label == letter ||
	       (plain && (label == EAST || letter == EAST || label == HANGUL || letter == HANGUL));
}

/* RFC 3492, section 6.1. */
static uint32_t adapt(uint32_t delta, uint32_t points, bool first)
{
	uint32_t k = 0;

	delta = first ? delta / 700 : delta / 2;
	delta += delta / points;
	for (; delta > 35 * 26 / 2; k += 36)
		delta /= 35;
	return k + 36 * delta / (delta + 38);
}

static char digit(uint32_t d)
{
	return (char)(d < 26 ? 'a' + d : '0' + d - 26);
}

static bool put_number(char ret[LABEL], size_t *len, uint32_t q, uint32_t bias)
{
	for (uint32_t k = 36;; k += 36) {
		uint32_t t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;

		if (*len == LABEL)
			return false;
		if (q < t)
			break;
		ret[(*len)++] = digit(t + (q - t) % (36 - t));
		q = (q - t) / (36 - t);
	}
	ret[(*len)++] = digit(q);
	return true;
}

static uint32_t find_next(const uint32_t *c, size_t n, uint32_t least)
{
	uint32_t next = UINT32_MAX;

	for (size_t i = 0; i < n; i++)
		if (c[i] >= least && c[i] < next)
			next = c[i];
	return next;
}

/*
 * RFC 3492, section 6.3, behind "xn--". Nothing overflows: there are at most LABEL
 * characters, each below 2^21. Returns the length, 0 if it is longer than a label.
 */
static size_t encode_label(const uint32_t *c, size_t n, char ret[LABEL])
{
	uint32_t least = 0x80, delta = 0, bias = 72;
	size_t len = 4, basic = 0, done;

	memcpy(ret, "xn--", 4);
	for (size_t i = 0; i < n; i++)
		if (c[i] < 0x80) {
			if (len == LABEL)
				return 0;
			ret[len++] = (char)c[i];
			basic++;
		}
	if (basic && len == LABEL)
		return 0;
	if (basic)
		ret[len++] = '-';
	for (done = basic; done < n; delta++, least++) {
		uint32_t next = find_next(c, n, least);

		delta += (next - least) * (uint32_t)(done + 1);
		least = next;
		for (size_t i = 0; i < n; i++) {
			delta += c[i] < least;
			if (c[i] != least)
				continue;
			if (!put_number(ret, &len, delta, bias))
				return 0;
			bias = adapt(delta, (uint32_t)done + 1, done == basic);
			delta = 0;
			done++;
		}
	}
	return len;
}

/* The characters of one label, folded. Returns how many, 0 with the reason. */
static size_t read_label(const char *s, size_t len, uint32_t ret[LABEL], const char **ret_why)
{
	enum script label = COMMON, script;
	size_t n = 0;

	for (size_t used; len > 0; s += used, len -= used) {
		uint32_t c;

		used = ab_utf8_get(s, len, &c);
		*ret_why = "it is not UTF-8";
		if (used == 0)
			return 0;
		*ret_why = "one of its letters has no form that all programs agree on";
		if (!fold_character(c, &c, &script))
			return 0;
		*ret_why = "it mixes letters of several scripts";
		if (!may_join(label, script))
			return 0;
		if (label == COMMON || label == LATIN)
			label = script == COMMON ? label : script;
		*ret_why = "it is too long";
		if (n == LABEL)
			return 0;
		ret[n++] = c;
	}
	*ret_why = "a hyphen is in the wrong place";
	if (ret[0] == '-' || ret[n - 1] == '-' || (n > 3 && ret[2] == '-' && ret[3] == '-'))
		return 0;
	return n;
}

bool ab_idna_needed(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] & 0x80)
			return true;
	return false;
}

static size_t fold_label(const char *s, size_t len, char ret[LABEL], const char **ret_why)
{
	uint32_t c[LABEL];
	size_t n;

	*ret_why = "it is too long";
	if (!ab_idna_needed(s, len)) {
		if (len > LABEL)
			return 0;
		memcpy(ret, s, len);
		return len;
	}
	n = read_label(s, len, c, ret_why);
	if (n == 0)
		return 0;
	*ret_why = "it is too long";
	return encode_label(c, n, ret);
}

int ab_idna_fold(const char *s, size_t len, char ret_name[AB_IDNA_TEXT], const char **ret_why)
{
	char name[AB_IDNA_TEXT];
	size_t used = 0;

	for (;;) {
		const char *dot = memchr(s, '.', len);
		size_t n = dot ? (size_t)(dot - s) : len;
		char label[LABEL];
		size_t got = fold_label(s, n, label, ret_why);

		/* An empty label is for the parser to judge. */
		if (n > 0 && got == 0)
			return -1;
		if (used + got + 1 >= sizeof(name)) {
			*ret_why = "it is too long";
			return -1;
		}
		memcpy(name + used, label, got);
		used += got;
		if (!dot)
			break;
		name[used++] = '.';
		s += n + 1;
		len -= n + 1;
	}
	name[used] = '\0';
	memcpy(ret_name, name, used + 1);
	return 0;
}
