#include "consent/consent.h"

#include "audit/read/words.h"
#include "base/text/words.h"
#include "shell/syntax/quote.h"
#include "policy/model/policy.h"
#include "policy/show/show.h"
#include "consent/ask/approver.h"
#include "consent/ask/command_prompt.h"
#include "consent/ask/controller.h"
#include "consent/closed_files.h"
#include "consent/request.h"
#include "host/host_command.h"
#include "secrets/secrets.h"
#include "shell/match/closed_paths.h"
#include "shell/judge/point_at.h"

enum {
	LINE = 69,	  /* columns of the command shown with a refusal */
	SHOWN_MAX = 4096, /* bytes of a command in `approvals list` */
};

struct consent {
	const struct ab_request *request;
	struct ab_command command;
	struct ab_session_key session;
	char key[65];
	struct ab_judgement judgement;
	char *rule;		  /* printable */
	const char *const *shown; /* argv without values of secrets */
};

/* Shells whose language our parser reads. */
static const char shells[] = "ash bash dash ksh mksh sh zsh";

/* On PATH and in the usual folders. A file of that name elsewhere may be
 * anything, so the text is judged as one of its arguments. */
static const char *const places[] = { "", "/bin/", "/usr/bin/", "/usr/local/bin/" };

static bool is_shell(const char *program)
{
	for (size_t i = 0; i < AB_COUNT(places); i++) {
		size_t len = strlen(places[i]);

		if (strncmp(program, places[i], len) == 0 &&
		    ab_word_listed(shells, program + len, strlen(program + len)))
			return true;
	}
	return false;
}

static bool judges_script(const struct ab_command *c)
{
	return c->script && (c->argc == 0 || is_shell(c->argv[0]));
}

void ab_consent_judge(struct ab_arena *arena, const struct ab_command *c, struct ab_judgement *ret)
{
	ab_consent_judge_by(arena, c, c->policy->commands.ruling, ret);
}

void ab_consent_judge_by(struct ab_arena *arena, const struct ab_command *c,
			 const struct ab_ruling *ruling, struct ab_judgement *ret)
{
	struct ab_closed closed;
	struct ab_scene scene = { .home = c->policy->home,
				  .cwd = c->cwd,
				  .workspace = c->policy->workspace,
				  .ruling = ruling,
				  .deny_write = &c->policy->fs.deny_write,
				  .closed = &closed };

	ab_closed_init(&closed, &c->policy->fs.deny_read, c->cwd);
	if (judges_script(c))
		ab_judge_text(arena, &scene,
			      (struct ab_text){ c->script, (uint32_t)strlen(c->script) }, ret);
	else
		ab_judge_argv(arena, &scene, c->argv, c->argc, ret);
}

void ab_consent_key(const struct ab_command *c, char ret_key[65])
{
	char policy[65];

	ab_policy_digest(c->policy, policy);
	if (judges_script(c))
		ab_approval_key("text", &c->script, 1, c->cwd, policy, ret_key);
	else
		ab_approval_key("argv", c->argv, c->argc, c->cwd, policy, ret_key);
}

void ab_request_say(const struct ab_request *request, enum ab_level level, const char *fmt, ...)
{
	ab_autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = ab_vprintf(fmt, ap);
	va_end(ap);
	request->say(request->arg, level, text);
}

void ab_say_nothing(void *arg, enum ab_level level, const char *text)
{
	(void)arg;
	(void)level;
	(void)text;
}

static void warn_of(const struct consent *c, const char *what, const struct ab_error *err)
{
	ab_request_say(c->request, AB_SAY_WARNING, "%s%s", what, err->text);
	if (err->hint[0])
		ab_request_say(c->request, AB_SAY_WARNING, "          %s", err->hint);
}

