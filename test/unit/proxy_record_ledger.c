/*
 * What is written about the network: the words as a table, then a ledger with
 * a real record behind it, read back as JSON.
 */
#include "proxy/record/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

#include "audit/write/log.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "policy/layers/layers.h"
#include "tap.h"

#define RANGE "10.0.0.0/8 (private)"
#define LABEL50 "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij"
#define LONG LABEL50 "." LABEL50 "." LABEL50 "." LABEL50 ".example.org"

#define VERDICT(b, e) .verdict = { .access = AB_ACCESS_DENY, .basis = AB_BASIS_##b, .entry = e }
#define HOST(h, p) .host = h, .port = p

static const struct {
	struct ab_request_record r;
	const char *reason, *rule, *hint;
} words[] = {
	{ { HOST("x.org", 443), VERDICT(NONE, "") },
	  "not on the allow list",
	  "network.allow",
	  "--allow x.org" },
	{ { HOST("x.org", 80), VERDICT(NONE, "") },
	  "not on the allow list",
	  "network.allow",
	  "--allow x.org" },
	{ { HOST("x.org", 22), VERDICT(NONE, NULL) },
	  "not on the allow list",
	  "network.allow",
	  "--allow x.org" },
	{ { HOST("x.org", 8080), VERDICT(NONE, "") },
	  "not on the allow list",
	  "network.allow",
	  "--allow x.org:8080" },
	{ { HOST("x.org", 0), VERDICT(NONE, ""), .door = AB_DOOR_DNS },
	  "not on the allow list",
	  "network.allow",
	  "--allow x.org" },
	{ { HOST("2606:2800::1", 443), VERDICT(NONE, "") },
	  "not on the allow list",
	  "network.allow",
	  "--allow 2606:2800::1" },
	{ { HOST("2606:2800::1", 81), VERDICT(NONE, "") },
	  "not on the allow list",
	  "network.allow",
	  "--allow '[2606:2800::1]:81'" },
	{ { HOST("github.com", 9999), VERDICT(PORT, "github.com") },
	  "github.com is allowed, but not on port 9999",
	  "network.allow",
	  "--allow github.com:9999" },
	{ { HOST("a.evil.org", 443), VERDICT(DENY, "*.evil.org") },
	  "on the deny list (*.evil.org)",
	  "network.deny",
	  "" },
	{ { HOST("10.1.2.3", 5432), VERDICT(RANGE, RANGE) },
	  "an address in " RANGE,
	  "network.allowPrivate",
	  "--allow-private 10.1.2.3:5432 --allow 10.1.2.3:5432" },
	{ { HOST("10.1.2.3", 443), VERDICT(RANGE, RANGE) },
	  "an address in " RANGE,
	  "network.allowPrivate",
	  "--allow-private 10.1.2.3:443 --allow 10.1.2.3" },
	{ { HOST("fd00::1", 22), VERDICT(RANGE, "fc00::/7 (private)") },
	  "an address in fc00::/7 (private)",
	  "network.allowPrivate",
	  "--allow-private '[fd00::1]:22' --allow fd00::1" },
	{ { HOST("192.0.2.7", 80), VERDICT(OWN, "") },
	  "an address of this host",
	  "network.allowPrivate",
	  "--allow-private 192.0.2.7:80 --allow 192.0.2.7" },
	{ { HOST("x.org", 443), VERDICT(RANGE, RANGE), .address = "10.1.2.3",
	    .fault = AB_FAULT_ANSWER },
	  "the name resolves to 10.1.2.3, an address in " RANGE,
	  "network.allowPrivate",
	  "--allow-private 10.1.2.3:443" },
	{ { HOST("x.org", 5432), VERDICT(OWN, ""), .address = "2001:db8::1",
	    .fault = AB_FAULT_ANSWER },
	  "the name resolves to 2001:db8::1, an address of this host",
	  "network.allowPrivate",
	  "--allow-private '[2001:db8::1]:5432'" },
	{ { HOST("x.org", 443), VERDICT(DENY, "93.184.216.34"), .address = "93.184.216.34",
	    .fault = AB_FAULT_ANSWER },
	  "the name resolves to 93.184.216.34, on the deny list (93.184.216.34)",
	  "network.deny",
	  "" },
	{ { HOST("x.org", 443), VERDICT(RANGE, RANGE), .fault = AB_FAULT_ANSWER },
	  "the name resolves to an address, an address in " RANGE,
	  "network.allowPrivate",
	  "" },
	{ { HOST("x.org", 443), VERDICT(NONE, ""), .reply = AB_REPLY_NO },
	  "not on the allow list (the answer was no)",
	  "network.allow",
	  "--allow x.org" },
	{ { HOST("x.org", 443), VERDICT(NONE, ""), .reply = AB_REPLY_NO, .reply_why = "not today" },
	  "not on the allow list (the answer was no: not today)",
	  "network.allow",
	  "--allow x.org" },
	{ { HOST("x.org", 443), VERDICT(ALLOW, "x.org"), .secret = "A", .fault = AB_FAULT_RETIRED },
	  "the request has a placeholder that is no longer valid (A)",
	  "secret-rotated",
	  "" },
	{ { HOST("x.org", 443), VERDICT(ALLOW, "x.org"), .sni = "evil.org", .fault = AB_FAULT_SNI },
	  "the TLS hello asks for evil.org",
	  "tls-name",
	  "" },
	{ { HOST("x.org", 443), VERDICT(ALLOW, "x.org"), .fault = AB_FAULT_SNI },
	  "the TLS hello does not name this host",
	  "tls-name",
	  "" },
	{ { HOST("x.org", 80), VERDICT(ALLOW, "x.org"), .sni = "evil.org",
	    .fault = AB_FAULT_AUTHORITY },
	  "the request asks for evil.org",
	  "http-host",
	  "" },
	{ { HOST("x.org", 80), VERDICT(ALLOW, "x.org"), .sni = "", .fault = AB_FAULT_AUTHORITY },
	  "the request does not name this host",
	  "http-host",
	  "" },
	{ { HOST("x.org", 80), VERDICT(ALLOW, "x.org"), .fault = AB_FAULT_HTTP2 },
	  "HTTP/2 without TLS cannot be filtered",
	  "http2-clear",
	  "" },
	{ { HOST("x.org", 443), VERDICT(ALLOW, "x.org"), .fault = AB_FAULT_MALFORMED },
	  "does not follow the protocol it claims to use",
	  "protocol",
	  "" },
	{ { HOST("x.org", 0), VERDICT(ALLOW, "x.org"), .fault = AB_FAULT_NAMES },
	  "too many names in one run",
	  "name-limit",
	  "" },
	{ { HOST("x.org", 443), VERDICT(ALLOW, "*.org") },
	  "on the allow list (*.org)",
	  "network.allow",
	  "" },
	/* What is no host is not offered to be typed. */
	{ { HOST("x\\x00.org; rm", 443), VERDICT(NONE, "") },
	  "not on the allow list",
	  "network.allow",
	  "" },
	{ { HOST(NULL, 443), VERDICT(NONE, "") }, "not on the allow list", "network.allow", "" },
	{ { HOST("x.org", 443), VERDICT(RANGE, RANGE), .address = "$(reboot)",
	    .fault = AB_FAULT_ANSWER },
	  "the name resolves to $(reboot), an address in " RANGE,
	  "network.allowPrivate",
	  "" },
	{ { HOST("localhost", 3000), .door = AB_DOOR_PUBLISH },
	  "not on the allow list",
	  "network.publish",
	  "" },
	{ { HOST(LONG, 65535), VERDICT(PORT, LONG) },
	  LONG " is allowed, but not on port 65535",
	  "network.allow",
	  "--allow " LONG ":65535" },
};

