#ifndef AB_SHELL_CODE_CODE_READ_H
#define AB_SHELL_CODE_CODE_READ_H
/* The arguments of a call in a one-liner. For code*.c only. */
#include "shell/code/code_scan.h"

struct ab_code_reader {
	struct ab_arena *arena;
	const struct ab_field *code;
	struct ab_code_scan scan;
	struct ab_oneliner *ret;
	struct ab_inner **tail;
	unsigned depth;	 /* of code in code */
	unsigned *ahead; /* tokens that arguments may cost in all */
	struct {	 /* x = "text" */
		struct ab_text name;
		struct ab_token value;
	} vars[16];
	size_t nvars;
	struct { /* import real as name */
		struct ab_text real, name;
	} aliases[4];
	size_t naliases;
	struct ab_field path; /* of Path("x"), for what follows the dot */
};

struct ab_code_arg {
	bool list;
	struct ab_fields items; /* of a list */
	struct ab_field text;	/* else; AB_UNKNOWN in it as ever */
	bool literal;		/* a string was in it */
	bool keyword;		/* name=value */
};

struct ab_code_args {
	struct ab_code_arg v[24];
	size_t len;
	bool shell; /* shell=True, { shell: true } */
	bool recursive;
	bool split;   /* "a b".split() */
	bool network; /* something is downloaded in them */
	bool decodes; /* from base64 */
};

/* From behind the opening bracket on; `bare`: there is none, up to the end of
 * the statement. */
void ab_code_args(const struct ab_code_reader *r, struct ab_code_scan scan, bool bare,
		  struct ab_code_args *ret);

/* The call whose arguments begin where the scan stands. */
void ab_code_call(struct ab_code_reader *r, const struct ab_call *call, bool bare);
/* NULL: there is nothing in it. */
struct ab_inner *ab_code_script(struct ab_code_reader *r, const struct ab_field *script);
/* The same; what the program prints goes into it. */
void ab_code_sink(struct ab_code_reader *r, const struct ab_field *script,
		  const struct ab_field *text);
/* The command of these words and what it is done to. */
void ab_code_deed(struct ab_code_reader *r, const char *words, const struct ab_field *to);
/* All calls, from where the scan stands. */
void ab_code_walk(struct ab_code_reader *r);

#endif
