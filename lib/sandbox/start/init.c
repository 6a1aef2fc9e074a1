/*
 * Theory of operation.
 *
 * Build: every step either succeeds or sends the error to the supervisor and
 * exits. Nothing of a half-built box remains, because all of it is in this
 * process's namespaces. The order matters:
 *
 *	begin			the supervisor has read the policy meanwhile
 *	network			next: it needs no plan, and the supervisor
 *				can bring it up meanwhile
 *	max_user_namespaces	before /proc/sys is read-only; 0 at first, and more
 *				if the specification permits it
 *	tables of the user	the same
 *	mounts			before Landlock, which forbids them
 *	capture			before the capabilities are dropped: it may
 *				need low ports
 *	capabilities		before the command's process exists, which
 *				inherits the empty sets
 *
 * Engine: the box begins with the best engine that the policy permits. Two steps
 * need what a container may refuse, the limit of user namespaces and a new /proc:
 * there init steps down to the next engine (sandbox/plan/engine.h). Nothing else
 * that fails makes a box weaker. An engine without namespaces is chosen before init
 * starts (sandbox/start/launch.c), and takes fewer steps.
 *
 * Then it serves: init_serve.c.
 */
#include "sandbox/start/init.h"

#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "landlock/landlock.h"
#include "sandbox/fence/carve.h"
#include "sandbox/fence/descendants.h"
#include "sandbox/mount/stdio_view.h"
#include "sandbox/plan/engine.h"
#include "sandbox/start/bridge.h"
#include "sandbox/start/caps.h"
#include "sandbox/start/launch.h"
#include "sandbox/start/limits.h"
#include "sandbox/start/target.h"

/* What cannot be sent is reported, and if that cannot be sent either, our status is the step: the box
 * ends, and if the supervisor is not gone, it tells that. */
static void send_with(struct init *in, struct ab_msg *msg, size_t body, const int *fds, size_t nfds)
{
	if (ab_send_fds(in->sock, msg, AB_MSG_LEN(body), fds, nfds) == 0)
		return;
	if (msg->type == AB_MSG_FAILED)
		ab_init_exit(in, AB_INIT_UNTOLD + (int)in->step);
	ab_init_fail(in, errno, "send a message to the supervisor");
}

void ab_init_send_up(struct init *in, enum ab_msg_type type, int value, int fd)
{
	struct ab_msg msg = { .type = type, .value = value };

	send_with(in, &msg, 0, &fd, fd >= 0);
}

_Noreturn void ab_init_exit(struct init *in, int status)
{
	/* The command may still wait for the supervisor, which is gone. */
	if (!ab_box_engines[in->engine].namespaces)
		ab_descendants_end(in->fenced);
	_exit(status);
}

/* A socket that the box can connect to and the supervisor listens on, in a private folder. */
static int send_listener(struct init *in, const char *path, int type, enum ab_msg_type as,
			 struct ab_error *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	ab_autoclose int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 64) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "listen at %s", path);
	ab_init_send_up(in, as, 0, fd);
	return 0;
}

/* Everything that connects to it is in the box. */
static int open_agent(struct init *in, struct ab_error *err)
{
	return in->spec.agent ? send_listener(in, AB_AGENT_SOCKET, SOCK_STREAM, AB_MSG_AGENT, err)
			      : 0;
}

/* Close everything that the caller had open and did not name with --fd. */
static int close_stray_fds(struct init *in, struct ab_error *err)
{
	const struct ab_strv *named = &in->spec.keep_fds;
	size_t n = named->len;
	ab_autofree int *keep = ab_alloc((n + 1 + in->walls.len) * sizeof(keep[0]));

	for (size_t i = 0; i < named->len; i++)
		keep[i] = (int)strtol(named->v[i], NULL, 10);
	keep[n++] = in->sock;
	for (size_t i = 0; i < in->walls.len; i++)
		keep[n++] = in->walls.v[i];
	if (ab_close_others(keep, n) < 0 || fcntl(in->sock, F_SETFD, FD_CLOEXEC) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "close inherited file descriptors");
	return 0;
}

static bool is_refusal(int errnum)
{
	/* ENOENT: something covers a part of /proc. */
	return errnum == EPERM || errnum == EACCES || errnum == EROFS || errnum == ENOENT;
}

/* The machine refuses what this engine needs. May a weaker one take its place? */
static bool step_down(struct init *in, int errnum)
{
	if (!in->may_step_down || !is_refusal(errnum) || !ab_box_engines[in->engine + 1].namespaces)
		return false;
	in->engine++;
	return true;
}

