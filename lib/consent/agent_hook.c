/*
 * The hook judges an agent's command as `run` does, before the agent's shell
 * runs it. A permitted command still has to run in a box, so it is rewritten
 * to `agentbox run`, unless the agent itself runs in a box. An agent whose
 * hooks cannot rewrite is better run in a box as a whole.
 *
 * The agent's own file tools run outside any box: the command that would do the
 * same ("cat > FILE") is judged, and the policy says whether a box could read or
 * write that file on the host. Of other tools only the name is judged
 * (commands.tools). The strictest of these verdicts counts.
 *
 * Should: deny what it cannot read. Mustn't: allow a command that would then
 * run outside any box.
 */
#include "consent/agent_hook.h"

#include "consent/consent.h"
#include "consent/hook_dialects.h"
#include "consent/hook_files.h"
#include "consent/request.h"
#include "policy/layers/environment.h"
#include "policy/model/policy.h"
#include "policy/values/paths.h"
#include "sandbox/mount/furniture.h"
#include "shell/syntax/quote.h"

enum {
	BLOCKED = 2,	     /* exit status that agents read as a denial */
	SHOWN_MAX = 1024,    /* bytes of the part that decided the verdict */
	APPROVER_MS = 10000, /* agents have timeouts of their own */
};

struct hook {
	const struct ab_hook_request *request;
	const struct ab_hook_dialect *dialect;
	struct ab_hook_event event;
	bool boxed;	    /* we run in a box, and so does the agent */
	const char *script; /* what is judged: the command, or one that uses the same files */
};

/* A verdict for another reason than a command rule. */
struct finding {
	enum ab_hook_verdict verdict;
	char *reason; /* NULL: none */
};

/* Only simple commands in sequence: a test, arithmetic, an assignment or a
 * redirection can start programs too. */
static bool is_plain(const struct ab_shell_node *node)
{
	if (node->background || node->negated || node->timed || node->redirs)
		return false;
	if (node->kind == AB_NODE_SIMPLE)
		return !node->simple.assigns;
	if (node->kind != AB_NODE_LIST && node->kind != AB_NODE_ANDOR)
		return false;
	for (const struct ab_shell_node *n = node->first; n; n = n->next)
		if (!is_plain(n))
			return false;
	return true;
}

/* Only `cd x`: it executes nothing, and must take effect in the agent's own
 * shell, which a box would not do. */
static bool only_changes_folder(const struct ab_judgement *j)
{
	if (j->decision != AB_ALLOW || !j->ncommands || !j->script.list ||
	    !is_plain(j->script.list))
		return false;
	for (const struct ab_judged *c = j->commands; c; c = c->next)
		if (c->via || c->argc == 0 || !ab_field_is(&c->argv[0], "cd"))
			return false;
	return true;
}

static char *rewrite_command(const struct hook *h, bool approved)
{
	const struct ab_hook_request *r = h->request;
	const char *bash = "/bin/bash";
	ab_autofree char *own = NULL;
	struct ab_buf b = { 0 };

	own = realpath("/proc/self/exe", NULL);
	ab_quote(&b, own ? own : "agentbox");
	ab_buf_puts(&b, approved ? " run --yes" : " run");
	for (size_t i = 0; i < r->noptions; i++) {
		ab_buf_puts(&b, " ");
		ab_quote(&b, r->options[i]);
	}
	/* Agents write bash. */
	if (access(bash, X_OK) == 0)
		ab_buf_printf(&b, " --shell %s", bash);
	ab_buf_puts(&b, " -c ");
	ab_quote(&b, h->event.command);
	return ab_buf_take(&b);
}

/* The answer is JSON, so our path and the options in it must be UTF-8. */
static int check_utf8(const char *text, struct ab_error *err)
{
	const char *end = text + strlen(text);
	uint32_t c;
	size_t n;

	for (; text < end; text += n) {
		n = ab_utf8_get(text, (size_t)(end - text), &c);
		if (n == 0)
			return ab_fail(err, AB_EUSAGE, 0,
				       "cannot rewrite the command: the hook's "
				       "options or the path of agentbox are not UTF-8");
	}
	return 0;
}

/* The reason, for the agent and its user. */
static char *explain_verdict(const struct hook *h, const struct ab_judgement *j,
			     enum ab_hook_verdict verdict, enum ab_memory memory)
{
	struct ab_span part = j->range;
	ab_autofree char *segment = NULL;
	struct ab_buf b = { 0 };

