#pragma once
/*
 * Reads TOML as a stream of values: each scalar, and each scalar element of an array,
 * with the keys that lead to it. Tables, inline tables and dotted keys look the same to
 * the caller. It keeps no tree, and does not check for keys that are set twice.
 *
 * Pure, linear and bounded: depth of keys and of nesting. The caller bounds the length.
 */
#include "base/base.h"

enum { AB_TOML_KEYS = 16, AB_TOML_DEPTH = 8 };

struct ab_toml_value {
	const char *const *keys; /* of the table and of the value, decoded */
	size_t nkeys;
	unsigned table;	  /* how many [[...]], and inline tables in lists, began before it */
	bool element;	  /* of an array */
	char kind;	  /* ": a string; t, f; 0: a number, a date or the like */
	const char *text; /* decoded, or as it is written */
	unsigned line;
};

/* Everything is valid during the call only. */
typedef void ab_toml_fn(void *arg, const struct ab_toml_value *value);

/* 0, or -1 with the line of the first mistake; the values before it have been passed on. */
int ab_toml_scan(const char *text, size_t len, ab_toml_fn *fn, void *arg, unsigned *ret_line);
