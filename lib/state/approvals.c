#include "state/approvals.h"

#include "base/system/folder.h"
#include "base/system/new_file.h"
#include "base/text/sha256.h"
#include "policy/layers/layers.h"
#include "policy/values/paths.h"
#include "state/json_store.h"
#include "state/run_process.h"
#include "state/state.h"

const char *const ab_answer_names[] = {
	[AB_ANSWER_NO] = "no",
	[AB_ANSWER_ONCE] = "once",
	[AB_ANSWER_SESSION] = "session",
	[AB_ANSWER_ALWAYS] = "always",
};

void ab_session_of_agent(const char *id, struct ab_session_key *ret)
{
	char hex[65];

	ab_sha256(id, strlen(id), hex);
	snprintf(ret->name, sizeof(ret->name), "agent-%.32s", hex);
}

void ab_approval_fini(struct ab_approval *a)
{
	ab_free_all(a->command, a->cwd, a->rule);
	*a = (struct ab_approval){ 0 };
}

void ab_approval_list_fini(struct ab_approval_list *list)
{
	for (size_t i = 0; i < list->len; i++)
		ab_approval_fini(&list->v[i]);
	free(list->v);
	*list = (struct ab_approval_list){ 0 };
}

static void give_approval(struct ab_approval_list *list, struct ab_approval *a)
{
	*ab_append(list->v, list->len) = *a;
	*a = (struct ab_approval){ 0 };
}

void ab_approval_key(const char *kind, const char *const *words, size_t nwords, const char *cwd,
		     const char *policy, char ret_key[65])
{
	ab_autobuf struct ab_buf b = { 0 };
	const char *const head[] = { "agentbox approval 1", kind, cwd, policy };

	/* No word contains a NUL, so different lists of words never look the same. */
	for (size_t i = 0; i < AB_COUNT(head); i++)
		ab_buf_add(&b, head[i], strlen(head[i]) + 1);
	for (size_t i = 0; i < nwords; i++)
		ab_buf_add(&b, words[i], strlen(words[i]) + 1);
	ab_sha256(b.data, b.len, ret_key);
}

/* Two keys with the same beginning share an id and are revoked together; then one question is just
 * asked again. */
static void make_id(struct ab_approval *a)
{
	snprintf(a->id, sizeof(a->id), "%c%.6s", a->session ? 's' : 'a', a->key);
}

static void write_approval(struct ab_buf *b, const struct ab_approval *a)
{
	ab_buf_jsonf(b,
		     "{'key':%s,'answer':%s,'command':%s,'cwd':%s,'rule':%s,'created':%jd,"
		     "'expires':%jd}",
		     a->key, a->deny ? "deny" : "approve", a->command, a->cwd, a->rule, a->created,
		     a->expires);
}

/* -1: it is not valid, see `ret_why`. */
static int read_approval(json_t *json, struct ab_approval *ret, char *ret_why, size_t room)
{
	const char *key, *answer, *command, *cwd, *rule;
	json_int_t created, expires;
	json_error_t wrong;
	struct ab_approval a = { 0 };

	if (json_unpack_ex(json, &wrong, JSON_STRICT, "{s:s,s:s,s:s,s:s,s:s,s:I,s:I}", "key", &key,
			   "answer", &answer, "command", &command, "cwd", &cwd, "rule", &rule,
			   "created", &created, "expires", &expires) < 0) {
		snprintf(ret_why, room, "%s", wrong.text);
		return -1;
	}
	a.deny = strcmp(answer, "deny") == 0;
	if (strlen(key) != 64 || strspn(key, "0123456789abcdef") != 64 ||
	    (!a.deny && strcmp(answer, "approve") != 0) || created < 0 || expires < 0) {
		snprintf(ret_why, room, "\"%.20s\": invalid approval", key);
		return -1;
	}
	memcpy(a.key, key, sizeof(a.key));
	a.command = ab_strdup(command);
	a.cwd = ab_strdup(cwd);
	a.rule = ab_strdup(rule);
	a.created = created;
	a.expires = expires;
	a.session = expires == 0;
	make_id(&a);
	*ret = a;
	return 0;
}

#define FILE_NAME "approvals.json"

enum { ENTRIES_MAX = 1000 };

static const struct ab_json_store store = {
	.file = FILE_NAME,
	.list = "approvals",
	.max = 8 << 20,
	.hint = "it is ignored and left unchanged; to start over: agentbox approvals revoke --all",
};

static int open_kept_answers(const struct ab_policy_input *in, bool make, int *ret_dir,
			     struct ab_error *err)
{
	ab_autofree char *path = ab_state_dir(in->environ, in->home, in->cwd);
	struct ab_state state;

