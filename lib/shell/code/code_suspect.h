#pragma once
/*
 * Code in a language that code.h does not read (R, julia, jshell, tclsh, go): the
 * names in it tell whether it opens connections and runs programs. A guess, by words
 * alone. Pure and linear.
 */
#include "shell/syntax/field.h"

enum ab_suspect {
	AB_SUSPECT_CONNECTS = 1, /* opens a socket or waits for connections */
	AB_SUSPECT_RUNS = 2,	 /* runs programs */
};

/* The union of enum ab_suspect for the names in the text. */
unsigned ab_code_suspect(struct ab_text text);
