#pragma once
/*
 * The tokens of a one-liner: enough to distinguish strings and comments from code.
 * For code*.c only.
 */
#include "shell/code/code.h"

/* Sets of languages. */
enum {
	PY = 1 << AB_LANG_PYTHON,
	PL = 1 << AB_LANG_PERL,
	RB = 1 << AB_LANG_RUBY,
	JS = 1 << AB_LANG_NODE,
	PHP = 1 << AB_LANG_PHP,
	AWK = 1 << AB_LANG_AWK,
	LUA = 1 << AB_LANG_LUA,
};

enum ab_token_kind {
	AB_TOKEN_END,
	AB_TOKEN_LINE, /* a newline */
	AB_TOKEN_NAME, /* also $x, @x */
	AB_TOKEN_NUMBER,
	AB_TOKEN_STRING,
	AB_TOKEN_COMMAND, /* `cmd`, qx{cmd}: a string for a shell */
	AB_TOKEN_PATTERN, /* a regular expression */
	AB_TOKEN_WORDS,	  /* qw(a b), %w[a b] */
	AB_TOKEN_MARK,	  /* any other byte */
};

enum ab_string_style {
	AB_STRING_ESCAPES, /* backslash escapes as in C */
	AB_STRING_PLAIN,   /* only \\ and \' */
	AB_STRING_RAW,
};

struct ab_token {
	enum ab_token_kind kind;
	uint32_t from, to; /* of a string: between the quotes */
	char mark;
	enum ab_string_style style;
	bool fills; /* interpolates expressions: f"{x}", "$x", "#{x}" */
};

struct ab_code_scan {
	enum ab_language language;
	struct ab_text text;
	uint32_t at;
	bool operand; /* the last token was an operand: "/" divides */
};

void ab_code_next(struct ab_code_scan *s, struct ab_token *ret);

static inline struct ab_text ab_token_text(const struct ab_code_scan *s, const struct ab_token *t)
{
	return (struct ab_text){ s->text.s + t->from, t->to - t->from };
}

static inline bool ab_token_is(const struct ab_token *t, char mark)
{
	return t->kind == AB_TOKEN_MARK && t->mark == mark;
}

/* A growing text in an arena. */
struct ab_code_string {
	struct ab_arena *arena;
	char *s;
	uint32_t len, room;
};

void ab_code_add(struct ab_code_string *b, char c);
void ab_code_add_unknown(struct ab_code_string *b);
/* The value of a string token. */
void ab_code_value(const struct ab_code_scan *s, const struct ab_token *t,
		   struct ab_code_string *b);

/* The effect of a listed call. */
enum ab_call_kind {
	AB_CALL_SHELL,	 /* the first argument is for a shell */
	AB_CALL_PROGRAM, /* one argument: for a shell; several: a command */
	AB_CALL_RUN,	 /* a list: a command; a text with shell=True: for a shell */
	AB_CALL_SPAWN,	 /* a program and a list */
	AB_CALL_LIST,	 /* a path and the list of all arguments */
	AB_CALL_REST,	 /* a path and all arguments after it */
	AB_CALL_ALL,	 /* all arguments */
	AB_CALL_DEED,	 /* `words`, then the first argument */
	AB_CALL_OPEN,	 /* writes the file of the first argument in some modes */
	AB_CALL_PIPE,	 /* perl: open(F, MODE, FILE), open(F, "cmd|") */
	AB_CALL_PATH,	 /* names the file of a later call */
	AB_CALL_ON_PATH, /* `words`, then that file */
	AB_CALL_EVAL,	 /* the first argument is code */
};

struct ab_call {
	char names[68];	    /* with blanks between; a language has each once */
	unsigned languages; /* 1 << enum ab_language */
	enum ab_call_kind kind;
	char of[52];   /* allowed before the dot; "": any; "-": no dot */
	char words[8]; /* DEED, ON_PATH */
	unsigned traits;
};

extern const struct ab_call ab_calls[];
extern const size_t ab_ncalls;
