/*
 * The library from a program that is not agentbox: it is executed again as
 * the box's init all the same. A run locks its process, so each has its own.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"
#include "tap.h"

static void keep(void *arg, enum ab_level level, const char *text)
{
	(void)level;
	snprintf(arg, 256, "%s", text);
}

/* The status of a run in a child: 100 + status, or the error's code. */
static int run(const char *const *argv, size_t argc, const char *net)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct ab_setting mode = { "network.mode", net, "the test" };
		char said[256] = "";
		struct ab_request request = { .argv = argv, .argc = argc, .say = keep, .arg = said };
		struct ab_error err = { 0 };
		int ended;

		request.policy.settings = &mode;
		request.policy.nsettings = 1;
		if (ab_caller_init(&request.policy, &err) < 0 || ab_run(&request, &ended, &err) < 0)
			_exit((int)err.code);
		_exit(100 + ended);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

int main(void)
{
	static const char *const seven[] = { "sh", "-c", "exit 7" };
	static const char *const write[] = { "sh", "-c", "echo x >inside; echo x >../out" };
	static const char *const none[] = { "no-such-program" };
	const char *home = getenv("HOME");
	char top[256], remove[300];
	struct stat st;

	/* Not below a folder that the box replaces by a private one. */
	snprintf(top, sizeof(top), "%s/agentbox-test-XXXXXX",
		 geteuid() == 0 || !home ? "/var/lib" : home);
	if (!mkdtemp(top) || chdir(top) < 0 || setenv("HOME", top, 1) < 0 ||
	    mkdir("work", 0700) < 0 || chdir("work") < 0)
		return 1;
	ok(run(seven, 3, "blocked") == 107, "the status of the command");
	ok(run(write, 3, "blocked") != -1, "a command that writes");
	ok(stat("inside", &st) == 0, "wrote in the workspace");
	ok(stat("../out", &st) < 0, "and not outside");
	ok(run(none, 1, "blocked") == AB_ENOTFOUND, "a missing program");
	ok(run(seven, 3, "sideways") == AB_EUSAGE, "a bad setting");
	snprintf(remove, sizeof(remove), "rm -rf '%s'", top);
	if (chdir("/") < 0 || system(remove) != 0)
		return 1;
	return done();
}
