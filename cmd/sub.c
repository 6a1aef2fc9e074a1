#include "cmd.h"

#include <stdint.h>
#include <string.h>

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

int sub_main(struct args *args)
{
	const struct command *const *sub = args->command->subs;
	const char *word = args->nrest ? args->rest[0] : NULL;
	struct args own = { 0 };
	int status;

	while (*sub && word && strcmp(get_sub_name(*sub), word) != 0)
		sub++;
	if (!word || !*sub)
		return report_unknown_sub(args->command, word);
	/* `rest` points into main's argv, which args_parse() accepts. */
	status = args_parse(&own, *sub, (int)args->nrest - 1, (char **)(uintptr_t)(args->rest + 1));
	return status >= 0 ? status : (*sub)->main(&own);
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
