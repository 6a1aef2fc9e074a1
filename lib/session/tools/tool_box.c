#include "session/tools/tool_box.h"

#include <limits.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "policy/model/policy.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/spec.h"
#include "workspace/tree/host_path.h"

static bool is_visible(const struct ab_spec *spec, const char *path)
{
	const struct ab_mount *m = ab_plan_find(&spec->plan, path);

	if (!m)
		return !spec->hidden_root;
	return m->op != AB_MOUNT_PRIVATE && m->op != AB_MOUNT_MASK;
}

/* The commands of the box are our own binary. */
static int find_own_program(struct ab_spec *spec, struct ab_error *err)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0)
		return ab_fail(err, AB_ESYSTEM, 0, "tools: cannot find the agentbox program");
	path[n] = '\0';
	if (!is_visible(spec, path)) {
		ab_fail(err, AB_EUSAGE, 0,
			"the tools of the settings need the agentbox program in the box, and %s is "
			"not visible there",
			path);
		return ab_hint(err, "install it in /usr/local/bin, or show it with --read %s",
			       path);
	}
	spec->tools_program = ab_strdup(path);
	return 0;
}

static int add_tool(const struct ab_policy *policy, const struct ab_host_tool *tool,
		    struct ab_spec *spec, struct ab_strv *notes, struct ab_error *err)
{
	if (ab_host_path_is_open(&policy->fs.touched, tool->program)) {
		ab_fail(err, AB_EUSAGE, 0,
			"tools.%s would run %s on the host, which a box can write or could have "
			"created",
			tool->name, tool->program);
		return ab_hint(err, "use a program in a folder where no box can write");
	}
	if (access(tool->program, X_OK) == 0)
		ab_strv_add(&spec->tools, tool->name);
	else
		ab_strv_addf(notes,
			     "the box has no tool %s: %s does not exist, or is not executable",
			     tool->name, tool->program);
	return 0;
}

int ab_tool_box_fill(const struct ab_policy *policy, bool nested, bool layered,
		     struct ab_spec *spec, struct ab_strv *notes, struct ab_error *err)
{
	const char *path = ab_env_get(&spec->env, "PATH");
	ab_autofree char *with = NULL;

	if (!policy->host_tools.len)
		return 0;
	if (nested) {
		ab_strv_add(notes, "inside a box, the tools of the outer run remain");
		return 0;
	}
	if (!*policy->workspace) {
		ab_strv_add(notes, "the box has no tools of the host: there is no workspace");
		return 0;
	}
	if (layered) {
		ab_fail(err, AB_EUSAGE, 0,
			"the tools of the settings cannot be combined with a review: they would not "
			"see the changes of the box");
		return ab_hint(err, "run without --review, or with hostTools \"deny\"");
	}
	if (find_own_program(spec, err) < 0)
		return -1;
	for (size_t i = 0; i < policy->host_tools.len; i++)
		if (add_tool(policy, policy->host_tools.v[i], spec, notes, err) < 0)
			return ab_step(err, "tools");
	with = ab_printf("%s:%s", AB_TOOLS_FOLDER, path && *path ? path : "/usr/bin:/bin");
	if (spec->tools.len)
		ab_env_set(&spec->env, "PATH", with);
	return 0;
}
