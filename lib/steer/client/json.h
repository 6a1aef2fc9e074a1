#pragma once
/*
 * Read members of records and answers, which come from outside. A member that
 * is missing or of another type reads as "" or 0.
 */
#include <jansson.h>

#include "base/base.h"

/* "" if it is not a text. */
static inline const char *ab_json_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static inline bool ab_json_is(const json_t *object, const char *key, const char *value)
{
	return strcmp(ab_json_text(object, key), value) == 0;
}

/* The texts of a list. */
static inline void ab_json_words(const json_t *list, struct ab_strv *ret)
{
	const json_t *word;
	size_t i;

	json_array_foreach(list, i, word) if (json_is_string(word))
		ab_strv_add(ret, json_string_value(word));
}

/* 0 if it is not a number, or negative. */
static inline uint64_t ab_json_count(const json_t *object, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(object, key));

	return n > 0 ? (uint64_t)n : 0;
}
