#include "cmd.h"

static int completion_main(struct args *args, struct ab_error *err)
{
	const char *text = find_text(texts_completions, args->rest[0]);

	if (!text)
		return misuse(args, err, "there is no completion for '%s'; use bash, zsh or fish",
			      args->rest[0]);
	fputs(text, stdout);
	return 0;
}

const struct command command_completion = {
	.name = "completion",
	.usage = "bash|zsh|fish",
	.summary = "print what makes a shell complete agentbox",
	.groups = groups_common,
	.words = { 1, 1 },
	.bare = true,
	.main = completion_main,
};
