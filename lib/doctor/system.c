#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/system/fd.h"
#include "doctor/doctor.h"
#include "policy/layers/layers.h"
#include "policy/values/paths.h"
#include "sandbox/mount/furniture.h"
#include "session/host/cgroup.h"
#include "session/state/state.h"

/* A cgroup like that of a run, made and removed again. */
static bool cgroup_works(uint64_t memory, uint64_t processes)
{
	struct ab_cgroup cg;
	struct ab_error err = { 0 };
	char id[8];
	bool works;

	if (ab_run_pick_id(id, &err) < 0 || ab_cgroup_make(id, memory, processes, &cg, &err) < 0)
		return false;
	works = (!memory || cg.memory) && (!processes || cg.processes);
	if (cg.path)
		ab_cgroup_remove(cg.path, id);
	ab_cgroup_fini(&cg);
	return works;
}

/* How this machine starts a command in a cgroup with a limit. */
static void suggest_scope(struct ab_verdict *v, const char *property)
{
	ab_autofree char *manager = ab_printf("/run/user/%u/systemd/private", getuid());

	if (getuid() == 0 && access("/run/systemd/system", F_OK) == 0)
		ab_verdict_remedy(v,
				  "with systemd:  systemd-run --scope -p %s "
				  "agentbox run -- ...",
				  property);
	else if (access(manager, F_OK) == 0)
		ab_verdict_remedy(v,
				  "with systemd:  systemd-run --user "
				  "--scope -p %s agentbox run -- ...",
				  property);
	else
		ab_verdict_remedy(v, "no service manager here gives us a "
				     "cgroup; a container around agentbox can "
				     "have the limit");
}

/*
 * In a user namespace the kernel counts the processes in it, so with a limit
 * of one we are all there may be; but the host's root is not counted.
 */
