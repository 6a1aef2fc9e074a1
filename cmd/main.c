#include "cmd.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

const struct command *const commands[] = {
	&command_run,	  &command_shell,   &command_attach,
	&command_exec,	  &command_learn,   &command_check,
	&command_ps,	  &command_watch,   &command_stop,
	&command_log,	  &command_changes, &command_why,
	&command_allow,	  &command_deny,    &command_apply,
	&command_discard, &command_undo,    &command_quarantine,
	&command_ports,	  &command_layers,  &command_gc,
	&command_connect, &command_doctor,  &command_config,
	&command_profile, &command_rules,   &command_policy,
	&command_secrets, &command_trust,   &command_approvals,
	&command_hook,	  &command_alias,   NULL,
};

/* A terminal that a run has set to raw mode needs "\r" before "\n". */
static bool is_raw(void)
{
	struct termios now;

	return tcgetattr(STDERR_FILENO, &now) == 0 && !(now.c_oflag & OPOST);
}

static void print_stderr(const char *before, const char *text)
{
	const char *end = is_raw() ? "\r\n" : "\n";
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_puts(&b, before);
	for (;;) {
		size_t len = strcspn(text, "\n");

		ab_buf_add(&b, text, len);
		ab_buf_puts(&b, end);
		if (!text[len])
			break;
		text += len + 1;
	}
	fputs(b.data, stderr);
}

void tell(const char *fmt, ...)
{
	char text[4096];
	ab_autofree char *safe = NULL;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* Escape it: names of files and commands may contain anything. One
	 * write, so that lines of several processes do not mix. */
	safe = ab_escape(text);
	print_stderr("agentbox: ", safe);
}

void tell_more(const char *text)
{
	ab_autofree char *safe = ab_escape(text);

	print_stderr("", safe);
}

bool confirm(const char *question)
{
	char line[16];

	printf("%s [y/N] ", question);
	fflush(stdout);
	/* Drop what was typed before the question appeared. */
	tcflush(STDIN_FILENO, TCIFLUSH);
	if (!fgets(line, sizeof(line), stdin)) {
		printf("\n");
		return false;
	}
	return (line[0] == 'y' || line[0] == 'Y') && (line[1] == '\n' || line[1] == '\0');
}

int misuse(const struct command *command, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!command) {
		tell("%s (see agentbox --help)", text);
		return EXIT_USAGE;
	}
	tell("%s (see agentbox %s --help)", text, command->name);
	return command->runs ? EXIT_OURS : EXIT_USAGE;
}

/* Print each line of the hint below the error. */
static void tell_hint(const char *hint)
{
	while (*hint) {
		size_t len = strcspn(hint, "\n");
		ab_autofree char *line = ab_printf("          %.*s", (int)len, hint);

		tell_more(line);
		hint += len + (hint[len] == '\n');
	}
}

int complain(const struct args *args, const struct ab_error *err)
{
	if (err->step[0])
		tell("%s    (step: %s)", err->text, err->step);
	else
		tell("%s", err->text);
	if (err->hint[0])
		tell_hint(err->hint);
	if (!args->command->runs)
		return err->code == AB_EUSAGE ? EXIT_USAGE : 1;
	return ab_exit_status(err);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static int report_unknown_command(const char *name)
{
	const char *names[AB_COUNT(commands)];
	size_t n = 0;
	const char *near;

	for (; commands[n]; n++)
		names[n] = commands[n]->name;
	near = ab_guess(name, names, n);
	if (near)
		return misuse(NULL, "unknown command '%s'; did you mean %s?", name, near);
	if (name[0] == '-')
		return misuse(NULL, "unknown option %s", name);
	return misuse(NULL, "unknown command '%s'; to run it in the box: agentbox run -- %s ...",
		      name, name);
}

int main(int argc, char **argv)
{
	const struct command *command;
	struct args args = { 0 };
	int status;

	if (argc < 2) {
		print_overview();
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0) {
		command = argc > 2 ? find_command(argv[2]) : NULL;
		if (argc > 2 && !command)
			return misuse(NULL, "unknown command '%s'", argv[2]);
		if (command)
			print_help(command);
		else
			print_overview();
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("agentbox %s\n", AB_VERSION);
		return 0;
	}
	command = find_command(argv[1]);
	if (!command)
		return report_unknown_command(argv[1]);
	status = args_parse(&args, command, argc - 2, argv + 2);
	if (status >= 0)
		return status;
	status = command->main(&args);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		tell("cannot write the result: %m");
		return command->runs ? EXIT_OURS : 1;
	}
	return status;
}