/* `remedy`: lines after the part that decided, or NULL. */
static int refuse_command(const struct consent *c, const char *remedy, struct ab_error *err)
{
	const struct ab_judgement *j = &c->judgement;
	ab_autobuf struct ab_buf why = { 0 }, hint = { 0 };

	ab_words_clause(&why, j->reason);
	ab_point(&hint, j->text, j->range, "", LINE);
	ab_buf_puts(&hint, remedy ? remedy : "");
	ab_fail(err, AB_EREFUSED, 0, "refused: %s     rule %s", why.data, c->rule);
	return ab_hint(err, "%s", hint.data);
}

static void remember_answer(const struct consent *c, enum ab_answer answer)
{
	ab_autobuf struct ab_buf shown = { 0 };
	struct ab_text text = c->judgement.text;
	struct ab_approval a = { .session = answer != AB_ANSWER_ALWAYS,
				 .deny = answer == AB_ANSWER_NO,
				 .cwd = ab_strdup(c->command.cwd),
				 .rule = ab_strdup(c->judgement.rule) };
	struct ab_error err = { 0 };

	if (text.len > SHOWN_MAX)
		text.len = SHOWN_MAX;
	ab_command_prompt_show(&shown, text);
	if (text.len < c->judgement.text.len)
		ab_buf_puts(&shown, "...");
	a.command = ab_buf_take(&shown);
	memcpy(a.key, c->key, sizeof(a.key));
	if (ab_approvals_add(&c->request->policy, &c->session, &a, &err) < 0)
		warn_of(c, "the answer applies only this once; it cannot be saved: ", &err);
	ab_approval_fini(&a);
}

/* A program answers: the approver, or the one that called us. */
static int ask_program(const struct consent *c, struct ab_consent *ret, struct ab_error *err)
{
	const struct ab_request *rq = c->request;
	unsigned wait_ms = rq->approver_ms ? rq->approver_ms : AB_APPROVER_MS;
	ab_autofree char *remedy = NULL, *why = NULL;
	ab_autobuf struct ab_buf json = { 0 };
	struct ab_approver_reply reply;

	if (rq->approver && ab_host_command_check("--approver", rq->approver, c->command.policy,
						  rq->policy.environ, err) < 0)
		return -1;
	ab_approver_request(&json, &c->judgement, c->shown, c->command.argc, c->command.cwd,
			    c->session.name);
	if (rq->approver)
		ab_approver_ask(rq->approver, &c->command.policy->fs.touched, json.data, json.len,
				wait_ms, &reply);
	else
		ab_controller_ask(rq->controller, json.data, json.len, wait_ms, &reply);
	if (reply.answer == AB_ANSWER_NO) {
		why = ab_escape(reply.why);
		remedy = ab_printf("the %s %s%s%s", rq->approver ? "approver" : "calling program",
				   reply.failed ? "gave no answer" : "answered no",
				   why[0] || (rq->approver && reply.failed) ? ": " : "", why);
		return refuse_command(c, remedy, err);
	}
	if (reply.answer != AB_ANSWER_ONCE)
		remember_answer(c, reply.answer);
	ret->approved = rq->approver ? "approver" : ab_answer_names[reply.answer];
	return 0;
}

static int ask_person(const struct consent *c, struct ab_consent *ret, struct ab_error *err)
{
	const struct ab_judgement *j = &c->judgement;
	struct ab_question question = { .text = j->text,
					.range = j->range,
					.reason = j->reason,
					.rule = c->rule,
					.cwd = c->command.cwd };
	enum ab_answer answer = AB_ANSWER_NO;
	bool said = false;

	switch (ab_command_prompt(&question, &answer, &said)) {
	case AB_ASK_NO_TERMINAL:
		return refuse_command(
			c,
			c->request->controller
				? "it needs approval, and the program that runs it does not answer "
				  "questions;\nset \"ask\" of the request and answer them, or \"yes\" "
				  "to approve it"
				: "it needs approval, and there is no terminal to ask on;\n"
				  "run it in a terminal, or approve it with: agentbox run --yes -- ...",
			err);
	case AB_ASK_BACKGROUND:
		return refuse_command(
			c,
			"it needs approval, and a command in the background cannot ask;\n"
			"run it in the foreground, or approve it with: agentbox run --yes "
			"-- ...",
			err);
	case AB_ASKED:
		break;
	}
	if (said && answer != AB_ANSWER_ONCE)
		remember_answer(c, answer);
	if (answer == AB_ANSWER_NO)
		return refuse_command(
			c, said ? "you answered no" : "no answer was given, which counts as no",
			err);
	ret->approved = ab_answer_names[answer];
	return 0;
}

