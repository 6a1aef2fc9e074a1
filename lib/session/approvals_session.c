#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/folder.h"
#include "base/mem.h"
#include "policy/layers.h"
#include "policy/paths.h"
#include "session/approvals_store.h"
#include "session/process.h"
#include "session/state.h"

enum {
	ENTRY_MAX = 64 * 1024,
	/* An agent's session has no process whose end could be seen. */
	AGENT_IDLE_S = 7 * 86400,
};

/* Ticks begin anew with each boot. */
static void get_boot(char ret[9])
{
	ab_autoclose int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, ret, 8) != 8)
		memcpy(ret, "00000000", 8);
	ret[8] = '\0';
}

void ab_session_of_caller(struct ab_session_key *ret)
{
	long sid = getsid(0);
	int64_t start = sid > 0 ? ab_process_started((pid_t)sid) : 0;
	char boot[9];

	ret->name[0] = '\0';
	if (!start)
		return;
	get_boot(boot);
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
	get_boot(own);
	return strcmp(boot, own) != 0 ||
	       (unsigned long long)ab_process_started((pid_t)sid) != start;
}

static void remove_session(int sessions, const char *name)
{
	ab_autoclose int dir = ab_approval_folder(sessions, name, false);
	ab_autodir DIR *list = dir < 0 ? NULL : ab_folder_list(dir, ".");
	const char *file;

	while ((file = ab_folder_next(list)) != NULL)
		unlinkat(dir, file, 0);
	unlinkat(sessions, name, AT_REMOVEDIR);
}

static void sweep(int sessions)
{
	ab_autodir DIR *list = ab_folder_list(sessions, ".");
	const char *name;

	while ((name = ab_folder_next(list)) != NULL)
		if (name[0] != '.' && is_stale(sessions, name))
			remove_session(sessions, name);
}

/*
 * The runtime folder ends with the login; it counts if it is ours alone. Under
 * sudo the variable often names that of another user.
 */
static int open_runtime(const struct ab_policy_input *in)
{
	const char *path = ab_environ_get(in->environ, "XDG_RUNTIME_DIR");

	return path && path[0] == '/' ? ab_approval_folder(AT_FDCWD, path, false) : -1;
}

static int open_in(int dir, const char *name, bool make, int *ret_dir, struct ab_error *err)
{
	*ret_dir = dir < 0 ? -1 : ab_approval_folder(dir, name, make);
	if (dir < 0 || *ret_dir >= 0 || (errno == ENOENT && !make))
		return 0;
	ab_fail(err, AB_ESYSTEM, errno, "open the folder %s of the sessions", name);
	return ab_hint(err, "it must be yours, and closed to others");
}

/* The folder of all sessions. */
static int open_sessions(const struct ab_policy_input *in, bool make, int *ret_dir,
			 struct ab_error *err)
{
	ab_autoclose int runtime = open_runtime(in), top = -1;

	if (runtime < 0 ? ab_kept_open(in, make, &top, err) < 0
			: open_in(runtime, "agentbox", make, &top, err) < 0)
		return -1;
	return open_in(top, "sessions", make, ret_dir, err);
}

int ab_sessions_open(const struct ab_policy_input *in, const struct ab_session_key *session,
		     bool make, int *ret_dir, struct ab_error *err)
{
	ab_autoclose int sessions = -1;

	*ret_dir = -1;
	if (!session->name[0] && make)
		return ab_fail(err, AB_ESYSTEM, 0,
			       "this session cannot be told from others: its "
			       "first process is gone");
	if (!session->name[0])
		return 0;
	if (open_sessions(in, make, &sessions, err) < 0)
		return -1;
	if (sessions >= 0)
		sweep(sessions);
	return open_in(sessions, session->name, make, ret_dir, err);
}

int ab_sessions_find(int session, const char *key, struct ab_approval *ret, struct ab_error *err)
{
	ab_autoclose int fd = ab_approval_open(session, key);
	ab_autofree char *text = NULL;
	json_error_t wrong = { 0 };
	json_t *json;
	size_t len;
	int result;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || ab_read_all(fd, ENTRY_MAX, &text, &len) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "read an answer of this session");
	json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &wrong);
	result = json ? ab_approval_read(json, ret, wrong.text, sizeof(wrong.text)) : -1;
	json_decref(json);
	if (result == 0 && strcmp(ret->key, key) == 0)
		return 1;
	if (result == 0)
		ab_approval_fini(ret);
	return ab_fail(err, AB_ESYSTEM, 0, "an answer of this session is broken: %s", wrong.text);
}

int ab_sessions_add(int session, const struct ab_approval *a, struct ab_error *err)
{
	ab_autobuf struct ab_buf b = { 0 };
	ab_autoclose int fd = -1;
	char tmp[80];

	ab_approval_write(&b, a);
	snprintf(tmp, sizeof(tmp), ".new-%d", getpid());
	unlinkat(session, tmp, 0);
	fd = openat(session, tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0 && ab_write_all(fd, b.data, b.len) == 0 &&
	    renameat(session, tmp, session, a->key) == 0)
		return 0;
	ab_fail(err, AB_ESYSTEM, errno, "write the answer down");
	unlinkat(session, tmp, 0);
	return -1;
}

int ab_sessions_list(int session, struct ab_approval_list *list, struct ab_error *err)
{
	ab_autodir DIR *names = ab_folder_list(session, ".");
	const char *key;
	int result = 0;

	while (result >= 0 && (key = ab_folder_next(names)) != NULL) {
		struct ab_approval a;

		if (key[0] == '.')
			continue;
		result = ab_sessions_find(session, key, &a, err);
		if (result > 0)
			ab_approval_list_give(list, &a);
	}
	return result < 0 ? -1 : 0;
}

int ab_sessions_revoke(int session, const char *id, size_t *n, struct ab_error *err)
{
	ab_autodir DIR *names = ab_folder_list(session, ".");
	const char *key;
	int result = 0;

	while (result == 0 && (key = ab_folder_next(names)) != NULL) {
		/* By name alone: a broken one can be revoked too. */
		if (key[0] == '.' ||
		    (id && (id[0] != 's' || strlen(id) != 7 || strncmp(key, id + 1, 6) != 0)))
			continue;
		if (unlinkat(session, key, 0) == 0)
			++*n;
		else if (errno != ENOENT)
			result = ab_fail(err, AB_ESYSTEM, errno, "forget an answer");
	}
	return result;
}
