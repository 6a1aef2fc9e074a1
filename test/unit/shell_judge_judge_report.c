#include "shell/judge/judge_report.h"

#include <jansson.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "guard.h"
#include "tap.h"

#define TEXT(literal) ((struct ab_text){ (literal), sizeof(literal) - 1 })
#define FIELD(literal)                                    \
	{                                                 \
		.text = {(literal), sizeof(literal) - 1 } \
	}

static const char *as_json(const struct ab_judgement *j)
{
	static struct ab_buf b;

	b.len = 0;
	ab_judgement_json(j, &b);
	return b.data;
}

static void test_json(void)
{
	static const struct ab_field status[] = { FIELD("git"), FIELD("status") };
	static const struct ab_judged one = {
		.argv = status,
		.argc = 2,
		.range = { 0, 10 },
		.decision = AB_ALLOW,
		.rule = "git-read",
	};
	struct ab_judgement j = {
		.decision = AB_ALLOW,
		.rule = "git-read",
		.reason = "Reads the local repository.",
		.range = { 0, 10 },
		.text = TEXT("git status"),
		.commands = &one,
		.ncommands = 1,
	};

	is_str(as_json(&j),
	       "{\"decision\":\"allow\",\"rule\":\"git-read\",\"reason\":\"Reads the local repository.\","
	       "\"command\":\"git status\",\"range\":[0,10],\"segment\":\"git status\","
	       "\"commands\":[{\"argv\":[\"git\",\"status\"],\"range\":[0,10],\"decision\":\"allow\",\"rule\":\"git-read\"}]}",
	       "a verdict as JSON");
}

static void test_json_all(void)
{
	static const struct ab_field words[] = {
		FIELD("rm"),
		{ .text = { "a\0b", 3 }, .unknown = true },
		FIELD("\"\n"),
	};
	static const struct ab_judged two = {
		.argv = words,
		.argc = 3,
		.via = "sudo",
		.range = { 5, 4000000000 },
		.decision = AB_ESCALATED,
		.rule = "",
	};
	static const struct ab_judged one = {
		.range = { 0, 1 },
		.decision = AB_SANDBOXED,
		.rule = "",
		.next = &two,
	};
	struct ab_judgement j = {
		.decision = AB_ESCALATED,
		.rule = "user",
		.reason = "R.",
		.instead = "do \"this\"",
		.user_rule = "rm *",
		.range = { 5, 6 },
		.text = TEXT("sudo \xff\0\x1b"),
		.commands = &one,
		.ncommands = 2,
		.script = { .error = "a quote is not closed", .error_at = 7 },
	};
	json_t *root;

	is_str(as_json(&j),
	       "{\"decision\":\"escalated\",\"rule\":\"user\",\"reason\":\"R.\","
	       "\"command\":\"sudo \\ufffd\\u0000\\u001b\",\"range\":[5,6],\"segment\":\"\\ufffd\","
	       "\"commands\":[{\"argv\":[],\"range\":[0,1],\"decision\":\"sandboxed\",\"rule\":null},"
	       "{\"argv\":[\"rm\",null,\"\\\"\\u000a\"],\"range\":[5,4000000000],\"decision\":\"escalated\",\"rule\":null,\"via\":\"sudo\"}],"
	       "\"userRule\":\"rm *\",\"instead\":\"do \\\"this\\\"\","
	       "\"error\":{\"text\":\"a quote is not closed\",\"at\":7}}",
	       "everything that can be in it");
	root = json_loads(as_json(&j), JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	ok(root, "and it is JSON");
	json_decref(root);
}

/* Short words are copied in pieces: each length, read up to a guard page. */
static void test_json_words(void)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	bool same = true;

	for (uint32_t len = 0; len <= 26; len++) {
		const char *text = guarded(letters, len);
		const struct ab_field word = {
			.text = { text, len },
			.bytes = ab_bytes_read(text, len),
		};
		const struct ab_judged one = { .argv = &word, .argc = 1, .rule = "" };
		const struct ab_judgement j = {
			.rule = "",
			.reason = "R.",
			.range = { 0, len },
			.text = word.text,
			.commands = &one,
			.ncommands = 1,
		};
		ab_autofree char *want = ab_printf(
			"{\"decision\":\"allow\",\"rule\":null,\"reason\":\"R.\","
			"\"command\":\"%1$.*2$s\",\"range\":[0,%2$u],\"segment\":\"%1$.*2$s\","
			"\"commands\":[{\"argv\":[\"%1$.*2$s\"],\"range\":[0,0],"
			"\"decision\":\"allow\",\"rule\":null}]}",
			letters, len);

		same = same && strcmp(as_json(&j), want) == 0;
	}
	ok(same, "words of each length as JSON");
}

static void test_segment(void)
{
	struct ab_judgement j = { .text = TEXT("abc"), .range = { 1, 99 } };

	ok(ab_judgement_text(&j, j.range).len == 2, "a range behind the end is cut");
	j.range = (struct ab_span){ 9, 2 };
	ok(ab_judgement_text(&j, j.range).len == 0, "so is one that makes no sense");
}

