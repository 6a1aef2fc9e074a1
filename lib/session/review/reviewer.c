/*
 * Theory of operation.
 *
 * The reviewer waits for one of two requests. COUNT: it walks the layer, labels the changes, applies
 * the safe ones if it was told to, and sends the sum. ASK: it asks on the terminal until the person
 * has decided, and does it. To show the changes a child executes this program again, as `agentbox
 * diff`, which has the pager and the colours. It takes the set's lock itself, so ours is released
 * before.
 *
 * Should: end when the supervisor does.
 * Mustn't: hold the caller's pipes, whose readers would wait for us; change anything before the box is
 * gone.
 */
#include "session/review/reviewer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/system/signals.h"
#include "base/text/wrap.h"
#include "layer/apply/apply.h"
#include "layer/store/store.h"
#include "session/state/claim.h"
#include "session/state/state.h"
#include "session/terminal/tty.h"

enum {
	TEXT_ROOM = 48 * 1024,
	NARROWEST = 30,	  /* columns; nothing is fitted to less */
	LIST_MAX = 20,	  /* labelled changes that are listed */
	SIGNALS_MS = 200, /* how often the supervisor looks for a signal while it waits */
};

enum request { REQUEST_COUNT, REQUEST_ASK };

struct answer {
	int32_t result;
	bool asked;
	struct ab_error error; /* if result < 0 */
	struct ab_review_sum sum;
	char json[TEXT_ROOM + 1]; /* sent without a NUL */
};
#define ANSWER_LEN(n) (offsetof(struct answer, json) + (n))

struct ab_reviewer {
	pid_t pid;
	int sock;
};

/* In the reviewer's process. */
struct work {
	struct ab_reviewer_setup setup;
	struct ab_claim claim;
	struct ab_apply apply;
	struct ab_review_sum sum;
};

/* Apply the changes without a label; counts them. */
static int apply_safe(struct work *w, struct ab_error *err)
{
	uint64_t waiting = w->sum.waiting;

	ab_apply_pick_safe(&w->apply);
	if (ab_apply_commit(&w->apply, AB_APPLY_LEAVE, NULL, err) < 0)
		return -1;
	w->sum.waiting = ab_apply_rest(&w->apply);
	w->sum.applied = waiting - w->sum.waiting;
	return 0;
}

/* Walk the layer and label its changes. The host's files may have changed since the last walk. */
static int walk_layer(struct work *w, struct ab_error *err)
{
	ab_autostrv struct ab_strv notes = { 0 };

	ab_apply_fini(&w->apply);
	if (ab_apply_open(w->setup.set, false, &w->claim.guard, &w->apply, &notes, err) < 0)
		return -1;
	ab_apply_label(&w->apply);
	ab_review_text_count(&w->apply.changes, &w->sum);
	return 0;
}

static int count_changes(struct work *w, struct ab_error *err)
{
	if (walk_layer(w, err) < 0)
		return -1;
	if (w->setup.automatic && w->sum.waiting > w->sum.held && apply_safe(w, err) < 0) {
		if (!w->claim.busy[0])
			return -1;
		/* Another run can write there: the changes wait. */
		memcpy(w->sum.busy, w->claim.busy, sizeof(w->sum.busy));
		*err = (struct ab_error){ 0 };
	}
	/* An empty layer is of no use. */
	if (w->sum.waiting == 0)
		return ab_layer_discard(w->setup.store, w->setup.set, false, err);
	w->setup.set->meta.waiting = (int64_t)w->sum.waiting;
	return ab_layer_set_save(w->setup.set, err);
}

static void answer_count(struct work *w, int sock)
{
	static struct answer a;
	ab_autobuf struct ab_buf json = { 0 };
	size_t len = 0;

	a.result = count_changes(w, &a.error);
	if (a.result == 0) {
		ab_review_text_json(&w->apply.changes, &w->sum, w->setup.set->key, &json);
		/* A path can be long: without the list it always fits. */
		if (json.len > TEXT_ROOM) {
			json.len = 0;
			ab_review_text_json(&(struct ab_changes){ 0 }, &w->sum, w->setup.set->key,
					    &json);
		}
		len = json.len;
		memcpy(a.json, json.data, len);
	}
	a.sum = w->sum;
	a.sum.json = NULL;
	(void)ab_send_fds(sock, &a, ANSWER_LEN(len), NULL, 0);
}

static void write_text(int tty, struct ab_buf *text)
{
	(void)ab_write_all(tty, text->data, text->len);
	text->len = 0;
}

