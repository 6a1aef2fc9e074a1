#include "cmd.h"

#include <termios.h>

#define PROGRESS_MS 1000 /* nothing is shown before */

static const struct option options_apply[] = {
	FLAG("all", 0, "apply every change"),
	FLAG("safe", 0, "apply the changes without a label"),
	FLAG("patch", 'p', "ask about each change, hunk by hunk"),
	FLAG("home", 0, "the layer above your home folder"),
	FLAG("yes", 'y', "do not ask about changes that want a look"),
	{ 0 },
};

static const struct option options_conflicts[] = {
	FLAG("theirs", 0, "where both sides changed: take the layer's"),
	FLAG("ours", 0, "where both sides changed: keep the host's"),
	{ 0 },
};

/* ---- shared with discard and undo ---- */

int open_layer(const struct args *args, enum ab_layer_use use, struct ab_layer_command *ret,
	       struct ab_error *err)
{
	bool applied = use == AB_LAYER_APPLIED;
	/* To take an apply back, a word can only be a name. */
	const struct ab_layer_words words = { .v = args->rest,
					      .n = args->nrest,
					      .dashes = args->dashes || applied,
					      .before = applied ? args->nrest : args->before };

	if (ab_layer_command_open(&args->input, &words, use, given(args, "home"), ret, err) < 0)
		return -1;
	tell_notes(&ret->notes);
	if (ret->chosen && !given(args, "json"))
		tell("using the %s of %s", applied ? "last apply" : "changes", ret->set.key);
	return 0;
}

enum ab_apply_conflict get_conflict(const struct args *args)
{
	return given(args, "theirs") ? AB_APPLY_THEIRS
	       : given(args, "ours") ? AB_APPLY_OURS
				     : AB_APPLY_LEAVE;
}

static void show_step(void *arg, size_t done, size_t all)
{
	struct long_work *work = arg;

	if (done % 64 && done != all)
		return;
	if (ab_now_ms() - work->began_ms < PROGRESS_MS)
		return;
	fprintf(stderr, "\r%zu of %zu", done, all);
	work->shown = true;
}

struct ab_progress show_progress(struct long_work *work)
{
	*work = (struct long_work){ .began_ms = ab_now_ms() };
	return (struct ab_progress){ isatty(STDERR_FILENO) ? show_step : NULL, work };
}

void end_progress(const struct long_work *work)
{
	if (work->shown)
		fputs("\r\033[K", stderr);
}

char ask_letter(const char *question, const char *letters)
{
	char line[16], rest[64];
	size_t len = strlen(letters);

	for (;;) {
		printf("%s ", question);
		fflush(stdout);
		tcflush(STDIN_FILENO, TCIFLUSH);
		if (!fgets(line, sizeof(line), stdin)) {
			printf("\n");
			return letters[len - 1];
		}
		if (line[0] && line[0] != '\n' && strchr(letters, line[0]) &&
		    (line[1] == '\n' || line[1] == '\0'))
			return line[0];
		/* One wrong answer is asked about once, however long it is. */
		for (bool ended = strchr(line, '\n'); !ended && fgets(rest, sizeof(rest), stdin);)
			ended = strchr(rest, '\n');
	}
}

static void print_change(const struct ab_change *change, const char *why)
{
	ab_autofree char *path = ab_escape(change->path);
	ab_autofree char *labels = ab_change_labels(change);
	bool folder = change->is == AB_TYPE_DIR ||
		      (change->is == AB_TYPE_NONE && change->was == AB_TYPE_DIR);

	printf("  %-8s  %s%s", ab_show_kind(change), path, folder ? "/" : "");
	if (change->count)
		printf(" (%llu entries)", (unsigned long long)change->count);
	if (labels[0])
		printf("  [%s]", labels);
	if (why)
		printf("  %s", why);
	printf("\n");
}

/* ---- hunk by hunk ---- */

static const char choices[] = "y  yes, apply it\n"
			      "n  no, leave it in the layer\n"
			      "q  quit: apply nothing at all\n"
			      "a  apply this one and all later ones\n"
			      "d  done: leave this one and all later ones\n";

/* What is decided about the rest. */
enum rest { REST_ASK, REST_ALL, REST_NONE, REST_QUIT };

static bool ask_about(const char *question, enum rest *rest)
{
	for (;;) {
		switch (*rest == REST_ASK   ? ask_letter(question, "ynad?q")
			: *rest == REST_ALL ? 'y'
					    : 'n') {
		case 'y':
			return true;
		case 'a':
			*rest = REST_ALL;
			return true;
		case 'd':
			*rest = REST_NONE;
			return false;
		case 'q':
			*rest = REST_QUIT;
			return false;
		case '?':
			fputs(choices, stdout);
			break;
		default:
			return false;
		}
	}
}

static void print_line(void *arg, char sign, const char *line, size_t len)
{
	ab_autobuf struct ab_buf b = { 0 };

	(void)arg;
	if (len && line[len - 1] == '\n')
		len--;
	ab_buf_escape_n(&b, line, len);
	printf("%c%s\n", sign, b.data ? b.data : "");
}

