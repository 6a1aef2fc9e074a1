/*
 * What `watch` makes of records, packets and keys, and how it looks. Whatever
 * a run does it stays bounded, and on a screen of any size.
 */
#include <stdarg.h>
#include <stdlib.h>

#include "audit/read/stats.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "steer/watch/watch_model.h"
#include "tap.h"
#include "terminal/columns.h"
#include "terminal/key_reader.h"

static struct ab_watch_model *model;

static void begin(void)
{
	ab_watch_model_free(model);
	model = ab_watch_model_new("7kq2a", 1000);
}

__attribute__((format(printf, 1, 2))) static void record(const char *fmt, ...)
{
	ab_autofree char *rest = NULL, *line = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&rest, fmt, ap) < 0)
		abort();
	va_end(ap);
	line = ab_printf("{\"timestamp\":\"2030-01-02T03:04:05.678Z\","
			 "\"run_id\":\"7kq2a\",%s}",
			 rest);
	ab_watch_record(model, line, strlen(line), 1000);
}

static void event(uint64_t now, const char *text)
{
	json_t *packet = json_loads(text, 0, NULL);

	if (!packet)
		abort();
	ab_watch_event(model, packet, now);
	json_decref(packet);
}

static void ask(uint64_t now, unsigned int number, const char *host)
{
	json_t *packet = json_pack("{s:s,s:o,s:s,s:i,s:s,s:i,s:[{s:i,s:s,s:[s]}]}", "event",
				   "asked", "id", json_sprintf("7kq2a-%u", number), "domain", host,
				   "port", 443, "why", "unknown", "left_ms", 60000, "process",
				   "pid", 3, "exe", "/usr/bin/curl", "argv", "curl");

	if (!packet)
		abort();
	ab_watch_event(model, packet, now);
	json_decref(packet);
}

/* The screen as text, without what emphasises. */
static char *screen(size_t rows, size_t cols, uint64_t now, bool colour)
{
	struct ab_watch_look look = { rows, cols, colour, now };
	ab_autostrv struct ab_strv lines = { 0 };
	struct ab_buf b = { 0 };

	ab_watch_view(model, &look, &lines);
	for (size_t i = 0; i < lines.len; i++)
		ab_buf_printf(&b, "%s\n", lines.v[i]);
	ab_buf_puts(&b, "");
	return ab_buf_take(&b);
}

static bool has(size_t rows, size_t cols, const char *text)
{
	ab_autofree char *s = screen(rows, cols, 2000, false);

	if (strstr(s, text))
		return true;
	printf("# no \"%s\" in:\n", text);
	for (char *line = strtok(s, "\n"); line; line = strtok(NULL, "\n"))
		printf("# %s\n", line);
	return false;
}

static void test_records(void)
{
	begin();
	record("\"kind\":\"start\",\"command\":[\"make\",\"a b\"]");
	record("\"kind\":\"request\",\"domain\":\"x.example\",\"port\":443,"
	       "\"method\":\"GET\",\"path\":\"/a\",\"status\":200,"
	       "\"allowed\":true,\"bytes_up\":100,\"bytes_down\":2048");
	record("\"kind\":\"request\",\"domain\":\"y.example\",\"port\":80,"
	       "\"allowed\":true,\"error\":\"no route\",\"bytes_up\":0,"
	       "\"bytes_down\":0");
	record("\"kind\":\"violation\",\"id\":\"7kq2a-1\",\"domain\":"
	       "\"z.example\",\"port\":443,\"allowed\":false,\"door\":\"proxy\","
	       "\"reason\":\"not on the allow list\",\"bytes_up\":0,"
	       "\"bytes_down\":0,\"repeated\":4");
	record("\"kind\":\"request\",\"id\":\"7kq2a-1\",\"domain\":"
	       "\"z.example\",\"port\":443,\"method\":\"GET\",\"path\":\"/q\","
	       "\"status\":403,\"allowed\":false");
	record("\"kind\":\"violation\",\"id\":\"7kq2a-f1\",\"door\":\"file\","
	       "\"path\":\"/etc/x\",\"access\":\"write\",\"reason\":\"r\"");
	record("\"kind\":\"exec\",\"id\":\"7kq2a-e1\",\"command\":\"sudo x\","
	       "\"allowed\":false,\"reason\":\"r\"");
	record("\"kind\":\"question\",\"domain\":\"q.example\",\"port\":443,"
	       "\"answer\":\"once\",\"by\":\"terminal\"");
	record("\"kind\":\"grant\",\"entry\":\"g.example\",\"allowed\":true,"
	       "\"by\":\"control\"");
	ok(has(24, 80, "make 'a b'"), "the command");
	ok(has(24, 80,
	       "03:04:05 ok      GET x.example:443/a  200  100 B up  "
	       "2.0 KiB down"),
	   "a request");
	ok(has(24, 80, "failed  y.example:80  no route"), "one that failed");
	ok(has(24, 99, "denied  z.example:443  not on the allow list  and 4 more times  7kq2a-1"),
	   "one that was denied");
	ok(!has(24, 80, "z.example:443/q"), "and not twice");
	ok(has(24, 80, "write /etc/x") && has(24, 80, "sudo x") && has(24, 80, "2 denied inside"),
	   "files and programs");
	ok(has(24, 80, "asked   q.example:443  allowed once on the terminal") &&
		   has(24, 80, "grant   g.example  allowed for this run from another terminal"),
	   "words of people");
	ok(has(24, 80, "z.example") && has(24, 120, "     0    5"),
	   "hosts are counted, those that were not told one by one too");
	record("\"kind\":\"nothing\"");
	ab_watch_record(model, "garbage", 7, 0);
	record("\"kind\":\"end\",\"status\":3,\"requests_allowed\":7,"
	       "\"requests_denied\":5,\"requests_failed\":1,\"bytes_up\":10,"
	       "\"bytes_down\":20");
	ok(has(24, 80, "the run has ended with status 3") &&
		   has(24, 80, "7 allowed  5 denied  1 failed"),
	   "the end, with its totals");
}

