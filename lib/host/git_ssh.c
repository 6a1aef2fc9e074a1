#include "host/git_ssh.h"

#include "base/process/own_program.h"
#include "sandbox/plan/spec.h"
#include "shell/syntax/quote.h"

/* ssh replaces what follows a percent sign. */
static char *double_percents(const char *s)
{
	struct ab_buf b = { 0 };

	for (; *s; s++) {
		ab_buf_add(&b, s, 1);
		if (*s == '%')
			ab_buf_add(&b, s, 1);
	}
	return ab_buf_take(&b);
}

char *ab_git_ssh_command(const char *program)
{
	ab_autofree char *doubled = double_percents(program);
	ab_autobuf struct ab_buf option = { 0 };
	struct ab_buf command = { 0 };

	ab_buf_puts(&option, "ProxyCommand=");
	ab_quote(&option, doubled);
	ab_buf_puts(&option, " connect %h %p");
	ab_buf_puts(&command, "ssh -o ");
	ab_quote(&command, option.data);
	return ab_buf_take(&command);
}

void ab_git_ssh_fill(struct ab_spec *spec)
{
	ab_autofree char *command = NULL, *own = NULL;

	if (ab_env_get(&spec->env, "GIT_SSH_COMMAND") || ab_env_get(&spec->env, "GIT_SSH"))
		return;
	own = spec->no_namespaces ? ab_own_program() : ab_strdup(AB_OWN_PROGRAM);
	if (!own || (spec->no_namespaces && !ab_plan_shows(&spec->plan, false, own)))
		return;
	command = ab_git_ssh_command(own);
	ab_env_set(&spec->env_uncaptured, "GIT_SSH_COMMAND", command);
}
