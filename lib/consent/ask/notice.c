#include "consent/ask/notice.h"

#include "host/host_command.h"
#include "host/program.h"
#include "policy/model/policy.h"
#include "policy/values/paths.h"

#define NAME "agentbox: "

enum { NOTICE_MS = 2000 }; /* for each program */

void ab_notice_clean(const char *text, size_t len, char ret[AB_NOTICE_ROOM])
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789 .,:_-()[]";
	size_t n = 0;

	for (; n < len && n < AB_NOTICE_ROOM - 1; n++)
		ret[n] = text[n] && strchr(plain, text[n]) ? text[n] : '?';
	ret[n] = '\0';
}

/* It is not an error if the program is missing, fails or hangs: the terminal shows the question,
 * too. */
static void run_program(const struct ab_strv *touched, char *const *env, const char *path,
			const char *const *words)
{
	const char *argv[8] = { 0 };
	ab_autofree char *file = ab_host_command_find(touched, path, words[0]);
	struct ab_program program = { .argv = argv,
				      .env = env,
				      .cwd = "/",
				      .in = -1,
				      .ms = NOTICE_MS,
				      .discard_output = true };
	struct ab_ran ran;

	if (!file)
		return;
	argv[0] = file;
	for (size_t i = 1; words[i] && i + 1 < AB_COUNT(argv); i++)
		argv[i] = words[i];
	ab_program_run(&program, &ran);
}

void ab_notice_send(uint32_t ways, const struct ab_strv *touched, char *const *env,
		    const char *text, size_t len)
{
	/* A message that begins with a fixed word is not an option. */
	char message[sizeof(NAME) + AB_NOTICE_ROOM] = NAME;
	char *const body = message + strlen(NAME);
	ab_autofree char *path = NULL;
	ab_autofree char **safe = ab_host_command_environ(touched, env, &path);
	const char *dirs = path ? path + strlen("PATH=") : NULL;

	ab_notice_clean(text, len, body);
	if (ways & AB_NOTICE_BIT(AB_NOTICE_DESKTOP))
		run_program(touched, safe, dirs,
			    (const char *const[]){ "notify-send", "--app-name=agentbox", "--",
						   "agentbox", body, NULL });
	if ((ways & AB_NOTICE_BIT(AB_NOTICE_TMUX)) && ab_environ_get(safe, "TMUX"))
		run_program(touched, safe, dirs,
			    (const char *const[]){ "tmux", "display-message", message, NULL });
}
