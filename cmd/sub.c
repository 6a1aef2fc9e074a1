#include "cmd.h"

#include <stdint.h>
#include <string.h>

/* The last word of "config show". */
static const char *word_of(const struct command *sub)
{
	return strrchr(sub->name, ' ') + 1;
}

static int no_such_word(const struct command *command, const char *word)
{
	const char *words[16];
	const char *near;
	size_t n = 0;

	for (; command->subs[n]; n++)
		words[n] = word_of(command->subs[n]);
	near = word ? ab_guess(word, words, n) : NULL;
	if (near)
		return misuse(command, "no %s %s; did you mean %s %s?", command->name, word,
			      command->name, near);
	if (word)
		return misuse(command, "no %s %s", command->name, word);
	return misuse(command, "write: agentbox %s %s", command->name, command->usage);
}

int sub_main(struct args *args)
{
	const struct command *const *sub = args->command->subs;
	const char *word = args->nrest ? args->rest[0] : NULL;
	struct args own = { 0 };
	int status;

	while (*sub && word && strcmp(word_of(*sub), word) != 0)
		sub++;
	if (!word || !*sub)
		return no_such_word(args->command, word);
	/* The words are main's own argv, which args_parse() takes. */
	status = args_parse(&own, *sub, (int)args->nrest - 1, (char **)(uintptr_t)(args->rest + 1));
	return status >= 0 ? status : (*sub)->main(&own);
}

int check_words(const struct args *args, size_t min, size_t max)
{
	const struct command *command = args->command;

	if (args->nrest > max)
		return misuse(command, "\"%s\" is one word too many", args->rest[max]);
	if (args->nrest < min)
		return misuse(command, "write: agentbox %s %s", command->name, command->usage);
	return -1;
}
