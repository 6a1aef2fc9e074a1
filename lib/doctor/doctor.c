#include "doctor/doctor.h"

#include <sched.h>

#include "base/process/helper.h"
#include "landlock/landlock.h"
#include "policy/model/policy.h"
#include "sandbox/mount/furniture.h"
#include "attack/trial.h"

#define CHECK_SECONDS 20

/* In the order of the report, user namespaces before what needs them. */
const struct ab_check ab_checks[] = {
	{ "user namespaces", true, false, ab_check_userns, true, CLONE_NEWNS },
	{ "other namespaces", true, true, ab_check_namespaces, true, 0 },
	{ "fresh /proc", true, true, ab_check_proc, true, CLONE_NEWPID | CLONE_NEWNS },
	{ "network fence", true, true, ab_check_network, true, CLONE_NEWNET },
	{ "transparent", true, true, ab_check_capture, true, CLONE_NEWNET },
	{ "read-only tree", true, true, ab_check_mounts, true, CLONE_NEWNS },
	{ "home layer", true, true, ab_check_home },
	{ "terminal", true, true, ab_check_terminal, true, CLONE_NEWNS },
	{ "landlock", false, false, ab_check_landlock },
	{ "landlock", false, false, ab_check_landlock_newest },
	{ "seccomp", false, false, ab_check_seccomp },
	{ "no new privileges", false, false, ab_check_privileges },
	{ "process limit", true, true, ab_check_processes },
	{ "memory limit", true, false, ab_check_memory },
	{ "state folder", true, false, ab_check_state },
	{ "configuration", false, false, ab_check_config },
	{ "hooks", true, false, ab_check_hooks },
	{ "user", false, false, ab_check_identity },
	{ "surroundings", false, false, ab_check_surroundings },
};
const size_t ab_check_count = AB_COUNT(ab_checks);

void ab_verdict_set(struct ab_verdict *v, enum ab_health health, const char *fmt, ...)
{
	ab_autofree char *all = NULL, *line = ab_strndup(fmt, strcspn(fmt, "\n"));
	va_list ap;
	size_t n;

	v->health = health;
	va_start(ap, fmt);
	/* A value may have line breaks, too: only that of the format counts. */
	n = (size_t)vsnprintf(v->seen, sizeof(v->seen), line, ap);
	va_end(ap);
	if (!fmt[strlen(line)])
		return;
	va_start(ap, fmt);
	all = ab_vprintf(fmt, ap);
	va_end(ap);
	snprintf(v->remedy, sizeof(v->remedy), "%s", all + n + 1);
}

void ab_verdict_remedy(struct ab_verdict *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(v->remedy, sizeof(v->remedy), fmt, ap);
	va_end(ap);
}

static _Noreturn void run_check(const struct ab_check *check, const struct ab_policy_input *input,
				int pipe)
{
	struct ab_verdict v = { .in = input };

	alarm(CHECK_SECONDS);
	if (!check->enters || ab_userns_enter(check->further, &v) == 0)
		check->run(&v);
	_exit(ab_write_all(pipe, &v, sizeof(v)) < 0);
}

void ab_check_run(const struct ab_check *check, const struct ab_policy_input *input,
		  struct ab_verdict *ret)
{
	ab_autofree char *bytes = NULL;
	size_t len = 0;
	int ends[2], status = -1;
	pid_t pid;

	memset(ret, 0, sizeof(*ret));
	if (pipe2(ends, O_CLOEXEC) < 0) {
		ab_verdict_set(ret, AB_HEALTH_FAIL, "create a pipe: %s", strerror(errno));
		return;
	}
	pid = fork();
	if (pid == 0)
		run_check(check, input, ends[1]);
	close(ends[1]);
	if (pid > 0 && ab_read_all(ends[0], sizeof(*ret), &bytes, &len) == 0 && len == sizeof(*ret))
		memcpy(ret, bytes, sizeof(*ret));
	close(ends[0]);
	if (pid > 0)
		status = ab_await(pid);
	if (len != sizeof(*ret))
		ab_verdict_set(ret, AB_HEALTH_FAIL, "the check did not report (wait status %d)",
			       status);
}

static void add_finding(struct ab_diagnosis *d, const char *name, const struct ab_verdict *v)
{
	if (!v->seen[0])
		return;
	*ab_append(d->v, d->len) = (struct ab_finding){ .name = name,
							.health = v->health,
							.seen = ab_strdup(v->seen),
							.remedy = ab_strdup(v->remedy) };
	/* A check that failed is more urgent than one that found something weaker. */
	if (v->need && (!d->need || (!d->failed && v->health == AB_HEALTH_FAIL)))
		d->need = v->need;
	d->failed |= v->health == AB_HEALTH_FAIL;
	d->confined |= v->health == AB_HEALTH_FAIL && v->need;
	d->apparmor |= v->apparmor;
}

