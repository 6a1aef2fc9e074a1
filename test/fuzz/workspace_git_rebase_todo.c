#include "workspace/git/rebase_todo.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

struct input {
	const char *data;
	size_t size, calls;
};

/* Each command is a part of one line, and has no blank at its ends. */
static void check(void *arg, const char *command, size_t len)
{
	struct input *in = arg;

	in->calls++;
	if (command < in->data || command + len > in->data + in->size || memchr(command, '\n', len))
		abort();
	if (len > 0 && (is_blank(command[0]) || is_blank(command[len - 1])))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { (const char *)data, size, 0 };

	if (ab_rebase_execs(in.data, size, check, &in) != in.calls || in.calls > size)
		abort();
	return 0;
}
