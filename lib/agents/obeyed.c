#include "agents/obeyed.h"

#include <assert.h>
#include <fnmatch.h>
#include <pthread.h>

#include "agents/agents.h"
#include "base/text/words.h"

enum why {
	AN_AGENT, /* what the rows of agents have */
	AGENTBOX,
	CARGO,
	CONTAINER,
	DEBUGGER,
	DIRENV,
	EDITOR,
	GIT_RUNS,
	HOOK,
	KEYS,
	MISE,
	PROGRAMS,
	SESSION,
	SHELL,
	VCS_RUNS,
};

static const char *const clauses[] = {
	[AN_AGENT] = "an AI agent obeys its hooks, tools and permissions",
	[AGENTBOX] = "agentbox reads its settings from it",
	[CARGO] = "cargo and rust-analyzer run programs that it names",
	[CONTAINER] = "an editor builds and runs the container that it describes",
	[DEBUGGER] = "a debugger or interpreter runs it when it starts",
	[DIRENV] = "direnv runs it when you enter the folder",
	[EDITOR] = "an editor runs programs that it names",
	[GIT_RUNS] = "git runs programs that it names",
	[HOOK] = "git runs it as a hook",
	[KEYS] = "programs trust the keys and settings in it",
	[MISE] = "mise obeys it when you enter the folder",
	[PROGRAMS] = "a shell finds programs there",
	[SESSION] = "the desktop session runs programs from it",
	[SHELL] = "a shell runs it when it starts",
	[VCS_RUNS] = "the version control system runs programs that it names",
};

enum {
	NEVER = AB_OBEYED_NEVER,
	GIT = AB_OBEYED_GIT,
	LOGIN = AB_OBEYED_LOGIN,
	FOLDER = AB_OBEYED_FOLDER,
	CI = AB_OBEYED_CI,
	BUILD = AB_OBEYED_BUILD,
	SETTINGS = AB_OBEYED_SETTINGS,
	PACKAGES = AB_OBEYED_PACKAGES,
	CREDENTIALS = AB_OBEYED_CREDENTIALS,
};

/*
 * Order decides nothing but which program is named first. Closed are names that programs run or
 * obey without asking: on `cd`, when an editor or an interpreter starts, with any command of a
 * version control system. Ordinary project files (Makefile, package.json, .gitattributes, CI
 * definitions) are not among them: the command is here to edit those.
 */
