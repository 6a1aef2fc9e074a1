#pragma once
/*
 * State shared by the files of the walk: that of a shell process, with variables,
 * standard input and output, and functions. Code that enters a subshell saves it
 * and restores it afterwards.
 */
#include "shell/expand/expand.h"
#include "shell/walk/walk.h"

/* Collects what commands print, for the reader of their output. */
struct ab_outlet {
	struct ab_data data;
	size_t room;	 /* of a private copy of the text; 0: not a copy */
	bool any;	 /* something was written */
	unsigned maybes; /* the walk's value at creation */
};

/* The text being walked. */
struct ab_walk_text {
	struct ab_text text;
	const struct ab_nesting *source;
};

/* A function or an alias. */
struct ab_named {
	struct ab_text name;
	const struct ab_shell_node *body; /* NULL: an alias */
	struct ab_text alias;
	struct ab_walk_text in;
	unsigned flags;
	const char *via;
	bool called;
	unsigned running;	/* nested calls of it */
	struct ab_named *chain; /* next in the bucket, newest first */
	struct ab_named *hides; /* an older one of this name and kind */
	struct ab_named *next;	/* in the order of definition */
};

enum { AB_NAMED_BUCKETS = 64, AB_NAMED_MAX = 256 };

/* A variable's value before `local`. */
struct ab_walk_local {
	struct ab_text name;
	const struct ab_var *former;
	struct ab_walk_local *next;
};

struct ab_walk {
	struct ab_arena *arena;
	const struct ab_scene *scene;
	const struct ab_walk_events *events;
	struct ab_vars *vars;
	struct ab_walk_text at;
	struct ab_data in;
	struct ab_outlet *out; /* NULL: output is discarded */
	unsigned flags;	       /* enum ab_simple_flag, for every command here */
	const char *via;

	unsigned maybes; /* enclosing branches and loops */
	unsigned loops;	 /* enclosing loops */
	unsigned again;	 /* nonzero: a repeated visit, do not list commands */
	bool same_call;	 /* the next command ran before, in another possible folder */
	unsigned depth, levels, calls;
	size_t commands, nested, rounds; /* used so far */
	bool over;			 /* a limit was reached */
	unsigned guesses;		 /* made so far */
	bool guessing;			 /* in one: none inside it */

	struct ab_named **named; /* buckets; NULL: none yet */
	struct ab_named *first_named, **last_named;
	size_t nnamed;
	struct ab_walk_local *locals;
	const struct ab_file *files; /* newest first */
	size_t nfiles;

	size_t sets; /* how often a variable was set */
	/* Names set since the outermost open join, in order. */
	struct ab_text *names;
	size_t nnames, names_room;
	unsigned joining;
};

/* State to restore after a subshell. */
struct ab_walk_saved {
	struct ab_data in;
	struct ab_outlet *out;
	unsigned flags;
	size_t mark;
};

/* walk.c: control flow */
void ab_walk_node(struct ab_walk *w, const struct ab_shell_node *node);
void ab_walk_enter(struct ab_walk *w, struct ab_walk_saved *saved);
void ab_walk_leave(struct ab_walk *w, const struct ab_walk_saved *saved);
/* A place in the list of commands, or NULL. */
void *ab_walk_reserve(struct ab_walk *w);
void ab_walk_stop(struct ab_walk *w, struct ab_span range, const char *why);
/* It has an error. */
void ab_walk_unread(struct ab_walk *w, const struct ab_script *script);
struct ab_span ab_walk_map(const struct ab_walk *w, struct ab_span range);

/* walk_simple.c: from words to commands */
void ab_walk_simple(struct ab_walk *w, const struct ab_shell_node *node);
void ab_walk_words(struct ab_walk *w, const struct ab_shell_word *words);
void ab_walk_parts(struct ab_walk *w, struct ab_part *parts);
/* The working directory; unknown if there are several candidates. */
struct ab_text ab_walk_folder(const struct ab_walk *w);
/* Set the command's name from its first word. */
void ab_walk_name(struct ab_simple *command);
/* Walk a compound command with its redirections applied to w->in and w->out. */
void ab_walk_redirected(struct ab_walk *w, const struct ab_shell_node *node,
			void (*walk)(struct ab_walk *w, const struct ab_shell_node *node));

/* walk_run.c: commands started by a command */
void ab_walk_run(struct ab_walk *w, const struct ab_simple *command, void *place);
void ab_walk_define(struct ab_walk *w, const struct ab_shell_node *function);
void ab_walk_alias(struct ab_walk *w, struct ab_text name, struct ab_text text);
/* Walk the command again with its alias expanded, if its name is one. There are names. */
void ab_walk_expand(struct ab_walk *w, const struct ab_shell_node *node);
void ab_walk_uncalled(struct ab_walk *w);

/* Walk a script that may run later in a separate shell. Its commands are not part of
 * this text, so they are not listed. */
void ab_walk_text(struct ab_walk *w, const struct ab_field *script);

/* walk_guess.c: commands that an unknown program may run */
void ab_walk_guess(struct ab_walk *w, const struct ab_simple *command);

/* walk_settings.c: text that runs although it is not a command */
void ab_walk_setting(struct ab_walk *w, struct ab_text name, const struct ab_field *value);
void ab_walk_expansions(struct ab_walk *w, const struct ab_field *text);
void ab_walk_subscript(struct ab_walk *w, const struct ab_field *text);
/* The operands of [[ ]]. */
void ab_walk_test(struct ab_walk *w, const struct ab_shell_word *words);

/* walk_builtin.c: changes by builtins to the shell itself */
void ab_walk_builtin(struct ab_walk *w, const struct ab_simple *command);

/* Is it a valid variable name? */
bool ab_walk_is_name(struct ab_text t);

/* walk_vars.c: put: also the shell's own folder; set: by the text, which does not change it */
void ab_walk_put(struct ab_walk *w, struct ab_text name, const struct ab_var *value);
void ab_walk_set(struct ab_walk *w, struct ab_text name, const struct ab_var *value);
void ab_walk_assign(struct ab_walk *w, const struct ab_assign *assign);
const struct ab_var *ab_walk_value(struct ab_walk *w, const struct ab_field *field);
/* An array; its text is the first item. */
const struct ab_var *ab_walk_array(struct ab_walk *w, const struct ab_fields *items);
/* A possible value of a variable as a field. */
struct ab_field ab_walk_field(const struct ab_var *value, struct ab_span range);
/* Positional parameters from a command's words; argc >= 1. */
const struct ab_fields *ab_walk_given(struct ab_walk *w, const struct ab_field *argv, size_t argc);
/* Alternative branches: call begin, next after each branch, then end. */
struct ab_walk_join;
void ab_walk_join_begin(struct ab_walk *w, struct ab_walk_join **ret);
void ab_walk_join_next(struct ab_walk *w, struct ab_walk_join *join);
void ab_walk_join_end(struct ab_walk *w, struct ab_walk_join *join, bool exhaustive);

/* walk_pipes.c: data in pipes and redirections */
void ab_outlet_add(struct ab_walk *w, const struct ab_data *data);
/* Apply the command's redirections: its input, and where it prints. */
void ab_data_redirect(struct ab_walk *w, struct ab_simple *command, bool *ret_prints,
		      const struct ab_redirect **ret_to);

/* walk_files.c: files written by the text itself */
void ab_walk_printed(struct ab_walk *w, const struct ab_simple *command,
		     const struct ab_redirect *to, const struct ab_outlet *printed);
void ab_walk_written(struct ab_walk *w, const struct ab_simple *command);
