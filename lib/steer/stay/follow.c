/*
 * Theory of operation.
 *
 * States: waiting for the command's terminal, if it has one; running; stopped (so are we). A client
 * that is attached to a detached command has a stream of bytes in place of the terminal's master;
 * its own signals are not the command's.
 *
 * Should: end with the command's status; restore the terminal on every way out.
 * Mustn't: take the end of the socket for the end of the command: the supervisor has died, and the
 * box with it.
 */
#include "steer/stay/follow.h"

#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>

#include "consent/request.h"
#include "session/stay/stay_wire.h"
#include "steer/stay/client_streams.h"
#include "steer/stay/questions.h"
#include "terminal/terminal.h"

enum { CHUNK = 65536 };

struct follower {
	const struct ab_follow *what;
	struct ab_loop loop;
	struct ab_source signals, sock, bytes;
	bool detached, timed_out;
	bool asked_to_stop;	 /* SIGTSTP was forwarded */
	struct ab_strv deferred; /* lines that wait for the end of a question; first letter: note */
	int status;
	struct ab_error *err;
	int result;
};

static void give_up(struct follower *f)
{
	f->result = -1;
	f->loop.stop = true;
}

static void tell_supervisor(struct follower *f, enum ab_stay_type type, int value)
{
	struct ab_stay_msg msg = { .type = type, .value = value };

	/* If it is gone, the socket's end says so. */
	(void)!send(f->what->sock, &msg, AB_STAY_SHORT, MSG_NOSIGNAL);
}

static void take_terminal(struct follower *f, int master)
{
	struct ab_terminal *t = f->what->terminal;

	if (!t || master < 0) {
		ab_closep(&master);
		return;
	}
	/* The master's settings are those of the command's terminal. */
	if (!ab_terminal_behind(t))
		tcsetattr(master, TCSANOW, ab_terminal_settings(t));
	if (ab_terminal_attach(t, master, &f->loop, f->err) < 0)
		give_up(f);
	else
		tell_supervisor(f, AB_STAY_GO, 0);
}

static void stop_with_command(struct follower *f)
{
	if (f->what->terminal)
		ab_terminal_suspend(f->what->terminal);
	ab_questions_suspend(f->what->questions);
	kill(getpid(), SIGSTOP);
}

static void take_stop(struct follower *f, int sig)
{
	struct ab_terminal *t = f->what->terminal;

	if ((sig == SIGTTIN || sig == SIGTTOU) && t && ab_terminal_claim(t)) {
		tell_supervisor(f, AB_STAY_RESUME, 1);
		return;
	}
	/* Without a terminal, and if we did not forward SIGTSTP, nobody could resume it through
	 * us. */
	if (t || f->asked_to_stop)
		stop_with_command(f);
	f->asked_to_stop = false;
}

static void resume_command(struct follower *f)
{
	bool front = f->what->terminal && ab_terminal_resume(f->what->terminal);

	if (f->what->streams)
		tell_supervisor(f, AB_STAY_RESUME, front);
	ab_questions_resume(f->what->questions);
}

static void tell_size(struct follower *f)
{
	struct winsize size;

	for (int fd = 0; fd < 3; fd++)
		if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col) {
			tell_supervisor(f, AB_STAY_SIZE, size.ws_row << 16 | size.ws_col);
			return;
		}
}

/* Of a client that is attached: the command has nothing to do with them. */
static void take_own_signal(struct follower *f, int sig)
{
	if (sig == SIGWINCH && f->what->terminal) {
		ab_terminal_resize(f->what->terminal);
		ab_questions_resize(f->what->questions);
		tell_size(f);
	} else if (sig == SIGTSTP) {
		stop_with_command(f);
	} else if (sig == SIGCONT) {
		resume_command(f);
	} else if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT) {
		f->detached = f->loop.stop = true;
	}
}

