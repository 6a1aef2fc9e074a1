#include "attack/attack.h"

#include "attack/trial.h"
#include "sandbox/mount/furniture.h"
#include "sandbox/plan/engine.h"

/*
 * The default profile, with limits that are small enough to reach. The addresses
 * that the attack tries are denied, whatever the machine's settings allow.
 */
static const struct ab_setting settings[] = {
	{ "network.mode", "filtered", "attack" },   { "network.unknown", "deny", "attack" },
	{ "network.deny", AB_OUT4, "attack" },	    { "network.deny", "[" AB_OUT6 "]", "attack" },
	{ "network.deny", AB_METADATA, "attack" },  { "network.deny", AB_PRIVATE, "attack" },
	{ "assurance.fallback", "warn", "attack" }, { "limits.timeout", "2m", "attack" },
	{ "limits.processes", "64", "attack" },	    { "limits.files", "256", "attack" },
	{ "limits.fileSize", "1M", "attack" },	    { "filesystem.tmpSize", "8M", "attack" },
	{ "userNamespaces", "deny", "attack" },
};

void ab_attack_add(struct ab_attack *attack, const char *wall, const char *name, enum ab_hold hold,
		   const char *seen)
{
	*ab_append(attack->v, attack->len) = (struct ab_attempt){
		.wall = wall, .name = name, .hold = hold, .seen = ab_strdup(seen)
	};
}

/* Read one report, or return false at the end. Data from the box is untrusted. */
static bool read_report(struct ab_trial_run *run, int fd, struct ab_report *ret)
{
	ab_trial_await(run, fd);
	if (ab_read_full(fd, ret, sizeof(*ret)) != (ssize_t)sizeof(*ret))
		return false;
	ret->seen[sizeof(ret->seen) - 1] = '\0';
	return ret->hold <= AB_HOLD_UNTRIED;
}

/* Reports arrive in order: if one is missing, that attempt ended the box. */
static size_t collect_reports(struct ab_trial_run *run, int fd, struct ab_attack *attack)
{
	const struct ab_tries *table;
	const struct ab_try *t;
	struct ab_report report;
	size_t next = 0;

	for (;
	     (t = ab_try_at(next, &table)) && read_report(run, fd, &report) && report.index == next;
	     next++)
		ab_attack_add(attack, table->wall, t->name, (enum ab_hold)report.hold, report.seen);
	return next;
}

static void report_early_end(struct ab_attack *attack, size_t next,
			     const struct ab_trial_outcome *out)
{
	const struct ab_tries *table;
	const struct ab_try *t = ab_try_at(next, &table);
	char why[160];

	if (!t)
		return;
	snprintf(why, sizeof(why), "the box ended during this attempt (status %d)", out->status);
	ab_attack_add(attack, table->wall, t->name, AB_HOLD_BROKEN, why);
	while ((t = ab_try_at(++next, &table)) != NULL)
		ab_attack_add(attack, table->wall, t->name, AB_HOLD_UNTRIED,
			      "the box had already ended");
}

/* What worked although the box did not claim to stop it. The rows are in the order of the tables. */
static void forgive_unclaimed(struct ab_attack *attack, const struct ab_trial_outcome *out)
{
	uint32_t holds = ab_properties_parse(out->holds);
	enum ab_box_engine engine = ab_box_engine_find(out->engine);
	const struct ab_tries *table;
	const struct ab_try *t;

	if (engine < AB_ENGINE_COUNT && ab_box_engines[engine].namespaces)
		holds |= AB_CLAIM_MOUNTS;
	for (size_t i = 0; i < attack->len && (t = ab_try_at(i, &table)); i++)
		if (attack->v[i].hold == AB_HOLD_BROKEN && ((t->claim | table->claim) & ~holds))
			attack->v[i].hold = AB_HOLD_UNCLAIMED;
}

static void summarize_attempts(struct ab_attack *attack)
{
	size_t count[AB_HOLD_COUNT] = { 0 };
	struct ab_buf b = { 0 };

	for (size_t i = 0; i < attack->len; i++)
		count[attack->v[i].hold]++;
	attack->broken = count[AB_HOLD_BROKEN] > 0;
	if (attack->broken) {
		attack->summary =
			ab_printf("%zu attempts, %zu BROKEN", attack->len, count[AB_HOLD_BROKEN]);
		return;
	}
	ab_buf_printf(&b, "%zu attempts, all stopped",
		      attack->len - count[AB_HOLD_UNTRIED] - count[AB_HOLD_UNCLAIMED]);
	if (count[AB_HOLD_UNCLAIMED])
		ab_buf_printf(&b, "; %zu worked, as this engine says", count[AB_HOLD_UNCLAIMED]);
	if (count[AB_HOLD_UNTRIED])
		ab_buf_printf(&b, "; %zu could not be tried here", count[AB_HOLD_UNTRIED]);
	attack->summary = ab_buf_take(&b);
}