static void check_words(void)
{
	for (size_t i = 0; i < AB_COUNT(words); i++) {
		char text[AB_REASON_ROOM];

		is_str(ab_ledger_reason(&words[i].r, text), words[i].reason, "why");
		is_str(ab_ledger_rule(&words[i].r), words[i].rule, "by which rule");
		ab_ledger_hint(&words[i].r, text);
		is_str(text, words[i].hint, "what would allow it");
	}
}

static struct ab_policy *policy_with(const char *flags)
{
	static char *environ_none[] = { NULL };
	ab_autofree char *words_of = ab_strdup(flags);
	struct ab_setting settings[4];
	struct ab_policy_input in = { .cwd = "/usr",
				      .workspace = "/usr",
				      .profile = "workspace-write-whitelist",
				      .system_config = "/nonexistent",
				      .environ = environ_none,
				      .settings = settings };
	struct ab_policy *policy;
	struct ab_error err = { 0 };
	char *next = NULL;

	for (char *flag = strtok_r(words_of, " '", &next); flag;
	     flag = strtok_r(NULL, " '", &next)) {
		bool is_private = strcmp(flag, "--allow-private") == 0;

		settings[in.nsettings++] = (struct ab_setting){
			.key = is_private ? "network.allowPrivate" : "network.allow",
			.value = strtok_r(NULL, " '", &next),
			.origin = flag,
		};
	}
	if (ab_policy_load(&in, &policy, NULL, &err) < 0) {
		printf("# %s\n", err.text);
		return NULL;
	}
	return policy;
}

