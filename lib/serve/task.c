#include "serve/task.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "doctor/diagnosis.h"
#include "policy/layers/layers.h"
#include "serve/child.h"
#include "serve/request.h"
#include "session/consent/check.h"
#include "shell/judge/judge_report.h"

enum { REPLY_MAX = 64 << 20 };

void ab_serve_error(struct ab_buf *b, const struct ab_error *err)
{
	ab_buf_printf(b, "\"ok\":false,\"code\":\"%s\"", ab_error_word(err->code));
	ab_buf_json_member(b, "error", err->text);
	ab_buf_json_member(b, "hint", err->hint);
}

static int check_command(const struct ab_serve_request *r, const struct ab_policy_input *input,
			 struct ab_buf *b, struct ab_error *err)
{
	ab_autostrv struct ab_strv notes = { 0 };
	const struct ab_judgement *j;
	struct ab_check *check;

	if (ab_check_new(input, &check, &notes, err) < 0)
		return -1;
	j = r->script ? ab_check_text(check, r->script, strlen(r->script))
		      : ab_check_argv(check, (const char *const *)r->argv.v, r->argv.len);
	ab_buf_puts(b, "\"ok\":true,\"verdict\":");
	ab_judgement_json(j, b);
	ab_buf_puts(b, ",\"notes\":");
	ab_buf_json_list(b, &notes);
	ab_check_free(check);
	return 0;
}

static int examine_machine(const struct ab_policy_input *input, struct ab_buf *b,
			   struct ab_error *err)
{
	struct ab_diagnosis diagnosis;
	ab_autofree char *json = NULL;

	if (ab_doctor(input, &diagnosis, err) < 0)
		return -1;
	json = ab_diagnosis_json(&diagnosis);
	json[strcspn(json, "\n")] = '\0';
	ab_buf_printf(b, "\"ok\":true,\"available\":%s,\"report\":%s",
		      diagnosis.engine ? "true" : "false", json);
	ab_diagnosis_fini(&diagnosis);
	return 0;
}

_Noreturn static void do_task(const struct ab_serve_request *r, const sigset_t *before, int reply,
			      pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct ab_child_setup setup = { .before = *before,
					.stdio = { null, null, null },
					.keep = &reply,
					.nkeep = 1,
					.policy = &r->policy };
	struct ab_policy_input input;
	struct ab_error err = { 0 };
	struct ab_buf b = { 0 };

	if (ab_child_enter(&setup, parent, &input, &err) < 0 ||
	    (r->what == AB_SERVE_CHECK ? check_command(r, &input, &b, &err)
				       : examine_machine(&input, &b, &err)) < 0) {
		ab_buf_fini(&b);
		ab_serve_error(&b, &err);
	}
	_exit(ab_write_all(reply, b.data, b.len) < 0);
}

int ab_task_start(const struct ab_serve_request *r, const sigset_t *before, struct ab_task **ret,
		  struct ab_error *err)
{
	ab_autoclose int reply = memfd_create("reply", MFD_CLOEXEC);
	pid_t parent = getpid(), pid = reply < 0 ? -1 : fork();

	if (pid == 0)
		do_task(r, before, reply, parent);
	if (pid < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "make a process");
	*ret = ab_alloc(sizeof(**ret));
	**ret = (struct ab_task){ .id = json_incref(r->id),
				  .pid = pid,
				  .reply = ab_take_fd(&reply) };
	return 0;
}

void ab_task_reply(struct ab_task *task, struct ab_buf *ret)
{
	ab_autofree char *text = NULL;
	struct ab_error err = { 0 };
	size_t len;

	if (lseek(task->reply, 0, SEEK_SET) == 0 &&
	    ab_read_all(task->reply, REPLY_MAX, &text, &len) == 0 && len > 0) {
		ab_buf_add(ret, text, len);
		return;
	}
	ab_fail(&err, AB_ESYSTEM, 0, "the process that was to answer has failed");
	ab_serve_error(ret, &err);
}

void ab_task_free(struct ab_task *task)
{
	json_decref(task->id);
	ab_closep(&task->reply);
	free(task);
}
