#include "policy/edit/json_edit.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/system/path.h"
#include "policy/edit/edit_file.h"
#include "policy/layers/layers.h"
#include "tap.h"

static const char key[] = "network.allow";

static char *edited(const char *text, const char *value)
{
	struct ab_error err = { 0 };
	char *ret = NULL;
	int r = ab_json_edit_add(text, strlen(text), key, value, &ret, &err);

	return r > 0 ? ret : ab_strdup(r ? err.text : "same");
}

/* before, without "v"; NULL: the same */
static const char *const removals[][2] = {
	{ "", NULL },
	{ "{}", NULL },
	{ "{\"network\":{\"allow\":[\"a\"]}}", NULL },
	/* an empty list would mean "nothing" */
	{ "{\"network\":{\"allow\":[\"v\"]}}", "{}" },
	{ "{\n  \"with\": [\"node\"],\n  \"network\": {\n    \"allow\": [\"v\"]\n  }\n}\n",
	  "{\n  \"with\": [\"node\"]\n}\n" },
	{ "{\"network\":{/* mine */\"allow\":[\"v\"]}}", "{\"network\":{/* mine */}}" },
	{ "{\"network\":{\"allow\":[ \"v\" ], \"mode\":\"filtered\"}}",
	  "{\"network\":{\"mode\":\"filtered\"}}" },
	{ "{\"network\":{\"mode\":\"filtered\",\n\"allow\":[\"v\"]}}",
	  "{\"network\":{\"mode\":\"filtered\"}}" },
	{ "{\"network\":{\"allow\":{\"only\":[\"v\"]}}}",
	  "{\"network\":{\"allow\":{\"only\":[]}}}" },
	{ "{\"network\":{\"allow\":{ \"only\": [\"a\", \"v\"] }}}",
	  "{\"network\":{\"allow\":{ \"only\": [\"a\"] }}}" },
	{ "{\"network\":{\"allow\":[\"v\", \"a\"]}}", "{\"network\":{\"allow\":[\"a\"]}}" },
	{ "{\"network\":{\"allow\":[\"a\" , \"v\"]}}", "{\"network\":{\"allow\":[\"a\"]}}" },
	{ "{\"network\":{\"allow\":[\"a\", \"v\", \"b\"]}}",
	  "{\"network\":{\"allow\":[\"a\", \"b\"]}}" },
	{ "{\n  \"network\": {\n    \"allow\": [\n      \"v\",\n      \"a\"\n    ]\n  }\n}\n",
	  "{\n  \"network\": {\n    \"allow\": [\n      \"a\"\n    ]\n  }\n}\n" },
	{ "{\n  \"network\": {\n    \"allow\": [\n      \"a\",\n      \"v\"\n    ]\n  }\n}\n",
	  "{\n  \"network\": {\n    \"allow\": [\n      \"a\"\n    ]\n  }\n}\n" },
	/* comments stay */
	{ "{\"network\":{\"allow\":[\"a\",\"v\",]}}", "{\"network\":{\"allow\":[\"a\",]}}" },
	{ "{\"network\":{\"allow\":[\"v\",]}}", "{}" },
	{ "{\"network\":{\"allow\":{\"only\":[/*1*/\"v\"/*2*/]}}}",
	  "{\"network\":{\"allow\":{\"only\":[/*1*//*2*/]}}}" },
	{ "{\"network\":{\"allow\":[\"a\" /*,*/, \"v\" /*2*/]}}",
	  "{\"network\":{\"allow\":[\"a\" /*,*/  /*2*/]}}" },
	{ "{\"network\":{\"allow\":[\"v\" /*,*/, \"a\"]}}",
	  "{\"network\":{\"allow\":[ /*,*/ \"a\"]}}" },
	{ "{\"network\":{\"allow\":[\n  \"a\", // 1\n  // 2\n  \"v\"\n]}}",
	  "{\"network\":{\"allow\":[\n  \"a\" // 1\n  // 2\n]}}" },
	{ "{\"network\":{\"allow\":[\n  // 1\n  \"v\",\n  // 2\n  \"a\"\n]}}",
	  "{\"network\":{\"allow\":[\n  // 1\n  // 2\n  \"a\"\n]}}" },
};

