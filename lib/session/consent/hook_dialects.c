/*
 * The supported agents and the answers that each understands. If an agent's
 * hooks can only deny, a command that needs approval is denied, and the reason
 * says how to approve it.
 */
#include "session/consent/hook_dialects.h"

#include <string.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "session/consent/agent_hook.h"

static const char *const verdict_names[] = {
	[AB_HOOK_NOTHING] = "",
	[AB_HOOK_ALLOW] = "allow",
	[AB_HOOK_ASK] = "ask",
	[AB_HOOK_DENY] = "deny",
};

static json_t *replace_command(const struct ab_hook_event *event, const char *command)
{
	json_t *input = json_copy(event->input);

	json_object_set_new(input, "command", json_string(command));
	return input;
}

/* The answer to a request for permission: {"behavior": ..., "message": ...} */
static json_t *make_behavior(const struct ab_hook_answer *answer)
{
	json_t *decision = json_pack("{s:s}", "behavior", verdict_names[answer->verdict]);

	if (answer->verdict == AB_HOOK_DENY)
		json_object_set_new(decision, "message", json_string(answer->reason));
	return decision;
}

/* {"hookSpecificOutput": {"permissionDecision": ..., "updatedInput": ...}} */
static void write_claude(const struct ab_hook_event *event, const struct ab_hook_answer *answer,
			 json_t *out)
{
	json_t *own;

	if (event->permission) {
		own = json_pack("{s:s}", "hookEventName", "PermissionRequest");
		json_object_set_new(own, "decision", make_behavior(answer));
	} else {
		own = json_pack("{s:s, s:s, s:s}", "hookEventName", "PreToolUse",
				"permissionDecision", verdict_names[answer->verdict],
				"permissionDecisionReason", answer->reason);
	}
	if (answer->command)
		json_object_set_new(own, "updatedInput", replace_command(event, answer->command));
	json_object_set_new(out, "hookSpecificOutput", own);
}

static void write_gemini(const struct ab_hook_event *event, const struct ab_hook_answer *answer,
			 json_t *out)
{
	(void)event;
	json_object_set_new(out, "decision", json_string(verdict_names[answer->verdict]));
	json_object_set_new(out, "reason", json_string(answer->reason));
	/* The agent merges this into the tool's arguments. */
	if (answer->command)
		json_object_set_new(out, "hookSpecificOutput",
				    json_pack("{s:{s:s}}", "tool_input", "command",
					      answer->command));
}

static void write_cursor(const struct ab_hook_event *event, const struct ab_hook_answer *answer,
			 json_t *out)
{
	(void)event;
	json_object_set_new(out, "permission", json_string(verdict_names[answer->verdict]));
	json_object_set_new(out, "user_message", json_string(answer->reason));
	json_object_set_new(out, "agent_message", json_string(answer->reason));
}

static void write_copilot(const struct ab_hook_event *event, const struct ab_hook_answer *answer,
			  json_t *out)
{
	if (event->permission) {
		json_t *decision = make_behavior(answer);

		json_object_update(out, decision);
		json_decref(decision);
		return;
	}
	json_object_set_new(out, "permissionDecision", json_string(verdict_names[answer->verdict]));
	json_object_set_new(out, "permissionDecisionReason", json_string(answer->reason));
	if (answer->command)
		json_object_set_new(out, "modifiedArgs", replace_command(event, answer->command));
}

static const struct ab_hook_tool claude_tools[] = {
	{ NULL, "Bash", AB_HOOK_COMMAND, "command", false, NULL },
	{ NULL, "Read", AB_HOOK_READ, "file_path", false, NULL },
	{ NULL, "NotebookRead", AB_HOOK_READ, "notebook_path", false, NULL },
	{ NULL, "Grep", AB_HOOK_READ, "path", true, NULL },
	{ NULL, "Glob", AB_HOOK_READ, "path", true, "pattern" },
	{ NULL, "LS", AB_HOOK_READ, "path", true, NULL },
	{ NULL, "Write", AB_HOOK_WRITE, "file_path", false, NULL },
	{ NULL, "Edit", AB_HOOK_WRITE, "file_path", false, NULL },
	{ NULL, "MultiEdit", AB_HOOK_WRITE, "file_path", false, NULL },
	{ NULL, "NotebookEdit", AB_HOOK_WRITE, "notebook_path", false, NULL },
};

