#include "policy/toolchains/registry_files.h"

/* clang-format off */
#define FORMAT(name, reader, writer)                        \
	const struct ab_view_format ab_registry_##name = { \
		.read = reader, .write = writer, .rows = name, .nrows = AB_COUNT(name) }

static const struct ab_view_row npmrc[] = {
	{ AB_VIEW_URL, "registry" },
	{ AB_VIEW_URL, "@*:registry" },
	{ AB_VIEW_FLAG, "strict-ssl" },
	{ AB_VIEW_PATH, "cafile" },
	{ AB_VIEW_FLAG, "audit" },
	{ AB_VIEW_WORD, "audit-level", "info low moderate high critical none" },
	{ AB_VIEW_FLAG, "auto-install-peers" },
	{ AB_VIEW_FLAG, "engine-strict" },
	{ AB_VIEW_NUMBER, "fetch-retries" },
	{ AB_VIEW_NUMBER, "fetch-timeout" },
	{ AB_VIEW_FLAG, "fund" },
	{ AB_VIEW_FLAG, "ignore-scripts" },
	{ AB_VIEW_FLAG, "legacy-peer-deps" },
	{ AB_VIEW_WORD, "loglevel", "silent error warn notice http info verbose silly" },
	{ AB_VIEW_NUMBER, "maxsockets" },
	{ AB_VIEW_WORD, "node-linker", "isolated hoisted pnp" },
	{ AB_VIEW_FLAG, "offline" },
	{ AB_VIEW_FLAG, "package-lock" },
	{ AB_VIEW_FLAG, "prefer-offline" },
	{ AB_VIEW_FLAG, "progress" },
	{ AB_VIEW_FLAG, "save-exact" },
	{ AB_VIEW_WORD, "save-prefix", "~ ^" },
	{ AB_VIEW_FLAG, "shamefully-hoist" },
	{ AB_VIEW_FLAG, "strict-peer-dependencies" },
	{ AB_VIEW_FLAG, "update-notifier" },
};
FORMAT(npmrc, ab_read_npmrc, ab_write_pairs);

static const struct ab_view_row yarnrc[] = {
	{ AB_VIEW_URL, "npmRegistryServer" },
	{ AB_VIEW_URL, "npmScopes * npmRegistryServer" },
	{ AB_VIEW_FLAG, "enableGlobalCache" },
	{ AB_VIEW_FLAG, "enableImmutableInstalls" },
	{ AB_VIEW_FLAG, "enableScripts" },
	{ AB_VIEW_FLAG, "enableStrictSsl" },
	{ AB_VIEW_FLAG, "enableTelemetry" },
	{ AB_VIEW_PATH, "httpsCaFilePath" },
	{ AB_VIEW_WORD, "nodeLinker", "pnp pnpm node-modules" },
};
FORMAT(yarnrc, ab_read_yaml, ab_write_yaml);

static const struct ab_view_row pip[] = {
	{ AB_VIEW_URL, "* index-url" },
	{ AB_VIEW_URL, "* extra-index-url", .words = true },
	{ AB_VIEW_URL, "* find-links", .words = true },
	{ AB_VIEW_HOST, "* trusted-host", .words = true },
	{ AB_VIEW_PATH, "* cert" },
	{ AB_VIEW_FLAG, "* break-system-packages" },
	{ AB_VIEW_PATH, "* cache-dir" },
	{ AB_VIEW_FLAG, "* disable-pip-version-check" },
	{ AB_VIEW_FLAG, "* no-cache-dir" },
	{ AB_VIEW_FLAG, "* no-color" },
	{ AB_VIEW_FLAG, "* no-index" },
	{ AB_VIEW_FLAG, "* no-input" },
	{ AB_VIEW_FLAG, "* pre" },
	{ AB_VIEW_FLAG, "* prefer-binary" },
	{ AB_VIEW_WORD, "* progress-bar", "on off raw ascii pretty emoji" },
	{ AB_VIEW_FLAG, "* require-virtualenv" },
	{ AB_VIEW_NUMBER, "* retries" },
	{ AB_VIEW_NUMBER, "* timeout" },
	{ AB_VIEW_FLAG, "* user" },
};
FORMAT(pip, ab_read_pip, ab_write_pip);

