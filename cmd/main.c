#include "cmd.h"

#include <malloc.h>
#include <termios.h>

#define ADDRESS(name) &command_##name,
const struct command *const commands[] = { COMMANDS(ADDRESS) NULL };

static void print_stderr(const char *before, const char *text)
{
	struct termios now;
	/* A terminal that a run has set to raw mode needs "\r" before "\n". */
	bool raw = tcgetattr(STDERR_FILENO, &now) == 0 && !(now.c_oflag & OPOST);
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_puts(&b, before);
	for (;;) {
		size_t len = strcspn(text, "\n");

		ab_buf_add(&b, text, len);
		ab_buf_puts(&b, raw ? "\r\n" : "\n");
		if (!text[len])
			break;
		text += len + 1;
	}
	fputs(b.data, stderr);
}

/* Escape it: names of files and commands may contain anything. One write, so that lines of several
 * processes do not mix. */
static void tell_text(enum colour colour, const char *text)
{
	static const char name[] = "agentbox:";
	ab_autofree char *safe = ab_escape(text);
	ab_autobuf struct ab_buf before = { 0 }, fitted = { 0 };

	add_coloured(&before, STDERR_FILENO, colour, name, strlen(name));
	ab_buf_puts(&before, " ");
	fit_message(&fitted, STDERR_FILENO, safe, strlen(name) + 1);
	print_stderr(before.data, fitted.data ? fitted.data : "");
}

void put_json(const char *pattern, ...)
{
	ab_autobuf struct ab_buf b = { 0 };
	va_list ap;

	va_start(ap, pattern);
	ab_buf_vjsonf(&b, pattern, ap);
	va_end(ap);
	fputs(b.data, stdout);
}

void tell_in(enum colour colour, const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	tell_text(colour, text);
}

/* A hint is fitted to the terminal; rows of a list are, by those who make them. */
void tell_more(const char *text)
{
	enum { HINT = 10 };
	ab_autofree char *safe = ab_escape(text);
	ab_autobuf struct ab_buf fitted = { 0 };
	size_t margin = strspn(safe, " ");

	ab_buf_add(&fitted, safe, margin);
	if (margin >= HINT)
		fit_message(&fitted, STDERR_FILENO, safe + margin, margin);
	else
		ab_buf_puts(&fitted, safe + margin);
	print_stderr("", fitted.data ? fitted.data : "");
}

void tell_notes(const struct ab_strv *notes)
{
	for (size_t i = 0; i < notes->len; i++)
		if (notes->v[i][0] == ' ')
			tell_more(notes->v[i]);
		else
			tell("%s", notes->v[i]);
}

size_t output_columns(void)
{
	return isatty(STDOUT_FILENO) ? ab_tty_columns(STDOUT_FILENO, 80) : 0;
}

int print_made(char *text, const struct ab_strv *notes)
{
	fputs(text, stdout);
	free(text);
	if (notes) {
		fflush(stdout);
		tell_notes(notes);
	}
	return 0;
}

int read_input(FILE *file, size_t most, struct ab_buf *b)
{
	char block[16384];
	size_t n;

	/* Once a terminal has said that this is the end, fread() would ask it again. */
	while (b->len <= most && !feof(file) && (n = fread(block, 1, sizeof(block), file)) > 0)
		ab_buf_add(b, block, n);
	return ferror(file) ? -1 : 0;
}

void print_each(const char *before, const struct ab_strv *lines, const char *after)
{
	for (size_t i = 0; i < lines->len; i++) {
		ab_autofree char *safe = ab_escape(lines->v[i]);

		printf("%s%s%s\n", before, safe, after);
	}
}

void print_safe(const char *before, const struct ab_strv *lines)
{
	for (size_t i = 0; i < lines->len; i++)
		printf("%s%s\n", before, lines->v[i]);
}

