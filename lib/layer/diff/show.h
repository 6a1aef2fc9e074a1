#pragma once
/*
 * Changes for people and for programs: as a patch like git's, as a table, as JSON and
 * as an HTML page. Pure. Names and content are hostile: hidden characters and invalid
 * UTF-8 are escaped in every form.
 */
#include "base/base.h"

struct ab_change;
struct ab_contents;
struct ab_hunks;
struct ab_label_hits;

struct ab_show_style {
	bool colour;	/* for a terminal: also no carriage returns, and long lines are cut */
	size_t columns; /* of the table */
};

/* A change, and what is known about it. */
struct ab_shown {
	const struct ab_change *change;
	const struct ab_contents *contents; /* NULL: not read */
	const struct ab_label_hits *hits;   /* a patch takes NULL: shown elsewhere */
	const struct ab_hunks *hunks;	    /* NULL: the contents are not texts */
};

struct ab_show_totals {
	size_t changes, labelled, conflicts, refused;
	uint64_t added, removed; /* lines */
};
void ab_show_count(struct ab_show_totals *totals, const struct ab_shown *shown);
/* "3 changes, 10 lines added, 2 removed; 1 wants a look", without a newline. */
void ab_show_summary(struct ab_buf *b, const struct ab_show_totals *totals);

/* A name as git writes it: in quotes with escapes, if it has unusual characters. */
void ab_show_name(struct ab_buf *b, const char *prefix, const char *path);
/* Content without hidden characters; tabs stay. */
void ab_show_text(struct ab_buf *b, const char *text, size_t len);
/* "12K", "3 bytes"; returns ret. */
const char *ab_show_size(uint64_t bytes, char ret[32]);
/* "runs when a folder is opened (direnv)" */
struct ab_label_hit;
void ab_show_hit(struct ab_buf *b, const struct ab_label_hit *hit);
const char *ab_show_kind(const struct ab_change *change); /* "modified" */

/* A patch: `git apply` takes it if nothing was escaped. Lines before "diff --git" that
 * begin with "!" are labels, those that begin with "#" are about folders and about
 * what a patch cannot say. */
void ab_show_patch(struct ab_buf *b, const struct ab_show_style *style,
		   const struct ab_shown *shown);

/* The table: rows are collected first, because they share their widths. */
struct ab_stat_row {
	char *name;
	char labels[64]; /* names, for the table */
	char size[64];	 /* instead of lines */
	uint64_t added, removed;
};
struct ab_stat_table {
	struct ab_stat_row *v;
	size_t len;
};
void ab_stat_add(struct ab_stat_table *table, const struct ab_shown *shown);
void ab_stat_show(struct ab_buf *b, const struct ab_show_style *style,
		  const struct ab_stat_table *table);
void ab_stat_fini(struct ab_stat_table *table);

/* The members of a change that every description has: "path", and "path_percent" if it is not
 * UTF-8; "labels". */
void ab_show_json_path(struct ab_buf *b, const char *path);
void ab_show_json_labels(struct ab_buf *b, const struct ab_label_hits *hits);
/* One JSON object, without a comma or newline around it. */
void ab_show_json(struct ab_buf *b, const struct ab_shown *shown, bool hunks);
void ab_show_json_totals(struct ab_buf *b, const struct ab_show_totals *totals);

/* The parts of a page, in this order. `title` and the facts are escaped here. */
struct ab_show_fact {
	const char *name, *value;
};
void ab_show_page_open(struct ab_buf *b, const char *title, const struct ab_show_fact *facts,
		       size_t nfacts, const struct ab_show_totals *totals);
void ab_show_page_label(struct ab_buf *b, const struct ab_shown *shown); /* a row of the table */
void ab_show_page_middle(struct ab_buf *b);
void ab_show_page_change(struct ab_buf *b, const struct ab_shown *shown);
void ab_show_page_note(struct ab_buf *b, const char *text);
void ab_show_page_close(struct ab_buf *b);
