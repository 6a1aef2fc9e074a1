#include "host/git_ssh.h"

#include "base/process/own_program.h"
#include "sandbox/plan/spec.h"

static char *quote_word(const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._-+%";
	struct ab_buf b = { 0 };

	if (*s && !s[strspn(s, plain)])
		return ab_strdup(s);
	ab_buf_puts(&b, "'");
	for (; *s; s++)
		if (*s == '\'')
			ab_buf_puts(&b, "'\\''");
		else
			ab_buf_add(&b, s, 1);
	ab_buf_puts(&b, "'");
	return ab_buf_take(&b);
}

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
	ab_autofree char *word = quote_word(doubled);
	ab_autofree char *option = ab_printf("ProxyCommand=%s connect %%h %%p", word);
	ab_autofree char *outer = quote_word(option);

	return ab_printf("ssh -o %s", outer);
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
