/*
 * --always: add an element to a list in the settings, and check whether that has an effect.
 * --undo: remove it again.
 */

#include "agents/obeyed.h"
#include "policy/edit/json_edit.h"
#include "policy/edit/list_origin.h"
#include "policy/edit/project_file.h"
#include "policy/model/config.h"
#include "policy/read/settings_file.h"
#include "session/control/closed_hosts.h"
#include "state/file_claim.h"
#include "steer/permit/permit_state.h"
#include "workspace/tree/names.h"

/* The settings file that an answer for always goes to: the user's, or the project's, which must be
 * trusted, or new. */
struct settings_file {
	struct ab_project_file file;
	char *workspace; /* of the project; NULL: the user's file */
};

static void close_file(struct settings_file *f)
{
	ab_project_file_fini(&f->file);
	free(f->workspace);
}

static int open_user_file(struct ab_permit_job *job, struct settings_file *ret,
			  struct ab_error *err)
{
	struct ab_project_file *f = &ret->file;

	f->in = *job->ask->input;
	f->path = ab_policy_user_file(&f->in, err);
	if (!f->path)
		return -1;
	return ab_settings_file_read(f->path, f->path, false, &f->text, &f->len, err) < 0 ? -1 : 0;
}

/* Fails if the file exists and is not trusted. */
static int open_project_file(struct ab_permit_job *job, const char *workspace,
			     struct settings_file *ret, struct ab_error *err)
{
	ret->workspace = ab_strdup(workspace);
	return ab_project_file_open(job->ask->input, ret->workspace, &ret->file, err);
}

/* The text of the user's file is not needed again. */
static int change_user_file(const struct ab_project_file *f, const struct ab_list_change *c,
			    struct ab_strv *diff, struct ab_error *err)
{
	size_t before = diff->len;

	if (ab_edit_file_change(&f->in, f->path, c, diff, err) < 0)
		return -1;
	return diff->len > before;
}

/* A run that is active would take a new file for its own, and move it to quarantine. */
static int change_project_file(struct ab_permit_job *job, struct ab_project_file *f,
			       const struct ab_list_change *c, struct ab_error *err)
{
	ab_auto(ab_file_claim_release) struct ab_file_claim claim = { 0 };

	if (ab_file_claim_take(job->ask->input, f->path, &claim, err) < 0) {
		if (err->code == AB_EREFUSED)
			ab_hint(err, "repeat this when the run has ended, or answer [p]roject when "
				     "it asks");
		return -1;
	}
	return ab_project_file_change(f, c, &job->ret->diff, err);
}

/* The elements of a list in the file, by its key: "network.allow". */
static void list_elements(const struct settings_file *f, const char *key, struct ab_strv *ret)
{
	if (f->file.text)
		ab_json_edit_list(f->file.text, f->file.len, key, ret);
}

/* 1: changed, and a project's file is trusted; 0: there was nothing to change. */
static int change_file(struct ab_permit_job *job, struct settings_file *f, const char *key,
		       const char *entry, bool remove, struct ab_error *err)
{
	struct ab_list_change c = { .key = key, .value = entry, .remove = remove };

	if (!job->ret->file)
		job->ret->file = ab_strdup(f->file.path);
	return f->workspace ? change_project_file(job, &f->file, &c, err)
			    : change_user_file(&f->file, &c, &job->ret->diff, err);
}

/*
 * A protected name (".envrc"): `allow PATH --always` takes it out of filesystem.denyWrite in the
 * project's own settings, so that it counts for this project and no other.
 */

static const char protected_key[] = "filesystem.denyWrite";

/* Agentbox's own files, and what was protected as a path, stay protected. */
static bool is_listed(const struct ab_strv *deny_write, const char *path)
{
	for (size_t i = 0; i < deny_write->len; i++)
		if (deny_write->v[i][0] == '/' && ab_path_within(path, deny_write->v[i]))
			return true;
	return false;
}

