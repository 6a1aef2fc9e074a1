#include "audit/read/sentences.h"

#include "shell/command/rules.h"
#include "steer/client/json.h"
#include "steer/client/steer.h"
#include "steer/permit/permit_state.h"

static const char *name_request(const struct ab_permit_job *job)
{
	return job->ask->deny ? "deny" : "allow";
}

static const char *list_key(const struct ab_permit_job *job)
{
	return job->ask->deny ? "network.deny" : "network.allow";
}

static void say_done(struct ab_permit_job *job, const char *run, const char *entry,
		     const json_t *answer)
{
	json_int_t released = json_integer_value(json_object_get(answer, "released"));
	json_int_t closed = json_integer_value(json_object_get(answer, "closed"));

	memcpy(job->ret->run, run, sizeof(job->ret->run));
	job->ret->released += (uint64_t)released;
	ab_strv_give(&job->ret->said,
		     ab_permit_sentence(run, entry, job->ask->deny, job->ask->for_ms,
					(uint64_t)released, (uint64_t)closed));
}

static int send_grant(struct ab_permit_job *job, struct ab_steer *steer, const char *entry,
		      struct ab_error *err)
{
	json_auto_t *answer = NULL;

	if (ab_steer_ask(steer, &answer, err, "'do':%s,'entry':%s,'for_ms':%ju", name_request(job),
			 entry, job->ask->for_ms) < 0)
		return -1;
	say_done(job, steer->id, entry, answer);
	return 0;
}

static int send_grants(struct ab_permit_job *job, const char *run, struct ab_error *err)
{
	ab_auto(ab_steer_fini) struct ab_steer steer = { .fd = -1 };
	int result = 0;

	if (ab_steer_open(&job->state, run, &steer, err) < 0)
		return -1;
	for (size_t i = 0; result == 0 && i < job->ret->entries.len; i++)
		result = send_grant(job, &steer, job->ret->entries.v[i], err);
	return result;
}

/* Suggest what works without an active run. */
static int hint_new_run(const struct ab_permit_job *job, struct ab_error *err)
{
	ab_autofree char *flag =
		ab_permit_flag(job->ask->deny ? "--deny" : "--allow", job->ret->entries.v[0]);
	ab_autofree char *again = ab_permit_again(&job->again, flag);

	return ab_hint(err,
		       "in a new run:  %s\n"
		       "in every run:  agentbox %s %s --always",
		       again, name_request(job), job->ask->what);
}

/* Active runs reload the file by themselves, but not always at once. */
static void grant_only_run(struct ab_permit_job *job)
{
	struct ab_error lone = { 0 };
	struct ab_run only;

	if (ab_state_find_live(&job->state, NULL, &only, &lone) == 0) {
		ab_run_fini(&only);
		if (send_grants(job, NULL, &lone) < 0)
			ab_strv_addf(&job->ret->notes,
				     "the active run reloads the settings by itself: %s",
				     lone.text);
	} else if (lone.code == AB_EUSAGE) {
		/* Not none, but several. */
		ab_strv_add(&job->ret->notes,
			    "several runs are active; each reloads the settings by "
			    "itself");
	}
}

/* The settings come first: a live run that has the host on its deny list refuses the
 * grant until it has reloaded them. */
static int permit_always(struct ab_permit_job *job, const struct ab_meant *meant,
			 struct ab_error *err)
{
	struct ab_error none = { 0 };

	for (size_t i = 0; i < job->ret->entries.len; i++)
		if (ab_permit_refuse_private(job, job->ret->entries.v[i], err) < 0)
			return -1;
	/* They build on the profile of the run that was meant, else of the last run here. */
	if (job->ask->run)
		ab_permit_find(job, job->ask->run, &none);
	else
		ab_permit_find_here(job, job->ask->input->cwd);
	return ab_permit_always(job, list_key(job), meant->entry, err);
}

