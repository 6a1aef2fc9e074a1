#include "policy/toolchains/registry_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/mem.h"
#include "tap.h"

/* What must never be in a result. */
static const char *const secrets[] = { "hunter2", "npm_abc", "tok3n" };

static const struct {
	const char *what;
	const struct ab_view_format *format;
	const char *text, *shown, *urls;
} cases[] = {
	{ "npm: registry, scopes, certificates; no tokens", &ab_registry_npmrc,
	  "; c\n# registry=https://no.example\nregistry = \"https://u:hunter2@npm.example:8443/x/?k=tok3n\"\r\n"
	  "@a-b:registry=https://s.example/\n//npm.example/:_authToken=npm_abc\n_password=hunter2\n"
	  "strict-ssl=false\ncafile=/etc/ca.pem\ncafile=${HOME}/x\nemail=x@y\n@x y:registry=https://z.example\n",
	  "registry=https://npm.example:8443/x/\n@a-b:registry=https://s.example/\nstrict-ssl=false\n"
	  "cafile=/etc/ca.pem\n",
	  "https://npm.example:8443/x/ https://s.example/" },
	{ "npm: a variable or a token in the path is left out", &ab_registry_npmrc,
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
	{ "npm: ordinary names stay", &ab_registry_npmrc,
	  "registry=https://npm.example/artifactory/api/npm/npm-virtual-release-2024-01/\n"
	  "@a:registry=https://npm.example/api/v4/projects/12345678/packages/npm/\n"
	  "@b:registry=https://npm.example/our_private_registry/java17-boot3.2/\n",
	  "registry=https://npm.example/artifactory/api/npm/npm-virtual-release-2024-01/\n"
	  "@a:registry=https://npm.example/api/v4/projects/12345678/packages/npm/\n"
	  "@b:registry=https://npm.example/our_private_registry/java17-boot3.2/\n",
	  "https://npm.example/artifactory/api/npm/npm-virtual-release-2024-01/ "
	  "https://npm.example/api/v4/projects/12345678/packages/npm/ "
	  "https://npm.example/our_private_registry/java17-boot3.2/" },
	{ "yarn: the server, and scopes", &ab_registry_yarnrc,
	  "nodeLinker: node-modules\nnpmRegistryServer: \"https://npm.example/\"\nnpmAuthToken: npm_abc\n"
	  "npmScopes:\n  corp:\n    npmRegistryServer: https://c.example/r\n    npmAuthToken: npm_abc\n"
	  "  other:\n    npmAlwaysAuth: true\nnpmRegistries:\n  x:\n    npmRegistryServer: https://no.example\n",
	  "---\nnodeLinker: \"node-modules\"\nnpmRegistryServer: \"https://npm.example/\"\nnpmScopes:\n  corp:\n"
	  "    npmRegistryServer: \"https://c.example/r\"\n",
	  "https://npm.example/ https://c.example/r" },
	{ "yarn 1: registries, without tokens", &ab_registry_yarn1,
	  "# hunter2\nregistry \"https://u:hunter2@npm.example/\"\r\n\"@s:registry\" \"https://s.example/?k=tok3n\"\n"
	  "\"//npm.example/:_authToken\" npm_abc\nlastUpdateCheck 1555\nproxy \"http://u:hunter2@p.example\"\n"
	  "obj:\n  registry \"https://no.example/\"\ncache-folder \"/c\"\ncafile \"/x\\\"hunter2\"\n\n",
	  "\"registry\" \"https://npm.example/\"\n\"@s:registry\" \"https://s.example/\"\n\"cache-folder\" \"/c\"\n",
	  "https://npm.example/ https://s.example/" },
	{ "bun: registries as text and as tables, without tokens", &ab_registry_bun,
	  "preload = [\"hunter2\"]\n[install]\nexact = true\n"
	  "registry = { url = \"https://npm.example\", token = \"hunter2\" }\n[install.scopes]\n"
	  "\"@a\" = \"https://u:hunter2@a.example/\"\n"
	  "b = { username = \"me\", password = \"hunter2\", url = \"https://b.example/\" }\n",
	  "install.exact = true\ninstall.registry.url = \"https://npm.example\"\n"
	  "install.scopes.\"@a\" = \"https://a.example/\"\ninstall.scopes.b.url = \"https://b.example/\"\n",
	  "https://npm.example https://a.example/ https://b.example/" },
	{ "pnpm: registries, without logins", &ab_registry_pnpm,
	  "storeDir: /s\nregistries:\n  default: https://u:hunter2@npm.example/\n  '@s': https://s.example/\n"
	  "_auth:\n  '//npm.example/':\n    authToken: npm_abc\nproxy: http://u:hunter2@p.example\n",
	  "---\nstoreDir: \"/s\"\nregistries:\n  default: \"https://npm.example/\"\n  \"@s\": \"https://s.example/\"\n",
	  "https://npm.example/ https://s.example/" },
	{ "pip: sections, several lines, hosts", &ab_registry_pip,
	  "[global]\nindex_url = https://__token__:hunter2@pip.example/simple\nextra-index-url =\n"
	  "    https://a.example/s\n    https://b.example/s  https://c.example\ntimeout = 3\n"
	  "trusted-host = pip.example\n    x y/\n[install]\nfind-links = /local\n[we ird]\nindex-url=https://no.example\n",
	  "[global]\nindex-url = https://pip.example/simple\nextra-index-url = https://a.example/s\n"
	  "    https://b.example/s\n    https://c.example\ntimeout = 3\ntrusted-host = pip.example\n    x\n",
	  "https://pip.example/simple https://a.example/s https://b.example/s https://c.example" },
	{ "uv: tables", &ab_registry_uv,
	  "index-url = \"https://u:hunter2@uv.example/simple\"\n[[index]]\nname = \"a\"\n"
	  "url = \"https://a.example/\"\ndefault = true\n[[index]]\nname = \"b\"\nurl = \"file:///x\"\n",
	  "index-url = \"https://uv.example/simple\"\n[[index]]\nname = \"a\"\n"
	  "url = \"https://a.example/\"\ndefault = true\n",
	  "https://uv.example/simple https://a.example/" },
	{ "cargo: sources and registries", &ab_registry_cargo,
	  "[build]\nrustc-wrapper = \"evil\"\n[source.crates-io]\nreplace-with = \"m\"\n"
	  "[source.m]\nregistry = \"sparse+https://u:hunter2@crates.example/index/\"\n"
	  "[registries.corp]\nindex = \"https://corp.example/git\"\ntoken = \"hunter2\"\n",
	  "build.rustc-wrapper = \"evil\"\nsource.crates-io.replace-with = \"m\"\n"
	  "source.m.registry = \"sparse+https://crates.example/index/\"\n"
	  "registries.corp.index = \"https://corp.example/git\"\n",
	  "sparse+https://crates.example/index/ https://corp.example/git" },
	{ "go: proxies", &ab_registry_go,
	  "GOPROXY=https://u:hunter2@go.example|direct\nGOPRIVATE=*.corp.example\nGOFLAGS=-x\n",
	  "GOPROXY=https://go.example,direct\nGOPRIVATE=*.corp.example\n", "https://go.example" },
	{ "maven: mirrors, without servers", &ab_registry_maven,
	  "<settings><servers><server><id>m</id><password>hunter2</password></server></servers>"
	  "<!-- <mirror><mirrorOf>*</mirrorOf><url>https://no.example</url></mirror> -->"
	  "<mirrors><mirror><id>m</id>\n<mirrorOf>central</mirrorOf>\n<url>\nhttps://u:hunter2@mvn.example/r\n"
	  "</url></mirror><mirror><mirrorOf>*</mirrorOf><url>http://0.0.0.0/</url><blocked>true</blocked>"
	  "</mirror></mirrors></settings>",
	  "<settings>\n<mirrors>\n<mirror>\n<id>m</id>\n<mirrorOf>central</mirrorOf>\n"
	  "<url>https://mvn.example/r</url>\n</mirror>\n</mirrors>\n</settings>\n",
	  "https://mvn.example/r" },
	{ "bundler: mirrors; no logins", &ab_registry_bundle,
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
	{ "gem: sources", &ab_registry_gemrc,
	  "---\n:backtrace: false\n:sources:\n- https://u:hunter2@gems.example/\n- \"https://b.example\"\n"
	  ":rubygems_api_key: hunter2\n:other:\n- https://no.example/\n",
	  "---\n:backtrace: false\n:sources:\n- https://gems.example/\n- https://b.example\n",
	  "https://gems.example/ https://b.example" },
	{ "composer: repositories with names; no logins, no options", &ab_registry_composer,
	  "{ \"config\": { \"secure-http\": false, \"http-basic\": { \"p.example\": { \"password\": "
	  "\"hunter2\" } } }, \"repositories\": { \"packagist\": false, \"corp\": { \"type\": "
	  "\"composer\", \"url\": \"https:\\/\\/u:hunter2@p.example\\/c\", \"canonical\": false, "
	  "\"only\": [\"corp/*\"], \"options\": { \"http\": { \"header\": [\"X: tok3n\"] } } }, "
	  "\"src\": { \"type\": \"vcs\", \"url\": \"https://no.example/x\" }, \"q\\\"\": { \"type\": "
	  "\"composer\", \"url\": \"https://no.example\" } } }",
	  "{\n\"config\": {\n\"secure-http\": false\n},\n\"repositories\": {\n\"packagist\": false,\n"
	  "\"corp\": {\"type\": \"composer\", \"url\": \"https://p.example/c\", \"canonical\": false, "
	  "\"only\": [\"corp/*\"]}\n}\n}\n",
	  "https://p.example/c" },
	{ "composer: a list, and patterns that cannot be shown", &ab_registry_composer,
	  "{ \"config\": { \"cafile\": \"/etc/ca.pem\" }, \"repositories\": [ { \"type\": \"composer\", "
	  "\"url\": \"https://p.example\" }, { \"type\": \"composer\", \"url\": \"https://no.example\", "
	  "\"exclude\": [\"a b\"] }, { \"packagist.org\": false }, false, 3 ] }",
	  "{\n\"config\": {\n\"cafile\": \"/etc/ca.pem\"\n},\n\"repositories\": [\n"
	  "{\"type\": \"composer\", \"url\": \"https://p.example\"},\n{\"packagist.org\": false}\n]\n}\n",
	  "https://p.example" },
	{ "composer: nothing to show", &ab_registry_composer,
	  "{ \"config\": { \"x\": false }, \"repositories\": [] }", "", "" },
	{ "nuget: what the tool itself writes, with a byte order mark", &ab_registry_nuget,
	  "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n<configuration>\r\n  <packageSources>\r\n"
	  "    <add key=\"nuget.org\" value=\"https://n.example/v3/index.json\" protocolVersion=\"3\" />\r\n"
	  "  </packageSources>\r\n</configuration>",
	  "<configuration>\n<packageSources>\n<add key=\"nuget.org\" value=\"https://n.example/v3/index.json\""
	  " protocolVersion=\"3\" />\n</packageSources>\n</configuration>\n",
	  "https://n.example/v3/index.json" },
	{ "nuget: sources, which are off, and what comes from where; no credentials",
	  &ab_registry_nuget,
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
	  "<package pattern=\"Corp.*\" />\n</packageSource>\n<packageSource key=\"none\" />\n"
	  "</packageSourceMapping>\n</configuration>\n",
	  "https://n.example/v3/index.json" },
	{ "npm: what is in a section, in an array or behind a comment is no setting",
	  &ab_registry_npmrc,
	  "fund=false\nregistry[]=https://tok3n.example/\n#save-exact=hunter2\n"
	  "proxy=http://u:hunter2@proxy.example\nsave-exact = true ; hunter2\n"
	  "audit-level=hunter2\n[tok3n]\nregistry=https://hunter2.example/\n",
	  "fund=false\nsave-exact=true\n", "" },
	{ "npm: what follows a value is a comment, but not in quotes or after a backslash",
	  &ab_registry_npmrc,
	  "registry=https://a.example/ # hunter2\nfund=true;hunter2\naudit=\"false\" ; hunter2\n"
	  "cafile=\"/etc/ca.pem\"\n@b:registry=https://b.example/\\;hunter2 ; x\n"
	  "@c:registry=https://c.example/x;_authToken=npm_abc\noffline=;true\n",
	  "registry=https://a.example/\nfund=true\ncafile=/etc/ca.pem\n@c:registry=https://c.example/x\n",
	  "https://a.example/ https://c.example/x" },
	{ "cargo: commands of known words, listed variables, relative folders", &ab_registry_cargo,
	  "[alias]\nxtask = \"run --package xtask --\"\nlint = \"clippy --all-targets -- -D warnings\"\n"
	  "b1 = [\"build\", \"--release\"]\nup = \"run --package\"\ndeploy = \"run -- hunter2\"\n"
	  "db = \"run --bin db -- -p hunter2\"\nci = \"r test -p hunter2\"\nnt = \"nextest run -p x\"\n"
	  "push = \"publish --token=hunter2\"\n[env]\nRUST_BACKTRACE = \"1\"\nRUST_LOG = \"hunter2\"\n"
	  "CC = \"clang\"\nCXX = { value = \"hunter2\", force = true }\nAPI_KEY = \"hunter2\"\n"
	  "OPENSSL_DIR = \"hunter2\"\n[target.armv7-unknown-linux-gnueabihf]\nrunner = \"qemu-arm\"\n"
	  "linker = \"/opt/x/bin/gcc\"\n[target.x86_64-pc-windows-gnu]\nrunner = \"wine --key hunter2\"\n"
	  "[source.vendored-sources]\ndirectory = \"../vendor\"\n",
	  "alias.xtask = \"run --package xtask --\"\n"
	  "alias.lint = \"clippy --all-targets -- -D warnings\"\nalias.nt = \"nextest run -p x\"\n"
	  "env.RUST_BACKTRACE = \"1\"\nenv.CC = \"clang\"\n"
	  "target.armv7-unknown-linux-gnueabihf.runner = \"qemu-arm\"\n"
	  "target.armv7-unknown-linux-gnueabihf.linker = \"/opt/x/bin/gcc\"\n"
	  "source.vendored-sources.directory = \"../vendor\"\n",
	  "" },
	{ "pip: what continues an unlisted value is none of ours, in all forms", &ab_registry_pip,
	  "[global]\npassword =\n    index-url = https://hunter2.example/\n\n"
	  "    # c\n    extra-index-url: https://hunter2.example/\ntimeout: 3\n"
	  "keyring = x\n   trusted-host = hunter2.example\nproxy = u:hunter2@p.example\n"
	  "  [install]\n  index-url = https://tok3n.example\n"
	  "extra_index_url = https://a.example/?k=tok3n\n  hunter2\n  https://u:hunter2@b.example/#tok3n\n"
	  "cert = %(home)s/hunter2\n",
	  "[global]\ntimeout = 3\nextra-index-url = https://a.example/\n    https://b.example/\n",
	  "https://a.example/ https://b.example/" },
	{ "pip: a key that is indented as the one before is a key", &ab_registry_pip,
	  "[global]\n  find-links = https://a.example/\n  secret = https://hunter2.example/\n",
	  "[global]\nfind-links = https://a.example/\n", "https://a.example/" },
	{ "uv: strings of several lines, quoted and dotted keys, inline tables", &ab_registry_uv,
	  "secret = \"\"\"\nindex-url = \"https://hunter2.example/\"\n\"\"\"\n"
	  "'index-url.token' = \"hunter2\"\n\"no-\\u0069ndex\" = true\n"
	  "pip.extra-index-url = [\"https://a.example/?tok3n\", \"hunter2\", 'https://u:hunter2@b.example']\n"
	  "index = [{ url = \"https://c.example\", name = \"c\", token = \"hunter2\" },\n"
	  "  { name = \"tok3n\", url = 'hunter2' }, { url = \"https://d.example\", explicit = \"tok3n\" }]\n"
	  "keyring-provider = \"hunter2\" # tok3n\n",
	  "no-index = true\npip.extra-index-url = [\"https://a.example/\", \"https://b.example\"]\n"
	  "[[index]]\nurl = \"https://c.example\"\nname = \"c\"\n",
	  "https://a.example/ https://b.example https://c.example" },
	{ "cargo: tokens, a proxy, variables, aliases; what builds need stays", &ab_registry_cargo,
	  "registry.token = \"hunter2\"\nregistries.corp = { index = \"https://c.example/?tok3n\", token = 'hunter2' }\n"
	  "[http]\nproxy = \"u:hunter2@p.example:3128\"\ntimeout = 30\n[env]\nKEY = \"hunter2\"\n"
	  "[alias]\nup = \"publish --token hunter2\"\n[net]\ngit-fetch-with-cli = true\n"
	  "[registries.ssh]\nindex = \"ssh://git@s.example/index\"\n"
	  "[target.x86_64-unknown-linux-gnu]\nlinker = \"clang\"\nrustflags = [\"-C\", \"link-arg=-fuse-ld=mold\"]\n"
	  "[target.'cfg(hunter2)']\nlinker = \"tok3n\"\n[profile.dev]\ndebug = 0\nlto = \"thin\"\n"
	  "[credential-alias]\nx = [\"hunter2\"]\n",
	  "registries.corp.index = \"https://c.example/\"\nhttp.timeout = 30\n"
	  "net.git-fetch-with-cli = true\nregistries.ssh.index = \"ssh://git@s.example/index\"\n"
	  "target.x86_64-unknown-linux-gnu.linker = \"clang\"\n"
	  "target.x86_64-unknown-linux-gnu.rustflags = [\"-C\", \"link-arg=-fuse-ld=mold\"]\n"
	  "profile.dev.debug = 0\nprofile.dev.lto = \"thin\"\n",
	  "https://c.example/ ssh://git@s.example/index" },
	{ "go: credentials and flags", &ab_registry_go,
	  "GOAUTH=netrc hunter2\nGOFLAGS=-ldflags=-X=main.k=hunter2\n GOPROXY=https://hunter2.example\n"
	  "GOSUMDB=sum.example+tok3n+hunter2=\nGOTOOLCHAIN=local\n#GOPRIVATE=hunter2\n",
	  "GOTOOLCHAIN=local\n", "" },
	{ "maven: entities, CDATA, texts in pieces, attributes", &ab_registry_maven,
	  "<?xml version='1.0'?><settings xmlns='tok3n'><mirrors>hunter2<mirror a='hunter2'>"
	  "<mirrorOf>*</mirrorOf><url>https://<!-- hunter2 -->a.example/</url><id>&hunter2;</id></mirror>"
	  "<mirror><mirrorOf>x</mirrorOf><url><![CDATA[https://hunter2.example/]]></url></mirror>"
	  "<mirror><mirrorOf>x</mirrorOf><url b='tok3n'>https://hunter2.example/</url></mirror></mirrors>"
	  "<servers><server><url>https://hunter2.example/</url></server></servers>"
	  "<proxies><proxy><password>hunter2</password></proxy></proxies>"
	  "<profiles><profile><id>p</id><properties><k>hunter2</k></properties><repositories><repository>"
	  "<id>r</id><url>https://u:hunter2@r.example/?tok3n</url><releases><enabled>true</enabled></releases>"
	  "</repository></repositories></profile></profiles>"
	  "<activeProfiles><activeProfile>p</activeProfile></activeProfiles></settings>",
	  "<settings>\n<mirrors>\n<mirror>\n<mirrorOf>*</mirrorOf>\n<url>https://a.example/</url>\n</mirror>\n"
	  "</mirrors>\n<profiles>\n<profile>\n<id>p</id>\n<repositories>\n<repository>\n<id>r</id>\n"
	  "<url>https://r.example/</url>\n<releases>\n<enabled>true</enabled>\n</releases>\n</repository>\n"
	  "</repositories>\n</profile>\n</profiles>\n<activeProfiles>\n<activeProfile>p</activeProfile>\n"
	  "</activeProfiles>\n</settings>\n",
	  "https://a.example/ https://r.example/" },
	{ "gradle: lines that go on, escapes, three separators", &ab_registry_gradle,
	  "systemProp.http.proxyPassword=hunter2\\\norg.gradle.workers.max=4\n"
	  "org.gradle.parallel true\norg.gradle.caching:true\norg.gradle.daemon = false\n"
	  "org.gradle.\\u0064aemon=hunter2\norg.gradle.jvmargs=-Dk=hunter2\n! tok3n\n  # hunter2\\\n"
	  "org.gradle.workers.max=2\n",
	  "org.gradle.parallel=true\norg.gradle.caching=true\norg.gradle.daemon=false\n"
	  "org.gradle.workers.max=2\n",
	  "" },
	{ "bundler: an unlisted key, and a name that is a token", &ab_registry_bundle,
	  "---\nBUNDLE_GEMS__EXAMPLE__COM: \"hunter2\" # BUNDLE_JOBS: 4\nBUNDLE_JOBS: \"4\"\n"
	  "BUNDLE_MIRROR__HTTPS://GEMS__EXAMPLE/?TOK3N: \"https://a.example\"\n"
	  "BUNDLE_BUILD__X:\n  BUNDLE_RETRY: \"hunter2\"\n",
	  "---\nBUNDLE_JOBS: \"4\"\n", "" },
	{ "yarn: a list of mappings, and a scope in quotes", &ab_registry_yarnrc,
	  "# hunter2\n\nnpmAuthToken: \"hunter2\"\nplugins:\n  - path: hunter2\n    spec: \"tok3n\"\n"
	  "npmScopes:\n  \"a\":\n    npmRegistryServer: 'https://u:hunter2@a.example'\n    npmAuthIdent: hunter2\n"
	  "enableTelemetry: false\nhttpProxy: \"http://u:hunter2@p.example\"\n",
	  "---\nnpmScopes:\n  a:\n    npmRegistryServer: \"https://a.example\"\nenableTelemetry: false\n",
	  "https://a.example" },
	{ "composer: authentication in all places", &ab_registry_composer,
	  "{\"config\": {\"github-oauth\": {\"github.com\": \"hunter2\"}, \"bearer\": {\"a\": \"hunter2\"},"
	  "\"sort-packages\": true, \"cafile\": \"$HOME/hunter2\"}, \"repositories\": [{\"type\": \"composer\","
	  "\"url\": \"https://u:hunter2@a.example/?tok3n#hunter2\", \"options\": {\"k\": \"hunter2\"}},"
	  "{\"type\": \"package\", \"url\": \"https://hunter2.example\"}], \"tok3n\": 1}",
	  "{\n\"config\": {\n\"sort-packages\": true\n},\n\"repositories\": [\n"
	  "{\"type\": \"composer\", \"url\": \"https://a.example/\"}\n]\n}\n",
	  "https://a.example/" },
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

static void check_judgement(void)
{
	static const struct {
		const char *what;
		const struct ab_view_format *format;
		const char *text;
		bool broken, whole;
		size_t left;
	} texts[] = {
		{ "all of it is shown", &ab_registry_pip,
		  "[global]\n  index-url:https://a.example/simple\n\ntimeout=3\n", false, true, 0 },
		{ "an empty file", &ab_registry_composer, "\n", false, true, 0 },
		{ "a comment", &ab_registry_pip, "[global]\ntimeout = 3\n# x\n", false, false, 0 },
		{ "a password", &ab_registry_pip, "[global]\nindex-url = https://u:p@a.example\n",
		  false, false, 0 },
		{ "a password that is a word of the view", &ab_registry_pip,
		  "[global]\nindex-url = https://nexus:nexus@nexus.example/simple\n", false, false,
		  0 },
		{ "a password without a letter", &ab_registry_pip,
		  "[global]\nindex-url = https://:!.@nexus.example/simple\n", false, false, 0 },
		{ "a login in a comment, of words of the view", &ab_registry_pip,
		  "# https://simple:global@nexus.example\n[global]\n"
		  "index-url = https://nexus.example/simple\n",
		  false, false, 0 },
		{ "a list with a login", &ab_registry_go,
		  "GOPROXY=https://direct:off@go.example,direct,off\n", false, false, 0 },
		{ "a byte order mark", &ab_registry_pip, "\xef\xbb\xbf[global]\ntimeout = 3\n",
		  false, true, 0 },
		{ "two settings of three", &ab_registry_npmrc, "a=1\nb=2\nfund=true\n", false,
		  false, 2 },
		{ "a section without a setting", &ab_registry_pip, "[tok3n]\n", false, false, 0 },
		{ "TOML in other words", &ab_registry_cargo, "[net]\nretry = 3\n", false, true, 0 },
		{ "an empty table", &ab_registry_cargo, "[net]\nretry = 3\n[registries.tok3n]\n",
		  false, false, 0 },
		{ "an empty list", &ab_registry_uv, "offline = true\ntok3n = []\n", false, false,
		  0 },
		{ "JSON", &ab_registry_composer, "{\"config\": {\"sort-packages\": true}}", false,
		  true, 0 },
		{ "JSON with a duplicate key", &ab_registry_composer,
		  "{\"config\":{},\"config\":{}}", true, false, 0 },
		{ "TOML that ends in a string", &ab_registry_uv, "a = \"x\n", true, false, 0 },
		{ "XML with a document type", &ab_registry_maven,
		  "<!DOCTYPE settings [<!ENTITY a \"b\">]><settings/>", true, false, 0 },
		{ "XML whose tags do not match", &ab_registry_maven,
		  "<settings><offline>true</settings>", true, false, 0 },
		{ "YAML with a value of several lines", &ab_registry_yarnrc,
		  "a: |\n  npmRegistryServer: https://x\n", true, false, 0 },
		{ "YAML with a quote that goes on", &ab_registry_yarnrc,
		  "a: \"x\nnpmRegistryServer: https://x\"\n", true, false, 0 },
		{ "YAML in flow style", &ab_registry_gemrc, "{:sources: [https://x.example]}\n",
		  true, false, 0 },
		{ "YAML with an anchor", &ab_registry_gemrc, ":a: &b x\n", true, false, 0 },
		{ "YAML with a text that goes on", &ab_registry_gemrc, ":a: x\n  y\n", true, false,
		  0 },
		{ "YAML with two documents", &ab_registry_gemrc, "---\n:verbose: true\n---\n", true,
		  false, 0 },
	};

	for (size_t i = 0; i < AB_COUNT(texts); i++) {
		ab_autoview struct ab_view v = { 0 };

		ab_view_make(texts[i].format, texts[i].text, strlen(texts[i].text), &v);
		ok(v.broken == texts[i].broken && v.whole == texts[i].whole &&
			   v.left == texts[i].left,
		   "%s: broken %d, whole %d, left out %zu", texts[i].what, v.broken, v.whole,
		   v.left);
		ok(!v.broken || !v.text.len, "what is broken shows nothing");
	}
}

static void check_bounds(void)
{
	ab_autoview struct ab_view nul = { 0 }, many = { 0 };
	ab_autobuf struct ab_buf b = { 0 };

	ab_view_make(&ab_registry_npmrc, "fund=true\n\0x", 12, &nul);
	ok(nul.broken, "a NUL byte");
	for (size_t i = 0; i < 5000; i++)
		ab_buf_puts(&b, "fund=true\n");
	ab_view_make(&ab_registry_npmrc, b.data, b.len, &many);
	ok(many.broken && !many.text.len, "too many settings");
}

static void check_variable(void)
{
	ab_autostrv struct ab_strv urls = { 0 };

	ab_registry_variable("corp=https://u:hunter2@uv.example/s https://b.example direct", &urls);
	is_str(join(&urls), "https://uv.example/s https://b.example", "variables");
}

int main(void)
{
	check_judgement();
	check_bounds();
	check_variable();
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autoview struct ab_view v = { 0 };
		size_t leaks = 0, len = strlen(cases[i].text);

		ab_view_make(cases[i].format, cases[i].text, len, &v);
		is_str(v.text.data ? v.text.data : "", cases[i].shown, cases[i].what);
		is_str(join(&v.urls), cases[i].urls, "its URLs");
		ok(!v.broken, "it can be read");
		for (size_t n = 0; n < len; n++) {
			ab_autoview struct ab_view cut = { 0 };
			ab_autofree char *text = ab_strndup(cases[i].text, n);

			ab_view_make(cases[i].format, text, n, &cut);
			/* A login that is cut before its "@" is not a host. */
			leaks += has_secret(cut.text.data ? cut.text.data : "");
		}
		ok(leaks == 0, "no secret, wherever it is cut");
	}
	return done();
}
