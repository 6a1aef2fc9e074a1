/*
 * meta.json of a set of layers: it is read back as it was written, also with
 * paths that are not UTF-8, and nothing else is taken for one.
 */
#include "layer/store/meta.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "tap.h"

static const char full[] =
	"{\"version\":1,\"key\":\"dev\",\"name\":\"dev\",\"profile\":\"default\",\"workspace\":\"/w\","
	"\"home\":\"/home/u\",\"kernel\":\"6.1\",\"policy\":\"ab\",\"created\":1,\"started\":2,"
	"\"used\":3,\"runs\":[\"abcde\"],\"placeholders\":[\"sk-x\"],\"returns\":[{\"path\":\".x/y\",\"exists\":true,"
	"\"ino\":4,\"size\":5,\"mtime\":6,\"ctime\":7}],\"form\":\"overlay\",\"project\":8,"
	"\"waiting\":-1}";

static int read_text(const char *text, struct ab_layer_meta *ret, struct ab_error *err)
{
	*err = (struct ab_error){ 0 };
	return ab_layer_meta_read(text, strlen(text), ret, err);
}

static void check_round(void)
{
	struct ab_layer_meta meta = { .waiting = 3, .form = AB_LAYER_FORM_COPY }, back = { 0 };
	struct stat st = { .st_ino = UINT64_MAX, .st_size = 9, .st_mtim.tv_sec = 1 };
	ab_autobuf struct ab_buf text = { 0 };
	struct ab_error err = { 0 };
	static const char long_one[] =
		"sk-ant-api03-0123456789012345678901234567890123456789012345678901234567890123456789";

	meta.key = ab_strdup("@claude-code");
	meta.workspace = ab_strdup("/w/\xff%41 \xc3\xa4\n");
	meta.home = ab_strdup("/home/u");
	ab_layer_meta_set_return(&meta, ".claude/x", &st);
	ab_layer_meta_set_return(&meta, "gone", NULL);
	for (int i = 0; i < AB_LAYER_RUNS_MAX + 5; i++) {
		char id[8];

		snprintf(id, sizeof(id), "r%d", i);
		ab_layer_meta_add_run(&meta, id);
	}
	ab_layer_meta_add_placeholder(&meta, "sk-short");
	ab_layer_meta_add_placeholder(&meta, long_one);
	ab_layer_meta_add_placeholder(&meta, "sk-short");
	ab_layer_meta_write(&meta, &text);
	ok(ab_layer_meta_read(text.data, text.len, &back, &err) == 0, "read back: %s", err.text);
	is_str(back.key, "@claude-code", "the key");
	is_str(back.workspace, meta.workspace, "a path that is not UTF-8");
	ok(!back.name && !back.profile, "what is missing stays missing");
	ok(back.form == AB_LAYER_FORM_COPY && back.waiting == 3, "form and number");
	ok(back.runs.len == AB_LAYER_RUNS_MAX, "only the newest runs are kept");
	is_str(back.runs.v[back.runs.len - 1], "r68", "the newest run is last");
	ok(back.placeholders.len == 2, "each placeholder once");
	is_str(back.placeholders.v[0], "sk-short", "a short one");
	ok(strlen(back.placeholders.v[1]) >= 40 &&
		   strncmp(back.placeholders.v[1], long_one, strlen(back.placeholders.v[1])) == 0,
	   "and the beginning of a long one");
	ok(ab_layer_meta_return(&back, ".claude/x") &&
		   ab_layer_file_same(ab_layer_meta_return(&back, ".claude/x"), &st),
	   "a file is the same");
	st.st_mtim.tv_nsec = 1;
	ok(!ab_layer_file_same(ab_layer_meta_return(&back, ".claude/x"), &st),
	   "a file that changed is not");
	ok(ab_layer_file_same(ab_layer_meta_return(&back, "gone"), NULL), "a missing file is");
	ok(!ab_layer_meta_return(&back, "other"), "a file that was not recorded");
	ab_layer_meta_fini(&meta);
	ab_layer_meta_fini(&back);
}

/* Replace `from` in the valid text: it must be rejected. */
static void check_rejected(const char *from, const char *to)
{
	const char *at = strstr(full, from);
	struct ab_layer_meta meta = { 0 };
	struct ab_error err;
	ab_autofree char *text =
		at ? ab_printf("%.*s%s%s", (int)(at - full), full, to, at + strlen(from)) : NULL;

	ok(text && read_text(text, &meta, &err) < 0 && err.text[0] && err.code == AB_ECONFIG,
	   "%s -> %s is rejected: %s", from, to, text ? err.text : "");
	ab_layer_meta_fini(&meta);
}

