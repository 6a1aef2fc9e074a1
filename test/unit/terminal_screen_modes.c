#include "terminal/screen_modes.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "tap.h"

#define E "\033"
#define C "\302\233" /* the same as ESC [ */

static const struct {
	const char *name;
	const char *bytes;
	const char *undo;
} cases[] = {
	{ "text", "hello\r\nworld \303\244\n", "" },
	{ "nothing", "", "" },
	{ "full screen", E "[?1049h" E "[2J", E "[?1049l" },
	{ "full screen, left again", E "[?1049h" E "[2J" E "[?1049l", "" },
	{ "full screen, left another way", E "[?1049h" E "[?47l", "" },
	{ "old full screens", E "[?47h", E "[?47l" },
	{ "full screen 1047", E "[?1047h", E "[?1047l" },
	{ "several modes at once", E "[?1000;1006;25l" E "[?1002;1006h",
	  E "[?1002l" E "[?1006l" E "[?25h" },
	{ "every kind of mouse", E "[?9;1000;1001;1002;1003;1005;1006;1015;1016h",
	  E "[?9l" E "[?1000l" E "[?1001l" E "[?1002l" E "[?1003l" E "[?1005l" E "[?1006l" E
	    "[?1015l" E "[?1016l" },
	{ "focus and paste", E "[?1004h" E "[?2004h", E "[?1004l" E "[?2004l" },
	{ "hidden cursor", E "[?25l", E "[?25h" },
	{ "shown cursor", E "[?25l" E "[?25h", "" },
	{ "no wrapping", E "[?7l", E "[?7h" },
	{ "wrapping, as usual", E "[?7h", "" },
	{ "cursor keys and keypad", E "[?1h" E "=", E "[?1l" E ">" },
	{ "keypad by number", E "[?66h", E ">" },
	{ "keypad back", E "=" E ">", "" },
	{ "synchronized output", E "[?2026h", E "[?2026l" },
	{ "reports", E "[?2031h" E "[?2048h", E "[?2031l" E "[?2048l" },
	{ "colours", E "[1;31mred", E "[0m" },
	{ "colours, reset", E "[1;31mred" E "[0m" E "[1m" E "[m", "" },
	{ "black is a colour", E "[38;5;0m", E "[0m" },
	{ "coloured underline", E "[4:3m", E "[0m" },
	{ "scroll region", E "[2;10r", E "7" E "[r" E "8" },
	{ "scroll region, reset", E "[2;10r" E "[r", "" },
	{ "line drawing", E "(0lqk", E "(B" },
	{ "line drawing, back", E "(0lqk" E "(B", "" },
	{ "shifted line drawing", E ")0\016", E ")B\017" },
	{ "cursor shape", E "[6 q", E "[0 q" },
	{ "cursor shape, reset", E "[6 q" E "[0 q", "" },
	{ "keys with modifiers", E "[>4;2m", E "[>4m" },
	{ "keys with modifiers, off", E "[>4;2m" E "[>4;m", "" },
	{ "keys with modifiers, disabled", E "[>4;1m" E "[>4n", "" },
	{ "keyboard pushed twice", E "[>1u" E "[>5u", E "[<2u" },
	{ "keyboard pushed and popped", E "[>1u" E "[>5u" E "[<2u", "" },
	{ "keyboard popped too often", E "[<9u" E "[>1u", E "[<1u" },
	{ "keyboards of both screens", E "[>1u" E "[?1049h" E "[>1u" E "[>1u",
	  E "[<2u" E "[?1049l" E "[<1u" },
	{ "keyboard set", E "[=5;1u", E "[=0u" },
	{ "keyboard set and unset", E "[=5u" E "[=0;1u", "" },
	{ "keyboard asked", E "[?u", "" },
	{ "full reset", E "[?1049h" E "[?25l" E "[>1u" E "[1m" E "c", "" },
	{ "soft reset", E "[?1h" E "[?25l" E "[?1000h" E "[1m" E "[!p", E "[?1000l" },
	{ "public modes are others", E "[25l" E "[1000h", "" },
	{ "restored private modes are no region", E "[?2004r", "" },
	{ "title", E "]0;ti?1049htle\007x", "" },
	{ "title ended by ST", E "]0;title" E "\\", "" },
	{ "open title", E "]0;title", E "\\" },
	{ "open title, only its number", E "]1", E "\\" },
	{ "open device string", E "P1$r", E "\\" E "\\" },
	{ "device string that BEL does not end", E "P1$r\007x", E "\\" E "\\" },
	{ "device string that a sequence does not end", E "P1" E "[m" E "c", E "\\" E "\\" },
	{ "device string that two ESC do not end", E "P1" E E "\\", E "\\" E "\\" },
	{ "device string, ended", E "P1$r" E "\\x", "" },
	{ "margins at the sides", E "[?69h" E "[3;9s", E "[?69l" },
	{ "title cut by a sequence", E "]0;title" E "[?25l", E "\\" E "[?25h" },
	{ "title cut by a sequence, ended", E "]0;a" E "[?25l\007", E "[?25h" },
	{ "title that ESC k began", E "kname" E "[?25l", E "\\" E "\\" E "[?25h" },
	{ "title that ESC k began, ended", E "kname" E "\\", "" },
	{ "message, other strings", E "!text" E "_a" E "[m", E "\\" E "\\" },
	{ "other strings, ended", E "_a" E "\\" E "^b" E "\\" E "Xc" E "\\", "" },
	{ "eight bits, in UTF-8", C "?1049h" C "?6;1000h", E "[?6l" E "[?1000l" E "[?1049l" },
	{ "eight bits switch nothing off", E "[?6;1000h" C "?6;1000l" C "!p" E "[>1u" C "<u",
	  E "[?6l" E "[?1000l" E "[<1u" },
	{ "seven bits do", C "?6;1000h" E "[?6;1000l", "" },
	{ "eight bits begin a string", "\302\220q\302\234" E "[?25l", E "\\" E "\\" E "[?25h" },
	{ "and end one", E "]0;a\302\234" C "?25l", E "\\" E "[?25h" },
	{ "letters beside them", "\302\251\303\233?25l\302?25l", "" },
	{ "a letter that is cut off", E ")\302", "\030" },
	{ "a printer", E "[5i" E "[?25l", E "[4i" E "[?25h" },
	{ "a printer for each line", E "[?5i", E "[4i" },
	{ "a picture of the screen", E "[i" E "[0i" E "[4i", "" },
	{ "a VT52", E "[?2l" E "[?25l" E "c", E "<" },
	{ "a VT52 that only seems to have ended", E "[?2l" E "Y" E "<", E "<" },
	{ "a VT100", E "[?2h" E "[2l", "" },
	{ "keys of Windows", E "[?9001h", E "[?9001l" },
	{ "cut after ESC", "x" E, "\030" },
	{ "cut in a sequence", E "[?10", "\030" },
	{ "cut in a sequence, something on", E "[?1000h" E "[?10", "\030" E "[?1000l" },
	{ "cancelled", E "[?104\0309h", "" },
	{ "substituted", E "[?104\0329h", "" },
	{ "begun anew", E "[?10" E "[?25l", E "[?25h" },
	{ "control characters inside", E "[?1\r0\n49\007h", E "[?1049l" },
	{ "empty parameters", E "[?;;25;l", E "[?25h" },
	{ "leading zeros", E "[?0000001049h", E "[?1049l" },
	{ "a number that overflows", E "[?65537h" E "[?4294967297h" E "[?18446744073709551617h",
	  "" },
	{ "marker in the wrong place", E "[25?l", "" },
	{ "two markers", E "[??25l", "" },
	{ "parameter after intermediate", E "[ 6q", "" },
	{ "two intermediates", E "[6  q" E "( 0", "" },
	{ "eight-bit letters", E "[?25\303\244l", "" },
	{ "delete is ignored", E "[?2\1775l", E "[?25h" },
};

