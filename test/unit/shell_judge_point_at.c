#include "shell/judge/point_at.h"

#include "base/data/buf.h"
#include "base/data/mem.h"

#include "tap.h"

static struct ab_text text_of(const char *s)
{
	return (struct ab_text){ s, (uint32_t)strlen(s) };
}

static const struct {
	const char *name, *text;
	struct ab_span range;
	const char *want;
} marked[] = {
	{ "a part in the middle", "ls; rm x; ls", { 4, 8 }, "ls; rm x; ls\n    ^^^^" },
	{ "all of it", "reboot", { 0, 6 }, "reboot\n^^^^^^" },
	{ "no bytes at all", "ab", { 2, 2 }, "ab\n  ^" },
	{ "behind characters that are written out", "\x1b;rm", { 2, 4 }, "\\x1b;rm\n     ^^" },
	{ "behind wide ones", "\xe6\x97\xa5 rm", { 4, 6 }, "\xe6\x97\xa5 rm\n   ^^" },
	{ "behind a line break", "ls\nrm", { 3, 5 }, "ls\\nrm\n    ^^" },
	{ "cut at the end",
	  "rm x 456789012345678901234567890123456789",
	  { 0, 4 },
	  "rm x 456789012345678901...\n^^^^" },
	{ "cut at both ends",
	  "aaaaaaaaaaaaaaaaaaaaaaaaaaaa rm bbbbbbbbbbbbbbbbbbbbbbbbbbb",
	  { 29, 31 },
	  "...aaaaaa rm bbbbbbbbbbbbb...\n          ^^" },
};

static void test_point(void)
{
	for (size_t i = 0; i < AB_COUNT(marked); i++) {
		ab_autobuf struct ab_buf b = { 0 };

		ab_point(&b, text_of(marked[i].text), marked[i].range, "", 29);
		b.data[b.len - 1] = '\0'; /* its last newline */
		is_str(b.data, marked[i].want, marked[i].name);
	}
}

int main(void)
{
	test_point();
	return done();
}
