#include "containers/host_engine.h"

#include "base/process/mount_table.h"
#include "policy/model/policy.h"
#include "policy/values/paths.h"
#include "sandbox/plan/plan.h"

static bool is_socket(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* The path of the engine's socket, or NULL and a note. */
static char *choose_socket(const struct ab_policy *policy, char *const *env, struct ab_strv *notes)
{
	static const char *const usual[] = { "$/docker.sock", "/run/docker.sock",
					     "$/podman/podman.sock", "/run/podman/podman.sock" };
	const char *host = ab_environ_get(env, "DOCKER_HOST"),
		   *runtime = ab_environ_get(env, "XDG_RUNTIME_DIR");

	if (strcmp(policy->docker.socket, "auto") != 0)
		return ab_strdup(policy->docker.socket);
	if (host && *host) {
		if (strncmp(host, "unix:///", 8) == 0)
			return ab_strdup(host + 7);
		ab_strv_add(notes,
			    "containers: DOCKER_HOST is not a Unix socket, so the box has no "
			    "container engine");
		return NULL;
	}
	for (size_t i = 0; i < AB_COUNT(usual); i++) {
		ab_autofree char *path = usual[i][0] != '$' ? ab_strdup(usual[i])
					 : runtime && runtime[0] == '/'
						 ? ab_printf("%s%s", runtime, usual[i] + 1)
						 : NULL;

		if (path && is_socket(path))
			return ab_take(path);
	}
	ab_strv_add(notes, "containers: no container engine was found; start one, or set "
			   "docker.socket or DOCKER_HOST");
	return NULL;
}

/* Nothing that a box can write may decide which engine is asked. */
static int check_socket(const struct ab_policy *policy, const char *path, struct ab_error *err)
{
	for (size_t i = 0; i < policy->fs.touched.len; i++) {
		ab_autofree char *root = realpath(policy->fs.touched.v[i], NULL);

		if (!root || !ab_path_within(path, root))
			continue;
		ab_fail(err, AB_ECONFIG, 0,
			"the container engine's socket %s is in %s, where a box can write", path,
			policy->fs.touched.v[i]);
		ab_hint(err, "use a socket outside, and set docker.socket to its path");
		return ab_step(err, "containers");
	}
	return 0;
}

/* Why a container cannot have the folder; NULL: it can, and *ret_real is its path. */
static const char *check_folder(const struct ab_policy *policy, const char *path,
				const struct ab_mount_table *table, char **ret_real,
				struct stat *ret_st)
{
	ab_autofree char *real = realpath(path, NULL), *top = realpath(policy->workspace, NULL);
	ab_autoclose int fd = -1;
	bool within;

	if (!real)
		return "it does not exist";
	if (!top || !ab_path_within(real, top))
		return "it is not in the workspace";
	/* What follows the workspace has no link in it. */
	within = ab_path_within(path, policy->workspace);
	if (strcmp(path + (within ? strlen(policy->workspace) : 0),
		   real + (within ? strlen(top) : 0)) != 0)
		return "there is a link in its path";
	fd = ab_open_real(AT_FDCWD, real, O_PATH | O_DIRECTORY, 0);
	if (fd < 0 || fstat(fd, ret_st) < 0)
		return "it is not a folder";
	if (!table->n)
		return "what is mounted in it cannot be read";
	if (ab_mount_table_has_below(table, real))
		return "another file system is mounted in it, and would be writable";
	*ret_real = ab_take(real);
	return NULL;
}

/* The box must not rename it, nor a folder above it. */
static void pin_folder(struct ab_facts *facts, const char *real)
{
	for (size_t i = 0; i < facts->write.len; i++)
		if (strcmp(facts->write.v[i].path, real) == 0)
			return;
	for (size_t i = 0; i < facts->write.len; i++)
		if (ab_path_within(real, facts->write.v[i].path)) {
			ab_objects_add(&facts->pinned, real, AB_AS_DIR);
			return;
		}
}

static void find_folders(const struct ab_policy *policy, bool layered, struct ab_facts *facts,
			 struct ab_host_engine *e, struct ab_strv *notes)
{
	const struct ab_strv *mounts = &policy->docker.mounts;
	ab_auto(ab_mount_table_fini) struct ab_mount_table table = { 0 };

	if (mounts->len)
		(void)ab_mount_table_read(&table);
	for (size_t i = 0; i < mounts->len; i++) {
		char *real = NULL;
		struct stat st;
		const char *why = check_folder(policy, mounts->v[i], &table, &real, &st);

		if (why) {
			ab_strv_add_safe(notes, "containers cannot have %s (docker.mounts): %s",
					 mounts->v[i], why);
			continue;
		}
		if (!layered)
			pin_folder(facts, real);
		*ab_append(e->mounts, e->nmounts) =
			(struct ab_mount_source){ .path = ab_strdup(mounts->v[i]),
						  .real = real,
						  .dev = st.st_dev,
						  .ino = st.st_ino };
	}
}

int ab_host_engine_find(const struct ab_policy *policy, char *const *env, bool layered,
			struct ab_facts *facts, struct ab_host_engine *e, struct ab_strv *notes,
			struct ab_error *err)
{
	ab_autofree char *path = NULL, *real = NULL;
	struct stat st;

	*e = (struct ab_host_engine){ 0 };
	if (!policy->docker.images.len)
		return 0;
	path = choose_socket(policy, env, notes);
	if (!path)
		return 0;
	real = realpath(path, NULL);
	if (!real || stat(real, &st) < 0 || !S_ISSOCK(st.st_mode)) {
		ab_strv_add_safe(notes,
				 "containers: %s is not a socket, so the box has no container "
				 "engine",
				 path);
		return 0;
	}
	if (check_socket(policy, real, err) < 0)
		return -1;
	/* In the containers of an engine that runs as the caller, the caller is root. */
	if (st.st_uid == geteuid())
		snprintf(e->user, sizeof(e->user), "0:0");
	else
		snprintf(e->user, sizeof(e->user), "%u:%u", geteuid(), getegid());
	find_folders(policy, layered, facts, e, notes);
	e->socket = ab_take(real);
	return 0;
}

static void drop_folder(struct ab_host_engine *e, size_t i)
{
	ab_free_all((char *)(uintptr_t)e->mounts[i].path, (char *)(uintptr_t)e->mounts[i].real);
	e->nmounts--;
	memmove(&e->mounts[i], &e->mounts[i + 1], (e->nmounts - i) * sizeof(e->mounts[0]));
}

void ab_host_engine_check(struct ab_host_engine *e, const struct ab_plan *plan,
			  struct ab_strv *notes)
{
	for (size_t i = e->nmounts; i-- > 0;) {
		const char *hidden = NULL;

		for (size_t k = 0; k < plan->len && !hidden; k++)
			if (plan->v[k].op == AB_MOUNT_MASK &&
			    (ab_path_within(plan->v[k].path, e->mounts[i].real) ||
			     ab_path_within(e->mounts[i].real, plan->v[k].path)))
				hidden = plan->v[k].path;
		if (hidden) {
			ab_strv_add_safe(notes,
					 "containers cannot have %s (docker.mounts): %s is hidden "
					 "from the box, and would not be from them",
					 e->mounts[i].path, hidden);
			drop_folder(e, i);
		}
	}
}

const char *ab_host_engine_moved(const struct ab_host_engine *e)
{
	for (size_t i = 0; i < e->nmounts; i++) {
		ab_autoclose int fd =
			ab_open_real(AT_FDCWD, e->mounts[i].real, O_PATH | O_DIRECTORY, 0);
		struct stat st;

		if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != e->mounts[i].dev ||
		    st.st_ino != e->mounts[i].ino)
			return e->mounts[i].path;
	}
	return NULL;
}

void ab_host_engine_variables(struct ab_strv *env)
{
	static const char *const others[] = { "DOCKER_CONTEXT", "DOCKER_TLS_VERIFY",
					      "DOCKER_CERT_PATH", "CONTAINER_HOST" };

	for (size_t i = 0; i < AB_COUNT(others); i++)
		ab_env_remove(env, others[i]);
	ab_env_set(env, "DOCKER_HOST", "unix://" AB_ENGINE_SOCKET);
	/* Its container would need the engine's own socket; the filter removes containers itself. */
	ab_env_set(env, "TESTCONTAINERS_RYUK_DISABLED", "true");
}

void ab_host_engine_fini(struct ab_host_engine *e)
{
	while (e->nmounts)
		drop_folder(e, e->nmounts - 1);
	ab_free_all(e->mounts, e->socket);
	*e = (struct ab_host_engine){ 0 };
}