	if (!path) {
		ab_fail(err, AB_EUSAGE, 0, "no folder for agentbox's state");
		return ab_hint(err, "set HOME or AGENTBOX_STATE");
	}
	*ret_dir = -1;
	if (!make && access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	if (ab_state_open(path, &state, err) < 0)
		return -1;
	*ret_dir = ab_take_fd(&state.root);
	ab_state_fini(&state);
	return 0;
}

/* Add all entries that have not expired at `now`. After a failure the list is of no use. */
static int read_kept_answers(int state, int64_t now, struct ab_approval_list *list,
			     struct ab_error *err)
{
	char wrong[JSON_ERROR_TEXT_LENGTH];
	json_auto_t *entries = NULL;
	json_t *entry;
	int result = 0;
	size_t i;

	if (ab_json_store_read(&store, state, &entries, err) < 0)
		return -1;
	json_array_foreach(entries, i, entry)
	{
		struct ab_approval a;

		if (read_approval(entry, &a, wrong, sizeof(wrong)) < 0)
			return ab_json_store_broken(&store, wrong, err);
		if (a.session || a.deny)
			result = ab_json_store_broken(&store, "an entry never expires", err);
		if (result == 0 && a.expires > now)
			give_approval(list, &a);
		ab_approval_fini(&a);
	}
	return result;
}

static int write_file(int state, const struct ab_approval_list *list, struct ab_error *err)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_json_store_begin(&store, &b);
	for (size_t i = 0; i < list->len; i++) {
		ab_json_store_entry(&b);
		write_approval(&b, &list->v[i]);
	}
	return ab_json_store_replace(&store, state, &b, err);
}

static void drop_entry(struct ab_approval_list *list, size_t i)
{
	ab_approval_fini(&list->v[i]);
	memmove(&list->v[i], &list->v[i + 1], (list->len - i - 1) * sizeof(list->v[0]));
	list->len--;
}

static int add_to_kept(int state, int64_t now, const struct ab_approval *a, struct ab_error *err)
{
	ab_autoclose int locked = ab_json_store_lock(&store, state, err);
	ab_auto(ab_approval_list_fini) struct ab_approval_list list = { 0 };
	struct ab_approval copy = *a;

	if (locked < 0 || read_kept_answers(state, now, &list, err) < 0)
		return -1;
	for (size_t i = list.len; i-- > 0;)
		if (strcmp(list.v[i].key, a->key) == 0)
			drop_entry(&list, i);
	if (list.len >= ENTRIES_MAX)
		return ab_fail(err, AB_EUSAGE, 0,
			       "%d approvals are already saved; remove some with agentbox "
			       "approvals revoke",
			       ENTRIES_MAX);
	copy.command = ab_strdup(a->command);
	copy.cwd = ab_strdup(a->cwd);
	copy.rule = ab_strdup(a->rule);
	give_approval(&list, &copy);
	return write_file(state, &list, err);
}

/* All of them, even if the file is invalid. */
static int remove_all(int state, int64_t now, size_t *n, struct ab_error *err)
{
	ab_auto(ab_approval_list_fini) struct ab_approval_list list = { 0 };
	struct ab_error unread;

	if (read_kept_answers(state, now, &list, &unread) == 0)
		*n += list.len;
	if (unlinkat(state, FILE_NAME, 0) < 0 && errno != ENOENT)
		return ab_fail(err, AB_ESYSTEM, errno, "remove %s", FILE_NAME);
	return 0;
}

static int revoke_kept(int state, int64_t now, const char *id, size_t *n, struct ab_error *err)
{
	ab_autoclose int locked = ab_json_store_lock(&store, state, err);
	ab_auto(ab_approval_list_fini) struct ab_approval_list list = { 0 };
	size_t before;

	if (locked < 0)
		return -1;
	if (!id)
		return remove_all(state, now, n, err);
	if (read_kept_answers(state, now, &list, err) < 0)
		return -1;
	before = list.len;
	for (size_t i = list.len; i-- > 0;)
		if (strcmp(list.v[i].id, id) == 0)
			drop_entry(&list, i);
	*n += before - list.len;
	return before == list.len ? 0 : write_file(state, &list, err);
}

enum {
	ENTRY_MAX = 64 * 1024,
	/* An agent's session has no process whose end we could see. */
	AGENT_IDLE_S = 7 * 86400,
};

/* Clock ticks start at zero with each boot. */
static void read_boot_id(char ret[9])
{
	ab_autoclose int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, ret, 8) != 8)
		memcpy(ret, "00000000", 8);
	ret[8] = '\0';
}

void ab_session_of_caller(struct ab_session_key *ret)
{
	long sid = getsid(0);
	int64_t start = sid > 0 ? ab_run_process_started((pid_t)sid) : 0;
	char boot[9];

	ret->name[0] = '\0';
	if (!start)
		return;
	read_boot_id(boot);
	snprintf(ret->name, sizeof(ret->name), "terminal-%s-%ld-%llu", boot, sid,
		 (unsigned long long)start);
}

