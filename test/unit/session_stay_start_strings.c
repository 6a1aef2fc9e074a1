/* The strings of a request to start a command: exactly those that were announced, or none. */
#include "session/stay/start_strings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "tap.h"

#define TEXT(s) (s), sizeof(s) - 1

static const struct {
	const char *data;
	size_t len, argc;
	bool script;
	size_t nenv;
	bool right;
	const char *name;
} cases[] = {
	{ TEXT("/w\0true\0"), 1, false, 0, true, "a folder and a word" },
	{ TEXT("/w\0sh\0-c\0x\0A=1\0B=2\0"), 3, false, 2, true, "words and variables" },
	{ TEXT("/w\0sh\0-c\0x\0x\0A=1\0"), 3, true, 1, true, "a text for the shell" },
	{ TEXT("/w\0\0\0"), 2, false, 0, true, "empty words" },
	{ TEXT("/w\0\xff\xfe\n\0"), 1, false, 0, true, "any byte" },
	{ TEXT(""), 1, false, 0, false, "nothing" },
	{ TEXT("/w\0"), 0, false, 0, false, "no word" },
	{ TEXT("/w\0true"), 1, false, 0, false, "the last NUL is missing" },
	{ TEXT("/w\0true\0more\0"), 1, false, 0, false, "a string too many" },
	{ TEXT("/w\0true\0"), 2, false, 0, false, "a word is missing" },
	{ TEXT("/w\0true\0"), 1, true, 0, false, "the text is missing" },
	{ TEXT("/w\0true\0"), 1, false, 1, false, "a variable is missing" },
	{ TEXT("w\0true\0"), 1, false, 0, false, "the folder is not absolute" },
	{ TEXT("\0true\0"), 1, false, 0, false, "the folder is empty" },
};

/* The last byte is before a page that cannot be read. */
static char *copy_to_edge(const char *data, size_t len, char **ret_map)
{
	char *map =
		mmap(NULL, 8192 * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *at = map + 8192 - len;

	memcpy(at, data, len);
	mprotect(map + 8192, 8192, PROT_NONE);
	*ret_map = map;
	return at;
}

static int read_case(size_t i, size_t len, struct ab_start_strings *ret)
{
	struct ab_error err = { 0 };
	char *map, *at = copy_to_edge(cases[i].data, len, &map);
	int r = ab_start_strings_read(at, len, cases[i].argc, cases[i].script, cases[i].nenv, ret,
				      &err);

	munmap(map, 8192 * 2);
	return r;
}

static void test_cases(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ab_start_strings s = { 0 };
		ab_autobuf struct ab_buf b = { 0 };
		bool cut = true;

		ok((read_case(i, cases[i].len, &s) == 0) == cases[i].right, "%s", cases[i].name);
		if (!cases[i].right)
			continue;
		ab_start_strings_write(&s, &b);
		ok(b.len == cases[i].len && memcmp(b.data, cases[i].data, b.len) == 0,
		   "%s: written as it was read", cases[i].name);
		ab_start_strings_fini(&s);
		for (size_t len = 0; len < cases[i].len; len++)
			cut = cut && read_case(i, len, &s) < 0;
		ok(cut, "%s: refused when it is cut at any byte", cases[i].name);
	}
}

int main(void)
{
	test_cases();
	return done();
}
