#ifndef AB_POLICY_READ_MEMBER_READER_H
#define AB_POLICY_READ_MEMBER_READER_H
/*
 * Inside lib/policy: a file that is being read, for those who read a part of
 * it. `nodes` say where the values are that the JSON library decoded.
 */
#include <jansson.h>

#include "policy/model/config.h"
#include "policy/read/json_scan.h"

struct ab_problems;

struct ab_reader {
	const struct ab_context *ctx;
	enum ab_layer layer;
	const char *name;
	const char *text;
	const struct ab_json_scan_node *nodes;
	struct ab_config *config;
	struct ab_problems *problems;
};

/* Something is wrong with the value at `node`; `path` is its key. */
void ab_reader_report(struct ab_reader *r, uint32_t node, const char *path, const char *wrong,
		      const char *right);
void ab_reader_wrong_type(struct ab_reader *r, uint32_t node, const char *path, const json_t *value,
			  const char *wanted, const char *right);
bool ab_reader_full(const struct ab_reader *r); /* more is not reported */
const struct ab_origin *ab_reader_origin(struct ab_reader *r, uint32_t node);
/* The key of a node, decoded by the library that decoded the values; the
 * caller gives it back. */
json_t *ab_reader_key(struct ab_reader *r, uint32_t node);

#endif
