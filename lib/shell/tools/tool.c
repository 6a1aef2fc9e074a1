#include "shell/tools/tool.h"

#include "shell/command/grammar.h"
#include "shell/syntax/name_table.h"

/* The first byte rules out nearly all. No pattern is empty. */
static bool matches_pattern(struct ab_text text, struct ab_text pattern)
{
	return (pattern.s[0] == '*' || (text.len && pattern.s[0] == text.s[0])) &&
	       ab_glob_matches(pattern.s, pattern.len, text.s, text.len, false);
}

static bool matches_choice(struct ab_text text, struct ab_text choices)
{
	while (choices.len)
		if (matches_pattern(text, ab_text_cut(&choices, '|')))
			return true;
	return false;
}

/* Do the operands from `at` on begin with these words? `skip`: may skip operands that
 * may be the value of an option. */
static bool match_words(const char *words, const struct ab_operands *operands, bool skip, size_t at,
			size_t *ret_used)
{
	struct ab_text level = ab_list_next(&words);
	bool anywhere = ab_text_is(level, "**");

	if (anywhere)
		level = ab_list_next(&words);
	if (level.len == 0) {
		*ret_used = at;
		return true;
	}
	for (; at < operands->len; at++) {
		if (matches_choice(operands->v[at]->text, level) &&
		    match_words(words, operands, skip, at + 1, ret_used))
			return true;
		if (!anywhere && !(skip && operands->maybe_value[at]))
			return false;
	}
	return false;
}

void ab_tool_operands(const struct ab_grammar *opts, const struct ab_simple *command,
		      struct ab_operands *ret)
{
	struct ab_opt_walk w = ab_opt_begin(opts, command->argv, command->argc);

	for (ret->len = 0; ret->len < AB_OPERANDS_MAX && ab_opt_next_operand(&w);) {
		ret->maybe_value[ret->len] = w.maybe_value;
		ret->v[ret->len++] = &command->argv[w.index];
	}
}

/* The item is "--name" or "--name=value". */
static bool is_long(const struct ab_opt_walk *w, struct ab_text item)
{
	struct ab_text value = ab_text_rest(item, 2), name = ab_text_cut(&value, '=');

	if (name.len + 2 < item.len && (!w->value.text.s || !ab_text_same(w->value.text, value)))
		return false;
	return matches_pattern(w->name, name) || (w->name.len >= 3 && name.len >= w->name.len &&
						  memcmp(name.s, w->name.s, w->name.len) == 0);
}

/* The item is "-x", "-xvalue", or a whole word such as "-delete". */
static bool is_letter(const struct ab_opt_walk *w, struct ab_text item)
{
	struct ab_text rest = ab_text_rest(item, 2);

	if (item.len == 2 || (w->value.text.s && item.s[1] == w->letter))
		return item.s[1] == w->letter &&
		       (item.len == 2 || matches_pattern(w->value.text, rest));
	return item.s[1] != '-' &&
	       matches_pattern(ab_text_rest(w->argv[w->index].text, 1), ab_text_rest(item, 1));
}

static bool is_item(const struct ab_opt_walk *w, struct ab_text item)
{
	bool dash = item.s[0] == '-';

	switch (w->what) {
	case AB_OPT_LETTER:
		return dash && is_letter(w, item);
	case AB_OPT_LONG:
		return item.len > 2 && dash && item.s[1] == '-' && is_long(w, item);
	case AB_OPT_OPERAND:
		return !dash && matches_pattern(w->value.text, item);
	case AB_OPT_END:
		break;
	}
	return false;
}

static bool lists_operand(const char *list)
{
	while (*list == '-') {
		list = strchrnul(list, ' ');
		while (*list == ' ')
			list++;
	}
	return *list;
}

static bool is_option_given(const struct ab_grammar *opts, const struct ab_simple *command,
			    size_t skip, const char *list)
{
	for (struct ab_opt_walk w = ab_opt_begin(opts, command->argv, command->argc);
	     ab_opt_next(&w);) {
		const char *rest = list;
		struct ab_text item;

		if (w.what == AB_OPT_OPERAND && skip > 0) {
			skip--;
			continue;
		}
		/* An item for a letter has it, and one for a whole word its first: none is "-*". */
		if (w.what == AB_OPT_LETTER && !strchr(list, w.letter))
			continue;
		while ((item = ab_list_next(&rest)).len > 0)
			if (is_item(&w, item))
				return true;
	}
	return false;
}

bool ab_tool_given(const struct ab_grammar *opts, const struct ab_simple *command, size_t skip,
		   const char *list)
{
	return (ab_command_shows(command, AB_SIGN_OPTION) || lists_operand(list)) &&
	       is_option_given(opts, command, skip, list);
}

static bool is_alone(const struct ab_simple *command, const char *word)
{
	return command->argc == 2 && ab_field_is(&command->argv[1], word);
}

/* After a further operand, --help may belong to another command: `docker run image
 * --help`. */
