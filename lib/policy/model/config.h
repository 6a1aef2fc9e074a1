#pragma once
/*
 * Inside lib/policy: settings before they become a policy. A config has one
 * value per key, set or not. A file, a profile, the flags and the result of
 * merging them are all configs. The arena owns all memory.
 */
#include "policy/model/keys.h"

struct ab_host_tool;
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
	AB_LAYER_MANAGED, /* "managed" in the system file: no other layer can widen it */
	AB_LAYER_ALWAYS,  /* no layer can change it */
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
	bool here;	 /* relative in the file: follows the workspace */
	/* From an untrusted file: applies only where it is stricter. */
	bool tighten;
	bool managed; /* the same for a managed rule: no other rule weakens it */
	union {	      /* the same as a struct */
		const struct ab_user_rule *rule; /* AB_TYPE_RULES */
		const struct ab_secret *secret;	 /* AB_TYPE_SECRETS */
		const struct ab_http_rule *http; /* AB_TYPE_HTTP */
		const struct ab_host_tool *tool; /* AB_TYPE_HOST_TOOLS */
	};
};

struct ab_value {
	const struct ab_origin *from; /* NULL: not set */
	uint64_t number;	      /* scalars, see AB_NONE */
	const char *text;	      /* AB_TYPE_PROFILE, AB_TYPE_UPSTREAM */
	bool all;		      /* AB_TYPE_READ */
	/* The list that replaced those of earlier layers; NULL: it is added to them. */
	const struct ab_origin *only;
	struct ab_item *items;
	size_t len, room;
};

struct ab_config {
	struct ab_value v[AB_KEY_COUNT];
};

/* How the values of one source are read. */
struct ab_context {
	struct ab_arena *arena;
	const char *base; /* relative paths start here */
	const char *home; /* or NULL */
	const char
		*account; /* the user's home that no variable changes, for managed paths; or NULL */
	bool follows;	  /* base is the workspace */
	bool builtin;	  /* clean constant texts */
	bool untrusted;	  /* compile no regular expression */
	const struct ab_registry_file *registries; /* for host groups */
	char *const *environ;			   /* for host groups */
	const struct ab_tool_place *places;	   /* for built-in entries that hide */
};

/* The most elements in one list of one source. */
#define AB_LIST_MAX 1024

/* Set a scalar from its text, or add one element to a list. A built-in element
 * that starts with "~" is skipped if there is no home. */
int ab_value_put(const struct ab_context *ctx, enum ab_key_id id, struct ab_value *v,
		 const char *text, const struct ab_origin *from, struct ab_complaint *why);
/* Make room for this many elements, at least the current number. */
void ab_value_reserve(struct ab_arena *a, struct ab_value *v, size_t room);
/* The element with this text, or NULL. */
struct ab_item *ab_value_find(const struct ab_value *v, const char *text);
/* In a list of "NAME=...": the element with the name of this one, or NULL. */
struct ab_item *ab_value_find_named(const struct ab_value *v, const char *text);
void ab_value_add(struct ab_arena *a, struct ab_value *v, struct ab_item item);
/* Replace `there`, which is one of them, or add it if `there` is NULL. */
void ab_value_set(struct ab_arena *a, struct ab_value *v, const struct ab_item *there,
		  struct ab_item item);
/* Add a copy of the text, unless it is there. */
void ab_value_add_once(struct ab_arena *a, struct ab_value *v, const char *text,
		       const struct ab_origin *from, const char *via);
/* Have they the same number and text? */
bool ab_value_same_scalar(const struct ab_value *a, const struct ab_value *b);
/* A scalar as a file spells it, without a password; in the arena. */
const char *ab_value_text(struct ab_arena *a, enum ab_key_id id, const struct ab_value *v);

/* Add the elements of another list. One that is there already has the later origin; but in a list of
 * patterns the order counts, so it is added again. */
void ab_value_append(struct ab_arena *a, enum ab_key_id id, struct ab_value *v,
		     const struct ab_value *more);
/* Merge a later file, see enum ab_key_merge, or flags or the environment: with these every list
 * grows. */
void ab_config_merge(struct ab_arena *a, struct ab_config *base, const struct ab_config *layer);
/*
 * Merge an untrusted file; see enum ab_key_tighten. Adds one line per key of
 * which something was ignored. `plain` tells whether `path` is reached from
 * `top` without a symbolic link: a narrower path that the project chose must
 * not lead out of `top`.
 */
typedef bool ab_plain_fn(const char *top, const char *path);
void ab_config_tighten(struct ab_arena *a, struct ab_config *base, const struct ab_config *layer,
		       const char *name, ab_plain_fn *plain, struct ab_strv *notes);

/* Does `v` permit this element? Compares text only. */
bool ab_value_covers(enum ab_key_id id, const struct ab_value *v, const char *text);
/* May this element stay in a list that `most` restricts? Paths are compared with `plain`, too. */
bool ab_value_may_stay(enum ab_key_id id, const struct ab_value *most, const char *text,
		       ab_plain_fn *plain);

/*
 * Restrict the merged layers to what the managed settings permit; see policy/layers/managed.c. Each
 * wish of a layer that has no effect because of that is added to `attempts`, as a phrase.
 */
void ab_config_restrict(struct ab_arena *a, struct ab_config *base, struct ab_config *managed,
			ab_plain_fn *plain, struct ab_strv *attempts);
/* The same for one key that stands for others, before these are complete. */
void ab_config_restrict_key(struct ab_arena *a, struct ab_config *base,
			    const struct ab_config *most, enum ab_key_id id, ab_plain_fn *plain,
			    struct ab_strv *attempts);
/* Do these managed settings decide about unknown hosts? Where another layer is stricter, the value in
 * the policy is not theirs, but learning would still go beyond them. */
bool ab_config_fixes_unknown(const struct ab_config *managed);

/* Owned by the policy: its values and where they come from. */
struct ab_policy_store {
	struct ab_arena arena;
	struct ab_config config;
	/* Managed settings that hold against more than other settings: network.allow and
	 * network.publish, also against answers and requests during the run; env.strip, also
	 * against env.pass and env.set. */
	struct ab_value most_hosts, most_published, never_passed;
	bool unknown_fixed; /* managed settings decide about unknown hosts, or block the network */
	bool registries_protected; /* ab_policy_protect_registries() */
	struct ab_registry_file *registries;
	const struct ab_tool_place *places;
};

/* An element of ssh.hosts with its port, which is 22 if it has none. */
void ab_ssh_host_format(const char *entry, char *ret);

/* Fill the policy's members from the config in its store. */
void ab_policy_fill(struct ab_policy *p);
/* Only fs.deny_write, once more. */
void ab_policy_fill_deny_write(struct ab_policy *p);

/* An origin without a line; `name` must live as long as the arena. */
struct ab_origin *ab_origin_new(struct ab_arena *a, enum ab_layer layer, const char *name);
/* "profile default", "~/.config/agentbox/config.json:3", "--allow". */
char *ab_origin_text(const struct ab_origin *from);
/* The same with the column, for mistakes. */
char *ab_origin_place(const struct ab_origin *from);
/* Is this text of an origin a line of the user's settings or of the project's file? `allow` and
 * `deny` with --undo remove entries there. */
bool ab_origin_is_undoable(const char *text);
