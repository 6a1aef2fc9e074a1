#pragma once
/*
 * What a policy means, in a few lines for people. Rows are pairs of strings, a label and a text;
 * all of it is escaped. Pure.
 */
#include "policy/model/keys.h"

struct ab_item;
struct ab_policy;

/* About the home folder. `but`: what is different here (host/home/home.h). */
void ab_summary_home(const struct ab_policy *policy, const struct ab_strv *but,
		     struct ab_strv *rows);
/* What is not about files: network, ssh keys, containers, tools of the host, secrets, limits,
 * guarantees. */
void ab_summary_rest(const struct ab_policy *policy, struct ab_strv *rows);
/* All of it, and what the policy says about files. `home`: as above. */
void ab_policy_summary(const struct ab_policy *policy, const struct ab_strv *home,
		       struct ab_strv *rows);

void ab_summary_row(struct ab_strv *rows, const char *label, const char *text);
/* Add a row whose text is a list: "a, b and 3 more". */
void ab_summary_list(struct ab_strv *rows, const char *label, const char *before,
		     const struct ab_strv *list, const char *after);

/* The rows as lines. `columns`: wrap to this width; 0: do not wrap. */
void ab_summary_put(struct ab_buf *b, const struct ab_strv *rows, size_t columns);

/* Add the names of the caller's variables that hold a key of a known service and belong to no secret: a run
 * could use them as secrets. And how, for people and as a member of a JSON object. */
void ab_summary_keys_find(const struct ab_policy *policy, char *const *environ,
			  struct ab_strv *ret);
void ab_summary_keys_text(const struct ab_strv *names, struct ab_buf *ret);
void ab_summary_keys_json(const struct ab_strv *names, struct ab_buf *ret);

/* The element of a list, with its origin. NULL: it has no such element. */
const struct ab_item *ab_policy_find_item(const struct ab_policy *policy, enum ab_key_id list,
					  const char *text);
/* "~/.config/agentbox/config.json:3", "@npm in --allow"; free it. NULL for NULL. */
char *ab_item_origin(const struct ab_item *item);