static int forbid_user_namespaces(struct init *in, struct ab_error *err)
{
	int errnum;

	if (ab_write_file(AT_FDCWD, "/proc/sys/user/max_user_namespaces", "0") == 0)
		return 0;
	errnum = errno;
	/* The filter forbids them too, and the proof tries it. */
	if (!ab_box_engines[in->engine].seals_user_ns ? is_refusal(errnum) : step_down(in, errnum))
		return 0;
	return ab_fail(err, AB_ESYSTEM, errnum, "forbid further user namespaces");
}

/* Where a container refuses it, nothing that is claimed is lost. */
static int share_tables(struct init *in, struct ab_error *err)
{
	int r = ab_limits_share();

	if (r == 0 || (!ab_box_engines[in->engine].seals_user_ns && is_refusal(-r)))
		return 0;
	return ab_fail(err, AB_ESYSTEM, -r, "limit the box's part of the user's tables");
}

/* Each one takes memory of the kernel, which no limit of the box counts. */
static int permit_user_namespaces(const struct init *in, struct ab_error *err)
{
	static const char *const kinds[] = {
		"/proc/sys/user/max_user_namespaces",
		"/proc/sys/user/max_pid_namespaces",
		"/proc/sys/user/max_net_namespaces",
	};

	/* Where a limit cannot be written, it is not 0 either. */
	for (size_t i = 0; i < AB_COUNT(kinds); i++)
		if (ab_write_file(AT_FDCWD, kinds[i], "256") < 0 &&
		    (ab_box_engines[in->engine].seals_user_ns || !is_refusal(errno)))
			return ab_fail(err, AB_ESYSTEM, errno, "permit user namespaces");
	return 0;
}

/* Without a pid namespace nothing ends with init: init must find them all. */
static int adopt_descendants(struct init *in, struct ab_error *err)
{
	(void)in;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "become the parent of orphans");
	return 0;
}

/* The supervisor has read the policy meanwhile. */
static int read_begin(struct init *in, struct ab_error *err)
{
	static struct ab_msg msg;
	struct ab_begin *begin = &msg.u.begin;
	ssize_t n = ab_recv_fds(in->sock, &msg, sizeof(msg), NULL, NULL, 0);

	/* 0: the supervisor gave up and reported it itself. */
	if (n <= 0)
		return ab_fail(err, AB_ESYSTEM, n < 0 ? errno : 0, "receive how to begin");
	if (n != (ssize_t)AB_MSG_LEN(sizeof(*begin)) || msg.type != AB_MSG_BEGIN ||
	    begin->engine > AB_ENGINE_AUTO || begin->net > AB_BOX_NET_DOOR ||
	    begin->nports > AB_HOST_PORTS_MAX)
		return ab_fail(err, AB_ESYSTEM, 0, "the box was not told how to begin");
	in->begin = *begin;
	in->may_step_down = begin->engine == AB_ENGINE_AUTO;
	in->engine = in->may_step_down ? AB_ENGINE_FULL : (enum ab_box_engine)begin->engine;
	return 0;
}

static int begin_network(struct init *in, struct ab_error *err)
{
	return in->begin.net == AB_BOX_NET_HOST ? 0 : ab_bridge_begin(in->sock, &in->begin, err);
}

/* The supervisor has brought the network up meanwhile. */
static int end_network(struct init *in, struct ab_error *err)
{
	bool ssh;

	if (in->begin.net != AB_BOX_NET_DOOR)
		return 0;
	if (ab_bridge_end(in->sock, &in->capture, &ssh, err) < 0)
		return -1;
	in->uncaptured = !ssh;
	if (!ssh)
		ab_strv_extend(&in->spec.env, &in->spec.env_uncaptured);
	return 0;
}

/* The supervisor has made the plan meanwhile. */
static int read_spec(struct init *in, struct ab_error *err)
{
	static struct ab_spec_msg msg;
	ab_autoclose int fd = -1;
	size_t nfds = 1;
	ssize_t n = ab_recv_fds(in->sock, &msg, sizeof(msg), &fd, &nfds, 0), len;
	int r;

	_Static_assert(offsetof(struct ab_spec_msg, spec) == AB_MSG_LEN(0), "the same head");
	if (n <= 0) /* as above */
		return ab_fail(err, AB_ESYSTEM, n < 0 ? errno : 0, "receive the specification");
	len = n - (ssize_t)AB_MSG_LEN(0);
	if (len < 0 || msg.type != AB_MSG_SPEC || (len == 0) != (fd >= 0))
		return ab_fail(err, AB_ESYSTEM, 0, "received no specification");
	r = fd >= 0 ? ab_spec_read(fd, &in->spec, err)
		    : ab_spec_parse(msg.spec, (size_t)len, &in->spec, err);
	if (r == 0 && in->spec.timing)
		ab_mark_open(&in->holds);
	if (r == 0 && in->spec.userns && !in->spec.no_namespaces)
		r = permit_user_namespaces(in, err);
	return r;
}

