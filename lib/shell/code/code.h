#pragma once
/*
 * One-liners in other languages (python -c, perl -e, node -e, awk ...): best
 * effort. Finds the commands that they pass to a shell or execute, and a few
 * calls with the same effect. Distinguishes comments and strings from code.
 */
#include "base/base.h"
#include "shell/command/inner.h"

enum ab_language {
	AB_LANG_PYTHON,
	AB_LANG_PERL,
	AB_LANG_RUBY,
	AB_LANG_NODE,
	AB_LANG_PHP,
	AB_LANG_AWK,
	AB_LANG_LUA,
};

enum ab_code_trait {
	AB_CODE_SOCKET = 1, /* opens a connection */
	AB_CODE_DUP = 2,    /* replaces descriptor 0, 1 or 2 */
	AB_CODE_SHELL = 4,  /* starts a shell */
	AB_CODE_PTY = 8,
	AB_CODE_WRITES = 16,	    /* awk: print > file, system, a pipe */
	AB_CODE_NETWORK_EXEC = 32,  /* runs downloaded text */
	AB_CODE_UNREAD = 64,	    /* too long to be read completely */
	AB_CODE_DECODED_EXEC = 128, /* runs text that it decodes in an unknown way */
};

struct ab_oneliner {
	struct ab_inner *inners; /* rmtree("/") is the command rm -rf / */
	unsigned traits;
};

void ab_code_read(struct ab_arena *arena, enum ab_language language, const struct ab_field *code,
		  struct ab_oneliner *ret);
/* The language of an interpreter by its name ("python3.11"); false: none. */
bool ab_code_language(struct ab_text name, enum ab_language *ret);
/* The text of a one-liner among the arguments, or NULL: `python -c TEXT`,
 * `awk TEXT`. If option and text are one word, that word. */
const struct ab_field *ab_code_find(const struct ab_simple *command, enum ab_language language);
/* The text of a one-liner, also from standard input (`python -` with a
 * here-document) or a file with known content. False: there is none. */
bool ab_code_text(const struct ab_simple *command, enum ab_language language, struct ab_field *ret);
/* Reads the command's one-liner, if it has one. */
void ab_code_of(struct ab_arena *arena, const struct ab_simple *command, struct ab_oneliner *ret);