	ab_buf_printf(&b, "agentbox: %s", j->reason);
	if (j->rule[0])
		ab_buf_printf(&b, " (rule %s)", j->rule);
	if (verdict < AB_HOOK_ASK)
		return ab_buf_take(&b);
	if (part.to - part.from > SHOWN_MAX)
		part.to = part.from + SHOWN_MAX;
	segment = ab_strndup(j->text.s + part.from, part.to - part.from);
	if (segment[0] && h->event.command) {
		ab_buf_puts(&b, "\n  ");
		ab_buf_escape(&b, segment);
		ab_buf_puts(&b, part.to < j->range.to ? "..." : "");
	}
	if (j->instead)
		ab_buf_printf(&b, "\n  Instead: %s", j->instead);
	if (memory == AB_MEMORY_DENIED)
		ab_buf_puts(&b, "\n  Approval was asked for, and the answer was no.");
	else if (verdict == AB_HOOK_DENY && j->decision == AB_ESCALATED && h->event.command)
		ab_buf_printf(&b,
			      "\n  This needs approval, and %s cannot ask for it here. "
			      "To approve it, a human can run it with agentbox run "
			      "and answer \"always\".",
			      h->dialect->title);
	return ab_buf_take(&b);
}

/* Limited to the verdicts that this agent understands. */
static enum ab_hook_verdict choose_verdict(const struct hook *h, const struct ab_judgement *j,
					   enum ab_memory memory, bool rewritten)
{
	const struct ab_hook_dialect *d = h->dialect;
	bool confined = rewritten || h->boxed;

	if (j->decision == AB_FORBIDDEN || memory == AB_MEMORY_DENIED)
		return AB_HOOK_DENY;
	if (j->decision == AB_ESCALATED && memory == AB_MEMORY_NONE)
		return d->asks ? AB_HOOK_ASK : AB_HOOK_DENY;
	if (!h->event.command || (!confined && !only_changes_folder(j)))
		return AB_HOOK_NOTHING;
	return d->allows || rewritten ? AB_HOOK_ALLOW : AB_HOOK_NOTHING;
}

/* The agent is asking already, or cannot ask. */
static enum ab_hook_verdict limit_verdict(const struct hook *h, enum ab_hook_verdict verdict)
{
	if (verdict == AB_HOOK_ASK && h->event.permission)
		return AB_HOOK_NOTHING;
	if (verdict == AB_HOOK_ASK && !h->dialect->asks)
		return AB_HOOK_DENY;
	if (verdict == AB_HOOK_ALLOW && !h->dialect->allows)
		return AB_HOOK_NOTHING;
	return verdict;
}

/* Keep the stricter one. Takes over the reason. */
static void add_finding(struct finding *f, enum ab_hook_verdict verdict, char *reason)
{
	if (verdict <= f->verdict) {
		free(reason);
		return;
	}
	free(f->reason);
	*f = (struct finding){ verdict, reason };
}

static void judge_tool(const struct hook *h, const struct ab_policy *policy, struct finding *f)
{
	static const enum ab_hook_verdict verdicts[] = {
		[AB_TOOL_NONE] = AB_HOOK_NOTHING,
		[AB_TOOL_ALLOW] = AB_HOOK_ALLOW,
		[AB_TOOL_ASK] = AB_HOOK_ASK,
		[AB_TOOL_DENY] = AB_HOOK_DENY,
	};
	static const char *const words[] = { "", "allows it", "asks", "denies it" };
	ab_autofree char *name = ab_escape(h->event.tool);

	for (size_t i = 0; i < policy->commands.ntools; i++) {
		const struct ab_tool_rule *rule = &policy->commands.tools[i];

		if (!ab_name_matches(rule->pattern, h->event.tool, false))
			continue;
		/* Commands and files have a verdict of their own. */
		if (rule->verdict == AB_TOOL_ALLOW && h->event.subject != AB_HOOK_TOOL)
			continue;
		add_finding(f, verdicts[rule->verdict],
			    ab_printf("agentbox: tool %s: commands.tools \"%s\" %s", name,
				      rule->pattern, words[rule->verdict]));
	}
}

static int judge_file(const struct hook *h, const struct ab_policy_input *input,
		      const struct ab_policy *policy, const char *path, struct finding *f,
		      struct ab_error *err)
{
	static const struct {
		enum ab_hook_verdict verdict;
		const char *reason;
	} places[] = {
		[AB_FILE_OPEN] = { AB_HOOK_NOTHING, "" },
		[AB_FILE_OUTSIDE] = { AB_HOOK_ASK, "is outside the writable folders "
						   "(filesystem.write)" },
		[AB_FILE_PROTECTED] = { AB_HOOK_ASK, "is protected (filesystem.denyWrite)" },
		[AB_FILE_DANGLING] = { AB_HOOK_ASK, "is a symbolic link that leads nowhere" },
		[AB_FILE_ABOVE] = { AB_HOOK_ASK, "contains hidden files (filesystem.denyRead)" },
		[AB_FILE_HIDDEN] = { AB_HOOK_DENY, "is hidden (filesystem.denyRead)" },
	};
	ab_autofree char *real = NULL, *shown = NULL;
	enum ab_file_place place;

