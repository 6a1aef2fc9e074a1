#include <sys/socket.h>

#include "consent/request.h"
#include "host/lock/lockdown.h"
#include "session/supervise/supervisor.h"
#include "steer/stay/ended.h"
#include "steer/stay/enter.h"
#include "steer/stay/follow.h"
#include "steer/stay/kept_boxes.h"
#include "steer/stay/questions.h"
#include "terminal/terminal.h"

struct attached {
	struct ab_kept_box box;
	struct ab_terminal *terminal;
	int ours[2], boxs[2]; /* messages, bytes */
	bool asks;	      /* the box asks about hosts */
};

static int open_sockets(struct attached *a, struct ab_error *err)
{
	static const int types[] = { SOCK_SEQPACKET, SOCK_STREAM };

	for (size_t i = 0; i < AB_COUNT(types); i++) {
		int pair[2];

		if (socketpair(AF_UNIX, types[i] | SOCK_CLOEXEC, 0, pair) < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "create a socket pair");
		a->ours[i] = pair[0];
		a->boxs[i] = pair[1];
	}
	return 0;
}

static int ask_box(struct attached *a, struct ab_error *err)
{
	uint16_t rows, cols;
	json_auto_t *answer = NULL;
	uint32_t fds;

	if (open_sockets(a, err) < 0 || ab_terminal_open(&a->terminal, &fds, &rows, &cols, err) < 0)
		return -1;
	if (ab_kept_box_ask(&a->box, a->boxs, 2, &answer, err, "'do':'attach'") < 0)
		return -1;
	a->asks = json_is_true(json_object_get(answer, "asks"));
	return 0;
}

static int attach_terminal(struct attached *a, const struct ab_request *rq, const char *box,
			   int *ret_status, struct ab_error *err)
{
	struct ab_follow follow = { .request = rq, .box = box };

	for (size_t i = 0; i < AB_COUNT(a->boxs); i++) {
		ab_closep(&a->boxs[i]);
	}
	if (a->terminal) {
		ab_autofree char *text =
			ab_printf("attached to %s; Ctrl-] detaches and leaves it running", box);

		rq->say(rq->arg, AB_SAY_NOTE, text);
	}
	if (a->asks)
		follow.questions = ab_questions_open(&a->box, a->terminal);
	ab_steer_fini(&a->box.steer);
	if (ab_supervise_prepare(err) < 0 || ab_lock_supervisor(a->box.state.root, err) < 0) {
		ab_questions_close(follow.questions);
		return -1;
	}
	follow.sock = a->ours[0];
	/* The terminal takes it over. */
	follow.bytes = a->terminal ? ab_take_fd(&a->ours[1]) : a->ours[1];
	follow.terminal = ab_take(a->terminal);
	return ab_follow(&follow, ret_status, err);
}

static void close_attached(struct attached *a)
{
	ab_terminal_close(a->terminal);
	for (size_t i = 0; i < 2; i++)
		ab_close_all(&a->ours[i], &a->boxs[i]);
	ab_kept_box_fini(&a->box);
}

/* Its command may have ended; if there never was one, *err stays as it is. */
static int show_ended(const struct ab_request *request, const char *box, int *ret_status,
		      struct ab_error *err)
{
	struct ab_error late = { 0 };
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;
	int result;

	if (ab_steer_state(&request->policy, &state, &late) < 0)
		return -1;
	result = ab_ended_show(request, &state, box, ret_status, &late);
	if (result < 0)
		*err = late;
	return result == 0 ? 0 : -1;
}

int ab_attach(const struct ab_request *request, const char *box, int *ret_status,
	      struct ab_error *err)
{
	struct attached a = { .ours = { -1, -1 }, .boxs = { -1, -1 } };
	int result;

	if (ab_kept_box_open(&request->policy, box, &a.box, err) < 0)
		return show_ended(request, box, ret_status, err);
	if (ask_box(&a, err) < 0) {
		close_attached(&a);
		return show_ended(request, box, ret_status, err);
	}
	result = attach_terminal(&a, request, box, ret_status, err);
	close_attached(&a);
	return result;
}
