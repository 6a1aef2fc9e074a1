#pragma once
/*
 * The syntax tree of a command line or script.
 *
 * Every node, word and part records the bytes of the text it came from. The
 * whole tree lives in the parser's arena; lists are linked by `next` in source
 * order.
 */
#include "base/base.h"
#include "shell/syntax/text.h"

struct ab_data;

/* Bytes [from, to) of the text. */
struct ab_span {
	uint32_t from, to;
};

/* The value of a digit in a base up to 16; 99: not a digit. */
static inline unsigned ab_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 99;
}

/* The number in up to `most` digits, which are skipped; *ret_n: how many they are. */
static inline uint64_t ab_read_digits(struct ab_text *t, unsigned base, unsigned most,
				      unsigned *ret_n)
{
	uint64_t value = 0;

	for (*ret_n = 0; *ret_n < most && t->len && ab_digit(*t->s) < base; (*ret_n)++) {
		value = value * base + ab_digit(*t->s++);
		t->len--;
	}
	return value;
}

/* The base of a number as in C: 0x1f, 017, 12. Skips the 0x. */
static inline unsigned ab_read_base(struct ab_text *t)
{
	if (t->len < 2 || t->s[0] != '0')
		return 10;
	if (t->len == 2 || (t->s[1] | 32) != 'x')
		return 8;
	*t = ab_text_rest(*t, 2);
	return 16;
}

static inline bool ab_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Of the name of a variable. */
static inline bool ab_is_name_byte(char c)
{
	return ab_is_letter(c) || ab_is_digit(c) || c == '_';
}

