#include "steer/changes/pager.h"

#include <sys/wait.h>

#include "base/process/helper.h"
#include "host/host_command.h"
#include "policy/layers/layers.h"
#include "policy/model/policy.h"
#include "policy/values/paths.h"

/* Is its program there? A command that only a shell understands counts as if. */
static bool can_start(char *const *env, const char *command)
{
	size_t n = strcspn(command, " \t");
	ab_autofree char *program = ab_strndup(command, n), *file = NULL;

	if (strpbrk(program, "='\"\\$`;&|()<>~"))
		return true;
	file = ab_program_find(program, ab_environ_get(env, "PATH"));
	return file != NULL;
}

static const char *choose_command(char *const *env)
{
	const char *command = ab_environ_get(env, "AGENTBOX_PAGER");
	const char *term = ab_environ_get(env, "TERM");

	if (!command)
		command = ab_environ_get(env, "PAGER");
	if (!command && term && strcmp(term, "dumb") == 0)
		return NULL;
	if (!command)
		command = "less -FRX";
	return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

void ab_pager_init(struct ab_pager *pager, bool wanted, const struct ab_policy_input *input,
		   const struct ab_strv *roots)
{
	*pager = (struct ab_pager){ .fd = STDOUT_FILENO, .input = input, .roots = roots };
	if (wanted)
		pager->command = choose_command(input->environ);
}

/* less can run commands, edit files and pass its input through a program; the text is not
 * the user's own. */
static void clean_environment(char *const *env, struct ab_strv *ret)
{
	static const char *const out[] = { "LESSOPEN=", "LESSCLOSE=", "LESSSECURE=",
					   "LESSSECURE_ALLOW=" };
	bool less = ab_environ_get(env, "LESS") != NULL;

	for (; env && *env; env++) {
		bool keep = true;

		for (size_t i = 0; i < AB_COUNT(out); i++)
			keep &= strncmp(*env, out[i], strlen(out[i])) != 0;
		if (keep)
			ab_strv_add(ret, *env);
	}
	ab_strv_add(ret, "LESSSECURE=1");
	if (!less)
		ab_strv_add(ret, "LESS=FRX");
}

/* The environment of a pager that no box has chosen; false: there is none. */
static bool prepare_pager(struct ab_pager *pager, struct ab_strv *ret_env)
{
	char *const *env = pager->input->environ;
	ab_autostrv struct ab_strv touched = { 0 };
	ab_autofree char *path = NULL;
	ab_autofree char **safe = NULL;
	ab_autopolicy struct ab_policy *policy = NULL;
	struct ab_policy judged;

	if (ab_policy_load(pager->input, &policy, NULL, &pager->refused) < 0)
		return false;
	ab_strv_extend(&touched, &policy->fs.touched);
	ab_strv_extend(&touched, pager->roots);
	judged = *policy;
	judged.fs.touched = touched;
	safe = ab_host_command_environ(&touched, env, &path);
	if (!can_start(env, pager->command) ||
	    ab_host_command_check("the pager", pager->command, &judged, env, &pager->refused) < 0 ||
	    !can_start(safe, pager->command))
		return false;
	clean_environment(safe, ret_env);
	return true;
}

/* In the child. */
static void run_pager(const struct ab_pager *pager, const struct ab_strv *env, int in, int status)
{
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, ab_strdup(pager->command), NULL };

	if (dup2(in, STDIN_FILENO) >= 0 && chdir("/") == 0)
		execve("/bin/sh", argv, env->v);
	(void)!write(status, "x", 1);
	_exit(127);
}

/* Until the pager is executed, `status` stays open; then it is empty. */
static void start_pager(struct ab_pager *pager)
{
	ab_autostrv struct ab_strv env = { 0 };
	int text[2], status[2];
	char failed;

	if (!prepare_pager(pager, &env))
		return;
	if (pipe2(text, O_CLOEXEC) < 0)
		return;
	if (pipe2(status, O_CLOEXEC) < 0) {
		close(text[0]);
		close(text[1]);
		return;
	}
	fflush(NULL);
	pager->pid = fork();
	if (pager->pid == 0)
		run_pager(pager, &env, text[0], status[1]);
	close(text[0]);
	close(status[1]);
	if (pager->pid > 0 && read(status[0], &failed, 1) == 0) {
		pager->fd = text[1];
		/* The pager handles interrupts, and may end before it has read everything. */
		signal(SIGINT, SIG_IGN);
		signal(SIGPIPE, SIG_IGN);
	} else {
		close(text[1]);
		if (pager->pid > 0)
			waitpid(pager->pid, NULL, 0);
		pager->pid = 0;
	}
	close(status[0]);
}

int ab_pager_put(void *arg, const char *data, size_t len)
{
	struct ab_pager *pager = arg;

	if (pager->command && !pager->started)
		start_pager(pager);
	pager->started = true;
	if (ab_write_all(pager->fd, data, len) == 0)
		return 0;
	/* A person may leave the pager before the end. */
	if (!pager->pid)
		pager->errnum = errno;
	return -1;
}

void ab_pager_close(struct ab_pager *pager)
{
	if (!pager->pid)
		return;
	close(pager->fd);
	pager->fd = STDOUT_FILENO;
	(void)ab_await(pager->pid);
	pager->pid = 0;
	signal(SIGINT, SIG_DFL);
}
