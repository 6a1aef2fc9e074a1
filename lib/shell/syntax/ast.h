#ifndef AB_SHELL_SYNTAX_AST_H
#define AB_SHELL_SYNTAX_AST_H
/*
 * What a shell would read: the tree of a command line or script.
 *
 * Every node, word and part says which bytes of the text it came from. All of
 * it lives in the arena that the parser was given; lists are linked by `next`
 * in source order.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_data;

/* Bytes [from, to) of the text. */
struct ab_span {
	uint32_t from, to;
};

/* Bytes that somebody else keeps; not terminated. */
struct ab_text {
	const char *s;
	uint32_t len;
};

/* What a digit of a base up to 16 is worth; 99: it is none. */
static inline unsigned ab_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 99;
}

/*
 * A byte that no word of a command can hold: it stands for a stretch that is
 * not known before run time, of any length. A text that was put together from
 * words (the script of `sh -c "cd $dir"`) may hold it, and the reader takes it
 * for an expansion of which nothing is known.
 */
#define AB_UNKNOWN '\0'

enum ab_part_kind {
	AB_PART_TEXT,	     /* literal; quotes and escapes are gone */
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
	AB_PARAM_OTHER,	    /* ${!x} ${x#w} ${x%w} ${x/a/b} ${x:1} ${x^^} ${x@Q}:
				 * `word` has the operator, too */
};

struct ab_part {
	enum ab_part_kind kind;
	bool quoted; /* not split, not a pattern, no braces */
	/*
	 * Of a TEXT the bytes between the quotes: where they are as many as
	 * the text's own, they are the same ones.
	 */
	struct ab_span range;
	struct ab_part *next;
	union {
		struct ab_text text;	     /* TEXT */
		struct {		     /* PARAM */
			struct ab_text name; /* "x" "1" "@"; "": AB_UNKNOWN */
			enum ab_param_op op;
			bool colon;		    /* ":-", not "-" */
			bool array;		    /* [@] or [*] follows the name */
			bool indexed;		    /* another [subscript] does */
			struct ab_part *subscript;  /* the parts in that */
			struct ab_shell_word *word; /* of the operator, or NULL */
			/* The bytes from behind the name to the "}", as they
			 * are: "[0]" "%.c" ":1:2"; s NULL: not known. */
			struct ab_text op_text;
		} param;
		struct {			      /* COMMAND, PROCESS_* */
			struct ab_shell_node *script; /* a LIST */
			/* What it prints, for the one who walks the tree. */
			const struct ab_data *output;
		} command;
		struct ab_part *arith; /* ARITH: the parts in it */
	};
};

struct ab_shell_word {
	struct ab_span range;  /* with its quotes */
	struct ab_part *parts; /* '' is one quoted, empty TEXT */
	struct ab_shell_word *next;
};

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

struct ab_redir {
	enum ab_redir_op op;
	int fd; /* -1: the operator's own; -2: {name} */
	struct ab_span range;
	struct ab_shell_word *target;
	struct ab_redir *next;
};

struct ab_assign {
	struct ab_text name;
	bool append;		   /* x+=y */
	bool indexed;		   /* x[..]=y */
	struct ab_part *subscript; /* the parts in that */
	bool array;		   /* x=(a b): `value` is the list of words */
	struct ab_span range;
	struct ab_shell_word *value; /* NULL: empty */
	struct ab_assign *next;
};

enum ab_node_kind {
	AB_NODE_SIMPLE,
	AB_NODE_PIPELINE, /* a | b: two and more children */
	AB_NODE_ANDOR,	  /* a && b || c: two and more */
	AB_NODE_LIST,	  /* a; b & c: any number, also none */
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
	bool or ;	 /* in an ANDOR: "||" stands before it */
	bool err_too;	 /* in a PIPELINE: "|&" stands before it */
	struct ab_span range;
	struct ab_redir *redirs;
	struct ab_shell_node *next;
	union {
		struct { /* SIMPLE */
			struct ab_assign *assigns;
			struct ab_shell_word *words;
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
			struct ab_part *parts;	     /* the expansions in it */
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

#endif
