#pragma once
/*
 * Serve runs to the program at the other end of a channel until it leaves or a signal asks us to
 * end. Then every run is ended; nothing is left when this returns.
 *
 * The calling process has one thread and nothing else to do.
 */
#include "base/base.h"

struct ab_serve_setup {
	int in, out;	   /* the channel; the same number for a socket */
	const char *build; /* of the program */
	/* "allow", the option of run that sets this key; NULL: there is none. */
	const char *(*option_of)(const char *key);
};

int ab_serve(const struct ab_serve_setup *setup, struct ab_error *err);
