#include "shell/tools/tool.h"

#include <endian.h>

#include "base/data/mem.h"
#include "shell/command/grammar.h"
#include "shell/command/name_index.h"
#include "shell/syntax/name_table.h"

static bool is_same_text(struct ab_text a, struct ab_text b)
{
	return a.len == b.len && memcmp(a.s, b.s, a.len) == 0;
}

static bool begins_with(struct ab_text text, struct ab_text start)
{
	return text.len >= start.len && memcmp(text.s, start.s, start.len) == 0;
}

/* "*" matches any text. Patterns come from the tables and are short. */
static bool matches_pattern(struct ab_text text, struct ab_text pattern)
{
	uint32_t t = 0, p = 0, resume = 0, star = UINT32_MAX;

	while (t < text.len) {
		if (p < pattern.len && pattern.s[p] == '*') {
			star = ++p;
			resume = t;
		} else if (p < pattern.len && pattern.s[p] == text.s[t]) {
			p++;
			t++;
		} else if (star != UINT32_MAX) {
			p = star;
			t = ++resume;
		} else {
			return false;
		}
	}
	while (p < pattern.len && pattern.s[p] == '*')
		p++;
	return p == pattern.len;
}

static bool matches_choice(struct ab_text text, struct ab_text choices)
{
	const char *p = choices.s, *end = choices.s + choices.len, *from;

	for (; p < end; p++) {
		for (from = p; p < end && *p != '|'; p++)
			;
		/* The first byte rules out nearly all. */
		if ((*from == '*' || (text.len > 0 && *from == text.s[0])) &&
		    matches_pattern(text, (struct ab_text){ from, (uint32_t)(p - from) }))
			return true;
	}
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

void ab_tool_operands(const struct ab_opts *opts, const struct ab_simple *command,
		      struct ab_operands *ret)
{
	struct ab_opt_walk w;
	enum ab_opt what;

	ret->len = 0;
	ab_opt_begin(&w, opts, command->argv, command->argc);
	while (ret->len < AB_OPERANDS_MAX && (what = ab_opt_next(&w)) != AB_OPT_END)
		if (what == AB_OPT_OPERAND) {
			ret->maybe_value[ret->len] = w.maybe_value;
			ret->v[ret->len++] = &command->argv[w.index];
		}
}

/* The item is "--name" or "--name=value". */
static bool is_long(const struct ab_opt_walk *w, struct ab_text item)
{
	struct ab_text name = { item.s + 2, item.len - 2 };
	const char *equals = memchr(name.s, '=', name.len);

	if (equals) {
		struct ab_text value = { equals + 1, 0 };

		value.len = (uint32_t)(name.s + name.len - value.s);
		name.len = (uint32_t)(equals - name.s);
		if (!w->value.text.s || !is_same_text(w->value.text, value))
			return false;
	}
	return matches_pattern(w->name, name) || (w->name.len >= 3 && begins_with(name, w->name));
}

/* The item is "-x", "-xvalue", or a whole word such as "-delete". */
static bool is_letter(const struct ab_opt_walk *w, struct ab_text item)
{
	struct ab_text rest = { item.s + 2, item.len - 2 };

	if (item.len == 2 || (w->value.text.s && item.s[1] == w->letter))
		return item.s[1] == w->letter &&
		       (item.len == 2 || matches_pattern(w->value.text, rest));
	return item.s[1] != '-' && matches_pattern(w->argv[w->index].text, item);
}

static bool is_item(const struct ab_opt_walk *w, enum ab_opt what, struct ab_text item)
{
	bool dash = item.s[0] == '-';

	switch (what) {
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

/* Which bytes the items of a list have in the place that an option is compared with
 * first; bytes that differ in their highest bit count as one. */
struct heads {
	uint64_t letters[2]; /* after one dash */
	uint64_t names[2];   /* after two dashes */
	bool operands;	     /* an item has no dash */
	bool single;	     /* an item is one letter */
};

static void put_head(uint64_t set[2], char c)
{
	set[c >> 6 & 1] |= 1ull << (c & 63);
}

static bool has_head(const uint64_t set[2], char c)
{
	return set[c >> 6 & 1] >> (c & 63) & 1;
}

static struct heads read_heads(const char *list)
{
	struct heads heads = { 0 };
	struct ab_text item;

	while ((item = ab_list_next(&list)).len > 0) {
		if (item.s[0] != '-')
			heads.operands = true;
		else if (item.s[1] == '-')
			put_head(heads.names, item.s[2]);
		else
			put_head(heads.letters, item.s[1]);
		heads.single |= item.len == 2;
	}
	return heads;
}

/* False: no item of the list is this option. Nearly all are ruled out here. */
static bool may_be_listed(const struct heads *heads, const struct ab_opt_walk *w, enum ab_opt what)
{
	switch (what) {
	case AB_OPT_LETTER:
		return has_head(heads->letters, w->letter) || has_head(heads->letters, '*') ||
		       has_head(heads->letters, w->argv[w->index].text.s[1]);
	case AB_OPT_LONG:
		return w->name.len == 0 || has_head(heads->names, w->name.s[0]) ||
		       has_head(heads->names, '*');
	case AB_OPT_OPERAND:
		return heads->operands;
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

static bool is_option_given(const struct ab_opts *opts, const struct ab_simple *command,
			    size_t skip, const char *list)
{
	const struct heads heads = read_heads(list);
	/* The items are whole words, so one look at each word is enough: find. */
	const bool words = !heads.single && (!opts->values || !opts->values[0]);
	struct ab_opt_walk w;
	enum ab_opt what;

	ab_opt_begin(&w, opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		const char *rest = list;
		struct ab_text item;

		if (what == AB_OPT_OPERAND && skip > 0) {
			skip--;
			continue;
		}
		if (words)
			w.inside = 0;
		if (!may_be_listed(&heads, &w, what))
			continue;
		while ((item = ab_list_next(&rest)).len > 0)
			if (is_item(&w, what, item))
				return true;
	}
	return false;
}

bool ab_tool_given(const struct ab_opts *opts, const struct ab_simple *command, size_t skip,
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
static bool asks_for_help(enum ab_help help, const struct ab_opts *opts,
			  const struct ab_simple *command, size_t used)
{
	struct ab_opt_walk w;
	enum ab_opt what;
	size_t seen = 0;

	if (help != AB_HELP_LONG &&
	    (is_alone(command, "-h") || is_alone(command, "-V") || is_alone(command, "-?")))
		return true;
	if (help == AB_HELP_LETTER && ab_field_is(&command->argv[command->argc - 1], "-h"))
		return true;
	ab_opt_begin(&w, opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		if (ab_opt_is(&w, what, 0, "help") ||
		    (what == AB_OPT_LETTER && ab_field_is(&command->argv[w.index], "-help")))
			return true;
		if (seen == 0 && ab_opt_is(&w, what, 0, "version") && !w.value.text.s)
			return true;
		if (what != AB_OPT_OPERAND)
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

static bool does_deed(const struct ab_deed *deed, enum ab_help help, const struct ab_opts *opts,
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

/* Eight bytes of a name as a number with the same order. */
static uint64_t read_number(const char *s)
{
	uint64_t bytes;

	memcpy(&bytes, s, sizeof(bytes));
	return be64toh(bytes);
}

/* Compares all bytes of two group names as two numbers. */
static bool is_before(const char *a, const char *b)
{
	uint64_t x = read_number(a), y = read_number(b);

	_Static_assert(AB_TOOL_NAME_SIZE == 2 * sizeof(x), "two numbers");
	return x < y || (x == y && read_number(a + sizeof(x)) < read_number(b + sizeof(x)));
}

const struct ab_deed *ab_tool_deeds(const struct ab_toolbox *box, const struct ab_tool *tool,
				    size_t *ret_len)
{
	const struct ab_deed *deeds = box->deeds, *end = deeds + box->ndeeds, *after;
	uint64_t number = read_number(tool->deeds);

	/* Branch-free, as in name_table.h. */
	for (size_t n = box->ndeeds, half; n > 0; n -= half) {
		half = (n + 1) / 2;
		deeds += read_number(deeds[half - 1].name) < number ? half : 0;
	}
	while (deeds < end && is_before(deeds->name, tool->deeds))
		deeds++;
	for (after = deeds; after < end && !is_before(tool->deeds, after->name);)
		after++;
	*ret_len = (size_t)(after - deeds);
	return deeds;
}

void ab_tool_match(const struct ab_toolbox *box, const struct ab_tool *tool,
		   const struct ab_opts *opts, const struct ab_simple *command,
		   struct ab_hits *hits)
{
	struct ab_operands operands;
	size_t n;
	const struct ab_deed *deeds = ab_tool_deeds(box, tool, &n);

	/* Tools without subcommands have one deed. */
	if (n == 1 && !deeds->words[0] && !deeds->bare)
		operands.len = 0;
	else
		ab_tool_operands(opts, command, &operands);
	for (size_t i = 0; i < n; i++)
		if (does_deed(&deeds[i], tool->help, opts, command, &operands))
			ab_hit_because(hits, deeds[i].rule, command->range,
				       deeds[i].reason[0] ? deeds[i].reason : NULL);
}

static const struct ab_tool *find_exact(const struct ab_tool *tools, size_t n, struct ab_text name)
{
	return ab_name_table_find(tools, n, sizeof(*tools), sizeof(tools->program), name);
}

static bool is_version_char(char c)
{
	return (c >= '0' && c <= '9') || c == '.' || c == '-';
}

const struct ab_tool *ab_tool_find(const struct ab_toolbox *box, struct ab_text name)
{
	const struct ab_tool *tool;
	struct ab_text bare = name;

	if (name.len == 0)
		return NULL;
	tool = find_exact(box->tools, box->len, name);
	while (bare.len > 1 && is_version_char(bare.s[bare.len - 1]))
		bare.len--;
	if (tool || bare.len == name.len)
		return tool;
	return find_exact(box->tools, box->len, bare);
}

const struct ab_tool *ab_toolbox_find(const struct ab_toolbox *box, const struct ab_simple *command)
{
	size_t row;

	if (!box->table || !command->tables)
		return ab_tool_find(box, command->name);
	row = ab_name_row(command->slot, box->table);
	if (!row)
		row = ab_name_row(command->bare_slot, box->table);
	return row ? &box->tools[row - 1] : NULL;
}

void ab_toolbox_search(const struct ab_toolbox *box, const struct ab_simple *command,
		       struct ab_hits *hits)
{
	const struct ab_tool *tool;
	struct ab_opts opts;

	tool = ab_toolbox_find(box, command);
	if (!tool)
		return;
	/* Without its version it may be another name. */
	opts = ab_name_row(command->slot, box->table) ? command->opts
						      : ab_grammar_of(tool->program);
	ab_tool_match(box, tool, &opts, command, hits);
}

/* Variables that neither name a program nor load code. */
static const char harmless[][20] = {
	"LC_*",
	"LANG",
	"LANGUAGE",
	"TZ",
	"TERM",
	"COLUMNS",
	"LINES",
	"NO_COLOR",
	"CLICOLOR*",
	"FORCE_COLOR",
	"GIT_OPTIONAL_LOCKS",
	"GIT_TERMINAL_PROMPT",
};

static bool is_harmless(const struct ab_binding *b)
{
	for (size_t i = 0; i < AB_COUNT(harmless); i++)
		if (matches_pattern(b->name,
				    (struct ab_text){ harmless[i], (uint32_t)strlen(harmless[i]) }))
			return true;
	return (ab_text_is(b->name, "PAGER") || ab_text_is(b->name, "GIT_PAGER")) &&
	       (ab_field_is(&b->value, "cat") || ab_field_is(&b->value, ""));
}

static bool writes_file(const struct ab_redirect *r)
{
	switch (r->op) {
	case AB_REDIR_IN:
		/* A connection is more than reading. */
		return ab_text_starts(r->file.text, "/dev/tcp/") ||
		       ab_text_starts(r->file.text, "/dev/udp/");
	case AB_REDIR_DUP_IN:
	case AB_REDIR_DUP_OUT:
	case AB_REDIR_HEREDOC:
	case AB_REDIR_HERESTRING:
		return r->file.unknown && r->op == AB_REDIR_DUP_OUT;
	case AB_REDIR_OUT:
	case AB_REDIR_APPEND:
	case AB_REDIR_CLOBBER:
	case AB_REDIR_READ_WRITE:
	case AB_REDIR_BOTH:
	case AB_REDIR_BOTH_APPEND:
		break;
	}
	return !ab_field_is(&r->file, "/dev/null");
}

/* Folders that only the administrator writes. */
static const char bins[][19] = {
	"/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/",
};

/* Not `./ls`, which anyone may have written. */
static bool is_system_program(const struct ab_simple *command)
{
	struct ab_text folder = command->argv[0].text;

	if (folder.len <= command->name.len)
		return true;
	folder.len -= command->name.len;
	for (size_t i = 0; i < AB_COUNT(bins); i++)
		if (ab_text_is(folder, bins[i]))
			return true;
	return false;
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
