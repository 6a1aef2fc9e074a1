/* A program of the user on the host: what it left in its group has ended when the call returns. */
#include "host/program.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"
#include "tap.h"

enum { TIMES = 30 };

/* The number that the script prints; 0: it failed. */
static pid_t run_script(const char *script, enum ab_ran_how *ret_how)
{
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };
	char out[64] = "";
	const struct ab_program program = { .argv = argv,
					    .env = environ,
					    .cwd = "/",
					    .in = -1,
					    .ms = 60000,
					    .out = out,
					    .room = sizeof(out) - 1 };
	struct ab_ran ran;

	ab_program_run(&program, &ran);
	*ret_how = ran.how;
	return (pid_t)strtol(out, NULL, 10);
}

static bool has_group(pid_t group)
{
	return kill(-group, 0) == 0 || errno != ESRCH;
}

static void check_group(const char *script, const char *name)
{
	unsigned left = 0, wrong = 0;

	for (int i = 0; i < TIMES; i++) {
		enum ab_ran_how how;
		pid_t group = run_script(script, &how);

		wrong += how != AB_RAN_ENDED || group <= 1;
		left += group > 1 && has_group(group);
	}
	ok(wrong == 0, "%s: it runs", name);
	ok(left == 0, "%s: nobody of its group is left", name);
}

/* A keyring or an agent that it starts is used by later programs, too. */
static void check_service(void)
{
	enum ab_ran_how how;
	pid_t service =
		run_script("echo $(setsid sh -c 'echo $$; exec sleep 100 >/dev/null' &)", &how);

	ok(how == AB_RAN_ENDED, "a service: the program ends");
	ok(service > 1 && kill(service, SIGKILL) == 0, "a service: it lives on");
}

int main(void)
{
	check_group("echo $$; sleep 100 & sleep 100 &", "two in the background");
	check_group("echo $$; (sleep 100 & sleep 100) &", "one of a process that waits for it");
	check_group("echo $$; (trap '' TERM HUP; while :; do sleep 0.01; done) &",
		    "one that starts others");
	check_group("echo $$", "nothing in the background");
	check_service();
	return done();
}