static void check_removals(void)
{
	for (size_t i = 0; i < AB_COUNT(removals); i++) {
		const char *text = removals[i][0];
		ab_autofree char *got = NULL;
		struct ab_error err = { 0 };
		int r = ab_json_edit_remove(text, strlen(text), key, "v", &got, &err);

		ok(r == (removals[i][1] != NULL), "removed or not: %s", text);
		if (r > 0 && removals[i][1])
			is_str(got, removals[i][1], "and nothing else changed");
	}
}

/* The last element takes its list with it, but no comment. */
static void check_kept_comment(void)
{
	static const char text[] = "{\"network\":{\"allow\":[\"v\" /* mine */]}}";
	ab_autofree char *got = NULL;
	struct ab_error err = { 0 };

	ok(ab_json_edit_remove(text, strlen(text), key, "v", &got, &err) < 0 && !got,
	   "a comment is not removed");
	is_str(err.text, "line 1: allow has comments inside, which would be lost",
	       "and that is said");
}

/* before, with "v" added */
static const char *const adds[][2] = {
	{ "", "{\n  \"network\": {\n    \"allow\": [\"v\"]\n  }\n}\n" },
	{ "\n", "{\n  \"network\": {\n    \"allow\": [\"v\"]\n  }\n}\n" },
	{ "{}", "{\n  \"network\": {\n    \"allow\": [\"v\"]\n  }\n}" },
	{ "{ }\n", "{\n  \"network\": {\n    \"allow\": [\"v\"]\n  }\n}\n" },
	{ "{\n}\n", "{\n  \"network\": {\n    \"allow\": [\"v\"]\n  }\n}\n" },
	{ "{\n\t\"extends\": \"ci\"\n}\n",
	  "{\n\t\"extends\": \"ci\",\n\t\"network\": {\n\t\t\"allow\": "
	  "[\"v\"]\n\t}\n}\n" },
	{ "{\r\n    \"extends\": \"ci\"\r\n}\r\n",
	  "{\r\n    \"extends\": \"ci\",\r\n    \"network\": {\r\n        "
	  "\"allow\": [\"v\"]\r\n    }\r\n}\r\n" },
	{ "{\n  \"network\": {}\n}\n", "{\n  \"network\": {\n    \"allow\": [\"v\"]\n  }\n}\n" },
	{ "{\n  \"network\": {\n    \"mode\": \"filtered\"\n  }\n}\n",
	  "{\n  \"network\": {\n    \"mode\": \"filtered\",\n    \"allow\": "
	  "[\"v\"]\n  }\n}\n" },
	{ "{ \"network\": { \"mode\": \"filtered\" } }",
	  "{ \"network\": { \"mode\": \"filtered\", \"allow\": [\"v\"] } }" },
	{ "{\"extends\":\"ci\"}", "{\"extends\":\"ci\",\"network\":{\"allow\":[\"v\"]}}" },
	{ "{\"extends\": \"ci\"}", "{\"extends\": \"ci\", \"network\": { \"allow\": [\"v\"] }}" },
	/* an empty list means "nothing" */
	{ "{\"network\":{\"allow\":[]}}", "{\"network\":{\"allow\":{\"only\":[\"v\"]}}}" },
	{ "{\"network\": {\"allow\": [ ]}}", "{\"network\": {\"allow\": { \"only\": [\"v\"] }}}" },
	{ "{\"network\":{\"allow\":{\"only\":[]}}}",
	  "{\"network\":{\"allow\":{\"only\":[\"v\"]}}}" },
	{ "{\"network\":{\"allow\":{\"only\":[\"a\"]}}}",
	  "{\"network\":{\"allow\":{\"only\":[\"a\",\"v\"]}}}" },
	{ "{\"network\":{\"allow\":{\"only\":[\"v\"]}}}", "same" },
	{ "{\"network\":{\"allow\":[\"a\"]}}", "{\"network\":{\"allow\":[\"a\",\"v\"]}}" },
	{ "{\"network\": {\"allow\": [\"a\"]}}", "{\"network\": {\"allow\": [\"a\", \"v\"]}}" },
	{ "{\"network\": {\"allow\": [\"a\",\"b\"]}}",
	  "{\"network\": {\"allow\": [\"a\",\"b\",\"v\"]}}" },
	{ "{\"network\": {\"allow\": [ \"a\" , \"b\" ]}}",
	  "{\"network\": {\"allow\": [ \"a\" , \"b\", \"v\" ]}}" },
	{ "{\n  \"network\": {\n    \"allow\": [\n      \"a\",\n      \"b\"\n"
	  "    ],\n    \"deny\": []\n  }\n}\n",
	  "{\n  \"network\": {\n    \"allow\": [\n      \"a\",\n      \"b\",\n"
	  "      \"v\"\n    ],\n    \"deny\": []\n  }\n}\n" },
	{ "{\n  \"network\": {\n    \"allow\": [\n      \"a\"\n    ]\n  }\n}\n",
	  "{\n  \"network\": {\n    \"allow\": [\n      \"a\",\n      \"v\"\n"
	  "    ]\n  }\n}\n" },
	{ "{\n  \"network\": {\n    \"allow\": { \"only\": [\n    ] }\n  }\n}\n",
	  "{\n  \"network\": {\n    \"allow\": { \"only\": [\n      \"v\"\n    ] }\n  }\n}\n" },
	{ "{\"n\\u0065twork\": {\"allow\": [\"a\"]}}",
	  "{\"n\\u0065twork\": {\"allow\": [\"a\", \"v\"]}}" },
	{ "{\"network\": {\"allow\": [\"\\u0076\"]}}", "same" },
	{ "{\"network\": {\"allow\": [\"v\", \"a\"]}}", "same" },
	/* comments stay, and a new element comes after that of the last one */
	{ "// mine\n{}", "// mine\n{\n  \"network\": {\n    \"allow\": [\"v\"]\n  }\n}" },
	{ "{\n  // mine\n}\n", "{\n  // mine\n  \"network\": {\n    \"allow\": [\"v\"]\n  }\n}\n" },
	{ "{\n  \"network\": {\n    \"allow\": [\n      \"a\", // 1\n      \"b\" // 2\n    ]\n  }\n}\n",
	  "{\n  \"network\": {\n    \"allow\": [\n      \"a\", // 1\n      \"b\", // 2\n      \"v\"\n"
	  "    ]\n  }\n}\n" },
	{ "{\n  \"network\": {\n    \"allow\": [\n      \"a\",\n      \"b\", // 2\r\n    ],\n  },\n}\n",
	  "{\n  \"network\": {\n    \"allow\": [\n      \"a\",\n      \"b\", // 2\n      \"v\",\r\n"
	  "    ],\n  },\n}\n" },
	{ "{\"network\": {\"allow\": [\"a\" /*,*/, /*x*/ \"b\" /*y*/]}}",
	  "{\"network\": {\"allow\": [\"a\" /*,*/, /*x*/ \"b\", /*y*/ \"v\"]}}" },
	{ "{\"network\": {\"allow\": [\"a\"\n// not \"v\"\n]}}",
	  "{\"network\": {\"allow\": [\"a\", \"v\"\n// not \"v\"\n]}}" },
	/* a member of that name elsewhere is not meant */
	{ "{\"allow\": [\"v\"], \"network\": {\"deny\": [\"v\"]}}",
	  "{\"allow\": [\"v\"], \"network\": {\"deny\": [\"v\"], "
	  "\"allow\": [\"v\"]}}" },
};

