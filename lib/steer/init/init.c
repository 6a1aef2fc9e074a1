#include "steer/init/init.h"

#include "agents/agents.h"
#include "agents/hook_dialect.h"
#include "audit/read/words.h"
#include "base/system/folder.h"
#include "base/system/new_file.h"
#include "base/text/json_scan.h"
#include "base/text/text_diff.h"
#include "base/text/words.h"
#include "policy/edit/json_edit.h"
#include "policy/layers/layers.h"
#include "policy/model/config.h"
#include "policy/read/settings_file.h"
#include "policy/show/summary.h"
#include "policy/toolchains/registries.h"
#include "policy/toolchains/toolchains.h"
#include "policy/values/paths.h"
#include "state/file_claim.h"

enum { CONFIG_MAX = 256 * 1024 };

/* Programs of the workspace (node_modules/.bin) are not the user's. */
static bool is_on_path(const struct ab_policy_input *in, const char *workspace, const char *program)
{
	const char *path = ab_environ_get(in->environ, "PATH");

	for (size_t n; path && *path; path += n + (path[n] == ':')) {
		ab_autofree char *dir = NULL, *file = NULL;

		n = strcspn(path, ":");
		dir = ab_strndup(path, n);
		if (dir[0] != '/' || ab_path_within(dir, workspace))
			continue;
		file = ab_path_join(dir, program);
		if (access(file, X_OK) == 0)
			return true;
	}
	return false;
}

/* Is there a file, or something `depth` levels deep? `hook uninstall` leaves empty folders. */
static bool has_files(int dir, const char *name, int depth)
{
	ab_autodir DIR *list = ab_folder_list(dir, name);

	for (const char *entry; (entry = ab_folder_next(list));)
		if (depth == 0 || !ab_folder_is(dirfd(list), entry) ||
		    has_files(dirfd(list), entry, depth - 1))
			return true;
	return false;
}

static bool has_folder(const struct ab_policy_input *in, const char *name)
{
	ab_autofree char *path = in->home ? ab_path_join(in->home, name) : NULL;

	/* It may be a link into a folder of dotfiles. */
	ab_autoclose int dir = path ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	return dir >= 0 && has_files(dir, ".", 1);
}

/* An agent is in use if its program is on PATH, or its folder in the home has a file. */
static void find_agents(const struct ab_policy_input *in, const char *workspace,
			struct ab_init_plan *plan)
{
	for (size_t i = 0; ab_agents[i]; i++) {
		const struct ab_agent *a = ab_agents[i];

		if (!a->folder ||
		    (!is_on_path(in, workspace, a->program) && !has_folder(in, a->folder)))
			continue;
		ab_strv_add(&plan->agents, a->program);
		ab_strv_add(&plan->hooks, a->hook ? a->hook->agent : "");
	}
}