static const struct ab_hook_tool codex_tools[] = {
	{ NULL, "Bash", AB_HOOK_COMMAND, "command", false, NULL },
	{ NULL, "apply_patch", AB_HOOK_PATCH, "command", false, NULL },
	{ NULL, "view_image", AB_HOOK_READ, "path", true, NULL },
};

static const struct ab_hook_tool copilot_tools[] = {
	{ NULL, "bash", AB_HOOK_COMMAND, "command", false, NULL },
	{ NULL, "view", AB_HOOK_READ, "path", false, NULL },
	{ NULL, "create", AB_HOOK_WRITE, "path", false, NULL },
	{ NULL, "edit", AB_HOOK_WRITE, "path", false, NULL },
	{ NULL, "grep", AB_HOOK_READ, "paths", true, NULL },
	{ NULL, "glob", AB_HOOK_READ, "paths", true, "pattern" },
};

static const struct ab_hook_tool cursor_tools[] = {
	{ "beforeShellExecution", NULL, AB_HOOK_COMMAND, "command", false, NULL },
	{ "beforeReadFile", NULL, AB_HOOK_READ, "file_path", false, NULL },
};

static const struct ab_hook_tool gemini_tools[] = {
	{ NULL, "run_shell_command", AB_HOOK_COMMAND, "command", false, NULL },
	{ NULL, "read_file", AB_HOOK_READ, "file_path", false, NULL },
	{ NULL, "list_directory", AB_HOOK_READ, "dir_path", true, NULL },
	{ NULL, "grep_search", AB_HOOK_READ, "dir_path", true, NULL },
	{ NULL, "glob", AB_HOOK_READ, "dir_path", true, "pattern" },
	{ NULL, "write_file", AB_HOOK_WRITE, "file_path", false, NULL },
	{ NULL, "replace", AB_HOOK_WRITE, "file_path", false, NULL },
};

static const struct ab_hook_tool windsurf_tools[] = {
	{ "pre_run_command", NULL, AB_HOOK_COMMAND, "command_line", false, NULL },
	{ "pre_read_code", NULL, AB_HOOK_READ, "file_path", false, NULL },
	{ "pre_write_code", NULL, AB_HOOK_WRITE, "file_path", false, NULL },
};

#define TOOLS(list) .tools = (list), .ntools = AB_COUNT(list)

