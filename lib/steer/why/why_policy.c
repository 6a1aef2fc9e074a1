#include "steer/why/why_policy.h"

#include "audit/read/words.h"
#include "consent/host_check.h"
#include "guard/notify/trace.h"
#include "policy/layers/environment.h"
#include "policy/layers/layers.h"
#include "policy/model/commands.h"
#include "policy/model/config.h"
#include "policy/model/policy.h"
#include "policy/show/summary.h"
#include "policy/toolchains/host_groups.h"
#include "policy/values/complaint.h"
#include "policy/values/host.h"
#include "policy/values/paths.h"
#include "shell/judge/ruling.h"
#include "shell/syntax/quote.h"
#include "steer/permit/permit.h"
#include "steer/preview/preview.h"
#include "steer/why/why.h"
#include "steer/why/why_text.h"
#include "workspace/tree/glob.h"
#include "workspace/tree/names.h"

/* Add an empty one. */
static struct ab_why_answer *add_answer(struct ab_why_answers *answers)
{
	struct ab_why_answer *a = &answers->v[answers->len++];

	*a = (struct ab_why_answer){ .access = "deny" };
	return a;
}

void ab_why_answers_fini(struct ab_why_answers *answers)
{
	for (size_t i = 0; i < answers->len; i++) {
		struct ab_why_answer *a = &answers->v[i];

		ab_free_all(a->subject, a->text, a->entry, a->from, a->denial, a->advice);
		ab_strv_fini(&a->how);
	}
	free(answers->what);
}

/* "network.deny: x.y, from ~/.config/agentbox/config.json:3" */
static void put_rule(struct ab_buf *b, const struct ab_why_answer *a)
{
	if (a->rule && (a->entry || a->from))
		ab_words_safe(b, "  %s: %s%s%s\n", a->rule, a->entry ? a->entry : "",
			      a->from ? a->entry ? ", from " : "from " : "",
			      a->from ? a->from : "");
}

static void put_text(struct ab_buf *b, const struct ab_why_answers *answers)
{
	for (size_t i = 0; i < answers->len; i++) {
		const struct ab_why_answer *a = &answers->v[i];

		ab_buf_printf(b, "%s\n", a->text);
		put_rule(b, a);
		if (a->denial)
			ab_buf_printf(b, "  A run was denied it; for details: agentbox why %s\n",
				      a->denial);
		if (a->how.len)
			ab_buf_puts(b, "  To allow it:\n");
		ab_why_put_ways(b, "    ", &a->how);
		if (a->advice)
			ab_buf_printf(b, "  %s\n", a->advice);
	}
}

static void put_answer_json(struct ab_buf *b, const struct ab_why_answer *a)
{
	ab_buf_jsonf(b,
		     ",{'access':%s,'subject':%s,'text':%s,'rule':%s,'entry':%s,'from':%s,"
		     "'denial':%s,'advice':%s,'remedies':[",
		     a->access, a->subject, a->text, a->rule, a->entry, a->from, a->denial,
		     a->advice);
	for (size_t i = 0; i + 1 < a->how.len; i += 2)
		ab_buf_jsonf(b, ",{'what':%s,'how':%s}", a->how.v[i], a->how.v[i + 1]);
	ab_buf_puts(b, "]}");
}

static char *show_answers(const struct ab_preview *p, struct ab_why_answers *answers, bool json)
{
	struct ab_buf b = { 0 };

	if (json) {
		ab_buf_jsonf(&b, "{'about':%s,'what':%s,'workspace':%s,'profile':%s,'answers':[",
			     answers->kind, answers->what, p->policy->workspace,
			     p->policy->profile);
		for (size_t i = 0; i < answers->len; i++)
			put_answer_json(&b, &answers->v[i]);
		ab_buf_jsonf(&b, "],'notes':%p}\n", ab_list(&p->notes));
	} else {
		put_text(&b, answers);
		for (size_t i = 0; i < p->notes.len; i++)
			ab_words_safe(&b, "Note: %s\n", p->notes.v[i]);
	}
	ab_why_answers_fini(answers);
	return ab_buf_take(&b);
}

