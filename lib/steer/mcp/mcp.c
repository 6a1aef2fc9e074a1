#include "steer/mcp/mcp.h"

enum { INVALID_JSON = -32700, INVALID_REQUEST = -32600, NO_METHOD = -32601, BAD_PARAMS = -32602 };

/* Newest first. */
static const char *const versions[] = { "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05" };

enum type { TEXT, NUMBER };

struct argument {
	const char *name;
	enum type type;
	bool required;
	const char *doc;
};

static const struct tool {
	const char *name, *title, *doc;
	struct argument arguments[4];
} tools[] = {
	{ "run",
	  "Run a command in the sandbox",
	  "Run a shell command in the agentbox sandbox: the workspace is writable, hosts are "
	  "filtered, credentials are hidden. Returns its output, its exit status and what was "
	  "denied. Commands that need approval are refused; a human approves them.",
	  { { "command", TEXT, true, "The text for the shell." },
	    { "cwd", TEXT, false, "A folder in the workspace; default: the workspace." },
	    { "timeout_seconds", NUMBER, false,
	      "End the command after this time; the user's own limit stays." } } },
	{ "check",
	  "Judge a command without running it",
	  "Show how the policy would judge a shell command: allow, sandboxed, escalated (needs "
	  "approval) or forbidden, with the rule and the part that decided.",
	  { { "command", TEXT, true, "The text for the shell." } } },
	{ "why",
	  "Explain a denial",
	  "Explain why something was denied and what a human can do to allow it.",
	  { { "what", TEXT, false,
	      "The id of a denial (7kq2x-1), a run, or a variable; default: the last denial." } } },
	{ "log",
	  "What a run did",
	  "Show the record of a run: connections, denials, its end.",
	  { { "run", TEXT, false, "The id or name of a run; default: the latest." },
	    { "lines", NUMBER, false, "How many of its last lines; default: 100." } } },
};

static json_t *make_schema(const struct tool *t)
{
	json_t *properties = json_object(), *required = json_array();

	for (size_t i = 0; i < AB_COUNT(t->arguments) && t->arguments[i].name; i++) {
		const struct argument *a = &t->arguments[i];

		json_object_set_new(properties, a->name,
				    json_pack("{s:s, s:s}", "type",
					      a->type == TEXT ? "string" : "integer", "description",
					      a->doc));
		if (a->required)
			json_array_append_new(required, json_string(a->name));
	}
	return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties,
			 "required", required, "additionalProperties", 0);
}

static json_t *list_tools(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < AB_COUNT(tools); i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o, s:{s:b}}", "name",
						      tools[i].name, "title", tools[i].title,
						      "description", tools[i].doc, "inputSchema",
						      make_schema(&tools[i]), "annotations",
						      "readOnlyHint", i > 0));
	return json_pack("{s:o}", "tools", list);
}

static json_t *start_session(json_t *params)
{
	const char *wanted = json_string_value(json_object_get(params, "protocolVersion"));
	bool known = ab_has_word(versions, AB_COUNT(versions), wanted);

	return json_pack("{s:s, s:{s:{}}, s:{s:s, s:s}, s:s}", "protocolVersion",
			 known ? wanted : versions[0], "capabilities", "tools", "serverInfo",
			 "name", "agentbox", "version", AB_VERSION, "instructions",
			 "Use the tool run for commands: they run in a sandbox. If something is "
			 "denied, tell the user what to allow; do not try to get around it.");
}

static const struct argument *find_argument(const struct tool *t, const char *name)
{
	for (size_t i = 0; i < AB_COUNT(t->arguments) && t->arguments[i].name; i++)
		if (strcmp(t->arguments[i].name, name) == 0)
			return &t->arguments[i];
	return NULL;
}

