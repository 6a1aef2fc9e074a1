#include "shell/command/name_index.h"

#include "shell/command/grammar.h"

/* Of the first eight bytes and the last eight; scripts/judge-tables has the same. */
static uint32_t hash_name(struct ab_text name)
{
	uint64_t number = ab_name_number(name);

	if (name.len > 8)
		number ^= ab_name_number(ab_text_rest(name, name.len - 8)) >> 1;
	return (uint32_t)(number * 0x9e3779b97f4a7c15u >> 48);
}

const struct ab_name_slot *ab_name_find(struct ab_text name)
{
	uint32_t hash = hash_name(name);

	if (name.len > sizeof(ab_name_index->name))
		return NULL;
	for (uint32_t at = hash & (ab_name_slots - 1);; at = (at + 1) & (ab_name_slots - 1)) {
		const struct ab_name_slot *slot = &ab_name_index[at];

		if (slot->len == 0)
			return NULL;
		if (slot->len == name.len && memcmp(slot->name, name.s, name.len) == 0)
			return slot;
	}
}

/* Bytes that were not read may be any. */
static unsigned get_bytes(const struct ab_field *word)
{
	return word->bytes ? word->bytes : UINT8_MAX;
}

static unsigned get_option_signs(struct ab_text option)
{
	static const bool outputs[256] = { ['-'] = true, ['O'] = true, ['o'] = true, ['w'] = true };

	return option.len > 1 && outputs[(unsigned char)option.s[1]]
		       ? AB_SIGN_OPTION | AB_SIGN_OUTPUT
		       : AB_SIGN_OPTION;
}

static unsigned find_signs(const struct ab_simple *command)
{
	const struct ab_field *first = command->argv;
	unsigned signs = 0, taint;
	bool unknown;

	if (command->nredirects)
		signs |= AB_SIGN_REDIRECT;
	if (command->files || !command->in.none)
		signs |= AB_SIGN_INPUT;
	if (!command->argc)
		return signs;
	unknown = first->unknown | first->splits;
	taint = first->taint;
	for (size_t i = 1; i < command->argc; i++) {
		const struct ab_field *word = &command->argv[i];

		signs |= get_bytes(word);
		if (word->text.len && word->text.s[0] == '-')
			signs |= get_option_signs(word->text);
		unknown |= word->unknown | word->splits;
		taint |= word->taint;
	}
	if (unknown)
		signs |= AB_SIGN_UNKNOWN;
	if (taint & AB_TAINT_GLUED)
		signs |= AB_SIGN_GLUED;
	if (get_bytes(first) & AB_BYTES_SLASH)
		signs |= AB_SIGN_NAME_SLASH;
	if (get_bytes(first) & AB_BYTES_UP)
		signs |= AB_SIGN_NAME_UP;
	if (first->pattern)
		signs |= AB_SIGN_NAME_PATTERN;
	return signs;
}

void ab_command_look_up(struct ab_simple *command)
{
	/* python3.11 and lua5.4 are also known without their versions. */
	struct ab_text name = command->name, bare = ab_text_trim(name, "0123456789.-");
	const struct ab_name_slot *slot = name.len ? ab_name_find(name) : NULL;

	command->slot = command->bare_slot = slot;
	command->tables = slot ? slot->tables : 0;
	command->opts = ab_grammar_row(slot);
	command->signs = find_signs(command);
	if (bare.len && bare.len != name.len) {
		slot = command->bare_slot = ab_name_find(bare);
		command->tables |= slot ? slot->tables : 0;
	}
}
