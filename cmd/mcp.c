#include "cmd.h"

static const struct option options_wrap[] = {
	FLAG("undo", 0, "restore the servers' own commands"),
	FLAG("yes", 'y', "write without asking"),
	{ 0 },
};

static int wrap_main(struct args *args, struct ab_error *err)
{
	ab_autostrv struct ab_strv options = { 0 }, notes = { 0 };
	struct ab_mcp_wrap wrap = { .undo = given(args, "undo"), .policy = &args->input };
	ab_auto(ab_hook_plan_fini) struct ab_hook_plan plan = { 0 };

	collect_policy_options(args, &options);
	wrap.path = args->rest[0];
	wrap.options = (const char *const *)options.v;
	wrap.noptions = options.len;
	if (ab_mcp_wrap_plan(&wrap, &plan, &notes, err) < 0)
		return -1;
	tell_notes(&notes);
	return apply_plan(
		args, &plan, "written; takes effect when the agent restarts",
		wrap.undo ? "has no server that runs in a box" : "has no server left to wrap", err);
}

/* "mcp wrap FILE"; everything else is the server's. */
static const struct command mcp_wrap = {
	.name = "mcp wrap",
	.usage = "[OPTIONS] FILE",
	.summary = "make the MCP servers of a settings file run in boxes",
	.groups = OPTION_GROUPS({ NULL, options_wrap }, { "Policy", options_policy }),
	.words = { 1, 1 },
	.main = wrap_main,
};

static int serve_main(struct args *args, struct ab_error *err)
{
	return ab_mcp_serve(&args->input, err);
}

static const struct command mcp_serve = {
	.name = "mcp serve",
	.usage = "[OPTIONS]",
	.summary = "serve the tools run, check, why and log on standard input and output",
	.groups = OPTION_GROUPS({ "Policy", options_policy }),
	.main = serve_main,
};

/* Without a subcommand: the server, as most clients are configured. */
const struct command command_mcp = {
	.name = "mcp",
	.usage = "[serve | wrap]",
	.summary = "let any agent use the box over the Model Context Protocol",
	.groups = groups_common,
	.subs = SUBS(&mcp_serve, &mcp_wrap),
	.main = serve_main,
};
