#include "cmd.h"

/*
 * The sections of the overview, in order. A command that is in none of them is in the last one, so
 * that every command is listed. The texts are arrays: a pointer is a relocation at every start.
 */
static const struct {
	char title[20], names[96];
} sections[] = {
	{ "Run", "run shell exec attach learn check connect" },
	{ "Watch and answer", "ps watch log why allow deny stop ports publish approvals" },
	{ "Review changes", "diff apply discard undo quarantine layers" },
	{ "Policy", "config profile rules policy secrets trust" },
	{ "Set up", "init doctor hook alias completion import mcp serve help version gc" },
};

/*
 * What `--help` lists of a command with many options; the rest is in `--help=all`. For all other
 * commands `--help` lists everything. A name that the command does not have is ignored.
 */
static const struct {
	char command[16], options[176];
} common[] = {
	{ "run",
	  "command dry-run profile with write read read-only review net allow publish secret "
	  "env timeout memory name keep detach in verbose quiet" },
	{ "exec", "command profile with write read read-only net allow secret env timeout" },
	{ "learn", "command save profile with write allow" },
	{ "shell", "profile with write read read-only review net allow publish" },
	/* These change a verdict. */
	{ "check", "command stdin batch null json explain profile config workspace" },
	{ "config show", "json all profile config workspace" },
	{ "secrets list", "json profile config workspace secret" },
	{ "secrets check", "json profile config workspace secret" },
};

enum { WIDE = 80, NARROWEST = 30, LEFT = 34 };

static const char *find_common(const struct command *command)
{
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		if (strcmp(common[i].command, command->name) == 0)
			return common[i].options;
	return NULL;
}

/* The columns of a terminal; 0: it is not one, or too narrow for any text. */
static size_t columns_of(int fd)
{
	size_t columns = isatty(fd) ? ab_tty_columns(fd, 0) : 0;

	return columns < NARROWEST ? 0 : columns;
}

void fit_message(struct ab_buf *to, int fd, const char *text, size_t margin)
{
	/* Several lines are laid out already. */
	if (columns_of(fd) && !strchr(text, '\n'))
		ab_wrap_message(to, text, margin, columns_of(fd));
	else
		ab_buf_puts(to, text);
}

void print_messages(const char *text)
{
	ab_autobuf struct ab_buf b = { 0 };

	while (*text) {
		size_t margin = strspn(text, " "), len = strcspn(text, "\n");
		ab_autofree char *line = ab_strndup(text + margin, len - margin);

		ab_buf_add(&b, text, margin);
		fit_message(&b, STDOUT_FILENO, line, margin);
		ab_buf_puts(&b, "\n");
		text += len + (text[len] == '\n');
	}
	fputs(b.data ? b.data : "", stdout);
}

static bool is_narrow(void)
{
	size_t columns = columns_of(STDOUT_FILENO);

	return columns && columns < WIDE;
}

void fit_text(struct ab_buf *to, const char *text)
{
	if (columns_of(STDOUT_FILENO))
		ab_wrap_text(to, text, columns_of(STDOUT_FILENO));
	else
		ab_buf_puts(to, text);
}

/* Help is written for 80 columns, and stays as it is where it fits. */
static void print_help_text(const char *text)
{
	if (is_narrow())
		print_text(text);
	else
		fputs(text, stdout);
}

void print_text(const char *text)
{
	ab_autobuf struct ab_buf b = { 0 };

	fit_text(&b, text);
	fputs(b.data ? b.data : "", stdout);
}

static void add_option(struct ab_buf *b, const struct option *o, bool narrow)
{
	char left[64];

	snprintf(left, sizeof(left), "%s%c%s--%s%s%s", o->letter ? "-" : "",
		 o->letter ? o->letter : ' ', o->letter ? ", " : "   ", o->name,
		 o->value && strncmp(o->value, "[=", 2) != 0 ? " " : "", o->value ? o->value : "");
	/* A long option gets a line of its own. */
	if (narrow)
		ab_buf_printf(b, "  %s\n        %s\n", left, o->help);
	else if (strlen(left) > LEFT)
		ab_buf_printf(b, "  %s\n  %-34s  %s\n", left, "", o->help);
	else
		ab_buf_printf(b, "  %-34s  %s\n", left, o->help);
}

static void add_subs(struct ab_buf *b, const struct command *sub)
{
	ab_buf_puts(b, "\n");
	for (; sub->name; sub++)
		ab_buf_printf(b, "  agentbox %s %s\n      %s\n", sub->name, sub->usage,
			      sub->summary);
}

static void add_all_options(struct ab_buf *b, const struct command *command, bool narrow)
{
	for (const struct option_group *g = command->groups; g->v; g++) {
		/* Groups without a title share one heading. */
		if (g->title || g == command->groups || g[-1].title)
			ab_buf_printf(b, "\n%s:\n", g->title ? g->title : "Options");
		for (const struct option *o = g->v; o->name; o++)
			add_option(b, o, narrow);
	}
}