/* Where a scalar comes from. */
static char *find_origin(const struct ab_policy *policy, enum ab_key_id id)
{
	const struct ab_origin *from = policy->store->config.v[id].from;

	return from ? ab_origin_text(from) : NULL;
}

/* A network that has no filter, or is not there at all. */
static void answer_mode(const struct ab_policy *policy, const char *subject,
			struct ab_why_answers *ret)
{
	struct ab_why_answer *a = add_answer(ret);
	bool open = policy->net.mode == AB_NET_ALLOWED;

	a->subject = ab_strdup(subject);
	a->access = open ? "allow" : "deny";
	a->text = open ? ab_printf("%s is allowed: the network is not filtered.", subject)
		       : ab_printf("%s is denied: the network is blocked.", subject);
	a->rule = "network.mode";
	a->entry = ab_strdup(open ? "allowed" : "blocked");
	a->from = find_origin(policy, AB_KEY_NET_MODE);
	if (!open)
		ab_why_add_way(&a->how, "in one run",
			       "agentbox run --net filtered --allow %s -- ...", subject);
}

/* By the id of a denial. A command with a name could be one that a box has printed. */
static void add_lasting(struct ab_why_answer *a, const struct ab_policy_input *records,
			const char *what)
{
	a->denial = records ? ab_permit_denial_of(records, what) : NULL;
	if (a->denial) {
		ab_why_add_way(&a->how, "in this project", "agentbox allow %s --project",
			       a->denial);
		ab_why_add_way(&a->how, "always", "agentbox allow %s --always", a->denial);
	} else if (records && !a->advice) {
		a->advice = ab_strdup(
			"No run was denied access to it, so there is no id. To allow it in "
			"later runs, pass its name to allow with --always or --project; on "
			"a terminal, allow asks first.");
	}
}

static void answer_host(const struct ab_policy *policy, const char *subject,
			const struct ab_host_answer *got, struct ab_why_answers *ret)
{
	bool listed = got->entry[0], denied = strcmp(got->rule, "network.deny") == 0;
	struct ab_why_answer *a = add_answer(ret);
	const char *group = ab_group_of(subject);

	a->subject = ab_strdup(subject);
	a->rule = got->rule;
	a->access = got->allowed ? "allow" : got->asked ? "ask" : "deny";
	if (got->allowed)
		a->text = ab_printf("%s is allowed: %s.", subject, got->reason);
	else if (got->asked)
		a->text = ab_printf("%s: %s; a run asks about it, and denies it if nobody can be "
				    "asked.",
				    subject, got->reason);
	else
		a->text = ab_printf("%s is denied: %s.", subject, got->reason);
	if (listed) {
		a->entry = ab_strdup(got->entry);
		a->from = ab_item_origin(ab_policy_find_item(
			policy, denied ? AB_KEY_NET_DENY : AB_KEY_NET_ALLOW, got->entry));
	} else if (!got->allowed && strcmp(got->rule, "network.allow") == 0) {
		a->rule = "network.unknown";
		a->entry = ab_strdup(got->asked ? "ask" : "deny");
		a->from = find_origin(policy, AB_KEY_NET_UNKNOWN);
	}
	if (denied && a->from && ab_origin_is_undoable(a->from))
		ab_why_add_way(&a->how, "take it off the deny list", "agentbox deny %s --undo",
			       a->entry);
	else if (denied)
		a->advice = ab_strdup(
			"Deny rules override allow rules: remove the entry where it is written.");
	if (got->hint[0])
		ab_why_add_way(&a->how, "in one run", "agentbox run %s -- ...", got->hint);
	if (got->liftable) {
		add_lasting(a, ret->records, subject);
		/* Its tool needs the other hosts of the group, too. */
		if (group)
			ab_why_add_way(&a->how, "in one run, with its group",
				       "agentbox run --allow @%s -- ...", group);
	}
}

