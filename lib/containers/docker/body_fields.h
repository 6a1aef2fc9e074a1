#pragma once
/*
 * Check a JSON object against a table of its fields, and build a new one with those that are
 * allowed. What the table does not name must be empty (null, false, 0, "", [] or {}), and is left
 * out: the engine's default applies. Pure.
 */
#include <jansson.h>

#include "base/base.h"

struct ab_create_facts;
struct ab_create_terms;
struct ab_fields;
struct ab_refusal;

enum { AB_MEMBERS_MAX = 64 };

enum ab_field_kind {
	AB_FIELD_EMPTY, /* must ask for nothing; `why` says why not */
	AB_FIELD_IGNORED,
	AB_FIELD_BOOL,
	AB_FIELD_INT, /* from `min` to `max` */
	AB_FIELD_TEXT,
	AB_FIELD_TEXTS, /* a list, or one */
	AB_FIELD_TEXT_MAP,
	AB_FIELD_WORD,	      /* one of `words`, with blanks between them, or "" */
	AB_FIELD_SET,	      /* an object whose members are empty objects */
	AB_FIELD_OBJECT,      /* with `fields` */
	AB_FIELD_CHECKED,     /* the same, but it is left out */
	AB_FIELD_EACH_TEXT,   /* a list: `take` decides about each of its texts */
	AB_FIELD_EACH_OBJECT, /* the same for objects */
	AB_FIELD_EACH_MEMBER, /* a short object: the same for its members */
	AB_FIELD_OWN,	      /* `take` decides */
};

struct ab_body { /* while one is checked */
	const struct ab_create_terms *terms;
	struct ab_create_facts *facts; /* what it learns */
	struct ab_refusal *why;
};

struct ab_field {
	const char *names; /* with blanks between them */
	enum ab_field_kind kind;
	const char *words;  /* AB_FIELD_WORD */
	long long min, max; /* AB_FIELD_INT */
	const struct ab_fields *fields;
	/* Add what the value means to `to`. -1: refused. `name`: of the field, or of a member. */
	int (*take)(struct ab_body *body, const char *name, const json_t *value, json_t *to);
	const char *why;  /* AB_FIELD_EMPTY, AB_FIELD_WORD */
	const char *rule; /* the setting; NULL: "docker" */
};

struct ab_fields {
	const char *prefix; /* of names in reasons: "HostConfig." */
	const struct ab_field *v;
	size_t len;
};

/* `from` must be an object. -1: refused. */
int ab_fields_copy(struct ab_body *body, const struct ab_fields *fields, const json_t *from,
		   json_t *to);
/* Does it ask for nothing? */
bool ab_body_is_empty(const json_t *value);
/* Add it to the list with this name, which may not be there yet. Takes over `one`. */
void ab_body_append(json_t *to, const char *name, json_t *one);
/* Read an object, in which no name may be twice. NULL: refused. */
json_t *ab_body_read(const char *text, size_t len, struct ab_refusal *why);
/* Add its text. -1: it cannot be written. */
int ab_body_write(const json_t *value, struct ab_buf *ret);
