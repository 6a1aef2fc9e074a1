#include "steer/settings/settings.h"

#include <sys/wait.h>

#include "base/process/helper.h"
#include "base/system/folder.h"
#include "base/text/json_scan.h"
#include "host/host_command.h"
#include "policy/edit/edit_file.h"
#include "policy/edit/json_edit.h"
#include "policy/edit/list_origin.h"
#include "policy/layers/compare.h"
#include "policy/layers/layers.h"
#include "policy/layers/trust.h"
#include "policy/model/keys.h"
#include "policy/model/policy.h"
#include "policy/read/settings_file.h"
#include "policy/values/paths.h"
#include "state/file_claim.h"

void ab_settings_changed_fini(struct ab_settings_changed *c)
{
	free(c->file);
	ab_strv_fini_all(&c->diff, &c->notes);
	*c = (struct ab_settings_changed){ 0 };
}

/* The file of the user or of the project; free it. */
static char *find_settings(const struct ab_policy_input *in, bool project, struct ab_error *err)
{
	struct ab_policy_paths paths;
	char *file = NULL;

	if (!project)
		return ab_policy_user_file(in, err);
	if (ab_policy_paths(in, &paths, err) < 0)
		return NULL;
	for (size_t i = 0; i < paths.len; i++)
		if (strcmp(paths.v[i].layer, "project") == 0)
			file = ab_strdup(paths.v[i].path);
	ab_policy_paths_fini(&paths);
	if (!file)
		ab_fail(err, AB_EUSAGE, 0, "there is no project folder here");
	return file;
}

/* Its text; "" if it does not exist. A project's file must not be a link. Free it. */
static char *read_settings(const char *file, bool project, struct ab_error *err)
{
	ab_autofree char *text = NULL;
	size_t len;

	if (ab_settings_file_read(file, file, project, &text, &len, err) < 0)
		return NULL;
	if (!text)
		return ab_strdup("");
	if (strlen(text) != len) {
		ab_fail(err, AB_ECONFIG, 0, "%s: unexpected NUL byte", file);
		return NULL;
	}
	return ab_take(text);
}

/* Was every byte of it chosen by the person? */
static bool is_own(const struct ab_policy_input *in, const char *file, const char *seen)
{
	ab_autofree char *state = ab_state_dir(in->environ, in->home, in->cwd);

	return !*seen ||
	       (state && ab_trust_check(state, file, seen, strlen(seen)) == AB_TRUST_HOLDS);
}

/* Only what was written here: a box may have changed it since. */
static bool trust_text(const struct ab_policy_input *in, const char *file, const char *text)
{
	struct ab_trust_review review;
	struct ab_error err = { 0 };
	bool done;

	if (ab_trust_review(in, file, &review, &err) < 0)
		return false;
	done = review.len == strlen(text) && memcmp(review.text, text, review.len) == 0 &&
	       ab_trust_record(in, &review, &err) == 0;
	ab_trust_review_fini(&review);
	return done;
}

static int replace_file(const struct ab_policy_input *in, const char *file, bool project,
			const char *seen, const char *text, struct ab_strv *diff,
			struct ab_error *err)
{
	ab_auto(ab_file_claim_release) struct ab_file_claim claim = { 0 };

	/* No box can write to the folder of the user's own. */
	if (project && ab_file_claim_take(in, file, &claim, err) < 0)
		return -1;
	return ab_edit_file_replace(in, file, seen, text, diff, err);
}

/* Save `text` in place of `seen`. */
static int save_settings(const struct ab_policy_input *in, const char *file, bool project,
			 const char *seen, const char *text, struct ab_settings_changed *changed,
			 struct ab_error *err)
{
	bool own = project && is_own(in, file, seen);

	if (replace_file(in, file, project, seen, text, &changed->diff, err) < 0)
		return -1;
	if (project && changed->diff.len && !(own && trust_text(in, file, text)))
		ab_strv_addf(&changed->notes,
			     "%s is not trusted; to read it and trust it: agentbox trust", file);
	return 0;
}

