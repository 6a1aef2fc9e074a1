#ifndef AB_POLICY_MODEL_CONFIG_H
#define AB_POLICY_MODEL_CONFIG_H
/*
 * Inside lib/policy: values on their way to a policy. A config is one value
 * per key, set or not; a file, a profile, the flags and the result of merging
 * them are all configs. All memory is the arena's.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data/strv.h"
#include "base/data/arena.h"
#include "policy/model/keys.h"

struct ab_http_rule;
struct ab_policy;
struct ab_secret;
struct ab_user_rule;
struct ab_complaint;

enum ab_layer {
	AB_LAYER_PROFILE,
	AB_LAYER_SYSTEM,
	AB_LAYER_USER,
	AB_LAYER_PROJECT,
	AB_LAYER_ENVIRONMENT,
	AB_LAYER_FLAG,
	AB_LAYER_ALWAYS, /* nothing can change it */
};

struct ab_origin {
	enum ab_layer layer;
	const char *name; /* profile, file, variable or option */
	unsigned line;	  /* in a file; else 0 */
	unsigned column;
};

struct ab_item {
	const char *text; /* canonical */
	const struct ab_origin *from;
	const char *via; /* the group that it came from, or NULL */
	bool here;	 /* follows the workspace: was written relative */
	/* Of a file that is not trusted: can only make stricter. */
	bool tighten;
	union {					 /* what text says */
		const struct ab_user_rule *rule; /* AB_TYPE_RULES */
		const struct ab_secret *secret;	 /* AB_TYPE_SECRETS */
		const struct ab_http_rule *http; /* AB_TYPE_HTTP */
	};
};

struct ab_value {
	const struct ab_origin *from; /* NULL: not set */
	uint64_t number;	      /* scalars, see AB_NONE */
	const char *text;	      /* AB_TYPE_PROFILE, AB_TYPE_UPSTREAM */
	bool all;		      /* AB_TYPE_READ */
	struct ab_item *items;
	size_t len, room;
};

struct ab_config {
	struct ab_value v[AB_KEY_COUNT];
};

/* What the values of one source are read with. */
struct ab_context {
	struct ab_arena *arena;
	const char *base;     /* relative paths start here */
	const char *home;     /* or NULL */
	bool follows;	      /* base is the workspace */
	bool builtin;	      /* clean texts that outlive everything */
	bool untrusted;	      /* no regular expression is compiled */
	char *const *environ; /* for host groups */
};

/* At most this many elements in one list of one source. */
#define AB_LIST_MAX 1024

/* Set a scalar from its text, or add one element to a list. What is built in
 * and starts with "~" is left out where there is no home. */
int ab_value_put(const struct ab_context *ctx, enum ab_key_id id, struct ab_value *v,
		 const char *text, const struct ab_origin *from, struct ab_complaint *why);
/* Make room for so many elements, not less than there are. */
void ab_value_reserve(struct ab_arena *a, struct ab_value *v, size_t room);
void ab_value_add(struct ab_arena *a, struct ab_value *v, struct ab_item item);
/* A scalar as people write it, without a password; the text lives in the
 * arena. */
const char *ab_value_text(struct ab_arena *a, enum ab_key_id id, const struct ab_value *v);

/* Later wins; see enum ab_key_merge. */
void ab_config_merge(struct ab_arena *a, struct ab_config *base, const struct ab_config *layer);
/* The same for flags and the environment: lists grow. */
void ab_config_add(struct ab_arena *a, struct ab_config *base, const struct ab_config *layer);
/*
 * What a file that is not trusted may change; see enum ab_key_tighten. One
 * note per key of which something was left out. `plain` tells whether `path`
 * is reached from `top` without any symbolic link: a narrower path that the
 * project chose must not lead out of what it narrows.
 */
typedef bool ab_plain_fn(const char *top, const char *path);
void ab_config_tighten(struct ab_arena *a, struct ab_config *base, const struct ab_config *layer,
		       const char *name, ab_plain_fn *plain, struct ab_strv *notes);

/* Does what `v` permits include this element? Pure text. */
bool ab_value_covers(enum ab_key_id id, const struct ab_value *v, const char *text);

/* Owned by the policy: where its values came from. */
struct ab_policy_store {
	struct ab_arena arena;
	struct ab_config config;
};

/* Fill the policy's members from the config in its store. */
void ab_policy_fill(struct ab_policy *p);

/* "profile default", "~/.config/agentbox/config.json:3", "--allow". */
char *ab_origin_text(const struct ab_origin *from);
/* The same with the column, for mistakes. */
char *ab_origin_place(const struct ab_origin *from);

#endif