/* Where a text that was not quoted is split into words. */
static inline bool ab_separates_words(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/*
 * A byte that no word of a command can contain: it marks a stretch of any
 * length that is not known before run time. A text assembled from words (the
 * script of `sh -c "cd $dir"`) may contain it, and the reader treats it as an
 * expansion with an unknown value.
 */
#define AB_UNKNOWN '\0'

enum ab_part_kind {
	AB_PART_TEXT,	     /* literal; quotes and escapes removed */
	AB_PART_PARAM,	     /* $x ${x:-word} */
	AB_PART_COMMAND,     /* $( ) and backquotes */
	AB_PART_ARITH,	     /* $(( )) and $[ ] */
	AB_PART_PROCESS_IN,  /* <( ) */
	AB_PART_PROCESS_OUT, /* >( ) */
};

enum ab_param_op {
	AB_PARAM_PLAIN,	    /* $x ${x} */
	AB_PARAM_DEFAULT,   /* ${x:-w} ${x-w} */
	AB_PARAM_ASSIGN,    /* ${x:=w} ${x=w} */
	AB_PARAM_ERROR,	    /* ${x:?w} ${x?w} */
	AB_PARAM_ALTERNATE, /* ${x:+w} ${x+w} */
	AB_PARAM_LENGTH,    /* ${#x} */
	/* ${!x} ${x#w} ${x%w} ${x/a/b} ${x:1} ${x^^} ${x@Q}: `word` includes
	 * the operator. */
	AB_PARAM_OTHER,
};

struct ab_part {
	enum ab_part_kind kind;
	bool quoted; /* not split, not a pattern, no braces */
	/* TEXT: enum ab_bytes of it, or of a longer one that it is a part of; 0: not read */
	uint8_t bytes;
	/* For a TEXT, the bytes between the quotes. If there are as many as in
	 * the text, they are the same bytes. */
	struct ab_span range;
	struct ab_part *next;
	union {
		struct ab_text text;	     /* TEXT */
		struct {		     /* PARAM */
			struct ab_text name; /* "x" "1" "@"; "": AB_UNKNOWN */
			enum ab_param_op op;
			bool colon;		    /* ":-", not "-" */
			bool array;		    /* [@] or [*] follows the name */
			bool indexed;		    /* another [subscript] follows */
			struct ab_part *subscript;  /* its parts */
			struct ab_shell_word *word; /* the operand, or NULL */
			/* The raw bytes between the name and the "}":
			 * "[0]" "%.c" ":1:2"; s NULL: not known. */
			struct ab_text op_text;
		} param;
		struct {			      /* COMMAND, PROCESS_* */
			struct ab_shell_node *script; /* a LIST */
			/* Its output, filled in by the tree walker. */
			const struct ab_data *output;
		} command;
		struct ab_part *arith; /* ARITH: its parts */
	};
};

struct ab_shell_word {
	struct ab_span range;  /* including its quotes */
	struct ab_part *parts; /* '' is one quoted, empty TEXT */
	struct ab_shell_word *next;
};

/* One text: nothing in it is expanded or runs. Most words. */
static inline bool ab_word_is_text(const struct ab_shell_word *word)
{
	const struct ab_part *part = word->parts;

	return part && part->kind == AB_PART_TEXT && !part->next;
}

enum ab_redir_op {
	AB_REDIR_IN,	      /* < */
	AB_REDIR_OUT,	      /* > */
	AB_REDIR_APPEND,      /* >> */
	AB_REDIR_CLOBBER,     /* >| */
	AB_REDIR_READ_WRITE,  /* <> */
	AB_REDIR_DUP_IN,      /* <& */
	AB_REDIR_DUP_OUT,     /* >& n, >& - */
	AB_REDIR_BOTH,	      /* &> and >& file */
	AB_REDIR_BOTH_APPEND, /* &>> */
	AB_REDIR_HEREDOC,     /* << <<-: `target` is the body */
	AB_REDIR_HERESTRING,  /* <<< */
};

/* &> and its like: standard output and standard error. */
static inline bool ab_redir_is_both(enum ab_redir_op op)
{
	return op == AB_REDIR_BOTH || op == AB_REDIR_BOTH_APPEND;
}

/* Does it write the file that it names? */
static inline bool ab_redir_writes(enum ab_redir_op op)
{
	return op == AB_REDIR_OUT || op == AB_REDIR_APPEND || op == AB_REDIR_CLOBBER ||
	       op == AB_REDIR_READ_WRITE || ab_redir_is_both(op);
}

struct ab_redir {
	enum ab_redir_op op;
	int fd; /* -1: the operator's default; -2: {name} */
	struct ab_span range;
	struct ab_shell_word *target;
	struct ab_redir *next;
};

struct ab_assign {
	struct ab_text name;
	bool append;		   /* x+=y */
	bool indexed;		   /* x[..]=y */
	struct ab_part *subscript; /* its parts */
	bool array;		   /* x=(a b): `value` is the list of words */
	struct ab_span range;
	struct ab_shell_word *value; /* NULL: empty */
	struct ab_assign *next;
};

enum ab_node_kind {
	AB_NODE_SIMPLE,
	AB_NODE_PIPELINE, /* a | b: two or more children */
	AB_NODE_ANDOR,	  /* a && b || c: two or more */
	AB_NODE_LIST,	  /* a; b & c: any number, or none */
	AB_NODE_SUBSHELL, /* ( ) */
	AB_NODE_GROUP,	  /* { } */
	AB_NODE_IF,
	AB_NODE_FOR,	   /* and select */
	AB_NODE_FOR_ARITH, /* for (( ; ; )) */
	AB_NODE_WHILE,	   /* and until */
	AB_NODE_CASE,
	AB_NODE_FUNCTION,
	AB_NODE_TEST,  /* [[ ]] */
	AB_NODE_ARITH, /* (( )) */
	AB_NODE_COPROC,
};

struct ab_case_item {
	struct ab_shell_word *patterns;
	struct ab_shell_node *body; /* a LIST */
	struct ab_case_item *next;
};

struct ab_shell_node {
	enum ab_node_kind kind;
	bool background; /* "&" ends it */
	bool negated;	 /* "!" begins it */
	bool timed;	 /* "time" begins it */
	bool either;	 /* in an ANDOR: "||" precedes it */
	bool err_too;	 /* in a PIPELINE: "|&" precedes it */
	struct ab_span range;
	struct ab_redir *redirs;
	struct ab_shell_node *next;
	union {
		struct { /* SIMPLE */
			struct ab_assign *assigns;
			struct ab_shell_word *words;
			uint32_t nwords;
			bool composed; /* false: each word is one unquoted text */
		} simple;
		/* PIPELINE, ANDOR, LIST, SUBSHELL, GROUP, COPROC: the
		 * children (one LIST for the last three) */
		struct ab_shell_node *first;
		struct { /* IF, WHILE; elif is an IF in `otherwise` */
			struct ab_shell_node *test, *body, *otherwise;
		} branch;
		struct { /* FOR: */
			struct ab_text name;
			bool in; /* else: "$@" */
			struct ab_shell_word *words;
			struct ab_shell_node *body;
		} loop;
		struct {			     /* FOR_ARITH, ARITH; TEST: */
			struct ab_part *parts;	     /* its expansions */
			struct ab_shell_word *words; /* TEST: the operands */
			struct ab_shell_node *body;  /* FOR_ARITH */
		} expr;
		struct { /* CASE */
			struct ab_shell_word *word;
			struct ab_case_item *items;
		} cases;
		struct { /* FUNCTION */
			struct ab_text name;
			struct ab_shell_node *body;
		} function;
	};
};