static bool same_answer(const struct ab_host_answer *a, const struct ab_host_answer *b)
{
	return a->allowed == b->allowed && a->asked == b->asked && strcmp(a->rule, b->rule) == 0 &&
	       strcmp(a->entry, b->entry) == 0;
}

/* Without a port: the usual ports, together if they have one answer. */
static void answer_ports(const struct ab_policy *policy, const struct ab_host *host,
			 struct ab_why_answers *ret)
{
	static const uint16_t usual[] = { 443, 80, 22 };
	struct ab_host_answer got[AB_COUNT(usual)];
	bool same = true;

	for (size_t i = 0; i < AB_COUNT(usual); i++) {
		ab_host_check(policy, host, usual[i], &got[i]);
		same &= same_answer(&got[0], &got[i]);
	}
	if (same) {
		answer_host(policy, host->text, &got[0], ret);
		return;
	}
	for (size_t i = 0; i < AB_COUNT(usual); i++) {
		ab_autobuf struct ab_buf subject = { 0 };

		ab_words_target(&subject, host->text, usual[i]);
		answer_host(policy, subject.data, &got[i], ret);
	}
}

int ab_why_answer_host(const struct ab_preview *p, const char *text, struct ab_why_answers *ret,
		       struct ab_error *err)
{
	struct ab_complaint why = { .right = "" };
	ab_autobuf struct ab_buf subject = { 0 };
	struct ab_host_entry entry;
	struct ab_host_answer got;

	if (ab_host_entry_parse(text, strlen(text), &entry, &why) < 0) {
		ab_fail(err, AB_EUSAGE, 0, "%s", why.wrong);
		return ab_hint(err, "%s", why.right);
	}
	if (entry.below || (entry.host.kind == AB_HOST_IPV4 && entry.bits < 32) ||
	    (entry.host.kind == AB_HOST_IPV6 && entry.bits < 128)) {
		ab_fail(err, AB_EUSAGE, 0, "%s stands for many hosts", text);
		return ab_hint(err, "name one host");
	}
	if (entry.port)
		ab_words_target(&subject, entry.host.text, entry.port);
	else
		ab_buf_puts(&subject, entry.host.text);
	ret->what = ab_strdup(subject.data);
	if (p->policy->net.mode != AB_NET_FILTERED) {
		answer_mode(p->policy, subject.data, ret);
	} else if (entry.port) {
		ab_host_check(p->policy, &entry.host, entry.port, &got);
		answer_host(p->policy, subject.data, &got, ret);
	} else {
		answer_ports(p->policy, &entry.host, ret);
	}
	return 0;
}

/*
 * May a run read or write this path? The mount plan of a run decides, and the words are those of the
 * record of a denial (guard/notify/trace.h).
 */

struct question {
	const struct ab_preview *p;
	const struct ab_policy_input *records; /* of the answers */
	struct ab_arena *arena;
	struct ab_trace_terms terms;
	const char *path;
	char *real; /* without links, as far as it exists */
	char *safe; /* the path, escaped */
	const struct ab_mount *mount;
};

/* The last entry of denyRead that hides this object, found as a run finds it. */
static const char *find_hiding(const struct ab_policy *policy, const char *object)
{
	const struct ab_strv *list = &policy->fs.deny_read;

	for (size_t i = list->len; i-- > 0;) {
		const struct ab_strv one = { .v = &list->v[i], .len = 1 };
		struct ab_guard *found = NULL;
		struct ab_error err = { 0 };
		bool hides = false;
		size_t n = 0;

		if (list->v[i][0] == '!' || ab_expand_deny(&one, &found, &n, &err) < 0)
			continue;
		for (size_t k = 0; k < n; k++)
			hides |= strcmp(found[k].path, object) == 0;
		ab_guards_free(found, n);
		if (hides)
			return list->v[i];
	}
	return NULL;
}

