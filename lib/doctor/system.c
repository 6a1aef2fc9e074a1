#include <sys/resource.h>
#include <sys/wait.h>

#include "base/process/mount_table.h"
#include "consent/agent_hook.h"
#include "doctor/doctor.h"
#include "host/cgroup.h"
#include "policy/layers/layers.h"
#include "policy/values/paths.h"
#include "sandbox/mount/furniture.h"
#include "state/state.h"

/* Create a cgroup like that of a run, and remove it again. */
static bool can_use_cgroup(uint64_t memory, uint64_t processes)
{
	struct ab_cgroup cg;
	struct ab_error err = { 0 };
	char id[8];
	bool works;

	if (ab_run_pick_id(id, &err) < 0 || ab_cgroup_make(id, memory, processes, &cg, &err) < 0)
		return false;
	works = (!memory || cg.memory) && (!processes || cg.processes);
	if (cg.path)
		(void)ab_cgroup_remove(cg.path, id);
	ab_cgroup_fini(&cg);
	return works;
}

/* Suggest how to start a command in a cgroup with a limit on this machine. */
static void suggest_scope(struct ab_verdict *v, const char *property)
{
	ab_autofree char *manager = ab_printf("/run/user/%u/systemd/private", getuid());

	if (getuid() == 0 && access("/run/systemd/system", F_OK) == 0)
		ab_verdict_remedy(v, "with systemd:  systemd-run --scope -p %s agentbox run -- ...",
				  property);
	else if (access(manager, F_OK) == 0)
		ab_verdict_remedy(
			v, "with systemd:  systemd-run --user --scope -p %s agentbox run -- ...",
			property);
	else
		ab_verdict_remedy(
			v,
			"no systemd user session to delegate a cgroup; set the limit on the container instead");
}

/*
 * The kernel counts the processes of a user namespace, so with a limit of one
 * this process cannot fork. The host's root is not counted.
 */
void ab_check_processes(struct ab_verdict *v)
{
	struct rlimit one = { 1, 1 };
	pid_t pid;

	if (can_use_cgroup(0, 64)) {
		ab_verdict_set(v, AB_HEALTH_OK, "enforced for the whole box (own cgroup)");
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
		ab_verdict_set(v, AB_HEALTH_OK, "enforced");
		return;
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	ab_verdict_set(
		v, AB_HEALTH_WARN,
		getuid() == 0
			? "the kernel does not enforce it for root: a fork bomb in the box affects the whole machine"
			: "the kernel does not enforce it");
	suggest_scope(v, "TasksMax=512");
}

void ab_check_memory(struct ab_verdict *v)
{
	if (can_use_cgroup(1 << 30, 0)) {
		ab_verdict_set(v, AB_HEALTH_OK, "enforced for the whole box (own cgroup)");
		return;
	}
	ab_verdict_set(v, AB_HEALTH_WARN,
		       "no delegated cgroup: enforced per process; the sum is sampled");
	suggest_scope(v, "MemoryMax=4G");
}

void ab_check_state(struct ab_verdict *v)
{
	const struct ab_policy_input *in = v->in;
	ab_autofree char *path = ab_state_dir(in->environ, in->home, in->cwd);
	struct ab_error err = { 0 };
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;
	char id[8];

	if (!path) {
		ab_verdict_set(v, AB_HEALTH_FAIL,
			       "no home folder to keep records in\n"
			       "set HOME, or set AGENTBOX_STATE to a folder");
		return;
	}
	if (ab_state_open(path, &state, &err) < 0) {
		ab_verdict_set(v, AB_HEALTH_FAIL,
			       "%.300s\n"
			       "%.600s",
			       err.text, err.hint);
		return;
	}
	if (ab_run_pick_id(id, &err) < 0 || mkdirat(state.live, id, 0700) < 0 ||
	    unlinkat(state.live, id, AT_REMOVEDIR) < 0) {
		ab_verdict_set(v, AB_HEALTH_FAIL,
			       "cannot write to %.200s: %s\n"
			       "choose another folder with AGENTBOX_STATE",
			       path, strerror(errno));
	} else {
		ab_verdict_set(v, AB_HEALTH_OK, "%.200s, private to you", path);
	}
}

/* Which agents call our hook. It is not tested here: `hook status` does that. */
void ab_check_hooks(struct ab_verdict *v)
{
	const struct ab_policy_input *in = v->in;
	ab_autobuf struct ab_buf names = { 0 };
	enum ab_health health = AB_HEALTH_OK;
	struct ab_hook_states states;
	struct ab_error no = { 0 };

	if (!in->home || ab_hook_survey(in, NULL, false, &states, &no) < 0)
		return;
	for (size_t i = 0; i < states.len; i++) {
		const struct ab_hook_state *s = &states.v[i];

		if (!s->installed)
			continue;
		ab_buf_printf(&names, "%s%s%s", names.len ? ", " : "", s->agent,
			      s->project ? " (project)" : "");
		if (s->lacking.len) {
			health = AB_HEALTH_WARN;
			ab_verdict_remedy(v, "%s: %s", s->agent, s->lacking.v[0]);
		}
	}
	ab_hook_states_fini(&states);
	if (names.len)
		ab_verdict_set(v, health, "installed for %s; to test them: agentbox hook status",
			       names.data);
	else
		ab_verdict_set(v, AB_HEALTH_OK, "no agent has the hook of agentbox");
}

/* "; guarantees given up: ...", or "". */
static char *describe_given_up(const struct ab_policy_input *in)
{
	ab_autopolicy struct ab_policy *policy = NULL;
	struct ab_error err = { 0 };
	ab_autofree char *list = NULL;

	if (ab_policy_load(in, &policy, NULL, &err) < 0)
		return ab_strdup("");
	list = ab_policy_given_up(policy);
	return list[0] ? ab_printf("; guarantees given up: %s", list) : ab_strdup("");
}

void ab_check_config(struct ab_verdict *v)
{
	const struct ab_policy_input *in = v->in;
	ab_autofree char *given_up = NULL;
	struct ab_policy_paths paths;
	ab_autostrv struct ab_strv problems = { 0 };
	struct ab_error err = { 0 };
	size_t files = 0;

	if (ab_policy_paths(in, &paths, &err) < 0) {
		ab_verdict_set(v, AB_HEALTH_FAIL,
			       "%.300s\n"
			       "%.600s",
			       err.text, err.hint);
		return;
	}
	for (size_t i = 0; i < paths.len; i++) {
		/* "profiles" is a folder; a profile is checked where it is used. */
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
				  problems.len > 1 ? "agentbox config check shows all %zu problems"
						   : "agentbox config check",
				  problems.len);
		return;
	}
	given_up = describe_given_up(in);
	if (files == 0)
		ab_verdict_set(v, AB_HEALTH_OK, "no settings file, using built-in defaults%.300s",
			       given_up);
	else
		ab_verdict_set(v, AB_HEALTH_OK, "%zu file%s, valid%.300s", files,
			       files == 1 ? "" : "s", given_up);
}