static void feed(struct ab_screen_modes *m, const char *s, size_t len)
{
	ab_screen_modes_feed(m, s, len);
}

static bool clean(const struct ab_screen_modes *m)
{
	return m->on == 0 && m->keyboards[0] == 0 && m->keyboards[1] == 0 && m->state == 0 &&
	       m->device == 0;
}

/* As a C string, and visibly when it differs. */
static const char *said(void (*say)(const struct ab_screen_modes *, struct ab_buf *),
			const struct ab_screen_modes *m)
{
	static struct ab_buf text;

	text.len = 0;
	ab_buf_puts(&text, "");
	say(m, &text);
	return text.data;
}

static const char *undo(const struct ab_screen_modes *m)
{
	return said(ab_screen_modes_undo, m);
}

static void test_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_screen_modes m = { 0 };

		feed(&m, cases[i].bytes, strlen(cases[i].bytes));
		is_str(undo(&m), cases[i].undo, cases[i].name);
	}
}

/* In two pieces at every byte, and byte by byte. */
static void test_cut(void)
{
	bool same = true;

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		const char *s = cases[i].bytes;
		size_t len = strlen(s);
		struct ab_screen_modes single = { 0 }, whole = { 0 };

		feed(&whole, s, len);
		for (size_t cut = 0; cut <= len; cut++) {
			struct ab_screen_modes m = { 0 };

			feed(&m, s, cut);
			feed(&m, s + cut, len - cut);
			same = same && memcmp(&m, &whole, sizeof(m)) == 0;
		}
		for (size_t n = 0; n < len; n++)
			feed(&single, s + n, 1);
		same = same && memcmp(&single, &whole, sizeof(whole)) == 0;
		if (!same) {
			printf("# %s\n", cases[i].name);
			break;
		}
	}
	ok(same, "every case says the same when it is cut anywhere");
}

