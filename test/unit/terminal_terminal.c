/*
 * The relay between two terminals (terminal_help.h).
 */
#include "terminal/terminal.h"

#include "tap.h"
#include "terminal_help.h"

/* How the supervisor is started. */
enum how { PLAIN, BACKGROUND, PIPELINE, FILE_IN, ON_MASTER };

static struct termios cooked, edited;

static char obey(char letter)
{
	struct ab_error err;
	pid_t group = letter == 'f' ? getpgrp() : getppid();

	switch (letter) {
	case 'a':
		if (!ab_terminal_behind(terminal))
			tcsetattr(box_master, TCSANOW, ab_terminal_settings(terminal));
		return ab_terminal_attach(terminal, box_master, &loop, &err) ? 'n' : 'y';
	case 'h':
		return ab_terminal_behind(terminal) ? 'y' : 'n';
	case 'k':
		return ab_terminal_claim(terminal) ? 'y' : 'n';
	case 'w':
		ab_terminal_resize(terminal);
		return 'y';
	case 's':
		ab_terminal_suspend(terminal);
		return 'y';
	case 'r':
		return ab_terminal_resume(terminal) ? 'y' : 'n';
	case 'f':
	case 'b':
		return tcsetpgrp(1, group) == 0 ? 'y' : 'n';
	case 'o': /* is the shell's description still as it was? */
		return fcntl(1, F_GETFL) & O_NONBLOCK ? 'n' : 'y';
	case 'p':
		return 'y';
	default:
		loop.stop = true;
		return 0;
	}
}

static _Noreturn void supervise(int control)
{
	struct ab_terminal_rescue rescue;
	struct ab_error err;
	uint16_t rows, cols;
	uint32_t fds;

	block_signals();
	if (ab_terminal_open(&terminal, &fds, &rows, &cols, &err) < 0 || !terminal)
		_exit(2);
	if (rows != 24 || cols != 80)
		_exit(3);
	ab_terminal_rescue_get(terminal, &rescue);
	start_broker(control, &rescue);
	serve(control);
	ab_terminal_close(terminal);
	_exit(0);
}

static void put_stdio(enum how how, int slave, int master)
{
	int pipe_ends[2], in = slave, tty = slave;

	check(pipe(pipe_ends) == 0, "pipe");
	if (how == PIPELINE)
		in = pipe_ends[0];
	if (how == FILE_IN)
		in = open("/dev/null", O_RDONLY);
	if (how == ON_MASTER)
		in = tty = master;
	dup2(in, 0);
	dup2(tty, 1);
	dup2(tty, 2);
}

static _Noreturn void be_shell(enum how how, int slave, int control)
{
	fork_as_shell(slave, control);
	if (how != BACKGROUND)
		tcsetpgrp(slave, getpid());
	put_stdio(how, slave, env.master);
	close(slave);
	close(env.master);
	supervise(control);
}

static void start(enum how how)
{
	int slave = open_terminals(&box_master), control;
	struct termios termios;

	/* Something to be recognised by. */
	check(tcgetattr(slave, &termios) == 0, "termios");
	termios.c_cc[VINTR] = 'X' & 0x1f;
	cooked = termios;
	/* As a shell has it while it edits a line. */
	if (how == BACKGROUND)
		termios.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(slave, TCSANOW, &termios);
	edited = termios;
	control = fork_shell();
	if (control >= 0)
		be_shell(how, slave, control);
	if (how != ON_MASTER)
		close(slave);
	else
		env.master = (close(env.master), slave);
	check(ask(0) == 'y', "supervisor's start");
}

/* What the box's program reads next. */
static const char *reads(int ms)
{
	return line_of(env.slave, ms);
}

static bool is_raw(void)
{
	struct termios now;

	return tcgetattr(env.master, &now) == 0 && !(now.c_lflag & (ICANON | ECHO | ISIG));
}

static bool is_cooked(void)
{
	struct termios now;

	return tcgetattr(env.master, &now) == 0 &&
	       (now.c_lflag & (ICANON | ECHO | ISIG)) == (ICANON | ECHO | ISIG) &&
	       (now.c_oflag & OPOST) && now.c_cc[VINTR] == ('X' & 0x1f);
}

static bool is_edited(void)
{
	struct termios now;

	return tcgetattr(env.master, &now) == 0 && now.c_lflag == edited.c_lflag &&
	       now.c_iflag == edited.c_iflag && now.c_oflag == edited.c_oflag;
}

static bool wait_cooked(void)
{
	for (int ms = 0; ms < WAIT_MS && !is_cooked(); ms += 10)
		poll(NULL, 0, 10);
	return is_cooked();
}

static void make_box_raw(void)
{
	struct termios termios;

	tcgetattr(env.slave, &termios);
	cfmakeraw(&termios);
	tcsetattr(env.slave, TCSANOW, &termios);
}

