#include "session/approvals.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "policy/digest.h"
#include "session/approvals_store.h"

const char *const ab_answer_names[] = {
	[AB_ANSWER_NO] = "no",
	[AB_ANSWER_ONCE] = "once",
	[AB_ANSWER_SESSION] = "session",
	[AB_ANSWER_ALWAYS] = "always",
};

bool ab_answer_parse(const char *name, enum ab_answer *ret)
{
	for (size_t i = 0; i < AB_COUNT(ab_answer_names); i++)
		if (strcmp(ab_answer_names[i], name) == 0) {
			*ret = (enum ab_answer)i;
			return true;
		}
	return false;
}

void ab_session_of_agent(const char *id, struct ab_session_key *ret)
{
	char hex[65];

	ab_sha256(id, strlen(id), hex);
	snprintf(ret->name, sizeof(ret->name), "agent-%.32s", hex);
}

void ab_approval_fini(struct ab_approval *a)
{
	free(a->command);
	free(a->cwd);
	free(a->rule);
	*a = (struct ab_approval){ 0 };
}

void ab_approval_list_fini(struct ab_approval_list *list)
{
	for (size_t i = 0; i < list->len; i++)
		ab_approval_fini(&list->v[i]);
	free(list->v);
	*list = (struct ab_approval_list){ 0 };
}

void ab_approval_list_give(struct ab_approval_list *list, struct ab_approval *a)
{
	list->v = ab_realloc(list->v, (list->len + 1) * sizeof(list->v[0]));
	list->v[list->len++] = *a;
	*a = (struct ab_approval){ 0 };
}

void ab_approval_key(const char *kind, const char *const *words, size_t nwords, const char *cwd,
		     const char *policy, char ret_key[65])
{
	ab_autobuf struct ab_buf b = { 0 };
	const char *const head[] = { "agentbox approval 1", kind, cwd, policy };

	/* No word holds a NUL, so no two lists of words look the same. */
	for (size_t i = 0; i < AB_COUNT(head); i++)
		ab_buf_add(&b, head[i], strlen(head[i]) + 1);
	for (size_t i = 0; i < nwords; i++)
		ab_buf_add(&b, words[i], strlen(words[i]) + 1);
	ab_sha256(b.data, b.len, ret_key);
}

/* Two that begin alike are revoked together: then one is asked again. */
static void make_id(struct ab_approval *a)
{
	snprintf(a->id, sizeof(a->id), "%c%.6s", a->session ? 's' : 'a', a->key);
}

void ab_approval_write(struct ab_buf *b, const struct ab_approval *a)
{
	ab_buf_printf(b, "{\"key\":\"%s\",\"answer\":\"%s\",\"command\":", a->key,
		      a->deny ? "deny" : "approve");
	ab_buf_json(b, a->command);
	ab_buf_puts(b, ",\"cwd\":");
	ab_buf_json(b, a->cwd);
	ab_buf_puts(b, ",\"rule\":");
	ab_buf_json(b, a->rule);
	ab_buf_printf(b, ",\"created\":%" PRId64 ",\"expires\":%" PRId64 "}", a->created,
		      a->expires);
}

static bool is_key(const char *s)
{
	return strlen(s) == 64 && strspn(s, "0123456789abcdef") == 64;
}

int ab_approval_read(json_t *json, struct ab_approval *ret, char *ret_why, size_t room)
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
	if (!is_key(key) || (!a.deny && strcmp(answer, "approve") != 0) || created < 0 ||
	    expires < 0) {
		snprintf(ret_why, room, "\"%.20s\": no such approval", key);
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

static bool is_ours(int fd, mode_t type, mode_t others)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	errno = EPERM;
	return (st.st_mode & S_IFMT) == type && st.st_uid == geteuid() && !(st.st_mode & others);
}

int ab_approval_open(int dir, const char *name)
{
	ab_autoclose int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	return fd >= 0 && is_ours(fd, S_IFREG, 022) ? ab_take_fd(&fd) : -1;
}

int ab_approval_folder(int dir, const char *name, bool make)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	ab_autoclose int fd = openat(dir, name, flags);

	if (fd < 0 && errno == ENOENT && make && (mkdirat(dir, name, 0700) == 0 || errno == EEXIST))
		fd = openat(dir, name, flags);
	return fd >= 0 && is_ours(fd, S_IFDIR, 077) ? ab_take_fd(&fd) : -1;
}

static int find_kept(const struct ab_policy_input *in, const char *key, char ret_id[8],
		     struct ab_error *err)
{
	struct ab_approval_list list = { 0 };
	ab_autoclose int state = -1;
	int found = 0;

	if (ab_kept_open(in, false, &state, err) < 0 ||
	    (state >= 0 && ab_kept_read(state, time(NULL), &list, err) < 0))
		return -1;
	for (size_t i = 0; i < list.len && !found; i++)
		if (strcmp(list.v[i].key, key) == 0) {
			memcpy(ret_id, list.v[i].id, sizeof(list.v[i].id));
			found = 1;
		}
	ab_approval_list_fini(&list);
	return found;
}

static int find_session(const struct ab_policy_input *in, const struct ab_session_key *session,
			const char *key, enum ab_memory *ret, char ret_id[8], struct ab_error *err)
{
	ab_autoclose int dir = -1;
	struct ab_approval a;
	int found;

	if (ab_sessions_open(in, session, false, &dir, err) < 0)
		return -1;
	found = dir < 0 ? 0 : ab_sessions_find(dir, key, &a, err);
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
		return ab_sessions_open(in, session, true, &dir, err) < 0
			       ? -1
			       : ab_sessions_add(dir, a, err);
	return ab_kept_open(in, true, &dir, err) < 0 ? -1 : ab_kept_add(dir, a->created, a, err);
}

int ab_approvals_list(const struct ab_policy_input *in, const struct ab_session_key *session,
		      struct ab_approval_list *ret, struct ab_error *err)
{
	struct ab_approval_list list = { 0 };
	ab_autoclose int dir = -1, state = -1;

	if (ab_sessions_open(in, session, false, &dir, err) < 0 ||
	    (dir >= 0 && ab_sessions_list(dir, &list, err) < 0) ||
	    ab_kept_open(in, false, &state, err) < 0 ||
	    (state >= 0 && ab_kept_read(state, time(NULL), &list, err) < 0)) {
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

	if (ab_sessions_open(in, session, false, &dir, err) < 0 ||
	    (dir >= 0 && ab_sessions_revoke(dir, id, &n, err) < 0))
		return -1;
	if (where == AB_REVOKE_BOTH &&
	    (ab_kept_open(in, false, &state, err) < 0 ||
	     (state >= 0 && ab_kept_revoke(state, time(NULL), id, &n, err) < 0)))
		return -1;
	*ret_n = n;
	return 0;
}
