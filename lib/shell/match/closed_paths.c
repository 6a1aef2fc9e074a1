#include "shell/match/closed_paths.h"

enum { FILTERED = 3 }; /* components that the filter sees */

static uint32_t add_hash(uint32_t hash, struct ab_text part)
{
	for (uint32_t i = 0; i < part.len; i++)
		hash = (hash ^ (unsigned char)part.s[i]) * 16777619u;
	return (hash ^ '/') * 16777619u;
}

static bool has_hash(const uint64_t bits[static 64], uint32_t hash)
{
	uint32_t at = (hash ^ hash >> 13) & (64 * 64 - 1);

	return bits[at / 64] & 1ull << at % 64;
}

static void put_hash(uint64_t bits[static 64], uint32_t hash)
{
	uint32_t at = (hash ^ hash >> 13) & (64 * 64 - 1);

	bits[at / 64] |= 1ull << at % 64;
}

/* The next component of an entry; len 0: no more. */
static struct ab_text next_part(const char **entry)
{
	const char *from = *entry, *to;

	while (*from == '/')
		from++;
	to = strchrnul(from, '/');
	*entry = to;
	return (struct ab_text){ from, (uint32_t)(to - from) };
}

static bool is_pattern(struct ab_text part)
{
	for (uint32_t i = 0; i < part.len; i++)
		if (part.s[i] == '*' || part.s[i] == '?' || part.s[i] == '[')
			return true;
	return false;
}

enum reach { APART, CONTAINS, CLOSED };

/* What the filters know about a path; CLOSED: it may be closed. */
static enum reach filter_path(const struct ab_closed *closed, const struct ab_path *path)
{
	uint32_t hash = 2166136261u;

	if (closed->unfiltered)
		return CLOSED;
	for (size_t i = 0; i < FILTERED && i < path->len; i++) {
		hash = add_hash(hash, path->part[i]);
		if (has_hash(closed->closes, hash))
			return CLOSED;
		if (!has_hash(closed->contains, hash))
			return APART;
	}
	return CONTAINS;
}

static bool goes_up(struct ab_text folder)
{
	for (uint32_t i = 0; i + 3 <= folder.len; i++)
		if (folder.s[i] == '/' && folder.s[i + 1] == '.' && folder.s[i + 2] == '.')
			return true;
	return false;
}

static bool filter_folder(const struct ab_closed *closed, struct ab_text folder)
{
	uint32_t hash = 2166136261u, from = 1;

	if (closed->unfiltered || folder.len < 2 || folder.s[0] != '/')
		return true;
	for (unsigned parts = 0; parts < FILTERED && from < folder.len; parts++) {
		uint32_t to = from;

		while (to < folder.len && folder.s[to] != '/')
			to++;
		/* The folder is not clean. */
		if (to == from || folder.s[from] == '.')
			return true;
		hash = add_hash(hash, (struct ab_text){ folder.s + from, to - from });
		if (has_hash(closed->closes, hash))
			return true;
		if (!has_hash(closed->contains, hash))
			return goes_up(folder);
		from = to + 1;
	}
	return true;
}

void ab_closed_init(struct ab_closed *closed, const struct ab_strv *deny_read, const char *cwd)
{
	*closed = (struct ab_closed){ .names = deny_read };
	for (size_t i = 0; i < deny_read->len; i++) {
		const char *entry = deny_read->v[i];
		uint32_t hash = 2166136261u;
		unsigned parts = 0;
		struct ab_text part;

		if (entry[0] != '/')
			continue;
		for (; parts < FILTERED; parts++) {
			part = next_part(&entry);
			if (part.len == 0 || is_pattern(part))
				break;
			if (parts)
				put_hash(closed->contains, hash);
			hash = add_hash(hash, part);
		}
		if (parts == 0)
			closed->unfiltered = true;
		put_hash(closed->closes, hash);
	}
	closed->cwd = (struct ab_text){ cwd, cwd ? (uint32_t)strlen(cwd) : 0 };
	closed->below_cwd = filter_folder(closed, closed->cwd);
}

bool ab_closed_below(const struct ab_closed *closed, struct ab_text folder)
{
	bool same = folder.s == closed->cwd.s && folder.len == closed->cwd.len;

	return same ? closed->below_cwd : filter_folder(closed, folder);
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

	if (!path->anchored || path->remote || path->len == 0 ||
	    filter_path(closed, path) != CLOSED)
		return false;
	for (size_t i = 0; i < closed->names->len; i++) {
		const char *entry = closed->names->v[i];
		bool back = entry[0] == '!';

		if (found == back && is_within(path, entry + back))
			found = !back;
	}
	return found;
}
