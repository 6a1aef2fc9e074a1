#ifndef AB_CMD_H
#define AB_CMD_H
/*
 * The command line: one table of commands, each with a table of options that
 * drives parsing and --help. A command turns its arguments into a request for
 * the library and prints the answer; nothing else.
 */
#include "agentbox.h"

/* Exit status that the contract fixes. */
enum {
	EXIT_USAGE = 2,	 /* all commands but run */
	EXIT_OURS = 125, /* run: agentbox itself failed */
	EXIT_REFUSED = 126,
};

enum option_kind {
	OPT_SETTING, /* a value for the configuration key `key` */
	OPT_CLEAR,   /* empties the list `key` */
	OPT_VALUE,   /* handed to the command under `id` */
	OPT_FLAG,    /* the same, without a value */
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
	ID_QUIET,
	ID_JSON,
	ID_FIX,
	ID_ATTACK,
	ID_LIST,
	ID_REVOKE,
	ID_YES,
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
	ID_FOLLOW,
	ID_DENIED,
	ID_ALLOWED,
	ID_HOST,
	ID_SINCE,
	ID_UNTIL,
	ID_STATS,
	ID_HTML,
	ID_CUT,
	ID_GRACE,
	ID_OLDER,
	ID_KEEP,
	ID_DRY,
	ID_QUARANTINE,
	ID_SAVE,
	ID_HELP,
};

struct option {
	const char *name; /* without the dashes */
	char letter;	  /* 0: none */
	enum option_kind kind;
	enum option_id id;
	const char *value; /* how --help calls it; NULL: takes none */
	const char *key;
	const char *help;
};

struct option_group {
	const char *title;	/* NULL: "Options" */
	const struct option *v; /* ends with a name of NULL */
};

struct args;

struct command {
	const char *name;
	const char *usage;		   /* after "agentbox NAME " */
	const char *summary;		   /* one line */
	const char *more;		   /* paragraphs for --help, or NULL */
	const struct option_group *groups; /* ends with v NULL */
	bool runs;			   /* exit status as for run */
	/* "config show" and so on; main is then sub_main. Ends with NULL. */
	const struct command *const *subs;
	int (*main)(struct args *args);
};

/* What was given, after parsing. */
struct args {
	const struct command *command;
	struct ab_policy_input input;
	struct ab_setting *settings;
	const char *values[ID_HELP + 1]; /* by id; a flag is "" */
	int counts[ID_HELP + 1];
	int *fds;
	size_t nfds;
	const char *const *rest; /* what is not an option */
	size_t nrest;
	bool dashes;   /* "--" was given, */
	size_t before; /* and so many of `rest` stand before it */
};

extern const struct command *const commands[]; /* ends with NULL */
extern const struct option options_run[];      /* how it is run */
extern const struct option options_policy[];   /* what every layer can say */
extern const struct option options_files[];    /* which files are meant */
extern const struct option options_json[];     /* --json */
extern const struct option options_common[];   /* --help */

/*
 * -1, or an exit status: said why, or printed help. Options end at the first
 * word where that word begins another command line; else they may stand
 * anywhere before "--".
 */
int args_parse(struct args *args, const struct command *command, int argc, char **argv);
bool given(const struct args *args, enum option_id id);

/* Print the error as a person reads it and return the exit status for it. */
int complain(const struct args *args, const struct ab_error *err);
/* A mistake on the command line. */
int misuse(const struct command *command, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* "agentbox: TEXT" on standard error. */
void tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A line that belongs to the one before. */
void tell_more(const char *text);

/* A question on the terminal; anything but a "y" is a no. */
bool confirm(const char *question);

/* What run, exec and learn were asked for; -1, or an exit status: said why.
 * `script` is room for the words of -c, as long as the request is used. */
int run_request(struct args *args, const char *script[3], struct ab_request *ret);

/* For a command with `subs`: find the one that is meant and run it. */
int sub_main(struct args *args);
/* Complain unless there are `min` to `max` words beside the options. */
int check_words(const struct args *args, size_t min, size_t max);

/* `allow` and `deny`; the exit status. */
extern const struct option options_permit[];
int permit_main(struct args *args, bool deny);

/* Judge each command on standard input; the exit status. */
int batch_main(struct args *args, struct ab_check *check);
/* As check's exit status says it. */
int decision_status(enum ab_decision decision);

void print_help(const struct command *command);
void print_overview(void);

extern const struct command command_run;
extern const struct command command_exec;
extern const struct command command_learn;
extern const struct command command_check;
extern const struct command command_ports;
extern const struct command command_ps;
extern const struct command command_stop;
extern const struct command command_watch;
extern const struct command command_gc;
extern const struct command command_log;
extern const struct command command_why;
extern const struct command command_connect;
extern const struct command command_doctor;
extern const struct command command_config;
extern const struct command command_profile;
extern const struct command command_policy;
extern const struct command command_rules;
extern const struct command command_secrets;
extern const struct command command_trust;
extern const struct command command_hook;
extern const struct command command_alias;
extern const struct command command_approvals;
extern const struct command command_allow;
extern const struct command command_deny;

#endif
