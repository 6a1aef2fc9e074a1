#include "shell/syntax/field.h"

static const uint8_t kinds[256] = {
	['/'] = AB_BYTES_SLASH,	    ['~'] = AB_BYTES_UP,	['.'] = AB_BYTES_UP,
	['='] = AB_BYTES_SEPARATOR, ['@'] = AB_BYTES_SEPARATOR, [':'] = AB_BYTES_SEPARATOR,
	[','] = AB_BYTES_SEPARATOR, [';'] = AB_BYTES_SEPARATOR, ['\''] = AB_BYTES_SEPARATOR,
	['"'] = AB_BYTES_SEPARATOR, ['('] = AB_BYTES_CODE,	['['] = AB_BYTES_CODE,
	['|'] = AB_BYTES_CODE,	    ['{'] = AB_BYTES_CODE,
};

uint8_t ab_bytes_read(struct ab_text text)
{
	uint8_t found = AB_BYTES_READ;

	for (uint32_t i = 0; i < text.len; i++)
		found |= kinds[(unsigned char)text.s[i]];
	return found;
}
