#include "workspace/git/gitindex.h"

#include <stdint.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/strv.h"
#include "base/system/fd.h"
#include "guard.h"
#include "workspace/git/gitconfig_clean.h"
#include "workspace/git/gitkeys.h"
#include "workspace_help.h"

static void collect(void *arg, const char *text)
{
	ab_strv_add(arg, text);
}

static char *joined(const struct ab_strv *sv)
{
	struct ab_buf b = { 0 };

	for (size_t i = 0; i < sv->len; i++)
		ab_buf_printf(&b, "%s%s", i ? "|" : "", sv->v[i]);
	return ab_buf_take(&b);
}

static char *read_file(const char *rel, size_t *ret_len)
{
	ab_autofree char *path = at(rel);
	ab_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *data;

	if (fd < 0 || ab_read_all(fd, AB_GITINDEX_MAX, &data, ret_len) < 0)
		abort();
	return data;
}

/* Every cut is either not valid, or (at the end of the entries) has the same links. */
static void cut_everywhere(const char *data, size_t len, const char *name)
{
	size_t valid = 0;

	for (size_t i = 0; i < len; i++) {
		ab_autostrv struct ab_strv found = { 0 };

		valid += ab_gitindex_parse(guarded(data, i), i, collect, &found).valid;
	}
	ok(valid <= 2, "%s: a cut index is not valid (%zu)", name, valid);
}

static void check_index(const char *name, const char *prepare, const char *want, bool shared)
{
	ab_autostrv struct ab_strv found = { 0 };
	ab_autofree char *data = NULL, *text = NULL;
	struct ab_gitindex index;
	size_t len;

	ok(sh("rm -rf $T/r; git init -q $T/r; cd $T/r; mkdir -p d; echo 1 > a; echo 2 > d/bbbb;"
	      "echo 3 > d/cc; git add .; h=%s; %s",
	      "0123456789012345678901234567890123456789", prepare) == 0,
	   "%s: made by git", name);
	data = read_file("r/.git/index", &len);
	index = ab_gitindex_parse(data, len, collect, &found);
	if (shared) {
		ab_autofree char *rel = ab_printf("r/.git/sharedindex.%s", index.base);
		ab_autofree char *more = NULL;
		size_t n;

		ok(strlen(index.base) == 40, "%s: the shared index is named", name);
		more = read_file(rel, &n);
		ok(ab_gitindex_parse(more, n, collect, &found).valid, "%s: and valid", name);
	} else {
		ok(!index.base[0], "%s: there is no shared index", name);
	}
	text = joined(&found);
	ok(index.valid && strcmp(text, want) == 0, "%s: %s", name, text);
	cut_everywhere(data, len, name);
}

#define ADD "git update-index --add --cacheinfo 160000,$h,"

static void check_sha256(void)
{
	ab_autostrv struct ab_strv found = { 0 };
	ab_autofree char *data = NULL, *text = NULL;
	size_t len;

	if (sh("rm -rf $T/r; git init -q --object-format=sha256 $T/r; cd $T/r; echo 1 > a; git add a;"
	       "h=$(printf '0%%.0s' $(seq 63))1; " ADD "deep/sub") != 0) {
		lacks("sha256", "this git does not know it");
		return;
	}
	data = read_file("r/.git/index", &len);
	ok(ab_gitindex_parse(data, len, collect, &found).valid, "sha256: valid");
	text = joined(&found);
	ok(strcmp(text, "deep/sub") == 0, "sha256: %s", text);
}

/* Is the digest of the index the same after this? */
static bool keeps_digest(const char *change)
{
	ab_autofree char *before = NULL, *after = NULL;
	size_t before_len, after_len;
	char a[65], b[65];

	before = read_file("r/.git/index", &before_len);
	sh("cd $T/r; { %s; } >/dev/null", change);
	after = read_file("r/.git/index", &after_len);
	if (before_len == after_len && memcmp(before, after, after_len) == 0)
		abort();
	if (ab_gitindex_digest(before, before_len, a) < 0 ||
	    ab_gitindex_digest(after, after_len, b) < 0)
		return false;
	return strcmp(a, b) == 0;
}

static void check_digest(void)
{
	char digest[65];

	sh("rm -rf $T/r; git init -q $T/r; cd $T/r; echo 1 > a; echo 2 > b; git add .");
	ok(keeps_digest("touch -d @1000 a; git status -s"), "digest: stat data do not count");
	ok(keeps_digest("git write-tree"), "digest: nor do the trees of the last commit");
	ok(!keeps_digest("echo 3 > a; git add a"), "digest: an object counts");
	ok(!keeps_digest("git update-index --chmod=+x a"), "digest: a mode counts");
	ok(!keeps_digest("git update-index --assume-unchanged a"), "digest: a flag counts");
	ok(!keeps_digest("git mv b c"), "digest: a path counts");
	ok(!keeps_digest("git update-index --split-index"), "digest: a shared index counts");
	ok(ab_gitindex_digest("DIRC", 4, digest) < 0, "digest: a cut index has none");
}

