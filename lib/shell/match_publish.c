/* What others see afterwards: releases, packages, pull requests. */
#include "base/mem.h"
#include "shell/tool.h"

#define PUBLISH AB_RULE_GIT_PUBLISH

static const char package[] = "Publishes a package.";
static const char forge[] =
	"Changes something on the forge, where others see it.";

static const struct ab_deed npm[] = {
	{ "publish|unpublish|deprecate", NULL, "--dry-run", PUBLISH,
	  .reason = package },
	{ "dist-tag|dist-tags add|rm|set", .rule = PUBLISH },
	{ "owner|author add|rm", .rule = PUBLISH },
	{ "access|team|org|token|hook set|grant|revoke|create|destroy|add|rm|"
	  "public|restricted|edit|delete",
	  .rule = PUBLISH },
	/* yarn's */
	{ "npm publish", .rule = PUBLISH, .reason = package },
	{ "tag add|remove", .rule = PUBLISH },
};
static const struct ab_deed cargo[] = {
	{ "publish", NULL, "-n --dry-run", PUBLISH, .reason = package },
	{ "yank", .rule = PUBLISH },
	{ "owner", "-a --add -r --remove", NULL, PUBLISH },
	{ "release", "-x --execute", NULL, PUBLISH, .reason = package },
};
static const struct ab_deed upload[] = {
	{ "upload|publish|register|push", NULL, "--dry-run --build", PUBLISH,
	  .reason = package },
};
static const struct ab_deed publish[] = {
	{ "publish|unpublish", NULL, "--dry-run", PUBLISH, .reason = package },
	{ "pub publish", NULL, "-n --dry-run", PUBLISH, .reason = package },
};
static const struct ab_deed gem[] = {
	{ "push|yank|owner", .rule = PUBLISH, .reason = package },
};
static const struct ab_deed image[] = {
	{ "push", .rule = PUBLISH, .reason = "Publishes an image." },
	{ "image|manifest|compose push", .rule = PUBLISH,
	  .reason = "Publishes an image." },
	{ "buildx|builder|image build|bake", "--push", NULL, PUBLISH,
	  .reason = "Publishes an image." },
	{ "build|bake", "--push", NULL, PUBLISH,
	  .reason = "Publishes an image." },
};
static const struct ab_deed copy[] = {
	{ "copy|cp|sync|push|delete|append|mutate|tag|attach", .rule = PUBLISH,
	  .reason = "Publishes an image." },
};
static const struct ab_deed mvn[] = {
	{ "** deploy|*:deploy|release:perform|*:release", .rule = PUBLISH,
	  .reason = package },
};
static const struct ab_deed gradle[] = {
	{ "** publish|publishTo*Repository|publish*PublicationTo*|"
	  "publishPlugins|*:publish|uploadArchives",
	  NULL, "-m --dry-run publishToMavenLocal", PUBLISH,
	  .reason = package },
};
static const struct ab_deed dotnet[] = {
	{ "nuget push|delete", .rule = PUBLISH, .reason = package },
	{ "push|delete", .rule = PUBLISH, .reason = package },
};
static const struct ab_deed helm[] = {
	{ "push", .rule = PUBLISH, .reason = package },
};
static const struct ab_deed release[] = {
	{ "", NULL, "-d --dry-run --snapshot", PUBLISH, .reason = package },
};
static const struct ab_deed goreleaser[] = {
	{ "release|publish|announce", NULL, "--snapshot --skip=publish",
	  PUBLISH, .reason = package },
};
static const struct ab_deed changeset[] = {
	{ "publish", .rule = PUBLISH, .reason = package },
};

static const struct ab_deed gh[] = {
	{ "pr|issue create|new|merge|close|reopen|edit|comment|review|ready|"
	  "delete|transfer|lock|unlock|pin|unpin|update-branch|develop",
	  NULL, "--dry-run", PUBLISH, .reason = forge },
	{ "release create|new|delete|delete-asset|edit|upload", .rule = PUBLISH,
	  .reason = forge },
	{ "repo create|new|delete|edit|rename|archive|unarchive|fork|sync|"
	  "deploy-key|set-default",
	  .rule = PUBLISH, .reason = forge },
	{ "secret|variable|label|ssh-key|gpg-key|ruleset|cache|project|alias "
	  "set|delete|remove|create|add|edit|clone|import|close|copy|link|"
	  "item-*|field-*",
	  .rule = PUBLISH, .reason = forge },
	{ "workflow|run|gist|codespace|cs run|enable|disable|rerun|cancel|"
	  "delete|create|new|edit|rename|ssh|stop|rebuild|cp|ports",
	  .rule = PUBLISH, .reason = forge },
	{ "auth login|logout|refresh|setup-git|switch", .rule = PUBLISH,
	  .reason = "Changes who you are on the forge." },
	{ "extension|ext install|upgrade|remove|exec",
	  .rule = AB_RULE_GLOBAL_INSTALL },
	{ "api",
	  "-XPOST -XPUT -XPATCH -XDELETE --method=POST --method=PUT "
	  "--method=PATCH --method=DELETE --method=post --method=put "
	  "--method=patch --method=delete",
	  NULL, PUBLISH, .reason = forge },
	/* A field makes it a POST, unless the method says otherwise. */
	{ "api", "-f -F --field --raw-field --input",
	  "-XGET --method=GET --method=get graphql", PUBLISH, .reason = forge },
	{ "api graphql", "-fquery=*mutation* -Fquery=*mutation*", NULL, PUBLISH,
	  .reason = forge },
};
static const struct ab_deed glab[] = {
	{ "mr|issue create|new|merge|accept|close|reopen|update|note|approve|"
	  "revoke|delete|rebase|todo|lock",
	  .rule = PUBLISH, .reason = forge },
	{ "release|repo|project|variable|label|snippet|ssh-key|schedule|token "
	  "create|delete|upload|set|update|remove|fork|transfer|archive|add",
	  .rule = PUBLISH, .reason = forge },
	{ "ci|pipeline run|retry|cancel|delete|trigger", .rule = PUBLISH,
	  .reason = forge },
	{ "auth login|logout", .rule = PUBLISH, .reason = forge },
	{ "api", "-X --method -f -F --field --raw-field --input",
	  "-XGET --method=GET", PUBLISH, .reason = forge },
};
static const struct ab_deed hub[] = {
	{ "push|pull-request|create|delete|fork|merge|release|issue|gist|sync",
	  .rule = PUBLISH, .reason = forge },
};

