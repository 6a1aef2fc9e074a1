#pragma once
/*
 * The built-in rules: names, verdicts and reasons (tables/rules.txt). The match_*.c files and
 * the other tables find the commands that they apply to.
 *
 * Order does not matter: the strictest hit wins.
 */
#include "base/base.h"
#include "shell/command/judge_ids.h" /* enum ab_rule_id, in the order of tables/rules.txt */
#include "shell/command/simple.h"

enum ab_decision { /* in order of strictness */
		   AB_ALLOW,
		   AB_SANDBOXED,
		   AB_ESCALATED,
		   AB_FORBIDDEN,
};

extern const char *const ab_decision_names[AB_FORBIDDEN + 1];
bool ab_decision_parse(const char *name, enum ab_decision *ret);

struct ab_rule {
	const char *name;
	enum ab_decision decision;
	enum ab_decision elsewhere; /* for a `mild` hit; else equal to `decision` */
	const char *reason;	    /* a full sentence for people */
	const char *mild_reason;    /* NULL: the same */
	const char *instead;	    /* what to do instead, or NULL */
	const char *what;	    /* for the list: the commands it covers */
};

/* Indexed by enum ab_rule_id. */
extern const struct ab_rule ab_rules[AB_RULE_COUNT];

/* Finds a rule by name; false: there is none. */
bool ab_rule_find(const char *name, size_t len, enum ab_rule_id *ret);

struct ab_hit {
	enum ab_rule_id rule;
	bool mild;
	struct ab_span range; /* the words responsible, or the whole command */
	const char *reason;   /* more specific than the rule's, or NULL */
};

/* The hits in one command; if they do not fit, the strictest are kept. */
struct ab_hits {
	struct ab_hit v[8];
	size_t len;
};

void ab_hit_add(struct ab_hits *hits, enum ab_rule_id rule, struct ab_span range);
/* Has a more specific matcher already added this rule? */
bool ab_hits_have(const struct ab_hits *hits, enum ab_rule_id rule);
void ab_hit_mild(struct ab_hits *hits, enum ab_rule_id rule, struct ab_span range);
/* With its own reason, which must be a constant. */
void ab_hit_because(struct ab_hits *hits, enum ab_rule_id rule, struct ab_span range,
		    const char *reason);

/* The surroundings in which commands are judged. */
struct ab_scene {
	const char *home;		/* clean absolute path, or NULL */
	const char *cwd;		/* where the command line runs */
	const char *workspace;		/* clean; "" when there is none */
	const struct ab_ruling *ruling; /* NULL: the built-in rules only */
	/* What the policy protects (filesystem.denyWrite): absolute paths, and names
	 * at the top of the workspace. NULL: nothing. */
	const struct ab_strv *deny_write;
	/* What the policy closes (filesystem.denyRead): closed_paths.h. NULL: nothing. */
	const struct ab_closed *closed;
};

typedef void ab_matcher(const struct ab_simple *command, struct ab_hits *hits);

/* Finds all hits in one command. */
ab_matcher ab_rules_match;

/* The matchers, by subject. */
ab_matcher ab_match_delete;  /* rm, find, xargs: shell/match/match_delete.c */
ab_matcher ab_match_perms;   /* chmod, chown */
ab_matcher ab_match_devices; /* filesystem-format, programs that wipe */
ab_matcher ab_match_writes;  /* disk-wipe, system-write, persistence, agent-config */
ab_matcher ab_match_secrets; /* credential-access, exfiltration */
ab_matcher ab_match_bulk;    /* credential-access: disks and whole folders */
/* reverse-shell, pipe-to-shell, eval-exec, dynamic-command, ifs-bypass, history-exec */
ab_matcher ab_match_shells;
/* shutdown, modules, services, users, firewall, packages, sudo, su, container-escape */
ab_matcher ab_match_system;
/* history-rewrite, git-publish, git-discard, git-read, persistence by git config */
ab_matcher ab_match_git;
ab_matcher ab_match_sources; /* package-source */
/* containers, clouds, databases, transfer, scan, publish, global installs */
ab_matcher ab_match_tools;
ab_matcher ab_match_unknown; /* unknown-program, reverse-shell in unknown languages */
ab_matcher ab_match_reads;   /* safe-read, version-check */
