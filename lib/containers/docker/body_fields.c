#include "containers/docker/body_fields.h"

#include "base/text/words.h"
#include "containers/docker/refusal.h"

enum {
	TEXT_MAX = 128 * 1024, /* a command or a variable */
	LIST_MAX = 1024,
	NAME_SHOWN = 80, /* bytes of a name in a reason */
};

static int refuse_field(struct ab_body *body, const struct ab_fields *fields, const char *name,
			const char *rule, const char *why)
{
	return ab_refuse(body->why, 403, rule ? rule : "docker", "the field %s%.*s: %s",
			 fields->prefix, NAME_SHOWN, name, why);
}

bool ab_body_is_empty(const json_t *value)
{
	const char *name;
	json_t *member;

	if (json_is_object(value)) {
		json_object_foreach((json_t *)(uintptr_t)value, name,
				    member) if (!ab_body_is_empty(member)) return false;
		return true;
	}
	if (json_is_array(value))
		return json_array_size(value) == 0;
	if (json_is_string(value))
		return json_string_length(value) == 0;
	return json_is_null(value) || json_is_false(value) ||
	       (json_is_integer(value) && json_integer_value(value) == 0);
}

static bool is_text(const json_t *value)
{
	return json_is_string(value) && json_string_length(value) <= TEXT_MAX;
}

static bool is_texts(const json_t *value)
{
	const json_t *one;
	size_t i;

	if (is_text(value))
		return true;
	if (!json_is_array(value) || json_array_size(value) > LIST_MAX)
		return false;
	json_array_foreach(value, i, one) if (!is_text(one)) return false;
	return true;
}

/* An object with at most this many members, all of them texts, or all empty objects. */
static bool is_map(const json_t *value, bool texts)
{
	const char *name;
	json_t *member;

	if (!json_is_object(value) || json_object_size(value) > LIST_MAX)
		return false;
	json_object_foreach((json_t *)(uintptr_t)value, name,
			    member) if (texts ? !is_text(member)
					      : json_object_size(member) != 0) return false;
	return true;
}

/* Has the value the form of the field? */
static bool has_form(const struct ab_field *f, const json_t *value)
{
	switch (f->kind) {
	case AB_FIELD_BOOL:
		return json_is_boolean(value);
	case AB_FIELD_INT:
		return json_is_integer(value) && json_integer_value(value) >= f->min &&
		       json_integer_value(value) <= f->max;
	case AB_FIELD_TEXT:
		return is_text(value);
	case AB_FIELD_TEXTS:
		return is_texts(value);
	case AB_FIELD_TEXT_MAP:
		return is_map(value, true);
	case AB_FIELD_SET:
		return is_map(value, false);
	case AB_FIELD_WORD:
		return json_is_string(value) && ab_word_listed(f->words, json_string_value(value),
							       json_string_length(value));
	case AB_FIELD_EMPTY:
	case AB_FIELD_IGNORED:
	case AB_FIELD_OBJECT:
	case AB_FIELD_CHECKED:
	case AB_FIELD_EACH_TEXT:
	case AB_FIELD_EACH_OBJECT:
	case AB_FIELD_EACH_MEMBER:
	case AB_FIELD_OWN:
		break;
	}
	return false;
}

static int refuse_form(struct ab_body *body, const struct ab_fields *fields, const char *name,
		       const char *what)
{
	return ab_refuse(body->why, 400, "docker", "the field %s%s%s", fields->prefix, name, what);
}

static int copy_object(struct ab_body *body, const struct ab_field *f, const char *name,
		       const json_t *value, json_t *to)
{
	json_auto_t *object = json_object();

	if (!json_is_object(value))
		return ab_refuse(body->why, 400, "docker", "%s is not an object", name);
	if (ab_fields_copy(body, f->fields, value, object) < 0)
		return -1;
	if (f->kind == AB_FIELD_OBJECT && json_object_size(object))
		json_object_set(to, name, object);
	return 0;
}