/* Ends the relay; the exit status of the supervisor. */
static int finish(void)
{
	int status = -1;

	ab_closep(&env.slave);
	if (write(env.control, "q", 1) < 0)
		printf("# the supervisor is gone\n");
	/* The screen must be read, or the last output waits for it. */
	shows_text("(the end)");
	while (waitpid(env.shell, &status, 0) < 0 && errno == EINTR)
		;
	close(env.control);
	close(env.master);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_attach(void)
{
	struct termios inside;

	start(PLAIN);
	ok(is_cooked() && ask('h') == 'n', "looking changes nothing, and a plain terminal is ours");
	ok(ask('a') == 'y' && is_raw(), "attached, the terminal is raw");
	tcgetattr(env.slave, &inside);
	ok(inside.c_cc[VINTR] == ('X' & 0x1f) && (inside.c_lflag & ICANON),
	   "the box's terminal has the caller's settings");
	ok(ask('o') == 'y', "the caller's description still blocks");
	ok(type("hello\r") && strcmp(reads(WAIT_MS), "hello\n") == 0,
	   "what is typed is read inside, by the line");
	ok(shows_text("hello\r\n"), "and echoed by the box's terminal");
	ok(print("world\n") && shows_text("world\r\n"), "what is printed inside is shown");
	print("last\n");
	ok(finish() == 0 && memmem(env.screen, env.seen, "last\r\n", 6),
	   "closing shows what was left");
	ok(memchr(env.screen, '\033', env.seen) == NULL, "no mode on: closing adds nothing");
}

static void test_cooked_after_close(void)
{
	int slave;

	start(PLAIN);
	slave = ioctl(env.master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
	ask('a');
	ok(is_raw(), "raw before closing");
	print("\033[?1049h\033[?25l\033[?1002h");
	ok(shows_text("\033[?1002h"), "modes pass");
	ab_closep(&env.slave);
	if (write(env.control, "q", 1) != 1)
		printf("# no supervisor\n");
	ok(shows_text("\033[?1002l\033[?25h\033[?1049l"), "closing undoes the modes that are on");
	waitpid(env.shell, NULL, 0);
	ok(is_cooked(), "closed, the terminal is as it was");
	close(slave);
	close(env.control);
	close(env.master);
}

static void test_resize(void)
{
	struct winsize size = { .ws_row = 50, .ws_col = 132 }, inside;

	start(PLAIN);
	ask('a');
	ok(ioctl(env.slave, TIOCGWINSZ, &inside) == 0 && inside.ws_row == 24 && inside.ws_col == 80,
	   "the size is there from the start");
	ioctl(env.master, TIOCSWINSZ, &size);
	ok(ask('w') == 'y' && ioctl(env.slave, TIOCGWINSZ, &inside) == 0 && inside.ws_row == 50 &&
		   inside.ws_col == 132,
	   "a new size is seen inside");
	finish();
}

/* A megabyte from one end to the other, both at the pace of the slower. */
static bool moves(int from, int to)
{
	static char sent[MEGABYTE], got[MEGABYTE];
	size_t out = 0, in = 0;

	for (size_t i = 0; i < MEGABYTE; i++)
		sent[i] = (char)(' ' + (i * 7 + i / 251) % 95);
	while (in < MEGABYTE) {
		struct pollfd fds[] = {
			{ .fd = to, .events = POLLIN },
			{ .fd = out < MEGABYTE ? from : -1, .events = POLLOUT },
		};
		ssize_t n;

		if (poll(fds, 2, WAIT_MS) <= 0)
			return false;
		if (fds[1].revents) {
			n = write(from, sent + out, MEGABYTE - out);
			out += n > 0 ? (size_t)n : 0;
		}
		if (fds[0].revents) {
			n = read(to, got + in, MEGABYTE - in);
			if (n == 0 || (n < 0 && errno != EAGAIN))
				return false;
			in += n > 0 ? (size_t)n : 0;
		}
	}
	return memcmp(sent, got, MEGABYTE) == 0;
}

static void test_bulk(void)
{
	start(PLAIN);
	ask('a');
	make_box_raw();
	ok(moves(env.slave, env.master), "a megabyte of output arrives whole");
	ok(moves(env.master, env.slave), "a megabyte of input arrives whole");
	finish();
}

/* Until nothing more is taken, or it is plain that there is no end. */
static size_t fill_up(void)
{
	static char junk[4096];
	size_t total = 0, idle = 0;

	memset(junk, 'j', sizeof(junk));
	while (idle < 20 && total < 2 * MEGABYTE) {
		ssize_t n = write(env.slave, junk, sizeof(junk));

		total += n > 0 ? (size_t)n : 0;
		idle = n > 0 ? 0 : idle + 1;
		if (n <= 0)
			poll(NULL, 0, 10);
	}
	return total;
}

static void test_stuck_screen(enum how how, const char *name)
{
	size_t total;

	start(how);
	ask('a');
	make_box_raw();
	total = fill_up();
	ok(total < 2 * MEGABYTE, "%s: a screen that takes nothing slows the box", name);
	ok(ask('p') == 'y', "%s: and not the supervisor", name);
	ok(ask('w') == 'y', "%s: which still does its work", name);
	env.seen = 0;
	ok(shows_text("j"), "%s: read again, it goes on", name);
	while (env.seen < total && shows_text("j")) {
		ssize_t n = read(env.master, env.screen + env.seen, sizeof(env.screen) - env.seen);

		if (n > 0)
			env.seen += (size_t)n;
		else if (errno != EAGAIN)
			break;
	}
	ok(env.seen == total, "%s: nothing was lost", name);
	finish();
}

static void test_background(void)
{
	start(BACKGROUND);
	ok(ask('h') == 'y', "in the background the command starts there too");
	ok(ask('a') == 'y' && is_edited(), "and the terminal stays as the shell has it");
	ok(print("printed\n") && shows_text("printed\r"), "its output is shown");
	type("typed\r");
	ok(ask('k') == 'n' && is_edited(), "what asks to read is refused");
	ok(ask('p') == 'y' && strcmp(reads(0), "(nothing)") == 0,
	   "what is typed for the shell is not taken");
	tcsetattr(env.master, TCSANOW, &cooked);
	ok(ask('f') == 'y' && ask('k') == 'y' && is_raw(), "in the foreground it may read");
	ok(strcmp(reads(WAIT_MS), "typed\n") == 0, "what waits is read then");
	ok(shows_text("typed\r\n"), "with the settings of the foreground");
	ok(ask('s') == 'y' && is_cooked(), "which are given back");
	finish();
}

static void test_not_ours(enum how how, const char *name)
{
	struct termios now;

	start(how);
	ok(ask('h') == 'y' && ask('a') == 'y' && is_cooked(),
	   "%s: the terminal is not taken at the start", name);
	ok(ask('k') == 'y' && is_raw(), "%s: but when it is asked for", name);
	tcgetattr(env.master, &now);
	ok(!(now.c_oflag & OPOST) == (how != PIPELINE), "%s: line ends of others are still made",
	   name);
	ok(type("x\r") && strcmp(reads(WAIT_MS), "x\n") == 0, "%s: and read then", name);
	finish();
}

static void test_suspend(void)
{
	start(PLAIN);
	ask('a');
	print("\033[?1049h\033[?1000h");
	shows_text("\033[?1000h");
	print("before the stop");
	ok(ask('s') == 'y' && is_cooked(), "suspended, the terminal is cooked");
	ok(shows_text("before the stop\033[?1000l\033[?1049l"),
	   "and out of the full screen, after the last output");
	env.seen = 0;
	ok(ask('b') == 'y' && ask('r') == 'n' && is_cooked(),
	   "going on in the background leaves it alone");
	ok(ask('f') == 'y' && ask('r') == 'y' && is_raw(), "in the foreground it is raw again");
	ok(shows_text("\033[?1049h") && shows_text("\033[?1000h"), "and the modes are back");
	ok(type("y\r") && strcmp(reads(WAIT_MS), "y\n") == 0, "what is typed arrives again");
	finish();
}

/* As by kill -STOP: nobody told us before. */
static void test_pushed_aside(void)
{
	start(PLAIN);
	ask('a');
	ask('b');
	type("z\r");
	ok(strcmp(reads(100), "(nothing)") == 0 && ask('p') == 'y',
	   "pushed into the background, nothing is read");
	ok(ask('f') == 'y' && ask('r') == 'y' && strcmp(reads(WAIT_MS), "z\n") == 0,
	   "back in the foreground, it is");
	finish();
}

static void test_hang_up(void)
{
	int status;

	start(PLAIN);
	ask('a');
	make_box_raw();
	close(env.master);
	ok(fill_up() >= 2 * MEGABYTE, "the window was closed: the box does not wait for it");
	ok(ask('p') == 'y', "and the supervisor lives");
	ab_closep(&env.slave);
	ok(write(env.control, "q", 1) == 1 && waitpid(env.shell, &status, 0) == env.shell &&
		   status == 0,
	   "and it ends as always");
	close(env.control);
}

static void test_rescue(void)
{
	int slave;

	start(PLAIN);
	/* A terminal whose last slave is closed is made anew. */
	slave = ioctl(env.master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
	ask('a');
	print("\033[?1049h\033[?25l");
	shows_text("\033[?25l");
	ok(is_raw(), "raw before the kill");
	kill(env.supervisor, SIGKILL);
	ok(wait_cooked(), "a killed supervisor's terminal is given back");
	ok(shows_text("\033[?25h\033[?1049l"), "with its modes undone");
	kill(env.shell, SIGKILL);
	waitpid(env.shell, NULL, 0);
	close(slave);
	close(env.slave);
	close(env.control);
	close(env.master);
}

int main(void)
{
	alarm(500);
	signal(SIGPIPE, SIG_IGN);
	test_attach();
	test_cooked_after_close();
	test_resize();
	test_bulk();
	test_stuck_screen(PLAIN, "own description");
	test_stuck_screen(ON_MASTER, "inherited description");
	test_background();
	test_not_ours(PIPELINE, "pipeline");
	test_not_ours(FILE_IN, "file on 0");
	test_suspend();
	test_pushed_aside();
	test_hang_up();
	test_rescue();
	return done();
}
