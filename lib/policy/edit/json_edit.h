#ifndef AB_POLICY_EDIT_JSON_EDIT_H
#define AB_POLICY_EDIT_JSON_EDIT_H
/*
 * Add one element to a list in a settings file without changing another byte:
 * the file is somebody's own, with its own indentation and order. A missing
 * section or list is created in the style of its surroundings.
 *
 * Pure. The text is JSON within the bounds of policy/read/json_scan.h, or empty; any
 * other is an error (AB_ECONFIG) that names the line.
 */
#include <stdbool.h>
#include <stddef.h>

struct ab_error;

/* Is there such a list? */
int ab_json_edit_find(const char *text, size_t len, const char *const *keys, size_t nkeys,
		      bool *ret_there, struct ab_error *err);

/* 1: the new text is in *ret, to be freed; 0: the value is in the list
 * already, there is nothing to change; -1. keys: "network", "allow". */
int ab_json_edit_add(const char *text, size_t len, const char *const *keys, size_t nkeys,
		     const char *value, char **ret, struct ab_error *err);

#endif
