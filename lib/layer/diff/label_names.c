#include <string.h>

#include "base/data/mem.h"
#include "base/text/ascii.h"
#include "layer/diff/label_state.h"
#include "policy/layers/profiles.h"

/*
 * Names that programs outside the box run or obey. A row matches at any depth, and
 * everything below it; "*" is any text in one component. All rows are in lower case.
 * Order decides nothing but which program is named first. Every entry of
 * ab_default_deny_write has a row.
 */
/* clang-format off */
static const struct name_row {
	char pattern[30];
	char who[17];
	uint8_t id;
} rows[] = {
	/* Version control. What is in .git: label_git.c. */
	{ ".gitmodules", "git", AB_LABEL_GIT },
	{ ".gitconfig", "git", AB_LABEL_GIT },
	{ ".config/git", "git", AB_LABEL_GIT },
	{ ".githooks", "git", AB_LABEL_GIT },
	{ ".husky", "git", AB_LABEL_GIT },
	{ ".huskyrc*", "husky", AB_LABEL_GIT },
	{ ".lintstagedrc*", "lint-staged", AB_LABEL_GIT },
	{ "lint-staged.config.*", "lint-staged", AB_LABEL_GIT },
	{ ".pre-commit-config.y*ml", "pre-commit", AB_LABEL_GIT },
	{ ".pre-commit-hooks.y*ml", "pre-commit", AB_LABEL_GIT },
	{ ".overcommit.yml", "overcommit", AB_LABEL_GIT },
	{ ".lefthook*", "lefthook", AB_LABEL_GIT },
	{ "lefthook*.y*ml", "lefthook", AB_LABEL_GIT },
	{ "lefthook.toml", "lefthook", AB_LABEL_GIT },
	{ ".hg/hgrc", "hg", AB_LABEL_GIT },
	{ ".hg/hgrc-not-shared", "hg", AB_LABEL_GIT },
	{ ".hgrc", "hg", AB_LABEL_GIT },
	{ ".config/hg", "hg", AB_LABEL_GIT },
	{ ".jj/repo/config.toml", "jj", AB_LABEL_GIT },
	{ ".jj/workspace-config.toml", "jj", AB_LABEL_GIT },
	{ ".config/jj", "jj", AB_LABEL_GIT },
	{ ".sl/config", "sl", AB_LABEL_GIT },
	{ ".bzr/branch/branch.conf", "bzr", AB_LABEL_GIT },

	/* Shells and sessions. */
	{ ".bashrc", "bash", AB_LABEL_LOGIN },
	{ ".bash_profile", "bash", AB_LABEL_LOGIN },
	{ ".bash_login", "bash", AB_LABEL_LOGIN },
	{ ".bash_logout", "bash", AB_LABEL_LOGIN },
	{ ".bash_aliases", "bash", AB_LABEL_LOGIN },
	{ ".bash_completion*", "bash", AB_LABEL_LOGIN },
	{ ".local/share/bash-completion", "bash", AB_LABEL_LOGIN },
	{ ".profile", "your shell", AB_LABEL_LOGIN },
	{ ".zshrc", "zsh", AB_LABEL_LOGIN },
	{ ".zprofile", "zsh", AB_LABEL_LOGIN },
	{ ".zshenv", "zsh", AB_LABEL_LOGIN },
	{ ".zlogin", "zsh", AB_LABEL_LOGIN },
	{ ".zlogout", "zsh", AB_LABEL_LOGIN },
	{ ".oh-my-zsh", "zsh", AB_LABEL_LOGIN },
	{ ".kshrc", "ksh", AB_LABEL_LOGIN },
	{ ".mkshrc", "mksh", AB_LABEL_LOGIN },
	{ ".cshrc", "csh", AB_LABEL_LOGIN },
	{ ".tcshrc", "tcsh", AB_LABEL_LOGIN },
	{ ".login", "csh", AB_LABEL_LOGIN },
	{ ".logout", "csh", AB_LABEL_LOGIN },
	{ ".inputrc", "readline", AB_LABEL_LOGIN },
	{ ".config/fish", "fish", AB_LABEL_LOGIN },
	{ ".config/nushell", "nushell", AB_LABEL_LOGIN },
	{ ".cargo/env*", "your shell", AB_LABEL_LOGIN },
	{ ".nvm/*.sh", "your shell", AB_LABEL_LOGIN },
	{ ".xprofile", "the session", AB_LABEL_LOGIN },
	{ ".xinitrc", "the session", AB_LABEL_LOGIN },
	{ ".xsession", "the session", AB_LABEL_LOGIN },
	{ ".xsessionrc", "the session", AB_LABEL_LOGIN },
	{ ".pam_environment", "the session", AB_LABEL_LOGIN },
	{ ".config/environment.d", "systemd", AB_LABEL_LOGIN },
	{ ".config/autostart", "the desktop", AB_LABEL_LOGIN },
	{ ".config/systemd", "systemd", AB_LABEL_LOGIN },
	{ ".local/share/systemd", "systemd", AB_LABEL_LOGIN },
	{ ".local/share/dbus-1", "D-Bus", AB_LABEL_LOGIN },
	{ ".local/bin", "your shell", AB_LABEL_LOGIN },
	{ ".cargo/bin", "your shell", AB_LABEL_LOGIN },
	{ ".local/share/applications", "the desktop", AB_LABEL_LOGIN },
	{ ".config/mimeapps.list", "the desktop", AB_LABEL_LOGIN },
	{ ".tmux.conf", "tmux", AB_LABEL_LOGIN },
	{ ".config/tmux", "tmux", AB_LABEL_LOGIN },
	{ ".screenrc", "screen", AB_LABEL_LOGIN },

	/* When a folder is entered, or a program is started in it. */
	{ ".envrc", "direnv", AB_LABEL_FOLDER },
	{ ".config/direnv", "direnv", AB_LABEL_FOLDER },
	{ "mise.toml", "mise", AB_LABEL_FOLDER },
	{ ".mise.toml", "mise", AB_LABEL_FOLDER },
	{ "mise.*.toml", "mise", AB_LABEL_FOLDER },
	{ ".mise.*.toml", "mise", AB_LABEL_FOLDER },
	{ ".mise", "mise", AB_LABEL_FOLDER },
	{ ".config/mise", "mise", AB_LABEL_FOLDER },
	{ ".config/mise.toml", "mise", AB_LABEL_FOLDER },
	{ ".tool-versions", "asdf, mise", AB_LABEL_FOLDER },
	{ "devbox.json", "devbox", AB_LABEL_FOLDER },
	{ ".vscode", "VS Code", AB_LABEL_FOLDER },
	{ "*.code-workspace", "VS Code", AB_LABEL_FOLDER },
	{ ".idea", "JetBrains IDEs", AB_LABEL_FOLDER },
	{ ".run", "JetBrains IDEs", AB_LABEL_FOLDER },
	{ ".fleet", "Fleet", AB_LABEL_FOLDER },
	{ ".zed", "Zed", AB_LABEL_FOLDER },
	{ ".exrc", "vim", AB_LABEL_FOLDER },
	{ ".vimrc", "vim", AB_LABEL_FOLDER },
	{ ".gvimrc", "vim", AB_LABEL_FOLDER },
	{ ".lvimrc", "vim", AB_LABEL_FOLDER },
	{ ".vim", "vim", AB_LABEL_FOLDER },
	{ ".vimspector.json", "vim", AB_LABEL_FOLDER },
	{ ".nvimrc", "Neovim", AB_LABEL_FOLDER },
	{ ".nvim.lua", "Neovim", AB_LABEL_FOLDER },
	{ ".nvim", "Neovim", AB_LABEL_FOLDER },
	{ ".config/nvim", "Neovim", AB_LABEL_FOLDER },
	{ ".helix", "Helix", AB_LABEL_FOLDER },
	{ ".config/helix", "Helix", AB_LABEL_FOLDER },
	{ ".emacs", "Emacs", AB_LABEL_FOLDER },
	{ ".emacs.d", "Emacs", AB_LABEL_FOLDER },
	{ ".dir-locals.el", "Emacs", AB_LABEL_FOLDER },
	{ ".dir-locals-2.el", "Emacs", AB_LABEL_FOLDER },
	{ ".devcontainer", "dev containers", AB_LABEL_FOLDER },
	{ ".devcontainer.json", "dev containers", AB_LABEL_FOLDER },
	{ ".gitpod.yml", "Gitpod", AB_LABEL_FOLDER },
	{ ".idx", "Firebase Studio", AB_LABEL_FOLDER },
	{ ".cargo/config", "rust-analyzer", AB_LABEL_FOLDER },
	{ ".cargo/config.toml", "rust-analyzer", AB_LABEL_FOLDER },
	{ ".ycm_extra_conf.py", "YouCompleteMe", AB_LABEL_FOLDER },
	{ ".luarc.json*", "Lua servers", AB_LABEL_FOLDER },
	{ "*.sublime-project", "Sublime Text", AB_LABEL_FOLDER },
	{ ".gdbinit", "gdb", AB_LABEL_FOLDER },
	{ ".lldbinit", "lldb", AB_LABEL_FOLDER },
	{ ".pdbrc", "Python", AB_LABEL_FOLDER },
	{ ".rprofile", "R", AB_LABEL_FOLDER },
	{ ".ocamlinit", "OCaml", AB_LABEL_FOLDER },
	{ ".irbrc", "Ruby", AB_LABEL_FOLDER },
	{ ".pryrc", "Ruby", AB_LABEL_FOLDER },
	{ ".octaverc", "Octave", AB_LABEL_FOLDER },
	{ ".ghci", "GHCi", AB_LABEL_FOLDER },
	{ ".ripgreprc", "ripgrep", AB_LABEL_FOLDER },

	/* Continuous integration. */
	{ ".github/workflows", "GitHub", AB_LABEL_CI },
	{ ".github/actions", "GitHub", AB_LABEL_CI },
	{ "action.y*ml", "GitHub", AB_LABEL_CI },
	{ ".github/dependabot.y*ml", "GitHub", AB_LABEL_CI },
	{ ".gitlab-ci*", "GitLab", AB_LABEL_CI },
	{ ".gitlab/ci", "GitLab", AB_LABEL_CI },
	{ ".gitea/workflows", "Gitea", AB_LABEL_CI },
	{ ".forgejo/workflows", "Forgejo", AB_LABEL_CI },
	{ "jenkinsfile*", "Jenkins", AB_LABEL_CI },
	{ "*.jenkinsfile", "Jenkins", AB_LABEL_CI },
	{ ".circleci", "CircleCI", AB_LABEL_CI },
	{ ".travis.yml", "Travis", AB_LABEL_CI },
	{ ".travis", "Travis", AB_LABEL_CI },
	{ "azure-pipelines*", "Azure", AB_LABEL_CI },
	{ ".azure-pipelines", "Azure", AB_LABEL_CI },
	{ "bitbucket-pipelines.yml", "Bitbucket", AB_LABEL_CI },
	{ ".drone.*", "Drone", AB_LABEL_CI },
	{ ".woodpecker*", "Woodpecker", AB_LABEL_CI },
	{ ".buildkite", "Buildkite", AB_LABEL_CI },
	{ "appveyor.yml", "AppVeyor", AB_LABEL_CI },
	{ ".appveyor.yml", "AppVeyor", AB_LABEL_CI },
	{ ".cirrus.*", "Cirrus", AB_LABEL_CI },
	{ ".semaphore", "Semaphore", AB_LABEL_CI },
	{ ".tekton", "Tekton", AB_LABEL_CI },
	{ ".builds", "builds.sr.ht", AB_LABEL_CI },
	{ ".build.yml", "builds.sr.ht", AB_LABEL_CI },
	{ ".ci", "CI", AB_LABEL_CI },
	{ "cloudbuild.y*ml", "Cloud Build", AB_LABEL_CI },
	{ "buildspec*.y*ml", "CodeBuild", AB_LABEL_CI },
	{ "wercker.yml", "Wercker", AB_LABEL_CI },
	{ "codemagic.yaml", "Codemagic", AB_LABEL_CI },
	{ "dagger.json", "Dagger", AB_LABEL_CI },

	/* Installing, building, testing. Package manifests and lock files are judged by their
	 * content: label_packages.c. */
	{ "makefile*", "make", AB_LABEL_BUILD },
	{ "gnumakefile", "make", AB_LABEL_BUILD },
	{ "*.mk", "make", AB_LABEL_BUILD },
	{ "configure", "the build", AB_LABEL_BUILD },
	{ "configure.ac", "autoconf", AB_LABEL_BUILD },
	{ "configure.in", "autoconf", AB_LABEL_BUILD },
	{ "*.m4", "autoconf", AB_LABEL_BUILD },
	{ "autogen.sh", "the build", AB_LABEL_BUILD },
	{ "cmakelists.txt", "cmake", AB_LABEL_BUILD },
	{ "cmakepresets.json", "cmake", AB_LABEL_BUILD },
	{ "*.cmake", "cmake", AB_LABEL_BUILD },
	{ "meson.build", "meson", AB_LABEL_BUILD },
	{ "meson.options", "meson", AB_LABEL_BUILD },
	{ "*.wrap", "meson", AB_LABEL_BUILD },
	{ "sconstruct", "scons", AB_LABEL_BUILD },
	{ "sconscript", "scons", AB_LABEL_BUILD },
	{ "wscript", "waf", AB_LABEL_BUILD },
	{ "build.ninja", "ninja", AB_LABEL_BUILD },
	{ "justfile", "just", AB_LABEL_BUILD },
	{ ".justfile", "just", AB_LABEL_BUILD },
	{ "taskfile*.y*ml", "task", AB_LABEL_BUILD },
	{ "earthfile", "earthly", AB_LABEL_BUILD },
	{ "dockerfile*", "docker", AB_LABEL_BUILD },
	{ "*.dockerfile", "docker", AB_LABEL_BUILD },
	{ "containerfile*", "podman", AB_LABEL_BUILD },
	{ "docker-compose*", "docker", AB_LABEL_BUILD },
	{ "compose.y*ml", "docker", AB_LABEL_BUILD },
	{ "vagrantfile", "vagrant", AB_LABEL_BUILD },
	{ "procfile*", "foreman", AB_LABEL_BUILD },
	{ "tiltfile", "tilt", AB_LABEL_BUILD },
	{ "skaffold.y*ml", "skaffold", AB_LABEL_BUILD },
	{ "setup.py", "pip", AB_LABEL_BUILD },
	{ "setup.cfg", "pip", AB_LABEL_BUILD },
	{ "pyproject.toml", "pip", AB_LABEL_BUILD },
	{ "conftest.py", "pytest", AB_LABEL_BUILD },
	{ "pytest.ini", "pytest", AB_LABEL_BUILD },
	{ "noxfile.py", "nox", AB_LABEL_BUILD },
	{ "tox.ini", "tox", AB_LABEL_BUILD },
	{ "tasks.py", "invoke", AB_LABEL_BUILD },
	{ "fabfile.py", "fabric", AB_LABEL_BUILD },
	{ "dodo.py", "doit", AB_LABEL_BUILD },
	{ "manage.py", "Django", AB_LABEL_BUILD },
	{ "sitecustomize.py", "Python", AB_LABEL_BUILD },
	{ "usercustomize.py", "Python", AB_LABEL_BUILD },
	{ "*.pth", "Python", AB_LABEL_BUILD },
	{ "build.rs", "cargo", AB_LABEL_BUILD },
	{ "rust-toolchain*", "cargo", AB_LABEL_BUILD },
	{ "build.gradle*", "gradle", AB_LABEL_BUILD },
	{ "settings.gradle*", "gradle", AB_LABEL_BUILD },
	{ "init.gradle*", "gradle", AB_LABEL_BUILD },
	{ "gradle.properties", "gradle", AB_LABEL_BUILD },
	{ "gradlew*", "gradle", AB_LABEL_BUILD },
	{ "gradle/wrapper", "gradle", AB_LABEL_BUILD },
	{ "buildsrc", "gradle", AB_LABEL_BUILD },
	{ ".gradle/init.d", "gradle", AB_LABEL_BUILD },
	{ "pom.xml", "mvn", AB_LABEL_BUILD },
	{ "mvnw*", "mvn", AB_LABEL_BUILD },
	{ ".mvn", "mvn", AB_LABEL_BUILD },
	{ "build.xml", "ant", AB_LABEL_BUILD },
	{ "*.sbt", "sbt", AB_LABEL_BUILD },
	{ "rakefile*", "rake", AB_LABEL_BUILD },
	{ "*.rake", "rake", AB_LABEL_BUILD },
	{ "gemfile", "bundle", AB_LABEL_BUILD },
	{ "*.gemspec", "bundle", AB_LABEL_BUILD },
	{ "extconf.rb", "gem", AB_LABEL_BUILD },
	{ ".bundle/config", "bundle", AB_LABEL_BUILD },
	{ "mix.exs", "mix", AB_LABEL_BUILD },
	{ "rebar.config*", "rebar3", AB_LABEL_BUILD },
	{ "package.swift", "swift", AB_LABEL_BUILD },
	{ "podfile", "pod", AB_LABEL_BUILD },
	{ "fastfile", "fastlane", AB_LABEL_BUILD },
	{ "*.csproj", "dotnet", AB_LABEL_BUILD },
	{ "*.fsproj", "dotnet", AB_LABEL_BUILD },
	{ "*.vbproj", "dotnet", AB_LABEL_BUILD },
	{ "*.vcxproj", "msbuild", AB_LABEL_BUILD },
	{ "*.targets", "dotnet", AB_LABEL_BUILD },
	{ "*.props", "dotnet", AB_LABEL_BUILD },
	{ "nuget.config", "dotnet", AB_LABEL_BUILD },
	{ "*.cabal", "cabal", AB_LABEL_BUILD },
	{ "setup.hs", "cabal", AB_LABEL_BUILD },
	{ "dune*", "dune", AB_LABEL_BUILD },
	{ "build.zig*", "zig", AB_LABEL_BUILD },
	{ "flake.nix", "nix", AB_LABEL_BUILD },
	{ "shell.nix", "nix", AB_LABEL_BUILD },
	{ "default.nix", "nix", AB_LABEL_BUILD },
	{ "build.bazel", "bazel", AB_LABEL_BUILD },
	{ "workspace.bazel", "bazel", AB_LABEL_BUILD },
	{ "module.bazel", "bazel", AB_LABEL_BUILD },
	{ "*.bzl", "bazel", AB_LABEL_BUILD },
	{ ".bazelrc", "bazel", AB_LABEL_BUILD },
	{ ".bazeliskrc", "bazelisk", AB_LABEL_BUILD },
	{ ".buckconfig*", "buck", AB_LABEL_BUILD },
	{ ".pylintrc", "pylint", AB_LABEL_BUILD },
	{ "pylintrc", "pylint", AB_LABEL_BUILD },
	{ ".rspec", "rspec", AB_LABEL_BUILD },
	{ ".rubocop*.yml", "rubocop", AB_LABEL_BUILD },
	{ ".stylelintrc*", "stylelint", AB_LABEL_BUILD },
	{ "guardfile", "guard", AB_LABEL_BUILD },
	{ "snakefile", "snakemake", AB_LABEL_BUILD },
	{ "*.smk", "snakemake", AB_LABEL_BUILD },
	{ "phpunit.xml*", "phpunit", AB_LABEL_BUILD },
	{ ".php-cs-fixer*", "php-cs-fixer", AB_LABEL_BUILD },
	{ "ansible.cfg", "ansible", AB_LABEL_BUILD },
	{ "*.tf", "terraform", AB_LABEL_BUILD },
	{ "*.tf.json", "terraform", AB_LABEL_BUILD },
	{ "project.clj", "lein", AB_LABEL_BUILD },
	{ ".npmrc", "npm", AB_LABEL_BUILD },
	{ ".yarnrc*", "yarn", AB_LABEL_BUILD },
	{ ".yarn/releases", "yarn", AB_LABEL_BUILD },
	{ ".yarn/plugins", "yarn", AB_LABEL_BUILD },
	{ ".pnp.*", "yarn", AB_LABEL_BUILD },
	{ ".pnpmfile.*", "pnpm", AB_LABEL_BUILD },
	{ "pnpm-workspace.yaml", "pnpm", AB_LABEL_BUILD },
	{ "bunfig.toml", "bun", AB_LABEL_BUILD },
	{ "binding.gyp", "node-gyp", AB_LABEL_BUILD },
	{ "gruntfile.*", "grunt", AB_LABEL_BUILD },
	{ "gulpfile.*", "gulp", AB_LABEL_BUILD },
	{ "*.config.js", "node", AB_LABEL_BUILD },
	{ "*.config.cjs", "node", AB_LABEL_BUILD },
	{ "*.config.mjs", "node", AB_LABEL_BUILD },
	{ "*.config.ts", "node", AB_LABEL_BUILD },
	{ "*.config.cts", "node", AB_LABEL_BUILD },
	{ "*.config.mts", "node", AB_LABEL_BUILD },
	{ ".eslintrc*", "eslint", AB_LABEL_BUILD },
	{ ".babelrc*", "babel", AB_LABEL_BUILD },
	{ ".prettierrc*", "prettier", AB_LABEL_BUILD },
	{ ".mocharc*", "mocha", AB_LABEL_BUILD },
	{ "nx.json", "nx", AB_LABEL_BUILD },
	{ "turbo.json", "turbo", AB_LABEL_BUILD },
	{ "deno.json*", "deno", AB_LABEL_BUILD },
	{ "pip.conf", "pip", AB_LABEL_BUILD },
	{ ".config/pip", "pip", AB_LABEL_BUILD },
	{ ".pypirc", "twine", AB_LABEL_BUILD },
	{ "uv.toml", "uv", AB_LABEL_BUILD },
	{ ".condarc", "conda", AB_LABEL_BUILD },
	{ ".m2/settings.xml", "mvn", AB_LABEL_BUILD },
	{ "node_modules/.bin", "npm", AB_LABEL_BUILD },

	/* Code that was downloaded or compiled, and is run from there. */
	{ ".npm/_cacache", "npm", AB_LABEL_PACKAGES },
	{ ".npm/_npx", "npx", AB_LABEL_PACKAGES },
	{ ".cache/yarn", "yarn", AB_LABEL_PACKAGES },
	{ ".yarn/cache", "yarn", AB_LABEL_PACKAGES },
	{ ".yarn/berry/cache", "yarn", AB_LABEL_PACKAGES },
	{ ".cache/pnpm", "pnpm", AB_LABEL_PACKAGES },
	{ ".local/share/pnpm/store", "pnpm", AB_LABEL_PACKAGES },
	{ ".bun/install/cache", "bun", AB_LABEL_PACKAGES },
	{ ".cache/deno", "deno", AB_LABEL_PACKAGES },
	{ ".cache/typescript", "TypeScript", AB_LABEL_PACKAGES },
	{ ".cache/node/corepack", "corepack", AB_LABEL_PACKAGES },
	{ ".cache/pip", "pip", AB_LABEL_PACKAGES },
	{ ".cache/uv", "uv", AB_LABEL_PACKAGES },
	{ ".cache/pypoetry", "poetry", AB_LABEL_PACKAGES },
	{ ".cargo/registry", "cargo", AB_LABEL_PACKAGES },
	{ ".cargo/git", "cargo", AB_LABEL_PACKAGES },
	{ ".m2/repository", "mvn", AB_LABEL_PACKAGES },
	{ ".gradle/caches", "gradle", AB_LABEL_PACKAGES },
	{ ".gradle/wrapper", "gradle", AB_LABEL_PACKAGES },
	{ ".ivy2/cache", "sbt", AB_LABEL_PACKAGES },
	{ ".cache/coursier", "coursier", AB_LABEL_PACKAGES },
	{ ".nuget/packages", "dotnet", AB_LABEL_PACKAGES },
	{ ".cache/composer", "composer", AB_LABEL_PACKAGES },
	{ "go/pkg/mod", "go", AB_LABEL_PACKAGES },
	{ ".cache/go-build", "go", AB_LABEL_PACKAGES },
	{ ".cache/ccache", "ccache", AB_LABEL_PACKAGES },
	{ ".ccache", "ccache", AB_LABEL_PACKAGES },
	{ ".cache/sccache", "sccache", AB_LABEL_PACKAGES },

	/* Agents. */
	{ "claude.md", "Claude Code", AB_LABEL_AGENT },
	{ "claude.local.md", "Claude Code", AB_LABEL_AGENT },
	{ ".claude", "Claude Code", AB_LABEL_AGENT },
	{ ".claude.json", "Claude Code", AB_LABEL_AGENT },
	{ ".claude-plugin", "Claude Code", AB_LABEL_AGENT },
	{ "agents.md", "agents", AB_LABEL_AGENT },
	{ "agents.override.md", "Codex", AB_LABEL_AGENT },
	{ "agent.md", "agents", AB_LABEL_AGENT },
	{ ".codex", "Codex", AB_LABEL_AGENT },
	{ ".cursor", "Cursor", AB_LABEL_AGENT },
	{ ".cursorrules", "Cursor", AB_LABEL_AGENT },
	{ ".gemini", "Gemini CLI", AB_LABEL_AGENT },
	{ "gemini.md", "Gemini CLI", AB_LABEL_AGENT },
	{ ".opencode", "OpenCode", AB_LABEL_AGENT },
	{ "opencode.json*", "OpenCode", AB_LABEL_AGENT },
	{ ".config/opencode", "OpenCode", AB_LABEL_AGENT },
	{ ".windsurf", "Windsurf", AB_LABEL_AGENT },
	{ ".windsurfrules", "Windsurf", AB_LABEL_AGENT },
	{ ".continue", "Continue", AB_LABEL_AGENT },
	{ ".aider*", "Aider", AB_LABEL_AGENT },
	{ ".roo*", "Roo", AB_LABEL_AGENT },
	{ ".cline*", "Cline", AB_LABEL_AGENT },
	{ ".kiro", "Kiro", AB_LABEL_AGENT },
	{ ".qwen", "Qwen Code", AB_LABEL_AGENT },
	{ "qwen.md", "Qwen Code", AB_LABEL_AGENT },
	{ ".amp", "Amp", AB_LABEL_AGENT },
	{ ".factory", "Factory", AB_LABEL_AGENT },
	{ ".augment*", "Augment", AB_LABEL_AGENT },
	{ ".trae", "Trae", AB_LABEL_AGENT },
	{ ".junie", "Junie", AB_LABEL_AGENT },
	{ "crush.md", "Crush", AB_LABEL_AGENT },
	{ ".crush", "Crush", AB_LABEL_AGENT },
	{ ".crush.json", "Crush", AB_LABEL_AGENT },
	{ "crush.json", "Crush", AB_LABEL_AGENT },
	{ ".agent", "agents", AB_LABEL_AGENT },
	{ ".agents", "agents", AB_LABEL_AGENT },
	{ ".goosehints", "Goose", AB_LABEL_AGENT },
	{ ".copilot", "Copilot", AB_LABEL_AGENT },
	{ ".github/copilot*", "Copilot", AB_LABEL_AGENT },
	{ ".github/instructions", "Copilot", AB_LABEL_AGENT },
	{ ".github/prompts", "Copilot", AB_LABEL_AGENT },
	{ ".github/chatmodes", "Copilot", AB_LABEL_AGENT },
	{ ".github/agents", "Copilot", AB_LABEL_AGENT },
	{ ".github/hooks", "Copilot", AB_LABEL_AGENT },
	{ ".mcp.json", "agents", AB_LABEL_AGENT },
	{ "mcp.json", "agents", AB_LABEL_AGENT },
	{ ".agentbox.json", "agentbox", AB_LABEL_AGENT },
	{ ".config/agentbox", "agentbox", AB_LABEL_AGENT },

	/* Keys, and programs that fetch them. */
	{ ".ssh", "ssh", AB_LABEL_CREDENTIALS },
	{ ".gnupg", "gpg", AB_LABEL_CREDENTIALS },
	{ ".netrc", "curl, git", AB_LABEL_CREDENTIALS },
	{ ".docker", "docker", AB_LABEL_CREDENTIALS },
	{ ".kube", "kubectl", AB_LABEL_CREDENTIALS },
	{ ".aws", "aws", AB_LABEL_CREDENTIALS },
	{ ".azure", "az", AB_LABEL_CREDENTIALS },
	{ ".config/gcloud", "gcloud", AB_LABEL_CREDENTIALS },
	{ ".git-credentials", "git", AB_LABEL_CREDENTIALS },
	{ ".config/gh", "gh", AB_LABEL_CREDENTIALS },
	{ ".cargo/credentials*", "cargo", AB_LABEL_CREDENTIALS },
	{ ".password-store", "pass", AB_LABEL_CREDENTIALS },
	{ "*.env", "the application", AB_LABEL_CREDENTIALS },
	{ ".env.*", "the application", AB_LABEL_CREDENTIALS },
};
/* clang-format on */

