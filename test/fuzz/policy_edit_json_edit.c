/*
 * Any bytes as a settings file that is edited: what is not JSON is refused,
 * and else the result is what the JSON library makes of the same change.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "policy/edit/json_edit.h"
#include "../unit/json_compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Without comments, which the JSON library does not know. NULL: a fraction is too large for it. */
static json_t *load(const char *text, size_t len)
{
	ab_autofree char *copy = ab_strndup(text, len);

	blank_comments(copy, len);
	if (strspn(copy, " \t\r\n") == len)
		return json_object();
	return json_loadb(copy, len, JSON_REJECT_DUPLICATES, NULL);
}

/* The slashes that begin comments: an edit may neither lose nor make one. */
static size_t count_comments(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i + 1 < len; i++) {
		if (text[i] == '"') {
			for (i++; i < len && text[i] != '"'; i++)
				i += text[i] == '\\';
		} else if (text[i] == '/' && text[i + 1] == '/') {
			n++;
			while (i < len && text[i] != '\n')
				i++;
		} else if (text[i] == '/' && text[i + 1] == '*') {
			const char *end = memmem(text + i + 2, len - i - 2, "*/", 2);

			n++;
			i = end ? (size_t)(end - text) + 1 : len;
		}
	}
	return n;
}

/* The list, which is made where it is not; also in { "only": [...] }. */
static json_t *list_of(json_t *root)
{
	json_t *object = json_object_get(root, "a");

	if (!object) {
		json_object_set_new(root, "a", json_object());
		object = json_object_get(root, "a");
	}
	if (!json_object_get(object, "b"))
		json_object_set_new(object, "b", json_array());
	object = json_object_get(object, "b");
	return json_is_object(object) ? json_object_get(object, "only") : object;
}

/* A list goes with its last element, unless it is that of "only". */
static void remove_last(json_t *root)
{
	json_t *object = json_object_get(root, "a"), *list = list_of(root);

	json_array_remove(list, json_array_size(list) - 1);
	if (json_array_size(list) == 0 && json_is_array(json_object_get(object, "b")))
		json_object_del(object, "b");
}

/* The object around it goes, too, if it is empty and has no comment. */
static void remove_emptied(json_t *root, const char *text)
{
	json_t *got = load(text, strlen(text));
	json_t *object = json_object_get(root, "a");

	if (got && !json_object_get(got, "a") && json_object_size(object) == 0)
		json_object_del(root, "a");
	json_decref(got);
}

static void check_same(json_t *want, const char *text)
{
	json_t *got = load(text, strlen(text));

	if (!got || !json_equal(want, got))
		abort();
	json_decref(got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	ab_autofree char *more = NULL, *none = NULL, *less = NULL;
	struct ab_error err = { 0 };
	json_t *want;
	int r = ab_json_edit_add(text, size, "a.b", "v", &more, &err);

	if (r < 0) {
		if (!err.text[0])
			abort();
		return 0;
	}
	if (r == 0)
		return 0;
	want = load(text, size);
	if (!want)
		return 0;
	json_array_append_new(list_of(want), json_string("v"));
	check_same(want, more);
	if (count_comments(text, size) != count_comments(more, strlen(more)))
		abort();
	/* One more value may be one too many for the scanner. */
	if (ab_json_edit_add(more, strlen(more), "a.b", "v", &none, &err) > 0)
		abort();
	/* Removed again, the list has what it had. */
	if (ab_json_edit_remove(more, strlen(more), "a.b", "v", &less, &err) > 0) {
		remove_last(want);
		remove_emptied(want, less);
		check_same(want, less);
		if (count_comments(text, size) != count_comments(less, strlen(less)))
			abort();
	}
	json_decref(want);
	return 0;
}
