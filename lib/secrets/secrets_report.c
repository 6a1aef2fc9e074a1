#include "secrets/secrets_report.h"

#include "policy/layers/layers.h"
#include "policy/show/summary.h"
#include "policy/values/paths.h"
#include "proxy/secrets/vault.h"
#include "secrets/tokens/service_account.h"
#include "secrets/secrets.h"
#include "secrets/sources.h"
#include "secrets/uncovered.h"

static enum ab_source_state look_at_source(const struct ab_secret *secret, char *const *env)
{
	const char *text;

	switch (secret->from) {
	case AB_FROM_ENV:
		text = ab_environ_get(env, secret->env);
		if (!text)
			return AB_SOURCE_UNSET;
		return *text ? AB_SOURCE_SET : AB_SOURCE_EMPTY;
	case AB_FROM_FILE:
		if (access(secret->file, R_OK) == 0)
			return AB_SOURCE_THERE;
		return errno == ENOENT || errno == ENOTDIR ? AB_SOURCE_MISSING
							   : AB_SOURCE_UNREADABLE;
	case AB_FROM_COMMAND:
		break;
	}
	return AB_SOURCE_COMMAND;
}

static struct ab_secret_row *add_row(struct ab_secrets_report *report,
				     const struct ab_secret *secret, char *const *env)
{
	struct ab_secret_row *row = &report->v[report->len++];

	*row = (struct ab_secret_row){
		.secret = secret,
		.state = look_at_source(secret, env),
		.problem = ab_strdup(""),
		.remedy = ab_strdup(""),
	};
	return row;
}

/* Loads the policy, as if --secret had named these, and allocates a row for each of its secrets. */
static int start_report(const struct ab_policy_input *input, const char *const *names,
			size_t nnames, const char *origin, struct ab_secrets_report *ret,
			struct ab_strv *ret_notes, struct ab_error *err)
{
	struct ab_policy_input in = *input;
	ab_autofree struct ab_setting *settings =
		ab_alloc((in.nsettings + nnames + 1) * sizeof(settings[0]));

	if (in.nsettings)
		memcpy(settings, in.settings, in.nsettings * sizeof(settings[0]));
	for (size_t i = 0; i < nnames; i++)
		settings[in.nsettings++] = (struct ab_setting){ .key = "secrets",
								.value = names[i],
								.origin = origin };
	in.settings = settings;
	*ret = (struct ab_secrets_report){ 0 };
	in.judging = true;
	if (ab_policy_load(&in, &ret->policy, ret_notes, err) < 0)
		return -1;
	ret->v = ab_alloc((ret->policy->secrets.len + 1) * sizeof(ret->v[0]));
	return 0;
}

int ab_secrets_report_list(const struct ab_policy_input *input, struct ab_secrets_report *ret,
			   struct ab_strv *ret_notes, struct ab_error *err)
{
	const struct ab_secrets *secrets;

	if (start_report(input, NULL, 0, NULL, ret, ret_notes, err) < 0)
		return -1;
	secrets = &ret->policy->secrets;
	for (size_t i = 0; i < secrets->len; i++)
		if (!secrets->v[i].part)
			add_row(ret, &secrets->v[i], input->environ);
	ab_uncovered_find(ret->policy, input->environ, NULL, &ret->uncovered);
	ab_summary_keys_find(ret->policy, input->environ, &ret->unused);
	if (secrets->len && ret->policy->net.mode != AB_NET_FILTERED)
		ab_strv_add(ret_notes, "the network is not filtered: no secret is injected, "
				       "the box sees only placeholders");
	return 0;
}

static char *suggest_remedy(const struct ab_secret *secret)
{
	switch (secret->from) {
	case AB_FROM_ENV:
		return ab_printf("set it: export %s=...", secret->env);
	case AB_FROM_FILE:
		return ab_printf("check the content of %s", secret->file);
	case AB_FROM_COMMAND:
		break;
	}
	return ab_printf("check what %s prints", secret->command.v[0]);
}

/* The row already has the name. */
static const char *skip_name(const char *text, const char *name)
{
	ab_autofree char *prefix = ab_printf("secret %s: ", name);
	const char *at = strstr(text, prefix);

	return at ? at + strlen(prefix) : text;
}

static void set_failure(struct ab_secret_row *row, const char *problem, const char *remedy)
{
	row->result = AB_RESULT_FAIL;
	ab_free_all(row->problem, row->remedy);
	row->problem = ab_strdup(skip_name(problem, row->secret->name));
	row->remedy = remedy[0] ? ab_strdup(remedy) : suggest_remedy(row->secret);
}

