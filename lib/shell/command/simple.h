#ifndef AB_SHELL_COMMAND_SIMPLE_H
#define AB_SHELL_COMMAND_SIMPLE_H
/*
 * One simple command as the shell would run it: what the rules look at.
 */
#include "shell/syntax/field.h"

struct ab_file;

struct ab_redirect { /* a redirection */
	enum ab_redir_op op;
	int fd;		      /* the real number; -2: not known */
	struct ab_field file; /* name; here-documents: the body */
};

struct ab_binding { /* X=1 in front of the command */
	struct ab_text name;
	struct ab_field value;
};

enum ab_simple_flag {
	AB_SIMPLE_BACKGROUND = 1,
	AB_SIMPLE_PIPED = 2,  /* what it prints goes on through a pipe */
	AB_SIMPLE_REMOTE = 4, /* on another machine, or in a container: its
				 * paths are not ours */
	AB_SIMPLE_ROOT = 8,   /* by sudo and the like */
};

struct ab_simple {
	struct ab_text name; /* argv[0] without its folder; "": not known,
				 * or there is no command */
	const struct ab_field *argv;
	size_t argc; /* 0: redirections or assignments only */
	const struct ab_redirect *redirects;
	size_t nredirects;
	const struct ab_binding *bindings;
	size_t nbindings;
	struct ab_data in;	     /* standard input */
	struct ab_text cwd;	     /* absolute; AB_UNKNOWN in it as in a field */
	const struct ab_file *files; /* whose content is known: known_files.h */
	unsigned flags;		     /* enum ab_simple_flag */
	const char *via;	     /* the wrapper that starts it ("sudo"), or NULL */
	struct ab_span range;	     /* in the outermost text */
};

#endif
