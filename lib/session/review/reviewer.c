/*
 * Theory of operation.
 *
 * The reviewer waits for one of three requests. COUNT: it walks the layer, labels the changes, applies
 * the safe ones if it was told to, and sends the sum. COUNT_UNFINISHED: the same, but it applies
 * nothing, because the command was killed and may have left something half done. ASK: it asks on the terminal until the person
 * has decided, and does it. To show the changes a child executes this program again, as `agentbox
 * diff`, which has the pager and the colours. It takes the set's lock itself, so ours is released
 * before.
 *
 * Should: end when the supervisor does.
 * Mustn't: hold the caller's pipes, whose readers would wait for us; change anything before the box is
 * gone.
 */
#include "session/review/reviewer.h"

#include <inttypes.h>

#include "base/system/signals.h"
#include "base/text/wrap.h"
#include "layer/apply/apply.h"
#include "layer/store/store.h"
#include "state/claim.h"
#include "state/state.h"
#include "terminal/tty.h"

enum {
	TEXT_ROOM = 48 * 1024,
	NARROWEST = 30,	  /* columns; nothing is fitted to less */
	LIST_MAX = 20,	  /* labelled changes that are listed */
	SIGNALS_MS = 200, /* how often the supervisor looks for a signal while it waits */
};

enum request { REQUEST_COUNT, REQUEST_COUNT_UNFINISHED, REQUEST_ASK };

struct answer {
	int32_t result;
	bool asked;
	struct ab_error error; /* if result < 0 */
	struct ab_review_sum sum;
	char json[TEXT_ROOM + 1]; /* sent without a NUL */
};
#define ANSWER_LEN(n) (offsetof(struct answer, json) + (n))

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
	/* With labels that another apply made meanwhile. */
	ab_review_text_count(&w->apply.changes, &w->sum);
	w->sum.waiting = ab_apply_rest(&w->apply);
	w->sum.applied = waiting - w->sum.waiting;
	w->sum.forgotten = w->apply.forgotten;
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