int ab_permit_hosts(struct ab_permit_job *job, const struct ab_meant *meant, struct ab_error *err)
{
	const struct ab_permit *ask = job->ask;

	if (!ab_meant_hosts(meant, ask->input, &job->ret->entries))
		return ab_fail(err, AB_EUSAGE, 0, "unknown group %s", meant->entry);
	if (ask->always && permit_always(job, meant, err) < 0)
		return -1;
	if (!ask->always || ask->run) {
		if (send_grants(job, ask->run, err) < 0)
			return err->code == AB_EUSAGE || err->hint[0] ? -1 : hint_new_run(job, err);
		return 0;
	}
	grant_only_run(job);
	return 0;
}

/* Answer the open question that was named. */
static int send_answer(struct ab_permit_job *job, struct ab_steer *steer, json_t **ret_answer,
		       struct ab_error *err)
{
	return ab_steer_ask(steer, ret_answer, err, "'do':'answer','id':%s,'answer':%s",
			    job->ask->what, job->ask->deny ? "no" : "run");
}

static int answer_question(struct ab_permit_job *job, struct ab_steer *steer, const char *entry,
			   struct ab_error *err)
{
	json_auto_t *answer = NULL;

	/* A grant with a time limit and a lasting "no" are rules, not answers. */
	if (job->ask->for_ms || job->ask->deny)
		return send_grant(job, steer, entry, err);
	if (send_answer(job, steer, &answer, err) < 0)
		return -1;
	say_done(job, steer->id, entry, answer);
	return 0;
}

/* A question that is not about a host; `done` says what the answer did. */
static int answer_other(struct ab_permit_job *job, struct ab_steer *steer, const char *done,
			struct ab_error *err)
{
	json_auto_t *answer = NULL;

	if (send_answer(job, steer, &answer, err) < 0)
		return -1;
	memcpy(job->ret->run, steer->id, sizeof(job->ret->run));
	ab_strv_addf(&job->ret->said, "%s: %s", steer->id, done);
	return 0;
}

/* The run paused its whole network until it gets an answer. */
static int release_hold(struct ab_permit_job *job, struct ab_steer *steer, struct ab_error *err)
{
	if (job->ask->for_ms || job->ask->always)
		return ab_fail(err, AB_EUSAGE, 0,
			       "the network of %s is paused; resume it without --for and --always",
			       steer->id);
	return answer_other(
		job, steer,
		job->ask->deny ? "waiting connections are denied" : "the network is resumed", err);
}

/* The ssh agent or a tool of the host waits for an approval. */
static int answer_agent(struct ab_permit_job *job, struct ab_steer *steer, const json_t *question,
			struct ab_error *err)
{
	ab_autofree char *about = ab_escape(ab_json_text(question, "about"));
	ab_autofree char *done =
		ab_printf("it is %sallowed to %s", job->ask->deny ? "not " : "", about);
	bool tool = ab_json_is(question, "why", "tool");

	if (!job->ask->for_ms && !job->ask->always)
		return answer_other(job, steer, done, err);
	ab_fail(err, AB_EUSAGE, 0, "%s is about a %s: answer it without --for and --always",
		job->ask->what, tool ? "tool" : "key");
	return ab_hint(err,
		       tool ? "to answer it always, move its pattern from \"ask\" to \"allow\" "
			      "in the settings"
			    : "to answer it always: { \"ssh\": { \"ask\": \"never\" } } in the "
			      "settings");
}

static int take_question(struct ab_permit_job *job, struct ab_steer *steer, const json_t *question,
			 struct ab_error *err)
{
	struct ab_lift lift;

	if (ab_json_is(question, "why", "held"))
		return release_hold(job, steer, err);
	if (ab_json_is(question, "why", "agent") || ab_json_is(question, "why", "tool"))
		return answer_agent(job, steer, question, err);
	if (ab_permit_judge(job->ask->what, question, job->ask->deny, &job->again, &lift, err) < 0)
		return -1;
	ab_strv_add(&job->ret->entries, lift.entry);
	if (answer_question(job, steer, lift.entry, err) < 0)
		return -1;
	if (job->ask->deny)
		ab_strv_add(&job->ret->said, "waiting connections are denied");
	return job->ask->always ? ab_permit_always(job, list_key(job), lift.entry, err) : 0;
}

