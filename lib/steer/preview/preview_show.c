#include "audit/read/words.h"
#include "base/text/wrap.h"
#include "policy/model/policy.h"
#include "policy/show/summary.h"
#include "sandbox/plan/engine.h"
#include "shell/judge/judge_report.h"
#include "shell/syntax/quote.h"
#include "steer/preview/preview.h"

enum { COMMAND_MAX = 200, STATUS_REFUSED = 126 };

/* Paths of the plan that have this operation. */
static void list_mounts(const struct ab_preview *p, enum ab_mount_op op, struct ab_strv *ret)
{
	for (size_t i = 0; i < p->plan.len; i++)
		if (p->plan.v[i].op == op && !ab_strv_has(&p->host.sockets, p->plan.v[i].path))
			ab_strv_add(ret, p->plan.v[i].path);
}

/* Roots that the box really can write: a stronger rule may close one. */
static void list_writable(const struct ab_preview *p, struct ab_strv *ret)
{
	for (size_t i = 0; i < p->host.survey.write.len; i++) {
		const char *path = p->host.survey.write.v[i];
		const struct ab_mount *m = ab_plan_find(&p->plan, path);

		if (m && m->op == AB_MOUNT_WRITE)
			ab_strv_add(ret, path);
	}
}

static const char *describe_verdict(const struct ab_preview *p)
{
	bool asks = p->judgement.decision == AB_ESCALATED;

	switch (p->verdict) {
	case AB_PREVIEW_NONE:
		break;
	case AB_PREVIEW_RUNS:
		return "it would run in the box";
	case AB_PREVIEW_APPROVED:
		return "it would run without a question (approved already)";
	case AB_PREVIEW_ASKED:
		return "you would be asked first";
	case AB_PREVIEW_REFUSED:
		return !asks	   ? "it would be refused, with exit status 126"
		       : p->nested ? "it would be refused, with exit status 126: nobody can be "
				     "asked from inside a box"
				   : "it would be refused, with exit status 126: you answered no "
				     "in this session";
	}
	return "";
}

void ab_preview_say_verdict(const struct ab_preview *p, struct ab_buf *b)
{
	const struct ab_judgement *j = &p->judgement;

	ab_buf_puts(b, ab_decision_names[j->decision]);
	if (j->user_rule)
		ab_words_safe(b, " (your rule \"%s\")", j->user_rule);
	else if (j->rule[0])
		ab_buf_printf(b, " (rule %s)", j->rule);
	if (j->rule[0]) {
		ab_buf_puts(b, ": ");
		ab_words_clause(b, j->reason);
	}
	ab_buf_printf(b, "; %s", describe_verdict(p));
}

static void add_verdict(const struct ab_request *rq, const struct ab_preview *p,
			struct ab_strv *rows)
{
	ab_autobuf struct ab_buf command = { 0 }, said = { 0 }, verdict = { 0 };

	if (p->verdict == AB_PREVIEW_NONE)
		return;
	if (rq->script)
		ab_buf_puts(&command, rq->script);
	else
		ab_quote_argv(&command, rq->argv, rq->argc);
	ab_buf_escape_n(&said, command.data, command.len > COMMAND_MAX ? COMMAND_MAX : command.len);
	ab_buf_puts(&said, command.len > COMMAND_MAX ? "..." : "");
	ab_summary_row(rows, "command", said.data);
	ab_preview_say_verdict(p, &verdict);
	ab_summary_row(rows, "verdict", verdict.data);
	if (p->judgement.instead && p->judgement.decision >= AB_ESCALATED)
		ab_summary_row(rows, "", p->judgement.instead);
}

static void add_writes(const struct ab_preview *p, struct ab_strv *rows)
{
	ab_autostrv struct ab_strv all = { 0 };
	ab_autofree char *reviewed = NULL;

	list_writable(p, &all);
	if (p->host.survey.reviewed) {
		reviewed = ab_escape(p->host.survey.reviewed);
		ab_summary_row(rows, "reviewed", reviewed);
	}
	if (all.len)
		ab_summary_list(rows, "writes", "", &all, "");
	else
		ab_summary_row(rows, "writes",
			       reviewed ? "nothing directly: changes wait until you apply them"
					: "nothing of the host");
	ab_summary_list(rows, "private", "", &p->host.facts.privates,
			": empty, and gone after the run");
}

