/*
 * Theory of operation.
 *
 * Init: one loop over a signalfd (SIGCHLD) and the supervisor's socket. LEADER forks a leader, END
 * sends TERM to every process; with the last one init exits.
 *
 * Leader: begins a session and waits for its command. Then it reads the specification, takes over
 * 0-2, opens a terminal, starts the command's process (which proves the walls again, waits for `go`
 * and executes the command), and serves it. If its socket ends, because the supervisor has closed
 * it, the command gets HUP.
 *
 * Should: refuse a single start without any effect on the box or on other commands.
 * Mustn't: take a folder, a file or a device of the host from a start; the supervisor passes pipes
 * and sockets only, and names devices, which are opened here.
 */
#include "sandbox/start/init.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include "landlock/landlock.h"
#include "sandbox/fence/descendants.h"
#include "sandbox/start/target.h"

enum { SPEC, STREAMS }; /* the descriptors of AB_MSG_COMMAND */

/* What the process that started the box ignores is nothing to the clients of its commands. */
static void reset_signals(void)
{
	static const int signals[] = { SIGHUP,	SIGINT,	 SIGQUIT, SIGPIPE, SIGALRM, SIGTERM,
				       SIGUSR1, SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU };

	for (size_t i = 0; i < AB_COUNT(signals); i++)
		signal(signals[i], SIG_DFL);
}

int ab_keeper_enter(struct init *in, struct ab_error *err)
{
	int r = in->ruleset >= 0 ? ab_landlock_enter(in->ruleset) : 0;

	reset_signals();
	if (r < 0)
		return ab_fail(err, AB_ESYSTEM, -r, "enable Landlock for a box that stays");
	/* A traced command loads a filter that asks; under this one its denials would not be
	 * seen. Each command loads the filter of its listener on top. */
	r = in->spec.traced ? 0 : ab_seccomp_load(ab_target_filter(&in->spec, in->engine));
	return r < 0 ? ab_fail(err, AB_ESYSTEM, -r, "load the filter of a box that stays") : 0;
}

/* Take what belongs to this command; everything else is the box's. */
static int read_start(struct init *in, int fd, struct ab_error *err)
{
	struct ab_spec start, *spec = &in->spec;

	if (ab_spec_read(fd, &start, err) < 0)
		return -1;
	if (start.streams.len != 3)
		return ab_fail(err, AB_ESYSTEM, 0, "the specification is damaged");
	spec->argv = start.argv;
	spec->env = start.env;
	if (in->uncaptured)
		ab_strv_extend(&spec->env, &spec->env_uncaptured);
	spec->streams = start.streams;
	spec->tty = start.tty;
	spec->tty_fds = start.tty_fds;
	spec->tty_behind = start.tty_behind;
	spec->timing = false;
	spec->stay = false;
	spec->proved = true;
	in->input = -1;
	in->holds = (struct ab_holds){ 0 };
	/* The folder may exist outside only. */
	if (chdir(start.cwd) < 0 && chdir(spec->cwd) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "enter %s", spec->cwd);
	return 0;
}

/* Init's socket and signals among them. */
static int close_others(const struct init *in, struct ab_error *err)
{
	const int keep[] = { in->sock, in->ruleset };

	if (ab_close_others(keep, AB_COUNT(keep)) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "close inherited file descriptors");
	return 0;
}

/* What can be done before there is a command. */
static int become_leader(struct init *in, int sock, struct ab_error *err)
{
	in->leads = true;
	in->sock = sock;
	in->tty = -1;
	prctl(PR_SET_NAME, AB_LEADER_NAME);
	if (close_others(in, err) < 0)
		return ab_step(err, "descriptors");
	return ab_init_begin_session(err) < 0 ? ab_step(err, "terminal") : 0;
}