/* The entry of denyWrite that protects a path of the workspace by its name, or NULL. */
static char *find_entry(struct ab_permit_job *job, const char *workspace, const char *path,
			struct ab_error *err)
{
	struct ab_policy_input in = ab_permit_input(job);
	ab_autopolicy struct ab_policy *policy = NULL;
	const char *entry;
	char *found = NULL;
	bool holds;

	in.workspace = workspace;
	if (!ab_path_within(path, workspace) || ab_policy_load(&in, &policy, NULL, err) < 0)
		return NULL;
	entry = ab_names_opened(&policy->fs.deny_write, path, &holds);
	if (entry && !holds && !is_listed(&policy->fs.deny_write, path))
		found = ab_strdup(entry);
	return found;
}

/* Every command of git obeys these: no run should be able to change them from now on. */
static bool is_for_one_run(const char *entry)
{
	return strncmp(entry, ".git/", 5) == 0;
}

static int refuse_once(const struct ab_permit_job *job, const char *path, const char *entry,
		       struct ab_error *err)
{
	ab_autofree char *back = ab_printf("!%s", entry),
			 *flag = ab_permit_flag("--deny-write", back),
			 *again = ab_permit_flag("agentbox allow", job->ask->what);

	ab_fail(err, AB_EREFUSED, 0, "%s cannot be allowed: %s is a protected name, %s", path,
		entry, ab_obeyed_by(entry));
	if (is_for_one_run(entry))
		return ab_hint(err, "in a new run, if you are sure:  agentbox run %s -- ...", flag);
	return ab_hint(err,
		       "in a new run, if you are sure:  agentbox run %s -- ...\n"
		       "in every run in this project:   %s --always",
		       flag, again);
}

int ab_permit_protected(struct ab_permit_job *job, const char *workspace, const char *path,
			struct ab_error *err)
{
	struct ab_error none = { 0 };
	ab_autofree char *entry = find_entry(job, workspace, path, &none), *back = NULL;
	ab_auto(close_file) struct settings_file f = { 0 };

	if (!entry)
		return 0;
	if (!job->ask->always || is_for_one_run(entry))
		return refuse_once(job, path, entry, err);
	back = ab_printf("!%s", entry);
	if (open_project_file(job, workspace, &f, err) < 0 ||
	    change_file(job, &f, protected_key, back, false, err) < 0)
		return -1;
	job->ret->path = ab_strdup(path);
	job->ret->workspace = ab_strdup(workspace);
	ab_strv_addf(&job->ret->said, "runs in %s can create and change %s from now on", workspace,
		     entry);
	ab_strv_addf(&job->ret->notes, "%s: look at it after a run", ab_obeyed_by(entry));
	job->ret->command = ab_permit_again(&job->again, "");
	return 1;
}

/* "!.envrc", as the project's file spells it, that takes back the protection of this path. */
static char *find_exception(const struct settings_file *f, const char *path)
{
	ab_autostrv struct ab_strv list = { 0 };

	list_elements(f, protected_key, &list);
	for (size_t i = 0; i < list.len; i++) {
		const char *text = list.v[i];
		ab_autostrv struct ab_strv name = { 0 };
		bool holds;

		if (text[0] != '!' || text[1] == '/')
			continue;
		ab_strv_add(&name, text + 1);
		if (ab_names_opened(&name, path, &holds) && !holds)
			return ab_strdup(text);
	}
	return NULL;
}

/* 0: the path is not protected, so it may be in other settings. */
static int refuse_protection(struct ab_permit_job *job, const char *workspace, const char *path,
			     struct ab_error *err)
{
	struct ab_error none = { 0 };
	ab_autofree char *entry = find_entry(job, workspace, path, &none);

	if (!entry)
		return 0;
	ab_fail(err, AB_EREFUSED, 0, "there is nothing to take back: %s is protected in %s", entry,
		workspace);
	return ab_hint(err, "exceptions are in filesystem.denyWrite: agentbox config show");
}

