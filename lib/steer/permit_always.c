/*
 * A word that is to hold always: one more element in a list of the user's own
 * settings, and a look at whether it has an effect.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "policy/below.h"
#include "policy/edit_file.h"
#include "policy/layers.h"
#include "policy/textdiff.h"
#include "steer/permit_state.h"

/* The two lists beside "network.deny", which only grows: a new one takes the
 * place of what is below it. */
static bool takes_place(const char *key)
{
	return strcmp(key, "network.deny") != 0;
}

static int user_file(const struct ab_policy_input *in, char **ret_path,
		     bool *ret_exists, struct ab_error *err)
{
	struct ab_policy_paths paths;

	if (ab_policy_paths(in, &paths, err) < 0)
		return -1;
	for (size_t i = 0; i < paths.len; i++)
		if (strcmp(paths.v[i].layer, "user") == 0) {
			*ret_path = ab_strdup(paths.v[i].path);
			*ret_exists = paths.v[i].exists;
		}
	ab_policy_paths_fini(&paths);
	if (*ret_path)
		return 0;
	ab_fail(err, AB_EUSAGE, 0, "there is no place for your settings");
	return ab_hint(err, "set HOME or AGENTBOX_CONFIG");
}

struct settings { /* the user's own, before the change */
	char *path, *text;
	size_t len;
	json_t *list; /* NULL: they do not have it */
};

static void settings_fini(struct settings *s)
{
	free(s->path);
	free(s->text);
	json_decref(s->list);
}
#define auto_settings __attribute__((cleanup(settings_fini)))

static int read_settings(const struct ab_policy_input *in, const char *keys[2],
			 struct settings *ret, struct ab_error *err)
{
	bool exists = false;
	json_t *file;

	if (user_file(in, &ret->path, &exists, err) < 0)
		return -1;
	if (!exists)
		return 0;
	if (ab_policy_read_file(in, ret->path, &ret->text, &ret->len, err) < 0)
		return -1;
	file = json_loadb(ret->text, ret->len, 0, NULL);
	ret->list = json_incref(
		json_object_get(json_object_get(file, keys[0]), keys[1]));
	json_decref(file);
	return 0;
}

static bool has_element(const json_t *list, const char *element)
{
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		const char *text = json_string_value(one);

		if (text && strcmp(text, element) == 0)
			return true;
	}
	return false;
}

/* What the first element of a new list brings along. */
static int bring_along(struct ab_permit_job *job, const char *key,
		       struct ab_strv *ret, struct ab_error *err)
{
	struct ab_policy_input in = ab_permit_input(job);
	struct ab_policy *policy;
	int result;

	if (ab_policy_load(&in, &policy, NULL, err) < 0)
		return -1;
	result = ab_policy_below(&in, policy->profile, key, ret, err);
	if (result == 0 && ret->len)
		ab_strv_addf(
			&job->ret->notes,
			"%s of your settings takes the place of that of "
			"profile %s, so what is in there was added too, and "
			"holds with every profile",
			key, policy->profile);
	ab_policy_free(policy);
	return result;
}

static int change(struct ab_permit_job *job, const struct settings *before,
		  const char *keys[2], const struct ab_strv *elements,
		  struct ab_error *err)
{
	ab_autostrv struct ab_strv each = { 0 };
	ab_autofree char *after = NULL;
	size_t len;

	for (size_t i = 0; i < elements->len; i++)
		if (ab_edit_file_add(job->ask->input, before->path, keys, 2,
				     elements->v[i], &each, err) < 0)
			return -1;
	if (ab_policy_read_file(job->ask->input, before->path, &after, &len,
				err) < 0)
		return -1;
	ab_text_diff(before->text ? before->text : "", before->len, after, len,
		     &job->ret->diff);
	return 0;
}

static void note_origin(struct ab_permit_job *job,
			const struct ab_policy *policy, const char *key)
{
	ab_autofree char *from = ab_policy_origin(policy, key, NULL);

	ab_strv_addf(&job->ret->notes,
		     "it has no effect in %s: %s there is that of %s",
		     *policy->workspace ? policy->workspace
					: job->ask->input->cwd,
		     key, from ? from : "another layer");
}

/* What stands in network.deny is stronger than what was added. */
static void note_denied(struct ab_permit_job *job,
			const struct ab_policy *policy, const char *entry)
{
	for (size_t i = 0; i < policy->net.deny.len; i++) {
		char *one = policy->net.deny.v[i];
		ab_autofree char *from = NULL;

		if (!ab_hosts_cover(&one, 1, entry, true))
			continue;
		from = ab_policy_origin(policy, "network.deny", one);
		ab_strv_addf(&job->ret->notes,
			     "it has no effect: %s is in network.deny (%s), "
			     "which is stronger",
			     one, from ? from : "another layer");
		return;
	}
}

static void note_effect(struct ab_permit_job *job, const char *key,
			const char *element)
{
	struct ab_policy_input in = ab_permit_input(job);
	struct ab_error err = { 0 };
	struct ab_policy *policy;
	bool holds = true;

	if (ab_policy_load(&in, &policy, NULL, &err) < 0) {
		ab_strv_addf(&job->ret->notes, "%s", err.text);
		return;
	}
	if (strcmp(key, "filesystem.write") == 0)
		holds = ab_strv_has(&policy->fs.write, element);
	else if (strcmp(key, "network.allow") == 0 && element[0] != '@')
		holds = ab_hosts_cover(policy->net.allow.v,
				       policy->net.allow.len, element, false);
	if (!holds)
		note_origin(job, policy, key);
	else if (strcmp(key, "network.allow") == 0 && element[0] != '@')
		note_denied(job, policy, element);
	if (strncmp(key, "network.", 8) == 0 &&
	    policy->net.mode != AB_NET_FILTERED)
		note_origin(job, policy, "network.mode");
	if (strcmp(key, "network.deny") == 0 && element[0] != '@' &&
	    ab_hosts_cover(policy->net.allow.v, policy->net.allow.len, element,
			   false))
		ab_strv_add(&job->ret->notes,
			    "it stays in network.allow, too: what is denied is "
			    "stronger");
	ab_policy_free(policy);
}

static void say_always(struct ab_permit_job *job, const char *element)
{
	static const char from_now[] = "in every run from now on";

	if (job->ret->path)
		ab_strv_addf(&job->ret->said,
			     "%s may be written %s; a box that is there "
			     "already can only become narrower",
			     element, from_now);
	else
		ab_strv_addf(&job->ret->said, "%s is %s %s", element,
			     job->ask->deny ? "denied" : "allowed", from_now);
}

int ab_permit_always(struct ab_permit_job *job, const char *key,
		     const char *element, struct ab_error *err)
{
	const char *dot = strchr(key, '.');
	ab_autofree char *group = ab_strndup(key, (size_t)(dot - key));
	const char *keys[2] = { group, dot + 1 };
	auto_settings struct settings before = { 0 };
	ab_autostrv struct ab_strv elements = { 0 };

	if (read_settings(job->ask->input, keys, &before, err) < 0)
		return -1;
	job->ret->file = ab_strdup(before.path);
	if (has_element(before.list, element)) {
		ab_strv_addf(&job->ret->said, "%s is in %s of %s already",
			     element, key, before.path);
		note_effect(job, key, element);
		return 0;
	}
	if (!before.list && takes_place(key) &&
	    bring_along(job, key, &elements, err) < 0)
		return -1;
	ab_strv_add(&elements, element);
	if (change(job, &before, keys, &elements, err) < 0)
		return -1;
	say_always(job, element);
	note_effect(job, key, element);
	return 0;
}
