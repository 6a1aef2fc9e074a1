#include "policy/toolchains/registry_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/mem.h"
#include "tap.h"

/* What must never be in a result. */
static const char *const secrets[] = { "hunter2", "npm_abc", "tok3n" };

static const struct {
	const char *what;
	ab_registry_fn *read;
	const char *text, *shown, *urls;
} cases[] = {
	{ "npm: registry, scopes, certificates; no tokens", ab_registry_npmrc,
	  "; c\n# registry=https://no.example\nregistry = \"https://u:hunter2@npm.example:8443/x/?k=tok3n\"\r\n"
	  "@a-b:registry=https://s.example/\n//npm.example/:_authToken=npm_abc\n_password=hunter2\n"
	  "strict-ssl=false\ncafile=/etc/ca.pem\ncafile=${HOME}/x\nemail=x@y\n@x y:registry=https://z.example\n",
	  "registry=https://npm.example:8443/x/\n@a-b:registry=https://s.example/\nstrict-ssl=false\n"
	  "cafile=/etc/ca.pem\n",
	  "https://npm.example:8443/x/ https://s.example/" },
	{ "npm: a variable or a token in the path is left out", ab_registry_npmrc,
	  "registry=https://npm.example/${NPM_TOKEN}/\n"
	  "@a:registry=https://npm.example/ghp_0123456789012345678901234567890123456789/\n"
	  "@c:registry=https://npm.example/aaaa1111bbbb2222cccc/org/npm/\n"
	  "@b:registry=${X}\n"
	  "@d:registry=https://npm.example/550e8400-e29b-41d4-a716-446655440000/npm/\n"
	  "@e:registry=https://npm.example/abcdabcd-abcd-abcd-abcd-abcdabcdabcd/npm/\n"
	  "@f:registry=https://npm.example/abcdefghijklmnopq/x/\n"
	  "@g:registry=https://npm.example/t/a1b2c3d4e5f6-g7h8i9j0k1l2/\n"
	  "@h:registry=https://npm.example/t/a1b2c3.d4e5f6~g7h8i9\n",
	  "", "" },
	{ "npm: ordinary names stay", ab_registry_npmrc,
	  "registry=https://npm.example/artifactory/api/npm/npm-virtual-release-2024-01/\n"
	  "@a:registry=https://npm.example/api/v4/projects/12345678/packages/npm/\n"
	  "@b:registry=https://npm.example/our_private_registry/java17-boot3.2/\n",
	  "registry=https://npm.example/artifactory/api/npm/npm-virtual-release-2024-01/\n"
	  "@a:registry=https://npm.example/api/v4/projects/12345678/packages/npm/\n"
	  "@b:registry=https://npm.example/our_private_registry/java17-boot3.2/\n",
	  "https://npm.example/artifactory/api/npm/npm-virtual-release-2024-01/ "
	  "https://npm.example/api/v4/projects/12345678/packages/npm/ "
	  "https://npm.example/our_private_registry/java17-boot3.2/" },
	{ "yarn: the server, and scopes", ab_registry_yarnrc,
	  "nodeLinker: node-modules\nnpmRegistryServer: \"https://npm.example/\"\nnpmAuthToken: npm_abc\n"
	  "npmScopes:\n  corp:\n    npmRegistryServer: https://c.example/r\n    npmAuthToken: npm_abc\n"
	  "  other:\n    npmAlwaysAuth: true\nnpmRegistries:\n  x:\n    npmRegistryServer: https://no.example\n",
	  "npmRegistryServer: \"https://npm.example/\"\nnpmScopes:\n  corp:\n    npmRegistryServer: "
	  "\"https://c.example/r\"\n",
	  "https://npm.example/ https://c.example/r" },
	{ "pip: sections, several lines, hosts", ab_registry_pip,
	  "[global]\nindex_url = https://__token__:hunter2@pip.example/simple\nextra-index-url =\n"
	  "    https://a.example/s\n    https://b.example/s  https://c.example\ntimeout = 3\n"
	  "trusted-host = pip.example\n    x y/\n[install]\nfind-links = /local\n[we ird]\nindex-url=https://no.example\n",
	  "[global]\nindex-url = https://pip.example/simple\nextra-index-url = https://a.example/s\n"
	  "    https://b.example/s\n    https://c.example\ntrusted-host = pip.example\n    x\n",
	  "https://pip.example/simple https://a.example/s https://b.example/s https://c.example" },
	{ "uv: tables", ab_registry_uv,
	  "index-url = \"https://u:hunter2@uv.example/simple\"\n[[index]]\nname = \"a\"\n"
	  "url = \"https://a.example/\"\ndefault = true\n[[index]]\nname = \"b\"\nurl = \"file:///x\"\n",
	  "index-url = \"https://uv.example/simple\"\n[[index]]\nurl = \"https://a.example/\"\n"
	  "name = \"a\"\ndefault = true\n",
	  "https://uv.example/simple https://a.example/" },
	{ "cargo: sources and registries", ab_registry_cargo,
	  "[build]\nrustc-wrapper = \"evil\"\n[source.crates-io]\nreplace-with = \"m\"\n"
	  "[source.m]\nregistry = \"sparse+https://u:hunter2@crates.example/index/\"\n"
	  "[registries.corp]\nindex = \"https://corp.example/git\"\ntoken = \"hunter2\"\n",
	  "source.crates-io.replace-with = \"m\"\n"
	  "source.m.registry = \"sparse+https://crates.example/index/\"\n"
	  "registries.corp.index = \"https://corp.example/git\"\n",
	  "sparse+https://crates.example/index/ https://corp.example/git" },
	{ "go: proxies", ab_registry_go,
	  "GOPROXY=https://u:hunter2@go.example|direct\nGOPRIVATE=*.corp.example\nGOFLAGS=-x\n",
	  "GOPROXY=https://go.example,direct\nGOPRIVATE=*.corp.example\n", "https://go.example" },
	{ "maven: mirrors, without servers", ab_registry_maven,
	  "<settings><servers><server><id>m</id><password>hunter2</password></server></servers>"
	  "<!-- <mirror><mirrorOf>*</mirrorOf><url>https://no.example</url></mirror> -->"
	  "<mirrors><mirror><id>m</id>\n<mirrorOf>central</mirrorOf>\n<url>\nhttps://u:hunter2@mvn.example/r\n"
	  "</url></mirror><mirror><mirrorOf>*</mirrorOf><url>http://0.0.0.0/</url><blocked>true</blocked>"
	  "</mirror></mirrors></settings>",
	  "<settings><mirrors>\n<mirror><id>m</id><mirrorOf>central</mirrorOf><url>https://mvn.example/r"
	  "</url></mirror>\n</mirrors></settings>\n",
	  "https://mvn.example/r" },
	{ "bundler: mirrors; no logins", ab_registry_bundle,
	  "---\nBUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"https://u:hunter2@gems.example/r\"\n"
	  "BUNDLE_MIRROR__ALL: https://all.example\nBUNDLE_GEMS__EXAMPLE: \"u:hunter2\"\n"
	  "BUNDLE_MIRROR__HTTPS://MY___GEMS__EXAMPLE/: \"https://my-gems.example/\"\n"
	  "BUNDLE_MIRROR__HTTPS://U:hunter2@GEMS__EXAMPLE/: \"https://no.example/\"\n"
	  "BUNDLE_MIRROR__NOTHING: \"https://no.example/\"\n"
	  "BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/__FALLBACK_TIMEOUT/: \"3\"\n"
	  "BUNDLE_SSL_CA_CERT: \"/etc/ca.pem\"\nBUNDLE_PATH: \"x\"\n",
	  "---\nBUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"https://gems.example/r\"\n"
	  "BUNDLE_MIRROR__ALL: \"https://all.example\"\n"
	  "BUNDLE_MIRROR__HTTPS://MY___GEMS__EXAMPLE/: \"https://my-gems.example/\"\n"
	  "BUNDLE_SSL_CA_CERT: \"/etc/ca.pem\"\n",
	  "https://gems.example/r https://all.example https://my-gems.example/" },
	{ "gem: sources", ab_registry_gemrc,
	  "---\n:backtrace: false\n:sources:\n- https://u:hunter2@gems.example/\n- \"https://b.example\"\n"
	  ":rubygems_api_key: hunter2\n:other:\n- https://no.example/\n",
	  "---\n:sources:\n- https://gems.example/\n- https://b.example\n",
	  "https://gems.example/ https://b.example" },
	{ "composer: repositories with names; no logins, no options", ab_registry_composer,
	  "{ \"config\": { \"secure-http\": false, \"http-basic\": { \"p.example\": { \"password\": "
	  "\"hunter2\" } } }, \"repositories\": { \"packagist\": false, \"corp\": { \"type\": "
	  "\"composer\", \"url\": \"https:\\/\\/u:hunter2@p.example\\/c\", \"canonical\": false, "
	  "\"only\": [\"corp/*\"], \"options\": { \"http\": { \"header\": [\"X: tok3n\"] } } }, "
	  "\"src\": { \"type\": \"vcs\", \"url\": \"https://no.example/x\" }, \"q\\\"\": { \"type\": "
	  "\"composer\", \"url\": \"https://no.example\" } } }",
	  "{\n\"config\": {\"secure-http\": false},\n\"repositories\": {\n\"packagist\": false,\n"
	  "\"corp\": {\"type\": \"composer\", \"url\": \"https://p.example/c\", \"canonical\": false, "
	  "\"only\": [\"corp/*\"]}\n}\n}\n",
	  "https://p.example/c" },
	{ "composer: a list, and patterns that cannot be shown", ab_registry_composer,
	  "{ \"config\": { \"cafile\": \"/etc/ca.pem\" }, \"repositories\": [ { \"type\": \"composer\", "
	  "\"url\": \"https://p.example\" }, { \"type\": \"composer\", \"url\": \"https://no.example\", "
	  "\"exclude\": [\"a b\"] }, { \"packagist.org\": false }, false, 3 ] }",
	  "{\n\"config\": {\"secure-http\": true, \"cafile\": \"/etc/ca.pem\"},\n\"repositories\": [\n"
	  "{\"type\": \"composer\", \"url\": \"https://p.example\"},\n{\"packagist.org\": false}\n]\n}\n",
	  "https://p.example" },
	{ "composer: nothing to show", ab_registry_composer,
	  "{ \"config\": { \"secure-http\": false }, \"repositories\": [] }", "", "" },
	{ "nuget: sources, which are off, and what comes from where; no credentials",
	  ab_registry_nuget,
	  "<?xml version=\"1.0\"?>\n<configuration><packageSources>\n<clear />"
	  "<!-- <add key=\"x\" value=\"https://no.example\" /> -->"
	  "<add key=\"My corp\" value='https://u:hunter2@n.example/v3/index.json' protocolVersion = \"3\"/>"
	  "<add key=\"local\" value=\"/srv/packages\" />"
	  "<add key=\"a&quot;\" value=\"https://no.example\" /></packageSources>\n"
	  "<packageSourceCredentials><My_corp><add key=\"ClearTextPassword\" value=\"hunter2\" />"
	  "<add key=\"x\" value=\"https://no.example/hunter2\" /></My_corp></packageSourceCredentials>"
	  "<disabledPackageSources><add key=\"nuget.org\" value=\"true\" /></disabledPackageSources>"
	  "<packageSourceMapping><packageSource key=\"My corp\"><package pattern=\"Corp.*\" /></packageSource>"
	  "<packageSource key=\"none\"></packageSource></packageSourceMapping>"
	  "<apikeys><add key=\"x\" value=\"tok3n\"/></apikeys></configuration>",
	  "<configuration>\n<packageSources>\n<clear />\n"
	  "<add key=\"My corp\" value=\"https://n.example/v3/index.json\" protocolVersion=\"3\" />\n"
	  "</packageSources>\n<disabledPackageSources>\n<add key=\"nuget.org\" value=\"true\" />\n"
	  "</disabledPackageSources>\n<packageSourceMapping>\n<packageSource key=\"My corp\">\n"
	  "<package pattern=\"Corp.*\" />\n</packageSource>\n</packageSourceMapping>\n</configuration>\n",
	  "https://n.example/v3/index.json" },
	{ "variables", ab_registry_variable,
	  "corp=https://u:hunter2@uv.example/s https://b.example direct", "",
	  "https://uv.example/s https://b.example" },
};