static void test_undone(void)
{
	bool undone = true;

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		size_t len = strlen(cases[i].bytes);

		for (size_t cut = 0; cut <= len; cut++) {
			struct ab_screen_modes m = { 0 };
			const char *text;

			feed(&m, cases[i].bytes, cut);
			text = undo(&m);
			feed(&m, text, strlen(text));
			if (!clean(&m)) {
				undone = false;
				printf("# %s, %zu bytes\n", cases[i].name, cut);
			}
		}
	}
	ok(undone, "what undo writes leaves nothing on");
}

static void test_redo(void)
{
	static const char on[] = E "[?1049h" E "[?25l" E "[?1;1002;1006;2004h" E "=" E "[>4;2m";
	struct ab_screen_modes m = { 0 }, again = { 0 };
	const char *text;

	feed(&m, on, strlen(on));
	text = said(ab_screen_modes_redo, &m);
	feed(&again, text, strlen(text));
	ok(again.on == m.on && *text, "redo brings the same modes back");
	ok(memcmp(text, E "[?1049h", 8) == 0, "redo begins with the screen");
	again = (struct ab_screen_modes){ 0 };
	feed(&again, E "[1;31m" E "(0" E "[2;5r", 16);
	ok(again.on && !*said(ab_screen_modes_redo, &again),
	   "redo leaves colours, letters and the region alone");
}

static void test_join(void)
{
	struct ab_screen_modes a = { 0 }, b = { 0 };

	feed(&a, E "[?25l" E "[>1u", 11);
	feed(&b, E "[?1000h" E "]0;", 12);
	ab_screen_modes_join(&a, &b);
	is_str(undo(&a), E "\\" E "[?1000l" E "[?25h" E "[<1u", "what is on in either is undone");
}

