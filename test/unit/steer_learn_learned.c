#include "steer/learn/learned.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "policy/model/policy.h"
#include "tap.h"

#define REQUEST "{\"timestamp\":\"t\",\"run_id\":\"aaaaa\",\"kind\":\"request\","
#define VIOLATION "{\"timestamp\":\"t\",\"run_id\":\"aaaaa\",\"kind\":\"violation\","

static struct ab_policy base = { .net = { .mode = AB_NET_FILTERED } };
static struct ab_learned_from from = {
	.base = &base, .extends = "default", .workspace = "/home/u/p", .home = "/home/u"
};

static void take(struct ab_learned *l, const char *line)
{
	ab_learned_take(l, line, strlen(line));
}

/* The policy that these lines give, without its spaces. */
static char *policy_of(const char *const *lines)
{
	struct ab_learned *l = ab_learned_new();
	ab_autofree char *text = NULL;
	json_t *j;
	char *flat;

	for (; *lines; lines++)
		take(l, *lines);
	text = ab_learned_policy(l, &from);
	ab_learned_free(l);
	j = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	flat = json_dumps(j, JSON_COMPACT);
	json_decref(j);
	return flat;
}

/* One text, its lines with "|" between them. */
static char *notes_of(const char *const *lines)
{
	struct ab_learned *l = ab_learned_new();
	ab_autostrv struct ab_strv notes = { 0 };
	ab_autobuf struct ab_buf b = { 0 };

	for (; *lines; lines++)
		take(l, *lines);
	ab_learned_notes(l, &from, &notes);
	ab_learned_free(l);
	for (size_t i = 0; i < notes.len; i++)
		ab_buf_printf(&b, "%s%s", i ? "|" : "", notes.v[i]);
	return ab_buf_take(&b);
}

#define WRITE_AT(path)                                                     \
	VIOLATION "\"door\":\"file\",\"path\":\"" path                     \
		  "\",\"access\":\"write\",\"rule\":\"filesystem.write\"," \
		  "\"reason\":\"outside\"}"

