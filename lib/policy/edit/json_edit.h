#pragma once
/*
 * Add one element to a list in a settings file, or remove one, without changing another byte:
 * the user chose its indentation and order. A missing section or list is
 * created in the style of the text around it. A list can also be written { "only": [...] }.
 * Comments stay, also those of what is removed: a new element goes after a comment at the end of
 * the last one's line.
 *
 * Pure. The text must be JSONC within the bounds of base/text/json_scan.h, or empty;
 * anything else is an error (AB_ECONFIG) that names the line.
 */
#include "base/base.h"

/* 1: *ret is the new text, to be freed; 0: the list already has the value; -1:
 * failed. key: "network.allow". An empty list that replaces earlier ones becomes
 * { "only": ["value"] }. */
int ab_json_edit_add(const char *text, size_t len, const char *key, const char *value, char **ret,
		     struct ab_error *err);

/* 1: *ret is the new text, to be freed; 0: the list does not exist or does not
 * have the value; -1: failed. A list without "only" is removed with its last element, and with it each
 * object, but the outermost one, that has nothing else in it. */
int ab_json_edit_remove(const char *text, size_t len, const char *key, const char *value,
			char **ret, struct ab_error *err);

/* Set the value at `keys` ("env", "set", "CI") to this JSON text. 1, 0 (it has that value) or -1, as above. */
int ab_json_edit_set(const char *text, size_t len, const char *const *keys, size_t nkeys,
		     const char *json, char **ret, struct ab_error *err);

/* Remove the member, with each object, as above. 1, 0 (there is none) or -1. */
int ab_json_edit_unset(const char *text, size_t len, const char *const *keys, size_t nkeys,
		       char **ret, struct ab_error *err);

/* Both refuse to replace a value that has comments inside. */

/* Add the strings of a list to *ret; none if there is no such list, or the text is not valid. */
void ab_json_edit_list(const char *text, size_t len, const char *key, struct ab_strv *ret);
