/*
 * What can be proved about an installed hook without its agent: that it stands in the
 * settings file that the agent reads, that its command starts this program, and that
 * it denies a command that must be denied. Whether the agent calls it, only the agent
 * knows; Codex records which hooks it may call.
 *
 * A project's settings are not trusted: of a command in them nothing is executed but
 * this program itself, with the words of that command, and without a shell.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/arena.h"
#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/system/path.h"
#include "session/consent/agent_hook.h"
#include "session/consent/hook_dialects.h"
#include "session/consent/hook_install.h"
#include "session/host/program.h"
#include "shell/judge/judge.h"

enum {
	TEST_MS = 20000, /* the hook itself gives up earlier */
	BLOCKED = 2,
};

static const char test_command[] = "rm -rf /";

/* Sets a member at a path of at most two names. */
static void set_member(json_t *root, const char *path, json_t *value)
{
	size_t len = strcspn(path, ".");
	json_t *inner;

	if (!path[len]) {
		json_object_set_new(root, path, value);
		return;
	}
	inner = json_object_getn(root, path, len);
	if (!inner) {
		inner = json_object();
		json_object_setn_new(root, path, len, inner);
	}
	json_object_set_new(inner, path + len + 1, value);
}

/* An event of this agent about the command. */
static char *make_test_event(const struct ab_hook_dialect *d, const char *cwd)
{
	const struct ab_hook_moment *m = &d->moments[0];
	const struct ab_hook_tool *t = d->tools;
	json_t *root = json_object();
	ab_autofree char *argument = NULL;
	char *text;

	while (t->subject != AB_HOOK_COMMAND)
		t++;
	if (m->name)
		set_member(root, d->event, json_string(m->name));
	if (t->tool)
		set_member(root, d->tool, json_string(t->tool));
	argument = ab_printf("%s%s%s", m->input ? m->input : "", m->input ? "." : "", t->argument);
	set_member(root, argument, json_string(test_command));
	set_member(root, d->cwd, json_string(cwd));
	text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	return text;
}

/* The words of a command that starts this program and nothing else; -1: it is another. */
static int read_words(const char *command, const char *own, struct ab_strv *ret)
{
	struct ab_scene scene = { .home = "/", .cwd = "/", .workspace = "/" };
	struct ab_arena arena = { 0 };
	const struct ab_judged *c;
	struct ab_judgement j;
	int result = -1;

	ab_judge_text(&arena, &scene, (struct ab_text){ command, (uint32_t)strlen(command) }, &j);
	c = j.ncommands == 1 ? j.commands : NULL;
	if (c && !c->via && c->argc > 1 && ab_field_is(&c->argv[0], own) &&
	    ab_field_is(&c->argv[1], "hook"))
		result = 0;
	for (size_t i = 0; result == 0 && i < c->argc; i++) {
		const struct ab_field *f = &c->argv[i];

		if (f->unknown || f->splits || f->pattern)
			result = -1;
		else
			ab_strv_give(ret, ab_strndup(f->text.s, f->text.len));
	}
	ab_arena_fini(&arena);
	return result;
}

static bool is_denial(const struct ab_hook_dialect *d, int status, const char *out)
{
	if (!d->write)
		return WIFEXITED(status) && WEXITSTATUS(status) == BLOCKED;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 && strstr(out, "\"deny\"");
}

static void test_hook(const struct ab_hook_dialect *d, const struct ab_policy_input *input,
		      const char *command, struct ab_hook_state *ret)
{
	ab_autofree char *own = realpath("/proc/self/exe", NULL);
	ab_autofree char *event = make_test_event(d, input->cwd);
	ab_autofree char *shown = ab_escape(command);
	ab_autostrv struct ab_strv words = { 0 };
	ab_autoclose int in = ab_memfd_sealed("event", event, strlen(event));
	char out[8192], errors[512];
	struct ab_program program = { .env = input->environ,
				      .in = in,
				      .ms = TEST_MS,
				      .out = out,
				      .room = sizeof(out) - 1,
				      .err = errors,
				      .err_room = sizeof(errors) - 1 };
	struct ab_ran ran;

	if (!own || in < 0 || lseek(in, 0, SEEK_SET) != 0 || read_words(command, own, &words) < 0) {
		ab_strv_addf(&ret->lacking,
			     "The settings call another program, which was not tested: %s", shown);
		return;
	}
	program.argv = (const char *const *)words.v;
	ab_program_run(&program, &ran);
	out[ran.out_len] = '\0';
	if (ran.how != AB_RAN_ENDED)
		ab_strv_addf(&ret->lacking, "The hook does not answer: %s", shown);
	else if (is_denial(d, ran.status, out))
		ab_strv_addf(&ret->proved, "Its command starts and denies a test event (%s).",
			     test_command);
	else
		ab_strv_addf(&ret->lacking, "The hook does not deny a test event (%s): %s",
			     test_command, shown);
}

