/* The jobs of the broker's workers: each runs in a process of its own, which sends the result and
 * exits. */
#include <sys/un.h>
#include <sys/wait.h>

#include "broker/broker_state.h"
#include "broker/list_wire.h"
#include "consent/ask/approver.h"
#include "consent/ask/notice.h"
#include "host/host_command.h"
#include "host/process/socket_owner.h"
#include "host/program.h"
#include "policy/edit/edit_file.h"
#include "policy/edit/project_file.h"
#include "policy/layers/compare.h"
#include "policy/layers/layers.h"
#include "policy/model/policy.h"

int ab_work_owner(const struct broker *b, const struct job *job, struct done *ret,
		  struct ab_error *err)
{
	struct ab_peer peer;

	(void)err;
	memcpy(&peer, job->body, sizeof(peer));
	ab_socket_owner(ab_socket_owner_pid(b->duty.init), &peer, &ret->text);
	return 0;
}

int ab_work_agent(const struct broker *b, const struct job *job, struct done *ret,
		  struct ab_error *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	ab_autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)job;
	if (!b->duty.agent || strlen(b->duty.agent) >= sizeof(at.sun_path))
		return ab_fail(err, AB_EUSAGE, ENOENT, "connect to the ssh agent");
	memcpy(at.sun_path, b->duty.agent, strlen(b->duty.agent));
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "connect to the ssh agent");
	ret->fd = ab_take_fd(&fd);
	return 0;
}

int ab_work_approve(const struct broker *b, const struct job *job, struct done *ret,
		    struct ab_error *err)
{
	struct ab_approver_reply reply;

	if (!b->duty.approver)
		return ab_fail(err, AB_EUSAGE, 0, "no approver is set");
	ab_approver_ask(b->duty.approver, &b->duty.policy->fs.touched, job->body, job->len,
			AB_APPROVER_MS, &reply);
	if (reply.failed)
		return ab_fail(err, AB_ESYSTEM, 0, "the approver: %s", reply.why);
	ret->number = reply.answer;
	ab_buf_puts(&ret->text, reply.why);
	return 0;
}

static int load_policy(const struct broker *b, struct ab_policy **ret, struct ab_strv *notes,
		       struct ab_error *err)
{
	struct ab_policy_input in = *b->duty.input;

	in.absent = b->settings ? ab_settings_watch_absent(b->settings) : NULL;
	return ab_policy_load(&in, ret, notes, err);
}

int ab_work_remember(const struct broker *b, const struct job *job, struct done *ret,
		     struct ab_error *err)
{
	bool deny = job->body[0] == '0' + AB_REMEMBER_DENY;
	const char *entry = job->body + 1;
	const struct ab_list_change change = { .key = deny ? "network.deny" : "network.allow",
					       .value = entry };
	const struct ab_policy_input *in = b->duty.input;
	ab_autofree char *path = ab_policy_user_file(in, err);
	ab_autostrv struct ab_strv diff = { 0 };

	if (!path || ab_edit_file_change(in, path, &change, &diff, err) < 0)
		return -1;
	ret->number = deny;
	if (diff.len)
		ab_buf_printf(&ret->text, "%s is %s in %s from now on:", entry,
			      deny ? "denied" : "allowed", path);
	for (size_t i = 0; i < diff.len; i++)
		ab_buf_printf(&ret->text, "\n%s", diff.v[i]);
	return 0;
}

static int save_in_project(const struct broker *b, const char *workspace, const char *entry,
			   struct ab_strv *ret_lines, struct ab_error *err)
{
	const struct ab_list_change change = { .key = "network.allow", .value = entry };
	ab_autostrv struct ab_strv diff = { 0 };
	struct ab_project_file file;
	int r = ab_project_file_open(b->duty.input, workspace, &file, err);

	if (r == 0)
		r = ab_project_file_change(&file, &change, &diff, err);
	if (r > 0)
		ab_strv_addf(ret_lines, "%s is allowed in %s from now on:", entry, file.path);
	for (size_t i = 0; r > 0 && i < diff.len; i++)
		ab_strv_addf(ret_lines, "          %s", diff.v[i]);
	ab_project_file_fini(&file);
	return r < 0 ? -1 : 0;
}

