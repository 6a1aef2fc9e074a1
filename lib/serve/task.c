#include "serve/task.h"

#include <sys/mman.h>

#include "base/process/helper.h"
#include "consent/check.h"
#include "doctor/diagnosis.h"
#include "policy/layers/layers.h"
#include "serve/child.h"
#include "serve/request.h"
#include "shell/judge/judge_report.h"

enum { REPLY_MAX = 64 << 20 };

void ab_serve_error(struct ab_buf *b, const struct ab_error *err)
{
	ab_buf_jsonf(b, "'ok':false,'code':%s,'error':%s,'hint':%s", ab_error_word(err->code),
		     err->text, err->hint);
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
	ab_buf_jsonf(b, "'ok':true,'verdict':");
	ab_judgement_json(j, b);
	ab_buf_jsonf(b, ",'notes':%p", ab_list(&notes));
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
	ab_buf_jsonf(b, "'ok':true,'available':%hhd,'report':%-s", (bool)(diagnosis.engine != NULL),
		     json);
	ab_diagnosis_fini(&diagnosis);
	return 0;
}

struct work {
	const struct ab_serve_request *request;
	int reply;
};

static int serve_task(int sock, void *arg)
{
	const struct work *w = arg;
	const struct ab_serve_request *r = w->request;
	struct ab_policy_input input;
	struct ab_error err = { 0 };
	struct ab_buf b = { 0 };

	(void)sock;
	if (ab_child_enter(NULL, &r->policy, &input, &err) < 0 ||
	    (r->what == AB_SERVE_CHECK ? check_command(r, &input, &b, &err)
				       : examine_machine(&input, &b, &err)) < 0) {
		ab_buf_fini(&b);
		ab_serve_error(&b, &err);
	}
	return ab_write_all(w->reply, b.data, b.len) < 0;
}

int ab_task_start(const struct ab_serve_request *r, const sigset_t *before, struct ab_task **ret,
		  struct ab_error *err)
{
	ab_autoclose int reply = memfd_create("reply", MFD_CLOEXEC);
	struct work work = { .request = r, .reply = reply };
	const struct ab_helper_setup setup = {
		.what = "the process that answers",
		.keep = &reply,
		.nkeep = 1,
		.signals = AB_HELPER_MASK,
		.mask = before,
		.end_signal = SIGKILL,
		.serve = serve_task,
		.arg = &work,
	};
	struct ab_helper helper;

	if (reply < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "make a process");
	if (ab_helper_start(&setup, &helper, err) < 0)
		return -1;
	*ret = ab_alloc(sizeof(**ret));
	**ret = (struct ab_task){ .id = json_incref(r->id),
				  .pid = helper.pid,
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
