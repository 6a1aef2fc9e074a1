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
#include "policy/edit/list_origin.h"
#include "policy/layers/layers.h"
#include "session/control/closed_hosts.h"
#include "steer/permit/permit_state.h"

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

/* It may be written { "only": [...] }. */
static json_t *find_list(const json_t *file, const char *keys[2])
{
	json_t *value = json_object_get(json_object_get(file, keys[0]), keys[1]);
	json_t *only = json_object_get(value, "only");

	return only ? only : value;
}

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
	ret->list = json_incref(find_list(file, keys));
	json_decref(file);
	return 0;
}

/* Does this entry of a file mean the element? It may be spelled differently. */
static bool means_element(const struct ab_policy_input *in, const char *text, const char *element)
{
	ab_autofree char *full =
		element[0] == '/' ? ab_path_resolve(text, in->cwd, in->home) : NULL;
	char canonical[AB_HOST_ENTRY_TEXT];
	struct ab_host_entry host;

	if (strcmp(full ? full : text, element) == 0)
		return true;
	if (full || ab_host_entry_parse(text, strlen(text), &host, NULL) < 0)
		return false;
	ab_host_entry_format(&host, canonical);
	return strcmp(canonical, element) == 0;
}

/* The element of the list with this meaning, as the file spells it; or NULL. */
static const char *find_element(const struct ab_policy_input *in, const json_t *list,
				const char *element)
{
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		const char *text = json_string_value(one);

		if (text && means_element(in, text, element))
			return text;
	}
	return NULL;
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

static bool is_in_force(const struct ab_policy *policy, const char *key, const char *element)
{
	if (strcmp(key, "filesystem.write") == 0)
		return ab_strv_has(&policy->fs.write, element);
	if (strcmp(key, "network.allow") == 0 && element[0] != '@')
		return ab_hosts_cover(policy->net.allow.v, policy->net.allow.len, element, false);
	return true;
}

static void note_effect(struct ab_permit_job *job, const char *key, const char *element)
{
	struct ab_policy_input in = ab_permit_input(job);
	struct ab_error err = { 0 };
	struct ab_policy *policy;

	if (ab_policy_load(&in, &policy, NULL, &err) < 0) {
		ab_strv_addf(&job->ret->notes, "%s", err.text);
		return;
	}
	if (!is_in_force(policy, key, element))
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

static void split_key(const char *key, char **group, const char *ret[2])
{
	const char *dot = strchr(key, '.');

	*group = ab_strndup(key, (size_t)(dot - key));
	ret[0] = *group;
	ret[1] = dot + 1;
}

/* 1: it was in that list of the user's settings, and is removed; 0: it was not. */
static int remove_from(struct ab_permit_job *job, const char *key, const char *element,
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
	spelled = find_element(job->ask->input, before.list, element);
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
		return remove_from(job, "network.deny", element, err);
	if (strcmp(key, "network.deny") == 0)
		return remove_from(job, "network.allow", element, err);
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
	if (path) {
		ab_autofree char *workspace = ab_permit_workspace(job);

		r = ab_permit_undo_protected(job, workspace, meant->path, err);
		if (r != 0)
			return r < 0 ? -1 : 0;
	}
	r = remove_from(job, key, path ? meant->path : meant->entry, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	ab_fail(err, AB_EREFUSED, 0,
		"there is nothing to take back: %s is not in %s of your settings (%s)",
		job->ask->what, key, job->ret->file);
	return ab_hint(err, "agentbox config show tells you what is set, and where");
}

/* 1: the user's settings have it already; 0: they do not. */
static int is_listed(struct ab_permit_job *job, const char *key, const char *element,
		     struct ab_error *err)
{
	auto_settings struct settings before = { 0 };
	ab_autofree char *group = NULL;
	const char *keys[2];

	split_key(key, &group, keys);
	if (read_settings(job->ask->input, keys, &before, err) < 0)
		return -1;
	if (!job->ret->file)
		job->ret->file = ab_strdup(before.path);
	if (!find_element(job->ask->input, before.list, element))
		return 0;
	ab_strv_addf(&job->ret->said, "%s is already in %s of %s", element, key, before.path);
	return 1;
}

int ab_permit_always(struct ab_permit_job *job, const char *key, const char *element,
		     struct ab_error *err)
{
	ab_autofree char *group = NULL;
	const char *keys[2];
	int listed;

	split_key(key, &group, keys);
	if (remove_opposite(job, key, element, err) < 0)
		return -1;
	listed = is_listed(job, key, element, err);
	if (listed < 0)
		return -1;
	if (!listed) {
		if (ab_edit_file_add(job->ask->input, job->ret->file, keys, 2, element,
				     &job->ret->diff, err) < 0)
			return -1;
		say_always(job, element);
	}
	note_effect(job, key, element);
	return 0;
}
