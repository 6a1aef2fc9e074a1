#pragma once
/*
 * Inside lib/policy: the list "network.http". A rule is an item; its text is
 * the rule as canonical JSON, its `http` the same as a struct.
 */
#include "policy/model/config.h"
#include "policy/model/http_rules.h"

enum {
	AB_HTTP_RULES_MAX = 256, /* rules in one file */
	AB_HTTP_LIST_MAX = 64,	 /* methods or paths of one rule */
	AB_HTTP_PATH_MAX = 1024, /* bytes of a path */
};

/* For comparing policies: does rule b permit something that the rules of a, for
 * a host that they restrict, do not? And does v have a rule for the hosts of
 * this one, marked like it? */
bool ab_http_wider(const struct ab_value *a, const struct ab_item *b);
bool ab_http_binds(const struct ab_value *v, const struct ab_item *rule);

struct ab_http_rules ab_http_fill(struct ab_arena *a, const struct ab_value *v);