void ab_check_identity(struct ab_verdict *v)
{
	if (getuid() != geteuid() || getgid() != getegid()) {
		ab_verdict_set(v, AB_HEALTH_FAIL,
			       "started set-user-id or set-group-id\n"
			       "agentbox needs no privileges; run chmod ug-s on its program file");
	} else if (getuid() == 0) {
		ab_verdict_set(
			v, AB_HEALTH_WARN,
			"root: the box can read everything, and files that it creates in the workspace belong to root\n"
			"run agentbox as an ordinary user; it does not need root");
	} else {
		ab_verdict_set(v, AB_HEALTH_OK, "uid %u, no privileges", getuid());
	}
}

/*
 * Files by which container engines can be recognized; and folders of theirs, because a root folder that
 * is read-only has an empty /run. Kubernetes uses one of the others below it.
 */
static const char *find_container(char *buf, size_t size)
{
	static const struct {
		const char *path, *folder, *name;
	} signs[] = {
		{ "/var/run/secrets/kubernetes.io", NULL, "Kubernetes" },
		{ "/.dockerenv", "/docker/containers/", "Docker" },
		{ "/run/.containerenv", "/userdata/hostname", "Podman" },
		{ "/dev/lxd/sock", NULL, "LXD" },
	};
	ab_auto(ab_mount_table_fini) struct ab_mount_table table = { 0 };
	const struct ab_mount_point *hostname;

	(void)ab_mount_table_read(&table);
	hostname = ab_find_row(table.v, table.n, path, "/etc/hostname");
	for (size_t i = 0; i < AB_COUNT(signs); i++)
		if (access(signs[i].path, F_OK) == 0 ||
		    (signs[i].folder && hostname && strstr(hostname->root, signs[i].folder)))
			return signs[i].name;
	/* systemd's convention, for engines without such a file. */
	return *ab_first_line("/run/systemd/container", buf, size) ? buf : NULL;
}

/* True inside a user namespace, where not all of the machine's users exist. */
static bool in_userns(void)
{
	char map[64];
	unsigned int inside = 1, outside = 1, count = 0;

	ab_first_line("/proc/self/uid_map", map, sizeof(map));
	return sscanf(map, "%u %u %u", &inside, &outside, &count) == 3 && count != 4294967295u;
}

void ab_check_surroundings(struct ab_verdict *v)
{
	char buf[64];
	const char *name = find_container(buf, sizeof(buf));

	if (ab_furniture_boxed())
		ab_verdict_set(v, AB_HEALTH_OK, "inside a box: a run here can only tighten it");
	else if (access("/run/WSL", F_OK) == 0)
		ab_verdict_set(v, AB_HEALTH_OK,
			       "inside WSL2: in a box, Windows programs start but reach nothing");
	else if (name)
		ab_verdict_set(v, AB_HEALTH_OK,
			       "inside a container (%.60s): the rows above show what it permits",
			       name);
	else if (in_userns())
		ab_verdict_set(v, AB_HEALTH_OK, "inside a user namespace of another program");
	else
		ab_verdict_set(v, AB_HEALTH_OK, "not inside a container");
}

char *ab_container_advice(enum ab_container_need need)
{
	const struct ab_container_remedy *r = &ab_container_remedies[need];
	const struct {
		const char *name, *words;
	} runtimes[] = {
		{ "Docker", r->docker },
		{ "Podman", r->podman },
		{ "Kubernetes", r->kubernetes },
	};
	char buf[64];
	const char *name = find_container(buf, sizeof(buf));
	struct ab_buf b = { 0 };

	if (need == AB_NEED_NOTHING)
		return NULL;
	ab_buf_printf(&b, "start the container %s:  ", r->does);
	for (size_t i = 0; name && i < AB_COUNT(runtimes); i++)
		if (strcmp(runtimes[i].name, name) == 0) {
			ab_buf_puts(&b, runtimes[i].words);
			return ab_buf_take(&b);
		}
	for (size_t i = 0; i < AB_COUNT(runtimes); i++)
		ab_buf_printf(&b, "%s%s: %s", i ? "; " : "", runtimes[i].name, runtimes[i].words);
	return ab_buf_take(&b);
}
