#ifndef AB_TEST_COMMAND_LINES_H
#define AB_TEST_COMMAND_LINES_H
/* Files of command lines below test/data: one on each line, comments begin with "##". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "shell/judge/judge.h"

#include "tap.h"

static const struct ab_scene scene = { .home = "/home/me",
				       .cwd = "/home/me/project",
				       .workspace = "/home/me/project" };

/* With a newline and a tab for the signs that stand for them. The caller frees it. */
static inline char *unfold_line(const char *s)
{
	struct ab_buf b = { 0 };

	while (*s) {
		if (strncmp(s, "⏎", 3) == 0 || strncmp(s, "␉", 3) == 0) {
			ab_buf_puts(&b, s[2] == "⏎"[2] ? "\n" : "\t");
			s += 3;
		} else {
			ab_buf_add(&b, s++, 1);
		}
	}
	return ab_buf_take(&b);
}

/* Call `use` for each command line, which it may change. */
static inline void each_command_line(const char *path,
				     void (*use)(void *arg, char *line, int number), void *arg)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;

	ok(f, "%s is there", path);
	for (int number = 1; f && getline(&line, &room, f) > 0; number++) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] && strncmp(line, "##", 2) != 0)
			use(arg, line, number);
	}
	free(line);
	if (f)
		fclose(f);
}

#endif
