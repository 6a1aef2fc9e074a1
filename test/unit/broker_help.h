#ifndef AB_TEST_BROKER_HELP_H
#define AB_TEST_BROKER_HELP_H
/* A workspace, a run and a process that stands for the box: what a broker is
 * started for. */
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "base/system/fd.h"
#include "broker/broker.h"
#include "policy/layers/layers.h"
#include "policy/model/policy.h"
#include "sandbox/plan/spec.h"
#include "secrets/secrets.h"
#include "state/state.h"
#include "workspace_help.h"

struct stand {
	struct ab_survey survey;
	struct ab_state state;
	struct ab_run run;
	struct ab_spec spec;
	struct ab_policy policy;
	struct ab_safe safe;
	pid_t init; /* stands for the box */
	char *cwd;
	struct ab_policy_input input;
	struct ab_log log;
	struct ab_broker_duty duty;
};

static void set_up(struct stand *s, const char *id)
{
	struct ab_error err = { 0 };
	struct ab_log_setup setup = { 0 };
	ab_autobuf struct ab_buf line = { 0 };
	ab_autofree char *state = at("state");

	*s = (struct stand){ .init = -1, .cwd = at("work") };
	sh("rm -rf $T/work; mkdir $T/work; echo data >$T/work/file");
	s->survey = survey("work", NULL);
	if (ab_state_open(state, &s->state, &err) < 0 ||
	    ab_run_create(&s->state, id, &s->run, &err) < 0)
		abort();
	setup.dir = s->run.dir;
	setup.run_id = s->run.id;
	ab_record_open(&line, id, "start");
	if (ab_log_open(&setup, &s->log, &err) < 0 || ab_log_write(&s->log, &line, &err) < 0)
		abort();
	fflush(stdout);
	s->init = fork();
	if (s->init == 0)
		for (;;)
			pause();
	s->input = (struct ab_policy_input){ .cwd = s->cwd, .home = top, .environ = environ };
	s->duty = (struct ab_broker_duty){
		.input = &s->input,
		.survey = &s->survey,
		.policy = &s->policy,
		.spec = &s->spec,
		.safe = &s->safe,
		.run = &s->run,
		.log = &s->log.setup,
		.init = (int)syscall(SYS_pidfd_open, s->init, 0),
		.rescue = { .fd = -1 },
	};
	if (s->init < 0 || s->duty.init < 0)
		abort();
}

static void end_box(struct stand *s)
{
	if (s->init > 0) {
		kill(s->init, SIGKILL);
		waitpid(s->init, NULL, 0);
	}
	s->init = -1;
}

static void tear_down(struct stand *s)
{
	end_box(s);
	/* A broker that nobody waited for. */
	while (waitpid(-1, NULL, 0) > 0)
		;
	close(s->duty.init);
	ab_log_fini(&s->log);
	ab_run_fini(&s->run);
	ab_state_fini(&s->state);
	ab_survey_fini(&s->survey);
	free(s->cwd);
}

static bool exists(const char *rel)
{
	ab_autofree char *path = at(rel);

	return access(path, F_OK) == 0;
}

/* Wait until it is so, or for a minute. */
static bool comes(const char *rel, bool there)
{
	struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };

	for (int i = 0; i < 6000; i++) {
		if (exists(rel) == there)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

#endif
