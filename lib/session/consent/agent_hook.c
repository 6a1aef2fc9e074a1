/*
 * The hook judges an agent's command as `run` does, before the agent's shell
 * runs it. A permitted command still has to run in a box, so it is rewritten
 * to `agentbox run`, unless the agent itself runs in a box. An agent whose
 * hooks cannot rewrite is better run in a box as a whole.
 *
 * Should: deny what it cannot read. Mustn't: allow a command that would then
 * run outside any box.
 */
#include "session/consent/agent_hook.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/data/arena.h"
#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/path.h"

#include "policy/model/policy.h"
#include "sandbox/mount/furniture.h"
#include "session/consent/consent.h"
#include "session/consent/hook_dialects.h"
#include "session/consent/request.h"
#include "session/state/approvals.h"
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
	bool boxed; /* we run in a box, and so does the agent */
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
	if (segment[0]) {
		ab_buf_puts(&b, "\n  ");
		ab_buf_escape(&b, segment);
		ab_buf_puts(&b, part.to < j->range.to ? "..." : "");
	}
	if (j->instead)
		ab_buf_printf(&b, "\n  Instead: %s", j->instead);
	if (memory == AB_MEMORY_DENIED)
		ab_buf_puts(&b, "\n  Approval was asked for, and the answer was no.");
	else if (verdict == AB_HOOK_DENY && j->decision == AB_ESCALATED)
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
	if (!confined && !only_changes_folder(j))
		return AB_HOOK_NOTHING;
	return d->allows ? AB_HOOK_ALLOW : AB_HOOK_NOTHING;
}

static void write_answer(const struct hook *h, const struct ab_hook_answer *answer,
			 struct ab_hook_reply *ret)
{
	json_t *out;

	if (answer->verdict == AB_HOOK_NOTHING)
		return;
	if (!h->dialect->write) {
		if (answer->verdict == AB_HOOK_DENY) {
			free(ret->say);
			ret->say = ab_strdup(answer->reason);
			ret->status = BLOCKED;
		}
		return;
	}
	out = json_object();
	h->dialect->write(&h->event, answer, out);
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

static void say_nothing(void *arg, enum ab_level level, const char *text)
{
	(void)arg;
	(void)level;
	(void)text;
}

/* Its answer is remembered for the agent's session if it says so. */
static enum ab_memory ask_approver(const struct hook *h, const struct ab_policy_input *input,
				   const struct ab_policy *policy)
{
	struct ab_request request = { .policy = *input,
				      .script = h->event.command,
				      .session = h->event.session,
				      .approver = h->request->approver,
				      .approver_ms = APPROVER_MS,
				      .say = say_nothing };
	struct ab_error no = { 0 };
	struct ab_consent got;

	return ab_consent_get(&request, policy, false, &got, &no) == 0 ? AB_MEMORY_SESSION
								       : AB_MEMORY_DENIED;
}

static int answer_event(const struct hook *h, const struct ab_policy_input *input,
			const struct ab_policy *policy, struct ab_arena *arena,
			struct ab_hook_reply *ret, struct ab_error *err)
{
	struct ab_command command = { .policy = policy,
				      .cwd = input->cwd,
				      .script = h->event.command };
	ab_autofree char *rewritten = NULL, *reason = NULL;
	enum ab_memory memory = AB_MEMORY_NONE;
	struct ab_hook_answer a = { 0 };
	struct ab_judgement j;

	ab_consent_judge(arena, &command, &j);
	if (j.decision == AB_ESCALATED && recall_answer(h, input, &command, &memory, err) < 0)
		return -1;
	if (j.decision == AB_ESCALATED && memory == AB_MEMORY_NONE && h->request->approver &&
	    !h->boxed)
		memory = ask_approver(h, input, policy);
	if (h->dialect->rewrites && !h->request->no_box && !h->boxed &&
	    j.decision != AB_FORBIDDEN && !only_changes_folder(&j))
		rewritten = rewrite_command(h, j.decision == AB_ESCALATED);
	if (rewritten && check_utf8(rewritten, err) < 0)
		return -1;
	a.verdict = choose_verdict(h, &j, memory, rewritten != NULL);
	a.command = a.verdict == AB_HOOK_DENY ? NULL : rewritten;
	a.reason = reason = explain_verdict(h, &j, a.verdict, memory);
	write_answer(h, &a, ret);
	return 0;
}

/* Uses the policy of the agent's current folder, with its project file. */
static int judge_in_folder(const struct hook *h, struct ab_hook_reply *ret, struct ab_error *err)
{
	struct ab_policy_input input = h->request->policy;
	struct ab_arena arena = { 0 };
	ab_autofree char *cwd = NULL;
	struct ab_policy *policy;
	int result;

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
			  .boxed = access(AB_MARKER, F_OK) == 0 };
	int result = 0;

	if (!h.dialect)
		return ab_hook_refuse_agent(request->agent, false, err);
	if (ab_hook_read(h.dialect, request->event, request->event_len, &h.event, err) < 0)
		return -1;
	*ret = (struct ab_hook_reply){ .out = ab_strdup(""), .say = ab_strdup("") };
	if (h.event.command)
		result = judge_in_folder(&h, ret, err);
	json_decref(h.event.root);
	if (result < 0)
		ab_hook_reply_fini(ret);
	return result;
}

void ab_hook_reply_fini(struct ab_hook_reply *reply)
{
	free(reply->out);
	free(reply->say);
	*reply = (struct ab_hook_reply){ 0 };
}
