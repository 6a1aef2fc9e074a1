#pragma once
/*
 * Inside lib/policy: an object of a settings file with a fixed set of members,
 * and lists of such objects. A mistake is reported at its place and makes the
 * object bad; the rest is still read, so that all mistakes are reported at
 * once.
 */
#include "policy/read/member_reader.h"
#include "policy/values/complaint.h"

enum { AB_MEMBERS_MAX = 24 }; /* of one kind */

/* What objects of one kind have in common. */
struct ab_members_kind {
	const char *const *names;
	size_t n;
	/* Texts have at most so many bytes, and no control characters; 0: any text is acceptable. */
	size_t most;
	/* Another rule in its place: is this text acceptable? NULL: there is none. */
	bool (*fits)(const char *text);
	const char *fitting; /* what would be */
};

/* An object that is being read. Members are numbered like their names. */
struct ab_members {
	struct ab_reader *r;
	const struct ab_json_scan_node *node;
	const struct ab_members_kind *kind;
	const struct ab_json_scan_node *given[AB_MEMBERS_MAX]; /* NULL: it is not there */
	struct ab_complaint why;			       /* what the last check says */
	bool bad;
};

/* Find the members that are there. The first three are set before, the rest is
 * zero. */
void ab_members_find(struct ab_members *m);

/* Report at the member, or at the object if the member is missing. */
void ab_members_complain(struct ab_members *m, size_t which, const char *wrong, const char *right);
void ab_members_wrong_type(struct ab_members *m, size_t which, const char *wanted,
			   const char *right);
/* false: the text is not acceptable, and that was reported. */
bool ab_members_fit(struct ab_members *m, size_t which, const char *text);

/* A string, in the arena; NULL: it is missing, or was reported. */
const char *ab_members_text(struct ab_members *m, size_t which);
/* The index of the given word; 0: it is missing, or was reported. */
unsigned ab_members_word(struct ab_members *m, size_t which, const char *const *words, size_t n,
			 const char *right);

/* Take one string of a list; -1: it is invalid, and why. */
typedef int ab_members_take(const struct ab_context *ctx, struct ab_strv *to, const char *text,
			    struct ab_complaint *why);
/* Take every string of the member, a list of 1 to `most` of them. */
void ab_members_strings(struct ab_members *m, size_t which, size_t most, ab_members_take *take,
			struct ab_strv *to, const char *right);
/* true or false; false: it is missing, or was reported. */
bool ab_members_flag(struct ab_members *m, size_t which);
/* Report `why` about a member. */
void ab_members_refuse(struct ab_members *m, size_t which);
/* Add what the object means to the list of this key. */
void ab_members_add(struct ab_members *m, enum ab_key_id id, struct ab_item item);

/* A key whose value is a list of such objects, or an object with one for each name. */
struct ab_members_list {
	const struct ab_members_kind *kind;
	enum ab_key_id key;
	size_t most;			/* 0: any number */
	const char *too_many, *instead; /* "more than 256 rules" */
	const char *example;		/* of one object */
	const char *object;		/* an example of all; NULL: it is a list */
	/* Is it a name? -1: no, and why. */
	int (*check_name)(const char *name, struct ab_complaint *why);
	void (*read)(struct ab_members *m);
};
void ab_members_list(const struct ab_members_list *l, struct ab_reader *r,
		     const struct ab_json_scan_node *list);

extern const struct ab_members_list ab_rules_members, ab_http_members, ab_secrets_members,
	ab_host_tools_members;