static void take_signal(struct follower *f, int sig)
{
	switch (sig) {
	case SIGCHLD:
	case SIGPIPE:
	case SIGTTIN:
	case SIGTTOU:
		break;
	case SIGWINCH:
		if (f->what->terminal)
			ab_terminal_resize(f->what->terminal);
		ab_questions_resize(f->what->questions);
		tell_supervisor(f, AB_STAY_SIGNAL, sig);
		break;
	case SIGTSTP:
		/* We stop when the command did; it may ignore the signal. */
		tell_supervisor(f, AB_STAY_SIGNAL, sig);
		f->asked_to_stop = true;
		break;
	case SIGCONT:
		resume_command(f);
		break;
	default:
		tell_supervisor(f, AB_STAY_SIGNAL, sig);
	}
}

static void signals_ready(struct ab_source *source, uint32_t events)
{
	struct follower *f = source->owner;
	struct signalfd_siginfo info;

	(void)events;
	if (read(source->fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	if (f->what->streams)
		take_signal(f, (int)info.ssi_signo);
	else
		take_own_signal(f, (int)info.ssi_signo);
}

static void lose_supervisor(struct follower *f)
{
	ab_fail(f->err, AB_ESYSTEM, 0, "box %s has ended: its supervisor died", f->what->box);
	ab_hint(f->err, "its processes ended with it; agentbox log %s has its record",
		f->what->box);
	give_up(f);
}

static void say_line(struct follower *f, bool note, const char *text)
{
	const struct ab_request *rq = f->what->request;

	/* Do not write over a question on the screen. */
	if (ab_questions_asking(f->what->questions))
		ab_strv_addf(&f->deferred, "%c%s", note ? 'n' : 'w', text);
	else
		rq->say(rq->arg, note ? AB_SAY_NOTE : AB_SAY_WARNING, text);
}

static void say_deferred(void *arg)
{
	struct follower *f = arg;
	struct ab_strv lines = f->deferred;

	if (ab_questions_asking(f->what->questions))
		return;
	f->deferred = (struct ab_strv){ 0 };
	for (size_t i = 0; i < lines.len; i++)
		say_line(f, lines.v[i][0] == 'n', lines.v[i] + 1);
	ab_strv_fini(&lines);
}

static void say_question(void *arg, const char *text)
{
	say_line(arg, true, text);
}

static void request_redraw(void *arg)
{
	struct follower *f = arg;

	if (f->what->streams)
		tell_supervisor(f, AB_STAY_SIGNAL, SIGWINCH);
	else
		tell_size(f);
}

static void take_message(struct follower *f, struct ab_stay_msg *msg, size_t len, int *fd)
{
	bool whole = len == sizeof(*msg);

	switch (msg->type) {
	case AB_STAY_TTY:
		take_terminal(f, ab_take_fd(fd));
		break;
	case AB_STAY_STOPPED:
		take_stop(f, msg->value);
		break;
	case AB_STAY_TIMEOUT:
		f->timed_out = true;
		break;
	case AB_STAY_ENDED:
		f->status = msg->value;
		f->loop.stop = true;
		break;
	case AB_STAY_DETACHED:
		f->detached = f->loop.stop = true;
		break;
	case AB_STAY_FAILED:
		if (whole)
			*f->err = msg->error;
		give_up(f);
		break;
	case AB_STAY_SAY:
		msg->error.text[sizeof(msg->error.text) - 1] = '\0';
		if (whole)
			say_line(f, msg->value, msg->error.text);
		break;
	default:
		break;
	}
}

static void sock_ready(struct ab_source *source, uint32_t events)
{
	struct follower *f = source->owner;
	struct ab_stay_msg msg;
	int fd = -1;
	size_t nfds = 1;
	ssize_t n = ab_recv_fds(source->fd, &msg, sizeof(msg), &fd, &nfds, MSG_DONTWAIT);

	(void)events;
	if (n < 0 && errno == EAGAIN)
		return;
	if (n < (ssize_t)AB_STAY_SHORT)
		lose_supervisor(f);
	else
		take_message(f, &msg, (size_t)n, &fd);
	ab_closep(&fd);
}

/* Attached without a terminal. */
static void bytes_ready(struct ab_source *source, uint32_t events)
{
	struct follower *f = source->owner;
	char data[CHUNK];
	ssize_t n = read(source->fd, data, sizeof(data));

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0 && ab_write_all(STDOUT_FILENO, data, (size_t)n) == 0)
		return;
	if (n > 0)
		f->detached = f->loop.stop = true; /* nobody reads it */
	ab_loop_remove(&f->loop, source);
}

static int attach_bytes(struct follower *f)
{
	struct ab_terminal *t = f->what->terminal;

	if (!t) {
		f->bytes = (struct ab_source){ .fd = f->what->bytes,
					       .ready = bytes_ready,
					       .owner = f };
		return ab_loop_add(&f->loop, &f->bytes, EPOLLIN, f->err);
	}
	if (ab_terminal_attach(t, f->what->bytes, &f->loop, f->err) < 0)
		return -1;
	/* Another size makes a program on the full screen draw it again. */
	tell_supervisor(f, AB_STAY_SIZE, 2 << 16 | 20);
	tell_size(f);
	return 0;
}

static int watch_questions(struct follower *f)
{
	struct ab_questions_watch watch = { .loop = &f->loop,
					    .redraw = request_redraw,
					    .uncovered = say_deferred,
					    .say = say_question,
					    .arg = f };

	return ab_questions_attach(f->what->questions, &watch, f->err);
}

static int open_sources(struct follower *f)
{
	sigset_t all;

	sigfillset(&all);
	f->signals = (struct ab_source){ .fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK),
					 .ready = signals_ready,
					 .owner = f };
	f->sock = (struct ab_source){ .fd = f->what->sock, .ready = sock_ready, .owner = f };
	if (f->signals.fd < 0)
		return ab_fail(f->err, AB_ESYSTEM, errno, "watch for signals");
	if (ab_loop_add(&f->loop, &f->signals, EPOLLIN, f->err) < 0 ||
	    ab_loop_add(&f->loop, &f->sock, EPOLLIN, f->err) < 0)
		return -1;
	if (f->what->questions && watch_questions(f) < 0)
		return -1;
	if (f->what->streams)
		return ab_client_streams_watch(f->what->streams, &f->loop, f->err);
	return attach_bytes(f);
}

