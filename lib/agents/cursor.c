#include "agents/hook_dialect.h"
#include "agents/list.h"

static const struct ab_hook_tool tools[] = {
	{ "beforeShellExecution", NULL, AB_HOOK_COMMAND, "command", false, NULL },
	{ "beforeReadFile", NULL, AB_HOOK_READ, "file_path", false, NULL },
};

static const struct ab_hook_dialect hook = {
	.agent = "cursor",
	.title = "Cursor",
	.event = "hook_event_name",
	.moments = { { "beforeShellExecution", false, NULL, false },
		     { "beforeMCPExecution", false, NULL, false },
		     { "beforeReadFile", false, NULL, false } },
	.tool = "tool_name",
	AB_HOOK_TOOLS(tools),
	.cwd = "cwd",
	.session = "conversation_id",
	.allows = true,
	.asks = true,
	.form = AB_HOOK_FORM_CURSOR,
	.settings = ".cursor/hooks.json",
	.project_settings = ".cursor/hooks.json",
	.shape = AB_HOOK_SHAPE_LISTED,
	.versioned = true,
	.installed = { "beforeShellExecution", "beforeMCPExecution", "beforeReadFile" },
};

const struct ab_agent ab_agent_cursor = {
	.name = "cursor",
	.program = "cursor-agent",
	.folder = ".cursor",
	.takes_prompt = true,
	.obeys = { "Cursor", .closed = ".cursor", .reported = ".cursorrules" },
	.hook = &hook,
};
