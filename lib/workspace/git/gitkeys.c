#include "workspace/git/gitkeys.h"

#include <strings.h>

/* What a setting of the table may have as its value. */
enum kind {
	WORD,	  /* letters, digits, "-" and "_": a flag, a number, one of git's words */
	WORDS,	  /* several, or colours */
	BOOL,	  /* true or false; anything else is a program */
	TEXT,	  /* only shown to people or kept by a tool */
	REF,	  /* a branch, a refspec, a pathspec: not an option */
	ADDRESS,  /* another machine, or a repository whose hooks are closed */
	SOURCE,	  /* a URL or a path that is only cloned: neither "helper::x" nor an option */
	REMOTE,	  /* the name of a remote, ".", or another machine */
	UPDATE,	  /* submodule.*.update: not a command */
	WORKTREE, /* like WORD, if config.worktree is closed */
	TREE,	  /* the folder of the checkout */
};

struct free_key {
	const char *key;
	enum kind kind;
};

/* Sorted by key. "*" is any subsection, or at the end any name. */
static const struct free_key free_keys[] = {
	{ "advice.*", WORD },
	{ "author.email", TEXT },
	{ "author.name", TEXT },
	{ "branch.*.description", TEXT },
	{ "branch.*.gh-merge-base", REF },
	{ "branch.*.github-pr-owner-number", TEXT },
	{ "branch.*.merge", REF },
	{ "branch.*.pushremote", REMOTE },
	{ "branch.*.rebase", WORD },
	{ "branch.*.remote", REMOTE },
	{ "branch.*.vscode-merge-base", REF },
	{ "branch.autosetupmerge", WORD },
	{ "branch.autosetuprebase", WORD },
	{ "branch.sort", TEXT },
	{ "checkout.defaultremote", REMOTE },
	{ "color.*", WORDS },
	{ "column.*", WORDS },
	{ "commit.verbose", WORD },
	{ "committer.email", TEXT },
	{ "committer.name", TEXT },
	{ "core.abbrev", WORD },
	{ "core.autocrlf", WORD },
	{ "core.eol", WORD },
	{ "core.filemode", WORD },
	{ "core.fsmonitor", BOOL },
	{ "core.ignorecase", WORD },
	{ "core.logallrefupdates", WORD },
	{ "core.precomposeunicode", WORD },
	{ "core.quotepath", WORD },
	{ "core.safecrlf", WORD },
	{ "core.sparsecheckout", WORD },
	{ "core.sparsecheckoutcone", WORD },
	{ "core.whitespace", TEXT },
	{ "diff.algorithm", WORD },
	{ "diff.colormoved", WORD },
	{ "diff.mnemonicprefix", WORD },
	{ "diff.noprefix", WORD },
	{ "diff.renames", WORD },
	{ "extensions.worktreeconfig", WORKTREE },
	{ "fetch.prune", WORD },
	{ "fetch.prunetags", WORD },
	{ "gc.auto", WORD },
	{ "gc.autodetach", WORD },
	{ "gitflow.branch.*", REF },
	{ "gitflow.initialized", WORD },
	{ "gitflow.prefix.*", REF },
	{ "gitflow.version", TEXT },
	{ "index.sparse", WORD },
	{ "init.defaultbranch", REF },
	{ "lfs.*.access", WORD },
	{ "lfs.*.locksverify", WORD },
	{ "lfs.concurrenttransfers", WORD },
	{ "lfs.fetchexclude", TEXT },
	{ "lfs.fetchinclude", TEXT },
	{ "lfs.locksverify", WORD },
	{ "lfs.repositoryformatversion", WORD },
	{ "log.date", TEXT },
	{ "log.excludedecoration", TEXT },
	{ "maintenance.auto", WORD },
	{ "maintenance.strategy", WORD },
	{ "merge.conflictstyle", WORD },
	{ "merge.ff", WORD },
	{ "pager.*", BOOL },
	{ "pull.ff", WORD },
	{ "pull.rebase", WORD },
	{ "push.autosetupremote", WORD },
	{ "push.default", WORD },
	{ "push.followtags", WORD },
	{ "rebase.autosquash", WORD },
	{ "rebase.autostash", WORD },
	{ "rebase.updaterefs", WORD },
	{ "remote.*.fetch", REF },
	{ "remote.*.followremotehead", WORD },
	{ "remote.*.gh-resolved", TEXT },
	{ "remote.*.mirror", WORD },
	{ "remote.*.prune", WORD },
	{ "remote.*.prunetags", WORD },
	{ "remote.*.pushurl", ADDRESS },
	{ "remote.*.skipdefaultupdate", WORD },
	{ "remote.*.skipfetchall", WORD },
	{ "remote.*.tagopt", WORD },
	{ "remote.*.url", ADDRESS },
	{ "remote.pushdefault", REMOTE },
	{ "rerere.autoupdate", WORD },
	{ "rerere.enabled", WORD },
	{ "status.showuntrackedfiles", WORD },
	{ "submodule.*.active", WORD },
	{ "submodule.*.branch", REF },
	{ "submodule.*.fetchrecursesubmodules", WORD },
	{ "submodule.*.ignore", WORD },
	{ "submodule.*.path", REF },
	{ "submodule.*.shallow", WORD },
	{ "submodule.*.update", UPDATE },
	{ "submodule.*.url", SOURCE },
	{ "submodule.active", REF },
	{ "submodule.fetchjobs", WORD },
	{ "submodule.recurse", WORD },
	{ "tag.sort", TEXT },
	{ "user.email", TEXT },
	{ "user.name", TEXT },
	{ "user.useconfigonly", WORD },
};

