#include "shell/command/grammar.h"

#include "shell/command/name_index.h"

static const struct ab_grammar none;

const struct ab_grammar *ab_grammar_row(const struct ab_name_slot *slot)
{
	return slot && slot->grammar ? &ab_grammars[slot->grammar - 1] : &none;
}

const struct ab_grammar *ab_grammar(struct ab_text name)
{
	return ab_grammar_row(name.len ? ab_name_find(name) : NULL);
}

const struct ab_grammar *ab_grammar_of(const char *name)
{
	return ab_grammar(ab_text_of(name));
}

const struct ab_grammar *ab_grammar_sub(const char *program, struct ab_text sub)
{
	char name[sizeof(ab_name_index->name)];
	size_t len = strlen(program) + 1;

	if (sub.len == 0 || len + sub.len > sizeof(name))
		return &none;
	memcpy(name, program, len - 1);
	name[len - 1] = ' ';
	memcpy(name + len, sub.s, sub.len);
	return ab_grammar((struct ab_text){ name, (uint32_t)(len + sub.len) });
}
