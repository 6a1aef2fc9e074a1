/*
 * What a person sees of a command that needs an answer, and what the keys
 * mean. Whatever the command holds, it stays in its place.
 */
#include "consent/ask/command_prompt.h"

#include <stdlib.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "tap.h"

static struct ab_text text_of(const char *s)
{
	return (struct ab_text){ s, (uint32_t)strlen(s) };
}

static const struct {
	const char *name, *text, *want;
} shown[] = {
	{ "plain text", "git push", "git push" },
	{ "UTF-8", "echo \xc3\xa9", "echo \xc3\xa9" },
	{ "an escape sequence", "a\x1b[2Jb", "a\\x1b[2Jb" },
	{ "a carriage return", "a\rb", "a\\x0db" },
	{ "lines and tabs", "a\n\tb", "a\\n\\tb" },
	{ "a right-to-left override", "a\xe2\x80\xaez", "a\\u202ez" },
	{ "an isolate", "\xe2\x81\xa7", "\\u2067" },
	{ "no width", "r\xe2\x80\x8bm", "r\\u200bm" },
	{ "a byte order mark", "\xef\xbb\xbfrm", "\\ufeffrm" },
	{ "an Arabic letter mark", "a\xd8\x9c", "a\\u061c" },
	{ "a blank that parts no words",
	  "a\xc2\xa0"
	  "b",
	  "a\\u00a0b" },
	{ "a soft hyphen", "a\xc2\xad", "a\\u00ad" },
	{ "a tag", "a\xf3\xa0\x81\xa1", "a\\U000e0061" },
	{ "a C1 control", "\xc2\x9b", "\\u009b" },
	{ "not UTF-8", "\xff\x80", "\\xff\\x80" },
	{ "a cut character", "\xe2\x82", "\\xe2\\x82" },
};

static void test_show(void)
{
	for (size_t i = 0; i < AB_COUNT(shown); i++) {
		ab_autobuf struct ab_buf b = { 0 };

		ab_command_prompt_show(&b, text_of(shown[i].text));
		is_str(b.data, shown[i].want, shown[i].name);
	}
}

static char *question(const char *text, struct ab_span range, bool more)
{
	struct ab_question q = { .text = text_of(text),
				 .range = range,
				 .reason = "Publishes commits.",
				 .rule = "git-publish",
				 .cwd = "/home/me/pro\x1bject" };
	struct ab_buf b = { 0 };

	(more ? ab_command_prompt_more : ab_command_prompt_question)(&b, &q, 80);
	return ab_buf_take(&b);
}

#define MENU "          [o]nce   [s]ession   [a]lways   [n]o   [?] more  "
#define WHY                                                   \
	"          Publishes commits.     rule git-publish\n" \
	"          in /home/me/pro\\x1bject\n"

static void test_question(void)
{
	ab_autofree char *one = question("git push", (struct ab_span){ 0, 8 }, false);
	ab_autofree char *two =
		question("cd x\n          [o]nce\nagentbox: y", (struct ab_span){ 0, 2 }, false);
	ab_autofree char *more = question("cd x && git push", (struct ab_span){ 8, 16 }, true);

	is_str(one, "agentbox: approval needed: git push\n" WHY MENU,
	       "a short command stands in the first line");
	is_str(two,
	       "agentbox: approval needed:\n"
	       "          | cd x\n"
	       "          |           [o]nce\n"
	       "          | agentbox: y\n" WHY MENU,
	       "lines of the command cannot be taken for ours");
	ok(strstr(more, "approval needed: cd x && git push\n"), "more: the command again");
	ok(strstr(more, "          because of this part:\n"
			"          | git push\n"),
	   "more: the part that decided");
	ok(strstr(more, "always") && strstr(more, "30 days"), "more: what the answers mean");
	ok(strcmp(more + strlen(more) - strlen(MENU), MENU) == 0, "more: asks again");
}

/* Widest line of a text. */
static size_t widest(const char *s)
{
	size_t most = 0;

	while (*s) {
		size_t n = strcspn(s, "\n");

		most = n > most ? n : most;
		s += n + (s[n] != '\0');
	}
	return most;
}