/* Sorted by name. */
const struct ab_hook_dialect ab_hook_dialects[] = {
	{
		.agent = "claude-code",
		.also = "claude",
		.title = "Claude Code",
		.event = "hook_event_name",
		.moments = { { "PreToolUse", false, "tool_input", false },
			     { "PermissionRequest", true, "tool_input", false } },
		.tool = "tool_name",
		TOOLS(claude_tools),
		.cwd = "cwd",
		.session = "session_id",
		.allows = true,
		.asks = true,
		.rewrites = true,
		.write = write_claude,
		.settings = ".claude/settings.json",
		.project_settings = ".claude/settings.json",
		.shape = AB_HOOK_SHAPE_MATCHED,
		.installed = { "PreToolUse", "PermissionRequest" },
	},
	{
		/* It ignores "ask", and "allow" for a command that stays as it is. */
		.agent = "codex",
		.title = "Codex CLI",
		.event = "hook_event_name",
		.moments = { { "PreToolUse", false, "tool_input", false },
			     { "PermissionRequest", true, "tool_input", false } },
		.tool = "tool_name",
		TOOLS(codex_tools),
		.cwd = "cwd",
		.session = "session_id",
		.rewrites = true,
		.write = write_claude,
		.settings = ".codex/hooks.json",
		.project_settings = ".codex/hooks.json",
		.shape = AB_HOOK_SHAPE_MATCHED,
		.installed = { "PreToolUse", "PermissionRequest" },
		.needs =
			"Codex runs a hook only after you have trusted it: start codex, open /hooks "
			"and trust the two hooks of agentbox. Until then codex ignores them without "
			"a message, in codex exec too.\n"
			"The box cannot start inside Codex's own sandbox: start codex with --sandbox "
			"danger-full-access, so that the box confines its commands instead.",
	},
	{
		/* A command that it asks about would run as it was, outside the box. */
		.agent = "copilot",
		.title = "Copilot CLI",
		.event = "hookName",
		.moments = { { NULL, false, "toolArgs", true },
			     { "permissionRequest", true, "toolInput", true } },
		.tool = "toolName",
		TOOLS(copilot_tools),
		.cwd = "cwd",
		.session = "sessionId",
		.rewrites = true,
		.write = write_copilot,
		.settings = ".copilot/hooks/agentbox.json",
		.project_settings = ".github/hooks/agentbox.json",
		.shape = AB_HOOK_SHAPE_TYPED,
		.versioned = true,
		.installed = { "preToolUse", "permissionRequest" },
	},
	{
		.agent = "cursor",
		.title = "Cursor",
		.event = "hook_event_name",
		.moments = { { "beforeShellExecution", false, NULL, false },
			     { "beforeMCPExecution", false, NULL, false },
			     { "beforeReadFile", false, NULL, false } },
		.tool = "tool_name",
		TOOLS(cursor_tools),
		.cwd = "cwd",
		.session = "conversation_id",
		.allows = true,
		.asks = true,
		.write = write_cursor,
		.settings = ".cursor/hooks.json",
		.project_settings = ".cursor/hooks.json",
		.shape = AB_HOOK_SHAPE_LISTED,
		.versioned = true,
		.installed = { "beforeShellExecution", "beforeMCPExecution", "beforeReadFile" },
	},
	{
		.agent = "gemini",
		.title = "Gemini CLI",
		.event = "hook_event_name",
		.moments = { { "BeforeTool", false, "tool_input", false } },
		.tool = "tool_name",
		TOOLS(gemini_tools),
		.cwd = "cwd",
		.session = "session_id",
		.allows = true,
		.rewrites = true,
		.write = write_gemini,
		.settings = ".gemini/settings.json",
		.project_settings = ".gemini/settings.json",
		.shape = AB_HOOK_SHAPE_MATCHED,
		.installed = { "BeforeTool" },
	},
	{
		.agent = "windsurf",
		.title = "Windsurf",
		.event = "agent_action_name",
		.moments = { { "pre_run_command", false, "tool_info", false },
			     { "pre_read_code", false, "tool_info", false },
			     { "pre_write_code", false, "tool_info", false },
			     { "pre_mcp_tool_use", false, "tool_info", false } },
		.server = "tool_info.mcp_server_name",
		.member = "tool_info.mcp_tool_name",
		TOOLS(windsurf_tools),
		.cwd = "tool_info.cwd",
		.session = "trajectory_id",
		.settings = ".codeium/windsurf/hooks.json",
		.project_settings = ".windsurf/hooks.json",
		.shape = AB_HOOK_SHAPE_LISTED,
		.installed = { "pre_run_command", "pre_read_code", "pre_write_code",
			       "pre_mcp_tool_use" },
	},
};

const size_t ab_hook_dialect_count = AB_COUNT(ab_hook_dialects);

const struct ab_hook_dialect *ab_hook_find(const char *agent)
{
	for (size_t i = 0; i < ab_hook_dialect_count; i++) {
		const struct ab_hook_dialect *d = &ab_hook_dialects[i];

		if (strcmp(d->agent, agent) == 0 || (d->also && strcmp(d->also, agent) == 0))
			return d;
	}
	return NULL;
}

const char *ab_hook_agent(const char *name)
{
	const struct ab_hook_dialect *d = ab_hook_find(name);

	return d ? d->agent : NULL;
}

int ab_hook_refuse_agent(const char *agent, struct ab_error *err)
{
	ab_autobuf struct ab_buf names = { 0 };

	for (size_t i = 0; i < ab_hook_dialect_count; i++)
		ab_buf_printf(&names, "%s%s", i ? ", " : "", ab_hook_dialects[i].agent);
	return ab_fail(err, AB_EUSAGE, 0, "unknown agent '%s'; supported: %s", agent, names.data);
}
