#ifndef AGENTBOX_H
#define AGENTBOX_H
/*
 * agentbox as a library: what the program can do, for programs.
 *
 * Functions return 0, or -1 with *err filled. Results that are text are the
 * caller's to free(). The library never prints and never exits; what it has to
 * say while a command runs goes to the request's `say`.
 *
 * Everything begins with a struct ab_policy_input (policy/layers.h): zero it,
 * set what was asked for, and let ab_caller_init() fill in the rest.
 *
 *	ab_run, ab_run_apart	a command in the box (session/apart.h)
 *	ab_check_*		judge a command, run nothing
 *	ab_runs_list, _stop	live runs (steer/runs.h)
 *	ab_permit		allow and deny (steer/permit.h)
 *	ab_reload		new lists for live runs (steer/reload.h)
 *	ab_records_*, ab_why	what a run did, and why it was refused
 *				something (steer/records.h, steer/why.h)
 *	ab_stats_*, ab_page_*	the same as a table and as a page (audit/)
 *	ab_watch		the full-screen view (steer/watch.h)
 *	ab_learn		a policy from a run (steer/learn.h)
 *	ab_gc_run		remove old records (steer/gc.h)
 *	ab_hook_*, ab_doctor, ab_attack, ab_connect	below
 *
 * ab_run() needs a process with a single thread: it executes the program again
 * as the box's first process. The process that calls it becomes the run's
 * supervisor for good: afterwards it is locked in (it can execute nothing and
 * open nothing but the state folder), and its standard input and output are
 * closed unless they are a terminal. A caller that wants to do more than exit
 * with the status uses ab_run_apart(), which runs it in a child.
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
	AB_SAY_WARNING, /* something is less than was asked for */
};

struct ab_request {
	struct ab_policy_input policy;
	const char *const *argv;
	size_t argc;
	const char *script;   /* the text that argv hands to a shell, if it
				 * does: that is what is judged then */
	bool require_covered; /* fail if a credential is not covered by any
				 * secret of the policy */
	bool yes;	      /* go ahead where a person would be asked */
	const char *approver; /* a command to ask instead, or NULL */
	unsigned approver_ms; /* how long it may take; 0: a minute */
	const char *session;  /* an agent's name for its session, under which
				 * answers are kept; NULL: the terminal's */
	const int *fds;	      /* to be kept open besides 0-2 */
	size_t nfds;
	const char *audit;	  /* a copy of the record: a file, or the number
				 * of an open descriptor; NULL: none */
	const char *name;	  /* of the run, besides its id; or NULL */
	const char *result;	  /* where to write the result as JSON: a file, or
				 * the number of an open descriptor; or NULL */
	const char *on_violation; /* a command to run for each, or NULL */
	bool trace_denials;	  /* also record refused files and calls */
	bool learn;		  /* let unknown hosts through, list programs */
	int verbose;		  /* 1: properties, 2: what each step took */
	/* A text that begins with a space continues the one before. Not
	 * escaped. */
	void (*say)(void *arg, enum ab_level level, const char *text);
	void *arg;
};

/* Fill in what the process itself knows: environment, current folder, home.
 * The strings live as long as the process. */
int ab_caller_init(struct ab_policy_input *input, struct ab_error *err);

/*
 * Run a command in the box. *ret_status is what to exit with: the command's own
 * status, 128+n if signal n killed it, 124 after the time limit.
 */
int ab_run(const struct ab_request *request, int *ret_status, struct ab_error *err);
/* What to exit with after -1: 125 for a failure of our own, 126 for a refusal
 * or a file that is not executable, 127 if there is no such program. */
int ab_exit_status(const struct ab_error *err);

/*
 * Judge commands by a policy without running them. A judgement, and what it
 * points to, is valid until the next call; shell/report.h puts it into words.
 * ret_notes: what is worth knowing about the policy.
 */
struct ab_check;

int ab_check_new(const struct ab_policy_input *input, struct ab_check **ret,
		 struct ab_strv *ret_notes, struct ab_error *err);
void ab_check_free(struct ab_check *check);
const struct ab_judgement *ab_check_text(struct ab_check *check, const char *text, size_t len);
const struct ab_judgement *ab_check_argv(struct ab_check *check, const char *const *argv,
					 size_t argc);