static void show_changes(const struct work *w, int tty)
{
	ab_autobuf struct ab_buf text = { 0 };

	ab_buf_puts(&text, "agentbox: ");
	ab_review_text_head(&text, &w->sum);
	ab_buf_puts(&text, "\n");
	ab_review_text_list(&text, &w->apply.changes, LIST_MAX);
	write_text(tty, &text);
}

/* In the child: `agentbox diff`, with a pager. */
static _Noreturn void become_diff(const struct work *w, int tty)
{
	const char *const argv[] = { "agentbox", "diff", w->setup.set->key, NULL };
	sigset_t none;

	for (int fd = 0; fd < 3; fd++)
		if (dup2(tty, fd) < 0)
			_exit(125);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setenv("AGENTBOX_STATE", w->setup.store->path, 1);
	if (chdir(w->setup.workspace) == 0)
		execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
	_exit(125);
}

/* It takes the set's lock itself. False: another command has taken the set. */
static bool show_diff(const struct work *w, int tty)
{
	pid_t pid;
	int status;

	ab_layer_set_unlock(w->setup.set);
	pid = fork();
	if (pid == 0)
		become_diff(w, tty);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return ab_layer_set_lock_again(w->setup.store, w->setup.set);
}

static void say_applied(const struct work *w, int tty, const struct ab_error *err)
{
	ab_autobuf struct ab_buf text = { 0 };
	const char *key = w->setup.set->key;

	if (err->code != AB_ENONE)
		ab_buf_printf(&text, "agentbox: %s\n", err->text);
	else if (w->sum.applied)
		ab_buf_printf(&text,
			      "agentbox: %" PRIu64 " applied (to take %s back: agentbox undo %s)\n",
			      w->sum.applied, w->sum.applied == 1 ? "it" : "them", key);
	else
		ab_buf_puts(&text, "agentbox: nothing was applied\n");
	if (w->sum.waiting)
		ab_buf_printf(&text,
			      "agentbox: %" PRIu64 " wait%s: agentbox diff %s, agentbox apply %s\n",
			      w->sum.waiting, w->sum.waiting == 1 ? "s" : "", key, key);
	write_text(tty, &text);
}

/* For `layers` and `ps --all`. If it fails, they show the earlier number. */
static void save_waiting(struct work *w)
{
	struct ab_error err = { 0 };

	w->setup.set->meta.waiting = (int64_t)w->sum.waiting;
	(void)ab_layer_set_save(w->setup.set, &err);
}

static void apply_for_person(struct work *w, int tty)
{
	struct ab_error err = { 0 };

	if (walk_layer(w, &err) == 0 && apply_safe(w, &err) == 0) {
		if (w->sum.waiting == 0)
			(void)ab_layer_discard(w->setup.store, w->setup.set, false, &err);
		else
			save_waiting(w);
	}
	say_applied(w, tty, &err);
}

static void discard_for_person(struct work *w, int tty)
{
	ab_autobuf struct ab_buf text = { 0 };
	struct ab_error err = { 0 };

	if (ab_layer_discard(w->setup.store, w->setup.set, false, &err) < 0)
		ab_buf_printf(&text, "agentbox: %s\n", err.text);
	else
		ab_buf_puts(&text, "agentbox: discarded\n");
	write_text(tty, &text);
}

/* One of our lines, broken at spaces if the terminal is narrow. */
static void add_fitted(struct ab_buf *to, int tty, const char *line)
{
	static const char name[] = "agentbox: ";
	struct winsize size = { 0 };

	ab_buf_puts(to, name);
	if (ioctl(tty, TIOCGWINSZ, &size) == 0 && size.ws_col >= NARROWEST)
		ab_wrap_message(to, line, strlen(name), size.ws_col);
	else
		ab_buf_puts(to, line);
	ab_buf_puts(to, "\n");
}

/* The line that a run without a terminal prints. */
static void say_later(const struct work *w, int tty)
{
	ab_autobuf struct ab_buf text = { 0 };
	ab_autostrv struct ab_strv lines = { 0 };

	ab_review_text_lines(&w->sum, w->setup.set->key, w->setup.automatic && w->sum.applied,
			     &lines);
	for (size_t i = 0; i < lines.len; i++)
		add_fitted(&text, tty, lines.v[i]);
	write_text(tty, &text);
}

/* While `diff` was shown. */
static void say_taken(const struct work *w, int tty)
{
	ab_autobuf struct ab_buf text = { 0 };

	ab_buf_printf(&text, "agentbox: another command took these changes: agentbox diff %s\n",
		      w->setup.set->key);
	write_text(tty, &text);
}

