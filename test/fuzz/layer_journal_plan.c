/*
 * Any bytes as the plan of an apply, and the rest of them as its list of staged files: every path that
 * is taken stays beneath the root, the temporary names have no slash, and what is taken is the same
 * after writing and reading it again.
 */
#include "layer/journal/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "layer/walk/records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_path(const char *path)
{
	size_t len = strlen(path);

	if (!len || path[0] == '/' || path[len - 1] == '/' || strstr(path, "//") ||
	    strcmp(path, "..") == 0 || strncmp(path, "../", 3) == 0 || strstr(path, "/../") ||
	    strstr(path, "/./") || (len > 2 && strcmp(path + len - 3, "/..") == 0))
		abort();
}

static void check_steps(const struct ab_steps *steps)
{
	char name[AB_STEP_NAME];

	for (size_t i = 0; i < steps->len; i++) {
		if (steps->v[i].kind > AB_STEP_MOVE)
			abort();
		check_path(steps->v[i].path);
		ab_step_name(steps, i, name);
		if (strchr(name, '/') || strncmp(name, ".agentbox-", 10) != 0)
			abort();
	}
	for (size_t i = 0; i < steps->shown.len; i++)
		check_path(steps->shown.v[i]);
}

static void check_again(const struct ab_steps *steps)
{
	ab_autobuf struct ab_buf first = { 0 }, second = { 0 };
	struct ab_record_reader r;
	struct ab_steps back;

	ab_steps_write(steps, &first);
	r = (struct ab_record_reader){ .at = first.data, .left = first.len };
	if (ab_steps_read(&r, &back) < 0)
		abort();
	ab_steps_write(&back, &second);
	if (first.len != second.len || memcmp(first.data, second.data, first.len) != 0)
		abort();
	ab_steps_fini(&back);
}

/* The first two bytes: how many of the others are the plan. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ab_record_reader plan, ready;
	struct ab_steps steps;
	size_t len;

	if (size < 2)
		return 0;
	len = (size_t)(data[0] | data[1] << 8);
	data += 2;
	size -= 2;
	len = len < size ? len : size;
	plan = (struct ab_record_reader){ .at = (const char *)data, .left = len };
	ready = (struct ab_record_reader){ .at = (const char *)data + len, .left = size - len };
	if (ab_steps_read(&plan, &steps) < 0)
		return 0;
	check_steps(&steps);
	check_again(&steps);
	(void)ab_steps_read_ready(&ready, &steps);
	ab_steps_fini(&steps);
	return 0;
}
