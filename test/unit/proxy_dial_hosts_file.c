#include "proxy/dial/hosts_file.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"

static const char text[] = "# a comment with commented.test\n"
			   "127.0.0.1\tlocalhost\n"
			   "10.0.0.1 one.test\n"
			   "  10.0.0.2\ttwo.test  two-alias.test # not.test\n"
			   "10.0.0.3 Upper.TEST\r\n"
			   "fd00::4 both.test\n"
			   "10.0.0.4 both.test more.both.test\n"
			   "10.0.0.5 x.one.test one.test.x onetest xone.test\n"
			   "127.1 spelled.test\n"
			   "fe80::1%eth0 scoped.test\n"
			   "nonsense.test word.test\n"
			   "10.0.0.6#glued.test\n"
			   "10.0.0.7 tail.test#glued\n"
			   "alone.test\n"
			   "::ffff:10.0.0.8 mapped.test\n"
			   "10.0.0.9 one.test\n"
			   "10.0.0.10 last.test";

static const struct {
	const char *name, *found; /* "": not in the file */
} cases[] = {
	{ "localhost", "127.0.0.1 " },
	{ "one.test", "10.0.0.1 10.0.0.9 " },
	{ "two.test", "10.0.0.2 " },
	{ "two-alias.test", "10.0.0.2 " },
	{ "upper.test", "10.0.0.3 " },
	{ "both.test", "fd00::4 10.0.0.4 " },
	{ "more.both.test", "10.0.0.4 " },
	{ "x.one.test", "10.0.0.5 " },
	{ "tail.test", "10.0.0.7 " },
	{ "mapped.test", "::ffff:10.0.0.8 " },
	{ "last.test", "10.0.0.10 " },
	{ "commented.test", "" },
	{ "not.test", "" },
	{ "spelled.test", "" },
	{ "scoped.test", "" },
	{ "word.test", "" },
	{ "nonsense.test", "" },
	{ "glued.test", "" },
	{ "alone.test", "" },
	{ "10.0.0.1", "" },
	{ "test", "" },
	{ "one", "" },
	{ "nothere.test", "" },
};

static void say(const struct ab_answer *a, char *out)
{
	*out = '\0';
	for (unsigned i = 0; i < a->n6; i++) {
		inet_ntop(AF_INET6, a->v6[i], out + strlen(out), 64);
		strcat(out, " ");
	}
	for (unsigned i = 0; i < a->n4; i++) {
		inet_ntop(AF_INET, a->v4[i], out + strlen(out), 64);
		strcat(out, " ");
	}
}

static void test_cases(const char *lower, size_t len)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ab_answer a = { .kind = AB_ANSWER_NONE };
		char found[1024];
		bool is_there = ab_hosts_find(lower, len, cases[i].name, &a);

		say(&a, found);
		is_str(found, cases[i].found, cases[i].name);
		ok(is_there == (cases[i].found[0] != '\0') && (a.kind == AB_ANSWER_OK) == is_there,
		   "%s is %sthere", cases[i].name, is_there ? "" : "not ");
	}
}

static void test_cut(const char *lower, size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *guard =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t wrong = 0;

	if (guard == MAP_FAILED || mprotect(guard + page, page, PROT_NONE) < 0)
		abort();
	for (size_t n = 0; n <= len; n++) {
		char *at = guard + page - n;

		memcpy(at, lower, n);
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct ab_answer a;

			/* What a whole file does not give, a cut one does
			 * not, except for words that are cut themselves. */
			wrong += ab_hosts_find(at, n, cases[i].name, &a) && !cases[i].found[0] &&
				 at[n - 1] == '\n';
		}
	}
	ok(wrong == 0, "cut at every byte nothing else is found");
	munmap(guard, 2 * page);
}

static void test_many(void)
{
	char many[4096] = "";
	struct ab_answer a;

	for (int i = 0; i < 40; i++)
		sprintf(many + strlen(many), "10.1.0.%d a.test\nfd00::%d a.test\n", i, i);
	ok(ab_hosts_find(many, strlen(many), "a.test", &a) && a.n4 == AB_ANSWER_MAX &&
		   a.n6 == AB_ANSWER_MAX,
	   "more addresses than fit are ignored");
}

int main(void)
{
	char lower[sizeof(text)];

	memcpy(lower, text, sizeof(text));
	ab_hosts_lower(lower, sizeof(text) - 1);
	test_cases(lower, sizeof(text) - 1);
	test_cut(lower, sizeof(text) - 1);
	test_many();
	return done();
}
