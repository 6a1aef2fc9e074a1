#include "shell/syntax/bytes.h"

#include "shell/syntax/ast.h"

static const uint8_t kinds[256] = {
	[AB_UNKNOWN] = AB_BYTES_UNKNOWN,
	['/'] = AB_BYTES_SLASH,
	['~'] = AB_BYTES_UP,
	['.'] = AB_BYTES_UP,
	['='] = AB_BYTES_SEPARATOR,
	['@'] = AB_BYTES_SEPARATOR,
	[':'] = AB_BYTES_SEPARATOR,
	[','] = AB_BYTES_SEPARATOR,
	[';'] = AB_BYTES_SEPARATOR,
	['\''] = AB_BYTES_SEPARATOR,
	['"'] = AB_BYTES_SEPARATOR,
	['('] = AB_BYTES_CODE,
	['|'] = AB_BYTES_CODE,
	['{'] = AB_BYTES_CODE,
	['['] = AB_BYTES_CODE | AB_BYTES_PATTERN,
	[']'] = AB_BYTES_PATTERN,
	['*'] = AB_BYTES_PATTERN,
	['?'] = AB_BYTES_PATTERN,
};

uint8_t ab_bytes_read(const char *s, uint32_t len)
{
	uint8_t found = AB_BYTES_READ;

	for (uint32_t i = 0; i < len; i++)
		found |= kinds[(unsigned char)s[i]];
	return found;
}
