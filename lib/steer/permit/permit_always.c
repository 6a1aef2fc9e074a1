/*
 * --always: add an element to a list in the settings, and check whether that has an effect.
 * --undo: remove it again.
 */

#include "policy/edit/list_origin.h"
#include "policy/model/config.h"
#include "session/control/closed_hosts.h"
#include "steer/permit/permit_state.h"

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

/* The element of the list with this meaning, as the file spells it; free it. NULL: there is none. */
static char *find_element(const struct ab_permit_file *f, const char *key, const char *element)
{
	ab_autostrv struct ab_strv list = { 0 };

	ab_permit_file_list(f, key, &list);
	for (size_t i = 0; i < list.len; i++)
		if (means_element(&f->file.in, list.v[i], element))
			return ab_strdup(list.v[i]);
	return NULL;
}

static void note_origin(struct ab_permit_job *job, const struct ab_policy *policy, const char *key,
			bool list)
{
	bool project = false;
	ab_autofree char *from = list ? ab_policy_replaced_by(policy, key, &project)
				      : ab_policy_origin(policy, key, NULL);

	ab_strv_addf(&job->ret->notes, "it has no effect in %s: %s is set by %s there%s",
		     *policy->workspace ? policy->workspace : job->ask->input->cwd, key,
		     from ? from : "another layer", project ? "; use --project" : "");
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
		if (from && ab_origin_is_undoable(from))
			ab_strv_addf(&job->ret->notes, "to take that back: agentbox deny %s --undo",
				     one);
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
	struct ab_error err = { 0 };
	ab_autopolicy struct ab_policy *policy = ab_permit_policy(job, &err);

	if (!policy) {
		ab_strv_addf(&job->ret->notes, "%s", err.text);
		return;
	}
	if (ab_policy_held_back(policy, key, element))
		ab_strv_addf(&job->ret->notes,
			     "it has no effect: the managed settings do not permit it; ask the "
			     "administrator of this machine");
	else if (!is_in_force(policy, key, element))
		note_origin(job, policy, key, true);
	else if (strcmp(key, "network.allow") == 0 && element[0] != '@')
		note_denied(job, policy, element);
	if (strncmp(key, "network.", 8) == 0 && policy->net.mode != AB_NET_FILTERED)
		note_origin(job, policy, "network.mode", false);
	if (strcmp(key, "network.deny") == 0 && element[0] != '@' &&
	    ab_hosts_cover(policy->net.allow.v, policy->net.allow.len, element, false))
		ab_strv_add(&job->ret->notes, "it also stays in network.allow, which network.deny "
					      "overrides");
}

/* By the managed settings or a deny rule. */
static bool is_held_back(struct ab_permit_job *job, const char *key, const char *element)
{
	ab_autopolicy struct ab_policy *policy = ab_permit_policy(job, NULL);

	return policy &&
	       (ab_policy_held_back(policy, key, element) ||
		(strcmp(key, "network.allow") == 0 && element[0] != '@' &&
		 ab_hosts_cover(policy->net.deny.v, policy->net.deny.len, element, true)));
}

static void say_always(struct ab_permit_job *job, const struct ab_permit_file *f, const char *key,
		       const char *element)
{
	ab_autofree char *where = f->workspace ? ab_printf(" in %s", f->workspace) : ab_strdup("");

	if (is_held_back(job, key, element))
		ab_strv_addf(&job->ret->said, "%s was added to %s of %s", element, key,
			     f->file.path);
	else if (job->ret->path)
		ab_strv_addf(&job->ret->said,
			     "%s is writable in every run%s from now on; a running box cannot be "
			     "given more access",
			     element, where);
	else
		ab_strv_addf(&job->ret->said, "%s is %s in every run%s from now on", element,
			     job->ask->deny ? "denied" : "allowed", where);
}

/* 1: it was in that list, and is removed; 0: it was not. */
static int remove_from(struct ab_permit_job *job, struct ab_permit_file *f, const char *key,
		       const char *element, struct ab_error *err)
{
	ab_autofree char *spelled = find_element(f, key, element);
	int r;

	if (!spelled)
		return 0;
	r = ab_permit_file_change(job, f, key, spelled, true, err);
	if (r > 0)
		ab_strv_addf(&job->ret->said, "%s is no longer in %s of %s", element, key,
			     f->workspace ? f->file.path : "your settings");
	return r;
}

/* A deny rule and an allow rule for the same host would contradict each other. */
static int remove_opposite(struct ab_permit_job *job, struct ab_permit_file *f, const char *key,
			   const char *element, struct ab_error *err)
{
	if (strcmp(key, "network.allow") == 0)
		return remove_from(job, f, "network.deny", element, err);
	if (strcmp(key, "network.deny") == 0)
		return remove_from(job, f, "network.allow", element, err);
	return 0;
}

