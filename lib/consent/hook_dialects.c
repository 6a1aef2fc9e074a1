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
	json_t *input = command ? json_copy(event->input) : NULL;

	json_object_set_new(input, "command", json_string(command));
	return input;
}

/* The answer to a request for permission. */
static json_t *make_behavior(const struct ab_hook_answer *answer)
{
	bool denied = answer->verdict == AB_HOOK_DENY;

	return json_pack("{s:s, s:o*}", "behavior", verdict_names[answer->verdict], "message",
			 denied ? json_string(answer->reason) : NULL);
}

static json_t *make_claude(const struct ab_hook_event *event, const struct ab_hook_answer *answer)
{
	json_t *input = replace_command(event, answer->command);

	if (event->permission)
		return json_pack("{s:s, s:o, s:o*}", "hookEventName", "PermissionRequest",
				 "decision", make_behavior(answer), "updatedInput", input);
	return json_pack("{s:s, s:s, s:o*, s:o*}", "hookEventName", "PreToolUse",
			 "permissionDecision", verdict_names[answer->verdict],
			 "permissionDecisionReason", json_string(answer->reason), "updatedInput",
			 input);
}

/* The agent merges it into the tool's arguments. */
static json_t *make_gemini_input(const char *command)
{
	return command ? json_pack("{s:{s:s}}", "tool_input", "command", command) : NULL;
}

/* A member that is NULL is left out, as is a reason that is not UTF-8. */
json_t *ab_hook_write(const struct ab_hook_dialect *dialect, const struct ab_hook_event *event,
		      const struct ab_hook_answer *answer)
{
	const char *verdict = verdict_names[answer->verdict], *reason = answer->reason;

	switch (dialect->form) {
	case AB_HOOK_FORM_STATUS:
		break;
	case AB_HOOK_FORM_CLAUDE:
		return json_pack("{s:o}", "hookSpecificOutput", make_claude(event, answer));
	case AB_HOOK_FORM_GEMINI:
		return json_pack("{s:s, s:o*, s:o*}", "decision", verdict, "reason",
				 json_string(reason), "hookSpecificOutput",
				 make_gemini_input(answer->command));
	case AB_HOOK_FORM_CURSOR:
		return json_pack("{s:s, s:o*, s:o*}", "permission", verdict, "user_message",
				 json_string(reason), "agent_message", json_string(reason));
	case AB_HOOK_FORM_COPILOT:
		if (event->permission)
			return make_behavior(answer);
		return json_pack("{s:s, s:o*, s:o*}", "permissionDecision", verdict,
				 "permissionDecisionReason", json_string(reason), "modifiedArgs",
				 replace_command(event, answer->command));
	}
	return NULL;
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