/*
 * Answer an agent that is about to run a command: its event in, its answer
 * out. A permitted command is rewritten to run in the box, if the agent
 * supports that and is not in a box itself.
 */
struct ab_hook_request {
	struct ab_policy_input policy;
	const char *agent; /* "claude-code" */
	const char *event; /* what it sent */
	size_t event_len;
	bool no_box;		    /* judge only, rewrite nothing */
	const char *approver;	    /* a command to ask first, or NULL */
	const char *const *options; /* for the `run` in the new command */
	size_t noptions;
};

struct ab_hook_reply {
	char *out;  /* for standard output; "": nothing */
	char *say;  /* for standard error; "": nothing */
	int status; /* to exit with */
};

int ab_hook(const struct ab_hook_request *request, struct ab_hook_reply *ret, struct ab_error *err);
void ab_hook_reply_fini(struct ab_hook_reply *reply);

/* The supported agents: our names, and what their makers call them. */
void ab_hook_agents(struct ab_strv *ret_names, struct ab_strv *ret_titles);

/*
 * Put the hook into an agent's settings. `plan` reads and changes nothing;
 * `apply` writes what the plan has, unless the file has changed since.
 */
struct ab_hook_plan {
	char *path;	      /* of the settings */
	char *before, *after; /* their text; before "": there is no file */
	struct ab_strv diff;  /* the change, safe to print; empty: none */
};

int ab_hook_plan(const struct ab_hook_request *request, bool project, struct ab_hook_plan *ret,
		 struct ab_error *err);
int ab_hook_apply(const struct ab_hook_plan *plan, struct ab_error *err);
void ab_hook_plan_fini(struct ab_hook_plan *plan);

/*
 * The TCP ports that programs in a live run listen on, in ascending order,
 * without our own; free *ret_ports. `run` is an id or a name; NULL: the only
 * live run.
 */
int ab_run_ports(const struct ab_policy_input *input, const char *run, uint16_t **ret_ports,
		 size_t *ret_len, struct ab_error *err);

/*
 * Inside a box: connect standard input and output to a host, through the box's
 * door, until both directions have ended. Standard output is closed then.
 * After a failure a thread may still be waiting for input: end the process.
 */
int ab_connect(const struct ab_policy_input *input, const char *host, uint16_t port,
	       struct ab_error *err);

/*
 * What this machine can enforce, found out by trying. Rows come in the order
 * in which they are shown; `seen` and `remedy` are sentences.
 */
enum ab_health { AB_HEALTH_OK, AB_HEALTH_WARN, AB_HEALTH_FAIL, AB_HEALTH_SKIP };

struct ab_finding {
	const char *name;
	enum ab_health health;
	char *seen;
	char *remedy; /* "": none is needed */
};

struct ab_diagnosis {
	struct ab_finding *v;
	size_t len;
	char *summary; /* which profiles this machine can run */
	bool failed;   /* a row has AB_HEALTH_FAIL */
	bool apparmor; /* because of AppArmor's restriction */
};

int ab_doctor(const struct ab_policy_input *input, struct ab_diagnosis *ret, struct ab_error *err);
void ab_diagnosis_fini(struct ab_diagnosis *diagnosis);
char *ab_diagnosis_text(const struct ab_diagnosis *diagnosis);
char *ab_diagnosis_json(const struct ab_diagnosis *diagnosis);

/* The AppArmor profile that lets this very program use user namespaces, and
 * whether that is what this machine lacks. */
int ab_doctor_apparmor(char **ret_profile, bool *ret_needed, struct ab_error *err);

/*
 * The long self-attack: this program, in a box of its own, tries every wall,
 * and then checks the host. Harmless even if a wall is missing.
 */
enum ab_hold { AB_HOLD_HELD, AB_HOLD_BROKEN, AB_HOLD_UNTRIED };

struct ab_attempt {
	const char *wall, *name;
	enum ab_hold hold;
	char *seen; /* what happened, a sentence */
};

struct ab_attack {
	struct ab_attempt *v;
	size_t len;
	char *summary;
	bool broken; /* a row has AB_HOLD_BROKEN */
};

int ab_attack(const struct ab_policy_input *input, struct ab_attack *ret, struct ab_error *err);
void ab_attack_fini(struct ab_attack *attack);
char *ab_attack_text(const struct ab_attack *attack);
char *ab_attack_json(const struct ab_attack *attack);

#endif
