#pragma once
/*
 * What the tables say about a program in general. Rules about words that "any
 * program" could read, write or run ask here first. Pure.
 */
#include "shell/command/simple.h"

enum ab_explained {
	/* No table explains its words: it may write the files that they name, and
	 * run them as commands. */
	AB_EXPLAINED_NOT,
	/* Reads, inspects or runs the files that it names, and writes only those that
	 * write_targets.h reports. */
	AB_EXPLAINED_FILES,
	/* Also: words with blanks are messages for people, or patterns. */
	AB_EXPLAINED_TEXT,
	/* No word is a file: it prints them. */
	AB_EXPLAINED_PRINTED,
};

enum ab_explained ab_explained(const struct ab_simple *command);
/* The words after this one are prose for people: -m, --title. */
bool ab_explains_prose(struct ab_text option);
/* An option with a value that programs write to: -o, --output, --log-file=. */
bool ab_explains_output(struct ab_text option);