static const char *const wrong[][2] = {
	{ "{", "line 1, column 2: unexpected end of file" },
	{ "{\n# mine\n}", "line 2, column 1: unexpected #" },
	{ "{\n/* mine\n}", "line 2, column 1: the comment is not closed" },
	{ "[]", "line 1: expected an object" },
	{ "\"x\"", "line 1: expected an object" },
	{ "{\n\"network\": 1}", "line 2: network is not an object" },
	{ "{\"network\": {\n\"allow\": \"v\"}}", "line 2: allow is not a list" },
	{ "{\"network\": {\n\"allow\": {\"only\":[],\"x\":1}}}", "line 2: allow is not a list" },
	{ "{\"a\": 1,\n\"a\": 2}", "line 2, column 1: duplicate key a" },
	{ "{ \"network\": { \"allow\": [ /* none */ ] } }",
	  "line 1: allow has comments inside, which would be lost" },
};

static void check_tables(void)
{
	for (size_t i = 0; i < AB_COUNT(adds); i++) {
		ab_autofree char *got = edited(adds[i][0], "v");

		is_str(got, adds[i][1], "added");
	}
	for (size_t i = 0; i < AB_COUNT(wrong); i++) {
		ab_autofree char *got = edited(wrong[i][0], "v");

		is_str(got, wrong[i][1], "refused");
	}
}

