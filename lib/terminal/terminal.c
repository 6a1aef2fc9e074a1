/*
 * Theory of operation.
 *
 * We either use the caller's terminal (raw, we read it) or leave it alone
 * (cooked, we only write). We use it only while we are in its foreground group
 * and the command may read it: from the start if only we read it, else from the
 * moment that the command wants input (claim). Ctrl-C and the like are bytes to
 * us; the box's terminal turns them into signals.
 *
 * What has to be undone is in memory shared with the broker, which outlives us
 * for a moment when we are killed.
 *
 * Should: restore the terminal on every way out.
 * Mustn't: change a terminal that the shell has taken back.
 */
#include "terminal/terminal.h"

#include <sys/ioctl.h>
#include <sys/mman.h>

#include "terminal/relay.h"
#include "terminal/screen_modes.h"
#include "terminal/tty.h"

struct ab_terminal_live {
	struct termios cooked;	      /* the caller's settings */
	struct ab_screen_modes modes; /* after all that was written */
	struct ab_screen_modes next;  /* after the write in progress too */
	bool writing;
	bool raw;     /* we made it raw */
	bool shown;   /* the modes are in effect */
	bool covered; /* by our own screen */
	bool same;    /* in and out are the same terminal */
};

struct ab_terminal {
	struct ab_terminal_live *live;
	struct ab_relay relay;
	size_t attempt; /* bytes of the write in progress */
	bool pipeline;
	bool bypassed;			/* the command may write there without us */
	bool wanted;			/* the command may read keys */
	bool alike;			/* the box's terminal has the caller's settings */
	struct ab_terminal_guest guest; /* while the relay is held */
	bool dirty;			/* the guest has something new to draw */
	bool lent;			/* raw only for the guest */
	struct ab_timer nudge;		/* restores the size of the box's terminal */
};

enum {
	ANSWER_MS = 500, /* for a late answer: a terminal may be far away, or busy */
	ANSWER_ROOM = 512,
};

static inline int in_fd(const struct ab_terminal *t)
{
	return t->relay.in.source.fd;
}

static inline int out_fd(const struct ab_terminal *t)
{
	return t->relay.out.source.fd;
}

/* Callbacks of the relay. */
static void pass_guest_keys(void *arg, const char *data, size_t len);
static void note_sent(void *arg);
/* Callback of the timer. */
static void restore_size(struct ab_timer *timer);

static int any_fd(const struct ab_terminal *t)
{
	return in_fd(t) >= 0 ? in_fd(t) : out_fd(t);
}

/* We may be killed between the write and note_output, so the state after the
 * write is noted first, beside the state before it. */
static void note_attempt(void *arg, const char *data, size_t len)
{
	struct ab_terminal *t = arg;
	struct ab_terminal_live *live = t->live;

	live->next = live->modes;
	ab_screen_modes_feed(&live->next, data, len);
	t->attempt = len;
	live->writing = true;
	live->shown = true;
}

static void note_output(void *arg, const char *data, size_t len)
{
	struct ab_terminal *t = arg;
	struct ab_terminal_live *live = t->live;

	if (len == t->attempt)
		live->modes = live->next;
	else
		ab_screen_modes_feed(&live->modes, data, len);
	live->writing = false;
}

static void copy_size(const struct ab_terminal *t, struct winsize *ret)
{
	memset(ret, 0, sizeof(*ret));
	ioctl(out_fd(t) >= 0 ? out_fd(t) : in_fd(t), TIOCGWINSZ, ret);
}