static void add_closed(const struct ab_preview *p, struct ab_strv *rows, bool verbose)
{
	static const struct {
		enum ab_mount_op op;
		const char *label, *one, *many;
	} kinds[] = {
		{ AB_MOUNT_MASK, "hidden", "file or folder", "files and folders" },
		{ AB_MOUNT_CLOSE, "protected", "file or folder that programs outside obey",
		  "files and folders that programs outside obey" },
	};

	for (size_t i = 0; i < AB_COUNT(kinds); i++) {
		ab_autostrv struct ab_strv paths = { 0 };
		ab_autofree char *text = NULL;

		list_mounts(p, kinds[i].op, &paths);
		if (!paths.len)
			continue;
		text = ab_printf("%zu %s%s", paths.len,
				 paths.len == 1 ? kinds[i].one : kinds[i].many,
				 verbose ? "" : " (-v lists them)");
		ab_summary_row(rows, kinds[i].label, text);
		for (size_t k = 0; verbose && k < paths.len; k++) {
			ab_strv_add(rows, "");
			ab_strv_add_safe(rows, "%s", paths.v[k]);
		}
	}
}

static void add_engine(const struct ab_policy *policy, struct ab_strv *rows)
{
	enum ab_box_engine engine = policy->assurance.engine;
	ab_autofree char *text = NULL;

	if (engine == AB_ENGINE_AUTO)
		text = ab_strdup("auto: the best that this machine allows");
	else if (ab_box_engines[engine].lacks)
		text = ab_printf("%s: %s", ab_box_engines[engine].name,
				 ab_box_engines[engine].without);
	else
		text = ab_strdup(ab_box_engines[engine].name);
	ab_summary_row(rows, "engine", text);
}

char *ab_preview_text(const struct ab_request *rq, const struct ab_preview *p, bool verbose,
		      size_t columns)
{
	static const char prove[] =
		"Nothing was started. To prove the guarantees now: agentbox doctor";
	ab_autofree char *profile = ab_escape(p->policy->profile);
	ab_autostrv struct ab_strv rows = { 0 };
	struct ab_buf b = { 0 };

	add_verdict(rq, p, &rows);
	ab_summary_row(&rows, "profile", profile);
	add_writes(p, &rows);
	ab_summary_home(p->policy, &p->home, &rows);
	add_closed(p, &rows, verbose);
	ab_summary_rest(p->policy, &rows);
	if (!p->nested)
		add_engine(p->policy, &rows);
	else
		ab_summary_row(
			&rows, "box",
			"this is inside a box: the outer run allows no more than it does now");
	ab_summary_put(&b, &rows, columns);
	if (columns)
		ab_wrap_message(&b, prove, 0, columns);
	else
		ab_buf_puts(&b, prove);
	ab_buf_puts(&b, "\n");
	return ab_buf_take(&b);
}

static void put_member(struct ab_buf *b, const char *key, const struct ab_strv *list)
{
	ab_buf_jsonf(b, ",%s:%p", key, ab_list(list));
}

/* As the settings write it. */
static const char *find_word(enum ab_key_id id, unsigned value)
{
	const struct ab_key *key = &ab_keys[id];

	for (size_t i = 0; i < key->nwords; i++)
		if (key->words[i].number == value)
			return key->words[i].name;
	return NULL;
}

static void put_mounts(struct ab_buf *b, const char *key, const struct ab_preview *p,
		       enum ab_mount_op op)
{
	ab_autostrv struct ab_strv list = { 0 };

	list_mounts(p, op, &list);
	put_member(b, key, &list);
}

static void put_command(struct ab_buf *b, const struct ab_request *rq, const struct ab_preview *p)
{
	static const char *const outcomes[] = {
		[AB_PREVIEW_NONE] = "none",	    [AB_PREVIEW_RUNS] = "runs",
		[AB_PREVIEW_APPROVED] = "approved", [AB_PREVIEW_ASKED] = "asked",
		[AB_PREVIEW_REFUSED] = "refused",
	};
	ab_autostrv struct ab_strv argv = { 0 };

	if (p->verdict == AB_PREVIEW_NONE)
		return;
	for (size_t i = 0; i < rq->argc; i++)
		ab_strv_add(&argv, rq->argv[i]);
	put_member(b, "command", &argv);
	ab_buf_puts(b, ",\"judgement\":");
	ab_judgement_json(&p->judgement, b);
	ab_buf_jsonf(b, ",'outcome':%s", outcomes[p->verdict]);
	if (p->verdict == AB_PREVIEW_REFUSED)
		ab_buf_jsonf(b, ",'status':%d", STATUS_REFUSED);
}

static void put_files(struct ab_buf *b, const struct ab_preview *p)
{
	ab_autostrv struct ab_strv writable = { 0 };

	list_writable(p, &writable);
	put_member(b, "write", &writable);
	ab_buf_jsonf(b, ",'home':%s", find_word(AB_KEY_HOME, p->policy->fs.home));
	put_member(b, "home_notes", &p->home);
	put_mounts(b, "layered", p, AB_MOUNT_LAYER);
	put_mounts(b, "private", p, AB_MOUNT_PRIVATE);
	put_mounts(b, "hidden", p, AB_MOUNT_MASK);
	put_mounts(b, "protected", p, AB_MOUNT_CLOSE);
}

