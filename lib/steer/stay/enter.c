#include "steer/stay/enter.h"

#include "consent/consent.h"
#include "consent/request.h"
#include "host/lock/lockdown.h"
#include "session/stay/start_strings.h"
#include "terminal/terminal.h"
#include "steer/client/json.h"
#include "steer/stay/client_streams.h"
#include "steer/stay/follow.h"
#include "steer/stay/kept_boxes.h"
#include "steer/stay/questions.h"

struct entry {
	const struct ab_request *request;
	const char *name;
	struct ab_kept_box box;
	struct ab_client_streams streams;
	struct ab_terminal *terminal;
	int strings;	/* the sealed memfd */
	int ours, boxs; /* the ends of the command's socket */
	size_t nenv;
	const char *approved; /* or NULL */
	bool raw;	      /* the box's policy passes all output to the terminal */
	bool asks;	      /* it asks about hosts */
};

static int seal_strings(struct entry *e, struct ab_error *err)
{
	const struct ab_request *rq = e->request;
	struct ab_start_strings s = { .cwd = ab_strdup(ab_request_start(rq)),
				      .script = ab_strdup(rq->script) };
	ab_autobuf struct ab_buf b = { 0 };

	for (size_t i = 0; i < rq->argc; i++)
		ab_strv_add(&s.argv, rq->argv[i]);
	for (char *const *v = rq->policy.environ; v && *v; v++)
		ab_strv_add(&s.env, *v);
	ab_start_strings_write(&s, &b);
	e->nenv = s.env.len;
	ab_start_strings_fini(&s);
	if (b.len > AB_START_MOST)
		return ab_fail(err, AB_EUSAGE, E2BIG, "the command and its environment");
	e->strings = ab_memfd_sealed("agentbox-start", b.data, b.len);
	explicit_bzero(b.data, b.len);
	return e->strings < 0 ? ab_fail(err, AB_ESYSTEM, errno, "pass on the command") : 0;
}

