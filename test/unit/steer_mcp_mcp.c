#include "steer/mcp/mcp.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/mem.h"
#include "tap.h"

static char called[64];

static void call(void *arg, const char *tool, json_t *arguments, struct ab_mcp_result *ret)
{
	(void)arg;
	(void)arguments;
	snprintf(called, sizeof(called), "%s", tool);
	ret->text = ab_strdup("done");
}

static const struct ab_mcp_host host = { call, NULL };

#define ASK(rest) "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":" rest "}"
#define CALL(rest) ASK("\"tools/call\",\"params\":{" rest "}")

static const struct {
	const char *line, *reply; /* a part of it; NULL: no reply */
	const char *calls;
} cases[] = {
	{ ASK("\"initialize\",\"params\":{\"protocolVersion\":\"2024-11-05\"}"),
	  "\"protocolVersion\":\"2024-11-05\"", "" },
	{ ASK("\"initialize\",\"params\":{\"protocolVersion\":\"1999-01-01\"}"),
	  "\"protocolVersion\":\"2025-11-25\"", "" },
	{ ASK("\"initialize\""), "\"serverInfo\"", "" },
	{ ASK("\"ping\""), "\"result\":{}", "" },
	{ ASK("\"tools/list\""), "\"inputSchema\"", "" },
	{ ASK("\"resources/list\""), "-32601", "" },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", NULL, "" },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"log\"}}", NULL,
	  "" },
	{ "{\"jsonrpc\":\"2.0\",\"result\":{}}", NULL, "" },
	{ CALL("\"name\":\"log\""), "\"text\":\"done\"", "log" },
	{ CALL("\"name\":\"run\",\"arguments\":{\"command\":\"ls\"}"), "\"isError\":false", "run" },
	{ CALL("\"name\":\"run\",\"arguments\":{}"), "missing", "" },
	{ CALL("\"name\":\"run\",\"arguments\":{\"command\":7}"), "wrong type", "" },
	{ CALL("\"name\":\"run\",\"arguments\":{\"command\":\"a\\u0000b\"}"), "NUL", "" },
	{ CALL("\"name\":\"run\",\"arguments\":{\"command\":\"ls\",\"yes\":true}"),
	  "unknown argument", "" },
	{ CALL("\"name\":\"run\",\"arguments\":[]"), "must be an object", "" },
	{ CALL("\"name\":\"stop\""), "unknown tool", "" },
	{ CALL("\"arguments\":{}"), "unknown tool", "" },
	{ "{\"id\":1,\"method\":\"ping\"}", "-32600", "" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", "-32600", "" },
	{ "[]", "-32600", "" },
	{ "", "-32700", "" },
	{ "{", "-32700", "" },
};

static void test_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autofree char *reply = NULL;

		called[0] = '\0';
		reply = ab_mcp_answer(&host, cases[i].line, strlen(cases[i].line));
		ok(cases[i].reply ? reply && strstr(reply, cases[i].reply) : !reply, "%s",
		   cases[i].line);
		is_str(called, cases[i].calls, "and the tool");
	}
}

/* No part of a message calls anything. */
static void test_cut(void)
{
	const char *line = CALL("\"name\":\"run\",\"arguments\":{\"command\":\"ls\"}");

	called[0] = '\0';
	for (size_t n = 0; n < strlen(line); n++)
		free(ab_mcp_answer(&host, line, n));
	is_str(called, "", "nothing was called");
}

int main(void)
{
	test_cases();
	test_cut();
	return done();
}
