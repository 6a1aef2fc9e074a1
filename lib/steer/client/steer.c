#include "steer/client/steer.h"

#include <sys/un.h>

#include "policy/layers/layers.h"
#include "policy/values/paths.h"
#include "sandbox/mount/furniture.h"
#include "session/control/control_socket.h"
#include "steer/client/json.h"

enum { ANSWER_MS = 10000 };

/* A new run has no socket for a moment (session/control/control_socket.h). */
enum { YOUNG_MS = 300, STEP_MS = 10 };

int ab_steer_state(const struct ab_policy_input *input, struct ab_state *ret, struct ab_error *err)
{
	ab_autofree char *path = ab_state_dir(input->environ, input->home, input->cwd);

	if (ab_furniture_boxed())
		return ab_fail(err, AB_ESYSTEM, 0, "runs cannot be seen from inside a box");
	if (!path)
		return ab_fail(err, AB_ESYSTEM, 0,
			       "cannot find the state folder: the home folder is unknown");
	return ab_state_open(path, ret, err);
}

int ab_steer_dial(int dir, int flags)
{
	ab_autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0);
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	if (fd < 0)
		return -1;
	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/%s", dir, AB_CONTROL_NAME);
	for (int i = 0; connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0; i++) {
		if (errno != ENOENT || i == YOUNG_MS / STEP_MS)
			return -1;
		poll(NULL, 0, STEP_MS);
	}
	return ab_take_fd(&fd);
}

int ab_steer_open_run(const struct ab_run *run, struct ab_steer *ret, struct ab_error *err)
{
	memcpy(ret->id, run->id, sizeof(ret->id));
	ret->fd = ab_steer_dial(run->dir, 0);
	if (ret->fd >= 0)
		return 0;
	if (errno == ENOENT || errno == ECONNREFUSED)
		return ab_fail(err, AB_ESYSTEM, 0, "run %s is starting or ending", run->id);
	return ab_fail(err, AB_ESYSTEM, errno, "connect to run %s", run->id);
}

int ab_steer_open(const struct ab_state *state, const char *run, struct ab_steer *ret,
		  struct ab_error *err)
{
	ab_auto(ab_run_fini) struct ab_run found = { .dir = -1 };

	return ab_state_find_live(state, run, &found, err) < 0
		       ? -1
		       : ab_steer_open_run(&found, ret, err);
}

void ab_steer_fini(struct ab_steer *steer)
{
	ab_closep(&steer->fd);
}

int ab_steer_hear(struct ab_steer *steer, json_t **ret)
{
	/* Not ab_alloc(): most packets are short, and clearing it all takes longer than the rest. */
	ab_autofree char *packet = ab_realloc(NULL, AB_CONTROL_MAX);
	ssize_t n = recv(steer->fd, packet, AB_CONTROL_MAX, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return -1;
	*ret = json_loadb(packet, (size_t)n, 0, NULL);
	return *ret ? 1 : -1;
}

static int fail_ended(const struct ab_steer *steer, struct ab_error *err)
{
	return ab_fail(err, AB_ESYSTEM, 0, "run %s has ended", steer->id);
}

static int fail_unsent(const struct ab_steer *steer, struct ab_error *err)
{
	return errno == EPIPE || errno == ECONNRESET
		       ? fail_ended(steer, err)
		       : ab_fail(err, AB_ESYSTEM, errno, "ask run %s", steer->id);
}

static int fail_as_answered(const json_t *answer, struct ab_error *err)
{
	const char *text = ab_json_text(answer, "error");
	const char *hint = ab_json_text(answer, "hint");

	ab_fail(err, AB_ESYSTEM, 0, "%s", *text ? text : "the run refused the request");
	return *hint ? ab_hint(err, "%s", hint) : -1;
}

static char *make_request(const char *pattern, va_list ap)
{
	struct ab_buf b = { 0 };

	ab_buf_jsonf(&b, "{'v':%d,", AB_CONTROL_VERSION);
	ab_buf_vjsonf(&b, pattern, ap);
	ab_buf_puts(&b, "}");
	return ab_buf_take(&b);
}

int ab_steer_vsend(struct ab_steer *steer, struct ab_error *err, const char *pattern, va_list ap)
{
	ab_autofree char *text = make_request(pattern, ap);

	if (send(steer->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return fail_unsent(steer, err);
	return 0;
}

int ab_steer_send(struct ab_steer *steer, struct ab_error *err, const char *pattern, ...)
{
	va_list ap;
	int result;

	va_start(ap, pattern);
	result = ab_steer_vsend(steer, err, pattern, ap);
	va_end(ap);
	return result;
}

/* Skips events. */
static int await_answer(struct ab_steer *steer, json_t **ret, struct ab_error *err)
{
	int64_t end = ab_now_ms() + ANSWER_MS;

	for (;;) {
		int64_t left = end - ab_now_ms();
		json_auto_t *json = NULL;
		int r = left > 0 ? ab_poll(steer->fd, POLLIN, (int)left) : 0;

		if (r == 0)
			return ab_fail(err, AB_ESYSTEM, 0, "run %s does not answer", steer->id);
		if (r > 0 && ab_steer_hear(steer, &json) < 0)
			return fail_ended(steer, err);
		if (!json_object_get(json, "ok"))
			continue;
		if (!json_is_true(json_object_get(json, "ok")))
			return fail_as_answered(json, err);
		*ret = ab_take(json);
		return 0;
	}
}

int ab_steer_ask(struct ab_steer *steer, json_t **ret_answer, struct ab_error *err,
		 const char *pattern, ...)
{
	va_list ap;
	int result;

	va_start(ap, pattern);
	result = ab_steer_vsend(steer, err, pattern, ap);
	va_end(ap);
	return result < 0 ? -1 : await_answer(steer, ret_answer, err);
}

int ab_steer_pass(struct ab_steer *steer, const int *fds, size_t nfds, json_t **ret_answer,
		  struct ab_error *err, const char *pattern, ...)
{
	ab_autofree char *text = NULL;
	va_list ap;

	va_start(ap, pattern);
	text = make_request(pattern, ap);
	va_end(ap);
	if (ab_send_fds(steer->fd, text, strlen(text), fds, nfds) < 0)
		return fail_unsent(steer, err);
	return await_answer(steer, ret_answer, err);
}

int ab_steer_question(struct ab_steer *steer, const char *id, uint32_t from, json_t **ret,
		      struct ab_error *err)
{
	json_auto_t *answer = NULL;
	json_t *question;
	size_t i;

	if (ab_steer_ask(steer, &answer, err, "'do':'pending','from':%u", from) < 0)
		return -1;
	json_array_foreach(json_object_get(answer, "pending"), i, question)
	{
		if (!ab_json_is(question, "id", id))
			continue;
		*ret = json_incref(question);
		return 1;
	}
	return 0;
}