static char *list_properties(uint32_t bits, const char *between)
{
	struct ab_buf b = { 0 };

	for (size_t i = 0; i < AB_PROP_COUNT; i++)
		if (bits & AB_PROP_BIT(i))
			ab_buf_printf(&b, "%s%s", b.len ? between : "", ab_property_names[i]);
	return ab_buf_take(&b);
}

/* A real run of the default profile; a missing guarantee only causes a warning. */
static bool try_box(const struct ab_trial *trial, struct ab_verdict *v, uint32_t *ret_holds,
		    const char **ret_engine)
{
	const struct ab_setting settings[] = {
		{ "assurance.fallback", "warn", "doctor" },
		{ "userNamespaces", "deny", "doctor" },
	};
	ab_autostrv struct ab_strv words = { 0 };
	struct ab_trial_outcome out;
	struct ab_trial_run run;
	struct ab_error err = { 0 };
	enum ab_box_engine engine;

	ab_trial_program(&words);
	ab_strv_add(&words, AB_TRIAL_NOTHING);
	if (ab_trial_start(trial, settings, AB_COUNT(settings), &words, -1, -1, &run, &err) < 0) {
		ab_verdict_set(v, AB_HEALTH_FAIL, "%.300s", err.text);
		return false;
	}
	ab_trial_wait(&run, &out);
	if (out.result < 0 || out.status != 0) {
		ab_verdict_set(v, AB_HEALTH_FAIL,
			       "%.280s (step: %s)\n"
			       "%.600s",
			       out.result < 0 ? out.error.text : "the command in the box failed",
			       out.error.step[0] ? out.error.step : "none", out.error.hint);
		return false;
	}
	engine = ab_box_engine_find(out.engine);
	*ret_engine = ab_box_engine_word(engine);
	*ret_holds = ab_properties_parse(out.holds);
	if (out.missing[0]) {
		ab_verdict_set(v, AB_HEALTH_WARN, "%.300s", out.missing);
	} else {
		ab_autofree char *held = list_properties(*ret_holds, " ");

		ab_verdict_set(v, AB_HEALTH_OK, "started, engine %s; guarantees in force: %s",
			       *ret_engine, held);
	}
	if (engine < AB_ENGINE_COUNT && ab_box_engines[engine].lacks) {
		if (v->health == AB_HEALTH_OK)
			v->health = AB_HEALTH_WARN;
		ab_verdict_remedy(v, "%s", ab_box_engines[engine].without);
	}
	return true;
}

/* The guarantees that a profile requires and this machine lacks; "" if none. */
static char *list_missing(const struct ab_policy_input *input, const char *profile, uint32_t holds,
			  enum ab_box_engine engine)
{
	ab_autopolicy struct ab_policy *policy = NULL;
	struct ab_error err = { 0 };
	uint32_t lacks;

	if (ab_policy_load_one(input, profile, &policy, &err) < 0)
		return ab_strdup(err.text);
	if (policy->net.mode == AB_NET_ALLOWED) {
		holds &= ~(AB_PROP_BIT(AB_PROP_NET_FENCE) | AB_PROP_BIT(AB_PROP_DNS_FENCE) |
			   AB_PROP_BIT(AB_PROP_TRANSPARENT));
		if (ab_landlock_abi() < 6)
			holds &= ~AB_PROP_BIT(AB_PROP_IPC_FENCE);
		if (ab_landlock_abi() < 9)
			holds &= ~AB_PROP_BIT(AB_PROP_IPC_FENCE_LATE);
	}
	if (policy->userns)
		holds &= ~AB_PROP_BIT(AB_PROP_USER_NS);
	lacks = policy->assurance.fallback == AB_FALLBACK_STRICT
			? policy->assurance.require & ~holds
			: 0;
	if (engine < AB_ENGINE_COUNT && !ab_box_engines[engine].namespaces)
		lacks &= policy->assurance.firm | ~ab_box_engine_reports(engine);
	return list_properties(lacks, ", ");
}