static const struct {
	const char *name;
	const char *lines[8];
	const char *policy;
	const char *notes;
} cases[] = {
	{ "nothing", { NULL }, "{\"extends\":\"default\"}", "" },
	{ "hosts in order, each once",
	  { REQUEST "\"domain\":\"b.test\",\"port\":443,\"allowed\":true,\"error\":null}",
	    REQUEST "\"domain\":\"a.test\",\"port\":80,\"allowed\":true}",
	    REQUEST "\"domain\":\"b.test\",\"port\":22,\"allowed\":true}" },
	  "{\"extends\":\"default\",\"network\":{\"allow\":[\"a.test\",\"b.test\"]}}",
	  "the run connected to 2 hosts:|  a.test|  b.test  2 times" },
	{ "names below one domain stay names",
	  { REQUEST "\"domain\":\"x.cdn.test\",\"port\":443,\"allowed\":true}",
	    REQUEST "\"domain\":\"y.cdn.test\",\"port\":443,\"allowed\":true}" },
	  "{\"extends\":\"default\",\"network\":{\"allow\":[\"x.cdn.test\",\"y.cdn.test\"]}}",
	  NULL },
	{ "a port that is not usual, and an address, have a reason",
	  { REQUEST "\"domain\":\"a.test\",\"port\":8080,\"allowed\":true}",
	    REQUEST "\"domain\":\"203.0.113.9\",\"port\":443,\"allowed\":true}",
	    REQUEST "\"domain\":\"2001:db8::1\",\"port\":9,\"allowed\":true}" },
	  "{\"extends\":\"default\",\"network\":{\"allow\":[\"203.0.113.9\",\"[2001:db8::1]:9\",\"a.test:8080\"],"
	  "\"reason\":{\"203.0.113.9\":\"an address instead of a name: it may belong to someone else tomorrow\","
	  "\"[2001:db8::1]:9\":\"an address instead of a name: it may belong to someone else tomorrow; port 9 is unusual\","
	  "\"a.test:8080\":\"port 8080 is unusual\"}}}",
	  NULL },
	{ "places for uploads",
	  { REQUEST "\"domain\":\"eu.transfer.sh\",\"port\":443,\"allowed\":true}",
	    REQUEST "\"domain\":\"nottransfer.sh\",\"port\":443,\"allowed\":true}" },
	  "{\"extends\":\"default\",\"network\":{\"allow\":[\"eu.transfer.sh\",\"nottransfer.sh\"],"
	  "\"reason\":{\"eu.transfer.sh\":\"anyone can upload and read files there\"}}}",
	  NULL },
	{ "what was not reached is no part of it",
	  { REQUEST "\"domain\":\"a.test\",\"port\":443,\"allowed\":true,\"error\":\"refused\"}",
	    REQUEST "\"domain\":\"b.test\",\"port\":443,\"allowed\":false}",
	    REQUEST "\"domain\":\"c.test\",\"port\":443,\"allowed\":\"true\"}",
	    REQUEST "\"domain\":\"d.test\",\"port\":3000,\"allowed\":true,\"door\":\"publish\"}",
	    REQUEST "\"domain\":\"e.test\",\"port\":3000,\"allowed\":true,\"door\":\"host-port\"}",
	    REQUEST "\"domain\":\"f.test\",\"port\":null,\"allowed\":true,\"door\":\"dns\"}" },
	  "{\"extends\":\"default\"}",
	  "these connections failed, so the policy leaves the hosts out:|  a.test  refused" },
	{ "once is enough",
	  { REQUEST "\"domain\":\"a.test\",\"port\":443,\"allowed\":true,\"error\":\"refused\"}",
	    REQUEST "\"domain\":\"a.test\",\"port\":443,\"allowed\":true,\"door\":\"http\"}" },
	  "{\"extends\":\"default\",\"network\":{\"allow\":[\"a.test\"]}}",
	  "the run connected to 1 host:|  a.test" },
	{ "what is denied stays so",
	  { VIOLATION
	    "\"domain\":\"10.0.0.1\",\"port\":80,\"allowed\":false,\"door\":\"connect\",\"reason\":\"private\",\"repeated\":4}" },
	  "{\"extends\":\"default\"}",
	  "these hosts were denied, and the policy does not allow them:|  10.0.0.1:80  5 times  private" },
	{ "a folder for a file, added to what is writable already",
	  { WRITE_AT("/home/u/.cache/tool/x"), WRITE_AT("/home/u/.cache/tool/y/z") },
	  "{\"extends\":\"default\",\"filesystem\":{\"write\":[\"~/.cache/tool\"],"
	  "\"reason\":{\"~/.cache/tool\":\"outside the workspace\"}}}",
	  "" },
	{ "the other way around, and beside each other",
	  { WRITE_AT("/home/u/a/b/c/x"), WRITE_AT("/home/u/a/b/d"), WRITE_AT("/data/u/x"),
	    WRITE_AT("/home/u/a/bb/x") },
	  "{\"extends\":\"default\",\"filesystem\":{\"write\":[\"/data/u\",\"~/a/b\",\"~/a/bb\"],"
	  "\"reason\":{\"/data/u\":\"outside the workspace\",\"~/a/b\":\"outside the workspace\","
	  "\"~/a/bb\":\"outside the workspace\"}}}",
	  "" },
	{ "never the root, the home folder or the system's",
	  { WRITE_AT("/x"), WRITE_AT("/home/u/.bashrc"), WRITE_AT("/home/u"),
	    WRITE_AT("/etc/passwd"), WRITE_AT("/usr/local/bin/x"), WRITE_AT("/data/x"),
	    WRITE_AT("/home/u/.ssh/x") },
	  "{\"extends\":\"default\"}",
	  NULL },
	{ "nor what is around them, or leads elsewhere",
	  { WRITE_AT("/home/u/.config/x"), WRITE_AT("/home/u/.local/x"),
	    WRITE_AT("/home/u/a/../.ssh/x"), WRITE_AT("relative/x"),
	    WRITE_AT("/home/u/a\xef\xbf\xbd/x"), WRITE_AT("/home/u/*/x"),
	    WRITE_AT("/home/u/.local/bin/x") },
	  "{\"extends\":\"default\"}",
	  NULL },
	{ "other rules are told, not lifted",
	  { VIOLATION
	    "\"door\":\"file\",\"path\":\"/home/u/p/.git/hooks/x\",\"access\":\"write\",\"rule\":\"filesystem.denyWrite\",\"reason\":\"a protected name\"}",
	    VIOLATION
	    "\"door\":\"file\",\"path\":\"/home/u/.ssh/id\",\"access\":\"read\",\"rule\":\"filesystem.denyRead\",\"reason\":\"hidden\"}",
	    VIOLATION "\"door\":\"call\",\"path\":null,\"rule\":\"syscalls\"}",
	    "{\"kind\":\"exec\",\"command\":\"git push\",\"reason\":\"Publishes.\"}",
	    "{\"kind\":\"program\",\"path\":\"/bin/sh\"}",
	    "{\"kind\":\"program\",\"path\":\"/bin/ls\"}" },
	  "{\"extends\":\"default\"}",
	  "these were denied, and the policy does not allow them:|  git push  publishes|  read /home/u/.ssh/id  hidden|  write /home/u/p/.git/hooks/x  a protected name|programs that ran:|  /bin/ls|  /bin/sh" },
	{ "no record, and no host",
	  { "", "{", "[]", "null", "{\"kind\":\"request\"}",
	    REQUEST "\"domain\":\"a\\u0000.test\",\"port\":443,\"allowed\":true}",
	    REQUEST "\"domain\":\"*.test\",\"port\":443,\"allowed\":true}" },
	  "{\"extends\":\"default\"}",
	  "" },
	{ "no host either",
	  { REQUEST "\"domain\":\"a\\\",\\\"b\",\"port\":443,\"allowed\":true}",
	    REQUEST "\"domain\":\"a.test\",\"port\":0,\"allowed\":true}",
	    REQUEST "\"domain\":\"a.test\",\"port\":70000,\"allowed\":true}",
	    REQUEST "\"domain\":\"a.test\",\"port\":-1,\"allowed\":true}",
	    REQUEST "\"domain\":\"a.test\",\"port\":443.5,\"allowed\":true}",
	    REQUEST "\"domain\":\"@npm\",\"port\":443,\"allowed\":true}",
	    REQUEST "\"domain\":\"a.test/24\",\"port\":443,\"allowed\":true}" },
	  "{\"extends\":\"default\"}",
	  "" },
};

