#pragma once
/*
 * Shared by the files of the reader: its state, the byte classes, and one
 * function for each grammar rule.
 *
 * There are no tokens: the meaning of a byte depends on its position, so each
 * rule examines the text itself. Nothing is read twice. An error moves the
 * reader to the end of its text, so every rule returns and the tree keeps what
 * was read.
 */
#include "base/base.h"
#include "shell/syntax/bytes.h"
#include "shell/syntax/parse.h"

/* Byte classes, as bits: a run of text ends at a byte of the given class. */
enum ab_lex_class {
	AB_LEX_BREAK = 1,     /* ends a word: blanks and operators */
	AB_LEX_WORD = 2,      /* special in a word */
	AB_LEX_OPERAND = 4,   /* in ${x:-word} */
	AB_LEX_DOUBLE = 8,    /* between double quotes */
	AB_LEX_BODY = 16,     /* in a here-document */
	AB_LEX_BALANCED = 32, /* in $(( )) and [subscript] */
	AB_LEX_NAME = 64,     /* is part of a name */
	AB_LEX_DIGIT = 128,
	AB_LEX_BLANK = 256, /* blanks, and what may be skipped with them: # and \ */
};

/* The classes of each byte, and above them, as AB_LEX_KINDS, its enum ab_bytes: a run is
 * read once for both. */
extern const uint16_t ab_lex_classes[256];
#define AB_LEX_KINDS(bytes) ((bytes) << 8)

enum ab_keyword {
	AB_KEY_NONE,
	AB_KEY_BANG,
	AB_KEY_TEST,
	AB_KEY_CASE,
	AB_KEY_COPROC,
	AB_KEY_DO,
	AB_KEY_DONE,
	AB_KEY_ELIF,
	AB_KEY_ELSE,
	AB_KEY_ESAC,
	AB_KEY_FI,
	AB_KEY_FOR,
	AB_KEY_FUNCTION,
	AB_KEY_IF,
	AB_KEY_IN,
	AB_KEY_SELECT,
	AB_KEY_THEN,
	AB_KEY_TIME,
	AB_KEY_UNTIL,
	AB_KEY_WHILE,
	AB_KEY_OPEN,  /* { */
	AB_KEY_CLOSE, /* } */
};

/* A here-document whose body begins after the end of the line. */
struct ab_heredoc {
	struct ab_redir *redir;
	struct ab_text delimiter;
	bool quoted; /* the body is not expanded */
	bool strip;  /* <<-: leading tabs are removed */
	struct ab_heredoc *next;
};

/* "((" at `at`; `arith`: "))" closes it. */
struct ab_double_paren {
	uint32_t at;
	bool arith;
};

struct ab_reader {
	struct ab_arena *arena;
	const char *s;
	uint32_t at, end;
	/* Offset of each byte of `s` in the whole text; NULL: the same. */
	const uint32_t *map;
	unsigned depth;
	unsigned inner; /* number of enclosing readers */
	uint32_t nodes;
	uint64_t work; /* bytes examined, for the tests */
	const char *error;
	uint32_t error_at;
	/* The first error in a part, which does not stop the reader. */
	const char *passed;
	uint32_t passed_at;

	struct ab_heredoc *heredocs;	   /* in order */
	struct ab_heredoc **heredocs_tail; /* valid if there are any */
	bool in_command;		   /* inside $( ) and the like */

	/* "((" found before pairs_to; sorted. */
	struct ab_double_paren *pairs;
	size_t npairs, pairs_room;
	uint32_t pairs_to;

	uint32_t before, blanks_to; /* the last skipped blanks */
	enum ab_keyword key;	    /* keyword at key_at */
	uint32_t key_at, key_end;
	uint32_t composed; /* words so far that are more than one unquoted text */
};

struct ab_parts {
	struct ab_part *first, *last;
};

static inline bool ab_lex_is(char c, unsigned classes)
{
	return ab_lex_classes[(unsigned char)c] & classes;
}

/* Is `c` the next byte? */
static inline bool ab_lex_at(const struct ab_reader *r, char c)
{
	return r->at < r->end && r->s[r->at] == c;
}

static inline bool ab_lex_at2(const struct ab_reader *r, char c, char d)
{
	return r->end - r->at >= 2 && r->s[r->at] == c && r->s[r->at + 1] == d;
}

