#include "session/consent/consent.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/arena.h"
#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/path.h"
#include "policy/layers/layers.h"
#include "policy/model/policy.h"
#include "policy/show/show.h"
#include "session/ask/approver.h"
#include "session/ask/command_prompt.h"
#include "session/consent/request.h"
#include "session/secrets/secrets.h"
#include "shell/judge/point_at.h"

enum {
	LINE = 69,	  /* columns of a command in what is said about a refusal */
	SHOWN_MAX = 4096, /* of a command, in the lists */
};

struct consent {
	const struct ab_request *request;
	struct ab_command command;
	struct ab_session_key session;
	char key[65];
	struct ab_judgement judgement;
	char *rule;		  /* for people */
	const char *const *shown; /* the words, without values of secrets */
};

/* Sorted. Shells that read what our reader reads. */
static const char *const shells[] = { "ash", "bash", "dash", "ksh", "mksh", "sh", "zsh" };

/* On PATH and where systems have them. A file of that name elsewhere may be
 * anything: it is a command, with the text as an argument. */
static const char *const places[] = { "", "/bin/", "/usr/bin/", "/usr/local/bin/" };

static bool is_shell(const char *program)
{
	for (size_t i = 0; i < AB_COUNT(places); i++) {
		size_t len = strlen(places[i]);

		if (strncmp(program, places[i], len) != 0)
			continue;
		for (size_t k = 0; k < AB_COUNT(shells); k++)
			if (strcmp(program + len, shells[k]) == 0)
				return true;
	}
	return false;
}

static bool by_text(const struct ab_command *c)
{
	return c->script && (c->argc == 0 || is_shell(c->argv[0]));
}

void ab_consent_judge(struct ab_arena *arena, const struct ab_command *c, struct ab_judgement *ret)
{
	struct ab_scene scene = { .home = c->policy->home,
				  .cwd = c->cwd,
				  .workspace = c->policy->workspace,
				  .ruling = c->policy->commands.ruling };

	if (by_text(c))
		ab_judge_text(arena, &scene,
			      (struct ab_text){ c->script, (uint32_t)strlen(c->script) }, ret);
	else
		ab_judge_argv(arena, &scene, c->argv, c->argc, ret);
}

void ab_consent_key(const struct ab_command *c, char ret_key[65])
{
	char policy[65];

	ab_policy_digest(c->policy, policy);
	if (by_text(c))
		ab_approval_key("text", &c->script, 1, c->cwd, policy, ret_key);
	else
		ab_approval_key("argv", c->argv, c->argc, c->cwd, policy, ret_key);
}

__attribute__((format(printf, 3, 4))) static void say(const struct consent *c, enum ab_level level,
						      const char *fmt, ...)
{
	ab_autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = ab_vprintf(fmt, ap);
	va_end(ap);
	c->request->say(c->request->arg, level, text);
}

/* "Publishes commits." in the middle of a sentence: "publishes commits". */
static char *as_clause(const char *sentence)
{
	char *clause = ab_strdup(sentence);
	size_t len = strlen(clause);

	if (len > 1 && clause[len - 1] == '.')
		clause[len - 1] = '\0';
	if (isupper((unsigned char)clause[0]) && !isupper((unsigned char)clause[1]))
		clause[0] = (char)tolower((unsigned char)clause[0]);
	return clause;
}

/* `way_out`: lines behind the part that decided. */
static int refuse(const struct consent *c, const char *way_out, struct ab_error *err)
{
	const struct ab_judgement *j = &c->judgement;
	ab_autofree char *why = as_clause(j->reason);
	ab_autobuf struct ab_buf hint = { 0 };

	ab_point(&hint, j->text, j->range, "", LINE);
	ab_buf_puts(&hint, way_out ? way_out : "");
	ab_fail(err, AB_EREFUSED, 0, "refused: %s     rule %s", why, c->rule);
	return ab_hint(err, "%s", hint.data);
}

static void remember(const struct consent *c, enum ab_answer answer)
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
	if (ab_approvals_add(&c->request->policy, &c->session, &a, &err) < 0) {
		say(c, AB_SAY_WARNING, "the answer holds for this once, it cannot be kept: %s",
		    err.text);
		if (err.hint[0])
			say(c, AB_SAY_WARNING, "          %s", err.hint);
	}
	ab_approval_fini(&a);
}

static int ask_approver(const struct consent *c, struct ab_consent *ret, struct ab_error *err)
{
	const struct ab_request *rq = c->request;
	ab_autobuf struct ab_buf json = { 0 };
	ab_autofree char *way_out = NULL;
	struct ab_approver_reply reply;

	ab_approver_request(&json, &c->judgement, c->shown, c->command.argc, c->command.cwd,
			    c->session.name);
	ab_approver_ask(rq->approver, json.data, json.len,
			rq->approver_ms ? rq->approver_ms : AB_APPROVER_MS, &reply);
	if (reply.answer == AB_ANSWER_NO) {
		ab_autofree char *why = ab_escape(reply.why);

		way_out = ab_printf(reply.failed ? "the approver gave no "
						   "answer: %s"
				    : why[0]	 ? "the approver said no: %s"
						 : "the approver said no%s",
				    why);
		return refuse(c, way_out, err);
	}
	if (reply.answer != AB_ANSWER_ONCE)
		remember(c, reply.answer);
	ret->approved = "approver";
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
		return refuse(c,
			      "it needs a person's word, and there is no "
			      "terminal to ask on:\nrun it in one, or accept "
			      "it with: agentbox run --yes -- ...",
			      err);
	case AB_ASK_BACKGROUND:
		return refuse(c,
			      "it needs a person's word, and a command in "
			      "the background cannot ask:\nrun it in the "
			      "foreground, or accept it with: agentbox run "
			      "--yes -- ...",
			      err);
	case AB_ASKED:
		break;
	}
	if (said && answer != AB_ANSWER_ONCE)
		remember(c, answer);
	if (answer == AB_ANSWER_NO)
		return refuse(c,
			      said ? "you said no"
				   : "no answer was given, so it does not "
				     "run",
			      err);
	ret->approved = ab_answer_names[answer];
	return 0;
}