void ab_check_processes(const struct ab_policy_input *in, struct ab_verdict *v)
{
	struct rlimit one = { 1, 1 };
	pid_t pid;

	(void)in;
	if (cgroup_works(0, 64)) {
		ab_verdict_set(v, AB_HEALTH_OK,
			       "held for the box as a whole (a cgroup of its "
			       "own)");
		return;
	}
	if (ab_userns_enter(0, v) < 0)
		return;
	if (setrlimit(RLIMIT_NPROC, &one) < 0) {
		ab_verdict_set(v, AB_HEALTH_FAIL, "set it: %s", strerror(errno));
		return;
	}
	pid = fork();
	if (pid == 0)
		_exit(0);
	if (pid < 0 && errno == EAGAIN) {
		ab_verdict_set(v, AB_HEALTH_OK, "held");
		return;
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	ab_verdict_set(v, AB_HEALTH_WARN,
		       getuid() == 0 ? "the kernel does not hold root to it: a fork "
				       "bomb in the box is one on the machine"
				     : "the kernel does not hold us to it");
	suggest_scope(v, "TasksMax=512");
}

void ab_check_memory(const struct ab_policy_input *in, struct ab_verdict *v)
{
	(void)in;
	if (cgroup_works(1 << 30, 0)) {
		ab_verdict_set(v, AB_HEALTH_OK,
			       "held for the box as a whole (a cgroup of its "
			       "own)");
		return;
	}
	ab_verdict_set(v, AB_HEALTH_WARN, "no delegated cgroup: per process only");
	suggest_scope(v, "MemoryMax=4G");
}

void ab_check_state(const struct ab_policy_input *in, struct ab_verdict *v)
{
	ab_autofree char *path = ab_state_dir(in->environ, in->home, in->cwd);
	struct ab_error err = { 0 };
	struct ab_state state;
	char id[8];

	if (!path) {
		ab_verdict_set(v, AB_HEALTH_FAIL,
			       "there is no home folder to "
			       "keep records in");
		ab_verdict_remedy(v, "set HOME, or AGENTBOX_STATE to a folder");
		return;
	}
	if (ab_state_open(path, &state, &err) < 0) {
		ab_verdict_set(v, AB_HEALTH_FAIL, "%.300s", err.text);
		ab_verdict_remedy(v, "%.600s", err.hint);
		return;
	}
	if (ab_run_pick_id(id, &err) < 0 || mkdirat(state.live, id, 0700) < 0 ||
	    unlinkat(state.live, id, AT_REMOVEDIR) < 0) {
		ab_verdict_set(v, AB_HEALTH_FAIL, "cannot write in %.200s: %s", path,
			       strerror(errno));
		ab_verdict_remedy(v, "choose another place with "
				     "AGENTBOX_STATE");
	} else {
		ab_verdict_set(v, AB_HEALTH_OK, "%.200s, ours alone", path);
	}
	ab_state_fini(&state);
}

void ab_check_config(const struct ab_policy_input *in, struct ab_verdict *v)
{
	struct ab_policy_paths paths;
	ab_autostrv struct ab_strv problems = { 0 };
	struct ab_error err = { 0 };
	size_t files = 0;

	if (ab_policy_paths(in, &paths, &err) < 0) {
		ab_verdict_set(v, AB_HEALTH_FAIL, "%.300s", err.text);
		ab_verdict_remedy(v, "%.600s", err.hint);
		return;
	}
	for (size_t i = 0; i < paths.len; i++) {
		/* That is a folder; a profile is judged where it is used. */
		if (!paths.v[i].exists || strcmp(paths.v[i].layer, "profiles") == 0)
			continue;
		files++;
		if (ab_policy_check_file(in, paths.v[i].path, &problems, &err) < 0)
			ab_strv_add(&problems, err.text);
	}
	ab_policy_paths_fini(&paths);
	if (problems.len) {
		ab_verdict_set(v, AB_HEALTH_FAIL, "%.300s", problems.v[0]);
		ab_verdict_remedy(v,
				  problems.len > 1 ? "agentbox config check shows all "
						     "%zu problems"
						   : "agentbox config check",
				  problems.len);
		return;
	}
	if (files == 0)
		ab_verdict_set(v, AB_HEALTH_OK, "no file: the built-in profiles as they are");
	else
		ab_verdict_set(v, AB_HEALTH_OK, "%zu file%s, valid", files, files == 1 ? "" : "s");
}

void ab_check_identity(const struct ab_policy_input *in, struct ab_verdict *v)
{
	(void)in;
	if (getuid() != geteuid() || getgid() != getegid()) {
		ab_verdict_set(v, AB_HEALTH_FAIL, "started set-user-id or set-group-id");
		ab_verdict_remedy(v, "agentbox needs no privilege: chmod "
				     "ug-s its file");
	} else if (getuid() == 0) {
		ab_verdict_set(v, AB_HEALTH_WARN,
			       "root: what the box may read is everything, and "
			       "files that it makes in the workspace belong to "
			       "root");
		ab_verdict_remedy(v, "run it as an ordinary user; nothing here "
				     "needs root");
	} else {
		ab_verdict_set(v, AB_HEALTH_OK, "uid %u, no privilege", getuid());
	}
}

/* Signs that container engines leave for whoever looks. */
static const char *container(char *buf, size_t size)
{
	static const struct {
		const char *path, *name;
	} signs[] = {
		{ "/.dockerenv", "Docker" },
		{ "/run/.containerenv", "Podman" },
		{ "/var/run/secrets/kubernetes.io", "Kubernetes" },
		{ "/dev/lxd/sock", "LXD" },
	};

	for (size_t i = 0; i < AB_COUNT(signs); i++)
		if (access(signs[i].path, F_OK) == 0)
			return signs[i].name;
	/* systemd's convention, for those that have no mark of their own. */
	return *ab_first_line("/run/systemd/container", buf, size) ? buf : NULL;
}

/* In a user namespace already: not all of the machine's users exist. */
static bool in_userns(void)
{
	char map[64];
	unsigned int inside = 1, outside = 1, count = 0;

	ab_first_line("/proc/self/uid_map", map, sizeof(map));
	return sscanf(map, "%u %u %u", &inside, &outside, &count) == 3 && count != 4294967295u;
}

void ab_check_surroundings(const struct ab_policy_input *in, struct ab_verdict *v)
{
	char buf[64];
	const char *name = container(buf, sizeof(buf));

	(void)in;
	if (access(AB_MARKER, F_OK) == 0)
		ab_verdict_set(v, AB_HEALTH_OK,
			       "inside an agentbox: a run here can only "
			       "tighten");
	else if (name)
		ab_verdict_set(v, AB_HEALTH_OK,
			       "inside a container (%.60s): the rows above say "
			       "what it lets us do",
			       name);
	else if (in_userns())
		ab_verdict_set(v, AB_HEALTH_OK,
			       "inside a user namespace that somebody else "
			       "made");
	else
		ab_verdict_set(v, AB_HEALTH_OK, "no container around us");
}
