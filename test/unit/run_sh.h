#ifndef AB_TEST_RUN_SH_H
#define AB_TEST_RUN_SH_H
/* Scripts that make the files of a test. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs before every script; define it before this file is included. */
#ifndef SH_PROLOGUE
#define SH_PROLOGUE ""
#endif

static inline int sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Run by /bin/sh; the exit status. */
static inline int sh(const char *fmt, ...)
{
	char script[8192] = SH_PROLOGUE;
	size_t used = strlen(script);
	va_list ap;
	int status;
	pid_t pid;

	va_start(ap, fmt);
	vsnprintf(script + used, sizeof(script) - used, fmt, ap);
	va_end(ap);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		dup2(2, 1);
		execl("/bin/sh", "sh", "-ec", script, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

#endif
