#include "host/home/home_folders.h"

#include <fnmatch.h>

/* The value of a variable that moves a folder. */
#define TO(path) "=" AB_HOME_REPLACEMENT "/" path

/* Sorted by path. Fewer than AB_HOME_OTHER_LAYERS. */
const struct ab_home_folder ab_home_folders[] = {
	{ ".bun", { "BUN_INSTALL_CACHE_DIR" TO(".bun") } },
	{ ".bundle", { "BUNDLE_USER_HOME" TO(".bundle") } },
	{ ".cache", { "XDG_CACHE_HOME" TO(".cache") } },
	{ ".cargo", { "CARGO_HOME" TO(".cargo") } },
	{ ".claude", { NULL } },
	{ ".codex", { NULL } },
	{ ".composer", { "COMPOSER_HOME" TO(".composer") } },
	{ ".config", { NULL } },
	{ ".copilot", { NULL } },
	{ ".gem", { "GEM_SPEC_CACHE" TO(".gem") } },
	{ ".gemini", { NULL } },
	{ ".gradle", { "GRADLE_USER_HOME" TO(".gradle") } },
	{ ".ivy2", { NULL } },
	{ ".local/share", { NULL } },
	{ ".local/state", { NULL } },
	/* The first wants Maven 3.9; the second often has a value already. */
	{ ".m2",
	  { "MAVEN_ARGS=-Dmaven.repo.local" TO(".m2"),
	    "MAVEN_OPTS=-Dmaven.repo.local" TO(".m2") } },
	{ ".node-gyp", { "npm_config_devdir" TO(".node-gyp") } },
	{ ".npm", { "npm_config_cache" TO(".npm") } },
	{ ".nuget", { "NUGET_PACKAGES" TO(".nuget") } },
	{ ".pub-cache", { "PUB_CACHE" TO(".pub-cache") } },
	{ ".qwen", { NULL } },
	{ ".rustup", { NULL } },
	{ ".sbt", { NULL } },
	{ ".yarn", { "YARN_CACHE_FOLDER" TO(".yarn") } },
	{ "go", { "GOMODCACHE" TO("go") } },
};
const size_t ab_home_folders_len = AB_COUNT(ab_home_folders);

/* A folder stands for everything in it; "*" does not match a slash. */
static const char *const noise[] = {
	/* caches */
	".bun/install/cache",
	".bundle/cache",
	".cache",
	".cargo/.crates*",
	".cargo/.global-cache",
	".cargo/.package-cache*",
	".cargo/git",
	".cargo/registry",
	".composer/cache",
	".eslintcache",
	".gem/specs",
	".gradle/.tmp",
	".gradle/caches",
	".gradle/daemon",
	".gradle/native",
	".gradle/wrapper",
	".ivy2/cache",
	".local/share/pnpm/store",
	".local/share/virtualenv",
	".m2/.meta",
	".m2/repository",
	".m2/wrapper",
	".node-gyp",
	".npm",
	".nuget/packages",
	".nv",
	".pnpm-store",
	".pub-cache",
	".sbt/boot",
	".yarn/berry",
	".yarn/cache",
	"go/pkg",

	/* logs, histories, and where a program was */
	"*.log",
	".*_history",
	".config/configstore/update-notifier-*",
	".config/go/telemetry",
	".gnupg/*.lock",
	".gnupg/.#*",
	".gnupg/S.*",
	".histfile",
	".history",
	".lesshst",
	".local/share/recently-used.xbel",
	".local/state",
	".python_history-*",
	".viminfo",
	".wget-hsts",
	".xsession-errors",
	".zcompdump*",
};

/* Does a pattern match the path, or a folder above it? */
bool ab_home_is_noise(const char *path)
{
	for (size_t i = 0; i < AB_COUNT(noise); i++)
		if (fnmatch(noise[i], path, FNM_PATHNAME | FNM_LEADING_DIR) == 0)
			return true;
	return false;
}