/* Beside the top, pip has a table of its own. */
#define UV(in) \
	{ AB_VIEW_URL, in "index-url" }, \
	{ AB_VIEW_URL, in "extra-index-url []" }, \
	{ AB_VIEW_URL, in "find-links []" }, \
	{ AB_VIEW_FLAG, in "no-index" }, \
	{ AB_VIEW_WORD, in "index-strategy", "first-index unsafe-first-match unsafe-best-match" }, \
	{ AB_VIEW_WORD, in "link-mode", "clone copy hardlink symlink" }, \
	{ AB_VIEW_WORD, in "prerelease", "disallow allow if-necessary explicit" }, \
	{ AB_VIEW_WORD, in "resolution", "highest lowest lowest-direct" }, \
	{ AB_VIEW_FLAG, in "compile-bytecode" }

static const struct ab_view_row uv[] = {
	UV(""),
	UV("pip "),
	{ AB_VIEW_GROUP, "index", "[[ url !default !explicit" },
	{ AB_VIEW_URL, "index url" },
	{ AB_VIEW_NAME, "index name", "_.-" },
	{ AB_VIEW_FLAG, "index default" },
	{ AB_VIEW_FLAG, "index explicit" },
	{ AB_VIEW_WORD, "index format", "simple flat" },
	{ AB_VIEW_HOST, "allow-insecure-host []" },
	{ AB_VIEW_PATH, "cache-dir" },
	{ AB_VIEW_NUMBER, "concurrent-downloads" },
	{ AB_VIEW_FLAG, "native-tls" },
	{ AB_VIEW_FLAG, "no-cache" },
	{ AB_VIEW_FLAG, "offline" },
	{ AB_VIEW_WORD, "python-downloads", "automatic manual never" },
	{ AB_VIEW_WORD, "python-preference", "only-managed managed system" },
	{ AB_VIEW_FLAG, "system-certs" },
};
FORMAT(uv, ab_read_toml, ab_write_toml);

/* Relative to the folder above that of the file. */
#define CARGO_PATH "._/+@-"

