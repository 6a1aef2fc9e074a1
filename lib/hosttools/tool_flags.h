#pragma once
/*
 * Words with which git, gh, npm and docker run something else than themselves, read their settings
 * from elsewhere, or leave the folder: they are denied, whatever the patterns of the tool say. Pure.
 */
#include "base/base.h"

/* Without pointers, which the dynamic linker would have to fill in. */
struct ab_tool_flag {
	char program[8];
	/* The commands of the program to which it applies, with blanks between them; "": the words
	 * before the command; "*": any. */
	char command[192];
	/* Each a long option, also abbreviated and with "=value"; a short one ("-c"), also among others
	 * ("-xc"); or the command itself: "". */
	char word[272];
	unsigned char why; /* ab_tool_flag_why() */
};

/* The first row that these words match, or NULL; *ret_word is the caller's word then. */
const struct ab_tool_flag *ab_tool_flag_find(const char *program, const char *const *words,
					     size_t n, const char **ret_word);

/* "it runs a program that the caller names" */
const char *ab_tool_flag_why(const struct ab_tool_flag *flag);

/* The table, for a test. */
extern const struct ab_tool_flag ab_tool_flags[];
extern const size_t ab_tool_flag_count;
