/*
 * What can be proved about an installed hook without its agent: that it stands in the
 * settings file that the agent reads, that its command is the one that `hook install`
 * writes, and that this program denies a command that must be denied. Whether the
 * agent calls it, only the agent knows; Codex records which hooks it may call.
 *
 * Anybody may have written a project's settings, so nothing is started because of
 * them: their command is only compared with ours, and the event is judged in this
 * process, with the caller's policy and no other option.
 */
#include "consent/agent_hook.h"
#include "consent/hook_dialects.h"
#include "consent/hook_install.h"
#include "shell/judge/judge.h"
#include "shell/syntax/quote.h"

enum { BLOCKED = 2 };

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
	json_auto_t *root = json_object();
	ab_autofree char *argument = NULL;

	while (t->subject != AB_HOOK_COMMAND)
		t++;
	if (m->name)
		set_member(root, d->event, json_string(m->name));
	if (t->tool)
		set_member(root, d->tool, json_string(t->tool));
	argument = ab_printf("%s%s%s", m->input ? m->input : "", m->input ? "." : "", t->argument);
	set_member(root, argument, json_string(test_command));
	set_member(root, d->cwd, json_string(cwd));
	return json_dumps(root, JSON_COMPACT);
}

enum likeness {
	OTHER,	      /* not this hook, or not only */
	WITH_OPTIONS, /* "OWN hook AGENT OPTIONS..." */
	SAME,	      /* as `hook install` writes it */
};

/* One command of literal words, not several, nor one in another? */
static bool is_one_command(const char *text)
{
	struct ab_scene scene = { .home = "/", .cwd = "/", .workspace = "/" };
	struct ab_arena arena = { 0 };
	const struct ab_judged *c;
	struct ab_judgement j;
	bool good;

	ab_judge_text(&arena, &scene, (struct ab_text){ text, (uint32_t)strlen(text) }, &j);
	c = j.ncommands == 1 ? j.commands : NULL;
	good = c && !c->via;
	for (size_t i = 0; good && i < c->argc; i++)
		good = !c->argv[i].unknown && !c->argv[i].splits && !c->argv[i].pattern;
	ab_arena_fini(&arena);
	return good;
}

/* The beginning is compared as text: no assignment or redirection can stand in it. */
static enum likeness compare_text(const struct ab_hook_dialect *d, const char *command)
{
	const char *names[] = { d->agent, d->also };
	ab_autofree char *own = realpath("/proc/self/exe", NULL);
	ab_autobuf struct ab_buf quoted = { 0 };

	if (!own)
		return OTHER;
	ab_quote(&quoted, own);
	for (size_t i = 0; i < AB_COUNT(names) && names[i]; i++) {
		ab_autofree char *words = ab_printf("%s hook %s", quoted.data, names[i]);
		size_t len = strlen(words);

		if (strncmp(command, words, len) != 0)
			continue;
		if (!command[len])
			return SAME;
		if (command[len] == ' ' && is_one_command(command))
			return WITH_OPTIONS;
	}
	return OTHER;
}

/* False: it is not our hook. Options that a project chose could let anything pass, or
 * name a program to ask. */
static bool compare_command(const struct ab_hook_dialect *d, const char *command,
			    struct ab_hook_state *ret)
{
	ab_autofree char *shown = ab_escape(command);

	switch (compare_text(d, command)) {
	case OTHER:
		ab_strv_addf(&ret->lacking,
			     "The settings call another program, which was not tested: %s", shown);
		return false;
	case WITH_OPTIONS:
		if (ret->project)
			ab_strv_addf(
				&ret->lacking,
				"The project's settings choose options of the hook, which were "
				"not tested: %s",
				shown);
		else
			ab_strv_addf(&ret->proved,
				     "Its command starts this program, with options of yours that "
				     "were not tested: %s",
				     shown);
		break;
	case SAME:
		ab_strv_add(&ret->proved, "Its command is the one that hook install writes.");
		break;
	}
	return true;
}

static bool is_denial(const struct ab_hook_dialect *d, const struct ab_hook_reply *reply)
{
	return d->form != AB_HOOK_FORM_STATUS ? reply->status == 0 && strstr(reply->out, "\"deny\"")
					      : reply->status == BLOCKED;
}

