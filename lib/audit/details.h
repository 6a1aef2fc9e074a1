#ifndef AB_AUDIT_DETAILS_H
#define AB_AUDIT_DETAILS_H
/*
 * One record as it stands in the log, read without building anything: names
 * say which members of its object are wanted, and the answer is where their
 * values stand. A log has a million lines, of which few members are looked at.
 *
 * Pure, linear, no allocation but where a copy is asked for. It takes at least
 * what the JSON library takes, but for what is nested deeper than 64, and
 * refuses what is torn or no object. Of members of one name the last counts.
 * Texts are hostile: nothing in them is fit to be shown as it is.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_buf;

enum ab_detail_kind {
	AB_DETAIL_NONE,		/* there is no such member */
	AB_DETAIL_NULL,
	AB_DETAIL_FALSE,
	AB_DETAIL_TRUE,
	AB_DETAIL_NUMBER,
	AB_DETAIL_TEXT,		/* what is between the quotes, as it stands */
	AB_DETAIL_NESTED,	/* an object or a list, brackets included */
};

struct ab_detail {	/* points into the line */
	enum ab_detail_kind kind;
	const char *at;
	size_t len;
};

/* ret[i] belongs to names[i]; -1: this is no record, and ret is not to be
 * looked at. A nested object can be given as a line, too. */
int ab_details_find(const char *line, size_t len, const char *const names[],
		    size_t n, struct ab_detail ret[]);

/* The next element of a nested list; *at is 0 before the first. */
bool ab_detail_next(const struct ab_detail *list, size_t *at,
		    struct ab_detail *ret);

/* Is it a text, and this one? */
bool ab_detail_is(const struct ab_detail *detail, const char *text);
/* The text, decoded and cut to the room, with a NUL; "" when it is none. What
 * no text of C can hold becomes U+FFFD. How many bytes it has. */
size_t ab_detail_copy(const struct ab_detail *detail, char *ret, size_t room);
/* The same behind what is in the buffer, whole. */
void ab_detail_add(const struct ab_detail *detail, struct ab_buf *b);
/* As a new string; NULL when it is no text. */
char *ab_detail_dup(const struct ab_detail *detail);
/* The whole number that it is, or `otherwise`. */
int64_t ab_detail_number(const struct ab_detail *detail, int64_t otherwise);

#endif
