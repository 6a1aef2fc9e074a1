/* Names of container images, and their patterns. */
#include "policy/values/image.h"

#include "base/data/mem.h"
#include "tap.h"

static const struct {
	const char *name, *brief; /* NULL: not a name */
} names[] = {
	{ "postgres", "postgres:latest" },
	{ "postgres:16", "postgres:16" },
	{ "docker.io/library/postgres:16", "postgres:16" },
	{ "library/postgres", "postgres:latest" },
	{ "docker.io/me/x:1", "me/x:1" },
	{ "localhost:5000/x", "localhost:5000/x:latest" },
	{ "ghcr.io/a/b@sha256:12", "ghcr.io/a/b@sha256:12" },
	{ "", NULL },
	{ "postgres:", NULL },
	{ "a//b", NULL },
	{ "a/../b", NULL },
	{ "-x", NULL },
	{ "a b", NULL },
	{ "postgres:*", NULL },
	{ "a\n", NULL },
};

static const struct {
	const char *pattern, *name;
	bool matches;
} matches[] = {
	{ "postgres:*", "postgres:16", true },
	{ "postgres:*", "postgres", true },
	{ "postgres:*", "docker.io/library/postgres:16-alpine", true },
	{ "postgres:*", "evil.example/postgres:16", false },
	{ "postgres:*", "postgresx:16", false },
	{ "postgres", "postgres:16", false },
	{ "postgres", "postgres:latest", true },
	{ "docker.io/library/redis:7", "redis:7", true },
	{ "redis:7", "redis:7.2", false },
	{ "redis:7", "redis:7@sha256:00", false },
	{ "me/*", "me/a:1", true },
	{ "*", "evil.example/x:1", true },
	{ "a*c*:1", "abcc:1", true },
	{ "a*c*:1", "ab:1", false },
};

int main(void)
{
	for (size_t i = 0; i < AB_COUNT(names); i++) {
		ab_autofree char *brief = ab_image_short(names[i].name, false);

		is_str(brief, names[i].brief, names[i].name[0] ? names[i].name : "(empty)");
	}
	for (size_t i = 0; i < AB_COUNT(matches); i++) {
		ab_autofree char *pattern = ab_image_short(matches[i].pattern, true);
		ab_autofree char *name = ab_image_short(matches[i].name, false);

		ok(pattern && name && ab_image_matches(pattern, name) == matches[i].matches,
		   "%s and %s", matches[i].pattern, matches[i].name);
	}
	return done();
}
