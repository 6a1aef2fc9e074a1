#include "cmd.h"

static const struct option options_changed[] = {
	FLAG("theirs", 0, "also take back what changed since"),
	FLAG("ours", 0, "leave what changed since the apply"),
	{ 0 },
};

static void print_paths(const char *title, const struct ab_strv *paths)
{
	if (paths->len)
		printf("%s\n", title);
	print_each("  ", paths, "");
}

static void print_json(const struct ab_layer_command *command, const struct ab_undone *undone,
		       bool done)
{
	static const struct ab_strv none;

	put_json("{'set':%s,'undone':%p,'changes':%zu,'changed':%p,'held':%p,'left':%zu}\n",
		 command->set.key, ab_list(done ? undone->paths : &none),
		 done ? undone->changes : 0, ab_list(undone->changed), ab_list(undone->held),
		 undone->left);
}

static void print_undone(const struct ab_undone *undone)
{
	bool one = undone->changes == 1;

	printf("%zu %s taken back; ", undone->changes, one ? "change" : "changes");
	if (undone->gone)
		printf("the layer was discarded, so %s not in it again",
		       one ? "it is" : "they are");
	else
		printf("%s in the layer again", one ? "it is" : "they are");
	if (undone->left)
		printf("; %zu earlier %s can be taken back", undone->left,
		       undone->left == 1 ? "apply" : "applies");
	printf("\n");
}

static int undo_apply(struct args *args, struct ab_layer_command *command,
		      enum ab_apply_conflict conflict, struct ab_error *err)
{
	ab_autostrv struct ab_strv paths = { 0 }, changed = { 0 }, held = { 0 }, notes = { 0 };
	struct ab_undone undone = {
		.paths = &paths, .changed = &changed, .held = &held, .notes = &notes
	};
	struct long_work work;
	struct ab_progress progress = show_progress(&work);
	int rc = ab_apply_undo(&command->set, conflict, &command->claim.guard, &progress, &undone,
			       err);

	end_progress(&work);
	if (given(args, "json") && (rc == 0 || changed.len))
		print_json(command, &undone, rc == 0);
	else if (rc == 0)
		print_undone(&undone);
	if (!given(args, "json")) {
		if (rc < 0 || conflict == AB_APPLY_OURS)
			print_paths("changed since the apply:", &changed);
		print_paths("left as well, because their repository changed:", &held);
	}
	fflush(stdout);
	tell_notes(&notes);
	if (rc < 0)
		return -1;
	return conflict == AB_APPLY_OURS && changed.len ? 1 : 0;
}

static int undo_main(struct args *args, struct ab_error *err)
{
	ab_autolayercommand struct ab_layer_command command = AB_LAYER_COMMAND_NONE;

	return open_layer(args, AB_LAYER_APPLIED, &command, err) < 0
		       ? -1
		       : undo_apply(args, &command, get_conflict(args), err);
}

const struct command command_undo = {
	.name = "undo",
	.usage = "[--theirs|--ours] [--json] [RUN|NAME]",
	.summary = "take the last apply back",
	.groups = OPTION_GROUPS({ NULL, options_changed }, { NULL, options_json }),
	.words = { 0, 1 },
	.rows = OPTION_ROWS("theirs ours"),
	.main = undo_main,
};
