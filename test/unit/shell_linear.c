/*
 * The judge takes time in proportion to the text, whatever it holds. Time is
 * not measured: the judge is built once more so that each of its blocks counts
 * a step, and what is left to the C library counts by its bytes. The same text
 * makes the same number on every machine.
 */
#include "base/data/arena.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "shell/judge/judge.h"
#include "shell/judge/judge_report.h"
#include "tap.h"

/* For a byte of the text. A build without optimization has more blocks. */
#ifdef __OPTIMIZE__
enum { STEPS_MAX = 3500 };
#else
enum { STEPS_MAX = 8000 };
#endif

static unsigned long steps;

/* What the compiler calls in every block. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	steps++;
}

/* The library's own goes through many bytes in one step. */
enum { BYTES = 16 };

void *__real_memchr(const void *s, int c, size_t n);
void *__real_memcpy(void *to, const void *from, size_t n);
void *__real_memset(void *s, int c, size_t n);
void *__real_memmem(const void *s, size_t n, const void *what, size_t len);

void *__wrap_memchr(const void *s, int c, size_t n);
void *__wrap_memcpy(void *to, const void *from, size_t n);
void *__wrap_memset(void *s, int c, size_t n);
void *__wrap_memmem(const void *s, size_t n, const void *what, size_t len);

static void *passed_over(const void *from, void *found, size_t n)
{
	size_t bytes = found ? (size_t)((char *)found - (const char *)from) : n;

	steps += bytes / BYTES;
	return found;
}

void *__wrap_memchr(const void *s, int c, size_t n)
{
	return passed_over(s, __real_memchr(s, c, n), n);
}

void *__wrap_memmem(const void *s, size_t n, const void *what, size_t len)
{
	return passed_over(s, __real_memmem(s, n, what, len), n);
}

void *__wrap_memcpy(void *to, const void *from, size_t n)
{
	steps += n / BYTES;
	return __real_memcpy(to, from, n);
}

void *__wrap_memset(void *s, int c, size_t n)
{
	steps += n / BYTES;
	return __real_memset(s, c, n);
}

/* A text: `before`, then `unit` again and again, with `#` in it for a number
 * that counts up, then `after`. */
struct pattern {
	const char *before, *unit, *after;
};

static const struct pattern patterns[] = {
	{ "", "ls -l | grep x | wc -l\n", "" },
	{ "", "\"'\"'", "" },
	{ "", "\"$(", "" },
	{ "", "(", "" },
	{ "", "|", "" },
	{ "", "a|", "a" },
	{ "", "a;", "" },
	{ "", "a&&b||", "c" },
	{ "", "bash -c ", "" },
	{ "", "bash -c 'rm -r x';", "" },
	{ "", "sudo ", "ls" },
	{ "", "env A=1 ", "ls" },
	{ "", "eval ", "ls" },
	{ "", "ssh h ", "ls" },
	{ "", "env -S ", "ls" },
	{ "", "find . -exec ", "ls" },
	{ "find . ", "-exec rm {} + ", "" },
	{ "", "for i in a b c; do ", "" },
	{ "", "for v# in a b; do x=$v#; done\n", "" },
	{ "for v in ", "a ", "; do rm $v; done" },
	{ "", "while a; do x=$x$y; done;", "" },
	{ "", "if a; then v#=1; else v#=2; fi;", "" },
	{ "case x in ", "a) v#=x;; ", "esac" },
	{ "", "v#=$v1;echo $v#;", "" },
	/* What a shell itself would take a square of time for is bounded in
	 * all; here the bound is reached. */
	{ "", "x+=aaaaaaaaaaaaaaaaaaaaaaaa;echo $x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x;", "" },
	{ "", "x=$x$x;", "echo $x" },
	{ "", "{a,b}", "" },
	{ "", "{1..1000} ", "" },
	{ "echo ", "{a,", "" },
	{ "", "cat <<E\nx\nE\n", "" },
	{ "", "sh <<E\nls\nE\n", "" },
	{ "cat ", "<<E ", "\nE\n" },
	{ "", "$(a)", "" },
	{ "", "`a` ", "" },
	{ "", "${x:-", "" },
	{ "x=aaaaaaaaaaaaaaaa; echo ", "${x//a/b}", "" },
	{ "", "f#() { f1; f2; f3; }\n", "f1" },
	{ "", "f(){ f|f& };", "" },
	{ "f() { rm -r $1; }\n", "f x\n", "" },
	{ "", "alias a#='ls -l';", "" },
	{ "rm -rf ", "a ", "" },
	{ "rm -rf ", "../", "" },
	{ "cat ", "a=b:c@d ", "" },
	{ "kubectl ", "--a=b ", "" },
	{ "git log ", "--a -b ", "" },
	{ "", "cd a;rm b;", "" },
	{ "", "cd aaaaaaaa/bbbbbbbb/cccccccc;rm b;", "" },
	{ "echo ", "a ", "| xargs rm -rf" },
	{ "echo ", "YWFh", " | base64 -d | sh" },
	{ "", "echo bHM= | base64 -d | sh;", "" },
	{ "echo YWFh", " | tr a b", " | sh" },
	{ "python3 -c \"", "os.system('ls');", "\"" },
	{ "python3 -c \"os.system(", "'a'+", "'b')\"" },
	{ "awk '", "{system(\"ls\")}", "'" },
	{ "perl -e '", "`ls`;", "'" },
	{ "set -- ", "a ", "; echo $@ \"$*\"" },
	{ "a=(", "x ", "); echo ${a[@]}" },
	{ "echo $((", "1+", "1))" },
	{ "[[ ", "a && ", "b ]]" },
	{ "a ", ">b ", "" },
	{ "", "a >f#;sh f#;", "" },
	{ "", "a$IFS", "" },
};