/* Whoever types what is said gets what was denied. */
static void check_hint(const struct ab_request_record *r, const char *hint)
{
	struct ab_addr addr = { .addr = { 192, 0, 2, 7 } };
	struct ab_own own = { .v = &addr, .len = 1 };
	struct ab_policy *policy = policy_with(hint);
	struct ab_filter *filter;
	struct ab_verdict verdict = { 0 };
	struct ab_host host;
	const char *name = r->fault == AB_FAULT_ANSWER ? r->address : r->host;
	uint16_t port = r->port ? r->port : 443;
	bool open;

	if (!policy) {
		ok(false, "%s is good", hint);
		return;
	}
	filter = ab_filter_new(policy);
	if (ab_host_parse(name, strlen(name), &host, NULL) < 0)
		abort();
	if (r->fault == AB_FAULT_ANSWER) {
		open = ab_filter_address(filter, &own, &host, port, &verdict);
	} else {
		ab_filter_judge(filter, &own, &host, port, &verdict);
		open = verdict.access == AB_ACCESS_ALLOW;
	}
	ok(open, "%s:%u is open with %s", name, port, hint);
	ab_filter_free(filter);
	ab_policy_free(policy);
}

static void check_hints(void)
{
	for (size_t i = 0; i < AB_COUNT(words); i++)
		if (words[i].hint[0])
			check_hint(&words[i].r, words[i].hint);
}

static void check_bounds(void)
{
	ab_autofree char *big = ab_alloc(100001);
	struct ab_request_record r = { .port = 1 };
	char text[AB_REASON_ROOM];
	bool bounded = true;

	memset(big, 'a', 100000);
	r.host = r.sni = r.address = r.verdict.entry = r.reply_why = big;
	r.reply = AB_REPLY_NO;
	for (int fault = 0; fault < AB_FAULT_COUNT; fault++)
		for (int basis = 0; basis <= AB_BASIS_PORT; basis++) {
			r.fault = (enum ab_fault)fault;
			r.verdict.basis = (enum ab_basis)basis;
			bounded &= strlen(ab_ledger_reason(&r, text)) < AB_REASON_ROOM;
			ab_ledger_hint(&r, text);
			bounded &= *text == '\0';
		}
	ok(bounded, "texts without measure have room");
	for (int i = 0; i < AB_DOOR_COUNT; i++)
		bounded &= ab_door_names[i] && ab_door_names[i][0];
	ok(bounded, "every door has a name");
}

static char top[PATH_MAX];

struct stand {
	int dir;
	char *path;
	struct ab_log log;
	struct ab_ledger *ledger;
};

static void set_up(struct stand *s, const char *name)
{
	struct ab_log_setup setup = { .run_id = "7kq2" };
	struct ab_error err;

	s->path = ab_printf("%s/%s", top, name);
	mkdir(s->path, 0700);
	s->dir = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	setup.dir = s->dir;
	if (s->dir < 0 || ab_log_open(&setup, &s->log, &err) < 0)
		abort();
	s->ledger = ab_ledger_new("7kq2", &s->log);
}

static void tear_down(struct stand *s)
{
	ab_ledger_free(s->ledger);
	ab_log_fini(&s->log);
	close(s->dir);
	free(s->path);
}

/* All lines so far, as an array. */
static json_t *records(const struct stand *s)
{
	ab_autofree char *path = ab_printf("%s/audit.jsonl", s->path);
	ab_autofree char *text = NULL;
	ab_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	json_t *all = json_array();
	size_t len;

	if (fd < 0 || ab_read_all(fd, 64 << 20, &text, &len) < 0)
		abort();
	for (char *p = text; *p;) {
		size_t n = strcspn(p, "\n");
		json_t *r = json_loadb(p, n, JSON_REJECT_DUPLICATES, NULL);

		if (!r)
			printf("# not JSON: %.*s\n", (int)n, p);
		json_array_append_new(all, r ? r : json_null());
		p += n + (p[n] == '\n');
	}
	return all;
}

/* Is record i what `json` says, in the keys that it has? */
static bool record_is(json_t *all, size_t i, const char *json)
{
	json_t *want = json_loads(json, 0, NULL), *value;
	json_t *got = json_array_get(all, i);
	const char *key;
	bool same = want && got;

	json_object_foreach(want, key, value) same &= json_equal(json_object_get(got, key), value);
	if (!same) {
		char *text = json_dumps(got, JSON_COMPACT);

		printf("# got %s\n", text ? text : "nothing");
		free(text);
	}
	json_decref(want);
	return same;
}

