#ifndef AGENTBOX_H
#define AGENTBOX_H
/*
 * agentbox as a library: what the program can do, for programs.
 *
 * Functions return 0 or -1 with *err filled. Text results are the caller's to
 * free(). The library never prints and never exits; what it has to say while
 * a command runs goes to the request's `say`.
 *
 * A program that uses ab_run() must have one thread at that moment: it is
 * executed again as the box's first process. The process that calls it becomes
 * the run's supervisor for good: afterwards it is locked in (it executes
 * nothing and opens nothing but the state folder), and unless they are a
 * terminal its standard input and output are closed. To do more than exit with
 * the status, call it in a child: ab_run_apart() (session/apart.h) does.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/lines.h"
#include "audit/page.h"
#include "audit/query.h"
#include "audit/stats.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/guess.h"
#include "base/mem.h"
#include "base/strv.h"
#include "base/units.h"
#include "policy/compare.h"
#include "policy/layers.h"
#include "policy/show.h"
#include "policy/trust.h"
#include "session/apart.h"
#include "session/approvals.h"
#include "session/result.h"
#include "session/secrets_report.h"
#include "shell/judge.h"
#include "shell/report.h"
#include "steer/gc.h"
#include "steer/learn.h"
#include "steer/permit.h"
#include "steer/records.h"
#include "steer/reload.h"
#include "steer/runs.h"
#include "steer/watch.h"
#include "steer/why.h"

enum ab_level {
	AB_SAY_DETAIL,	/* for -v */
	AB_SAY_NOTE,	/* worth knowing */
	AB_SAY_WARNING,	/* something is less than was asked for */
};

struct ab_request {
	struct ab_policy_input policy;
	const char *const *argv;
	size_t argc;
	const char *script;	/* the text that argv gives to a shell, if it
				 * does: then that is judged */
	bool require_covered;	/* no credential that nothing covers */
	bool yes;		/* go on where a person would be asked */
	const char *approver;	/* a command that is asked instead, or NULL */
	unsigned approver_ms;	/* how long; 0: a minute */
	const char *session;	/* an agent's name for it, in whose place the
				 * answers are kept; NULL: the terminal's */
	const int *fds;		/* kept open besides 0-2 */
	size_t nfds;
	const char *audit;	/* a copy of the record: file, or number of an
				 * open descriptor; NULL: none */
	const char *name;	/* of the run, beside its id; or NULL */
	const char *result;	/* where its result goes as JSON: file, or
				 * number of an open descriptor; NULL: nowhere */
	const char *on_violation;	/* a command for each, or NULL */
	bool trace_denials;	/* see files and calls that are refused */
	bool learn;		/* unknown hosts pass, programs are listed */
	int verbose;		/* 1: properties, 2: what each step took */
	/* A text that begins with a space belongs to the one before. */
	void (*say)(void *arg, enum ab_level level, const char *text);
	void *arg;
};

/* Fill in what the process itself says: environment, current folder, home.
 * The strings live as long as the process. */
int ab_caller_init(struct ab_policy_input *input, struct ab_error *err);

/* Run a command in the box. ret_status: as DESIGN's contract, 0-255. */
int ab_run(const struct ab_request *request, int *ret_status,
	   struct ab_error *err);
/* The same for a run that failed: 125, 126 or 127. */
int ab_exit_status(const struct ab_error *err);

/*
 * Judging commands by a policy without running them. A judgement, and what it
 * points to, is good until the next call. In words: shell/report.h.
 */
struct ab_check;

int ab_check_new(const struct ab_policy_input *input, struct ab_check **ret,
		 struct ab_strv *ret_notes, struct ab_error *err);
void ab_check_free(struct ab_check *check);
const struct ab_judgement *ab_check_text(struct ab_check *check,
					 const char *text, size_t len);
const struct ab_judgement *ab_check_argv(struct ab_check *check,
					 const char *const *argv, size_t argc);

/*
 * Answer an agent that is about to run a command: its event in, its answer
 * out. What is permitted is rewritten to run in the box, where the agent lets
 * that be done and is not in a box itself.
 */
