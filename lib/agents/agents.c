#include "agents/agents.h"

#include "agents/list.h"
#include "base/text/words.h"

#define AGENT(name) &ab_agent_##name,
const struct ab_agent *const ab_agents[] = { AB_AGENTS(AGENT) NULL };

const struct ab_agent *ab_agent_of_program(const char *program)
{
	const char *name = ab_path_name(program);

	for (size_t i = 0; ab_agents[i]; i++)
		if (ab_agents[i]->doc && strcmp(ab_agents[i]->name, name) == 0)
			return ab_agents[i];
	return NULL;
}

bool ab_agent_takes_prompt(const char *program, size_t len)
{
	for (size_t i = 0; ab_agents[i]; i++)
		if (ab_agents[i]->takes_prompt &&
		    ab_word_listed(ab_agents[i]->program, program, len))
			return true;
	return false;
}

/* "--sandbox", "--sandbox=x", "-sx"; "sandbox_mode=x" after "-c". */
static bool mentions(const char *word, const char *options)
{
	const char *option;

	for (size_t n; (option = ab_word_next(&options, &n));)
		if (strncmp(word, option, n) == 0)
			return true;
	return false;
}

size_t ab_agent_words(const struct ab_agent *agent, const char *const *argv, size_t argc,
		      const char *const **ret)
{
	size_t n = 0;

	*ret = agent->words;
	for (size_t i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (mentions(argv[i], agent->unless))
			return 0;
	while (n < AB_COUNT(agent->words) && agent->words[n])
		n++;
	return n;
}

const char *ab_agent_key(const struct ab_agent *agent, const char *const *argv, size_t argc,
			 const char *name)
{
	bool found = false;

	if (!agent->key.ignored || strcmp(agent->key.ignored, name) != 0)
		return NULL;
	for (size_t i = 1; i < argc; i++) {
		/* A model provider of the user's own may name it. */
		if (strstr(argv[i], name))
			return NULL;
		found |= ab_word_listed(agent->key.commands, argv[i], strlen(argv[i]));
	}
	return found ? agent->key.read : NULL;
}
