/* Ways to reach services of the host without the network. */
#include <mqueue.h>
#include <sys/shm.h>

#include "attack/attack.h"
#include "sandbox/seccomp/seccomp.h"

static int dial_unix(const char *path, bool abstract, int type)
{
	ab_autoclose int fd = ab_unix_socket(path, abstract, type, connect);

	return fd < 0 ? -1 : 0;
}

static enum ab_hold connect_abstract_socket(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autofree char *name = ab_printf(AB_PLANTED_NAME "%s", a->tag);

	return ab_refused(a, dial_unix(name, true, SOCK_STREAM));
}

/* Tries every type of socket; EPROTOTYPE means that something listens. */
static enum ab_hold connect_path_socket(struct ab_attacker *a, const struct ab_try *t)
{
	const char *path = ab_attacker_path(a, t->arg);

	for (int type = SOCK_STREAM; type <= SOCK_DGRAM; type++)
		if (dial_unix(path, false, type) == 0 || errno == EPROTOTYPE || errno == EAGAIN)
			return ab_broken(a, "something answers");
	return ab_held(a, "%s", strerror(errno));
}

static const char *use_own_sockets(struct ab_attacker *a)
{
	ab_autofree char *name = ab_printf(AB_INSIDE_NAME "%s", a->tag);
	ab_autofree char *path = ab_printf("%.80s/own.sock", ab_attacker_tmp());
	ab_autoclose int fd = ab_stage_listen(path, false), hidden = -1;

	if (fd < 0 || dial_unix(path, false, SOCK_STREAM) < 0)
		return "using its own socket";
	unlink(path);
	hidden = ab_stage_listen(name, true);
	return hidden < 0 || dial_unix(name, true, SOCK_STREAM) < 0
		       ? "using its own abstract socket"
		       : NULL;
}

static enum ab_hold open_host_shm(struct ab_attacker *a, const struct ab_try *t)
{
	if (!a->key)
		return ab_untried(a, "this kernel has no System V memory");
	return ab_refused(a, shmget(a->key, 0, 0));
}

static enum ab_hold open_host_queue(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autofree char *name = ab_printf("/" AB_PLANTED_NAME "%s", a->tag);
	mqd_t queue = mq_open(name, O_RDWR | O_CLOEXEC);

	if (queue == (mqd_t)-1)
		return ab_held(a, "%s", strerror(errno));
	mq_close(queue);
	return ab_broken(a, "it worked");
}

static enum ab_hold find_host_file(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autofree char *path = ab_printf("%s/" AB_PLANTED_NAME "%s", t->arg, a->tag);

	return ab_seccomp_marked() ? ab_refused_fd(a, open(path, O_RDONLY | O_CLOEXEC))
				   : ab_refused(a, access(path, F_OK));
}

static const char *use_own_shm(struct ab_attacker *a)
{
	int id = shmget(IPC_PRIVATE, 4096, 0600);
	void *p = id < 0 ? (void *)-1 : shmat(id, NULL, 0);

	if (id >= 0)
		shmctl(id, IPC_RMID, NULL);
	return p == (void *)-1 ? "using its own shared memory" : NULL;
}

/* Leave a file on purpose: the outside checks whether it leaked. */
static const char *leave_file(const char *top, const char *tag)
{
	ab_autofree char *path = ab_printf("%s/" AB_INSIDE_NAME "%s", top, tag);
	ab_autoclose int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return fd < 0 ? "creating its own file there" : NULL;
}

static const char *leave_in_tmp(struct ab_attacker *a)
{
	return leave_file(ab_attacker_tmp(), a->tag);
}

static const char *leave_in_shm(struct ab_attacker *a)
{
	return leave_file("/dev/shm", a->tag);
}

static const struct ab_try ipc[] = {
	{ "shared memory by its key", open_host_shm, NULL, 0, use_own_shm,
	  .claim = AB_CLAIM_MOUNTS },
	{ "a message queue by its name", open_host_queue },
	{ "a file in the host's /tmp", find_host_file, "/tmp", 0, leave_in_tmp },
	{ "a file in the host's /dev/shm", find_host_file, "/dev/shm", 0, leave_in_shm,
	  .claim = AB_CLAIM_MOUNTS },
	{ "an abstract socket", connect_abstract_socket, NULL, 0, use_own_sockets,
	  .claim = AB_CLAIM_MOUNTS },
	{ "an agent's socket in the home folder", connect_path_socket, "~/agent.sock" },
	{ "a socket that no list has", connect_path_socket, "~/renamed.sock" },
	{ "the system bus", connect_path_socket, "/run/dbus/system_bus_socket" },
	{ "the system bus by its old path", connect_path_socket,
	  "/var/run/dbus/system_bus_socket" },
	{ "the engine behind the container filter", connect_path_socket, "@engine.sock" },
	{ "Docker", connect_path_socket, "/var/run/docker.sock" },
	{ "containerd", connect_path_socket, "/run/containerd/containerd.sock" },
	{ "the service manager", connect_path_socket, "/run/systemd/private" },
	{ "the journal", connect_path_socket, "/run/systemd/journal/socket" },
	{ "the log", connect_path_socket, "/dev/log" },
	{ "the resolver", connect_path_socket, "/run/systemd/resolve/io.systemd.Resolve" },
	{ "the name service cache", connect_path_socket, "/var/run/nscd/socket" },
	{ "Windows, from WSL2", connect_path_socket, "/run/WSL/1_interop" },
	{ "the display", connect_path_socket, "/tmp/.X11-unix/X0" },
};
const struct ab_tries ab_tries_ipc = { "services of the host", ipc, AB_COUNT(ipc) };
