#include "layer/diff/labels.h"

#include <stdlib.h>

#include "agents/agents.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/text/words.h"
#include "base/text/text_diff.h"
#include "layer/walk/changes.h"
#include "tap.h"

#define NONE AB_LABEL_COUNT
#define BAD ((const char *)-1) /* the content cannot be read */

/* A change of the file at `path`: NULL is a side that does not exist. */
static struct ab_label_hits label_file(const char *path, const char *old, const char *fresh)
{
	ab_autofree char *name = ab_strdup(path);
	struct ab_change c = {
		.path = name,
		.kind = !old	 ? AB_CHANGE_ADDED
			: !fresh ? AB_CHANGE_DELETED
				 : AB_CHANGE_MODIFIED,
		.was = old ? AB_TYPE_FILE : AB_TYPE_NONE,
		.is = fresh ? AB_TYPE_FILE : AB_TYPE_NONE,
		.old_mode = 0644,
		.new_mode = 0644,
	};
	struct ab_label_input in = { .change = &c };
	struct ab_label_hits hits;

	if (old && old != BAD)
		in.old = (struct ab_label_side){ old, strlen(old), false };
	if (fresh && fresh != BAD)
		in.fresh = (struct ab_label_side){ fresh, strlen(fresh), false };
	c.old_size = in.old.len;
	c.new_size = in.fresh.len;
	ab_labels_find(&in, &hits);
	return hits;
}

/* Each row has the label and nothing else, or none. A labelled row is followed by its
 * unlabelled twin. */
