/*
 * Theory of operation.
 *
 * Ask each run to end over its control socket. A run that does not answer is
 * stopped, stuck or late, and a run that answers may still fail to end. So after
 * the grace period kill init, and with it everything in the box; a moment later
 * kill the supervisor if the run still exists. Its broker cleans up.
 *
 * Should: trust only the lock to decide whether a run has ended.
 * Mustn't: signal by pid. Open pidfds and compare them with the start record
 * (state/run_process.h) first.
 */
#include <jansson.h>
#include <sys/syscall.h>

#include "audit/read/find.h"
#include "layer/store/store.h"
#include "state/run_process.h"
#include "state/state.h"
#include "steer/client/ask_runs.h"
#include "steer/client/steer.h"
#include "steer/runs/runs.h"

enum {
	RUNS_MAX = 1024,
	ANSWER_MS = 1000, /* for the answer to the request */
	INIT_MS = 1000,	  /* from the end of init to the end of the run */
	SLOW_MS = 2000,
	LATE_MS = 5000, /* after the grace period: it will not end by itself */
	GIVE_UP_MS = 10000,
	HOPELESS_MS = 3000, /* no process to kill: it may be ending */
	LOOK_MS = 20,
};

struct target {
	struct ab_run run;
	struct ab_ends ends;
	bool over;
	int64_t kill_at; /* when to kill init; 0: done */
	int64_t end_at;	 /* when to kill the supervisor; 0: not yet, or done */
	int64_t until;	 /* when to give up */
};

struct stopping {
	struct target *v;
	size_t len;
};

static void add_target(struct ab_run *run, void *arg)
{
	struct stopping *s = arg;

	if (s->len == RUNS_MAX)
		return;
	s->v[s->len++] = (struct target){ .run = *run, .ends = { -1, -1 } };
	run->dir = -1;
}

static int find_targets(const struct ab_state *state, const struct ab_stop *how, struct stopping *s,
			struct ab_error *err)
{
	struct ab_run run;

	if (!how->nruns)
		(void)ab_state_each_live(state, add_target, s);
	for (size_t i = 0; i < how->nruns; i++) {
		if (ab_state_find_live(state, how->runs[i], &run, err) < 0)
			return -1;
		add_target(&run, s);
		ab_run_fini(&run);
	}
	return 0;
}

static void request_stop(struct stopping *s, uint64_t grace_ms)
{
	ab_autofree struct ab_ask_runs *v = ab_alloc((s->len + 1) * sizeof(v[0]));
	int64_t now;
	char text[80];

	snprintf(text, sizeof(text), "{\"v\":1,\"do\":\"stop\",\"grace_ms\":%llu}",
		 (unsigned long long)grace_ms);
	for (size_t i = 0; i < s->len; i++)
		v[i].dir = s->v[i].run.dir;
	ab_ask_runs(v, s->len, text, ANSWER_MS);
	now = ab_now_ms();
	for (size_t i = 0; i < s->len; i++) {
		struct target *t = &s->v[i];

		t->until = now + (int64_t)grace_ms + GIVE_UP_MS;
		/* A run that does not answer may just be late on a busy machine:
		 * it has the request, so give it the grace period. */
		t->kill_at = now + (int64_t)grace_ms;
		if (v[i].answer)
			t->kill_at += LATE_MS;
	}
	ab_ask_runs_fini(v, s->len);
}

static void kill_process(int pidfd)
{
	if (pidfd >= 0)
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
}

static void check_target(struct target *t, int64_t now)
{
	if (t->over || !ab_find_live(t->run.dir)) {
		t->over = true;
	} else if (t->kill_at && now >= t->kill_at) {
		json_auto_t *start = ab_run_start(&t->run);

		t->kill_at = 0;
		t->end_at = now + INIT_MS;
		/* The pidfds only now: most runs end by themselves. */
		if (ab_ends_open(start, &t->ends) < 0)
			t->until = now + HOPELESS_MS;
		kill_process(t->ends.init);
	} else if (t->end_at && now >= t->end_at) {
		t->end_at = 0;
		kill_process(t->ends.supervisor);
	}
}