#define IMAGE_OPTS                                                              \
	{                                                                       \
		"Hcl", "host= context= config= log-level= file= project-name=", \
			false                                                   \
	}
#define GH_OPTS                                          \
	{                                                \
		"RXfF", "repo= method= hostname=", false \
	}
#define NPM_OPTS                                                                  \
	{                                                                         \
		"Cw", "prefix= cwd= dir= registry= workspace= filter= tag= otp=", \
			false                                                     \
	}

/* Sorted by program. */
static const struct ab_tool tools[] = {
	{ "bun", AB_DEEDS(publish), .help = AB_HELP_LETTER },
	{ "cargo",
	  AB_DEEDS(cargo),
	  { NULL, "config= color=", false },
	  AB_HELP_LETTER },
	{ "changeset", AB_DEEDS(changeset) },
	{ "crane", AB_DEEDS(copy), .help = AB_HELP_LETTER },
	{ "dart", AB_DEEDS(publish), .help = AB_HELP_LETTER },
	{ "deno", AB_DEEDS(publish), .help = AB_HELP_LETTER },
	{ "docker", AB_DEEDS(image), IMAGE_OPTS, AB_HELP_LETTER },
	{ "docker-compose", AB_DEEDS(image), IMAGE_OPTS, AB_HELP_LETTER },
	{ "dotnet", AB_DEEDS(dotnet), .help = AB_HELP_LETTER },
	{ "flit",
	  AB_DEEDS(publish),
	  { "f", "ini-file=", false },
	  AB_HELP_LETTER },
	{ "flutter", AB_DEEDS(publish), .help = AB_HELP_LETTER },
	{ "gem", AB_DEEDS(gem), .help = AB_HELP_LETTER },
	{ "gh", AB_DEEDS(gh), GH_OPTS, AB_HELP_LETTER },
	{ "glab", AB_DEEDS(glab), GH_OPTS, AB_HELP_LETTER },
	{ "goreleaser", AB_DEEDS(goreleaser), .help = AB_HELP_LETTER },
	{ "gradle",
	  AB_DEEDS(gradle),
	  { "pbcIx", "project-dir=", false },
	  AB_HELP_LETTER },
	{ "gradlew",
	  AB_DEEDS(gradle),
	  { "pbcIx", "project-dir=", false },
	  AB_HELP_LETTER },
	{ "hatch",
	  AB_DEEDS(publish),
	  { "ep", "env= project=", false },
	  AB_HELP_LETTER },
	{ "helm",
	  AB_DEEDS(helm),
	  { "n", "namespace= kube-context=", false },
	  AB_HELP_LETTER },
	{ "hub", AB_DEEDS(hub), { "Cc", NULL, false }, AB_HELP_LETTER },
	{ "jsr", AB_DEEDS(publish) },
	{ "lerna", AB_DEEDS(changeset) },
	{ "maturin", AB_DEEDS(upload), .help = AB_HELP_LETTER },
	{ "mvn", AB_DEEDS(mvn), { "fsPlpT", "file=", false }, AB_HELP_LETTER },
	{ "mvnw", AB_DEEDS(mvn), { "fsPlpT", "file=", false }, AB_HELP_LETTER },
	{ "nerdctl", AB_DEEDS(image), IMAGE_OPTS, AB_HELP_LETTER },
	{ "npm", AB_DEEDS(npm), NPM_OPTS, AB_HELP_LETTER },
	{ "nuget", AB_DEEDS(dotnet) },
	{ "oras", AB_DEEDS(copy), .help = AB_HELP_LETTER },
	{ "ovsx", AB_DEEDS(publish) },
	{ "pdm", AB_DEEDS(publish), { "p", "project=", false }, AB_HELP_LETTER },
	{ "pnpm", AB_DEEDS(npm), NPM_OPTS, AB_HELP_LETTER },
	{ "podman", AB_DEEDS(image), IMAGE_OPTS, AB_HELP_LETTER },
	{ "poetry",
	  AB_DEEDS(publish),
	  { "CP", "directory= project=", false },
	  AB_HELP_LETTER },
	{ "semantic-release", AB_DEEDS(release) },
	{ "skopeo", AB_DEEDS(copy), .help = AB_HELP_LETTER },
	{ "twine", AB_DEEDS(upload), .help = AB_HELP_LETTER },
	{ "uv",
	  AB_DEEDS(publish),
	  { NULL, "directory= project=", false },
	  AB_HELP_LETTER },
	{ "vsce", AB_DEEDS(publish), .help = AB_HELP_LETTER },
	{ "yarn", AB_DEEDS(npm), { NULL, "cwd=", false }, AB_HELP_LETTER },
};

const struct ab_toolbox ab_tools_publish = { tools, AB_COUNT(tools) };
