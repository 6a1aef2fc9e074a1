#include "guard/engine/cert_files.h"

#include "guard/engine/tmp_folder.h"
#include "host/ca_store.h"
#include "sandbox/plan/spec.h"

static const char head[] = AB_TRUSTED_DIR "/";

static int write_file(int dir, const char *name, const struct ab_file *f, struct ab_error *err)
{
	ab_autoclose int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);

	if (fd < 0 || ab_write_all(fd, f->data, f->len) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "write certificates to %s", name);
	return 0;
}

int ab_cert_files_write(const char *folder, struct ab_spec *spec, struct ab_error *err)
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
	ab_move_variables(&spec->env, AB_TRUSTED_DIR, path);
	return 0;
}