/* Does a name of several components match the beginning of a path below its folder? */
static bool matches_name(const char *name, const char *below)
{
	while (*below) {
		size_t len = strcspn(below, "/");
		ab_autofree char *entry = ab_strndup(below, len);

		if (!ab_name_starts(name, entry, &name))
			return false;
		if (!*name)
			return true;
		below += len + (below[len] == '/');
	}
	return false;
}

/* A protected name that does not exist yet; the entry, or NULL. */
static const char *find_watched(const struct question *q)
{
	const struct ab_survey *s = &q->p->host.survey;

	for (size_t i = 0; i < s->nwatch; i++) {
		const struct ab_watch *w = &s->watch[i];
		size_t n = strlen(w->dir);

		if (!ab_path_within(q->real, w->dir) || !q->real[n])
			continue;
		for (size_t k = 0; k < w->names.len; k++)
			if (w->names.v[k][0] != '!' &&
			    matches_name(w->names.v[k], q->real + n + (n > 1)))
				return w->names.v[k];
	}
	return NULL;
}

static void set_entry(const struct question *q, struct ab_why_answer *a, enum ab_key_id id,
		      const char *entry)
{
	if (!entry)
		return;
	a->entry = ab_strdup(entry);
	a->from = ab_item_origin(ab_policy_find_item(q->p->policy, id, entry));
}

/* The writable root, as the policy names it. */
static const char *find_root(const struct question *q)
{
	const struct ab_strv *roots = &q->p->policy->fs.write;
	const char *best = NULL;

	for (size_t i = 0; i < roots->len; i++) {
		ab_autofree char *real = realpath(roots->v[i], NULL);

		if (real && ab_path_within(q->real, real) &&
		    (!best || strlen(roots->v[i]) > strlen(best)))
			best = roots->v[i];
	}
	return best;
}

/* Folders of the home folder that are looked for because of something that works in another way. */
static void advise_instead(const struct question *q, struct ab_why_answer *a)
{
	static const struct {
		const char *folder, *advice;
	} ways[] = {
		{ ".gnupg",
		  "Keys of gpg are not lent to a box. To sign commits, use a key of your ssh agent: "
		  "\"ssh\": { \"sign\": [\"git\"] } in your settings, and git config gpg.format ssh." },
	};

	for (size_t i = 0; i < AB_COUNT(ways) && !a->advice; i++) {
		ab_autofree char *folder = ab_path_join(q->p->policy->home, ways[i].folder);

		if (ab_path_within(q->path, folder))
			a->advice = ab_strdup(ways[i].advice);
	}
}

static void set_denied(const struct question *q, struct ab_why_answer *a, const char *access,
		       const struct ab_denied *d)
{
	enum ab_key_id id = AB_KEY_COUNT;
	bool hidden = strcmp(d->rule, "filesystem.denyRead") == 0;
	const char *entry = NULL;

	a->text = ab_printf("%s cannot be %s: %s.", q->safe, access, d->reason);
	a->rule = d->rule;
	if (hidden) {
		id = AB_KEY_DENY_READ;
		entry = q->mount ? find_hiding(q->p->policy, q->mount->path) : NULL;
	} else if (strcmp(d->rule, "filesystem.denyWrite") == 0) {
		id = AB_KEY_DENY_WRITE;
		entry = ab_trace_entry(q->p->policy, q->mount && q->mount->op == AB_MOUNT_CLOSE
							     ? q->mount->path
							     : q->real);
	}
	set_entry(q, a, id, entry);
	advise_instead(q, a);
	if (!d->hint[0])
		return;
	ab_why_add_way(&a->how, "in one run", "%s", d->hint);
	if (strcmp(d->rule, "filesystem.write") == 0)
		add_lasting(a, q->records, q->real);
}

