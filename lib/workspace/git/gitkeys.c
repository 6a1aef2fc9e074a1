#include "workspace/git/gitkeys.h"

#include <strings.h>

#include "base/text/words.h"

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

/* Keys with one kind of value: words, sorted. "*" is any subsection, or at the end any name. */
struct free_keys {
	enum kind kind;
	const char *keys;
};

static const struct free_keys usual[] = {
	{ WORD, "advice.* branch.*.rebase branch.autosetupmerge branch.autosetuprebase "
		"commit.verbose core.abbrev core.autocrlf core.eol core.filemode core.ignorecase "
		"core.logallrefupdates core.precomposeunicode core.quotepath core.safecrlf "
		"core.sparsecheckout core.sparsecheckoutcone diff.algorithm diff.colormoved "
		"diff.mnemonicprefix diff.noprefix diff.renames fetch.prune fetch.prunetags "
		"gc.auto gc.autodetach gitflow.initialized index.sparse lfs.*.access "
		"lfs.*.locksverify lfs.concurrenttransfers lfs.locksverify "
		"lfs.repositoryformatversion maintenance.auto maintenance.strategy "
		"merge.conflictstyle merge.ff pull.ff pull.rebase push.autosetupremote "
		"push.default push.followtags rebase.autosquash rebase.autostash "
		"rebase.updaterefs remote.*.followremotehead remote.*.mirror remote.*.prune "
		"remote.*.prunetags remote.*.skipdefaultupdate remote.*.skipfetchall "
		"remote.*.tagopt rerere.autoupdate rerere.enabled status.showuntrackedfiles "
		"submodule.*.active submodule.*.fetchrecursesubmodules submodule.*.ignore "
		"submodule.*.shallow submodule.fetchjobs submodule.recurse user.useconfigonly" },
	{ WORDS, "color.* column.*" },
	{ BOOL, "core.fsmonitor pager.*" },
	{ TEXT, "author.email author.name branch.*.description branch.*.github-pr-owner-number "
		"branch.sort committer.email committer.name core.whitespace gitflow.version "
		"lfs.fetchexclude lfs.fetchinclude log.date log.excludedecoration "
		"remote.*.gh-resolved tag.sort user.email user.name" },
	{ REF, "branch.*.gh-merge-base branch.*.merge branch.*.vscode-merge-base "
	       "gitflow.branch.* gitflow.prefix.* init.defaultbranch remote.*.fetch "
	       "submodule.*.branch submodule.*.path submodule.active" },
	{ ADDRESS, "remote.*.pushurl remote.*.url" },
	{ SOURCE, "submodule.*.url" },
	{ REMOTE, "branch.*.pushremote branch.*.remote checkout.defaultremote remote.pushdefault" },
	{ UPDATE, "submodule.*.update" },
	{ WORKTREE, "extensions.worktreeconfig" },
};

/* What git init, git clone and scalar clone write, and what people set in a repository of their own at
 * once. */