static uint32_t deny(struct stand *s, const char *host, uint16_t port, enum ab_basis basis)
{
	struct ab_request_record r = { .host = host,
				       .port = port,
				       .door = AB_DOOR_CONNECT,
				       .method = "CONNECT",
				       .status = 403,
				       .verdict = { .basis = basis, .entry = "" } };
	struct ab_error err = { 0 };
	uint32_t number = 0;

	if (ab_ledger_deny(s->ledger, &r, &number, &err) < 0)
		return 0;
	return number;
}

static void check_records(void)
{
	static const char keys[] = "timestamp run_id id kind domain port path method status "
				   "allowed rule whitelist_matched door sni address bytes_up "
				   "bytes_down ms prev ";
	struct ab_request_record r = {
		.door = AB_DOOR_HTTP,
		.host = "x.org",
		.port = 80,
		.method = "GET",
		.path = "/a\"b\n\xff",
		.address = "192.0.2.1",
		.status = 200,
		.verdict = { .access = AB_ACCESS_ALLOW, .basis = AB_BASIS_ALLOW, .entry = "*.org" },
		.bytes_up = 5000000000,
		.bytes_down = 7,
		.ms = 12,
	};
	struct ab_ledger_totals totals;
	struct ab_error err = { 0 };
	struct stand s;
	json_t *all, *value;
	const char *key;
	size_t known = 0;
	bool only = true;
	uint32_t number;

	set_up(&s, "records");
	ok(ab_ledger_request(s.ledger, &r, &err) == 0, "a request");
	r.error = "no answer";
	r.upstream = true;
	r.path = "";
	r.status = 0;
	ok(ab_ledger_request(s.ledger, &r, &err) == 0, "one that failed");
	r = (struct ab_request_record){
		.door = AB_DOOR_TRANSPARENT,
		.host = "x.org",
		.port = 443,
		.sni = "evil.org",
		.fault = AB_FAULT_SNI,
		.verdict = { .access = AB_ACCESS_ALLOW, .basis = AB_BASIS_ALLOW, .entry = "x.org" }
	};
	ok(ab_ledger_deny(s.ledger, &r, &number, &err) == 0 && number == 1, "a denial");
	r.denial = number;
	r.bytes_up = 300;
	ok(ab_ledger_request(s.ledger, &r, &err) == 0, "and its end");
	ok(deny(&s, "files.example.com", 8443, AB_BASIS_NONE) == 2, "another");
	ok(ab_ledger_packets(s.ledger, "udp", 0, &err) == 0 &&
		   ab_ledger_packets(s.ledger, "udp", 12, &err) == 0,
	   "packets");

	all = records(&s);
	ok(json_array_size(all) == 6, "a line for each, none for nothing");
	ok(record_is(all, 0,
		     "{\"kind\":\"request\",\"run_id\":\"7kq2\",\"id\":null,"
		     "\"domain\":\"x.org\",\"port\":80,\"method\":\"GET\","
		     "\"path\":\"/a\\\"b\\n\xef\xbf\xbd\",\"status\":200,"
		     "\"allowed\":true,\"rule\":\"network.allow\","
		     "\"whitelist_matched\":\"*.org\",\"door\":\"http\","
		     "\"sni\":null,\"address\":\"192.0.2.1\","
		     "\"bytes_up\":5000000000,\"bytes_down\":7,\"ms\":12}"),
	   "what was allowed");
	json_object_foreach(json_array_get(all, 0), key, value)
	{
		ab_autofree char *word = ab_printf("%s ", key);

		only &= strstr(keys, word) != NULL;
		known++;
	}
	ok(only && known == 19, "every key of a network record, no other");
	ok(record_is(all, 1,
		     "{\"allowed\":true,\"error\":\"no answer\","
		     "\"upstream\":true,\"path\":null,\"status\":null}"),
	   "what failed says how");
	ok(record_is(all, 2,
		     "{\"kind\":\"violation\",\"id\":\"7kq2-1\","
		     "\"allowed\":false,\"sni\":\"evil.org\","
		     "\"rule\":\"tls-name\",\"whitelist_matched\":\"x.org\","
		     "\"door\":\"transparent\","
		     "\"reason\":\"the TLS hello asks for evil.org\"}") &&
		   !json_object_get(json_array_get(all, 2), "hint"),
	   "a denial that nothing helps against has no hint");
	ok(record_is(all, 3,
		     "{\"kind\":\"request\",\"id\":\"7kq2-1\","
		     "\"allowed\":false,\"bytes_up\":300}"),
	   "the request has the id of its denial");
	ok(record_is(all, 4,
		     "{\"kind\":\"violation\",\"id\":\"7kq2-2\","
		     "\"domain\":\"files.example.com\",\"port\":8443,"
		     "\"allowed\":false,\"rule\":\"network.allow\","
		     "\"whitelist_matched\":null,\"door\":\"connect\","
		     "\"status\":403,\"reason\":\"not on the allow list\","
		     "\"hint\":\"agentbox run --allow files.example.com:8443 "
		     "-- ...\"}"),
	   "one that can be helped has the words");
	ok(record_is(all, 5,
		     "{\"kind\":\"violation\",\"id\":\"7kq2-3\","
		     "\"domain\":null,\"port\":null,\"door\":null,"
		     "\"protocol\":\"udp\",\"packets\":12,\"allowed\":false}"),
	   "packets are counted");
	ab_ledger_totals(s.ledger, &totals);
	ok(totals.allowed == 1 && totals.failed == 1 && totals.denied == 2 &&
		   totals.bytes_up == 10000000300 && totals.bytes_down == 14,
	   "totals");
	json_decref(all);
	tear_down(&s);
}

