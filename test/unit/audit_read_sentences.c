/*
 * The table from event to sentence: every kind of record, with and without its
 * members.
 */
#include "audit/read/sentences.h"

#include <string.h>

#include "audit/read/summary.h"
#include "audit/read/words.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "tap.h"

#define CURL "\"process\":[{\"pid\":3,\"exe\":\"/usr/bin/curl\"},{\"pid\":2,\"exe\":\"/bin/sh\"}]"

static const struct {
	const char *record; /* without braces */
	const char *mark, *about, *said, *more;
} cases[] = {
	{ "\"kind\":\"start\",\"command\":[\"make\",\"a b\"],\"cwd\":\"/w\",\"name\":\"n\","
	  "\"policy\":{\"profile\":\"ci\"}",
	  "start", "make a b", "in /w, profile ci, name n", "" },
	{ "\"kind\":\"start\",\"command\":[\"make\"],\"name\":\"n\"", "start", "make", "name n",
	  "" },
	{ "\"kind\":\"assurance\",\"holds\":[\"a\",\"b\"],\"missing\":\"c\"", "proved",
	  "a b; missing c", "", "" },
	{ "\"kind\":\"end\",\"status\":0,\"ms\":1500,\"timed_out\":true,\"error\":\"e\","
	  "\"requests_allowed\":1,\"requests_denied\":2,\"findings\":[\"x\",\"y\"]",
	  "end", "exit 0 after 1.5 s, timed out, e; 1 request, 2 denied; x; y", "", "" },
	{ "\"kind\":\"end\",\"error\":\"killed\",\"timed_out\":false,\"requests_allowed\":0", "end",
	  "killed", "", "" },
	{ "\"kind\":\"refused\",\"command\":[\"rm\"],\"reason\":\"Deletes it.\",\"rule\":\"r\"",
	  "refused", "rm", "deletes it", "rule r" },
	{ "\"kind\":\"request\",\"method\":\"GET\",\"domain\":\"::1\",\"port\":80,\"path\":\"/x\","
	  "\"status\":200,\"bytes_up\":0,\"bytes_down\":2048,\"ms\":0,\"secret\":\"KEY\"",
	  "ok", "GET [::1]:80/x", "", "200  2.0 KiB down  0 ms  with KEY" },
	{ "\"kind\":\"request\",\"domain\":null,\"bytes_up\":1,\"error\":\"no route\"", "failed",
	  "(no host)", "", "1 B up  no route" },
	{ "\"kind\":\"exec\",\"id\":\"a-e1\",\"command\":\"git push\",\"by\":\"sh\","
	  "\"reason\":\"Publishes.\"",
	  "denied", "git push", "publishes", "by sh  a-e1" },
	{ "\"kind\":\"exec\",\"path\":\"/bin/x\"", "denied", "/bin/x", "", "" },
	{ "\"kind\":\"exec\",\"id\":null,\"repeated\":7", "denied", "programs", "", "7 times" },
	{ "\"kind\":\"violation\",\"door\":\"file\",\"access\":\"write\",\"call\":\"openat\","
	  "\"path\":\"/etc/x\",\"reason\":\"outside\",\"id\":\"a-f1\",\"repeated\":3," CURL,
	  "denied", "write /etc/x", "outside", "by curl, pid 3  and 3 more times  a-f1" },
	{ "\"kind\":\"violation\",\"door\":\"call\",\"call\":\"mount\"", "denied", "mount", "",
	  "" },
	{ "\"kind\":\"violation\",\"door\":\"file\"", "denied", "files or calls", "", "" },
	{ "\"kind\":\"violation\",\"domain\":\"x.y\",\"port\":443,\"door\":\"connect\","
	  "\"reason\":\"no\",\"id\":\"a-1\"",
	  "denied", "x.y:443", "no", "a-1" },
	{ "\"kind\":\"violation\",\"domain\":null,\"protocol\":\"udp\",\"packets\":12", "denied",
	  "12 udp packets", "", "" },
	{ "\"kind\":\"violation\",\"domain\":null,\"protocol\":\"icmp\",\"packets\":1", "denied",
	  "1 icmp packet", "", "" },
	{ "\"kind\":\"violation\",\"id\":\"a-2\",\"door\":\"udp\",\"domain\":\"203.0.113.9\","
	  "\"port\":443,\"protocol\":\"udp\",\"packets\":1,\"reason\":\"Only TCP.\","
	  "\"process\":[{\"pid\":3,\"exe\":\"/bin/x\",\"argv\":[]}]",
	  "denied", "udp to 203.0.113.9:443", "only TCP", "by x, pid 3  a-2" },
	{ "\"kind\":\"violation\",\"id\":\"a-2\",\"door\":\"udp\",\"domain\":\"2001:db8::9\","
	  "\"port\":443,\"protocol\":\"udp\",\"packets\":3,\"reason\":\"Only TCP.\"",
	  "denied", "udp to [2001:db8::9]:443, 3 packets", "only TCP", "process not known  a-2" },
	{ "\"kind\":\"violation\"", "denied", "other hosts", "", "" },
	{ "\"kind\":\"question\",\"domain\":\"x.y\",\"answer\":\"once\",\"by\":\"terminal\","
	  "\"ms\":10," CURL,
	  "asked", "x.y", "allowed once on the terminal, after 10 ms",
	  "for curl, pid 3, started by sh, pid 2" },
	{ "\"kind\":\"question\",\"domain\":\"x.y\",\"answer\":\"timeout\",\"by\":\"timeout\"",
	  "asked", "x.y", "denied, nobody answered", "" },
	{ "\"kind\":\"grant\",\"entry\":\"x.y\",\"allowed\":false,\"for_ms\":0,\"error\":\"full\"",
	  "grant", "x.y", "denied for this run, not applied: full", "" },
	{ "\"kind\":\"grant\",\"entry\":\"x.y\",\"allowed\":true,\"for_ms\":60000,\"by\":\"approver\"",
	  "grant", "x.y", "allowed for 1m by the approver", "" },
	{ "\"kind\":\"reload\",\"changes\":[\"+ a\",\"- b\"],\"error\":null", "reload", "+ a, - b",
	  "", "" },
	{ "\"kind\":\"reload\",\"changes\":[]", "reload", "no change", "", "" },
	{ "\"kind\":\"reload\",\"error\":\"line 3\"", "reload",
	  "failed, the lists are unchanged: line 3", "", "" },
	{ "\"kind\":\"monitor\",\"threshold\":\"t\",\"value\":5,\"limit\":3,\"domain\":\"x.y\","
	  "\"action\":\"warn\"",
	  "monitor", "t", "5, the limit is 3  x.y  action warn", "" },
	{ "\"kind\":\"secret\",\"name\":\"K\",\"event\":\"failed\",\"reason\":\"r\"", "secret", "K",
	  "failed: r", "" },
	{ "\"kind\":\"finding\",\"reason\":\"a sentence\"", "finding", "a sentence", "", "" },
	{ "\"kind\":\"program\",\"path\":\"/bin/\\u001bx\"", "program", "/bin/\\x1bx", "", "" },
	{ "\"kind\":\"continued\",\"removed\":\"f\"", "file",
	  "the record continues in the next file; f was removed", "", "" },
	{ "\"kind\":\"new\\u001b\"", "other", "{\"kind\":\"new\\u001b\"}",
	  "{\"kind\":\"new\\u001b\"}", "{\"kind\":\"new\\u001b\"}" },
};

