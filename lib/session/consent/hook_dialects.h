#ifndef AB_SESSION_CONSENT_HOOK_DIALECTS_H
#define AB_SESSION_CONSENT_HOOK_DIALECTS_H
/*
 * How each agent writes its events and reads our answers.
 *
 * Agents differ in where an event has the command and in what an answer can
 * express; a dialect, a row of a table, describes both. Nothing here judges.
 */
#include <jansson.h>
#include <stdbool.h>

struct ab_buf;
struct ab_error;

enum ab_hook_verdict {
	AB_HOOK_NOTHING, /* the agent continues as if it had no hook */
	AB_HOOK_ALLOW,
	AB_HOOK_ASK, /* the agent asks its user */
	AB_HOOK_DENY,
};

struct ab_hook_event {
	json_t *root;
	json_t *input;	     /* the tool's arguments, or NULL */
	const char *command; /* NULL: not about a shell command */
	const char *cwd;     /* "": unknown */
	const char *session; /* likewise */
};

struct ab_hook_answer {
	enum ab_hook_verdict verdict;
	const char *reason;
	const char *command; /* the rewritten command, or NULL */
};

struct ab_hook_dialect {
	const char *agent;
	const char *title; /* the vendor's spelling */
	/* Paths into the event, separated by dots. */
	const char *event, *event_name; /* where the event's name is, and the name */
	const char *tool, *tools;	/* likewise; shell tools, separated by blanks */
	const char *input;		/* the tool's arguments; NULL: the event */
	bool packed;			/* they may be JSON in a string */
	const char *command;		/* in the arguments */
	const char *cwd, *session;
	/* What an answer can express besides a denial. */
	bool allows, asks, rewrites;
	/* Adds the answer to *out. NULL: the agent reads the exit status, and
	 * the reason from standard error. */
	void (*write)(const struct ab_hook_event *event, const struct ab_hook_answer *answer,
		      json_t *out);
	/* Below the home folder, and below a project; NULL: `hook install` does
	 * not support the agent. */
	const char *settings, *project_settings;
	/* Adds the hook to the settings; false: they have it already. */
	bool (*install)(json_t *settings, const char *command);
};

extern const struct ab_hook_dialect ab_hook_dialects[];
extern const size_t ab_hook_dialect_count;

/* NULL: unknown agent. */
const struct ab_hook_dialect *ab_hook_find(const char *agent);
/* Fails with the list of supported agents; `install`: by `hook install`. */
int ab_hook_refuse_agent(const char *agent, bool install, struct ab_error *err);

/* The strings live as long as event->root: json_decref() it. */
int ab_hook_read(const struct ab_hook_dialect *dialect, const char *text, size_t len,
		 struct ab_hook_event *ret, struct ab_error *err);

#endif
