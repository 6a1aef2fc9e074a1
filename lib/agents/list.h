#pragma once
/* Inside this folder: the list of agents, sorted by name. Each is in the file that has its name;
 * those that we know little about are in other_agents.c. */
#include "agents/agents.h"

/* clang-format off */
#define AB_AGENTS(X) \
	X(aider) \
	X(amp) \
	X(claude) \
	X(codex) \
	X(copilot) \
	X(crush) \
	X(cursor) \
	X(gemini) \
	X(goose) \
	X(opencode) \
	X(qwen) \
	X(windsurf)
/* clang-format on */

#define DECLARE(name) extern const struct ab_agent ab_agent_##name;
AB_AGENTS(DECLARE)
#undef DECLARE