/* The output that came before the end. */
static void copy_rest(struct follower *f)
{
	char data[CHUNK];
	ssize_t n;

	if (f->what->streams || f->what->terminal || f->detached)
		return;
	while ((n = recv(f->what->bytes, data, sizeof(data), MSG_DONTWAIT)) > 0)
		if (ab_write_all(STDOUT_FILENO, data, (size_t)n) < 0)
			return;
}

static int exit_status_of(const struct follower *f)
{
	if (f->detached)
		return 0;
	if (f->timed_out)
		return 124;
	return WIFSIGNALED(f->status) ? 128 + WTERMSIG(f->status) : WEXITSTATUS(f->status);
}

int ab_follow(const struct ab_follow *what, int *ret_status, struct ab_error *err)
{
	struct follower f = {
		.what = what, .err = err, .signals = { .fd = -1 }, .loop = { .epoll = -1 }
	};

	if (ab_loop_init(&f.loop, err) < 0 || open_sources(&f) < 0 || ab_loop_run(&f.loop, err) < 0)
		f.result = -1;
	if (what->streams)
		ab_client_streams_close(what->streams);
	copy_rest(&f);
	ab_questions_close(what->questions);
	ab_terminal_close(what->terminal);
	for (size_t i = 0; i < f.deferred.len; i++)
		what->request->say(what->request->arg,
				   f.deferred.v[i][0] == 'n' ? AB_SAY_NOTE : AB_SAY_WARNING,
				   f.deferred.v[i] + 1);
	ab_strv_fini(&f.deferred);
	ab_closep(&f.signals.fd);
	ab_loop_fini(&f.loop);
	if (f.result == 0)
		*ret_status = exit_status_of(&f);
	if (f.result == 0 && f.detached && what->terminal)
		what->request->say(what->request->arg, AB_SAY_NOTE,
				   "detached; the command keeps running");
	return f.result;
}
