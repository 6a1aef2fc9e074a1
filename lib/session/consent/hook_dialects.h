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

#include "base/data/strv.h"

struct ab_buf;
struct ab_error;

enum ab_hook_verdict {
	AB_HOOK_NOTHING, /* the agent continues as if it had no hook */
	AB_HOOK_ALLOW,
	AB_HOOK_ASK, /* the agent asks its user */
	AB_HOOK_DENY,
};

/* What a tool is about to do, as far as we know the tool. */
enum ab_hook_subject {
	AB_HOOK_TOOL, /* only its name is known */
	AB_HOOK_COMMAND,
	AB_HOOK_READ,
	AB_HOOK_WRITE,
	AB_HOOK_PATCH, /* files that a patch names ("*** Update File: x") */
};

/* One kind of event. */
struct ab_hook_moment {
	const char *name;  /* NULL: an event without a name */
	bool permission;   /* the agent is about to ask its user */
	const char *input; /* where the tool's arguments are; NULL: in the event itself */
	bool packed;	   /* they may be JSON in a string */
};

struct ab_hook_tool {
	const char *event; /* NULL: any */
	const char *tool;  /* NULL: the name of the event says it all */
	enum ab_hook_subject subject;
	const char *argument; /* in the arguments: the command, the path, the patch */
	bool optional;	      /* without it: the current folder */
	const char *pattern;  /* of paths, in the arguments; NULL: none */
};

struct ab_hook_event {
	json_t *root;
	json_t *input; /* the tool's arguments, or NULL */
	bool about;    /* false: not about a tool; nothing to judge */
	bool permission;
	enum ab_hook_subject subject;
	char *tool;	      /* its name; "": unknown */
	const char *command;  /* of AB_HOOK_COMMAND */
	struct ab_strv paths; /* of READ, WRITE, PATCH */
	const char *cwd;      /* "": unknown */
	const char *session;  /* likewise */
};

struct ab_hook_answer {
	enum ab_hook_verdict verdict;
	const char *reason;
	const char *command; /* the rewritten command, or NULL */
};

/* How an agent's settings list hooks; %s is the command. */
enum ab_hook_shape {
	AB_HOOK_SHAPE_MATCHED, /* {"matcher": "*", "hooks": [{"type": "command", "command": %s}]} */
	AB_HOOK_SHAPE_LISTED,  /* {"command": %s} */
	AB_HOOK_SHAPE_TYPED,   /* {"type": "command", "bash": %s} */
};

enum { AB_HOOK_LIST_MAX = 6 };

struct ab_hook_dialect {
	const char *agent;
	const char *also;  /* another name for it, or NULL */
	const char *title; /* the vendor's spelling */
	/* Paths into the event, separated by dots. */
	const char *event; /* where its name is; NULL: events have none */
	struct ab_hook_moment moments[AB_HOOK_LIST_MAX];
	const char *tool;	     /* where the tool's name is, or NULL */
	const char *server, *member; /* of an MCP tool: "mcp__SERVER__MEMBER", or NULL */
	const struct ab_hook_tool *tools;
	size_t ntools;
	const char *cwd, *session;
	/* What an answer can express besides a denial. */
	bool allows, asks, rewrites;
	/* Adds the answer to *out. NULL: the agent reads the exit status, and
	 * the reason from standard error. */
	void (*write)(const struct ab_hook_event *event, const struct ab_hook_answer *answer,
		      json_t *out);
	/* Below the home folder, and below a project. */
	const char *settings, *project_settings;
	enum ab_hook_shape shape;
	bool versioned;				 /* the file has "version": 1 */
	const char *installed[AB_HOOK_LIST_MAX]; /* names of events */
	const char *needs;			 /* what the user has to do besides, or NULL */
};

extern const struct ab_hook_dialect ab_hook_dialects[];
extern const size_t ab_hook_dialect_count;

/* By either name. NULL: unknown agent. */
const struct ab_hook_dialect *ab_hook_find(const char *agent);
/* Fails with the list of supported agents. */
int ab_hook_refuse_agent(const char *agent, struct ab_error *err);

/* The strings live as long as the event. */
int ab_hook_read(const struct ab_hook_dialect *dialect, const char *text, size_t len,
		 struct ab_hook_event *ret, struct ab_error *err);
void ab_hook_event_fini(struct ab_hook_event *event);

/* The files that a patch adds, changes, removes or moves; -1: too many, or none. */
int ab_hook_patch_paths(const char *patch, struct ab_strv *ret);

#endif