/* Does a word begin here? <( ) and >( ) are words. */
static inline bool ab_lex_at_word(const struct ab_reader *r)
{
	return r->at < r->end && (!ab_lex_is(r->s[r->at], AB_LEX_BREAK) ||
				  ab_lex_at2(r, '<', '(') || ab_lex_at2(r, '>', '('));
}

/* May a redirection begin here? */
static inline bool ab_lex_at_redir(const struct ab_reader *r)
{
	return r->at < r->end &&
	       (ab_lex_is(r->s[r->at], AB_LEX_BREAK | AB_LEX_DIGIT) || r->s[r->at] == '{');
}

void ab_lex_fail(struct ab_reader *r, uint32_t at, const char *error);
/* Counts toward AB_SHELL_NODES_MAX; never NULL. */
static inline void *ab_lex_new(struct ab_reader *r, size_t size)
{
	if (++r->nodes > AB_SHELL_NODES_MAX)
		ab_lex_fail(r, r->at, "it is too complex");
	return ab_arena_alloc(r->arena, size);
}
static inline struct ab_span ab_lex_span(const struct ab_reader *r, uint32_t from, uint32_t to)
{
	if (!r->map)
		return (struct ab_span){ from, to };
	return (struct ab_span){
		r->map[from],
		to > from ? r->map[to - 1] + 1 : r->map[from],
	};
}
/* From `from` to the current byte, without the last skipped blanks. */
struct ab_span ab_lex_since(const struct ab_reader *r, uint32_t from);
/* Fails because of the token here, or because `missing` is not here. */
void ab_lex_unexpected(struct ab_reader *r, const char *missing);
bool ab_lex_enter(struct ab_reader *r);
static inline void ab_lex_leave(struct ab_reader *r)
{
	r->depth--;
}
/*
 * Start a reader for other bytes or part of these, and return to the outer
 * one. A shell parses such bytes when it runs the command, so an error in them
 * does not stop the outer reader.
 */
struct ab_reader ab_lex_inner(const struct ab_reader *r, const char *s, uint32_t from, uint32_t to);
void ab_lex_outer(struct ab_reader *r, const struct ab_reader *inner);

uint32_t ab_lex_joined(const struct ab_reader *r, uint32_t at);
void ab_lex_read_blanks(struct ab_reader *r);
/* And comments. Most calls find none, or one space. */
static inline void ab_lex_skip_blanks(struct ab_reader *r)
{
	if (r->at != r->blanks_to)
		r->before = r->at;
	if (r->end - r->at >= 2 && r->s[r->at] == ' ' &&
	    !ab_lex_is(r->s[r->at + 1], AB_LEX_BLANK)) {
		r->work++;
		r->at++;
	} else if (r->at < r->end && ab_lex_is(r->s[r->at], AB_LEX_BLANK)) {
		ab_lex_read_blanks(r);
	}
	r->blanks_to = r->at;
}
void ab_lex_skip_newlines(struct ab_reader *r);
/* First bytes of keywords; a backslash may join lines before one. */
extern const bool ab_lex_begins_keyword[256];
enum ab_keyword ab_lex_read_keyword(struct ab_reader *r);
/* At the start of a word. Several rules ask at the same place. */
static inline enum ab_keyword ab_lex_keyword(struct ab_reader *r)
{
	if (r->key_at == r->at)
		return r->key;
	if (r->at < r->end && ab_lex_begins_keyword[(unsigned char)r->s[r->at]])
		return ab_lex_read_keyword(r);
	r->key_at = r->at;
	return r->key = AB_KEY_NONE;
}
bool ab_lex_take_keyword(struct ab_reader *r, enum ab_keyword key);
bool ab_lex_read_operator(struct ab_reader *r, const char *op);
/* Consumes the operator `op` if it is next. Lines may be joined before it. */
static inline bool ab_lex_take(struct ab_reader *r, const char *op)
{
	return r->at < r->end && (r->s[r->at] == op[0] || r->s[r->at] == '\\') &&
	       ab_lex_read_operator(r, op);
}
/* Letters, digits and "_", across joined lines. */
struct ab_text ab_lex_name(struct ab_reader *r);

/* The bytes from the current one up to one of these classes, if there are any. */
struct ab_run {
	uint32_t to;
	uint8_t bytes; /* enum ab_bytes */
};