static void put_hosts(struct ab_buf *b, const struct ab_policy *policy, const char *key,
		      enum ab_key_id id, const struct ab_strv *list)
{
	ab_buf_jsonf(b, ",%s:[", key);
	for (size_t i = 0; i < list->len; i++) {
		ab_autofree char *from =
			ab_item_origin(ab_policy_find_item(policy, id, list->v[i]));

		ab_buf_jsonf(b, ",{'value':%s,'from':%s}", list->v[i], from ? from : "");
	}
	ab_buf_puts(b, "]");
}

static void put_network(struct ab_buf *b, const struct ab_policy *policy)
{
	ab_buf_jsonf(b, ",'network':{'mode':%s", find_word(AB_KEY_NET_MODE, policy->net.mode));
	put_hosts(b, policy, "allow", AB_KEY_NET_ALLOW, &policy->net.allow);
	put_hosts(b, policy, "deny", AB_KEY_NET_DENY, &policy->net.deny);
	ab_buf_jsonf(b, ",'unknown':%s}", policy->net.unknown == AB_UNKNOWN_ASK ? "ask" : "deny");
}

static void put_secrets(struct ab_buf *b, const struct ab_policy *policy)
{
	ab_buf_jsonf(b, ",'secrets':[");
	for (size_t i = 0; i < policy->secrets.len; i++)
		if (!policy->secrets.v[i].part)
			ab_buf_jsonf(b, ",{'name':%s,'hosts':%p}", policy->secrets.v[i].name,
				     ab_list(&policy->secrets.v[i].hosts));
	ab_buf_puts(b, "]");
}

/* null: the box has none. */
static void put_ssh(struct ab_buf *b, const struct ab_policy *policy)
{
	if (!ab_policy_lends_keys(policy)) {
		ab_buf_jsonf(b, ",'ssh':null");
		return;
	}
	ab_buf_jsonf(b, ",'ssh':{'ask':%s,'git':%hhd,'hosts':%p,'keys':%p,'users':%p}",
		     find_word(AB_KEY_SSH_ASK, policy->ssh.ask), policy->ssh.git,
		     ab_list(&policy->ssh.hosts), ab_list(&policy->ssh.keys),
		     ab_list(&policy->ssh.users));
}

static void put_containers(struct ab_buf *b, const struct ab_policy *policy)
{
	if (!policy->docker.images.len)
		ab_buf_jsonf(b, ",'docker':null");
	else
		ab_buf_jsonf(b,
			     ",'docker':{'network':%s,'ports':%s,'pull':%hhd,'images':%p,"
			     "'mounts':%p}",
			     policy->docker.bridge ? "bridge" : "none",
			     policy->docker.publish ? "publish" : "none", policy->docker.pull,
			     ab_list(&policy->docker.images), ab_list(&policy->docker.mounts));
}

static void put_limit(struct ab_buf *b, const char *key, uint64_t n)
{
	ab_buf_json_number(b, key, n, (int64_t)n);
}

static void put_limits(struct ab_buf *b, const struct ab_policy *policy)
{
	ab_autostrv struct ab_strv required = { 0 }, given_up = { 0 };

	ab_buf_puts(b, ",\"limits\":{");
	put_limit(b, "timeout_ms", policy->limits.timeout_ms);
	put_limit(b, "memory", policy->limits.memory);
	put_limit(b, "processes", policy->limits.processes);
	put_limit(b, "files", policy->limits.files);
	put_limit(b, "cpu_ms", policy->limits.cpu_ms);
	put_limit(b, "file_size", policy->limits.file_size);
	ab_buf_puts(b, "}");
	for (int i = 0; i < AB_PROP_COUNT; i++)
		if (policy->assurance.require & AB_PROP_BIT(i))
			ab_strv_add(&required, ab_property_names[i]);
		else if (policy->assurance.given_up & AB_PROP_BIT(i))
			ab_strv_add(&given_up, ab_property_names[i]);
	ab_buf_jsonf(b,
		     ",'guarantees':{'engine':%s,'strict':%hhd,'required':%p,'given_up':%p,"
		     "'proved':false}",
		     ab_box_engine_word(policy->assurance.engine),
		     (bool)(policy->assurance.fallback == AB_FALLBACK_STRICT), ab_list(&required),
		     ab_list(&given_up));
}

char *ab_preview_json(const struct ab_request *rq, const struct ab_preview *p)
{
	struct ab_buf b = { 0 };

	ab_buf_jsonf(&b, "{'profile':%s,'workspace':%s,'nested':%hhd,'reviewed':%s",
		     p->policy->profile, p->policy->workspace, p->nested, p->host.survey.reviewed);
	put_command(&b, rq, p);
	put_files(&b, p);
	put_network(&b, p->policy);
	put_secrets(&b, p->policy);
	put_ssh(&b, p->policy);
	put_containers(&b, p->policy);
	put_limits(&b, p->policy);
	put_member(&b, "notes", &p->notes);
	ab_buf_puts(&b, "}\n");
	return ab_buf_take(&b);
}