static const struct ab_view_row cargo[] = {
	{ AB_VIEW_NAME, "registry default", "_-" },
	{ AB_VIEW_URL, "registries * index" },
	{ AB_VIEW_WORD, "registries * protocol", "git sparse" },
	{ AB_VIEW_NAME, "source * replace-with", "_-" },
	{ AB_VIEW_URL, "source * registry" },
	{ AB_VIEW_NAME, "source * local-registry", CARGO_PATH },
	{ AB_VIEW_NAME, "source * directory", CARGO_PATH },
	{ AB_VIEW_URL, "source * git" },
	{ AB_VIEW_NAME, "source * branch", "._/-" },
	{ AB_VIEW_NAME, "source * tag", "._/-" },
	{ AB_VIEW_NAME, "source * rev", "._/-" },
	{ AB_VIEW_CARGO, "alias *" },
	{ AB_VIEW_FLAG, "build incremental" },
	{ AB_VIEW_NUMBER, "build jobs" },
	{ AB_VIEW_NAME, "build target", "._-" },
	{ AB_VIEW_NAME, "build target-dir", CARGO_PATH },
	{ AB_VIEW_NAME, "build rustc-wrapper", "._/-" },
	{ AB_VIEW_NAME, "build rustflags []", "._/+,=-" },
	{ AB_VIEW_NAME, "build rustflags", "._/+,=-", .words = true },
	{ AB_VIEW_NAME, "env CC", CARGO_PATH },
	{ AB_VIEW_NAME, "env CXX", CARGO_PATH },
	{ AB_VIEW_PATH, "env OPENSSL_DIR" },
	{ AB_VIEW_PATH, "env PKG_CONFIG_PATH" },
	{ AB_VIEW_WORD, "env RUST_BACKTRACE", "0 1 full" },
	{ AB_VIEW_WORD, "env RUST_LOG", "off error warn info debug trace" },
	{ AB_VIEW_NAME, "target * linker", CARGO_PATH },
	{ AB_VIEW_NAME, "target * runner", CARGO_PATH },
	{ AB_VIEW_NAME, "target * rustflags []", "._/+,=-" },
	{ AB_VIEW_NAME, "target * rustflags", "._/+,=-", .words = true },
	{ AB_VIEW_PATH, "http cainfo" },
	{ AB_VIEW_FLAG, "http check-revoke" },
	{ AB_VIEW_FLAG, "http multiplexing" },
	{ AB_VIEW_NUMBER, "http timeout" },
	{ AB_VIEW_FLAG, "net git-fetch-with-cli" },
	{ AB_VIEW_FLAG, "net offline" },
	{ AB_VIEW_NUMBER, "net retry" },
	{ AB_VIEW_NUMBER, "profile * codegen-units" },
	{ AB_VIEW_NAME, "profile * debug", "-" },
	{ AB_VIEW_FLAG, "profile * debug-assertions" },
	{ AB_VIEW_FLAG, "profile * incremental" },
	{ AB_VIEW_NAME, "profile * inherits", "_-" },
	{ AB_VIEW_NAME, "profile * lto", "" },
	{ AB_VIEW_NAME, "profile * opt-level", "" },
	{ AB_VIEW_FLAG, "profile * overflow-checks" },
	{ AB_VIEW_WORD, "profile * panic", "unwind abort" },
	{ AB_VIEW_WORD, "profile * split-debuginfo", "off packed unpacked" },
	{ AB_VIEW_NAME, "profile * strip", "" },
	{ AB_VIEW_WORD, "term color", "auto always never" },
	{ AB_VIEW_WORD, "term progress when", "auto always never" },
	{ AB_VIEW_NUMBER, "term progress width" },
	{ AB_VIEW_FLAG, "term quiet" },
	{ AB_VIEW_FLAG, "term verbose" },
};
FORMAT(cargo, ab_read_toml, ab_write_toml);

#define GO_PATTERNS "*./,_-"

static const struct ab_view_row go[] = {
	{ AB_VIEW_PROXIES, "GOPROXY" },
	{ AB_VIEW_NAME, "GOPRIVATE", GO_PATTERNS },
	{ AB_VIEW_NAME, "GONOPROXY", GO_PATTERNS },
	{ AB_VIEW_NAME, "GONOSUMDB", GO_PATTERNS },
	{ AB_VIEW_NAME, "GOSUMDB", GO_PATTERNS },
	{ AB_VIEW_NAME, "GOINSECURE", GO_PATTERNS },
	{ AB_VIEW_WORD, "CGO_ENABLED", "0 1" },
	{ AB_VIEW_WORD, "GO111MODULE", "on off auto" },
	{ AB_VIEW_NAME, "GOARCH", "" },
	{ AB_VIEW_PATH, "GOBIN" },
	{ AB_VIEW_PATH, "GOCACHE" },
	{ AB_VIEW_PATH, "GOMODCACHE" },
	{ AB_VIEW_NAME, "GOOS", "" },
	{ AB_VIEW_PATH, "GOPATH" },
	{ AB_VIEW_WORD, "GOTELEMETRY", "on off local" },
	{ AB_VIEW_NAME, "GOTOOLCHAIN", ".+-" },
};
FORMAT(go, ab_read_pairs, ab_write_pairs);

#define REPOSITORY(in) \
	{ AB_VIEW_GROUP, in, "url" }, \
	{ AB_VIEW_NAME, in " id", "._-" }, \
	{ AB_VIEW_URL, in " url" }, \
	{ AB_VIEW_WORD, in " layout", "default legacy" }, \
	{ AB_VIEW_FLAG, in " releases enabled" }, \
	{ AB_VIEW_FLAG, in " snapshots enabled" }

