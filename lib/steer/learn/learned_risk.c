/*
 * Hosts and folders that a learned policy must not contain, or only with a reason.
 */
#include "base/text/words.h"
#include "policy/model/policy.h"
#include "policy/values/host.h"
#include "steer/learn/learned_state.h"
#include "workspace/tree/names.h"

/*
 * Hosts with their subdomains. Order does not matter: none is below another.
 */
static const struct {
	const char *why, *hosts;
} risky_hosts[] = {
	{ "anyone can upload and read files there",
	  "0x0.st anonfiles.com bashupload.com catbox.moe dpaste.com dpaste.org "
	  "file.io gist.github.com gofile.io hastebin.com ix.io mega.nz paste.ee "
	  "paste.rs pastebin.com pixeldrain.com sprunge.us temp.sh termbin.com "
	  "tmpfiles.org transfer.sh wetransfer.com" },
	{ "delivers messages to anyone who registered an address",
	  "api.telegram.org burpcollaborator.net discord.com discordapp.com "
	  "hooks.slack.com interact.sh oast.fun oast.live oast.me oast.online "
	  "oast.pro oast.site oastify.com pipedream.net requestbin.com "
	  "requestbin.net webhook.site" },
	{ "can lead to anyone's machine",
	  "bore.pub duckdns.org loca.lt localhost.run lhr.life localtunnel.me "
	  "ngrok.app ngrok.dev ngrok.io ngrok-free.app ngrok-free.dev pagekite.me "
	  "serveo.net trycloudflare.com ts.net" },
};

static bool is_below(const char *name, const char *top, size_t len)
{
	size_t n = strlen(name);

	return n >= len && memcmp(name + n - len, top, len) == 0 &&
	       (n == len || name[n - len - 1] == '.');
}

static const char *find_host(const struct ab_host *host)
{
	if (host->kind != AB_HOST_NAME)
		return "an address instead of a name: it may belong to someone else tomorrow";
	for (size_t i = 0; i < AB_COUNT(risky_hosts); i++) {
		const char *list = risky_hosts[i].hosts, *top;

		for (size_t n; (top = ab_word_next(&list, &n));)
			if (is_below(host->text, top, n))
				return risky_hosts[i].why;
	}
	return NULL;
}

char *ab_learned_risk(const char *text)
{
	ab_autobuf struct ab_buf b = { 0 };
	struct ab_host_entry entry;
	const char *why;

	if (ab_host_entry_parse(text, strlen(text), &entry, NULL) < 0)
		return NULL;
	why = find_host(&entry.host);
	if (why)
		ab_buf_puts(&b, why);
	if (entry.port)
		ab_buf_printf(&b, "%sport %u is unusual", why ? "; " : "", entry.port);
	return b.len ? ab_buf_take(&b) : NULL;
}

/* System folders, with everything in them. */
static const char *const system_folders[] = {
	"/bin",	 "/boot", "/dev",  "/etc",  "/lib", "/lib32", "/lib64", "/opt", "/proc",
	"/root", "/run",  "/sbin", "/snap", "/sys", "/tmp",   "/usr",	"/var",
};

/* Folders in the home folder from which programs take keys, settings or other
 * programs, with everything in them. */
const char ab_learned_closed[] =
	".agentbox .aws .azure .bashrc.d .cargo/bin .claude .codex .config .docker "
	".emacs.d .gem/bin .gemini .git-templates .gnupg .gradle/init.d .ipython "
	".jupyter .kube .local/bin .local/lib .local/share/applications "
	".local/share/nvim .local/state/agentbox .mozilla .npm-global .nvm .oh-my-zsh "
	".password-store .pyenv .rbenv .rustup .sdkman .ssh .terraform.d .thunderbird "
	".vim .vscode .vscode-server .zsh bin go/bin";

static bool is_system(const char *folder)
{
	for (size_t i = 0; i < AB_COUNT(system_folders); i++)
		if (ab_path_within(folder, system_folders[i]))
			return true;
	/* "/data" may be a whole disk. */
	return strchr(folder + 1, '/') == NULL;
}

/* In it, or around it. */
static bool is_overlapping(const char *folder, const char *top)
{
	return ab_path_within(folder, top) || ab_path_within(top, folder);
}

static bool is_closed(const char *folder, const struct ab_learned_from *from)
{
	const char *list = from->home ? ab_learned_closed : "", *word;

	for (size_t n; (word = ab_word_next(&list, &n));) {
		ab_autofree char *name = ab_strndup(word, n);
		ab_autofree char *top = ab_path_join(from->home, name);

		if (is_overlapping(folder, top))
			return true;
	}
	for (size_t i = 0; from->closed && i < from->closed->len; i++)
		if (is_overlapping(folder, from->closed->v[i]))
			return true;
	return false;
}

/* A box protects certain names in its writable folders, so a writable folder
 * must not be such a name, or be inside one. */
static bool is_protected(const char *folder, const struct ab_learned_from *from)
{
	bool holds;

	if (from->workspace[0] && ab_path_within(folder, from->workspace))
		folder += strlen(from->workspace);
	return ab_names_opened(&from->base->fs.deny_write, folder, &holds);
}

static const char *find_objection(const char *folder, const struct ab_learned_from *from)
{
	bool at_home = from->home && ab_path_within(folder, from->home);

	for (size_t i = 0; i < from->base->fs.write.len; i++)
		if (ab_path_within(folder, from->base->fs.write.v[i]))
			return "denied although the folder is writable";
	if (is_protected(folder, from))
		return "protected: programs outside the box run or trust it";
	if (from->workspace[0] && ab_path_within(folder, from->workspace))
		return NULL;
	if (from->home && ab_path_within(from->home, folder))
		return "would open the whole home folder";
	if (from->workspace[0] && ab_path_within(from->workspace, folder))
		return "would open the folder around the workspace";
	if (is_closed(folder, from))
		return "programs take keys, settings or other programs from there";
	if (!at_home && is_system(folder))
		return "in a system folder";
	return NULL;
}

char *ab_learned_folder(const char *path, const struct ab_learned_from *from, const char **ret_why)
{
	ab_autofree char *clean = ab_path_resolve(path, "/", NULL);
	ab_autofree char *folder = NULL;

	/* A replacement character stands for any byte, so the path is not exact. */
	*ret_why = "not a plain path";
	if (!clean || strcmp(clean, path) != 0 || ab_path_is_pattern(path) ||
	    strstr(path, "\xef\xbf\xbd"))
		return NULL;
	folder = ab_path_parent(path);
	*ret_why = find_objection(folder, from);
	return *ret_why ? NULL : ab_take(folder);
}

char *ab_learned_short(const char *path, const struct ab_learned_from *from)
{
	size_t n = strlen(from->workspace);

	if (n && ab_path_within(path, from->workspace))
		return ab_printf(".%s", path + n);
	n = from->home ? strlen(from->home) : 0;
	if (n > 1 && ab_path_within(path, from->home) && path[n])
		return ab_printf("~%s", path + n);
	return ab_strdup(path);
}