/* clang-format off */
static const struct ab_obeyed rows[] = {
	/* Version control. What is in .git is judged by layer/diff/label_git.c. */
	{ "git", NEVER, HOOK, .closed = ".git/hooks" },
	{ "git", NEVER, GIT_RUNS, .closed = ".git/config .git/config.worktree .git/commondir",
	  .like = ".git/*" },
	{ "git", GIT, GIT_RUNS, .closed = ".gitmodules .gitconfig .config/git" },
	{ "git", GIT, HOOK, .closed = ".githooks .husky" },
	{ "hg", GIT, VCS_RUNS, .closed = ".hg/hgrc .hg/hgrc-not-shared .hgrc .config/hg",
	  .like = ".hg/*" },
	{ "jj", GIT, VCS_RUNS,
	  .closed = ".jj/repo/config.toml .jj/workspace-config.toml .config/jj", .like = ".jj/*" },
	{ "sl", GIT, VCS_RUNS, .closed = ".sl/config", .like = ".sl/*" },
	{ "bzr", GIT, VCS_RUNS, .closed = ".bzr/branch/branch.conf", .like = ".bzr/*" },
	{ "lefthook", GIT,
	  .reported = ".lefthook.yaml .lefthook.yml lefthook.toml lefthook.yaml lefthook.yml",
	  .open = ".lefthook* lefthook*.y*ml" },
	{ "overcommit", GIT, .reported = ".overcommit.yml" },
	{ "pre-commit", GIT, .reported = ".pre-commit-config.yaml",
	  .open = ".pre-commit-config.y*ml .pre-commit-hooks.y*ml" },
	{ "husky", GIT, .open = ".huskyrc*" },
	{ "lint-staged", GIT, .open = ".lintstagedrc* lint-staged.config.*" },

	/* Shells and sessions. */
	{ "bash", LOGIN, SHELL,
	  .closed = ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases",
	  .open = ".bash_completion* .local/share/bash-completion", .like = ".bash*" },
	{ "your shell", LOGIN, SHELL, .closed = ".profile" },
	{ "zsh", LOGIN, SHELL, .closed = ".zshrc .zprofile .zshenv .zlogin .zlogout",
	  .open = ".oh-my-zsh", .like = ".z*rc .zlog*" },
	{ "ksh", LOGIN, SHELL, .closed = ".kshrc" },
	{ "mksh", LOGIN, SHELL, .closed = ".mkshrc" },
	{ "csh", LOGIN, SHELL, .closed = ".cshrc .login .logout" },
	{ "tcsh", LOGIN, SHELL, .closed = ".tcshrc" },
	{ "readline", LOGIN, SHELL, .closed = ".inputrc" },
	{ "fish", LOGIN, SHELL, .closed = ".config/fish" },
	{ "the session", LOGIN, SESSION,
	  .closed = ".xprofile .xinitrc .xsession .xsessionrc .pam_environment", .like = ".x*" },
	{ "systemd", LOGIN, SESSION, .closed = ".config/environment.d .config/systemd",
	  .open = ".local/share/systemd" },
	{ "the desktop", LOGIN, SESSION, .closed = ".config/autostart .local/share/applications",
	  .open = ".config/mimeapps.list" },
	{ "your shell", LOGIN, PROGRAMS, .closed = ".local/bin",
	  .open = ".cargo/env* .nvm/*.sh .cargo/bin" },
	{ "tmux", LOGIN, SHELL, .closed = ".tmux.conf .config/tmux" },
	{ "screen", LOGIN, SHELL, .closed = ".screenrc" },
	{ "nushell", LOGIN, .open = ".config/nushell" },
	{ "D-Bus", LOGIN, .open = ".local/share/dbus-1" },

	/* When a folder is entered, or a program is started in it. */
	{ "direnv", FOLDER, DIRENV, .closed = ".envrc", .open = ".config/direnv" },
	{ "mise", FOLDER, MISE,
	  .closed = "mise.toml .mise.toml mise.local.toml .mise.local.toml .mise .config/mise "
		".config/mise.toml", .open = "mise.*.toml .mise.*.toml",
	  .like = "mise*.toml .mise* .config/mise*" },
	{ "VS Code", FOLDER, EDITOR, .closed = ".vscode *.code-workspace" },
	{ "JetBrains IDEs", FOLDER, EDITOR, .closed = ".idea .run" },
	{ "Fleet", FOLDER, EDITOR, .closed = ".fleet" },
	{ "Zed", FOLDER, EDITOR, .closed = ".zed" },
	{ "vim", FOLDER, EDITOR, .closed = ".exrc .vimrc .lvimrc .gvimrc .vim .vimspector.json",
	  .like = ".*vimrc .vim*" },
	{ "Neovim", FOLDER, EDITOR, .closed = ".nvimrc .nvim.lua .nvim .config/nvim",
	  .like = ".nvim*" },
	{ "Helix", FOLDER, EDITOR, .closed = ".helix .config/helix" },
	{ "Emacs", FOLDER, EDITOR, .closed = ".emacs .emacs.d .dir-locals.el .dir-locals-2.el",
	  .like = ".emacs* .dir-locals*" },
	{ "dev containers", FOLDER, CONTAINER, .closed = ".devcontainer .devcontainer.json",
	  .like = ".devcontainer*" },
	{ "rust-analyzer", FOLDER, CARGO, .closed = ".cargo/config .cargo/config.toml",
	  .like = ".cargo/*" },
	{ "gdb", FOLDER, DEBUGGER, .closed = ".gdbinit" },
	{ "lldb", FOLDER, DEBUGGER, .closed = ".lldbinit" },
	{ "Python", FOLDER, DEBUGGER, .closed = ".pdbrc" },
	{ "R", FOLDER, DEBUGGER, .closed = ".Rprofile" },
	{ "OCaml", FOLDER, DEBUGGER, .closed = ".ocamlinit" },
	{ "Ruby", FOLDER, DEBUGGER, .closed = ".irbrc .pryrc" },
	{ "Octave", FOLDER, DEBUGGER, .closed = ".octaverc" },
	{ "GHCi", FOLDER, DEBUGGER, .closed = ".ghci" },
	{ "ripgrep", FOLDER, .reported = ".ripgreprc" },
	{ "asdf, mise", FOLDER, .reported = ".tool-versions" },
	{ "devbox", FOLDER, .open = "devbox.json" },
	{ "Gitpod", FOLDER, .open = ".gitpod.yml" },
	{ "Firebase Studio", FOLDER, .open = ".idx" },
	{ "YouCompleteMe", FOLDER, .open = ".ycm_extra_conf.py" },
	{ "Lua servers", FOLDER, .open = ".luarc.json*" },
	{ "Sublime Text", FOLDER, .open = "*.sublime-project" },

	/* Continuous integration. */
	{ "GitHub", CI,
	  .open = ".github/workflows .github/actions action.y*ml .github/dependabot.y*ml" },
	{ "GitLab", CI, .open = ".gitlab-ci* .gitlab/ci" },
	{ "Gitea", CI, .open = ".gitea/workflows" },
	{ "Forgejo", CI, .open = ".forgejo/workflows" },
	{ "Jenkins", CI, .open = "jenkinsfile* *.jenkinsfile" },
	{ "CircleCI", CI, .open = ".circleci" },
	{ "Travis", CI, .open = ".travis.yml .travis" },
	{ "Azure", CI, .open = "azure-pipelines* .azure-pipelines" },
	{ "Bitbucket", CI, .open = "bitbucket-pipelines.yml" },
	{ "Drone", CI, .open = ".drone.*" },
	{ "Woodpecker", CI, .open = ".woodpecker*" },
	{ "Buildkite", CI, .open = ".buildkite" },
	{ "AppVeyor", CI, .open = "appveyor.yml .appveyor.yml" },
	{ "Cirrus", CI, .open = ".cirrus.*" },
	{ "Semaphore", CI, .open = ".semaphore" },
	{ "Tekton", CI, .open = ".tekton" },
	{ "builds.sr.ht", CI, .open = ".builds .build.yml" },
	{ "CI", CI, .open = ".ci" },
	{ "Cloud Build", CI, .open = "cloudbuild.y*ml" },
	{ "CodeBuild", CI, .open = "buildspec*.y*ml" },
	{ "Wercker", CI, .open = "wercker.yml" },
	{ "Codemagic", CI, .open = "codemagic.yaml" },
	{ "Dagger", CI, .open = "dagger.json" },

	/* Installing, building, testing. Package manifests and lock files are judged by their content
	 * (layer/diff/label_packages.c). */
	{ "eslint", BUILD, .reported = ".eslintrc.cjs .eslintrc.js",
	  .open = ".eslintrc*" },
	{ "mvn", BUILD,
	  .reported = ".mvn/extensions.xml .mvn/jvm.config .mvn/maven.config",
	  .open = "pom.xml mvnw* .mvn" },
	{ "pnpm", BUILD, .reported = ".pnpmfile.cjs .pnpmfile.mjs",
	  .open = ".pnpmfile.*" },
	{ "twine", BUILD, .reported = ".pypirc" },
	{ "cargo", BUILD, .reported = "rust-toolchain rust-toolchain.toml",
	  .open = "build.rs rust-toolchain*" },
	{ "make", BUILD, .open = "makefile* gnumakefile *.mk" },
	{ "the build", BUILD, .open = "configure autogen.sh" },
	{ "autoconf", BUILD, .open = "configure.ac configure.in *.m4" },
	{ "cmake", BUILD, .open = "cmakelists.txt cmakepresets.json *.cmake" },
	{ "meson", BUILD, .open = "meson.build meson.options *.wrap" },
	{ "scons", BUILD, .open = "sconstruct sconscript" },
	{ "waf", BUILD, .open = "wscript" },
	{ "ninja", BUILD, .open = "build.ninja" },
	{ "just", BUILD, .open = "justfile .justfile" },
	{ "task", BUILD, .open = "taskfile*.y*ml" },
	{ "earthly", BUILD, .open = "earthfile" },
	{ "docker", BUILD,
	  .open = "dockerfile* *.dockerfile docker-compose* compose.y*ml" },
	{ "podman", BUILD, .open = "containerfile*" },
	{ "vagrant", BUILD, .open = "vagrantfile" },
	{ "foreman", BUILD, .open = "procfile*" },
	{ "tilt", BUILD, .open = "tiltfile" },
	{ "skaffold", BUILD, .open = "skaffold.y*ml" },
	{ "pip", BUILD, .open = "setup.py setup.cfg pyproject.toml" },
	{ "pytest", BUILD, .open = "conftest.py pytest.ini" },
	{ "nox", BUILD, .open = "noxfile.py" },
	{ "tox", BUILD, .open = "tox.ini" },
	{ "invoke", BUILD, .open = "tasks.py" },
	{ "fabric", BUILD, .open = "fabfile.py" },
	{ "doit", BUILD, .open = "dodo.py" },
	{ "Django", BUILD, .open = "manage.py" },
	{ "Python", BUILD, .open = "sitecustomize.py usercustomize.py *.pth" },
	{ "gradle", BUILD,
	  .open = "build.gradle* settings.gradle* init.gradle* gradle.properties gradlew* "
		"gradle/wrapper buildsrc .gradle/init.d" },
	{ "ant", BUILD, .open = "build.xml" },
	{ "sbt", BUILD, .open = "*.sbt" },
	{ "rake", BUILD, .open = "rakefile* *.rake" },
	{ "bundle", BUILD, .open = "gemfile *.gemspec" },
	{ "gem", BUILD, .open = "extconf.rb" },
	{ "mix", BUILD, .open = "mix.exs" },
	{ "rebar3", BUILD, .open = "rebar.config*" },
	{ "swift", BUILD, .open = "package.swift" },
	{ "pod", BUILD, .open = "podfile" },
	{ "fastlane", BUILD, .open = "fastfile" },
	{ "dotnet", BUILD, .open = "*.csproj *.fsproj *.vbproj *.targets *.props" },
	{ "msbuild", BUILD, .open = "*.vcxproj" },
	{ "cabal", BUILD, .open = "*.cabal setup.hs" },
	{ "dune", BUILD, .open = "dune*" },
	{ "zig", BUILD, .open = "build.zig*" },
	{ "nix", BUILD, .open = "flake.nix shell.nix default.nix" },
	{ "bazel", BUILD, .open = "build.bazel workspace.bazel module.bazel *.bzl" },
	{ "bazelisk", BUILD, .open = ".bazeliskrc" },
	{ "buck", BUILD, .open = ".buckconfig*" },
	{ "pylint", BUILD, .open = ".pylintrc pylintrc" },
	{ "rspec", BUILD, .open = ".rspec" },
	{ "rubocop", BUILD, .open = ".rubocop*.yml" },
	{ "stylelint", BUILD, .open = ".stylelintrc*" },
	{ "guard", BUILD, .open = "guardfile" },
	{ "snakemake", BUILD, .open = "snakefile *.smk" },
	{ "phpunit", BUILD, .open = "phpunit.xml*" },
	{ "php-cs-fixer", BUILD, .open = ".php-cs-fixer*" },
	{ "terraform", BUILD, .open = "*.tf *.tf.json" },
	{ "lein", BUILD, .open = "project.clj" },
	{ "yarn", BUILD, .open = ".yarn/releases .yarn/plugins .pnp.*" },
	{ "node-gyp", BUILD, .open = "binding.gyp" },
	{ "grunt", BUILD, .open = "gruntfile.*" },
	{ "gulp", BUILD, .open = "gulpfile.*" },
	{ "node", BUILD,
	  .reported = "eslint.config.cjs eslint.config.js eslint.config.mjs eslint.config.mts "
		"eslint.config.ts",
	  .open = "*.config.js *.config.cjs *.config.mjs *.config.ts *.config.cts *.config.mts" },
	{ "babel", BUILD, .open = ".babelrc*" },
	{ "prettier", BUILD, .open = ".prettierrc*" },
	{ "mocha", BUILD, .open = ".mocharc*" },
	{ "nx", BUILD, .open = "nx.json" },
	{ "turbo", BUILD, .open = "turbo.json" },
	{ "deno", BUILD, .open = "deno.json*" },
	{ "npm", BUILD, .open = "node_modules/.bin" },

	/* Settings of package managers and build tools. */
	{ "bazel", SETTINGS, .reported = ".bazelrc" },
	{ "bundle", SETTINGS, .reported = ".bundle/config" },
	{ "npm", SETTINGS, .reported = ".npmrc" },
	{ "yarn", SETTINGS, .reported = ".yarnrc .yarnrc.yml", .open = ".yarnrc*" },
	{ "bun", SETTINGS, .reported = "bunfig.toml" },
	{ "dotnet", SETTINGS, .open = "nuget.config" },
	{ "ansible", SETTINGS, .open = "ansible.cfg" },
	{ "pnpm", SETTINGS, .open = "pnpm-workspace.yaml" },
	{ "pip", SETTINGS, .open = "pip.conf .config/pip" },
	{ "uv", SETTINGS, .open = "uv.toml" },
	{ "conda", SETTINGS, .open = ".condarc" },
	{ "mvn", SETTINGS, .open = ".m2/settings.xml" },

	/* Code that was downloaded or compiled, and is run from there. */
	{ "npm", PACKAGES, .open = ".npm/_cacache" },
	{ "npx", PACKAGES, .open = ".npm/_npx" },
	{ "yarn", PACKAGES, .open = ".cache/yarn .yarn/cache .yarn/berry/cache" },
	{ "pnpm", PACKAGES, .open = ".cache/pnpm .local/share/pnpm/store" },
	{ "bun", PACKAGES, .open = ".bun/install/cache" },
	{ "deno", PACKAGES, .open = ".cache/deno" },
	{ "TypeScript", PACKAGES, .open = ".cache/typescript" },
	{ "corepack", PACKAGES, .open = ".cache/node/corepack" },
	{ "pip", PACKAGES, .open = ".cache/pip" },
	{ "uv", PACKAGES, .open = ".cache/uv" },
	{ "poetry", PACKAGES, .open = ".cache/pypoetry" },
	{ "cargo", PACKAGES, .open = ".cargo/registry .cargo/git" },
	{ "mvn", PACKAGES, .open = ".m2/repository" },
	{ "gradle", PACKAGES, .open = ".gradle/caches .gradle/wrapper" },
	{ "sbt", PACKAGES, .open = ".ivy2/cache" },
	{ "coursier", PACKAGES, .open = ".cache/coursier" },
	{ "dotnet", PACKAGES, .open = ".nuget/packages" },
	{ "composer", PACKAGES, .open = ".cache/composer" },
	{ "go", PACKAGES, .open = "go/pkg/mod .cache/go-build" },
	{ "ccache", PACKAGES, .open = ".cache/ccache .ccache" },
	{ "sccache", PACKAGES, .open = ".cache/sccache" },

	/* Agents that we know only by these names; each of the others has its own file. */
	{ "Augment", .closed = ".augment", .open = ".augment*" },
	{ "Cline", .closed = ".cline .clinerules", .open = ".cline*", .like = ".cline*" },
	{ "Continue", .closed = ".continue" },
	{ "Factory", .closed = ".factory" },
	{ "Junie", .closed = ".junie" },
	{ "Kiro", .closed = ".kiro" },
	{ "Roo", .closed = ".roo", .open = ".roo*" },
	{ "Trae", .closed = ".trae" },
	{ "agents", .closed = ".agent .agents .mcp.json", .reported = "AGENTS.md",
	  .open = "agent.md mcp.json" },
	{ "agentbox", .why = AGENTBOX, .closed = ".config/agentbox .agentbox.json" },

	/* Keys, and programs that fetch them. */
	{ "ssh", CREDENTIALS, KEYS, .closed = ".ssh" },
	{ "gpg", CREDENTIALS, KEYS, .closed = ".gnupg" },
	{ "curl, git", CREDENTIALS, KEYS, .closed = ".netrc" },
	{ "docker", CREDENTIALS, KEYS, .closed = ".docker" },
	{ "kubectl", CREDENTIALS, KEYS, .closed = ".kube" },
	{ "aws", CREDENTIALS, KEYS, .closed = ".aws" },
	{ "the application", CREDENTIALS, .reported = ".env", .open = "*.env .env.*" },
	{ "az", CREDENTIALS, .open = ".azure" },
	{ "gcloud", CREDENTIALS, .open = ".config/gcloud" },
	{ "git", CREDENTIALS, .open = ".git-credentials" },
	{ "gh", CREDENTIALS, .open = ".config/gh" },
	{ "cargo", CREDENTIALS, .open = ".cargo/credentials*" },
	{ "pass", CREDENTIALS, .open = ".password-store" },
};
/* clang-format on */

