#pragma once
/*
 * What jansson 2.13 lacks: meson.build puts this folder in front where a name of it is missing. A key
 * has no zero byte in these versions.
 */
#include_next <jansson.h>

#include <stdlib.h>
#include <string.h>

static inline json_t *json_object_getn(const json_t *object, const char *key, size_t len)
{
	char *copy = strndup(key, len);
	json_t *value = copy ? json_object_get(object, copy) : NULL;

	free(copy);
	return value;
}

static inline int json_object_setn_new(json_t *object, const char *key, size_t len, json_t *value)
{
	char *copy = strndup(key, len);
	int r = json_object_set_new(object, copy, value);

	free(copy);
	return r;
}