/* ~/.config is a link to ~/dots/config, ~/.ssh one to /data/keys. */
static void test_links(void)
{
	static const char *const closed[] = { WRITE_AT("/home/u/dots/config/fish/x"),
					      WRITE_AT("/home/u/dots/x"), WRITE_AT("/data/keys/x"),
					      WRITE_AT("/data/keys/old/x"), NULL };
	static const char *const open[] = { WRITE_AT("/home/u/dots/other/x"), NULL };
	ab_autostrv struct ab_strv places = { 0 };
	char *got;

	ab_strv_add(&places, "/home/u/dots/config");
	ab_strv_add(&places, "/data/keys");
	from.closed = &places;
	got = policy_of(closed);
	is_str(got, "{\"extends\":\"default\"}", "what is closed is so where it really is");
	free(got);
	got = policy_of(open);
	ok(strstr(got, "\"~/dots/other\""), "what is beside it is not");
	free(got);
	from.closed = NULL;
}

static void test_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autofree char *policy = policy_of(cases[i].lines);
		ab_autofree char *notes = notes_of(cases[i].lines);

		is_str(policy, cases[i].policy, cases[i].name);
		if (cases[i].notes)
			is_str(notes, cases[i].notes, "and what is told");
	}
}

/* Read and written back, it is the same. */
static void test_form(void)
{
	struct ab_learned *l = ab_learned_new();
	ab_autofree char *text = NULL;

	take(l, REQUEST "\"domain\":\"a.test\",\"port\":8080,\"allowed\":true}");
	text = ab_learned_policy(l, &from);
	is_str(text,
	       "{\n"
	       "  \"extends\": \"default\",\n"
	       "  \"network\": {\n"
	       "    \"allow\": [\n"
	       "      \"a.test:8080\"\n"
	       "    ],\n"
	       "    \"reason\": {\n"
	       "      \"a.test:8080\": \"port 8080 is unusual\"\n"
	       "    }\n"
	       "  }\n"
	       "}\n",
	       "lines that a person can read");
	ab_learned_free(l);
}

static void test_bases(void)
{
	static const char *const lines[] = {
		REQUEST "\"domain\":\"a.test\",\"port\":443,\"allowed\":true}",
		REQUEST "\"domain\":\"b.test\",\"port\":443,\"allowed\":true}", NULL
	};
	static const char *const written[] = { WRITE_AT("/home/u/p/out/x"), WRITE_AT("/home/u/p/y"),
					       NULL };
	static const char *const deep[] = { WRITE_AT("/home/u/p/out/x"), NULL };
	struct ab_policy before = base;
	char *got;

	base.net.mode = AB_NET_BLOCKED;
	got = policy_of(lines);
	is_str(got,
	       "{\"extends\":\"default\",\"network\":{\"mode\":\"filtered\",\"allow\":[\"a.test\",\"b.test\"]}}",
	       "a profile without a network gets one");
	free(got);
	got = policy_of(lines + 2);
	is_str(got, "{\"extends\":\"default\"}", "if it is needed");
	free(got);
	base = before;
	ab_strv_add(&base.net.allow, "*.test");
	got = policy_of(lines);
	is_str(got, "{\"extends\":\"default\"}", "what it allows is not said again");
	free(got);
	ab_strv_fini(&base.net.allow);
	base.net.allow = (struct ab_strv){ 0 };
	ab_strv_add(&base.net.allow, "b.test");
	got = policy_of(lines);
	is_str(got,
	       "{\"extends\":\"default\",\"network\":{\"allow\":{\"only\":[\"a.test\",\"b.test\"]}}}",
	       "unless the list is replaced");
	free(got);
	ab_strv_fini(&base.net.allow);
	base = before;
	base.fs.write = (struct ab_strv){ 0 };
	got = policy_of(written);
	is_str(got, "{\"extends\":\"default\",\"filesystem\":{\"write\":[\".\"]}}",
	       "a workspace that was read-only");
	free(got);
	got = policy_of(deep);
	is_str(got, "{\"extends\":\"default\",\"filesystem\":{\"write\":[\"./out\"]}}",
	       "or only a part of it");
	free(got);
	base = before;
}

