#pragma once
/*
 * The command line: one table of commands, each with a table of options that
 * drives parsing and --help. A command turns its arguments into a request for
 * the library and prints the answer, nothing else.
 */
#include "program.h"

/* Exit statuses that scripts rely on. */
enum {
	EXIT_USAGE = 2,	 /* all commands except run */
	EXIT_OURS = 125, /* run: agentbox itself failed */
	EXIT_REFUSED = 126,
	EXIT_NOT_FOUND = 127,
};

enum colour { COLOUR_NONE, COLOUR_BOLD, COLOUR_RED, COLOUR_YELLOW, COLOUR_GREEN };

enum option_kind {
	OPT_SETTING,  /* a value for the configuration key `key` */
	OPT_OPEN,     /* the same, as an exception: "!VALUE" */
	OPT_SWITCH,   /* the same; without "=VALUE" the value is "true" */
	OPT_ALLOW,    /* the same, without a value: "allow" */
	OPT_READONLY, /* no writable folders, and a read-only home */
	OPT_VALUE,    /* a value that the command finds under the name (value_of) */
	OPT_FLAG,     /* the same, without a value */
	OPT_HELP,     /* print help and exit; "=all" for all of it */
};

struct option {
	const char *name; /* without the dashes; the command asks for it by this name */
	char letter;	  /* 0: none */
	enum option_kind kind;
	const char *value; /* its placeholder in --help; NULL: takes no value */
	const char *key;
	const char *help;
};

/* clang-format off */
#define FLAG(name, letter, help) { name, letter, OPT_FLAG, NULL, NULL, help }
#define VALUE(name, letter, value, help) { name, letter, OPT_VALUE, value, NULL, help }
#define SETTING(name, value, key, help) { name, 0, OPT_SETTING, value, key, help }
/* clang-format on */

struct option_group {
	const char *title;	/* NULL: "Options" */
	const struct option *v; /* ends with an entry whose name is NULL */
};

/* The option groups of a command, and --help. */
/* clang-format off */
#define OPTION_GROUPS(...) \
	(const struct option_group[]){ __VA_ARGS__, { NULL, options_common }, { 0 } }
/* clang-format on */
#define OPTION_ROWS(...) ((const char *const[]){ __VA_ARGS__, NULL })

struct args;

/* A row of a table of subcommands begins with the first four. */
struct command {
	const char *name;
	const char *usage;		   /* after "agentbox NAME " */
	const char *summary;		   /* one line; what --help adds is in help.txt */
	const struct option_group *groups; /* ends with an entry whose v is NULL */
	bool runs;			   /* exits with the statuses of run */
	/* Subcommands such as "config show"; main, if any, is for the command alone. */
	const struct command *subs; /* ends with an entry whose name is NULL */
	struct {
		size_t min, max;
	} words; /* how many arguments that are not options it takes */
	/* Rows of option names, and why, ends with NULL: the first cannot be combined with the others (RUN:
	 * with an argument), or "needs" them. */
	const char *const *rows;
	bool bare; /* needs no caller, or calls ab_caller_init() itself */
	/* The exit status, or -1 with the error to print. */
	int (*main)(struct args *args, struct ab_error *err);
};

struct given_option {
	const struct option *option;
	const char *value; /* "" of a flag */
};

/* The parsed command line. */
struct args {
	const struct command *command;
	struct ab_policy_input input;
	struct ab_setting *settings;
	struct given_option *given; /* in the order of the command line */
	size_t ngiven;
	int *fds;
	size_t nfds;
	const char *const *rest; /* the arguments that are not options, and NULL */
	size_t nrest;
	bool dashes;   /* "--" was given */
	size_t before; /* how many of `rest` come before it */
};

