#pragma once
/*
 * Inside lib/policy: a settings file that is being read, for the functions
 * that read a part of it.
 */
#include "base/text/json_scan.h"
#include "policy/model/config.h"

struct ab_problems;

struct ab_reader {
	const struct ab_context *ctx;
	enum ab_layer layer;
	const char *name;
	struct ab_config *config;
	struct ab_config *managed; /* for the section "managed"; NULL: not in this file */
	struct ab_problems *problems;
};

/* Report what is wrong with the value at `node`, or with its member `member`,
 * which may be missing; NULL: with the value itself. */
void ab_reader_report(struct ab_reader *r, const struct ab_json_scan_node *node, const char *member,
		      const char *wrong, const char *right);
/* Report that the value is not `wanted` ("a list"). */
void ab_reader_wrong_type(struct ab_reader *r, const struct ab_json_scan_node *node,
			  const char *wanted, const char *right);
bool ab_reader_full(const struct ab_reader *r); /* no more problems are reported */
const struct ab_origin *ab_reader_origin(struct ab_reader *r, const struct ab_json_scan_node *node);
/* Read one member of a settings file, such as "network", into the reader's config. */
void ab_reader_member(struct ab_reader *r, const struct ab_json_scan_node *node);
size_t ab_reader_mistakes(const struct ab_reader *r); /* so far */
/* The list in { "only": [...] }, which replaces those of earlier layers; any other value as it is.
 * NULL: it is an object, but not that one; the mistake is reported. */
const struct ab_json_scan_node *
ab_reader_only(struct ab_reader *r, const struct ab_json_scan_node *value, enum ab_key_id id);