static void test_status(void)
{
	json_t *answer = json_loads("{\"ok\":true,\"run\":\"7kq2a\",\"name\":\"n\",\"command\":"
				    "[\"make\"],\"profile\":\"ci\",\"age_ms\":61000,\"network\":"
				    "{\"allowed\":3,\"denied\":2,\"failed\":0,\"bytes_up\":5,"
				    "\"bytes_down\":6,\"open\":[{\"domain\":\"o.example\",\"port\":"
				    "443,\"bytes_up\":1024,\"bytes_down\":4096,\"ms\":5}]}}",
				    0, NULL);

	begin();
	ab_watch_status(model, answer, 100000);
	json_decref(answer);
	ok(has(24, 80,
	       "3 allowed  2 denied  5 B up  6 B down  1 open  "
	       "profile ci"),
	   "totals");
	ok(has(24, 80, "o.example:443") && has(24, 120, "1.0 KiB"), "what is open");
	ab_watch_gone(model, 100000);
	ok(has(24, 80, "0 open"), "nothing is open after the end");
}

static void pending(uint64_t now, const char *list, int next)
{
	json_t *answer = json_pack("{s:o,s:i}", "pending", json_loads(list, 0, NULL), "next", next);

	ab_watch_pending(model, answer, now);
	json_decref(answer);
}

static void test_questions(void)
{
	const char *answer = "?";

	begin();
	ask(1000, 1, "a.example");
	ok(has(24, 80, "1 question waiting") && has(24, 80, ">  59 s  a.example:443  curl (pid 3)"),
	   "a question");
	ok(ab_watch_key(model, 'o', 1100, &answer) == AB_WATCH_NOTHING,
	   "which nobody can have read yet");
	ok(ab_watch_key(model, 'o', 2000, &answer) == AB_WATCH_ANSWER &&
		   strcmp(answer, "once") == 0 && strcmp(model->selected, "7kq2a-1") == 0,
	   "and which is answered");
	ask(2000, 2, "b.example");
	ask(2000, 3, "xn--c-1ga.example");
	ok(has(24, 80, "3 questions wait") && has(24, 80, "punycode"), "more of them");
	ab_watch_key(model, AB_KEY_DOWN, 2000, &answer);
	ok(ab_watch_key(model, 'a', 2700, &answer) == AB_WATCH_NOTHING,
	   "another one is chosen, and to be read first");
	ok(ab_watch_key(model, 'a', 2800, &answer) == AB_WATCH_ANSWER &&
		   strcmp(answer, "always") == 0 && strcmp(model->selected, "7kq2a-2") == 0,
	   "the one that was chosen");
	event(3000, "{\"event\":\"settled\",\"id\":\"7kq2a-2\"}");
	ok(strcmp(model->selected, "7kq2a-3") == 0 &&
		   ab_watch_key(model, 'o', 3100, &answer) == AB_WATCH_NOTHING,
	   "the next in its place is not answered by the same key");
	ok(ab_watch_key(model, 'n', 4000, &answer) == AB_WATCH_ANSWER, "but later");
	ab_watch_key(model, AB_KEY_DOWN, 4000, &answer);
	ok(ab_watch_key(model, 'n', 4000, &answer) == AB_WATCH_ANSWER,
	   "where there is no other, it stays chosen");
	event(4000, "{\"event\":\"settled\",\"id\":\"7kq2a-9\"}");
	event(4000, "{\"event\":\"settled\",\"id\":\"7kq2a-3\"}");
	ok(strcmp(model->selected, "7kq2a-1") == 0, "the last one is gone");
	event(4000, "{\"event\":\"settled\",\"id\":\"7kq2a-1\"}");
	ok(!model->selected && model->nquestions == 0 &&
		   ab_watch_key(model, 'o', 9000, &answer) == AB_WATCH_NOTHING,
	   "without a question there is no answer");
	event(9000, "{\"event\":\"said\",\"text\":\"read again\"}");
	ok(strcmp(model->message, "read again") == 0, "what the run says");
	ask(9000, 4, "d.example");
	ask(9000, 5, "e.example");
	event(9000, "{\"event\":\"missed\"}");
	ok(model->missed && model->nquestions == 2,
	   "where something was missed, the questions are asked for");
	pending(9000, "[{\"id\":\"7kq2a-6\",\"domain\":\"f.example\"}]", 5);
	ok(model->nquestions == 3, "the first of them");
	pending(9000, "[{\"id\":\"7kq2a-5\",\"domain\":\"e.example\"}]", 0);
	ok(model->nquestions == 2 && strcmp(model->questions[0]->id, "7kq2a-5") == 0,
	   "and with the last those are gone that were not among them");
	event(9000, "{\"event\":\"end\",\"status\":0}");
	ok(model->ended && model->status == 0 && model->nquestions == 0,
	   "the end of the run ends its questions");
}

