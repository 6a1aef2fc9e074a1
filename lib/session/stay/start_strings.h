#pragma once
/*
 * The strings of a request to start a command: its folder, its words, the text for its shell and
 * the client's environment. They may contain any byte but NUL and may be long, so they come in a
 * sealed memfd beside the request, each with its NUL. Pure.
 */
#include "base/base.h"

#define AB_START_MOST (8u << 20)
enum { AB_START_WORDS = 65536 };

struct ab_start_strings {
	char *cwd; /* absolute */
	struct ab_strv argv;
	char *script; /* or NULL */
	struct ab_strv env;
};

void ab_start_strings_write(const struct ab_start_strings *strings, struct ab_buf *ret);
/* There must be exactly `argc` words, a text if `script`, and `nenv` variables. */
int ab_start_strings_read(const char *data, size_t len, size_t argc, bool script, size_t nenv,
			  struct ab_start_strings *ret, struct ab_error *err);
void ab_start_strings_fini(struct ab_start_strings *strings);
