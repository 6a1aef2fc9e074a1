/* Any bytes as the request of a tool: what is accepted is bounded, and written again it is the same. */
#include "hosttools/tool_wire.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *room[AB_TOOL_WORDS_MAX + AB_TOOL_ENV_MAX];
	struct ab_tool_request r;
	struct ab_buf again = { 0 };

	if (ab_tool_request_parse((const char *)data, size, room, &r))
		return 0;
	if (r.argc == 0 || r.argc > AB_TOOL_WORDS_MAX || r.nenv > AB_TOOL_ENV_MAX ||
	    r.cwd[0] != '/' || ab_tool_request_write(&r, &again) || again.len != size ||
	    memcmp(again.data, data, size) != 0)
		abort();
	ab_buf_fini(&again);
	return 0;
}
