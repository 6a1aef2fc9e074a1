#ifndef AB_STEER_IMPORT_IMPORTED_H
#define AB_STEER_IMPORT_IMPORTED_H
/* Inside this folder: what was read so far. */
#include <stdbool.h>

#include "base/data/strv.h"

enum { AB_IMPORTED_LEFT = 200 }; /* lines about what is left out */

/* What an entry of the other file becomes. */
enum ab_import_as {
	AB_IMPORT_NOTHING, /* it needs no counterpart */
	AB_IMPORT_LEFT,	   /* it has none: `why` */
	AB_IMPORT_WRITE,
	AB_IMPORT_DENY_READ,
	AB_IMPORT_READ_BACK, /* an exception of the file's own denied paths */
	AB_IMPORT_DENY_WRITE,
	AB_IMPORT_HOST,
	AB_IMPORT_DENY_HOST,
	AB_IMPORT_UNIX,
	AB_IMPORT_PORT,
	AB_IMPORT_RULE_ALLOW, /* of Claude Code: "Bash(npm test:*)" */
	AB_IMPORT_RULE_ASK,
	AB_IMPORT_RULE_DENY,
	AB_IMPORT_PROGRAM_ALLOW, /* a program's name */
	AB_IMPORT_PROGRAM_DENY,
	AB_IMPORT_VARIABLE, /* the last key is its name */
	AB_IMPORT_PASS,
	AB_IMPORT_STRIP,
	AB_IMPORT_WORD, /* a word with a meaning of its own: `words` */
};

/* Arrays instead of pointers: each pointer in a table costs every start a relocation. */
struct ab_import_word {
	char word[24];
	char extends[20], mode[12]; /* or "" */
	const char *why;	    /* left out, with this reason; or NULL */
};

/* A row: where in the other file, and what becomes of it. "*" stands for one key. */
struct ab_import_row {
	char path[56];
	enum ab_import_as as;
	const char *why;
	const struct ab_import_word *words; /* ends with an empty one */
};

struct ab_import_format {
	char name[16];
	bool toml;
	bool closed; /* hosts that are not listed are denied there */
	const struct ab_import_row *rows;
	size_t nrows;
};
const struct ab_import_format *ab_import_format_find(const char *name);

struct ab_imported {
	const struct ab_import_format *format;
	struct ab_strv write, deny_read, read_back, deny_write, allow, deny, sockets, ports;
	struct ab_strv pass, strip, set; /* set: "NAME=value" */
	struct ab_strv rules[3];	 /* forbidden, escalated, sandboxed: JSON objects */
	const char *extends, *mode;
	struct ab_strv *left;
};

void ab_imported_fini(struct ab_imported *im);

/* Say that an entry is left out. */
void ab_imported_leave(struct ab_imported *im, unsigned line, const char *path, const char *value,
		       const char *why);
/* Add one value. `key` is the last one of its path. */
void ab_imported_add(struct ab_imported *im, const struct ab_import_row *row, unsigned line,
		     const char *path, const char *key, const char *value);

/* import_rules.c: one rule of Claude Code. */
void ab_imported_rule(struct ab_imported *im, enum ab_import_as as, unsigned line, const char *path,
		      const char *rule);
/* A rule for the judge. `prefix`: the words begin a command; else it is a pattern. */
void ab_imported_command(struct ab_imported *im, enum ab_import_as as, const char *text,
			 bool prefix);

/* Add a path or a host as it is written there. */
void ab_imported_path(struct ab_imported *im, enum ab_import_as as, unsigned line, const char *path,
		      const char *value);
void ab_imported_host(struct ab_imported *im, bool deny, unsigned line, const char *path,
		      const char *value);

/* The settings file. Takes exceptions into account, after everything was added. */
char *ab_imported_text(struct ab_imported *im);

#endif
