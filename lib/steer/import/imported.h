#pragma once
/* Inside this folder: what was read so far. */
#include "agents/import_format.h"
#include "base/base.h"

enum { AB_IMPORTED_LEFT = 200 }; /* lines about what is left out */

const struct ab_import_format *ab_import_format_find(const char *name);

struct ab_imported {
	const struct ab_import_format *format;
	struct ab_strv lists[AB_IMPORT_AGENT + 1]; /* of AB_IMPORT_VARIABLE: "NAME=value" */
	struct ab_strv rules[3]; /* forbidden, escalated, sandboxed: JSON objects */
	const char *extends, *mode;
	struct ab_strv *left;
	/* The entry that is read. */
	unsigned line;
	const char *path;
};

void ab_imported_fini(struct ab_imported *im);

/* Say that an entry is left out. */
void ab_imported_leave(struct ab_imported *im, const char *value, const char *why);
/* Add one value. `key` is the last one of its path. */
void ab_imported_add(struct ab_imported *im, const struct ab_import_row *row, const char *key,
		     const char *value);

/* The settings file. Takes exceptions into account, after everything was added. */
char *ab_imported_text(struct ab_imported *im);
