#ifndef AB_POLICY_EDIT_JSON_EDIT_H
#define AB_POLICY_EDIT_JSON_EDIT_H
/*
 * Add one element to a list in a settings file, or remove one, without changing another byte:
 * the user chose its indentation and order. A missing section or list is
 * created in the style of the text around it.
 *
 * Pure. The text must be JSON within the bounds of policy/read/json_scan.h, or empty;
 * anything else is an error (AB_ECONFIG) that names the line.
 */
#include <stdbool.h>
#include <stddef.h>

struct ab_error;

/* 1: *ret is the new text, to be freed; 0: the list already has the value; -1:
 * failed. keys: "network", "allow". */
int ab_json_edit_add(const char *text, size_t len, const char *const *keys, size_t nkeys,
		     const char *value, char **ret, struct ab_error *err);

/* 1: *ret is the new text, to be freed; 0: the list does not exist or does not
 * have the value; -1: failed. */
int ab_json_edit_remove(const char *text, size_t len, const char *const *keys, size_t nkeys,
			const char *value, char **ret, struct ab_error *err);

#endif
