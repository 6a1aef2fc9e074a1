#ifndef AB_POLICY_READ_JSON_SCAN_H
#define AB_POLICY_READ_JSON_SCAN_H
/*
 * A JSON scanner that only knows where things are. The JSON library decodes
 * values but keeps no positions; this maps each value and key of the same
 * text to its bytes and its line. It accepts what the library accepts, except
 * that it is bounded: depth, and the number of values.
 *
 * Pure. The nodes point into the text by offset, in document order, so the
 * children of a node follow it and carry its index as parent.
 */
#include <stddef.h>
#include <stdint.h>

enum { AB_SCAN_DEPTH = 16, AB_SCAN_NODES = 16384 };

struct ab_json_scan_node {
	uint32_t parent;	     /* its own index: the outermost value */
	uint32_t begin, end;	     /* the value's bytes */
	uint32_t key_begin, key_end; /* with quotes; equal: no key */
	uint32_t line;		     /* of the key, else of the value */
	uint32_t next;		     /* first node behind it and its children */
	char kind;		     /* '{' '[' '"' '0' (number) 't' 'f' 'n' */
};

struct ab_json_scan {
	struct ab_json_scan_node *nodes;
	size_t len, room;
	/* on failure */
	uint32_t line;
	const char *wrong; /* "expected a comma or }" */
};

/* 0, or -1 with line and wrong set. */
int ab_json_scan_parse(struct ab_json_scan *s, const char *text, size_t len);
void ab_json_scan_fini(struct ab_json_scan *s);
#define ab_autoscan __attribute__((cleanup(ab_json_scan_fini)))

#endif
