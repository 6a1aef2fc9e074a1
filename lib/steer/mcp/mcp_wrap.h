#pragma once
/*
 * MCP servers in a settings file of an agent (Claude Code's .mcp.json and others): their commands
 * are rewritten to `agentbox run -- COMMAND`, so that each server runs in a box of its own, or back.
 * Reads the file; ab_hook_apply() writes the plan.
 *
 *	{"mcpServers" | "servers" | "context_servers": {NAME: {"command": "x", "args": ["y"],
 *	 "env": {"K": "V"}}}}
 *	{"mcp": {NAME: {"type": "local", "command": ["x", "y"], "environment": {"K": "V"}}}}
 *
 * The first form also below "mcp", and "mcpServers" below each of "projects". The settings are
 * hostile: they choose neither the folder in which agentbox starts nor its variables. Those of a server
 * are written as "AGENTBOX_SERVER_K": "V", with --pass-env K=AGENTBOX_SERVER_K.
 */
#include "base/base.h"
#include "consent/agent_hook.h"

struct ab_mcp_wrap {
	const char *path;
	const struct ab_policy_input *policy; /* the options, which must be good */
	const char *const *options;	      /* for `run` */
	size_t noptions;
	bool undo;
};

/* *ret_notes: servers that stay as they are, or whose command looked wrapped, and why. Fails if a
 * server, of a command or of a URL, has a member that is not known for one, or a variable whose name no variable can have. */
int ab_mcp_wrap_plan(const struct ab_mcp_wrap *wrap, struct ab_hook_plan *ret,
		     struct ab_strv *ret_notes, struct ab_error *err);
