#ifndef AB_POLICY_READ_MEMBERS_H
#define AB_POLICY_READ_MEMBERS_H
/*
 * Inside lib/policy: an object of a file that has a fixed set of members, and
 * lists of such objects. Whatever is wrong is reported at its place, and makes
 * the object bad; the rest of it is read all the same, so that all is told at
 * once.
 */
#include "policy/read/member_reader.h"

struct ab_complaint;

enum { AB_MEMBERS_MAX = 20 }; /* of one kind */

/* What objects of one kind have in common. */
struct ab_members_kind {
	const char *const *names;
	size_t n;
	/* May this text be a member? And what may, in words. NULL: any. */
	bool (*fits)(const char *text);
	const char *fitting;
};

/* An object that is being read. A member is known by the index of its name. */
struct ab_members {
	struct ab_reader *r;
	const struct ab_json_scan_node *node;
	const struct ab_members_kind *kind;
	const struct ab_json_scan_node *given[AB_MEMBERS_MAX]; /* NULL: it is not there */
	bool bad;
};

/* Find the members that are there. The first three are set before, the rest is
 * zero. */
void ab_members_find(struct ab_members *m);

/* At the member; at the object, if there is none. */
void ab_members_complain(struct ab_members *m, size_t which, const char *wrong, const char *right);
void ab_members_wrong_type(struct ab_members *m, size_t which, const char *wanted,
			   const char *right);
/* false: the text does not fit, and that was said. */
bool ab_members_fit(struct ab_members *m, size_t which, const char *text);

/* A text, in the arena; NULL: none, or it was complained about. */
const char *ab_members_text(struct ab_members *m, size_t which);
/* The index of the word that is there; 0 when none is. */
unsigned ab_members_word(struct ab_members *m, size_t which, const char *const *words, size_t n,
			 const char *right);

/* Takes a text of a list; -1: it is none, and why. */
typedef int ab_members_take(struct ab_members *m, void *to, const char *text,
			    struct ab_complaint *why);
/* All that are in the list, which is one. */
void ab_members_each(struct ab_members *m, size_t which, ab_members_take *take, void *to);

/* A list of such objects, which is the value of a key. */
struct ab_members_list {
	const struct ab_members_kind *kind;
	enum ab_key_id key;
	size_t most;
	const char *too_many, *instead; /* "more than 256 rules" */
	const char *example;		/* of one object */
	void (*read)(struct ab_members *m);
};
void ab_members_list(const struct ab_members_list *l, struct ab_reader *r,
		     const struct ab_json_scan_node *list);

#endif
