#pragma once
/*
 * Read a record in place, without building a tree: the caller names members of
 * the object and gets the places of their values in the line. A log can have a
 * million lines, and a reader needs few of their members.
 *
 * Pure, linear, and without allocation unless a copy is asked for. It accepts
 * everything the JSON library accepts, except nesting deeper than 64, and
 * refuses a line that is torn or not an object. If members have the same name,
 * the last one counts. Texts are hostile: escape them before showing them.
 */
#include "base/base.h"

enum ab_detail_kind {
	AB_DETAIL_NONE, /* there is no such member */
	AB_DETAIL_NULL,
	AB_DETAIL_FALSE,
	AB_DETAIL_TRUE,
	AB_DETAIL_NUMBER,
	AB_DETAIL_TEXT,	  /* what is between the quotes, not decoded */
	AB_DETAIL_NESTED, /* an object or a list, brackets included */
};

struct ab_detail { /* points into the line */
	enum ab_detail_kind kind;
	const char *at;
	size_t len;
};

/*
 * The members that a reader wants, each named once: M_KIND, ... and M_COUNT, and the list `members`.
 *
 *	#define WANTED(X) X(KIND, "kind") X(TIME, "timestamp")
 *	AB_MEMBERS(WANTED)
 */
#define AB_MEMBER_ID(id, name) M_##id,
#define AB_MEMBER_NAME(id, name) name,
#define AB_MEMBERS(list)                     \
	enum { list(AB_MEMBER_ID) M_COUNT }; \
	static const char *const members[] = { list(AB_MEMBER_NAME) };

/* ret[i] belongs to names[i]. -1: this is not a record, and ret is undefined.
 * A nested object can be given as a line, too. */
int ab_details_find(const char *line, size_t len, const char *const names[], size_t n,
		    struct ab_detail ret[]);

/* Keep a copy of this line instead of the one before; NULL: there is none. */
static inline void ab_details_keep(char **place, const char *line, size_t len)
{
	free(*place);
	*place = ab_strndup(line, len);
}

/* One member, which may be missing. False: this is not a record, and it counts as missing. */
bool ab_details_one(const char *line, size_t len, const char *name, struct ab_detail *ret);

/* The next element of a nested list; *at is 0 before the first. */
bool ab_detail_next(const struct ab_detail *list, size_t *at, struct ab_detail *ret);

/* Is it a text, and this one? */
bool ab_detail_is(const struct ab_detail *detail, const char *text);
/* The text, decoded, cut to fit and NUL-terminated; "" if it is not a text. NUL
 * and lone surrogates become U+FFFD. Returns its length. */
size_t ab_detail_copy(const struct ab_detail *detail, char *ret, size_t room);
/* Append the same to a buffer, uncut. */
void ab_detail_add(const struct ab_detail *detail, struct ab_buf *b);
/* As a new string; NULL if it is not a text. */
char *ab_detail_dup(const struct ab_detail *detail);
/* Its value if it is an integer, else `otherwise`. */
int64_t ab_detail_number(const struct ab_detail *detail, int64_t otherwise);
/* The same if it counts something, else 0. */
uint64_t ab_detail_count(const struct ab_detail *detail);
