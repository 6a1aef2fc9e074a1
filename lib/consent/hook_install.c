/*
 * Adds the hook to an agent's settings, finds it there, and removes it. The file is
 * read, changed in memory and shown, and only then replaced in one step.
 * Everything else in it stays, in its order.
 */
#include "consent/hook_install.h"

#include "base/system/new_file.h"
#include "base/text/text_diff.h"
#include "consent/agent_hook.h"
#include "consent/hook_dialects.h"
#include "policy/layers/layers.h"
#include "shell/syntax/quote.h"
#include "state/file_claim.h"

enum { SETTINGS_MAX = 4 << 20 };

/* "" if the file does not exist. */
int ab_hook_read_settings(const char *path, char **ret, struct ab_error *err)
{
	size_t len;
	int r = ab_read_file(AT_FDCWD, path, 0, SETTINGS_MAX, ret, &len);

	if (r < 0 && errno == ENOENT) {
		*ret = ab_strdup("");
		return 0;
	}
	if (r < 0 && errno == EINVAL)
		return ab_fail(err, AB_ECONFIG, 0, "%s is not a regular file", path);
	if (r < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "%s", path);
	if (strlen(*ret) == len)
		return 0;
	free(*ret);
	*ret = NULL;
	return ab_fail(err, AB_ECONFIG, 0, "%s is not a text file", path);
}

/* The command that the agent executes. */
static char *make_hook_command(const struct ab_hook_request *r)
{
	ab_autofree char *own = realpath("/proc/self/exe", NULL);
	struct ab_buf b = { 0 };

	ab_quote(&b, own ? own : "agentbox");
	ab_buf_printf(&b, " hook %s", ab_hook_find(r->agent)->agent);
	if (r->no_box)
		ab_buf_puts(&b, " --no-box");
	if (r->approver) {
		ab_buf_puts(&b, " --approver ");
		ab_quote(&b, r->approver);
	}
	for (size_t i = 0; i < r->noptions; i++) {
		ab_buf_puts(&b, " ");
		ab_quote(&b, r->options[i]);
	}
	return ab_buf_take(&b);
}

/* "hooks" and its lists may be missing, but must have the shape we know. */
static int check_shape(json_t *settings, const char *path, struct ab_error *err)
{
	json_t *hooks = json_object_get(settings, "hooks");
	const char *event;
	json_t *list;

	if (!json_is_object(settings))
		return ab_fail(err, AB_ECONFIG, 0, "%s is not a JSON object", path);
	if (!hooks)
		return 0;
	if (!json_is_object(hooks))
		return ab_fail(err, AB_ECONFIG, 0, "%s: \"hooks\" is not an object", path);
	json_object_foreach(hooks, event, list) if (!json_is_array(list)) return ab_fail(
		err, AB_ECONFIG, 0, "%s: \"hooks.%s\" is not a list", path, event);
	return 0;
}

/* The member `name` of an object, created if missing. */
static json_t *get_or_add(json_t *object, const char *name, json_t *(*make)(void))
{
	json_t *found = json_object_get(object, name);

	if (found)
		return found;
	found = make();
	json_object_set_new(object, name, found);
	return found;
}

/* "PATH/agentbox hook AGENT OPTIONS...", as make_hook_command() writes it or its user by hand. */
static bool is_own_command(const struct ab_hook_dialect *d, const char *command)
{
	static const char program[] = "agentbox";
	const char *names[] = { d->agent, d->also };

	for (size_t i = 0; i < AB_COUNT(names); i++) {
		ab_autofree char *words = ab_printf(" hook %s", names[i] ? names[i] : d->agent);
		const char *at = strstr(command, words), *end;

		if (!at || (at[strlen(words)] && at[strlen(words)] != ' '))
			continue;
		end = at > command && (at[-1] == '\'' || at[-1] == '"') ? at - 1 : at;
		if ((size_t)(end - command) >= strlen(program) &&
		    strncmp(end - strlen(program), program, strlen(program)) == 0)
			return true;
	}
	return false;
}

static const char *get_command(const struct ab_hook_dialect *d, json_t *hook)
{
	return json_string_value(
		json_object_get(hook, d->shape == AB_HOOK_SHAPE_TYPED ? "bash" : "command"));
}

static bool is_own_hook(const struct ab_hook_dialect *d, json_t *hook)
{
	const char *command = get_command(d, hook);

	return command && is_own_command(d, command);
}

