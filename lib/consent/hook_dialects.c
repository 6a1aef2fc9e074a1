/*
 * The answers that each agent understands; their dialects are in lib/agents. If an agent's
 * hooks can only deny, a command that needs approval is denied, and the reason
 * says how to approve it.
 */
#include "consent/hook_dialects.h"

#include "agents/agents.h"
#include "consent/agent_hook.h"

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

static void write_gemini(const struct ab_hook_answer *answer, json_t *out)
{
	json_object_set_new(out, "decision", json_string(verdict_names[answer->verdict]));
	json_object_set_new(out, "reason", json_string(answer->reason));
	/* The agent merges this into the tool's arguments. */
	if (answer->command)
		json_object_set_new(out, "hookSpecificOutput",
				    json_pack("{s:{s:s}}", "tool_input", "command",
					      answer->command));
}

static void write_cursor(const struct ab_hook_answer *answer, json_t *out)
{
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

void ab_hook_write(const struct ab_hook_dialect *dialect, const struct ab_hook_event *event,
		   const struct ab_hook_answer *answer, json_t *out)
{
	switch (dialect->form) {
	case AB_HOOK_FORM_STATUS:
		return;
	case AB_HOOK_FORM_CLAUDE:
		write_claude(event, answer, out);
		return;
	case AB_HOOK_FORM_GEMINI:
		write_gemini(answer, out);
		return;
	case AB_HOOK_FORM_CURSOR:
		write_cursor(answer, out);
		return;
	case AB_HOOK_FORM_COPILOT:
		write_copilot(event, answer, out);
		return;
	}
}

const struct ab_hook_dialect *ab_hook_at(size_t index)
{
	for (size_t i = 0; ab_agents[i]; i++)
		if (ab_agents[i]->hook && !index--)
			return ab_agents[i]->hook;
	return NULL;
}

const struct ab_hook_dialect *ab_hook_find(const char *agent)
{
	const struct ab_hook_dialect *d;

	for (size_t i = 0; (d = ab_hook_at(i)); i++)
		if (strcmp(d->agent, agent) == 0 || (d->also && strcmp(d->also, agent) == 0))
			return d;
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
	const struct ab_hook_dialect *d;

	for (size_t i = 0; (d = ab_hook_at(i)); i++)
		ab_buf_printf(&names, "%s%s", i ? ", " : "", d->agent);
	return ab_fail(err, AB_EUSAGE, 0, "unknown agent '%s'; supported: %s", agent, names.data);
}