static bool is_stale(int sessions, const char *name)
{
	char boot[9], own[9];
	unsigned long long start;
	struct stat st;
	long sid;

	if (strncmp(name, "agent-", 6) == 0)
		return fstatat(sessions, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		       time(NULL) - st.st_mtime > AGENT_IDLE_S;
	if (sscanf(name, "terminal-%8[0-9a-f]-%ld-%llu", boot, &sid, &start) != 3)
		return false;
	read_boot_id(own);
	return strcmp(boot, own) != 0 ||
	       (unsigned long long)ab_run_process_started((pid_t)sid) != start;
}

static void remove_session(int sessions, const char *name)
{
	ab_autoclose int dir = ab_private_folder(sessions, name, false);
	ab_autodir DIR *list = dir < 0 ? NULL : ab_folder_list(dir, ".");
	const char *file;

	while ((file = ab_folder_next(list)) != NULL)
		unlinkat(dir, file, 0);
	unlinkat(sessions, name, AT_REMOVEDIR);
}

static void remove_stale_sessions(int sessions)
{
	ab_autodir DIR *list = ab_folder_list(sessions, ".");
	const char *name;

	while ((name = ab_folder_next(list)) != NULL)
		if (name[0] != '.' && is_stale(sessions, name))
			remove_session(sessions, name);
}

/* The runtime folder ends with the login; it is used if it is private to us. Under sudo the
 * variable often names another user's. */
static int open_runtime(const struct ab_policy_input *in)
{
	const char *path = ab_environ_get(in->environ, "XDG_RUNTIME_DIR");

	return path && path[0] == '/' ? ab_private_folder(AT_FDCWD, path, false) : -1;
}

static int open_folder(int dir, const char *name, bool make, int *ret_dir, struct ab_error *err)
{
	*ret_dir = dir < 0 ? -1 : ab_private_folder(dir, name, make);
	if (dir < 0 || *ret_dir >= 0 || (errno == ENOENT && !make))
		return 0;
	ab_fail(err, AB_ESYSTEM, errno, "open the sessions folder %s", name);
	return ab_hint(err, "it must be private to you");
}

/* The folder of all sessions. */
static int open_sessions(const struct ab_policy_input *in, bool make, int *ret_dir,
			 struct ab_error *err)
{
	ab_autoclose int runtime = open_runtime(in), top = -1;

	if (runtime < 0 ? open_kept_answers(in, make, &top, err) < 0
			: open_folder(runtime, "agentbox", make, &top, err) < 0)
		return -1;
	return open_folder(top, "sessions", make, ret_dir, err);
}

/* The folder of a session; *ret_dir is -1 if there is none. `make`: create it. */
static int open_session(const struct ab_policy_input *in, const struct ab_session_key *session,
			bool make, int *ret_dir, struct ab_error *err)
{
	ab_autoclose int sessions = -1;

	*ret_dir = -1;
	if (!session->name[0] && make)
		return ab_fail(err, AB_ESYSTEM, 0,
			       "cannot identify this session: its first process is gone");
	if (!session->name[0])
		return 0;
	if (open_sessions(in, make, &sessions, err) < 0)
		return -1;
	if (sessions >= 0)
		remove_stale_sessions(sessions);
	return open_folder(sessions, session->name, make, ret_dir, err);
}

/* 1: found. */
static int find_in_session(int session, const char *key, struct ab_approval *ret,
			   struct ab_error *err)
{
	ab_autoclose int fd = ab_private_file(session, key);
	ab_autofree char *text = NULL;
	json_error_t wrong = { 0 };
	json_auto_t *json = NULL;
	size_t len;
	int result;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || ab_read_all(fd, ENTRY_MAX, &text, &len) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "read a remembered answer");
	json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &wrong);
	result = json ? read_approval(json, ret, wrong.text, sizeof(wrong.text)) : -1;
	if (result == 0 && strcmp(ret->key, key) == 0)
		return 1;
	if (result == 0)
		ab_approval_fini(ret);
	return ab_fail(err, AB_ESYSTEM, 0, "a remembered answer of this session is invalid: %s",
		       wrong.text);
}

static int add_to_session(int session, const struct ab_approval *a, struct ab_error *err)
{
	ab_autobuf struct ab_buf b = { 0 };

	write_approval(&b, a);
	if (ab_new_file_write(session, a->key, NULL, b.data, b.len, AB_NEW_FILE_NO_SYNC) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "save the answer");
	return 0;
}

