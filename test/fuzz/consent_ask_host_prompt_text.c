/*
 * The screen of a question: whatever the names hold, nothing leaves its line
 * and no line its screen. The first bytes are its size and where the host ends.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "consent/ask/host_prompt.h"
#include "terminal/columns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *text, size_t rows, size_t cols)
{
	for (size_t row = 1;; row++) {
		size_t len = strcspn(text, "\n");
		ab_autobuf struct ab_buf again = { 0 };

		if (row > rows || ab_columns_fit(&again, text, len, cols, NULL) != len ||
		    again.len != len || memcmp(again.data, text, len) != 0)
			abort();
		if (!text[len])
			return;
		text += len + 1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ab_autofree char *host = NULL, *rest = NULL, *who = NULL;
	struct ab_host_prompt_question q = { .number = 7, .left_ms = 1 };
	size_t rows, cols, cut;

	if (size < 4)
		return 0;
	rows = data[0] % 60u + 1;
	cols = data[1] % 150u + 1;
	size -= 4;
	cut = size ? data[2] % size : 0;
	host = ab_strndup((const char *)data + 4, cut);
	rest = ab_strndup((const char *)data + 4 + cut, size - cut);
	/* As it is, or as the name in something well-formed. */
	if (data[3] & 2) {
		struct ab_buf b = { 0 };

		ab_buf_puts(&b, "[{\"pid\":3,\"exe\":");
		ab_buf_json(&b, rest);
		ab_buf_puts(&b, ",\"argv\":[");
		ab_buf_json(&b, rest);
		ab_buf_puts(&b, "]}]");
		who = ab_buf_take(&b);
	}
	q.host = q.door = q.run_id = host;
	q.who = who ? who : rest;
	q.held = data[3] & 4;
	q.others = data[3] >> 3;
	for (int more = 0; more < 2; more++) {
		ab_autobuf struct ab_buf b = { 0 };

		ab_host_prompt_text(&b, &q, more, rows, cols);
		check(b.data, rows, cols);
	}
	return 0;
}