static void check_bad(void)
{
	static const char *const changes[][2] = {
		{ "\"version\":1", "\"version\":2" },
		{ "\"version\":1", "\"version\":\"1\"" },
		{ "\"version\":1,", "" },
		{ "\"key\":\"dev\"", "\"key\":\"../dev\"" },
		{ "\"key\":\"dev\"", "\"key\":\"..\"" },
		{ "\"key\":\"dev\"", "\"key\":\".gone-0-x\"" },
		{ "\"key\":\"dev\"", "\"key\":7" },
		{ "\"name\":\"dev\"", "\"name\":[]" },
		{ "\"workspace\":\"/w\"", "\"workspace\":\"w\"" },
		{ "\"workspace\":\"/w\"", "\"workspace\":\"/w/../x\"" },
		{ "\"workspace\":\"/w\"", "\"workspace\":\"/w%\"" },
		{ "\"workspace\":\"/w\"", "\"workspace\":\"/w%00\"" },
		{ "\"workspace\":\"/w\"", "\"workspace\":\"/w\\u0000\"" },
		{ "\"home\":\"/home/u\"", "\"home\":null" },
		{ "\"created\":1", "\"created\":-1" },
		{ "\"created\":1", "\"created\":1.5" },
		{ "\"created\":1", "\"created\":99999999999999999999" },
		{ "\"runs\":[\"abcde\"]", "\"runs\":[\"../x\"]" },
		{ "\"runs\":[\"abcde\"]", "\"runs\":[\"\"]" },
		{ "\"runs\":[\"abcde\"]", "\"runs\":{}" },
		{ "[\"sk-x\"]", "[\"\"]" },
		{ "[\"sk-x\"]", "[7]" },
		{ "[\"sk-x\"]", "\"sk-x\"" },
		{ "\"sk-x\"",
		  "\"sk-0123456789012345678901234567890123456789012345678901234567890123456789\"" },
		{ ".x/y", "../y" },
		{ ".x/y", "/y" },
		{ ".x/y", "" },
		{ "\"ctime\":7", "\"ctime\":7,\"more\":1" },
		{ "\"exists\":true", "\"exists\":1" },
		{ "\"form\":\"overlay\"", "\"form\":\"link\"" },
		{ "\"waiting\":-1", "\"waiting\":-2" },
		{ "\"waiting\":-1", "\"waiting\":-1,\"more\":0" },
		{ "\"waiting\":-1", "\"waiting\":-1,\"key\":\"dev\"" },
	};
	struct ab_layer_meta meta = { 0 };
	struct ab_error err;

	ok(read_text(full, &meta, &err) == 0, "the valid text is read: %s", err.text);
	is_str(meta.returns ? meta.returns[0].path : NULL, ".x/y", "its file");
	ab_layer_meta_fini(&meta);
	for (size_t i = 0; i < AB_COUNT(changes); i++)
		check_rejected(changes[i][0], changes[i][1]);
}

/* As many as fit, and none of them is forgotten for another one. */
static void check_placeholders(void)
{
	static const char old[] = ",\"placeholders\":[\"sk-x\"]";
	const char *at = strstr(full, old);
	struct ab_layer_meta meta = { 0 }, back = { 0 };
	ab_autofree char *without = NULL;
	ab_autobuf struct ab_buf text = { 0 };
	struct ab_error err = { 0 };
	char name[64];

	ok(at != NULL, "the list is in the text");
	without = ab_printf("%.*s%s", (int)(at - full), full, at + strlen(old));
	ok(read_text(without, &meta, &err) == 0 && meta.placeholders.len == 0,
	   "a file that was written before there was a list: %s", err.text);
	for (unsigned i = 0; i < AB_LAYER_PLACEHOLDERS_MAX + 5; i++) {
		snprintf(name, sizeof(name), "%048u", i);
		ab_layer_meta_add_placeholder(&meta, name);
	}
	ab_layer_meta_write(&meta, &text);
	ok(ab_layer_meta_read(text.data, text.len, &back, &err) == 0, "a full list is read: %s",
	   err.text);
	ok(back.placeholders.len == AB_LAYER_PLACEHOLDERS_MAX &&
		   strspn(back.placeholders.v[0], "0") == 48,
	   "the first ones stay");
	ab_layer_meta_fini(&meta);
	ab_layer_meta_fini(&back);
}

/* A file that a full disk cut. */
static void check_cut(void)
{
	struct ab_layer_meta meta = { 0 };
	struct ab_error err;
	size_t taken = 0;

	for (size_t len = 0; len < sizeof(full) - 1; len++) {
		ab_autofree char *text = ab_strndup(full, len);

		taken += read_text(text, &meta, &err) == 0;
	}
	ok(taken == 0, "no part of the text is taken for the whole");
}

int main(void)
{
	check_round();
	check_bad();
	check_placeholders();
	check_cut();
	return done();
}
