#include "guard/engine/tmp_folder.h"

#include "workspace/tree/remove_tree.h"

static const char *const places[] = { "/tmp", "/var/tmp", "/dev/shm" };

char *ab_tmp_folder_make(struct ab_error *err)
{
	for (size_t i = 0; i < AB_COUNT(places); i++) {
		ab_autofree char *real = realpath(places[i], NULL);
		ab_autofree char *path = real ? ab_path_join(real, "agentbox.XXXXXX") : NULL;

		if (path && mkdtemp(path))
			return ab_take(path);
	}
	ab_fail(err, AB_ESYSTEM, errno, "create a folder for temporary files in /tmp");
	ab_hint(err, "mount a tmpfs on /tmp (Docker, Podman: --tmpfs /tmp)");
	ab_step(err, "temporary files");
	return NULL;
}

void ab_move_variables(struct ab_strv *env, const char *from, const char *to)
{
	for (size_t i = 0; i < env->len; i++) {
		const char *value = strchr(env->v[i], '=');
		char *entry;

		if (!value || !ab_path_within(value + 1, from))
			continue;
		entry = ab_printf("%.*s=%s%s", (int)(value - env->v[i]), env->v[i], to,
				  value + 1 + strlen(from));
		free(env->v[i]);
		env->v[i] = entry;
	}
}

void ab_tmp_folder_name(const char *folder, struct ab_strv *env)
{
	/* First /tmp, where the folder may be. */
	ab_move_variables(env, "/tmp", folder);
	ab_move_variables(env, "/dev/shm/agentbox-home", folder);
}

void ab_tmp_folder_remove(const char *folder)
{
	ab_autofree char *parent = folder ? ab_path_parent(folder) : NULL;
	ab_autoclose int dir = parent ? ab_open_real(AT_FDCWD, parent, O_PATH, 0) : -1;

	if (dir >= 0)
		(void)ab_remove_tree(dir, ab_path_name(folder));
}