static const char *join(const struct ab_strv *list)
{
	static struct ab_buf b;

	ab_buf_fini(&b);
	for (size_t i = 0; i < list->len; i++)
		ab_buf_printf(&b, "%s%s", i ? " " : "", list->v[i]);
	return b.data ? b.data : "";
}

static bool has_secret(const char *text)
{
	for (size_t i = 0; i < AB_COUNT(secrets); i++)
		if (strstr(text, secrets[i]))
			return true;
	return false;
}

static void check_logins(void)
{
	static const struct {
		const char *text, *clean; /* NULL: no login */
	} texts[] = {
		{ "index-url = https://me:hunter2@a.test/simple\nx = 1\n",
		  "index-url = https://a.test/simple\nx = 1\n" },
		{ "- HTTP://hunter2@a.test\n- https://b.test/\n",
		  "- HTTP://a.test\n- https://b.test/\n" },
		{ "<add value='https://u:p@hunter2@a.test'/>", "<add value='https://a.test'/>" },
		{ "ssh://git@a.test/x https://b.test/x@y", NULL },
		{ "https://${USER}:${PASSWORD}@a.test/", NULL },
		{ "https://", NULL },
		{ "://me:x@a.test", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < AB_COUNT(texts); i++) {
		ab_autofree char *clean = ab_registry_without_logins(texts[i].text);

		is_str(clean ? clean : "-", texts[i].clean ? texts[i].clean : "-",
		       "without logins");
	}
}

int main(void)
{
	check_logins();
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autoregistry struct ab_registry r = { 0 };
		size_t leaks = 0, len = strlen(cases[i].text);

		cases[i].read(cases[i].text, &r);
		is_str(r.shown.data ? r.shown.data : "", cases[i].shown, cases[i].what);
		is_str(join(&r.urls), cases[i].urls, "its URLs");
		for (size_t n = 0; n < len; n++) {
			ab_autoregistry struct ab_registry cut = { 0 };
			ab_autofree char *text = ab_strndup(cases[i].text, n);

			cases[i].read(text, &cut);
			/* A login that is cut before its "@" is not a host. */
			leaks += has_secret(cut.shown.data ? cut.shown.data : "");
		}
		ok(leaks == 0, "no secret, wherever it is cut");
	}
	return done();
}
