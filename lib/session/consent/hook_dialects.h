#ifndef AB_SESSION_CONSENT_HOOK_DIALECTS_H
#define AB_SESSION_CONSENT_HOOK_DIALECTS_H
/*
 * Inside the hooks: an agent's event, read, and what it is told.
 *
 * Agents differ in where an event has the command and in what an answer can
 * say; a dialect is a row of a table that knows both. Nothing here judges.
 */
#include <jansson.h>
#include <stdbool.h>

struct ab_buf;
struct ab_error;

enum ab_hook_verdict {
	AB_HOOK_NOTHING, /* the agent goes on as if it had not asked */
	AB_HOOK_ALLOW,
	AB_HOOK_ASK, /* the agent asks its user */
	AB_HOOK_DENY,
};

struct ab_hook_event {
	json_t *root;
	json_t *input;	     /* the tool's own arguments, or NULL */
	const char *command; /* NULL: not a shell command, not our business */
	const char *cwd;     /* "" when it does not say */
	const char *session; /* likewise */
};

struct ab_hook_answer {
	enum ab_hook_verdict word;
	const char *reason;
	const char *command; /* to run instead, or NULL */
};

struct ab_hook_dialect {
	const char *agent;
	const char *title; /* as its makers write it */
	/* Paths into the event, with dots. */
	const char *event, *event_name; /* which event this is */
	const char *tool, *tools;	/* the shell's names, with blanks */
	const char *input;		/* the tool's arguments */
	bool packed;			/* they may be JSON in a string */
	const char *command;		/* in the arguments, or in the event */
	const char *cwd, *session;
	/* What an answer can say beyond a no. */
	bool allows, asks, rewrites;
	/* Adds the answer to *out. A dialect without it answers by its exit
	 * status and a reason on standard error. */
	void (*write)(const struct ab_hook_event *event, const struct ab_hook_answer *answer,
		      json_t *out);
	/* Where its settings are: below the home folder, and below a project;
	 * NULL: `hook install` does not know. */
	const char *settings, *project_settings;
	/* Adds the hook to the settings; false: it is there already. */
	bool (*install)(json_t *settings, const char *command);
};

extern const struct ab_hook_dialect ab_hook_dialects[];
extern const size_t ab_hook_dialect_count;

/* NULL: there is none of that name. */
const struct ab_hook_dialect *ab_hook_find(const char *agent);

/* The strings live as long as event->root: json_decref() it. */
int ab_hook_read(const struct ab_hook_dialect *dialect, const char *text, size_t len,
		 struct ab_hook_event *ret, struct ab_error *err);

#endif