static const char *say(unsigned int parts, const char *line, const char **ret_mark)
{
	static struct ab_buf b;

	ab_buf_fini(&b);
	*ret_mark = ab_sentence(&b, parts, line, strlen(line));
	return b.len ? b.data : "";
}

static void check_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autofree char *line = ab_printf("{%s}", cases[i].record);
		size_t whole = 0;
		const char *mark;

		is_str(say(AB_ABOUT, line, &mark), cases[i].about, cases[i].record);
		is_str(mark, cases[i].mark, "its mark");
		is_str(say(AB_SAID, line, &mark), cases[i].said, "what happened");
		is_str(say(AB_MORE, line, &mark), cases[i].more, "details");
		for (size_t n = strlen(line); n-- > 0;) {
			line[n] = '\0';
			say(AB_SENTENCE, line, &mark);
			whole += mark != NULL;
		}
		ok(whole == 0, "a line that is cut is not a record");
	}
}

static void check_remedies(void)
{
	ok(ab_remedy_find("network.deny")->rule, "a rule that has a remedy");
	ok(!ab_remedy_find("syscalls")->rule, "one that has none");
	is_str(ab_remedy_find("syscalls")->words, "nothing can lift it", "says so");
}

static void check_summary(void)
{
	struct ab_summary s = { .run_id = "abcd", .rest = 0 };
	ab_autostrv struct ab_strv lines = { 0 };

	ab_summary_end(&s, "nothing", &lines);
	ok(lines.len == 0, "no row, no line");
	for (int i = 0; i < AB_SUMMARY_ROWS + 2; i++) {
		struct ab_summary_row *row = ab_summary_add(&s, 2);

		if (!row)
			continue;
		snprintf(row->id, sizeof(row->id), "abcd-%d", i + 1);
		row->about = ab_strdup("x.y");
		row->reason = ab_strdup("no");
		row->next = i < 2 ? ab_strdup("agentbox run") : NULL;
	}
	ab_summary_end(&s, "many", &lines);
	ok(lines.len == 1 + AB_SUMMARY_ROWS + 1 + 1, "headline, rows, a remedy, the rest");
	is_str(lines.v[1], "  abcd-1   x.y  no, 2 times", "a row");
	is_str(lines.v[3], "           allow it next time:  agentbox run", "a remedy of two rows");
	is_str(lines.v[12], "  and 4 more: agentbox log abcd --denied", "the rest");
}

int main(void)
{
	check_cases();
	check_remedies();
	check_summary();
	return done();
}
