#pragma once
/*
 * The view of a settings file: what a box may see of it. A reader makes a tree of the file, the filter
 * copies what the table has a row for, and a writer makes a file of the copy. The writer never sees
 * the file's own tree, so each byte of a view is one of the table, of the syntax, or of a key or a value
 * that a row let through (value.h). Comments are not in a tree.
 *
 * Pure, bounded, and linear but for the number of rows.
 */
#include "policy/views/value.h"

struct ab_tree;

/*
 * Keys that are shown in one way. Texts are arrays, because each pointer in a table costs every start
 * a relocation.
 *
 * `paths` has the keys from the outermost one, with a blank between two, and a "|" between two paths.
 * "[]" is an element of a list, "*" any name, "@*" a scope of npm, "@*:registry" its registry, "BUNDLE_MIRROR__*" the
 * source of a mirror of Bundler.
 *
 * A row of kind AB_VIEW_GROUP is for an object or a list: it is left out as a whole unless it meets
 * one of the alternatives in `more`, which have a "|" between two. "x": x must be in the view. "!x": if the
 * file has x, the view must have it, because without it the others mean something else. "=": every
 * child must be. "[[" in front of them: it is a table of a list of TOML.
 */
struct ab_view_row {
	enum ab_view_kind kind;
	char paths[320];
	char more[56];
	bool words; /* several, with blanks between them */
};

/* Make a tree of a text without NUL; false: it cannot be read at all. */
typedef bool ab_view_read_fn(const char *text, struct ab_tree *ret);
typedef void ab_view_write_fn(const struct ab_tree *tree, struct ab_buf *ret);

struct ab_view_format {
	ab_view_read_fn *read;
	ab_view_write_fn *write;
	const struct ab_view_row *rows;
	size_t nrows;
};

struct ab_view {
	struct ab_strv urls; /* where the tool fetches */
	struct ab_buf text;  /* the file for the box; empty: nothing to show */
	size_t left;	     /* settings that were left out */
	bool whole;	     /* each word of the file is in the view: it can be shown itself */
	bool broken;	     /* it could not be read at all, or is too large */
};

void ab_view_make(const struct ab_view_format *format, const char *text, size_t len,
		  struct ab_view *ret);
void ab_view_fini(struct ab_view *view);
#define ab_autoview __attribute__((cleanup(ab_view_fini)))

/* Readers. A reader counts in tree->lost what it did not understand and what cannot be a setting. */
ab_view_read_fn ab_read_npmrc;	    /* key=value, sections, quotes */
ab_view_read_fn ab_read_pip;	    /* the configparser of Python: values on several lines */
ab_view_read_fn ab_read_pairs;	    /* KEY=value */
ab_view_read_fn ab_read_yarn;	    /* of Yarn 1: key "value", or "key" "value" */
ab_view_read_fn ab_read_properties; /* of Java */
ab_view_read_fn ab_read_toml;
ab_view_read_fn ab_read_json;
ab_view_read_fn ab_read_xml;  /* an attribute is a child with the key "@name" */
ab_view_read_fn ab_read_yaml; /* the part of YAML in which tools write their settings */

ab_view_write_fn ab_write_pairs; /* key=value */
ab_view_write_fn ab_write_yarn;
ab_view_write_fn ab_write_pip;
ab_view_write_fn ab_write_toml;
ab_view_write_fn ab_write_json;
ab_view_write_fn ab_write_xml;
ab_view_write_fn ab_write_yaml;