static const char start_text[] = "{\n}\n";

static const char *choose_editor(char *const *env)
{
	static const char *const names[] = { "VISUAL", "EDITOR" };

	for (size_t i = 0; i < AB_COUNT(names); i++) {
		const char *command = ab_environ_get(env, names[i]);

		if (command && *command)
			return command;
	}
	return "vi";
}

/* The file may be what has to be repaired: then no run has this policy, and the rest of it counts. */
static int load_policy(const struct ab_settings_editing *e, struct ab_policy **ret,
		       struct ab_error *err)
{
	ab_autostrv struct ab_strv absent = { 0 };
	struct ab_policy_input in = *e->input;
	struct ab_error wrong = { 0 };

	in.judging = true;
	if (ab_policy_load(&in, ret, NULL, &wrong) == 0)
		return 0;
	ab_strv_add(&absent, e->file);
	in.absent = &absent;
	in.no_project = e->project;
	return ab_policy_load(&in, ret, NULL, err);
}

static int prepare_editor(struct ab_settings_editing *e, struct ab_error *err)
{
	char *const *env = e->input->environ;
	ab_autofree char **safe = NULL;
	ab_autofree char *path = NULL;
	ab_autopolicy struct ab_policy *policy = NULL;

	e->command = choose_editor(env);
	if (load_policy(e, &policy, err) < 0 ||
	    ab_host_command_check("the editor", e->command, policy, env, err) < 0)
		return -1;
	safe = ab_host_command_environ(&policy->fs.touched, env, &path);
	for (size_t i = 0; safe[i]; i++)
		ab_strv_add(&e->env, safe[i]);
	return 0;
}

/* In the user's settings folder, which no box can write. */
static int make_copy(struct ab_settings_editing *e, const char *text, struct ab_error *err)
{
	ab_autofree char *dir = ab_config_dir(e->input->environ, e->input->home), *failed = NULL;
	ab_autoclose int fd = -1;

	if (!dir)
		return ab_fail(err, AB_EUSAGE, 0, "no home folder to keep settings in");
	failed = ab_folder_make_all(dir, 0700);
	if (failed)
		return ab_fail(err, AB_ECONFIG, errno, "create folder %s", failed);
	e->folder = ab_printf("%s/.edit-XXXXXX", dir);
	if (!mkdtemp(e->folder)) {
		ab_fail(err, AB_ESYSTEM, errno, "create a folder in %s", dir);
		free(ab_take(e->folder));
		return -1;
	}
	e->copy = ab_path_join(e->folder, e->project ? "agentbox.json" : "config.json");
	fd = open(e->copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || ab_write_all(fd, text, strlen(text)) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "write %s", e->copy);
	return 0;
}

int ab_settings_edit_begin(const struct ab_policy_input *in, bool project,
			   struct ab_settings_editing *ret, struct ab_error *err)
{
	struct ab_settings_editing e = { .input = in, .project = project };

	e.file = find_settings(in, project, err);
	e.seen = e.file ? read_settings(e.file, project, err) : NULL;
	if (!e.seen || prepare_editor(&e, err) < 0 ||
	    make_copy(&e, *e.seen ? e.seen : start_text, err) < 0) {
		ab_settings_edit_end(&e);
		return -1;
	}
	*ret = e;
	return 0;
}

/* In the child. */
static void run_editor(const struct ab_settings_editing *e)
{
	ab_autofree char *line = ab_printf("%s \"$1\"", e->command);
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, line, (char[]){ "sh" }, e->copy, NULL };

	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	if (chdir("/") == 0)
		execve("/bin/sh", argv, e->env.v);
	_exit(127);
}

