/*
 * The screen of a question: what is on it, and that nothing from the box can
 * leave its place, on a screen of any size.
 */
#include <stdlib.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "consent/ask/host_prompt.h"
#include "tap.h"
#include "terminal/columns.h"

static const char chain[] =
	"[{\"pid\":3,\"exe\":\"/usr/bin/curl\",\"argv\":[\"curl\",\"-s\",\"a b\"]},"
	"{\"pid\":2,\"exe\":\"/usr/bin/node\",\"argv\":[\"node\"]},"
	"{\"pid\":4,\"exe\":\"/usr/bin/npm\",\"argv\":[\"npm\",\"test\"]},"
	"{\"pid\":1,\"exe\":\"/agentbox\",\"argv\":[\"agentbox\"]}]";

static struct ab_host_prompt_question plain(void)
{
	return (struct ab_host_prompt_question){ .number = 1,
						 .run_id = "7kq2a",
						 .host = "files.example.com",
						 .port = 443,
						 .door = "proxy",
						 .who = chain,
						 .left_ms = 46500 };
}

static char *text_of(const struct ab_host_prompt_question *q, bool more, size_t rows, size_t cols)
{
	struct ab_buf b = { 0 };

	ab_host_prompt_text(&b, q, more, rows, cols);
	return ab_buf_take(&b);
}

static void test_plain(void)
{
	struct ab_host_prompt_question q = plain();
	ab_autofree char *wide = text_of(&q, false, 24, 100);
	ab_autofree char *usual = text_of(&q, false, 24, 60);

	is_str(wide,
	       "agentbox: curl (pid 3, started by npm -> node) wants "
	       "files.example.com:443                 box 7kq2a\n"
	       "\n"
	       "          [o]nce  [r]un  [p]roject  [a]lways  [n]o  [d]eny always  [?] more\n"
	       "          no answer in 47 s means no",
	       "a question on one line");
	is_str(usual,
	       "agentbox: curl (pid 3, started by npm -> node) wants\n"
	       "          files.example.com:443\n"
	       "\n"
	       "          [o]nce  [r]un  [p]roject  [a]lways  [n]o\n"
	       "          [d]eny always  [?] more\n"
	       "          no answer in 47 s means no",
	       "a host on a line of its own");
}

/* The answer of a key, or "-". */
static const char *answer_of(const struct ab_host_prompt_question *q, int key)
{
	enum ab_host_choice choice;

	return ab_host_prompt_choice(q, key, &choice) ? ab_choice_names[choice] : "-";
}

static void test_choices(void)
{
	struct ab_host_prompt_question q = plain();
	ab_autofree char *group = NULL, *held = NULL, *narrow = NULL;

	is_str(answer_of(&q, 'p'), "project", "a key is a choice");
	is_str(answer_of(&q, 'd'), "never", "no has an always, too");
	is_str(answer_of(&q, 'g'), "-", "a host without a group");
	is_str(answer_of(&q, 'x'), "-", "a key without a choice");
	q.group = "npm";
	is_str(answer_of(&q, 'g'), "group", "a host of a group");
	group = text_of(&q, true, 40, 100);
	ok(strstr(group, "[r]un  [g]roup @npm  [p]roject") &&
		   strstr(group, "group        allow all hosts of @npm until the run ends") &&
		   strstr(group, "deny always  as no, and add it"),
	   "which is named, and the meanings have the words of the menu");
	narrow = text_of(&q, true, 60, 60);
	ok(strstr(narrow, "run          allow this host until the run ends\n"
			  "                       (80 and 443 are one)\n"),
	   "lines break between words");
	q.held = true;
	held = text_of(&q, false, 24, 100);
	ok(strstr(held, "          [o]nce  [r]un  [a]lways  [n]o  [?] more\n"),
	   "a paused network has no host to save");
	ok(strcmp(answer_of(&q, 'p'), "-") == 0 && strcmp(answer_of(&q, 'd'), "-") == 0 &&
		   strcmp(answer_of(&q, 'g'), "-") == 0,
	   "by no key");
}

static void test_variants(void)
{
	struct ab_host_prompt_question q = plain();
	ab_autofree char *unknown = NULL, *puny = NULL, *held = NULL;
	ab_autofree char *others = NULL, *v6 = NULL, *bad = NULL;

	q.who = NULL;
	unknown = text_of(&q, true, 30, 80);
	ok(strstr(unknown, "something in the box wants") && strstr(unknown, "is not known"),
	   "nobody knows who asks");
	q.who = "{\"no\": array";
	bad = text_of(&q, false, 24, 80);
	ok(strstr(bad, "something in the box wants"), "who makes no sense");
	q = plain();
	q.host = "xn--gthub-n4a.com";
	puny = text_of(&q, false, 24, 80);
	ok(strstr(puny, "xn--gthub-n4a.com:443") && strstr(puny, "shown as punycode"),
	   "other letters are pointed at");
	q = plain();
	q.held = true;
	held = text_of(&q, false, 24, 80);
	ok(strstr(held, "the monitor has paused the network"), "a held network");
	q = plain();
	q.others = 3;
	others = text_of(&q, false, 24, 80);
	ok(strstr(others, "means no; 3 other questions wait"), "others that wait");
	q = plain();
	q.host = "2001:db8::1";
	v6 = text_of(&q, false, 24, 80);
	ok(strstr(v6, "[2001:db8::1]:443"), "an address");
}

