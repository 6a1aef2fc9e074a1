#include "consent/hook_dialects.h"

#include <string.h>

#include "base/data/error.h"
#include "tap.h"

static const struct {
	const char *agent, *event;
	int result; /* of reading it */
	bool about;
	enum ab_hook_subject subject;
	const char *what; /* the command, or the paths, joined by "|" */
} cases[] = {
	{ "claude",
	  "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\","
	  "\"tool_input\":{\"command\":\"ls\"}}",
	  0, true, AB_HOOK_COMMAND, "ls" },
	{ "claude-code",
	  "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Edit\","
	  "\"tool_input\":{\"file_path\":\"a b\"}}",
	  0, true, AB_HOOK_WRITE, "a b" },
	{ "claude",
	  "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Glob\","
	  "\"tool_input\":{\"pattern\":\"*\"}}",
	  0, true, AB_HOOK_READ, "." },
	{ "claude", "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"mcp__a__b\"}", 0, true,
	  AB_HOOK_TOOL, "" },
	{ "claude", "{\"hook_event_name\":\"Stop\"}", 0, false, AB_HOOK_TOOL, "" },
	{ "claude",
	  "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Write\","
	  "\"tool_input\":{}}",
	  -1, false, 0, NULL },
	{ "claude", "{\"hook_event_name\":\"PreToolUse\"}", -1, false, 0, NULL },
	{ "claude", "{\"hook_event_name\":7,\"tool_name\":\"Bash\"}", -1, false, 0, NULL },
	{ "claude", "{}", -1, false, 0, NULL },
	{ "codex",
	  "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"apply_patch\",\"tool_input\":"
	  "{\"command\":\"*** Begin Patch\\n*** Add File: a\\n+*** Add File: no\\n"
	  "*** Update File: b\\r\\n*** Move to: c\\n  *** Delete File: d\\n*** End Patch\"}}",
	  0, true, AB_HOOK_PATCH, "a|b|c|d" },
	{ "codex",
	  "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"apply_patch\",\"tool_input\":"
	  "{\"command\":\"nothing\"}}",
	  -1, false, 0, NULL },
	{ "copilot", "{\"toolName\":\"bash\",\"toolArgs\":\"{\\\"command\\\":\\\"ls\\\"}\"}", 0,
	  true, AB_HOOK_COMMAND, "ls" },
	{ "copilot",
	  "{\"hookName\":\"permissionRequest\",\"toolName\":\"bash\","
	  "\"toolInput\":{\"command\":\"ls\"}}",
	  0, true, AB_HOOK_COMMAND, "ls" },
	{ "copilot", "{\"hookName\":\"sessionStart\"}", 0, false, AB_HOOK_TOOL, "" },
	{ "copilot", "{\"toolName\":\"grep\",\"toolArgs\":{\"paths\":[\"a\",\"b\"]}}", 0, true,
	  AB_HOOK_READ, "a|b" },
	{ "copilot", "{\"toolName\":\"grep\",\"toolArgs\":{\"paths\":[\"a\",7]}}", -1, false, 0,
	  NULL },
	{ "cursor", "{\"hook_event_name\":\"beforeMCPExecution\",\"tool_name\":\"x\"}", 0, true,
	  AB_HOOK_TOOL, "" },
	{ "windsurf",
	  "{\"agent_action_name\":\"pre_mcp_tool_use\",\"tool_info\":"
	  "{\"mcp_server_name\":\"s\",\"mcp_tool_name\":\"t\"}}",
	  0, true, AB_HOOK_TOOL, "" },
	{ "windsurf", "{\"agent_action_name\":\"pre_mcp_tool_use\",\"tool_info\":{}}", -1, false, 0,
	  NULL },
};

static void test_cases(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ab_error err = { 0 };
		struct ab_hook_event e;
		char what[256] = "";
		int r = ab_hook_read(ab_hook_find(cases[i].agent), cases[i].event,
				     strlen(cases[i].event), &e, &err);

		ok(r == cases[i].result, "%s: %s", cases[i].agent, cases[i].event);
		if (r < 0) {
			ok(err.text[0], "and says why");
			continue;
		}
		for (size_t k = 0; k < e.paths.len; k++) {
			strcat(what, k ? "|" : "");
			strcat(what, e.paths.v[k]);
		}
		ok(e.about == cases[i].about && (!e.about || e.subject == cases[i].subject),
		   "its subject");
		is_str(e.command ? e.command : what, cases[i].what, "and what it is about");
		ab_hook_event_fini(&e);
	}
}

/* Every event, cut at each byte, is an error: nothing is answered by half of it. */
static void test_cut(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t read = 0;

		for (size_t n = 0; n < strlen(cases[i].event); n++) {
			struct ab_error err = { 0 };
			struct ab_hook_event e;

			if (ab_hook_read(ab_hook_find(cases[i].agent), cases[i].event, n, &e,
					 &err) == 0) {
				ab_hook_event_fini(&e);
				read++;
			}
		}
		ok(read == 0, "case %zu: no part of it is an event", i);
	}
}

static void test_table(void)
{
	for (size_t i = 0; ab_hook_at(i); i++) {
		const struct ab_hook_dialect *d = ab_hook_at(i);
		size_t commands = 0;

		for (size_t k = 0; k < d->ntools; k++)
			commands += d->tools[k].subject == AB_HOOK_COMMAND;
		ok(commands == 1, "%s has one tool for commands", d->agent);
		ok(d->settings && d->project_settings && d->installed[0], "and can be installed");
		ok(i == 0 || strcmp(ab_hook_at(i - 1)->agent, d->agent) < 0, "in order");
	}
	ok(ab_hook_find("claude") == ab_hook_find("claude-code"), "both names");
	ok(!ab_hook_find("nobody"), "and no other");
}

int main(void)
{
	test_cases();
	test_cut();
	test_table();
	return done();
}