/* The hooks of one entry of an event's list: the entry itself, or the list in it. */
static json_t *get_inner(const struct ab_hook_dialect *d, json_t *entry)
{
	return d->shape == AB_HOOK_SHAPE_MATCHED ? json_object_get(entry, "hooks") : NULL;
}

static void remove_from_entry(const struct ab_hook_dialect *d, json_t *inner)
{
	for (size_t i = json_array_size(inner); i-- > 0;)
		if (is_own_hook(d, json_array_get(inner, i)))
			json_array_remove(inner, i);
}

/* Removes every agentbox hook, and what it leaves empty. */
static void remove_hooks(const struct ab_hook_dialect *d, json_t *settings)
{
	json_t *hooks = json_object_get(settings, "hooks");
	bool removed = false;
	const char *event;
	json_t *list;
	void *next;

	json_object_foreach_safe(hooks, next, event, list)
	{
		size_t before = json_array_size(list);

		for (size_t i = before; i-- > 0;) {
			json_t *entry = json_array_get(list, i), *inner = get_inner(d, entry);
			size_t had = json_array_size(inner);

			remove_from_entry(d, inner);
			if (inner ? had && json_array_size(inner) == 0 : is_own_hook(d, entry))
				json_array_remove(list, i);
		}
		if (before && json_array_size(list) == 0) {
			json_object_del(hooks, event);
			removed = true;
		}
	}
	if (removed && json_object_size(hooks) == 0)
		json_object_del(settings, "hooks");
}

static json_t *make_entry(const struct ab_hook_dialect *d, const char *command)
{
	switch (d->shape) {
	case AB_HOOK_SHAPE_MATCHED:
		return json_pack("{s:s, s:[{s:s, s:s}]}", "matcher", "*", "hooks", "type",
				 "command", "command", command);
	case AB_HOOK_SHAPE_TYPED:
		return json_pack("{s:s, s:s}", "type", "command", "bash", command);
	case AB_HOOK_SHAPE_LISTED:
		break;
	}
	return json_pack("{s:s}", "command", command);
}

static bool has_entry(json_t *list, const json_t *entry)
{
	json_t *other;
	size_t i;

	json_array_foreach(list, i, other)
	{
		if (json_equal(other, entry))
			return true;
	}
	return false;
}

static bool is_installed(const struct ab_hook_dialect *d, json_t *settings, const json_t *entry)
{
	json_t *hooks = json_object_get(settings, "hooks");

	for (size_t i = 0; i < AB_COUNT(d->installed) && d->installed[i]; i++)
		if (!has_entry(json_object_get(hooks, d->installed[i]), entry))
			return false;
	return true;
}

/* An agentbox hook with other options is replaced. */
static void add_hooks(const struct ab_hook_dialect *d, json_t *settings, const char *command)
{
	json_auto_t *entry = make_entry(d, command);
	json_t *hooks;

	if (is_installed(d, settings, entry))
		return;
	remove_hooks(d, settings);
	if (d->versioned && !json_object_get(settings, "version"))
		json_object_set_new(settings, "version", json_integer(1));
	hooks = get_or_add(settings, "hooks", json_object);
	for (size_t i = 0; i < AB_COUNT(d->installed) && d->installed[i]; i++)
		json_array_append(get_or_add(hooks, d->installed[i], json_array), entry);
}

/* *ret is the caller's, also after a failure. */
static int parse_settings(const char *path, const char *text, json_t **ret, struct ab_error *err)
{
	json_error_t why;

	*ret = json_loads(text[0] ? text : "{}", JSON_REJECT_DUPLICATES, &why);
	if (!*ret)
		return ab_fail(err, AB_ECONFIG, 0, "%s:%d: %s", path, why.line, why.text);
	return check_shape(*ret, path, err);
}

static int change_settings(const struct ab_hook_dialect *d, const struct ab_hook_request *r,
			   bool remove, struct ab_hook_plan *plan, struct ab_error *err)
{
	ab_autofree char *command = make_hook_command(r);
	json_auto_t *settings = NULL, *old = NULL;

	if (parse_settings(plan->path, plan->before, &settings, err) < 0)
		return -1;
	old = json_deep_copy(settings);
	if (remove)
		remove_hooks(d, settings);
	else
		add_hooks(d, settings, command);
	if (!json_equal(old, settings)) {
		ab_autofree char *body = json_dumps(settings, JSON_INDENT(2));
		/* Nothing but what `hook install` puts into a file of its own. */
		bool left = json_object_size(settings) ==
			    (json_object_get(settings, "version") ? 1u : 0u);

		plan->after = remove && left ? ab_strdup("") : ab_printf("%s\n", body);
		ab_text_diff(plan->before, strlen(plan->before), plan->after, strlen(plan->after),
			     &plan->diff);
	}
	return 0;
}