static int make_terminal(const struct ab_tty *tty, struct ab_terminal **ret, struct ab_error *err)
{
	struct ab_terminal_live *live;
	struct ab_terminal *t;

	live = mmap(NULL, sizeof(*live), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (live == MAP_FAILED)
		return ab_fail(err, AB_ESYSTEM, errno, "map memory for the terminal's state");
	t = ab_alloc(sizeof(*t));
	t->live = live;
	t->pipeline = tty->pipeline;
	t->bypassed = tty->bypassed;
	ab_relay_init(&t->relay, tty->in, tty->out);
	t->relay.in.shared = tty->in_shared;
	t->relay.out.shared = tty->out_shared;
	t->relay.writes = note_attempt;
	t->relay.wrote = note_output;
	t->relay.heard = pass_guest_keys;
	t->relay.sent = note_sent;
	t->relay.arg = t;
	t->nudge = (struct ab_timer){ .fire = restore_size, .owner = t };
	live->same = tty->same || tty->in < 0;
	tcgetattr(any_fd(t), &live->cooked);
	*ret = t;
	return 0;
}

int ab_terminal_open(struct ab_terminal **ret, uint32_t *ret_fds, uint16_t *ret_rows,
		     uint16_t *ret_cols, struct ab_error *err)
{
	struct ab_terminal *t;
	struct winsize size;
	struct ab_tty tty;

	ab_tty_open(&tty);
	if (tty.in < 0 && tty.out < 0) {
		*ret = NULL;
		*ret_fds = 0;
		return 0;
	}
	if (make_terminal(&tty, &t, err) < 0) {
		ab_close_all(&tty.in, &tty.out);
		return -1;
	}
	/* Without an input side there is nothing to claim. */
	t->wanted = t->alike = tty.ours || tty.in < 0;
	copy_size(t, &size);
	*ret_rows = size.ws_row;
	*ret_cols = size.ws_col;
	*ret_fds = tty.fds;
	*ret = t;
	return 0;
}

int ab_terminal_open_own(struct ab_terminal **ret, struct ab_error *err)
{
	struct ab_tty tty = { .in = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC),
			      .same = true,
			      .bypassed = ab_tty_bypassed() };

	*ret = NULL;
	if (tty.in < 0)
		return 0;
	tty.out = fcntl(tty.in, F_DUPFD_CLOEXEC, 3);
	if (make_terminal(&tty, ret, err) == 0)
		return 0;
	ab_close_all(&tty.in, &tty.out);
	return -1;
}

bool ab_terminal_behind(const struct ab_terminal *t)
{
	return !t->wanted;
}

const struct termios *ab_terminal_settings(const struct ab_terminal *t)
{
	return &t->live->cooked;
}

