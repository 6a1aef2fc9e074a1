#ifndef AB_CMD_H
#define AB_CMD_H
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
	OPT_VALUE,    /* a value that the command finds under `id` */
	OPT_FLAG,     /* the same, without a value */
	OPT_HELP,     /* print help and exit; "=all" for all of it */
};

enum option_id {
	ID_NONE,
	ID_PROFILE,
	ID_CONFIG,
	ID_WORKSPACE,
	ID_FD,
	ID_AUDIT,
	ID_SHELL,
	ID_STRING,
	ID_STDIN,
	ID_BATCH,
	ID_NULL,
	ID_EXPLAIN,
	ID_VERBOSE,
	ID_USER,
	ID_QUIET,
	ID_JSON,
	ID_FIX,
	ID_ATTACK,
	ID_LIST,
	ID_REVOKE,
	ID_YES,
	ID_PRINT,
	ID_WRITE,
	ID_APPROVER,
	ID_COVERED,
	ID_ALL,
	ID_SESSION,
	ID_NO_BOX,
	ID_PROJECT,
	ID_FISH,
	ID_NAME,
	ID_RESULT,
	ID_ON_VIOLATION,
	ID_TRACE,
	ID_RUN,
	ID_ALWAYS,
	ID_FOR,
	ID_UNDO,
	ID_FOLLOW,
	ID_LINES,
	ID_DENIED,
	ID_ALLOWED,
	ID_HOST,
	ID_SINCE,
	ID_UNTIL,
	ID_STATS,
	ID_HTML,
	ID_FOLDER,
	ID_VERIFY,
	ID_KEYS,
	ID_CUT,
	ID_GRACE,
	ID_OLDER,
	ID_KEEP,
	ID_DRY,
	ID_QUARANTINE,
	ID_LAYERS,
	ID_SAVE,
	ID_TO,
	ID_FORCE,
	ID_IN,
	ID_DETACH,
	ID_IDLE,
	ID_HUNKS,
	ID_HOME,
	ID_LABELLED,
	ID_SAFE,
	ID_PATCH,
	ID_THEIRS,
	ID_OURS,
	ID_MAN,
	ID_READ,
	ID_INSTALL,
	ID_HELP,
};

struct option {
	const char *name; /* without the dashes */
	char letter;	  /* 0: none */
	enum option_kind kind;
	enum option_id id;
	const char *value; /* its placeholder in --help; NULL: takes no value */
	const char *key;
	const char *help;
};

struct option_group {
	const char *title;	/* NULL: "Options" */
	const struct option *v; /* ends with an entry whose name is NULL */
};

/* The option groups of a command, and --help. */
/* clang-format off */
#define OPTION_GROUPS(...) \
	(const struct option_group[]){ __VA_ARGS__, { NULL, options_common }, { 0 } }
/* clang-format on */

struct args;

struct command {
	const char *name;
	const char *usage;		   /* after "agentbox NAME " */
	const char *summary;		   /* one line */
	const char *more;		   /* paragraphs for --help, or NULL */
	const struct option_group *groups; /* ends with an entry whose v is NULL */
	bool runs;			   /* exits with the statuses of run */
	/* Subcommands such as "config show"; main is then sub_main. Ends with NULL. */
	const struct command *const *subs;
	int (*main)(struct args *args);
};

/* The parsed command line. */
struct args {
	const struct command *command;
	struct ab_policy_input input;
	struct ab_setting *settings;
	const char *values[ID_HELP + 1]; /* by id; a flag is "" */
	int counts[ID_HELP + 1];
	int *fds;
	size_t nfds;
	const char *const *rest; /* the arguments that are not options */
	size_t nrest;
	bool dashes;   /* "--" was given */
	size_t before; /* how many of `rest` come before it */
};

extern const struct command *const commands[];	  /* ends with NULL */
extern const struct option options_run[];	  /* how to run a command */
extern const struct option options_policy[];	  /* settings of every policy layer */
extern const struct option options_files[];	  /* which settings files are read */
extern const struct option options_json[];	  /* --json */
extern const struct option options_common[];	  /* --help */
extern const struct option_group groups_common[]; /* --help */
extern const struct option_group groups_json[];	  /* --json, --help */

/*
 * -1, or an exit status after an error message or help. If the first argument
 * starts a command line of its own (run), options end there; otherwise they may
 * appear anywhere before "--".
 */
int args_parse(struct args *args, const struct command *command, int argc, char **argv);
bool given(const struct args *args, enum option_id id);