/* Does a project's file replace this list, so that only an entry there counts? */
static bool is_decided_by_project(struct ab_permit_job *job, const char *key)
{
	ab_autopolicy struct ab_policy *policy = ab_permit_policy(job, NULL);
	bool project = false;

	if (policy)
		free(ab_policy_replaced_by(policy, key, &project));
	return project;
}

/* The settings that were named, else those that decide. */
static int open_file(struct ab_permit_job *job, const char *key, struct ab_permit_file *ret,
		     struct ab_error *err)
{
	const struct ab_permit *ask = job->ask;
	ab_autofree char *workspace = NULL;

	if (!ask->project && (ask->user || !is_decided_by_project(job, key)))
		return ab_permit_file_user(job, ret, err);
	workspace = ab_permit_workspace(job);
	return ab_permit_file_project(job, workspace, ret, err);
}

int ab_permit_refuse_private(struct ab_permit_job *job, const char *text, struct ab_error *err)
{
	ab_autopolicy struct ab_policy *policy = NULL;
	struct ab_host_entry entry;

	if (job->ask->deny || ab_host_entry_parse(text, strlen(text), &entry, NULL) < 0)
		return 0;
	policy = ab_permit_policy(job, err);
	if (!policy)
		return -1;
	return ab_host_closed(policy, &entry) == AB_BASIS_RANGE ? ab_closed_range_error(&entry, err)
								: 0;
}

/* What stays allowed or denied by other settings. */
static void note_remains(struct ab_permit_job *job, const char *key, const char *element)
{
	ab_autopolicy struct ab_policy *policy = ab_permit_policy(job, NULL);
	ab_autofree char *from = policy ? ab_policy_origin(policy, key, element) : NULL;

	if (from)
		ab_strv_addf(&job->ret->notes, "it is still in %s of this folder's runs (%s)", key,
			     from);
}

int ab_permit_remove(struct ab_permit_job *job, const char *key, const char *element,
		     struct ab_error *err)
{
	ab_autofree char *workspace = ab_permit_workspace(job);
	struct ab_error unfit = { 0 };
	int r = 0;

	if (!job->ask->user) {
		ab_auto_permit_file struct ab_permit_file f = { 0 };

		if (ab_permit_file_project(job, workspace, &f, &unfit) == 0)
			r = remove_from(job, &f, key, element, err);
		else if (job->ask->project)
			r = (*err = unfit, -1);
	}
	if (r == 0 && !job->ask->project) {
		ab_auto_permit_file struct ab_permit_file f = { 0 };

		r = ab_permit_file_user(job, &f, err) < 0 ? -1
							  : remove_from(job, &f, key, element, err);
	}
	if (r > 0)
		note_remains(job, key, element);
	return r;
}

static int refuse_undo(struct ab_permit_job *job, const char *key, struct ab_error *err)
{
	ab_fail(err, AB_EREFUSED, 0, "there is nothing to take back: %s is not in %s of %s",
		job->ask->what, key,
		job->ask->project ? "the project's settings"
		: job->ask->user  ? "your settings"
				  : "your or the project's settings");
	return ab_hint(err, "agentbox config show tells you what is set, and where");
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
	if (path && !job->ask->user) {
		ab_autofree char *workspace = ab_permit_workspace(job);

		r = ab_permit_undo_protected(job, workspace, meant->path, err);
		if (r != 0)
			return r < 0 ? -1 : 0;
	}
	r = ab_permit_remove(job, key, path ? meant->path : meant->entry, err);
	return r == 0 ? refuse_undo(job, key, err) : r < 0 ? -1 : 0;
}

/* In a project's file, a path in the home folder is everybody's own. */
static char *spell_element(const struct ab_permit_file *f, const char *element)
{
	const char *home = f->file.in.home;

	if (f->workspace && element[0] == '/' && home && ab_path_within(element, home) &&
	    element[strlen(home)])
		return ab_printf("~%s", element + strlen(home));
	return ab_strdup(element);
}

int ab_permit_always(struct ab_permit_job *job, const char *key, const char *element,
		     struct ab_error *err)
{
	ab_auto_permit_file struct ab_permit_file f = { 0 };
	ab_autofree char *listed = NULL, *spelled = NULL;

	if (open_file(job, key, &f, err) < 0 || remove_opposite(job, &f, key, element, err) < 0)
		return -1;
	if (!job->ret->file)
		job->ret->file = ab_strdup(f.file.path);
	listed = find_element(&f, key, element);
	if (listed) {
		ab_strv_addf(&job->ret->said, "%s is already in %s of %s", element, key,
			     f.file.path);
	} else {
		spelled = spell_element(&f, element);
		if (ab_permit_file_change(job, &f, key, spelled, false, err) < 0)
			return -1;
		say_always(job, &f, key, element);
	}
	note_effect(job, key, element);
	return 0;
}
