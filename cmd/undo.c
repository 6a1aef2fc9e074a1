#include "cmd.h"

#include <stdio.h>

static const struct option options_changed[] = {
	{ "theirs", 0, OPT_FLAG, ID_THEIRS, NULL, NULL, "also take back what changed since" },
	{ "ours", 0, OPT_FLAG, ID_OURS, NULL, NULL, "leave what changed since the apply" },
	{ 0 },
};

static void print_paths(const char *title, const struct ab_strv *paths)
{
	if (paths->len)
		printf("%s\n", title);
	for (size_t i = 0; i < paths->len; i++) {
		ab_autofree char *path = ab_escape(paths->v[i]);

		printf("  %s\n", path);
	}
}

static void print_json(const struct ab_layer_command *command, const struct ab_undone *undone,
		       bool done)
{
	static const struct ab_strv none;
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_puts(&b, "{\"set\":");
	ab_buf_json(&b, command->set.key);
	ab_buf_puts(&b, ",\"undone\":");
	ab_buf_json_list(&b, done ? undone->paths : &none);
	ab_buf_puts(&b, ",\"changed\":");
	ab_buf_json_list(&b, undone->changed);
	ab_buf_puts(&b, ",\"held\":");
	ab_buf_json_list(&b, undone->held);
	ab_buf_puts(&b, "}\n");
	fputs(b.data, stdout);
}

static int undo_apply(struct args *args, struct ab_layer_command *command,
		      enum ab_apply_conflict conflict, struct ab_error *err)
{
	ab_autostrv struct ab_strv paths = { 0 }, changed = { 0 }, held = { 0 };
	struct ab_undone undone = { .paths = &paths, .changed = &changed, .held = &held };
	struct long_work work;
	struct ab_progress progress = show_progress(&work);
	int rc = ab_apply_undo(&command->set, conflict, &command->claim.guard, &progress, &undone,
			       err);

	end_progress(&work);
	if (given(args, ID_JSON) && (rc == 0 || changed.len))
		print_json(command, &undone, rc == 0);
	else if (rc == 0)
		printf("%zu %s taken back; %s in the layer again\n", paths.len,
		       paths.len == 1 ? "change" : "changes",
		       paths.len == 1 ? "it is" : "they are");
	if (!given(args, ID_JSON)) {
		if (rc < 0 || conflict == AB_APPLY_OURS)
			print_paths("changed since the apply:", &changed);
		print_paths("left as well, because their repository changed:", &held);
	}
	if (rc < 0)
		return complain(args, err);
	return conflict == AB_APPLY_OURS && changed.len ? 1 : 0;
}

static int undo_main(struct args *args)
{
	ab_autolayercommand struct ab_layer_command command = AB_LAYER_COMMAND_NONE;
	struct ab_layer_words words = layer_words(args);
	enum ab_apply_conflict conflict = AB_APPLY_LEAVE;
	struct ab_error err = { 0 };
	int status = check_words(args, 0, 1);

	if (status < 0)
		status = get_conflict(args, &conflict);
	if (status >= 0)
		return status;
	words.dashes = true; /* the word can only be a name */
	words.before = words.n;
	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_layer_command_open(&args->input, &words, AB_LAYER_APPLIED, false, &command, &err) <
		    0)
		return complain(args, &err);
	tell_layer_notes(args, &command, "last apply");
	return undo_apply(args, &command, conflict, &err);
}

const struct command command_undo = {
	.name = "undo",
	.usage = "[--theirs|--ours] [--json] [RUN|NAME]",
	.summary = "take the last apply back",
	.more = "The host's files become what they were before the apply, and the changes wait in\n"
		"the layer again. If a file changed since the apply, nothing is taken back unless\n"
		"you decide: --theirs takes it back and loses the later change, --ours leaves it.",
	.groups = OPTION_GROUPS({ NULL, options_changed }, { NULL, options_json }),
	.main = undo_main,
};