/* After `diff`, which the person may have left open for long: true if there is something to ask. */
static bool look_again(struct work *w, int tty)
{
	ab_autobuf struct ab_buf text = { 0 };
	struct ab_error err = { 0 };

	if (walk_layer(w, &err) == 0)
		return w->sum.waiting > 0;
	ab_buf_printf(&text, "agentbox: %s\n", err.text);
	write_text(tty, &text);
	return false;
}

static void ask_person(struct work *w, int tty, int sock)
{
	bool more = true;

	do {
		show_changes(w, tty);
		switch (ab_review_prompt(tty, sock, &w->sum)) {
		case AB_REVIEW_APPLY:
			apply_for_person(w, tty);
			return;
		case AB_REVIEW_SHOW:
			if (!show_diff(w, tty)) {
				say_taken(w, tty);
				return;
			}
			more = look_again(w, tty);
			break;
		case AB_REVIEW_DISCARD:
			discard_for_person(w, tty);
			return;
		case AB_REVIEW_LATER:
			say_later(w, tty);
			return;
		case AB_REVIEW_INTERRUPTED:
			return; /* the supervisor prints the line */
		}
	} while (more);
}

static void answer_ask(struct work *w, int sock)
{
	static struct answer a;
	ab_autoclose int tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

	a.asked = tty >= 0 && ab_tty_foreground(tty);
	if (a.asked)
		ask_person(w, tty, sock);
	(void)ab_send_fds(sock, &a, ANSWER_LEN(0), NULL, 0);
}

static _Noreturn void be_reviewer(const struct ab_reviewer_setup *setup, int sock)
{
	struct work w = { .setup = *setup, .apply = AB_APPLY_NONE };
	const int keep[] = { sock, setup->set->dir, setup->set->lock, setup->state->root,
			     setup->state->live };
	sigset_t none;
	uint32_t request;

	prctl(PR_SET_NAME, "agentbox-review");
	ab_claim_init(&w.claim, setup->state, setup->run);
	for (int fd = 0; fd < 3; fd++)
		if (fd != sock)
			close(fd);
	/* Signals are for the supervisor: when it ends, so does its socket. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (ab_close_others(keep, AB_COUNT(keep)) < 0)
		_exit(1);
	while (recv(sock, &request, sizeof(request), 0) == (ssize_t)sizeof(request)) {
		if (request == REQUEST_COUNT)
			answer_count(&w, sock);
		else
			answer_ask(&w, sock);
	}
	_exit(0);
}

int ab_reviewer_start(const struct ab_reviewer_setup *setup, struct ab_reviewer **ret,
		      struct ab_error *err)
{
	struct ab_reviewer r;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "make a socket pair");
		return ab_step(err, "review");
	}
	r.sock = pair[0];
	r.pid = fork();
	if (r.pid == 0)
		be_reviewer(setup, pair[1]);
	close(pair[1]);
	if (r.pid < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "fork the reviewer");
		close(r.sock);
		return ab_step(err, "review");
	}
	*ret = ab_alloc(sizeof(**ret));
	**ret = r;
	return 0;
}

static ssize_t await_answer(struct ab_reviewer *r, uint32_t request, struct answer *a)
{
	struct pollfd p = { .fd = r->sock, .events = POLLIN };

	if (send(r->sock, &request, sizeof(request), MSG_NOSIGNAL) < 0)
		return -1;
	while (poll(&p, 1, SIGNALS_MS) <= 0)
		if (request == REQUEST_ASK && ab_must_end(false))
			return -1;
	return recv(r->sock, a, sizeof(*a) - 1, 0);
}

int ab_reviewer_count(struct ab_reviewer *r, struct ab_review_sum *ret, struct ab_error *err)
{
	static struct answer a;
	ssize_t n = await_answer(r, REQUEST_COUNT, &a);

	if (n < (ssize_t)ANSWER_LEN(0)) {
		ab_fail(err, AB_ESYSTEM, 0, "the reviewer has died");
		return ab_step(err, "review");
	}
	if (a.result < 0) {
		*err = a.error;
		return -1;
	}
	*ret = a.sum;
	ret->json = ab_strndup(a.json, (size_t)n - ANSWER_LEN(0));
	return 0;
}

bool ab_reviewer_ask(struct ab_reviewer *r)
{
	static struct answer a;

	return await_answer(r, REQUEST_ASK, &a) >= (ssize_t)ANSWER_LEN(0) && a.asked;
}

void ab_reviewer_end(struct ab_reviewer *r)
{
	if (!r)
		return;
	close(r->sock);
	while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(r);
}