static bool asks_for_help(enum ab_help help, const struct ab_grammar *opts,
			  const struct ab_simple *command, size_t used)
{
	size_t seen = 0;

	if (help != AB_HELP_LONG &&
	    (is_alone(command, "-h") || is_alone(command, "-V") || is_alone(command, "-?")))
		return true;
	if (help == AB_HELP_LETTER && ab_field_is(&command->argv[command->argc - 1], "-h"))
		return true;
	for (struct ab_opt_walk w = ab_opt_begin(opts, command->argv, command->argc);
	     ab_opt_next(&w);) {
		if (ab_opt_is(&w, 0, "help") ||
		    (w.what == AB_OPT_LETTER && ab_field_is(&command->argv[w.index], "-help")))
			return true;
		if (seen == 0 && ab_opt_is(&w, 0, "version") && !w.value.text.s)
			return true;
		if (w.what != AB_OPT_OPERAND)
			continue;
		if (used > 0 && ab_text_is(w.value.text, "help"))
			return true;
		if (++seen > used)
			return false;
	}
	return false;
}

/* No operand follows; `skip`: ignore those that may be the value of an option. */
static bool is_bare(const struct ab_operands *operands, bool skip, size_t used)
{
	for (size_t i = used; i < operands->len; i++)
		if (!skip || !operands->maybe_value[i])
			return false;
	return true;
}

static bool does_deed(const struct ab_deed *deed, enum ab_help help, const struct ab_grammar *opts,
		      const struct ab_simple *command, const struct ab_operands *operands)
{
	bool allows = ab_rules[deed->rule].decision == AB_ALLOW;
	size_t used;

	return match_words(deed->words, operands, !allows, 0, &used) &&
	       (!deed->bare || is_bare(operands, !allows, used)) &&
	       (!deed->with[0] || ab_tool_given(opts, command, used, deed->with)) &&
	       (!deed->without[0] || !ab_tool_given(opts, command, used, deed->without)) &&
	       (allows || !asks_for_help(help, opts, command, used));
}

void ab_tool_match(const struct ab_toolbox *box, const struct ab_deed *first,
		   const struct ab_grammar *opts, const struct ab_simple *command,
		   struct ab_hits *hits)
{
	const struct ab_deed *deed = first, *end = box->deeds + box->len;
	struct ab_operands operands = { 0 };

	/* Tools without subcommands have one deed. */
	if (first->words[0] || first->bare || (first + 1 < end && first[1].help == AB_ALSO))
		ab_tool_operands(opts, command, &operands);
	do
		if (does_deed(deed, first->help, opts, command, &operands))
			ab_hit_because(hits, deed->rule, command->range,
				       deed->reason[0] ? deed->reason : NULL);
	while (++deed < end && deed->help == AB_ALSO);
}

const struct ab_name_slot *ab_toolbox_find(const struct ab_toolbox *box,
					   const struct ab_simple *command)
{
	if (ab_name_row(command->slot, box->table))
		return command->slot;
	return ab_name_row(command->bare_slot, box->table) ? command->bare_slot : NULL;
}

void ab_toolbox_match_as(const struct ab_toolbox *box, const struct ab_name_slot *slot,
			 const struct ab_simple *command, struct ab_hits *hits)
{
	const struct ab_deed *first = AB_SLOT_ROW(box->deeds, box->table, slot);

	if (first)
		ab_tool_match(box, first, ab_grammar_row(slot), command, hits);
}

/* Variables that neither name a program nor load code. */
static const char harmless[] =
	"LC_* LANG LANGUAGE TZ TERM COLUMNS LINES NO_COLOR CLICOLOR* FORCE_COLOR "
	"GIT_OPTIONAL_LOCKS GIT_TERMINAL_PROMPT";

static bool is_harmless(const struct ab_binding *b)
{
	return ab_matches_listed(harmless, b->name, false) ||
	       (ab_listed("GIT_PAGER PAGER", b->name) &&
		(ab_field_is(&b->value, "cat") || ab_field_is(&b->value, "")));
}

static bool writes_file(const struct ab_redirect *r)
{
	/* A connection is more than reading. */
	if (r->op == AB_REDIR_IN)
		return ab_starts_listed("/dev/tcp/ /dev/udp/", r->file.text);
	return ab_redir_writes(r->op) ? !ab_field_is(&r->file, "/dev/null")
				      : r->op == AB_REDIR_DUP_OUT && r->file.unknown;
}

/* Folders that only the administrator writes. */
static const char bins[] = "/bin/ /sbin/ /usr/bin/ /usr/sbin/ /usr/local/bin/ /opt/homebrew/bin/";

/* Not `./ls`, which anyone may have written. */
static bool is_system_program(const struct ab_simple *command)
{
	struct ab_text folder = command->argv[0].text;

	if (folder.len <= command->name.len)
		return true;
	folder.len -= command->name.len;
	return ab_listed(bins, folder);
}

static bool has_unknown_word(const struct ab_simple *command)
{
	if (!ab_command_shows(command, AB_SIGN_UNKNOWN))
		return false;
	for (size_t i = 0; i < command->argc; i++)
		if (command->argv[i].unknown)
			return true;
	return false;
}

bool ab_tool_plain(const struct ab_simple *command)
{
	if (command->argc == 0 || command->flags & (AB_SIMPLE_BACKGROUND | AB_SIMPLE_ALTERED) ||
	    !is_system_program(command))
		return false;
	if (has_unknown_word(command))
		return false;
	for (size_t i = 0; i < command->nbindings; i++)
		if (!is_harmless(&command->bindings[i]))
			return false;
	for (size_t i = 0; i < command->nredirects; i++)
		if (writes_file(&command->redirects[i]))
			return false;
	return true;
}