extern const struct command *const commands[];	  /* ends with NULL */
extern const struct option options_run[];	  /* how to run a command */
extern const struct option options_policy[];	  /* settings of every policy layer */
extern const struct option options_files[];	  /* which settings files are read */
extern const struct option options_profile[];	  /* --profile */
extern const struct option options_json[];	  /* --json */
extern const struct option options_common[];	  /* --help */
extern const struct option_group groups_common[]; /* --help */
extern const struct option_group groups_json[];	  /* --json, --help */

/*
 * 0; 1 after printing help. If the first argument starts a command line of its own (run), options
 * end there; otherwise they may appear anywhere before "--".
 */
int args_parse(struct args *args, const struct command *command, int argc, char **argv,
	       struct ab_error *err);
/* The last value of an option, "" of a flag; NULL: it was not given. */
const char *value_of(const struct args *args, const char *name);
bool given(const struct args *args, const char *name);
int count_given(const struct args *args, const char *name);

/* Print the error for people and return the exit status for it. */
int complain(const struct args *args, const struct ab_error *err);
/* Fail because of how the command, or without one the program, was called. */
int misuse(const struct args *args, struct ab_error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* "agentbox: TEXT" on standard error; the colour is that of the name. */
#define tell(...) tell_in(COLOUR_BOLD, __VA_ARGS__)
void tell_in(enum colour colour, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Print JSON by a template of ab_buf_jsonf(). */
void put_json(const char *pattern, ...) __attribute__((format(printf, 1, 2)));
/* Print a continuation of the line before. */
void tell_more(const char *text);
/* Each note; one that begins with a blank continues the one before. */
void tell_notes(const struct ab_strv *notes);

/* Is there a person to ask? */
bool can_ask(void);
/* The same about a command that a box may have printed, so that it looks like ours: not with --yes or --json.
 * Scripts have no screen to copy from. */
bool may_ask(const struct args *args);
/* Ask on the terminal; anything except "y" counts as no. */
bool confirm(const char *question);
/* May it be done? Yes with --yes, or if a person says so; else `without` (nobody can be asked) or
 * `no`, if not NULL, is told. -1, or the exit status. */
int get_consent(const struct args *args, const char *question, const char *without, const char *no);

/* Build the request of run, exec and learn. */
int run_request(struct args *args, struct ab_request *ret, struct ab_error *err);
/* What a run says (ab_request.say); `arg` is struct args. */
void print_said(void *arg, enum ab_level level, const char *text);
/* Print what a run would be allowed to do; `runs`: with the statuses of run. */
int preview_main(struct args *args, const struct ab_request *request, struct ab_error *err);
/* Run it, also in a box that stays; returns the exit status. `box`: an existing one, or NULL. */
int run_in_box(struct args *args, struct ab_request *request, const char *box,
	       struct ab_error *err);
/* The box that is named, or the only one that stays, which is told; *ret NULL: there is none.
 * `names` must outlive *ret. */
int choose_box(struct args *args, struct ab_strv *names, const char **ret, struct ab_error *err);

/* The width of the terminal; 0: standard output is not one. */
size_t output_columns(void);
/* Print the text that a command made, and free it; then tell the notes, if not NULL. Returns 0. */
int print_made(char *text, const struct ab_strv *notes);
/* All of it, or what shows that it is longer than `most`. -1 with errno. */
int read_input(FILE *file, size_t most, struct ab_buf *b);
/* Each line, escaped, between the two texts. */
void print_each(const char *before, const struct ab_strv *lines, const char *after);
/* Lines that are escaped already, such as those of a diff, which may have tabs. */
void print_safe(const char *before, const struct ab_strv *lines);

/* hook.c: the policy options as given, for another command line, with absolute paths, also in
 * args->input. After ab_caller_init(). */
void collect_policy_options(struct args *args, struct ab_strv *options);
/* Show a change of a settings file, ask, and write it. `done` and `nothing` are said
 * afterwards. */
int apply_plan(const struct args *args, const struct ab_hook_plan *plan, const char *done,
	       const char *nothing, struct ab_error *err);

/* Check the arguments and run the command or its subcommand; returns the exit status. */
int run_command(struct args *args);
/* "show" of "config"; NULL after an error. */
const struct command *find_sub(const struct args *args, const char *word, struct ab_error *err);

/* `apply`, `discard` and `undo`: the layer that is meant, the decision about conflicts, and the progress
 * of a long one on standard error. Notes about the layer are told, and its name if the user did not
 * name it. Not with --json, which has both. */
int open_layer(const struct args *args, enum ab_layer_use use, struct ab_layer_command *ret,
	       struct ab_error *err);
enum ab_apply_conflict get_conflict(const struct args *args);
struct long_work {
	int64_t began_ms;
	bool shown;
};
struct ab_progress show_progress(struct long_work *work);
void end_progress(const struct long_work *work);
/* One letter of `letters`, or the last of them if there is no answer. */
char ask_letter(const char *question, const char *letters);

/* `all`: with the options that are rarely needed. */
void print_help(const struct command *command, bool all);
void print_overview(void);
/* tool.c: was the program called by another name than its own? Then *ret_status is its exit status. */
bool tool_main(int argc, char **argv, int *ret_status);
/* End as a command did that this signal ended, as far as possible; 0: none. Else returns the status. */
int end_like(int status, int sig);
/* Our own text, fitted to the terminal on standard output, if it is one. */
void fit_text(struct ab_buf *to, const char *text);
/* A message of one line, behind `margin` columns, for the terminal `fd` if it is one. */
void fit_message(struct ab_buf *to, int fd, const char *text, size_t margin);
/* Each line on standard output; the last one gets an end. The text is safe to print. */
void print_messages(const char *text);
void print_text(const char *text);

/* colour.c. --color; false: it is not one of its words. */
bool set_colour(const char *value);
bool wants_colour(int fd);

void add_coloured(struct ab_buf *b, int fd, enum colour colour, const char *text, size_t len);
/* The same for a table whose rows begin with "ok", "warn" or "fail". */
void print_rows(const char *text);

extern const char build_id[]; /* of the source; "release" if it is not known */
/* Texts that the program carries; see scripts/embed for the form. */
extern const char texts_manual[], texts_completions[], texts_examples[], texts_help[];
const char *find_text(const char *texts, const char *name);
/* Through the pager on a terminal, with the caller in args->input; returns the exit status. */
int print_paged(const struct args *args, const char *text);

/* NULL: there is none. */
const struct command *find_command(const char *name);
/* Say what the word may mean; returns the exit status. */
int report_unknown_command(const struct args *args, const char *name, struct ab_error *err);
/* The option of this name and length, or with this letter; or NULL. */
const struct option *find_option(const struct command *command, const char *name, size_t len,
				 char letter);

/* habits.c: words of other programs. */
struct habit {
	const char *option; /* ours, without the dashes; "": none is needed */
	const char *note;   /* what to say instead, or "" */
};
/* "stop RUN" for "kill", or NULL. */
const char *habit_command(const char *word);
/* `word` without the dashes; NULL: the letter. */
bool habit_option(const char *word, char letter, struct habit *ret);
/* An option of run, such as "--net", that hardly another program has. */
bool is_distinct_option(const char *word);

/* Every command, in the order of the overview. */
/* clang-format off */
#define COMMANDS(X) \
	X(run) X(shell) X(attach) X(exec) X(learn) X(check) X(ps) X(watch) X(stop) X(log) \
	X(changes) X(why) X(allow) X(deny) X(apply) X(discard) X(undo) X(quarantine) \
	X(ports) X(layers) X(gc) X(connect) X(init) X(import) X(doctor) X(config) \
	X(profile) X(rules) X(policy) X(secrets) X(trust) X(approvals) X(hook) X(mcp) \
	X(alias) X(completion) X(help) X(version) X(publish) X(serve)
/* clang-format on */
#define DECLARE_COMMAND(name) extern const struct command command_##name;
COMMANDS(DECLARE_COMMAND)
