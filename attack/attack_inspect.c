/* After the attack: check whether anything outside has changed or is left over. */
#include <dirent.h>
#include <mqueue.h>
#include <sys/shm.h>
#include <sys/wait.h>

#include "base/process/mount_table.h"
#include "base/system/folder.h"
#include "base/text/sha256.h"
#include "attack/attack.h"
#include "attack/trial.h"

static void hash_file(int dir, const char *name, char ret_hex[65])
{
	ab_autoclose int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ab_autofree char *data = NULL;
	size_t len = 0;

	if (fd >= 0 && ab_read_all(fd, 1 << 20, &data, &len) == 0)
		ab_sha256(data, len, ret_hex);
}

/* Add a line for everything below `dir`. */
static void list_files(int dir, const char *path, int depth, struct ab_strv *ret)
{
	ab_autodir DIR *list = ab_folder_list(dir, ".");
	const char *name;

	while ((name = ab_folder_next(list)) != NULL) {
		ab_autofree char *at = NULL;
		ab_autoclose int sub = -1;
		char hash[65] = "";
		struct stat st;

		if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		at = ab_printf("%s/%s", path, name);
		if (S_ISREG(st.st_mode))
			hash_file(dir, name, hash);
		ab_strv_addf(ret, "%s %o %u %s", at, st.st_mode, st.st_uid, hash);
		if (!S_ISDIR(st.st_mode) || depth == 16)
			continue;
		sub = openat(dir, name, OPEN_DIR);
		if (sub >= 0)
			list_files(sub, at, depth + 1, ret);
	}
}

char *ab_stage_snapshot(const struct ab_stage *s)
{
	static const char *const tops[] = { "home", "outside" };
	ab_autostrv struct ab_strv lines = { 0 };
	struct ab_buf b = { 0 };

	for (size_t i = 0; i < AB_COUNT(tops); i++) {
		ab_autoclose int dir = openat(s->trial->dir, tops[i], OPEN_DIR);

		if (dir >= 0)
			list_files(dir, tops[i], 0, &lines);
	}
	ab_strv_sort(&lines);
	for (size_t i = 0; i < lines.len; i++)
		ab_buf_printf(&b, "%s\n", lines.v[i]);
	return ab_buf_take(&b);
}

/* The trial's mounts in our own namespace: there must be none. */
char *ab_stage_mounts(const struct ab_stage *s)
{
	struct ab_mount_table table;
	struct ab_buf b = { 0 };

	if (ab_mount_table_read(&table) < 0)
		return ab_strdup("cannot be read");
	/* Others can choose the rest of the line. */
	for (size_t i = 0; i < table.n; i++)
		if (strstr(table.v[i].root, s->trial->name) ||
		    ab_path_within(table.v[i].path, s->trial->base))
			ab_buf_printf(&b, "%s\n", table.v[i].path);
	ab_mount_table_fini(&table);
	return ab_buf_take(&b);
}

static void add_answer(struct ab_attack *attack, const char *name, bool held, const char *good,
		       const char *bad)
{
	ab_attack_add(attack, "afterwards, outside", name, held ? AB_HOLD_HELD : AB_HOLD_BROKEN,
		      held ? good : bad);
}

/* Other users can connect, too. Of a Unix socket the kernel knows who did; of TCP only the box has the word. */
static bool is_from_box(const struct ab_stage *s, int fd)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);
	char said[AB_WORD_SIZE] = { 0 };

	return (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.pid &&
		peer.uid == geteuid()) ||
	       (recv(fd, said, sizeof(said) - 1, MSG_DONTWAIT) > 0 &&
		strcmp(said, s->stand_ins.word) == 0);
}

static bool are_listeners_untouched(const struct ab_stage *s)
{
	bool untouched = true;

	for (size_t i = 0; i < AB_COUNT(s->listeners); i++) {
		int fd;

		while (s->listeners[i] >= 0 && (fd = accept(s->listeners[i], NULL, NULL)) >= 0) {
			untouched = untouched && !is_from_box(s, fd);
			close(fd);
		}
	}
	return untouched;
}