/* NULL, or what is wrong with them. */
static const char *check_arguments(const struct tool *t, json_t *arguments)
{
	const char *name;
	json_t *value;

	if (arguments && !json_is_object(arguments))
		return "arguments must be an object";
	json_object_foreach(arguments, name, value)
	{
		const struct argument *a = find_argument(t, name);

		if (!a)
			return "unknown argument";
		if (a->type == TEXT ? !json_is_string(value) : !json_is_integer(value))
			return "an argument has the wrong type";
		if (a->type == TEXT &&
		    strlen(json_string_value(value)) != json_string_length(value))
			return "an argument contains a NUL";
	}
	for (size_t i = 0; i < AB_COUNT(t->arguments) && t->arguments[i].name; i++)
		if (t->arguments[i].required && !json_object_get(arguments, t->arguments[i].name))
			return "a required argument is missing";
	return NULL;
}

static json_t *call_tool(const struct ab_mcp_host *host, json_t *params, const char **ret_wrong)
{
	const char *name = json_string_value(json_object_get(params, "name"));
	json_t *arguments = json_object_get(params, "arguments"), *result;
	struct ab_mcp_result r = { 0 };
	const struct tool *t = name ? ab_find_row(tools, AB_COUNT(tools), name, name) : NULL;

	*ret_wrong = t ? check_arguments(t, arguments) : "unknown tool";
	if (*ret_wrong)
		return NULL;
	host->call(host->arg, t->name, arguments, &r);
	result = json_pack("{s:[{s:s, s:s}], s:b}", "content", "type", "text", "text",
			   r.text ? r.text : "", "isError", r.failed);
	if (r.structured)
		json_object_set_new(result, "structuredContent", r.structured);
	free(r.text);
	return result;
}

static json_t *answer_method(const struct ab_mcp_host *host, const char *method, json_t *params,
			     int *ret_code, const char **ret_wrong)
{
	if (strcmp(method, "initialize") == 0)
		return start_session(params);
	if (strcmp(method, "ping") == 0)
		return json_object();
	if (strcmp(method, "tools/list") == 0)
		return list_tools();
	if (strcmp(method, "tools/call") == 0) {
		*ret_code = BAD_PARAMS;
		return call_tool(host, params, ret_wrong);
	}
	*ret_code = NO_METHOD;
	*ret_wrong = "unknown method";
	return NULL;
}

static char *write_reply(json_t *id, json_t *result, int code, const char *wrong)
{
	json_auto_t *reply =
		json_pack("{s:s, s:O?}", "jsonrpc", "2.0", "id", id ? id : json_null());
	char *text;

	if (result)
		json_object_set_new(reply, "result", result);
	else
		json_object_set_new(reply, "error",
				    json_pack("{s:i, s:s}", "code", code, "message", wrong));
	text = json_dumps(reply, JSON_COMPACT);
	if (!text)
		abort();
	return text;
}

static char *answer_message(const struct ab_mcp_host *host, json_t *message)
{
	const char *method = json_string_value(json_object_get(message, "method"));
	const char *version = json_string_value(json_object_get(message, "jsonrpc"));
	json_t *id = json_object_get(message, "id"), *result;
	const char *wrong = NULL;
	int code = 0;

	if (!json_is_object(message) || !version || strcmp(version, "2.0") != 0 ||
	    (id && !json_is_string(id) && !json_is_integer(id)))
		return write_reply(NULL, NULL, INVALID_REQUEST, "not a JSON-RPC 2.0 request");
	/* We send no requests, so a message without a method answers nothing. */
	if (!method)
		return id ? write_reply(id, NULL, INVALID_REQUEST, "no method") : NULL;
	if (!id)
		return NULL;
	result = answer_method(host, method, json_object_get(message, "params"), &code, &wrong);
	return write_reply(id, result, code, wrong);
}

char *ab_mcp_answer(const struct ab_mcp_host *host, const char *line, size_t len)
{
	json_error_t why;
	json_auto_t *message = NULL;

	if (len > AB_MCP_LINE_MAX)
		return write_reply(NULL, NULL, INVALID_REQUEST, "the message is too long");
	message = json_loadb(line, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
	if (!message)
		return write_reply(NULL, NULL, INVALID_JSON, "the message is not JSON");
	return answer_message(host, message);
}