/* As the hook without options would answer. */
static void judge_test_event(const struct ab_hook_dialect *d, const struct ab_policy_input *input,
			     struct ab_hook_state *ret)
{
	ab_autofree char *event = make_test_event(d, input->cwd);
	struct ab_hook_request request = { .policy = *input, .agent = d->agent, .event = event };
	struct ab_hook_reply reply;
	struct ab_error err = { 0 };

	request.event_len = event ? strlen(event) : 0;
	if (!event || ab_hook(&request, &reply, &err) < 0) {
		ab_autofree char *why = ab_escape(event ? err.text : "the folder is not UTF-8");

		ab_strv_addf(&ret->lacking, "A test event (%s) cannot be judged: %s", test_command,
			     why);
		return;
	}
	if (is_denial(d, &reply))
		ab_strv_addf(&ret->proved, "This program denies a test event (%s).", test_command);
	else
		ab_strv_addf(&ret->lacking, "With your settings, a test event is not denied (%s).",
			     test_command);
	ab_hook_reply_fini(&reply);
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

static void examine_hooks(const struct ab_hook_dialect *d, const struct ab_policy_input *input,
			  const struct ab_hook_found *found, bool test, struct ab_hook_state *ret)
{
	bool ours = true;

	if (ret->installed)
		ab_strv_add(&ret->proved, "It is in the settings that the agent reads.");
	for (size_t i = 0; i < found->missing.len; i++)
		ab_strv_addf(&ret->lacking,
			     "The agent does not call it for every %s event, or does not wait %d "
			     "seconds for the reply: hook install adds it.",
			     found->missing.v[i], AB_HOOK_DEADLINE_S);
	for (size_t i = 0; test && i < found->commands.len; i++)
		ours &= compare_command(d, found->commands.v[i], ret);
	if (test && ours)
		judge_test_event(d, input, ret);
	if (strcmp(d->agent, "codex") == 0)
		find_trust(input, ret);
}

static void survey_place(const struct ab_hook_dialect *d, const struct ab_policy_input *input,
			 bool project, bool test, struct ab_hook_state *ret)
{
	struct ab_hook_found found;
	struct ab_error err = { 0 };

	*ret = (struct ab_hook_state){
		.agent = d->agent,
		.title = d->title,
		.project = project,
		.path = project ? ab_path_join(input->cwd, d->project_settings)
				: ab_path_join(input->home, d->settings),
	};
	if (ab_hook_find_installed(d, ret->path, &found, &err) < 0) {
		ab_autofree char *why = ab_escape(err.text);

		ab_strv_addf(&ret->lacking, "The settings cannot be read: %s", why);
		return;
	}
	ret->partial = found.commands.len && found.missing.len;
	ret->installed = found.commands.len && !found.missing.len;
	if (found.commands.len)
		examine_hooks(d, input, &found, test, ret);
	ab_hook_found_fini(&found);
}

int ab_hook_survey(const struct ab_policy_input *input, const char *agent, bool test,
		   struct ab_hook_states *ret, struct ab_error *err)
{
	struct ab_hook_states states = { 0 };
	const struct ab_hook_dialect *d;

	if (agent && !ab_hook_find(agent))
		return ab_hook_refuse_agent(agent, err);
	if (!input->home)
		return ab_fail(err, AB_EUSAGE, 0, "the home folder is unknown: set HOME");
	for (size_t i = 0; (d = ab_hook_at(i)); i++) {
		if (agent && ab_hook_find(agent) != d)
			continue;
		survey_place(d, input, false, test, ab_append(states.v, states.len));
		if (strcmp(input->cwd, input->home) != 0)
			survey_place(d, input, true, test, ab_append(states.v, states.len));
	}
	*ret = states;
	return 0;
}

void ab_hook_states_fini(struct ab_hook_states *states)
{
	for (size_t i = 0; i < states->len; i++) {
		free(states->v[i].path);
		ab_strv_fini_all(&states->v[i].proved, &states->v[i].lacking);
	}
	free(states->v);
	*states = (struct ab_hook_states){ 0 };
}