static void check_indexes(void)
{
	check_index("no links", "true", "", false);
	check_index("version 2", ADD "d/sub; " ADD "zz", "d/sub|zz", false);
	check_index("version 3", ADD "d/sub; echo n > n; git add -N n", "d/sub", false);
	check_index("version 4", "git update-index --index-version 4; " ADD "d/bsub; " ADD "d/csub",
		    "d/bsub|d/csub", false);
	check_index("split", ADD "d/sub; git update-index --split-index; " ADD "late", "late|d/sub",
		    true);
	{
		ab_autofree char *data = NULL;
		struct ab_gitindex index;
		size_t len;

		sh("rm -rf $T/r; git init -q $T/r; cd $T/r; echo 1 > a; git add a;"
		   "git update-index --split-index; echo 2 >> a; git add a;"
		   "git update-index --cacheinfo 160000,%s,a",
		   "0123456789012345678901234567890123456789");
		data = read_file("r/.git/index", &len);
		index = ab_gitindex_parse(data, len, NULL, NULL);
		ok(index.valid && index.base[0] && index.unnamed,
		   "split: a link that replaces a file is noticed");
	}
	check_sha256();
	ok(!ab_gitindex_parse("DIRC\0\0\0\5\0\0\0\0", 12, NULL, NULL).valid, "an unknown version");
	ok(!ab_gitindex_parse("", 0, NULL, NULL).valid, "nothing at all");
}

static const struct ab_gitkeys_terms made = { .made = true };

static const struct {
	const char *in, *out, *keys;
} configs[] = {
	{ "[core]\n\tbare = false\n", NULL, "" },
	{ "", NULL, "" },
	{ "[core]\n\tbare = false\n\tfsmonitor = /x\n\tfilemode\n",
	  "[core]\n\tbare = false\n\tfilemode\n", "core.fsmonitor" },
	{ "[alias]\ns = status\nx = !sh\n[remote \"a\\\"b\"]\nurl = \"h:x y\\n#\"\nuploadpack = evil\n",
	  "[alias]\n\ts = status\n[remote \"a\\\"b\"]\n\turl = \"h:x y\\n#\"\n",
	  "alias.x, remote.a\"b.uploadpack" },
	{ "[branch.X]\nmerge = r\n[core]\npager=p\n", "[branch \"x\"]\n\tmerge = r\n",
	  "core.pager" },
	{ "[core]\nbare = true\n[", "[core]\n\tbare = true\n", "line 3 is not valid" },
	{ "[core]\npager = x\n=", "", "core.pager, line 3 is not valid" },
	{ "[include]\npath = ../x\n", "", "include.path" },
	{ "[gc]\nauto = 1\nrecentObjectsHook = ./x\n[of]\ntomorrow = true\n", "[gc]\n\tauto = 1\n",
	  "gc.recentobjectshook, of.tomorrow" },
	/* A name of a remote stays if its address does, wherever that is. */
	{ "[remote]\npushDefault = o\n[remote \"o\"]\nurl = a:b\n", NULL, "" },
	{ "[remote]\npushDefault = o\n[remote \"o\"]\npushurl = a:b\n",
	  "[remote \"o\"]\n\tpushurl = a:b\n", "remote.pushdefault" },
	{ "[remote]\npushDefault = o\n[remote \"o\"]\nurl = ../x\n", "",
	  "remote.pushdefault, remote.o.url" },
	{ "[branch \"b\"]\nremote = .\nmerge = x\n", NULL, "" },
};

static void check_configs(void)
{
	for (size_t i = 0; i < AB_COUNT(configs); i++) {
		ab_autobuf struct ab_buf out = { 0 }, keys = { 0 }, twice = { 0 }, none = { 0 };
		bool changed = ab_gitconfig_clean(configs[i].in, strlen(configs[i].in), &made, &out,
						  &keys);

		ok(changed == (configs[i].out != NULL), "config %zu: replaced or not", i);
		if (!changed)
			continue;
		ok(strcmp(out.data, configs[i].out) == 0, "config %zu: what is left", i);
		ok(strcmp(keys.data, configs[i].keys) == 0, "config %zu: what was left out: %s", i,
		   keys.data);
		ok(!ab_gitconfig_clean(out.data, out.len, &made, &twice, &none),
		   "config %zu: clean", i);
	}
	{
		static const char nul[] = "[core]\nfsmonitor = evil\0x\n";
		ab_autobuf struct ab_buf out = { 0 }, keys = { 0 };

		ok(ab_gitconfig_clean(nul, sizeof(nul) - 1, &made, &out, &keys) && out.len == 0,
		   "a NUL, at which git ends the value, is not trusted");
	}
}

int main(void)
{
	start();
	check_indexes();
	check_digest();
	check_configs();
	finish();
	return done();
}