/* A mirror that blocks goes to an address that is none: Maven has such a mirror itself. */
static const struct ab_view_row maven[] = {
	{ AB_VIEW_GROUP, "settings mirrors mirror", "mirrorOf url !blocked" },
	{ AB_VIEW_NAME, "settings mirrors mirror id", "._-" },
	{ AB_VIEW_NAME, "settings mirrors mirror mirrorOf", " *,:!._-" },
	{ AB_VIEW_URL, "settings mirrors mirror url" },
	{ AB_VIEW_WORD, "settings mirrors mirror blocked", "false" },
	{ AB_VIEW_WORD, "settings mirrors mirror layout", "default legacy" },
	{ AB_VIEW_GROUP, "settings profiles profile", "id" },
	{ AB_VIEW_NAME, "settings profiles profile id", "._-" },
	{ AB_VIEW_FLAG, "settings profiles profile activation activeByDefault" },
	REPOSITORY("settings profiles profile repositories repository"),
	REPOSITORY("settings profiles profile pluginRepositories pluginRepository"),
	{ AB_VIEW_NAME, "settings activeProfiles activeProfile", "._-" },
	{ AB_VIEW_NAME, "settings pluginGroups pluginGroup", "._-" },
	{ AB_VIEW_PATH, "settings localRepository" },
	{ AB_VIEW_FLAG, "settings offline" },
	{ AB_VIEW_FLAG, "settings interactiveMode" },
};
FORMAT(maven, ab_read_xml, ab_write_xml);

static const struct ab_view_row gradle[] = {
	{ AB_VIEW_FLAG, "org.gradle.caching" },
	{ AB_VIEW_FLAG, "org.gradle.configuration-cache" },
	{ AB_VIEW_FLAG, "org.gradle.configureondemand" },
	{ AB_VIEW_WORD, "org.gradle.console", "auto plain rich verbose" },
	{ AB_VIEW_FLAG, "org.gradle.daemon" },
	{ AB_VIEW_NUMBER, "org.gradle.daemon.idletimeout" },
	{ AB_VIEW_PATH, "org.gradle.java.home" },
	{ AB_VIEW_WORD, "org.gradle.logging.level", "quiet warn lifecycle info debug" },
	{ AB_VIEW_FLAG, "org.gradle.parallel" },
	{ AB_VIEW_FLAG, "org.gradle.vfs.watch" },
	{ AB_VIEW_WORD, "org.gradle.warning.mode", "all fail summary none" },
	{ AB_VIEW_FLAG, "org.gradle.welcome" },
	{ AB_VIEW_NUMBER, "org.gradle.workers.max" },
};
FORMAT(gradle, ab_read_properties, ab_write_pairs);

static const struct ab_view_row bundle[] = {
	{ AB_VIEW_URL, "BUNDLE_MIRROR__*" },
	{ AB_VIEW_PATH, "BUNDLE_SSL_CA_CERT" },
	{ AB_VIEW_FLAG, "BUNDLE_DEPLOYMENT" },
	{ AB_VIEW_FLAG, "BUNDLE_FROZEN" },
	{ AB_VIEW_NUMBER, "BUNDLE_JOBS" },
	{ AB_VIEW_FLAG, "BUNDLE_PATH__SYSTEM" },
	{ AB_VIEW_FLAG, "BUNDLE_PREFER_PATCH" },
	{ AB_VIEW_NUMBER, "BUNDLE_RETRY" },
	{ AB_VIEW_NUMBER, "BUNDLE_TIMEOUT" },
	{ AB_VIEW_NAME, "BUNDLE_WITH", ":_-" },
	{ AB_VIEW_NAME, "BUNDLE_WITHOUT", ":_-" },
};
FORMAT(bundle, ab_read_yaml, ab_write_yaml);

