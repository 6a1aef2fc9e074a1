#pragma once
/* The arguments of a call in a one-liner. For code*.c only. */
#include "shell/code/code_scan.h"

struct ab_code_reader {
	struct ab_arena *arena;
	const struct ab_field *code;
	struct ab_code_scan scan;
	struct ab_oneliner *ret;
	struct ab_inner **tail;
	unsigned depth;	 /* of nested code */
	unsigned *ahead; /* token budget for all arguments */
	struct {	 /* x = "text" */
		struct ab_text name;
		struct ab_token value;
	} vars[16];
	size_t nvars;
	struct { /* import real as name */
		struct ab_text real, name;
	} aliases[4];
	size_t naliases;
	struct ab_field path; /* of Path("x"), for a method call on it */
};

struct ab_code_arg {
	bool list;
	struct ab_fields items; /* of a list */
	struct ab_field text;	/* otherwise; may contain AB_UNKNOWN */
	bool literal;		/* it contains a string */
	bool keyword;		/* name=value */
};

struct ab_code_args {
	struct ab_code_arg v[24];
	size_t len;
	bool shell; /* shell=True, { shell: true } */
	bool recursive;
	bool split;   /* "a b".split() */
	bool network; /* they download something */
	bool decodes; /* they decode a text */
	bool hex;     /* from hexadecimal digits; else from base64 */
	bool other;   /* in a way that is not known here */
};

/* Reads arguments after the opening bracket; `bare`: there is no bracket, read
 * to the end of the statement. */
void ab_code_args(const struct ab_code_reader *r, struct ab_code_scan scan, bool bare,
		  struct ab_code_args *ret);

/* The value of the tokens [from, to), which is this text. */
struct ab_field ab_code_field(const struct ab_code_reader *r, const struct ab_code_string *text,
			      uint32_t from, uint32_t to);
/* Reads a call; its arguments begin at the scan position. */
void ab_code_call(struct ab_code_reader *r, const struct ab_call *call, bool bare);
/* Adds a script for a shell; NULL: it is empty. */
struct ab_inner *ab_code_script(struct ab_code_reader *r, const struct ab_field *script);
/* The same for a script that reads the output of the program. */
void ab_code_sink(struct ab_code_reader *r, const struct ab_field *script,
		  const struct ab_field *text);
/* Adds the command `words` with the operand `to`. */
void ab_code_deed(struct ab_code_reader *r, const char *words, const struct ab_field *to);
/* Reads all calls from the scan position on. */
void ab_code_walk(struct ab_code_reader *r);
