#include "policy/toolchains/toolchains.h"

#include <dirent.h>

#include "base/text/guess.h"
#include "base/text/words.h"

/* A folder with more entries than this at its top is not searched further. */
enum { ENTRIES_MAX = 4096 };

/* clang-format off */
const struct ab_toolchain ab_toolchains[] = {
	{ "bitbucket", "Repositories on bitbucket.org", "", "",
	  "bitbucket.org *.bitbucket.org", "", "bitbucket.org" },
	{ "codeberg", "Repositories on codeberg.org", "forgejo", "",
	  "codeberg.org *.codeberg.org", "", "codeberg.org" },
	{ "dart", "Dart and Flutter packages from pub.dev", "flutter pub",
	  "pubspec.yaml pubspec.lock",
	  "pub.dev", "" },
	{ "deno", "Deno modules from deno.land, jsr.io and npm", "jsr",
	  "deno.json deno.jsonc deno.lock",
	  "deno.land *.deno.land jsr.io *.jsr.io @npm",
	  "DENO_NO_UPDATE_CHECK=1" },
	{ "dotnet", ".NET packages from NuGet", "csharp fsharp nuget net",
	  "*.csproj *.fsproj *.vbproj *.sln "
	  "*.slnx global.json packages.lock.json nuget.config NuGet.Config",
	  "@nuget",
	  "DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1" },
	{ "elixir", "Elixir and Erlang packages from hex.pm", "erlang hex mix",
	  "mix.exs mix.lock rebar.config rebar.lock",
	  "@hex", "" },
	{ "github", "Repositories and releases on GitHub", "gh git", "",
	  "@github", "", "github.com" },
	{ "gitlab", "Repositories on gitlab.com", "glab", "",
	  "gitlab.com *.gitlab.com", "", "gitlab.com" },
	{ "go", "Go modules from the module proxy", "golang",
	  "go.mod go.sum go.work",
	  "@go", "" },
	{ "java", "Maven and Gradle: Maven Central, Gradle's plugins", "maven gradle kotlin jvm scala",
	  "pom.xml mvnw build.gradle "
	  "build.gradle.kts settings.gradle settings.gradle.kts gradlew",
	  "@maven", "" },
	{ "node", "npm, pnpm, yarn and bun: packages from npm",
	  "npm pnpm yarn bun javascript typescript js ts nodejs",
	  "package.json package-lock.json npm-shrinkwrap.json yarn.lock "
	  "pnpm-lock.yaml pnpm-workspace.yaml bun.lock bun.lockb",
	  "@npm nodejs.org repo.yarnpkg.com",
	  "npm_config_update_notifier=false COREPACK_ENABLE_DOWNLOAD_PROMPT=0" },
	{ "php", "Composer: packages from Packagist, their archives from GitHub", "composer packagist",
	  "composer.json composer.lock",
	  "@packagist api.github.com codeload.github.com", "" },
	{ "python", "pip, uv, Poetry and pdm: packages from PyPI", "pip uv poetry pypi py python3 pdm",
	  "pyproject.toml requirements.txt setup.py setup.cfg Pipfile "
	  "Pipfile.lock poetry.lock uv.lock pdm.lock pylock.toml",
	  "@pypi", "PIP_DISABLE_PIP_VERSION_CHECK=1" },
	{ "ruby", "RubyGems and Bundler", "gem bundler rubygems rails",
	  "Gemfile Gemfile.lock gems.rb gems.locked *.gemspec",
	  "@rubygems", "" },
	{ "rust", "Cargo: crates from crates.io; rustup's toolchains", "cargo crates",
	  "Cargo.toml Cargo.lock rust-toolchain rust-toolchain.toml",
	  "@crates", "" },
};
/* clang-format on */
const size_t ab_toolchain_count = AB_COUNT(ab_toolchains);

const struct ab_toolchain *ab_toolchain_find(const char *name)
{
	return ab_find_row(ab_toolchains, ab_toolchain_count, name, name);
}

const char *ab_toolchain_guess(const char *name)
{
	const char *names[AB_COUNT(ab_toolchains) + 1];

	for (size_t i = 0; i < ab_toolchain_count; i++) {
		if (ab_word_listed(ab_toolchains[i].also, name, strlen(name)))
			return ab_toolchains[i].name;
		names[i] = ab_toolchains[i].name;
	}
	names[ab_toolchain_count] = AB_TOOLCHAIN_AUTO;
	return ab_guess(name, names, AB_COUNT(names));
}

bool ab_toolchain_has(const struct ab_toolchain *t, const char *file)
{
	const char *list = t->files, *name;
	size_t n = strlen(file), len;

	while ((name = ab_word_next(&list, &len))) {
		bool ending = name[0] == '*'; /* of at least one character more */

		if (ending ? n >= len && memcmp(file + n - len + 1, name + 1, len - 1) == 0
			   : n == len && memcmp(file, name, len) == 0)
			return true;
	}
	return false;
}

/* Does a URL in the text have this host? "https://me@HOST/", "ssh://git@HOST:22/", "git@HOST:path". */
static bool names_host(const char *text, const char *host)
{
	size_t n = strlen(host);

	for (const char *p = text; (p = strstr(p, host)); p += n)
		if (p > text && (p[-1] == '@' || p[-1] == '/') && (p[n] == ':' || p[n] == '/'))
			return true;
	return false;
}

const struct ab_toolchain *ab_toolchain_of_remote(const char *git_config)
{
	for (size_t i = 0; i < ab_toolchain_count; i++)
		if (ab_toolchains[i].forge[0] && names_host(git_config, ab_toolchains[i].forge))
			return &ab_toolchains[i];
	return NULL;
}

void ab_toolchains_detect(const char *folder, struct ab_strv *ret_names, struct ab_strv *ret_files)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	char *found[AB_COUNT(ab_toolchains)] = { 0 };
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *d;

	for (int n = 0; dir && n < ENTRIES_MAX && (d = readdir(dir)); n++)
		for (size_t i = 0; i < ab_toolchain_count && d->d_type != DT_DIR; i++)
			/* The order of a folder is arbitrary; that of the names is not. */
			if (ab_toolchain_has(&ab_toolchains[i], d->d_name) &&
			    (!found[i] || strcmp(d->d_name, found[i]) < 0)) {
				free(found[i]);
				found[i] = ab_strdup(d->d_name);
			}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	for (size_t i = 0; i < ab_toolchain_count; i++) {
		if (found[i] && ret_files)
			ab_strv_add(ret_files, found[i]);
		if (found[i])
			ab_strv_add(ret_names, ab_toolchains[i].name);
		free(found[i]);
	}
}
