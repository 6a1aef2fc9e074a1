#include "cmd.h"

/* "show" of "config show". */
static const char *get_sub_name(const struct command *sub)
{
	return strrchr(sub->name, ' ') + 1;
}

static int report_unknown_sub(const struct args *args, const char *word, struct ab_error *err)
{
	const struct command *command = args->command;
	const char *words[16];
	const char *near;
	size_t n = 0;

	for (; command->subs[n].name; n++)
		words[n] = get_sub_name(&command->subs[n]);
	near = word ? ab_guess(word, words, n) : NULL;
	if (near)
		return misuse(args, err, "unknown command '%s %s'; did you mean %s %s?",
			      command->name, word, command->name, near);
	if (word)
		return misuse(args, err, "unknown command '%s %s'", command->name, word);
	return misuse(args, err, "usage: agentbox %s %s", command->name, command->usage);
}

const struct command *find_sub(const struct args *args, const char *word, struct ab_error *err)
{
	const struct command *sub = args->command->subs;

	for (; sub && word && sub->name; sub++)
		if (strcmp(get_sub_name(sub), word) == 0)
			return sub;
	if (args->command->subs)
		report_unknown_sub(args, word, err);
	else
		misuse(args, err, "unexpected argument \"%s\"", word);
	return NULL;
}

/* The subcommand that the first argument names. */
static int run_sub(struct args *args, struct ab_error *err)
{
	const char *word = args->rest[0];
	const struct command *sub;
	struct args own = { 0 };
	int status;

	/* An agent may be called by its other name: "claude" is "claude-code". */
	if (word && args->command == &command_hook && ab_hook_agent(word))
		word = ab_hook_agent(word);
	sub = find_sub(args, word, err);
	if (!sub)
		return -1;
	/* `rest` points into main's argv, which args_parse() accepts. */
	status = args_parse(&own, sub, (int)args->nrest - 1, (char **)(uintptr_t)(args->rest + 1),
			    err);
	return status < 0 ? complain(&own, err) : status > 0 ? 0 : run_command(&own);
}

static bool is_given(const struct args *args, const char *word, size_t len)
{
	ab_autofree char *name = ab_strndup(word, len);

	return strcmp(name, "RUN") == 0 ? args->nrest > 0 : given(args, name);
}

static int check_row(const struct args *args, const char *row, struct ab_error *err)
{
	ab_autofree char *names = ab_strndup(row, strcspn(row, ":"));
	const char *rest = names, *word;
	size_t n = 0, len = 0;
	const char *first = ab_word_next(&rest, &n);
	bool needs = ab_word_listed(rest, "needs", 5);

	while (is_given(args, first, n) && (word = ab_word_next(&rest, &len)) != NULL)
		if (strncmp(word, "needs", len) != 0 && is_given(args, word, len) != needs)
			return misuse(args, err, "--%.*s %s %s%.*s%s", (int)n, first,
				      needs ? "needs" : "cannot be combined with",
				      *word == 'R' ? "" : "--", (int)len, word,
				      row + strlen(names));
	return 0;
}

static int start_command(struct args *args, struct ab_error *err)
{
	const struct command *command = args->command;
	size_t max = command->words.max;

	if (command->subs && (args->nrest || !command->main)) {
		if (args->nrest && given(args, "json"))
			return misuse(args, err, "write --json after %s", args->rest[0]);
		return run_sub(args, err);
	}
	if (args->nrest > max)
		return misuse(args, err, "unexpected argument \"%s\"", args->rest[max]);
	if (args->nrest < command->words.min)
		return misuse(args, err, "usage: agentbox %s %s", command->name, command->usage);
	for (const char *const *row = command->rows; row && *row; row++)
		if (check_row(args, *row, err) < 0)
			return -1;
	if (!command->bare && ab_caller_init(&args->input, err) < 0)
		return -1;
	return command->main(args, err);
}

int run_command(struct args *args)
{
	struct ab_error err = { 0 };
	int status = start_command(args, &err);

	return status < 0 ? complain(args, &err) : status;
}
