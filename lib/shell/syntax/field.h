#ifndef AB_SHELL_SYNTAX_FIELD_H
#define AB_SHELL_SYNTAX_FIELD_H
/*
 * What a word becomes before the shell runs the command: fields, as far as
 * that can be known, and the bytes that flow through pipes.
 */
#include <string.h>

#include "shell/syntax/ast.h"

/* What kind of bytes these are, or may be in their unknown stretches. */
enum ab_taint {
	AB_TAINT_NETWORK = 1,	/* somebody else's, downloaded */
	AB_TAINT_DECODED = 2,	/* unpacked from an encoding */
	AB_TAINT_SECRET = 4,	/* a secret file or the environment */
	AB_TAINT_FILE = 8,	/* a file's content as it is */
	AB_TAINT_GLUED = 16,	/* $IFS, unquoted, joins it */
	AB_TAINT_HISTORY = 32,	/* what the shell ran before */
	AB_TAINT_SETTINGS = 64, /* a tool's own, for the shell that asks */
};

#define AB_NOT_VERBATIM UINT32_MAX

struct ab_data;

struct ab_field {
	struct ab_text text;  /* AB_UNKNOWN in it: an unknown stretch */
	bool unknown;	      /* there is one */
	bool splits;	      /* may be no word at all, or several */
	bool pattern;	      /* has * ? [ that are not quoted */
	unsigned taint;	      /* enum ab_taint */
	struct ab_span range; /* of the word, in the outermost text */
	/* Where the outermost text has the same bytes, one for one. */
	uint32_t verbatim;
	const struct ab_data *stream; /* <( ): what is read there */
};

/* Bytes that flow: standard input, the output of a substitution. */
struct ab_data {
	bool none;	     /* nothing at all: a terminal, /dev/null */
	struct ab_text text; /* AB_UNKNOWN as in a field */
	bool unknown;
	unsigned taint;
	struct ab_span range; /* of what wrote them */
	uint32_t verbatim;
};

struct ab_fields {
	struct ab_field *v;
	size_t len, room;
};

/* Most texts differ in their first byte: then nothing else is looked at. */
static inline bool ab_text_is(struct ab_text t, const char *s)
{
	size_t len;

	if (t.len == 0 || t.s[0] != s[0])
		return t.len == 0 && s[0] == '\0';
	len = strlen(s);
	return t.len == len && memcmp(t.s, s, len) == 0;
}

static inline bool ab_text_starts(struct ab_text t, const char *s)
{
	size_t len;

	if (t.len == 0 || t.s[0] != s[0])
		return s[0] == '\0';
	len = strlen(s);
	return t.len >= len && memcmp(t.s, s, len) == 0;
}

/* Known, and this. (AB_UNKNOWN equals no byte of `s`.) */
static inline bool ab_field_is(const struct ab_field *f, const char *s)
{
	return ab_text_is(f->text, s);
}

#endif
