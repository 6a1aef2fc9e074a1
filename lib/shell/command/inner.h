#pragma once
/* A command that another command runs. */
#include "shell/command/simple.h"

enum ab_inner_kind {
	AB_INNER_ARGV,	 /* the command argv */
	AB_INNER_SCRIPT, /* a shell reads `script` */
};

struct ab_inner {
	enum ab_inner_kind kind;
	const struct ab_field *argv;
	size_t argc;
	const struct ab_binding *bindings; /* env X=1 CMD */
	size_t nbindings;
	struct ab_field script; /* may be entirely unknown */
	/* SCRIPT: "$0", "$1" ... `sh -c script name args`; NULL: unknown */
	const struct ab_fields *positional;
	struct ab_data in; /* the wrapper's standard input, or none */
	unsigned flags;	   /* added to the command's: ROOT, REMOTE */
	const char *cwd;   /* env -C, sudo -D; NULL: the command's */
	struct ab_inner *next;
};
