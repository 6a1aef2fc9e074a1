#include "guard/engine/tmp_folder.h"

#include "host/ca_store.h"
#include "sandbox/plan/spec.h"
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

/* Variables whose value is the folder `from`, or in it, are pointed to the same place in `to`. */
static void move_variables(struct ab_strv *env, const char *from, const char *to)
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
	move_variables(env, "/tmp", folder);
	move_variables(env, "/dev/shm/agentbox-home", folder);
}

static const char head[] = AB_TRUSTED_DIR "/";

static int write_file(int dir, const char *name, const struct ab_file *f, struct ab_error *err)
{
	ab_autoclose int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);

	if (fd < 0 || ab_write_all(fd, f->data, f->len) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "write certificates to %s", name);
	return 0;
}

int ab_tmp_folder_certificates(const char *folder, struct ab_spec *spec, struct ab_error *err)
{
	ab_autofree char *path = ab_path_join(folder, "agentbox-certs");
	ab_autoclose int dir = -1;

	for (size_t i = 0; i < spec->nfiles; i++) {
		const struct ab_file *f = &spec->files[i];
		const char *name = f->path + sizeof(head) - 1;

		if (strncmp(f->path, head, sizeof(head) - 1) != 0)
			continue;
		if (dir < 0 && mkdir(path, 0755) == 0)
			dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (dir < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "create %s", path);
		if (write_file(dir, name, f->same ? &spec->files[f->same - 1] : f, err) < 0)
			return ab_wrap(err, "%s", path);
	}
	move_variables(&spec->env, AB_TRUSTED_DIR, path);
	return 0;
}

void ab_tmp_folder_remove(const char *folder)
{
	ab_autofree char *parent = folder ? ab_path_parent(folder) : NULL;
	ab_autoclose int dir = parent ? ab_open_real(AT_FDCWD, parent, O_PATH, 0) : -1;

	if (dir >= 0)
		(void)ab_remove_tree(dir, ab_path_name(folder));
}