bool ab_label_matches(const char *pattern, const char *name)
{
	const char *star = NULL, *retry = NULL;

	while (*name && *name != '/') {
		if (*pattern == '*') {
			star = ++pattern;
			retry = name;
		} else if (ab_lower((unsigned char)*pattern) == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern || *pattern == '/';
}

enum match { MATCH_NONE, MATCH_INSIDE, MATCH_WHOLE };

/* INSIDE: the path ends in the middle of the pattern. */
static enum match match_path(const char *pattern, const char *path)
{
	for (;;) {
		if (!ab_label_matches(pattern, path))
			return MATCH_NONE;
		pattern += strcspn(pattern, "/");
		path += strcspn(path, "/");
		if (!*pattern)
			return MATCH_WHOLE;
		if (!*path)
			return MATCH_INSIDE;
		pattern++;
		path++;
	}
}

/* A folder that disappears or becomes a link takes the names in it along. */
static bool replaces_folder(const struct ab_change *change)
{
	return change->is == AB_TYPE_LINK ||
	       (change->was == AB_TYPE_DIR && change->is != AB_TYPE_DIR);
}

static bool is_hit(const struct ab_change *change, const char *pattern, const char *path)
{
	enum match match = MATCH_NONE;

	if (ab_lower((unsigned char)pattern[0]) == path[0] || pattern[0] == '*')
		match = match_path(pattern, path);
	return match == MATCH_WHOLE || (match == MATCH_INSIDE && replaces_folder(change));
}

/* Without its settings a program may run scripts or ask other hosts that they excluded. */
static bool is_settings(const struct name_row *row)
{
	static const char *const names[] = {
		".npmrc",	    ".yarnrc*",	      "pnpm-workspace.yaml",
		"bunfig.toml",	    "nuget.config",   ".bazelrc",
		"pip.conf",	    ".config/pip",    "uv.toml",
		".condarc",	    ".bundle/config", "ansible.cfg",
		".m2/settings.xml",
	};

	for (size_t i = 0; i < AB_COUNT(names); i++)
		if (strcmp(row->pattern, names[i]) == 0)
			return true;
	return false;
}

static void add_row(const struct ab_change *change, const struct name_row *row,
		    struct ab_label_hits *hits)
{
	bool run = row->id == AB_LABEL_BUILD || row->id == AB_LABEL_PACKAGES;

	/* Nothing runs a build file that is gone. */
	if (!run || change->is != AB_TYPE_NONE || is_settings(row))
		ab_label_add(hits, row->id, row->who, NULL);
}

/* A protected name that has no row yet. */
static void add_protected(const struct ab_change *change, const char *path,
			  struct ab_label_hits *hits)
{
	/* Files of git are judged by themselves. */
	for (const char *const *name = ab_default_deny_write; *name; name++)
		if (strncmp(*name, ".git/", 5) != 0 && is_hit(change, *name, path))
			ab_label_add(hits, AB_LABEL_FOLDER, NULL, NULL);
}

/* BUILD and WORKSPACE of bazel. Folders of these names are usual, so only a file counts. */
static void check_bazel(const struct ab_change *change, const char *folded,
			struct ab_label_hits *hits)
{
	const char *name = strrchr(folded, '/') ? strrchr(folded, '/') + 1 : folded;

	if ((change->is == AB_TYPE_FILE || change->is == AB_TYPE_LINK) &&
	    (strcmp(name, "build") == 0 || strcmp(name, "workspace") == 0))
		ab_label_add(hits, AB_LABEL_BUILD, "bazel", NULL);
}

void ab_label_names(const struct ab_change *change, const char *folded, struct ab_label_hits *hits)
{
	const char *path = folded;

	check_bazel(change, folded, hits);
	for (;;) {
		uint32_t before = hits->bits;

		for (size_t i = 0; i < AB_COUNT(rows); i++)
			if (is_hit(change, rows[i].pattern, path))
				add_row(change, &rows[i], hits);
		if (hits->bits == before)
			add_protected(change, path, hits);
		path += strcspn(path, "/");
		if (!*path)
			return;
		path++;
	}
}

/*
 * Too many programs obey files in a home folder to list their names, so these are the exceptions:
 * what a program computed and would compute again, and runs nothing of. Caches of packages and of
 * compiled code are not among them: they have a label of their own.
 */
static const char *const home_caches[] = {
	".cache/fontconfig", ".cache/golangci-lint", ".cache/mypy",
	".cache/ruff",	     ".cache/thumbnails",    ".npm/_logs",
};

bool ab_label_is_home_cache(const struct ab_change *change)
{
	const char *path = change->path;
	size_t len = strlen(path);

	for (size_t i = 0; i < AB_COUNT(home_caches); i++) {
		size_t n = strlen(home_caches[i]);

		/* As it is spelled: another spelling may be another folder. */
		if (strncmp(path, home_caches[i], n) == 0 && path[n] == '/')
			return true;
		if (change->is == AB_TYPE_DIR && change->was == AB_TYPE_NONE && len <= n &&
		    strncmp(path, home_caches[i], len) == 0 &&
		    (home_caches[i][len] == '/' || !home_caches[i][len]))
			return true;
	}
	return false;
}