int ab_settings_edit(struct ab_settings_editing *e, struct ab_error *err)
{
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	void (*quit)(int) = signal(SIGQUIT, SIG_IGN);
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		run_editor(e);
	if (pid > 0)
		status = ab_await(pid);
	signal(SIGINT, interrupt);
	signal(SIGQUIT, quit);
	if (pid < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "start the editor");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
		ab_fail(err, AB_ESYSTEM, 0, "the editor cannot be started: %s", e->command);
		return ab_hint(err, "set EDITOR to a program that exists");
	}
	if (status != 0)
		return ab_fail(err, AB_ESYSTEM, 0, "the editor failed; nothing was saved");
	return 0;
}

/* What the copy allows and the file does not: one that is not there, or wrong, allows as much as the profile. */
static void find_wider(const struct ab_settings_editing *e, const struct ab_policy *copy,
		       struct ab_strv *ret)
{
	ab_autopolicy struct ab_policy *file = NULL;
	struct ab_error none = { 0 };

	if (ab_policy_load_one(e->input, e->file, &file, &none) == 0 ||
	    ab_policy_load_one(e->input, "default", &file, &none) == 0)
		ab_policy_wider(file, copy, ret);
	else
		ab_strv_add_safe(ret, "everything in %s", e->file);
}

/* The first mistakes of the copy, as mistakes of the file. `widens` may be NULL. */
static int check_copy(const struct ab_settings_editing *e, struct ab_strv *widens,
		      struct ab_error *err)
{
	enum { SHOWN = 5 };
	ab_autostrv struct ab_strv wrong = { 0 };
	ab_autobuf struct ab_buf more = { 0 };
	size_t skip = strlen(e->copy);
	ab_autopolicy struct ab_policy *policy = NULL;

	if (ab_policy_check_file(e->input, e->copy, &wrong, err) < 0)
		return -1;
	if (wrong.len == 0) {
		/* A profile that extends itself, or a value that no policy can have. */
		if (ab_policy_load_one(e->input, e->copy, &policy, err) < 0)
			return -1;
		if (widens)
			find_wider(e, policy, widens);
		return 0;
	}
	for (size_t i = 0; i < wrong.len && i < SHOWN; i++) {
		const char *rest =
			strncmp(wrong.v[i], e->copy, skip) == 0 ? wrong.v[i] + skip : wrong.v[i];

		if (i == 0)
			ab_fail(err, AB_ECONFIG, 0, "%s%s", e->file, rest);
		else
			ab_buf_printf(&more, "%s%s%s", i > 1 ? "\n" : "", e->file, rest);
	}
	return more.len ? ab_hint(err, "%s", more.data) : -1;
}

/* Would a run accept a file with this text? Values, profiles that it extends, and the policy that it
 * makes by itself. */
static int check_settings(const struct ab_policy_input *in, const char *file,
			  const struct ab_settings_change *c, const char *text,
			  struct ab_error *err)
{
	struct ab_settings_editing e = { .input = in,
					 .project = c->project,
					 .file = ab_strdup(file) };
	ab_autostrv struct ab_strv widens = { 0 };
	int result = make_copy(&e, text, err);

	if (result == 0)
		result = check_copy(&e, c->may_widen ? &widens : NULL, err);
	ab_settings_edit_end(&e);
	return result == 0 && widens.len && !c->may_widen(&widens)
		       ? ab_fail(err, AB_EREFUSED, 0, "nothing was changed")
		       : result;
}

int ab_settings_edit_save(struct ab_settings_editing *e, struct ab_settings_changed *ret,
			  struct ab_error *err)
{
	ab_autofree char *text = NULL;

	*ret = (struct ab_settings_changed){ .file = ab_strdup(e->file) };
	text = read_settings(e->copy, true, err);
	/* Untouched: also if the file did not exist. */
	if (text && (strcmp(text, *e->seen ? e->seen : start_text) == 0 ||
		     (check_copy(e, NULL, err) == 0 &&
		      save_settings(e->input, e->file, e->project, e->seen, text, ret, err) == 0)))
		return 0;
	ab_settings_changed_fini(ret);
	return -1;
}

