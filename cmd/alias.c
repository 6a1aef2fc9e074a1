#include "cmd.h"

#include <stdio.h>
#include <string.h>

static const struct option options_alias[] = {
	{ "fish", 0, OPT_FLAG, ID_FISH, NULL, NULL, "print functions for fish" },
	{ 0 },
};

/* The name becomes shell code, so it must not contain special characters. */
static bool is_name(const char *s)
{
	return s[0] && s[0] != '-' &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789_-.") == strlen(s);
}

static void print_alias(const char *name, const struct ab_strv *profiles, bool fish)
{
	ab_autofree char *option =
		ab_strv_has(profiles, name) ? ab_printf("--profile %s ", name) : ab_strdup("");

	if (fish)
		printf("function %s; agentbox run %s-- %s $argv; end\n", name, option, name);
	else
		printf("%s() { agentbox run %s-- %s \"$@\"; }\n", name, option, name);
}

static int alias_main(struct args *args)
{
	ab_autostrv struct ab_strv profiles = { 0 }, docs = { 0 };
	struct ab_error err = { 0 };
	int status = check_words(args, 1, SIZE_MAX);

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0)
		return complain(args, &err);
	ab_policy_profiles(&args->input, &profiles, &docs);
	for (size_t i = 0; i < args->nrest; i++)
		if (!is_name(args->rest[i]))
			return misuse(args->command, "invalid program name \"%s\"", args->rest[i]);
	for (size_t i = 0; i < args->nrest; i++)
		print_alias(args->rest[i], &profiles, given(args, ID_FISH));
	return 0;
}

const struct command command_alias = {
	.name = "alias",
	.usage = "[--fish] PROGRAM...",
	.summary = "print shell functions that run programs in the box",
	.more = "For bash and zsh:  eval \"$(agentbox alias claude)\"\n"
		"If a profile has the same name as the program, the function uses it.",
	.groups =
		(const struct option_group[]){
			{ NULL, options_alias },
			{ NULL, options_common },
			{ 0 },
		},
	.main = alias_main,
};
