#ifndef AB_POLICY_TOOLCHAINS_REGISTRY_TEXT_H
#define AB_POLICY_TOOLCHAINS_REGISTRY_TEXT_H
/*
 * Pieces of text that the readers of registry settings share (registry_files.h). Pure. A piece is
 * a pointer and a length, without a NUL.
 */
#include <stdbool.h>
#include <stddef.h>

struct ab_registry;

/* Only letters, digits and these characters: the text goes into files of many grammars. */
bool ab_registry_has_only(const char *s, size_t len, const char *more);
bool ab_registry_is_word(const char *s, size_t len, const char *word);
bool ab_registry_is_bool(const char *s, size_t len); /* true, false */
bool ab_registry_is_file(const char *s, size_t len); /* an absolute path of plain characters */

/* The text without blanks and one pair of quotes around it. */
const char *ab_registry_trim(const char *s, size_t *len);

/* "key SEPARATOR value"; -1: it is not one. */
int ab_registry_split_pair(const char *s, size_t len, char separator, size_t *ret_key,
			   const char **ret_value, size_t *ret_len);

/* Keep the URL, and return it clean; NULL: it is not kept. Free it. */
char *ab_registry_keep_url(struct ab_registry *r, const char *s, size_t len);

/* Call `line` for each line, without its end. */
void ab_registry_each_line(const char *text, struct ab_registry *r,
			   void (*line)(struct ab_registry *r, const char *s, size_t len,
					void *arg),
			   void *arg);

#endif
