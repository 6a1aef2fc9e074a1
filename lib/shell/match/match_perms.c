#include "shell/command/grammar.h"
#include "shell/command/name_index.h"
#include "shell/command/path_place.h"
#include "shell/command/rules.h"
#include "shell/syntax/name_table.h"

/* find -exec: cut the path at its unknown part, which leaves the start path. */
static bool cut_unknown_part(const struct ab_simple *command, struct ab_field *path)
{
	const char *end;

	if (!command->via || (strcmp(command->via, "find") != 0 && strcmp(command->via, "fd") != 0))
		return false;
	end = memchr(path->text.s, AB_UNKNOWN, path->text.len);
	if (!end || end == path->text.s)
		return false;
	path->text.len = (uint32_t)(end - path->text.s);
	path->unknown = false;
	return true;
}

/* u+s, +s, ug=s, 4755, 06755: "s" for the owner, the group or all. */
static bool sets_id(struct ab_text mode)
{
	uint32_t digits = 0;

	while (digits < mode.len && mode.s[digits] >= '0' && mode.s[digits] <= '7')
		digits++;
	if (digits == mode.len)
		return mode.len > 3 && mode.s[mode.len - 4] > '1' &&
		       (mode.s[mode.len - 4] - '0') & 6;
	for (uint32_t i = 0; i < mode.len; i++) {
		bool gives = false;

		for (; i < mode.len && mode.s[i] != ','; i++) {
			if (strchr("+=-", mode.s[i]))
				gives = mode.s[i] != '-';
			else if (gives && mode.s[i] == 's')
				return true;
		}
	}
	return false;
}

/* Sorted by name. */
static const struct changer {
	char name[8];
	enum { NO_MODE, MODE_OPERAND, MODE_OPTION, CAPABILITIES } mode;
	bool recursive; /* -R changes all below a folder */
} changers[] = {
	{ "chattr", NO_MODE, true },	   { "chgrp", NO_MODE, true },
	{ "chmod", MODE_OPERAND, true },   { "chown", NO_MODE, true },
	{ "install", MODE_OPTION, false }, { "setcap", CAPABILITIES, false },
	{ "setfacl", NO_MODE, true },
};

/* chmod MODE, install -m MODE, setcap CAPS. */
static void match_set_id(const struct changer *changer, const struct ab_opts *opts,
			 const struct ab_simple *command, struct ab_hits *hits)
{
	bool operand = changer->mode == MODE_OPERAND;
	struct ab_opt_walk w;
	enum ab_opt what;

	if (changer->mode == CAPABILITIES) {
		if (command->argc > 2 && !ab_field_is(&command->argv[1], "-r") &&
		    !ab_field_is(&command->argv[1], "-v"))
			ab_hit_add(hits, AB_RULE_SET_ID, command->range);
		return;
	}
	if (changer->mode == NO_MODE)
		return;
	ab_opt_begin(&w, opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		bool mode = operand ? what == AB_OPT_OPERAND : ab_opt_is(&w, what, 'm', "mode");

		if (mode && w.value.text.s && sets_id(w.value.text))
			ab_hit_add(hits, AB_RULE_SET_ID, command->range);
		if (operand && what == AB_OPT_OPERAND)
			return;
	}
}

void ab_match_perms(const struct ab_scene *scene, const struct ab_simple *command,
		    struct ab_hits *hits)
{
	const struct changer *changer = AB_COMMAND_ROW(changers, AB_TABLE_PERMS, command);
	struct ab_opt_walk w;
	enum ab_opt what;
	struct ab_path path;
	struct ab_opts opts;
	bool recursive = false;

	if (!changer)
		return;
	opts = ab_grammar_for(command);
	match_set_id(changer, &opts, command, hits);
	if (!changer->recursive)
		return;
	ab_opt_begin(&w, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END)
		if (ab_opt_is(&w, what, 'R', "recursive"))
			recursive = true;
	ab_opt_begin(&w, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		struct ab_field file = command->argv[w.index];

		if (what != AB_OPT_OPERAND || (!recursive && !cut_unknown_part(command, &file)))
			continue;
		ab_path_read(scene, command, &file, &path);
		if (ab_path_place(scene, &path) == AB_PLACE_ROOT)
			ab_hit_add(hits, AB_RULE_RECURSIVE_PERM_ROOT, command->argv[w.index].range);
	}
}
