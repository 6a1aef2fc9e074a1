#include <mqueue.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/un.h>

#include "attack/attack.h"
#include "attack/trial.h"
#include "base/data/addr.h"
#include "base/process/helper.h"
#include "base/system/folder.h"

/* Below the trial's folder. */
static const struct {
	const char *path, *text; /* `text` NULL: a folder */
} plants[] = {
	{ "home/.ssh/id_ed25519", AB_PLANTED_SECRET },
	{ "home/.ssh/known_hosts", "host.example key\n" },
	{ "home/.netrc", AB_PLANTED_SECRET },
	{ "home/.aws/credentials", AB_PLANTED_SECRET },
	{ "home/.bashrc", "# planted\n" },
	{ "home/.config/pip", NULL },
	{ "home/.pip/pip.conf",
	  "[global]\nindex-url = https://me:" AB_PLANTED_LOGIN "@mirror.test/simple\n" },
	{ "home/.npmrc", "registry=https://me:" AB_PLANTED_LOGIN "@mirror.test/\n" },
	{ "home/shared", NULL },
	{ "home/project/README", "planted\n" },
	{ "home/project/.git/HEAD", "ref: refs/heads/main\n" },
	{ "home/project/.git/config",
	  "[core]\n\tbare = false\n[include]\n\tpath = ../first.inc\n" },
	{ "home/project/first.inc", "[include]\n\tpath = second.inc\n" },
	{ "home/project/second.inc", "[core]\n\tpager = cat\n" },
	{ "home/project/.git/rebase-merge/git-rebase-todo", "# planted\n" },
	{ "home/project/.git/hooks/README", "planted\n" },
	{ "home/project/.git/objects", NULL },
	{ "home/project/.git/refs/heads", NULL },
	{ "home/project/1/2/3/4/5/6/7/8/9/.git/HEAD", "ref: refs/heads/main\n" },
	{ "home/project/1/2/3/4/5/6/7/8/9/.git/config", "[core]\n\tbare = false\n" },
	{ "home/project/1/2/3/4/5/6/7/8/9/.git/hooks", NULL },
	{ "home/project/1/2/3/4/5/6/7/8/9/.git/objects", NULL },
	{ "home/project/1/2/3/4/5/6/7/8/9/.git/refs", NULL },
	{ "home/project/node_modules/m/.git/HEAD", "ref: refs/heads/main\n" },
	{ "home/project/node_modules/m/.git/config", "[core]\n\tbare = false\n" },
	{ "home/project/node_modules/m/.git/hooks", NULL },
	{ "home/project/node_modules/m/.git/objects", NULL },
	{ "home/project/node_modules/m/.git/refs", NULL },
	{ "outside/target", "planted\n" },
};

int ab_stage_plant(const struct ab_trial *t, const char *path, const char *text)
{
	ab_autofree char *full = ab_path_join(t->base, path);
	ab_autofree char *parent = text ? ab_path_parent(full) : ab_strdup(full);
	ab_autofree char *failed = ab_folder_make_all(parent, 0700);
	ab_autoclose int fd = -1;

	if (failed || !text)
		return failed ? -1 : 0;
	fd = open(full, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -1 : ab_write_all(fd, text, strlen(text));
}

static int plant_files(struct ab_stage *s, struct ab_error *err)
{
	int dir = s->trial->dir;

	for (size_t i = 0; i < AB_COUNT(plants); i++)
		if (ab_stage_plant(s->trial, plants[i].path, plants[i].text) < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "plant %s", plants[i].path);
	/* A second name of a protected file, and one of a hidden file. */
	if (linkat(dir, "home/project/.git/config", dir, "home/project/alias", 0) < 0 ||
	    linkat(dir, "home/.netrc", dir, "home/other-name", 0) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "plant a link");
	s->secret = openat(dir, "home/.ssh/id_ed25519", O_RDONLY | O_CLOEXEC);
	if (s->secret >= 0) {
		/* A number that no program in the box uses by chance. */
		int high = fcntl(s->secret, F_DUPFD_CLOEXEC, 200);

		close(s->secret);
		s->secret = high;
	}
	return s->secret < 0 ? ab_fail(err, AB_ESYSTEM, errno, "open a planted file") : 0;
}

static char *get_planted_path(const char *top, const char *tag)
{
	return ab_printf("%s/" AB_PLANTED_NAME "%s", top, tag);
}

const char *const ab_shared_folders[] = { "/tmp", "/dev/shm", NULL };

/* Plant a file in each folder that is private in the box. */
static void plant_shared(const struct ab_stage *s)
{
	for (size_t i = 0; ab_shared_folders[i]; i++) {
		ab_autofree char *path = get_planted_path(ab_shared_folders[i], s->tag);
		ab_autoclose int fd =
			open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

		(void)fd;
	}
}

/* False if the kernel has no System V memory, or our key is already in use. */
static bool plant_ipc(const struct ab_stage *s)
{
	ab_autofree char *name = get_planted_path("", s->tag);
	mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, NULL);

	if (queue != (mqd_t)-1)
		mq_close(queue);
	return shmget(s->key, 4096, IPC_CREAT | IPC_EXCL | 0600) >= 0;
}

/* Remove what is not in the trial's folder. */
static void remove_plants(const struct ab_stage *s)
{
	ab_autofree char *name = get_planted_path("", s->tag);
	int id = shmget(s->key, 0, 0);
	struct shmid_ds ds;

	if (id >= 0 && shmctl(id, IPC_STAT, &ds) == 0 && ds.shm_cpid == s->self)
		shmctl(id, IPC_RMID, NULL);
	mq_unlink(name);
	for (size_t i = 0; ab_shared_folders[i]; i++) {
		ab_autofree char *path = get_planted_path(ab_shared_folders[i], s->tag);

		unlink(path);
	}
}

