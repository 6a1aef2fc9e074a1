/*
 * --always: add an element to a list in the user's settings, and check whether
 * that has an effect. --undo: remove it again.
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
#include "session/control/closed_hosts.h"
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

/* The element of the list with this meaning, as the file spells it; or NULL. */
static const char *find_element(const json_t *list, const char *element)
{
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		const char *text = json_string_value(one);
		char canonical[AB_HOST_ENTRY_TEXT];
		struct ab_host_entry entry;

		if (text && strcmp(text, element) == 0)
			return text;
		if (!text || ab_host_entry_parse(text, strlen(text), &entry, NULL) < 0)
			continue;
		ab_host_entry_format(&entry, canonical);
		if (strcmp(canonical, element) == 0)
			return text;
	}
	return NULL;
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

/* The same for a path. */
static const char *find_path(const struct ab_permit_job *job, const json_t *list, const char *path)
{
	const struct ab_policy_input *in = job->ask->input;
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		const char *text = json_string_value(one);
		ab_autofree char *full = text ? ab_path_resolve(text, in->cwd, in->home) : NULL;

		if (full && strcmp(full, path) == 0)
			return text;
	}
	return NULL;
}

static void split_key(const char *key, char **group, const char *ret[2])
{
	const char *dot = strchr(key, '.');

	*group = ab_strndup(key, (size_t)(dot - key));
	ret[0] = *group;
	ret[1] = dot + 1;
}

/* 1: it was in that list of the user's settings, and is removed; 0: it was not. */
static int remove_element(struct ab_permit_job *job, const char *key, const char *element,
			  struct ab_error *err)
{
	auto_settings struct settings before = { 0 };
	ab_autofree char *group = NULL;
	const char *keys[2], *spelled;

	split_key(key, &group, keys);
	if (read_settings(job->ask->input, keys, &before, err) < 0)
		return -1;
	if (!job->ret->file)
		job->ret->file = ab_strdup(before.path);
	spelled = element[0] == '/' ? find_path(job, before.list, element)
				    : find_element(before.list, element);
	if (!spelled)
		return 0;
	if (ab_edit_file_remove(job->ask->input, before.path, keys, 2, spelled, &job->ret->diff,
				err) < 0)
		return -1;
	ab_strv_addf(&job->ret->said, "%s is no longer in %s of your settings", element, key);
	return 1;
}

/* A deny rule and an allow rule for the same host would contradict each other. */
static int remove_opposite(struct ab_permit_job *job, const char *key, const char *element,
			   struct ab_error *err)
{
	if (strcmp(key, "network.allow") == 0)
		return remove_element(job, "network.deny", element, err);
	if (strcmp(key, "network.deny") == 0)
		return remove_element(job, "network.allow", element, err);
	return 0;
}

int ab_permit_refuse_private(struct ab_permit_job *job, const char *text, struct ab_error *err)
{
	struct ab_policy_input in = ab_permit_input(job);
	struct ab_host_entry entry;
	struct ab_policy *policy;
	enum ab_closed closed;

	if (job->ask->deny || ab_host_entry_parse(text, strlen(text), &entry, NULL) < 0)
		return 0;
	if (ab_policy_load(&in, &policy, NULL, err) < 0)
		return -1;
	closed = ab_host_closed(policy, &entry);
	ab_policy_free(policy);
	return closed == AB_CLOSED_RANGE ? ab_closed_range_error(&entry, err) : 0;
}

int ab_permit_undo(struct ab_permit_job *job, const struct ab_meant *meant, struct ab_error *err)
{
	bool path = meant->kind == AB_MEANT_PATH;
	const char *key = path		   ? "filesystem.write"
			  : job->ask->deny ? "network.deny"
					   : "network.allow";
	int r;

	if (meant->kind == AB_MEANT_DENIAL)
		return ab_fail(err, AB_EUSAGE, 0, "--undo needs a host or a path, not an id");
	r = remove_element(job, key, path ? meant->path : meant->entry, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	ab_fail(err, AB_EREFUSED, 0, "%s is not in %s of your settings (%s)", job->ask->what, key,
		job->ret->file);
	return ab_hint(err, "agentbox config show tells you where it is set");
}

int ab_permit_always(struct ab_permit_job *job, const char *key, const char *element,
		     struct ab_error *err)
{
	auto_settings struct settings before = { 0 };
	ab_autostrv struct ab_strv first = { 0 };
	ab_autofree char *group = NULL;
	const char *keys[2];

	split_key(key, &group, keys);
	if (remove_opposite(job, key, element, err) < 0 ||
	    read_settings(job->ask->input, keys, &before, err) < 0)
		return -1;
	if (!job->ret->file)
		job->ret->file = ab_strdup(before.path);
	if (find_element(before.list, element)) {
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
