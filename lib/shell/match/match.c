#include "base/base.h"
#include "shell/command/rules.h"

#include "shell/command/name_index.h"

/* Each finds nothing unless one of these tables knows the program, or the command has one
 * of these signs. */
static const struct {
	ab_matcher *match;
	unsigned tables, signs;
	bool always;
} matchers[] = {
	{ ab_match_delete, AB_TABLE_DELETERS, 0 },
	{ ab_match_perms, AB_TABLE_PERMS, 0 },
	{ ab_match_devices, AB_TABLE_DEVICES, AB_SIGN_NAME_UP },
	{ ab_match_writes, AB_TABLE_WRITERS | AB_TABLE_FILERS | AB_TABLE_SETTINGS,
	  AB_SIGN_REDIRECT },
	{ ab_match_secrets, .always = true },
	{ ab_match_bulk, 0, AB_SIGN_SLASH | AB_SIGN_REDIRECT },
	{ ab_match_shells,
	  AB_TABLE_RUNNERS | AB_TABLE_SCRIPTS | AB_TABLE_CONNECTORS | AB_TABLE_LANGUAGES,
	  AB_SIGN_UNKNOWN | AB_SIGN_NAME_PATTERN | AB_SIGN_GLUED | AB_SIGN_REDIRECT |
		  AB_SIGN_INPUT },
	{ ab_match_system, AB_TABLE_SYSTEM | AB_TABLE_PACKAGES | AB_TABLE_KILLERS,
	  AB_SIGN_SLASH | AB_SIGN_NAME_SLASH | AB_SIGN_REDIRECT },
	{ ab_match_git, AB_TABLE_GIT, 0 },
	{ ab_match_tools, AB_TABLE_PUBLISH | AB_TABLE_CONTAINERS | AB_TABLE_CLOUDS | AB_TABLE_HOSTS,
	  AB_SIGN_OPTION },
	{ ab_match_sources, AB_TABLE_SOURCES, 0 },
	{ ab_match_unknown, 0,
	  AB_SIGN_SLASH | AB_SIGN_CODE | AB_SIGN_OUTPUT | AB_SIGN_NAME_SLASH | AB_SIGN_INPUT },
	{ ab_match_reads, .always = true },
};

void ab_rules_match(const struct ab_simple *command, struct ab_hits *hits)
{
	for (size_t i = 0; i < AB_COUNT(matchers); i++)
		if (matchers[i].always || command->tables & matchers[i].tables ||
		    command->signs & matchers[i].signs)
			matchers[i].match(command, hits);
}
