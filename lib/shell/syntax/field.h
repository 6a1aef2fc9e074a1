#pragma once
/*
 * Fields: what a word expands to before the shell runs the command, as far as
 * it is known. And data: the bytes that flow through pipes.
 */
#include "base/base.h"
#include "shell/syntax/ast.h"
#include "shell/syntax/bytes.h"

/* The origin of the bytes, including those of unknown stretches. */
enum ab_taint {
	AB_TAINT_NETWORK = 1,	/* downloaded */
	AB_TAINT_DECODED = 2,	/* output of a decoder */
	AB_TAINT_SECRET = 4,	/* a secret file or the environment */
	AB_TAINT_FILE = 8,	/* a file's unchanged content */
	AB_TAINT_GLUED = 16,	/* joined by an unquoted $IFS */
	AB_TAINT_HISTORY = 32,	/* commands from the shell history */
	AB_TAINT_SETTINGS = 64, /* a tool's own shell setup code */
};

#define AB_NOT_VERBATIM UINT32_MAX

/* An unknown stretch and nothing else: the end of a literal is AB_UNKNOWN. */
#define AB_UNKNOWN_TEXT  \
	(struct ab_text) \
	{                \
		"", 1    \
	}

struct ab_data;

struct ab_field {
	struct ab_text text; /* AB_UNKNOWN marks an unknown stretch */
	bool unknown;	     /* contains AB_UNKNOWN */
	bool splits;	     /* may become no word, or several */
	bool pattern;	     /* has unquoted * ? [ */
	/* enum ab_bytes of the text, or of a longer one that it is a part of; 0: not read.
	 * Another text needs 0. */
	uint8_t bytes;
	unsigned taint;	      /* enum ab_taint */
	struct ab_span range; /* of the word, in the outermost text */
	/* Offset of the same bytes in the outermost text. */
	uint32_t verbatim;
	const struct ab_data *stream; /* <( ): the data read from it */
};

/* A stream: standard input, or the output of a substitution. */
struct ab_data {
	bool none;	     /* no data: a terminal, /dev/null */
	struct ab_text text; /* AB_UNKNOWN as in a field */
	bool unknown;
	unsigned taint;
	struct ab_span range; /* of the writer */
	uint32_t verbatim;
};

struct ab_fields {
	struct ab_field *v;
	size_t len, room;
};

/* May the text have such bytes? */
static inline bool ab_field_has(const struct ab_field *f, unsigned bytes)
{
	return !f->bytes || f->bytes & bytes;
}

/* A field of which nothing is known, not even how many words it is. */
static inline struct ab_field ab_field_unknown(struct ab_span range, unsigned taint)
{
	return (struct ab_field){ .text = AB_UNKNOWN_TEXT,
				  .unknown = true,
				  .splits = true,
				  .taint = taint,
				  .range = range,
				  .verbatim = AB_NOT_VERBATIM };
}

static inline struct ab_data ab_data_unknown(struct ab_span range, unsigned taint)
{
	return (struct ab_data){ .text = AB_UNKNOWN_TEXT,
				 .unknown = true,
				 .taint = taint,
				 .range = range,
				 .verbatim = AB_NOT_VERBATIM };
}

/* The bytes [from, to) of a field. Looks only at these: a long text has many parts. */
static inline struct ab_field ab_field_part(const struct ab_field *f, uint32_t from, uint32_t to)
{
	struct ab_field part = *f;

	part.text = (struct ab_text){ f->text.s + from, to - from };
	if (part.verbatim != AB_NOT_VERBATIM)
		part.verbatim += from;
	part.unknown = ab_text_has(part.text, AB_UNKNOWN);
	return part;
}

/* The field without its first `from` bytes. */
static inline struct ab_field ab_field_rest(const struct ab_field *f, uint32_t from)
{
	return ab_field_part(f, from, f->text.len);
}

/* True only for a known text: AB_UNKNOWN never matches a byte of `s`. */
static inline bool ab_field_is(const struct ab_field *f, const char *s)
{
	return ab_text_is(f->text, s);
}
