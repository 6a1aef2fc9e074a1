#include "policy/toolchains/registry_files.h"

/* clang-format off */
#define FORMAT(name, reader, writer)                        \
	const struct ab_view_format ab_registry_##name = { \
		.read = reader, .write = writer, .rows = name, .nrows = AB_COUNT(name) }

static const struct ab_view_row npmrc[] = {
	{ AB_VIEW_URL, "registry | @*:registry" },
	{ AB_VIEW_FLAG,
	  "strict-ssl | audit | auto-install-peers | engine-strict | fund | "
	  "ignore-scripts | legacy-peer-deps | offline | package-lock | prefer-offline | "
	  "progress | save-exact | shamefully-hoist | strict-peer-dependencies | "
	  "update-notifier" },
	{ AB_VIEW_PATH, "cafile" },
	{ AB_VIEW_WORD, "audit-level", "info low moderate high critical none" },
	{ AB_VIEW_NUMBER, "fetch-retries | fetch-timeout | maxsockets" },
	{ AB_VIEW_WORD, "loglevel", "silent error warn notice http info verbose silly" },
	{ AB_VIEW_WORD, "node-linker", "isolated hoisted pnp" },
	{ AB_VIEW_WORD, "save-prefix", "~ ^" },
};
FORMAT(npmrc, ab_read_npmrc, ab_write_pairs);

/* A word in quotes would be no flag. */
static const struct ab_view_row yarn1[] = {
	{ AB_VIEW_URL, "registry | @*:registry" },
	{ AB_VIEW_PATH, "cache-folder | cafile | global-folder | yarn-offline-mirror" },
};
FORMAT(yarn1, ab_read_yarn, ab_write_yarn);

static const struct ab_view_row bun[] = {
	{ AB_VIEW_URL,
	  "install registry | install registry url | install scopes * | install scopes * url | "
	  "install scopes @* | install scopes @* url" },
	{ AB_VIEW_FLAG, "install exact | install frozenLockfile | install ignoreScripts" },
	{ AB_VIEW_NUMBER, "install minimumReleaseAge" },
};
FORMAT(bun, ab_read_toml, ab_write_toml);

static const struct ab_view_row pnpm[] = {
	{ AB_VIEW_URL, "registry | registries * | registries @*" },
	{ AB_VIEW_PATH, "storeDir" },
	{ AB_VIEW_FLAG, "ignoreScripts" },
	{ AB_VIEW_NUMBER, "minimumReleaseAge" },
};
FORMAT(pnpm, ab_read_yaml, ab_write_yaml);

static const struct ab_view_row yarnrc[] = {
	{ AB_VIEW_URL, "npmRegistryServer | npmScopes * npmRegistryServer" },
	{ AB_VIEW_FLAG,
	  "enableGlobalCache | enableImmutableInstalls | enableScripts | enableStrictSsl | "
	  "enableTelemetry" },
	{ AB_VIEW_PATH, "httpsCaFilePath" },
	{ AB_VIEW_WORD, "nodeLinker", "pnp pnpm node-modules" },
};
FORMAT(yarnrc, ab_read_yaml, ab_write_yaml);

static const struct ab_view_row pip[] = {
	{ AB_VIEW_URL, "* index-url" },
	{ AB_VIEW_URL, "* extra-index-url | * find-links", .words = true },
	{ AB_VIEW_HOST, "* trusted-host", .words = true },
	{ AB_VIEW_PATH, "* cert | * cache-dir" },
	{ AB_VIEW_FLAG,
	  "* break-system-packages | * disable-pip-version-check | * no-cache-dir | "
	  "* no-color | * no-index | * no-input | * pre | * prefer-binary | "
	  "* require-virtualenv | * user" },
	{ AB_VIEW_WORD, "* progress-bar", "on off raw ascii pretty emoji" },
	{ AB_VIEW_NUMBER, "* retries | * timeout" },
};
FORMAT(pip, ab_read_pip, ab_write_pip);

/* Beside the top, pip has a table of its own. */
#define UV(in) \
	{ AB_VIEW_URL, in "index-url | " in "extra-index-url [] | " in "find-links []" }, \
	{ AB_VIEW_FLAG, in "no-index | " in "compile-bytecode" }, \
	{ AB_VIEW_WORD, in "index-strategy", "first-index unsafe-first-match unsafe-best-match" }, \
	{ AB_VIEW_WORD, in "link-mode", "clone copy hardlink symlink" }, \
	{ AB_VIEW_WORD, in "prerelease", "disallow allow if-necessary explicit" }, \
	{ AB_VIEW_WORD, in "resolution", "highest lowest lowest-direct" }

