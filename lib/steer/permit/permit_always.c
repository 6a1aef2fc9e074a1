/*
 * --always: add an element to a list in the user's settings, and check whether
 * that has an effect.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/path.h"
#include "policy/edit/edit_file.h"
#include "policy/edit/inherited_lists.h"
#include "policy/layers/layers.h"
#include "steer/permit/permit_state.h"

/* A list here replaces those of earlier layers, except for network.deny, which
 * adds to them. */
static bool replaces_list(const char *key)
{
	return strcmp(key, "network.deny") != 0;
}

struct settings { /* of the user, before the change */
	char *path;
	json_t *list; /* or NULL */
};

static void settings_fini(struct settings *s)
{
	free(s->path);
	json_decref(s->list);
}
#define auto_settings __attribute__((cleanup(settings_fini)))

static int read_settings(const struct ab_policy_input *in, const char *keys[2],
			 struct settings *ret, struct ab_error *err)
{
	ab_autofree char *text = NULL;
	size_t len;
	json_t *file;

	ret->path = ab_policy_user_file(in, err);
	if (!ret->path)
		return -1;
	if (access(ret->path, F_OK) < 0)
		return 0;
	if (ab_policy_read_file(in, ret->path, &text, &len, err) < 0)
		return -1;
	file = json_loadb(text, len, 0, NULL);
	ret->list = json_incref(json_object_get(json_object_get(file, keys[0]), keys[1]));
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

/* A new list replaces the one in force, so start with a copy of that. */
static int copy_inherited(struct ab_permit_job *job, const char *key, struct ab_strv *ret,
			  struct ab_error *err)
{
	struct ab_policy_input in = ab_permit_input(job);
	struct ab_policy *policy;
	int result;

	if (ab_policy_load(&in, &policy, NULL, err) < 0)
		return -1;
	result = ab_policy_below(&in, policy->profile, key, ret, err);
	if (result == 0 && ret->len)
		ab_strv_addf(&job->ret->notes,
			     "Your own %s replaces the list of profile %s. Its entries were copied "
			     "into your settings and now apply to every profile.",
			     key, policy->profile);
	ab_policy_free(policy);
	return result;
}

static void note_origin(struct ab_permit_job *job, const struct ab_policy *policy, const char *key)
{
	ab_autofree char *from = ab_policy_origin(policy, key, NULL);

	ab_strv_addf(&job->ret->notes, "it has no effect in %s: %s is set by %s there",
		     *policy->workspace ? policy->workspace : job->ask->input->cwd, key,
		     from ? from : "another layer");
}

/* An entry of network.deny overrides the new entry of network.allow. */
static void note_denied(struct ab_permit_job *job, const struct ab_policy *policy,
			const char *entry)
{
	for (size_t i = 0; i < policy->net.deny.len; i++) {
		char *one = policy->net.deny.v[i];
		ab_autofree char *from = NULL;

		if (!ab_hosts_cover(&one, 1, entry, true))
			continue;
		from = ab_policy_origin(policy, "network.deny", one);
		ab_strv_addf(&job->ret->notes,
			     "it has no effect: %s is in network.deny (%s), which overrides "
			     "network.allow",
			     one, from ? from : "another layer");
		return;
	}
}

static void note_effect(struct ab_permit_job *job, const char *key, const char *element)
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
		holds = ab_hosts_cover(policy->net.allow.v, policy->net.allow.len, element, false);
	if (!holds)
		note_origin(job, policy, key);
	else if (strcmp(key, "network.allow") == 0 && element[0] != '@')
		note_denied(job, policy, element);
	if (strncmp(key, "network.", 8) == 0 && policy->net.mode != AB_NET_FILTERED)
		note_origin(job, policy, "network.mode");
	if (strcmp(key, "network.deny") == 0 && element[0] != '@' &&
	    ab_hosts_cover(policy->net.allow.v, policy->net.allow.len, element, false))
		ab_strv_add(&job->ret->notes, "it also stays in network.allow, which network.deny "
					      "overrides");
	ab_policy_free(policy);
}

static void say_always(struct ab_permit_job *job, const char *element)
{
	static const char from_now[] = "in every run from now on";

	if (job->ret->path)
		ab_strv_addf(&job->ret->said,
			     "%s is writable %s; a running box cannot be given more access",
			     element, from_now);
	else
		ab_strv_addf(&job->ret->said, "%s is %s %s", element,
			     job->ask->deny ? "denied" : "allowed", from_now);
}

int ab_permit_always(struct ab_permit_job *job, const char *key, const char *element,
		     struct ab_error *err)
{
	const char *dot = strchr(key, '.');
	ab_autofree char *group = ab_strndup(key, (size_t)(dot - key));
	const char *keys[2] = { group, dot + 1 };
	auto_settings struct settings before = { 0 };
	ab_autostrv struct ab_strv first = { 0 };

	if (read_settings(job->ask->input, keys, &before, err) < 0)
		return -1;
	job->ret->file = ab_strdup(before.path);
	if (has_element(before.list, element)) {
		ab_strv_addf(&job->ret->said, "%s is already in %s of %s", element, key,
			     before.path);
		note_effect(job, key, element);
		return 0;
	}
	if (!before.list && replaces_list(key) && copy_inherited(job, key, &first, err) < 0)
		return -1;
	if (ab_edit_file_add(job->ask->input, before.path, keys, 2, &first, element,
			     &job->ret->diff, err) < 0)
		return -1;
	say_always(job, element);
	note_effect(job, key, element);
	return 0;
}