/* Codex keeps the hooks that its user has trusted in config.toml:
 * [hooks.state."/home/u/.codex/hooks.json:pre_tool_use:0:0"]. */
static void find_trust(const struct ab_policy_input *input, struct ab_hook_state *ret)
{
	ab_autofree char *path = ab_path_join(input->home, ".codex/config.toml");
	ab_autofree char *key = ab_printf("\"%s:pre_tool_use:", ret->path);
	ab_autofree char *text = NULL;
	struct ab_error no = { 0 };
	const char *at = NULL, *end, *hash;

	if (ab_hook_read_settings(path, &text, &no) == 0)
		at = strstr(text, key);
	hash = at ? strstr(at, "trusted_hash") : NULL;
	end = at ? strstr(at, "\n[") : NULL;
	if (hash && (!end || hash < end))
		ab_strv_add(&ret->proved, "Codex has recorded that you trusted it (/hooks in codex "
					  "says whether it has changed since).");
	else
		ab_strv_add(&ret->lacking, "Codex does not call it before you have trusted it: "
					   "start codex, open /hooks and trust it.");
}

static void examine_hook(const struct ab_hook_dialect *d, const struct ab_policy_input *input,
			 const char *command, bool test, struct ab_hook_state *ret)
{
	ab_strv_add(&ret->proved, "It is in the settings that the agent reads.");
	if (test)
		test_hook(d, input, command, ret);
	if (strcmp(d->agent, "codex") == 0)
		find_trust(input, ret);
}

static void survey_place(const struct ab_hook_dialect *d, const struct ab_policy_input *input,
			 bool project, bool test, struct ab_hook_state *ret)
{
	ab_autofree char *command = NULL;
	struct ab_error err = { 0 };

	*ret = (struct ab_hook_state){
		.agent = d->agent,
		.title = d->title,
		.project = project,
		.path = project ? ab_path_join(input->cwd, d->project_settings)
				: ab_path_join(input->home, d->settings),
	};
	if (ab_hook_find_installed(d, ret->path, &command, &err) < 0) {
		ab_autofree char *why = ab_escape(err.text);

		ab_strv_addf(&ret->lacking, "The settings cannot be read: %s", why);
		return;
	}
	ret->installed = command != NULL;
	if (command)
		examine_hook(d, input, command, test, ret);
}

int ab_hook_survey(const struct ab_policy_input *input, const char *agent, bool test,
		   struct ab_hook_states *ret, struct ab_error *err)
{
	struct ab_hook_states states = { 0 };

	if (agent && !ab_hook_find(agent))
		return ab_hook_refuse_agent(agent, err);
	if (!input->home)
		return ab_fail(err, AB_EUSAGE, 0, "the home folder is unknown: set HOME");
	states.v = ab_alloc(2 * ab_hook_dialect_count * sizeof(*states.v));
	for (size_t i = 0; i < ab_hook_dialect_count; i++) {
		const struct ab_hook_dialect *d = &ab_hook_dialects[i];

		if (agent && ab_hook_find(agent) != d)
			continue;
		survey_place(d, input, false, test, &states.v[states.len++]);
		if (strcmp(input->cwd, input->home) != 0)
			survey_place(d, input, true, test, &states.v[states.len++]);
	}
	*ret = states;
	return 0;
}

void ab_hook_states_fini(struct ab_hook_states *states)
{
	for (size_t i = 0; i < states->len; i++) {
		free(states->v[i].path);
		ab_strv_fini(&states->v[i].proved);
		ab_strv_fini(&states->v[i].lacking);
	}
	free(states->v);
	*states = (struct ab_hook_states){ 0 };
}