	if (ab_file_find_place(policy, input, path, h->event.subject != AB_HOOK_READ, &place, &real,
			       err) < 0)
		return -1;
	shown = ab_escape(real);
	add_finding(f, places[place].verdict,
		    ab_printf("agentbox: %s %s", shown, places[place].reason));
	return 0;
}

/* A box already confines the file tools of an agent in it. */
static int judge_files(const struct hook *h, const struct ab_policy_input *input,
		       const struct ab_policy *policy, struct finding *f, struct ab_error *err)
{
	for (size_t i = 0; i < h->event.paths.len && !h->boxed; i++)
		if (judge_file(h, input, policy, h->event.paths.v[i], f, err) < 0)
			return -1;
	return 0;
}

/* Commands that use the same files in the same way; NULL: none. */
static char *make_script(const struct hook *h)
{
	struct ab_buf b = { 0 };

	if (h->event.command)
		return ab_strdup(h->event.command);
	if (!h->event.paths.len || h->boxed)
		return NULL;
	for (size_t i = 0; i < h->event.paths.len; i++) {
		ab_buf_puts(&b, h->event.subject == AB_HOOK_READ ? "cat -- " : "cat > ");
		ab_quote(&b, h->event.paths.v[i]);
		ab_buf_puts(&b, "\n");
	}
	return ab_buf_take(&b);
}

static void write_answer(const struct hook *h, const struct ab_hook_answer *answer,
			 struct ab_hook_reply *ret)
{
	json_t *out;

	if (answer->verdict == AB_HOOK_NOTHING)
		return;
	if (h->dialect->form == AB_HOOK_FORM_STATUS) {
		if (answer->verdict == AB_HOOK_DENY) {
			free(ret->say);
			ret->say = ab_strdup(answer->reason);
			ret->status = BLOCKED;
		}
		return;
	}
	out = ab_hook_write(h->dialect, &h->event, answer);
	free(ret->out);
	ret->out = json_dumps(out, JSON_COMPACT);
	json_decref(out);
	if (!ret->out)
		abort();
}

/* A remembered answer for this command. */
static int recall_answer(const struct hook *h, const struct ab_policy_input *input,
			 const struct ab_command *command, enum ab_memory *ret,
			 struct ab_error *err)
{
	struct ab_session_key session;
	char key[65], id[8];

	ab_session_of_agent(h->event.session, &session);
	ab_consent_key(command, key);
	return ab_approvals_find(input, &session, key, ret, id, err);
}

/* Its answer is remembered for the agent's session if it says so. */
static enum ab_memory ask_approver(const struct hook *h, const struct ab_policy_input *input,
				   const struct ab_policy *policy)
{
	struct ab_request request = { .policy = *input,
				      .script = h->script,
				      .session = h->event.session,
				      .approver = h->request->approver,
				      .approver_ms = APPROVER_MS,
				      .unboxed = true,
				      .say = ab_say_nothing };
	struct ab_error no = { 0 };
	struct ab_consent got;

	return ab_consent_get(&request, policy, false, &got, &no) == 0 ? AB_MEMORY_SESSION
								       : AB_MEMORY_DENIED;
}

/* Answers from outside count in no box: what is approved there is not visible here. */
static int find_memory(const struct hook *h, const struct ab_policy_input *input,
		       const struct ab_policy *policy, const struct ab_command *command,
		       enum ab_memory *ret, struct ab_error *err)
{
	if (h->boxed)
		return 0;
	if (recall_answer(h, input, command, ret, err) < 0)
		return -1;
	if (*ret == AB_MEMORY_NONE && h->request->approver)
		*ret = ask_approver(h, input, policy);
	return 0;
}

