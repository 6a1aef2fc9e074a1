#include "session/run/result_json.h"

#include <jansson.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "policy/model/policy.h"
#include "proxy/thread/proxy.h"
#include "tap.h"

static json_t *parse(const struct ab_buf *b)
{
	return json_loadb(b->data, b->len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
}

static json_t *make(const struct ab_result *r)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_result_json(r, &b);
	ok(memchr(b.data, '\n', b.len) == NULL, "it is one line");
	return parse(&b);
}

static const char *text(json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static long long number(json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static bool is_null(json_t *o, const char *key)
{
	return json_is_null(json_object_get(o, key));
}

static void test_nothing_known(void)
{
	static const char *const nulls[] = { "run_id",	 "name",   "cwd",      "profile",
					     "status",	 "signal", "error",    "hint",
					     "decision", "rule",   "approved", "network" };
	static const char *const lists[] = { "command", "violations", "findings" };
	struct ab_result r = { .exit = 125 };
	json_t *o = make(&r);
	json_t *a = json_object_get(o, "assurance");

	for (size_t i = 0; i < AB_COUNT(nulls); i++)
		ok(is_null(o, nulls[i]), "%s is null", nulls[i]);
	for (size_t i = 0; i < AB_COUNT(lists); i++)
		ok(json_is_array(json_object_get(o, lists[i])) &&
			   !json_array_size(json_object_get(o, lists[i])),
		   "%s is empty", lists[i]);
	ok(number(o, "version") == 1 && number(o, "exit") == 125 &&
		   number(o, "violations_total") == 0,
	   "numbers");
	ok(json_is_false(json_object_get(o, "timed_out")), "not timed out");
	is_str(text(o, "started"), "1970-01-01T00:00:00.000Z", "a time");
	ok(json_array_size(json_object_get(a, "holds")) == 0 &&
		   json_is_array(json_object_get(a, "missing")),
	   "nothing was proved");
	json_decref(o);
}

static void test_everything(void)
{
	struct ab_strv command = { 0 }, found = { 0 }, denied = { 0 };
	struct ab_ledger_totals net = { .allowed = 1, .denied = UINT64_MAX >> 1, .bytes_down = 5 };
	struct ab_result r = { .run_id = "7kq2a",
			       .name = "a\"b",
			       .cwd = "/x\n",
			       .profile = "default",
			       .decision = "allow",
			       .rule = "r",
			       .approved = "once",
			       .command = &command,
			       .exit = 3,
			       .ran = true,
			       .status = 3 << 8,
			       .started = { 1700000000, 5000000 },
			       .duration_ms = 12,
			       .holds = AB_PROP_BIT(AB_PROP_USER_NS),
			       .missing = AB_PROP_BIT(AB_PROP_LIMITS),
			       .network = &net,
			       .violations = &denied,
			       .nviolations = 300,
			       .findings = &found };
	json_t *o, *a;

	ab_strv_add(&command, "sh");
	ab_strv_add(&command, "\xff\x1b[2J");
	ab_strv_add(&found, "moved");
	ab_strv_add(&denied, "{\"kind\":\"violation\",\"id\":\"7kq2a-1\"}");
	ab_strv_add(&denied, "{\"kind\":\"exec\"}");
	o = make(&r);
	a = json_object_get(o, "violations");
	ok(json_array_size(a) == 2 && number(o, "violations_total") == 300,
	   "records, and how many there were");
	is_str(text(json_array_get(a, 0), "id"), "7kq2a-1", "as they are");
	ok(number(o, "exit") == 3 && number(o, "status") == 3 && is_null(o, "signal"),
	   "an exit code");
	is_str(text(o, "name"), "a\"b", "a name");
	is_str(text(o, "started"), "2023-11-14T22:13:20.005Z", "its time");
	is_str(json_string_value(json_array_get(json_object_get(o, "command"), 1)),
	       "\xef\xbf\xbd\x1b[2J", "hostile words");
	a = json_object_get(o, "assurance");
	is_str(json_string_value(json_array_get(json_object_get(a, "holds"), 0)), "user-ns",
	       "what holds");
	is_str(json_string_value(json_array_get(json_object_get(a, "missing"), 0)), "limits",
	       "what does not");
	a = json_object_get(o, "network");
	ok(number(a, "denied") == INT64_MAX && number(a, "bytes_down") == 5, "the network");
	json_decref(o);
	ab_strv_fini(&command);
	ab_strv_fini(&found);
	ab_strv_fini(&denied);
}

static void test_ends(void)
{
	struct ab_error err = { .text = "no such file", .hint = "make it" };
	struct ab_result r = { .exit = 137, .ran = true, .status = SIGKILL };
	json_t *o = make(&r);

	is_str(text(o, "signal"), "SIGKILL", "killed");
	ok(is_null(o, "status"), "and no exit code");
	json_decref(o);
	r = (struct ab_result){ .exit = 124, .ran = true, .timed_out = true, .status = SIGTERM };
	o = make(&r);
	ok(json_is_true(json_object_get(o, "timed_out")), "timed out");
	is_str(text(o, "signal"), "SIGTERM", "and by what");
	json_decref(o);
	r = (struct ab_result){ .exit = 190, .ran = true, .status = SIGRTMIN + 3 };
	o = make(&r);
	ok(text(o, "signal") != NULL, "a signal without a name");
	json_decref(o);
	r = (struct ab_result){ .exit = 127, .error = &err };
	o = make(&r);
	is_str(text(o, "error"), "no such file", "a failure of ours");
	is_str(text(o, "hint"), "make it", "and the way out");
	ok(is_null(o, "status") && is_null(o, "signal"), "it did not run");
	json_decref(o);
}

static const struct {
	const char *name;
	const char *data;
	size_t len;
	uint64_t total;
	const char *text; /* NULL: base64 */
	const char *base64;
} streams[] = {
	{ "nothing", "", 0, 0, "", NULL },
	{ "a text", "a\n", 2, 2, "a\n", NULL },
	{ "all of the limit", "abc", 3, 3, "abc", NULL },
	{ "one more", "abc", 3, 4, "abc", NULL },
	{ "a NUL is a character", "a\0b", 3, 3, "a", NULL },
	{ "hidden characters stay", "\x1b\xe2\x80\xae", 4, 4, "\x1b\xe2\x80\xae", NULL },
	{ "no UTF-8", "a\xff", 2, 2, NULL, "Yf8=" },
	{ "a character in part", "a\xe2\x82", 3, 3, NULL, "YeKC" },
	{ "one that was cut", "a\xe2\x82", 3, 9, "a", NULL },
	{ "cut after its first byte", "a\xf0", 2, 9, "a", NULL },
	{ "the same of three", "a\xe0", 2, 9, "a", NULL },
	{ "the same of a late one", "a\xed", 2, 9, "a", NULL },
	{ "the last that there are", "a\xf4", 2, 9, "a", NULL },
	{ "cut, of four", "\xf0\x9f\x92", 3, 9, "", NULL },
	{ "cut, but never a character", "a\xc0", 2, 9, NULL, "YcA=" },
	{ "cut, overlong", "\xe0\x80", 2, 9, NULL, "4IA=" },
	{ "cut, and bad before that", "\xff\xe2\x82", 3, 9, NULL, "/+KC" },
	{ "a surrogate", "\xed\xa0\x80", 3, 3, NULL, "7aCA" },
};

static void test_streams(void)
{
	static const struct ab_stream empty;

	for (size_t i = 0; i < AB_COUNT(streams); i++) {
		struct ab_stream s = { .data = (char *)(uintptr_t)streams[i].data,
				       .len = streams[i].len,
				       .total = streams[i].total };
		ab_autobuf struct ab_buf b = { 0 };
		json_t *o;

		ab_buf_puts(&b, "{\"version\":1}\n");
		ab_result_add_streams(&b, &empty, &s);
		o = parse(&b);
		is_str(text(o, "stderr"), streams[i].text, streams[i].name);
		is_str(text(o, "stderr_base64"), streams[i].base64, "in base64, or not");
		ok((number(o, "stderr_bytes") == (long long)s.total) &&
			   json_is_true(json_object_get(o, "stderr_truncated")) ==
				   (s.total > s.len),
		   "how much there was");
		is_str(text(o, "stdout"), "", "the other one");
		json_decref(o);
	}
}

int main(void)
{
	test_nothing_known();
	test_everything();
	test_ends();
	test_streams();
	return done();
}