/* Short texts in which functions call or define each other. */
static const char *const functions[] = {
	"f(){ g(){ g(){ a& cd / | f| | f *",
	"f() { g() { g() { a& cd / | f; f *; }; g; }; g; }; f",
	"f(){ x=G;t{ x=G;a; g \"x\"G/ && cd  }; f / && cd b|| f *",
	"f() { cd a || cd b || cd c; f x && cd d || f y; }; f z",
	"f() { g; g; }; g() { h; h; }; h() { f; f; }; f",
};

enum { SHORT_STEPS_MAX = 1000000 };

static void fill(const struct pattern *p, size_t len, struct ab_buf *b)
{
	ab_buf_puts(b, p->before);
	for (unsigned i = 0; b->len + strlen(p->after) < len; i++) {
		const char *rest = p->unit, *mark;

		for (; (mark = strchr(rest, '#')); rest = mark + 1)
			ab_buf_printf(b, "%.*s%u", (int)(mark - rest), rest, i);
		ab_buf_puts(b, rest);
	}
	ab_buf_puts(b, p->after);
}

static unsigned long count(const struct pattern *p, size_t len)
{
	static const struct ab_scene scene = { .home = "/home/me",
					       .cwd = "/home/me/proj",
					       .workspace = "/home/me/proj" };
	struct ab_arena arena = { 0 };
	ab_autobuf struct ab_buf text = { 0 }, json = { 0 };
	struct ab_judgement j;

	fill(p, len, &text);
	steps = 0;
	ab_judge_text(&arena, &scene, (struct ab_text){ text.data, (uint32_t)text.len }, &j);
	ab_judgement_json(&j, &json);
	ab_arena_fini(&arena);
	return steps;
}

/* Short enough that no limit hides a square, long enough to show one. */
enum { LEN = 8 << 10 };

int main(void)
{
	for (size_t i = 0; i < AB_COUNT(patterns); i++) {
		const struct pattern *p = &patterns[i];
		unsigned long once = count(p, LEN), twice = count(p, 2 * LEN);
		ab_autofree char *unit = ab_escape(p->unit);

		printf("# %lu steps a byte, times %.2f: %s...\n", twice / (2 * LEN),
		       (double)twice / (double)once, unit);
		ok(once > 0, "%zu: steps are counted", i);
		ok(twice * 10 < once * 23, "%zu: twice the text, twice the work", i);
		ok(twice / (2 * LEN) < STEPS_MAX, "%zu: the work on a byte is bounded", i);
	}
	for (size_t i = 0; i < AB_COUNT(functions); i++) {
		unsigned long once = count(&(struct pattern){ functions[i], "", "" }, 0);

		printf("# %lu steps: %s\n", once, functions[i]);
		ok(once < SHORT_STEPS_MAX, "%zu: functions are walked a few times", i);
	}
	return done();
}
