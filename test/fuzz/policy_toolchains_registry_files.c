/*
 * Any bytes as a file of registry settings: what the box would see has no login in a URL and no byte
 * outside of printable ASCII, and is read to itself. And files of pieces, which the bytes choose: a
 * marker that is in unlisted values, comments, logins and queries only is never in what the box
 * would see, whatever is around them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/data/mem.h"
#include "policy/toolchains/registry_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MARK "qzmarkqz"
#define URL "https://" MARK ".example/"

enum { PIECES = 16 };

/* Each piece is whole lines, or a whole element, and closes what it opens. */
static const struct {
	const struct ab_view_format *format;
	const char *begin, *end;
	const char *pieces[PIECES];
} grammars[] = {
	{ &ab_registry_npmrc,
	  "",
	  "",
	  { "registry=https://u:" MARK "@a.example/\n", "registry=https://a.example/?" MARK "\n",
	    "@a:registry=https://a.example/#" MARK "\n", "//a.example/:_authToken=" MARK "\n",
	    "registry[]=" URL "\n", "proxy=" URL "\n", "; registry=" URL "\n", "fund=" MARK "\n",
	    "  # " MARK "\n", "fund=true ; " MARK "\n", "cafile=${" MARK "}\n", "\r\n",
	    "_auth = \"" MARK "\"\n", "@" MARK ":other=" URL "\n", "registry =\n",
	    "=" MARK "\n" } },
	{ &ab_registry_pip,
	  "",
	  "",
	  { "[global]\n", "index-url = https://u:" MARK "@a.example\n",
	    "extra-index-url =\n  https://" MARK "@a.example\n", "proxy = " URL "\n",
	    "secret = " URL "\n", "password =\n  index-url = " URL "\n\n # x\n  " URL "\n",
	    "# index-url = " URL "\n", "timeout = " MARK "\n", "cert = %(" MARK ")s\n", "\n",
	    "Token: " URL "\n\tindex_url: " URL "\n", "retries = 3\n", "[install]\n",
	    "user = yes\n", "keyring-provider = " MARK "\n", "; " MARK "\n" } },
	{ &ab_registry_uv,
	  "",
	  "",
	  { "index-url = \"https://u:" MARK "@a.example\"\n",
	    "[[index]]\nurl = \"https://a.example\"\n",
	    "secret = \"\"\"\nindex-url = \"" URL "\"\n\"\"\"\n",
	    "s2 = '''\n[[index]]\nurl = \"" URL "\"\n'''\n", "'index-url.x' = \"" URL "\"\n",
	    "[pip]\n", "extra-index-url = [\"https://a.example/?" MARK "\", \"" MARK "\"]\n",
	    "# index-url = \"" URL "\"\n", "x.index-url = \"" URL "\"\n", "offline = true\n",
	    "y = { index-url = \"" URL "\", pip = { index-url = \"" URL "\" } }\n",
	    "no-index = \"" MARK "\"\n", "http-proxy = \"" URL "\"\n",
	    "allow-insecure-host = [\"u:" MARK "@h\"]\n", "[[secret]]\nurl = \"" URL "\"\n",
	    "\"in\\u0064ex-url\" = \"https://a.example#" MARK "\"\n" } },
	{ &ab_registry_cargo,
	  "",
	  "",
	  { "[registries.a]\n", "index = \"https://u:" MARK "@a.example\"\n",
	    "token = \"" MARK "\"\n", "[http]\n", "proxy = \"u:" MARK "@p\"\n",
	    "[env]\nregistry = \"" URL "\"\n", "[source.b]\n",
	    "registry = \"sparse+https://b.example/?" MARK "\"\n",
	    "credential-provider = [\"" MARK "\", \"x\"]\n", "[registry]\n",
	    "# token = \"" MARK "\"\n", "k = '''\n[registries.c]\nindex = \"" URL "\"\n'''\n",
	    "[alias]\nindex = \"run -p a -- " MARK "\"\n",
	    "registries.d = { token = \"" MARK "\" }\n", "[net]\nretry = 3\n",
	    "\"registries.e\".index = \"" URL "\"\n" } },
	{ &ab_registry_go,
	  "",
	  "",
	  { "GOPROXY=https://u:" MARK "@a.example|direct\n", "GOAUTH=" MARK "\n",
	    "GOFLAGS=" MARK "\n", "# GOPRIVATE=" MARK "\n", "GOPROXY=" MARK "\n",
	    "GOSUMDB=a+1+" MARK "\n", " GOPROXY=" URL "\n", "GOOS=linux\n", "\n",
	    "CGO_CFLAGS=" URL "\n", "X=GOPROXY=" URL "\n", "GOPATH=$" MARK "\n",
	    "goproxy=" URL "\n", "GOPROXY=https://a.example/?" MARK "\n", "GONOPROXY= " MARK "=\n",
	    "GOPROXY =" MARK "\n" } },
	{ &ab_registry_maven,
	  "<settings>",
	  "</settings>",
	  { "<mirrors><mirror><mirrorOf>*</mirrorOf><url>https://u:" MARK
	    "@a.example</url></mirror></mirrors>",
	    "<servers><server><url>" URL "</url><password>" MARK "</password></server></servers>",
	    "<!-- <mirrors>" MARK "</mirrors> -->", "<![CDATA[<offline>" MARK "</offline>]]>",
	    "<offline>true</offline>", "<offline a='" MARK "'>true</offline>", MARK,
	    "<mirrors><mirror><url>" URL "</url></mirror></mirrors>",
	    "<localRepository>&" MARK ";</localRepository>",
	    "<mirrors><url>" URL "</url></mirrors>",
	    "<profiles><profile><id>p</id><properties><url>" URL
	    "</url></properties></profile></profiles>",
	    "<proxies><proxy><host>" MARK "</host></proxy></proxies>",
	    "<mirrors><mirror><mirrorOf>x</mirrorOf><url><![CDATA[" URL
	    "]]></url></mirror></mirrors>",
	    "<localRepository>${" MARK "}</localRepository>", "<" MARK ">1</" MARK ">",
	    "<profiles><profile><repositories><repository><url>" URL
	    "</url></repository></repositories></profile></profiles>" } },
	{ &ab_registry_gradle,
	  "",
	  "",
	  { "org.gradle.parallel=" MARK "\n",
	    "systemProp.http.proxyPassword=" MARK "\\\n org.gradle.java.home=/" MARK "\n",
	    "# " MARK "\\\n", "org.gradle.daemon true\n", "org.gradle.jvmargs=-D" MARK "\n",
	    "org.gradle.\\u0063aching=" MARK "\n", "org.gradle.java.home=/x\\" MARK "\n", "\n",
	    "! " MARK "\n", "a:b=" MARK "\n", "org.gradle.console = " MARK "\n",
	    "x=\\\n\\\norg.gradle.java.home=/" MARK "\n", "token " MARK "\n",
	    "org.gradle.java.home=${" MARK "}\n", "org.gradle.caching:true\n",
	    "k=v\rorg.gradle.java.home=/" MARK "\n" } },
	{ &ab_registry_bundle,
	  "---\n",
	  "",
	  { "BUNDLE_JOBS: \"4\"\n", "BUNDLE_A__COM: \"u:" MARK "\"\n",
	    "BUNDLE_MIRROR__ALL: \"https://u:" MARK "@a.example\"\n", "# " MARK "\n",
	    "BUNDLE_JOBS: \"" MARK "\"\n", "BUNDLE_X: 1 # BUNDLE_WITH: " MARK "\n",
	    "BUNDLE_X:\n  BUNDLE_WITH: " MARK "\n", "BUNDLE_X:\n- " MARK "\n",
	    "BUNDLE_WITH: $" MARK "\n",
	    "BUNDLE_MIRROR__HTTPS://A__COM/: \"https://a.example?" MARK "\"\n",
	    "'BUNDLE_Y': '" MARK "'\n", "\n", "BUNDLE_X: |\n  BUNDLE_WITH: " MARK "\n",
	    "BUNDLE_X: \"\n  BUNDLE_WITH: " MARK "\"\n", "BUNDLE_X: {BUNDLE_WITH: " MARK "}\n",
	    "BUNDLE_X: &a " MARK "\n" } },
	{ &ab_registry_yarnrc,
	  "",
	  "",
	  { "npmScopes:\n", "  a:\n", "    npmRegistryServer: https://u:" MARK "@a.example\n",
	    "    npmAuthToken: " MARK "\n", "npmAuthIdent: \"" MARK "\"\n",
	    "plugins:\n  - path: " MARK "\n    spec: " URL "\n", "enableTelemetry: false\n",
	    "npmRegistries:\n  npmRegistryServer: " URL "\n", "# npmRegistryServer: " URL "\n",
	    "httpProxy: " URL "\n", "npmRegistryServer: \"https://a.example/#" MARK "\"\n",
	    "x:\n  - " MARK "\n", "nodeLinker: " MARK "\n", "  \"@b\":\n", "\n",
	    "x: '\nnpmRegistryServer: " URL "'\n" } },
	{ &ab_registry_composer,
	  "{",
	  "\"z\": 1}",
	  { "\"config\": {\"sort-packages\": true, \"http-basic\": {\"cafile\": \"/" MARK "\"}},",
	    "\"repositories\": [{\"type\": \"composer\", \"url\": \"https://u:" MARK
	    "@a.example\"},"
	    "{\"type\": \"vcs\", \"url\": \"" URL "\"}],",
	    "\"a\": {\"repositories\": [\"" URL "\"]},", "\"cafile\": \"/" MARK "\",",
	    "\"b\": \"\\\"config\\\": {\\\"cafile\\\": \\\"/" MARK "\\\"}\",",
	    "\"c\": [\"" MARK "\"],", "\"d\": {\"config\": {\"cafile\": \"/" MARK "\"}},",
	    "\"e\": null,", "\"f\": 1.5,", "\"g\": {\"only\": [\"" MARK "\"]},",
	    "\"" MARK "\": true,", "\"h\": \"" URL "\",", "\"i\": {},", "\"j\": [],",
	    "\"k\": {\"url\": \"" URL "\"},", "\"l\": \"$" MARK "\"," } },
	{ &ab_registry_nuget,
	  "<configuration>",
	  "</configuration>",
	  { "<packageSources><add key='a' value='https://u:" MARK "@a.example'/></packageSources>",
	    "<packageSources><add value='" URL "'/></packageSources>",
	    "<packageSourceCredentials><a><add key='b' value='" URL
	    "'/></a></packageSourceCredentials>",
	    "<!-- <packageSources><add key='a' value='" URL "'/></packageSources> -->",
	    "<apikeys><add key='" MARK "' value='" URL "'/></apikeys>",
	    "<packageSources><clear/></packageSources>",
	    "<packageSources>" MARK "</packageSources>",
	    "<config><add key='http_proxy' value='" URL "'/></config>",
	    "<packageSources><add key='b' value='https://a.example/?" MARK "' x='" MARK
	    "'/></packageSources>",
	    "<packageSources a='" MARK "'/>",
	    "<x><packageSources><add key='a' value='" URL "'/></packageSources></x>",
	    "<packageSources><clear>" MARK "</clear></packageSources>",
	    "<packageSources><add key='&" MARK ";' value='https://a.example'/></packageSources>",
	    "<disabledPackageSources><add key='a' value='" MARK "'/></disabledPackageSources>",
	    "<packageSources><add key='c'><value>" URL "</value></add></packageSources>", "\n" } },
	{ &ab_registry_gemrc,
	  "",
	  "",
	  { ":sources:\n", "- https://u:" MARK "@a.example\n", "- https://a.example/?" MARK "\n",
	    ":rubygems_api_key: " MARK "\n", ":other:\n- a: " MARK "\n  b: " MARK "\n",
	    ":verbose: true\n", "# - " URL "\n", "install: --key=" MARK "\n",
	    ":ssl_ca_cert: $" MARK "\n", "\n", ":x:\n  :sources:\n  - " MARK ":\n",
	    ":backtrace: " MARK "\n", "gem: \"" MARK "\"\n", ":y: '" MARK "'\n", "- " MARK ": 1\n",
	    ":z: >\n  :ssl_ca_cert: /" MARK "\n" } },
	{ &ab_registry_yarn1,
	  "",
	  "",
	  { "registry \"https://u:" MARK "@a.example\"\n", "registry https://a.example/?" MARK "\n",
	    "\"@a:registry\" \"https://a.example/#" MARK "\"\n",
	    "\"//a.example/:_authToken\" " MARK "\n", "registry: \"" URL "\"\n",
	    "proxy \"" URL "\"\n", "# registry " URL "\n", "obj:\n  registry \"" URL "\"\n",
	    "cafile \"/x\\\"" MARK "\"\n", "\r\n", "lastUpdateCheck 1\n", " registry " URL "\n",
	    "registry\n", "cache-folder \"/c\"\n", "x registry \"" URL "\"\n",
	    "\"registry\"\" \"" URL "\"\n" } },
	{ &ab_registry_bun,
	  "",
	  "",
	  { "[install]\n", "registry = \"https://u:" MARK "@a.example\"\n",
	    "registry = { url = \"https://a.example\", token = \"" MARK "\" }\n",
	    "[install.scopes]\n", "\"@a\" = \"https://a.example/?" MARK "\"\n",
	    "b = { username = \"" MARK "\", url = \"https://b.example\" }\n",
	    "token = \"" MARK "\"\n", "# registry = \"" URL "\"\n", "x.registry = \"" URL "\"\n",
	    "[test]\n", "exact = true\n", "preload = [\"" MARK "\"]\n", "\n",
	    "cafile = \"$" MARK "\"\n", "s = '''\nregistry = \"" URL "\"\n'''\n",
	    "linker = \"" MARK "\"\n" } },
	{ &ab_registry_pnpm,
	  "",
	  "",
	  { "registries:\n", "  default: https://u:" MARK "@a.example\n",
	    "  \"@a\": https://a.example/?" MARK "\n", "  '@b': \"https://b.example/#" MARK "\"\n",
	    "_auth:\n", "  //a.example/:\n    authToken: " MARK "\n", "storeDir: /s\n",
	    "storeDir: $" MARK "\n", "# registry: " URL "\n", "httpProxy: " URL "\n",
	    "x:\n  - " MARK "\n", "registry: https://a.example\n", "\n",
	    "y: '\nregistry: " URL "'\n", "z: |\n  registry: " URL "\n",
	    "_auth: {a: " MARK "}\n" } },
};