int ab_unix_socket(const char *path, bool abstract, int type,
		   int (*use)(int fd, const struct sockaddr *at, socklen_t len))
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	size_t n = strlen(path);
	ab_autoclose int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (n + abstract >= sizeof(un.sun_path))
		return ab_errno(ENAMETOOLONG);
	memcpy(un.sun_path + abstract, path, n);
	if (fd < 0 || use(fd, (struct sockaddr *)&un,
			  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1)) < 0)
		return -1;
	return ab_take_fd(&fd);
}

int ab_stage_listen(const char *path, bool abstract)
{
	ab_autoclose int fd = ab_unix_socket(path, abstract, SOCK_STREAM, bind);

	return fd < 0 || listen(fd, 4) < 0 ? -1 : ab_take_fd(&fd);
}

int ab_stage_listen_loopback(int *ret_port)
{
	struct ab_sockaddr at = ab_sockaddr_loopback(false, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && bind(fd, &at.any, at.len) == 0 && listen(fd, 64) == 0 &&
	    getsockname(fd, &at.any, &at.len) == 0)
		*ret_port = ntohs(at.v4.sin_port);
	return fd;
}

static void plant_listeners(struct ab_stage *s)
{
	ab_autofree char *name = ab_printf(AB_PLANTED_NAME "%s", s->tag);
	ab_autofree char *path = ab_printf("%s/agent.sock", s->trial->home);
	ab_autofree char *first = ab_printf("%s/first.sock", s->trial->home);
	ab_autofree char *renamed = ab_printf("%s/renamed.sock", s->trial->home);

	s->listeners[0] = ab_stage_listen_loopback(&s->port);
	s->listeners[1] = ab_stage_listen(name, true);
	s->listeners[2] = ab_stage_listen(path, false);
	/* The kernel lists it by the name that it had. */
	s->listeners[3] = ab_stage_listen(first, false);
	if (s->listeners[3] >= 0 && rename(first, renamed) < 0)
		ab_closep(&s->listeners[3]);
}

/* Start a process of the host that the box must not see. It removes what was
 * planted when this process ends, however that happens. */
static int start_victim(struct ab_stage *s, struct ab_error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create a pipe");
	s->victim = fork();
	if (s->victim == 0) {
		char name[16], byte;

		snprintf(name, sizeof(name), AB_VICTIM_NAME "%s", s->tag);
		prctl(PR_SET_NAME, name);
		ab_close_others(&ends[0], 1);
		while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
			;
		remove_plants(s);
		_exit(0);
	}
	/* It survives signals to our group. Here and not in the child, which may not have run yet
	 * when we plant what it is to remove. */
	if (s->victim > 0)
		setpgid(s->victim, s->victim);
	close(ends[0]);
	s->control = ends[1];
	return s->victim < 0 ? ab_fail(err, AB_ESYSTEM, errno, "create a process") : 0;
}

/* Variables that a run must not pass on. */
static void plant_environment(struct ab_trial *t)
{
	ab_env_set(&t->env, "PLANTED_TOKEN", AB_PLANTED_SECRET);
	ab_env_set(&t->env, "PLANTED_API_KEY", AB_PLANTED_SECRET);
	ab_env_set(&t->env, "LD_PRELOAD", "/nonexistent/planted.so");
	ab_env_set(&t->env, "BASH_ENV", "/nonexistent/planted.sh");
	ab_env_set(&t->env, "DBUS_SESSION_BUS_ADDRESS", "unix:path=/planted");
	ab_env_set(&t->env, "PLANTED_HARMLESS", "1");
	ab_strv_addf(&t->env, "SSH_AUTH_SOCK=%s/agent.sock", t->home);
}

int ab_stage_open(struct ab_trial *trial, struct ab_stage *ret, struct ab_error *err)
{
	struct ab_stage s = { .trial = trial,
			      .self = getpid(),
			      .control = -1,
			      .secret = -1,
			      .listeners = { -1, -1, -1, -1 } };

	/* The trial's own id: "trial-k3x9q". */
	snprintf(s.tag, sizeof(s.tag), "%.7s", strchr(trial->name, '-') + 1);
	memcpy(&s.key, s.tag, sizeof(s.key));
	s.key &= 0x7fffffff;
	/* The victim first: it removes the rest in every case. */
	if (plant_files(&s, err) < 0 || start_victim(&s, err) < 0) {
		ab_stage_fini(&s);
		return -1;
	}
	plant_environment(trial);
	if (!plant_ipc(&s))
		s.key = 0;
	plant_shared(&s);
	plant_listeners(&s);
	ab_stand_ins_start(trial, &s.stand_ins);
	s.before = ab_stage_snapshot(&s);
	s.mounts = ab_stage_mounts(&s);
	*ret = s;
	return 0;
}

void ab_stage_fini(struct ab_stage *s)
{
	ab_closep(&s->secret);
	for (size_t i = 0; i < AB_COUNT(s->listeners); i++)
		ab_closep(&s->listeners[i]);
	ab_closep(&s->control);
	ab_stand_ins_stop(&s->stand_ins);
	if (s->victim > 0)
		(void)ab_await(s->victim);
	ab_free_all(s->before, s->mounts);
	*s = (struct ab_stage){ .control = -1, .secret = -1 };
}
