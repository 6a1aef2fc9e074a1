/* The files that the policy came from: which of them a box could have made,
 * and whether one has changed. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/path.h"
#include "policy/layers/layers.h"
#include "sandbox/plan/plan.h"
#include "session/broker/broker_state.h"

enum { PROFILES_MAX = 256 };

struct ab_broker_files {
	const struct ab_plan *plan;
	struct ab_policy_paths paths;
	struct ab_strv absent;
	bool settled;	/* which are absent is known */
	uint64_t stamp; /* as it was read last */
	uint64_t seen;	/* at the last look */
};

static bool is_writable(const struct ab_plan *plan, const char *folder)
{
	ab_autofree char *real = realpath(folder, NULL);
	const struct ab_mount *m = real ? ab_plan_find(plan, real) : NULL;

	return m && (m->op == AB_MOUNT_WRITE || m->op == AB_MOUNT_PIN);
}

/* Every folder above it, because the box may have made any of these, and links
 * too; the topmost that it can write is where nobody but the host has put it. */
static bool box_writes(const struct ab_plan *plan, const char *path)
{
	ab_autofree char *at = ab_path_parent(path);

	for (;;) {
		char *up;

		if (is_writable(plan, at))
			return true;
		if (strcmp(at, "/") == 0)
			return false;
		up = ab_path_parent(at);
		free(at);
		at = up;
	}
}

static uint64_t mix(uint64_t hash, const void *data, size_t len)
{
	const unsigned char *p = data;

	while (len--)
		hash = (hash ^ *p++) * 0x100000001b3; /* FNV-1a */
	return hash;
}

static const uint64_t nothing[5];

static uint64_t mix_file(uint64_t hash, const char *path)
{
	struct stat st;
	uint64_t facts[AB_COUNT(nothing)] = { 0 };

	if (stat(path, &st) == 0) {
		facts[0] = (uint64_t)st.st_ino;
		facts[1] = (uint64_t)st.st_dev;
		facts[2] = (uint64_t)st.st_size;
		facts[3] = (uint64_t)st.st_mtim.tv_sec;
		facts[4] = (uint64_t)st.st_mtim.tv_nsec;
	}
	return mix(hash, facts, sizeof(facts));
}

/* Whichever of them the profile builds on. */
static uint64_t mix_folder(uint64_t hash, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	hash = mix(hash, nothing, sizeof(nothing));
	for (int i = 0; dir && i < PROFILES_MAX && (e = readdir(dir)); i++) {
		ab_autofree char *file = NULL;

		if (e->d_name[0] == '.')
			continue;
		file = ab_path_join(path, e->d_name);
		hash = mix_file(mix(hash, file, strlen(file)), file);
	}
	if (dir)
		closedir(dir);
	return hash;
}

static uint64_t stamp_of(const struct ab_broker_files *f)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < f->paths.len; i++) {
		const struct ab_policy_path *p = &f->paths.v[i];

		if (ab_strv_has(&f->absent, p->path))
			hash = mix(hash, nothing, sizeof(nothing));
		else
			hash = strcmp(p->layer, "profiles") == 0 ? mix_folder(hash, p->path)
								 : mix_file(hash, p->path);
	}
	return hash;
}

struct ab_broker_files *ab_broker_files_new(const struct ab_broker_duty *duty)
{
	struct ab_broker_files *f = ab_alloc(sizeof(*f));
	struct ab_error err;

	if (ab_policy_paths(duty->input, &f->paths, &err) < 0) {
		free(f);
		return NULL;
	}
	f->plan = duty->plan;
	f->stamp = f->seen = stamp_of(f);
	return f;
}

/*
 * A file that is there is closed to the box, one that is not may be made by
 * it: a project file of its own, or the user's where all of the home folder is
 * writable. It would be moved away a moment later, but until then it must not
 * be taken for the user's word.
 */
static void settle(struct ab_broker_files *f)
{
	for (size_t i = 0; !f->settled && i < f->paths.len; i++) {
		const struct ab_policy_path *p = &f->paths.v[i];

		if (!p->exists && box_writes(f->plan, p->path))
			ab_strv_add(&f->absent, p->path);
	}
	f->settled = true;
}

void ab_broker_files_free(struct ab_broker_files *f)
{
	if (!f)
		return;
	ab_policy_paths_fini(&f->paths);
	ab_strv_fini(&f->absent);
	free(f);
}

bool ab_broker_files_look(struct ab_broker_files *f)
{
	uint64_t stamp;
	bool rests;

	settle(f);
	stamp = stamp_of(f);
	rests = stamp == f->seen;
	f->seen = stamp;
	if (!rests || stamp == f->stamp)
		return false;
	f->stamp = stamp;
	return true;
}

const struct ab_strv *ab_broker_files_absent(struct ab_broker_files *f)
{
	settle(f);
	return &f->absent;
}