static const struct ab_view_row uv[] = {
	UV(""),
	UV("pip "),
	{ AB_VIEW_GROUP, "index", "[[ url !default !explicit" },
	{ AB_VIEW_URL, "index url" },
	{ AB_VIEW_NAME, "index name", "_.-" },
	{ AB_VIEW_FLAG,
	  "index default | index explicit | native-tls | no-cache | offline | system-certs" },
	{ AB_VIEW_WORD, "index format", "simple flat" },
	{ AB_VIEW_HOST, "allow-insecure-host []" },
	{ AB_VIEW_PATH, "cache-dir" },
	{ AB_VIEW_NUMBER, "concurrent-downloads" },
	{ AB_VIEW_WORD, "python-downloads", "automatic manual never" },
	{ AB_VIEW_WORD, "python-preference", "only-managed managed system" },
};
FORMAT(uv, ab_read_toml, ab_write_toml);

/* Relative to the folder above that of the file. */
#define CARGO_PATH "._/+@-"

static const struct ab_view_row cargo[] = {
	{ AB_VIEW_NAME, "registry default | source * replace-with | profile * inherits", "_-" },
	{ AB_VIEW_URL, "registries * index | source * registry | source * git" },
	{ AB_VIEW_WORD, "registries * protocol", "git sparse" },
	{ AB_VIEW_NAME,
	  "source * local-registry | source * directory | build target-dir | env CC | "
	  "env CXX | target * linker | target * runner", CARGO_PATH },
	{ AB_VIEW_NAME,
	  "source * branch | source * tag | source * rev | build rustc-wrapper", "._/-" },
	{ AB_VIEW_CARGO, "alias *" },
	{ AB_VIEW_FLAG,
	  "build incremental | http check-revoke | http multiplexing | "
	  "net git-fetch-with-cli | net offline | profile * debug-assertions | "
	  "profile * incremental | profile * overflow-checks | term quiet | term verbose" },
	{ AB_VIEW_NUMBER,
	  "build jobs | http timeout | net retry | profile * codegen-units | "
	  "term progress width" },
	{ AB_VIEW_NAME, "build target", "._-" },
	{ AB_VIEW_NAME, "build rustflags [] | target * rustflags []", "._/+,=-" },
	{ AB_VIEW_NAME, "build rustflags | target * rustflags", "._/+,=-", .words = true },
	{ AB_VIEW_PATH, "env OPENSSL_DIR | env PKG_CONFIG_PATH | http cainfo" },
	{ AB_VIEW_WORD, "env RUST_BACKTRACE", "0 1 full" },
	{ AB_VIEW_WORD, "env RUST_LOG", "off error warn info debug trace" },
	{ AB_VIEW_NAME, "profile * debug", "-" },
	{ AB_VIEW_NAME, "profile * lto | profile * opt-level | profile * strip", "" },
	{ AB_VIEW_WORD, "profile * panic", "unwind abort" },
	{ AB_VIEW_WORD, "profile * split-debuginfo", "off packed unpacked" },
	{ AB_VIEW_WORD, "term color | term progress when", "auto always never" },
};
FORMAT(cargo, ab_read_toml, ab_write_toml);

#define GO_PATTERNS "*./,_-"

static const struct ab_view_row go[] = {
	{ AB_VIEW_PROXIES, "GOPROXY" },
	{ AB_VIEW_NAME, "GOPRIVATE | GONOPROXY | GONOSUMDB | GOSUMDB | GOINSECURE", GO_PATTERNS },
	{ AB_VIEW_WORD, "CGO_ENABLED", "0 1" },
	{ AB_VIEW_WORD, "GO111MODULE", "on off auto" },
	{ AB_VIEW_NAME, "GOARCH | GOOS", "" },
	{ AB_VIEW_PATH, "GOBIN | GOCACHE | GOMODCACHE | GOPATH" },
	{ AB_VIEW_WORD, "GOTELEMETRY", "on off local" },
	{ AB_VIEW_NAME, "GOTOOLCHAIN", ".+-" },
};
FORMAT(go, ab_read_pairs, ab_write_pairs);

#define REPOSITORY(in) \
	{ AB_VIEW_GROUP, in, "url" }, \
	{ AB_VIEW_NAME, in " id", "._-" }, \
	{ AB_VIEW_URL, in " url" }, \
	{ AB_VIEW_WORD, in " layout", "default legacy" }, \
	{ AB_VIEW_FLAG, in " releases enabled | " in " snapshots enabled" }

/* A mirror that blocks goes to an address that is none: Maven has such a mirror itself. */
static const struct ab_view_row maven[] = {
	{ AB_VIEW_GROUP, "settings mirrors mirror", "mirrorOf url !blocked" },
	{ AB_VIEW_NAME,
	  "settings mirrors mirror id | settings profiles profile id | "
	  "settings activeProfiles activeProfile | settings pluginGroups pluginGroup", "._-" },
	{ AB_VIEW_NAME, "settings mirrors mirror mirrorOf", " *,:!._-" },
	{ AB_VIEW_URL, "settings mirrors mirror url" },
	{ AB_VIEW_WORD, "settings mirrors mirror blocked", "false" },
	{ AB_VIEW_WORD, "settings mirrors mirror layout", "default legacy" },
	{ AB_VIEW_GROUP, "settings profiles profile", "id" },
	{ AB_VIEW_FLAG,
	  "settings profiles profile activation activeByDefault | settings offline | "
	  "settings interactiveMode" },
	REPOSITORY("settings profiles profile repositories repository"),
	REPOSITORY("settings profiles profile pluginRepositories pluginRepository"),
	{ AB_VIEW_PATH, "settings localRepository" },
};
FORMAT(maven, ab_read_xml, ab_write_xml);