/* 1: a remembered answer approves it; 0: there is none. */
static int apply_remembered(const struct consent *c, struct ab_consent *ret, struct ab_error *err)
{
	ab_autofree char *remedy = NULL;
	struct ab_error unread = { 0 };
	enum ab_memory memory;
	char id[8];

	if (ab_approvals_find(&c->request->policy, &c->session, c->key, &memory, id, &unread) < 0)
		warn_of(c, "", &unread);
	switch (memory) {
	case AB_MEMORY_NONE:
		return 0;
	case AB_MEMORY_DENIED:
		remedy = ab_printf("you answered no in this session; to be asked again: "
				   "agentbox approvals revoke %s",
				   id);
		return refuse_command(c, remedy, err);
	case AB_MEMORY_SESSION:
	case AB_MEMORY_ALWAYS:
		break;
	}
	ret->approved = memory == AB_MEMORY_SESSION ? "session" : "always";
	return 1;
}

/* Of the caller, or the agent that it runs for. */
static int recall_approval(struct consent *c, struct ab_consent *ret, struct ab_error *err)
{
	if (!c->key[0])
		ab_consent_key(&c->command, c->key);
	if (c->request->session)
		ab_session_of_agent(c->request->session, &c->session);
	else
		ab_session_of_caller(&c->session);
	return apply_remembered(c, ret, err);
}

/* Inside a box, the outer box confines the command in any case; --yes gives it nothing that running
 * it without agentbox would not. */
static int get_approval(struct consent *c, bool inside, struct ab_consent *ret,
			struct ab_error *err)
{
	int known = inside ? 0 : recall_approval(c, ret, err);

	if (known != 0)
		return known < 0 ? -1 : 0;
	if (c->request->yes) {
		ret->approved = "yes";
		return 0;
	}
	if (inside)
		return refuse_command(
			c, "it needs approval, and nobody can be asked from inside a box", err);
	return c->request->approver || c->request->controller_asks ? ask_program(c, ret, err)
								   : ask_person(c, ret, err);
}

static int act_on_verdict(struct consent *c, bool inside, struct ab_consent *ret,
			  struct ab_error *err)
{
	switch (c->judgement.decision) {
	case AB_ALLOW:
	case AB_SANDBOXED:
		return 0;
	case AB_ESCALATED:
		return get_approval(c, inside, ret, err);
	case AB_FORBIDDEN:
		break;
	}
	return refuse_command(c, c->judgement.instead, err);
}

static char *copy_blanked(struct ab_arena *arena, const struct ab_vault *vault, const char *text,
			  size_t len)
{
	char *copy = ab_arena_alloc(arena, len + 1);

	memcpy(copy, text, len);
	ab_vault_blank(vault, copy, len);
	return copy;
}

/* No prompt, refusal or list shows a secret's value. The key under which the
 * answer is remembered is of the real command. */
static void blank_values(struct consent *c, struct ab_arena *arena)
{
	struct ab_command *command = &c->command;
	struct ab_text *text = &c->judgement.text;
	struct ab_vault *vault;
	const char **words;

	c->shown = command->argv;
	if (c->judgement.decision < AB_ESCALATED)
		return;
	vault = ab_safe_peek(command->policy, &c->request->policy);
	if (!vault)
		return;
	text->s = copy_blanked(arena, vault, text->s, text->len);
	words = ab_arena_alloc(arena, (command->argc + 1) * sizeof(*words));
	for (size_t i = 0; i < command->argc; i++)
		words[i] = copy_blanked(arena, vault, command->argv[i], strlen(command->argv[i]));
	c->shown = words;
	ab_vault_free(vault);
}

