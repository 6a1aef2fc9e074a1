/*
 * The program with --engine in front of the options: AGENTBOX of a suite that runs in another
 * engine. The folder that holds this file has the name of the engine:
 *
 *	build/cmd/agentbox
 *	build/engines/shared-proc/agentbox	runs the one above with --engine shared-proc
 *
 * So it needs no variable, which many tests take away. Static, as the program is: tests set
 * LD_PRELOAD. A test's own --engine comes later, and counts.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The commands that make a box. With --in the box exists, and has its engine. */
static bool makes_box(int argc, char *argv[])
{
	static const char *const commands[] = { "run", "exec", "shell", "learn" };
	bool makes = false;

	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++)
		makes = makes || strcmp(argv[1], commands[i]) == 0;
	for (int i = 2; makes && i < argc && strcmp(argv[i], "--") != 0; i++)
		makes = strcmp(argv[i], "--in") != 0;
	return makes;
}

int main(int argc, char *argv[])
{
	static char option[] = "--engine";
	char self[PATH_MAX], program[PATH_MAX + 32], *slash, *engine;
	char **args = calloc((size_t)argc + 3, sizeof(*args));
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int n = 0;

	if (!args || len < 0)
		return 99;
	self[len] = '\0';
	slash = strrchr(self, '/');
	*slash = '\0';
	engine = strrchr(self, '/');
	*engine++ = '\0';
	snprintf(program, sizeof(program), "%s/../cmd/agentbox", self);

	for (int i = 0; i < argc; i++) {
		args[n++] = argv[i];
		if (i == 1 && makes_box(argc, argv)) {
			args[n++] = option;
			args[n++] = engine;
		}
	}
	execv(program, args);
	perror(program);
	return 99;
}
