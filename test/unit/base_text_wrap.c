#include "base/text/wrap.h"

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "tap.h"

static const struct {
	size_t width;
	const char *text, *want;
} cases[] = {
	{ 20, "", "" },
	{ 20, "short\n", "short\n" },
	{ 20, "no end", "no end\n" },
	/* A paragraph is filled again, also if a line of it fits. */
	{ 20, "one two three four five\nsix\n\nnext\n", "one two three four\nfive six\n\nnext\n" },
	/* A column in the left half; an indented line; neither. */
	{ 30, "  run    a very long explanation of it\n",
	  "  run    a very long\n         explanation of it\n" },
	{ 20, "  agentbox run --allow x -- y\n", "  agentbox run\n    --allow x -- y\n" },
	{ 20, "ok    name  one two three four\n", "ok    name  one two\n      three four\n" },
	/* A word is never broken. */
	{ 10, "see https://example.com/a/long/path now\n",
	  "see\nhttps://example.com/a/long/path\nnow\n" },
	{ 10, "https://example.com/a/long/path\n", "https://example.com/a/long/path\n" },
	{ 10, "          x\n", "          x\n" },
	{ 1, "a b c\n", "a\nb\nc\n" },
};

int main(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autobuf struct ab_buf b = { 0 };

		ab_wrap_text(&b, cases[i].text, cases[i].width);
		is_str(b.data ? b.data : "", cases[i].want, "fits");
	}
	return done();
}