static void answer_read(const struct question *q, struct ab_why_answer *a)
{
	const struct ab_mount *m = q->mount;
	struct ab_denied d;

	a->subject = ab_strdup("read");
	if (m && m->op == AB_MOUNT_MASK &&
	    ab_trace_mask(q->arena, &q->terms, q->real, "read", &d)) {
		set_denied(q, a, "read", &d);
	} else if (m && m->op == AB_MOUNT_MASK) {
		a->rule = "filesystem.unix";
		a->text = ab_printf("%s is a socket of the host, and hidden.", q->safe);
	} else if (ab_path_within_any(q->real, &q->p->host.missing)) {
		a->rule = "filesystem.denyRead";
		a->text = m && m->op == AB_MOUNT_LAYER
				  ? ab_printf("%s does not exist; if it did, it would be hidden.",
					      q->safe)
				  : ab_printf("%s does not exist, and a run can neither create nor "
					      "read it.",
					      q->safe);
	} else if (m && m->op == AB_MOUNT_PRIVATE && !m->path[1]) {
		a->rule = "filesystem.read";
		a->text = ab_printf("%s is not visible: filesystem.read does not include it.",
				    q->safe);
	} else if (m && m->op == AB_MOUNT_PRIVATE) {
		ab_autofree char *folder = ab_escape(m->path);

		a->text = ab_printf("%s is not visible: a run has an empty %s of its own.", q->safe,
				    folder);
	} else {
		a->access = "allow";
		a->text = ab_printf("%s can be read%s.", q->safe,
				    access(q->path, F_OK) < 0 ? ", once it exists" : "");
	}
}

static const char *describe_layer(const struct question *q)
{
	const struct ab_preview *p = q->p;

	if (p->host.survey.reviewed && ab_path_within(q->real, p->host.survey.reviewed))
		return "changes wait until you apply them";
	return p->policy->fs.home == AB_HOME_KEPT
		       ? "writes go to a layer that is kept, not to your file"
		       : "writes go to a layer that is gone after the run, not to your file";
}

static void answer_write(const struct question *q, struct ab_why_answer *a)
{
	enum ab_mount_op op = q->mount ? q->mount->op : AB_MOUNT_SHOW;
	struct ab_denied d = { .reason = "a folder of the system", .rule = "", .hint = "" };

	a->subject = ab_strdup("write");
	if ((op == AB_MOUNT_WRITE || op == AB_MOUNT_PIN) && find_watched(q)) {
		ab_trace_protected(q->arena, &q->terms, q->real, &d);
		set_denied(q, a, "created", &d);
	} else if (op == AB_MOUNT_WRITE || op == AB_MOUNT_PIN) {
		a->access = "allow";
		a->text = ab_printf("%s can be written.", q->safe);
		a->rule = "filesystem.write";
		set_entry(q, a, AB_KEY_WRITE, find_root(q));
	} else if (op == AB_MOUNT_LAYER) {
		a->access = "allow";
		a->text = ab_printf("%s can be written: %s.", q->safe, describe_layer(q));
	} else if (op == AB_MOUNT_PRIVATE && q->mount->path[1]) {
		a->access = "allow";
		a->text = ab_printf("%s can be written in the run's own folder, which is gone "
				    "after the run.",
				    q->safe);
	} else {
		ab_autofree char *folder = ab_path_parent(q->real);
		bool missing = access(q->real, F_OK) < 0;

		(void)ab_trace_write(q->arena, &q->terms, q->real, missing, &d);
		/* No option makes it writable. */
		if (missing && access(folder, F_OK) < 0)
			d.hint = "";
		set_denied(q, a, "written", &d);
	}
}