/* What git init, git clone and scalar clone write, and what people set in a repository of their own at
 * once. Sorted by key. */
static const struct free_key made_keys[] = {
	{ "alias.*", WORD },
	{ "am.keepcr", WORD },
	{ "am.threeway", WORD },
	{ "apply.whitespace", WORD },
	{ "checkout.workers", WORD },
	{ "commit.gpgsign", WORD },
	{ "commitgraph.generationversion", WORD },
	{ "core.bare", WORD },
	{ "core.bigfilethreshold", WORD },
	{ "core.commitgraph", WORD },
	{ "core.compression", WORD },
	{ "core.fscache", WORD },
	{ "core.hidedotfiles", WORD },
	{ "core.longpaths", WORD },
	{ "core.loosecompression", WORD },
	{ "core.multipackindex", WORD },
	{ "core.preloadindex", WORD },
	{ "core.repositoryformatversion", WORD },
	{ "core.sharedrepository", WORD },
	{ "core.splitindex", WORD },
	{ "core.symlinks", WORD },
	{ "core.untrackedcache", WORD },
	{ "core.worktree", TREE },
	{ "credential.*.usehttppath", WORD },
	{ "credential.usehttppath", WORD },
	{ "credential.validate", WORD },
	{ "diff.context", WORD },
	{ "diff.ignoresubmodules", WORD },
	{ "diff.renamelimit", WORD },
	{ "diff.submodule", WORD },
	{ "extensions.compatobjectformat", WORD },
	{ "extensions.objectformat", WORD },
	{ "extensions.partialclone", REMOTE },
	{ "extensions.preciousobjects", WORD },
	{ "extensions.refstorage", WORD },
	{ "extensions.relativeworktrees", WORD },
	{ "extensions.worktreeconfig", WORD },
	{ "feature.experimental", WORD },
	{ "feature.manyfiles", WORD },
	{ "fetch.bundlecreationtoken", WORD },
	{ "fetch.bundleuri", SOURCE },
	{ "fetch.parallel", WORD },
	{ "fetch.recursesubmodules", WORD },
	{ "fetch.showforcedupdates", WORD },
	{ "fetch.unpacklimit", WORD },
	{ "fetch.writecommitgraph", WORD },
	{ "format.pretty", WORD },
	{ "gui.gcwarning", WORD },
	{ "http.lowspeedlimit", WORD },
	{ "http.lowspeedtime", WORD },
	{ "http.postbuffer", WORD },
	{ "index.skiphash", WORD },
	{ "index.threads", WORD },
	{ "index.version", WORD },
	{ "merge.renamelimit", WORD },
	{ "merge.renames", WORD },
	{ "merge.renormalize", WORD },
	{ "merge.stat", WORD },
	{ "pack.compression", WORD },
	{ "pack.threads", WORD },
	{ "pack.usebitmaps", WORD },
	{ "pack.usesparse", WORD },
	{ "protocol.version", WORD },
	{ "rebase.stat", WORD },
	{ "receive.autogc", WORD },
	{ "receive.denycurrentbranch", WORD },
	{ "receive.denydeletes", WORD },
	{ "receive.denynonfastforwards", WORD },
	{ "remote.*.partialclonefilter", REF },
	{ "remote.*.promisor", WORD },
	{ "status.aheadbehind", WORD },
	{ "status.branch", WORD },
	{ "status.submodulesummary", WORD },
	{ "submodule.alternateerrorstrategy", WORD },
	{ "submodule.alternatelocation", WORD },
	{ "tag.gpgsign", WORD },
	{ "uploadpack.allowanysha1inwant", WORD },
	{ "uploadpack.allowfilter", WORD },
	{ "user.signingkey", REF },
};

static bool has_only(const char *value, const char *more)
{
	for (const char *p = value; *p; p++)
		if (!ab_is_alnum((unsigned char)*p) && !strchr(more, *p))
			return false;
	return true;
}

static bool is_bool(const char *value)
{
	static const char *const words[] = {
		"", "true", "false", "yes", "no", "on", "off", "0", "1"
	};

	for (size_t i = 0; i < AB_COUNT(words); i++)
		if (strcasecmp(value, words[i]) == 0)
			return true;
	return false;
}

/* "ext::sh -c x" runs a program, "helper::x" another one, and ssh takes "-oProxyCommand=x" for an
 * option. */
