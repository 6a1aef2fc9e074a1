#include "hosttools/tool_box.h"

#include "policy/model/policy.h"
#include "sandbox/plan/spec.h"
#include "workspace/tree/host_path.h"

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
	for (size_t i = 0; i < policy->host_tools.len; i++)
		if (add_tool(policy, policy->host_tools.v[i], spec, notes, err) < 0)
			return ab_step(err, "tools");
	with = ab_printf("%s:%s", AB_TOOLS_FOLDER, path && *path ? path : "/usr/bin:/bin");
	if (spec->tools.len)
		ab_env_set(&spec->env, "PATH", with);
	return 0;
}
