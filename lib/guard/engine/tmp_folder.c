#include "guard/engine/tmp_folder.h"

#include "workspace/tree/remove_tree.h"

static const char *const places[] = { "/tmp", "/var/tmp", "/dev/shm" };

/* What the values of variables begin with in a box with folders of its own. */
static const char *const moved[] = { "/tmp", "/dev/shm/agentbox-home" };

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

void ab_tmp_folder_name(const char *folder, struct ab_strv *env)
{
	for (size_t i = 0; i < env->len; i++) {
		const char *value = strchr(env->v[i], '=');

		for (size_t k = 0; value && k < AB_COUNT(moved); k++) {
			size_t len = strlen(moved[k]);
			char *entry;

			if (strncmp(value + 1, moved[k], len) != 0 ||
			    (value[1 + len] && value[1 + len] != '/'))
				continue;
			entry = ab_printf("%.*s=%s%s", (int)(value - env->v[i]), env->v[i], folder,
					  value + 1 + len);
			free(env->v[i]);
			env->v[i] = entry;
			break;
		}
	}
}

void ab_tmp_folder_remove(const char *folder)
{
	ab_autofree char *parent = folder ? ab_path_parent(folder) : NULL;
	ab_autoclose int dir = parent ? ab_open_real(AT_FDCWD, parent, O_PATH, 0) : -1;

	if (dir >= 0)
		(void)ab_remove_tree(dir, ab_path_name(folder));
}