/* Everything on at once is still short: it is written to a terminal that may be slow. */
static void test_room(void)
{
	enum { ROOM = 512 };
	struct ab_screen_modes m;

	memset(&m, 0xff, sizeof(m));
	m.state = 3;
	ok(strlen(said(ab_screen_modes_undo, &m)) < ROOM - 64, "the longest undo fits");
	ok(strlen(said(ab_screen_modes_redo, &m)) < ROOM - 64, "the longest redo fits");
	ok(strlen(said(ab_screen_modes_cover, &m)) < ROOM - 64 &&
		   strlen(said(ab_screen_modes_uncover, &m)) < ROOM - 64,
	   "and the longest cover");
	m.state = 2;
	ok(strlen(said(ab_screen_modes_redo, &m)) < ROOM - 16 &&
		   strlen(said(ab_screen_modes_uncover, &m)) < ROOM - 16,
	   "in the middle of a sequence, too");
}

/* After something else was written, the terminal is in the middle of the same
 * sequence again. */
static bool resumes(const struct ab_screen_modes *m)
{
	void (*const say[])(const struct ab_screen_modes *,
			    struct ab_buf *) = { ab_screen_modes_redo, ab_screen_modes_uncover };

	for (size_t i = 0; i < AB_COUNT(say); i++) {
		struct ab_screen_modes after = { 0 };
		const char *text = said(say[i], m);

		ab_screen_modes_feed(&after, text, strlen(text));
		if (after.state != m->state || after.csi.inter != m->csi.inter ||
		    after.csi.marker != m->csi.marker ||
		    (m->csi.marker == 0 &&
		     memcmp(after.csi.params, m->csi.params, sizeof(m->csi.params)) != 0))
			return false;
	}
	return true;
}

/* Whatever was done to letters and colours. */
#define READABLE E "(B\017" E "[0m"