/* Protect it again. 1: done; 0: the project does not allow it. */
static int undo_protected(struct ab_permit_job *job, const char *workspace, const char *path,
			  struct ab_error *err)
{
	ab_auto(close_file) struct settings_file f = { 0 };
	ab_autofree char *entry = NULL;
	struct ab_error none = { 0 };
	int result;

	/* A file that is not trusted takes nothing back. */
	if (!ab_path_within(path, workspace) || open_project_file(job, workspace, &f, &none) < 0)
		return 0;
	entry = find_exception(&f, path);
	if (!entry)
		return refuse_protection(job, workspace, path, err);
	result = change_file(job, &f, protected_key, entry, true, err);
	if (result > 0)
		ab_strv_addf(&job->ret->said, "%s is protected again in %s", entry + 1, workspace);
	return result;
}

/*
 * Lists in the settings.
 */

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
static char *find_element(const struct settings_file *f, const char *key, const char *element)
{
	ab_autostrv struct ab_strv list = { 0 };

	list_elements(f, key, &list);
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

static void say_always(struct ab_permit_job *job, const struct settings_file *f, const char *key,
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
static int remove_from(struct ab_permit_job *job, struct settings_file *f, const char *key,
		       const char *element, struct ab_error *err)
{
	ab_autofree char *spelled = find_element(f, key, element);
	int r;

	if (!spelled)
		return 0;
	r = change_file(job, f, key, spelled, true, err);
	if (r > 0)
		ab_strv_addf(&job->ret->said, "%s is no longer in %s of %s", element, key,
			     f->workspace ? f->file.path : "your settings");
	return r;
}

/* A deny rule and an allow rule for the same host would contradict each other. */
static int remove_opposite(struct ab_permit_job *job, struct settings_file *f, const char *key,
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
static int open_file(struct ab_permit_job *job, const char *key, struct settings_file *ret,
		     struct ab_error *err)
{
	const struct ab_permit *ask = job->ask;
	ab_autofree char *workspace = NULL;

	if (!ask->project && (ask->user || !is_decided_by_project(job, key)))
		return open_user_file(job, ret, err);
	workspace = ab_permit_workspace(job);
	return open_project_file(job, workspace, ret, err);
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

int ab_permit_remove(struct ab_permit_job *job, const char *key, const char *element,
		     struct ab_error *err)
{
	ab_autofree char *workspace = ab_permit_workspace(job);
	struct ab_error unfit = { 0 };
	int r = 0;

	if (!job->ask->user) {
		ab_auto(close_file) struct settings_file f = { 0 };

		if (open_project_file(job, workspace, &f, &unfit) == 0)
			r = remove_from(job, &f, key, element, err);
		else if (job->ask->project)
			r = (*err = unfit, -1);
	}
	if (r == 0 && !job->ask->project) {
		ab_auto(close_file) struct settings_file f = { 0 };

		r = open_user_file(job, &f, err) < 0 ? -1 : remove_from(job, &f, key, element, err);
	}
	if (r > 0) {
		/* What stays allowed or denied by other settings. */
		ab_autopolicy struct ab_policy *policy = ab_permit_policy(job, NULL);
		ab_autofree char *from = policy ? ab_policy_origin(policy, key, element) : NULL;

		if (from)
			ab_strv_addf(&job->ret->notes,
				     "it is still in %s of this folder's runs (%s)", key, from);
	}
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

		r = undo_protected(job, workspace, meant->path, err);
		if (r != 0)
			return r < 0 ? -1 : 0;
	}
	r = ab_permit_remove(job, key, path ? meant->path : meant->entry, err);
	return r == 0 ? refuse_undo(job, key, err) : r < 0 ? -1 : 0;
}

/* In a project's file, a path in the home folder is everybody's own. */
static char *spell_element(const struct settings_file *f, const char *element)
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
	ab_auto(close_file) struct settings_file f = { 0 };
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
		if (change_file(job, &f, key, spelled, false, err) < 0)
			return -1;
		say_always(job, &f, key, element);
	}
	note_effect(job, key, element);
	return 0;
}
