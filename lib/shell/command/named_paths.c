#include "shell/command/named_paths.h"

/* Bytes of a name in a path. Blanks, quotes and brackets end a path in code. */
static const bool name_bytes[256] = {
	['#'] = true,	      ['%'] = true, ['*' ... '+'] = true, ['-' ... '.'] = true,
	['0' ... '9'] = true, ['?'] = true, ['@'] = true,	  ['A' ... 'Z'] = true,
	['['] = true,	      [']'] = true, ['_'] = true,	  ['a' ... 'z'] = true,
	[128 ... 255] = true,
};

static bool is_name_byte(char c)
{
	return name_bytes[(unsigned char)c];
}

/* "-f" or "-rf" before the path: letters of options, the last with its value. */
static bool is_option_letters(struct ab_text word, uint32_t len)
{
	if (len < 2 || word.s[0] != '-')
		return false;
	for (uint32_t i = 1; i < len; i++)
		if (!ab_is_letter(word.s[i]))
			return false;
	return true;
}

/* Can a path begin at this slash, given the byte before it? */
static bool begins_path(struct ab_text word, uint32_t slash)
{
	char before = slash ? word.s[slash - 1] : ' ';

	if (before == '@' || before == '+' || before == '[' || before == '#')
		return slash < 2 || !is_name_byte(word.s[slash - 2]);
	return !is_name_byte(before) || is_option_letters(word, slash);
}

static uint32_t skip_to_blank(struct ab_text word, uint32_t at)
{
	while (at < word.len && (unsigned char)word.s[at] > ' ' && !strchr("\"'`<>", word.s[at]))
		at++;
	return at;
}

bool ab_named_next(struct ab_named_paths *n)
{
	const struct ab_text word = n->word;

	while (n->at < word.len) {
		const char *found = memchr(word.s + n->at, '/', word.len - n->at);
		uint32_t slash, from, to;

		if (!found)
			break;
		slash = (uint32_t)(found - word.s);
		if (slash && word.s[slash - 1] == ':' && slash + 1 < word.len &&
		    word.s[slash + 1] == '/') {
			/* A URL; what follows the host of file:// is a path. */
			n->at = ab_text_ends((struct ab_text){ word.s, slash }, "file:")
					? slash + 2
					: skip_to_blank(word, slash);
			continue;
		}
		from = slash;
		if (slash && word.s[slash - 1] == '~')
			from--;
		to = slash + 1;
		while (to < word.len && (word.s[to] == '/' || is_name_byte(word.s[to])))
			to++;
		n->at = to;
		if (!begins_path(word, from))
			continue;
		n->path = (struct ab_text){ word.s + from, to - from };
		return true;
	}
	n->at = word.len;
	return false;
}