static void test_cover(void)
{
	static const struct {
		const char *name, *bytes, *cover, *uncover;
	} covers[] = {
		{ "nothing is on", "", E "[?1049h" READABLE E "[?7l" E "[?25l" E "[H" E "[2J",
		  E "[0m" E "[H" E "[2J" E "[?7h" E "[?25h" E "[?1049l" },
		{ "colours, the mouse, a hidden cursor", E "[31m" E "[?1000h" E "[?25l",
		  E "[?1049h" E "[?1000l" E "[?25h" E "[0m" READABLE E "[?7l" E "[?25l" E "[H" E
		    "[2J",
		  E "[0m" E "[H" E "[2J" E "[?7h" E "[?25h" E "[?25l" E "[?1000h" E "[?1049l" },
		{ "a full screen with keys of its own", E "[?1049h" E "[>1u" E "[2;5r",
		  E "7" E "[>0u" READABLE E "[?7l" E "[?25l" E "[H" E "[2J",
		  E "[0m" E "[H" E "[2J" E "[?7h" E "[?25h" E "[<u" E "8" },
		{ "a sequence that is cut off", E "[?10",
		  "\030" E "[?1049h" READABLE E "[?7l" E "[?25l" E "[H" E "[2J",
		  E "[0m" E "[H" E "[2J" E "[?7h" E "[?25h" E "[?1049l" E "[?10" },
		{ "a title that is cut off", E "]0;ab",
		  E "\\" E "[?1049h" READABLE E "[?7l" E "[?25l" E "[H" E "[2J",
		  E "[0m" E "[H" E "[2J" E "[?7h" E "[?25h" E "[?1049l" E "]9999;" },
		{ "a device string that only seems to have ended", E "P0;\007",
		  E "\\" E "\\" E "[?1049h" READABLE E "[?7l" E "[?25l" E "[H" E "[2J",
		  E "[0m" E "[H" E "[2J" E "[?7h" E "[?25h" E "[?1049l" },
		{ "a printer that gets it all, of a VT52", E "[5i" E "[?2l",
		  E "[4i" E "<" E "[?1049h" READABLE E "[?7l" E "[?25l" E "[H" E "[2J",
		  E "[0m" E "[H" E "[2J" E "[?7h" E "[?25h" E "[?1049l" },
		{ "lines of another place", C "?6h" E "[20;24r",
		  E "[?1049h" E "[?6l" READABLE E "[?7l" E "[?25l" E "[H" E "[2J",
		  E "[0m" E "[H" E "[2J" E "[?7h" E "[?25h" E "[?6h" E "[?1049l" },
		{ "a name that never ends", E "ka" E "[m",
		  E "\\" E "\\" E "[?1049h" READABLE E "[?7l" E "[?25l" E "[H" E "[2J",
		  E "[0m" E "[H" E "[2J" E "[?7h" E "[?25h" E "[?1049l" },
		{ "black on black, by kitty's word", E "]21;foreground=#000" E "\\",
		  E "[?1049h" READABLE E "]104" E "\\" E "]105" E "\\" E "]110" E "\\" E "]111" E
		    "\\" E "]R" E "\\" E "[?7l" E "[?25l" E "[H" E "[2J",
		  E "[0m" E "[H" E "[2J" E "[?7h" E "[?25h" E "[?1049l" },
		{ "black on black", E "]11;#000" E "\\",
		  E "[?1049h" READABLE E "]104" E "\\" E "]105" E "\\" E "]110" E "\\" E "]111" E
		    "\\" E "]R" E "\\" E "[?7l" E "[?25l" E "[H" E "[2J",
		  E "[0m" E "[H" E "[2J" E "[?7h" E "[?25h" E "[?1049l" },
	};

	for (size_t i = 0; i < AB_COUNT(covers); i++) {
		struct ab_screen_modes m = { 0 };

		feed(&m, covers[i].bytes, strlen(covers[i].bytes));
		is_str(said(ab_screen_modes_cover, &m), covers[i].cover, covers[i].name);
		is_str(said(ab_screen_modes_uncover, &m), covers[i].uncover, "and uncovered");
	}
}

/* Bytes by chance, more often those that mean something, against a page that
 * must not be touched. */
static void test_chance(void)
{
	static const char likely[] = "\033\033\033[[[?>?=<;;:0123456789hlmrqup"
				     "]PX^_\\ !()Bci\030\032\007\177\377"
				     "\302\302\220\233\234\235";
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *guard =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ab_screen_modes m = { 0 };
	bool undone = true, resumed = true;
	uint32_t seed = 1;

	if (guard == MAP_FAILED || mprotect(guard + page, page, PROT_NONE) < 0)
		abort();
	for (int round = 0; round < 2000; round++) {
		size_t len = (size_t)round % 300 + 1;
		char *p = guard + page - len;
		struct ab_screen_modes after;
		const char *text;

		for (size_t i = 0; i < len; i++) {
			seed = seed * 1664525 + 1013904223;
			p[i] = likely[(seed >> 8) % (sizeof(likely) - 1)];
		}
		feed(&m, p, len);
		after = m;
		text = undo(&after);
		feed(&after, text, strlen(text));
		undone = undone && clean(&after);
		resumed = resumed && resumes(&m);
	}
	ok(undone, "bytes by chance are always undone");
	ok(resumed, "and what was cut off goes on where it was");
	munmap(guard, 2 * page);
}

static void test_many_params(void)
{
	struct ab_screen_modes m = { 0 };

	feed(&m, E "[?", 3);
	for (int i = 0; i < 100000; i++)
		feed(&m, "25;", 3);
	feed(&m, "1049l", 5);
	is_str(undo(&m), E "[?25h", "parameters without end");
}

int main(void)
{
	test_cases();
	test_cut();
	test_undone();
	test_redo();
	test_join();
	test_cover();
	test_room();
	test_chance();
	test_many_params();
	return done();
}