static const char *const mode_keys[] = { "network", "mode" };

/* before, network.mode set to 1; NULL: the same; after that it is taken out */
static const char *const sets[][3] = {
	{ "", "{\n  \"network\": {\n    \"mode\": 1\n  }\n}\n", "{}\n" },
	{ "{\"network\":{\"mode\":1}}", NULL, "{}" },
	{ "{\"network\":{\"mode\": [2, 3] /* x */}}", "{\"network\":{\"mode\": 1 /* x */}}",
	  "{\"network\":{ /* x */}}" },
	{ "{\n  \"network\": {\n    // how\n    \"mode\": \"//\",\n    \"deny\": [],\n  },\n}\n",
	  "{\n  \"network\": {\n    // how\n    \"mode\": 1,\n    \"deny\": [],\n  },\n}\n",
	  "{\n  \"network\": {\n    // how\n    \"deny\": [],\n  },\n}\n" },
	{ "{\"extends\": \"ci\", \"network\": {\"a\": 1,},}",
	  "{\"extends\": \"ci\", \"network\": {\"a\": 1, \"mode\": 1,},}",
	  "{\"extends\": \"ci\", \"network\": {\"a\": 1,},}" },
};

static void check_sets(void)
{
	static const char lost[] = "{\"network\": {\"mode\": [1 /* why */]}}";
	ab_autofree char *none = NULL;
	struct ab_error err = { 0 };

	for (size_t i = 0; i < AB_COUNT(sets); i++) {
		ab_autofree char *set = NULL, *unset = NULL;
		const char *text = sets[i][0];
		int r = ab_json_edit_set(text, strlen(text), mode_keys, 2, "1", &set, &err);

		ok(r == (sets[i][1] != NULL), "set or the same: %s", text);
		if (sets[i][1])
			is_str(set, sets[i][1], "and nothing else changed");
		if (r == 1)
			text = set;
		ok(ab_json_edit_unset(text, strlen(text), mode_keys, 2, &unset, &err) == 1,
		   "taken out");
		is_str(unset, sets[i][2], "and nothing else changed");
	}
	ok(ab_json_edit_unset("{}", 2, mode_keys, 2, &none, &err) == 0,
	   "what is not there stays away");
	ok(ab_json_edit_set(lost, strlen(lost), mode_keys, 2, "1", &none, &err) < 0 &&
		   strstr(err.text, "comments inside"),
	   "a value with a comment inside is not replaced");
	ok(ab_json_edit_unset(lost, strlen(lost), mode_keys, 2, &none, &err) < 0, "nor taken out");
}

/* Random documents. */

static uint64_t state = 0x9e3779b97f4a7c15;

static unsigned draw(unsigned below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33) % below;
}

static void put_blanks(struct ab_buf *b)
{
	static const char *const some[] = { "", "", "", " ", "\n", "\n  ", "\t", "\r\n\t" };

	ab_buf_puts(b, some[draw(AB_COUNT(some))]);
}

static void put_value(struct ab_buf *b, unsigned depth);

static void put_object(struct ab_buf *b, unsigned depth)
{
	static const char *const names[] = { "network", "allow", "deny", "a", "b\\n" };
	unsigned left = draw(1 << AB_COUNT(names));
	bool first = true;

	ab_buf_puts(b, "{");
	put_blanks(b);
	for (size_t i = 0; i < AB_COUNT(names); i++) {
		if (!(left & (1u << i)))
			continue;
		ab_buf_puts(b, first ? "" : ",");
		put_blanks(b);
		ab_buf_printf(b, "\"%s\"", names[i]);
		put_blanks(b);
		ab_buf_puts(b, ":");
		put_blanks(b);
		put_value(b, depth + 1);
		put_blanks(b);
		first = false;
	}
	ab_buf_puts(b, "}");
}

static void put_list(struct ab_buf *b, unsigned depth)
{
	unsigned n = draw(4);

	ab_buf_puts(b, "[");
	put_blanks(b);
	for (unsigned i = 0; i < n; i++) {
		ab_buf_puts(b, i ? "," : "");
		put_blanks(b);
		put_value(b, depth + 1);
		put_blanks(b);
	}
	ab_buf_puts(b, "]");
}