/* The command, or one that uses the same files. */
static int judge_script(const struct hook *h, const struct ab_policy_input *input,
			const struct ab_policy *policy, struct ab_arena *arena, struct finding *f,
			char **ret_command, struct ab_error *err)
{
	struct ab_command command = { .policy = policy, .cwd = input->cwd, .script = h->script };
	ab_autofree char *rewritten = NULL;
	enum ab_memory memory = AB_MEMORY_NONE;
	enum ab_hook_verdict verdict;
	struct ab_judgement j;

	ab_consent_judge(arena, &command, &j);
	if (j.decision == AB_ESCALATED && find_memory(h, input, policy, &command, &memory, err) < 0)
		return -1;
	/* What the agent is asking about may be rewritten already. */
	if (h->event.command && h->dialect->rewrites && !h->request->no_box && !h->boxed &&
	    !h->event.permission && j.decision != AB_FORBIDDEN && !only_changes_folder(&j))
		rewritten = rewrite_command(h, j.decision == AB_ESCALATED);
	if (rewritten && check_utf8(rewritten, err) < 0)
		return -1;
	verdict = choose_verdict(h, &j, memory, rewritten != NULL);
	if (verdict == AB_HOOK_NOTHING)
		return 0;
	add_finding(f, verdict, explain_verdict(h, &j, verdict, memory));
	*ret_command = ab_take(rewritten);
	return 0;
}

static int answer_event(struct hook *h, const struct ab_policy_input *input,
			const struct ab_policy *policy, struct ab_arena *arena,
			struct ab_hook_reply *ret, struct ab_error *err)
{
	ab_autofree char *rewritten = NULL, *script = make_script(h);
	struct finding f = { 0 };
	struct ab_hook_answer a;
	int result = 0;

	h->script = script;
	if (script)
		result = judge_script(h, input, policy, arena, &f, &rewritten, err);
	if (result == 0)
		result = judge_files(h, input, policy, &f, err);
	judge_tool(h, policy, &f);
	if (result == 0) {
		a.verdict = rewritten && f.verdict == AB_HOOK_ALLOW ? f.verdict
								    : limit_verdict(h, f.verdict);
		a.command = a.verdict == AB_HOOK_DENY ? NULL : rewritten;
		a.reason = f.reason;
		write_answer(h, &a, ret);
	}
	free(f.reason);
	return result;
}

/* A relative path would start at the agent's folder, where a box may have put the file. */
static int check_variables(const struct ab_policy_input *input, struct ab_error *err)
{
	static const char *const names[] = { "AGENTBOX_CONFIG", "AGENTBOX_STATE" };

	for (size_t i = 0; i < AB_COUNT(names); i++) {
		const char *value = ab_environ_get(input->environ, names[i]);

		if (value && value[0] && value[0] != '/' && value[0] != '~')
			return ab_fail(err, AB_EUSAGE, 0,
				       "%s=%s: a hook needs an absolute path, because the agent "
				       "changes folders",
				       names[i], value);
	}
	return 0;
}

/* Uses the policy of the agent's current folder, with its project file. */
static int judge_in_folder(struct hook *h, struct ab_hook_reply *ret, struct ab_error *err)
{
	struct ab_policy_input input = h->request->policy;
	struct ab_arena arena = { 0 };
	ab_autofree char *cwd = NULL;
	struct ab_policy *policy;
	int result;

	if (check_variables(&input, err) < 0)
		return -1;
	input.judging = true;
	if (h->event.cwd[0]) {
		cwd = ab_path_resolve(h->event.cwd, input.cwd, input.home);
		if (!cwd || h->event.cwd[0] != '/')
			return ab_fail(err, AB_EUSAGE, 0,
				       "the event's folder \"%s\" is not an absolute path",
				       h->event.cwd);
		input.cwd = cwd;
	}
	if (ab_policy_load(&input, &policy, NULL, err) < 0)
		return -1;
	result = answer_event(h, &input, policy, &arena, ret, err);
	ab_arena_fini(&arena);
	ab_policy_free(policy);
	return result;
}

int ab_hook(const struct ab_hook_request *request, struct ab_hook_reply *ret, struct ab_error *err)
{
	struct hook h = { .request = request,
			  .dialect = ab_hook_find(request->agent),
			  .boxed = ab_furniture_boxed() };
	int result = 0;

	if (!h.dialect)
		return ab_hook_refuse_agent(request->agent, err);
	if (ab_hook_read(h.dialect, request->event, request->event_len, &h.event, err) < 0)
		return -1;
	*ret = (struct ab_hook_reply){ .out = ab_strdup(""), .say = ab_strdup("") };
	if (h.event.about)
		result = judge_in_folder(&h, ret, err);
	ab_hook_event_fini(&h.event);
	if (result < 0)
		ab_hook_reply_fini(ret);
	return result;
}

void ab_hook_reply_fini(struct ab_hook_reply *reply)
{
	ab_free_all(reply->out, reply->say);
	*reply = (struct ab_hook_reply){ 0 };
}
