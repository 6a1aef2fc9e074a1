#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "policy/model/policy.h"
#include "sandbox/plan/plan.h"
#include "workspace/tree/host_path.h"
#include "session/secrets/secrets.h"

enum { FILE_MAX = 4 * 1024 * 1024 };

static bool is_masked(const struct ab_safe *safe, const char *path)
{
	for (size_t i = 0; i < safe->nfiles; i++)
		if (strcmp(safe->files[i].path, path) == 0)
			return true;
	return false;
}

/* `len` is its size when it was opened. Leaves no other copy behind. */
static int read_whole(int fd, const char *path, char **ret, size_t len, struct ab_error *err)
{
	char *data;

	if (len > FILE_MAX) {
		ab_fail(err, AB_EUSAGE, 0, "%s is too large to mask its secrets", path);
		return ab_hint(err, "hide it instead: --deny-read %s", path);
	}
	data = ab_alloc(len + 1);
	if (ab_read_full(fd, data, len) != (ssize_t)len) {
		explicit_bzero(data, len);
		free(data);
		return ab_fail(err, AB_ESYSTEM, 0, "cannot read all of %s", path);
	}
	*ret = data;
	return 0;
}

static void add_masked(struct ab_safe *safe, char *path, char *data, size_t len, uint32_t mode)
{
	safe->files = ab_realloc(safe->files, (safe->nfiles + 1) * sizeof(safe->files[0]));
	safe->files[safe->nfiles++] =
		(struct ab_safe_file){ .path = path, .data = data, .len = len, .mode = mode };
}

/* The box would read a FIFO's bytes unmasked. */
static int refuse_special_file(const char *declared, struct ab_error *err)
{
	ab_fail(err, AB_EUSAGE, 0, "%s is not a regular file, so its secrets cannot be masked",
		declared);
	ab_hint(err, "remove it from \"files\" and hide it: --deny-read %s", declared);
	return ab_step(err, "secrets");
}

static void note_hard_links(const char *path, const struct stat *st, struct ab_strv *ret_notes)
{
	if (st->st_nlink > 1)
		ab_strv_addf(ret_notes,
			     "%s has %ju hard links; the box sees the other names unmasked; "
			     "hide them with --deny-read",
			     path, (uintmax_t)st->st_nlink);
}

static int cover_file(struct ab_safe *safe, const char *declared, struct ab_strv *ret_notes,
		      struct ab_error *err)
{
	ab_autofree char *real = realpath(declared, NULL);
	ab_autoclose int fd = real ? ab_host_path_open(real) : -1;
	char *data = NULL, *covered;
	struct stat st;
	size_t len;

	/* The box has our identity: it cannot read what we cannot. */
	if (fd < 0 || fstat(fd, &st) < 0 || is_masked(safe, real))
		return 0;
	if (!S_ISREG(st.st_mode))
		return refuse_special_file(declared, err);
	note_hard_links(declared, &st, ret_notes);
	if (read_whole(fd, declared, &data, (size_t)st.st_size, err) < 0)
		return -1;
	covered = ab_vault_cover(safe->vault, data, (size_t)st.st_size, &len);
	explicit_bzero(data, (size_t)st.st_size);
	free(data);
	if (covered)
		add_masked(safe, ab_take(real), covered, len, st.st_mode & 0555);
	else
		ab_strv_addf(ret_notes,
			     "%s contains none of this run's secrets, so it is shown unchanged",
			     declared);
	return 0;
}

int ab_safe_read_files(struct ab_safe *safe, const struct ab_policy *policy,
		       struct ab_strv *ret_notes, struct ab_error *err)
{
	for (size_t i = 0; i < safe->sources.len; i++) {
		struct stat st;

		if (stat(safe->sources.v[i], &st) == 0)
			note_hard_links(safe->sources.v[i], &st, ret_notes);
	}
	for (size_t i = 0; i < policy->secrets.len; i++) {
		const struct ab_strv *files = &policy->secrets.v[i].files;

		for (size_t k = 0; k < files->len; k++)
			if (cover_file(safe, files->v[k], ret_notes, err) < 0)
				return -1;
	}
	ab_strv_extend(&safe->hidden, &safe->sources);
	for (size_t i = 0; i < safe->nfiles; i++)
		ab_strv_add_once(&safe->hidden, safe->files[i].path);
	return 0;
}

void ab_safe_guard(const struct ab_safe *safe, struct ab_facts *facts)
{
	for (size_t i = 0; i < safe->nfiles; i++)
		ab_objects_add(&facts->closed, safe->files[i].path, AB_AS_FILE);
	for (size_t i = 0; i < safe->sources.len; i++)
		if (!is_masked(safe, safe->sources.v[i]))
			ab_objects_add(&facts->masked, safe->sources.v[i], AB_AS_FILE);
}
