/* Commands whose result others can see: releases, packages, pull requests. */
#include "base/data/mem.h"
#include "shell/command/name_index.h"
#include "shell/tools/tool.h"

#define PUBLISH AB_RULE_GIT_PUBLISH

#define PACKAGE "Publishes a package."
#define FORGE "Changes something on the forge that others can see."

/* Sorted by name. */
static const struct ab_deed deeds[] = {
	{ "cargo", "publish", "", "-n --dry-run", PUBLISH, .reason = PACKAGE },
	{ "cargo", "yank", .rule = PUBLISH },
	{ "cargo", "owner", "-a --add -r --remove", "", PUBLISH },
	{ "cargo", "release", "-x --execute", "", PUBLISH, .reason = PACKAGE },
	{ "changeset", "publish", .rule = PUBLISH, .reason = PACKAGE },
	{ "copy", "copy|cp|sync|push|delete|append|mutate|tag|attach", .rule = PUBLISH,
	  .reason = "Publishes an image." },
	{ "dotnet", "nuget push|delete", .rule = PUBLISH, .reason = PACKAGE },
	{ "dotnet", "push|delete", .rule = PUBLISH, .reason = PACKAGE },
	{ "gem", "push|yank|owner", .rule = PUBLISH, .reason = PACKAGE },
	{ "gh",
	  "pr|issue create|new|merge|close|reopen|edit|comment|review|ready|"
	  "delete|transfer|lock|unlock|pin|unpin|update-branch|develop",
	  "", "--dry-run", PUBLISH, .reason = FORGE },
	{ "gh", "release create|new|delete|delete-asset|edit|upload", .rule = PUBLISH,
	  .reason = FORGE },
	{ "gh",
	  "repo create|new|delete|edit|rename|archive|unarchive|fork|sync|"
	  "deploy-key|set-default",
	  .rule = PUBLISH, .reason = FORGE },
	{ "gh",
	  "secret|variable|label|ssh-key|gpg-key|ruleset|cache|project|alias "
	  "set|delete|remove|create|add|edit|clone|import|close|copy|link|"
	  "item-*|field-*",
	  .rule = PUBLISH, .reason = FORGE },
	{ "gh",
	  "workflow|run|gist|codespace|cs run|enable|disable|rerun|cancel|"
	  "delete|create|new|edit|rename|ssh|stop|rebuild|cp|ports",
	  .rule = PUBLISH, .reason = FORGE },
	{ "gh", "auth login|logout|refresh|setup-git|switch", .rule = PUBLISH,
	  .reason = "Changes your identity on the forge." },
	{ "gh", "extension|ext install|upgrade|remove|exec", .rule = AB_RULE_GLOBAL_INSTALL },
	{ "gh", "api",
	  "-XPOST -XPUT -XPATCH -XDELETE --method=POST --method=PUT "
	  "--method=PATCH --method=DELETE --method=post --method=put "
	  "--method=patch --method=delete",
	  "", PUBLISH, .reason = FORGE },
	/* A field makes it a POST, unless another method is given. */
	{ "gh", "api", "-f -F --field --raw-field --input",
	  "-XGET --method=GET --method=get graphql", PUBLISH, .reason = FORGE },
	{ "gh", "api graphql", "-fquery=*mutation* -Fquery=*mutation*", "", PUBLISH,
	  .reason = FORGE },
	{ "glab",
	  "mr|issue create|new|merge|accept|close|reopen|update|note|approve|"
	  "revoke|delete|rebase|todo|lock",
	  .rule = PUBLISH, .reason = FORGE },
	{ "glab",
	  "release|repo|project|variable|label|snippet|ssh-key|schedule|token "
	  "create|delete|upload|set|update|remove|fork|transfer|archive|add",
	  .rule = PUBLISH, .reason = FORGE },
	{ "glab", "ci|pipeline run|retry|cancel|delete|trigger", .rule = PUBLISH, .reason = FORGE },
	{ "glab", "auth login|logout", .rule = PUBLISH, .reason = FORGE },
	{ "glab", "api", "-X --method -f -F --field --raw-field --input", "-XGET --method=GET",
	  PUBLISH, .reason = FORGE },
	{ "goreleaser", "release|publish|announce", "", "--snapshot --skip=publish", PUBLISH,
	  .reason = PACKAGE },
	{ "gradle",
	  "** publish|publishTo*Repository|publish*PublicationTo*|"
	  "publishPlugins|*:publish|uploadArchives",
	  "", "-m --dry-run publishToMavenLocal", PUBLISH, .reason = PACKAGE },
	{ "helm", "push", .rule = PUBLISH, .reason = PACKAGE },
	{ "hub", "push|pull-request|create|delete|fork|merge|release|issue|gist|sync",
	  .rule = PUBLISH, .reason = FORGE },
	{ "image", "push", .rule = PUBLISH, .reason = "Publishes an image." },
	{ "image", "image|manifest|compose push", .rule = PUBLISH,
	  .reason = "Publishes an image." },
	{ "image", "buildx|builder|image build|bake", "--push", "", PUBLISH,
	  .reason = "Publishes an image." },
	{ "image", "build|bake", "--push", "", PUBLISH, .reason = "Publishes an image." },
	{ "mvn", "** deploy|*:deploy|release:perform|*:release", .rule = PUBLISH,
	  .reason = PACKAGE },
	{ "npm", "publish|unpublish|deprecate", "", "--dry-run", PUBLISH, .reason = PACKAGE },
	{ "npm", "dist-tag|dist-tags add|rm|set", .rule = PUBLISH },
	{ "npm", "owner|author add|rm", .rule = PUBLISH },
	{ "npm",
	  "access|team|org|token|hook set|grant|revoke|create|destroy|add|rm|"
	  "public|restricted|edit|delete",
	  .rule = PUBLISH },
	/* yarn */
	{ "npm", "npm publish", .rule = PUBLISH, .reason = PACKAGE },
	{ "npm", "tag add|remove", .rule = PUBLISH },
	{ "publish", "publish|unpublish", "", "--dry-run", PUBLISH, .reason = PACKAGE },
	{ "publish", "pub publish", "", "-n --dry-run", PUBLISH, .reason = PACKAGE },
	{ "release", "", "", "-d --dry-run --snapshot", PUBLISH, .reason = PACKAGE },
	{ "upload", "upload|publish|register|push", "", "--dry-run --build", PUBLISH,
	  .reason = PACKAGE },
};