static void put_value(struct ab_buf *b, unsigned depth)
{
	static const char *const plain[] = {
		"1", "\"v\"", "\"w\"", "\"\\u0076\"", "null", "-2.5e1"
	};

	if (depth < 4 && draw(3) == 0)
		put_list(b, depth);
	else if (depth < 4 && draw(2) == 0)
		put_object(b, depth);
	else
		ab_buf_puts(b, plain[draw(AB_COUNT(plain))]);
}

/* What it should be, by other means. */
static json_t *with_list(const char *text)
{
	json_t *root = json_loads(text, 0, NULL);
	json_t *net = json_object_get(root, "network");

	if (!net)
		json_object_set_new(root, "network", json_object());
	net = json_object_get(root, "network");
	if (!json_object_get(net, "allow"))
		json_object_set_new(net, "allow", json_array());
	else if (json_array_size(json_object_get(net, "allow")) == 0)
		json_object_set_new(net, "allow", json_pack("{s:[]}", "only"));
	return root;
}

static bool is_equal_with(const char *before, const char *after)
{
	json_t *want = with_list(before);
	json_t *got = json_loads(after, JSON_REJECT_DUPLICATES, NULL);
	json_t *list = json_object_get(json_object_get(want, "network"), "allow");
	json_t *only = json_object_get(list, "only");
	bool same;

	json_array_append_new(only ? only : list, json_string("v"));
	same = got && json_equal(want, got);
	json_decref(want);
	json_decref(got);
	return same;
}

/* Only insertion: without what was put in, it is the text as it was. */
static bool is_inserted(const char *before, const char *after)
{
	size_t n = strlen(before), m = strlen(after), head = 0, tail = 0;

	while (head < n && before[head] == after[head])
		head++;
	while (tail < n - head && before[n - 1 - tail] == after[m - 1 - tail])
		tail++;
	/* Empty brackets, and blanks between them, are all that may go. */
	for (size_t i = head; i < n - tail; i++)
		if (!strchr(" \t\r\n[]", before[i]))
			return false;
	return m >= n || head + tail < n;
}

static void check_random(void)
{
	size_t changed = 0, same = 0, refused = 0, bad = 0;

	for (int i = 0; i < 20000 && bad < 3; i++) {
		ab_autobuf struct ab_buf b = { 0 };
		struct ab_error err = { 0 };
		ab_autofree char *after = NULL, *again = NULL;
		int r;

		put_blanks(&b);
		put_object(&b, 0);
		put_blanks(&b);
		r = ab_json_edit_add(b.data, b.len, key, "v", &after, &err);
		same += r == 0;
		refused += r < 0;
		if (r <= 0)
			continue;
		changed++;
		if (is_equal_with(b.data, after) && is_inserted(b.data, after) &&
		    ab_json_edit_add(after, strlen(after), key, "v", &again, &err) == 0)
			continue;
		bad++;
		printf("# before: %s\n# after: %s\n", b.data, after);
	}
	ok(bad == 0 && changed > 1000 && same > 10 && refused > 100,
	   "%zu documents changed, %zu had it, %zu refused", changed, same, refused);
}

/* Files. */

static char top[] = "/tmp/agentbox-test-XXXXXX";
static struct ab_policy_input input;

static char *at(const char *rel)
{
	return ab_path_join(top, rel);
}

static void put(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
	    fchmod(fd, mode) < 0)
		abort();
	close(fd);
}

static char *get(const char *path)
{
	char text[65536];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return n < 0 ? ab_strdup("none") : ab_strndup(text, (size_t)n);
}

static int add(const char *path, const char *value, struct ab_strv *diff, struct ab_error *err)
{
	const struct ab_list_change change = { .key = key, .value = value };

	return ab_edit_file_change(&input, path, &change, diff, err);
}

static void is_refused(const char *path, const char *value, const char *why)
{
	ab_autofree char *before = get(path), *after = NULL;
	ab_autostrv struct ab_strv diff = { 0 };
	struct ab_error err = { 0 };

	ok(add(path, value, &diff, &err) < 0 && strstr(err.text, why) && diff.len == 0,
	   "refused: %s", err.text);
	after = get(path);
	is_str(after, before, "and nothing is changed");
}