static void add_commands(const struct ab_hook_dialect *d, json_t *entry, struct ab_strv *ret)
{
	json_t *hook;
	size_t i;

	if (is_own_hook(d, entry))
		ab_strv_add_once(ret, get_command(d, entry));
	json_array_foreach(get_inner(d, entry), i, hook)
	{
		if (is_own_hook(d, hook))
			ab_strv_add_once(ret, get_command(d, hook));
	}
}

/* Members of a hook that do not change whether the agent calls it. A time shorter than the hook's
 * own deadline does: the agent would go on without the reply. */
static void drop_harmless(const struct ab_hook_dialect *d, json_t *hook)
{
	static const char *const names[] = { "description", "name", "statusMessage" };
	static const char *const times[] = { "timeout", "timeoutSec" };
	json_int_t least = d->milliseconds ? AB_HOOK_DEADLINE_S * 1000 : AB_HOOK_DEADLINE_S;

	for (size_t i = 0; i < AB_COUNT(names); i++)
		json_object_del(hook, names[i]);
	for (size_t i = 0; i < AB_COUNT(times); i++)
		if (json_number_value(json_object_get(hook, times[i])) >= (double)least)
			json_object_del(hook, times[i]);
}

/* An entry as make_entry() makes it, or as its user would write it by hand. */
static bool calls_each_time(const struct ab_hook_dialect *d, json_t *entry, const json_t *wanted)
{
	json_auto_t *plain = json_deep_copy(entry);
	json_auto_t *inner = json_incref(get_inner(d, plain));
	json_t *hook;
	const char *matcher = json_string_value(json_object_get(plain, "matcher"));
	bool equal = false;
	size_t i;

	drop_harmless(d, plain);
	if (inner && (!json_object_get(plain, "matcher") || (matcher && !*matcher)))
		json_object_set_new(plain, "matcher", json_string("*"));
	json_array_foreach(inner, i, hook)
	{
		drop_harmless(d, hook);
		json_object_set_new(plain, "hooks", json_pack("[O]", hook));
		equal |= json_equal(plain, wanted);
	}
	return inner ? equal : json_equal(plain, wanted);
}

static bool is_called(const struct ab_hook_dialect *d, json_t *list, const struct ab_strv *commands)
{
	bool found = false;
	json_t *entry;
	size_t k;

	for (size_t i = 0; i < commands->len; i++) {
		json_auto_t *wanted = make_entry(d, commands->v[i]);

		json_array_foreach(list, k, entry)
		{
			found |= calls_each_time(d, entry, wanted);
		}
	}
	return found;
}

int ab_hook_find_installed(const struct ab_hook_dialect *d, const char *path,
			   struct ab_hook_found *ret, struct ab_error *err)
{
	ab_autofree char *text = NULL;
	json_auto_t *settings = NULL;
	json_t *hooks, *list, *entry;
	const char *event;
	size_t i;

	*ret = (struct ab_hook_found){ 0 };
	if (ab_hook_read_settings(path, &text, err) < 0 ||
	    parse_settings(path, text, &settings, err) < 0)
		return -1;
	hooks = json_object_get(settings, "hooks");
	json_object_foreach(hooks, event, list)
	{
		json_array_foreach(list, i, entry)
		{
			add_commands(d, entry, &ret->commands);
		}
	}
	for (i = 0; i < AB_COUNT(d->installed) && d->installed[i]; i++)
		if (!is_called(d, json_object_get(hooks, d->installed[i]), &ret->commands))
			ab_strv_add(&ret->missing, d->installed[i]);
	return 0;
}

void ab_hook_found_fini(struct ab_hook_found *found)
{
	ab_strv_fini_all(&found->commands, &found->missing);
}

/* A project can come from anybody: its links could lead to one of the user's
 * other files. Links in the home folder are the user's own. */
int ab_hook_check_links(const char *path, const char *project, struct ab_error *err)
{
	ab_autofree char *at = ab_strdup(path);
	struct stat st;

	while (strlen(at) > strlen(project)) {
		char *above = ab_path_parent(at);

		if (lstat(at, &st) == 0 && S_ISLNK(st.st_mode)) {
			free(above);
			ab_fail(err, AB_ECONFIG, 0, "%s is a symbolic link", at);
			return ab_hint(err, "agentbox does not follow links to change a "
					    "project's settings");
		}
		free(at);
		at = above;
	}
	return 0;
}

