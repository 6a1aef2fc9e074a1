#include "shell/command/grammar.h"

#include "shell/command/name_index.h"

_Static_assert(sizeof(struct ab_grammar) == AB_OPTS_STRIDE, "find_long() steps over rows");

struct ab_opts ab_grammar_row(const struct ab_name_slot *slot)
{
	const struct ab_grammar *row;

	if (!slot || !slot->grammar)
		return (struct ab_opts){ 0 };
	row = &ab_grammars[slot->grammar - 1];
	return (struct ab_opts){ row->values, row->longs, row->ends, row->exact, slot->more };
}

struct ab_opts ab_grammar(struct ab_text name)
{
	return ab_grammar_row(name.len ? ab_name_find(name) : NULL);
}

struct ab_opts ab_grammar_of(const char *name)
{
	return ab_grammar(ab_text_of(name));
}

struct ab_opts ab_grammar_sub(const char *program, struct ab_text sub)
{
	char name[sizeof(ab_name_index->name)];
	size_t len = strlen(program) + 1;

	if (sub.len == 0 || len + sub.len > sizeof(name))
		return (struct ab_opts){ 0 };
	memcpy(name, program, len - 1);
	name[len - 1] = ' ';
	memcpy(name + len, sub.s, sub.len);
	return ab_grammar((struct ab_text){ name, (uint32_t)(len + sub.len) });
}
