/* The settings files of the policy: which of them a box could have created, and whether one has
 * changed. */
#include "base/data/hash.h"
#include "base/system/folder.h"
#include "broker/broker_state.h"
#include "policy/layers/layers.h"
#include "policy/model/policy.h"
#include "sandbox/plan/spec.h"

enum { PROFILES_MAX = 256 };

struct ab_settings_watch {
	const struct ab_plan *plan;
	struct ab_policy_paths paths;
	struct ab_strv absent;
	bool absent_known; /* `absent` is filled in */
	uint64_t stamp;	   /* of the last settings read */
	uint64_t seen;	   /* at the last check */
};

static bool is_writable(const struct ab_plan *plan, const char *folder)
{
	ab_autofree char *real = realpath(folder, NULL);
	const struct ab_mount *m = real ? ab_plan_find(plan, real) : NULL;

	return m && (m->op == AB_MOUNT_WRITE || m->op == AB_MOUNT_PIN);
}

/* Check every folder above it, because the box may have created any of them, and links too; only
 * the host can have created the topmost one that the box can write to. */
static bool box_can_create(const struct ab_plan *plan, const char *path)
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

static const uint64_t nothing[5];

static uint64_t hash_file(uint64_t hash, const char *path)
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
	return ab_hash(hash, facts, sizeof(facts));
}

/* All profiles: any of them may be the base of this one. */
static uint64_t hash_folder(uint64_t hash, const char *path)
{
	ab_autodir DIR *dir = opendir(path);
	const char *name;

	hash = ab_hash(hash, nothing, sizeof(nothing));
	for (int i = 0; i < PROFILES_MAX && (name = ab_folder_next(dir)); i++) {
		ab_autofree char *file = NULL;

		if (name[0] == '.')
			continue;
		file = ab_path_join(path, name);
		hash = hash_file(ab_hash(hash, file, strlen(file)), file);
	}
	return hash;
}

static uint64_t compute_stamp(const struct ab_settings_watch *f)
{
	uint64_t hash = AB_HASH_START;

	for (size_t i = 0; i < f->paths.len; i++) {
		const struct ab_policy_path *p = &f->paths.v[i];

		if (ab_strv_has(&f->absent, p->path))
			hash = ab_hash(hash, nothing, sizeof(nothing));
		else
			hash = strcmp(p->layer, "profiles") == 0 ? hash_folder(hash, p->path)
								 : hash_file(hash, p->path);
	}
	return hash;
}

struct ab_settings_watch *ab_settings_watch_new(const struct ab_broker_duty *duty)
{
	struct ab_settings_watch *f;
	struct ab_error err;

	if (duty->policy->net.mode != AB_NET_FILTERED)
		return NULL;
	f = ab_alloc(sizeof(*f));
	if (ab_policy_paths(duty->input, &f->paths, &err) < 0) {
		free(f);
		return NULL;
	}
	f->plan = &duty->spec->plan;
	f->stamp = f->seen = compute_stamp(f);
	return f;
}

/*
 * A settings file that exists is closed to the box, but the box may create a missing one: a project
 * file, or the user's where the whole home folder is writable. The broker moves it to quarantine a
 * moment later; until then it must not count as the user's.
 */
static void find_absent(struct ab_settings_watch *f)
{
	for (size_t i = 0; !f->absent_known && i < f->paths.len; i++) {
		const struct ab_policy_path *p = &f->paths.v[i];

		if (!p->exists && box_can_create(f->plan, p->path))
			ab_strv_add(&f->absent, p->path);
	}
	f->absent_known = true;
}

void ab_settings_watch_free(struct ab_settings_watch *f)
{
	if (!f)
		return;
	ab_policy_paths_fini(&f->paths);
	ab_strv_fini(&f->absent);
	free(f);
}

bool ab_settings_watch_look(struct ab_settings_watch *f)
{
	uint64_t stamp;
	bool stable;

	find_absent(f);
	stamp = compute_stamp(f);
	stable = stamp == f->seen;
	f->seen = stamp;
	if (!stable || stamp == f->stamp)
		return false;
	f->stamp = stamp;
	return true;
}

const struct ab_strv *ab_settings_watch_absent(struct ab_settings_watch *f)
{
	find_absent(f);
	return &f->absent;
}
