#pragma once
/*
 * The difference of two texts in lines, as hunks that can be shown and applied
 * one by one.
 *
 * Pure and bounded: time and memory grow with the size of the texts, whatever is in
 * them. When two texts are so different that a good answer would take too long, the
 * part that is left counts as replaced as a whole, and `coarse` says so; applying
 * all hunks gives the new text in every case.
 *
 * A line ends with "\n", which belongs to it; the last one may lack it. Texts may
 * contain any byte. They belong to the caller and must outlive the hunks.
 */
#include "base/base.h"

#define AB_TEXT_MAX (4 * 1024 * 1024) /* a longer text is not compared */
#define AB_HUNK_CONTEXT 3	      /* unchanged lines around a change */

struct ab_lines {
	const char *text;
	uint32_t *at; /* n + 1 offsets */
	size_t n;
};

/* These lines of the old text become these lines of the new one. Lines count
 * from 0; between two edits is at least one unchanged line. */
struct ab_edit {
	size_t old_at, old_n;
	size_t new_at, new_n;
};

/* Edits that are close to each other, with the unchanged lines around them. */
struct ab_hunk {
	size_t old_at, old_n; /* context included */
	size_t new_at, new_n;
	size_t first, nedits; /* of ab_hunks.edits */
};

struct ab_hunks {
	struct ab_lines old, fresh;
	struct ab_edit *edits;
	size_t nedits;
	struct ab_hunk *v;
	size_t len;
	size_t added, removed; /* lines */
	bool coarse;	       /* a part was too different to be compared */
};

/* Equal texts have no hunks. Neither text is longer than AB_TEXT_MAX. */
void ab_hunks_find(const char *old, size_t old_len, const char *fresh, size_t new_len,
		   struct ab_hunks *ret);
void ab_hunks_fini(struct ab_hunks *hunks);
#define ab_autohunks __attribute__((cleanup(ab_hunks_fini)))

/* Add the old text with the hunks that `take` selects, one flag for each; NULL: all
 * of them, which is the new text. */
void ab_hunks_apply(const struct ab_hunks *hunks, const bool *take, struct ab_buf *ret);

/* Line i with its newline, and its length. */
static inline const char *ab_line_at(const struct ab_lines *lines, size_t i, size_t *ret_len)
{
	*ret_len = lines->at[i + 1] - lines->at[i];
	return lines->text + lines->at[i];
}

/* Reports the lines of a hunk in order: ' ' unchanged, '-' removed, '+' added. */
typedef void ab_hunk_fn(void *arg, char sign, const char *line, size_t len);
void ab_hunk_each(const struct ab_hunks *hunks, const struct ab_hunk *hunk, ab_hunk_fn *fn,
		  void *arg);

/* "@@ -1,4 +1,5 @@", without a newline. */
#define AB_HUNK_HEADER 96
const char *ab_hunk_header(const struct ab_hunk *hunk, char ret[AB_HUNK_HEADER]);

/* The lines that were removed ("-line") and added ("+line"), escaped for a terminal. A newline that
 * the last line lacks is no difference. */
void ab_text_diff(const char *old, size_t old_len, const char *fresh, size_t new_len,
		  struct ab_strv *ret_diff);

/* Is this not text? A NUL byte anywhere: nothing can be hidden behind the first
 * bytes of a file. */
bool ab_is_binary(const char *data, size_t len);
