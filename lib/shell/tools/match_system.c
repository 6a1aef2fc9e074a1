/* The machine itself: power, kernel, services, users, network, packages. */
#include "shell/syntax/name_table.h"
#include "shell/tools/tool.h"

#define SYSRQ "/proc/sysrq-trigger"

/* Includes `echo b | tee`, the usual way with sudo. */
static bool writes_sysrq(const struct ab_simple *command)
{
	for (size_t i = 0; i < command->nredirects; i++)
		if (ab_field_is(&command->redirects[i].file, SYSRQ) &&
		    command->redirects[i].op != AB_REDIR_IN)
			return true;
	if (!ab_text_is(command->name, "tee"))
		return false;
	for (size_t i = 1; i < command->argc; i++)
		if (ab_field_is(&command->argv[i], SYSRQ))
			return true;
	return false;
}

static bool is_init_script(const struct ab_simple *command)
{
	return command->argc > 1 &&
	       (ab_text_starts(command->argv[0].text, "/etc/init.d/") ||
		ab_text_starts(command->argv[0].text, "/etc/rc.d/")) &&
	       !ab_field_is(&command->argv[1], "status");
}

/* A pattern that every process matches. */
static bool matches_every_process(struct ab_text pattern)
{
	return ab_listed(". .* ^ ^.* .+ [a-z] [a-z]* $", pattern) || pattern.len == 0;
}

/* The first "-1" may be a signal; a later one is every process. */
static bool names_all_processes(const struct ab_simple *command)
{
	for (size_t i = 2; i < command->argc; i++)
		if (ab_field_is(&command->argv[i], "-1"))
			return true;
	return false;
}

static bool selects_all_processes(const struct ab_simple *command)
{
	static const struct ab_grammar signals = { .values = "Ggstu-9" };
	bool by_owner = false, named = false, every = false;

	for (struct ab_opt_walk w = ab_opt_begin(&signals, command->argv, command->argc);
	     ab_opt_next(&w);) {
		by_owner |= ab_opt_is(&w, 'u', NULL) || ab_opt_is(&w, 't', NULL) ||
			    ab_opt_is(&w, 'U', NULL) || ab_opt_is(&w, 0, "user") ||
			    ab_opt_is(&w, 0, "euid");
		if (w.what != AB_OPT_OPERAND)
			continue;
		named = true;
		every |= matches_every_process(w.value.text);
	}
	return every || (by_owner && !named);
}

/*
 * Processes that are killed wholesale: `kill -1` (all), killall5, pkill and killall by
 * user, by terminal or by a pattern that matches all of them.
 */
static const struct {
	bool (*kills)(const struct ab_simple *command); /* NULL: always */
} killers[] = {
	AB_PROGRAMS("kill", names_all_processes),
	AB_PROGRAMS("killall pkill skill", selects_all_processes),
	AB_PROGRAMS("killall5", NULL),
};

static bool kills_wholesale(const struct ab_simple *command)
{
	const __typeof__(killers[0]) *row = AB_COMMAND_ROW(killers, AB_TABLE_KILLERS, command);

	return row && (!row->kills || row->kills(command));
}

void ab_match_system(const struct ab_simple *command, struct ab_hits *hits)
{
	if (writes_sysrq(command))
		ab_hit_add(hits, AB_RULE_SHUTDOWN_REBOOT, command->range);
	if (is_init_script(command))
		ab_hit_add(hits, AB_RULE_SERVICE_MANAGEMENT, command->range);
	if (kills_wholesale(command))
		ab_hit_add(hits, AB_RULE_PROCESS_KILL, command->range);
	ab_toolbox_match(&ab_tools_system, command, hits);
	ab_toolbox_match(&ab_tools_packages, command, hits);
}