static inline struct ab_run ab_lex_run(const struct ab_reader *r, unsigned until)
{
	const unsigned char *s = (const unsigned char *)r->s;
	unsigned found = 0, next;
	uint32_t at = r->at;

	for (; at < r->end && !((next = ab_lex_classes[s[at]]) & until); at++)
		found |= next;
	return (struct ab_run){ at, (uint8_t)(found >> 8) | AB_BYTES_READ };
}

void ab_parts_add(struct ab_parts *parts, struct ab_part *part);
/* A run that was found here. */
void ab_parts_add_run(struct ab_reader *r, struct ab_parts *parts, struct ab_run run, bool quoted);
void ab_parts_text(struct ab_reader *r, struct ab_parts *parts, uint32_t from, uint32_t to,
		   bool quoted);
void ab_parts_unknown(struct ab_reader *r, struct ab_parts *parts, bool quoted);
/* The text between single quotes, [r->at, to), and the quote: `add` adds a piece without AB_UNKNOWN
 * and returns true if the text ends in it. */
void ab_parts_single(struct ab_reader *r, struct ab_parts *parts, uint32_t to,
		     bool (*add)(struct ab_reader *r, struct ab_parts *parts, uint32_t from,
				 uint32_t to));

/* parse.c */
struct ab_shell_node *ab_parse_list(struct ab_reader *r);
/* A list of at least one command. */
struct ab_shell_node *ab_parse_body(struct ab_reader *r);
struct ab_shell_node *ab_parse_command(struct ab_reader *r);
struct ab_shell_node *ab_parse_node(struct ab_reader *r, enum ab_node_kind kind);

/* parse_simple.c */
struct ab_shell_node *ab_parse_simple(struct ab_reader *r);
bool ab_parse_redir(struct ab_reader *r, struct ab_redir ***tail);

/* parse_compound.c: includes its redirections; NULL: none begins here */
struct ab_shell_node *ab_parse_compound(struct ab_reader *r);
struct ab_shell_node *ab_parse_function(struct ab_reader *r, uint32_t from,
					const struct ab_shell_word *name);
struct ab_shell_node *ab_parse_function_keyword(struct ab_reader *r);
struct ab_shell_node *ab_parse_coproc(struct ab_reader *r);

/* parse_test.c */
struct ab_shell_node *ab_parse_test(struct ab_reader *r);

/* parse_word.c */
enum ab_word_mode {
	AB_WORD_PLAIN,
	AB_WORD_DECLARE, /* x=(a b) is one word */
	AB_WORD_REGEX,	 /* after =~ */
	AB_WORD_OPERAND, /* up to the } of ${x:-word} */
};
struct ab_shell_word *ab_parse_word(struct ab_reader *r, enum ab_word_mode mode);
/* A word of a command; `first`: the command's first word, or NULL. */
struct ab_shell_word *ab_parse_argument(struct ab_reader *r, const struct ab_shell_word *first);
/* The rest of a word that begins with `parts`. */
struct ab_shell_word *ab_parse_word_rest(struct ab_reader *r, uint32_t from, struct ab_parts *parts,
					 enum ab_word_mode mode);
/* Up to the `"`, or the end of a here-document. */
void ab_parse_quoted(struct ab_reader *r, struct ab_parts *parts, enum ab_lex_class until,
		     bool strip);
/* $'..', after the first quote. */
void ab_parse_ansi(struct ab_reader *r, struct ab_parts *parts);

/* parse_expand.c */
void ab_parse_dollar(struct ab_reader *r, struct ab_parts *parts, bool quoted);
void ab_parse_backquote(struct ab_reader *r, struct ab_parts *parts, bool quoted,
			bool between_quotes);
void ab_parse_process(struct ab_reader *r, struct ab_parts *parts);

/* parse_arith.c */
bool ab_parse_is_arith(struct ab_reader *r, uint32_t at);
/* Up to the `close` that matches the `open` before. */
void ab_parse_balanced(struct ab_reader *r, struct ab_parts *parts, char open, char close,
		       bool quoted);
/* The rest of (( ... )), after the "((". */
void ab_parse_arith(struct ab_reader *r, struct ab_parts *parts);

/* parse_heredoc.c */
void ab_parse_heredoc(struct ab_reader *r, struct ab_redir *redir, bool strip);
/* The bodies of all pending here-documents; the next line begins here. */
void ab_parse_heredoc_bodies(struct ab_reader *r);
