#include "policy/values/paths.h"

#include <pwd.h>

const char *ab_environ_get(char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; env && *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
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

char *ab_state_dir(char *const *env, const char *home, const char *cwd)
{
	const char *own = ab_environ_get(env, "AGENTBOX_STATE");

	if (own && own[0])
		return ab_path_resolve(own, cwd, home);
	return make_path(ab_environ_get(env, "XDG_STATE_HOME"), home, ".local/state");
}

char *ab_config_dir(char *const *env, const char *home)
{
	return make_path(ab_environ_get(env, "XDG_CONFIG_HOME"), home, ".config");
}

/* Only the file: the C library's other ways (NSS) load shared objects, which a static program must not
 * do. */
char *ab_account_home(uid_t uid)
{
	FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *account = NULL;
	char *home = NULL;

	while (file && !home && (account = fgetpwent(file)))
		if (account->pw_uid == uid && account->pw_dir[0] == '/')
			home = ab_strdup(account->pw_dir);
	if (file)
		fclose(file);
	return home;
}

static bool is_program(const char *file)
{
	struct stat st;

	return stat(file, &st) == 0 && S_ISREG(st.st_mode) && access(file, X_OK) == 0;
}

char *ab_program_find(const char *name, const char *path)
{
	if (strchr(name, '/'))
		return is_program(name) ? ab_strdup(name) : NULL;
	for (size_t n; path && *name; path += n + 1) {
		ab_autofree char *file = NULL;

		n = strcspn(path, ":");
		file = ab_printf("%.*s%s%s", (int)n, path, n ? "/" : "./", name);
		if (is_program(file))
			return ab_take(file);
		if (!path[n])
			break;
	}
	return NULL;
}