static void check_numbers(void)
{
	struct ab_request_record fault = { .host = "a.org", .port = 443, .fault = AB_FAULT_SNI };
	struct ab_error err;
	char id[AB_DENIAL_ID];
	struct stand s;
	uint32_t number = 0;

	set_up(&s, "numbers");
	ok(deny(&s, "a.org", 443, AB_BASIS_NONE) == 1 && deny(&s, "b.org", 443, AB_BASIS_NONE) == 2,
	   "numbers from one on");
	ok(deny(&s, "a.org", 443, AB_BASIS_NONE) == 1, "an equal one is known");
	ok(deny(&s, "a.org", 80, AB_BASIS_NONE) == 3, "another port");
	ok(deny(&s, "a.org", 443, AB_BASIS_DENY) == 4, "another basis");
	ok(ab_ledger_deny(s.ledger, &fault, &number, &err) == 0 && number == 5, "another fault");
	ok(deny(&s, "", 443, AB_BASIS_NONE) == 6 && deny(&s, NULL, 443, AB_BASIS_NONE) == 6,
	   "no host at all is one");
	ok(deny(&s, "b.org", 443, AB_BASIS_NONE) == 2, "the old are still known");
	ab_ledger_id(s.ledger, UINT32_MAX, id);
	is_str(id, "7kq2-4294967295", "an id");
	tear_down(&s);
}

/* A rule makes one question the denial that another one is, and then the other one a third. */
static void check_questions(void)
{
	struct ab_request_record one = { .host = "a.org", .port = 443 }, two = one;
	struct ab_error err;
	struct stand s;
	uint32_t number = 0;

	set_up(&s, "questions");
	two.verdict.basis = AB_BASIS_DENY;
	one.number = ab_ledger_number(s.ledger, &one);
	two.number = ab_ledger_number(s.ledger, &two);
	one.verdict.basis = AB_BASIS_DENY;
	two.verdict.basis = AB_BASIS_GRANT;
	ok(ab_ledger_deny(s.ledger, &one, &number, &err) == 0 && number == one.number,
	   "a question keeps its number");
	ok(ab_ledger_deny(s.ledger, &two, &number, &err) == 0 && number == two.number,
	   "the other one, too");
	ok(deny(&s, "a.org", 443, AB_BASIS_DENY) == one.number &&
		   deny(&s, "a.org", 443, AB_BASIS_GRANT) == two.number,
	   "and each is found as what it became");
	tear_down(&s);
}

/* More hosts than are remembered: they cannot fill the log. */
static void check_many(void)
{
	struct ab_request_record r = { .host = "h5000.org", .port = 443 };
	struct ab_request_record asked = { .host = "asked.org", .port = 443 };
	uint32_t number = 0;
	struct ab_error err = { 0 };
	struct stand s;
	char host[32];
	json_t *all, *one;
	size_t i;
	json_int_t sum = 0;
	bool counted = true;
	ab_autostrv struct ab_strv lines = { 0 };

	set_up(&s, "many");
	for (i = 1; i <= 5000; i++) {
		snprintf(host, sizeof(host), "h%zu.org", i);
		counted &= deny(&s, host, 443, AB_BASIS_NONE) == i;
	}
	ok(counted, "five thousand hosts, each with a number");
	for (i = 1; i <= 4096; i++) {
		snprintf(host, sizeof(host), "h%zu.org", i);
		counted &= deny(&s, host, 443, AB_BASIS_NONE) == i;
	}
	ok(counted, "the first are known");
	r.denial = deny(&s, "h5000.org", 443, AB_BASIS_NONE);
	ok(r.denial == 5001, "the last are not");
	ok(ab_ledger_request(s.ledger, &r, &err) == 0 && ab_ledger_flush(s.ledger, &err) == 0 &&
		   ab_ledger_flush(s.ledger, &err) == 0,
	   "the rest is written");
	all = records(&s);
	ok(record_is(all, 4095,
		     "{\"id\":\"7kq2-4096\",\"domain\":\"h4096.org\","
		     "\"reason\":\"not on the allow list\",\"hint\":"
		     "\"agentbox run --allow h4096.org -- ...\"}"),
	   "each that is known has a line at once");
	json_array_foreach(all, i, one) sum +=
		1 + json_integer_value(json_object_get(one, "repeated"));
	/* The clock may strike while we write. */
	ok(sum == 9097 && json_array_size(all) >= 2 * 4096 + 2 &&
		   json_array_size(all) <= 2 * 4096 + 4200,
	   "and all are counted: %lld in %zu lines", (long long)sum, json_array_size(all));
	ok(record_is(all, json_array_size(all) - 1,
		     "{\"id\":\"7kq2-5001\",\"domain\":null,"
		     "\"reason\":\"too many hosts to name each\"}"),
	   "the unknown together");
	asked.number = ab_ledger_number(s.ledger, &asked);
	ok(ab_ledger_deny(s.ledger, &asked, &number, &err) == 0 && number == asked.number,
	   "what was asked about keeps its number also then");
	ab_ledger_summary(s.ledger, &lines);
	ok(lines.len == 1 + 10 + 3 && strstr(lines.v[0], "9098 requests were denied") &&
		   strstr(lines.v[11], "4992 more") &&
		   strstr(lines.v[11], "agentbox log 7kq2 --denied"),
	   "ten of them are told: %s", lines.v[lines.len - 1]);
	json_decref(all);
	tear_down(&s);
}

