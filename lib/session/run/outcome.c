#include "session/run/run_state.h"

#include "policy/layers/environment.h"
#include "policy/layers/profiles.h"
#include "sandbox/mount/furniture.h"
#include "sandbox/plan/engine.h"
#include "session/control/violation_tap.h"
#include "session/run/prepare.h"
#include "session/run/result_json.h"
#include "session/run/run.h"

enum { VALUE_MIN = 6 }; /* a shorter value is in many words by chance */

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
	if (ab_furniture_boxed()) {
		ab_fail(err, AB_EUSAGE, 0,
			"--result %s: inside a box, only the outer run has a result", where);
		return ab_hint(err, "pass it to the outer run");
	}
	return ab_prepare_result(r->request, NULL, &r->result, err) < 0 ? -1 : 0;
}

static bool is_stripped(const char *name)
{
	for (const char *const *p = ab_default_strip; *p; p++)
		if (ab_name_matches(*p, name, true))
			return true;
	return false;
}

/* Which secrets there are is unknown before there is a policy: blank the values of variables that
 * no box would get. */
static void blank_variables(char *const *env, struct ab_strv *words)
{
	for (; env && *env; env++) {
		const char *value = strchr(*env, '=');
		ab_autofree char *name = value ? ab_strndup(*env, (size_t)(value - *env)) : NULL;
		size_t len = value ? strlen(++value) : 0;

		if (len < VALUE_MIN || !is_stripped(name))
			continue;
		for (size_t i = 0; i < words->len; i++)
			for (char *at = words->v[i]; (at = strstr(at, value)); at += len)
				memset(at, '*', len);
	}
}

void ab_run_get_command(const struct run *r, struct ab_strv *ret)
{
	const struct ab_request *request = r->request;
	const struct ab_prepared *p = r->prepared;
	struct ab_vault *vault;

	if (p->spec.argv.len) {
		ab_strv_extend(ret, &p->spec.argv);
		return;
	}
	for (size_t i = 0; i < request->argc; i++)
		ab_strv_add(ret, request->argv[i]);
	if (!p->policy) {
		blank_variables(request->policy.environ, ret);
		return;
	}
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
	ret->cwd = p->spec.cwd ? p->spec.cwd : ab_request_start(r->request);
	ret->profile = p->policy ? p->policy->profile : NULL;
	ret->decision = judged ? ab_decision_names[r->consent.decision] : NULL;
	ret->rule = r->consent.rule;
	ret->approved = r->consent.approved;
	ret->started = r->started;
	ret->duration_ms = (ab_run_now_ns() - r->begun_ns) / 1000000;
	ret->timed_out = r->outcome.timed_out;
	ret->holds = r->held;
	ret->missing = r->missing;
	ret->given_up = r->held ? p->policy->assurance.given_up : 0;
	ret->engine = r->engine ? r->engine->name : NULL;
	ret->review = r->review.json;
	ret->network = r->had_network ? &r->report.totals : NULL;
	if (r->violations) {
		ret->violations = &r->violations->kept;
		ret->nviolations = r->violations->count;
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

void ab_run_describe(struct run *r)
{
	ab_autobuf struct ab_buf line = { 0 };
	ab_autostrv struct ab_strv command = { 0 };
	struct ab_result what = { .command = &command };

	if (!r->request->description)
		return;
	describe_run(r, &what);
	ab_run_get_command(r, &command);
	ab_result_json(&what, &line);
	/* The caller does without it. */
	(void)ab_write_all((int)strtol(r->request->description, NULL, 10), line.data, line.len);
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
	ab_run_get_command(r, &command);
	what.exit = result < 0 ? ab_exit_status(failed) : status;
	what.error = result < 0 ? failed : r->ended.code != AB_ENONE ? &r->ended : NULL;
	what.ran = result == 0;
	what.status = r->outcome.status;
	ab_result_json(&what, &line);
	ab_buf_puts(&line, "\n");
	return write_copy(r, &line, err) < 0 ? ab_step(err, "record") : 0;
}
