#ifndef AB_TEST_JSON_COMPARE_H
#define AB_TEST_JSON_COMPARE_H
/*
 * Compare the reader of settings with jansson. They accept the same texts and
 * decode them to the same values, with these differences:
 *
 *   - ours is bounded: nesting depth and number of values;
 *   - ours refuses every NUL byte, jansson overlooks one after a number;
 *   - ours does not decode fractions, so one beyond the range of a double is
 *     a fraction to us and an error to jansson.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_scan.h"

static inline bool same_value(const struct ab_json_scan_node *n, const json_t *j)
{
	size_t i = 0;

	switch (n->kind) {
	case '{':
		if (!json_is_object(j) || json_object_size(j) != n->count)
			return false;
		ab_json_scan_each(k, n)
		{
			const json_t *member = json_object_get(j, k->key);

			if (!member || k->up != (uint32_t)(k - n) || !same_value(k, member))
				return false;
			i++;
		}
		return i == n->count;
	case '[':
		if (!json_is_array(j) || json_array_size(j) != n->count)
			return false;
		ab_json_scan_each(k, n) if (k->key ||
					    !same_value(k, json_array_get(j, i++))) return false;
		return i == n->count;
	case '"':
		return json_is_string(j) && n->text && strcmp(n->text, json_string_value(j)) == 0;
	case '0':
		return json_is_integer(j) && n->integer == json_integer_value(j);
	case '.':
		return json_is_real(j);
	case 't':
		return json_is_true(j);
	case 'f':
		return json_is_false(j);
	case 'n':
		return json_is_null(j);
	default:
		return false;
	}
}

static inline bool has_fraction(const struct ab_json_scan *s)
{
	for (size_t i = 0; i < s->len; i++)
		if (s->nodes[i].kind == '.')
			return true;
	return false;
}

/* NULL: as above. Else how they differ. */
static inline const char *compare_with_jansson(const char *text, size_t len)
{
	ab_autoscan struct ab_json_scan s = { 0 };
	bool good = ab_json_scan_parse(&s, text, len) == 0;
	json_error_t e;
	json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
	const char *differ = NULL;

	if (good && memchr(text, '\0', len))
		differ = "a NUL byte is accepted";
	else if (good && j && !same_value(s.nodes, j))
		differ = "decoded differently";
	else if (good && !j &&
		 !(json_error_code(&e) == json_error_numeric_overflow && has_fraction(&s)))
		differ = "accepted, but not by jansson";
	else if (!good && (!s.wrong || !s.right || !s.key || s.line < 1 || s.column < 1))
		differ = "refused without a place or a reason";
	else if (!good && j && !memchr(text, '\0', len) && strcmp(s.wrong, "nested too deeply") &&
		 strcmp(s.wrong, "too many values"))
		differ = "refused, but not by jansson";
	json_decref(j);
	return differ;
}

/* Replace comments and trailing commas with blanks, by other means. */
static inline void blank_comments(char *text, size_t len)
{
	size_t comma = len; /* the last one, if nothing but space follows it */

	for (size_t i = 0; i < len; i++) {
		bool slashed = text[i] == '/' && i + 1 < len;

		if (text[i] == '"') {
			for (i++; i < len && text[i] != '"'; i++)
				i += text[i] == '\\';
			comma = len;
		} else if (slashed && text[i + 1] == '/') {
			while (i < len && text[i] != '\n')
				text[i++] = ' ';
		} else if (slashed && text[i + 1] == '*') {
			char *end = memmem(text + i + 2, len - i - 2, "*/", 2);

			if (!end)
				return;
			for (end += 2; text + i < end; i++)
				text[i] = text[i] == '\n' ? '\n' : ' ';
			i--;
		} else if (text[i] == ',') {
			comma = i;
		} else if ((text[i] == ']' || text[i] == '}') && comma < len) {
			text[comma] = ' ';
			comma = len;
		} else if (!strchr(" \t\r\n", text[i]) || !text[i]) {
			comma = len;
		}
	}
}

/* NULL: a text with comments is the same to the strict reader once they are blanks. */
static inline const char *compare_without_comments(const char *text, size_t len)
{
	ab_autoscan struct ab_json_scan with = { 0 }, strict = { 0 };
	bool good = ab_jsonc_scan_parse(&with, text, len) == 0;
	char *copy;
	int r;

	if (!good)
		return !with.wrong || !with.right || !with.key || with.line < 1 || with.column < 1
			       ? "refused without a place or a reason"
		       : ab_json_scan_parse(&strict, text, len) == 0 ? "refused, but good JSON"
								     : NULL;
	copy = malloc(len + 1);
	memcpy(copy, text, len);
	blank_comments(copy, len);
	r = ab_json_scan_parse(&strict, copy, len);
	free(copy);
	if (r < 0 || strict.len != with.len)
		return "accepted, but not without comments";
	for (size_t i = 0; i < with.len; i++) {
		const struct ab_json_scan_node *a = &with.nodes[i], *b = &strict.nodes[i];

		if (a->begin != b->begin || a->end != b->end || a->kind != b->kind ||
		    a->span != b->span || a->line != b->line || !a->key != !b->key ||
		    (a->key && strcmp(a->key, b->key) != 0))
			return "read differently";
	}
	return NULL;
}

#endif