/* Ask about each hunk. Some of them: the file gets these. */
static void pick_file(struct ab_apply *apply, size_t i, const struct ab_contents *contents,
		      enum rest *rest)
{
	ab_autohunks struct ab_hunks hunks = { 0 };
	ab_autofree bool *take = NULL;
	size_t taken = 0;

	ab_hunks_find(contents->old.data, contents->old.len, contents->fresh.data,
		      contents->fresh.len, &hunks);
	take = ab_alloc((hunks.len + 1) * sizeof(take[0]));
	for (size_t h = 0; h < hunks.len; h++) {
		char header[AB_HUNK_HEADER];

		if (*rest == REST_ASK) {
			puts(ab_hunk_header(&hunks.v[h], header));
			ab_hunk_each(&hunks, &hunks.v[h], print_line, NULL);
		}
		take[h] = ask_about("apply this hunk [y,n,q,a,d,?]?", rest);
		taken += take[h];
	}
	apply->picks[i].take = taken > 0;
	if (taken > 0 && taken < hunks.len) {
		struct ab_buf text = { 0 };
		size_t len;

		ab_hunks_apply(&hunks, take, &text);
		len = text.len;
		ab_apply_pick_part(apply, i, ab_buf_take(&text), len);
	}
}

/* The whole change as a patch; its labels are printed already. */
static void print_patch(const struct ab_change *change, const struct ab_contents *contents)
{
	ab_autohunks struct ab_hunks hunks = { 0 };
	ab_autobuf struct ab_buf b = { 0 };
	const struct ab_show_style style = { 0 };
	bool text = ab_contents_are_text(contents);
	struct ab_shown shown = { .change = change, .contents = contents };

	if (text) {
		const struct ab_content *old = &contents->old, *fresh = &contents->fresh;

		ab_hunks_find(old->data ? old->data : "", old->len, fresh->data ? fresh->data : "",
			      fresh->len, &hunks);
		shown.hunks = &hunks;
	}
	ab_show_patch(&b, &style, &shown);
	if (b.len)
		fwrite(b.data, 1, b.len, stdout);
}

static void pick_change(struct ab_apply *apply, size_t i, enum ab_apply_conflict conflict,
			enum rest *rest)
{
	struct ab_change *c = &apply->changes.v[i];
	ab_autocontents struct ab_contents contents = { 0 };

	if (c->refused)
		return; /* it is reported at the end */
	if (c->conflict && conflict == AB_APPLY_LEAVE) {
		if (*rest == REST_ASK)
			print_change(c, "conflict: it needs --theirs or --ours");
		return; /* so is this */
	}
	if (*rest == REST_ASK)
		print_change(c, c->conflict ? "conflict" : NULL);
	if (*rest == REST_ASK || c->kind == AB_CHANGE_MODIFIED)
		ab_contents_read(&apply->view, c, &contents);
	if (c->kind == AB_CHANGE_MODIFIED && c->is == AB_TYPE_FILE &&
	    ab_contents_are_text(&contents)) {
		pick_file(apply, i, &contents, rest);
		return;
	}
	if (*rest == REST_ASK)
		print_patch(c, &contents);
	apply->picks[i].take = ask_about("apply this change [y,n,q,a,d,?]?", rest);
}

/* Ask about each picked change, hunk by hunk. False: the person quit. */
static bool pick_hunks(struct ab_apply *apply, enum ab_apply_conflict conflict)
{
	enum rest rest = REST_ASK;

	ab_apply_label(apply);
	for (size_t i = 0; i < apply->changes.len && rest != REST_QUIT; i++)
		if (apply->picks[i].take)
			pick_change(apply, i, conflict, &rest);
	return rest != REST_QUIT;
}

/* ---- apply ---- */

static int check_choice(const struct args *args, const struct ab_layer_command *command,
			struct ab_error *err)
{
	if (given(args, "all") && command->paths.len)
		return misuse(args, err, "--all and a path cannot be combined");
	if (given(args, "patch") && !can_ask())
		return misuse(args, err, "--patch needs a terminal");
	return 0;
}

/* Without a choice: show what there is and ask. False: nothing. */
static bool ask_choice(struct ab_apply *apply, enum ab_apply_conflict conflict)
{
	size_t labelled = 0;
	char answer;

	ab_apply_label(apply);
	for (size_t i = 0; i < apply->changes.len; i++) {
		const struct ab_change *c = &apply->changes.v[i];

		print_change(c, c->refused ? c->refused : c->conflict ? "conflict" : NULL);
		labelled += c->labels != 0;
	}
	if (labelled)
		printf("%zu of %zu %s a look\n", labelled, apply->changes.len,
		       labelled == 1 ? "wants" : "want");
	answer = ask_letter("[a]pply all, apply the [s]afe ones, [p]atch by patch, or [n]one?",
			    "aspn");
	if (answer == 'a')
		(void)ab_apply_pick_path(apply, "");
	else if (answer == 's')
		ab_apply_pick_safe(apply);
	else if (answer == 'p') {
		(void)ab_apply_pick_path(apply, "");
		return pick_hunks(apply, conflict);
	}
	return answer != 'n';
}

