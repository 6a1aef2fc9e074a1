#include "policy/values/paths.h"

#include <string.h>

#include "base/data/mem.h"
#include "base/system/path.h"

const char *ab_environ_get(char *const *environ, const char *name)
{
	size_t n = strlen(name);

	for (; environ && *environ; environ++)
		if (strncmp(*environ, name, n) == 0 && (*environ)[n] == '=')
			return *environ + n + 1;
	return NULL;
}

static char *make_path(const char *top, const char *home, const char *below)
{
	ab_autofree char *path = NULL;

	if (top && top[0] == '/')
		path = ab_printf("%s/agentbox", top);
	else if (home)
		path = ab_printf("%s/%s/agentbox", home, below);
	else
		return NULL;
	return ab_path_resolve(path, "/", NULL);
}

char *ab_state_dir(char *const *environ, const char *home, const char *cwd)
{
	const char *own = ab_environ_get(environ, "AGENTBOX_STATE");

	if (own && own[0])
		return ab_path_resolve(own, cwd, home);
	return make_path(ab_environ_get(environ, "XDG_STATE_HOME"), home, ".local/state");
}

char *ab_config_dir(char *const *environ, const char *home)
{
	return make_path(ab_environ_get(environ, "XDG_CONFIG_HOME"), home, ".config");
}
