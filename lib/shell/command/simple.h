#pragma once
/*
 * One simple command as the shell would run it: the input of the rules.
 */
#include "shell/command/command_options.h"

struct ab_file;
struct ab_scene;
struct ab_name_slot;

struct ab_redirect { /* a redirection */
	enum ab_redir_op op;
	int fd;		      /* the real number; -2: unknown */
	struct ab_field file; /* name; here-documents: the body */
};

struct ab_binding { /* X=1 before the command */
	struct ab_text name;
	struct ab_field value;
};

enum ab_simple_flag {
	AB_SIMPLE_BACKGROUND = 1,
	AB_SIMPLE_PIPED = 2,  /* its output goes into a pipe */
	AB_SIMPLE_REMOTE = 4, /* in another machine or container: its paths are not ours */
	AB_SIMPLE_ROOT = 8,   /* by sudo and the like */
	AB_SIMPLE_WRAPS = 16, /* it runs commands that are judged by themselves */
	/* A variable was set that changes which program a name means, or what it
	 * loads: PATH, LD_PRELOAD. */
	AB_SIMPLE_ALTERED = 32,
};

/*
 * What the words of a command contain, found once: most checks concern few commands. The
 * lowest bits are the enum ab_bytes of the arguments. A part of the command may have fewer
 * signs.
 */
enum ab_sign {
	AB_SIGN_SLASH = AB_BYTES_SLASH,
	AB_SIGN_UP = AB_BYTES_UP,
	AB_SIGN_CODE = AB_BYTES_CODE,
	AB_SIGN_OPTION = 1 << 8,	/* an argument begins with "-" */
	AB_SIGN_UNKNOWN = 1 << 9,	/* a word is not known, or may become several */
	AB_SIGN_GLUED = 1 << 10,	/* AB_TAINT_GLUED */
	AB_SIGN_NAME_SLASH = 1 << 11,	/* in the first word */
	AB_SIGN_NAME_UP = 1 << 12,	/* AB_BYTES_UP in it */
	AB_SIGN_NAME_PATTERN = 1 << 13, /* it is a pattern */
	AB_SIGN_REDIRECT = 1 << 14,
	AB_SIGN_INPUT = 1 << 15,  /* standard input, or files with known content */
	AB_SIGN_OUTPUT = 1 << 16, /* an option may name an output: long, or -o -O -w */
};

struct ab_simple {
	const struct ab_scene *scene;  /* rules.h */
	struct ab_text name;	       /* argv[0] without its folder; "": unknown or no command */
	unsigned tables;	       /* that may know the name: name_index.h */
	unsigned signs;		       /* enum ab_sign */
	const struct ab_grammar *opts; /* its option grammar */
	/* Of the name, and of the name without a version at its end; NULL: none. */
	const struct ab_name_slot *slot, *bare_slot;
	const struct ab_field *argv;
	size_t argc; /* 0: redirections or assignments only */
	const struct ab_redirect *redirects;
	size_t nredirects;
	const struct ab_binding *bindings;
	size_t nbindings;
	struct ab_data in;	     /* standard input */
	struct ab_text cwd;	     /* absolute; may contain AB_UNKNOWN */
	const struct ab_file *files; /* with known content: known_files.h */
	unsigned flags;		     /* enum ab_simple_flag */
	const char *via;	     /* the wrapper that starts it ("sudo"), or NULL */
	struct ab_span range;	     /* in the outermost text */
};