static const char *pointed(struct ab_text text, uint32_t from, uint32_t to)
{
	static struct ab_buf b;
	struct ab_judgement j = { .text = text, .range = { from, to } };

	b.len = 0;
	return ab_judgement_point(&j, "> ", &b) ? b.data : NULL;
}

static void test_point(void)
{
	is_str(pointed(TEXT("ls && rm x"), 6, 10), "> ls && rm x\n>       ^^^^\n",
	       "the part is marked");
	is_str(pointed(TEXT("rm x"), 0, 4), NULL, "all of it is not");
	is_str(pointed(TEXT("rm x"), 4, 4), NULL, "nor nothing");
	is_str(pointed(TEXT("a\nls; rm x\nb"), 6, 10), "> ls; rm x\n>     ^^^^\n",
	       "only its line is shown");
	is_str(pointed(TEXT("a; b\nc"), 3, 6), "> a; b\n>    ^\n",
	       "a part of several lines by its first");
	is_str(pointed(TEXT("\x1b[2J\xc3\xa9 rm"), 7, 9), "> \\x1b[2J\xc3\xa9 rm\n>          ^^\n",
	       "control characters are escaped, columns are counted");
}

static void test_point_long(void)
{
	char text[1001];
	const char *got;

	memset(text, 'a', 1000);
	text[1000] = '\0';
	memcpy(text + 500, "RM", 2);
	got = pointed((struct ab_text){ text, 1000 }, 500, 502);
	ok(got && strlen(got) < 300, "a long line is cut");
	ok(got && !strncmp(got, "> ...aaa", 8) && strstr(got, "...\n"), "on both sides");
	ok(got && strstr(got, "RM") && strstr(got, "^^\n"), "around the part");
	ok(got && strstr(got, "RM") - got == strstr(got, "^^") - (strchr(got, '\n') + 1),
	   "which is marked where it stands");
	got = pointed((struct ab_text){ text, 1000 }, 0, 999);
	ok(got && strlen(got) < 300, "a long part is cut too");
}

static void test_explain(void)
{
	static const char text[] = "cd /tmp && sudo rm -rf / | $(ls)";
	struct ab_shell_node ls = { .kind = AB_NODE_SIMPLE, .range = { 29, 31 } };
	struct ab_shell_node script = { .kind = AB_NODE_LIST, .first = &ls };
	struct ab_part part = { .kind = AB_PART_COMMAND,
				.range = { 27, 32 },
				.command = { .script = &script } };
	struct ab_shell_word word = { .range = { 27, 32 }, .parts = &part };
	struct ab_shell_node sub = { .kind = AB_NODE_SIMPLE,
				     .range = { 27, 32 },
				     .simple = { .words = &word } };
	struct ab_shell_node sudo = { .kind = AB_NODE_SIMPLE, .range = { 11, 24 }, .next = &sub };
	struct ab_shell_node pipe = { .kind = AB_NODE_PIPELINE,
				      .range = { 11, 32 },
				      .first = &sudo };
	struct ab_shell_node cd = { .kind = AB_NODE_SIMPLE, .range = { 0, 7 }, .next = &pipe };
	struct ab_shell_node both = { .kind = AB_NODE_ANDOR, .first = &cd };
	struct ab_shell_node list = { .kind = AB_NODE_LIST, .first = &both };
	static const struct ab_field rm[] = { FIELD("rm"),
					      { .text = { "\0", 1 }, .unknown = true } };
	struct ab_judged five = { .range = { 27, 32 },
				  .decision = AB_ESCALATED,
				  .rule = "dynamic-command" };
	struct ab_judged four = {
		.range = { 29, 31 }, .decision = AB_ALLOW, .rule = "safe-read", .next = &five
	};
	struct ab_judged three = { .argv = rm,
				   .argc = 2,
				   .via = "sudo",
				   .range = { 16, 24 },
				   .decision = AB_FORBIDDEN,
				   .rule = "recursive-delete-root",
				   .next = &four };
	struct ab_judged two = {
		.range = { 11, 24 }, .decision = AB_ESCALATED, .rule = "sudo", .next = &three
	};
	struct ab_judged one = {
		.range = { 0, 7 }, .decision = AB_SANDBOXED, .rule = "", .next = &two
	};
	struct ab_judgement j = {
		.decision = AB_FORBIDDEN,
		.rule = "recursive-delete-root",
		.range = { 16, 24 },
		.text = TEXT(text),
		.commands = &one,
		.ncommands = 5,
		.script = { .list = &list, .error = "why", .error_at = 3 },
	};
	ab_autobuf struct ab_buf b = { 0 };

	ab_judgement_explain(&j, &b);
	is_str(b.data,
	       "   cd /tmp            sandboxed\n"
	       "&& sudo rm -rf /      escalated  sudo\n"
	       "      sudo -> rm ...  forbidden  recursive-delete-root  <--\n"
	       " | $(ls)              escalated  dynamic-command\n"
	       "      $( )\n"
	       "         ls           allow      safe-read\n"
	       "   byte 3: why\n",
	       "the tree as people read it");
}

int main(void)
{
	test_json();
	test_json_all();
	test_json_words();
	test_segment();
	test_point();
	test_point_long();
	test_explain();
	return done();
}
