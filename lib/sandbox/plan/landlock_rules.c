#include "sandbox/plan/landlock_rules.h"

#include "landlock/landlock.h"
#include "sandbox/plan/engine.h"
#include "sandbox/plan/spec.h"

static void add_rule(struct ab_spec *spec, const char *path, uint32_t rights)
{
	*ab_append(spec->rules, spec->nrules) =
		(struct ab_path_rule){ .path = ab_strdup(path), .rights = rights };
}

/* In every box. Read-only mounts stay read-only: Landlock and the mounts must both
 * permit a write. */
static const struct {
	const char *path;
	uint32_t rights;
} always[] = {
	{ "/dev", AB_LL_READ | AB_LL_WRITE | AB_LL_DEVICE },
	{ AB_OWN_PROGRAM, AB_LL_READ | AB_LL_EXEC },
	{ "/dev/shm", AB_LL_ALL & ~AB_LL_DEVICE },
	{ "/proc", AB_LL_READ | AB_LL_WRITE },
};

/*
 * Without mounts the devices are those of the machine: only these. Reading is allowed by
 * sandbox/fence/carve.h, because there is no rule that takes a right away.
 */
static void add_rules_without_mounts(struct ab_spec *spec)
{
	for (size_t i = 0; i < AB_DEVICES; i++)
		add_rule(spec, ab_box_devices[i], AB_LL_READ | AB_LL_WRITE | AB_LL_DEVICE);
	for (size_t i = 0; i < spec->plan.len; i++)
		if (spec->plan.v[i].op == AB_MOUNT_WRITE)
			add_rule(spec, spec->plan.v[i].path, AB_LL_ALL & ~AB_LL_DEVICE);
}

static void add_rules_of_mounts(struct ab_spec *spec)
{
	for (size_t i = 0; i < AB_COUNT(always); i++)
		add_rule(spec, always[i].path, always[i].rights);
	if (!spec->hidden_root)
		add_rule(spec, "/", AB_LL_READ | AB_LL_EXEC);
	for (size_t i = 0; i < spec->plan.len; i++) {
		const struct ab_mount *m = &spec->plan.v[i];

		switch (m->op) {
		case AB_MOUNT_WRITE:
		case AB_MOUNT_LAYER:
			add_rule(spec, m->path, AB_LL_ALL & ~AB_LL_DEVICE);
			break;
		case AB_MOUNT_PRIVATE:
			/* The hidden root itself can be listed. */
			add_rule(spec, m->path,
				 m->path[1] ? AB_LL_ALL & ~AB_LL_DEVICE : 0u + AB_LL_READ);
			break;
		case AB_MOUNT_SHOW:
			/* Else "/" has these rights; and looking at it could wait for a dead server. */
			if (spec->hidden_root && m->as != AB_AS_LINK)
				add_rule(spec, m->path, AB_LL_READ | AB_LL_EXEC);
			break;
		case AB_MOUNT_PIN:
		case AB_MOUNT_CLOSE:
		case AB_MOUNT_MASK:
			break; /* the rules above them apply */
		}
	}
}

void ab_landlock_rules_make(struct ab_spec *spec, const struct ab_strv *sockets)
{
	if (spec->no_namespaces)
		add_rules_without_mounts(spec);
	else
		add_rules_of_mounts(spec);
	for (size_t i = 0; i < sockets->len; i++)
		add_rule(spec, sockets->v[i], AB_LL_READ | AB_LL_WRITE | AB_LL_SOCKET);
}