static void make_raw(const struct ab_terminal *t, struct termios *termios)
{
	termios->c_iflag &=
		~(tcflag_t)(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
	/* Others in a pipeline print without us and still need "\n" turned into
	 * "\r\n"; our output, already converted, does not change. */
	if (!t->pipeline)
		termios->c_oflag &= ~(tcflag_t)OPOST;
	termios->c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
	termios->c_cflag &= ~(tcflag_t)(CSIZE | PARENB);
	termios->c_cflag |= CS8;
	/* 0: a read never blocks, even on a shared description. */
	termios->c_cc[VMIN] = t->relay.in.shared ? 0 : 1;
	termios->c_cc[VTIME] = 0;
}

/* Makes the terminal raw and reads keys, if we may. */
static bool take_terminal(struct ab_terminal *t)
{
	struct termios now;

	t->relay.reading = false;
	if (in_fd(t) < 0 || !t->wanted || !ab_tty_foreground(in_fd(t)) ||
	    tcgetattr(in_fd(t), &now) < 0) {
		/* The shell has it, with its own settings. */
		t->live->raw = false;
		return false;
	}
	/* Keep what the user changed while we were stopped, but not our own raw
	 * settings if a shell restored them for us. */
	if (!t->live->raw && (now.c_lflag & ICANON))
		t->live->cooked = now;
	/* Not at the start: in the background they would be those of a shell
	 * that edits a line. Setting them on the master sets the slave's; the
	 * command is stopped until we return, so it has set none yet. */
	if (!t->alike)
		tcsetattr(t->relay.box.source.fd, TCSANOW, &t->live->cooked);
	t->alike = true;
	now = t->live->cooked;
	make_raw(t, &now);
	t->live->raw = true;
	tcsetattr(in_fd(t), TCSANOW, &now);
	t->relay.reading = true;
	t->lent = false;
	return true;
}

/* Makes it cooked as before, unless we are in the background now. */
static void return_terminal(struct ab_terminal *t)
{
	t->relay.reading = false;
	if (t->live->raw && in_fd(t) >= 0 && ab_tty_foreground(in_fd(t)))
		tcsetattr(in_fd(t), TCSANOW, &t->live->cooked);
	t->live->raw = false;
}

/* What `say` has to say about the modes. */
static void write_modes(int fd, const struct ab_screen_modes *modes,
			void (*say)(const struct ab_screen_modes *modes, struct ab_buf *out))
{
	ab_autobuf struct ab_buf text = { 0 };

	say(modes, &text);
	ab_relay_write(fd, text.data, text.len);
}

static void undo_modes(struct ab_terminal *t)
{
	if (t->live->shown && out_fd(t) >= 0)
		write_modes(out_fd(t), &t->live->modes, ab_screen_modes_undo);
	t->live->shown = false;
}

static void redo_modes(struct ab_terminal *t)
{
	if (t->live->shown || out_fd(t) < 0)
		return;
	t->live->shown = true;
	write_modes(out_fd(t), &t->live->modes, ab_screen_modes_redo);
}

int ab_terminal_attach(struct ab_terminal *t, int master, struct ab_loop *loop,
		       struct ab_error *err)
{
	if (ab_relay_start(&t->relay, master, loop, err) < 0)
		return -1;
	ab_terminal_resize(t);
	take_terminal(t);
	ab_relay_arm(&t->relay);
	return 0;
}

void ab_terminal_unfilter(struct ab_terminal *t)
{
	t->relay.raw = true;
}

void ab_terminal_resize(struct ab_terminal *t)
{
	struct winsize size;

	copy_size(t, &size);
	if (t->relay.box.source.fd >= 0)
		ioctl(t->relay.box.source.fd, TIOCSWINSZ, &size);
	ab_terminal_redraw(t);
}

bool ab_terminal_claim(struct ab_terminal *t)
{
	bool front;

	t->wanted = true;
	front = take_terminal(t);
	ab_relay_arm(&t->relay);
	return front;
}

void ab_terminal_suspend(struct ab_terminal *t)
{
	ab_terminal_release(t);
	/* A full-screen program has left its screen before it stopped. */
	ab_relay_flush(&t->relay, false);
	undo_modes(t);
	return_terminal(t);
	t->relay.quiet = true;
	ab_relay_arm(&t->relay);
}

bool ab_terminal_resume(struct ab_terminal *t)
{
	bool front = take_terminal(t);

	t->relay.quiet = false;
	if (front)
		redo_modes(t);
	ab_terminal_resize(t);
	ab_relay_arm(&t->relay);
	return front;
}

/* Is there the end of an answer to DA1, ESC [ ? numbers c? */
static bool has_last_answer(const char *s, size_t len)
{
	for (const char *p = s; (p = memchr(p, '\033', len - (size_t)(p - s))); p++) {
		size_t n = 3, left = len - (size_t)(p - s);

		if (left < 4 || memcmp(p, "\033[?", 3) != 0)
			continue;
		while (n < left && (ab_is_digit(p[n]) || p[n] == ';'))
			n++;
		if (n < left && p[n] == 'c')
			return true;
	}
	return false;
}

/*
 * An answer that comes after the end would be read by the caller's shell as if it
 * were typed. Terminals answer in order, so we ask one more question and wait for
 * that answer, if the command has asked anything.
 */
static void discard_answers(struct ab_terminal *t)
{
	int64_t end, now;
	char text[ANSWER_ROOM];
	size_t len = 0;

	if (!t->relay.filter.asked || !t->live->raw || !t->live->same || in_fd(t) < 0 ||
	    out_fd(t) < 0 || !ab_tty_foreground(in_fd(t)))
		return;
	ab_relay_write(out_fd(t), "\033[c", 3);
	/* The question itself may have waited for the screen. */
	end = ab_now_ms() + ANSWER_MS;
	while ((now = ab_now_ms()) < end && !has_last_answer(text, len)) {
		ssize_t n;

		/* Keys may come before it. */
		if (len > ANSWER_ROOM / 2) {
			memmove(text, text + len / 2, len - len / 2);
			len -= len / 2;
		}
		if (ab_poll(in_fd(t), POLLIN, (int)(end - now)) <= 0)
			continue;
		n = read(in_fd(t), text + len, sizeof(text) - len);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			break;
		len += n > 0 ? (size_t)n : 0;
	}
	tcflush(in_fd(t), TCIFLUSH);
}

void ab_terminal_close(struct ab_terminal *t)
{
	if (!t)
		return;
	ab_terminal_release(t);
	if (t->relay.loop)
		ab_loop_timer_stop(t->relay.loop, &t->nudge);
	ab_relay_flush(&t->relay, true);
	undo_modes(t);
	discard_answers(t);
	return_terminal(t);
	ab_relay_fini(&t->relay);
	munmap(t->live, sizeof(*t->live));
	free(t);
}

void ab_terminal_rescue_get(const struct ab_terminal *t, struct ab_terminal_rescue *ret)
{
	ret->fd = t ? any_fd(t) : -1;
	ret->live = t ? t->live : NULL;
}

void ab_terminal_rescue(const struct ab_terminal_rescue *rescue)
{
	const struct ab_terminal_live *live = rescue->live;
	struct ab_screen_modes modes;
	sigset_t ttou, before;
	struct termios now;

	if (rescue->fd < 0 || !live)
		return;
	/* We are in the background now, where a change would stop us. */
	sigemptyset(&ttou);
	sigaddset(&ttou, SIGTTOU);
	sigprocmask(SIG_BLOCK, &ttou, &before);
	/* Unless a shell was faster, and already edits a line. */
	if (live->raw && tcgetattr(rescue->fd, &now) == 0 &&
	    !(now.c_lflag & (ICANON | ISIG | ECHO)))
		tcsetattr(rescue->fd, TCSANOW, &live->cooked);
	modes = live->modes;
	if (live->writing)
		ab_screen_modes_join(&modes, &live->next);
	/* CAN ends our own sequence if it was cut off. */
	if (live->covered) {
		ab_relay_write(rescue->fd, "\030", 1);
		write_modes(rescue->fd, &modes, ab_screen_modes_uncover);
	}
	if (live->shown && live->same)
		write_modes(rescue->fd, &modes, ab_screen_modes_undo);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/*
 * Theory of operation.
 *
 * Our screen covers the box's: on the alternate screen of the terminal, or, if
 * the box's program uses that one, in its place. The sequences that begin and
 * end it, and everything drawn in between, go through the relay ahead of the
 * box's output, so that we never block on a slow terminal. `covered` is set
 * before the first of these bytes and cleared after the last.
 *
 * A program on the full screen has lost its content. Many redraw only when
 * their size changes, so we change it and restore it a moment later.
 */

enum {
	/* Long enough for a program to see the other size. */
	NUDGE_MS = 150,
};

/* A terminal that another program has made raw is in use. */
static bool is_free(const struct ab_terminal *t)
{
	struct termios now;

	return t->live->raw || (tcgetattr(in_fd(t), &now) == 0 && (now.c_lflag & ICANON));
}

bool ab_terminal_supports_guest(const struct ab_terminal *t)
{
	return in_fd(t) >= 0 && out_fd(t) >= 0 && t->live->same && !t->bypassed;
}

bool ab_terminal_can_hold(const struct ab_terminal *t)
{
	return ab_terminal_supports_guest(t) && t->relay.loop && !t->relay.quiet &&
	       ab_tty_foreground(in_fd(t)) && is_free(t);
}

bool ab_terminal_held(const struct ab_terminal *t)
{
	return t->relay.held;
}

void ab_terminal_redraw(struct ab_terminal *t)
{
	struct winsize size;

	if (!t->relay.held)
		return;
	/* Only one drawing at a time: a slow screen skips some. */
	t->dirty = t->relay.own.len > 0;
	if (t->dirty)
		return;
	copy_size(t, &size);
	t->guest.draw(t->guest.arg, &t->relay.own, size.ws_row ? size.ws_row : 24,
		      size.ws_col ? size.ws_col : 80);
	ab_relay_arm(&t->relay);
}

static void note_sent(void *arg)
{
	struct ab_terminal *t = arg;

	if (!t->relay.held) {
		t->live->covered = false;
		if (t->guest.uncovered)
			t->guest.uncovered(t->guest.arg);
	} else if (t->dirty) {
		ab_terminal_redraw(t);
	} else {
		t->guest.drawn(t->guest.arg);
	}
}

static void take_keyboard(struct ab_terminal *t)
{
	struct termios now;

	if (t->live->raw || tcgetattr(in_fd(t), &now) < 0)
		return;
	t->live->cooked = now;
	make_raw(t, &now);
	t->live->raw = t->lent = true;
	tcsetattr(in_fd(t), TCSANOW, &now);
}

static void cover_screen(struct ab_terminal *t)
{
	redo_modes(t);
	t->live->covered = true;
	ab_screen_modes_cover(&t->live->modes, &t->relay.own);
	t->relay.held = true;
	/* note_sent draws once these bytes are written. */
	t->dirty = true;
	ab_relay_arm(&t->relay);
}

bool ab_terminal_hold(struct ab_terminal *t, const struct ab_terminal_guest *guest)
{
	if (!ab_terminal_can_hold(t))
		return false;
	t->guest = *guest;
	take_keyboard(t);
	tcflush(in_fd(t), TCIFLUSH);
	if (t->relay.held)
		ab_terminal_redraw(t);
	else
		cover_screen(t);
	return true;
}

bool ab_terminal_takes_lines(const struct ab_terminal *t)
{
	struct termios now;

	return t->relay.box.source.fd >= 0 && tcgetattr(t->relay.box.source.fd, &now) == 0 &&
	       (now.c_lflag & ICANON) && !ab_screen_modes_full(&t->live->modes);
}

static void nudge_program(struct ab_terminal *t)
{
	int box = t->relay.box.source.fd;
	struct winsize size;

	if (box < 0 || !t->relay.loop || !ab_screen_modes_full(&t->live->modes))
		return;
	copy_size(t, &size);
	size.ws_row = size.ws_row > 1 ? size.ws_row - 1 : 2;
	ioctl(box, TIOCSWINSZ, &size);
	ab_loop_timer(t->relay.loop, &t->nudge, NUDGE_MS);
}

static void restore_size(struct ab_timer *timer)
{
	ab_terminal_resize(timer->owner);
}

void ab_terminal_release(struct ab_terminal *t)
{
	if (!t->relay.held)
		return;
	t->relay.held = false;
	if (in_fd(t) >= 0 && ab_tty_foreground(in_fd(t)))
		tcflush(in_fd(t), TCIFLUSH);
	ab_screen_modes_uncover(&t->live->modes, &t->relay.own);
	if (t->lent)
		return_terminal(t);
	t->lent = false;
	nudge_program(t);
	ab_relay_arm(&t->relay);
}

bool ab_terminal_covered(const struct ab_terminal *t)
{
	return t->live->covered;
}

void ab_terminal_uncover(struct ab_terminal *t)
{
	ab_terminal_release(t);
	if (t->live->covered)
		ab_relay_flush(&t->relay, false);
	t->guest = (struct ab_terminal_guest){ 0 };
}

static void pass_guest_keys(void *arg, const char *data, size_t len)
{
	struct ab_terminal *t = arg;

	if (len == 0 && ab_terminal_supports_guest(t))
		ab_terminal_release(t);
	else
		t->guest.keys(t->guest.arg, data, len);
}
