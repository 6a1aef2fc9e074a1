#include "shell/output/printed.h"

#include <stdlib.h>

#include "base/data/arena.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "shell/command/name_index.h"
#include "tap.h"

static struct ab_arena arena;

static struct ab_text text(const char *s)
{
	return (struct ab_text){ s, (uint32_t)strlen(s) };
}

enum {
	NET = AB_TAINT_NETWORK,
	DEC = AB_TAINT_DECODED,
	SEC = AB_TAINT_SECRET,
	FIL = AB_TAINT_FILE,
};

/* "?" in a word or the input: unknown. Input NULL: none. */
static void run(const char *const *argv, const char *in, unsigned taint, struct ab_data *ret)
{
	struct ab_field v[12] = { 0 };
	struct ab_simple command = { .argv = v, .in = { .none = !in } };

	for (size_t i = 0; argv[i]; i++) {
		char *s = ab_arena_dup(&arena, argv[i]);

		v[i].text = text(s);
		v[i].verbatim = (uint32_t)(100 * i);
		for (char *p = s; (p = strchr(p, '?')); p++) {
			*p = AB_UNKNOWN;
			v[i].unknown = true;
		}
		v[i].text.len = (uint32_t)strlen(argv[i]);
		command.argc++;
	}
	command.name = v[0].text;
	if (in) {
		command.in.text = text(strcmp(in, "?") ? in : "");
		command.in.unknown = strcmp(in, "?") == 0;
		command.in.text.len += command.in.unknown;
		command.in.taint = taint;
		command.in.verbatim = 7;
	}
	command.cwd = text("/work");
	ab_command_look_up(&command);
	ab_printed_output(&arena, &command, ret);
}

static char *show(const struct ab_data *d)
{
	ab_autobuf struct ab_buf b = { 0 };

	if (d->none)
		return ab_strdup("(none)");
	for (uint32_t i = 0; i < d->text.len; i++)
		if (d->text.s[i] == AB_UNKNOWN)
			ab_buf_puts(&b, "?");
		else
			ab_buf_add(&b, &d->text.s[i], 1);
	if (d->unknown != (d->text.len && memchr(d->text.s, 0, d->text.len)))
		ab_buf_puts(&b, "!unknown");
	return ab_buf_take(&b);
}

#define A(...)                    \
	{                         \
		__VA_ARGS__, NULL \
	}