static const struct ab_view_row gradle[] = {
	{ AB_VIEW_FLAG,
	  "org.gradle.caching | org.gradle.configuration-cache | "
	  "org.gradle.configureondemand | org.gradle.daemon | org.gradle.parallel | "
	  "org.gradle.vfs.watch | org.gradle.welcome" },
	{ AB_VIEW_WORD, "org.gradle.console", "auto plain rich verbose" },
	{ AB_VIEW_NUMBER, "org.gradle.daemon.idletimeout | org.gradle.workers.max" },
	{ AB_VIEW_PATH, "org.gradle.java.home" },
	{ AB_VIEW_WORD, "org.gradle.logging.level", "quiet warn lifecycle info debug" },
	{ AB_VIEW_WORD, "org.gradle.warning.mode", "all fail summary none" },
};
FORMAT(gradle, ab_read_properties, ab_write_pairs);

static const struct ab_view_row bundle[] = {
	{ AB_VIEW_URL, "BUNDLE_MIRROR__*" },
	{ AB_VIEW_PATH, "BUNDLE_SSL_CA_CERT" },
	{ AB_VIEW_FLAG,
	  "BUNDLE_DEPLOYMENT | BUNDLE_FROZEN | BUNDLE_PATH__SYSTEM | BUNDLE_PREFER_PATCH" },
	{ AB_VIEW_NUMBER, "BUNDLE_JOBS | BUNDLE_RETRY | BUNDLE_TIMEOUT" },
	{ AB_VIEW_NAME, "BUNDLE_WITH | BUNDLE_WITHOUT", ":_-" },
};
FORMAT(bundle, ab_read_yaml, ab_write_yaml);

static const struct ab_view_row gemrc[] = {
	{ AB_VIEW_URL, ":sources [] | sources []" },
	{ AB_VIEW_FLAG, ":backtrace | :update_sources | :verbose" },
	{ AB_VIEW_NUMBER, ":bulk_threshold" },
	{ AB_VIEW_PATH, ":ssl_ca_cert" },
};
FORMAT(gemrc, ab_read_yaml, ab_write_yaml);

#define PATTERNS "*./_-"
/* A repository of packages, or the public one that is switched off. */
#define COMPOSER(in) \
	{ AB_VIEW_GROUP, in, "type url !canonical !only !exclude | packagist.org" }, \
	{ AB_VIEW_WORD, in " type", "composer" }, \
	{ AB_VIEW_URL, in " url" }, \
	{ AB_VIEW_FLAG, in " canonical" }, \
	{ AB_VIEW_GROUP, in " only | " in " exclude", "=" }, \
	{ AB_VIEW_NAME, in " only [] | " in " exclude []", PATTERNS }, \
	{ AB_VIEW_WORD, in " packagist.org", "false" }

static const struct ab_view_row composer[] = {
	COMPOSER("repositories []"),
	COMPOSER("repositories *"),
	{ AB_VIEW_WORD, "repositories *", "false" },
	{ AB_VIEW_PATH, "config cafile" },
	{ AB_VIEW_FLAG, "config secure-http | config optimize-autoloader | config sort-packages" },
	{ AB_VIEW_WORD, "config preferred-install", "source dist auto" },
	{ AB_VIEW_NUMBER, "config process-timeout" },
};
FORMAT(composer, ab_read_json, ab_write_json);

/* packageSourceMapping says which source a package may come from: without it, a public package could
 * take a private name. */
static const struct ab_view_row nuget[] = {
	{ AB_VIEW_EMPTY,
	  "configuration packageSources clear | "
	  "configuration disabledPackageSources clear | "
	  "configuration packageSourceMapping clear" },
	{ AB_VIEW_GROUP,
	  "configuration packageSources add | configuration disabledPackageSources add",
	  "@key @value" },
	{ AB_VIEW_NAME,
	  "configuration packageSources add @key | "
	  "configuration disabledPackageSources add @key | "
	  "configuration packageSourceMapping packageSource @key", " ._-" },
	{ AB_VIEW_URL, "configuration packageSources add @value" },
	{ AB_VIEW_NUMBER, "configuration packageSources add @protocolVersion" },
	{ AB_VIEW_FLAG, "configuration packageSources add @allowInsecureConnections" },
	{ AB_VIEW_WORD, "configuration disabledPackageSources add @value", "true" },
	{ AB_VIEW_GROUP, "configuration packageSourceMapping packageSource", "= @key" },
	{ AB_VIEW_NAME,
	  "configuration packageSourceMapping packageSource package @pattern", "*._-" },
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
