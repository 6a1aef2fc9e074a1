#include "hosttools/tool_flags.h"

enum { ITEM_MAX = 32 };
enum { RUNS, SETS, ELSE, OPENS, ROOT, LOGIN, READS, WRITES, HOOKS, GIT };

static const char reasons[][56] = {
	[RUNS] = "it runs a program that the caller names",
	[SETS] = "it changes which programs the tool runs",
	[ELSE] = "it makes the tool use other settings or another folder",
	[OPENS] = "it opens an editor, a pager or a browser",
	[ROOT] = "it gives a container parts of the host",
	[LOGIN] = "it handles credentials",
	[READS] = "it reads files that the caller names",
	[WRITES] = "it writes to a file that the caller names",
	[HOOKS] = "it copies hooks from a folder",
	[GIT] = "what follows goes to git",
};

/* In any order: the first row that matches only decides which reason is told. */
const struct ab_tool_flag ab_tool_flags[] = {
	/* Before the command. */
	{ "git", "", "-c --config-env", SETS },
	{ "git", "", "--exec-path", RUNS },
	{ "git", "", "-C --git-dir --work-tree --namespace --super-prefix --attr-source", ELSE },
	{ "git", "", "-p --paginate", OPENS },
	/* Commands that exist to run something else, or to arrange for it. */
	{ "git", "config", "", SETS },
	{ "git", "credential credential-cache credential-store", "", LOGIN },
	{ "git",
	  "daemon difftool mergetool filter-branch for-each-repo hook instaweb maintenance "
	  "send-email shell remote-ext remote-fd upload-pack receive-pack upload-archive "
	  "http-backend submodule--helper",
	  "", RUNS },
	{ "git", "help web--browse gui citool", "", OPENS },
	{ "git", "bisect", "run", RUNS },
	{ "git", "submodule", "foreach", RUNS },
	/* Options of commands. */
	{ "git", "*", "--upload-pack --receive-pack --exec --ext-diff --textconv --filters", RUNS },
	{ "git", "*", "--open-files-in-pager --interactive", OPENS },
	{ "git", "*", "--template", HOOKS },
	{ "git", "*", "--separate-git-dir", ELSE },
	{ "git", "*", "--no-index", READS },
	{ "git", "*", "--output", WRITES },
	{ "git", "grep", "-O", OPENS },
	{ "git", "rebase", "-x", RUNS },
	{ "git", "rebase", "-i", OPENS },
	{ "git", "clone", "-u", RUNS },
	{ "git", "clone", "-c --config", SETS },
	{ "git", "archive", "-o", WRITES },

	{ "gh", "alias extension extensions ext config", "", SETS },
	{ "gh", "auth", "", LOGIN },
	{ "gh", "browse", "", OPENS },
	{ "gh", "codespace cs copilot", "", RUNS },
	{ "gh", "*", "--web -w --editor -e", OPENS },
	{ "gh", "*", "--", GIT },

	{ "npm", "exec x explore init innit create", "", RUNS },
	{ "npm", "edit", "", OPENS },
	{ "npm", "config c set", "", SETS },
	{ "npm", "login adduser add-user addUser token", "", LOGIN },
	{ "npm", "*", "--call --script-shell --shell --git --node-options --init-module", RUNS },
	{ "npm", "*", "--editor --viewer --browser", OPENS },
	{ "npm", "*", "--prefix -C --userconfig --globalconfig", ELSE },

	{ "docker", "", "--config --host -H --context -c", ELSE },
	{ "docker", "context", "", ELSE },
	{ "docker", "plugin", "", RUNS },
	{ "docker", "login", "", LOGIN },
	{ "docker", "compose stack", "", ROOT },
	{ "docker", "*",
	  "--privileged --volume -v --mount --volumes-from --device --device-cgroup-rule --gpus "
	  "--runtime --use-api-socket --cap-add --security-opt --cgroup-parent --pid --ipc --uts "
	  "--cgroupns --userns --network --net",
	  ROOT },
	{ "docker", "*", "--env-file", READS },
};
const size_t ab_tool_flag_count = AB_COUNT(ab_tool_flags);

const char *ab_tool_flag_why(const struct ab_tool_flag *flag)
{
	return reasons[flag->why];
}

/* These accept a long option that is cut off, and npm a command, if it is not another one. */
static const struct {
	char program[8], option[16];
} whole[] = {
	{ "git", "" },	   { "git", "--text" },			       /* not --textconv */
	{ "git", "--no" }, { "npm", "" },	{ "npm", "--global" }, /* not --globalconfig */
	{ "npm", "add" },  { "npm", "i" },	{ "npm", "in" },       /* not adduser, init */
	{ "npm", "s" },	   { "npm", "se" },	{ "npm", "t" },	       /* not set, token */
};

static bool is_abbreviated(const char *program, const char *name, size_t len)
{
	bool abbreviates = false;

	for (size_t i = 0; i < AB_COUNT(whole); i++) {
		if (strcmp(whole[i].program, program) != 0)
			continue;
		abbreviates = true;
		if (strlen(whole[i].option) == len && strncmp(whole[i].option, name, len) == 0)
			return false;
	}
	return abbreviates;
}