static void check_account(struct ab_secret_row *row, const struct ab_sourced *value)
{
	const char *why = ab_service_account_check(value->data, value->len);
	ab_autofree char *problem = why ? ab_printf("%s %s", row->secret->file, why) : NULL;

	if (why)
		set_failure(row, problem, "");
}

static void check_row(struct ab_secret_row *row, struct ab_vault *vault, size_t index,
		      char *const *env)
{
	const struct ab_secret *secret = row->secret;
	ab_autosourced struct ab_sourced value = { 0 };
	struct ab_error err = { 0 };

	if (ab_source_read(secret, env, AB_SOURCE_MS, &value, &err) < 0)
		set_failure(row, err.text, err.hint);
	else if (!value.data && !secret->wanted)
		row->result = AB_RESULT_UNSET;
	else if (!value.data)
		set_failure(row, "the environment variable is not set", "");
	else if (secret->oauth && secret->oauth->grant == AB_OAUTH_ACCOUNT)
		check_account(row, &value);
	else if (ab_vault_set(vault, secret->oauth ? index + 1 : index, value.data, value.len,
			      &err) < 0)
		set_failure(row, err.text, err.hint);
}

static bool is_selected(const struct ab_secret *secret, const char *const *names, size_t nnames)
{
	for (size_t i = 0; i < nnames; i++)
		if (strcspn(names[i], "@") == strlen(secret->name) &&
		    strncmp(names[i], secret->name, strlen(secret->name)) == 0)
			return true;
	return nnames == 0;
}

static int check_all(struct ab_secrets_report *report, char *const *env, const char *const *names,
		     size_t nnames, struct ab_error *err)
{
	/* Its placeholders are never used. */
	static const uint8_t seed[AB_VAULT_SEED];
	const struct ab_secrets *secrets = &report->policy->secrets;
	struct ab_vault *vault;

	if (ab_vault_new(secrets, seed, &vault, err) < 0)
		return -1;
	for (size_t i = 0; i < secrets->len; i++) {
		struct ab_secret_row *row;

		if (secrets->v[i].part || !is_selected(&secrets->v[i], names, nnames))
			continue;
		row = add_row(report, &secrets->v[i], env);
		check_row(row, vault, i, env);
		report->failed |= row->result == AB_RESULT_FAIL;
	}
	ab_vault_free(vault);
	return 0;
}

int ab_secrets_report_check(const struct ab_policy_input *input, const char *const *names,
			    size_t nnames, struct ab_secrets_report *ret, struct ab_strv *ret_notes,
			    struct ab_error *err)
{
	if (start_report(input, names, nnames, "secrets check", ret, ret_notes, err) < 0)
		return -1;
	if (check_all(ret, input->environ, names, nnames, err) < 0) {
		ab_secrets_report_fini(ret);
		return -1;
	}
	return 0;
}

int ab_secrets_report_rotate(const struct ab_policy_input *input, int state,
			     const char *const *names, size_t nnames, struct ab_strv *ret,
			     struct ab_strv *ret_notes, struct ab_error *err)
{
	ab_auto(ab_secrets_report_fini) struct ab_secrets_report report = { 0 };

	if (start_report(input, names, nnames, "secrets rotate", &report, ret_notes, err) < 0)
		return -1;
	for (size_t i = 0; i < report.policy->secrets.len; i++) {
		const struct ab_secret *secret = &report.policy->secrets.v[i];

		if (!secret->part && secret->life != AB_LIFE_RUN &&
		    is_selected(secret, names, nnames))
			ab_strv_add(ret, secret->name);
	}
	if (ret->len)
		return ab_safe_rotate(state, ret, err);
	ab_fail(err, AB_EUSAGE, 0,
		"no secret with a placeholder that stays the same from run to run");
	return ab_hint(err, "name one: agentbox secrets rotate OPENAI_API_KEY");
}

void ab_secrets_report_fini(struct ab_secrets_report *report)
{
	for (size_t i = 0; i < report->len; i++)
		ab_free_all(report->v[i].problem, report->v[i].remedy);
	free(report->v);
	ab_strv_fini_all(&report->uncovered, &report->unused);
	ab_policy_free(report->policy);
	*report = (struct ab_secrets_report){ 0 };
}