static void summarize_profiles(struct ab_diagnosis *d, const struct ab_policy_input *input,
			       const struct ab_trial *trial, uint32_t holds)
{
	enum ab_box_engine engine = ab_box_engine_find(d->engine);

	ab_autostrv struct ab_strv names = { 0 }, docs = { 0 }, env = { 0 };
	struct ab_policy_input at = *input;
	ab_autobuf struct ab_buf b = { 0 };

	/* The caller's profiles, in a workspace that works for all of them. */
	for (char *const *e = input->environ; *e; e++)
		ab_strv_add(&env, *e);
	ab_env_set(&env, "AGENTBOX_STATE", trial->state);
	at.environ = env.v;
	at.workspace = trial->project;
	ab_policy_profiles(&at, &names, &docs);
	for (size_t i = 0; i < names.len; i++) {
		ab_autofree char *lacks = list_missing(&at, names.v[i], holds, engine);
		ab_autofree char *shown = ab_escape(lacks);

		if (lacks[0])
			ab_buf_printf(&b, "%s%s (%s)", b.len ? "; " : "", names.v[i], shown);
	}
	d->summary = b.len ? ab_printf("this machine cannot run these profiles: %s", b.data)
			   : ab_strdup("this machine can run every profile");
}

/* Name the first row that failed. */
static char *name_first_failure(const struct ab_diagnosis *d)
{
	for (size_t i = 0; i < d->len; i++)
		if (d->v[i].health == AB_HEALTH_FAIL) {
			ab_autofree char *seen = ab_escape(d->v[i].seen);

			return ab_printf("this machine cannot run any profile: %s: %s",
					 d->v[i].name, seen);
		}
	return ab_strdup("this machine cannot run any profile");
}

/* Without user namespaces there is a weaker engine, if Landlock is new enough. */
static bool weaken_failure(struct ab_verdict *v)
{
	char seen[sizeof(v->seen)];

	if (v->health != AB_HEALTH_FAIL || ab_landlock_abi() < AB_ENGINE_LANDLOCK)
		return false;
	memcpy(seen, v->seen, sizeof(seen));
	ab_verdict_set(v, AB_HEALTH_WARN, "%.260s: boxes have the engine %s", seen,
		       ab_box_engine_word(AB_ENGINE_NO_NAMESPACES));
	return true;
}

/* Fill the rows of the table. NULL: a box may work, so try one; else why not. */
static const char *run_checks(struct ab_diagnosis *d, const struct ab_policy_input *input,
			      bool boxed)
{
	bool userns = true, weaker = false, state = true;

	for (size_t i = 0; i < ab_check_count; i++) {
		const struct ab_check *check = &ab_checks[i];
		struct ab_verdict v = { 0 };

		if (boxed && check->needs_host)
			ab_verdict_set(&v, AB_HEALTH_SKIP, "inside a box");
		else if (!userns && check->needs_userns)
			ab_verdict_set(&v, AB_HEALTH_SKIP, "needs user namespaces");
		else
			ab_check_run(check, input, &v);
		if (check->run == ab_check_userns && !boxed) {
			userns = v.health != AB_HEALTH_FAIL;
			weaker = weaken_failure(&v);
		}
		add_finding(d, check->name, &v);
		if (v.health == AB_HEALTH_FAIL)
			state &= check->run != ab_check_state;
	}
	if (boxed)
		return "inside a box";
	if (!userns && !weaker)
		return "needs user namespaces";
	return state ? NULL : "needs the state folder";
}

int ab_doctor(const struct ab_policy_input *input, struct ab_diagnosis *ret, struct ab_error *err)
{
	bool boxed = ab_furniture_boxed();
	struct ab_diagnosis d = { 0 };
	struct ab_verdict v = { 0 };
	const char *why_not = run_checks(&d, input, boxed);

	if (why_not) {
		ab_verdict_set(&v, AB_HEALTH_SKIP, "%s", why_not);
		add_finding(&d, "a whole box", &v);
	} else {
		struct ab_trial trial;
		uint32_t holds = 0;
		bool works;

		if (ab_trial_open(input, &trial, err) < 0) {
			ab_diagnosis_fini(&d);
			return -1;
		}
		works = try_box(&trial, &v, &holds, &d.engine);
		add_finding(&d, "a whole box", &v);
		if (works)
			summarize_profiles(&d, input, &trial, holds);
		ab_trial_fini(&trial);
	}
	if (!d.summary)
		d.summary = boxed ? ab_strdup("inside a box, a run can only tighten it")
				  : name_first_failure(&d);
	/* Options of the container help nothing if what failed is something else. */
	if (!d.failed || d.confined)
		d.better = ab_container_advice(d.need);
	*ret = d;
	return 0;
}