static int open_entry(struct entry *e, struct ab_error *err)
{
	uint16_t rows, cols;
	uint32_t fds;
	int pair[2];

	if (ab_client_streams_open(&e->streams, err) < 0 || seal_strings(e, err) < 0 ||
	    ab_terminal_open(&e->terminal, &fds, &rows, &cols, err) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create a socket pair");
	e->ours = pair[0];
	e->boxs = pair[1];
	return 0;
}

static int send_start(struct entry *e, json_t **ret, struct ab_error *err)
{
	const struct ab_client_streams *s = &e->streams;
	int fds[5] = { e->boxs, e->strings };

	memcpy(fds + 2, s->passed, s->npassed * sizeof(fds[0]));
	return ab_steer_pass(
		&e->box.steer, fds, 2 + s->npassed, ret, err,
		"'do':'start','argc':%zu,'env':%zu,'script':%hhd,'shell':%hhd,'behind':%hhd,"
		"'streams':[%s,%s,%s]?,'approved':%s",
		e->request->argc, (size_t)e->nenv, (bool)(e->request->script != NULL),
		e->request->mark_shell, (bool)(e->terminal && ab_terminal_behind(e->terminal)),
		s->words[0], s->words[1], s->words[2], e->approved);
}

/* The box's judge does not simply allow it: refuse it, or get the approval. */
static int take_verdict(struct entry *e, const json_t *v, struct ab_error *err)
{
	static struct ab_consent consent;
	const char *text = ab_json_text(v, "text"), *instead = ab_json_text(v, "instead");
	const char *user_rule = ab_json_text(v, "user_rule");
	struct ab_judgement j = {
		.decision =
			ab_json_count(v, "decision") == AB_ESCALATED ? AB_ESCALATED : AB_FORBIDDEN,
		.rule = ab_json_text(v, "rule"),
		.reason = ab_json_text(v, "reason"),
		.instead = *instead ? instead : NULL,
		.user_rule = *user_rule ? user_rule : NULL,
		.text = { text, (uint32_t)strlen(text) },
		.range = { (uint32_t)ab_json_count(v, "from"), (uint32_t)ab_json_count(v, "to") },
	};
	char key[65];

	snprintf(key, sizeof(key), "%s", ab_json_text(v, "key"));
	if (j.range.to > j.text.len || j.range.from > j.range.to || strlen(key) != 64)
		return ab_fail(err, AB_ESYSTEM, 0, "the box sent an invalid verdict");
	if (ab_consent_act(e->request, &j, key, &consent, err) < 0)
		return -1;
	e->approved = consent.approved;
	return 0;
}

static int start_command(struct entry *e, struct ab_error *err)
{
	json_auto_t *first = NULL, *second = NULL;
	const json_t *answer, *verdict;

	if (send_start(e, &first, err) < 0)
		return -1;
	verdict = json_object_get(first, "verdict");
	if (verdict && take_verdict(e, verdict, err) < 0) {
		struct ab_error late = { 0 };

		/* The box records a refusal; what went wrong with that is not worth a second
		 * message. */
		if (err->code == AB_EREFUSED) {
			e->approved = "no";
			(void)send_start(e, &second, &late);
		}
		return -1;
	}
	if (verdict && send_start(e, &second, err) < 0)
		return -1;
	answer = verdict ? second : first;
	e->raw = json_is_true(json_object_get(answer, "raw"));
	e->asks = json_is_true(json_object_get(answer, "asks"));
	return json_object_get(answer, "number")
		       ? 0
		       : ab_fail(err, AB_EREFUSED, 0, "the box refused the command");
}

/* As a supervisor, before it handles a byte of the box. */
static int confine_client(const struct entry *e, struct ab_error *err)
{
	if (!e->terminal && !ab_client_streams_relay(&e->streams))
		return 0;
	return ab_lock_supervisor(e->box.state.root, err);
}

static int follow_command(struct entry *e, int *ret_status, struct ab_error *err)
{
	struct ab_follow follow = { .request = e->request,
				    .box = e->name,
				    .sock = e->ours,
				    .bytes = -1,
				    .terminal = e->terminal,
				    .streams = &e->streams };
	int null;

	if (e->raw && e->terminal)
		ab_terminal_unfilter(e->terminal);
	ab_client_streams_sent(&e->streams);
	ab_close_all(&e->boxs, &e->strings);
	/* A pipe of the caller must reach its end when the command closes it. */
	null = e->terminal ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; null >= 0 && fd < 2; fd++)
		dup2(null, fd);
	ab_closep(&null);
	if (e->asks)
		follow.questions = ab_questions_open(&e->box, e->terminal);
	/* The control socket has room for a few clients only. */
	ab_steer_fini(&e->box.steer);
	if (confine_client(e, err) < 0) {
		ab_questions_close(follow.questions);
		return -1;
	}
	e->terminal = NULL;
	return ab_follow(&follow, ret_status, err);
}

static void close_entry(struct entry *e)
{
	ab_terminal_close(e->terminal);
	ab_close_all(&e->ours, &e->boxs, &e->strings);
	ab_kept_box_fini(&e->box);
}

int ab_enter(const struct ab_request *request, const char *box, const char *approved,
	     int *ret_status, struct ab_error *err)
{
	ab_auto(close_entry) struct entry e = {
		.request = request,
		.name = box,
		.box = { .steer = { .fd = -1 }, .state = AB_STATE_NONE },
		.strings = -1,
		.ours = -1,
		.boxs = -1,
		.approved = approved,
		.streams = { .files = AB_STREAMS_NONE, .feed = { .fd = -1 }, .feed_end = -1 }
	};

	if (ab_occupy_stdio(err) < 0 || ab_kept_box_open(&request->policy, box, &e.box, err) < 0)
		return -1;
	if (request->verbose > 0)
		request->say(request->arg, AB_SAY_DETAIL,
			     "the box keeps the policy that it was started with");
	/* ab_supervise_prepare() not before: a question to the user can be interrupted. */
	if (open_entry(&e, err) < 0 || start_command(&e, err) < 0 ||
	    ab_supervise_prepare(err) < 0) {
		ab_client_streams_close(&e.streams);
		return -1;
	}
	return follow_command(&e, ret_status, err);
}