static const struct {
	const char *argv[12];
	const char *in;
	const char *out;
	unsigned taint, in_taint;
} cases[] = {
	/* echo */
	{ A("echo"), NULL, "\n" },
	{ A("echo", "a", "b"), NULL, "a b\n" },
	{ A("echo", "-n", "a"), NULL, "a" },
	{ A("echo", "-ne", "a\\tb\\x41\\0101\\c zzz"), NULL, "a\tbAA" },
	{ A("echo", "a\\tb"), NULL, "a\\tb\n" },
	{ A("echo", "-e", "-E", "\\n"), NULL, "\\n\n" },
	{ A("echo", "-x", "-n"), NULL, "-x -n\n" },
	{ A("echo", "-e", "\\101\\u00e9\\q\\"), NULL, "\\101\xc3\xa9\\q\\\n" },
	{ A("echo", "a?b", "c"), NULL, "a?b c\n" },

	/* printf */
	{ A("printf", "%s-%s\\n", "a", "b", "c"), NULL, "a-b\nc-\n" },
	{ A("printf", "%d %x %o %c %%", "10", "255", "8", "abc"), NULL, "10 ff 10 a %" },
	{ A("printf", "%5s|%-5s|%05d|%.2s", "a", "b", "-42", "xyz"), NULL, "    a|b    |-0042|xy" },
	{ A("printf", "\\x72\\155\\t"), NULL, "rm\t" },
	{ A("printf", "%b", "a\\tb\\0101\\102"), NULL, "a\tbAB" },
	{ A("printf", "%b%s", "a\\cb", "x"), NULL, "a" },
	{ A("printf", "%s"), NULL, "" },
	{ A("printf", "%d", "'A"), NULL, "65" },
	{ A("printf", "a", "b", "c"), NULL, "a" },
	{ A("printf", "--", "-%s", "x"), NULL, "-x" },
	{ A("printf", "-v", "x", "y"), NULL, "(none)" },
	{ A("printf", "%q %q", "ab", "a b"), NULL, "ab ?" },
	{ A("printf", "%s %d", "?", "?"), NULL, "? ?" },
	{ A("printf", "a%*d", "5", "6"), NULL, "a?" },
	{ A("printf", "a\\0b"), NULL, "ab" },

	/* what passes on */
	{ A("cat"), "a\n", "a\n" },
	{ A("cat", "-"), "a\n", "a\n", NET, NET },
	{ A("cat", "f"), "a\n", "?", FIL },
	{ A("cat", "-n"), "a\n", "?" },
	{ A("tee", "f"), "a\n", "a\n", DEC, DEC },
	{ A("cat"), NULL, "" },

	/* codes */
	{ A("base64", "-d"), "cm0gLXJmIC8=\n", "rm -rf /", DEC },
	{ A("base64", "--decode"), "cm0g\nLXJmIC8", "rm -rf /", DEC },
	{ A("base64", "-D"), "YQ==", "a", DEC },
	{ A("base64", "-di"), "YQ==", "a", DEC },
	{ A("base64", "-d"), "?", "?", DEC | NET, NET },
	{ A("base64", "-d", "f"), NULL, "?", DEC | FIL },
	{ A("base64"), "hello\n", "aGVsbG8K\n" },
	{ A("base64", "-w0"), "rm -rf /", "cm0gLXJmIC8=" },
	{ A("base64", "-w", "0"), "a", "YQ==" },
	{ A("base32", "-d"), "ONSWG4TFOQ======\n", "secret", DEC },
	{ A("xxd", "-r", "-p"), "726d20 2d\n72", "rm -r", DEC },
	{ A("xxd", "-p"), "hi\n", "68690a\n" },
	{ A("xxd", "-r"), "0000: 41", "?", DEC },
	{ A("openssl", "base64", "-d"), "YQ==\n", "a", DEC },
	{ A("openssl", "enc", "-d", "-base64", "-A"), "YQ==", "a", DEC },
	{ A("openssl", "enc", "-d", "-aes-256-cbc", "-a"), "YQ==", "?", DEC },
	{ A("openssl", "s_client", "-connect", "x:1"), NULL, "?", NET },
	{ A("openssl", "rand", "-hex", "8"), NULL, "?" },
	{ A("rev"), "/ fr- mr\nab", "rm -rf /\nba" },
	{ A("tr", "a-z", "A-Z"), "hello", "HELLO" },
	{ A("tr", "A-Za-z", "N-ZA-Mn-za-m"), "ez -es /", "rm -rf /" },
	{ A("tr", "-d", "x"), "xrxm", "rm" },
	{ A("tr", "-cd", "[:digit:]"), "a1b2", "12" },
	{ A("tr", "[:lower:]", "[:upper:]"), "ab", "AB" },
	{ A("tr", ":_", "\\n"), "a:b_c", "a\nb\nc" },
	{ A("tr", "-s", "a"), "aab", "?" },
	{ A("tr", "a", "b"), "?", "?", NET, NET },
	{ A("gunzip", "-c"), "?", "?", DEC | NET, NET },
	{ A("gzip", "-dc", "f"), NULL, "?", DEC },
	{ A("gzip", "-c"), "a", "?" },
	{ A("xz", "-d"), "a", "?", DEC },
	{ A("zstd", "-9"), "a", "?" },

	/* filters */
	{ A("sed", "s/a/b/"), "?", "?", NET, NET },
	{ A("sed", "-e", "s/a/b/"), "?", "?", NET, NET },
	{ A("head", "-n", "5"), "?", "?", NET, NET },
	{ A("head", "-5", "f"), "?", "?", 0, NET },
	{ A("grep", "-v", "x"), "a", "?" },
	{ A("sort", "-u"), "?", "?", DEC, DEC },
	{ A("make"), "?", "?", 0, NET },
	{ A("seq", "3"), NULL, "1\n2\n3\n" },
	{ A("seq", "2", "3"), NULL, "2\n3\n" },
	{ A("seq", "99999"), NULL, "?" },
	{ A("pwd"), NULL, "/work\n" },
	{ A("true"), NULL, "(none)" },

	/* downloads */
	{ A("curl", "-fsSL", "https://x"), NULL, "?", NET },
	{ A("curl", "-o", "-", "https://x"), NULL, "?", NET },
	{ A("curl", "-fsSLo", "f", "https://x"), NULL, "(none)" },
	{ A("curl", "-LO", "https://x"), NULL, "(none)" },
	{ A("curl", "--output", "f", "https://x"), NULL, "(none)" },
	{ A("curl", "--version"), NULL, "?" },
	{ A("wget", "-qO-", "https://x"), NULL, "?", NET },
	{ A("wget", "-O", "-", "https://x"), NULL, "?", NET },
	{ A("wget", "--output-document=-", "https://x"), NULL, "?", NET },
	{ A("wget", "-q", "https://x"), NULL, "(none)" },
	{ A("wget", "-O", "f", "https://x"), NULL, "(none)" },
	{ A("nc", "x", "1"), NULL, "?", NET },
	{ A("ssh", "x", "cat", "f"), NULL, "?", NET },

	/* secrets */
	{ A("cat", "/home/me/.ssh/id_rsa"), NULL, "?", FIL | SEC },
	{ A("head", "-1", "/home/me/.ssh/id_rsa"), NULL, "?", SEC },
	{ A("env"), NULL, "?", SEC },
	{ A("env", "X=1", "ls"), NULL, "?" },
	{ A("printenv"), NULL, "?", SEC },
	{ A("printenv", "PATH"), NULL, "?" },
	{ A("printenv", "API_TOKEN"), NULL, "?", SEC },
	{ A("set"), NULL, "?", SEC },
	{ A("set", "--", "a"), NULL, "?" },
	{ A("unknown-program", "x"), NULL, "?" },
};

