#include "steer/learn/learn.h"

#include <jansson.h>

#include "audit/read/details.h"
#include "audit/read/find.h"
#include "audit/read/reader.h"
#include "audit/read/words.h"
#include "base/system/folder.h"
#include "base/system/new_file.h"
#include "base/text/json_scan.h"
#include "base/text/text_diff.h"
#include "base/text/words.h"
#include "consent/ask/process_chain.h"
#include "policy/edit/json_edit.h"
#include "policy/layers/layers.h"
#include "policy/layers/profiles.h"
#include "policy/model/policy.h"
#include "policy/read/settings_file.h"
#include "policy/values/paths.h"
#include "state/state.h"
#include "steer/client/steer.h"
#include "steer/learn/learned.h"

static char *get_command(const char *result)
{
	enum { WORDS = 80 };
	json_auto_t *object = json_loads(result, 0, NULL);
	ab_autobuf struct ab_buf words = { 0 };
	struct ab_buf b = { 0 };

	ab_process_chain_command(&words, json_object_get(object, "command"), WORDS);
	ab_words_short(&b, words.data ? words.data : "", WORDS);
	return ab_buf_take(&b);
}

static bool take_line(void *arg, const char *line, size_t len)
{
	ab_learned_take(arg, line, len);
	return true;
}

/* The record of the run with this result, which has ended. */
static int read_record(const struct ab_policy_input *input, const char *result,
		       struct ab_learned *learned, struct ab_error *err)
{
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;
	ab_auto(ab_found_run_fini) struct ab_found_run run = { .dir = -1 };
	struct ab_detail member;
	char id[8];

	(void)ab_details_one(result, strlen(result), "run_id", &member);
	ab_detail_copy(&member, id, sizeof(id));
	if (!ab_run_id_valid(id))
		return ab_fail(err, AB_ESYSTEM, 0, "there is no run to learn from");
	if (ab_steer_state(input, &state, err) < 0 ||
	    ab_find_run(state.live, state.runs, id, &run, err) < 0)
		return -1;
	return ab_reader_each(run.dir, take_line, learned, err);
}

static char *real_path(const char *path)
{
	char *real = path ? realpath(path, NULL) : NULL;

	return real || !path ? real : ab_strdup(path);
}

/* Dotfiles are often links to a folder elsewhere. */
static void find_places(const struct ab_policy_input *input, struct ab_lesson *lesson)
{
	const char *list, *word;

	lesson->home = real_path(input->home);
	lesson->workspace = real_path(lesson->own->workspace);
	list = lesson->home ? ab_learned_closed : "";
	for (size_t n; (word = ab_word_next(&list, &n));) {
		ab_autofree char *name = ab_strndup(word, n);
		ab_autofree char *path = ab_path_join(lesson->home, name);
		ab_autofree char *real = realpath(path, NULL);

		if (real && strcmp(real, path) != 0)
			ab_strv_add(&lesson->closed, real);
	}
}

static struct ab_learned_from describe_start(const struct ab_lesson *lesson)
{
	return (struct ab_learned_from){ .base = lesson->base,
					 .extends = lesson->own->profile,
					 .workspace = lesson->workspace,
					 .home = lesson->home,
					 .closed = &lesson->closed,
					 .secrets = &lesson->own->secrets };
}

int ab_learn(const struct ab_policy_input *input, const char *result, struct ab_lesson *ret,
	     struct ab_error *err)
{
	struct ab_lesson lesson = { .learned = ab_learned_new() };
	struct ab_learned_from from;

	if (read_record(input, result, lesson.learned, err) < 0 ||
	    ab_policy_load(input, &lesson.own, NULL, err) < 0 ||
	    ab_policy_load_one(input, lesson.own->profile, &lesson.base, err) < 0) {
		ab_lesson_fini(&lesson);
		return -1;
	}
	lesson.command = get_command(result);
	find_places(input, &lesson);
	from = describe_start(&lesson);
	lesson.policy = ab_learned_policy(lesson.learned, &from);
	ab_learned_notes(lesson.learned, &from, &lesson.notes);
	*ret = lesson;
	return 0;
}

void ab_lesson_fini(struct ab_lesson *lesson)
{
	ab_learned_free(lesson->learned);
	ab_policy_free(lesson->base);
	ab_policy_free(lesson->own);
	ab_free_all(lesson->policy, lesson->command, lesson->home, lesson->workspace);
	ab_strv_fini_all(&lesson->notes, &lesson->closed);
	*lesson = (struct ab_lesson){ 0 };
}

/* A name that `extends` accepts. */
static bool is_name(const char *name)
{
	size_t len = strlen(name);

	return len && len <= 64 && name[0] != '.' && name[0] != '-' &&
	       ab_has_only(name, len, "_.-");
}

static char *find_path(const struct ab_policy_input *input, const char *name, struct ab_error *err)
{
	ab_autofree char *dir = ab_config_dir(input->environ, input->home);

	if (dir)
		return ab_printf("%s/profiles/%s.json", dir, name);
	ab_fail(err, AB_EUSAGE, 0, "cannot save a profile: the home folder is unknown");
	ab_hint(err, "set HOME");
	return NULL;
}

int ab_learn_place(const struct ab_policy_input *input, const char *name, bool add,
		   struct ab_error *err)
{
	ab_autofree char *path = NULL;
	struct ab_profile built_in;
	struct stat st;

