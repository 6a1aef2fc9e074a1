#pragma once
/* Inside lib/policy: the member "oauth" of a secret. */
#include "policy/read/members.h"

struct ab_oauth;
struct ab_secret;

/* In the arena; NULL: it has mistakes, and they were reported. */
const struct ab_oauth *ab_oauth_read(struct ab_reader *r, const struct ab_json_scan_node *node,
				     const struct ab_secret *secret);
