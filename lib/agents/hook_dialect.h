#pragma once
/*
 * How an agent writes the events of its hooks and reads our answers: where an event has the
 * command, what an answer can express, and how its settings list hooks.
 */
#include "base/base.h"

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

/* What the agent reads as our answer. */
enum ab_hook_form {
	AB_HOOK_FORM_STATUS, /* the exit status, and the reason from standard error */
	AB_HOOK_FORM_CLAUDE,
	AB_HOOK_FORM_GEMINI,
	AB_HOOK_FORM_CURSOR,
	AB_HOOK_FORM_COPILOT,
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
	enum ab_hook_form form;
	/* Below the home folder, and below a project. */
	const char *settings, *project_settings;
	enum ab_hook_shape shape;
	bool versioned;				 /* the file has "version": 1 */
	bool milliseconds;			 /* its times, which are seconds otherwise */
	const char *installed[AB_HOOK_LIST_MAX]; /* names of events */
	const char *needs;			 /* what the user has to do besides, or NULL */
};

#define AB_HOOK_TOOLS(list) .tools = (list), .ntools = sizeof(list) / sizeof((list)[0])