static void report_verdict(const struct consent *c, const struct ab_consent *got)
{
	if (c->request->verbose > 0)
		ab_request_say(c->request, AB_SAY_DETAIL, "verdict: %s%s%s%s%s%s",
			       ab_decision_names[got->decision], c->rule[0] ? " (rule " : "",
			       c->rule, c->rule[0] ? ")" : "", got->approved ? ", approved: " : "",
			       got->approved ? got->approved : "");
}

/* The arena holds what the judgement points to. */
static void judge_request(struct consent *c, const struct ab_request *request,
			  const struct ab_policy *policy, struct ab_arena *arena,
			  struct ab_consent *ret)
{
	*c = (struct consent){ .request = request,
			       .command = { .policy = policy,
					    .cwd = ab_request_start(request),
					    .argv = request->argv,
					    .argc = request->argc,
					    .script = request->script } };
	ab_consent_judge(arena, &c->command, &c->judgement);
	*ret = (struct ab_consent){ .decision = c->judgement.decision,
				    .rule = c->judgement.rule,
				    .user_rule = c->judgement.user_rule };
	snprintf(ret->reason, sizeof(ret->reason), "%s", c->judgement.reason);
	c->rule = ab_command_prompt_rule(&c->judgement);
}

/* Frees the rule. */
static int settle(struct consent *c, bool inside, struct ab_consent *ret, struct ab_error *err)
{
	int result = act_on_verdict(c, inside, ret, err);

	if (result == 0)
		report_verdict(c, ret);
	free(c->rule);
	return result;
}

bool ab_consent_given(const struct ab_request *request, const struct ab_policy *policy,
		      struct ab_consent *ret)
{
	struct ab_arena arena = { 0 };
	struct consent c;
	bool given;

	judge_request(&c, request, policy, &arena, ret);
	given = ret->decision == AB_ALLOW || ret->decision == AB_SANDBOXED;
	if (given)
		report_verdict(&c, ret);
	free(c.rule);
	ab_arena_fini(&arena);
	return given;
}

/* Say how to show the files that the box hides from the command. */
static void explain_hidden(const struct consent *c, const struct ab_strv *paths)
{
	ab_autobuf struct ab_buf options = { 0 };

	for (size_t i = 0; i < paths->len; i++) {
		ab_buf_puts(&options, " --read ");
		ab_quote(&options, paths->v[i]);
	}
	ab_request_say(c->request, AB_SAY_NOTE,
		       "%s %s hidden in the box; to show %s in one run: agentbox run%s -- ...",
		       paths->v[0], paths->len == 1 ? "is" : "and others are",
		       paths->len == 1 ? "it" : "them", options.data);
}

/* Would a yes change nothing, because the box hides what the command reads? Then none is needed. */
static void waive_approval(struct consent *c, struct ab_arena *arena, struct ab_consent *ret)
{
	ab_autostrv struct ab_strv paths = { 0 };

	if (!ab_closed_files(arena, &c->command, &c->judgement, &paths))
		return;
	c->judgement.decision = ret->decision = AB_SANDBOXED;
	ret->rule = "";
	explain_hidden(c, &paths);
}

int ab_consent_get(const struct ab_request *request, const struct ab_policy *policy, bool inside,
		   struct ab_consent *ret, struct ab_error *err)
{
	struct ab_arena arena = { 0 };
	struct consent c;
	int result;

	judge_request(&c, request, policy, &arena, ret);
	blank_values(&c, &arena);
	if (!inside && !request->unboxed)
		waive_approval(&c, &arena, ret);
	result = settle(&c, inside, ret, err);
	ab_arena_fini(&arena);
	return result;
}

int ab_consent_act(const struct ab_request *request, const struct ab_judgement *judgement,
		   const char key[65], struct ab_consent *ret, struct ab_error *err)
{
	struct consent c = { .request = request,
			     .command = { .cwd = ab_request_start(request) },
			     .judgement = *judgement };

	memcpy(c.key, key, sizeof(c.key));
	*ret = (struct ab_consent){ .decision = judgement->decision };
	c.rule = ab_command_prompt_rule(judgement);
	return settle(&c, false, ret, err);
}