static bool is_plain_source(const char *value)
{
	return value[0] != '-' && !strstr(value, "::") && !strstr(value, "://-");
}

/* A URL of a protocol for which git needs no other helper. */
static bool is_url_elsewhere(const char *value)
{
	static const char *const protocols[] = {
		"http", "https", "ssh", "git", "git+ssh", "ssh+git",
	};
	const char *url = strstr(value, "://");
	size_t n = strcspn(value, ":/");

	for (size_t i = 0; url && i < AB_COUNT(protocols); i++)
		if (n == strlen(protocols[i]) && value + n == url &&
		    strncmp(value, protocols[i], n) == 0)
			return is_plain_source(value);
	return false;
}

/* That, or "host:path". */
static bool is_elsewhere(const char *value)
{
	size_t n = strcspn(value, ":/");

	return is_url_elsewhere(value) ||
	       (is_plain_source(value) && !strstr(value, "://") && n > 0 && value[n] == ':');
}

static bool is_closed_repo(const struct ab_strv *repos, const char *value)
{
	size_t n = strlen(value);

	while (n > 1 && value[n - 1] == '/')
		n--;
	for (size_t i = 0; repos && i < repos->len; i++)
		if (strlen(repos->v[i]) == n && strncmp(repos->v[i], value, n) == 0)
			return true;
	return false;
}

static bool is_address(const char *value, const struct ab_gitkeys_terms *terms)
{
	return is_elsewhere(value) || is_closed_repo(terms->repos, value) ||
	       (terms->is_safe_address && terms->is_safe_address(terms->arg, value));
}

static bool is_remote_name(const char *value)
{
	return value[0] && value[0] != '-' && value[0] != '.' && !strpbrk(value, ":/");
}

static bool is_plain_update(const char *value)
{
	static const char *const words[] = { "checkout", "merge", "none", "rebase" };

	return ab_has_word(words, AB_COUNT(words), value);
}

/* Does the key match? "a.*.b": any subsection; "a.*": any name in a section. */
static bool key_matches(const char *pattern, const char *key)
{
	const char *star = strchr(pattern, '*');
	size_t head, tail, len = strlen(key);

	if (!star)
		return strcmp(pattern, key) == 0;
	head = (size_t)(star - pattern);
	tail = strlen(star + 1);
	return len > head + tail && strncmp(key, pattern, head) == 0 &&
	       strcmp(key + len - tail, star + 1) == 0;
}

static const struct free_key *find_in(const struct free_key *keys, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (key_matches(keys[i].key, key))
			return &keys[i];
	return NULL;
}

static const struct free_key *find_key(const char *key, bool made)
{
	const struct free_key *found = made ? find_in(made_keys, AB_COUNT(made_keys), key) : NULL;

	return found ? found : find_in(free_keys, AB_COUNT(free_keys), key);
}

/* A flag without a value is true. */
static bool is_flag(const struct free_key *found, const struct ab_gitkeys_terms *terms)
{
	return found->kind == WORD || found->kind == WORDS || found->kind == BOOL ||
	       (found->kind == WORKTREE && terms->worktree_pinned);
}

bool ab_gitkeys_allow(const char *key, const char *value, const struct ab_gitkeys_terms *terms)
{
	const struct free_key *found = find_key(key, terms->made);

	if (!found || !value)
		return found && is_flag(found, terms);
	switch (found->kind) {
	case WORD:
		return has_only(value, "-_");
	case WORDS:
		return has_only(value, "-_ #,");
	case BOOL:
		return is_bool(value);
	case TEXT:
		return true;
	case REF:
		return value[0] != '-';
	case ADDRESS:
		return is_address(value, terms);
	case SOURCE:
		return is_plain_source(value);
	case REMOTE:
		return strcmp(value, ".") == 0 || is_remote_name(value) || is_elsewhere(value);
	case UPDATE:
		return is_plain_update(value);
	case WORKTREE:
		return terms->worktree_pinned && has_only(value, "-_");
	case TREE:
		return terms->is_safe_worktree && terms->is_safe_worktree(terms->arg, value);
	}
	return false;
}

bool ab_gitkeys_names_remote(const char *key, const char *value)
{
	const struct free_key *found = find_key(key, true);

	return found && found->kind == REMOTE && value && is_remote_name(value);
}

char *ab_gitkeys_remote(const char *key, const char *value)
{
	size_t n = strlen(key);

	if (!value || !value[0] || !key_matches("remote.*.url", key))
		return NULL;
	return ab_strndup(key + 7, n - 7 - 4);
}

const char *ab_gitkeys_explain(const char *key)
{
	const struct free_key *found = find_key(key, false);

	if (!found)
		return "is not among the settings that the box may change";
	switch (found->kind) {
	case ADDRESS:
		return "may only be an address on another host, or the full path of a repository "
		       "that was there at the start";
	case REMOTE:
		return "may only name a remote that has an address here, and no file or folder";
	default: /* what follows from the key's other values */
		return "may not get this value";
	}
}