static void test_more(void)
{
	struct ab_host_prompt_question q = plain();
	ab_autofree char *text = text_of(&q, true, 40, 100);
	ab_autofree char *small = text_of(&q, true, 10, 100);

	ok(strstr(text, "pid 3  /usr/bin/curl\n          | curl -s 'a b'\n") &&
		   strstr(text, "pid 4  /usr/bin/npm\n          | npm test"),
	   "[?] shows each process");
	ok(!strstr(text, "pid 1 "), "but not ours");
	ok(strstr(text, "id 7kq2a-1, via proxy") && strstr(text, "agentbox allow 7kq2a-1"),
	   "and how to answer elsewhere");
	ok(strstr(small, "more lines on a larger screen") && strstr(small, "[o]nce"),
	   "where it does not fit, the answers are still there");
}

/* Nothing in a name of the box passes for words of ours. */
static void test_names(void)
{
	struct ab_host_prompt_question q = plain();
	ab_autofree char *text = NULL, *long_chain = NULL;
	ab_autobuf struct ab_buf who = { 0 };

	q.who = "[{\"pid\":3,\"exe\":\"/x/git wants github.com:443\",\"argv\":[]}]";
	text = text_of(&q, false, 24, 100);
	ok(strstr(text, "agentbox: git\\x20wants\\x20githu... (pid 3) wants"),
	   "a name has no blanks and is short");
	ab_buf_puts(&who, "[");
	for (int i = 90; i > 70; i--)
		ab_buf_printf(&who, "%s{\"pid\":%d,\"exe\":\"/bin/p%d\"}", i < 90 ? "," : "", i, i);
	ab_buf_puts(&who, "]");
	q.who = who.data;
	long_chain = text_of(&q, false, 24, 200);
	ok(strstr(long_chain, "p90 (pid 90, started by ... -> p86 -> p87 -> p88 -> p89)"),
	   "of a long chain the nearest are shown");
}

static void test_small(void)
{
	struct ab_host_prompt_question q = plain();
	ab_autofree char *two = text_of(&q, false, 2, 20);
	ab_autofree char *one = text_of(&q, false, 1, 34);
	ab_autofree char *dot = text_of(&q, false, 1, 1);
	ab_autofree char *none = text_of(&q, false, 0, 0);

	is_str(two, "...s.example.com:443\no/r/p/a/n/d ?", "the end of a name is kept");
	is_str(one, "...s.example.com:443 o/r/p/a/n/d ?", "on one line");
	is_str(dot, "3", "on one place");
	is_str(none, "", "on none");
}

/* clang-format off */
static const char *const hostile[] = {
	"a\033[2Jb",
	"\r\nagentbox: all is well",
	"\xe2\x80\xae" "moc.buhtig",
	"e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81",
	"\xd7\x90\xd7\x91\xd7\x92",
	"\xff\xfe\x80\xc2",
	"\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87",
	"\xf0\x9f\x98\x80\xe2\x80\x8d\xf0\x9f\x98\x80",
	"\xc2\x9b" "31m",
	"                                                            wants x",
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
};
/* clang-format on */

/* Every line fits, and holds nothing but what ab_columns lets pass. */
static bool stays(const char *text, size_t rows, size_t cols)
{
	size_t row = 1;

	for (const char *line = text;; row++) {
		size_t len = strcspn(line, "\n"), used;
		ab_autobuf struct ab_buf again = { 0 };

		if (row > rows || ab_columns_fit(&again, line, len, cols, &used) != len ||
		    again.len != len || memcmp(again.data, line, len) != 0)
			return false;
		if (!line[len])
			return true;
		line += len + 1;
	}
}

static void test_hostile(void)
{
	for (size_t i = 0; i < AB_COUNT(hostile); i++) {
		struct ab_host_prompt_question q = plain();
		ab_autobuf struct ab_buf who = { 0 };
		bool fine = true;

		ab_buf_puts(&who, "[");
		for (int n = 9; n > 0; n--) {
			ab_buf_printf(&who, "%s{\"pid\":%d,\"exe\":", n < 9 ? "," : "", n);
			ab_buf_json(&who, hostile[i]);
			ab_buf_puts(&who, ",\"argv\":[");
			ab_buf_json(&who, hostile[i]);
			ab_buf_puts(&who, ",\"\",\"-x\"]}");
		}
		ab_buf_puts(&who, "]");
		q.who = who.data;
		q.host = q.door = q.run_id = hostile[i];
		q.about = i % 2 ? hostile[i] : NULL;
		for (size_t rows = 1; rows < 40; rows += 1 + rows / 8)
			for (size_t cols = 1; cols < 130; cols += 1 + cols / 8)
				for (int more = 0; more < 2; more++) {
					ab_autofree char *text = text_of(&q, more, rows, cols);

					fine = fine && stays(text, rows, cols);
				}
		ok(fine, "hostile names %zu, on screens of many sizes", i);
	}
}

static void test_key(void)
{
	struct ab_host_prompt_question q = plain();
	ab_autofree char *text = NULL, *more = NULL;

	q.host = "git.test";
	q.about = "log in to git.test as git with the key SHA256:abc";
	text = text_of(&q, false, 24, 76);
	is_str(text,
	       "agentbox: curl (pid 3, started by npm -> node) wants\n"
	       "          to log in to git.test as git with the key SHA256:abc\n"
	       "\n"
	       "          [o]nce  [r]un  [n]o  [?] more\n"
	       "          no answer in 47 s means no",
	       "a question about a key");
	more = text_of(&q, true, 40, 76);
	ok(strstr(more, "allow it this time; ask again next time"),
	   "its answers have their own meaning");
	is_str(answer_of(&q, 'r'), "run", "for the run");
	is_str(answer_of(&q, 'a'), "-", "but not always");
	is_str(answer_of(&q, 'p'), "-", "nor for the project");
}

int main(void)
{
	test_plain();
	test_key();
	test_choices();
	test_variants();
	test_more();
	test_names();
	test_small();
	test_hostile();
	return done();
}
