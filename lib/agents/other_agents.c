/* Agents without a profile: their programs, and the files that they obey. */
#include "agents/list.h"

const struct ab_agent ab_agent_aider = {
	.name = "aider",
	.program = "aider",
	.takes_prompt = true,
	.obeys = { "Aider", .closed = ".aider.conf.yml", .open = ".aider*", .like = ".aider*" },
};

const struct ab_agent ab_agent_amp = {
	.name = "amp",
	.program = "amp",
	.takes_prompt = true,
	.obeys = { "Amp", .closed = ".amp" },
};

const struct ab_agent ab_agent_crush = {
	.name = "crush",
	.program = "crush",
	.takes_prompt = true,
	.obeys = { "Crush", .closed = ".crush.json crush.json", .reported = "CRUSH.md",
		   .open = ".crush", .like = "*crush.json" },
};

const struct ab_agent ab_agent_goose = {
	.name = "goose",
	.program = "goose",
	.takes_prompt = true,
	.obeys = { "Goose", .reported = ".goosehints" },
};
