#include "containers/left_containers.h"

#include <sys/file.h>
#include <sys/un.h>

#include "base/system/folder.h"
#include "containers/engine_client.h"

#define FOLDER "containers"

static int open_folder(int state)
{
	return openat(state, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int ab_left_containers_claim(int state, const char *run, const char *socket, struct ab_error *err)
{
	ab_autoclose int dir = -1, fd = -1;

	if (mkdirat(state, FOLDER, 0700) < 0 && errno != EEXIST)
		return ab_fail(err, AB_ESYSTEM, errno,
			       "create the folder " FOLDER " for the state");
	dir = open_folder(state);
	if (dir >= 0)
		fd = openat(dir, run, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	/* Lock it while it is still empty: others ignore an empty file. */
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 ||
	    ab_write_all(fd, socket, strlen(socket)) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "note the containers of run %s", run);
	return ab_take_fd(&fd);
}

void ab_left_containers_forget(int state, const char *run)
{
	ab_autoclose int dir = open_folder(state);

	if (dir >= 0)
		unlinkat(dir, run, 0);
}

static void sweep_run(int dir, const char *run, struct ab_strv *notes)
{
	ab_autoclose int fd = openat(dir, run, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct ab_error err = { 0 };
	size_t removed = 0;
	ssize_t n;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return;
	n = ab_read_full(fd, path, sizeof(path) - 1);
	if (n <= 0)
		return;
	path[n] = '\0';
	if (ab_engine_sweep(path, run, &removed, &err) < 0) {
		ab_strv_addf(notes, "containers of run %s may be left: %s", run, err.text);
		return;
	}
	if (removed)
		ab_strv_addf(notes, "removed %zu container%s that run %s left", removed,
			     removed == 1 ? "" : "s", run);
	unlinkat(dir, run, 0);
}

void ab_left_containers_sweep(int state, struct ab_strv *notes)
{
	ab_autodir DIR *folder = ab_folder_list(state, FOLDER);
	const char *run;

	while ((run = ab_folder_next(folder)) != NULL)
		if (run[0] != '.')
			sweep_run(dirfd(folder), run, notes);
}
