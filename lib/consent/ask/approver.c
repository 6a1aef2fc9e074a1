#include "consent/ask/approver.h"

#include <jansson.h>
#include <sys/wait.h>

#include "host/host_command.h"
#include "host/program.h"

enum { OUTPUT_MAX = 64 * 1024 };

void ab_approver_request(struct ab_buf *b, const struct ab_judgement *j, const char *const *argv,
			 size_t argc, const char *cwd, const char *session)
{
	ab_buf_jsonf(b, "{'version':1,'kind':'command','command':%.*s,'argv':[",
		     (int)strnlen(j->text.s, j->text.len), j->text.s);
	for (size_t i = 0; i < argc; i++)
		ab_buf_jsonf(b, ",%s", argv[i]);
	ab_buf_jsonf(b,
		     "],'cwd':%s,'decision':%s,'rule':%s,'reason':%s,'range':[%u,%u]?,'session':%s"
		     ",'pid':%d}\n",
		     cwd, ab_decision_names[j->decision], j->rule, j->reason, j->range.from,
		     j->range.to, session, getpid());
}

void ab_approver_fail(struct ab_approver_reply *ret, const char *fmt, ...)
{
	va_list ap;

	*ret = (struct ab_approver_reply){ .answer = AB_ANSWER_NO, .failed = true };
	va_start(ap, fmt);
	vsnprintf(ret->why, sizeof(ret->why), fmt, ap);
	va_end(ap);
}

void ab_approver_parse(const char *text, size_t len, struct ab_approver_reply *ret)
{
	const char *answer, *reason = "";
	json_error_t wrong;
	json_auto_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &wrong);

	*ret = (struct ab_approver_reply){ 0 };
	if (!json)
		ab_approver_fail(ret, "its answer is not JSON: %s", wrong.text);
	else if (json_unpack_ex(json, &wrong, 0, "{s:s,s?s}", "answer", &answer, "reason",
				&reason) < 0)
		ab_approver_fail(ret, "its answer is malformed: %s", wrong.text);
	else if (strcmp(answer, "run") == 0)
		ret->answer = AB_ANSWER_SESSION;
	else if (!ab_word_parse(ab_answer_names, answer, &ret->answer))
		ab_approver_fail(ret, "\"%.40s\" is not an answer", answer);
	if (!ret->failed)
		snprintf(ret->why, sizeof(ret->why), "%s", reason);
}

static void read_reply(int status, const char *output, size_t len, struct ab_approver_reply *ret)
{
	if (WIFSIGNALED(status))
		ab_approver_fail(ret, "it was killed by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		ab_approver_fail(ret, "it exited with status %d", WEXITSTATUS(status));
	else if (len == 0)
		ab_approver_fail(ret, "it printed nothing");
	else
		ab_approver_parse(output, len, ret);
}

void ab_approver_ask(const char *command, const struct ab_strv *touched, const char *request,
		     size_t len, unsigned timeout_ms, struct ab_approver_reply *ret)
{
	/* A file, not a pipe: a program that does not read it blocks nothing. */
	ab_autoclose int in = ab_memfd_sealed("question", request, len);
	ab_autofree char *output = ab_alloc(OUTPUT_MAX);
	ab_autofree char *path = NULL;
	ab_autofree char **env = ab_host_command_environ(touched, environ, &path);
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };
	struct ab_program program = { .argv = argv,
				      .env = env,
				      .cwd = "/",
				      .in = in,
				      .ms = timeout_ms,
				      .out = output,
				      .room = OUTPUT_MAX };
	struct ab_ran ran;

	if (in < 0 || lseek(in, 0, SEEK_SET) < 0)
		return ab_approver_fail(ret, "it cannot be started: %s", strerror(errno));
	ab_program_run(&program, &ran);
	switch (ran.how) {
	case AB_RAN_ENDED:
		return read_reply(ran.status, output, ran.out_len, ret);
	case AB_RAN_FAILED:
		return ab_approver_fail(ret, "it cannot be started: %s", strerror(ran.errnum));
	case AB_RAN_LATE:
		return ab_approver_fail(ret, "no answer in %g s", timeout_ms / 1000.0);
	case AB_RAN_TOO_MUCH:
		return ab_approver_fail(ret, "it printed more than %d KiB", OUTPUT_MAX / 1024);
	case AB_RAN_INTERRUPTED:
		return ab_approver_fail(ret, "interrupted");
	}
}
