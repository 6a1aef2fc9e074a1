#include "session/tools/tool_flags.h"

#include <stdbool.h>
#include <string.h>

#include "base/data/mem.h"

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
	{ "git", "", "-c", SETS },
	{ "git", "", "--config-env", SETS },
	{ "git", "", "--exec-path", RUNS },
	{ "git", "", "-C", ELSE },
	{ "git", "", "--git-dir", ELSE },
	{ "git", "", "--work-tree", ELSE },
	{ "git", "", "--namespace", ELSE },
	{ "git", "", "--super-prefix", ELSE },
	{ "git", "", "--attr-source", ELSE },
	{ "git", "", "-p", OPENS },
	{ "git", "", "--paginate", OPENS },
	/* Commands that exist to run something else, or to arrange for it. */
	{ "git", "config", "", SETS },
	{ "git", "credential", "", LOGIN },
	{ "git", "credential-cache", "", LOGIN },
	{ "git", "credential-store", "", LOGIN },
	{ "git", "daemon", "", RUNS },
	{ "git", "difftool", "", RUNS },
	{ "git", "mergetool", "", RUNS },
	{ "git", "filter-branch", "", RUNS },
	{ "git", "for-each-repo", "", RUNS },
	{ "git", "hook", "", RUNS },
	{ "git", "instaweb", "", RUNS },
	{ "git", "maintenance", "", RUNS },
	{ "git", "send-email", "", RUNS },
	{ "git", "shell", "", RUNS },
	{ "git", "help", "", OPENS },
	{ "git", "web--browse", "", OPENS },
	{ "git", "gui", "", OPENS },
	{ "git", "citool", "", OPENS },
	{ "git", "remote-ext", "", RUNS },
	{ "git", "remote-fd", "", RUNS },
	{ "git", "upload-pack", "", RUNS },
	{ "git", "receive-pack", "", RUNS },
	{ "git", "upload-archive", "", RUNS },
	{ "git", "http-backend", "", RUNS },
	{ "git", "bisect", "run", RUNS },
	{ "git", "submodule", "foreach", RUNS },
	{ "git", "submodule--helper", "", RUNS },
	/* Options of commands. */
	{ "git", "*", "--upload-pack", RUNS },
	{ "git", "*", "--receive-pack", RUNS },
	{ "git", "*", "--exec", RUNS },
	{ "git", "*", "--ext-diff", RUNS },
	{ "git", "*", "--textconv", RUNS },
	{ "git", "*", "--filters", RUNS },
	{ "git", "*", "--open-files-in-pager", OPENS },
	{ "git", "*", "--template", HOOKS },
	{ "git", "*", "--separate-git-dir", ELSE },
	{ "git", "*", "--no-index", READS },
	{ "git", "*", "--output", WRITES },
	{ "git", "grep", "-O", OPENS },
	{ "git", "rebase", "-x", RUNS },
	{ "git", "rebase", "-i", OPENS },
	{ "git", "*", "--interactive", OPENS },
	{ "git", "clone", "-u", RUNS },
	{ "git", "clone", "-c", SETS },
	{ "git", "clone", "--config", SETS },
	{ "git", "archive", "-o", WRITES },

	{ "gh", "alias", "", SETS },
	{ "gh", "extension", "", SETS },
	{ "gh", "extensions", "", SETS },
	{ "gh", "ext", "", SETS },
	{ "gh", "config", "", SETS },
	{ "gh", "auth", "", LOGIN },
	{ "gh", "browse", "", OPENS },
	{ "gh", "codespace", "", RUNS },
	{ "gh", "cs", "", RUNS },
	{ "gh", "copilot", "", RUNS },
	{ "gh", "*", "--web", OPENS },
	{ "gh", "*", "-w", OPENS },
	{ "gh", "*", "--editor", OPENS },
	{ "gh", "*", "-e", OPENS },
	{ "gh", "*", "--", GIT },

	{ "npm", "exec", "", RUNS },
	{ "npm", "x", "", RUNS },
	{ "npm", "explore", "", RUNS },
	{ "npm", "init", "", RUNS },
	{ "npm", "innit", "", RUNS },
	{ "npm", "create", "", RUNS },
	{ "npm", "edit", "", OPENS },
	{ "npm", "config", "", SETS },
	{ "npm", "c", "", SETS },
	{ "npm", "set", "", SETS },
	{ "npm", "login", "", LOGIN },
	{ "npm", "adduser", "", LOGIN },
	{ "npm", "add-user", "", LOGIN },
	{ "npm", "addUser", "", LOGIN },
	{ "npm", "token", "", LOGIN },
	{ "npm", "*", "--call", RUNS },
	{ "npm", "*", "--script-shell", RUNS },
	{ "npm", "*", "--shell", RUNS },
	{ "npm", "*", "--git", RUNS },
	{ "npm", "*", "--node-options", RUNS },
	{ "npm", "*", "--init-module", RUNS },
	{ "npm", "*", "--editor", OPENS },
	{ "npm", "*", "--viewer", OPENS },
	{ "npm", "*", "--browser", OPENS },
	{ "npm", "*", "--prefix", ELSE },
	{ "npm", "*", "-C", ELSE },
	{ "npm", "*", "--userconfig", ELSE },
	{ "npm", "*", "--globalconfig", ELSE },

	{ "docker", "", "--config", ELSE },
	{ "docker", "", "--host", ELSE },
	{ "docker", "", "-H", ELSE },
	{ "docker", "", "--context", ELSE },
	{ "docker", "", "-c", ELSE },
	{ "docker", "context", "", ELSE },
	{ "docker", "plugin", "", RUNS },
	{ "docker", "login", "", LOGIN },
	{ "docker", "compose", "", ROOT },
	{ "docker", "stack", "", ROOT },
	{ "docker", "*", "--privileged", ROOT },
	{ "docker", "*", "--volume", ROOT },
	{ "docker", "*", "-v", ROOT },
	{ "docker", "*", "--mount", ROOT },
	{ "docker", "*", "--volumes-from", ROOT },
	{ "docker", "*", "--device", ROOT },
	{ "docker", "*", "--device-cgroup-rule", ROOT },
	{ "docker", "*", "--gpus", ROOT },
	{ "docker", "*", "--runtime", ROOT },
	{ "docker", "*", "--use-api-socket", ROOT },
	{ "docker", "*", "--cap-add", ROOT },
	{ "docker", "*", "--security-opt", ROOT },
	{ "docker", "*", "--cgroup-parent", ROOT },
	{ "docker", "*", "--pid", ROOT },
	{ "docker", "*", "--ipc", ROOT },
	{ "docker", "*", "--uts", ROOT },
	{ "docker", "*", "--cgroupns", ROOT },
	{ "docker", "*", "--userns", ROOT },
	{ "docker", "*", "--network", ROOT },
	{ "docker", "*", "--net", ROOT },
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

const struct ab_tool_flag *ab_tool_flag_find(const char *program, const char *const *words,
					     size_t n, const char **ret_word)
{
	ab_autofree bool *may = ab_alloc((n + 1) * sizeof(*may));
	size_t last = find_commands(program, words, n, may);

	for (size_t k = 0; k < ab_tool_flag_count; k++) {
		const struct ab_tool_flag *f = &ab_tool_flags[k];
		bool any = strcmp(f->command, "*") == 0, follows = false;

		if (strcmp(f->program, program) != 0)
			continue;
		for (size_t i = 0; i < n; i++) {
			bool named = may[i] && matches_command(program, f->command, words[i]);

			*ret_word = words[i];
			if (!*f->word && named)
				return f;
			if (!*f->word)
				continue;
			if (!*f->command && (i < last || !may[last]) &&
			    matches_word(program, f->word, words[i]))
				return f;
			if (*f->command && (any || follows) &&
			    matches_word(program, f->word, words[i]))
				return f;
			follows = follows || named;
		}
	}
	for (size_t i = 0; strcmp(program, "git") == 0 && i < n; i++)
		if (strstr(words[i], "::")) {
			*ret_word = words[i];
			return &helper;
		}
	return NULL;
}
