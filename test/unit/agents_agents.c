#include "agents/agents.h"

#include <string.h>

#include "agents/hook_dialect.h"
#include "agents/provider.h"
#include "base/data/mem.h"
#include "base/text/words.h"
#include "tap.h"

static bool is_clean(const char *list)
{
	size_t n = list ? strlen(list) : 0;

	return !list || (n && list[0] != ' ' && list[n - 1] != ' ' && !strstr(list, "  "));
}

static void check_agent(const struct ab_agent *a)
{
	const char *lists[] = { a->program,
				a->obeys.closed,
				a->obeys.reported,
				a->obeys.open,
				a->obeys.like,
				a->credentials,
				a->more_credentials,
				a->share,
				a->closed,
				a->hosts,
				a->quiet,
				a->keys,
				a->set,
				a->unless,
				a->login.renewed,
				a->login.login,
				a->login.types };
	bool clean = true;

	for (size_t i = 0; i < AB_COUNT(lists); i++)
		clean &= is_clean(lists[i]);
	ok(clean, "%s: the words of lists are separated by one blank", a->name);
	ok(a->obeys.who[0] && (a->obeys.closed || a->obeys.reported), "obeys files");
	ok(!a->doc || (a->hosts && a->keys), "a profile has a service and a key");
	ok(!a->folder || a->program, "an agent that can be detected has a program");
	ok(!a->login.path || ab_word_listed(a->credentials, a->login.path, strlen(a->login.path)),
	   "other agents cannot read the login");
	ok(!a->login.path == !a->login.renewed, "a login has members that are renewed");
}

static void test_rows(void)
{
	for (size_t i = 0; ab_agents[i]; i++) {
		ok(i == 0 || strcmp(ab_agents[i - 1]->name, ab_agents[i]->name) < 0, "in order");
		check_agent(ab_agents[i]);
	}
}

static size_t count_words(const char *program, const char *const *argv, size_t argc)
{
	const char *const *words;

	return ab_agent_words(ab_agent_of_program(program), argv, argc, &words);
}

static void test_words(void)
{
	static const char *const plain[] = { "codex", "exec", "hi" };
	static const char *const own[] = { "codex", "--sandbox=read-only" };
	static const char *const quoted[] = { "codex", "--", "--sandbox" };
	const struct ab_agent *codex = ab_agent_of_program("/usr/bin/codex");

	ok(count_words("codex", plain, 3) == 2, "its own sandbox is switched off");
	ok(count_words("codex", own, 2) == 0, "unless its user chose one");
	ok(count_words("codex", quoted, 3) == 2, "which no prompt does");
	ok(count_words("gemini", plain, 3) == 0, "an agent without such words gets none");
	is_str(ab_agent_key(codex, plain, 3, "OPENAI_API_KEY"), "CODEX_API_KEY",
	       "a subcommand reads another key");
	ok(!ab_agent_key(codex, own, 2, "OPENAI_API_KEY"), "other commands read the usual one");
	ok(!ab_agent_of_program("cursor"), "an agent without a profile is not found");
	ok(ab_agent_takes_prompt("goose", 5) && !ab_agent_takes_prompt("goos", 4) &&
		   !ab_agent_takes_prompt("windsurf", 8),
	   "programs whose arguments are a prompt");
}

int main(void)
{
	test_rows();
	test_words();
	return done();
}
