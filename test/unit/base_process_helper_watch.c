#include "base/process/helper_watch.h"

#include <string.h>
#include <sys/socket.h>

#include "base/system/fd.h"
#include "tap.h"

struct note {
	int number;
	bool last;
};

struct taken {
	struct ab_loop *loop;
	int sum, fails;
	int bad; /* this number cannot be taken */
};

/* Three notes; then it waits for the end, and sends one more. */
static int send_notes(int sock, void *arg)
{
	char byte;

	(void)arg;
	for (int i = 1; i <= 3; i++)
		if (ab_send_fds(sock, &(struct note){ i, i == 3 }, sizeof(struct note), NULL, 0) <
		    0)
			return 1;
	if (recv(sock, &byte, 1, 0) != 0)
		return 1;
	return ab_send_fds(sock, &(struct note){ 100, false }, sizeof(struct note), NULL, 0) < 0;
}

static int send_garbage(int sock, void *arg)
{
	char garbage[sizeof(struct note) + 1] = { 0 };

	(void)arg;
	return ab_send_fds(sock, garbage, sizeof(garbage), NULL, 0) < 0;
}

/* A text without an end. */
static int send_text(int sock, void *arg)
{
	char text[sizeof(struct note)];

	(void)arg;
	memset(text, 'x', sizeof(text));
	return ab_send_fds(sock, text, sizeof(text), NULL, 0) < 0;
}

static int take_text(void *arg, const void *data, struct ab_error *err)
{
	(void)err;
	*(size_t *)arg = strlen(data);
	return 0;
}

static int take_note(void *arg, const void *data, struct ab_error *err)
{
	struct taken *t = arg;
	const struct note *note = data;

	t->sum += note->number;
	if (note->last)
		t->loop->stop = true;
	return note->number == t->bad ? ab_fail(err, AB_ESYSTEM, 0, "note %d", note->number) : 0;
}

static void note_failure(void *arg, const struct ab_error *err)
{
	struct taken *t = arg;

	(void)err;
	t->fails++;
}

static int watch_helper(struct taken *t, bool strict, struct ab_error *err)
{
	struct ab_helper_watch w = {
		.strict = strict, .size = sizeof(struct note), .take = take_note, .arg = t
	};
	const struct ab_helper_setup setup = { .what = "a helper",
					       .socket = SOCK_SEQPACKET,
					       .serve = send_notes };
	struct ab_loop loop;
	int r;

	t->loop = &loop;
	if (ab_helper_start(&setup, &w.helper, err) < 0 || ab_loop_init(&loop, err) < 0 ||
	    ab_helper_watch_attach(&w, &loop, note_failure, t, err) < 0 ||
	    ab_loop_run(&loop, err) < 0)
		return -2;
	ok(t->sum == 6, "notes are taken while the loop runs");
	ab_helper_watch_end(&w);
	r = ab_helper_watch_await(&w, 10000, err);
	ok(w.ended && t->sum == 106, "and until the helper has ended");
	ab_loop_fini(&loop);
	return r;
}

int main(void)
{
	const struct ab_helper_setup garbage = { .what = "a helper",
						 .socket = SOCK_SEQPACKET,
						 .serve = send_garbage };
	const struct ab_helper_setup text = { .what = "a helper",
					      .socket = SOCK_SEQPACKET,
					      .serve = send_text };
	struct ab_helper_watch w = { .size = sizeof(struct note), .take = take_note };
	size_t len = 0;
	struct ab_error err = { 0 };
	struct taken t = { 0 };

	ok(watch_helper(&t, true, &err) == 0 && t.fails == 0, "all is well");
	t = (struct taken){ .bad = 2 };
	ok(watch_helper(&t, false, &err) == 0 && t.fails == 0, "a note may be lost");
	t = (struct taken){ .bad = 2 };
	ok(watch_helper(&t, true, &err) == -1 && t.fails == 1 && strcmp(err.text, "note 2") == 0,
	   "unless it must not");
	t = (struct taken){ .bad = 100 };
	err = (struct ab_error){ 0 };
	ok(watch_helper(&t, true, &err) == -1 && t.fails == 0, "nor at the end");

	t = (struct taken){ 0 };
	w.arg = &t;
	ok(ab_helper_start(&garbage, &w.helper, &err) == 0 &&
		   ab_helper_watch_await(&w, 10000, &err) == 0 && w.ended && t.sum == 0,
	   "a longer message is the end of a helper");

	w = (struct ab_helper_watch){ .size = sizeof(struct note), .take = take_text, .arg = &len };
	ok(ab_helper_start(&text, &w.helper, &err) == 0 &&
		   ab_helper_watch_await(&w, 10000, &err) == 0 && len == sizeof(struct note),
	   "a text of a helper ends with its message");
	return done();
}
