/* Commands whose result others can see: releases, packages, pull requests. */
#include "shell/tools/tool.h"

#define PUBLISH AB_RULE_GIT_PUBLISH

#define PACKAGE "Publishes a package."
#define FORGE "Changes something on the forge that others can see."

static const struct ab_deed deeds[] = {
	AB_PROGRAMS("cargo", AB_HELP_LETTER, "publish", "", "-n --dry-run", PUBLISH,
		    .reason = PACKAGE),
	{ AB_ALSO, "yank", .rule = PUBLISH },
	{ AB_ALSO, "owner", "-a --add -r --remove", "", PUBLISH },
	{ AB_ALSO, "release", "-x --execute", "", PUBLISH, .reason = PACKAGE },
	AB_PROGRAMS("changeset lerna", AB_HELP_ALONE, "publish", .rule = PUBLISH,
		    .reason = PACKAGE),
	AB_PROGRAMS("crane oras skopeo", AB_HELP_LETTER,
		    "copy|cp|sync|push|delete|append|mutate|tag|attach", .rule = PUBLISH,
		    .reason = "Publishes an image."),
	AB_PROGRAMS("dotnet", AB_HELP_LETTER, "nuget push|delete", .rule = PUBLISH,
		    .reason = PACKAGE),
	{ AB_ALSO, "push|delete", .rule = PUBLISH, .reason = PACKAGE },
	AB_PROGRAMS("nuget", AB_HELP_ALONE, "nuget push|delete", .rule = PUBLISH,
		    .reason = PACKAGE),
	{ AB_ALSO, "push|delete", .rule = PUBLISH, .reason = PACKAGE },
	AB_PROGRAMS("gem", AB_HELP_LETTER, "push|yank|owner", .rule = PUBLISH, .reason = PACKAGE),
	AB_PROGRAMS("gh", AB_HELP_LETTER,
		    "pr|issue create|new|merge|close|reopen|edit|comment|review|ready|"
		    "delete|transfer|lock|unlock|pin|unpin|update-branch|develop",
		    "", "--dry-run", PUBLISH, .reason = FORGE),
	{ AB_ALSO, "release create|new|delete|delete-asset|edit|upload", .rule = PUBLISH,
	  .reason = FORGE },
	{ AB_ALSO,
	  "repo create|new|delete|edit|rename|archive|unarchive|fork|sync|"
	  "deploy-key|set-default",
	  .rule = PUBLISH, .reason = FORGE },
	{ AB_ALSO,
	  "secret|variable|label|ssh-key|gpg-key|ruleset|cache|project|alias "
	  "set|delete|remove|create|add|edit|clone|import|close|copy|link|"
	  "item-*|field-*",
	  .rule = PUBLISH, .reason = FORGE },
	{ AB_ALSO,
	  "workflow|run|gist|codespace|cs run|enable|disable|rerun|cancel|"
	  "delete|create|new|edit|rename|ssh|stop|rebuild|cp|ports",
	  .rule = PUBLISH, .reason = FORGE },
	{ AB_ALSO, "auth login|logout|refresh|setup-git|switch", .rule = PUBLISH,
	  .reason = "Changes your identity on the forge." },
	{ AB_ALSO, "extension|ext install|upgrade|remove|exec", .rule = AB_RULE_GLOBAL_INSTALL },
	{ AB_ALSO, "api",
	  "-XPOST -XPUT -XPATCH -XDELETE --method=POST --method=PUT "
	  "--method=PATCH --method=DELETE --method=post --method=put "
	  "--method=patch --method=delete",
	  "", PUBLISH, .reason = FORGE },
	/* A field makes it a POST, unless another method is given. */
	{ AB_ALSO, "api", "-f -F --field --raw-field --input",
	  "-XGET --method=GET --method=get graphql", PUBLISH, .reason = FORGE },
	{ AB_ALSO, "api graphql", "-fquery=*mutation* -Fquery=*mutation*", "", PUBLISH,
	  .reason = FORGE },
	AB_PROGRAMS("glab", AB_HELP_LETTER,
		    "mr|issue create|new|merge|accept|close|reopen|update|note|approve|"
		    "revoke|delete|rebase|todo|lock",
		    .rule = PUBLISH, .reason = FORGE),
	{ AB_ALSO,
	  "release|repo|project|variable|label|snippet|ssh-key|schedule|token "
	  "create|delete|upload|set|update|remove|fork|transfer|archive|add",
	  .rule = PUBLISH, .reason = FORGE },
	{ AB_ALSO, "ci|pipeline run|retry|cancel|delete|trigger", .rule = PUBLISH,
	  .reason = FORGE },
	{ AB_ALSO, "auth login|logout", .rule = PUBLISH, .reason = FORGE },
	{ AB_ALSO, "api", "-X --method -f -F --field --raw-field --input", "-XGET --method=GET",
	  PUBLISH, .reason = FORGE },
	AB_PROGRAMS("goreleaser", AB_HELP_LETTER, "release|publish|announce", "",
		    "--snapshot --skip=publish", PUBLISH, .reason = PACKAGE),
	AB_PROGRAMS("gradle gradlew", AB_HELP_LETTER,
		    "** publish|publishTo*Repository|publish*PublicationTo*|"
		    "publishPlugins|*:publish|uploadArchives",
		    "", "-m --dry-run publishToMavenLocal", PUBLISH, .reason = PACKAGE),
	AB_PROGRAMS("helm", AB_HELP_LETTER, "push", .rule = PUBLISH, .reason = PACKAGE),
	AB_PROGRAMS("hub", AB_HELP_LETTER,
		    "push|pull-request|create|delete|fork|merge|release|issue|gist|sync",
		    .rule = PUBLISH, .reason = FORGE),
	AB_PROGRAMS("docker docker-compose nerdctl podman", AB_HELP_LETTER, "push", .rule = PUBLISH,
		    .reason = "Publishes an image."),
	{ AB_ALSO, "image|manifest|compose push", .rule = PUBLISH,
	  .reason = "Publishes an image." },
	{ AB_ALSO, "buildx|builder|image build|bake", "--push", "", PUBLISH,
	  .reason = "Publishes an image." },
	{ AB_ALSO, "build|bake", "--push", "", PUBLISH, .reason = "Publishes an image." },
	AB_PROGRAMS("mvn mvnw", AB_HELP_LETTER, "** deploy|*:deploy|release:perform|*:release",
		    .rule = PUBLISH, .reason = PACKAGE),
	AB_PROGRAMS("npm pnpm yarn", AB_HELP_LETTER, "publish|unpublish|deprecate", "", "--dry-run",
		    PUBLISH, .reason = PACKAGE),
	{ AB_ALSO, "dist-tag|dist-tags add|rm|set", .rule = PUBLISH },
	{ AB_ALSO, "owner|author add|rm", .rule = PUBLISH },
	{ AB_ALSO,
	  "access|team|org|token|hook set|grant|revoke|create|destroy|add|rm|"
	  "public|restricted|edit|delete",
	  .rule = PUBLISH },
	/* yarn */
	{ AB_ALSO, "npm publish", .rule = PUBLISH, .reason = PACKAGE },
	{ AB_ALSO, "tag add|remove", .rule = PUBLISH },
	AB_PROGRAMS("bun dart deno flit flutter hatch pdm poetry uv vsce", AB_HELP_LETTER,
		    "publish|unpublish", "", "--dry-run", PUBLISH, .reason = PACKAGE),
	{ AB_ALSO, "pub publish", "", "-n --dry-run", PUBLISH, .reason = PACKAGE },
	AB_PROGRAMS("jsr ovsx", AB_HELP_ALONE, "publish|unpublish", "", "--dry-run", PUBLISH,
		    .reason = PACKAGE),
	{ AB_ALSO, "pub publish", "", "-n --dry-run", PUBLISH, .reason = PACKAGE },
	AB_PROGRAMS("semantic-release", AB_HELP_ALONE, "", "", "-d --dry-run --snapshot", PUBLISH,
		    .reason = PACKAGE),
	AB_PROGRAMS("maturin twine", AB_HELP_LETTER, "upload|publish|register|push", "",
		    "--dry-run --build", PUBLISH, .reason = PACKAGE),
};

const struct ab_toolbox ab_tools_publish = { deeds, AB_COUNT(deeds), AB_TABLE_PUBLISH };
