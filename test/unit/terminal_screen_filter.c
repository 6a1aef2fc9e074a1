/*
 * The box's output on its way to the terminal: what programs draw with passes
 * unchanged, what does more is gone, and it does not matter how the bytes are
 * cut.
 */
#include "terminal/screen_filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/mem.h"
#include "guard.h"
#include "tap.h"

#define ST "\033\\"

/* NULL: as it is. */
static const struct {
	const char *name, *in, *out;
} cases[] = {
	{ "text", "hello\r\nw\303\266rld \342\200\224 \360\237\230\200\t\b\a\n", NULL },
	{ "colours", "\033[1;38;2;1;2;3;48:5:7mx\033[0m\033[m", NULL },
	{ "a long list of colours", "\033[1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19;20;21mx",
	  NULL },
	{ "vim",
	  "\033[?1049h\033[22;0;0t\033[>4;2m\033[?1h\033=\033[?2004h\033[?1004h\033[1;24r"
	  "\033[?12h\033[?12l\033[22;2t\033[22;1t\033[27m\033[23m\033[29m\033[m\033[H\033[2J"
	  "\033[?25l\033[24;1H\"file\" [New]\033[2;1H\033[>c\033]10;?\a\033]11;?\a\033[?25h",
	  NULL },
	{ "less", "\033[?1049h\033[22;0;0t\033[?1h\033=\r~\033[K\n\033[7m(END)\033[27m\033[K",
	  NULL },
	{ "htop",
	  "\033[?1049h\033[?1006;1000h\033[39;49m\033(B\033[m\033[4l\033[?7h\033[H\033[J\033[30m"
	  "\033[46m\033(0qqx\033(B\033[12d\033[2G\033[3X\033[?12l\033[?25h",
	  NULL },
	{ "tmux",
	  "\033[?1049h\033[H\033[J\033[3J\033[>c\033[>q\033[?2026h\033[1;23r\033[?2026l"
	  "\033]0;title\a\033]112\a\033[0 q\033P=1s" ST "\033P=2s" ST,
	  NULL },
	{ "questions with numbers for answers",
	  "\033[c\033[0c\033[>c\033[=c\033[6n\033[?6n\033[5n\033[14t\033[18t\033[?2026$p\033[?u"
	  "\033[>q\033Z\033]4;1;?" ST "\033]11;?\a\033]10;?;?\a",
	  NULL },
	{ "titles, folders, links",
	  "\033]0;a b\a\033]2;caf\303\251" ST "\033]7;file:///x\a\033]8;;http://x/\ay\033]8;;\a"
	  "\033]133;A\a\033k\r\n\033\\",
	  NULL },
	{ "progress", "\033]9;4;1;50\ax", NULL },
	{ "iTerm2", "\033]1337;SetMark\a\033]1337;CurrentDir=/x\a", NULL },
	{ "an image", "\033Pq#0;2;0;0;0~~@@vv@@~~$-" ST "x", NULL },
	{ "an image with parameters", "\033P0;1;0q\"1;1;5;5#0~" ST, NULL },
	{ "the console's palette", "\033]P0123abcx\033]Ry", NULL },
	{ "eight bits", "\302\2331mx\302\233m\302\2350;t\302\234y", NULL },
	{ "letters that contain those bytes", "\342\235\233 \305\234 \335\235", NULL },
	{ "a title with such a letter", "\033]0;\305\234\342\235\233\ax", NULL },

	{ "write the clipboard", "a\033]52;c;cm0gLXJmIH4K\ab", "ab" },
	{ "with the other end", "a\033]52;c;cm0gLXJmIH4K" ST "b", "ab" },
	{ "read the clipboard", "a\033]52;c;?\ab", "ab" },
	{ "with zeros", "a\033]0052;c;?\ab", "ab" },
	{ "in eight bits", "a\302\23552;c;?\ab", "ab" },
	{ "in one byte", "a\23552;c;?\ab", "ab" },
	{ "ended in eight bits", "a\033]52;c;x\302\234b", "ab" },
	{ "after a letter that is cut off", "\342\033]52;c;x\ab", "\342b" },
	{ "kitty's clipboard", "a\033]5522;type=read;x\ab", "ab" },
	{ "kitty's file transfer", "a\033]5113;ac=send\ab", "ab" },
	{ "a font, whose name can be asked for", "a\033]50;x\ab\033]50;?\ac", "abc" },
	{ "a notification", "a\033]9;text\ab\033]777;notify;a;b\ac\033]99;;x\ad", "abcd" },
	{ "a macro", "a\033]9;6;x\ab", "ab" },
	{ "iTerm2's others",
	  "a\033]1337;Copy=:eA==\ab\033]1337;ReportVariable=eA==\ac"
	  "\033]1337;File=name=eA==:eA==\ad\033]1337;RequestUpload=x\ae",
	  "abcde" },
	{ "nearly a name", "a\033]1337;SetMar\ab\033]1337;\ac\033]1337\ad", "abcd" },
	{ "a number that is none", "a\033]x;y\ab\033];y\ac\033]99999999999\ad", "abcd" },
	{ "vterm's commands", "a\033]51;Efind-file x\ab", "ab" },
	{ "the title, as an answer", "a\033[21tb\033[20tc\033[0;21td", "abcd" },
	{ "as one of many", "a\033[1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;21tb", "ab" },
	{ "print", "a\033[5ib\033[?5ic\033[id\033[4ie", "abcde" },
	{ "a sum of the screen", "a\033[1;1;1;1;1;1*yb", "ab" },
	{ "a macro's", "a\033[1*zb", "ab" },
	{ "reports", "a\033[1$wb\033[1$uc\033[&ud", "abcd" },
	{ "ask a setting", "a\033P$qm" ST "b\033P+q544e" ST "c", "abc" },
	{ "set a capability", "a\033P+p544e" ST "b", "ab" },
	{ "through tmux", "a\033Ptmux;\033\033]52;c;x\a\033\\b", "a\033\\b" },
	{ "through screen", "a\033P\033]52;c;x\a\033\\b", "a\033\\b" },
	{ "tmux in control of iTerm2", "a\033P1000p" ST "b", "ab" },
	{ "kitty's remote control", "a\033P@kitty-cmd{}" ST "b", "ab" },
	{ "program a key", "a\033P0;1|17/41" ST "b", "ab" },
	{ "a macro's definition", "a\033P1;0;0!zx" ST "b", "ab" },
	{ "images by file name", "a\033_Gt=f,a=T;L2V0Yw==" ST "b\033^x" ST "c\033Xx" ST "d",
	  "abcd" },
	{ "ENQ", "a\005b\033]0;t\005u\a\033[3\0051m", "ab\033]0;tu\a\033[31m" },
	{ "another encoding", "a\033%@b\033%/Gc\033%Gd", "abc\033%Gd" },
	{ "answers in eight bits", "a\033 Gb\033 Fc", "ab\033 Fc" },
	{ "a VT52", "a\033[?2lb\033[?1;2lc\033[?25ld", "abc\033[?25ld" },
	{ "a marker in the middle", "a\033[2?1tb", "ab" },
	{ "cut short by another", "a\033[2\033[31mb", "a\033[31mb" },
	{ "cut short", "a\033[2\030b\033]5\030c", "a\030b\030c" },
	{ "by a letter", "a\033[2\303\2511tb", "a\303\2511tb" },
	{ "a title cut short", "\033]0;a\033]52;c;x\ab", "\033]0;a\033\\b" },
	{ "an image cut short", "\033Pq~~\033]52;c;x\ab", "\033Pq~~\033\\b" },
	{ "an escape after an escape", "a\033\033]52;c;x\ab", "ab" },
	{ "controls inside", "a\033[5\nib\033]\n52;c;x\ac", "a\nbc" },
};

