#pragma once
/*
 * `agentbox quarantine`: what runs created where programs outside would obey it
 * (workspace/quarantine/quarantine.h), to list it, to look at it, to put it back,
 * and to search for more.
 *
 * The box chose names, types, sizes and content. Nothing here follows a link of it, everything that
 * is shown is bounded, and texts are escaped by whoever prints them.
 */
#include "base/base.h"
#include "workspace/tree/guard.h"

struct ab_policy_input;

struct ab_quarantined {
	char id[24]; /* "7kq2x-q1" */
	char run[8];
	bool live;   /* the run is active */
	char *file;  /* its name in the run's folder */
	char *path;  /* where it was; NULL: not known */
	char *entry; /* the protected name, or NULL */
	char *why;   /* who would obey it, a clause */
	char stamp[32];
	enum ab_node kind;
	mode_t mode; /* permissions when it was moved */
	uint64_t size;
	dev_t dev; /* what is in the folder now */
	ino_t ino;
};

struct ab_quarantined_list {
	struct ab_quarantined *v;
	size_t len;
	size_t more; /* not listed: there are too many */
};

/* `what`: the id or name of a run, an id of a file, or NULL: all. Sweeps for killed runs first;
 * *notes is what that found. */
int ab_quarantined_find(const struct ab_policy_input *input, const char *what,
			struct ab_quarantined_list *ret, struct ab_strv *notes,
			struct ab_error *err);
void ab_quarantined_list_fini(struct ab_quarantined_list *list);
char *ab_quarantined_text(const struct ab_quarantined_list *list);
char *ab_quarantined_json(const struct ab_quarantined_list *list);

/* The kind and the content of one, as text for people or one JSON object; free it. */
int ab_quarantined_show(const struct ab_policy_input *input, const char *id, bool json, char **ret,
			struct ab_error *err);

struct ab_restore {
	const char *id;
	const char *to; /* another place, or NULL */
	bool force;	/* what is there now goes to quarantine instead */
};

struct ab_restored {
	char id[24];
	char *path;	      /* where it is or will be */
	char *what;	      /* its place and what it is, escaped */
	char *why;	      /* who obeys it, escaped */
	bool executable;      /* it is a file that can be executed */
	bool exists;	      /* something is in its place */
	char replaced[24];    /* the id of what was there, or "" */
	struct ab_strv notes; /* sentences, not escaped */
};

/* Check everything; do it only if `really`, else it is for the question. */
int ab_restore(const struct ab_policy_input *input, const struct ab_restore *ask, bool really,
	       struct ab_restored *ret, struct ab_error *err);
void ab_restored_fini(struct ab_restored *restored);

struct ab_scanned {
	char run[8];
	struct ab_strv findings; /* sentences, escaped */
	bool complete;		 /* every folder was searched */
};

/* Search the workspace of an ended run again, without the limits of the search at its end. */
int ab_quarantined_scan(const struct ab_policy_input *input, const char *name,
			struct ab_scanned *ret, struct ab_error *err);
void ab_scanned_fini(struct ab_scanned *scanned);