void ab_broker_save_project(const struct broker *b, struct ab_strv *ret_lines)
{
	for (size_t i = 0; i < b->project.len; i++) {
		const char *entry = b->project.v[i];
		struct ab_error err = { 0 };

		if (save_in_project(b, b->duty.policy->workspace, entry, ret_lines, &err) == 0)
			continue;
		ab_strv_addf(ret_lines, "%s was allowed for this run only: %s", entry, err.text);
		if (err.hint[0])
			ab_strv_addf(ret_lines, "          %s", err.hint);
	}
}

int ab_work_lists(const struct broker *b, const struct job *job, struct done *ret,
		  struct ab_error *err)
{
	ab_autostrv struct ab_strv notes = { 0 }, waiting = { 0 };
	struct ab_policy *policy;
	struct ab_buf text = { 0 };

	(void)job;
	if (!b->settings)
		return ab_fail(err, AB_EUSAGE, 0, "this run has no filtered network");
	if (load_policy(b, &policy, &notes, err) < 0)
		return -1;
	ab_policy_changed_keys(b->duty.policy, policy, &waiting);
	ab_host_lists_write(&text, policy, &notes, &waiting);
	if (text.len > AB_BROKER_TEXT_MAX)
		return ab_fail(err, AB_ECONFIG, EFBIG, "the host lists");
	/* With its NUL. */
	ret->fd = ab_memfd_sealed("agentbox-lists", text.data, text.len + 1);
	return ret->fd < 0 ? ab_fail(err, AB_ESYSTEM, errno, "send the host lists") : 0;
}

static int judge_hook(const struct ab_ran *ran, struct ab_error *err)
{
	static const char who[] = "the --on-violation command";

	switch (ran->how) {
	case AB_RAN_FAILED:
		return ab_fail(err, AB_ESYSTEM, ran->errnum, "%s", who);
	case AB_RAN_LATE:
		return ab_fail(err, AB_ESYSTEM, 0, "%s did not end within %d s and was killed", who,
			       HOOK_MS / 1000);
	case AB_RAN_ENDED:
		if (WIFSIGNALED(ran->status))
			return ab_fail(err, AB_ESYSTEM, 0, "%s was killed by signal %d", who,
				       WTERMSIG(ran->status));
		if (WEXITSTATUS(ran->status) != 0)
			return ab_fail(err, AB_ESYSTEM, 0, "%s ended with status %d", who,
				       WEXITSTATUS(ran->status));
		return 0;
	case AB_RAN_TOO_MUCH:
	case AB_RAN_INTERRUPTED:
		return 0;
	}
	return 0;
}

int ab_work_violation(const struct broker *b, const struct job *job, struct done *ret,
		      struct ab_error *err)
{
	ab_autofree char *line = ab_printf("%.*s\n", (int)job->len, job->body);
	/* The record is a file, so a command that does not read it blocks nothing. */
	ab_autoclose int in = ab_memfd_sealed("violation", line, strlen(line));
	ab_autofree char *path = NULL;
	ab_autofree char **env =
		ab_host_command_environ(&b->duty.policy->fs.touched, environ, &path);
	const char *const argv[] = { "/bin/sh", "-c", b->duty.on_violation, NULL };
	struct ab_program program = {
		.argv = argv, .env = env, .cwd = "/", .in = in, .ms = HOOK_MS, .discard_output = true
	};
	struct ab_ran ran;

	if (in < 0 || lseek(in, 0, SEEK_SET) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "the --on-violation command");
	ab_program_run(&program, &ran);
	ret->silent = true;
	return judge_hook(&ran, err);
}

int ab_work_notice(const struct broker *b, const struct job *job, struct done *ret,
		   struct ab_error *err)
{
	(void)err;
	ab_notice_send(b->duty.notify, &b->duty.policy->fs.touched, environ, job->body, job->len);
	ret->silent = true;
	return 0;
}