static void check_new_file(void)
{
	ab_autofree char *path = at("x/agentbox/config.json"), *got = NULL;
	ab_autofree char *folder = at("x/agentbox");
	ab_autostrv struct ab_strv diff = { 0 }, none = { 0 };
	struct ab_error err = { 0 };
	struct stat st = { 0 };

	ok(add(path, "github.com", &diff, &err) == 0, "made %s", err.text);
	got = get(path);
	is_str(got, "{\n  \"network\": {\n    \"allow\": [\"github.com\"]\n  }\n}\n",
	       "a small file");
	ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600, "that is nobody else's");
	ok(stat(folder, &st) == 0 && (st.st_mode & 07777) == 0700,
	   "in a folder that is not either");
	ok(diff.len == 5 && strcmp(diff.v[2], "+    \"allow\": [\"github.com\"]") == 0,
	   "the change is told");
	ok(add(path, "github.com", &none, &err) == 0 && none.len == 0, "once more is no change");
}

static void check_old_file(void)
{
	ab_autofree char *path = at("old.json"), *link = at("link.json");
	ab_autofree char *lost = at("lost.json"), *got = NULL;
	ab_autostrv struct ab_strv diff = { 0 };
	struct ab_error err = { 0 };
	struct stat st = { 0 };
	gid_t group;

	put(path, "{ \"network\": { \"allow\": [\"a.example\"] } }\n", 0640);
	group = geteuid() == 0 && chown(path, (uid_t)-1, 7) == 0 ? 7 : getegid();
	if (symlink("old.json", link) < 0 || symlink("nowhere", lost) < 0)
		abort();
	ok(add(link, "b.example", &diff, &err) == 0, "through a link %s", err.text);
	got = get(path);
	is_str(got,
	       "{ \"network\": { \"allow\": [\"a.example\", \"b.example\"] } "
	       "}\n",
	       "what it leads to has changed");
	ok(lstat(link, &st) == 0 && S_ISLNK(st.st_mode), "the link has not");
	ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0640 && st.st_gid == group,
	   "nor have the mode and the group");
	is_refused(lost, "b.example", "dangling symbolic link");
	is_refused(path, "https://x.example/", "");
	is_refused(path, "a b\n", "");
	put(path, "{ \"netwrok\": {} }", 0600);
	is_refused(path, "b.example", "netwrok");
	put(path, "{ \"network\": ", 0600);
	is_refused(path, "b.example", "line 1");
	put(path, "{}", 0622);
	is_refused(path, "b.example", "writable by others");
	put(path, "{}", 0600);
	if (geteuid() == 0 && chown(path, 65534, 65534) == 0)
		is_refused(path, "b.example", "another user");
}

/* Many writers at once: nothing of anybody is lost. */
static void check_race(void)
{
	enum { WRITERS = 8, EACH = 5 };
	ab_autofree char *path = at("race.json"), *got = NULL;
	size_t lost = 0;
	int failed = 0, status;

	fflush(stdout);
	for (int w = 0; w < WRITERS; w++)
		if (fork() == 0) {
			for (int i = 0; i < EACH; i++) {
				char host[32];
				struct ab_strv diff = { 0 };
				struct ab_error err = { 0 };

				snprintf(host, sizeof(host), "h%d-%d.example", w, i);
				if (add(path, host, &diff, &err) < 0)
					_exit(1);
			}
			_exit(0);
		}
	while (wait(&status) > 0)
		failed += status != 0;
	got = get(path);
	for (int w = 0; w < WRITERS; w++)
		for (int i = 0; i < EACH; i++) {
			char host[32];

			snprintf(host, sizeof(host), "\"h%d-%d.example\"", w, i);
			lost += strstr(got, host) == NULL;
		}
	ok(failed == 0 && lost == 0, "%d writers at once: %zu entries lost", WRITERS, lost);
}

static void check_left(void)
{
	ab_autofree char *cmd = ab_printf("test -z \"$(find %s -name '.*.json.*')\" "
					  "&& rm -rf %s",
					  top, top);

	ok(system(cmd) == 0, "no file is left beside");
}

int main(void)
{
	check_removals();
	check_kept_comment();
	check_tables();
	check_sets();
	check_random();
	if (!mkdtemp(top))
		abort();
	input = (struct ab_policy_input){ .cwd = top, .home = top, .environ = environ };
	check_new_file();
	check_old_file();
	check_race();
	check_left();
	return done();
}
