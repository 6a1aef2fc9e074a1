/*
 * Theory of operation.
 *
 * A screen of ours lies over the box's: on the other screen of the terminal,
 * or, where the box's program has that already, in its place. The sequences
 * that begin and end it and what is drawn in between go through the relay, in
 * front of the box's output, so that none of it waits for a slow terminal.
 * `covered` is noted before the first of these bytes and after the last.
 *
 * A program on the full screen has lost what stood there. It draws itself anew
 * when its size changes, and many only then: so it does, twice.
 */
#include <string.h>

#include "base/buf.h"
#include "session/terminal_state.h"
#include "session/tty.h"

enum {
	/* Long enough for a program to see the other size. */
	NUDGE_MS = 150,
};

/* A terminal that somebody has made raw is in use. */
static bool is_free(const struct ab_terminal *t)
{
	struct termios now;

	return t->live->raw || (tcgetattr(in_fd(t), &now) == 0 && (now.c_lflag & ICANON));
}

bool ab_terminal_suits(const struct ab_terminal *t)
{
	return in_fd(t) >= 0 && out_fd(t) >= 0 && t->live->same && !t->beside;
}

bool ab_terminal_able(const struct ab_terminal *t)
{
	return ab_terminal_suits(t) && t->relay.loop && !t->relay.quiet &&
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
	/* One after the other: a screen that is slow sees fewer of them. */
	t->dirty = t->relay.own.len > 0;
	if (t->dirty)
		return;
	ab_terminal_size(t, &size);
	t->guest.draw(t->guest.arg, &t->relay.own, size.ws_row ? size.ws_row : 24,
		      size.ws_col ? size.ws_col : 80);
	ab_relay_arm(&t->relay);
}

void ab_terminal_sent(void *arg)
{
	struct ab_terminal *t = arg;

	if (!t->relay.held)
		t->live->covered = false;
	else if (t->dirty)
		ab_terminal_redraw(t);
	else
		t->guest.drawn(t->guest.arg);
}

static void take_keyboard(struct ab_terminal *t)
{
	struct termios now;

	if (t->live->raw || tcgetattr(in_fd(t), &now) < 0)
		return;
	t->live->cooked = now;
	ab_terminal_make_raw(t, &now);
	t->live->raw = t->lent = true;
	tcsetattr(in_fd(t), TCSANOW, &now);
}

static void cover(struct ab_terminal *t)
{
	char text[AB_MODES_ROOM];

	ab_terminal_redo_modes(t);
	t->live->covered = true;
	ab_buf_add(&t->relay.own, text, ab_modes_cover(&t->live->modes, text));
	t->relay.held = true;
	/* Drawn when these are written. */
	t->dirty = true;
	ab_relay_arm(&t->relay);
}

bool ab_terminal_hold(struct ab_terminal *t, const struct ab_terminal_guest *guest)
{
	if (!ab_terminal_able(t))
		return false;
	t->guest = *guest;
	take_keyboard(t);
	tcflush(in_fd(t), TCIFLUSH);
	if (t->relay.held)
		ab_terminal_redraw(t);
	else
		cover(t);
	return true;
}

static void nudge(struct ab_terminal *t)
{
	int box = t->relay.box.source.fd;
	struct winsize size;

	if (box < 0 || !t->relay.loop || !ab_modes_full(&t->live->modes))
		return;
	ab_terminal_size(t, &size);
	size.ws_row = size.ws_row > 1 ? size.ws_row - 1 : 2;
	ioctl(box, TIOCSWINSZ, &size);
	ab_loop_timer(t->relay.loop, &t->nudge, NUDGE_MS);
}

void ab_terminal_nudged(struct ab_timer *timer)
{
	ab_terminal_resize(timer->owner);
}

void ab_terminal_release(struct ab_terminal *t)
{
	char text[AB_MODES_ROOM];

	if (!t->relay.held)
		return;
	t->relay.held = false;
	if (in_fd(t) >= 0 && ab_tty_foreground(in_fd(t)))
		tcflush(in_fd(t), TCIFLUSH);
	ab_buf_add(&t->relay.own, text, ab_modes_uncover(&t->live->modes, text));
	if (t->lent)
		ab_terminal_step_back(t);
	t->lent = false;
	nudge(t);
	ab_relay_arm(&t->relay);
}

void ab_terminal_heard(void *arg, const char *data, size_t len)
{
	struct ab_terminal *t = arg;

	if (len == 0 && ab_terminal_suits(t))
		ab_terminal_release(t);
	else
		t->guest.keys(t->guest.arg, data, len);
}