bool can_ask(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

bool may_ask(const struct args *args)
{
	return can_ask() && !given(args, "yes") && !given(args, "json");
}

int get_consent(const struct args *args, const char *question, const char *without, const char *no)
{
	if (given(args, "yes"))
		return -1;
	fflush(stdout);
	if (can_ask() && confirm(question))
		return -1;
	if (!can_ask())
		tell("%s", without);
	else if (no)
		tell("%s", no);
	return 1;
}

bool confirm(const char *question)
{
	ab_autofree char *line = NULL;
	size_t room = 0;

	printf("%s ", question);
	fflush(stdout);
	/* Drop what was typed before the question appeared, but nothing after its end did. */
	tcflush(STDIN_FILENO, TCIFLUSH);
	printf("[y/N] ");
	fflush(stdout);
	/* All of it: its end must not answer the next question. */
	if (getline(&line, &room, stdin) < 0) {
		printf("\n");
		return false;
	}
	return (line[0] == 'y' || line[0] == 'Y') && (line[1] == '\n' || line[1] == '\0');
}

int misuse(const struct args *args, struct ab_error *err, const char *fmt, ...)
{
	const char *name = args->command ? args->command->name : "";
	char text[sizeof(err->text) - 64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return ab_fail(err, AB_EUSAGE, 0, "%s (see agentbox %s%s--help)", text, name,
		       *name ? " " : "");
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
	/* The step says which part of a start failed; a mistake of the user's has no such part. */
	bool start = given(args, "verbose") || err->code == AB_ESYSTEM || err->code == AB_EPROPERTY;

	if (start && err->step[0])
		tell_in(COLOUR_RED, "%s    (step: %s)", err->text, err->step);
	else
		tell_in(COLOUR_RED, "%s", err->text);
	if (err->hint[0])
		tell_hint(err->hint);
	if (err->code == AB_EUSAGE && !(args->command && args->command->runs))
		return EXIT_USAGE;
	return args->command && !args->command->runs ? 1 : ab_exit_status(err);
}

const struct command *find_command(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

/* A word that other programs know. It can also be a program. */
static int report_habit(const struct args *args, const char *name, const char *command,
			struct ab_error *err)
{
	if (ab_caller_finds(name))
		return misuse(args, err,
			      "unknown command '%s'; did you mean agentbox %s? To run the "
			      "program %s in the box: agentbox run -- %s",
			      name, command, name, name);
	return misuse(args, err, "unknown command '%s'; did you mean agentbox %s?", name, command);
}

int report_unknown_command(const struct args *args, const char *name, struct ab_error *err)
{
	const char *names[AB_COUNT(commands)];
	const char *habit = habit_command(name);
	const char *near;
	size_t n = 0;

	if (habit)
		return report_habit(args, name, habit, err);
	/* As `agentbox run` would say about it. */
	if (ab_caller_knows_agent(name))
		return ab_fail(err, AB_ENOTFOUND, 0, "%s is not installed (not in PATH)", name);
	for (; commands[n]; n++)
		names[n] = commands[n]->name;
	near = ab_guess(name, names, n);
	if (near)
		return misuse(args, err, "unknown command '%s'; did you mean %s?", name, near);
	if (strchr(name, '/'))
		return misuse(args, err, "%s is not a program", name);
	return misuse(args, err, "unknown command '%s', and no program on PATH has that name",
		      name);
}

/* An option where a command belongs. */
static int report_first_option(const struct args *args, const char *name, struct ab_error *err)
{
	size_t len = strcspn(name, "=");

	if (strncmp(name, "--", 2) == 0 && find_option(&command_run, name + 2, len - 2, 0))
		return misuse(args, err, "%.*s is an option of run: agentbox run %s ...", (int)len,
			      name, name);
	return misuse(args, err, "unknown option %s", name);
}

/*
 * What the first word means, and where its arguments begin. agentbox's own commands always win; "--", a
 * path or a program on PATH is what `run` gets; so a word never means something else because of a
 * file in the current folder.
 */
static int choose_command(const struct args *args, int argc, char **argv,
			  const struct command **ret, int *ret_first, struct ab_error *err)
{
	const char *word = argc > 1 ? argv[1] : "";

	*ret_first = 2;
	*ret = find_command(word);
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		*ret = &command_help;
	else if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		*ret = &command_version;
	if (*ret)
		return 0;
	if (word[0] == '-' && strcmp(word, "--") != 0)
		return report_first_option(args, word, err);
	if (strcmp(word, "--") != 0 && (habit_command(word) || !ab_caller_finds(word)))
		return report_unknown_command(args, word, err);
	*ret = &command_run;
	*ret_first = 1;
	return 0;
}

/* "--color never" in front of the command. */
static int take_colour(const struct args *args, int *argc, char ***argv, struct ab_error *err)
{
	static const char name[] = "--color";
	size_t len = strlen(name);

	while (*argc > 1 && strncmp((*argv)[1], name, len) == 0 &&
	       ((*argv)[1][len] == '=' || !(*argv)[1][len])) {
		bool next = !(*argv)[1][len];
		const char *value = next ? (*argc > 2 ? (*argv)[2] : "") : (*argv)[1] + len + 1;

		if (!set_colour(value))
			return misuse(args, err,
				      "--color: invalid value \"%s\"; use auto, always or never",
				      value);
		*argc -= 1 + next;
		*argv += 1 + next;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct command *command;
	struct args args = { 0 };
	struct ab_error err = { 0 };
	int first, status;

	/* If the caller ignores it, the kernel would not tell us how our processes end. */
	signal(SIGCHLD, SIG_DFL);
	if (tool_main(argc, argv, &status))
		return status;
	status = take_colour(&args, &argc, &argv, &err);

	/* The heap grows once, and what a short run frees is not given back in between. */
	mallopt(M_TOP_PAD, 512 * 1024);
	mallopt(M_TRIM_THRESHOLD, 4 * 1024 * 1024);
	if (status < 0)
		return complain(&args, &err);
	if (argc < 2) {
		print_overview();
		return EXIT_USAGE;
	}
	status = choose_command(&args, argc, argv, &command, &first, &err);
	if (status == 0)
		status = args_parse(&args, command, argc - first, argv + first, &err);
	if (status != 0)
		return status < 0 ? complain(&args, &err) : 0;
	status = run_command(&args);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		tell("cannot write the result: %m");
		return command->runs ? EXIT_OURS : 1;
	}
	return status;
}
