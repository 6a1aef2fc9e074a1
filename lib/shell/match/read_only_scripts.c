#include "shell/match/read_only_scripts.h"

#include "shell/command/grammar.h"
#include "shell/syntax/name_table.h"

struct cursor {
	const char *p, *end;
};

static bool is_in(char c, const char *set)
{
	return c && strchr(set, c);
}

static void skip(struct cursor *c, const char *set)
{
	while (c->p < c->end && is_in(*c->p, set))
		c->p++;
}

/* Past the next delimiter that is not escaped. */
static bool skip_section(struct cursor *c, char delimiter)
{
	for (; c->p < c->end; c->p++) {
		if (*c->p == '\\' && c->p + 1 < c->end)
			c->p++;
		else if (*c->p == delimiter) {
			c->p++;
			return true;
		}
	}
	return false;
}

static bool skip_address(struct cursor *c)
{
	for (;;) {
		skip(c, " \t;\n0123456789$,!~+");
		if (c->p == c->end || *c->p != '/')
			return true;
		c->p++;
		if (!skip_section(c, '/'))
			return false;
		skip(c, "IM");
	}
}

/* Commands without an operand; flags of s that neither run nor write. */
#define SED_COMMANDS "pdqQ=nNhHgGxDPl{}zF"
#define SED_FLAGS "gpiIm0123456789"

static bool sed_prints(struct ab_text script)
{
	struct cursor c = { script.s, script.s + script.len };

	while (skip_address(&c) && c.p < c.end) {
		char what = *c.p++;

		if (is_in(what, SED_COMMANDS))
			continue;
		if ((what != 's' && what != 'y') || c.p == c.end)
			return false;
		what = *c.p++;
		if (is_in(what, "\\\n") || !skip_section(&c, what) || !skip_section(&c, what))
			return false;
		skip(&c, SED_FLAGS);
		skip(&c, " \t");
		if (c.p < c.end && !is_in(*c.p, ";\n}"))
			return false;
	}
	return c.p == c.end;
}

bool ab_reads_sed(const struct ab_simple *command)
{
	static const char harmless[] = "expression line-length null-data posix quiet "
				       "regexp-extended sandbox separate silent unbuffered";
	const struct ab_opts opts = ab_grammar_of("sed");
	struct ab_opt_walk w;
	enum ab_opt what;
	bool seen = false;

	ab_opt_begin(&w, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		if (ab_opt_is(&w, what, 'e', "expression")) {
			seen = true;
			if (!w.value.text.s || !sed_prints(w.value.text))
				return false;
		} else if (what == AB_OPT_LETTER) {
			if (!is_in(w.letter, "nErsuzl"))
				return false;
		} else if (what == AB_OPT_LONG) {
			if (!ab_listed(harmless, w.name))
				return false;
		}
	}
	if (seen)
		return true;
	/* Without -e the first operand is the script. */
	ab_opt_begin(&w, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END)
		if (what == AB_OPT_OPERAND)
			return sed_prints(w.value.text);
	return false;
}

/* A comparison with > is taken for a redirection: it costs only the allow. */
static bool awk_prints(struct ab_text code)
{
	static const char words[][8] = { "system", "getline", ">", "|", "@", "close(", "fflush" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (memmem(code.s, code.len, words[i], strlen(words[i])))
			return false;
	return true;
}

bool ab_reads_awk(const struct ab_simple *command)
{
	const struct ab_opts opts = ab_grammar_of("awk");
	struct ab_opt_walk w;
	enum ab_opt what;

	ab_opt_begin(&w, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		if (what == AB_OPT_OPERAND)
			return awk_prints(w.value.text);
		if (what != AB_OPT_LETTER || !is_in(w.letter, "Fv"))
			return false;
	}
	return false;
}
