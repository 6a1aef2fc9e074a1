#pragma once
/*
 * Commands that the scripts of sed run and files that they write: `e CMD`,
 * `s/x/CMD/e`, `w FILE`. Pure.
 */
#include "shell/command/simple.h"

enum ab_sed {
	AB_SED_RUNS,	  /* this text */
	AB_SED_RUNS_LINE, /* the new line, which contains the text */
	AB_SED_WRITES,	  /* to this file */
};

typedef void ab_sed_fn(void *arg, enum ab_sed what, const struct ab_field *text);

void ab_sed_each(const struct ab_simple *command, ab_sed_fn *fn, void *arg);
