#include "session/run/run_state.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "base/system/fd.h"
#include "policy/model/policy.h"
#include "sandbox/mount/furniture.h"
#include "session/control/violation_tap.h"
#include "session/run/prepare.h"
#include "session/run/result_json.h"
#include "session/run/run.h"
#include "session/secrets/secrets.h"

int ab_exit_status(const struct ab_error *err)
{
	switch (err->code) {
	case AB_ENOTFOUND:
		return 127;
	case AB_ENOEXEC:
	case AB_EREFUSED:
		return 126;
	case AB_ENONE:
	case AB_EUSAGE:
	case AB_ECONFIG:
	case AB_ESYSTEM:
	case AB_EPROPERTY:
		break;
	}
	return 125;
}

int ab_run_open_result(struct run *r, struct ab_error *err)
{
	const char *where = r->request->result;

	if (!where)
		return 0;
	if (access(AB_MARKER, F_OK) == 0) {
		ab_fail(err, AB_EUSAGE, 0,
			"--result %s: inside a box, only the outer run has a result", where);
		return ab_hint(err, "pass it to the outer run");
	}
	/* Empty it now: an earlier run's result must not pass for this one's. */
	if (ab_copy_open_as("--result", where, &r->result, err) < 0)
		return -1;
	return ab_copy_clear(&r->result, err);
}

/* As in the record, without secrets. Which words are secret is unknown before there is a policy. */
static void get_command(const struct run *r, struct ab_strv *ret)
{
	const struct ab_request *request = r->request;
	const struct ab_prepared *p = r->prepared;
	struct ab_vault *vault;

	if (p->spec.argv.len) {
		ab_strv_extend(ret, &p->spec.argv);
		return;
	}
	if (!p->policy)
		return;
	for (size_t i = 0; i < request->argc; i++)
		ab_strv_add(ret, request->argv[i]);
	vault = ab_safe_peek(p->policy, &request->policy);
	for (size_t i = 0; vault && i < ret->len; i++)
		ab_vault_blank(vault, ret->v[i], strlen(ret->v[i]));
	ab_vault_free(vault);
}

static void describe_run(const struct run *r, struct ab_result *ret)
{
	const struct ab_prepared *p = r->prepared;
	bool judged = r->consent.rule != NULL;

	ret->run_id = r->dir.id;
	ret->name = r->request->name;
	ret->cwd = p->spec.cwd ? p->spec.cwd : r->request->policy.cwd;
	ret->profile = p->policy ? p->policy->profile : NULL;
	ret->decision = judged ? ab_decision_names[r->consent.decision] : NULL;
	ret->rule = r->consent.rule;
	ret->approved = r->consent.approved;
	ret->started = r->started;
	ret->duration_ms = (ab_run_now_ns() - r->begun_ns) / 1000000;
	ret->timed_out = r->outcome.timed_out;
	ret->holds = r->held;
	ret->missing = r->held ? p->spec.require & ~r->held : 0;
	ret->network = r->had_network ? &r->report : NULL;
	if (r->violations) {
		ret->violations = ab_violations_lines(r->violations);
		ret->nviolations = ab_violations_count(r->violations);
	}
}

/* In one write. If several runs share a file, the last one's result remains. */
static int write_copy(struct run *r, const struct ab_buf *line, struct ab_error *err)
{
	sigset_t pipe;

	/* Never unblocked: a missing reader must be an error, not kill us. If there was no run,
	 * signals are not blocked yet. */
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigprocmask(SIG_BLOCK, &pipe, NULL);
	if (ab_copy_clear(&r->result, err) < 0)
		return -1;
	return ab_copy_write(&r->result, line->data, line->len, err);
}

int ab_run_write_result(struct run *r, int result, int status, const struct ab_strv *moved,
			const struct ab_error *failed, struct ab_error *err)
{
	ab_autobuf struct ab_buf line = { 0 };
	ab_autostrv struct ab_strv command = { 0 };
	struct ab_result what = { .findings = moved, .command = &command };

	r->result_written = true;
	if (r->result.fd < 0)
		return 0;
	describe_run(r, &what);
	get_command(r, &command);
	what.exit = result < 0 ? ab_exit_status(failed) : status;
	what.error = result < 0 ? failed : r->ended.code != AB_ENONE ? &r->ended : NULL;
	what.ran = result == 0;
	what.status = r->outcome.status;
	ab_result_json(&what, &line);
	ab_buf_puts(&line, "\n");
	return write_copy(r, &line, err) < 0 ? ab_step(err, "record") : 0;
}
