#include "shell/code/code.h"

#include "shell/command/grammar.h"
#include "shell/command/known_files.h"
#include "shell/command/name_index.h"

/* The language of each interpreter. */
static const struct interpreter {
	enum ab_language language;
} interpreters[] = {
	AB_PROGRAMS("awk gawk mawk nawk original-awk", AB_LANG_AWK),
	AB_PROGRAMS("bun deno node nodejs tsx", AB_LANG_NODE),
	AB_PROGRAMS("ipython pypy python", AB_LANG_PYTHON),
	AB_PROGRAMS("jruby ruby", AB_LANG_RUBY),
	AB_PROGRAMS("lua luajit", AB_LANG_LUA),
	AB_PROGRAMS("perl", AB_LANG_PERL),
	AB_PROGRAMS("php", AB_LANG_PHP),
};

/* By language: the options whose value is code. */
static const struct code_options {
	char name[8]; /* of its grammar */
	char code[8], code_long[8], code_long2[8];
	char other[4]; /* these name a file or a module instead */
} code_options[] = {
	[AB_LANG_PYTHON] = { "python", "c", "", "", "m" },
	[AB_LANG_PERL] = { "perl", "eE", "", "", "" },
	[AB_LANG_RUBY] = { "ruby", "e", "", "", "" },
	[AB_LANG_NODE] = { "node", "e", "eval", "print", "" },
	[AB_LANG_PHP] = { "php", "rBRE", "run", "", "f" },
	[AB_LANG_AWK] = { "awk", "e", "source", "", "fE" },
	[AB_LANG_LUA] = { "lua", "e", "", "", "" },
};

bool ab_code_language(struct ab_text name, enum ab_language *ret)
{
	const struct interpreter *found;

	/* python3.11, lua5.4, php8 */
	found = AB_NAME_ROW(interpreters, AB_TABLE_LANGUAGES, ab_text_trim(name, "0123456789."));
	if (found)
		*ret = found->language;
	return found;
}

/* The source of the code, according to the arguments. */
struct place {
	struct ab_field code; /* text.s NULL: not in the arguments */
	size_t index;	      /* of its word */
	bool input;	      /* the code comes from standard input */
	struct ab_field file; /* text.s NULL: not in a file */
};

static void find_place(const struct ab_simple *command, enum ab_language language,
		       struct place *ret)
{
	const struct code_options *m = &code_options[language];
	const struct ab_grammar *opts = ab_grammar_as(command, m->name);
	size_t skip = command->argc > 1 && ab_field_is(&command->argv[1], "eval") &&
		      language == AB_LANG_NODE;
	bool operand = skip || language == AB_LANG_AWK;

	*ret = (struct place){ .input = language != AB_LANG_AWK };
	for (struct ab_opt_walk w = ab_opt_begin(opts, command->argv + skip, command->argc - skip);
	     ab_opt_next(&w);) {
		bool code = ab_opt_is(&w, 0, m->code_long) || ab_opt_is(&w, 0, m->code_long2) ||
			    (w.what == AB_OPT_LETTER && w.letter && strchr(m->code, w.letter));

		if (w.what == AB_OPT_LETTER && w.letter && strchr(m->other, w.letter)) {
			ret->input = false;
			return;
		}
		/* node -p CODE, and -pe */
		operand |= w.what == AB_OPT_LETTER && w.letter == 'p' && language == AB_LANG_NODE;
		if (w.what == AB_OPT_OPERAND && !operand) {
			ret->input =
				ab_field_is(&w.value, "-") || ab_field_is(&w.value, "/dev/stdin");
			ret->file = w.value;
			return;
		}
		if (!code && w.what != AB_OPT_OPERAND)
			continue;
		if (!w.value.text.s)
			continue;
		ret->code = w.value;
		ret->index = w.next - 1 + skip;
		ret->input = false;
		return;
	}
}

const struct ab_field *ab_code_find(const struct ab_simple *command, enum ab_language language)
{
	struct place place;

	find_place(command, language, &place);
	/* The whole word: `-eCODE` is rare. */
	return place.code.text.s ? &command->argv[place.index] : NULL;
}

bool ab_code_text(const struct ab_simple *command, enum ab_language language, struct ab_field *ret)
{
	const struct ab_data *in = &command->in, *known;
	struct place place;

	find_place(command, language, &place);
	if (place.code.text.s) {
		*ret = place.code;
		return true;
	}
	if (place.file.text.s && !place.input) {
		known = ab_files_read(command, &place.file);
		if (!known || ab_data_unread(known))
			return false;
		*ret = ab_data_field(known);
		return true;
	}
	if (!place.input || in->none || in->text.len == 0)
		return false;
	*ret = ab_data_field(in);
	return true;
}

void ab_code_of(struct ab_arena *arena, const struct ab_simple *command, struct ab_oneliner *ret)
{
	enum ab_language language;
	struct ab_field code;

	*ret = (struct ab_oneliner){ 0 };
	if (ab_code_language(command->name, &language) && ab_code_text(command, language, &code))
		ab_code_read(arena, language, &code, ret);
}