enum { NAMES = 256, TEXT = 4096 };

/* A list with its patterns, terminated. A start needs one of them, so each is made when it is asked for. */
static struct made {
	struct ab_obeyed_name names[NAMES];
	size_t n, used;
	char text[TEXT];
} made[AB_OBEYED_LISTS];

static void add_names(const struct ab_obeyed *row, enum ab_obeyed_list list)
{
	struct made *to = &made[list];
	const char *names = row->lists[list], *word;

	for (size_t len; (word = ab_word_next(&names, &len)); to->used += len + 1) {
		assert(to->n < NAMES && to->used + len < TEXT);
		memcpy(to->text + to->used, word, len);
		to->names[to->n++] = (struct ab_obeyed_name){ to->text + to->used, row };
	}
}

const struct ab_obeyed *ab_obeyed_row(size_t index)
{
	if (index < AB_COUNT(rows))
		return &rows[index];
	return ab_agents[index - AB_COUNT(rows)] ? &ab_agents[index - AB_COUNT(rows)]->obeys : NULL;
}

const struct ab_obeyed_name *ab_obeyed_names(enum ab_obeyed_list list, size_t *ret_len)
{
	static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
	const struct ab_obeyed *row;

	pthread_mutex_lock(&making);
	if (!made[list].n)
		for (size_t i = 0; (row = ab_obeyed_row(i)); i++)
			add_names(row, list);
	pthread_mutex_unlock(&making);
	*ret_len = made[list].n;
	return made[list].names;
}

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

static const char *find_clause(enum ab_obeyed_list list, const char *name)
{
	size_t len;
	const struct ab_obeyed_name *v = ab_obeyed_names(list, &len);

	for (size_t i = 0; i < len; i++)
		if (matches_beginning(v[i].pattern, name))
			return clauses[v[i].by->why];
	return NULL;
}

const char *ab_obeyed_by(const char *name)
{
	const char *clause = find_clause(AB_OBEYED_CLOSED, name);

	if (!clause)
		clause = find_clause(AB_OBEYED_LIKE, name);
	return clause ? clause : "programs outside the box run or trust it";
}