int ab_hook_check_options(const struct ab_policy_input *options, struct ab_error *err)
{
	struct ab_policy_input in = *options;
	struct ab_policy *policy = NULL;
	int result;

	in.judging = in.no_project = true;
	result = ab_policy_load(&in, &policy, NULL, err);
	ab_policy_free(policy);
	return result;
}

int ab_hook_plan(const struct ab_hook_request *request, bool project, bool remove,
		 struct ab_hook_plan *ret, struct ab_error *err)
{
	const struct ab_hook_dialect *d = ab_hook_find(request->agent);
	const char *top = project ? request->policy.cwd : request->policy.home;
	struct ab_hook_plan plan = { 0 };

	if (!d)
		return ab_hook_refuse_agent(request->agent, err);
	if (!top)
		return ab_fail(err, AB_EUSAGE, 0, "the home folder is unknown: set HOME");
	if (!remove && ab_hook_check_options(&request->policy, err) < 0)
		return -1;
	plan.path = ab_path_join(top, project ? d->project_settings : d->settings);
	plan.top = project ? ab_strdup(top) : NULL;
	plan.needs = remove ? NULL : d->needs;
	if ((plan.top && ab_hook_check_links(plan.path, plan.top, err) < 0) ||
	    ab_hook_read_settings(plan.path, &plan.before, err) < 0 ||
	    change_settings(d, request, remove, &plan, err) < 0) {
		ab_hook_plan_fini(&plan);
		return -1;
	}
	*ret = plan;
	return 0;
}

static int make_folder(const char *path, struct ab_error *err)
{
	ab_autofree char *dir = ab_path_parent(path);
	ab_autofree char *above = ab_path_parent(dir);

	/* No agent's path has more levels than ".codeium/windsurf". */
	if ((mkdir(above, 0755) < 0 && errno != EEXIST) ||
	    (mkdir(dir, 0755) < 0 && errno != EEXIST))
		return ab_fail(err, AB_ESYSTEM, errno, "make %s", dir);
	return 0;
}

static int write_new(const char *path, const char *text, mode_t mode, struct ab_error *err)
{
	ab_autonewfile struct ab_new_file fresh = AB_NEW_FILE_NONE;

	if (ab_new_file_open(AT_FDCWD, path, NULL, 0600, &fresh) < 0 ||
	    fchmod(fresh.fd, mode) < 0 || ab_write_all(fresh.fd, text, strlen(text)) < 0 ||
	    ab_new_file_place(&fresh, 0) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "write %s", path);
	return 0;
}

/* Under the claim: what was looked at before may have been changed by a box that was active. */
static int write_plan(const struct ab_hook_plan *plan, const char *claimed, struct ab_error *err)
{
	ab_autofree char *now = NULL, *real = NULL;
	struct stat st;
	mode_t mode = 0644;

	if ((plan->top && ab_hook_check_links(plan->path, plan->top, err) < 0) ||
	    ab_hook_read_settings(plan->path, &now, err) < 0)
		return -1;
	real = realpath(plan->path, NULL);
	if (strcmp(now, plan->before) != 0 || strcmp(real ? real : plan->path, claimed) != 0)
		return ab_fail(err, AB_ECONFIG, 0,
			       "%s has changed in the meantime; nothing was written", plan->path);
	if (!plan->after[0])
		return unlink(claimed) == 0
			       ? 0
			       : ab_fail(err, AB_ESYSTEM, errno, "remove %s", plan->path);
	if (make_folder(plan->path, err) < 0)
		return -1;
	if (real && stat(real, &st) == 0)
		mode = st.st_mode & 07777;
	return write_new(claimed, plan->after, mode, err);
}

int ab_hook_apply(const struct ab_policy_input *input, const struct ab_hook_plan *plan,
		  struct ab_error *err)
{
	/* Settings are often links into a dotfiles folder. */
	ab_autofree char *real = realpath(plan->path, NULL);
	const char *place = real ? real : plan->path;
	struct ab_file_claim claim;
	int result;

	if (ab_file_claim_take(input, place, &claim, err) < 0)
		return -1;
	result = write_plan(plan, place, err);
	ab_file_claim_release(&claim);
	return result;
}

void ab_hook_plan_fini(struct ab_hook_plan *plan)
{
	ab_free_all(plan->path, plan->top, plan->before, plan->after);
	ab_strv_fini(&plan->diff);
	*plan = (struct ab_hook_plan){ 0 };
}
