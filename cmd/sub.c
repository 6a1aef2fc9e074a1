#include "cmd.h"

/* "show" of "config show". */
static const char *get_sub_name(const struct command *sub)
{
	return strrchr(sub->name, ' ') + 1;
}

static int report_unknown_sub(const struct command *command, const char *word)
{
	const char *words[16];
	const char *near;
	size_t n = 0;

	for (; command->subs[n]; n++)
		words[n] = get_sub_name(command->subs[n]);
	near = word ? ab_guess(word, words, n) : NULL;
	if (near)
		return misuse(command, "unknown command '%s %s'; did you mean %s %s?",
			      command->name, word, command->name, near);
	if (word)
		return misuse(command, "unknown command '%s %s'", command->name, word);
	return misuse(command, "usage: agentbox %s %s", command->name, command->usage);
}

const struct command *find_sub(const struct command *command, const char *word, int *ret_status)
{
	const struct command *const *sub = command->subs;

	while (sub && *sub && word && strcmp(get_sub_name(*sub), word) != 0)
		sub++;
	if (sub && *sub && word)
		return *sub;
	*ret_status = command->subs ? report_unknown_sub(command, word)
				    : misuse(command, "unexpected argument \"%s\"", word);
	return NULL;
}

int check_words(const struct args *args, size_t min, size_t max)
{
	const struct command *command = args->command;

	if (args->nrest > max)
		return misuse(command, "unexpected argument \"%s\"", args->rest[max]);
	if (args->nrest < min)
		return misuse(command, "usage: agentbox %s %s", command->name, command->usage);
	return -1;
}

/* The subcommand that the first argument names. */
static int run_sub(struct args *args)
{
	const char *word = args->rest[0];
	const struct command *sub;
	struct args own = { 0 };
	int status;

	/* An agent may be called by its other name: "claude" is "claude-code". */
	if (word && args->command == &command_hook && ab_hook_agent(word))
		word = ab_hook_agent(word);
	sub = find_sub(args->command, word, &status);
	if (!sub)
		return status;
	/* `rest` points into main's argv, which args_parse() accepts. */
	status = args_parse(&own, sub, (int)args->nrest - 1, (char **)(uintptr_t)(args->rest + 1));
	return status >= 0 ? status : run_command(&own);
}

int run_command(struct args *args)
{
	const struct command *command = args->command;
	struct ab_error err = { 0 };
	int status;

	if (command->subs && (args->nrest || !command->main)) {
		if (args->nrest && given(args, ID_JSON))
			return misuse(command, "write --json after %s", args->rest[0]);
		return run_sub(args);
	}
	status = check_words(args, command->words.min, command->words.max);
	if (status >= 0)
		return status;
	status = command->bare ? 0 : ab_caller_init(&args->input, &err);
	if (status == 0)
		status = command->main(args, &err);
	return status < 0 ? complain(args, &err) : status;
}
