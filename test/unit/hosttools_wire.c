/* The request of a tool: what is written is read again, and nothing else is. */
#include "hosttools/tool_wire.h"

#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "tap.h"

static const char *room[AB_TOOL_WORDS_MAX + AB_TOOL_ENV_MAX];

static const char *parse(const struct ab_buf *b, size_t len, struct ab_tool_request *ret)
{
	return ab_tool_request_parse(b->data, len, room, ret);
}

static struct ab_buf write_request(const char **argv, size_t argc, const char **env, size_t nenv)
{
	struct ab_tool_request r = { "/w/x", argv, argc, env, nenv };
	struct ab_buf b = { 0 };

	ok(!ab_tool_request_write(&r, &b), "a request is written");
	return b;
}

static void test_round(void)
{
	const char *argv[] = { "gh", "pr", "", "a b" };
	const char *env[] = { "TERM=xterm", "LC_ALL=C", "LANG=../../x" };
	ab_autobuf struct ab_buf b = write_request(argv, 4, env, 3);
	struct ab_tool_request r = { 0 };
	size_t accepted = 0;

	ok(!parse(&b, b.len, &r), "and read again");
	is_str(r.cwd, "/w/x", "its folder");
	ok(r.argc == 4 && !strcmp(r.argv[0], "gh") && !strcmp(r.argv[2], "") &&
		   !strcmp(r.argv[3], "a b"),
	   "its words");
	ok(r.nenv == 2 && !strcmp(r.env[0], "TERM=xterm") && !strcmp(r.env[1], "LC_ALL=C"),
	   "its variables, without one that names a path");
	for (size_t n = 0; n < b.len; n++)
		accepted += !parse(&b, n, &r);
	ok(accepted == 0, "cut off anywhere, it is refused");
	ab_buf_add(&b, "", 1);
	ok(parse(&b, b.len, &r), "with more bytes than it says, too");
}

static void refuse(const char *what, const char *data, size_t len)
{
	struct ab_tool_request r;

	ok(ab_tool_request_parse(data, len, room, &r) != NULL, "%s is refused", what);
}

static void test_hostile(void)
{
	static char large[AB_TOOL_REQUEST_MAX + 1];
	struct ab_tool_head head = { .words = 1 };
	char data[64];

	memcpy(head.magic, AB_TOOL_MAGIC, sizeof(head.magic));
	memcpy(large, &head, sizeof(head));
	memset(large + sizeof(head), '/', sizeof(large) - sizeof(head));
	refuse("a request that is too large", large, sizeof(large));
	refuse("one without a NUL", large, sizeof(large) - 1);
	head.words = UINT32_MAX;
	memcpy(large, &head, sizeof(head));
	memset(large + sizeof(head), 0, sizeof(large) - sizeof(head));
	large[sizeof(head)] = '/';
	refuse("one with too many words", large, sizeof(large) - 1);
	head.words = 0;
	memcpy(large, &head, sizeof(head));
	refuse("one without words", large, 100);
	head.words = 1;
	head.variables = AB_TOOL_ENV_MAX + 1;
	memcpy(large, &head, sizeof(head));
	refuse("one with too many variables", large, 100);
	head.variables = 1;
	memcpy(data, &head, sizeof(head));
	memcpy(data + sizeof(head), "/\0gh\0PATH=x", 12);
	refuse("a variable that is not on the list", data, sizeof(head) + 12);
	memcpy(data + sizeof(head), "/\0gh\0LANG=/x", 13);
	refuse("a value that is a path", data, sizeof(head) + 13);
	memcpy(data + sizeof(head), "/\0gh\0LANG", 10);
	refuse("a variable without a value", data, sizeof(head) + 10);
	head.variables = 0;
	memcpy(data, &head, sizeof(head));
	memcpy(data + sizeof(head), "x\0gh", 5);
	refuse("a relative folder", data, sizeof(head) + 5);
	data[0] = 'x';
	refuse("another version", data, sizeof(head) + 5);
}

static void test_variables(void)
{
	static const struct {
		const char *name;
		bool passed;
	} cases[] = {
		{ "TERM", true },      { "LC_ALL", true },   { "LANG", true },
		{ "TERMINFO", false }, { "PATH", false },    { "LANGUAGE", true },
		{ "GH_TOKEN", false }, { "PAGER", false },   { "LD_PRELOAD", false },
		{ "TERMCAP", false },  { "GIT_DIR", false }, { "", false },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++)
		ok(ab_tool_variable(cases[i].name, strlen(cases[i].name)) == cases[i].passed,
		   "%s is %s", cases[i].name, cases[i].passed ? "passed on" : "not passed on");
}

int main(void)
{
	test_round();
	test_hostile();
	test_variables();
	return done();
}