void ab_why_answer_path(const struct ab_preview *p, const char *path, bool read, bool write,
			struct ab_why_answers *ret)
{
	struct ab_arena arena = { 0 };
	struct question q = { .p = p,
			      .records = ret->records,
			      .arena = &arena,
			      .terms = { .policy = p->policy,
					 .plan = &p->plan,
					 .sockets = &p->host.sockets,
					 .state = p->state,
					 .home = p->host.home ? p->host.home : p->policy->home,
					 .uid = geteuid() },
			      .path = path,
			      .real = ab_permit_real_path(path),
			      .safe = ab_escape(path) };

	q.mount = ab_plan_find(&p->plan, q.real);
	if (read)
		answer_read(&q, add_answer(ret));
	if (write)
		answer_write(&q, add_answer(ret));
	ab_free_all(q.real, q.safe);
	ab_arena_fini(&arena);
}

int ab_why_host(const struct ab_policy_input *input, const char *text, bool json, char **ret,
		struct ab_error *err)
{
	struct ab_request request = { .policy = *input };
	struct ab_why_answers answers = { .kind = "host", .records = input };
	ab_auto(ab_preview_fini) struct ab_preview p = { 0 };

	if (ab_preview_open(&request, true, &p, err) < 0 ||
	    ab_why_answer_host(&p, text, &answers, err) < 0)
		return -1;
	*ret = show_answers(&p, &answers, json);
	return 0;
}

int ab_why_path(const struct ab_policy_input *input, const char *path, bool read, bool write,
		const char *note, bool json, char **ret, struct ab_error *err)
{
	struct ab_request request = { .policy = *input };
	struct ab_why_answers answers = { .kind = "path", .records = input };
	ab_autofree char *clean = ab_path_resolve(path, input->cwd, input->home);
	ab_auto(ab_preview_fini) struct ab_preview p = { 0 };

	if (!clean)
		return ab_fail(err, AB_EUSAGE, 0, "%s: the home folder is unknown", path);
	if (ab_preview_open(&request, true, &p, err) < 0)
		return -1;
	answers.what = ab_strdup(clean);
	if (note)
		ab_strv_add(&p.notes, note);
	ab_why_answer_path(&p, clean, read || !write, write || !read, &answers);
	*ret = show_answers(&p, &answers, json);
	return 0;
}

/* Where the rule that decided was written. */
static char *find_rule_origin(const struct ab_policy *policy, const struct ab_judgement *j)
{
	const struct ab_config *c = &policy->store->config;
	const struct ab_value *rules = &c->v[AB_KEY_RULES];
	const struct ab_item *item;

	for (size_t i = 0; j->user_rule && i < rules->len; i++)
		if (strcmp(rules->items[i].rule->text, j->user_rule) == 0)
			return ab_origin_text(rules->items[i].from);
	for (unsigned i = 0; i < AB_RULE_COUNT; i++) {
		if (strcmp(ab_rules[i].name, j->rule) != 0)
			continue;
		item = ab_override_find(&c->v[AB_KEY_OVERRIDE], i);
		return item ? ab_origin_text(item->from) : ab_strdup("a built-in rule");
	}
	return NULL;
}

static void answer_command(const struct ab_request *rq, const struct ab_preview *p,
			   const char *shown, struct ab_why_answers *ret)
{
	const struct ab_judgement *j = &p->judgement;
	struct ab_why_answer *a = add_answer(ret);
	ab_autobuf struct ab_buf b = { 0 };

	a->subject = ab_strdup(shown);
	a->access = j->decision == AB_ESCALATED	  ? "ask"
		    : j->decision == AB_FORBIDDEN ? "deny"
						  : "allow";
	ab_words_short(&b, shown, 200);
	ab_buf_puts(&b, ": ");
	ab_preview_say_verdict(p, &b);
	ab_buf_puts(&b, ".");
	a->text = ab_buf_take(&b);
	if (j->rule[0]) {
		a->rule = j->user_rule ? "commands.rules" : j->rule;
		a->entry = j->user_rule ? ab_strdup(j->user_rule) : NULL;
		a->from = find_rule_origin(p->policy, j);
	}
	if (j->decision < AB_ESCALATED)
		return;
	if (j->instead)
		a->advice = ab_printf("Instead: %s", j->instead);
	if (j->decision == AB_ESCALATED && !rq->script)
		ab_why_add_way(&a->how, "approve it in one run", "agentbox run --yes -- %s", shown);
	if (!j->user_rule && j->rule[0])
		ab_why_add_way(&a->how, "change the rule in your settings",
			       "agentbox config set commands.override.%s sandboxed", j->rule);
}

