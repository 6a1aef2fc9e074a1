#ifndef AB_SHELL_LOOKUP_H
#define AB_SHELL_LOOKUP_H
/*
 * Names in tables. A table is an array of anything that begins with its name,
 * sorted by it byte for byte.
 */
#include <stdlib.h>

#include "shell/field.h"

static inline int ab_lookup_compare(const void *key, const void *entry)
{
	const struct ab_text *name = key;
	const char *other = *(const char *const *)entry;
	int r = strncmp(name->s, other, name->len);

	return r != 0 ? r : -(other[name->len] != '\0');
}

/* The entry of that name, or NULL. */
#define AB_LOOKUP(table, name)                                              \
	({                                                                  \
		struct ab_text name_ = (name);                              \
		name_.len == 0 ? NULL                                       \
			       : (const __typeof__((table)[0]) *)bsearch(   \
					 &name_, (table),                   \
					 sizeof(table) / sizeof((table)[0]), \
					 sizeof((table)[0]),                \
					 ab_lookup_compare);                \
	})

/* A word of a list with blanks between them. */
static inline bool ab_listed(const char *list, struct ab_text word)
{
	for (const char *p = list; p && *p;) {
		size_t n = strcspn(p, " ");

		if (n == word.len && memcmp(p, word.s, n) == 0)
			return true;
		p += n;
		p += strspn(p, " ");
	}
	return false;
}

#endif