struct ab_hook_request {
	struct ab_policy_input policy;
	const char *agent;		/* "claude-code" */
	const char *event;		/* what it sent */
	size_t event_len;
	bool no_box;			/* judge only, rewrite nothing */
	const char *approver;		/* is asked first, or NULL */
	const char *const *options;	/* of the `run` that is written */
	size_t noptions;
};

struct ab_hook_reply {
	char *out;	/* for standard output; "": nothing */
	char *say;	/* for standard error; "": nothing */
	int status;
};

int ab_hook(const struct ab_hook_request *request, struct ab_hook_reply *ret,
	    struct ab_error *err);
void ab_hook_reply_fini(struct ab_hook_reply *reply);

/* The agents that are understood: names, and what their makers call them. */
void ab_hook_agents(struct ab_strv *ret_names, struct ab_strv *ret_titles);

/*
 * Put the hook into an agent's settings. `plan` reads and changes nothing;
 * `apply` writes what the plan has, unless the file has changed since.
 */
struct ab_hook_plan {
	char *path;		/* of the settings */
	char *before, *after;	/* their text; before "": there is no file */
	struct ab_strv diff;	/* the change, safe to print; empty: none */
};

int ab_hook_plan(const struct ab_hook_request *request, bool project,
		 struct ab_hook_plan *ret, struct ab_error *err);
int ab_hook_apply(const struct ab_hook_plan *plan, struct ab_error *err);
void ab_hook_plan_fini(struct ab_hook_plan *plan);

/*
 * The TCP ports that listen inside a run that is going on, in order; those of
 * the door itself are not among them. `run` is its name; NULL: the only one.
 */
int ab_run_ports(const struct ab_policy_input *input, const char *run,
		 uint16_t **ret_ports, size_t *ret_len, struct ab_error *err);

/*
 * Inside a box: join standard input and output with a host, through the box's
 * door, until both directions have ended. Standard output is closed then.
 * After a failure a thread may still wait for input: the process should end.
 */
int ab_connect(const struct ab_policy_input *input, const char *host,
	       uint16_t port, struct ab_error *err);

/*
 * What this machine can enforce, found out by trying it. Rows come in the
 * order that people read them; `seen` and `remedy` are sentences.
 */
enum ab_health { AB_HEALTH_OK, AB_HEALTH_WARN, AB_HEALTH_FAIL, AB_HEALTH_SKIP };

struct ab_finding {
	const char *name;
	enum ab_health health;
	char *seen;
	char *remedy;		/* "": none is needed */
};

struct ab_diagnosis {
	struct ab_finding *v;
	size_t len;
	char *summary;		/* which profiles this machine can run */
	bool failed;
	bool apparmor;		/* AppArmor's restriction is what fails */
};

int ab_doctor(const struct ab_policy_input *input, struct ab_diagnosis *ret,
	      struct ab_error *err);
void ab_diagnosis_fini(struct ab_diagnosis *diagnosis);
char *ab_diagnosis_text(const struct ab_diagnosis *diagnosis);
char *ab_diagnosis_json(const struct ab_diagnosis *diagnosis);

/* The AppArmor profile that lets this very program use user namespaces, and
 * whether that is what this machine lacks. */
int ab_doctor_apparmor(char **ret_profile, bool *ret_needed,
		       struct ab_error *err);

/*
 * The long self-attack: this program, in a box of its own, tries every wall,
 * and afterwards the host is looked at. Harmless should a wall be missing.
 */
enum ab_hold { AB_HOLD_HELD, AB_HOLD_BROKEN, AB_HOLD_UNTRIED };

struct ab_attempt {
	const char *wall, *name;
	enum ab_hold hold;
	char *seen;
};

struct ab_attack {
	struct ab_attempt *v;
	size_t len;
	char *summary;
	bool broken;
};

int ab_attack(const struct ab_policy_input *input, struct ab_attack *ret,
	      struct ab_error *err);
void ab_attack_fini(struct ab_attack *attack);
char *ab_attack_text(const struct ab_attack *attack);
char *ab_attack_json(const struct ab_attack *attack);

#endif
