#pragma once
/*
 * The paths that a word names, whole or in part: "/etc/shadow", "--file=/etc/shadow",
 * "-f/etc/shadow", "@/etc/shadow", "file:///etc/shadow", 'open("/etc/shadow")'. Only
 * absolute paths and those in a home ("~/x"); a URL of another scheme names none.
 *
 * Pure and linear.
 */
#include "shell/syntax/field.h"

struct ab_named_paths {
	struct ab_text word;
	uint32_t at;
	struct ab_text path; /* a view of the word */
};

static inline struct ab_named_paths ab_named_begin(struct ab_text word)
{
	return (struct ab_named_paths){ .word = word };
}

/* False: there is no further path. */
bool ab_named_next(struct ab_named_paths *n);

/* Most words have no slash. */
static inline bool ab_names_path(const struct ab_field *word)
{
	return word->text.len > 1 && ab_field_has(word, AB_BYTES_SLASH);
}
