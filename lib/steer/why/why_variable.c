/* Why a variable of the caller's environment does not enter the box. */
#include "policy/layers/environment.h"
#include "policy/layers/layers.h"
#include "policy/model/policy.h"
#include "policy/values/paths.h"
#include "steer/why/why.h"

/* What happens to it, as a clause after its name. */
static char *describe_variable(const struct ab_policy *policy, const char *name, const char *value,
			       bool *ret_whole)
{
	ab_autofree char *entry = ab_printf("%s=%s", name, value);
	char *const caller[] = { entry, NULL };
	struct ab_environment_report report = { 0 };
	ab_autostrv struct ab_strv env = { 0 };
	const char *got;
	char *text;

	ab_environment_build(policy, caller, &env, &report);
	got = ab_env_get(&env, name);
	*ret_whole = got && strcmp(got, value) == 0;
	if (*ret_whole)
		text = ab_strdup("is passed to the box");
	else if (report.cleaned.len)
		text = ab_strdup("is passed to the box without the user and password in its URL");
	else if (got)
		text = ab_strdup("has another value in the box");
	else if (!report.stripped.len)
		text = ab_strdup("is not passed to the box");
	else if (strcmp(report.stripped.v[0], name) == 0)
		text = ab_strdup("is not passed to the box: env.strip matches its name");
	else
		/* "NAME (looks like a private key)" */
		text = ab_printf("is not passed to the box: its value %.*s",
				 (int)strcspn(report.stripped.v[0] + strlen(name) + 2, ")"),
				 report.stripped.v[0] + strlen(name) + 2);
	ab_environment_report_fini(&report);
	return text;
}

int ab_why_variable(const struct ab_policy_input *input, const char *name, bool json, char **ret,
		    struct ab_error *err)
{
	const char *value = ab_environ_get(input->environ, name);
	ab_autostrv struct ab_strv notes = { 0 };
	ab_autofree char *text = NULL;
	ab_autopolicy struct ab_policy *policy = NULL;
	struct ab_buf b = { 0 };
	bool whole;

	if (ab_policy_load(input, &policy, &notes, err) < 0)
		return -1;
	text = describe_variable(policy, name, value, &whole);
	if (json) {
		ab_buf_jsonf(&b, "{'variable':%s,'reason':%s,'whole':%hhd}\n", name, text, whole);
	} else {
		ab_buf_printf(&b, "%s %s.\n", name, text);
		if (!whole)
			ab_buf_printf(&b,
				      "To pass it as it is: agentbox run --pass-env %s -- ...\n",
				      name);
	}
	*ret = ab_buf_take(&b);
	return 0;
}