static int prepare_mounts(struct init *in, struct ab_error *err)
{
	struct ab_error refused = { 0 };

	if (ab_mounts_prepare(in->begin.tmp_size, &in->ground, err) < 0)
		return -1;
	while (ab_mounts_prepare_proc(&in->ground, ab_box_engines[in->engine].new_proc, &refused) <
	       0)
		if (!step_down(in, refused.errnum)) {
			*err = refused;
			return -1;
		}
	return 0;
}

static int view_stdio(struct init *in, struct ab_error *err)
{
	return ab_stdio_view_open(&in->ground, &in->input, err);
}

/* The supervisor reports which layers there are. Variables do what a missing one would have done. */
static void note_layers(struct init *in)
{
	const struct ab_spec *spec = &in->spec;
	struct ab_holds *holds = &in->holds;

	for (size_t i = 0; i < spec->layers.len; i++) {
		holds->layers[i] = (int16_t)spec->layers.v[i].errnum;
		if (spec->layers.v[i].errnum > 0)
			ab_env_add_missing(&in->spec.env, &spec->layers.v[i].instead);
	}
	for (size_t i = 0; i < spec->blocked.len; i++) {
		size_t n = strlen(holds->blocked);

		snprintf(holds->blocked + n, sizeof(holds->blocked) - n, "%s%s", n ? ", " : "",
			 spec->blocked.v[i]);
	}
}

static int build_mounts(struct init *in, struct ab_error *err)
{
	if (ab_mounts_apply(&in->spec, &in->ground, &in->walls, err) < 0)
		return -1;
	note_layers(in);
	return 0;
}

/* Until now the working directory was covered by the new mounts. */
static int enter_folder(struct init *in, struct ab_error *err)
{
	struct stat st;

	if (ab_target_enter(&in->spec, err) < 0)
		return -1;
	if (in->spec.cwd_ino && (stat(".", &st) < 0 || (uint64_t)st.st_ino != in->spec.cwd_ino))
		return ab_fail(err, AB_ESYSTEM, 0, "%s is not the folder that it was at the start",
			       in->spec.cwd);
	return 0;
}

/* Even without a terminal: do not inherit a controlling one. */
int ab_init_begin_session(struct ab_error *err)
{
	return setsid() < 0 ? ab_fail(err, AB_ESYSTEM, errno, "create a session") : 0;
}

/*
 * The terminal belongs to the box's own devpts, so that ttyname() works inside.
 * The supervisor gets the master; the box never gets the caller's terminal.
 */
