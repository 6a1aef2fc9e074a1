#pragma once
/*
 * The JSON reader for settings files. It decodes every value and knows its
 * line and column, so that each mistake can be reported where it is.
 *
 * Pure, linear but for one sort of the keys, and bounded: nesting depth and
 * number of values. It accepts RFC 8259 and refuses what two readers could
 * understand in different ways: duplicate keys, invalid UTF-8, unpaired
 * surrogates, NUL (as a byte or as \u0000) and integers beyond 64 bits.
 * Fractions are recognized, not decoded: no setting takes one.
 *
 * With comments (JSONC) it also accepts // and block comments and a comma after the
 * last element. A comment is UTF-8 without control characters and ends where
 * every reader and every terminal ends it: a carriage return by itself and the
 * line separators of Unicode are refused in it.
 *
 * The nodes are in document order: the children of a node follow it.
 */
#include "base/base.h"

enum { AB_SCAN_DEPTH = 16, AB_SCAN_NODES = 16384 };

struct ab_json_scan_node {
	uint32_t up;	       /* the parent is this many nodes before; 0: none */
	uint32_t span;	       /* nodes from here to the end of the value */
	uint32_t count;	       /* children */
	uint32_t begin, end;   /* the bytes of the value */
	uint32_t key_begin;    /* the opening quote of the key */
	uint32_t line, column; /* of the key, or else of the value; from 1 */
	char kind;	       /* { [ " t f n; "0" for an integer, "." for a fraction */
	const char *key;       /* decoded; NULL: an element, or the outermost value */
	const char *text;      /* decoded; NULL: not a string */
	int64_t integer;
};

struct ab_json_scan {
	struct ab_json_scan_node *nodes;
	size_t len;
	char *strings; /* all decoded strings */
	/* After a failure: */
	uint32_t line, column;
	const char *key;	   /* of a duplicate, else "" */
	const char *wrong, *right; /* "duplicate key", "remove one of them" */
};

/* Call the body for each child of a node. */
#define ab_json_scan_each(child, node)                                                          \
	for (const struct ab_json_scan_node *child = (node) + 1; child < (node) + (node)->span; \
	     child += child->span)

/* The member of an object, or NULL. */
const struct ab_json_scan_node *ab_json_scan_find(const struct ab_json_scan_node *object,
						  const char *key);
/* The text of a member; NULL: there is none, or it is not a text. */
const char *ab_json_scan_text(const struct ab_json_scan_node *object, const char *key);
/* 0, or -1 with the failure set. The text may be freed afterwards. */
int ab_json_scan_parse(struct ab_json_scan *s, const char *text, size_t len);
/* The same with comments: for settings files. */
int ab_jsonc_scan_parse(struct ab_json_scan *s, const char *text, size_t len);
void ab_json_scan_fini(struct ab_json_scan *s);
#define ab_autoscan __attribute__((cleanup(ab_json_scan_fini)))
