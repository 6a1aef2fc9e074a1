#include "session/run/caller.h"

#include "agents/agents.h"
#include "policy/layers/layers.h"
#include "policy/model/keys.h"
#include "policy/values/paths.h"

int ab_caller_init(struct ab_policy_input *input, struct ab_error *err)
{
	const char *home = ab_environ_get(environ, "HOME");
	ab_autofree char *passwd = NULL;
	char cwd[PATH_MAX];

	if (!getcwd(cwd, sizeof(cwd))) {
		ab_fail(err, AB_EUSAGE, errno, "find the current folder");
		return ab_hint(err, "it may have been removed; cd to another folder");
	}
	if (!home || home[0] != '/')
		home = passwd = ab_account_home(getuid());
	input->environ = environ;
	input->cwd = ab_strdup(cwd);
	input->home = home ? ab_path_resolve(home, "/", NULL) : NULL;
	return 0;
}

static const char *fix_path(const struct ab_policy_input *input, const char *path)
{
	char *fixed = path ? ab_path_resolve(path, input->cwd, input->home) : NULL;

	return fixed ? fixed : path;
}

void ab_caller_fix_paths(struct ab_policy_input *input, struct ab_setting *settings)
{
	if (!input->config || input->config[0] != '{')
		input->config = fix_path(input, input->config);
	input->workspace = fix_path(input, input->workspace);
	for (size_t i = 0; i < input->nsettings; i++) {
		const struct ab_key *key = ab_key_find(settings[i].key, strlen(settings[i].key));
		const char *value = settings[i].value;
		bool back = key && key->type != AB_TYPE_PATHS && value && value[0] == '!';

		if (!key || !value || !ab_key_takes_path(key, value + back))
			continue;
		value = fix_path(input, value + back);
		settings[i].value = back ? ab_printf("!%s", value) : value;
	}
}

bool ab_caller_finds(const char *program)
{
	ab_autofree char *file = ab_program_find(program, ab_environ_get(environ, "PATH"));

	return file != NULL;
}

bool ab_caller_knows_agent(const char *name)
{
	return ab_agent_of_program(name) != NULL;
}

int ab_caller_check_paths(const struct ab_policy_input *in, struct ab_error *err)
{
	for (size_t i = 0; i < in->nsettings; i++) {
		const struct ab_setting *s = &in->settings[i];
		ab_autofree char *path = NULL, *safe = NULL;

		if (strcmp(s->key, "filesystem.write") != 0 || !s->value)
			continue;
		path = ab_path_resolve(s->value, in->cwd, in->home);
		if (!path || access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR))
			continue;
		safe = ab_escape(s->value);
		ab_fail(err, AB_EUSAGE, 0, "%s: %s does not exist", s->origin, safe);
		return ab_hint(err, "create it first, as a file or a folder");
	}
	return 0;
}

const char *ab_name_fd(int fd, char buf[32])
{
	static const char *const names[] = { "standard input", "standard output",
					     "standard error" };

	if (fd < 3)
		return names[fd];
	snprintf(buf, 32, "descriptor %d", fd);
	return buf;
}