/* 1: that settles it. */
static int recall(const struct consent *c, struct ab_consent *ret, struct ab_error *err)
{
	ab_autofree char *way_out = NULL;
	struct ab_error unread = { 0 };
	enum ab_memory memory;
	char id[8];

	if (ab_approvals_find(&c->request->policy, &c->session, c->key, &memory, id, &unread) < 0) {
		say(c, AB_SAY_WARNING, "%s", unread.text);
		if (unread.hint[0])
			say(c, AB_SAY_WARNING, "          %s", unread.hint);
	}
	switch (memory) {
	case AB_MEMORY_NONE:
		return 0;
	case AB_MEMORY_DENIED:
		way_out = ab_printf("you said no to it in this session; to be "
				    "asked again: agentbox approvals revoke %s",
				    id);
		return refuse(c, way_out, err);
	case AB_MEMORY_SESSION:
	case AB_MEMORY_ALWAYS:
		break;
	}
	ret->approved = memory == AB_MEMORY_SESSION ? "session" : "always";
	return 1;
}

static int settle(struct consent *c, struct ab_consent *ret, struct ab_error *err)
{
	int known;

	ab_consent_key(&c->command, c->key);
	if (c->request->session)
		ab_session_of_agent(c->request->session, &c->session);
	else
		ab_session_of_caller(&c->session);
	known = recall(c, ret, err);
	if (known != 0)
		return known < 0 ? -1 : 0;
	if (c->request->yes) {
		ret->approved = "yes";
		return 0;
	}
	return c->request->approver ? ask_approver(c, ret, err) : ask_person(c, ret, err);
}

/* The outer run's box holds in any case, and who types --yes in here gets
 * no more by it than by not asking us at all. */
static int settle_inside(struct consent *c, struct ab_consent *ret, struct ab_error *err)
{
	if (c->request->yes) {
		ret->approved = "yes";
		return 0;
	}
	return refuse(c,
		      "it needs a person's word, and in a box nobody can be "
		      "asked",
		      err);
}

static int decide(struct consent *c, bool inside, struct ab_consent *ret, struct ab_error *err)
{
	switch (c->judgement.decision) {
	case AB_ALLOW:
	case AB_SANDBOXED:
		return 0;
	case AB_ESCALATED:
		return (inside ? settle_inside : settle)(c, ret, err);
	case AB_FORBIDDEN:
		break;
	}
	return refuse(c, c->judgement.instead, err);
}

static char *blank(struct ab_arena *arena, const struct ab_vault *vault, const char *text,
		   size_t len)
{
	char *copy = ab_arena_alloc(arena, len + 1);

	memcpy(copy, text, len);
	ab_vault_blank(vault, copy, len);
	return copy;
}

/* What is shown, asked about, refused or remembered has no value in it: by the
 * key it is the command as it is that is remembered. */
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
	text->s = blank(arena, vault, text->s, text->len);
	words = ab_arena_alloc(arena, (command->argc + 1) * sizeof(*words));
	for (size_t i = 0; i < command->argc; i++)
		words[i] = blank(arena, vault, command->argv[i], strlen(command->argv[i]));
	c->shown = words;
	ab_vault_free(vault);
}

static void tell(const struct consent *c, const struct ab_consent *got)
{
	if (c->request->verbose > 0)
		say(c, AB_SAY_DETAIL, "the command is %s%s%s%s%s", ab_decision_names[got->decision],
		    c->rule[0] ? ", rule " : "", c->rule, got->approved ? ", approved: " : "",
		    got->approved ? got->approved : "");
}

/* Judge it; the arena holds what the judgement points to. */
static void begin(struct consent *c, const struct ab_request *request,
		  const struct ab_policy *policy, struct ab_arena *arena, struct ab_consent *ret)
{
	*c = (struct consent){ .request = request,
			       .command = { .policy = policy,
					    .cwd = request->policy.cwd,
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

bool ab_consent_given(const struct ab_request *request, const struct ab_policy *policy,
		      struct ab_consent *ret)
{
	struct ab_arena arena = { 0 };
	struct consent c;
	bool given;

	begin(&c, request, policy, &arena, ret);
	given = ret->decision == AB_ALLOW || ret->decision == AB_SANDBOXED;
	if (given)
		tell(&c, ret);
	free(c.rule);
	ab_arena_fini(&arena);
	return given;
}

int ab_consent_get(const struct ab_request *request, const struct ab_policy *policy, bool inside,
		   struct ab_consent *ret, struct ab_error *err)
{
	struct ab_arena arena = { 0 };
	struct consent c;
	int result;

	begin(&c, request, policy, &arena, ret);
	blank_values(&c, &arena);
	result = decide(&c, inside, ret, err);
	if (result == 0)
		tell(&c, ret);
	free(c.rule);
	ab_arena_fini(&arena);
	return result;
}