static void test_keys(void)
{
	const char *answer;

	begin();
	record("\"kind\":\"request\",\"domain\":\"x.example\",\"port\":443,"
	       "\"allowed\":true");
	record("\"kind\":\"violation\",\"id\":\"7kq2a-1\",\"domain\":"
	       "\"z.example\",\"port\":443,\"allowed\":false,\"reason\":\"r\"");
	ab_watch_key(model, 'd', 0, &answer);
	ok(!has(10, 80, "x.example:443") && has(10, 80, "z.example:443"), "only what was denied");
	ab_watch_key(model, 'd', 0, &answer);
	ab_watch_key(model, 'p', 0, &answer);
	record("\"kind\":\"request\",\"domain\":\"w.example\",\"port\":443,"
	       "\"allowed\":true");
	ok(!has(10, 80, "w.example:443") && has(10, 80, "paused, 1 new"), "paused");
	ab_watch_key(model, 'p', 0, &answer);
	ok(has(10, 80, "w.example:443"), "and going on");
	ab_watch_key(model, '?', 0, &answer);
	ok(has(24, 80, "answer the selected question"), "help");
	ok(ab_watch_key(model, 'x', 0, &answer) == AB_WATCH_NOTHING && !model->help,
	   "which any key leaves");
	ok(ab_watch_key(model, 'q', 0, &answer) == AB_WATCH_QUIT &&
		   ab_watch_key(model, 3, 0, &answer) == AB_WATCH_QUIT &&
		   ab_watch_key(model, 26, 0, &answer) == AB_WATCH_STOP,
	   "the ways out");
}

static void test_bounds(void)
{
	const struct ab_stats_row *hosts;
	size_t n;

	begin();
	for (int i = 0; i < 10000; i++)
		record("\"kind\":\"request\",\"domain\":\"h%d.example\","
		       "\"port\":443,\"allowed\":true",
		       i);
	for (unsigned int i = 1; i < 3000; i++)
		ask(0, i, "many.example");
	hosts = ab_stats_rows(model->hosts, &n);
	ok(model->nrows == 10000 && n == AB_STATS_HOSTS + 1 &&
		   hosts[AB_STATS_HOSTS].requests == 10000 - AB_STATS_HOSTS,
	   "many hosts");
	ok(model->nquestions == AB_WATCH_QUESTIONS &&
		   model->lost_questions == 2999 - AB_WATCH_QUESTIONS,
	   "many questions");
	ok(has(40, 80, "h9999.example"), "the newest is shown");
}

/* No byte of a line but those of ours and harmless ones, and not more columns
 * than there are. */