/* A small regular file below the folder, without following a link; NULL: there is none. */
static char *read_below(int dir, const char *folder, const char *name)
{
	ab_autoclose int in = openat(dir, folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char *text = NULL;
	size_t len;

	if (in >= 0)
		(void)ab_read_file(in, name, O_NOFOLLOW, CONFIG_MAX, &text, &len);
	return text;
}

static void find_remote(int dir, struct ab_init_plan *plan)
{
	ab_autofree char *config = read_below(dir, ".git", "config");
	const struct ab_toolchain *t = config ? ab_toolchain_of_remote(config) : NULL;

	if (!t)
		return;
	ab_strv_add(&plan->presets, t->name);
	ab_strv_add(&plan->evidence, t->forge);
}

static void find_registries(const struct ab_policy_input *in, const struct ab_policy *policy,
			    struct ab_init_plan *plan)
{
	for (size_t i = 0; i < plan->presets.len; i++) {
		const char *list = ab_toolchain_find(plan->presets.v[i])->hosts, *host;

		for (size_t n; (host = ab_word_next(&list, &n));) {
			ab_autofree char *group = ab_strndup(host + 1, n - 1);

			if (host[0] == '@')
				ab_registries_hosts(group, policy->store->registries, in->environ,
						    &plan->registries);
		}
	}
}

/* Does the file's `with` have the preset, or select presets itself? */
static bool has_preset(const char *text, const char *preset)
{
	ab_autoscan struct ab_json_scan scan = { 0 };

	if (ab_json_scan_parse(&scan, text, strlen(text)) < 0)
		return false;
	ab_json_scan_each(k, scan.nodes)
	{
		if (strcmp(k->key, "with") != 0)
			continue;
		if (k->text)
			return true; /* "auto" */
		ab_json_scan_each(e, k) if (e->text && strcmp(e->text, preset) == 0) return true;
	}
	return false;
}

static void make_new_file(struct ab_init_plan *plan)
{
	ab_autobuf struct ab_buf b = { 0 };

	if (!plan->presets.len)
		return;
	ab_buf_puts(&b, "{\n  \"with\": [");
	for (size_t i = 0; i < plan->presets.len; i++)
		ab_buf_printf(&b, "%s\"%s\"", i ? ", " : "", plan->presets.v[i]);
	ab_buf_puts(&b, "]\n}\n");
	plan->after = ab_buf_take(&b);
}

static int add_missing(struct ab_init_plan *plan, struct ab_error *err)
{
	ab_autofree char *text = ab_strdup(plan->before);
	bool changed = false;

	for (size_t i = 0; i < plan->presets.len; i++) {
		char *next = NULL;
		int r;

		if (has_preset(text, plan->presets.v[i]))
			continue;
		r = ab_json_edit_add(text, strlen(text), "with", plan->presets.v[i], &next, err);
		if (r < 0)
			return ab_wrap(err, "%s", plan->path);
		if (r == 0)
			continue;
		free(text);
		text = next;
		changed = true;
	}
	if (changed)
		plan->after = ab_take(text);
	return 0;
}

static int plan_file(const struct ab_policy_input *in, struct ab_init_plan *plan,
		     struct ab_error *err)
{
	ab_autofree char *text = NULL;
	size_t len;

	if (ab_settings_file_read(plan->path, AB_PROJECT_CONFIG, true, &text, &len, err) < 0)
		return -1;
	if (!text) {
		make_new_file(plan);
	} else {
		ab_autofree char *checked = NULL;

		if (ab_policy_read_file(in, plan->path, &checked, &len, err) < 0 ||
		    ab_trust_status(in, NULL, &plan->trust, err) < 0)
			return -1;
		plan->before = ab_take(text);
		if (add_missing(plan, err) < 0)
			return -1;
	}
	if (plan->after)
		ab_text_diff(plan->before ? plan->before : "",
			     plan->before ? strlen(plan->before) : 0, plan->after,
			     strlen(plan->after), &plan->diff);
	return 0;
}

/* *ret: the policy without the project's file. */
static int open_workspace(const struct ab_policy_input *in, struct ab_policy **ret, int *ret_dir,
			  struct ab_error *err)
{
	struct ab_policy_input without = *in;

	/* Refuses a home folder, and says what to do. */
	without.no_project = true;
	if (ab_policy_load(&without, ret, NULL, err) < 0)
		return -1;
	*ret_dir = open((*ret)->workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *ret_dir < 0 ? ab_fail(err, AB_ESYSTEM, errno, "open %s", (*ret)->workspace) : 0;
}

int ab_init_look(const struct ab_policy_input *in, struct ab_init_plan *ret, struct ab_error *err)
{
	ab_autopolicy struct ab_policy *policy = NULL;
	ab_autoclose int dir = -1;

	*ret = (struct ab_init_plan){ 0 };
	if (open_workspace(in, &policy, &dir, err) < 0)
		return -1;
	ab_toolchains_detect(policy->workspace, &ret->presets, &ret->evidence);
	find_remote(dir, ret);
	find_registries(in, policy, ret);
	find_agents(in, policy->workspace, ret);
	ab_summary_keys_find(policy, in->environ, &ret->keys);
	ret->path = ab_path_join(policy->workspace, AB_PROJECT_CONFIG);
	if (plan_file(in, ret, err) < 0) {
		ab_init_plan_fini(ret);
		return -1;
	}
	return 0;
}

void ab_init_plan_fini(struct ab_init_plan *plan)
{
	ab_strv_fini_all(&plan->presets, &plan->evidence, &plan->registries, &plan->agents,
			 &plan->keys, &plan->hooks, &plan->diff);
	ab_free_all(plan->path, plan->before, plan->after);
	*plan = (struct ab_init_plan){ 0 };
}

bool ab_init_trusts(const struct ab_init_plan *plan)
{
	return !plan->before || plan->trust == AB_TRUST_HOLDS;
}

/* Is the file still what was read? */
static bool is_unchanged(const struct ab_init_plan *plan)
{
	struct ab_error unread = { 0 };
	ab_autofree char *now = NULL;
	size_t len;

	return ab_settings_file_read(plan->path, AB_PROJECT_CONFIG, true, &now, &len, &unread) ==
		       0 &&
	       !now == !plan->before && (!now || strcmp(now, plan->before) == 0);
}

/* A new file is not put in place if another program has made one meanwhile. */
static int replace_alone(int dir, const struct ab_init_plan *plan, struct ab_error *err)
{
	ab_autonewfile struct ab_new_file fresh = AB_NEW_FILE_NONE;

	if (ab_new_file_open(dir, AB_PROJECT_CONFIG, NULL, 0644, &fresh) < 0 ||
	    ab_write_all(fresh.fd, plan->after, strlen(plan->after)) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "write %s", plan->path);
	if (!is_unchanged(plan))
		return ab_fail(err, AB_ECONFIG, 0, "%s has changed meanwhile; nothing was written",
			       plan->path);
	if (ab_new_file_place(&fresh, plan->before ? 0 : AB_NEW_FILE_ONLY) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "write %s", plan->path);
	return 0;
}

static int replace_file(const struct ab_policy_input *in, int dir, const struct ab_init_plan *plan,
			struct ab_error *err)
{
	ab_auto(ab_file_claim_release) struct ab_file_claim claim = { 0 };

	return ab_file_claim_take(in, plan->path, &claim, err) < 0 ? -1
								   : replace_alone(dir, plan, err);
}

/* Only exactly what was shown. */
static int record_trust(const struct ab_policy_input *in, const struct ab_init_plan *plan,
			struct ab_error *err)
{
	struct ab_trust_review review;
	int r;

	if (ab_trust_review(in, NULL, &review, err) < 0)
		return -1;
	if (strcmp(review.text, plan->after) != 0)
		r = ab_fail(err, AB_ECONFIG, 0, "%s has changed meanwhile; it is not trusted",
			    plan->path);
	else
		r = ab_trust_record(in, &review, err);
	ab_trust_review_fini(&review);
	return r;
}

int ab_init_create(const struct ab_policy_input *in, const char *text, char **ret_path,
		   struct ab_error *err)
{
	ab_autopolicy struct ab_policy *policy = NULL;
	ab_autofree char *path = NULL;
	struct ab_init_plan plan = { 0 };
	ab_autoclose int dir = -1;

	if (open_workspace(in, &policy, &dir, err) < 0)
		return -1;
	path = ab_path_join(policy->workspace, AB_PROJECT_CONFIG);
	if (faccessat(dir, AB_PROJECT_CONFIG, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		ab_fail(err, AB_ECONFIG, 0, "%s exists, and is not overwritten", path);
		return ab_hint(err, "leave out --write, and add what you need by hand");
	}
	plan.path = path;
	plan.after = (char *)(uintptr_t)text;
	if (replace_file(in, dir, &plan, err) < 0)
		return -1;
	*ret_path = ab_take(path);
	return 0;
}

int ab_init_write(const struct ab_policy_input *in, const struct ab_init_plan *plan,
		  struct ab_error *err)
{
	ab_autofree char *folder = ab_path_parent(plan->path);
	ab_autoclose int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open %s", folder);
	if (replace_file(in, dir, plan, err) < 0)
		return -1;
	return ab_init_trusts(plan) ? record_trust(in, plan, err) : 0;
}

static void put_row(struct ab_buf *b, const char *title, const struct ab_strv *list,
		    const struct ab_strv *details)
{
	if (!list->len)
		return;
	ab_buf_printf(b, "%-12s", title);
	for (size_t i = 0; i < list->len; i++) {
		ab_words_safe(b, "%s%s", i ? ", " : "", list->v[i]);
		if (details)
			ab_words_safe(b, " (%s)", details->v[i]);
	}
	ab_buf_puts(b, "\n");
}

char *ab_init_text(const struct ab_init_plan *plan)
{
	struct ab_buf b = { 0 };

	put_row(&b, "detected", &plan->presets, &plan->evidence);
	put_row(&b, "registries", &plan->registries, NULL);
	put_row(&b, "agents", &plan->agents, NULL);
	ab_summary_keys_text(&plan->keys, &b);
	return ab_buf_take(&b);
}

static void put_pairs(struct ab_buf *b, const char *title, const struct ab_strv *list,
		      const char *detail, const struct ab_strv *details)
{
	ab_buf_jsonf(b, "%s:[", title);
	for (size_t i = 0; i < list->len; i++)
		ab_buf_jsonf(b, ",{'name':%s,%s:%s}", list->v[i], detail,
			     ab_text_or_null(details->v[i]));
	ab_buf_puts(b, "],");
}

char *ab_init_json(const struct ab_init_plan *plan)
{
	static const char *const states[] = { "none", "changed", "trusted" };
	struct ab_buf b = { 0 };

	put_pairs(&b, "presets", &plan->presets, "because", &plan->evidence);
	put_pairs(&b, "agents", &plan->agents, "hook", &plan->hooks);
	ab_summary_keys_json(&plan->keys, &b);
	ab_buf_jsonf(&b, ",'registries':%p,'file':%s,'exists':%hhd,'trust':%s,'text':%s,'diff':%p",
		     ab_list(&plan->registries), plan->path, (bool)(plan->before != NULL),
		     states[plan->trust], plan->after, ab_list(&plan->diff));
	return ab_buf_take(&b);
}