static bool is_ipc_untouched(const struct ab_stage *s)
{
	ab_autofree char *name = ab_printf("/" AB_PLANTED_NAME "%s", s->tag);
	int id = s->key ? shmget(s->key, 0, 0) : -1;
	mqd_t queue = mq_open(name, O_RDONLY | O_CLOEXEC);
	struct mq_attr attr = { 0 };
	struct shmid_ds ds = { 0 };

	if (queue != (mqd_t)-1) {
		mq_getattr(queue, &attr);
		mq_close(queue);
	}
	return attr.mq_curmsgs == 0 &&
	       (!s->key || (id >= 0 && shmctl(id, IPC_STAT, &ds) == 0 && ds.shm_atime == 0));
}

/* Files that the inside left in its /tmp and /dev/shm must not be in ours. */
static bool is_nothing_leaked(const struct ab_stage *s)
{
	for (size_t i = 0; ab_shared_folders[i]; i++) {
		ab_autofree char *path =
			ab_printf("%s/" AB_INSIDE_NAME "%s", ab_shared_folders[i], s->tag);
		struct stat st;

		if (lstat(path, &st) == 0 && st.st_uid == geteuid())
			return false;
	}
	return true;
}

#define PROCESS "Name:\t" AB_ATTACKER_NAME
static bool is_no_process_left(const struct ab_stage *s)
{
	ab_autodir DIR *list = ab_folder_list(AT_FDCWD, "/proc");
	const char *pid, *uid;

	while ((pid = ab_folder_next(list)) != NULL) {
		char path[300], text[512] = { 0 };
		ab_autoclose int fd = -1;

		snprintf(path, sizeof(path), "/proc/%s/status", pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
			continue;
		uid = strstr(text, "\nUid:\t");
		text[strcspn(text, "\n")] = '\0';
		if (strncmp(text, PROCESS, strlen(PROCESS)) == 0 && strstr(text, s->tag) && uid &&
		    strtoul(uid + 6, NULL, 10) == geteuid())
			return false;
	}
	return list != NULL;
}

static bool is_run_closed(const struct ab_stage *s)
{
	ab_autoclose int live = openat(s->trial->dir, "state/live", OPEN_DIR);
	ab_autostrv struct ab_strv left = { 0 };

	if (live >= 0)
		list_files(live, "", 16, &left);
	return live >= 0 && left.len == 0;
}

void ab_stage_inspect(struct ab_stage *s, struct ab_attack *attack)
{
	ab_autofree char *after = NULL, *mounts = ab_stage_mounts(s);

	/* Our own command wrote it. */
	(void)unlinkat(s->trial->dir, AB_LATE_FILE, 0);
	after = ab_stage_snapshot(s);
	add_answer(attack, "files in and around the workspace", strcmp(s->before, after) == 0,
		   "unchanged, byte for byte", "something has changed");
	add_answer(attack, "sockets of the host", are_listeners_untouched(s), "no connection",
		   "one was connected to");
	if (s->stand_ins.pid > 0) {
		add_answer(attack, "servers that the box may ask",
			   s->stand_ins.heard->requests == 0, "only what is allowed",
			   "something denied arrived");
		add_answer(attack, "the container engine", s->stand_ins.heard->bytes == 0,
			   "only judged requests", "it heard something else");
	}
	add_answer(attack, "shared memory and queues of the host", is_ipc_untouched(s), "untouched",
		   "touched");
	add_answer(attack, "the host's /tmp and /dev/shm", is_nothing_leaked(s), "nothing leaked",
		   "something leaked");
	add_answer(attack, "the host's planted process", waitpid(s->victim, NULL, WNOHANG) == 0,
		   "alive", "ended");
	add_answer(attack, "processes of the box", is_no_process_left(s), "all gone",
		   "one is left");
	add_answer(attack, "mounts", strcmp(s->mounts, mounts) == 0, "none left", "one is left");
	add_answer(attack, "the record of the run", is_run_closed(s), "closed", "left open");
}