int ab_why_command(const struct ab_policy_input *input, const char *const *argv, size_t argc,
		   const char *script, bool json, char **ret, struct ab_error *err)
{
	struct ab_request request = {
		.policy = *input, .argv = argv, .argc = argc, .script = script
	};
	struct ab_why_answers answers = { .kind = "command" };
	ab_autobuf struct ab_buf shown = { 0 };
	ab_auto(ab_preview_fini) struct ab_preview p = { 0 };

	if (ab_preview_open(&request, true, &p, err) < 0)
		return -1;
	if (script)
		ab_buf_puts(&shown, script);
	else
		ab_quote_argv(&shown, argv, argc);
	answers.what = ab_strdup(shown.data ? shown.data : "");
	answer_command(&request, &p, answers.what, &answers);
	*ret = show_answers(&p, &answers, json);
	return 0;
}

/*
 * Why a variable of the caller's environment does not enter the box.
 */

/* What happens to it, as a clause after its name. */
static char *describe_variable(const struct ab_policy *policy, const char *name, const char *value,
			       bool *ret_whole)
{
	ab_autofree char *entry = ab_printf("%s=%s", name, value);
	char *const caller[] = { entry, NULL };
	struct ab_environment_report report = { 0 };
	ab_autostrv struct ab_strv env = { 0 };
	const char *got;
	char *text;

	ab_environment_build(policy, caller, &env, &report);
	got = ab_env_get(&env, name);
	*ret_whole = got && strcmp(got, value) == 0;
	if (*ret_whole)
		text = ab_strdup("is passed to the box");
	else if (report.cleaned.len)
		text = ab_strdup("is passed to the box without the user and password in its URL");
	else if (got)
		text = ab_strdup("has another value in the box");
	else if (!report.stripped.len)
		text = ab_strdup("is not passed to the box");
	else if (strcmp(report.stripped.v[0], name) == 0)
		text = ab_strdup("is not passed to the box: env.strip matches its name");
	else
		/* "NAME (looks like a private key)" */
		text = ab_printf("is not passed to the box: its value %.*s",
				 (int)strcspn(report.stripped.v[0] + strlen(name) + 2, ")"),
				 report.stripped.v[0] + strlen(name) + 2);
	ab_environment_report_fini(&report);
	return text;
}

int ab_why_variable(const struct ab_policy_input *input, const char *name, bool json, char **ret,
		    struct ab_error *err)
{
	const char *value = ab_environ_get(input->environ, name);
	ab_autostrv struct ab_strv notes = { 0 };
	ab_autofree char *text = NULL;
	ab_autopolicy struct ab_policy *policy = NULL;
	struct ab_buf b = { 0 };
	bool whole;

	if (ab_policy_load(input, &policy, &notes, err) < 0)
		return -1;
	text = describe_variable(policy, name, value, &whole);
	if (json) {
		ab_buf_jsonf(&b, "{'variable':%s,'reason':%s,'whole':%hhd}\n", name, text, whole);
	} else {
		ab_buf_printf(&b, "%s %s.\n", name, text);
		if (!whole)
			ab_buf_printf(&b,
				      "To pass it as it is: agentbox run --pass-env %s -- ...\n",
				      name);
	}
	*ret = ab_buf_take(&b);
	return 0;
}
