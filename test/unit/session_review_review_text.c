/* What a reviewed run says about its changes. Paths come from the box. */
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "layer/diff/labels.h"
#include "layer/walk/changes.h"
#include "session/review/reviewer.h"

#include <jansson.h>

#include "tap.h"

static char *const paths[] = { (char *)"plain.c", (char *)"b\x1b[2J\n.c", (char *)"dir",
			       (char *)"new", (char *)"pipe" };

static struct ab_change list[] = {
	{ .kind = AB_CHANGE_MODIFIED, .was = AB_TYPE_FILE, .is = AB_TYPE_FILE },
	{ .kind = AB_CHANGE_ADDED,
	  .is = AB_TYPE_FILE,
	  .labels = AB_LABEL_BIT(AB_LABEL_GIT) | AB_LABEL_BIT(AB_LABEL_LINK),
	  .conflict = true },
	{ .kind = AB_CHANGE_DELETED, .was = AB_TYPE_DIR, .count = 7 },
	{ .kind = AB_CHANGE_ADDED, .is = AB_TYPE_DIR },
	{ .kind = AB_CHANGE_ADDED, .is = AB_TYPE_OTHER, .refused = "it is a FIFO" },
};

static char *make_head(const struct ab_review_sum *sum)
{
	struct ab_buf b = { 0 };

	ab_review_text_head(&b, sum);
	return ab_buf_take(&b);
}

static void test_head(void)
{
	static const struct {
		struct ab_review_sum sum;
		const char *want;
	} cases[] = {
		{ { .changed = 1 }, "1 change" },
		{ { .changed = 12, .labelled = 2 }, "12 changes, 2 want a look" },
		{ { .changed = 2, .labelled = 1 }, "2 changes, 1 wants a look" },
		{ { .changed = 2, .labelled = 1, .conflicts = 1 },
		  "2 changes, 1 wants a look, 1 conflict" },
		{ { .changed = 3, .conflicts = 2, .refused = 1 },
		  "3 changes, 2 conflicts, 1 cannot be applied" },
		{ { .changed = 9, .cut = true }, "at least 9 changes" },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autofree char *text = make_head(&cases[i].sum);

		is_str(text, cases[i].want, "the head");
	}
}

static void test_lines(void)
{
	static const struct {
		struct ab_review_sum sum;
		bool automatic;
		const char *want;
	} cases[] = {
		{ { 0 }, false, NULL },
		{ { .changed = 1, .waiting = 1 },
		  false,
		  "1 change; to see and keep it: agentbox diff k, agentbox apply k" },
		{ { .changed = 1, .applied = 1 },
		  true,
		  "1 change; all applied (to take it back: agentbox undo k)" },
		{ { .changed = 2, .applied = 2 },
		  true,
		  "2 changes; all applied (to take them back: agentbox undo k)" },
		{ { .changed = 3, .labelled = 1, .applied = 2, .waiting = 1 },
		  true,
		  "3 changes, 1 wants a look; 2 applied, 1 waits: agentbox diff k, "
		  "agentbox apply k, agentbox discard k" },
		{ { .changed = 2, .waiting = 2, .busy = "ab3de" },
		  true,
		  "2 changes; not applied, because the run ab3de can write to the workspace. Later: "
		  "agentbox diff k, agentbox apply k, agentbox discard k" },
		{ { .changed = 2, .waiting = 2, .busy = "?" },
		  true,
		  "2 changes; not applied, because it is not known which runs are active. Later: "
		  "agentbox diff k, agentbox apply k, agentbox discard k" },
		{ { .changed = 5, .waiting = 5, .cut = true },
		  false,
		  "at least 5 changes; these are too many to apply: agentbox discard k" },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autostrv struct ab_strv lines = { 0 };

		ab_review_text_lines(&cases[i].sum, "k", cases[i].automatic, &lines);
		is_str(lines.len ? lines.v[0] : NULL, cases[i].want, "the line");
	}
}

static void test_count(const struct ab_changes *changes)
{
	struct ab_review_sum sum;

	ab_review_text_count(changes, &sum);
	ok(sum.changed == 5 && sum.held == 2, "each entry is one change, as in `diff`");
	ok(sum.labelled == 1 && sum.conflicts == 1 && sum.refused == 1 && sum.waiting == 5,
	   "and what wants a look");
}

static void test_list(const struct ab_changes *changes)
{
	ab_autobuf struct ab_buf all = { 0 }, one = { 0 };

	ab_review_text_list(&all, changes, 10);
	ok(strstr(all.data, "also changed on the host") && strstr(all.data, "it is a FIFO") &&
		   strstr(all.data, ab_labels[AB_LABEL_GIT].what),
	   "each has its reasons");
	ok(!strchr(all.data, '\x1b'), "a name cannot act on the terminal");
	ok(!strstr(all.data, "plain.c"), "what is safe is not listed");
	ab_review_text_list(&one, changes, 1);
	ok(strstr(one.data, "and 1 more"), "a long list is cut");
}

static void test_json(const struct ab_changes *changes)
{
	ab_autobuf struct ab_buf b = { 0 };
	struct ab_review_sum sum;
	json_t *o, *files;

	ab_review_text_count(changes, &sum);
	ab_review_text_json(changes, &sum, "k\"", &b);
	o = json_loads(b.data, 0, NULL);
	files = json_object_get(o, "files");
	ok(o && json_array_size(files) == 2, "it is JSON, with what wants a look");
	is_str(json_string_value(json_object_get(o, "set")), "k\"", "of this set");
	ok(json_array_size(json_object_get(json_array_get(files, 0), "labels")) == 2,
	   "and the labels");
	json_decref(o);
}

int main(void)
{
	const struct ab_changes changes = { .v = list, .len = AB_COUNT(list) };

	for (size_t i = 0; i < AB_COUNT(list); i++)
		list[i].path = paths[i];
	test_head();
	test_lines();
	test_count(&changes);
	test_list(&changes);
	test_json(&changes);
	return done();
}
