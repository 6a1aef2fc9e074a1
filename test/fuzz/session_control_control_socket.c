/* Whatever comes over the control socket is a request that was checked, or a
 * refusal in words. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/error.h"
#include "session/control/control_socket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct ab_control_request request;
	struct ab_error err = { 0 };
	struct ab_host_entry entry;

	if (len > AB_CONTROL_MAX)
		return 0;
	if (ab_control_parse("abcde", (const char *)data, len, &request, &err) < 0) {
		if (!err.text[0])
			abort();
		return 0;
	}
	if (request.what >= AB_DO_COUNT || request.answer >= AB_CHOICE_COUNT)
		abort();
	if ((request.what == AB_DO_ALLOW || request.what == AB_DO_DENY) &&
	    ab_host_entry_parse(request.entry, strlen(request.entry), &entry, NULL) < 0)
		abort();
	return 0;
}
