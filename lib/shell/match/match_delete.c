#include "shell/command/grammar.h"
#include "shell/command/name_index.h"
#include "shell/command/path_place.h"
#include "shell/command/rules.h"
#include "shell/syntax/name_table.h"

/* Programs that delete their operands. */
static const char removers[] = "del-cli rimraf rm shred srm trash trash-put unlink";

/* Wrappers that do not change what such a program does. */
static const char prefixes[] = "busybox command doas env ionice nice nohup sudo toybox";

static const char unknown_target[] = "The files to delete are known only when it runs.";

static enum ab_place find_place(const struct ab_simple *command, const struct ab_field *field)
{
	struct ab_path path;

	ab_path_read(command, field, &path);
	return ab_path_place(&path);
}

static const char *describe_target(const struct ab_path *path)
{
	if (ab_path_home(path))
		return "Deletes everything in a home folder.";
	if (path->len == 0 || (path->len == 1 && path->pattern))
		return "Deletes everything on this machine.";
	/* With a pattern, what is in it. */
	if (path->len - path->pattern > 1)
		return "Deletes everything in a home folder.";
	return "Deletes a whole folder directly below the root.";
}

static void judge_target(const struct ab_simple *command, const struct ab_field *target,
			 struct ab_hits *hits)
{
	struct ab_path path;

	ab_path_read(command, target, &path);
	switch (ab_path_place(&path)) {
	case AB_PLACE_ORDINARY:
		break;
	case AB_PLACE_UNKNOWN:
		ab_hit_because(hits, AB_RULE_WORKSPACE_DELETE, target->range, unknown_target);
		break;
	case AB_PLACE_WORKSPACE:
		ab_hit_add(hits, AB_RULE_WORKSPACE_DELETE, target->range);
		break;
	case AB_PLACE_TOP:
	case AB_PLACE_ROOT:
		ab_hit_because(hits, AB_RULE_RECURSIVE_DELETE_ROOT, target->range,
			       describe_target(&path));
		break;
	}
}

/* Also true if an unknown word may be such an option. */
static bool is_recursive(const struct ab_simple *command)
{
	bool operand = false;

	for (struct ab_opt_walk w = ab_opt_begin_as(command, "rm"); ab_opt_next(&w);) {
		if (ab_opt_is(&w, 'r', "recursive") || ab_opt_is(&w, 'R', NULL))
			return true;
		if (w.what == AB_OPT_OPERAND && !operand && command->argc > 2 && w.value.splits &&
		    w.value.text.len == 1 && w.value.unknown)
			return true;
		operand = operand || w.what == AB_OPT_OPERAND;
	}
	return false;
}

static void match_rm(const struct ab_simple *command, struct ab_hits *hits)
{
	for (struct ab_opt_walk w = ab_opt_begin_as(command, "rm"); ab_opt_next_operand(&w);)
		judge_target(command, &command->argv[w.index], hits);
}

/* A script that calls rm: finds the word wherever a command may start. */
static bool script_removes(struct ab_text t)
{
	for (uint32_t i = 0; i + 3 <= t.len; i++)
		if (memcmp(t.s + i, "rm ", 3) == 0 && (i == 0 || strchr(" ;&|(\n/\t", t.s[i - 1])))
			return true;
	return false;
}

/* Does the command in these words delete, possibly after sudo and the like? */
static bool words_remove(const struct ab_field *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct ab_text name = ab_text_base(words[i].text);

		if (ab_listed(removers, name))
			return true;
		if (ab_listed("ash bash dash fish ksh sh zsh", name)) {
			for (; i < n; i++)
				if (script_removes(words[i].text))
					return true;
			return false;
		}
		if (!ab_listed(prefixes, name) &&
		    (i == 0 || words[i].text.len == 0 || words[i].text.s[0] != '-'))
			return false;
	}
	return false;
}

/* Words of find that matter here: the next word is a value, or a command begins. Sorted. */
static const struct {
	char name[12];
	enum { DELETES, VALUE, COMMAND } kind;
} find_words[] = {
	{ "-delete", DELETES }, { "-exec", COMMAND },	  { "-execdir", COMMAND },
	{ "-fls", VALUE },	{ "-fprint", VALUE },	  { "-fprint0", VALUE },
	{ "-ilname", VALUE },	{ "-iname", VALUE },	  { "-ipath", VALUE },
	{ "-iregex", VALUE },	{ "-iwholename", VALUE }, { "-lname", VALUE },
	{ "-name", VALUE },	{ "-newer", VALUE },	  { "-ok", COMMAND },
	{ "-okdir", COMMAND },	{ "-path", VALUE },	  { "-regex", VALUE },
	{ "-samefile", VALUE }, { "-wholename", VALUE },
};

