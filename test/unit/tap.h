#ifndef AB_TEST_TAP_H
#define AB_TEST_TAP_H
/*
 * The smallest TAP producer: is(), is_str(), then `return done();` at the end
 * of main. A failed check says where and what it saw.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count, tap_failed;

/* A sanitizer makes each round of a long loop ten to twenty times as long, and looks at memory: for that a
 * part of the rounds is enough. */
#ifdef AB_SANITIZED
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

#define ok(cond, ...)                                                       \
	do {                                                                \
		int tap_ok_ = !!(cond);                                     \
		tap_count++;                                                \
		tap_failed += !tap_ok_;                                     \
		printf("%sok %d - ", tap_ok_ ? "" : "not ", tap_count);     \
		printf(__VA_ARGS__);                                        \
		printf("\n");                                               \
		if (!tap_ok_)                                               \
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #cond); \
		fflush(stdout);                                             \
	} while (0)

static inline void is_str_at(const char *file, int line, const char *got, const char *want,
			     const char *name)
{
	int same = got && want ? strcmp(got, want) == 0 : got == want;

	tap_count++;
	tap_failed += !same;
	printf("%sok %d - %s\n", same ? "" : "not ", tap_count, name);
	if (!same)
		printf("# %s:%d: got \"%s\", want \"%s\"\n", file, line, got ? got : "(null)",
		       want ? want : "(null)");
}
#define is_str(got, want, name) is_str_at(__FILE__, __LINE__, (got), (want), (name))

/* What cannot be checked as this user. */
static inline void skip(const char *name, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++tap_count, name, why);
}

/* What this machine lacks: skipped, or a failure where every feature is expected. */
static inline void lacks(const char *name, const char *why)
{
	const char *none = getenv("AB_NO_SKIP");

	if (!none || strcmp(none, "1") != 0) {
		skip(name, why);
		return;
	}
	tap_failed++;
	printf("not ok %d - %s\n# required (AB_NO_SKIP=1): %s\n", ++tap_count, name, why);
}

static inline int done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}

#endif
