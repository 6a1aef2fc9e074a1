#include "shell/command/rules.h"

#include "base/data/mem.h"

static ab_matcher *const matchers[] = {
	ab_match_delete,  ab_match_perms,   ab_match_devices, ab_match_writes, ab_match_secrets,
	ab_match_bulk,	  ab_match_shells,  ab_match_system,  ab_match_git,    ab_match_tools,
	ab_match_sources, ab_match_unknown, ab_match_reads,
};

void ab_rules_match(const struct ab_scene *scene, const struct ab_simple *command,
		    struct ab_hits *hits)
{
	for (size_t i = 0; i < AB_COUNT(matchers); i++)
		matchers[i](scene, command, hits);
}
