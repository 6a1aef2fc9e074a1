#ifndef AB_SHELL_WALK_WALK_STATE_H
#define AB_SHELL_WALK_WALK_STATE_H
/*
 * What the files of the walk share.
 *
 * The state has what a shell process has: variables, standard input and
 * output, functions. Whoever enters a subshell saves it and puts it back.
 */
#include "shell/expand/expand.h"
#include "shell/walk/walk.h"

/* What commands print, for one who reads it. */
struct ab_outlet {
	struct ab_data data;
	size_t room;	 /* of a text of our own; 0: a view */
	bool any;	 /* somebody wrote */
	unsigned maybes; /* as the walk's, when it was made */
};

/* A text that is being walked. */
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
	unsigned running;	/* calls of it in each other */
	struct ab_named *chain; /* of the bucket, newest first */
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
	struct ab_outlet *out; /* NULL: nobody reads it */
	unsigned flags;	       /* enum ab_simple_flag, of all commands here */
	const char *via;

	unsigned maybes; /* branches and loops around this place */
	unsigned loops;	 /* that are walked a second time, likewise */
	unsigned again;	 /* second turns: nothing is listed */
	unsigned depth, levels, calls;
	size_t commands, nested, rounds; /* spent */
	bool over;			 /* a limit was reached */

	struct ab_named **named; /* buckets; NULL: none yet */
	struct ab_named *first_named, **last_named;
	size_t nnamed;
	struct ab_walk_local *locals;
	const struct ab_file *files; /* newest first */
	size_t nfiles;

	size_t sets; /* how often a variable was set */
	/* Names that were set, in order, for those who join branches. */
	struct ab_text *names;
	size_t nnames, names_room;
	unsigned joining;
};

/* What a subshell gives back. */
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
void ab_walk_stop(struct ab_walk *w, struct ab_span range, const char *why);
void ab_walk_unread(struct ab_walk *w, const struct ab_script *script);
struct ab_span ab_walk_map(const struct ab_walk *w, struct ab_span range);

/* walk_simple.c: words to commands */
void ab_walk_simple(struct ab_walk *w, const struct ab_shell_node *node);
void ab_walk_words(struct ab_walk *w, const struct ab_shell_word *words);
void ab_walk_parts(struct ab_walk *w, struct ab_part *parts);
/* Where commands run; not known where it may be one of several. */
struct ab_text ab_walk_folder(const struct ab_walk *w);
/* The command's name, by its first word. */
void ab_walk_name(struct ab_simple *command);
/* The redirections of a compound command; its input and output from here on.
 * Where that is a file: what is to be said when it has ended. */
struct ab_walk_output;
struct ab_walk_output *ab_walk_redirect(struct ab_walk *w, const struct ab_shell_node *node);
void ab_walk_redirected(struct ab_walk *w, const struct ab_walk_output *output);

/* walk_run.c: what a command starts */
void ab_walk_run(struct ab_walk *w, const struct ab_simple *command, void *place);
void ab_walk_define(struct ab_walk *w, const struct ab_shell_node *function);
void ab_walk_alias(struct ab_walk *w, struct ab_text name, struct ab_text text);
/* A command word that is an alias. */
void ab_walk_expand(struct ab_walk *w, const struct ab_shell_node *node);
void ab_walk_uncalled(struct ab_walk *w);

/* A script that runs some time, in a shell of its own; its commands are not
 * those of this text, and not listed. */
void ab_walk_text(struct ab_walk *w, const struct ab_field *script);

/* walk_settings.c: text that is run although it is no command */
void ab_walk_setting(struct ab_walk *w, struct ab_text name, const struct ab_field *value);
void ab_walk_expansions(struct ab_walk *w, const struct ab_field *text);
void ab_walk_subscript(struct ab_walk *w, const struct ab_field *text);
/* The operands of [[ ]]. */
void ab_walk_test(struct ab_walk *w, const struct ab_shell_word *words);

/* walk_builtin.c: what a builtin changes in the shell itself */
void ab_walk_builtin(struct ab_walk *w, const struct ab_simple *command);

/* Of a variable. */
bool ab_walk_is_name(struct ab_text t);

/* walk_vars.c */
void ab_walk_set(struct ab_walk *w, struct ab_text name, const struct ab_var *value);
void ab_walk_assign(struct ab_walk *w, const struct ab_assign *assign);
const struct ab_var *ab_walk_value(struct ab_walk *w, const struct ab_field *field);
/* Positional parameters from a command's words, of which it has one. */
const struct ab_fields *ab_walk_given(struct ab_walk *w, const struct ab_field *argv, size_t argc);
/* Either of the two (NULL: not known), bounded. */
const struct ab_var *ab_walk_either(struct ab_walk *w, const struct ab_var *a,
				    const struct ab_var *b);
/* Branches of which one is taken: begin, then each followed by next, end. */
struct ab_walk_join;
void ab_walk_join_begin(struct ab_walk *w, struct ab_walk_join **ret);
void ab_walk_join_next(struct ab_walk *w, struct ab_walk_join *join);
void ab_walk_join_end(struct ab_walk *w, struct ab_walk_join *join, bool exhaustive);

/* walk_pipes.c: bytes that flow */
void ab_outlet_add(struct ab_walk *w, const struct ab_data *data);
struct ab_data ab_data_unknown(unsigned taint, struct ab_span range);
/* What the command reads and where it prints, by its redirections. */
void ab_data_redirect(struct ab_walk *w, struct ab_simple *command, bool *ret_prints,
		      const struct ab_redirect **ret_to);

/* walk_files.c: files that are written here */
void ab_walk_printed(struct ab_walk *w, const struct ab_simple *command,
		     const struct ab_redirect *to, const struct ab_outlet *printed);
void ab_walk_written(struct ab_walk *w, const struct ab_simple *command);

#endif
