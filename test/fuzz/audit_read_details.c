/*
 * Any bytes as a line of the record: values lie inside it, and what the JSON
 * library takes is taken and means the same.
 */
#include "audit/read/details.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = { "timestamp", "kind",    "id",     "domain",
				     "port",	  "allowed", "process" };

static void check_bounds(const char *line, size_t size, const struct ab_detail *f)
{
	char small[8];

	if (f->kind == AB_DETAIL_NONE)
		return;
	if (f->at < line || f->len > size || f->at + f->len > line + size)
		abort();
	if (ab_detail_copy(f, small, sizeof(small)) >= sizeof(small))
		abort();
}

static void check_list(const struct ab_detail *list)
{
	struct ab_detail element;
	size_t at = 0, before = 0;

	while (ab_detail_next(list, &at, &element)) {
		if (at <= before || at > list->len)
			abort();
		check_bounds(list->at, list->len, &element);
		before = at;
	}
}

static void check_same(const json_t *want, const struct ab_detail *f)
{
	ab_autofree char *text = ab_detail_dup(f);

	if ((f->kind == AB_DETAIL_NONE) != !want ||
	    (f->kind == AB_DETAIL_TEXT) != json_is_string(want) ||
	    (f->kind == AB_DETAIL_TRUE) != json_is_true(want) ||
	    (f->kind == AB_DETAIL_NUMBER) != json_is_number(want))
		abort();
	if (text && strcmp(text, json_string_value(want)) != 0)
		abort();
	if (json_is_integer(want) && ab_detail_number(f, 0) != json_integer_value(want))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *line = (const char *)data;
	struct ab_detail f[AB_COUNT(names)];
	json_t *json = json_loadb(line, size, 0, NULL);
	int r = ab_details_find(line, size, names, AB_COUNT(names), f);
	bool object = json_is_object(json) && !memchr(line, '\0', size);

	for (size_t i = 0; r == 0 && i < AB_COUNT(names); i++) {
		check_bounds(line, size, &f[i]);
		check_list(&f[i]);
		if (object)
			check_same(json_object_get(json, names[i]), &f[i]);
	}
	/* Our nesting is limited. */
	if (r < 0 && object && size < 128)
		abort();
	json_decref(json);
	return 0;
}
