#include "state/next_run.h"

#include <sys/file.h>

#include "policy/layers/layers.h"
#include "policy/values/paths.h"
#include "state/json_store.h"
#include "state/state.h"

#define FILE_NAME "next.json"
#define CLAIM_NAME "next.lock"

enum { DAY = 86400 };

static const struct ab_json_store store = {
	.file = FILE_NAME,
	.list = "next",
	.max = 1 << 20,
	.hint = "its rules are ignored; remove the file",
};

struct rule {
	char *workspace, *write;
	int64_t at;
};

struct rules {
	struct rule v[AB_NEXT_MAX];
	size_t len;
};

static void drop_rule(struct rules *rules, size_t i)
{
	ab_free_all(rules->v[i].workspace, rules->v[i].write);
	memmove(&rules->v[i], &rules->v[i + 1], (--rules->len - i) * sizeof(rules->v[0]));
}

static void rules_fini(struct rules *rules)
{
	while (rules->len)
		drop_rule(rules, rules->len - 1);
}
#define auto_rules __attribute__((cleanup(rules_fini)))

static int read_rules(const json_t *list, int64_t now, struct rules *ret, struct ab_error *err)
{
	json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry)
	{
		const char *workspace, *write;
		json_error_t wrong;
		json_int_t at;

		if (json_unpack_ex(entry, &wrong, JSON_STRICT, "{s:s,s:s,s:I}", "workspace",
				   &workspace, "write", &write, "at", &at) < 0)
			return ab_json_store_broken(&store, wrong.text, err);
		/* A rule dated in the future would never expire; tolerate only small clock
		 * steps. */
		if (at > now + DAY || now - at >= AB_NEXT_DAYS * DAY)
			continue;
		if (ret->len == AB_NEXT_MAX)
			return ab_json_store_broken(&store, "too many rules", err);
		ret->v[ret->len++] = (struct rule){ .workspace = ab_strdup(workspace),
						    .write = ab_strdup(write),
						    .at = at };
	}
	return 0;
}

/* The rules that have not expired; none without a file. */
static int load_rules(int state, int64_t now, struct rules *ret, struct ab_error *err)
{
	json_auto_t *list = NULL;

	if (ab_json_store_read(&store, state, &list, err) < 0)
		return -1;
	return read_rules(list, now, ret, err);
}

static int save_rules(int state, const struct rules *rules, struct ab_error *err)
{
	ab_autobuf struct ab_buf b = { 0 };

	if (rules->len == 0 && (unlinkat(state, FILE_NAME, 0) == 0 || errno == ENOENT))
		return 0;
	ab_json_store_begin(&store, &b);
	for (size_t i = 0; i < rules->len; i++) {
		ab_json_store_entry(&b);
		ab_buf_jsonf(&b, "{'workspace':%s,'write':%s,'at':%jd}", rules->v[i].workspace,
			     rules->v[i].write, rules->v[i].at);
	}
	return ab_json_store_replace(&store, state, &b, err);
}

/* True: the rule existed. */
static bool forget_rule(struct rules *rules, const char *workspace, const char *path)
{
	bool had = false;

	for (size_t i = rules->len; i-- > 0;)
		if (strcmp(rules->v[i].workspace, workspace) == 0 &&
		    strcmp(rules->v[i].write, path) == 0) {
			drop_rule(rules, i);
			had = true;
		}
	return had;
}

/* Can JSON keep it? Bytes that are not UTF-8 cannot be read back. */
static bool is_text(const char *s)
{
	json_auto_t *text = json_string(s);

	return text != NULL;
}

int ab_next_run_add(int state, int64_t now, const char *workspace, const char *path, bool *ret_had,
		    struct ab_error *err)
{
	ab_autoclose int locked = ab_json_store_lock(&store, state, err);
	auto_rules struct rules rules = { .len = 0 };
	bool had;

	if (locked < 0)
		return -1;
	if (!is_text(workspace) || !is_text(path))
		return ab_fail(err, AB_EUSAGE, 0, "cannot remember a name that is not UTF-8");
	if (load_rules(state, now, &rules, err) < 0)
		return -1;
	had = forget_rule(&rules, workspace, path);
	if (rules.len == AB_NEXT_MAX) {
		ab_fail(err, AB_EUSAGE, 0, "%d rules already wait for a next run", AB_NEXT_MAX);
		return ab_hint(err, "allow it in the settings instead: --always");
	}
	rules.v[rules.len++] = (struct rule){ .workspace = ab_strdup(workspace),
					      .write = ab_strdup(path),
					      .at = now };
	if (save_rules(state, &rules, err) < 0)
		return -1;
	*ret_had = had;
	return 0;
}

/* The same workspace as in ab_policy_load(). */
static char *find_workspace(const struct ab_policy_input *in)
{
	return in->workspace ? ab_path_resolve(in->workspace, in->cwd, in->home)
			     : ab_strdup(in->cwd);
}

static bool is_read_only(const struct ab_policy_input *in)
{
	for (size_t i = 0; i < in->nsettings; i++)
		if (!in->settings[i].value && strcmp(in->settings[i].key, "filesystem.write") == 0)
			return true;
	return false;
}