/* clang-format off */
static const struct {
	const char *path, *old, *fresh;
	int id;
} files[] = {
	/* git */
	{ ".git/hooks/pre-commit", NULL, "x", AB_LABEL_GIT },
	{ ".git/hooks/pre-commit.sample", NULL, "x", NONE },
	{ ".git/modules/a/b/hooks/post-checkout", NULL, "x", AB_LABEL_GIT },
	{ ".git/refs/heads/hooks/x", NULL, "x", NONE },
	{ "sub/dir/.git/hooks/pre-push", "x", "y", AB_LABEL_GIT },
	{ "sub/dir/git/hooks-notes.txt", "x", "y", NONE },
	{ ".git/config", "[core]\n\tbare = false\n", "[core]\n\tbare = false\n\tfsmonitor = ./x\n",
	  AB_LABEL_GIT },
	{ ".git/config", "[core]\n\tbare = false\n",
	  "[core]\n\tbare = false\n[user]\n\tname = A\n[branch \"x\"]\n\tremote = .\n", NONE },
	{ ".git/config", "[core]\n\tbare = false\n",
	  "[core]\n\tbare = false\n[branch \"x\"]\n\tremote = out\n", AB_LABEL_GIT },
	{ "new/.git/config", NULL,
	  "[core]\n\tbare = false\n[gc]\n\trecentObjectsHook = x\n", AB_LABEL_GIT },
	{ "new/.git/config", NULL, "[core]\n\tbare = false\n[remote]\n\tpushDefault = out\n",
	  AB_LABEL_GIT },
	{ "new/.git/config", NULL,
	  "[core]\n\tbare = true\n[remote]\n\tpushDefault = o\n[remote \"o\"]\n\turl = a:b\n",
	  NONE },
	{ "new/.git/config", NULL, "[core]\n\trepositoryformatversion = 0\n\tpager = x\n",
	  AB_LABEL_GIT },
	{ "new/.git/config", NULL, "[core]\n\trepositoryformatversion = 0\n\tbare = false\n", NONE },
	{ ".git/config", "[a]\n", NULL, AB_LABEL_GIT },
	{ ".git/config", BAD, "[user]\n\tname = A\n", AB_LABEL_GIT },
	{ ".git/commondir", NULL, "../x\n", AB_LABEL_GIT },
	{ ".git/COMMIT_EDITMSG", NULL, "../x\n", NONE },
	{ ".git/worktrees/w/gitdir", "a\n", "b\n", AB_LABEL_GIT },
	{ ".git/worktrees/w/HEAD", "a\n", "b\n", NONE },
	{ ".git/info/attributes", NULL, "* filter=x\n", AB_LABEL_GIT },
	{ ".git/info/exclude", NULL, "*.o\n", NONE },
	{ ".git/objects/info/alternates", NULL, "/x\n", AB_LABEL_GIT },
	{ ".git/objects/info/packs", NULL, "P x\n", NONE },
	{ ".git/rebase-merge/git-rebase-todo", NULL, "pick 1 x\nexec ./evil\n", AB_LABEL_GIT },
	{ ".git/rebase-merge/git-rebase-todo", NULL, "pick 1 exec\n", NONE },
	{ ".git/objects/aa/bb", NULL, "x\1\033[2K\n", NONE }, /* content for git only */
	{ "git/objects/aa/bb", NULL, "x\1\033[2K\n", AB_LABEL_HIDDEN },
	{ ".git", NULL, "gitdir: /x\n", AB_LABEL_GIT },
	{ "git", NULL, "gitdir: /x\n", NONE },
	{ ".gitmodules", "a\n", "b\n", AB_LABEL_GIT },
	{ ".gitignore", "a\n", "b\n", NONE },
	{ ".gitattributes", "*.c text\n", "*.c text\n*.bin filter=x\n", AB_LABEL_GIT },
	{ ".gitattributes", "*.bin filter=x\n", "*.c text\n*.bin filter=x\n", NONE },
	{ ".git/index", NULL, "", NONE },
	{ ".pre-commit-config.yaml", "a\n", "b\n", AB_LABEL_GIT },
	{ "pre-commit.md", "a\n", "b\n", NONE },
	/* Other spellings that a file system may take for the same name. */
	{ ".GIT/hooks/pre-commit", NULL, "x", AB_LABEL_GIT },
	{ ".Git/index", NULL, "x", AB_LABEL_GIT },
	{ ".git/index", NULL, "x", NONE },
	{ ".git /index", NULL, "x", AB_LABEL_GIT },
	{ ".git../index", NULL, "x", AB_LABEL_GIT },
	{ "GIT~1/index", NULL, "x", AB_LABEL_GIT },
	{ ".gi\xc5\xbf/index", NULL, "x", NONE },
	{ ".hus\xe2\x84\xaay/pre-commit", NULL, "x", AB_LABEL_GIT }, /* the Kelvin sign */
	{ ".hu\xc5\xbfky/pre-commit", NULL, "x", AB_LABEL_GIT },
	{ ".huzky/pre-commit", NULL, "x", NONE },
	/* folder */
	{ ".envrc", NULL, "x", AB_LABEL_FOLDER },
	{ "envrc", NULL, "x", NONE },
	{ "a/b/.ENVRC", NULL, "x", AB_LABEL_FOLDER },
	{ ".vscode/tasks.json", "a", "b", AB_LABEL_FOLDER },
	{ "vscode/tasks.json", "a", "b", NONE },
	{ "x.code-workspace", "a", "b", AB_LABEL_FOLDER },
	{ "x.code-workspaces", "a", "b", NONE },
	{ ".idea/workspace.xml", "a", NULL, AB_LABEL_FOLDER },
	{ ".devcontainer/devcontainer.json", "a", "b", AB_LABEL_FOLDER },
	{ ".mi\xc5\xbf" "e.toml", "a", "b", AB_LABEL_FOLDER }, /* the long s */
	{ "mise.md", "a", "b", NONE },
	/* login */
	{ ".bashrc", "a", "b", AB_LABEL_LOGIN },
	{ "bashrc.md", "a", "b", NONE },
	{ ".config/autostart/x.desktop", NULL, "b", AB_LABEL_LOGIN },
	{ ".config/x/autostart.desktop", NULL, "b", NONE },
	/* ci */
	{ ".github/workflows/ci.yml", "a", "b", AB_LABEL_CI },
	{ ".github/ISSUE_TEMPLATE/x.md", "a", "b", NONE },
	{ ".gitlab-ci.yml", "a", "b", AB_LABEL_CI },
	{ "gitlab.md", "a", "b", NONE },
	{ "Jenkinsfile", "a", NULL, AB_LABEL_CI },
	{ "Jenkins.txt", "a", NULL, NONE },
	/* build */
	{ "sub/Makefile", "a", "b", AB_LABEL_BUILD },
	{ "sub/Makefile", "a", NULL, NONE }, /* nothing runs it any more */
	{ "setup.py", "a", "b", AB_LABEL_BUILD },
	{ "setup_test_data.py", "a", "b", NONE },
	{ "build.rs", NULL, "b", AB_LABEL_BUILD },
	{ "builds.rs", NULL, "b", NONE },
	{ ".npmrc", NULL, "b", AB_LABEL_BUILD },
	{ "npmrc.md", NULL, "b", NONE },
	{ "package.json", "{\"scripts\":{\"test\":\"a\"}}", "{\"scripts\":{\"test\":\"b\"}}",
	  AB_LABEL_BUILD },
	{ "package.json", "{\"version\":\"1\",\"scripts\":{\"test\":\"a\"}}",
	  "{\"version\":\"2\",\"scripts\":{\"test\":\"a\"},\"dependencies\":{\"x\":\"^1.0.0\"}}",
	  NONE },
	{ "package.json", "{}", "{\"scr\\u0069pts\":{\"postinstall\":\"x\"}}", AB_LABEL_BUILD },
	{ "package.json", "{\"scripts\":{}}", "{}", NONE },
	{ "package.json", "{}", "{\"scripts\":", AB_LABEL_BUILD },
	{ "package.json", BAD, "{}", AB_LABEL_BUILD },
	{ "Cargo.toml", "[package]\n", "[package]\nbuild = \"x.rs\"\n", AB_LABEL_BUILD },
	{ "Cargo.toml", "[package]\n", "[package]\nversion = \"2\"\n", NONE },
	{ "Cargo.toml", "[package]\n", "[package]\nbuild  = \"x.rs\"\n", AB_LABEL_BUILD },
	{ "Cargo.toml", "[package]\n", "[package]\n\"build\"\t= \"x.rs\"\n", AB_LABEL_BUILD },
	{ "Cargo.toml", "[package]\n", "[package]\nrebuilt  = \"x.rs\"\n", NONE },
	{ "composer.json", "{\"scripts\":{}}", "{\"scr\\u0069pts\":{\"p\":\"x\"}}", AB_LABEL_BUILD },
	{ "composer.json", "{\"scripts\":{\"p\":\"x\"}}",
	  "{\"name\":\"scripts\",\"scripts\":{\"p\":\"x\"}}", NONE },
	{ "composer.json", "{}", "{\"scripts\":", AB_LABEL_BUILD },
	{ "package.json", "{}", "{\"eslintConfig\":{\"plugins\":[\"./x\"]}}", AB_LABEL_BUILD },
	{ "package.json", "{}", "{\"prettier\":\"./x.js\"}", AB_LABEL_BUILD },
	{ "package.json", "{}", "{\"jest\":{\"globalSetup\":\"./x\"}}", AB_LABEL_BUILD },
	{ "package.json", "{}", "{\"trustedDependencies\":[\"x\"]}", AB_LABEL_BUILD },
	{ "package.json", "{}", "{\"keywords\":[\"jest\"]}", NONE },
	{ ".npmrc", "a", NULL, AB_LABEL_BUILD },
	{ ".yarnrc.yml", "a", NULL, AB_LABEL_BUILD },
	{ ".eslintrc.js", "a", NULL, NONE },
	{ "sub/BUILD", "a", "b", AB_LABEL_BUILD },
	{ "BUILD/out.txt", "a", "b", NONE },
	{ "WORKSPACE", NULL, "b", AB_LABEL_BUILD },
	{ "workspace/a.txt", NULL, "b", NONE },
	{ "x.sbt", "a", "b", AB_LABEL_BUILD },
	{ "x.sbt.md", "a", "b", NONE },
	{ ".bazeliskrc", "a", "b", AB_LABEL_BUILD },
	{ ".buckconfig", "a", "b", AB_LABEL_BUILD },
	{ "buckconfig", "a", "b", NONE },
	{ ".pylintrc", "a", "b", AB_LABEL_BUILD },
	{ "pylint.md", "a", "b", NONE },
	{ ".rspec", "a", "b", AB_LABEL_BUILD },
	{ "a.rspec", "a", "b", NONE },
	{ ".rubocop.yml", "a", "b", AB_LABEL_BUILD },
	{ "rubocop.md", "a", "b", NONE },
	{ ".stylelintrc.json", "a", "b", AB_LABEL_BUILD },
	{ "Guardfile", "a", "b", AB_LABEL_BUILD },
	{ "Guardfile.md", "a", "b", NONE },
	{ "Snakefile", "a", "b", AB_LABEL_BUILD },
	{ "phpunit.xml", "a", "b", AB_LABEL_BUILD },
	{ "phpunit.md", "a", "b", NONE },
	{ ".php-cs-fixer.php", "a", "b", AB_LABEL_BUILD },
	{ "ansible.cfg", "a", "b", AB_LABEL_BUILD },
	{ "ansible.md", "a", "b", NONE },
	{ "infra/main.tf", "a", "b", AB_LABEL_BUILD },
	{ "infra/main.tfx", "a", "b", NONE },
	{ "project.clj", "a", "b", AB_LABEL_BUILD },
	{ "projects.clj", "a", "b", NONE },
	{ ".ycm_extra_conf.py", "a", "b", AB_LABEL_FOLDER },
	{ "ycm_extra_conf.txt", "a", "b", NONE },
	{ ".luarc.json", "a", "b", AB_LABEL_FOLDER },
	{ "luarc.json", "a", "b", NONE },
	{ "x.sublime-project", "a", "b", AB_LABEL_FOLDER },
	{ "x.sublime-snippet", "a", "b", NONE },
	{ "go.mod", "module x\n", "module x\ntool\tx/y\n", AB_LABEL_BUILD },
	{ "go.mod", "module x\n", "module x\ntoolchain go1.99\n", AB_LABEL_BUILD },
	{ "go.mod", "module x\n", "module x\nrequire a/b v1\n", NONE },
	/* registry */
	{ "package.json", "{\"dependencies\":{}}", "{\"dependencies\":{\"x\":\"git+ssh://h/x\"}}",
	  AB_LABEL_REGISTRY },
	{ "package.json", "{\"dependencies\":{\"x\":\"git+ssh://h/x\"}}",
	  "{\"dependencies\":{\"x\":\"git+ssh://h/x\",\"@a/b\":\"1\",\"c\":\"catalog:\"}}", NONE },
	{ "package.json", "{}", "{\"dependencies\":{\"c\":\"npm:d@1\"}}", AB_LABEL_REGISTRY },
	{ "package.json", "{}", "{\"dependencies\":{\"c\":\"~1.2\"}}", NONE },
	{ "Cargo.toml", "[package]\n", "[dependencies.x]\ngit  = \"https://h/x\"\n", AB_LABEL_REGISTRY },
	{ "Cargo.toml", "[package]\n", "[dependencies]\ny = { \"git\" = \"h\" }\n", AB_LABEL_REGISTRY },
	{ "Cargo.toml", "[package]\n", "[dependencies]\ngit2  = \"1\"\n", NONE },
	{ "Cargo.toml", "[package]\n", "[ patch . crates-io ]\n", AB_LABEL_REGISTRY },
	{ "Pipfile", "x\n", "y = {git   = \"h\"}\n", AB_LABEL_REGISTRY },
	{ "Pipfile", "x\n", "y   = \"*\"\n", NONE },
	{ "composer.json", "{}", "{\"repositor\\u0069es\":[{\"u\\u0072l\":\"x\"}]}",
	  AB_LABEL_REGISTRY },
	{ "composer.json", "{}", "{\"require\":{\"a/b\":\"^1\"}}", NONE },
	{ "pubspec.yaml", "x\n", "x\n  \"git\" : h\n", AB_LABEL_REGISTRY },
	{ "pubspec.yaml", "x\n", "x\n  digits: 1\n", NONE },
	{ "package.json", "{}", "{\"overrides\":{\"a\":{\"b\":\"user/repo\"}}}", AB_LABEL_REGISTRY },
	{ "package.json", "{}", "{\"overrides\":{\"a\":{\"b\":\"2.0.0\"}}}", NONE },
	{ "package-lock.json",
	  "{\"a\":{\"resolved\": \"https://registry.npmjs.org/a.tgz\"}}",
	  "{\"a\":{\"resolved\": \"https://evil.test/a.tgz\"}}", AB_LABEL_REGISTRY },
	{ "package-lock.json",
	  "{\"a\":{\"resolved\": \"https://mirror.test/a.tgz\"}}",
	  "{\"a\":{\"resolved\": \"https://mirror.test/b.tgz\",\"funding\":\"https://pay.test/\"}}",
	  NONE },
	{ "package-lock.json", NULL, "{\"a\":{\"resolved\":\"https://evil.test/a\"}}",
	  AB_LABEL_REGISTRY },
	{ "package-lock.json", NULL, "{\"a\":{\"resolved\":\"https://registry.npmjs.org/a\"}}",
	  NONE },
	{ "package-lock.json", "{\"resolved\": \"https://x.test/a\"}",
	  "{\"resolved\": \"https://x.test@evil.test/a\"}", AB_LABEL_REGISTRY },
	{ "package-lock.json", "{\"resolved\": \"https://x.test/a\"}",
	  "{\"resolved\": \"https://X.TEST/b\"}", NONE },
	{ "yarn.lock", "x:\n  resolved \"https://registry.yarnpkg.com/x\"\n",
	  "x:\n  resolved \"https://evil.test/x\"\n", AB_LABEL_REGISTRY },
	{ "yarn.lock", "x:\n  resolved \"https://registry.yarnpkg.com/x\"\n",
	  "x:\n  resolved \"https://registry.yarnpkg.com/y\"\n", NONE },
	{ "Cargo.lock", NULL, "source = \"git+https://github.com/evil/x?rev=1\"\n",
	  AB_LABEL_REGISTRY },
	{ "Cargo.lock", NULL,
	  "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n", NONE },
	{ "Cargo.lock", "source = \"git+https://github.com/a/x#1\"\n",
	  "source = \"git+https://github.com/b/x#1\"\n", AB_LABEL_REGISTRY },
	{ "Cargo.lock", "source = \"git+https://github.com/a/x#1\"\n",
	  "source = \"git+https://github.com/a/x#2\"\n", NONE },
	{ "requirements.txt", "a==1\n", "a==1\n--extra-index-url https://evil.test/\n",
	  AB_LABEL_REGISTRY },
	{ "requirements.txt", "a==1\n", "a==2\nb\n", NONE },
	/* agent */
	{ "CLAUDE.md", "a", "b", AB_LABEL_AGENT },
	{ "CLAUDES.md", "a", "b", NONE },
	{ "sub/AGENTS.md", NULL, "b", AB_LABEL_AGENT },
	{ ".mcp.json", NULL, "b", AB_LABEL_AGENT },
	{ "mcp.md", NULL, "b", NONE },
	{ ".claude/settings.json", "a", NULL, AB_LABEL_AGENT },
	{ "claude/settings.json", "a", NULL, NONE },
	/* credentials */
	{ ".ssh/authorized_keys", "a", "b", AB_LABEL_CREDENTIALS },
	{ "ssh/authorized_keys", "a", "b", NONE },
	/* hidden text */
	{ "a.c", "x\n", "x\ny\xe2\x80\xaez\n", AB_LABEL_HIDDEN },
	{ "a.c", "y\xe2\x80\xaez\n", "x\ny\xe2\x80\xaez\n", NONE },
	{ "a.c", "x\n", "x\xe2\x80\x8by\n", AB_LABEL_HIDDEN },
	{ "a.c", "x\n", "x\n\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb \xe2\x9d\xa4\xef\xb8\x8f\n",
	  NONE }, /* an emoji of several parts */
	{ "a.c", "x\n", "x\033[2K\n", AB_LABEL_HIDDEN },
	{ "a.c", "x\n", "\tx\f\xc2\xa0y\r\n", NONE },
	{ "a.c", "x\n", "evil\rgood\n", AB_LABEL_HIDDEN },
	{ "a.c", "x\n", "\xef\xbb\xbfx\xe9\n", NONE }, /* a byte order mark; latin-1 */
	{ "a.c", "x\n", "x\n\xef\xbb\xbfx\n", AB_LABEL_HIDDEN },
	{ "a\xe2\x80\xae.c", "x\n", "y\n", AB_LABEL_HIDDEN },
	{ "\xc3\xa9.c", "x\n", "y\n", NONE },
	{ "a\n.c", "x\n", "y\n", AB_LABEL_HIDDEN },
	/* secret */
	{ "a.py", "x\n", "k = \"ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\"\n", AB_LABEL_SECRET },
	{ "a.py", "k = \"ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\"\n",
	  "x\nk = \"ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\"\n", NONE },
	{ "a.py", "x\n", "k = \"ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"\n", NONE },
	{ "a.py", "x\n", "id = AKIA4XYZ2QRS7TUV5WAB\n", AB_LABEL_SECRET },
	{ "a.py", "x\n", "id = AKIAIOSFODNN7EXAMPLE\n", NONE },
	{ "k.pem", NULL, "-----BEGIN RSA PRIVATE KEY-----\nx\n", AB_LABEL_SECRET },
	{ "k.pem", NULL, "-----BEGIN CERTIFICATE-----\nx\n", NONE },
	{ "c.yml", "x\n", "db_password: \"q8Zr2LmN5vXc7TbY\"\n", AB_LABEL_SECRET },
	{ "c.yml", "x\n", "db_password: ${DB_PASSWORD_FROM_VAULT_2}\n", NONE },
	{ "c.yml", "x\n", "checksum: \"q8Zr2LmN5vXc7TbYq8Zr2LmN5vXc7TbY\"\n", NONE },
	{ "c.js", "x\n", "const token = getTokenFromRequest2(req)\n", NONE },
	{ "c.md", "x\n", "task-list-of-2-things-for-today and risk-free1234567890abc\n", NONE },
	/* not readable */
	{ "a.txt", "x\n", BAD, AB_LABEL_UNCHECKED },
	{ "a.txt", "x\n", "y\n", NONE },
};
/* clang-format on */

static void test_files(void)
{
	for (size_t i = 0; i < AB_COUNT(files); i++) {
		struct ab_label_hits hits = label_file(files[i].path, files[i].old, files[i].fresh);
		uint32_t want = files[i].id == NONE ? 0 : AB_LABEL_BIT(files[i].id);
		ab_autofree char *name = ab_escape(files[i].path);

		/* What cannot be read is also said to be unchecked. */
		if (files[i].fresh == BAD)
			want |= AB_LABEL_BIT(AB_LABEL_UNCHECKED);
		ok(hits.bits == want, "%zu %s: %s", i, name,
		   want ? ab_labels[files[i].id].name : "no label");
		if (hits.bits != want)
			for (size_t k = 0; k < hits.len; k++)
				printf("# %s %s %s\n", ab_labels[hits.v[k].id].name, hits.v[k].who,
				       hits.v[k].detail);
	}
}

/* Types, modes and sizes. */
static const struct {
	const char *name;
	struct ab_change change;
	const char *target;
	int id;
} others[] = {
	{ "becomes executable",
	  { .kind = AB_CHANGE_MODE,
	    .was = AB_TYPE_FILE,
	    .is = AB_TYPE_FILE,
	    .old_mode = 0644,
	    .new_mode = 0755 },
	  NULL,
	  AB_LABEL_EXECUTABLE },
	{ "stays executable",
	  { .kind = AB_CHANGE_MODE,
	    .was = AB_TYPE_FILE,
	    .is = AB_TYPE_FILE,
	    .old_mode = 0755,
	    .new_mode = 0700 },
	  NULL,
	  NONE },
	{ "the content of a program changes",
	  { .kind = AB_CHANGE_REPLACED,
	    .was = AB_TYPE_FILE,
	    .is = AB_TYPE_LINK,
	    .old_mode = 0755,
	    .new_mode = 0777 },
	  "x",
	  AB_LABEL_EXECUTABLE },
	{ "the content of a text changes",
	  { .kind = AB_CHANGE_REPLACED,
	    .was = AB_TYPE_FILE,
	    .is = AB_TYPE_LINK,
	    .old_mode = 0644,
	    .new_mode = 0777 },
	  "x",
	  NONE },
	{ "a folder is executable",
	  { .kind = AB_CHANGE_ADDED, .was = AB_TYPE_NONE, .is = AB_TYPE_DIR, .new_mode = 0755 },
	  NULL,
	  NONE },
	{ "set-user-id",
	  { .kind = AB_CHANGE_MODE,
	    .was = AB_TYPE_FILE,
	    .is = AB_TYPE_FILE,
	    .old_mode = 0755,
	    .new_mode = 04755 },
	  NULL,
	  AB_LABEL_SETID },
	{ "sticky",
	  { .kind = AB_CHANGE_MODE,
	    .was = AB_TYPE_FILE,
	    .is = AB_TYPE_FILE,
	    .old_mode = 0755,
	    .new_mode = 01755 },
	  NULL,
	  NONE },
	{ "folder with a group",
	  { .kind = AB_CHANGE_MODE,
	    .was = AB_TYPE_DIR,
	    .is = AB_TYPE_DIR,
	    .old_mode = 0755,
	    .new_mode = 02755 },
	  NULL,
	  AB_LABEL_SETID },
	{ "folder that keeps it",
	  { .kind = AB_CHANGE_MODE,
	    .was = AB_TYPE_DIR,
	    .is = AB_TYPE_DIR,
	    .old_mode = 02755,
	    .new_mode = 02700 },
	  NULL,
	  NONE },
	{ "FIFO",
	  { .kind = AB_CHANGE_ADDED, .was = AB_TYPE_NONE, .is = AB_TYPE_OTHER },
	  NULL,
	  AB_LABEL_DEVICE },
	{ "absolute link",
	  { .kind = AB_CHANGE_ADDED, .was = AB_TYPE_NONE, .is = AB_TYPE_LINK },
	  "/etc/passwd",
	  AB_LABEL_LINK },
	{ "link to a neighbour",
	  { .kind = AB_CHANGE_ADDED, .was = AB_TYPE_NONE, .is = AB_TYPE_LINK },
	  "x",
	  NONE },
	{ "link up and out",
	  { .kind = AB_CHANGE_ADDED, .was = AB_TYPE_NONE, .is = AB_TYPE_LINK },
	  "../../../x",
	  AB_LABEL_LINK },
	{ "link up to the top",
	  { .kind = AB_CHANGE_ADDED, .was = AB_TYPE_NONE, .is = AB_TYPE_LINK },
	  "./../../x",
	  NONE },
	{ "link up behind a name",
	  { .kind = AB_CHANGE_ADDED, .was = AB_TYPE_NONE, .is = AB_TYPE_LINK },
	  "x/../y",
	  AB_LABEL_LINK },
	{ "link to ...",
	  { .kind = AB_CHANGE_ADDED, .was = AB_TYPE_NONE, .is = AB_TYPE_LINK },
	  ".../x",
	  NONE },
	{ "link that cannot be read",
	  { .kind = AB_CHANGE_ADDED, .was = AB_TYPE_NONE, .is = AB_TYPE_LINK },
	  NULL,
	  AB_LABEL_LINK },
	{ "much larger",
	  { .kind = AB_CHANGE_MODIFIED,
	    .was = AB_TYPE_FILE,
	    .is = AB_TYPE_FILE,
	    .old_size = 1000,
	    .new_size = 2000000 },
	  "x",
	  AB_LABEL_LARGE },
	{ "a little larger",
	  { .kind = AB_CHANGE_MODIFIED,
	    .was = AB_TYPE_FILE,
	    .is = AB_TYPE_FILE,
	    .old_size = 1000000,
	    .new_size = 3000000 },
	  "x",
	  NONE },
	{ "ten times of little",
	  { .kind = AB_CHANGE_MODIFIED,
	    .was = AB_TYPE_FILE,
	    .is = AB_TYPE_FILE,
	    .old_size = 10,
	    .new_size = 3000 },
	  "x",
	  NONE },
	{ "very large and new",
	  { .kind = AB_CHANGE_ADDED,
	    .was = AB_TYPE_NONE,
	    .is = AB_TYPE_FILE,
	    .new_size = 1ULL << 42 },
	  "x",
	  AB_LABEL_LARGE },
};

static void test_others(void)
{
	for (size_t i = 0; i < AB_COUNT(others); i++) {
		struct ab_change c = others[i].change;
		struct ab_label_input in = { .change = &c };
		struct ab_label_hits hits;
		char path[] = "a/b/c";
		uint32_t want = others[i].id == NONE ? 0 : AB_LABEL_BIT(others[i].id);

		c.path = path;
		if (others[i].target)
			in.fresh = (struct ab_label_side){ others[i].target,
							   strlen(others[i].target), false };
		ab_labels_find(&in, &hits);
		ok(hits.bits == want, "%s: %s", others[i].name,
		   want ? ab_labels[others[i].id].name : "no label");
	}
}

/* Contents with NUL bytes and contents that were cut. */
static void test_contents(void)
{
	char path[] = "x.png", other[] = "x.txt", attributes[] = ".gitattributes";
	char index[] = ".git/index";
	struct ab_change c = {
		.path = path,
		.kind = AB_CHANGE_MODIFIED,
		.was = AB_TYPE_FILE,
		.is = AB_TYPE_FILE,
	};
	struct ab_label_input in = { .change = &c, .old = { "a\0b", 3, false } };
	struct ab_label_hits hits;

	in.fresh = (struct ab_label_side){ "c\0d", 3, false };
	ab_labels_find(&in, &hits);
	ok(hits.bits == AB_LABEL_BIT(AB_LABEL_BINARY), "a binary file is replaced");
	in.fresh = (struct ab_label_side){ "text", 4, false };
	ab_labels_find(&in, &hits);
	ok(hits.bits == AB_LABEL_BIT(AB_LABEL_BINARY), "by a text");
	c.kind = AB_CHANGE_ADDED;
	c.was = AB_TYPE_NONE;
	in.old = (struct ab_label_side){ 0 };
	in.fresh = (struct ab_label_side){ "c\0d", 3, true };
	ab_labels_find(&in, &hits);
	ok(hits.bits == AB_LABEL_BIT(AB_LABEL_BINARY), "a new binary file of an unknown kind");
	in.fresh = (struct ab_label_side){ "\x89PNG\r\n\x1a\n\0\0", 10, true };
	ab_labels_find(&in, &hits);
	ok(hits.bits == 0, "a new picture has no label");
	in.fresh = (struct ab_label_side){ "text", 4, true };
	ab_labels_find(&in, &hits);
	ok(hits.bits == AB_LABEL_BIT(AB_LABEL_UNCHECKED), "a text that is too long is unchecked");
	c.path = other;
	in.fresh = (struct ab_label_side){ "GIF89a\0\n* filter=x\n", 19, false };
	ab_labels_find(&in, &hits);
	ok(hits.bits == AB_LABEL_BIT(AB_LABEL_BINARY), "only a name of a picture makes a picture");
	c.path = attributes;
	ab_labels_find(&in, &hits);
	ok(hits.bits == (AB_LABEL_BIT(AB_LABEL_BINARY) | AB_LABEL_BIT(AB_LABEL_GIT)),
	   "a file of attributes that begins like a picture has its label");
	c.path = index;
	in.fresh.cut = true;
	ab_labels_find(&in, &hits);
	ok(hits.bits == AB_LABEL_BIT(AB_LABEL_UNCHECKED), "an index that is too long is unchecked");
	in.fresh.cut = false;
	ab_labels_find(&in, &hits);
	ok(hits.bits == 0, "another one is not");
}

static void test_gitdir(void)
{
	char path[] = "bare/hooks/post-receive", data[] = ".git/objects/bare/hooks/post-receive";
	struct ab_change c = { .path = path, .kind = AB_CHANGE_ADDED, .is = AB_TYPE_FILE };
	struct ab_label_input in = { .change = &c, .fresh = { "x", 1, false } };
	struct ab_label_hits hits;
	size_t at = 0, len;

	ok(ab_label_maybe_gitdir(path, &at, &len) && len == 4, "hooks may be in a git directory");
	ok(!ab_label_maybe_gitdir(path, &at, &len), "but not twice");
	at = 0;
	ok(ab_label_maybe_gitdir("config", &at, &len) && len == 0, "config, too");
	at = 0;
	ok(!ab_label_maybe_gitdir("src/config.c", &at, &len), "config.c is not");
	ok(ab_label_maybe_gitdir("hooks/a/config", &at, &len) && len == 0 &&
		   ab_label_maybe_gitdir("hooks/a/config", &at, &len) && len == 7,
	   "each name that is one counts");
	ab_labels_find(&in, &hits);
	ok(hits.bits == 0, "hooks that are not in one have no label");
	in.gitdir = true;
	ab_labels_find(&in, &hits);
	ok(hits.bits == AB_LABEL_BIT(AB_LABEL_GIT), "hooks that are have one");
	c.path = data;
	ab_labels_find(&in, &hits);
	ok(hits.bits == AB_LABEL_BIT(AB_LABEL_GIT), "also in a folder of git's data");
	in.gitdir = false;
	ab_labels_find(&in, &hits);
	ok(hits.bits == 0, "where others have none");
}

/* What makes a folder a git directory, and what git reads in one besides its settings. */
static void test_gitdir_parts(void)
{
	char head[] = "two/HEAD", link[] = ".git/info", list[] = "two/objects/info/alternates";
	struct ab_change c = { .path = head, .kind = AB_CHANGE_ADDED, .is = AB_TYPE_FILE };
	struct ab_label_input in = { .change = &c, .fresh = { "x", 1, false } };
	struct ab_label_hits hits;
	size_t at = 0, len, leads = 0;

	ok(ab_label_is_gitdir_part("two/head") && ab_label_is_gitdir_part("objects") &&
		   ab_label_is_gitdir_part("a/refs") && ab_label_is_gitdir_part("a/b/commondir"),
	   "what every git directory has");
	ok(!ab_label_is_gitdir_part("head/x") && !ab_label_is_gitdir_part("two/heads") &&
		   !ab_label_is_gitdir_part("config"),
	   "and nothing else");
	while (ab_label_git_lead(leads))
		leads++;
	ok(leads > 5 && !ab_label_git_lead(leads), "the list of what leads git has an end");
	ab_labels_find(&in, &hits);
	ok(hits.bits == 0, "a part of a git directory has no label");
	in.completes = "core.fsmonitor";
	ab_labels_find(&in, &hits);
	ok(hits.bits == AB_LABEL_BIT(AB_LABEL_GIT) &&
		   strcmp(hits.v[0].detail, "makes it a repository with core.fsmonitor") == 0,
	   "unless it completes one with settings: %s", hits.v[0].detail);
	in.completes = NULL;
	c.path = list;
	ok(ab_label_maybe_gitdir(list, &at, &len) && len == 3, "alternates may be in one");
	in.gitdir = true;
	ab_labels_find(&in, &hits);
	ok(hits.bits == AB_LABEL_BIT(AB_LABEL_GIT), "and have a label there");
	c.path = link;
	in.gitdir = false;
	ab_labels_find(&in, &hits);
	ok(hits.bits == 0, "a folder of a repository has no label");
	c.is = AB_TYPE_LINK;
	ab_labels_find(&in, &hits);
	ok(hits.bits == AB_LABEL_BIT(AB_LABEL_GIT), "a link in its place has one");
	c.path = head;
	ab_labels_find(&in, &hits);
	ok(hits.bits == 0, "elsewhere it has none");
}

/* In the home folder only known caches have no label. */
static void test_home(void)
{
	static const struct {
		const char *path;
		enum ab_change_type was, is;
		int id;
	} rows[] = {
		{ ".config/tool/settings", AB_TYPE_FILE, AB_TYPE_FILE, AB_LABEL_HOME },
		{ ".toolrc", AB_TYPE_NONE, AB_TYPE_FILE, AB_LABEL_HOME },
		{ ".bashrc", AB_TYPE_FILE, AB_TYPE_FILE, AB_LABEL_LOGIN },
		{ ".cache/p10k-instant-prompt-a.zsh", AB_TYPE_NONE, AB_TYPE_FILE, AB_LABEL_HOME },
		{ ".cache/pre-commit/a.py", AB_TYPE_NONE, AB_TYPE_FILE, AB_LABEL_HOME },
		{ ".cache/ruff", AB_TYPE_DIR, AB_TYPE_NONE, AB_LABEL_HOME },
		{ ".cache/ruff", AB_TYPE_NONE, AB_TYPE_FILE, AB_LABEL_HOME },
		{ ".cache/ruffs/a", AB_TYPE_NONE, AB_TYPE_FILE, AB_LABEL_HOME },
		{ ".CACHE/ruff/a", AB_TYPE_NONE, AB_TYPE_FILE, AB_LABEL_HOME },
		{ "x/.cache/ruff/a", AB_TYPE_NONE, AB_TYPE_FILE, AB_LABEL_HOME },
		{ ".cac", AB_TYPE_NONE, AB_TYPE_DIR, AB_LABEL_HOME },
		{ ".cache", AB_TYPE_NONE, AB_TYPE_DIR, NONE },
		{ ".cache/ruff", AB_TYPE_NONE, AB_TYPE_DIR, NONE },
		{ ".cache/ruff/a", AB_TYPE_NONE, AB_TYPE_FILE, NONE },
		{ ".npm/_logs/a.log", AB_TYPE_FILE, AB_TYPE_FILE, NONE },
		/* Code is run from these. */
		{ ".npm/_cacache/index-v5/a", AB_TYPE_FILE, AB_TYPE_FILE, AB_LABEL_PACKAGES },
		{ ".cargo/registry/src/a/lib.rs", AB_TYPE_NONE, AB_TYPE_FILE, AB_LABEL_PACKAGES },
		{ ".m2/repository/a/b.jar", AB_TYPE_NONE, AB_TYPE_FILE, AB_LABEL_PACKAGES },
		{ ".gradle/caches/a", AB_TYPE_FILE, AB_TYPE_FILE, AB_LABEL_PACKAGES },
		{ "go/pkg/mod/a/b.go", AB_TYPE_NONE, AB_TYPE_FILE, AB_LABEL_PACKAGES },
		{ ".Cache/Pip/wheels/a", AB_TYPE_NONE, AB_TYPE_FILE, AB_LABEL_PACKAGES },
		{ ".cache/ccache/0/a", AB_TYPE_NONE, AB_TYPE_FILE, AB_LABEL_PACKAGES },
		{ ".cache/go-build/a", AB_TYPE_NONE, AB_TYPE_FILE, AB_LABEL_PACKAGES },
		{ ".cargo/registry", AB_TYPE_NONE, AB_TYPE_DIR, AB_LABEL_PACKAGES },
		/* Nothing runs what is gone. */
		{ ".cargo/registry/src/a/lib.rs", AB_TYPE_FILE, AB_TYPE_NONE, AB_LABEL_HOME },
	};

	for (size_t i = 0; i < AB_COUNT(rows); i++) {
		ab_autofree char *path = ab_strdup(rows[i].path);
		struct ab_change c = { .path = path, .was = rows[i].was, .is = rows[i].is };
		struct ab_label_input in = {
			.change = &c,
			.old = { "a", 1, false },
			.fresh = { "b", 1, false },
			.home = true,
		};
		struct ab_label_hits hits;

		c.kind = c.was == AB_TYPE_NONE	? AB_CHANGE_ADDED
			 : c.is == AB_TYPE_NONE ? AB_CHANGE_DELETED
						: AB_CHANGE_MODIFIED;
		ab_labels_find(&in, &hits);
		ok(hits.bits == (rows[i].id == NONE ? 0 : AB_LABEL_BIT(rows[i].id)), "home: %s",
		   rows[i].path);
	}
}

/* A folder that goes, or becomes a link, takes protected names along. */
static void test_folders(void)
{
	char path[] = ".config", git[] = ".git", objects[] = ".git/objects", src[] = "src";
	char rebase[] = ".git/rebase-merge";
	struct ab_change c = {
		.path = path,
		.kind = AB_CHANGE_REPLACED,
		.was = AB_TYPE_DIR,
		.is = AB_TYPE_LINK,
		.count = 3,
		.files = 2,
	};
	struct ab_label_input in = { .change = &c, .fresh = { "elsewhere", 9, false } };
	struct ab_label_hits hits;

	ab_labels_find(&in, &hits);
	ok(hits.bits & AB_LABEL_BIT(AB_LABEL_GIT), ".config becomes a link: .config/git");
	c.path = src;
	ab_labels_find(&in, &hits);
	ok(hits.bits == AB_LABEL_BIT(AB_LABEL_DELETION), "src becomes a link");
	in.fresh = (struct ab_label_side){ 0 };
	c.kind = AB_CHANGE_DELETED;
	c.is = AB_TYPE_NONE;
	ab_labels_find(&in, &hits);
	ok(hits.bits == AB_LABEL_BIT(AB_LABEL_DELETION) && strcmp(hits.v[0].detail, "2 files") == 0,
	   "src is deleted, with what is in it");
	c.count = c.files = 0;
	ab_labels_find(&in, &hits);
	ok(hits.bits == 0, "an empty folder is deleted");
	c.count = 3;
	c.path = rebase;
	ab_labels_find(&in, &hits);
	ok(hits.bits == 0, "git deletes a folder of its own");
	c.path = git;
	ab_labels_find(&in, &hits);
	ok(hits.bits == AB_LABEL_BIT(AB_LABEL_GIT), ".git is deleted");
	c.path = objects;
	ab_labels_find(&in, &hits);
	ok(hits.bits == AB_LABEL_BIT(AB_LABEL_GIT), ".git/objects is deleted");
	in.mass = true;
	c.path = src;
	ab_labels_find(&in, &hits);
	ok(hits.bits == AB_LABEL_BIT(AB_LABEL_MASS), "src is one of many deletions");
	c.kind = AB_CHANGE_ADDED;
	c.was = AB_TYPE_NONE;
	c.is = AB_TYPE_DIR;
	ab_labels_find(&in, &hits);
	ok(hits.bits == 0, "a new folder is not a deletion");
}

static void test_mass(void)
{
	struct ab_change v[AB_LABEL_MASS_FILES] = { 0 };
	struct ab_changes changes = { .v = v, .len = AB_LABEL_MASS_FILES };

	for (size_t i = 0; i < changes.len; i++)
		v[i] = (struct ab_change){ .kind = AB_CHANGE_DELETED, .was = AB_TYPE_FILE };
	ok(ab_changes_mass(&changes), "%d deleted files are many", AB_LABEL_MASS_FILES);
	v[0].kind = AB_CHANGE_MODIFIED;
	ok(!ab_changes_mass(&changes), "one less is not");
	changes.len = 2;
	v[1] = (struct ab_change){ .kind = AB_CHANGE_DELETED,
				   .was = AB_TYPE_DIR,
				   .count = AB_LABEL_MASS_FILES };
	ok(ab_changes_mass(&changes), "a deleted folder counts with what was in it");
}

/* Every protected name has a label, also in upper case and below a folder; so do the
 * names of agents' own files that the profiles close. */
static void test_protected(void)
{
	size_t n;
	const struct ab_obeyed_name *names = ab_obeyed_names(AB_OBEYED_CLOSED, &n);

	for (size_t k = 0; k < n; k++) {
		/* "*.code-workspace" */
		const char *name = names[k].pattern, *text = *name == '*' ? name + 1 : name;
		bool all = true;

		for (size_t i = 0; i < 3; i++) {
			ab_autobuf struct ab_buf path = { 0 };
			struct ab_label_hits hits;

			if (i == 1)
				ab_buf_puts(&path, "deep/er/");
			ab_buf_puts(&path, text);
			if (i == 2)
				ab_buf_puts(&path, "/below");
			/* The folder of .git/config is not there. */
			if (i == 2 && strncmp(text, ".git/", 5) == 0)
				continue;
			ab_labels_find_name(path.data, &hits);
			all &= hits.bits != 0;
			for (char *p = path.data; *p; p++)
				*p = *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p;
			ab_labels_find_name(path.data, &hits);
			all &= hits.bits != 0;
		}
		ok(all, "%s has a label", name);
	}
	for (size_t i = 0; ab_agents[i]; i++) {
		const char *list = ab_agents[i]->closed, *word;

		for (size_t len; (word = ab_word_next(&list, &len));) {
			ab_autofree char *path = ab_strndup(word, len);
			struct ab_label_hits hits;

			ab_labels_find_name(path + strlen("~/"), &hits);
			ok(hits.bits & AB_LABEL_BIT(AB_LABEL_AGENT), "%s has a label", path);
		}
	}
}

/* So has every project file that a run without review reports. */
static void test_project_files(void)
{
	size_t n;
	const struct ab_obeyed_name *names = ab_obeyed_names(AB_OBEYED_REPORTED, &n);

	for (size_t i = 0; i < n; i++) {
		struct ab_label_hits hits;

		ab_labels_find_name(names[i].pattern, &hits);
		ok(hits.bits != 0, "%s has a label", names[i].pattern);
	}
}

/* Contents that would take hours if each match were searched from its place on. */
static void test_hostile(void)
{
	static const char *const pieces[] = {
		"sk-1.", "\033", "://", "\"a/b\":", "token=", ".git/"
	};
	static const char *const names[] = { "package-lock.json", "package.json",
					     "requirements.txt", ".git/config" };
	enum { LENGTH = 128 * 1024, FEW = 64 };

	for (size_t i = 0; i < AB_COUNT(pieces); i++) {
		ab_autobuf struct ab_buf old = { 0 }, fresh = { 0 }, few = { 0 }, more = { 0 };
		size_t same = 0;

		while (fresh.len < LENGTH)
			ab_buf_puts(&fresh, pieces[i]);
		ab_buf_add(&old, fresh.data, fresh.len);
		ab_buf_puts(&old, pieces[i]);
		ab_buf_add(&few, fresh.data, FEW * strlen(pieces[i]));
		ab_buf_add(&more, fresh.data, (FEW + 1) * strlen(pieces[i]));
		for (size_t k = 0; k < AB_COUNT(names); k++)
			same += label_file(names[k], old.data, fresh.data).bits ==
				label_file(names[k], more.data, few.data).bits;
		ok(same == AB_COUNT(names), "%zu: the labels of much are those of a little", i);
	}
}

static void test_table(void)
{
	size_t bad = 0;

	for (size_t i = 0; i < AB_LABEL_COUNT; i++) {
		const struct ab_label *l = &ab_labels[i];

		bad += !l->name || !l->what || !l->why || strchr(l->why, '"') ||
		       l->why[strlen(l->why) - 1] != '.';
		for (size_t k = 0; k < i; k++)
			bad += strcmp(ab_labels[k].name, l->name) == 0;
	}
	ok(bad == 0, "each label has its own name, and says what and why");
}

static void test_details(void)
{
	struct ab_label_hits hits = label_file(".envrc", NULL, "x");

	is_str(hits.v[0].who, "direnv", "a label names the program");
	hits = label_file(".git/config", "", "[core]\n\tsshCommand = x\n");
	ok(strncmp(hits.v[0].detail, "core.sshcommand ", 16) == 0, "and the setting");
	hits = label_file("package-lock.json", "{}", "{\"resolved\": \"https://e\033vil.test/x\"}");
	is_str(hits.v[0].detail, "e", "and a host, up to what is not one");
	hits = label_file("requirements.txt", "", "git+https://\xe2\x80\xae\033x\n");
	is_str(hits.v[0].detail, "git+https://\\xe2\\x80\\xae\\x1bx", "escaped");
}

int main(void)
{
	test_files();
	test_others();
	test_contents();
	test_gitdir();
	test_gitdir_parts();
	test_home();
	test_folders();
	test_mass();
	test_protected();
	test_project_files();
	test_hostile();
	test_table();
	test_details();
	return done();
}
