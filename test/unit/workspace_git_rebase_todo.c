#include "workspace/git/rebase_todo.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "tap.h"

static void collect(void *arg, const char *command, size_t len)
{
	ab_buf_printf(arg, "%.*s;", (int)len, command);
}

static const struct {
	const char *name, *text, *want;
} cases[] = {
	{ "an empty file", "", "" },
	{ "ordinary steps", "pick 1234 subject\nreword 5678 exec x\nsquash 1 a\nbreak\n", "" },
	{ "a command", "pick 1 a\nexec make test\n", "make test;" },
	{ "its short form", "x  sh -c 'a  b' \n", "sh -c 'a  b';" },
	{ "blanks before it, and a tab behind", " \texec\tevil\t\n", "evil;" },
	{ "no line end", "pick 1 a\nexec evil", "evil;" },
	{ "CRLF", "exec evil\r\nx evil\r\n", "evil;evil;" },
	{ "several", "exec a\nexec b\npick 1 c\nx d\n", "a;b;d;" },
	{ "no command behind it", "exec\nexec \n", ";;" },
	{ "a comment", "# exec evil\n;exec evil\n", "" },
	{ "words that only begin like it", "execute a\nxargs b\nex c\nX d\nExec e\n", "" },
	{ "the last letter of a label", "label x\nreset exec\nmerge -C 1 x # exec\n", "" },
};

static void finds(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_buf b = { 0 };
		size_t n, semicolons = 0;

		ab_buf_puts(&b, "");
		n = ab_rebase_execs(cases[i].text, strlen(cases[i].text), collect, &b);
		is_str(b.data, cases[i].want, cases[i].name);
		for (const char *p = cases[i].want; *p; p++)
			semicolons += *p == ';';
		ok(n == semicolons, "%s: %zu", cases[i].name, n);
		ok(ab_rebase_execs(cases[i].text, strlen(cases[i].text), NULL, NULL) == n,
		   "%s: only counted", cases[i].name);
		ab_buf_fini(&b);
	}
}

/* Each case cut at every byte, its end against a page that faults. */
static void cut_everywhere(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *m = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t runs = 0;

	mprotect(m + page, page, PROT_NONE);
	for (size_t i = 0; i < AB_COUNT(cases); i++)
		for (size_t n = 0; n <= strlen(cases[i].text); n++, runs++) {
			struct ab_buf b = { 0 };

			memcpy(m + page - n, cases[i].text, n);
			ab_rebase_execs(m + page - n, n, collect, &b);
			ab_buf_fini(&b);
		}
	ok(runs > 200, "cut at every byte: %zu runs stay in bounds", runs);
	munmap(m, 2 * page);
}

int main(void)
{
	finds();
	cut_everywhere();
	ok(ab_rebase_execs("exec\0evil\n", 10, NULL, NULL) == 1,
	   "git reads a line up to a NUL byte, and so is this one");
	return done();
}