static void add_common_options(struct ab_buf *b, const struct command *command, const char *names,
			       bool narrow)
{
	const char *name;

	ab_buf_puts(b, "\nCommon options:\n");
	for (size_t n; (name = ab_word_next(&names, &n));) {
		const struct option *o = find_option(command, name, n, 0);

		if (o)
			add_option(b, o, narrow);
	}
	add_option(b, options_common, narrow);
	ab_buf_printf(b, "\nEvery option: agentbox %s --help=all\n", command->name);
}

static void add_examples(struct ab_buf *b, const char *name)
{
	const char *lines = find_text(texts_examples, name);

	if (!lines)
		return;
	ab_buf_puts(b, "\nExamples:\n");
	for (size_t n; *lines; lines += n + (lines[n] == '\n')) {
		n = strcspn(lines, "\n");
		ab_buf_printf(b, "  %.*s\n", (int)n, lines);
	}
}

void print_help(const struct command *command, bool all)
{
	const char *names = all ? NULL : find_common(command);
	const char *more = find_text(texts_help, command->name);
	bool narrow = is_narrow();
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_printf(&b, "agentbox %s %s\n\n%s\n", command->name, command->usage,
		      command->summary);
	add_examples(&b, command->name);
	if (command->subs)
		add_subs(&b, command->subs);
	if (more)
		ab_buf_printf(&b, "\n%s", more);
	if (names)
		add_common_options(&b, command, names, narrow);
	else
		add_all_options(&b, command, narrow);
	print_help_text(b.data);
}

static void add_command(struct ab_buf *b, const struct command *command)
{
	ab_buf_printf(b, "  %-10s %s\n", command->name, command->summary);
}

static bool is_in_section(const char *name)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (ab_word_listed(sections[i].names, name, strlen(name)))
			return true;
	return false;
}

static void add_section(struct ab_buf *b, const char *names)
{
	const char *word;

	for (size_t n; (word = ab_word_next(&names, &n));) {
		ab_autofree char *name = ab_strndup(word, n);
		const struct command *command = find_command(name);

		if (command)
			add_command(b, command);
	}
}

void print_overview(void)
{
	ab_autobuf struct ab_buf b = { 0 };
	size_t last = sizeof(sections) / sizeof(sections[0]) - 1;

	ab_buf_puts(&b,
		    "agentbox runs a command confined to one folder and the hosts you allow.\n\n"
		    "  agentbox claude            run an agent, with the profile for it\n"
		    "  agentbox npm test          run any command: agentbox run -- npm test\n"
		    "  agentbox shell             open a shell in a box\n"
		    "  agentbox doctor            show what this machine can enforce\n");
	for (size_t i = 0; i <= last; i++) {
		ab_buf_printf(&b, "\n%s:\n", sections[i].title);
		add_section(&b, sections[i].names);
		for (size_t k = 0; i == last && commands[k]; k++)
			if (!is_in_section(commands[k]->name))
				add_command(&b, commands[k]);
	}
	ab_buf_puts(
		&b,
		"\nRun `agentbox COMMAND --help` for details. Colours: --color auto|always|never.\n");
	print_help_text(b.data);
}

static const struct option options_help[] = {
	FLAG("man", 0, "print the page of the manual"),
	{ 0 },
};

/* "run", "agentbox-run" and "agentbox-run(1)" are the same page. */
static int print_page(struct args *args, struct ab_error *err)
{
	static const char prefix[] = "agentbox-";
	const char *word = args->nrest ? args->rest[0] : "agentbox";
	size_t len = strcspn(word, "(");
	ab_autofree char *name = NULL;
	const char *text;

	if (strncmp(word, prefix, strlen(prefix)) == 0 && len > strlen(prefix)) {
		word += strlen(prefix);
		len -= strlen(prefix);
	}
	name = ab_strndup(word, len);
	text = find_text(texts_manual, name);
	if (!text)
		return misuse(args, err,
			      "the manual has no page '%s'; its pages are those of the commands, "
			      "agentbox and agentbox.json",
			      args->rest[0]);
	if (ab_caller_init(&args->input, err) < 0)
		return -1;
	return print_paged(args, text);
}

static int help_main(struct args *args, struct ab_error *err)
{
	const struct command *command = args->nrest ? find_command(args->rest[0]) : NULL;

	if (given(args, "man"))
		return print_page(args, err);
	/* A mistake is one in the use of that command. */
	args->command = command;
	if (args->nrest && !command)
		return report_unknown_command(args, args->rest[0], err);
	if (args->nrest == 2)
		command = find_sub(args, args->rest[1], err);
	if (args->nrest && !command)
		return -1;
	if (command)
		print_help(command, false);
	else
		print_overview();
	return 0;
}

const struct command command_help = {
	.name = "help",
	.usage = "[--man] [COMMAND]",
	.summary = "show the help or the manual page of a command",
	.groups = OPTION_GROUPS({ NULL, options_help }),
	.words = { 0, 2 },
	.bare = true,
	.main = help_main,
};