/* Programs outside the box may obey what has a label. */
static int check_look(const struct args *args, struct ab_apply *apply, struct ab_error *err)
{
	size_t labelled = 0;

	if (!may_ask(args))
		return 1;
	ab_apply_label(apply);
	for (size_t i = 0; i < apply->changes.len; i++)
		if (apply->picks[i].take && apply->changes.v[i].labels) {
			print_change(&apply->changes.v[i], NULL);
			labelled++;
		}
	return !labelled || confirm("This wants a look. Apply everything that you named?")
		       ? 1
		       : ab_fail(err, AB_EREFUSED, 0, "nothing was applied");
}

/* The changes that were asked for: -1, or an exit status. */
static int choose_changes(const struct args *args, const struct ab_layer_command *command,
			  enum ab_apply_conflict conflict, struct ab_apply *apply,
			  struct ab_error *err)
{
	bool safe = given(args, "safe"), patch = given(args, "patch");

	if (command->paths.len) {
		if (ab_layer_command_pick(command, apply, err) < 0)
			return -1;
	} else if (given(args, "all") || patch) {
		(void)ab_apply_pick_path(apply, "");
	} else if (safe) {
		ab_apply_pick_safe(apply);
	} else if (can_ask() && !given(args, "json")) {
		return ask_choice(apply, conflict);
	} else {
		return misuse(args, err, "name what to apply: a path, --all or --safe");
	}
	if (safe && command->paths.len)
		ab_apply_keep_safe(apply);
	return patch ? pick_hunks(apply, conflict) : check_look(args, apply, err);
}

static int print_applied(const struct args *args, const struct ab_layer_command *command,
			 const struct ab_apply *apply)
{
	size_t done = 0, left = 0, dropped = 0, conflicts = 0;

	for (size_t i = 0; i < apply->changes.len; i++) {
		done += apply->picks[i].done && !apply->picks[i].dropped;
		dropped += apply->picks[i].dropped;
		left += apply->picks[i].left && !apply->picks[i].dropped;
		conflicts += apply->picks[i].left && !apply->picks[i].dropped &&
			     apply->changes.v[i].conflict;
	}
	if (given(args, "json")) {
		print_made(ab_layer_command_json(command, apply, "applied"), NULL);
		return left ? 1 : 0;
	}
	printf("%zu %s applied", done, done == 1 ? "change" : "changes");
	if (dropped)
		printf(", %zu dropped from the layer", dropped);
	if (done)
		printf("; to take it back: agentbox undo %s", command->set.key);
	printf("\n");
	if (apply->forgotten)
		printf("%s can no longer be taken back: the last %d are kept, if they need no more "
		       "than %d GiB\n",
		       apply->forgotten == 1 ? "the oldest apply" : "the oldest applies",
		       AB_UNDO_MAX, AB_UNDO_GIB);
	if (left)
		printf("%zu left:\n", left);
	for (size_t i = 0; left && i < apply->changes.len; i++)
		if (apply->picks[i].left && !apply->picks[i].dropped)
			print_change(&apply->changes.v[i], apply->picks[i].left);
	if (conflicts)
		printf("where the host changed something: --theirs applies the layer's version, "
		       "--ours keeps the host's\n");
	return left ? 1 : 0;
}

static int apply_changes(struct args *args, struct ab_layer_command *command,
			 enum ab_apply_conflict conflict, struct ab_error *err)
{
	ab_autoapply struct ab_apply apply = AB_APPLY_NONE;
	struct long_work work;
	struct ab_progress progress;
	int status;

	if (ab_apply_open(&command->set, given(args, "home"), &command->claim.guard, &apply,
			  &command->notes, err) < 0)
		return -1;
	if (!apply.changes.len && !given(args, "json")) {
		printf("%s has no changes\n", command->set.key);
		return 0;
	}
	status = choose_changes(args, command, conflict, &apply, err);
	if (status <= 0)
		return status;
	progress = show_progress(&work);
	status = ab_apply_commit(&apply, conflict, &progress, err);
	end_progress(&work);
	return status < 0 ? -1 : print_applied(args, command, &apply);
}

static int apply_main(struct args *args, struct ab_error *err)
{
	ab_autolayercommand struct ab_layer_command command = AB_LAYER_COMMAND_NONE;

	return open_layer(args, AB_LAYER_WAITING, &command, err) < 0 ||
			       check_choice(args, &command, err) < 0
		       ? -1
		       : apply_changes(args, &command, get_conflict(args), err);
}

const struct command command_apply = {
	.name = "apply",
	.usage = "[OPTIONS] [RUN|NAME] [PATH...]",
	.summary = "take changes of a layer over",
	.groups = OPTION_GROUPS({ NULL, options_apply }, { NULL, options_conflicts },
				{ NULL, options_json }),
	.words = { 0, SIZE_MAX },
	.rows = OPTION_ROWS("all safe patch", "safe patch", "patch json", "theirs ours"),
	.main = apply_main,
};