/* Sorted by program. */
static const struct ab_tool tools[] = {
	{ "bun", "publish", AB_HELP_LETTER },
	{ "cargo", "cargo", AB_HELP_LETTER },
	{ "changeset", "changeset" },
	{ "crane", "copy", AB_HELP_LETTER },
	{ "dart", "publish", AB_HELP_LETTER },
	{ "deno", "publish", AB_HELP_LETTER },
	{ "docker", "image", AB_HELP_LETTER },
	{ "docker-compose", "image", AB_HELP_LETTER },
	{ "dotnet", "dotnet", AB_HELP_LETTER },
	{ "flit", "publish", AB_HELP_LETTER },
	{ "flutter", "publish", AB_HELP_LETTER },
	{ "gem", "gem", AB_HELP_LETTER },
	{ "gh", "gh", AB_HELP_LETTER },
	{ "glab", "glab", AB_HELP_LETTER },
	{ "goreleaser", "goreleaser", AB_HELP_LETTER },
	{ "gradle", "gradle", AB_HELP_LETTER },
	{ "gradlew", "gradle", AB_HELP_LETTER },
	{ "hatch", "publish", AB_HELP_LETTER },
	{ "helm", "helm", AB_HELP_LETTER },
	{ "hub", "hub", AB_HELP_LETTER },
	{ "jsr", "publish" },
	{ "lerna", "changeset" },
	{ "maturin", "upload", AB_HELP_LETTER },
	{ "mvn", "mvn", AB_HELP_LETTER },
	{ "mvnw", "mvn", AB_HELP_LETTER },
	{ "nerdctl", "image", AB_HELP_LETTER },
	{ "npm", "npm", AB_HELP_LETTER },
	{ "nuget", "dotnet" },
	{ "oras", "copy", AB_HELP_LETTER },
	{ "ovsx", "publish" },
	{ "pdm", "publish", AB_HELP_LETTER },
	{ "pnpm", "npm", AB_HELP_LETTER },
	{ "podman", "image", AB_HELP_LETTER },
	{ "poetry", "publish", AB_HELP_LETTER },
	{ "semantic-release", "release" },
	{ "skopeo", "copy", AB_HELP_LETTER },
	{ "twine", "upload", AB_HELP_LETTER },
	{ "uv", "publish", AB_HELP_LETTER },
	{ "vsce", "publish", AB_HELP_LETTER },
	{ "yarn", "npm", AB_HELP_LETTER },
};

const struct ab_toolbox ab_tools_publish = { tools, AB_COUNT(tools), deeds, AB_COUNT(deeds),
					     AB_TABLE_PUBLISH };