static int list_session(int session, struct ab_approval_list *list, struct ab_error *err)
{
	ab_autodir DIR *names = ab_folder_list(session, ".");
	const char *key;
	int result = 0;

	while (result >= 0 && (key = ab_folder_next(names)) != NULL) {
		struct ab_approval a;

		if (key[0] == '.')
			continue;
		result = find_in_session(session, key, &a, err);
		if (result > 0)
			give_approval(list, &a);
	}
	return result < 0 ? -1 : 0;
}

static int revoke_in_session(int session, const char *id, size_t *n, struct ab_error *err)
{
	ab_autodir DIR *names = ab_folder_list(session, ".");
	const char *key;
	int result = 0;

	while (result == 0 && (key = ab_folder_next(names)) != NULL) {
		/* By name alone: an invalid one can be revoked too. */
		if (key[0] == '.' ||
		    (id && (id[0] != 's' || strlen(id) != 7 || strncmp(key, id + 1, 6) != 0)))
			continue;
		if (unlinkat(session, key, 0) == 0)
			++*n;
		else if (errno != ENOENT)
			result = ab_fail(err, AB_ESYSTEM, errno, "remove a remembered answer");
	}
	return result;
}

static int find_kept(const struct ab_policy_input *in, const char *key, char ret_id[8],
		     struct ab_error *err)
{
	ab_auto(ab_approval_list_fini) struct ab_approval_list list = { 0 };
	ab_autoclose int state = -1;
	const struct ab_approval *found;

	if (open_kept_answers(in, false, &state, err) < 0 ||
	    (state >= 0 && read_kept_answers(state, time(NULL), &list, err) < 0))
		return -1;
	found = ab_find_row(list.v, list.len, key, key);
	if (found)
		memcpy(ret_id, found->id, sizeof(found->id));
	return found != NULL;
}

static int find_session(const struct ab_policy_input *in, const struct ab_session_key *session,
			const char *key, enum ab_memory *ret, char ret_id[8], struct ab_error *err)
{
	ab_autoclose int dir = -1;
	struct ab_approval a;
	int found;

	if (open_session(in, session, false, &dir, err) < 0)
		return -1;
	found = dir < 0 ? 0 : find_in_session(dir, key, &a, err);
	if (found > 0) {
		*ret = a.deny ? AB_MEMORY_DENIED : AB_MEMORY_SESSION;
		memcpy(ret_id, a.id, sizeof(a.id));
		ab_approval_fini(&a);
	}
	return found;
}

int ab_approvals_find(const struct ab_policy_input *in, const struct ab_session_key *session,
		      const char *key, enum ab_memory *ret, char ret_id[8], struct ab_error *err)
{
	int found;

	*ret = AB_MEMORY_NONE;
	found = find_session(in, session, key, ret, ret_id, err);
	if (found != 0)
		return found < 0 ? -1 : 0;
	found = find_kept(in, key, ret_id, err);
	if (found > 0)
		*ret = AB_MEMORY_ALWAYS;
	return found < 0 ? -1 : 0;
}

int ab_approvals_add(const struct ab_policy_input *in, const struct ab_session_key *session,
		     struct ab_approval *a, struct ab_error *err)
{
	ab_autoclose int dir = -1;

	a->created = time(NULL);
	a->expires = a->session ? 0 : a->created + AB_ALWAYS_DAYS * 86400;
	make_id(a);
	if (a->session)
		return open_session(in, session, true, &dir, err) < 0 ? -1
								      : add_to_session(dir, a, err);
	return open_kept_answers(in, true, &dir, err) < 0 ? -1
							  : add_to_kept(dir, a->created, a, err);
}

int ab_approvals_list(const struct ab_policy_input *in, const struct ab_session_key *session,
		      struct ab_approval_list *ret, struct ab_error *err)
{
	struct ab_approval_list list = { 0 };
	ab_autoclose int dir = -1, state = -1;

	if (open_session(in, session, false, &dir, err) < 0 ||
	    (dir >= 0 && list_session(dir, &list, err) < 0) ||
	    open_kept_answers(in, false, &state, err) < 0 ||
	    (state >= 0 && read_kept_answers(state, time(NULL), &list, err) < 0)) {
		ab_approval_list_fini(&list);
		return -1;
	}
	*ret = list;
	return 0;
}

int ab_approvals_revoke(const struct ab_policy_input *in, const struct ab_session_key *session,
			enum ab_revoke where, const char *id, size_t *ret_n, struct ab_error *err)
{
	ab_autoclose int dir = -1, state = -1;
	size_t n = 0;

	if (open_session(in, session, false, &dir, err) < 0 ||
	    (dir >= 0 && revoke_in_session(dir, id, &n, err) < 0))
		return -1;
	if (where == AB_REVOKE_BOTH &&
	    (open_kept_answers(in, false, &state, err) < 0 ||
	     (state >= 0 && revoke_kept(state, time(NULL), id, &n, err) < 0)))
		return -1;
	*ret_n = n;
	return 0;
}
