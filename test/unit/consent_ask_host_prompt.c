/*
 * A question on a terminal (terminal_help.h).
 */
#include "consent/ask/host_prompt.h"

#include "base/data/mem.h"
#include "tap.h"
#include "terminal_help.h"

/* What the supervisor has on 0-2. */
enum how { PLAIN, OWN, PIPELINE, FILE_IN, PIPE_ERR, OWN_PIPE };

static int keep; /* the slave: else the last close would hang it up */
static int news; /* what the prompt calls */

/* --- the supervisor's side --- */

static struct ab_host_prompt *prompt;
static int news_fd;

static void answered(void *arg, uint32_t number, enum ab_host_choice choice, bool said)
{
	(void)arg;
	dprintf(news_fd, "%u %s%s\n", number, ab_choice_names[choice], said ? "" : " unsaid");
}

static void redraw(void *arg)
{
	(void)arg;
	dprintf(news_fd, "redraw\n");
}

/* A line that was kept while the question was on the screen, as steering.c does. */
static bool has_line;

static void say_line(void *arg)
{
	(void)arg;
	if (has_line && !ab_host_prompt_asking(prompt))
		dprintf(3, "the line\r\n");
	has_line &= ab_host_prompt_asking(prompt);
}

static void show_question(uint32_t number)
{
	struct ab_host_prompt_question q = { .number = number,
					     .run_id = "7kq2a",
					     .host = number == 1 ? "new.example" : "other.example",
					     .port = 443,
					     .door = "proxy",
					     .left_ms = 60000 };

	ab_host_prompt_show(prompt, &q);
}

static char yes(bool is)
{
	return is ? 'y' : 'n';
}

