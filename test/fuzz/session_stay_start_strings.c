/* The strings of a request are exactly those that were announced, and are written as they were
 * read. The first three bytes are the numbers. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "session/stay/start_strings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct ab_start_strings s = { 0 };
	struct ab_error err = { 0 };
	ab_autobuf struct ab_buf b = { 0 };

	if (len < 3)
		return 0;
	if (ab_start_strings_read((const char *)data + 3, len - 3, data[0], data[1] & 1, data[2],
				  &s, &err) < 0) {
		if (!err.text[0])
			abort();
		return 0;
	}
	if (s.argv.len != data[0] || !s.argv.len || s.env.len != data[2] ||
	    !s.script != !(data[1] & 1) || s.cwd[0] != '/')
		abort();
	ab_start_strings_write(&s, &b);
	if (b.len != len - 3 || memcmp(b.data, data + 3, b.len) != 0)
		abort();
	ab_start_strings_fini(&s);
	return 0;
}
