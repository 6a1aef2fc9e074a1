#pragma once
/* What the policy means on this host now: real paths, existing files, sockets. All lookups happen
 * here; the resulting plan (sandbox/plan/plan.h) is pure. */
#include "base/process/mount_table.h"
#include "sandbox/plan/plan.h"
#include "workspace/survey/survey.h"

struct ab_hidden_names;
struct ab_policy;
struct ab_registry_views;

struct ab_host_facts {
	struct ab_survey survey;
	struct ab_mount_table mounts;
	struct ab_facts facts;
	bool hidden_root;	     /* filesystem.read is a list */
	struct ab_strv sockets;	     /* host sockets that get masked */
	struct ab_strv open_sockets; /* those that the policy allows */
	struct ab_strv missing;	     /* names that lead to a denied path and do not exist */
	struct ab_strv copied;	     /* files of a home of pieces, and when they changed */
	struct ab_strv variables;    /* for the command, unless it has them; by ab_home_look() */
	char *readable;	      /* a hidden file with another name that was not found; or NULL */
	char *home;	      /* real, if it is visible; set by ab_home_look() */
	struct ab_strv notes; /* sentences for the user */
};

struct ab_host_look {
	const struct ab_policy *policy;
	char *const *env;
	const char *state;		      /* the real path of the state directory, or NULL */
	const char *program;		      /* the command's name as it was given, or NULL */
	const struct ab_hidden_names *denied; /* what deny_read means now; NULL: find out */
	/* Files that the box sees in part, under one name (home/home_registries.h). */
	const struct ab_registry_views *viewed;
	bool look_only; /* create nothing on the host */
};
int ab_host_facts_look(const struct ab_host_look *look, struct ab_host_facts *ret,
		       struct ab_error *err);
/* Would a box that was planned without this program show its file? */
bool ab_host_facts_show(const struct ab_host_facts *facts, const char *program);
void ab_host_facts_fini(struct ab_host_facts *facts);
