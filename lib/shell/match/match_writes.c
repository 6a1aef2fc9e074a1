#include "shell/command/grammar.h"
#include "shell/command/path_place.h"
#include "shell/match/write_targets.h"
#include "shell/syntax/name_table.h"
#include "shell/command/name_index.h"
#include "shell/tools/tool.h"

/* Files in a home that run by themselves later, and everything below them. A final
 * "*" matches any rest. */
static const char startup[] =
	".Xsession .bash_aliases .bash_login .bash_logout .bash_profile .bashrc "
	".config/autostart .config/environment.d .config/fish .config/git/config "
	".config/systemd .cshrc .gitconfig .kshrc .local/share/systemd .login "
	".pam_environment .profile .ssh/authorized_keys* .ssh/config .ssh/environment .ssh/rc "
	".tcshrc .xinitrc .xprofile .xsession* .zlogin .zlogout .zprofile .zshenv .zshrc";

/* Settings files of agents, in any folder. */
static const char agents[] =
	".agentbox .agentbox.json .aider.conf.yml .claude .claude.json .codex .cursor .gemini "
	".mcp.json";

/* `home`: how many parts lead to a home folder; 0: the path is not in one. */
static bool is_startup_file(const struct ab_path *path, size_t home)
{
	if (ab_path_has(path, 0, "var/spool/cron"))
		return true;
	for (size_t i = 0; i + 1 < path->len && i + 1 < AB_PATH_PARTS; i++)
		if (ab_path_may_have(path, i, '.') &&
		    ab_path_has_listed(path, i, ".git/hooks .git/config"))
			return true;
	if (home && ab_path_has(path, home, "Library/LaunchAgents"))
		return true;
	if (!home || !ab_path_may_have(path, home, '.'))
		return false;
	return ab_path_has_listed(path, home, startup);
}

/* `top`: how many parts lead to the workspace. */
static bool is_agent_file(const struct ab_path *path, size_t home, size_t top)
{
	if (home && ab_path_has(path, home, ".config/agentbox"))
		return true;
	/* The workspace itself may be inside such a folder. */
	for (size_t i = top; i < path->len && i < AB_PATH_PARTS; i++)
		if (path->part[i].s[0] == '.' && ab_listed(agents, path->part[i]))
			return true;
	return false;
}

static const bool begins_pattern[256] = { ['*'] = true, ['?'] = true, ['['] = true };

/* The first byte of a part; 0: there is none. */
static char get_head(const struct ab_path *path, size_t at)
{
	return at < path->len && at < AB_PATH_PARTS ? path->part[at].s[0] : '\0';
}

static bool is_protected(const struct ab_strv *names, const struct ab_path *path, size_t top)
{
	const char in_root = get_head(path, 0), in_top = top ? get_head(path, top) : '\0';

	if (!names || !path->anchored)
		return false;
	for (size_t i = 0; i < names->len; i++) {
		const char *name = names->v[i];
		bool root = name[0] == '/';
		char head = name[root];

		/* The list is long, and few of its names begin with the same byte. */
		if (head != (root ? in_root : in_top) && !begins_pattern[(unsigned char)head] &&
		    !path->pattern)
			continue;
		if (head && (root || top) && ab_path_has(path, root ? 0 : top, name + root))
			return true;
	}
	return false;
}

/* By its text. */
bool ab_write_is_protected(const struct ab_path *path)
{
	return is_protected(path->scene->deny_write, path, ab_path_workspace(path));
}

struct writing {
	const struct ab_simple *command;
	struct ab_hits *hits;
};

/* Leave recursive deletion to the delete rule, which knows the important trees. */
static void judge_system(const struct writing *w, enum ab_write_targets how,
			 const struct ab_field *file)
{
	if (how == AB_WRITTEN_CONTENT)
		ab_hit_add(w->hits, AB_RULE_SYSTEM_WRITE, file->range);
	else if (how == AB_WRITTEN_ENTRY && !ab_hits_have(w->hits, AB_RULE_RECURSIVE_PERM_ROOT))
		ab_hit_because(w->hits, AB_RULE_SYSTEM_WRITE, file->range,
			       "Creates or changes a system file.");
	else if (how == AB_WRITTEN_GONE &&
		 !ab_opt_given(ab_opt_begin_own(w->command), "r R recursive"))
		ab_hit_because(w->hits, AB_RULE_SYSTEM_WRITE, file->range,
			       "Removes a system file.");
}

static void judge_written(void *arg, enum ab_write_targets how, const struct ab_field *file)
{
	const struct writing *w = arg;
	struct ab_path path;
	bool device, agents_own;
	size_t home, top;

	if (ab_field_is(file, "/dev/null") || ab_field_is(file, "-"))
		return;
	ab_path_read(w->command, file, &path);
	device = ab_path_block_device(&path);
	if (how == AB_WRITTEN_CONTENT && device)
		ab_hit_add(w->hits, AB_RULE_DISK_WIPE, file->range);
	if (path.remote || path.empty)
		return;
	if (ab_path_system(&path) && !device)
		judge_system(w, how, file);
	if (path.anchored && path.len == 0 && how == AB_WRITTEN_CONTENT)
		ab_hit_because(w->hits, AB_RULE_SYSTEM_WRITE, file->range,
			       "Writes into \"/\", over system files.");
	home = ab_path_home(&path);
	top = ab_path_workspace(&path);
	agents_own = is_agent_file(&path, home, top);
	if (how != AB_WRITTEN_GONE && is_startup_file(&path, home))
		ab_hit_add(w->hits, AB_RULE_PERSISTENCE, file->range);
	else if (!agents_own && is_protected(path.scene->deny_write, &path, top))
		ab_hit_because(
			w->hits, AB_RULE_PERSISTENCE, file->range,
			how == AB_WRITTEN_GONE
				? "Removes a file that the policy protects (filesystem.denyWrite)."
				: "Writes a file that the policy protects (filesystem.denyWrite).");
	if (agents_own)
		ab_hit_add(w->hits, AB_RULE_AGENT_CONFIG, file->range);
}

void ab_match_writes(const struct ab_simple *command, struct ab_hits *hits)
{
	struct writing writing = { command, hits };

	ab_write_targets_each(command, judge_written, &writing);
	ab_toolbox_match(&ab_tools_settings, command, hits);
}