/* Lock the rules for this run, unless another run holds them. */
static int claim_rules(int state, struct ab_error *err)
{
	ab_autoclose int fd =
		openat(state, CLAIM_NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return ab_take_fd(&fd);
	if (fd >= 0 && errno == EWOULDBLOCK)
		return ab_fail(err, AB_ESYSTEM, 0, "another run that is starting uses them");
	return ab_fail(err, AB_ESYSTEM, errno, "lock %s", CLAIM_NAME);
}

/* The rule named the object itself. Another box that can write there may have turned it into a link
 * since. */
static bool leads_elsewhere(const char *path)
{
	ab_autofree char *real = realpath(path, NULL);

	return real && strcmp(real, path) != 0;
}

static int forget_stored(int state, int64_t now, const char *workspace, const char *path,
			 struct ab_error *err)
{
	auto_rules struct rules rules = { .len = 0 };
	ab_autoclose int locked = ab_json_store_lock(&store, state, err);

	if (locked < 0 || load_rules(state, now, &rules, err) < 0)
		return -1;
	forget_rule(&rules, workspace, path);
	return save_rules(state, &rules, err);
}

static int take_rules(int state, int64_t now, struct ab_next_run *next, struct ab_strv *notes,
		      struct ab_error *err)
{
	auto_rules struct rules all = { .len = 0 }, ours = { .len = 0 };

	if (load_rules(state, now, &all, err) < 0)
		return -1;
	if (!ab_find_row(all.v, all.len, workspace, next->workspace))
		return 0;
	next->claim = claim_rules(state, err);
	/* Read again under the lock: its last holder may have used them. */
	if (next->claim < 0 || load_rules(state, now, &ours, err) < 0)
		return -1;
	for (size_t i = 0; i < ours.len; i++) {
		const char *path = ours.v[i].write;

		if (strcmp(ours.v[i].workspace, next->workspace) != 0)
			continue;
		if (!leads_elsewhere(path)) {
			ab_strv_add(&next->write, path);
			continue;
		}
		ab_strv_addf(notes,
			     "%s, which you allowed for the next run, now leads elsewhere; the "
			     "rule was dropped",
			     path);
		if (forget_stored(state, now, next->workspace, path, err) < 0)
			return -1;
	}
	return 0;
}

void ab_next_run_take(const struct ab_policy_input *in, int64_t now, struct ab_next_run *ret,
		      struct ab_strv *notes)
{
	ab_autofree char *path = ab_state_dir(in->environ, in->home, in->cwd);
	ab_autofree char *file = path ? ab_path_join(path, FILE_NAME) : NULL;
	struct ab_next_run next = AB_NEXT_NONE;
	struct ab_error err = { 0 };
	struct ab_state state;

	*ret = next;
	/* The usual case. */
	if (!file || access(file, F_OK) < 0 || is_read_only(in))
		return;
	next.workspace = find_workspace(in);
	if (!next.workspace)
		return;
	if (ab_state_open(path, &state, &err) == 0) {
		take_rules(state.root, now, &next, notes, &err);
		ab_state_fini(&state);
	}
	if (err.code != AB_ENONE) {
		ab_strv_addf(notes, "paths that you allowed for the next run are not in force: %s",
			     err.text);
		ab_strv_fini(&next.write);
	}
	if (next.write.len == 0)
		ab_next_run_fini(&next);
	*ret = next;
}

void ab_next_run_peek(const struct ab_policy_input *in, int64_t now, struct ab_strv *ret_write)
{
	ab_autofree char *path = ab_state_dir(in->environ, in->home, in->cwd);
	ab_autoclose int state = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	ab_autofree char *workspace = find_workspace(in);
	auto_rules struct rules rules = { .len = 0 };
	struct ab_error err = { 0 };

	if (state < 0 || !workspace || is_read_only(in) || load_rules(state, now, &rules, &err) < 0)
		return;
	for (size_t i = 0; i < rules.len; i++)
		if (strcmp(rules.v[i].workspace, workspace) == 0 &&
		    !leads_elsewhere(rules.v[i].write))
			ab_strv_add(ret_write, rules.v[i].write);
}

static void release_claim(struct ab_next_run *next)
{
	/* Even if a process that we forked still has the descriptor. */
	if (next->claim >= 0)
		flock(next->claim, LOCK_UN);
	ab_closep(&next->claim);
}

int ab_next_run_use(int state, int64_t now, struct ab_next_run *next, struct ab_error *err)
{
	auto_rules struct rules rules = { .len = 0 };
	ab_autoclose int locked = -1;

	if (next->claim < 0)
		return 0;
	locked = ab_json_store_lock(&store, state, err);
	if (locked < 0 || load_rules(state, now, &rules, err) < 0)
		return -1;
	for (size_t i = 0; i < next->write.len; i++)
		forget_rule(&rules, next->workspace, next->write.v[i]);
	if (save_rules(state, &rules, err) < 0)
		return -1;
	release_claim(next);
	return 0;
}

int ab_next_run_return(int state, int64_t now, const struct ab_next_run *next, struct ab_error *err)
{
	bool had;

	for (size_t i = 0; i < next->write.len; i++)
		if (ab_next_run_add(state, now, next->workspace, next->write.v[i], &had, err) < 0)
			return -1;
	return 0;
}

void ab_next_run_fini(struct ab_next_run *next)
{
	release_claim(next);
	free(next->workspace);
	ab_strv_fini(&next->write);
	*next = (struct ab_next_run)AB_NEXT_NONE;
}
