#include "cmd.h"

static const struct option options_alias[] = {
	FLAG("fish", 0, "print functions for fish"),
	FLAG("install", 0, "add it to your shell's start-up file"),
	FLAG("yes", 'y', "with --install: do not ask"),
	{ 0 },
};

/* How a shell gets the functions when it starts. */
static const struct startup {
	char shell[8], file[32], before[72], after[12];
} startups[] = {
	{ "bash", ".bashrc", "command -v agentbox >/dev/null && eval \"$(agentbox alias", ")\"" },
	{ "zsh", ".zshrc", "command -v agentbox >/dev/null && eval \"$(agentbox alias", ")\"" },
	{ "fish", ".config/fish/config.fish", "type -q agentbox; and agentbox alias --fish",
	  " | source" },
};

/* The name becomes shell code, so it must not contain special characters. */
static bool is_name(const char *s)
{
	return s[0] && s[0] != '-' && ab_has_only(s, strlen(s), "_-.");
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

static const struct startup *find_startup(const struct args *args)
{
	const char *shell = given(args, "fish") ? "fish" : getenv("SHELL");

	return ab_find_row(startups, AB_COUNT(startups), shell, ab_path_name(shell ? shell : ""));
}

/* Does a line of the file, which may be missing, define a function for this name? */
static bool has_alias(const char *path, const char *name)
{
	FILE *file = fopen(path, "re");
	ab_autofree char *line = NULL;
	size_t room = 0, len = strlen(name);
	bool found = false;

	while (file && !found && getline(&line, &room, file) > 0) {
		const char *p = strstr(line, "agentbox alias ");

		for (p = p && line[strspn(line, " \t")] != '#' ? p : NULL; p && *p && !found; p++)
			found = p[-1] == ' ' && strncmp(p, name, len) == 0 &&
				strchr(" )|\n", p[len]);
	}
	if (file)
		fclose(file);
	return found;
}

/* One write at the end of the file: nothing else in it changes, and a link stays one. */
static int append_line(const char *path, const char *line)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	ssize_t n = fd < 0 ? -1 : write(fd, line, strlen(line));

	if (n != (ssize_t)strlen(line) || close(fd) < 0) {
		tell_in(COLOUR_RED, "cannot change %s: %m", path);
		return 1;
	}
	return 0;
}

static int install_aliases(const struct args *args, const struct ab_strv *names,
			   struct ab_error *err)
{
	const struct startup *s = find_startup(args);
	ab_autofree char *path = NULL;
	ab_autobuf struct ab_buf line = { 0 };
	size_t missing = 0;

	if (!s || !args->input.home)
		return misuse(args, err,
			      "--install knows bash, zsh and fish; add this to the start-up file "
			      "of your shell: eval \"$(agentbox alias %s)\"",
			      names->v[0]);
	path = ab_printf("%s/%s", args->input.home, s->file);
	/* The last line may have no end. */
	ab_buf_printf(&line, "\n%s", s->before);
	for (size_t i = 0; i < names->len; i++)
		if (!has_alias(path, names->v[i])) {
			ab_buf_printf(&line, " %s", names->v[i]);
			missing++;
		}
	ab_buf_printf(&line, "%s\n", s->after);
	if (!missing) {
		printf("%s has it already\n", path);
		return 0;
	}
	printf("%s gets this line:\n  %s", path, line.data + 1);
	if (get_consent(args, "Add it?", "not changed: there is no terminal to ask on; add --yes",
			NULL) >= 0 ||
	    append_line(path, line.data))
		return 1;
	printf("added; it counts for shells that start from now on\n");
	return 0;
}

/* Names that are programs, or have a profile; the others are told. */
static int choose_names(const struct args *args, const struct ab_strv *profiles,
			struct ab_strv *ret, struct ab_error *err)
{
	for (size_t i = 0; i < args->nrest; i++)
		if (!is_name(args->rest[i]))
			return misuse(args, err, "invalid program name \"%s\"", args->rest[i]);
	for (size_t i = 0; i < args->nrest; i++)
		if (ab_caller_finds(args->rest[i]) || ab_strv_has(profiles, args->rest[i]))
			ab_strv_add(ret, args->rest[i]);
		else
			tell_in(COLOUR_RED,
				"there is no program '%s' on PATH, and no profile of that name",
				args->rest[i]);
	return 0;
}

static int alias_main(struct args *args, struct ab_error *err)
{
	ab_autostrv struct ab_strv profiles = { 0 }, docs = { 0 }, names = { 0 };

	ab_policy_profiles(&args->input, &profiles, &docs);
	if (choose_names(args, &profiles, &names, err) < 0)
		return -1;
	if (!names.len)
		return 1;
	if (given(args, "install"))
		return install_aliases(args, &names, err);
	for (size_t i = 0; i < names.len; i++)
		print_alias(names.v[i], &profiles, given(args, "fish"));
	return names.len == args->nrest ? 0 : 1;
}

const struct command command_alias = {
	.name = "alias",
	.usage = "[--fish] [--install [-y]] PROGRAM...",
	.summary = "print shell functions that run programs in the box",
	.groups = OPTION_GROUPS({ NULL, options_alias }),
	.words = { 1, SIZE_MAX },
	.rows = OPTION_ROWS("yes needs install"),
	.main = alias_main,
};