void ab_settings_edit_end(struct ab_settings_editing *e)
{
	ab_autodir DIR *dir = e->folder ? ab_folder_list(AT_FDCWD, e->folder) : NULL;
	const char *name;

	/* With the backups that editors make. */
	while ((name = ab_folder_next(dir)) != NULL)
		(void)unlinkat(dirfd(dir), name, 0);
	if (e->folder)
		(void)rmdir(e->folder);
	ab_free_all(e->file, e->seen, e->folder, e->copy);
	ab_strv_fini(&e->env);
	*e = (struct ab_settings_editing){ 0 };
}

static bool has_members(const struct ab_key *key)
{
	return key->type == AB_TYPE_ASSIGNMENTS || key->type == AB_TYPE_OVERRIDES ||
	       key->type == AB_TYPE_SECRETS || key->type == AB_TYPE_HOST_TOOLS;
}

struct place {
	const struct ab_key *key;
	const char *member; /* of an object, or NULL */
	char group[16];	    /* "network" */
	const char *path[3];
	size_t len;
};

/* "env.set.CI": the key env.set, and the member CI. */
static int find_place(const char *text, struct place *ret, struct ab_error *err)
{
	const char *near;

	*ret = (struct place){ 0 };
	for (size_t i = 0; i < AB_KEY_COUNT && !ret->key; i++) {
		const struct ab_key *key = &ab_keys[i];
		size_t n = strlen(key->path);

		if (strncmp(text, key->path, n) != 0)
			continue;
		if (!text[n] || (text[n] == '.' && text[n + 1] && has_members(key))) {
			ret->key = key;
			ret->member = text[n] ? text + n + 1 : NULL;
		}
	}
	if (!ret->key) {
		near = ab_key_guess(text);
		ab_fail(err, AB_EUSAGE, 0, "unknown key %s", text);
		return near ? ab_hint(err, "did you mean %s?", near)
			    : ab_hint(err, "list them with: agentbox config show --all");
	}
	if (strchr(ret->key->path, '.')) {
		snprintf(ret->group, sizeof(ret->group), "%.*s", (int)strcspn(ret->key->path, "."),
			 ret->key->path);
		ret->path[ret->len++] = ret->group;
		ret->path[ret->len++] = strchr(ret->key->path, '.') + 1;
	} else {
		ret->path[ret->len++] = ret->key->path;
	}
	if (ret->member)
		ret->path[ret->len++] = ret->member;
	return 0;
}

static bool is_number(const char *text)
{
	return *text && strlen(text) < 19 && !text[strspn(text, "0123456789")];
}

/* One value or element, as a file spells it. */
static void put_value(struct ab_buf *b, const struct ab_key *key, const char *text)
{
	bool number = key->type == AB_TYPE_INTEGER || key->type == AB_TYPE_PORTS ||
		      key->type == AB_TYPE_PUBLISH;
	bool word = key->type == AB_TYPE_WORD && strcmp(key->words[0].name, "true") == 0 &&
		    (strcmp(text, "true") == 0 || strcmp(text, "false") == 0);

	if (word || (number && is_number(text)))
		ab_buf_puts(b, text);
	else
		ab_buf_json(b, text);
}

/* A text that is JSON already must be one whole value. */
static int put_json(struct ab_buf *b, const char *text, struct ab_error *err)
{
	ab_autoscan struct ab_json_scan scan = { 0 };

	if (ab_json_scan_parse(&scan, text, strlen(text)) < 0) {
		ab_fail(err, AB_EUSAGE, 0, "the value is not valid JSON: column %u: %s",
			scan.column, scan.wrong);
		return ab_hint(err, "%s", scan.right);
	}
	ab_buf_puts(b, text);
	return 0;
}