static void test_long(void)
{
	enum { LONG = 100 * 1000 };
	ab_autofree char *text = ab_alloc(LONG + 1);
	ab_autofree char *cut = NULL, *all = NULL;
	size_t letters = 0;

	memset(text, 'x', LONG);
	memcpy(text + LONG / 2, " git push ", 10);
	cut = question(text, (struct ab_span){ LONG / 2 + 1, LONG / 2 + 9 }, false);
	all = question(text, (struct ab_span){ LONG / 2 + 1, LONG / 2 + 9 }, true);
	ok(strlen(cut) < 2500, "a long command is cut");
	ok(strstr(cut, "git push"), "to the part that decided");
	ok(strstr(cut, "49761 bytes before this\n"), "says what is before");
	ok(strstr(cut, " bytes after this\n"), "says what is behind");
	ok(strstr(cut, "[?] shows all"), "and how to see it");
	for (const char *p = all; *p; p++)
		letters += *p == 'x';
	ok(letters >= LONG - 10, "more shows all of it");
	ok(widest(all) <= 80 && widest(cut) <= 80, "within the columns");
}

/* Characters whose width is no two terminals' same, in such numbers that a
 * line of them would break, and what follows would begin a line. */
static void test_wide(void)
{
	static const char bolt[] = "\xe2\x9a\xa1", fake[] = "agentbox: no";
	ab_autobuf struct ab_buf b = { 0 };
	ab_autofree char *text = NULL;

	for (int i = 0; i < 34; i++)
		ab_buf_puts(&b, bolt);
	ab_buf_puts(&b, fake);
	text = question(b.data, (struct ab_span){ 0, 3 }, false);
	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		size_t room = 0;

		for (const char *c = p; *c && *c != '\n'; c++)
			room += ((unsigned char)*c & 0xc0) == 0x80 ? 0
				: (unsigned char)*c < 0x80	   ? 1
								   : 2;
		ok(room <= 80, "a line of %zu columns at most", room);
	}
}

/* So do the reason and the pattern of a project's rule, and the folder. */
static void test_others(void)
{
	char pad[600];
	struct ab_question q = { .text = text_of("git push"),
				 .range = { 0, 8 },
				 .reason = pad,
				 .rule = pad,
				 .cwd = pad };
	ab_autobuf struct ab_buf b = { 0 };
	size_t bad = 0;

	memset(pad, 'x', sizeof(pad) - 1);
	pad[sizeof(pad) - 1] = '\0';
	memcpy(pad + 100, "\n[o]nce", 7);
	ab_command_prompt_question(&b, &q, 80);
	ok(widest(b.data) <= 80, "within the columns");
	for (const char *p = strchr(b.data, '\n') + 1; *p;) {
		bad += strncmp(p, "          ", 10) != 0;
		p += strcspn(p, "\n");
		p += *p == '\n';
	}
	ok(bad == 0, "and behind the margin");
}

static void test_part_in_sight(void)
{
	char text[400];
	ab_autofree char *cut = NULL;

	memset(text, 1, sizeof(text) - 1);
	memcpy(text + 300, ";git push;", 10);
	text[sizeof(text) - 1] = '\0';
	cut = question(text, (struct ab_span){ 301, 309 }, false);
	ok(strstr(cut, ";git push"), "the part is seen behind what takes much room");
}

static void test_keys(void)
{
	static const struct {
		const char *keys;
		size_t len;
		int want; /* -1: nothing */
	} cases[] = {
		{ "o", 1, AB_ANSWER_ONCE },
		{ "s", 1, AB_ANSWER_SESSION },
		{ "a", 1, AB_ANSWER_ALWAYS },
		{ "n", 1, AB_ANSWER_NO },
		{ "\x03", 1, AB_ANSWER_NO },
		{ "\x04", 1, AB_ANSWER_NO },
		{ "\x1b", 1, AB_ANSWER_NO },
		{ "\r", 1, -1 },
		{ "\n", 1, -1 },
		{ " ", 1, -1 },
		{ "y", 1, -1 },
		{ "O", 1, -1 },
		{ "A", 1, -1 },
		{ "\x1bOA", 3, -1 },
		{ "\x1b[A", 3, -1 },
		{ "o\n", 2, -1 },
		{ "oo", 2, -1 },
		{ "", 1, -1 },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		enum ab_answer answer = AB_ANSWER_NO;
		bool got = ab_command_prompt_key(cases[i].keys, cases[i].len, &answer);

		ok(cases[i].want < 0 ? !got : got && (int)answer == cases[i].want, "key %zu", i);
	}
}

int main(void)
{
	test_show();
	test_question();
	test_long();
	test_wide();
	test_others();
	test_part_in_sight();
	test_keys();
	return done();
}