static bool stays(const char *s, size_t rows, size_t cols)
{
	size_t row = 0;

	for (; *s; row++) {
		ab_autobuf struct ab_buf text = { 0 }, again = { 0 };
		size_t start = 0, used;

		for (; *s && *s != '\n'; s++) {
			if (*s != '\033') {
				ab_buf_add(&text, s, 1);
				continue;
			}
			s++; /* [ */
			if (*s != '[')
				return false;
			for (s++; (*s >= '0' && *s <= '9') || *s == ';'; s++)
				;
			if (*s != 'm' && *s != 'G')
				return false;
			if (*s == 'G') { /* the right side */
				if (start)
					return false;
				start = 1;
				if (ab_columns_width(text.data ? text.data : "") > cols - 43)
					return false;
				ab_buf_fini(&text);
			}
		}
		s += *s == '\n';
		ab_buf_puts(&text, "");
		if (ab_columns_fit(&again, text.data, text.len, start ? 42 : cols, &used) !=
			    text.len ||
		    again.len != text.len)
			return false;
	}
	return row <= rows;
}

/* clang-format off */
static const char *const hostile[] = {
	"a\033[2Jb",
	"\r\nall is well",
	"\xe2\x80\xae" "moc.buhtig",
	"e\xcc\x81\xcc\x81\xcc\x81\xcc\x81",
	"\xff\xfe\x80\xc2",
	"\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87",
	"\xc2\x9b" "31m",
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
};
/* clang-format on */

static void fill(const char *text)
{
	ab_autobuf struct ab_buf q = { 0 }, b = { 0 };
	json_t *packet;

	ab_buf_json(&q, text);
	record("\"kind\":\"start\",\"command\":[%s,%s]", q.data, q.data);
	for (int i = 0; i < 30; i++) {
		record("\"kind\":\"request\",\"domain\":%s,\"port\":443,"
		       "\"method\":%s,\"path\":%s,\"allowed\":true",
		       q.data, q.data, q.data);
		record("\"kind\":\"violation\",\"id\":%s,\"domain\":%s,"
		       "\"reason\":%s,\"allowed\":false",
		       q.data, q.data, q.data);
	}
	for (int i = 0; i < 10; i++) {
		b.len = 0;
		ab_buf_printf(&b,
			      "{\"event\":\"asked\",\"id\":\"7kq2a-%d\","
			      "\"domain\":%s,\"port\":1,\"left_ms\":9000000000,"
			      "\"process\":[{\"pid\":3,\"exe\":%s,\"argv\":[%s]}]}",
			      i, q.data, q.data, q.data);
		event(0, b.data);
	}
	b.len = 0;
	ab_buf_printf(&b,
		      "{\"name\":%s,\"profile\":%s,\"network\":{\"open\":"
		      "[{\"domain\":%s,\"port\":1}]}}",
		      q.data, q.data, q.data);
	packet = json_loads(b.data, 0, NULL);
	ab_watch_status(model, packet, 0);
	json_decref(packet);
	ab_watch_say(model, ab_strdup(text), 0);
}

static void test_hostile(void)
{
	for (size_t i = 0; i < AB_COUNT(hostile); i++) {
		bool fine = true;

		begin();
		fill(hostile[i]);
		for (size_t rows = 1; rows < 60; rows += 1 + rows / 4)
			for (size_t cols = 1; cols < 320; cols += 1 + cols / 4) {
				ab_autofree char *a = screen(rows, cols, 0, true);
				ab_autofree char *b = screen(rows, cols, 99999, false);

				fine = fine && stays(a, rows, cols) && stays(b, rows, cols);
			}
		ok(fine, "hostile texts %zu, on screens of many sizes", i);
	}
}

static void test_colour(void)
{
	ab_autofree char *with = NULL, *without = NULL;

	begin();
	record("\"kind\":\"violation\",\"id\":\"7kq2a-1\",\"domain\":"
	       "\"z.example\",\"port\":443,\"allowed\":false,\"reason\":\"r\"");
	with = screen(24, 80, 0, true);
	without = screen(24, 80, 0, false);
	ok(strstr(with, "\033[31m"), "what was denied is pointed at");
	ok(!strchr(without, '\033'), "without colours by the words alone");
}

static void test_choose(void)
{
	char name[] = "dev", first[] = "make", second[] = "x\033[2J";
	struct ab_watch_choice v[] = { { "aaaaa", name, first }, { "bbbbb", NULL, second } };
	struct ab_watch_look look = { 5, 40, false, 0 };
	ab_autostrv struct ab_strv lines = { 0 }, none = { 0 };

	ab_watch_choose(v, 2, 1, &look, &lines);
	ok(lines.len == 5 && strcmp(lines.v[1], "  aaaaa dev  make") == 0 &&
		   strcmp(lines.v[2], "> bbbbb  x\\x1b[2J") == 0,
	   "runs to choose from");
	ab_watch_choose(NULL, 0, 0, &look, &none);
	is_str(none.v[0], " no active runs; waiting for one", "none");
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	test_records();
	test_status();
	test_questions();
	test_keys();
	test_bounds();
	test_hostile();
	test_colour();
	test_choose();
	ab_watch_model_free(model);
	return done();
}
