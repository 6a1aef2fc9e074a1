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

static int serve_main(struct args *args, struct ab_error *err)
{
	return ab_mcp_serve(&args->input, err);
}

static const struct command subs[] = {
	{ "mcp serve", "[OPTIONS]",
	  "serve the tools run, check, why and log on standard input and output",
	  OPTION_GROUPS({ "Policy", options_policy }), .main = serve_main },
	/* "mcp wrap FILE"; everything else is the server's. */
	{ "mcp wrap", "[OPTIONS] FILE", "make the MCP servers of a settings file run in boxes",
	  OPTION_GROUPS({ NULL, options_wrap }, { "Policy", options_policy }), .words = { 1, 1 },
	  .main = wrap_main },
	{ 0 },
};

/* Without a subcommand: the server, as most clients are configured. */
const struct command command_mcp = {
	.name = "mcp",
	.usage = "[serve | wrap]",
	.summary = "let any agent use the box over the Model Context Protocol",
	.groups = groups_common,
	.subs = subs,
	.main = serve_main,
};
