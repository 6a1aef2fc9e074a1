#include "cmd.h"

static const struct option options_discard[] = {
	FLAG("home", 0, "the layer above your home folder"),
	FLAG("yes", 'y', "do not ask"),
	{ 0 },
};

/* Without a terminal nobody can be asked; the command itself says it clearly. */
static bool may_discard(const struct args *args, const char *key, size_t n)
{
	ab_autofree char *question = NULL;

	if (n == 0 || !may_ask(args))
		return true;
	question =
		ab_printf("Discard %zu %s of %s for good?", n, n == 1 ? "change" : "changes", key);
	return confirm(question);
}

static size_t count_picked(const struct ab_apply *apply)
{
	size_t n = 0;

	for (size_t i = 0; i < apply->changes.len; i++)
		n += apply->picks[i].take;
	return n;
}

static int print_discarded(const struct args *args, const struct ab_layer_command *command,
			   const struct ab_apply *apply, size_t n)
{
	if (given(args, "json"))
		return print_made(ab_layer_command_json(command, apply, "discarded"), NULL);
	printf("%zu %s discarded\n", n, n == 1 ? "change" : "changes");
	return 0;
}

/* A layer that is too large to be looked at can still be removed. */
static int discard_unseen(struct args *args, struct ab_layer_command *command, struct ab_error *err)
{
	if (!given(args, "yes"))
		return -1;
	*err = (struct ab_error){ 0 };
	if (ab_layer_discard(&command->store, &command->set, given(args, "home"), err) < 0)
		return -1;
	printf("the layer of %s was removed\n", command->set.key);
	return 0;
}

static int discard_changes(struct args *args, struct ab_layer_command *command,
			   struct ab_error *err)
{
	ab_autoapply struct ab_apply apply = AB_APPLY_NONE;
	bool whole = command->paths.len == 0;
	size_t n;
	int rc;

	if (ab_apply_open(&command->set, given(args, "home"), &command->claim.guard, &apply,
			  &command->notes, err) < 0)
		return whole && err->code == AB_EREFUSED ? discard_unseen(args, command, err) : -1;
	if (whole)
		(void)ab_apply_pick_path(&apply, "");
	else if (ab_layer_command_pick(command, &apply, err) < 0)
		return -1;
	n = count_picked(&apply);
	if (!may_discard(args, command->set.key, n))
		return 1;
	rc = whole ? ab_layer_discard(&command->store, &command->set, apply.view.home, err)
		   : ab_apply_discard(&apply, false, err);
	if (rc < 0)
		return -1;
	for (size_t i = 0; i < apply.changes.len; i++)
		apply.picks[i].done = apply.picks[i].take;
	return print_discarded(args, command, &apply, n);
}

static int discard_main(struct args *args, struct ab_error *err)
{
	ab_autolayercommand struct ab_layer_command command = AB_LAYER_COMMAND_NONE;

	if (open_layer(args, AB_LAYER_DROPPED, &command, err) < 0)
		return -1;
	return discard_changes(args, &command, err);
}

const struct command command_discard = {
	.name = "discard",
	.usage = "[--home] [--yes] [--json] [RUN|NAME] [PATH...]",
	.summary = "drop changes of a layer",
	.groups = OPTION_GROUPS({ NULL, options_discard }, { NULL, options_json }),
	.words = { 0, SIZE_MAX },
	.main = discard_main,
};
