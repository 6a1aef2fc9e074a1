#pragma once
/*
 * A server of the Model Context Protocol: JSON-RPC 2.0, one message per line.
 *
 * Requests come from an agent and are hostile: bounded, read strictly, and answered
 * one after the other. The tools do what the commands of the same names do, under
 * the policy of the folder and the options with which the server was started. No
 * request can widen that policy or approve a command.
 */
#include <jansson.h>

#include "base/base.h"

struct ab_policy_input;

enum {
	AB_MCP_LINE_MAX = 4 << 20,   /* bytes of a message */
	AB_MCP_TEXT_MAX = 256 << 10, /* bytes of a text in a result */
};

struct ab_mcp_result {
	char *text;	    /* UTF-8 */
	json_t *structured; /* an object, or NULL */
	bool failed;	    /* the tool could not do it; `text` says why */
};

/* A tool: its arguments are checked against the table already. */
struct ab_mcp_host {
	void (*call)(void *arg, const char *tool, json_t *arguments, struct ab_mcp_result *ret);
	void *arg;
};

/* The reply to one message, without a newline; NULL: none is due. Free it. */
char *ab_mcp_answer(const struct ab_mcp_host *host, const char *line, size_t len);

/* mcp_tools.c: serve standard input until it ends. Commands do not get it, nor standard output. */
int ab_mcp_serve(const struct ab_policy_input *input, struct ab_error *err);