	if (!is_name(name)) {
		ab_fail(err, AB_EUSAGE, 0, "--save: invalid profile name %s", name);
		return ab_hint(err, "use letters, digits, _, - and .");
	}
	if (ab_profile_find(name, &built_in))
		return ab_fail(err, AB_EUSAGE, 0,
			       "--save %s: this is a built-in profile; choose another name", name);
	path = find_path(input, name, err);
	if (!path)
		return -1;
	if (lstat(path, &st) < 0 || add)
		return 0;
	ab_fail(err, AB_EUSAGE, 0, "--save %s: the profile exists: %s", name, path);
	return ab_hint(err, "choose another name, or add to it with --yes");
}

static int write_profile(const char *path, const char *text, bool replace, struct ab_error *err)
{
	ab_autofree char *dir = ab_path_parent(path), *failed = ab_folder_make_all(dir, 0700);

	if (failed)
		return ab_fail(err, AB_ESYSTEM, errno, "make %s", failed);
	if (ab_new_file_write(AT_FDCWD, path, NULL, text, strlen(text),
			      replace ? 0 : AB_NEW_FILE_ONLY) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "write %s", path);
	return 0;
}

static void merge_member(json_t *into, const char *key, json_t *value);

/* Nothing is removed: lists get longer, and other values are only added. */
static void merge_object(json_t *into, json_t *from)
{
	const char *key;
	json_t *value;

	json_object_foreach(from, key, value) merge_member(into, key, value);
}

/* The list in { "only": [...] }, or the value itself. */
static json_t *find_list(json_t *value)
{
	json_t *only = json_object_get(value, "only");

	return json_is_array(only) ? only : value;
}

static void merge_member(json_t *into, const char *key, json_t *value)
{
	json_t *have = find_list(json_object_get(into, key)), *one;
	size_t i, k;

	if (!have) {
		json_object_set(into, key, value);
	} else if (json_is_object(have) && json_is_object(value)) {
		merge_object(have, value);
	} else if (json_is_array(have) && json_is_array(find_list(value))) {
		json_array_foreach(find_list(value), i, one)
		{
			for (k = 0; k < json_array_size(have); k++)
				if (json_equal(json_array_get(have, k), one))
					break;
			if (k == json_array_size(have))
				json_array_append(have, one);
		}
	}
}

/* For `profile list`. */
static int add_description(const struct ab_lesson *lesson, char **ret, struct ab_error *err)
{
	static const char *const key[] = { "description" };
	ab_autofree char *text = ab_printf("Learned from: %s", lesson->command);
	ab_autobuf struct ab_buf json = { 0 };

	ab_buf_json(&json, text);
	return ab_json_edit_set(lesson->policy, strlen(lesson->policy), key, 1, json.data, ret,
				err) < 0
		       ? -1
		       : 0;
}

/* The text to write: what was learned, added to the profile if there is one. */
static int add_to_profile(const char *path, const struct ab_lesson *lesson,
			  struct ab_learn_saved *saved, char **ret, struct ab_error *err)
{
	ab_autofree char *old = NULL, *text = NULL;
	ab_autoscan struct ab_json_scan scan = { 0 };
	json_auto_t *profile = NULL, *more = json_loads(lesson->policy, 0, NULL);
	size_t len;

	if (ab_settings_file_read(path, path, true, &old, &len, err) < 0)
		return -1;
	if (!old)
		return add_description(lesson, ret, err);
	profile = json_loadb(old, len, JSON_REJECT_DUPLICATES, NULL);
	if (json_is_object(profile) && json_is_object(more)) {
		merge_object(profile, more);
		text = json_dumps(profile, JSON_INDENT(2));
	}
	if (!text && ab_jsonc_scan_parse(&scan, old, len) == 0) {
		ab_fail(err, AB_ECONFIG, 0,
			"%s has comments, which would be lost; it was not changed", path);
		return ab_hint(err, "save it under another name, which can extend this one");
	}
	if (!text)
		return ab_fail(err, AB_ECONFIG, 0, "%s is not a valid profile, and was not changed",
			       path);
	*ret = ab_printf("%s\n", text);
	saved->existed = true;
	ab_text_diff(old, len, *ret, strlen(*ret), &saved->diff);
	return 0;
}

void ab_learn_saved_fini(struct ab_learn_saved *saved)
{
	free(saved->path);
	ab_strv_fini_all(&saved->lacking, &saved->diff);
}

int ab_learn_save(const struct ab_policy_input *input, const char *name, bool add,
		  const struct ab_lesson *lesson, struct ab_learn_saved *ret, struct ab_error *err)
{
	struct ab_learned_from from = describe_start(lesson);
	struct ab_policy_input with = *input;
	ab_autofree char *path = find_path(input, name, err), *text = NULL;
	ab_autopolicy struct ab_policy *policy = NULL;

	if (!path)
		return -1;
	if (strcmp(lesson->own->profile, name) == 0)
		return ab_fail(err, AB_EUSAGE, 0,
			       "--save %s: the run used this profile, which cannot extend itself",
			       name);
	if (add_to_profile(path, lesson, ret, &text, err) < 0 ||
	    write_profile(path, text, add, err) < 0)
		return -1;
	with.profile = name;
	if (ab_policy_load(&with, &policy, NULL, err) < 0)
		return -1;
	ab_learned_check(lesson->learned, &from, policy, &ret->lacking);
	ret->path = ab_take(path);
	return 0;
}
