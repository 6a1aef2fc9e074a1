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

/* {"hookSpecificOutput": {"permissionDecision": ..., "updatedInput": ...}} */
static void write_claude(const struct ab_hook_event *event, const struct ab_hook_answer *answer,
			 json_t *out)
{
	json_t *own = json_pack("{s:s, s:s, s:s}", "hookEventName", "PreToolUse",
				"permissionDecision", verdict_names[answer->verdict],
				"permissionDecisionReason", answer->reason);

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
	(void)event;
	json_object_set_new(out, "permissionDecision", json_string(verdict_names[answer->verdict]));
	json_object_set_new(out, "permissionDecisionReason", json_string(answer->reason));
}

/* The member `name` of an object, created if missing. */
static json_t *get_or_add(json_t *object, const char *name, json_t *(*make)(void))
{
	json_t *found = json_object_get(object, name);
	json_t *made;

	if (found)
		return found;
	made = make();
	json_object_set_new(object, name, made);
	return made;
}

static bool runs_command(json_t *hook, const char *command)
{
	const char *has = json_string_value(json_object_get(hook, "command"));

	return has && strcmp(has, command) == 0;
}

/* {"hooks": {EVENT: [{"matcher": TOOL, "hooks": [{"type", "command"}]}]}} */
static bool install_matched(json_t *settings, const char *event, const char *tool,
			    const char *command)
{
	json_t *list = get_or_add(get_or_add(settings, "hooks", json_object), event, json_array);
	json_t *group, *hook;
	size_t i, j;

	json_array_foreach(list, i, group)
		json_array_foreach(json_object_get(group, "hooks"), j,
				   hook) if (runs_command(hook, command)) return false;
	json_array_append_new(list, json_pack("{s:s, s:[{s:s, s:s}]}", "matcher", tool, "hooks",
					      "type", "command", "command", command));
	return true;
}

static bool install_claude(json_t *settings, const char *command)
{
	return install_matched(settings, "PreToolUse", "Bash", command);
}

static bool install_gemini(json_t *settings, const char *command)
{
	return install_matched(settings, "BeforeTool", "run_shell_command", command);
}

/* {"version": 1, "hooks": {EVENT: [{"command"}]}} */
static bool install_listed(json_t *settings, const char *event, const char *command)
{
	json_t *list = get_or_add(get_or_add(settings, "hooks", json_object), event, json_array);
	json_t *hook;
	size_t i;

	json_array_foreach(list, i, hook) if (runs_command(hook, command)) return false;
	json_array_append_new(list, json_pack("{s:s}", "command", command));
	return true;
}

static bool install_cursor(json_t *settings, const char *command)
{
	if (!json_object_get(settings, "version"))
		json_object_set_new(settings, "version", json_integer(1));
	return install_listed(settings, "beforeShellExecution", command);
}

static bool install_windsurf(json_t *settings, const char *command)
{
	return install_listed(settings, "pre_run_command", command);
}

/* Sorted by name. */
const struct ab_hook_dialect ab_hook_dialects[] = {
	{
		.agent = "claude-code",
		.title = "Claude Code",
		.event = "hook_event_name",
		.event_name = "PreToolUse",
		.tool = "tool_name",
		.tools = "Bash",
		.input = "tool_input",
		.command = "command",
		.cwd = "cwd",
		.session = "session_id",
		.allows = true,
		.asks = true,
		.rewrites = true,
		.write = write_claude,
		.settings = ".claude/settings.json",
		.project_settings = ".claude/settings.json",
		.install = install_claude,
	},
	{
		.agent = "codex",
		.title = "Codex CLI",
		.event = "hook_event_name",
		.event_name = "PreToolUse",
		.tool = "tool_name",
		.tools = "Bash",
		.input = "tool_input",
		.command = "command",
		.cwd = "cwd",
		.session = "session_id",
		.write = write_claude,
		.settings = ".codex/hooks.json",
		.project_settings = ".codex/hooks.json",
		.install = install_claude,
	},
	{
		.agent = "copilot",
		.title = "Copilot CLI",
		.tool = "toolName",
		.tools = "bash",
		.input = "toolArgs",
		.packed = true,
		.command = "command",
		.cwd = "cwd",
		.session = "sessionId",
		.write = write_copilot,
	},
	{
		.agent = "cursor",
		.title = "Cursor",
		.event = "hook_event_name",
		.event_name = "beforeShellExecution",
		.command = "command",
		.cwd = "cwd",
		.session = "conversation_id",
		.allows = true,
		.asks = true,
		.write = write_cursor,
		.settings = ".cursor/hooks.json",
		.project_settings = ".cursor/hooks.json",
		.install = install_cursor,
	},
	{
		.agent = "gemini",
		.title = "Gemini CLI",
		.event = "hook_event_name",
		.event_name = "BeforeTool",
		.tool = "tool_name",
		.tools = "run_shell_command",
		.input = "tool_input",
		.command = "command",
		.cwd = "cwd",
		.session = "session_id",
		.allows = true,
		.rewrites = true,
		.write = write_gemini,
		.settings = ".gemini/settings.json",
		.project_settings = ".gemini/settings.json",
		.install = install_gemini,
	},
	{
		.agent = "windsurf",
		.title = "Windsurf",
		.event = "agent_action_name",
		.event_name = "pre_run_command",
		.input = "tool_info",
		.command = "command_line",
		.cwd = "tool_info.cwd",
		.session = "trajectory_id",
		.settings = ".codeium/windsurf/hooks.json",
		.project_settings = ".windsurf/hooks.json",
		.install = install_windsurf,
	},
};

const size_t ab_hook_dialect_count = AB_COUNT(ab_hook_dialects);

const struct ab_hook_dialect *ab_hook_find(const char *agent)
{
	for (size_t i = 0; i < ab_hook_dialect_count; i++)
		if (strcmp(ab_hook_dialects[i].agent, agent) == 0)
			return &ab_hook_dialects[i];
	return NULL;
}

int ab_hook_refuse_agent(const char *agent, bool install, struct ab_error *err)
{
	ab_autobuf struct ab_buf names = { 0 };

	for (size_t i = 0; i < ab_hook_dialect_count; i++)
		if (!install || ab_hook_dialects[i].install)
			ab_buf_printf(&names, "%s%s", i ? ", " : "", ab_hook_dialects[i].agent);
	return ab_fail(err, AB_EUSAGE, 0,
		       ab_hook_find(agent) ? "cannot install a hook for %s; supported: %s"
					   : "unknown agent '%s'; supported: %s",
		       agent, names.data);
}
