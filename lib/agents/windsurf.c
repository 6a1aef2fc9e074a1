#include "agents/hook_dialect.h"
#include "agents/list.h"

static const struct ab_hook_tool tools[] = {
	{ "pre_run_command", NULL, AB_HOOK_COMMAND, "command_line", false, NULL },
	{ "pre_read_code", NULL, AB_HOOK_READ, "file_path", false, NULL },
	{ "pre_write_code", NULL, AB_HOOK_WRITE, "file_path", false, NULL },
};

static const struct ab_hook_dialect hook = {
	.agent = "windsurf",
	.title = "Windsurf",
	.event = "agent_action_name",
	.moments = { { "pre_run_command", false, "tool_info", false },
		     { "pre_read_code", false, "tool_info", false },
		     { "pre_write_code", false, "tool_info", false },
		     { "pre_mcp_tool_use", false, "tool_info", false } },
	.server = "tool_info.mcp_server_name",
	.member = "tool_info.mcp_tool_name",
	AB_HOOK_TOOLS(tools),
	.cwd = "tool_info.cwd",
	.session = "trajectory_id",
	.form = AB_HOOK_FORM_STATUS,
	.settings = ".codeium/windsurf/hooks.json",
	.project_settings = ".windsurf/hooks.json",
	.shape = AB_HOOK_SHAPE_LISTED,
	.installed = { "pre_run_command", "pre_read_code", "pre_write_code", "pre_mcp_tool_use" },
};

const struct ab_agent ab_agent_windsurf = {
	.name = "windsurf",
	.program = "windsurf",
	.folder = ".codeium/windsurf",
	.obeys = { "Windsurf", .closed = ".windsurf", .reported = ".windsurfrules" },
	.hook = &hook,
};