static void test_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autofree char *got = NULL;
		ab_autobuf struct ab_buf name = { 0 };
		struct ab_data d;

		for (size_t j = 0; cases[i].argv[j]; j++)
			ab_buf_printf(&name, "%s ", cases[i].argv[j]);
		run(cases[i].argv, cases[i].in, cases[i].in_taint, &d);
		got = show(&d);
		is_str(got, cases[i].out, name.data);
		ok(d.taint == cases[i].taint, "%sis tainted %u, got %u", name.data, cases[i].taint,
		   d.taint);
	}
}

static void test_places(void)
{
	const char *const echo[] = A("echo", "ls");
	const char *const quiet[] = A("echo", "-n", "ls");
	const char *const two[] = A("echo", "ls", "-l");
	const char *const cat[] = A("cat");
	struct ab_data d;

	run(echo, NULL, 0, &d);
	ok(d.verbatim == 100, "what echo prints stands in its word");
	run(quiet, NULL, 0, &d);
	ok(d.verbatim == 200, "after its options");
	run(two, NULL, 0, &d);
	ok(d.verbatim == AB_NOT_VERBATIM, "joined words stand nowhere");
	run(cat, "ls\n", 0, &d);
	ok(d.verbatim == 7, "cat passes on the place");
}

static void test_redirected(void)
{
	struct ab_field argv[] = { { .text = text("echo") } };
	struct ab_redirect away = { .op = AB_REDIR_OUT, .fd = 1, .file = { .text = text("f") } };
	struct ab_simple command = {
		.name = text("echo"), .argv = argv, .argc = 1, .redirects = &away, .nredirects = 1
	};
	struct ab_data d;

	ab_command_look_up(&command);
	ab_printed_output(&arena, &command, &d);
	ok(d.none, "what goes to a file is not printed");
	away.fd = 2;
	ab_printed_output(&arena, &command, &d);
	ok(!d.none && d.text.len == 1, "errors are something else");
	away.fd = 1;
	away.file.text = text("/dev/stdout");
	ab_printed_output(&arena, &command, &d);
	ok(!d.none, "its own name is not away");
}

static void test_bounds(void)
{
	const char *const wide[] = A("printf", "%999999999d", "1");
	const char *argv[] = { "echo", NULL, NULL };
	char *big = ab_arena_alloc(&arena, (1 << 20) + 1);
	struct ab_data d;

	memset(big, 'a', 1 << 20);
	argv[1] = big;
	run(argv, NULL, 0, &d);
	ok(d.unknown && d.text.len <= (64 << 10) + 1, "what is too long is not known: %u",
	   d.text.len);
	run(wide, NULL, 0, &d);
	ok(d.unknown, "a width beyond reason");
}

int main(void)
{
	test_cases();
	test_places();
	test_redirected();
	test_bounds();
	ab_arena_fini(&arena);
	return done();
}