static int begin_command(struct init *in, const struct ab_fds *fds, struct ab_error *err)
{
	if (read_start(in, fds->v[SPEC], err) < 0)
		return ab_step(err, "specification");
	if (ab_target_take_streams(&in->spec, fds, STREAMS, fds->len, err) < 0 ||
	    close_others(in, err) < 0)
		return ab_step(err, "streams");
	if (ab_init_open_terminal(in, err) < 0)
		return ab_step(err, "terminal");
	return ab_init_start_command(in, err) < 0 ? ab_step(err, "start") : 0;
}

/* The supervisor closes the socket if it has no use for this leader any more. */
static int await_command(struct init *in, struct ab_fds *ret_fds, bool *ret_report,
			 struct ab_error *err)
{
	struct ab_msg msg;
	ssize_t n;

	ret_fds->len = AB_COUNT(ret_fds->v);
	n = ab_recv_fds(in->sock, &msg, sizeof(msg), ret_fds->v, &ret_fds->len, 0);
	/* 0: the supervisor does not need it. */
	if (n < (ssize_t)AB_MSG_LEN(0) || msg.type != AB_MSG_COMMAND || ret_fds->len <= SPEC)
		return ab_fail_step(err, "specification", n < 0 ? errno : 0, "receive the command");
	*ret_report = msg.value;
	return 0;
}

static _Noreturn void lead_command(struct init *in, int sock)
{
	static struct ab_msg msg;
	struct ab_error *err = &msg.u.error;
	struct ab_fds fds;
	bool report = false;

	if (become_leader(in, sock, err) < 0 || await_command(in, &fds, &report, err) < 0 ||
	    begin_command(in, &fds, err) < 0)
		ab_init_report(in, &msg);
	ab_init_release_stdio();
	if (report)
		ab_init_send_up(in, AB_MSG_RUNS, 0, -1);
	ab_init_serve(in);
}

static void start_leader(struct init *in, const struct ab_fds *fds)
{
	static struct ab_msg msg = { .type = AB_MSG_FAILED };
	pid_t pid;

	if (fds->len != 1)
		_exit(125); /* not a request of the supervisor */
	pid = fork();
	if (pid == 0)
		lead_command(in, fds->v[0]);
	if (pid > 0)
		return;
	ab_fail_step(&msg.u.error, "start", errno, "create a process");
	(void)!ab_send_fds(fds->v[0], &msg, AB_MSG_LEN(sizeof(msg.u.error)), NULL, 0);
}

static _Noreturn void end_box(struct init *in)
{
	ab_init_send_up(in, AB_MSG_STATUS, 0, -1);
	_exit(0);
}

/* A leader has reported what its command did. */
static void reap_processes(struct init *in)
{
	if (!ab_descendants_reap() && in->ending)
		end_box(in);
}

/* Leaders block every signal. */
static void end_processes(struct init *in)
{
	in->ending = true;
	if (kill(-1, SIGTERM) < 0 && errno == ESRCH)
		end_box(in);
	kill(-1, SIGCONT);
}

static void answer_supervisor(struct init *in)
{
	ab_autofds struct ab_fds fds = { .len = AB_COUNT(fds.v) };
	struct ab_msg msg;
	ssize_t n = ab_recv_fds(in->sock, &msg, sizeof(msg), fds.v, &fds.len, 0);

	if (n < (ssize_t)AB_MSG_LEN(0))
		ab_init_fail(in, n < 0 ? errno : 0, "receive from the supervisor");
	switch (msg.type) {
	case AB_MSG_LEADER:
		start_leader(in, &fds);
		break;
	case AB_MSG_END:
		end_processes(in);
		break;
	case AB_MSG_DIAL:
		ab_init_dial(in, msg.value);
		break;
	case AB_MSG_SIGNAL: /* each command has its own socket */
	case AB_MSG_RESUME:
		break;
	default:
		_exit(125); /* not a request of the supervisor */
	}
}

/* Behind the filter of the commands. Not inlined: scripts/check-calls looks for it. */
__attribute__((noinline)) void ab_keeper_serve(struct init *in)
{
	ab_init_watch(in, reap_processes, answer_supervisor);
}