/* How many have not ended, and whether the time of one is up. */
static size_t check_targets(struct stopping *s, int64_t now, bool *ret_late)
{
	size_t left = 0;

	for (size_t i = 0; i < s->len; i++) {
		check_target(&s->v[i], now);
		left += !s->v[i].over;
		*ret_late |= !s->v[i].over && now > s->v[i].until;
	}
	return left;
}

static int report_left(const struct stopping *s, struct ab_error *err)
{
	ab_autobuf struct ab_buf ids = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < s->len; i++)
		if (!s->v[i].over)
			ab_buf_printf(&ids, "%s%s", n++ ? ", " : "", s->v[i].run.id);
	ab_fail(err, AB_ESYSTEM, 0, "%s %s not ended", ids.data, n == 1 ? "has" : "have");
	return ab_hint(err, "a process is stopped or stuck, and was not killed; see agentbox "
			    "ps --json");
}

static int await_end(struct stopping *s, const struct ab_stop *how, struct ab_error *err)
{
	int64_t begun = ab_now_ms(), now = begun;
	bool told = !how->slow, late = false;
	size_t left;

	while ((left = check_targets(s, now, &late)) > 0) {
		if (late)
			return report_left(s, err);
		if (!told && now - begun > SLOW_MS) {
			told = true;
			how->slow(how->arg, left);
		}
		usleep(LOOK_MS * 1000);
		now = ab_now_ms();
	}
	return 0;
}

/* The layers that the run has used may wait for a decision. */
static void note_waiting(const struct ab_state *state, const char *id, struct ab_strv *notes)
{
	ab_autolayerset struct ab_layer_set set = AB_LAYER_SET_NONE;
	ab_autofree char *count = NULL;
	int64_t n;

	if (ab_layers_find(AB_LAYER_STORE(state), id, "/", 0, &set, &(struct ab_error){ 0 }) < 0 ||
	    !ab_layer_set_waiting(&set))
		return;
	n = set.meta.waiting;
	count = n > 0 ? ab_printf("%lld change%s", (long long)n, n == 1 ? "" : "s")
		      : ab_strdup("changes");
	ab_strv_addf(
		notes,
		"%s of %s %s for you: agentbox diff %s, agentbox apply %s, agentbox discard %s",
		count, set.key, n == 1 ? "waits" : "wait", set.key, set.key, set.key);
}

/* Before it ends: its start record has the name. */
static void name_targets(const struct stopping *s, struct ab_strv *ret)
{
	for (size_t i = 0; i < s->len; i++) {
		ab_autofree char *name = ab_run_name(&s->v[i].run);

		if (name)
			ab_strv_addf(ret, "%s (%s)", name, s->v[i].run.id);
		else
			ab_strv_add(ret, s->v[i].run.id);
	}
}

int ab_runs_stop(const struct ab_policy_input *input, const struct ab_stop *how,
		 struct ab_strv *ended, struct ab_strv *notes, struct ab_error *err)
{
	ab_autofree struct target *targets = ab_alloc(RUNS_MAX * sizeof(targets[0]));
	struct stopping s = { .v = targets };
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;
	int result;

	if (how->grace_ms > AB_GRACE_MOST_MS)
		return ab_fail(err, AB_EUSAGE, 0, "--grace is at most 10m");
	if (ab_steer_state(input, &state, err) < 0)
		return -1;
	result = find_targets(&state, how, &s, err);
	if (result == 0) {
		name_targets(&s, ended);
		request_stop(&s, how->grace_ms);
		result = await_end(&s, how, err);
	}
	for (size_t i = 0; i < s.len && result == 0; i++)
		note_waiting(&state, s.v[i].run.id, notes);
	for (size_t i = 0; i < s.len; i++) {
		ab_ends_fini(&s.v[i].ends);
		ab_run_fini(&s.v[i].run);
	}
	return result;
}
