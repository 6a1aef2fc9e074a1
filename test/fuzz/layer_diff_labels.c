#include "layer/diff/labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "layer/walk/changes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Texts of labels are printed as they are. */
static void check_text(const char *text, size_t room)
{
	size_t len = strnlen(text, room);

	if (len == room)
		abort();
	for (size_t i = 0; i < len;) {
		size_t n = ab_printable(text + i, len - i);

		if (n == 0)
			abort();
		i += n;
	}
}

/* The kind and types, then a path, the old and the new content, separated by 0x01. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *part[3] = { 0 };
	size_t len[3] = { 0 };
	struct ab_label_hits hits;
	uint32_t bits = 0;

	if (size < 2)
		return 0;
	for (size_t i = 0, at = 1; i < 3; i++) {
		const uint8_t *end = i < 2 ? memchr(data + at, 1, size - at) : NULL;

		part[i] = (const char *)data + at;
		len[i] = end ? (size_t)(end - data) - at : size - at;
		at += len[i] + (end != NULL);
	}
	{
		ab_autofree char *path = ab_strndup(part[0], len[0]);
		struct ab_change c = {
			.path = path,
			.kind = (enum ab_change_kind)(data[0] % 5),
			.was = (enum ab_change_type)(data[0] / 5 % 5),
			.is = (enum ab_change_type)(data[0] / 25 % 5),
			.old_size = len[1],
			.new_size = len[2],
			.new_mode = 07777 & (mode_t)size,
		};
		struct ab_label_input in = {
			.change = &c,
			.old = { part[1], len[1], size % 7 == 0 },
			.fresh = { part[2], len[2], size % 11 == 0 },
			.gitdir = size % 3 == 0,
		};

		ab_labels_find(&in, &hits);
	}
	for (size_t i = 0; i < hits.len; i++) {
		if (bits & AB_LABEL_BIT(hits.v[i].id) || (i && hits.v[i - 1].id >= hits.v[i].id))
			abort();
		bits |= AB_LABEL_BIT(hits.v[i].id);
		check_text(hits.v[i].who, sizeof(hits.v[i].who));
		check_text(hits.v[i].detail, sizeof(hits.v[i].detail));
	}
	if (bits != hits.bits)
		abort();
	return 0;
}
