#pragma once
/*
 * How wrappers are read: each has a table row. ab_wrap_plain() reads most of them
 * from the row alone, the others have their own reader. Private to shell/wrap.
 */
#include "shell/command/grammar.h"
#include "shell/wrap/wrap.h"

struct ab_wrapping;
typedef void ab_wrap_reader(struct ab_wrapping *w);

/* Index of readers[] in wrap.c. */
enum ab_wrap_read {
	AB_WRAP_PLAIN,
	AB_WRAP_SUB,
	AB_WRAP_SH,
	AB_WRAP_EVAL,
	AB_WRAP_TRAP,
	AB_WRAP_ALIAS,
	AB_WRAP_SOURCE,
	AB_WRAP_AT,
	AB_WRAP_XARGS,
	AB_WRAP_PARALLEL,
	AB_WRAP_FIND,
	AB_WRAP_FD,
	AB_WRAP_GIT,
	AB_WRAP_KEYS,
	AB_WRAP_EACH,
	AB_WRAP_BWRAP,
	AB_WRAP_ENV,
	AB_WRAP_RUNUSER,
	AB_WRAP_FILE,
	AB_WRAP_SSH,
	AB_WRAP_BEGINS,
	AB_WRAP_ZIP,
	AB_WRAP_EDITOR,
	AB_WRAP_MAKE,
	AB_WRAP_SED,
	AB_WRAP_GDB,
};

struct ab_wrapper {
	/* Its grammar and its subcommands have this name; "": that of the command. */
	char name[20];
	enum ab_wrap_read read;
	unsigned operands; /* how many precede the command */
	char after[8];	   /* the command follows this word, if present */
	/* Options as letters or long names; "*": always. */
	char script[4], script_long[76]; /* the value is a shell script */
	char dir[4], dir_long[20];	 /* the value is its working directory */
	/* With one of these it runs nothing; "^p": any letter or digit except these. */
	char alone[8];
	char joined[4];	 /* the joined words are a shell script */
	char plain[4];	 /* overrides `joined` */
	char shell[4];	 /* without a command it starts a shell */
	char begins[28]; /* of words whose rest is a shell script, with "|" between */
	bool assigns;	 /* X=1 may precede the command */
	bool transparent;
	unsigned flags; /* enum ab_simple_flag */
};

enum { AB_WRAP_NEVER = 1000 }; /* operands: no word is a command */

/* State while one command is read. */
struct ab_wrapping {
	struct ab_arena *arena;
	const struct ab_simple *command;
	const struct ab_wrapper *row;
	struct ab_text name;	       /* of the row, or the name that led to it */
	const struct ab_grammar *opts; /* the grammar of that name */
	const struct ab_field *argv;   /* starts at the subcommand, if any */
	size_t argc;
	struct ab_inner **tail;
	bool transparent;
};

extern const struct ab_wrapper ab_wrappers[];
extern const size_t ab_nwrappers;

ab_wrap_reader ab_wrap_plain, ab_wrap_sub, ab_wrap_sh, ab_wrap_eval, ab_wrap_trap, ab_wrap_alias,
	ab_wrap_source, ab_wrap_at, ab_wrap_xargs, ab_wrap_parallel, ab_wrap_find, ab_wrap_fd,
	ab_wrap_git, ab_wrap_keys, ab_wrap_each, ab_wrap_bwrap, ab_wrap_env, ab_wrap_runuser,
	ab_wrap_file, ab_wrap_ssh, ab_wrap_zip, ab_wrap_editor, ab_wrap_begins, ab_wrap_make,
	ab_wrap_sed, ab_wrap_gdb;

/* The words of the wrapper. */
static inline struct ab_opt_walk ab_wrap_options(const struct ab_wrapping *w)
{
	return ab_opt_begin(w->opts, w->argv, w->argc);
}

/* Add an inner command, which has the command's standard input. */
struct ab_inner *ab_wrap_add_argv(struct ab_wrapping *w, const struct ab_field *argv, size_t argc);
/* Add the command that starts at word `from`, if any. An unknown word may be empty
 * or several words: then also add the commands that may start after it. */
void ab_wrap_argv(struct ab_wrapping *w, size_t from);
struct ab_inner *ab_wrap_script(struct ab_wrapping *w, const struct ab_field *script);
/* Add the field without its first `from` bytes. */
void ab_wrap_script_from(struct ab_wrapping *w, const struct ab_field *f, uint32_t from);
/* Add the words from `from` on, joined with blanks, if there are any. */
void ab_wrap_joined(struct ab_wrapping *w, size_t from);
/* Add standard input as a script, unless there is none or it is a file with unknown
 * content. */
void ab_wrap_stdin(struct ab_wrapping *w);
/* Join the words with blanks into one field. */
struct ab_field ab_wrap_join(struct ab_arena *arena, const struct ab_field *v, size_t n);
/* A field with this text, and with the taint and range of `like`. */
struct ab_field ab_wrap_field(const struct ab_field *like, struct ab_text text);
/* The text with each `mark` replaced; NULL if it contains none. */
const char *ab_wrap_replace(struct ab_arena *arena, struct ab_text in, struct ab_text mark,
			    struct ab_text by, uint32_t *ret_len);

/* A field that begins with unknown text may be anything. */
static inline bool ab_field_opens_unknown(const struct ab_field *f)
{
	return f->unknown && f->text.len > 0 && f->text.s[0] == AB_UNKNOWN;
}