/* Returns 1 if it was a question, which is now answered. */
static int try_question(struct ab_permit_job *job, uint32_t number, struct ab_error *err)
{
	struct ab_error away = { 0 };
	json_auto_t *question = NULL;
	ab_auto(ab_steer_fini) struct ab_steer steer = { .fd = -1 };
	int result;

	/* The run may have ended since; its record remains. */
	if (ab_steer_open(&job->state, job->run.id, &steer, &away) < 0)
		return 0;
	result = ab_steer_question(&steer, job->ask->what, number, &question, err);
	if (result > 0 && take_question(job, &steer, question, err) < 0)
		result = -1;
	return result;
}

static int lift_host(struct ab_permit_job *job, const char *entry, struct ab_error *err)
{
	const struct ab_permit *ask = job->ask;
	const char *run = ask->run ? ask->run : job->run.live ? job->run.id : NULL;

	ab_strv_add(&job->ret->entries, entry);
	if (!run && !ask->always) {
		ab_fail(err, AB_EREFUSED, 0, "run %s has ended; nothing was changed", job->run.id);
		return hint_new_run(job, err);
	}
	if (run && send_grants(job, run, err) < 0)
		return -1;
	return ask->always ? ab_permit_always(job, list_key(job), entry, err) : 0;
}

/* A protected name can be allowed in a project. */
static bool is_protected(const struct ab_permit_job *job, const json_t *record)
{
	return job->ask->always && !job->ask->deny &&
	       ab_json_is(record, "rule", "filesystem.denyWrite") &&
	       ab_json_text(record, "path")[0] == '/';
}

static int take_record(struct ab_permit_job *job, const char *line, struct ab_error *err)
{
	json_auto_t *record = json_loads(line, 0, NULL);
	struct ab_lift lift;

	if (is_protected(job, record))
		return ab_permit_path(job, ab_json_text(record, "path"), true, err);
	if (ab_permit_judge(job->ask->what, record, job->ask->deny, &job->again, &lift, err) < 0)
		return -1;
	return lift.path ? ab_permit_path(job, lift.path, true, err)
			 : lift_host(job, lift.entry, err);
}

int ab_permit_hold(struct ab_permit_job *job, struct ab_error *err)
{
	int result = job->run.live ? try_question(job, 0, err) : 0;

	if (result)
		return result < 0 ? -1 : 0;
	ab_fail(err, AB_EUSAGE, 0, "%s is a run, not a host", job->ask->what);
	return ab_hint(err,
		       "list its denials with agentbox log %s --denied\n"
		       "if it is a host, add a dot: %s.",
		       job->ask->what, job->ask->what);
}

int ab_permit_denial(struct ab_permit_job *job, const struct ab_meant *meant, struct ab_error *err)
{
	const char *id = job->ask->what;
	struct ab_found_denial found = { 0 };
	int result;

	if (ab_permit_find(job, meant->denial.run, err) < 0)
		return ab_hint(err, "if it is a host, add a dot: %s.", id);
	if (job->run.live &&
	    (meant->denial.kind == AB_DENIAL_NETWORK || meant->denial.kind == AB_DENIAL_TOOL)) {
		result = try_question(job,
				      meant->denial.number | (meant->denial.kind == AB_DENIAL_TOOL
								      ? AB_QUESTION_OF_TOOL
								      : 0),
				      err);
		if (result)
			return result < 0 ? -1 : 0;
	}
	result = ab_find_denial(job->run.dir, id, &found, err);
	if (result == 0) {
		ab_fail(err, AB_EUSAGE, 0, "run %s has no denial %s", job->run.id, id);
		return ab_hint(err, "list its denials with agentbox log %s --denied", job->run.id);
	}
	if (result > 0)
		result = take_record(job,
				     found.denied     ? found.denied
				     : found.question ? found.question
						      : found.request,
				     err);
	ab_found_denial_fini(&found);
	return result;
}

/* The options in the hint of the record: "agentbox run OPTIONS -- ...". */
static char *parse_hint(const json_t *record)
{
	static const char start[] = "agentbox run ", end[] = " -- ...";
	const char *hint = ab_json_text(record, "hint");
	const char *stop = strstr(hint, end);

	if (strncmp(hint, start, strlen(start)) != 0 || !stop)
		return NULL;
	hint += strlen(start);
	return stop > hint ? ab_strndup(hint, (size_t)(stop - hint)) : NULL;
}

