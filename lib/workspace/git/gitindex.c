#include "workspace/git/gitindex.h"

#include "base/text/sha256.h"

/*
 * "DIRC", version, number of entries; then each entry: times, device, inode, mode,
 * owner, size (40 bytes), the object's name, flags, in version 3 and later perhaps
 * more flags, the path. Version 4 writes a path as the number of bytes to drop from
 * the end of the path before it, and the rest. Then extensions, and a checksum.
 */
enum {
	HEADER = 12,
	STAT = 40,
	MODE_AT = 24,
	GITLINK = 0160000,
	MORE_FLAGS = 0x4000,
};

struct index {
	const uint8_t *p, *end; /* without the checksum */
	size_t hash;
	uint32_t version;
	size_t path_len;
	char path[AB_GITINDEX_PATH + 1];
	bool unnamed;
	char base[65];
	struct ab_buf *state; /* what is not stat data, or NULL */
};

static uint32_t get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static size_t bytes_left(const struct index *x)
{
	return (size_t)(x->end - x->p);
}

/* git's own form: seven bits a byte, and each further byte adds one. */
static int read_offset(struct index *x, size_t *ret)
{
	size_t value = 0;

	for (bool first = true;; first = false) {
		uint8_t c;

		if (bytes_left(x) == 0 || value > AB_GITINDEX_PATH)
			return -1;
		c = *x->p++;
		value = (first ? 0 : (value + 1) << 7) | (c & 0x7f);
		if (!(c & 0x80))
			break;
	}
	*ret = value;
	return 0;
}

static int read_path(struct index *x, const uint8_t *entry)
{
	const uint8_t *nul;
	size_t keep = 0, drop, len, whole;

	if (x->version == 4) {
		if (read_offset(x, &drop) < 0 || drop > x->path_len)
			return -1;
		keep = x->path_len - drop;
	}
	nul = memchr(x->p, '\0', bytes_left(x));
	if (!nul)
		return -1;
	len = (size_t)(nul - x->p);
	/* In a split index an entry without a path replaces one of the shared index. */
	if (keep + len > AB_GITINDEX_PATH)
		return -1;
	memcpy(x->path + keep, x->p, len);
	x->path_len = keep + len;
	x->path[x->path_len] = '\0';
	x->p = nul + 1;
	if (x->version == 4)
		return 0;
	/* One to eight NUL bytes, to a multiple of eight. */
	whole = ((size_t)(nul - entry) + 8) & ~(size_t)7;
	if (whole > (size_t)(x->end - entry))
		return -1;
	x->p = entry + whole;
	return 0;
}

static int read_entry(struct index *x, uint32_t *ret_mode)
{
	const uint8_t *entry = x->p;
	size_t fixed = STAT + x->hash + 2;
	unsigned flags;

	if (bytes_left(x) < fixed + 2)
		return -1;
	*ret_mode = get_u32(entry + MODE_AT);
	flags = (unsigned)entry[fixed - 2] << 8 | entry[fixed - 1];
	x->p += fixed;
	if (flags & MORE_FLAGS) {
		if (x->version < 3)
			return -1;
		x->p += 2;
	}
	if (read_path(x, entry) < 0)
		return -1;
	if (x->state) {
		size_t more = flags & MORE_FLAGS ? 2 : 0;

		ab_buf_add(x->state, entry + MODE_AT, 4);
		ab_buf_add(x->state, entry + STAT, x->hash + 2 + more);
		ab_buf_add(x->state, x->path, x->path_len + 1);
	}
	return 0;
}

static void keep_base(struct index *x, const uint8_t *name)
{
	static const char digits[] = "0123456789abcdef";
	bool any = false;

	for (size_t i = 0; i < x->hash; i++) {
		x->base[2 * i] = digits[name[i] >> 4];
		x->base[2 * i + 1] = digits[name[i] & 15];
		any |= name[i] != 0;
	}
	x->base[any ? 2 * x->hash : 0] = '\0';
}

static int read_extensions(struct index *x)
{
	while (bytes_left(x) > 0) {
		const uint8_t *name = x->p;
		size_t size;

		if (bytes_left(x) < 8)
			return -1;
		size = get_u32(x->p + 4);
		x->p += 8;
		if (size > bytes_left(x))
			return -1;
		if (memcmp(name, "link", 4) == 0 && size >= x->hash)
			keep_base(x, x->p);
		/* git ignores an extension that it does not know if the name begins with a
		 * capital letter; any other changes what the entries mean. */
		if (x->state && !(name[0] >= 'A' && name[0] <= 'Z'))
			ab_buf_add(x->state, name, 8 + size);
		x->p += size;
	}
	return 0;
}

/* With fn NULL only check it. */
static int read_index(struct index *x, const uint8_t *data, size_t len, ab_gitindex_fn *fn,
		      void *arg)
{
	uint32_t n, mode;

	if (len < HEADER + x->hash || memcmp(data, "DIRC", 4) != 0)
		return -1;
	x->version = get_u32(data + 4);
	n = get_u32(data + 8);
	if (x->version < 2 || x->version > 4)
		return -1;
	x->p = data + HEADER;
	x->end = data + len - x->hash;
	x->path_len = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (read_entry(x, &mode) < 0)
			return -1;
		if ((mode & 0170000) != GITLINK)
			continue;
		x->unnamed |= x->path_len == 0;
		if (fn && x->path_len > 0)
			fn(arg, x->path);
	}
	return read_extensions(x);
}

/* Lengths of object names. */
static const size_t hashes[] = { 20, 32 };

struct ab_gitindex ab_gitindex_parse(const char *data, size_t len, ab_gitindex_fn *fn, void *arg)
{
	struct ab_gitindex ret = { 0 };
	struct index x;

	for (size_t i = 0; i < AB_COUNT(hashes) && len <= AB_GITINDEX_MAX; i++) {
		x = (struct index){ .hash = hashes[i] };
		if (read_index(&x, (const void *)data, len, NULL, NULL) < 0)
			continue;
		ret.valid = true;
		ret.unnamed |= x.unnamed;
		if (x.base[0])
			memcpy(ret.base, x.base, sizeof(ret.base));
		(void)read_index(&x, (const void *)data, len, fn, arg);
	}
	return ret;
}

int ab_gitindex_digest(const char *data, size_t len, char ret[65])
{
	ab_autobuf struct ab_buf state = { 0 };
	bool valid = false;

	for (size_t i = 0; i < AB_COUNT(hashes) && len <= AB_GITINDEX_MAX; i++) {
		struct index x = { .hash = hashes[i], .state = &state };
		size_t before = state.len;

		if (len >= HEADER)
			ab_buf_add(&state, data, HEADER);
		if (read_index(&x, (const void *)data, len, NULL, NULL) == 0)
			valid = true;
		else
			state.len = before;
	}
	if (!valid)
		return -1;
	ab_sha256(state.data, state.len, ret);
	return 0;
}