static void is_line(const struct ab_strv *lines, size_t i, const char *want)
{
	is_str(i < lines->len ? lines->v[i] : NULL, want, "a line of it");
}

/* Datagrams: a line for each at first, and the number of all. */
static void check_datagrams(void)
{
	struct ab_request_record r = { .host = "203.0.113.9",
				       .port = 443,
				       .door = AB_DOOR_UDP,
				       .fault = AB_FAULT_NOT_TCP,
				       .verdict = { .entry = "" },
				       .process = "[{\"pid\":3}]",
				       .packets = 2 };
	ab_autostrv struct ab_strv lines = { 0 };
	struct ab_ledger_totals totals;
	struct ab_error err = { 0 };
	struct stand s;
	json_t *all, *one;
	uint32_t number = 0;
	json_int_t sum = 0;
	bool good = true;
	size_t i;

	set_up(&s, "datagrams");
	for (i = 0; i < 300; i++)
		good &= ab_ledger_deny(s.ledger, &r, &number, &err) == 0 && number == 1;
	ok(good && deny(&s, "203.0.113.9", 443, AB_BASIS_NONE) == 2,
	   "a connection to the same is another denial");
	ok(ab_ledger_packets(s.ledger, "udp", 5, &err) == 0 && ab_ledger_flush(s.ledger, &err) == 0,
	   "those without a destination are counted");
	all = records(&s);
	ok(record_is(all, 0,
		     "{\"kind\":\"violation\",\"id\":\"7kq2-1\",\"domain\":\"203.0.113.9\","
		     "\"port\":443,\"door\":\"udp\",\"protocol\":\"udp\",\"packets\":2,"
		     "\"allowed\":false,\"rule\":\"network.mode\","
		     "\"process\":[{\"pid\":3}],"
		     "\"reason\":\"only TCP connections leave the box\"}"),
	   "who sent them, and where to");
	json_array_foreach(all, i, one)
	{
		sum += json_integer_value(json_object_get(one, "packets"));
		good &= !json_object_get(one, "repeated");
	}
	ok(good && sum == 605, "no packet is lost: %lld", (long long)sum);
	/* The clock may strike while we write. */
	ok(json_array_size(all) >= 103 && json_array_size(all) <= 211, "not a line for each");
	ab_ledger_totals(s.ledger, &totals);
	ok(totals.denied == 1 && totals.unasked == 1, "they are no requests");
	ab_ledger_summary(s.ledger, &lines);
	is_line(&lines, 0, "1 request and 605 packets were denied");
	is_line(&lines, 1,
		"  7kq2-1  udp to 203.0.113.9:443  only TCP connections leave the box  "
		"process not known, 600 times");
	json_decref(all);
	tear_down(&s);
}

