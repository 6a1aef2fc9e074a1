#ifndef AB_POLICY_MODEL_HTTP_CONFIG_H
#define AB_POLICY_MODEL_HTTP_CONFIG_H
/*
 * Inside lib/policy: the list "network.http". A rule is an item whose text is
 * the rule as JSON, written in one way only, and whose `http` is the same as a
 * struct.
 */
#include "policy/model/config.h"
#include "policy/model/http_rules.h"

struct ab_reader;
struct ab_json_scan_node;

enum {
	AB_HTTP_RULES_MAX = 256, /* rules in one file */
	AB_HTTP_LIST_MAX = 64,	 /* methods or paths of one rule */
	AB_HTTP_PATH_MAX = 1024, /* bytes of a path */
};

/* The list of a file. */
void ab_http_read(struct ab_reader *r, const struct ab_json_scan_node *list);

/* What a file that is not trusted adds, marked; how many of its rules ask for
 * something that the rules which are there do not have. */
size_t ab_http_tighten(struct ab_arena *a, struct ab_value *base, const struct ab_value *layer);

/* For the comparison of policies: does the rule of b permit what the rules of
 * a, for a host that they bind, do not? And are the hosts of this rule bound
 * by any of v that is (not) marked? */
bool ab_http_wider(const struct ab_value *a, const struct ab_item *b);
bool ab_http_binds(const struct ab_value *v, const struct ab_item *rule);

struct ab_http_rules ab_http_fill(struct ab_arena *a, const struct ab_value *v);

#endif
