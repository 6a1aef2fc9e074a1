/*
 * Tools that reach beyond the box: other machines and databases here; containers,
 * clouds and publishing in tables of their own.
 */
#include "shell/command/grammar.h"
#include "shell/tools/tool.h"

/*
 * git itself runs ssh to fetch (upload-pack) and to push (receive-pack). The remote
 * command follows the host as one word or several.
 */
static bool is_git_transport(const struct ab_simple *command, struct ab_hits *hits)
{
	struct ab_operands words;
	struct ab_text what;

	if (!ab_text_is(command->name, "ssh"))
		return false;
	ab_tool_operands(ab_grammar_as(command, "ssh"), command, &words);
	if (words.len < 2)
		return false;
	what = words.v[1]->text;
	if (ab_text_starts(what, "git-receive-pack")) {
		ab_hit_because(hits, AB_RULE_GIT_PUBLISH, command->range, "Publishes commits.");
		return true;
	}
	/* git only quotes the repository; other shell syntax is not from git. */
	return (ab_text_starts(what, "git-upload-pack") ||
		ab_text_starts(what, "git-upload-archive")) &&
	       !words.v[1]->unknown && words.len <= 3 && !ab_contains_listed("; & | $ ` \n", what);
}

/* `python3 -m twine upload` is `twine upload`. */
static bool is_module(const struct ab_simple *command, struct ab_simple *ret)
{
	if (!ab_text_starts(command->name, "python") || command->argc < 3 ||
	    !ab_field_is(&command->argv[1], "-m"))
		return false;
	*ret = *command;
	ret->argv += 2;
	ret->argc -= 2;
	ret->name = ret->argv[0].text;
	ab_command_look_up(ret);
	return true;
}

void ab_match_tools(const struct ab_simple *command, struct ab_hits *hits)
{
	struct ab_simple module;

	if (is_git_transport(command, hits))
		return;
	if (is_module(command, &module)) {
		ab_toolbox_match(&ab_tools_packages, &module, hits);
		ab_toolbox_match(&ab_tools_publish, &module, hits);
		return;
	}
	ab_toolbox_match(&ab_tools_publish, command, hits);
	ab_toolbox_match(&ab_tools_containers, command, hits);
	ab_toolbox_match(&ab_tools_clouds, command, hits);
	ab_toolbox_match(&ab_tools_hosts, command, hits);
}
