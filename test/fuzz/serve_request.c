/* Any line is a request that was checked, or a refusal in words; and the same bytes as the output of
 * a command, in two parts, are one line of JSON each. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "serve/capture.h"
#include "serve/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_request(const char *line, size_t len)
{
	struct ab_serve_request r;
	struct ab_error err = { 0 };

	if (ab_serve_request_parse(line, len, &r, &err) < 0 ? !err.text[0]
							    : r.what >= AB_SERVE_DO_COUNT)
		abort();
	ab_serve_request_fini(&r);
}

static void check_output(const char *bytes, size_t len, size_t at)
{
	struct ab_cut_char cut = { .len = 0 };

	for (int i = 0; i < 2; i++) {
		struct ab_buf b = { 0 };
		json_t *event;

		ab_output_event(&b, 1, "stdout", &cut, i ? bytes + at : bytes, i ? len - at : at,
				i);
		event = b.len ? json_loadb(b.data, b.len, JSON_ALLOW_NUL, NULL) : NULL;
		if (b.len && (!event || memchr(b.data, '\n', b.len)))
			abort();
		json_decref(event);
		ab_buf_fini(&b);
	}
	if (cut.len)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	check_request((const char *)data, len);
	check_output((const char *)data, len, len ? data[0] % (len + 1) : 0);
	return 0;
}