int ab_init_open_terminal(struct init *in, struct ab_error *err)
{
	struct winsize size = { .ws_row = in->spec.rows, .ws_col = in->spec.cols };
	ab_autoclose int master = -1;
	int locked = 0;

	if (!in->spec.tty)
		return 0;
	master = open(in->spec.no_namespaces ? "/dev/ptmx" : "/dev/pts/ptmx",
		      O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0 || ioctl(master, TIOCSPTLCK, &locked) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open a terminal");
	in->tty = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (in->tty < 0 || ioctl(in->tty, TIOCSWINSZ, &size) < 0 ||
	    ioctl(in->tty, TIOCSCTTY, 0) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open the terminal");
	/* The client of a further command sets it through the master. */
	if (!in->spec.tty_behind && !in->leads &&
	    tcsetattr(in->tty, TCSANOW, &in->spec.tty_settings) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "set up the terminal");
	ab_init_send_up(in, AB_MSG_TTY, 0, master);
	return 0;
}

static int begin_session_with_terminal(struct init *in, struct ab_error *err)
{
	if (ab_init_begin_session(err) < 0)
		return -1;
	if (in->input >= 0)
		ab_init_send_up(in, AB_MSG_INPUT, 0, in->input);
	return ab_init_open_terminal(in, err);
}

static int open_listener(struct init *in, struct ab_error *err)
{
	const char *path = in->spec.listen;
	ab_autofree char *folder = *path ? ab_path_parent(path) : NULL;

	if (!folder)
		return 0;
	if (mkdir(folder, 0755) < 0 && errno != EEXIST)
		return ab_fail(err, AB_ESYSTEM, errno, "make the socket %s in the box", path);
	return send_listener(in, path, SOCK_STREAM, AB_MSG_LISTENER, err);
}

/* Calls of tools, whose messages have boundaries. */
static int open_tools(struct init *in, struct ab_error *err)
{
	return in->spec.tools.len
		       ? send_listener(in, AB_TOOLS_SOCKET, SOCK_SEQPACKET, AB_MSG_TOOLS, err)
		       : 0;
}

/*
 * A redirected file on 0-2 may be reopened through /dev/stdin and the like, with
 * the access mode that the caller used and no more.
 */
static int allow_stdio(struct init *in, struct ab_error *err)
{
	static const unsigned int by_mode[] = {
		[O_RDONLY] = AB_LL_READ,
		[O_WRONLY] = AB_LL_WRITE,
		[O_RDWR] = AB_LL_READ | AB_LL_WRITE,
	};

	for (int fd = 0; fd < 3; fd++) {
		int mode = fcntl(fd, F_GETFL);
		struct stat st;

		if (mode < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
			continue;
		if (ab_landlock_allow_fd(in->ruleset, in->spec.landlock_abi, fd,
					 by_mode[mode & O_ACCMODE], err) < 0)
			return -1;
	}
	return 0;
}

/* A layer that was not made: the rules around it apply. */
static bool lacks_layer(const struct ab_spec *spec, const char *path)
{
	const struct ab_layer_mount *l = ab_layer_mounts_find(&spec->layers, path);

	return l && !ab_layer_is_made(l);
}

static int make_ruleset(struct init *in, struct ab_error *err)
{
	const struct ab_spec *spec = &in->spec;
	unsigned int scopes = AB_LL_SCOPE_SIGNAL | AB_LL_SCOPE_ABSTRACT;

	if (spec->landlock_abi == 0)
		return 0; /* the proof reports which guarantees are missing */
	if (spec->no_namespaces && spec->own_net)
		scopes |= AB_LL_SCOPE_TCP; /* the guard makes the connections */
	in->ruleset = ab_landlock_open(spec->landlock_abi, scopes, err);
	if (in->ruleset < 0)
		return -1;
	for (size_t i = 0; i < spec->nrules; i++) {
		ab_autoclose int fd = -1;

		if (lacks_layer(spec, spec->rules[i].path) ||
		    ab_strv_has(&spec->blocked, spec->rules[i].path))
			continue;
		fd = ab_open_real(AT_FDCWD, spec->rules[i].path, O_PATH, 0);
		if (fd < 0 && errno == ENOENT)
			continue; /* a device that the host does not have */
		if (fd < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "open %s", spec->rules[i].path);
		if (ab_landlock_allow_fd(in->ruleset, spec->landlock_abi, fd, spec->rules[i].rights,
					 err) < 0)
			return ab_wrap(err, "%s", spec->rules[i].path);
	}
	if (spec->no_namespaces && ab_carve(spec, in->ruleset, err) < 0)
		return -1;
	/* Of the machine's terminals, only its own. */
	if (spec->no_namespaces && in->tty >= 0 &&
	    ab_landlock_allow_fd(in->ruleset, spec->landlock_abi, in->tty,
				 AB_LL_READ | AB_LL_WRITE | AB_LL_DEVICE, err) < 0)
		return -1;
	return allow_stdio(in, err);
}

static int drop_privileges(struct init *in, struct ab_error *err)
{
	return ab_caps_drop(ab_box_engines[in->engine].namespaces, err);
}

/* Best effort, tried with a process of the same user: the proof says whether the box is fenced in, and there is
 * another way to end it. */
static int fence_signals(struct init *in, struct ab_error *err)
{
	(void)err;
	in->fenced = ab_landlock_enter_scope() == 0 && kill(getppid(), 0) < 0 && errno == EPERM;
	return 0;
}

int ab_init_start_command(struct init *in, struct ab_error *err)
{
	struct ab_target target = { .spec = &in->spec,
				    .sock = in->sock,
				    .ruleset = in->ruleset,
				    .tty = in->tty,
				    .capture = in->capture,
				    .holds = &in->holds,
				    .inside = in->leads || in->spec.stay,
				    .proof_only = in->spec.stay,
				    .waiting = in->spec.waits ? &in->spec : NULL,
				    .uncaptured = in->uncaptured };
	sigset_t child;

	in->holds.engine = in->engine;
	if (in->spec.no_namespaces && in->spec.limits.processes)
		in->spec.others = ab_limits_others();
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	in->signals = signalfd(-1, &child, SFD_CLOEXEC);
	if (in->signals < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create a signalfd");
	if (in->spec.stay && ab_keeper_enter(in, err) < 0)
		return -1;
	return ab_target_start(&target, &in->target, err);
}

/* Which engines take a step. */
enum { ANY, NAMESPACES, NO_NAMESPACES };

static const struct {
	const char *name;
	int (*run)(struct init *in, struct ab_error *err);
	int engines;
} steps[] = {
	{ "begin", read_begin, ANY },
	{ "descendants", adopt_descendants, NO_NAMESPACES },
	{ "network", begin_network, NAMESPACES },
	{ "user namespaces", forbid_user_namespaces, NAMESPACES },
	{ "user tables", share_tables, NAMESPACES },
	{ "ground", prepare_mounts, NAMESPACES },
	{ "streams", view_stdio, NAMESPACES },
	{ "specification", read_spec, ANY },
	{ "mounts", build_mounts, NAMESPACES },
	{ "capture", end_network, NAMESPACES },
	{ "folder", enter_folder, ANY },
	{ "ssh agent", open_agent, NAMESPACES },
	{ "descriptors", close_stray_fds, ANY },
	{ "terminal", begin_session_with_terminal, ANY },
	{ "listener", open_listener, NAMESPACES },
	{ "tools", open_tools, NAMESPACES },
	{ "ruleset", make_ruleset, ANY },
	{ "capabilities", drop_privileges, ANY },
	{ "signals", fence_signals, NO_NAMESPACES },
	{ "start", ab_init_start_command, ANY },
};

const char *ab_init_step(int status)
{
	size_t step = (size_t)(status - AB_INIT_UNTOLD);

	return step < AB_COUNT(steps) ? steps[step].name : "init";
}

static bool is_step_of(const struct init *in, int engines)
{
	return engines == ANY || (engines == NAMESPACES) == ab_box_engines[in->engine].namespaces;
}

_Noreturn void ab_init_report(struct init *in, struct ab_msg *msg)
{
	msg->type = AB_MSG_FAILED;
	send_with(in, msg, sizeof(msg->u.error), NULL, 0);
	ab_init_exit(in, 125);
}

_Noreturn void ab_init_fail(struct init *in, int errnum, const char *what)
{
	static struct ab_msg msg;

	ab_fail_step(&msg.u.error, ab_init_step(AB_INIT_UNTOLD + (int)in->step), errnum, "%s",
		     what);
	ab_init_report(in, &msg);
}

/* The caller's pipes must reach their end when the command closes them. */
void ab_init_release_stdio(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	ab_closep(&null);
}

/* The command runs by now, so this delays nothing. */
static void hand_out_walls(struct init *in)
{
	send_with(in, &(struct ab_msg){ .type = AB_MSG_WALLS }, 0, in->walls.v, in->walls.len);
	ab_fds_close(&in->walls);
}

/* All that is left to do then is to report its status. */
static bool is_command_over(const struct init *in)
{
	siginfo_t end = { 0 };

	return waitid(P_PID, (id_t)in->target, &end, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       end.si_pid == in->target;
}

static _Noreturn void confine_and_serve(struct init *in)
{
	int r;

	ab_init_release_stdio();
	hand_out_walls(in);
	for (size_t i = 0; i < in->spec.keep_fds.len; i++)
		close((int)strtol(in->spec.keep_fds.v[i], NULL, 10));
	/* It is behind the walls by now. */
	if (in->spec.stay)
		ab_keeper_serve(in);
	ab_closep(&in->ruleset);
	/* We were woken by the command's execve(), often on its processor: it comes first. */
	sched_yield();
	r = is_command_over(in) ? 0 : ab_seccomp_load(AB_FILTER_INIT);
	if (r < 0)
		ab_init_fail(in, -r, "load the filter of the box's init");
	ab_init_serve(in);
}

_Noreturn void ab_init_main(int sock, bool namespaces)
{
	static struct init in;
	static struct ab_msg msg;
	struct ab_error *err = &msg.u.error;

	in.sock = sock;
	in.engine = namespaces ? AB_ENGINE_FULL : AB_ENGINE_NO_NAMESPACES;
	in.tty = in.input = in.ruleset = -1;
	/* Else the socket tells that the supervisor is gone: the others must end first. */
	if (namespaces)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NAME, AB_INIT_NAME);
	for (; in.step < AB_COUNT(steps); in.step++) {
		if (!is_step_of(&in, steps[in.step].engines))
			continue;
		if (steps[in.step].run(&in, err) < 0) {
			ab_step(err, steps[in.step].name);
			ab_box_explain(err);
			ab_init_report(&in, &msg);
		}
		ab_mark(steps[in.step].name);
	}
	confine_and_serve(&in);
}