/* Print the error for people and return the exit status for it. */
int complain(const struct args *args, const struct ab_error *err);
/* Report a usage error. Returns the exit status for it. */
int misuse(const struct command *command, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* "agentbox: TEXT" on standard error; the colour is that of the name. */
void tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void tell_in(enum colour colour, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Print a continuation of the line before. */
void tell_more(const char *text);

/* Ask on the terminal; anything except "y" counts as no. */
bool confirm(const char *question);

/* Build the request of run, exec and learn. -1, or an exit status after an error
 * message. `script` holds the argv of -c and must outlive the request. */
int run_request(struct args *args, const char *script[3], struct ab_request *ret);
/* Print what a run would be allowed to do; `runs`: with the statuses of run. */
int preview_main(struct args *args, const struct ab_request *request);
/* Run it, also in a box that stays; returns the exit status. `box`: an existing one, or NULL. */
int run_in_box(struct args *args, struct ab_request *request, const char *box);
/* The box that is named, or the only one that stays, which is told; *ret NULL: there is none. -1, or
 * an exit status after an error message. `names` must outlive *ret. */
int choose_box(struct args *args, struct ab_strv *names, const char **ret);

/* The width of the terminal; 0: standard output is not one. */
size_t output_columns(void);

/* hook.c: the policy options as given, for another command line, with absolute paths, also in
 * args->input. After ab_caller_init(). */
void collect_policy_options(struct args *args, struct ab_strv *options);
/* Show a change of a settings file, ask, and write it. `done` and `nothing` are said
 * afterwards. */
int apply_plan(const struct args *args, const struct ab_hook_plan *plan, const char *done,
	       const char *nothing);

/* Run the subcommand that the first argument names. */
int sub_main(struct args *args);
/* "show" of "config", or NULL after an error message. */
const struct command *find_sub(const struct command *command, const char *word, int *ret_status);
/* Report a usage error unless there are `min` to `max` arguments. */
int check_words(const struct args *args, size_t min, size_t max);

/* `allow` and `deny`; returns the exit status. */
extern const struct option options_permit[];
int permit_main(struct args *args, bool deny);

/* Judge each command on standard input; returns the exit status. */
int batch_main(struct args *args, struct ab_check *check);
/* The exit status of check for a verdict. */
int decision_status(enum ab_decision decision);

/* `apply`, `discard` and `undo`: the words, the decision about conflicts, and the progress of a
 * long one on standard error. */
struct ab_layer_words layer_words(const struct args *args);
/* Print the notes about the set, and its name if the user did not name it. Not with --json, which
 * has both. */
void tell_layer_notes(const struct args *args, const struct ab_layer_command *command,
		      const char *what);
/* -1, or an exit status after an error message. */
int get_conflict(const struct args *args, enum ab_apply_conflict *ret);
struct long_work {
	int64_t began_ms;
	bool shown;
};
struct ab_progress show_progress(struct long_work *work);
void end_progress(const struct long_work *work);
/* One letter of `letters`, or the last of them if there is no answer. */
char ask_letter(const char *question, const char *letters);
/* Ask about each picked change, hunk by hunk. False: the person quit. */
bool pick_hunks(struct ab_apply *apply, enum ab_apply_conflict conflict);
void print_layer_change(const struct ab_change *change, const char *why);

/* `all`: with the options that are rarely needed. */
void print_help(const struct command *command, bool all);
void print_overview(void);
/* tool.c: was the program called by another name than its own? Then *ret_status is its exit status. */
bool tool_main(int argc, char **argv, int *ret_status);
/* Lines for --help, or NULL. */
const char *get_examples(const char *command);
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

/* log_verify.c: `log --verify`; and what a folder of records has that was not
 * read. True: an answer from it is not complete. NULL: it was not a folder. */
int log_verify(struct args *args, const struct ab_query *query);
bool tell_left_out(const struct ab_left_out *left_out);
void add_coloured(struct ab_buf *b, int fd, enum colour colour, const char *text, size_t len);
/* The same for a table whose rows begin with "ok", "warn" or "fail". */
void print_rows(const char *text);

extern const char build_id[]; /* of the source; "release" if it is not known */
/* Texts that the program carries; see scripts/embed for the form. */
extern const char texts_manual[], texts_completions[];
const char *find_text(const char *texts, const char *name);
/* Through the pager on a terminal, with the caller in args->input; returns the exit status. */
int print_paged(const struct args *args, const char *text);

/* NULL: there is none. */
const struct command *find_command(const char *name);
/* Say what the word may mean; returns the exit status. */
int report_unknown_command(const char *name);
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

extern const struct command command_run;
extern const struct command command_shell;
extern const struct command command_attach;
extern const struct command command_exec;
extern const struct command command_learn;
extern const struct command command_check;
extern const struct command command_ports;
extern const struct command command_ps;
extern const struct command command_publish;
extern const struct command command_serve;
extern const struct command command_stop;
extern const struct command command_watch;
extern const struct command command_gc;
extern const struct command command_completion;
extern const struct command command_help;
extern const struct command command_version;
extern const struct command command_layers;
extern const struct command command_quarantine;
extern const struct command command_log;
extern const struct command command_changes;
extern const struct command command_why;
extern const struct command command_connect;
extern const struct command command_doctor;
extern const struct command command_init;
extern const struct command command_import;
extern const struct command command_config;
extern const struct command command_profile;
/* Subcommands of config that change a file. */
extern const struct command config_set;
extern const struct command config_unset;
extern const struct command config_edit;
extern const struct command command_policy;
extern const struct command command_rules;
extern const struct command command_secrets;
extern const struct command command_trust;
extern const struct command command_hook;
extern const struct command command_mcp;
extern const struct command command_alias;
extern const struct command command_approvals;
extern const struct command command_allow;
extern const struct command command_deny;
extern const struct command command_apply;
extern const struct command command_discard;
extern const struct command command_undo;

#endif
