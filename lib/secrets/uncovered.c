#include "secrets/uncovered.h"

#include "policy/layers/environment.h"
#include "policy/model/policy.h"
#include "policy/values/providers.h"
#include "policy/values/secret_text.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/spec.h"
#include "workspace/tree/glob.h"

/* Tells which of the host's files the box can see. */
struct sight {
	const struct ab_policy *policy;
	const struct ab_spec *spec; /* if NULL: */
	struct ab_guard *denied;
	size_t ndenied;
};

static bool is_seen(const struct sight *s, const char *path)
{
	ab_autofree char *real = realpath(path, NULL);

	if (!real || access(real, R_OK) < 0)
		return false;
	if (s->spec)
		return !ab_spec_has_file(s->spec, real) &&
		       ab_plan_shows(&s->spec->plan, s->spec->hidden_root, real);
	if (ab_guards_cover(s->denied, s->ndenied, real))
		return false;
	return s->policy->fs.home != AB_HOME_PRIVATE || !ab_path_within(path, s->policy->home);
}

/* Does the variable name a key file that we replace with one that is worth nothing outside? */
static bool is_account(const struct ab_policy *policy, const char *name, const char *value)
{
	for (size_t i = 0; i < policy->secrets.len; i++) {
		const struct ab_secret *s = &policy->secrets.v[i];

		if (s->oauth && s->oauth->grant == AB_OAUTH_ACCOUNT &&
		    strcmp(name, "GOOGLE_APPLICATION_CREDENTIALS") == 0 &&
		    strcmp(value, s->file) == 0)
			return true;
	}
	return false;
}

/* Patterns for secrets begin with a star; the others name the host's sockets
 * and agents. */
static bool looks_secret(const struct ab_policy *policy, const char *name, const char *value)
{
	if (ab_secret_text(value))
		return true;
	for (size_t i = 0; i < policy->env.strip.len; i++) {
		const char *pattern = policy->env.strip.v[i];

		if (pattern[0] == '*' && ab_name_matches(pattern, name, true))
			return true;
	}
	return false;
}

static void note_exposed(const struct ab_uncovered *u, struct ab_strv *ret)
{
	if (u->remedy)
		ab_strv_addf(ret, "%s is passed to the box: %s; %s", u->variable, u->what,
			     u->remedy);
	else
		ab_strv_addf(ret,
			     "%s is passed to the box and cannot be replaced by a placeholder: %s",
			     u->variable, u->what);
}

static void note_variable(const struct ab_policy *policy, const struct ab_strv *env,
			  const struct ab_uncovered *u, struct ab_strv *ret)
{
	const char *value = u->variable ? ab_env_get(env, u->variable) : NULL;

	if (value && *value && !ab_secrets_export(&policy->secrets, u->variable) &&
	    !is_account(policy, u->variable, value))
		note_exposed(u, ret);
}

void ab_uncovered_variables(const struct ab_policy *policy, const struct ab_strv *env,
			    struct ab_strv *ret)
{
	for (size_t i = 0; i < ab_nuncovered; i++)
		if (ab_uncovered[i].signs)
			note_variable(policy, env, &ab_uncovered[i], ret);
}

static void find_known(const struct sight *sight, const struct ab_strv *env, struct ab_strv *ret)
{
	for (size_t i = 0; i < ab_nuncovered; i++) {
		const struct ab_uncovered *u = &ab_uncovered[i];
		ab_autofree char *path = NULL;

		note_variable(sight->policy, env, u, ret);
		if (u->file)
			path = ab_path_resolve(u->file, "/", sight->policy->home);
		if (path && is_seen(sight, path))
			ab_strv_addf(ret,
				     "%s can be read and cannot be replaced by a "
				     "placeholder: %s",
				     path, u->what);
	}
}

static void find_passed(const struct ab_policy *policy, const struct ab_strv *env,
			struct ab_strv *ret)
{
	for (size_t i = 0; i < env->len; i++) {
		const char *entry = env->v[i];
		ab_autofree char *name = ab_strndup(entry, strcspn(entry, "="));

		if (entry[strlen(name)] == '\0' || entry[strlen(name) + 1] == '\0' ||
		    ab_secrets_export(&policy->secrets, name) || ab_uncovered_of(name) ||
		    !looks_secret(policy, name, entry + strlen(name) + 1))
			continue;
		ab_strv_addf(ret, "%s looks like a credential and is passed unchanged", name);
	}
}

void ab_uncovered_find(const struct ab_policy *policy, char *const *caller,
		       const struct ab_spec *spec, struct ab_strv *ret)
{
	struct sight sight = { .policy = policy, .spec = spec };
	ab_autostrv struct ab_strv built = { 0 };
	const struct ab_strv *env = spec ? &spec->env : &built;
	struct ab_error err;

	if (!spec) {
		ab_environment_build(policy, caller, &built, NULL);
		/* With a rule that cannot be applied no run starts. */
		if (ab_expand_deny(&policy->fs.deny_read, &sight.denied, &sight.ndenied, &err) < 0)
			sight.ndenied = 0;
	}
	find_known(&sight, env, ret);
	find_passed(policy, env, ret);
	ab_guards_free(sight.denied, sight.ndenied);
}
