#pragma once
/* The content of a file that a box wrote, for a terminal. Pure. */
#include "base/base.h"

/* Text may have odd bytes, which are escaped; a NUL or many of them make it binary. */
bool ab_content_is_text(const char *data, size_t len);
/* Each line behind a mark, escaped. */
void ab_content_put_lines(struct ab_buf *b, const char *data, size_t len);
/* The first bytes in hexadecimal. */
void ab_content_put_hex(struct ab_buf *b, const char *data, size_t len);