static char obey(char letter)
{
	struct ab_host_prompt_watch watch = {
		.loop = &loop, .answered = answered, .redraw = redraw, .uncovered = say_line
	};
	pid_t group = letter == 'f' ? getpgrp() : getppid();
	struct ab_error err;

	switch (letter) {
	case 'a':
		return yes(
			(!terminal || ab_terminal_attach(terminal, box_master, &loop, &err) == 0) &&
			(!prompt || ab_host_prompt_attach(prompt, &watch, &err) == 0));
	case 'p':
		return yes(prompt);
	case 'e':
		return yes(prompt && ab_host_prompt_usable(prompt));
	case '1':
	case '2':
		show_question((uint32_t)(letter - '0'));
		return 'y';
	case 'h':
		ab_host_prompt_hide(prompt);
		return 'y';
	case 'l':
		has_line = true;
		say_line(NULL);
		return 'y';
	case 'w':
		if (terminal)
			ab_terminal_resize(terminal);
		ab_host_prompt_resize(prompt);
		return 'y';
	case 's':
		if (terminal)
			ab_terminal_suspend(terminal);
		ab_host_prompt_suspend(prompt);
		return 'y';
	case 'r':
		if (terminal)
			ab_terminal_resume(terminal);
		ab_host_prompt_resume(prompt);
		return 'y';
	case 'f':
	case 'b':
		return yes(tcsetpgrp(3, group) == 0);
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
	if (ab_terminal_open(&terminal, &fds, &rows, &cols, &err) < 0 ||
	    ab_host_prompt_open(terminal, &prompt, &err) < 0)
		_exit(2);
	ab_host_prompt_rescue_get(prompt, &rescue);
	start_broker(control, &rescue);
	serve(control);
	ab_host_prompt_close(prompt);
	if (has_line)
		dprintf(3, "the line\r\n");
	ab_terminal_close(terminal);
	ab_loop_fini(&loop);
	_exit(0);
}

static void put_stdio(enum how how, int slave)
{
	int pipe_ends[2], null = open("/dev/null", O_RDWR);
	bool own = how == OWN || how == OWN_PIPE;
	int in = own || how == FILE_IN ? null : slave, out = slave;

	check(pipe(pipe_ends) == 0, "pipe");
	if (own)
		out = null;
	dup2(in, 0);
	dup2(how == PIPELINE || how == OWN_PIPE ? pipe_ends[1] : out, 1);
	dup2(how == PIPE_ERR ? pipe_ends[1] : out, 2);
	dup2(slave, 3);
}

static _Noreturn void be_shell(enum how how, int slave, int control)
{
	fork_as_shell(slave, control);
	tcsetpgrp(slave, getpid());
	/* Out of the way of 0-3. */
	control = fcntl(control, F_DUPFD, 20);
	news_fd = fcntl(news_fd, F_DUPFD, 20);
	box_master = fcntl(box_master, F_DUPFD, 20);
	slave = fcntl(slave, F_DUPFD, 20);
	put_stdio(how, slave);
	for (int fd = 4; fd < 20; fd++)
		close(fd);
	close(slave);
	supervise(control);
}

/* --- the test's side --- */

static void start(enum how how)
{
	int ends[2], control;

	keep = open_terminals(&box_master);
	check(pipe(ends) == 0, "pipe");
	news_fd = ends[1];
	control = fork_shell();
	if (control >= 0)
		be_shell(how, keep, control);
	close(ends[1]);
	news = ends[0];
	check(ask(0) == 'y' && ask('a') == 'y', "supervisor's start");
}

/* All that is there already. */
static void read_screen(void)
{
	shows_in("(never)", 7, 0);
}

static void clear(void)
{
	read_screen();
	env.seen = 0;
}

static bool told(const char *text)
{
	const char *line = line_of(news, WAIT_MS);

	if (strcmp(line, text) == 0)
		return true;
	printf("# told: %s", line);
	return false;
}

/* As long as somebody reads before he answers. */
static void read_it(void)
{
	poll(NULL, 0, 900);
}

/* Until an answer is taken: the first moments it is not. */
static bool answers(const char *key, const char *text)
{
	for (int i = 0; i < 60; i++) {
		struct pollfd ready = { .fd = news, .events = POLLIN };

		read_it();
		type(key);
		if (poll(&ready, 1, 100) == 1)
			return told(text);
	}
	return false;
}

/* The same for [?]. */
static bool shows_more(const char *text)
{
	for (int i = 0; i < 20; i++) {
		read_it();
		type("?");
		if (shows_in(text, strlen(text), 3000))
			return true;
	}
	return false;
}

static bool has_flags(tcflag_t flags)
{
	struct termios now;

	return tcgetattr(env.master, &now) == 0 && (now.c_lflag & (ICANON | ECHO | ISIG)) == flags;
}

static bool wait_cooked(void)
{
	for (int ms = 0; ms < WAIT_MS && !has_flags(ICANON | ECHO | ISIG); ms += 10)
		poll(NULL, 0, 10);
	return has_flags(ICANON | ECHO | ISIG);
}

static int finish(void)
{
	int status = -1;

	ab_closep(&env.slave);
	if (write(env.control, "q", 1) < 0)
		printf("# the supervisor is gone\n");
	waitpid(env.shell, &status, 0);
	read_screen();
	close(env.control);
	close(news);
	close(env.master);
	close(keep);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_keys(void)
{
	static const struct {
		const char *key, *text;
	} keys[] = {
		{ "o", "1 once\n" },	     { "r", "1 run\n" },	  { "a", "1 always\n" },
		{ "p", "1 project\n" },	     { "d", "1 never\n" },	  { "n", "1 no\n" },
		{ "\003", "1 no unsaid\n" }, { "\033", "1 no unsaid\n" },
	};

	start(PLAIN);
	ok(ask('e') == 'y', "somebody can be asked");
	for (size_t i = 0; i < AB_COUNT(keys); i++) {
		clear();
		ask('1');
		ok(shows_text("\033[?1049h") && shows_text("wants new.example:443"),
		   "the question stands there");
		ok(i + 1 != AB_COUNT(keys) ? answers(keys[i].key, keys[i].text)
					   : (read_it(), type("\033")) && told(keys[i].text),
		   "the answer %zu is told", i);
		ok(ask('h') == 'y' && shows_text("\033[?1049l") && told("redraw\n"),
		   "and the screen is given back");
	}
	ok(type("typed\r") && strcmp(line_of(env.slave, WAIT_MS), "typed\n") == 0,
	   "then keys are for the command");
	ok(finish() == 0, "the end");
}

static void test_keys_that_are_none(void)
{
	start(PLAIN);
	type("ooo");
	ask('1');
	type("o");
	ok(shows_text("wants new.example") && strcmp(line_of(news, 300), "(nothing)") == 0,
	   "what was typed before it could be read is thrown away");
	type("or");
	type("\033[200~o\033[201~");
	type("\033OA");
	type("\033[0n");
	type("x");
	ok(strcmp(line_of(news, 300), "(nothing)") == 0,
	   "several at once, and other keys, are no answer");
	type("\033]10;rgb:");
	poll(NULL, 0, 50);
	type("a");
	ok(strcmp(line_of(news, 300), "(nothing)") == 0,
	   "nor is a letter of what the terminal says by itself");
	type("\007");
	/* A key that means nothing comes just before: a pause that a busy machine makes is before
	 * that one. */
	for (int i = 0; i < 30; i++) {
		type("x");
		type(i % 3 == 0 ? "a" : i % 3 == 1 ? "o" : "r");
		poll(NULL, 0, 50);
	}
	ok(strcmp(line_of(news, 0), "(nothing)") == 0, "nor what somebody types who does not look");
	clear();
	ok(shows_more("id 7kq2a-1, via proxy"), "[?] shows more");
	ok(type("o") && told("1 once\n"), "a key that is typed is one");
	type("n");
	ok(strcmp(line_of(news, 100), "(nothing)") == 0, "and there is one answer");
	ask('h');
	told("redraw\n");
	ok(strncmp(line_of(env.slave, 100), "ooo", 3) != 0, "the command got none of these keys");
	finish();
}

static bool has_more(void)
{
	struct pollfd ready = { .fd = env.master, .events = POLLIN };

	return poll(&ready, 1, WAIT_MS) == 1;
}

static size_t count(char c)
{
	size_t n = 0;

	for (size_t i = 0; i < env.seen; i++)
		n += env.screen[i] == c;
	return n;
}

enum { FLOOD = 400000 };

/* As the box: as much as is taken. */
static size_t flood(void)
{
	static char big[FLOOD];
	size_t out = 0;

	memset(big, '~', sizeof(big));
	while (out < sizeof(big)) {
		struct pollfd room = { .fd = env.slave, .events = POLLOUT };
		ssize_t n;

		if (poll(&room, 1, 300) != 1)
			break;
		n = write(env.slave, big, sizeof(big) - out);
		if (n < 0)
			break;
		out += (size_t)n;
	}
	return out;
}

/* Read until the screen has everything that flood() wrote. */
static bool shows_flood(size_t out)
{
	while (count('~') < out && has_more())
		read_screen();
	return count('~') == out;
}

static void test_slow_screen(void)
{
	size_t out;

	start(PLAIN);
	out = flood();
	ask('1');
	read_it();
	type("o");
	ok(strcmp(line_of(news, 300), "(nothing)") == 0,
	   "a question that is not on the screen yet is not answered");
	ok(shows_text("wants new.example"), "then it is there");
	type("o");
	ok(strcmp(line_of(news, 300), "(nothing)") == 0, "and is to be read first");
	ok(answers("o", "1 once\n"), "before it is answered");
	ask('h');
	ok(shows_flood(out), "and all output comes");
	finish();
}

static void test_output_waits(void)
{
	size_t out;

	start(PLAIN);
	print("before");
	ok(shows_text("before"), "output is shown");
	ask('1');
	shows_text("wants new.example");
	clear();
	print("\033[2Jcover\033[?1049l");
	ok(!shows_in("cover", 5, 300), "while a question stands it is not");
	out = flood();
	ok(out < FLOOD, "what is too much waits in the box");
	ok(ask('e') == 'y' && !shows_in("~~~", 3, 0), "and not here");
	ask('h');
	ok(shows_text("\033[?1049l\033[2Jcover"), "afterwards it is shown, in order");
	ok(shows_flood(out), "and all of it");
	finish();
}

static void test_full_screen(void)
{
	struct winsize inside;

	start(PLAIN);
	print("\033[?1049h\033[?1000h\033[>1u\033]0;ti");
	shows_text("\033]0;ti");
	clear();
	ask('1');
	ok(shows_text("wants new.example") &&
		   memmem(env.screen, env.seen, "\033\\\0337\033[>0u\033[?1000l", 17),
	   "what the program switched on is off");
	ask('h');
	ok(shows_text("\033[?25h\033[<u\033[?1000h\0338\033]9999;"),
	   "and on again, in the middle of a title");
	ok(ioctl(env.slave, TIOCGWINSZ, &inside) == 0 && inside.ws_row == 23,
	   "another size, for a program to see");
	for (int ms = 0; ms < WAIT_MS && inside.ws_row != 24; ms += 10) {
		poll(NULL, 0, 10);
		ioctl(env.slave, TIOCGWINSZ, &inside);
	}
	ok(inside.ws_row == 24, "and the right one again");
	finish();
}

/* Is the line on the screen that stays? */
static bool keeps_line(void)
{
	const char *line = memmem(env.screen, env.seen, "the line", 8);
	size_t rest = line ? (size_t)(env.screen + env.seen - line) : 0;

	return line && !memmem(line, rest, "\033[?1049l", 8);
}

static void test_kept_lines(void)
{
	start(PLAIN);
	ask('1');
	shows_text("wants new.example");
	ask('l');
	ask('h');
	ok(shows_text("the line") && keeps_line(), "a line comes when the question has gone");
	clear();
	ask('1');
	shows_text("wants new.example");
	ask('h');
	ask('l');
	ok(shows_text("the line") && keeps_line(), "not while it goes");
	finish();
	start(PLAIN);
	ask('1');
	shows_text("wants new.example");
	ask('l');
	finish();
	ok(keeps_line(), "if the run ends with the question on the screen, neither");
}

static void test_two(void)
{
	start(PLAIN);
	ask('1');
	shows_text("wants new.example");
	answers("o", "1 once\n");
	clear();
	ask('2');
	ok(shows_text("wants other.example") && !memmem(env.screen, env.seen, "1049", 4),
	   "the next question comes in the place of the first");
	type("o");
	ok(strcmp(line_of(news, 100), "(nothing)") == 0,
	   "a key for the first is none for the second");
	ok(answers("n", "2 no\n"), "which is answered by itself");
	ask('h');
	finish();
}

static void test_resize(void)
{
	struct winsize size = { .ws_row = 2, .ws_col = 18 };

	start(PLAIN);
	ask('1');
	shows_text("wants new.example");
	clear();
	ioctl(keep, TIOCSWINSZ, &size);
	ask('w');
	ok(shows_text("new.example:443") && shows_text("o/r/p/a/n/d"),
	   "on a smaller screen it is drawn anew");
	ok(finish() == 0 && memmem(env.screen, env.seen, "\033[?1049l", 8),
	   "the end of the run takes the question away");
}

static void test_suspend(void)
{
	start(PLAIN);
	ask('1');
	shows_text("wants new.example");
	ok(ask('s') == 'y' && shows_text("\033[?1049l") && wait_cooked(),
	   "stopped, the terminal is as it was");
	ok(ask('e') == 'n', "and nobody can be asked");
	clear();
	ok(ask('b') == 'y' && ask('r') == 'y' && !shows_in("wants", 5, 1200),
	   "in the background it is not asked");
	ok(ask('f') == 'y' && ask('r') == 'y' && shows_text("wants new.example"),
	   "in the foreground it is, again");
	ok(answers("o", "1 once\n"), "and answered");
	ask('h');
	finish();
}

static void test_background(void)
{
	start(PLAIN);
	ask('1');
	shows_text("wants new.example");
	ask('b');
	clear();
	type("o");
	ok(strcmp(line_of(news, 300), "(nothing)") == 0 && ask('e') == 'n',
	   "what is typed for others is no answer");
	finish();
}

static void test_own(void)
{
	start(OWN);
	ok(ask('p') == 'y' && ask('e') == 'y' && has_flags(ICANON | ECHO | ISIG),
	   "the terminal that controls us will do");
	ask('1');
	ok(shows_text("wants new.example") && has_flags(0),
	   "it is raw while a question stands there");
	ok(answers("r", "1 run\n"), "which is answered");
	ok(ask('h') == 'y' && shows_text("\033[?1049l") && wait_cooked(),
	   "and as it was afterwards");
	clear();
	ask('2');
	shows_text("wants other.example");
	ok(ask('s') == 'y' && shows_text("\033[?1049l") && wait_cooked(), "stopped, too");
	clear();
	ok(ask('r') == 'y' && shows_text("wants other.example"), "and back");
	finish();
}

static void test_not_ours(void)
{
	struct termios raw;

	start(PIPELINE);
	ok(ask('p') == 'n', "in a pipeline nobody is asked");
	finish();
	start(PIPE_ERR);
	ok(ask('p') == 'n', "nor where only 2 is a pipe");
	finish();
	start(OWN_PIPE);
	ok(ask('p') == 'n', "nor on the terminal that controls us, then");
	finish();
	start(FILE_IN);
	ok(ask('p') == 'y' && ask('e') == 'y' && has_flags(ICANON | ECHO | ISIG),
	   "with a file on 0, somebody is");
	ask('1');
	ok(shows_text("wants new.example") && has_flags(0) && answers("o", "1 once\n") &&
		   ask('h') == 'y' && wait_cooked(),
	   "and the terminal is as it was afterwards");
	finish();
	start(OWN);
	tcgetattr(keep, &raw);
	cfmakeraw(&raw);
	tcsetattr(keep, TCSANOW, &raw);
	ok(ask('e') == 'n', "where somebody has made it raw, nobody is");
	finish();
}

static void test_gone(void)
{
	start(PLAIN);
	ask('1');
	shows_text("wants new.example");
	close(env.master);
	ok(told("1 no unsaid\n"), "a terminal that is closed says no");
	ok(ask('e') == 'n', "and nobody can be asked any more");
	env.master = open("/dev/null", O_RDWR);
	finish();
}

static void test_rescue(void)
{
	for (int own = 0; own < 2; own++) {
		start(own ? OWN : PLAIN);
		if (!own) {
			print("\033[?1049h\033[?1002h");
			shows_text("\033[?1002h");
		}
		ask('1');
		shows_text("wants new.example");
		clear();
		kill(env.supervisor, SIGKILL);
		ok(wait_cooked(), "a killed supervisor's terminal is cooked");
		ok(shows_text("\033[?1049l") && (own || shows_text("\033[?1002l")) &&
			   shows_text("\033[?25h"),
		   "and out of every screen");
		kill(env.shell, SIGKILL);
		waitpid(env.shell, NULL, 0);
		close(keep);
		close(env.slave);
		close(env.control);
		close(news);
		close(env.master);
	}
}

int main(void)
{
	alarm(500);
	signal(SIGPIPE, SIG_IGN);
	setenv("TERM", "xterm", 1); /* nobody is asked on a dumb one */
	test_keys();
	test_keys_that_are_none();
	test_slow_screen();
	test_output_waits();
	test_full_screen();
	test_kept_lines();
	test_two();
	test_resize();
	test_suspend();
	test_background();
	test_own();
	test_not_ours();
	test_gone();
	test_rescue();
	return done();
}
