#include "base/data/error.h"

#include <errno.h>
#include <stdbool.h>

#include "tap.h"

static bool holds(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

static void test_fail(void)
{
	struct ab_error err;

	/* Garbage before: ab_fail sets every field. */
	memset(&err, 'x', sizeof(err));
	ok(ab_fail(&err, AB_ECONFIG, 0, "line %d", 7) == -1, "fail returns -1");
	ok(err.code == AB_ECONFIG, "the code is kept");
	ok(err.errnum == 0, "no errno when there is none");
	is_str(err.text, "line 7", "the text is formatted");
	is_str(err.step, "", "no step yet");
	is_str(err.hint, "", "no hint yet");

	errno = EPERM;
	ab_fail(&err, AB_ESYSTEM, ENOENT, "open %s", "/x");
	ok(err.errnum == ENOENT, "errno is the argument, not the variable");
	is_str(err.text, "open /x: No such file or directory", "the system's words follow");
}

static void test_wrap(void)
{
	struct ab_error err;

	ab_fail(&err, AB_ESYSTEM, EACCES, "open a");
	ab_hint(&err, "try b");
	ab_step(&err, "mounts");
	ok(ab_wrap(&err, "box %s", "7kq2") == -1, "wrap returns -1");
	is_str(err.text, "box 7kq2: open a: Permission denied", "the context stands in front");
	ok(err.errnum == EACCES && err.code == AB_ESYSTEM, "wrap keeps the cause");
	is_str(err.hint, "try b", "wrap keeps the hint");
	is_str(err.step, "mounts", "wrap keeps the step");
}

static void test_step_and_hint(void)
{
	struct ab_error err;

	ab_fail(&err, AB_EUSAGE, 0, "a");
	ok(ab_step(&err, "inner") == -1, "step returns -1");
	ab_step(&err, "outer");
	is_str(err.step, "inner", "the deepest step stays");
	ok(ab_hint(&err, "say %s", "b") == -1, "hint returns -1");
	is_str(err.hint, "say b", "the hint is formatted");
	ab_hint(&err, "say c");
	is_str(err.hint, "say c", "a later hint replaces it");
	ab_fail(&err, AB_EUSAGE, 0, "b");
	is_str(err.step, "", "a new failure has no old step");
	is_str(err.hint, "", "a new failure has no old hint");
}

static void test_bounds(void)
{
	struct ab_error err;
	char big[4 * sizeof(err.text)];

	memset(big, 'b', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	ab_fail(&err, AB_ESYSTEM, ENOENT, "%s", big);
	ok(strlen(err.text) == sizeof(err.text) - 1, "a long text is cut");
	ab_wrap(&err, "front");
	ok(strncmp(err.text, "front: bbb", 10) == 0 && strlen(err.text) == sizeof(err.text) - 1,
	   "a full text can be wrapped");
	ab_wrap(&err, "%s", big);
	ok(strlen(err.text) == sizeof(err.text) - 1, "a long context is cut");
	ab_hint(&err, "%s", big);
	ok(strlen(err.hint) == sizeof(err.hint) - 1, "a long hint is cut");
	ab_step(&err, big);
	ok(strlen(err.step) == sizeof(err.step) - 1, "a long step is cut");
	ab_fail(&err, AB_ESYSTEM, 0, "%s", "100%s");
	ab_wrap(&err, "%%");
	ok(holds(err.text, "%: 100%s"), "text is never taken as a format");
}

int main(void)
{
	test_fail();
	test_wrap();
	test_step_and_hint();
	test_bounds();
	return done();
}