static char *find_flags(const struct ab_remedy *remedy, const json_t *record)
{
	const char *path = ab_json_text(record, "path");

	if (!remedy->flag)
		return parse_hint(record);
	return *path ? ab_permit_flag(remedy->flag, path) : NULL;
}

static int refuse_denial(const char *id, const json_t *record, const struct ab_again *again,
			 struct ab_error *err)
{
	const struct ab_remedy *remedy = ab_remedy_find(ab_json_text(record, "rule"));
	ab_autofree char *flags = remedy->rule ? find_flags(remedy, record) : NULL;
	ab_autofree char *line = flags ? ab_permit_again(again, flags) : NULL;
	const char *reason = ab_json_text(record, "reason");

	ab_fail(err, AB_EREFUSED, 0, "%s cannot be allowed: %s", id,
		*reason ? reason : "no rule denied it");
	if (line && ab_json_is(record, "rule", "filesystem.denyWrite"))
		return ab_hint(err,
			       "%s\nin a new run:  %s\n"
			       "in every run in this project:  agentbox allow %s --always",
			       remedy->words, line, id);
	return ab_hint(err, "%s%s%s", remedy->words, line ? "\nin a new run:  " : "",
		       line ? line : "");
}

/* Rules about programs do not change during a run. */
static int refuse_program(const char *id, const json_t *record, const struct ab_again *again,
			  struct ab_error *err)
{
	const char *rule = ab_json_text(record, "rule");
	bool ask = ab_json_is(record, "decision", ab_decision_names[AB_ESCALATED]);
	ab_autofree char *yes = ask ? ab_permit_again(again, "--yes") : NULL;
	ab_autofree char *once = ask ? ab_printf("in a new run:  %s\n", yes) : ab_strdup("");
	enum ab_rule_id known;

	ab_fail(err, AB_EREFUSED, 0,
		"%s cannot be allowed: the rules for programs cannot change during a run", id);
	if (ab_rule_find(rule, strlen(rule), &known))
		return ab_hint(err,
			       "%sin every run:   agentbox config set commands.override.%s "
			       "sandboxed",
			       once, rule);
	return ab_hint(err, "%sthe rule is one of your own (commands.rules): agentbox rules list",
		       once);
}

/* The smallest rule about its host. A deny rule covers every port. */
static int judge_host(const char *id, const json_t *record, bool deny, struct ab_lift *ret,
		      struct ab_error *err)
{
	const char *name = ab_json_text(record, "domain");
	json_int_t port = json_integer_value(json_object_get(record, "port"));
	struct ab_host_entry entry;
	struct ab_host host;

	if (port < 0 || port > 65535 || ab_host_parse(name, strlen(name), &host, NULL) < 0)
		return ab_fail(err, AB_EREFUSED, 0, "%s is not about a host", id);
	entry = ab_host_entry_for(&host, deny ? 0 : (uint16_t)port);
	ab_host_entry_format(&entry, ret->entry);
	return 0;
}

int ab_permit_judge(const char *id, const json_t *record, bool deny, const struct ab_again *again,
		    struct ab_lift *ret, struct ab_error *err)
{
	const char *rule = ab_json_text(record, "rule");
	bool host = *ab_json_text(record, "domain") && !*ab_json_text(record, "call") &&
		    !ab_json_is(record, "door", "ssh-agent");
	/* Rules that a grant for the run overrides. */
	bool liftable = !*rule || strcmp(rule, "network.allow") == 0 || strcmp(rule, "grant") == 0;

	*ret = (struct ab_lift){ 0 };
	if (host && (deny || liftable))
		return judge_host(id, record, deny, ret, err);
	if (deny)
		return ab_fail(err, AB_EREFUSED, 0, "%s was denied already, and stays denied", id);
	if (ab_json_is(record, "kind", "exec"))
		return refuse_program(id, record, again, err);
	/* A path that was cut does not name a file. */
	if (strcmp(rule, "filesystem.write") == 0 && ab_json_text(record, "path")[0] == '/') {
		ret->path = ab_json_text(record, "path");
		return 0;
	}
	return refuse_denial(id, record, again, err);
}