static size_t filter_in_steps(const char *in, size_t len, size_t step, char *ret, bool *ret_asked)
{
	struct ab_screen_filter f = { 0 };
	size_t n = 0;

	for (size_t at = 0; at < len; at += step) {
		size_t part = len - at < step ? len - at : step;

		n += ab_screen_filter_take(&f, guarded(in + at, part), part, ret + n);
	}
	*ret_asked = f.asked;
	return n;
}

static void test_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		const char *in = cases[i].in, *want = cases[i].out ? cases[i].out : in;
		size_t len = strlen(in), wrong = 0;
		char *out = ab_alloc(AB_SCREEN_FILTER_ROOM(len) + 1);
		bool asked;

		for (size_t step = len; step > 0; step--) {
			size_t n = filter_in_steps(in, len, step, out, &asked);

			out[n] = '\0';
			if (step == len)
				is_str(out, want, cases[i].name);
			wrong += strcmp(out, want) != 0;
		}
		ok(!wrong, "%s: however it is cut", cases[i].name);
		free(out);
	}
}

static bool asks(const char *in)
{
	char *out = ab_alloc(AB_SCREEN_FILTER_ROOM(strlen(in)));
	bool asked;

	filter_in_steps(in, strlen(in), 3, out, &asked);
	free(out);
	return asked;
}

static void test_asked(void)
{
	static const char *const questions[] = {
		"\033[c",   "\033[6n",
		"\033[?6n", "\033[>c",
		"\033Z",    "\302\232",
		"\033[14t", "\033[?2004$p",
		"\033[?u",  "\033]11;?\a",
		"\033[>q",  ("\033]4;1;?" ST),
		"\033[5n",  "\033]1337;ReportCellSize\a",
	};
	static const char *const others[] = {
		"text?",	  "\033[31m",	   "\033]0;really?\a",
		"\033[22;0t",	  "\033]52;c;?\a", "\033[21t",
		"\033]11;#fff\a", "\033[?25h",	   "\033]8;;http://x/?q\ay",
	};

	for (size_t i = 0; i < AB_COUNT(questions); i++)
		ok(asks(questions[i]), "a question: %s", questions[i] + 1);
	for (size_t i = 0; i < AB_COUNT(others); i++)
		ok(!asks(others[i]), "not a question: %s", others[i] + 1);
}

/* A sequence that never ends holds no more than its room. */
static void test_long(void)
{
	size_t len = 100000;
	char *in = ab_alloc(len + 8), *out = ab_alloc(AB_SCREEN_FILTER_ROOM(len + 8));
	struct ab_screen_filter f = { 0 };
	size_t n;

	memset(in, '1', len);
	memcpy(in, "\033[", 2);
	memcpy(in + len, "mx", 2);
	n = ab_screen_filter_take(&f, in, len + 2, out);
	ok(n == 1 && out[0] == 'x', "a sequence of %zu bytes is dropped", len);
	memset(in, ' ', len);
	in[0] = '\033';
	memcpy(in + len, "Bx", 2);
	n = ab_screen_filter_take(&f, in, len + 2, out);
	ok(n == 1 && out[0] == 'x', "with as many intermediate bytes too");
	memset(in, 'A', len);
	memcpy(in, "\033]0;", 4);
	memcpy(in + len, "\ax", 2);
	n = ab_screen_filter_take(&f, in, len + 2, out);
	ok(n == len + 2 && memcmp(in, out, n) == 0, "a title of that length passes");
	free(in);
	free(out);
}

int main(void)
{
	test_cases();
	test_asked();
	test_long();
	return done();
}
