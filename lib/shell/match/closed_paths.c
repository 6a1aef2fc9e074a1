#include "shell/match/closed_paths.h"

#include "base/data/strv.h"

enum { FILTERED = 3 }; /* components that the filter sees */

static uint32_t add_hash(uint32_t hash, struct ab_text part)
{
	for (uint32_t i = 0; i < part.len; i++)
		hash = (hash ^ (unsigned char)part.s[i]) * 16777619u;
	return (hash ^ '/') * 16777619u;
}

static uint32_t get_bit(uint32_t hash)
{
	return (hash ^ hash >> 13) & (64 * 64 - 1);
}

/* The next component of an entry; len 0: no more. */
static struct ab_text next_part(const char **entry)
{
	const char *from = *entry + strspn(*entry, "/");
	size_t len = strcspn(from, "/");

	*entry = from + len;
	return (struct ab_text){ from, (uint32_t)len };
}

void ab_closed_init(struct ab_closed *closed, const struct ab_strv *deny_read)
{
	*closed = (struct ab_closed){ .names = deny_read };
	for (size_t i = 0; i < deny_read->len; i++) {
		const char *entry = deny_read->v[i];
		uint32_t hash = 2166136261u;
		unsigned parts = 0;
		struct ab_text part;

		if (entry[0] != '/')
			continue;
		while (parts < FILTERED && (part = next_part(&entry)).len &&
		       !memchr(part.s, '*', part.len) && !memchr(part.s, '?', part.len) &&
		       !memchr(part.s, '[', part.len)) {
			hash = add_hash(hash, part);
			parts++;
		}
		if (parts == 0)
			closed->unfiltered = true;
		closed->bits[get_bit(hash) / 64] |= 1ull << get_bit(hash) % 64;
	}
}

static bool may_be_closed(const struct ab_closed *closed, const struct ab_path *path)
{
	uint32_t hash = 2166136261u;

	if (closed->unfiltered || path->pattern)
		return true;
	for (size_t i = 0; i < FILTERED && i < path->len; i++) {
		hash = add_hash(hash, path->part[i]);
		if (closed->bits[get_bit(hash) / 64] & 1ull << get_bit(hash) % 64)
			return true;
	}
	return false;
}

bool ab_closed_below(const struct ab_closed *closed, const struct ab_path *folder)
{
	return !folder->anchored || folder->len < FILTERED || may_be_closed(closed, folder);
}

/* The entry, or something below it. */
static bool is_within(const struct ab_path *path, const char *entry)
{
	struct ab_text part;
	size_t at = 0;

	for (; (part = next_part(&entry)).len; at++) {
		struct ab_text own;

		if (at >= path->len || at >= AB_PATH_PARTS)
			return false;
		own = path->part[at];
		if (part.len == own.len && memcmp(part.s, own.s, own.len) == 0)
			continue;
		if (memchr(own.s, AB_UNKNOWN, own.len) || !ab_pattern_reaches(part, own))
			return false;
	}
	return at > 0;
}

bool ab_closed_has(const struct ab_closed *closed, const struct ab_path *path)
{
	bool found = false;

	if (!path->anchored || path->remote || path->len == 0 || !may_be_closed(closed, path))
		return false;
	for (size_t i = 0; i < closed->names->len; i++) {
		const char *entry = closed->names->v[i];
		bool back = entry[0] == '!';

		if (found == back && is_within(path, entry + back))
			found = !back;
	}
	return found;
}