static void check_text(const char *text)
{
	for (const char *p = text; *p; p++)
		if ((*p < ' ' && *p != '\n') || *p > '~')
			abort();
	for (const char *p = text; (p = strstr(p, "://"));) {
		p += 3;
		if (strncmp(p, "git@", 4) != 0 && memchr(p, '@', strcspn(p, "/ \n\"<")))
			abort();
	}
}

static void check_bytes(const struct ab_view_format *format, const char *text)
{
	ab_autoview struct ab_view v = { 0 }, again = { 0 };
	const char *shown;

	ab_view_make(format, text, strlen(text), &v);
	shown = v.text.data ? v.text.data : "";
	check_text(shown);
	ab_view_make(format, shown, strlen(shown), &again);
	if (again.broken || again.left ||
	    strcmp(again.text.data ? again.text.data : "", shown) != 0)
		abort();
}

static void check_pieces(size_t i, const uint8_t *data, size_t size)
{
	ab_autobuf struct ab_buf text = { 0 };
	ab_autoview struct ab_view v = { 0 };

	ab_buf_puts(&text, grammars[i].begin);
	for (size_t k = 0; k < size; k++)
		ab_buf_puts(&text, grammars[i].pieces[data[k] % PIECES]);
	ab_buf_puts(&text, grammars[i].end);
	ab_view_make(grammars[i].format, text.data ? text.data : "", text.len, &v);
	if (v.text.data && strcasestr(v.text.data, MARK))
		abort();
	for (size_t k = 0; k < v.urls.len; k++)
		if (strcasestr(v.urls.v[k], MARK))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ab_autofree char *text = ab_strndup((const char *)data, size);

	for (size_t i = 0; i < AB_COUNT(grammars); i++) {
		check_bytes(grammars[i].format, text);
		check_pieces(i, data, size);
	}
	return 0;
}