static bool matches_long(const char *program, const char *option, const char *word)
{
	size_t len = strcspn(word, "=");

	if (strncmp(option, word, len) != 0 || len < 3)
		return strcmp(option, "--") == 0 && strcmp(word, "--") == 0;
	return !option[len] || is_abbreviated(program, word, len);
}

static bool is_npm(const char *program)
{
	return strcmp(program, "npm") == 0;
}

/* For npm, any number of dashes begins a long option. */
static bool matches_dashes(const char *program, const char *row, const char *word)
{
	size_t dashes = strspn(word, "-");
	ab_autofree char *option = NULL;

	if (!is_npm(program))
		return dashes >= 2 && matches_long(program, row, word);
	if (dashes == 0 || (dashes == 1 && strcspn(word + 1, "=") < 2))
		return false;
	option = ab_printf("--%s", word + dashes);
	return matches_long(program, row, option);
}

static bool matches_word(const char *program, const char *row, const char *word)
{
	if (row[0] != '-')
		return strcmp(row, word) == 0;
	if (row[1] == '-')
		return matches_dashes(program, row, word);
	return word[0] == '-' && word[1] != '-' &&
	       memchr(word + 1, row[1], strcspn(word + 1, "=")) != NULL;
}

/* What of a word could be a command, or NULL. npm reads "--json=x" as the two words "--json x". */
static const char *get_command(const char *program, const char *word)
{
	const char *equals;

	if (word[0] != '-')
		return word;
	equals = is_npm(program) ? strchr(word, '=') : NULL;
	return equals ? equals + 1 : NULL;
}

static bool matches_command(const char *program, const char *row, const char *word)
{
	const char *command = get_command(program, word);
	size_t len = command ? strlen(command) : 0;

	if (!command || strcmp(row, command) == 0)
		return command != NULL;
	return is_npm(program) && len > 0 && strncmp(row, command, len) == 0 &&
	       is_abbreviated(program, command, len);
}

/*
 * Which words could be the command? The first one without a dash, and, because an option before it may
 * have a value, each further one up to the first that does not follow an option.
 */
static size_t find_commands(const char *program, const char *const *words, size_t n, bool *may)
{
	size_t last = 0;

	for (size_t i = 0; i < n; i++) {
		bool option = words[i][0] == '-';
		bool behind = i > 0 && words[i - 1][0] == '-' && !strchr(words[i - 1], '=');

		may[i] = get_command(program, words[i]) != NULL;
		if (may[i])
			last = i;
		if (may[i] && !option && !behind)
			break;
	}
	return last;
}

/* git reads a URL "ext::sh -c ..." as a program to run. */
static const struct ab_tool_flag helper = { "git", "*", "::", RUNS };

/* The next item of a list with blanks; "" is a list of one. */
static bool take_item(const char **list, char ret[ITEM_MAX])
{
	size_t n = *list ? strcspn(*list, " ") : ITEM_MAX;

	if (n >= ITEM_MAX)
		return false;
	memcpy(ret, *list, n);
	ret[n] = '\0';
	*list = (*list)[n] ? *list + n + 1 : NULL;
	return true;
}

/* The words of the caller, and which of them may be the command. */
struct said {
	const char *program;
	const char *const *words;
	size_t n, last;
	const bool *may;
};

/* The word that matches, or NULL. */
static const char *find_word(const struct said *s, const char *command, const char *word)
{
	bool follows = strcmp(command, "*") == 0;

	for (size_t i = 0; i < s->n; i++) {
		bool named = s->may[i] && matches_command(s->program, command, s->words[i]);
		bool here = *command ? follows : i < s->last || !s->may[s->last];

		if (*word ? here && matches_word(s->program, word, s->words[i]) : named)
			return s->words[i];
		follows = follows || named;
	}
	return NULL;
}

static const char *find_in_row(const struct said *s, const struct ab_tool_flag *f)
{
	char command[ITEM_MAX], word[ITEM_MAX];
	const char *found = NULL;

	for (const char *c = f->command; !found && take_item(&c, command);)
		for (const char *w = f->word; !found && take_item(&w, word);)
			found = find_word(s, command, word);
	return found;
}

const struct ab_tool_flag *ab_tool_flag_find(const char *program, const char *const *words,
					     size_t n, const char **ret_word)
{
	ab_autofree bool *may = ab_alloc((n + 1) * sizeof(*may));
	struct said said = { .program = program, .words = words, .n = n, .may = may };

	said.last = find_commands(program, words, n, may);
	for (size_t k = 0; k < ab_tool_flag_count; k++) {
		const struct ab_tool_flag *f = &ab_tool_flags[k];

		if (strcmp(f->program, program) != 0)
			continue;
		*ret_word = find_in_row(&said, f);
		if (*ret_word)
			return f;
	}
	for (size_t i = 0; strcmp(program, "git") == 0 && i < n; i++)
		if (strstr(words[i], "::")) {
			*ret_word = words[i];
			return &helper;
		}
	return NULL;
}