static const struct ab_view_row gemrc[] = {
	{ AB_VIEW_URL, ":sources []" },
	{ AB_VIEW_URL, "sources []" },
	{ AB_VIEW_FLAG, ":backtrace" },
	{ AB_VIEW_NUMBER, ":bulk_threshold" },
	{ AB_VIEW_PATH, ":ssl_ca_cert" },
	{ AB_VIEW_FLAG, ":update_sources" },
	{ AB_VIEW_FLAG, ":verbose" },
};
FORMAT(gemrc, ab_read_yaml, ab_write_yaml);

#define PATTERNS "*./_-"
/* A repository of packages, or the public one that is switched off. */
#define COMPOSER(in) \
	{ AB_VIEW_GROUP, in, "type url !canonical !only !exclude | packagist.org" }, \
	{ AB_VIEW_WORD, in " type", "composer" }, \
	{ AB_VIEW_URL, in " url" }, \
	{ AB_VIEW_FLAG, in " canonical" }, \
	{ AB_VIEW_GROUP, in " only", "=" }, \
	{ AB_VIEW_NAME, in " only []", PATTERNS }, \
	{ AB_VIEW_GROUP, in " exclude", "=" }, \
	{ AB_VIEW_NAME, in " exclude []", PATTERNS }, \
	{ AB_VIEW_WORD, in " packagist.org", "false" }

static const struct ab_view_row composer[] = {
	COMPOSER("repositories []"),
	COMPOSER("repositories *"),
	{ AB_VIEW_WORD, "repositories *", "false" },
	{ AB_VIEW_PATH, "config cafile" },
	{ AB_VIEW_FLAG, "config secure-http" },
	{ AB_VIEW_FLAG, "config optimize-autoloader" },
	{ AB_VIEW_WORD, "config preferred-install", "source dist auto" },
	{ AB_VIEW_NUMBER, "config process-timeout" },
	{ AB_VIEW_FLAG, "config sort-packages" },
};
FORMAT(composer, ab_read_json, ab_write_json);

/* packageSourceMapping says which source a package may come from: without it, a public package could
 * take a private name. */
static const struct ab_view_row nuget[] = {
	{ AB_VIEW_EMPTY, "configuration packageSources clear" },
	{ AB_VIEW_GROUP, "configuration packageSources add", "@key @value" },
	{ AB_VIEW_NAME, "configuration packageSources add @key", " ._-" },
	{ AB_VIEW_URL, "configuration packageSources add @value" },
	{ AB_VIEW_NUMBER, "configuration packageSources add @protocolVersion" },
	{ AB_VIEW_FLAG, "configuration packageSources add @allowInsecureConnections" },
	{ AB_VIEW_EMPTY, "configuration disabledPackageSources clear" },
	{ AB_VIEW_GROUP, "configuration disabledPackageSources add", "@key @value" },
	{ AB_VIEW_NAME, "configuration disabledPackageSources add @key", " ._-" },
	{ AB_VIEW_WORD, "configuration disabledPackageSources add @value", "true" },
	{ AB_VIEW_EMPTY, "configuration packageSourceMapping clear" },
	{ AB_VIEW_GROUP, "configuration packageSourceMapping packageSource", "= @key" },
	{ AB_VIEW_NAME, "configuration packageSourceMapping packageSource @key", " ._-" },
	{ AB_VIEW_NAME, "configuration packageSourceMapping packageSource package @pattern", "*._-" },
};
FORMAT(nuget, ab_read_xml, ab_write_xml);
/* clang-format on */

void ab_registry_variable(const char *text, struct ab_strv *ret_urls)
{
	while (*text) {
		size_t n = strcspn(text, " \t,|\r\n");
		ab_autofree char *word = ab_strndup(text, n);
		const char *name = strchr(word, '='), *colon = strchr(word, ':');
		/* UV_INDEX: "name=URL" */
		const char *url = name && colon && name < colon ? name + 1 : word;
		ab_autofree char *clean = ab_clean_url(url, strlen(url));

		if (clean)
			ab_strv_add_once(ret_urls, clean);
		text += n + (text[n] != '\0');
	}
}
