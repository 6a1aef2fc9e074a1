#pragma once
/*
 * The events of agents and our answers to them, each in the dialect of its agent. Nothing here
 * judges.
 */
#include <jansson.h>

#include "agents/hook_dialect.h"
#include "base/base.h"

enum ab_hook_verdict {
	AB_HOOK_NOTHING, /* the agent continues as if it had no hook */
	AB_HOOK_ALLOW,
	AB_HOOK_ASK, /* the agent asks its user */
	AB_HOOK_DENY,
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

/* The dialects, sorted by the agents' names. NULL: there are no more. */
const struct ab_hook_dialect *ab_hook_at(size_t index);

/* By either name. NULL: unknown agent. */
const struct ab_hook_dialect *ab_hook_find(const char *agent);
/* Fails with the list of supported agents. */
int ab_hook_refuse_agent(const char *agent, struct ab_error *err);

/* The strings live as long as the event. */
int ab_hook_read(const struct ab_hook_dialect *dialect, const char *text, size_t len,
		 struct ab_hook_event *ret, struct ab_error *err);
/* The answer as JSON; NULL: the agent reads the exit status. */
json_t *ab_hook_write(const struct ab_hook_dialect *dialect, const struct ab_hook_event *event,
		      const struct ab_hook_answer *answer);
void ab_hook_event_fini(struct ab_hook_event *event);
