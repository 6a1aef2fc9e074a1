#pragma once
/* Settings files of agents and of other sandboxes, which `import` reads. */
#include "base/base.h"

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
	AB_IMPORT_WORD,	 /* a word with a meaning of its own: `words` */
	AB_IMPORT_AGENT, /* the name of an agent in nono */
};

/* Arrays instead of pointers: each pointer in a table costs every start a relocation. */
struct ab_import_word {
	char word[24];
	char extends[20], mode[12]; /* or "" */
	const char *why;	    /* left out, with this reason; or NULL */
};

/* A row: places in the other file, and what becomes of them. "*" stands for one key. */
struct ab_import_row {
	char paths[104];
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
#define AB_IMPORT_ROWS(list) .rows = (list), .nrows = sizeof(list) / sizeof((list)[0])

/* Reasons that several formats have. */
#define AB_IMPORT_OUTSIDE "no command runs outside the box"
#define AB_IMPORT_VERDICT "the verdict on each command decides whether you are asked"
#define AB_IMPORT_ASKED                                                 \
	"instead of the whole network, hosts are asked about; for all " \
	"of it: \"mode\": \"allowed\""