static const struct free_keys made[] = {
	{ WORD, "alias.* am.keepcr am.threeway apply.whitespace checkout.workers commit.gpgsign "
		"commitgraph.generationversion core.bare core.bigfilethreshold core.commitgraph "
		"core.compression core.fscache core.hidedotfiles core.longpaths "
		"core.loosecompression core.multipackindex core.preloadindex "
		"core.repositoryformatversion core.sharedrepository core.splitindex "
		"core.symlinks core.untrackedcache credential.*.usehttppath "
		"credential.usehttppath credential.validate diff.context diff.ignoresubmodules "
		"diff.renamelimit diff.submodule extensions.compatobjectformat "
		"extensions.objectformat extensions.preciousobjects extensions.refstorage "
		"extensions.relativeworktrees extensions.worktreeconfig feature.experimental "
		"feature.manyfiles fetch.bundlecreationtoken fetch.parallel "
		"fetch.recursesubmodules fetch.showforcedupdates fetch.unpacklimit "
		"fetch.writecommitgraph format.pretty gui.gcwarning http.lowspeedlimit "
		"http.lowspeedtime http.postbuffer index.skiphash index.threads index.version "
		"merge.renamelimit merge.renames merge.renormalize merge.stat pack.compression "
		"pack.threads pack.usebitmaps pack.usesparse protocol.version rebase.stat "
		"receive.autogc receive.denycurrentbranch receive.denydeletes "
		"receive.denynonfastforwards remote.*.promisor status.aheadbehind status.branch "
		"status.submodulesummary submodule.alternateerrorstrategy "
		"submodule.alternatelocation tag.gpgsign uploadpack.allowanysha1inwant "
		"uploadpack.allowfilter" },
	{ REF, "remote.*.partialclonefilter user.signingkey" },
	{ SOURCE, "fetch.bundleuri" },
	{ REMOTE, "extensions.partialclone" },
	{ TREE, "core.worktree" },
};

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
static bool key_matches(const char *pattern, size_t n, const char *key)
{
	const char *star = memchr(pattern, '*', n);
	size_t len = strlen(key), head = star ? (size_t)(star - pattern) : n;
	size_t tail = star ? n - head - 1 : 0;

	return (star ? len > head + tail : len == n) && memcmp(key, pattern, head) == 0 &&
	       memcmp(key + len - tail, pattern + n - tail, tail) == 0;
}

static const struct free_keys *find_in(const struct free_keys *rows, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++) {
		const char *list = rows[i].keys, *word;

		for (size_t len; (word = ab_word_next(&list, &len));)
			if (key_matches(word, len, key))
				return &rows[i];
	}
	return NULL;
}

static const struct free_keys *find_key(const char *key, bool of_run)
{
	const struct free_keys *found = of_run ? find_in(made, AB_COUNT(made), key) : NULL;

	return found ? found : find_in(usual, AB_COUNT(usual), key);
}

/* A flag without a value is true. */
static bool is_flag(const struct free_keys *found, const struct ab_gitkeys_terms *terms)
{
	return found->kind == WORD || found->kind == WORDS || found->kind == BOOL ||
	       (found->kind == WORKTREE && terms->worktree_pinned);
}

bool ab_gitkeys_allow(const char *key, const char *value, const struct ab_gitkeys_terms *terms)
{
	const struct free_keys *found = find_key(key, terms->made);

	if (!found || !value)
		return found && is_flag(found, terms);
	switch (found->kind) {
	case WORD:
		return ab_has_only(value, strlen(value), "-_");
	case WORDS:
		return ab_has_only(value, strlen(value), "-_ #,");
	case BOOL:
		return is_bool(value);
	case TEXT:
		return true;
	case REF:
		return value[0] != '-';
	case ADDRESS:
		return is_elsewhere(value) || is_closed_repo(terms->repos, value) ||
		       (terms->is_safe_address && terms->is_safe_address(terms->arg, value));
	case SOURCE:
		return is_plain_source(value);
	case REMOTE:
		return strcmp(value, ".") == 0 || is_remote_name(value) || is_elsewhere(value);
	case UPDATE:
		return is_plain_update(value);
	case WORKTREE:
		return terms->worktree_pinned && ab_has_only(value, strlen(value), "-_");
	case TREE:
		return terms->is_safe_worktree && terms->is_safe_worktree(terms->arg, value);
	}
	return false;
}

bool ab_gitkeys_names_remote(const char *key, const char *value)
{
	const struct free_keys *found = find_key(key, true);

	return found && found->kind == REMOTE && value && is_remote_name(value);
}

char *ab_gitkeys_remote(const char *key, const char *value)
{
	size_t n = strlen(key);

	if (!value || !value[0] || !key_matches("remote.*.url", strlen("remote.*.url"), key))
		return NULL;
	return ab_strndup(key + 7, n - 7 - 4);
}

const char *ab_gitkeys_explain(const char *key)
{
	const struct free_keys *found = find_key(key, false);

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