/* More destinations than are remembered: no packet is lost, or taken for a request. */
static void check_many_datagrams(void)
{
	char host[32] = "";
	struct ab_request_record r = { .host = host,
				       .port = 443,
				       .door = AB_DOOR_UDP,
				       .fault = AB_FAULT_NOT_TCP,
				       .verdict = { .entry = "" },
				       .packets = 1 };
	struct ab_error err = { 0 };
	json_t *all, *one;
	uint32_t number = 0;
	json_int_t sum = 0;
	bool good = true;
	struct stand s;
	size_t i;

	set_up(&s, "many-datagrams");
	for (i = 1; i <= 5000; i++) {
		snprintf(host, sizeof(host), "h%zu.org", i);
		good &= ab_ledger_deny(s.ledger, &r, &number, &err) == 0 && number == i;
	}
	ok(good && ab_ledger_flush(s.ledger, &err) == 0 && ab_ledger_flush(s.ledger, &err) == 0,
	   "five thousand destinations");
	all = records(&s);
	json_array_foreach(all, i, one)
	{
		sum += json_integer_value(json_object_get(one, "packets"));
		good &= !json_object_get(one, "repeated");
	}
	ok(good && sum == 5000, "no packet is lost: %lld", (long long)sum);
	/* The clock may strike while we write. */
	ok(json_array_size(all) >= 4096 + 2 && json_array_size(all) <= 4096 + 320,
	   "not a line for each");
	ok(record_is(all, json_array_size(all) - 1,
		     "{\"id\":\"7kq2-5000\",\"domain\":null,\"door\":\"udp\","
		     "\"protocol\":\"udp\",\"reason\":\"too many hosts to name each\"}"),
	   "the rest together");
	json_decref(all);
	tear_down(&s);
}

/* One that comes again and again. */
static void check_repeated(void)
{
	struct ab_request_record r = { .host = "a.org", .port = 443, .denial = 1 };
	struct ab_error err = { 0 };
	struct ab_ledger_totals totals;
	struct stand s;
	json_t *all, *one, *last;
	size_t i, violations = 0, requests = 0;
	json_int_t sum = 0, early = 0;

	set_up(&s, "repeated");
	for (i = 0; i < 1000; i++)
		if (deny(&s, "a.org", 443, AB_BASIS_NONE) != 1 ||
		    ab_ledger_request(s.ledger, &r, &err) < 0)
			abort();
	deny(&s, "b.org", 443, AB_BASIS_NONE);
	ok(ab_ledger_flush(s.ledger, &err) == 0 && ab_ledger_flush(s.ledger, &err) == 0,
	   "a thousand of one kind");
	all = records(&s);
	json_array_foreach(all, i, one)
	{
		const char *kind = json_string_value(json_object_get(one, "kind"));

		if (strcmp(kind, "request") == 0) {
			requests++;
			continue;
		}
		if (++violations == 102)
			early = sum;
		sum += 1 + json_integer_value(json_object_get(one, "repeated"));
	}
	last = json_array_get(all, json_array_size(all) - 1);
	/* The clock may strike while we write. */
	ok(violations >= 102 && violations <= 211 && requests < 211,
	   "are not a thousand lines but %zu and %zu", violations, requests);
	ok(sum == 1001, "and yet counted: %lld", (long long)sum);
	/* Beyond a hundred the next line comes at two hundred, and not a minute later. */
	ok(violations >= 105 && early >= 101 && early <= 200,
	   "and soon: %lld in the first 101 lines", (long long)early);
	ok(json_integer_value(json_object_get(last, "repeated")) > 0 &&
		   record_is(all, json_array_size(all) - 1,
			     "{\"id\":\"7kq2-1\",\"domain\":\"a.org\","
			     "\"port\":443,\"kind\":\"violation\","
			     "\"door\":\"connect\"}"),
	   "the last line has the rest");
	ab_ledger_totals(s.ledger, &totals);
	ok(totals.denied == 1001, "the totals have all");
	json_decref(all);
	tear_down(&s);
}

/* What is worth recommending. */
static void check_advice(void)
{
	struct ab_request_record no = { .host = "ads.example", .port = 443, .reply = AB_REPLY_NO };
	struct ab_request_record quiet = { .host = "stats.example",
					   .port = 443,
					   .verdict = { .basis = AB_BASIS_QUIET,
							.entry = "stats.example" } };
	ab_autostrv struct ab_strv one = { 0 }, more = { 0 };
	struct ab_error err;
	struct stand s;
	uint32_t number;

	set_up(&s, "advice");
	if (ab_ledger_deny(s.ledger, &quiet, &number, &err) < 0)
		abort();
	ab_ledger_summary(s.ledger, &one);
	ok(one.len == 0, "a quiet host is not told");
	if (ab_ledger_deny(s.ledger, &no, &number, &err) < 0)
		abort();
	deny(&s, "pypi.org", 443, AB_BASIS_NONE);
	deny(&s, "files.pythonhosted.org", 443, AB_BASIS_NONE);
	deny(&s, "x.example", 443, AB_BASIS_NONE);
	ab_ledger_summary(s.ledger, &more);
	ok(more.len == 7, "a line for each, and one remedy");
	is_line(&more, 0, "4 requests were denied");
	is_line(&more, 5,
		"          allow them next time:  agentbox run --allow @pypi --allow x.example -- ...");
	is_line(&more, 6,
		"          allow one always:      agentbox allow 7kq2-3 --always (or --project)");
	tear_down(&s);
}