static void test_check(void)
{
	struct ab_learned *l = ab_learned_new();
	ab_autostrv struct ab_strv lacking = { 0 };
	struct ab_policy with = base;

	take(l, REQUEST "\"domain\":\"a.test\",\"port\":443,\"allowed\":true}");
	take(l, WRITE_AT("/home/u/a/x"));
	ab_learned_check(l, &from, &with, &lacking);
	ok(lacking.len == 2, "a policy that lacks both");
	is_str(lacking.v[0], "network.allow: a.test", "the host");
	is_str(lacking.v[1], "filesystem.write: /home/u/a", "and the folder");
	ab_strv_fini(&lacking);
	lacking = (struct ab_strv){ 0 };
	with.net.allow = (struct ab_strv){ 0 };
	with.fs.write = (struct ab_strv){ 0 };
	ab_strv_add(&with.net.allow, "a.test");
	ab_strv_add(&with.fs.write, "/home/u/a");
	ab_learned_check(l, &from, &with, &lacking);
	ok(lacking.len == 0, "and one that has them");
	with.net.mode = AB_NET_BLOCKED;
	ab_learned_check(l, &from, &with, &lacking);
	ok(lacking.len == 1, "but no network");
	ab_strv_fini(&with.net.allow);
	ab_strv_fini(&with.fs.write);
	ab_learned_free(l);
}

/* As many as anybody wants: what is kept has an end. */
static void test_bounds(void)
{
	struct ab_learned *l = ab_learned_new();
	ab_autostrv struct ab_strv notes = { 0 };
	ab_autofree char *text = NULL;
	json_t *j;

	for (int i = 0; i < 20000; i++) {
		ab_autofree char *a = ab_printf(
			REQUEST "\"domain\":\"h%d.test\",\"port\":443,\"allowed\":true}", i);
		ab_autofree char *b = ab_printf(WRITE_AT("/home/u/d%d/x"), i);
		ab_autofree char *c = ab_printf("{\"kind\":\"program\",\"path\":\"/bin/p%d\"}", i);

		take(l, a);
		take(l, b);
		take(l, c);
	}
	take(l, VIOLATION "\"domain\":\"x.test\",\"port\":1,\"repeated\":9223372036854775807}");
	take(l, VIOLATION "\"domain\":\"x.test\",\"port\":1,\"repeated\":9223372036854775807}");
	take(l, VIOLATION "\"domain\":\"x.test\",\"port\":1,\"repeated\":9223372036854775807}");
	text = ab_learned_policy(l, &from);
	j = json_loads(text, 0, NULL);
	ok(json_array_size(json_object_get(json_object_get(j, "network"), "allow")) ==
		   AB_LEARNED_HOSTS,
	   "hosts");
	ok(json_array_size(json_object_get(json_object_get(j, "filesystem"), "write")) ==
		   AB_LEARNED_FOLDERS,
	   "folders");
	json_decref(j);
	ab_learned_notes(l, &from, &notes);
	ok(notes.len < 200, "and words about them");
	ab_learned_free(l);
}

/* Cut anywhere, a record is none or another one; never worse. */
static void test_cut(void)
{
	static const char line[] = VIOLATION
		"\"door\":\"file\",\"path\":\"/a\\u00e9\\\\/b\",\"access\":\"write\",\"rule\":\"filesystem.write\"}";
	struct ab_learned *l = ab_learned_new();
	ab_autofree char *text = NULL;

	for (size_t n = 0; n < sizeof(line); n++) {
		char *exact = malloc(n ? n : 1);

		memcpy(exact, line, n);
		ab_learned_take(l, exact, n);
		free(exact);
	}
	text = ab_learned_policy(l, &from);
	ok(text != NULL, "a record that is cut");
	ab_learned_free(l);
}

int main(void)
{
	ab_strv_add(&base.fs.write, "/home/u/p");
	test_cases();
	test_links();
	test_form();
	test_bases();
	test_check();
	test_bounds();
	test_cut();
	ab_strv_fini(&base.fs.write);
	return done();
}
