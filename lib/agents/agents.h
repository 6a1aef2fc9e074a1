#pragma once
/*
 * The agents that we know: one struct for each, in a file of its own, has everything that the rest
 * of the program knows about it. docs/adding-an-agent.md says how to add one.
 *
 * Lists are words in one string (base/text/words.h), because each pointer in a table costs every
 * start a relocation. NULL: none.
 */
#include "agents/obeyed.h"
#include "base/base.h"

struct ab_hook_dialect;
struct ab_import_format;
struct ab_provider;

/*
 * The file with the agent's login, which the service renews, and so the run gives it back to the
 * host. Only these values of the JSON object may come from a box, because some files also hold what the
 * agent obeys. A value is "NAME=TYPE", or "NAME.NAME=TYPE" in an object of the outer one, and is
 * never an object itself. Types: "token", characters of tokens; "number", a whole one; "time", of ISO
 * 8601; "scopes", a list of names or a text of names with blanks between them; "word", a token or null.
 * `login` adds to `renewed` if the host has no such file yet: a login in the box. With
 * `types` the outer members are accounts: each is an object with a member "type" that has one of
 * these values, and `renewed` and `login` are members of an account. An account that the host's
 * file does not have is not added to it.
 */
struct ab_agent_login {
	const char *path; /* "~/.codex/auth.json" */
	const char *renewed, *login, *types;
};

struct ab_agent {
	const char *name;	      /* "claude"; of its profile, too */
	const char *program;	      /* its name on PATH; NULL: unknown */
	const char *folder;	      /* in the home: has a file once the agent was used */
	bool takes_prompt;	      /* arguments of the program are a text for the model */
	struct ab_obeyed obeys;	      /* what it obeys, in a project or in the home */
	const char *credentials;      /* other agents cannot read them */
	const char *more_credentials; /* of its other programs: it cannot read them either */
	struct ab_agent_login login;

	/* Its profile (policy/layers/profiles.c). */
	const char *doc;    /* NULL: it has none */
	const char *share;  /* folders of conversations, which are the host's own */
	const char *closed; /* names in those folders that it would obey */
	const char *hosts;  /* its services */
	const char *quiet;  /* telemetry, updates, marketplaces: denied without a question */
	const char *keys;   /* variables that it needs to log in */
	const char *set;    /* variables: NAME=value */
	/* Words for its command line that switch off its own sandbox, unless one of its arguments
	 * begins with one of these. */
	const char *words[3];
	const char *unless;
	/* With one of these subcommands it reads another variable for its key. */
	struct {
		const char *commands, *ignored, *read;
	} key;

	const struct ab_provider *service; /* one that only this agent uses */
	const struct ab_hook_dialect *hook;
	const struct ab_import_format *import; /* of its settings */
	const char *nono;		       /* the name of its profile in nono */
};

/* Sorted by name; NULL ends the list. */
extern const struct ab_agent *const ab_agents[];

/* By the path or the name of its program, if it has a profile; NULL: none. */
const struct ab_agent *ab_agent_of_program(const char *program);
/* Is it a program whose arguments are a text for a model? */
bool ab_agent_takes_prompt(const char *program, size_t len);

/* The words that belong behind the program's name: their number, perhaps 0. Pure. */
size_t ab_agent_words(const struct ab_agent *agent, const char *const *argv, size_t argc,
		      const char *const **ret);
/* The variable that this command reads instead of `name`, or NULL: it may read that one. Pure. */
const char *ab_agent_key(const struct ab_agent *agent, const char *const *argv, size_t argc,
			 const char *name);
