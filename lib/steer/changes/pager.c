#include "steer/changes/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/system/fd.h"

static const char *get_variable(char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; env && *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* Is the program in an absolute folder of PATH? */
static bool is_installed(char *const *env, const char *program)
{
	const char *path = get_variable(env, "PATH");

	while (path && *path) {
		size_t n = strcspn(path, ":");
		ab_autofree char *file = ab_printf("%.*s/%s", (int)n, path, program);

		if (file[0] == '/' && access(file, X_OK) == 0)
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}

/* Is its program there? A command that only a shell understands counts as if. */
static bool can_start(char *const *env, const char *command)
{
	size_t n = strcspn(command, " \t");
	ab_autofree char *program = ab_strndup(command, n);

	if (strpbrk(program, "='\"\\$`;&|()<>~"))
		return true;
	return strchr(program, '/') ? access(program, X_OK) == 0 : is_installed(env, program);
}

static const char *choose_command(char *const *env)
{
	const char *command = get_variable(env, "AGENTBOX_PAGER");
	const char *term = get_variable(env, "TERM");

	if (!command)
		command = get_variable(env, "PAGER");
	if (!command && term && strcmp(term, "dumb") == 0)
		return NULL;
	if (!command)
		command = "less -FRX";
	if (!*command || strcmp(command, "cat") == 0 || !can_start(env, command))
		return NULL;
	return command;
}

void ab_pager_init(struct ab_pager *pager, bool wanted, char *const *env)
{
	*pager = (struct ab_pager){ .fd = STDOUT_FILENO, .environ = env };
	if (wanted)
		pager->command = choose_command(env);
}

/* less can run commands, edit files and pass its input through a program; the text is not
 * the user's own. */
static void clean_environment(char *const *env, struct ab_strv *ret)
{
	static const char *const out[] = { "LESSOPEN=", "LESSCLOSE=", "LESSSECURE=",
					   "LESSSECURE_ALLOW=" };
	bool less = get_variable(env, "LESS") != NULL;

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

/* In the child. */
static void run_pager(const struct ab_pager *pager, int in, int status)
{
	ab_autostrv struct ab_strv own = { 0 };
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, ab_strdup(pager->command), NULL };

	clean_environment(pager->environ, &own);
	if (dup2(in, STDIN_FILENO) >= 0)
		execve("/bin/sh", argv, own.v);
	(void)!write(status, "x", 1);
	_exit(127);
}

/* Until the pager is executed, `status` stays open; then it is empty. */
static void start_pager(struct ab_pager *pager)
{
	int text[2], status[2];
	char failed;

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
		run_pager(pager, text[0], status[1]);
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
	while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
		;
	pager->pid = 0;
	signal(SIGINT, SIG_DFL);
}
