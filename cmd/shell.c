#include "cmd.h"

/* The user's, or one that most systems have. */
static const char *choose_shell(void)
{
	const char *const shells[] = { getenv("SHELL"), "/bin/bash" };

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (shells[i] && shells[i][0] == '/' && access(shells[i], X_OK) == 0)
			return shells[i];
	return "/bin/sh";
}

/* fish takes its prompt from a function only. */
static const char fish_prompt[] =
	"functions -q fish_prompt; and functions -c fish_prompt __agentbox_prompt; "
	"function fish_prompt; printf '(box %s) ' $AGENTBOX; functions -q __agentbox_prompt; "
	"and __agentbox_prompt; or printf '> '; end";

/* Terminals that keep a stack of titles, or ignore what they do not know. */
static bool has_title(void)
{
	static const char terms[][10] = { "xterm", "screen",  "tmux", "rxvt",  "alacritty", "kitty",
					  "foot",  "wezterm", "vte",  "gnome", "konsole" };
	const char *term = getenv("TERM");

	for (size_t i = 0; term && i < sizeof(terms) / sizeof(terms[0]); i++)
		if (strncmp(term, terms[i], strlen(terms[i])) == 0)
			return isatty(STDOUT_FILENO);
	return false;
}

/* Set the title of the terminal, and restore the one before. */
static void push_title(const struct args *args, const char *box)
{
	const char *folder = args->input.workspace ? args->input.workspace : args->input.cwd;
	ab_autofree char *name = ab_escape(box ? box : folder);

	printf("\033[22;0t\033]0;agentbox: %s\007", name);
	fflush(stdout);
}

int choose_box(struct args *args, struct ab_strv *names, const char **ret, struct ab_error *err)
{
	ab_autobuf struct ab_buf list = { 0 };

	*ret = args->rest[0];
	if (*ret)
		return 0;
	if (ab_kept_boxes(&args->input, names, err) < 0)
		return -1;
	/* A setting is for a new box. */
	if (names->len == 0 || args->input.nsettings)
		return 0;
	for (size_t i = 0; i < names->len; i++)
		ab_buf_printf(&list, "%s%s", i ? ", " : "", names->v[i]);
	if (names->len > 1)
		return misuse(args, err, "more than one box stays; choose one: %s", list.data);
	*ret = names->v[0];
	if (!given(args, "quiet"))
		tell("using box %s", *ret);
	return 0;
}

static int shell_main(struct args *args, struct ab_error *err)
{
	ab_autostrv struct ab_strv names = { 0 };
	const char *const argv[] = { choose_shell(), "-C", fish_prompt };
	const char *box;
	struct ab_request request;
	struct args with;
	bool titled;
	int status;

	if (choose_box(args, &names, &box, err) < 0)
		return -1;
	with = *args;
	with.rest = argv;
	with.nrest = strcmp(ab_path_name(argv[0]), "fish") == 0 ? 3 : 1;
	if (run_request(&with, &request, err) < 0)
		return -1;
	if (box && (args->input.nsettings || args->input.profile || given(args, "cwd")))
		return misuse(args, err, "box %s exists already; its settings cannot be changed",
			      box);
	request.mark_shell = true;
	titled = has_title();
	if (titled)
		push_title(args, box);
	status = run_in_box(&with, &request, box, err);
	if (titled) {
		fputs("\033[23;0t", stdout);
		fflush(stdout);
	}
	return status;
}

static const struct option options_start[] = {
	VALUE("cwd", 0, "DIR", "start the shell in this folder"),
	{ 0 },
};

const struct command command_shell = {
	.name = "shell",
	.usage = "[OPTIONS] [NAME]",
	.summary = "open a shell in a box",
	.groups = OPTION_GROUPS({ "Start of a new box", options_start },
				{ "Policy of a new box", options_policy }),
	.runs = true,
	.words = { 0, 1 },
	.main = shell_main,
};
