#include "workspace/tree/obeyed.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

#include "base/data/mem.h"

static const char git_runs[] = "git runs programs that it names";
static const char hooks[] = "git runs it as a hook";
static const char vcs[] = "the version control system runs programs that it names";
static const char shell[] = "a shell runs it when it starts";
static const char session[] = "the desktop session runs programs from it";
static const char mise[] = "mise obeys it when you enter the folder";
static const char editor[] = "an editor runs programs that it names";
static const char debugger[] = "a debugger or interpreter runs it when it starts";
static const char agent[] = "an AI agent obeys its hooks, tools and permissions";
static const char keys[] = "programs trust the keys and settings in it";

/* Patterns for the first components of a name. The first match counts; the groups are those of the
 * default list (policy/layers/profiles.c), and a test holds one against the other. */
/* clang-format off */
static const struct {
	const char *pattern, *words;
} rows[] = {
	{ ".git/hooks", hooks }, { ".githooks", hooks }, { ".husky", hooks },
	{ ".git/*", git_runs }, { ".gitmodules", git_runs }, { ".gitconfig", git_runs },
	{ ".config/git", git_runs },
	{ ".hg/*", vcs }, { ".hgrc", vcs }, { ".config/hg", vcs }, { ".jj/*", vcs },
	{ ".config/jj", vcs }, { ".sl/*", vcs }, { ".bzr/*", vcs },
	{ ".envrc", "direnv runs it when you enter the folder" },
	{ "mise*.toml", mise }, { ".mise*", mise }, { ".config/mise*", mise },
	{ ".bash*", shell }, { ".profile", shell }, { ".z*rc", shell }, { ".zprofile", shell },
	{ ".zshenv", shell }, { ".zlog*", shell }, { ".kshrc", shell }, { ".mkshrc", shell },
	{ ".cshrc", shell }, { ".tcshrc", shell }, { ".login", shell }, { ".logout", shell },
	{ ".inputrc", shell }, { ".config/fish", shell }, { ".tmux.conf", shell },
	{ ".config/tmux", shell }, { ".screenrc", shell },
	{ ".x*", session }, { ".pam_environment", session }, { ".config/environment.d", session },
	{ ".config/autostart", session }, { ".config/systemd", session },
	{ ".local/bin", "a shell finds programs there" },
	{ ".local/share/applications", session },
	{ ".vscode", editor }, { ".idea", editor }, { ".fleet", editor }, { ".zed", editor },
	{ ".exrc", editor }, { ".*vimrc", editor }, { ".nvim*", editor }, { ".vim*", editor },
	{ ".config/nvim", editor }, { ".helix", editor }, { ".config/helix", editor },
	{ ".emacs*", editor }, { ".dir-locals*", editor }, { ".run", editor },
	{ "*.code-workspace", editor },
	{ ".devcontainer*", "an editor builds and runs the container that it describes" },
	{ ".cargo/*", "cargo and rust-analyzer run programs that it names" },
	{ ".gdbinit", debugger }, { ".lldbinit", debugger }, { ".pdbrc", debugger },
	{ ".Rprofile", debugger }, { ".ocamlinit", debugger }, { ".irbrc", debugger },
	{ ".pryrc", debugger }, { ".octaverc", debugger }, { ".ghci", debugger },
	{ ".claude*", agent }, { ".codex", agent }, { ".cursor", agent }, { ".gemini", agent },
	{ ".opencode", agent }, { "opencode.json*", agent }, { ".config/opencode", agent },
	{ ".windsurf", agent }, { ".continue", agent }, { ".aider*", agent }, { ".roo", agent },
	{ ".cline*", agent }, { ".kiro", agent }, { ".qwen", agent }, { ".amp", agent },
	{ ".factory", agent }, { ".augment", agent }, { ".trae", agent }, { ".junie", agent },
	{ "*crush.json", agent }, { ".agent", agent }, { ".agents", agent },
	{ ".github/hooks", agent }, { ".mcp.json", agent }, { ".copilot", agent },
	{ ".config/agentbox", "agentbox reads its settings from it" },
	{ ".agentbox.json", "agentbox reads its settings from it" },
	{ ".ssh", keys }, { ".gnupg", keys }, { ".netrc", keys }, { ".docker", keys },
	{ ".kube", keys }, { ".aws", keys },
};
/* clang-format on */

/* Does the beginning of a name, up to one of its slashes, match the pattern? */
static bool matches_beginning(const char *pattern, const char *name)
{
	for (size_t n = strcspn(name, "/");; n += 1 + strcspn(name + n + 1, "/")) {
		ab_autofree char *part = ab_strndup(name, n);

		if (fnmatch(pattern, part, FNM_PATHNAME) == 0)
			return true;
		if (!name[n])
			return false;
	}
}

const char *ab_obeyed_by(const char *name)
{
	for (size_t i = 0; i < AB_COUNT(rows); i++)
		if (matches_beginning(rows[i].pattern, name))
			return rows[i].words;
	return "programs outside the box run or trust it";
}