static int make_value(const struct place *place, const struct ab_settings_change *c,
		      struct ab_buf *b, struct ab_error *err)
{
	const struct ab_key *key = place->key;
	bool list = ab_key_is_list(key) && !has_members(key) && key->type != AB_TYPE_RULES &&
		    key->type != AB_TYPE_HTTP;
	const char *first = c->values[0];

	if (c->nvalues == 1 && (first[0] == '[' || first[0] == '{') && ab_key_is_list(key))
		return put_json(b, first, err);
	if (c->nvalues > 1 && !list)
		return ab_fail(err, AB_EUSAGE, 0, "%s takes one value", c->key);
	if (place->member || !ab_key_is_list(key)) {
		put_value(b, key, first);
		return 0;
	}
	if (!list) {
		ab_fail(err, AB_EUSAGE, 0, "%s needs JSON", c->key);
		return ab_hint(err,
			       has_members(key) ? "set one member: %s.NAME VALUE, or '{ ... }'"
						: "for example: %s '[{ ... }]'",
			       c->key);
	}
	if (key->type == AB_TYPE_READ && c->nvalues == 1 && strcmp(first, "all") == 0) {
		ab_buf_json(b, first);
		return 0;
	}
	for (size_t i = 0; i < c->nvalues; i++) {
		ab_buf_puts(b, i ? ", " : "[");
		put_value(b, key, c->values[i]);
	}
	ab_buf_puts(b, "]");
	return 0;
}

/* Does another layer decide here? Lists are made of several. */
static void note_effect(const struct ab_policy_input *in, const struct place *place,
			const struct ab_settings_change *c, struct ab_settings_changed *ret)
{
	ab_autofree char *from = NULL;
	struct ab_policy_input here = *in;
	struct ab_error err = { 0 };
	ab_autopolicy struct ab_policy *policy = NULL;

	if (ab_key_is_list(place->key) || c->unset)
		return;
	here.judging = true;
	if (ab_policy_load(&here, &policy, NULL, &err) < 0) {
		ab_strv_addf(&ret->notes, "%s", err.text);
		return;
	}
	from = ab_policy_origin(policy, place->key->path, NULL);
	if (from && strncmp(ab_path_name(from), ab_path_name(ret->file),
			    strlen(ab_path_name(ret->file))) != 0)
		ab_strv_addf(&ret->notes, "it has no effect here: %s is set by %s", c->key, from);
}

static int change_place(const struct ab_policy_input *in, const struct place *place,
			const struct ab_settings_change *c, struct ab_settings_changed *ret,
			struct ab_error *err)
{
	ab_autobuf struct ab_buf json = { 0 };
	ab_autofree char *seen = NULL, *text = NULL;
	int changed;

	if (!c->unset && make_value(place, c, &json, err) < 0)
		return -1;
	ret->file = find_settings(in, c->project, err);
	seen = ret->file ? read_settings(ret->file, c->project, err) : NULL;
	if (!seen)
		return -1;
	changed = c->unset ? ab_json_edit_unset(seen, strlen(seen), place->path, place->len, &text,
						err)
			   : ab_json_edit_set(seen, strlen(seen), place->path, place->len,
					      json.data, &text, err);
	if (changed <= 0)
		return changed < 0 ? ab_wrap(err, "%s", ret->file) : 0;
	if (check_settings(in, ret->file, c, text, err) < 0 ||
	    save_settings(in, ret->file, c->project, seen, text, ret, err) < 0)
		return -1;
	note_effect(in, place, c, ret);
	return 0;
}

int ab_settings_change(const struct ab_policy_input *in, const struct ab_settings_change *change,
		       struct ab_settings_changed *ret, struct ab_error *err)
{
	struct place place;

	*ret = (struct ab_settings_changed){ 0 };
	if (find_place(change->key, &place, err) == 0 &&
	    change_place(in, &place, change, ret, err) == 0)
		return 0;
	ab_settings_changed_fini(ret);
	return -1;
}