static bool find_deletes(const struct ab_simple *command)
{
	for (size_t i = 1; i < command->argc; i++) {
		struct ab_text t = command->argv[i].text;
		const __typeof__(find_words[0]) *word;
		size_t n = 0;

		if (t.len < 3 || t.s[0] != '-')
			continue;
		word = AB_LOOKUP(find_words, t);
		if (!word)
			continue;
		if (word->kind == DELETES)
			return true;
		if (word->kind == VALUE) { /* `-name -delete` searches for that name. */
			i++;
			continue;
		}
		while (i + 1 + n < command->argc &&
		       !ab_listed("; +", command->argv[i + 1 + n].text))
			n++;
		if (words_remove(&command->argv[i + 1], n))
			return true;
		i += n;
	}
	return false;
}

static bool ends_start_paths(struct ab_text t)
{
	return t.len > 0 && (t.s[0] == '-' || t.s[0] == '(' || t.s[0] == '!');
}

static void match_find(const struct ab_simple *command, struct ab_hits *hits)
{
	static const char here[] = ".";
	struct ab_field start = { .text = { here, 1 } };
	enum ab_place worst = AB_PLACE_ORDINARY;
	size_t i = 1;

	if (!find_deletes(command))
		return;
	while (i < command->argc && ab_listed("-H -L -P", command->argv[i].text))
		i++;
	if (i == command->argc || ends_start_paths(command->argv[i].text))
		worst = find_place(command, &start);
	for (; i < command->argc && !ends_start_paths(command->argv[i].text); i++) {
		enum ab_place place = find_place(command, &command->argv[i]);

		if (place > worst)
			worst = place;
	}
	if (worst == AB_PLACE_ROOT)
		ab_hit_add(hits, AB_RULE_DESTRUCTIVE_FIND, command->range);
	else
		ab_hit_mild(hits, AB_RULE_DESTRUCTIVE_FIND, command->range);
}

static void match_xargs(const struct ab_simple *command, struct ab_hits *hits)
{
	struct ab_opt_walk w = ab_opt_begin_own(command);

	if (ab_opt_next_operand(&w) &&
	    (words_remove(&command->argv[w.index], command->argc - w.index) ||
	     script_removes(w.value.text)))
		ab_hit_mild(hits, AB_RULE_DESTRUCTIVE_XARGS, command->range);
}

/* Moving a folder removes it from its place. */
static void match_mv(const struct ab_simple *command, struct ab_hits *hits)
{
	struct ab_opt_walk w = ab_opt_begin_as(command, "mv");
	const struct ab_field *before = NULL;
	bool to = false, more = true;

	/* The last is where they are moved, unless an option says that. */
	while (more) {
		more = ab_opt_next(&w);
		to = to || ab_opt_is(&w, 't', "target-directory");
		if (more ? w.what != AB_OPT_OPERAND : !to)
			continue;
		if (before && find_place(command, before) == AB_PLACE_ROOT)
			ab_hit_because(hits, AB_RULE_RECURSIVE_DELETE_ROOT, before->range,
				       "Moves a home folder or a part of the system.");
		before = &command->argv[w.index];
	}
}

static void match_rsync(const struct ab_simple *command, struct ab_hits *hits)
{
	const struct ab_field *last = NULL;
	bool deletes = false;

	for (struct ab_opt_walk w = ab_opt_begin_as(command, "rsync"); ab_opt_next(&w);) {
		if (w.what == AB_OPT_LONG && ab_text_starts(w.name, "delete"))
			deletes = true;
		if (w.what == AB_OPT_OPERAND)
			last = &command->argv[w.index];
	}
	if (deletes && last && find_place(command, last) == AB_PLACE_ROOT)
		ab_hit_add(hits, AB_RULE_RECURSIVE_DELETE_ROOT, last->range);
}

static void match_recursive_rm(const struct ab_simple *command, struct ab_hits *hits)
{
	if (is_recursive(command))
		match_rm(command, hits);
}

static const struct {
	ab_matcher *match;
} deleters[] = {
	AB_PROGRAMS("del-cli rimraf srm trash trash-put", match_rm),
	AB_PROGRAMS("find", match_find),
	AB_PROGRAMS("mv", match_mv),
	AB_PROGRAMS("parallel xargs", match_xargs),
	AB_PROGRAMS("rm", match_recursive_rm),
	AB_PROGRAMS("rsync", match_rsync),
};

void ab_match_delete(const struct ab_simple *command, struct ab_hits *hits)
{
	const __typeof__(deleters[0]) *row = AB_COMMAND_ROW(deleters, AB_TABLE_DELETERS, command);

	if (command->argc > 1 && row)
		row->match(command, hits);
}