static int take_each(struct ab_body *body, const struct ab_fields *fields, const struct ab_field *f,
		     const char *name, const json_t *value, json_t *to)
{
	bool texts = f->kind == AB_FIELD_EACH_TEXT;
	json_t *one;
	size_t i;

	if (!json_is_array(value))
		return refuse_form(body, fields, name, " is not a list");
	json_array_foreach(value, i, one)
	{
		if (texts ? !json_is_string(one) : !json_is_object(one))
			return refuse_form(body, fields, name,
					   texts ? ": not a string" : ": not an object");
		if (f->take(body, name, one, to) < 0)
			return -1;
	}
	return 0;
}

/* They go into an object of the same name. */
static int take_members(struct ab_body *body, const struct ab_fields *fields,
			const struct ab_field *f, const char *name, const json_t *value, json_t *to)
{
	json_t *one, *made;
	const char *member;

	if (!json_is_object(value) || json_object_size(value) > AB_MEMBERS_MAX)
		return refuse_form(body, fields, name, " is not a short object");
	made = json_object();
	json_object_set_new(to, name, made);
	json_object_foreach((json_t *)(uintptr_t)value, member,
			    one) if (f->take(body, member, one, made) < 0) return -1;
	return 0;
}

static int copy_field(struct ab_body *body, const struct ab_fields *fields,
		      const struct ab_field *f, const char *name, const json_t *value, json_t *to)
{
	if (f->kind == AB_FIELD_IGNORED)
		return 0;
	if (f->kind == AB_FIELD_OWN)
		return f->take(body, name, value, to);
	/* false and 0 can differ from what the image or the engine would choose. */
	if (ab_body_is_empty(value) && f->kind != AB_FIELD_BOOL && f->kind != AB_FIELD_INT &&
	    (f->kind != AB_FIELD_EACH_MEMBER || !json_object_size(value)))
		return 0;
	if (json_is_null(value))
		return 0;
	if (f->kind == AB_FIELD_EMPTY)
		return refuse_field(body, fields, name, f->rule, f->why);
	if (f->kind == AB_FIELD_OBJECT || f->kind == AB_FIELD_CHECKED)
		return copy_object(body, f, name, value, to);
	if (f->kind == AB_FIELD_EACH_TEXT || f->kind == AB_FIELD_EACH_OBJECT)
		return take_each(body, fields, f, name, value, to);
	if (f->kind == AB_FIELD_EACH_MEMBER)
		return take_members(body, fields, f, name, value, to);
	if (!has_form(f, value))
		return refuse_field(body, fields, name, f->rule,
				    f->why ? f->why : "the filter does not allow this value");
	json_object_set(to, name, (json_t *)(uintptr_t)value);
	return 0;
}

int ab_fields_copy(struct ab_body *body, const struct ab_fields *fields, const json_t *from,
		   json_t *to)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)from, name, value)
	{
		const struct ab_field *f = NULL;

		for (size_t i = 0; i < fields->len && !f; i++)
			if (ab_word_listed(fields->v[i].names, name, strlen(name)))
				f = &fields->v[i];
		if (f ? copy_field(body, fields, f, name, value, to) < 0
		      : !ab_body_is_empty(value) &&
				    refuse_field(body, fields, name, NULL,
						 "the filter does not know this field") < 0)
			return -1;
	}
	return 0;
}

void ab_body_append(json_t *to, const char *name, json_t *one)
{
	json_t *list = json_object_get(to, name);

	if (!list) {
		list = json_array();
		json_object_set_new(to, name, list);
	}
	json_array_append_new(list, one);
}

json_t *ab_body_read(const char *text, size_t len, struct ab_refusal *why)
{
	json_error_t error;
	json_t *body = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);

	if (json_is_object(body))
		return body;
	ab_refuse(why, 400, "docker", "the body is not one JSON object: %s",
		  body ? "it is something else" : error.text);
	json_decref(body);
	return NULL;
}

int ab_body_write(const json_t *value, struct ab_buf *ret)
{
	ab_autofree char *text = json_dumps(value, JSON_COMPACT | JSON_ENSURE_ASCII);

	if (!text)
		return -1;
	ab_buf_puts(ret, text);
	return 0;
}
