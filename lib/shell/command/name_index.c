#include "shell/command/name_index.h"

const struct ab_name_slot *ab_name_find(struct ab_text name)
{
	uint32_t hash = 2166136261u;

	if (name.len > sizeof(ab_name_index->name))
		name.len = sizeof(ab_name_index->name);
	for (uint32_t i = 0; i < name.len; i++)
		hash = (hash ^ (unsigned char)name.s[i]) * 16777619u;
	hash ^= hash >> 15;
	for (uint32_t at = hash & (ab_name_slots - 1);; at = (at + 1) & (ab_name_slots - 1)) {
		const struct ab_name_slot *slot = &ab_name_index[at];

		if (slot->len == 0)
			return NULL;
		if (slot->len == name.len && memcmp(slot->name, name.s, name.len) == 0)
			return slot;
	}
}

static unsigned find_tables(struct ab_text name)
{
	const struct ab_name_slot *slot = ab_name_find(name);

	return slot ? slot->tables : 0;
}

/* Bytes of a version, as in python3.11 and lua5.4. */
static bool is_version_byte(char c)
{
	return (c >= '0' && c <= '9') || c == '.' || c == '-';
}

unsigned ab_name_tables(struct ab_text name)
{
	unsigned tables = AB_TABLE_LOOKED_UP;
	struct ab_text bare = name;

	if (name.len == 0)
		return tables;
	tables |= find_tables(name);
	while (bare.len > 1 && is_version_byte(bare.s[bare.len - 1]))
		bare.len--;
	if (bare.len != name.len)
		tables |= find_tables(bare);
	return tables;
}