static void check_summary(void)
{
	struct ab_request_record evil = { .host = "www.evil.org",
					  .port = 443,
					  .verdict = { .basis = AB_BASIS_DENY,
						       .entry = "*.evil.org" } };
	ab_autostrv struct ab_strv none = { 0 }, one = { 0 }, more = { 0 };
	struct ab_request_record fine = { .host = "x.org", .port = 443 };
	struct ab_error err;
	struct stand s;
	uint32_t number;

	set_up(&s, "summary");
	ab_ledger_request(s.ledger, &fine, &err);
	ab_ledger_summary(s.ledger, &none);
	ok(none.len == 0, "nothing denied, nothing said");
	if (ab_ledger_packets(s.ledger, "udp", 1, &err) < 0)
		abort();
	ab_ledger_summary(s.ledger, &none);
	is_line(&none, 0, "1 packet was denied");
	is_line(&none, 1, "  7kq2-1  1 udp packet  only TCP connections leave the box");
	tear_down(&s);
	set_up(&s, "requests");
	deny(&s, "files.example.com", 443, AB_BASIS_NONE);
	ab_ledger_summary(s.ledger, &one);
	ok(one.len == 4, "one denial");
	is_line(&one, 0, "1 request was denied");
	is_line(&one, 1, "  7kq2-1  files.example.com:443  not on the allow list");
	is_line(&one, 2,
		"          allow it next time:  agentbox run --allow "
		"files.example.com -- ...");
	is_line(&one, 3,
		"          allow it always:     agentbox allow 7kq2-1 --always (or --project)");
	deny(&s, "files.example.com", 443, AB_BASIS_NONE);
	deny(&s, "::1", 80, AB_BASIS_OWN);
	if (ab_ledger_deny(s.ledger, &evil, &number, &err) < 0 ||
	    ab_ledger_packets(s.ledger, "udp", 3, &err) < 0 ||
	    ab_ledger_packets(s.ledger, "udp", 4, &err) < 0)
		abort();
	ab_ledger_summary(s.ledger, &more);
	ok(more.len == 8, "several");
	is_line(&more, 0, "4 requests and 7 packets were denied");
	is_line(&more, 1,
		"  7kq2-1  files.example.com:443  not on the allow list, "
		"2 times");
	is_line(&more, 2,
		"  7kq2-2  [::1]:80               an address of "
		"this host");
	is_line(&more, 3,
		"  7kq2-3  www.evil.org:443       on the deny list "
		"(*.evil.org)");
	is_line(&more, 4, "          to allow it, remove *.evil.org from network.deny");
	is_line(&more, 5,
		"  7kq2-4  7 udp packets          only TCP connections leave "
		"the box");
	is_line(&more, 6,
		"          allow them next time:  agentbox run --allow files.example.com "
		"--allow-private '[::1]:80' --allow ::1 -- ...");
	is_line(&more, 7,
		"          allow it always:       agentbox allow 7kq2-1 --always (or --project)");
	tear_down(&s);
	check_advice();
}

static void check_unwritable(void)
{
	struct ab_request_record r = { .host = "x.org", .port = 443 };
	struct rlimit limit, none = { 0 };
	struct ab_error err = { 0 };
	struct stand s;
	uint32_t number = 77;
	bool failed;

	set_up(&s, "unwritable");
	if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
		abort();
	none.rlim_max = limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &none);
	failed = ab_ledger_deny(s.ledger, &r, &number, &err) < 0 && number == 77 &&
		 ab_ledger_request(s.ledger, &r, &err) < 0 &&
		 ab_ledger_packets(s.ledger, "udp", 1, &err) < 0;
	setrlimit(RLIMIT_FSIZE, &limit);
	ok(failed && err.errnum == EFBIG, "what cannot be written is told: %s", err.text);
	ok(ab_ledger_deny(s.ledger, &r, &number, &err) == 0 && number == 1,
	   "and goes on when it can");
	tear_down(&s);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int main(void)
{
	char name[] = "/tmp/agentbox-test-XXXXXX";
	int result;

	signal(SIGXFSZ, SIG_IGN);
	if (!mkdtemp(name) || !realpath(name, top))
		abort();
	check_words();
	check_hints();
	check_bounds();
	check_records();
	check_numbers();
	check_questions();
	check_many();
	check_repeated();
	check_datagrams();
	check_many_datagrams();
	check_summary();
	check_unwritable();
	result = done();
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return result;
}
