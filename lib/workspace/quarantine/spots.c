#include "workspace/quarantine/spots.h"

#include <sys/mman.h>

#include "base/data/hash.h"

enum {
	ROOM = 1 << 20, /* the kernel gives it only what is used */
	INDEX = 1 << 14,
};

/* Each path after its kind and with its NUL. */
struct ab_spots {
	size_t room; /* of the paths in it */
	struct shared {
		_Atomic uint32_t len;
		_Atomic uint32_t lost;
		char text[];
	} * shared;
	uint32_t at[INDEX]; /* where a path is noted, by its hash; 0: nowhere */
};

struct ab_spots *ab_spots_new(size_t room)
{
	struct ab_spots *s;
	void *at;

	room = room ? room : ROOM;
	at = mmap(NULL, sizeof(struct shared) + room, PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	s = ab_alloc(sizeof(*s));
	*s = (struct ab_spots){ .room = room, .shared = at };
	return s;
}

void ab_spots_lose(struct ab_spots *s)
{
	s->shared->lost = 1;
}

bool ab_spots_is_whole(const struct ab_spots *s)
{
	return !s->shared->lost;
}

/* A box that finds two paths of the same hash only has one of them noted twice. */
static uint32_t *find_slot(struct ab_spots *s, enum ab_spot kind, const char *path)
{
	uint64_t hash = ab_hash(AB_HASH_START ^ kind, path, strlen(path));

	return &s->at[(hash ^ hash >> 32) % INDEX];
}

void ab_spots_add(struct ab_spots *s, enum ab_spot kind, const char *path)
{
	uint32_t len = s->shared->len, *slot = find_slot(s, kind, path);
	size_t more = strlen(path) + 2;
	const char *known = s->shared->text + *slot;

	if (*slot && known[-1] == (char)kind && strcmp(known, path) == 0)
		return;
	if (more > s->room - len) {
		ab_spots_lose(s);
		return;
	}
	s->shared->text[len] = (char)kind;
	memcpy(s->shared->text + len + 1, path, more - 1);
	*slot = len + 1;
	/* After the text: the guard may be killed in between. */
	s->shared->len = len + (uint32_t)more;
}

char *ab_spots_next(const struct ab_spots *s, size_t *at, enum ab_spot *ret_kind)
{
	size_t len = s->shared->len, n;
	const char *path = s->shared->text + *at + 1;

	len = len < s->room ? len : s->room;
	if (*at + 2 > len || path[0] != '/')
		return NULL;
	n = strnlen(path, len - *at - 1);
	*ret_kind = path[-1] == AB_SPOT_TREE ? AB_SPOT_TREE : AB_SPOT_FOLDER;
	*at += n + 2;
	/* A copy: the guard may still live. */
	return ab_strndup(path, n);
}