static void fill_words(const struct ab_stage *stage, const struct ab_policy_input *input,
		       struct ab_strv *words)
{
	ab_trial_program(words);
	ab_strv_add(words, AB_TRIAL_ATTACK);
	ab_strv_add(words, stage->trial->base);
	ab_strv_add(words, input->home ? input->home : "");
	ab_strv_add(words, stage->tag);
	ab_strv_addf(words, AB_ATTACKER_NUMBERS, stage->victim, stage->port, stage->key,
		     stage->secret);
}

/* Start the box, collect its reports, inspect what is left. */
static int run_attack(struct ab_stage *stage, const struct ab_policy_input *input,
		      struct ab_attack *ret, struct ab_error *err)
{
	ab_autostrv struct ab_strv words = { 0 };
	struct ab_trial_outcome out;
	struct ab_trial_run run;
	int ends[2], result;
	size_t next;

	fill_words(stage, input, &words);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create a pipe");
	result = ab_trial_start(stage->trial, settings, AB_COUNT(settings), &words, ends[1],
				stage->secret, &run, err);
	close(ends[1]);
	if (result < 0) {
		close(ends[0]);
		return -1;
	}
	next = collect_reports(&run, ends[0], ret);
	close(ends[0]);
	ab_trial_wait(&run, &out);
	if (out.result < 0) {
		*err = out.error;
		return -1;
	}
	report_early_end(ret, next, &out);
	forgive_unclaimed(ret, &out);
	ab_stage_inspect(stage, ret);
	return 0;
}

/* The box that was attacked has no container filter, because one with it did not start. */
static void explain_untried(struct ab_attack *attack, const struct ab_error *why)
{
	for (size_t i = 0; i < attack->len; i++) {
		struct ab_attempt *a = &attack->v[i];

		if (a->hold != AB_HOLD_UNTRIED || strcmp(a->wall, "containers") != 0)
			continue;
		free(a->seen);
		a->seen = ab_printf("no box with a container filter starts here: %s", why->text);
	}
}

/* In its private folders the box may do anything. To see a wall fail, the folder
 * that it protects must be visible. */
static int check_place(const char *base, struct ab_error *err)
{
	static const char *const inner[] = { "/tmp", "/var/tmp", "/run" };

	for (size_t i = 0; i < AB_COUNT(inner); i++) {
		if (!ab_path_within(base, inner[i]))
			continue;
		ab_fail(err, AB_EUSAGE, 0,
			"the state folder is below %s, which is private in every box", inner[i]);
		return ab_hint(err, "choose another one for the attack: "
				    "AGENTBOX_STATE=DIR agentbox doctor --attack");
	}
	return 0;
}

int ab_attack(const struct ab_policy_input *input, struct ab_attack *ret, struct ab_error *err)
{
	struct ab_attack attack = { 0 };
	struct ab_stage stage;
	struct ab_trial trial;
	int result = -1;

	if (ab_furniture_boxed()) {
		ab_fail(err, AB_EUSAGE, 0, "--attack does not work inside a box");
		return ab_hint(err, "start it on the host, where it can also see "
				    "what escaped");
	}
	if (ab_trial_open(input, &trial, err) < 0)
		return -1;
	if (check_place(trial.base, err) == 0 && ab_stage_open(&trial, &stage, err) == 0) {
		result = run_attack(&stage, input, &attack, err);
		if (result < 0 && attack.len == 0 && ab_stand_ins_without_engine(&trial)) {
			struct ab_error first = *err;

			result = run_attack(&stage, input, &attack, err);
			explain_untried(&attack, &first);
			if (result < 0 && strcmp(first.text, err->text) != 0)
				ab_wrap(err, "%s; without a container filter", first.text);
		}
		ab_stage_fini(&stage);
	}
	ab_trial_fini(&trial);
	if (result < 0) {
		ab_attack_fini(&attack);
		return -1;
	}
	summarize_attempts(&attack);
	*ret = attack;
	return 0;
}

void ab_attack_fini(struct ab_attack *attack)
{
	for (size_t i = 0; i < attack->len; i++)
		free(attack->v[i].seen);
	free(attack->v);
	free(attack->summary);
	*attack = (struct ab_attack){ 0 };
}
