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

static const struct {
	size_t margin, width;
	const char *text, *want;
} messages[] = {
	{ 10, 30, "", "" },
	{ 10, 30, "it fits", "it fits" },
	{ 10, 30, "one two three four five six", "one two three four\n          five six" },
	{ 4, 20, "a/very/long/path/of/a/file is gone", "a/very/long/path/of/a/file\n    is gone" },
	/* A command is not broken. */
	{ 0, 30, "3 changes; to see them: agentbox diff k2q43 --stat",
	  "3 changes; to see them:\nagentbox diff k2q43 --stat" },
	{ 0, 20, "to see:  agentbox diff k2q43; to keep: agentbox apply",
	  "to see:\nagentbox diff k2q43;\nto keep:\nagentbox apply" },
	{ 0, 30, "to see: agentbox diff k2q43, agentbox apply k2q43",
	  "to see: agentbox diff k2q43,\nagentbox apply k2q43" },
	{ 0, 24, "usage: agentbox stop RUN (see agentbox stop --help)",
	  "usage: agentbox stop RUN\n(see agentbox stop\n--help)" },
	{ 0, 20, "again: agentbox run -- sh -c 'a; b'; so",
	  "again:\nagentbox run -- sh -c 'a; b';\nso" },
	{ 0, 24, "it is not trusted (agentbox trust FILE), so",
	  "it is not trusted\n(agentbox trust FILE),\nso" },
	{ 2, 16, "rule:  { \"a\": { \"b\": 1 } }", "rule:\n  { \"a\": { \"b\": 1 } }" },
	{ 0, 24, "agentbox says that nothing fits", "agentbox says that\nnothing fits" },
	{ 0, 5, "(agentbox without an end", "(agentbox\nwithout\nan\nend" },
};

static void check_messages(void)
{
	for (size_t i = 0; i < AB_COUNT(messages); i++) {
		ab_autobuf struct ab_buf b = { 0 };

		ab_wrap_message(&b, messages[i].text, messages[i].margin, messages[i].width);
		is_str(b.data ? b.data : "", messages[i].want, "a message fits");
	}
}

int main(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autobuf struct ab_buf b = { 0 };

		ab_wrap_text(&b, cases[i].text, cases[i].width);
		is_str(b.data ? b.data : "", cases[i].want, "fits");
	}
	check_messages();
	return done();
}