static int count_changes(struct work *w, bool finished, struct ab_error *err)
{
	bool applies = w->setup.automatic && finished;

	if (walk_layer(w, err) < 0)
		return ab_wrap(err, "the changes wait, but could not be looked at");
	w->sum.unfinished = w->setup.automatic && !finished;
	if (applies && w->sum.waiting > w->sum.held && apply_safe(w, err) < 0) {
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

static void answer_count(struct work *w, bool finished, int sock)
{
	static struct answer a;
	ab_autobuf struct ab_buf json = { 0 };
	size_t len = 0;

	a.result = count_changes(w, finished, &a.error);
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
	/* The supervisor waits for it, or for our end. */
	if (ab_send_fds(sock, &a, ANSWER_LEN(len), NULL, 0) < 0)
		_exit(1);
}

/* One of our lines. */
__attribute__((format(printf, 2, 3))) static void say_line(int tty, const char *fmt, ...)
{
	ab_autobuf struct ab_buf text = { 0 };
	ab_autofree char *line = NULL;
	va_list ap;

	va_start(ap, fmt);
	line = ab_vprintf(fmt, ap);
	va_end(ap);
	ab_buf_printf(&text, "agentbox: %s\n", line);
	(void)ab_write_all(tty, text.data, text.len);
}

static void show_changes(const struct work *w, int tty)
{
	ab_autobuf struct ab_buf text = { 0 };

	ab_buf_puts(&text, "agentbox: ");
	ab_review_text_head(&text, &w->sum);
	ab_buf_puts(&text, "\n");
	ab_review_text_list(&text, &w->apply.changes, LIST_MAX);
	(void)ab_write_all(tty, text.data, text.len);
}

/* In the child: `agentbox diff`, with a pager. */
static _Noreturn void become_diff(const struct work *w, int tty)
{
	const char *const argv[] = { "agentbox", "diff", w->setup.set->key, NULL };

	for (int fd = 0; fd < 3; fd++)
		if (dup2(tty, fd) < 0)
			_exit(125);
	ab_default_signals();
	setenv("AGENTBOX_STATE", w->setup.store->path, 1);
	if (chdir(w->setup.workspace) == 0)
		execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
	_exit(125);
}

/* It takes the set's lock itself. False: another command has taken the set. */
static bool show_diff(const struct work *w, int tty)
{
	pid_t pid;

	ab_layer_set_unlock(w->setup.set);
	pid = fork();
	if (pid == 0)
		become_diff(w, tty);
	if (pid > 0)
		(void)ab_await(pid);
	return ab_layer_set_lock_again(w->setup.store, w->setup.set);
}

static void say_applied(const struct work *w, int tty, const struct ab_error *err)
{
	const char *key = w->setup.set->key;

	if (err->code != AB_ENONE)
		say_line(tty, "%s", err->text);
	else if (w->sum.applied)
		say_line(tty, "%" PRIu64 " applied (to take %s back: agentbox undo %s)",
			 w->sum.applied, w->sum.applied == 1 ? "it" : "them", key);
	else
		say_line(tty, "nothing was applied");
	if (w->sum.forgotten)
		say_line(tty, "the oldest apply can no longer be taken back");
	if (w->sum.waiting)
		say_line(tty, "%" PRIu64 " wait%s: agentbox diff %s, agentbox apply %s",
			 w->sum.waiting, w->sum.waiting == 1 ? "s" : "", key, key);
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
	struct ab_error err = { 0 };

	say_line(tty, "%s",
		 ab_layer_discard(w->setup.store, w->setup.set, false, &err) < 0 ? err.text
										 : "discarded");
}

/* One of our lines, broken at spaces if the terminal is narrow. */
static void add_fitted(struct ab_buf *to, int tty, const char *line)
{
	static const char name[] = "agentbox: ";
	size_t columns = ab_tty_columns(tty, 0);

	ab_buf_puts(to, name);
	if (columns >= NARROWEST)
		ab_wrap_message(to, line, strlen(name), columns);
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
	(void)ab_write_all(tty, text.data, text.len);
}

/* After `diff`, which the person may have left open for long: true if there is something to ask. */
static bool look_again(struct work *w, int tty)
{
	struct ab_error err = { 0 };

	if (walk_layer(w, &err) == 0)
		return w->sum.waiting > 0;
	say_line(tty, "%s", err.text);
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
				say_line(tty,
					 "another command took these changes: agentbox diff %s",
					 w->setup.set->key);
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
	if (ab_send_fds(sock, &a, ANSWER_LEN(0), NULL, 0) < 0) /* as above */
		_exit(1);
}

static int serve_reviews(int sock, void *arg)
{
	const struct ab_reviewer_setup *setup = arg;
	struct work w = { .setup = *setup, .apply = AB_APPLY_NONE };
	uint32_t request;

	ab_claim_init(&w.claim, setup->state, setup->run);
	while (recv(sock, &request, sizeof(request), 0) == (ssize_t)sizeof(request)) {
		if (request == REQUEST_ASK)
			answer_ask(&w, sock);
		else
			answer_count(&w, request == REQUEST_COUNT, sock);
	}
	return 0;
}

int ab_reviewer_start(const struct ab_reviewer_setup *setup, struct ab_helper *ret,
		      struct ab_error *err)
{
	const int keep[] = { setup->set->dir, setup->set->lock, setup->state->root,
			     setup->state->live };
	const struct ab_helper_setup helper = {
		.name = "agentbox-review",
		.what = "the reviewer",
		.socket = SOCK_SEQPACKET,
		.keep = keep,
		.nkeep = AB_COUNT(keep),
		/* They are for the supervisor: when it ends, so does its socket. */
		.signals = AB_HELPER_IGNORES,
		.serve = serve_reviews,
		.arg = (void *)(uintptr_t)setup,
	};

	return ab_helper_start(&helper, ret, err) < 0 ? ab_step(err, "review") : 0;
}

static ssize_t await_answer(const struct ab_helper *r, uint32_t request, struct answer *a)
{
	if (send(r->sock, &request, sizeof(request), MSG_NOSIGNAL) < 0)
		return -1;
	while (ab_poll(r->sock, POLLIN, SIGNALS_MS) <= 0)
		if (request == REQUEST_ASK && ab_must_end(false))
			return -1;
	return recv(r->sock, a, sizeof(*a) - 1, 0);
}

int ab_reviewer_count(const struct ab_helper *r, bool finished, struct ab_review_sum *ret,
		      struct ab_error *err)
{
	static struct answer a;
	ssize_t n = await_answer(r, finished ? REQUEST_COUNT : REQUEST_COUNT_UNFINISHED, &a);

	if (n < (ssize_t)ANSWER_LEN(0))
		return ab_fail_step(err, "review", 0,
				    "the changes wait, but the reviewer has died");
	if (a.result < 0) {
		*err = a.error;
		return -1;
	}
	*ret = a.sum;
	ret->json = ab_strndup(a.json, (size_t)n - ANSWER_LEN(0));
	return 0;
}

bool ab_reviewer_ask(const struct ab_helper *r)
{
	static struct answer a;

	return await_answer(r, REQUEST_ASK, &a) >= (ssize_t)ANSWER_LEN(0) && a.asked;
}

void ab_reviewer_end(struct ab_helper *r)
{
	if (r->pid)
		ab_helper_end(r);
	r->pid = 0;
}
