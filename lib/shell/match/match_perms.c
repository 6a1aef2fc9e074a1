#include "shell/command/grammar.h"
#include "shell/command/name_index.h"
#include "shell/command/path_place.h"
#include "shell/command/rules.h"

/* find -exec: cut the path at its unknown part, which leaves the start path. */
static bool cut_unknown_part(const struct ab_simple *command, struct ab_field *path)
{
	uint32_t end = ab_text_find(path->text, AB_UNKNOWN);

	if (!command->via ||
	    (strcmp(command->via, "find") != 0 && strcmp(command->via, "fd") != 0) || end == 0 ||
	    end == path->text.len)
		return false;
	path->text.len = end;
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

static const struct changer {
	enum { NO_MODE, MODE_OPERAND, MODE_OPTION, CAPABILITIES } mode;
	bool recursive; /* -R changes all below a folder */
} changers[] = {
	AB_PROGRAMS("chattr chgrp chown setfacl", NO_MODE, true),
	AB_PROGRAMS("chmod", MODE_OPERAND, true),
	AB_PROGRAMS("install", MODE_OPTION, false),
	AB_PROGRAMS("setcap", CAPABILITIES, false),
};

/* chmod MODE, install -m MODE, setcap CAPS. */
static void match_set_id(const struct changer *changer, const struct ab_simple *command,
			 struct ab_hits *hits)
{
	bool operand = changer->mode == MODE_OPERAND;

	if (changer->mode == CAPABILITIES) {
		if (command->argc > 2 && !ab_field_is(&command->argv[1], "-r") &&
		    !ab_field_is(&command->argv[1], "-v"))
			ab_hit_add(hits, AB_RULE_SET_ID, command->range);
		return;
	}
	if (changer->mode == NO_MODE)
		return;
	for (struct ab_opt_walk w = ab_opt_begin_own(command); ab_opt_next(&w);) {
		bool mode = operand ? w.what == AB_OPT_OPERAND : ab_opt_is(&w, 'm', "mode");

		if (mode && w.value.text.s && sets_id(w.value.text))
			ab_hit_add(hits, AB_RULE_SET_ID, command->range);
		if (operand && w.what == AB_OPT_OPERAND)
			return;
	}
}

void ab_match_perms(const struct ab_simple *command, struct ab_hits *hits)
{
	const struct changer *changer = AB_COMMAND_ROW(changers, AB_TABLE_PERMS, command);
	struct ab_path path;
	bool recursive;

	if (!changer)
		return;
	match_set_id(changer, command, hits);
	if (!changer->recursive)
		return;
	recursive = ab_opt_given(ab_opt_begin_own(command), "R recursive");
	for (struct ab_opt_walk w = ab_opt_begin_own(command); ab_opt_next_operand(&w);) {
		struct ab_field file = command->argv[w.index];

		if (!recursive && !cut_unknown_part(command, &file))
			continue;
		ab_path_read(command, &file, &path);
		if (ab_path_place(&path) == AB_PLACE_ROOT)
			ab_hit_add(hits, AB_RULE_RECURSIVE_PERM_ROOT, command->argv[w.index].range);
	}
}
