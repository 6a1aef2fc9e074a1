#include "secrets/secrets.h"

#include "policy/layers/environment.h"
#include "policy/layers/layers.h"
#include "policy/model/policy.h"
#include "proxy/io/tls_rsa.h"
#include "host/ca_store.h"
#include "workspace/tree/host_path.h"
#include "secrets/tokens/service_account.h"
#include "secrets/sources.h"

bool ab_safe_needed(const struct ab_policy *policy)
{
	return policy->secrets.len > 0 || policy->net.http.len > 0;
}

static int fail_unset(const struct ab_secret *secret, struct ab_error *err)
{
	ab_fail(err, AB_EUSAGE, 0, "secret %s: environment variable %s is not set", secret->name,
		secret->env);
	ab_hint(err,
		"set it, or name another source in your settings: "
		"\"secrets\": { \"%s\": { \"from\": \"file\", ... } }",
		secret->name);
	return ab_step(err, "secrets");
}

/* The file will be hidden: the box has the placeholder in its environment. */
static void note_source_file(struct ab_safe *safe, const struct ab_secret *secret)
{
	bool led;
	char *real = secret->from == AB_FROM_FILE
			     ? ab_host_path_follow(&secret->writable, secret->file, &led)
			     : NULL;

	if (real)
		ab_strv_give(&safe->sources, real);
}

static int fail_value(const struct ab_secret *secret, struct ab_error *err)
{
	ab_hint(err, "required by %s; to check all secrets: agentbox secrets check",
		secret->origin);
	return ab_step(err, "secrets");
}

static int skip_unset(struct ab_safe *safe, const struct ab_secret *secret, struct ab_error *err)
{
	if (secret->wanted)
		return fail_unset(secret, err);
	ab_strv_addf(&safe->details, "secret %s is skipped: environment variable %s is not set",
		     secret->name, secret->env);
	return 0;
}

/* For the broker, which gets the tokens: what is not there later, or could be the box's. */
static void hold_value(struct ab_safe *safe, size_t i, const struct ab_secret *secret,
		       const struct ab_sourced *value)
{
	if (secret->from == AB_FROM_ENV || ab_source_is_open(secret))
		safe->held[i] = ab_strndup(value->data, value->len);
}

static int take_client_secret(struct ab_safe *safe, size_t i, const struct ab_secret *secret,
			      char *const *env, struct ab_error *err)
{
	ab_autosourced struct ab_sourced value = { 0 };
	const struct ab_secret *login = secret->oauth->client_secret;

	if (!login)
		return 0;
	note_source_file(safe, login);
	/* The others are read when a token is needed. */
	if (login->from != AB_FROM_ENV && !ab_source_is_open(login))
		return 0;
	if (ab_source_read(login, env, AB_SOURCE_MS, &value, err) < 0)
		return -1;
	if (!value.data)
		return fail_unset(login, err);
	hold_value(safe, i, login, &value);
	return 0;
}

/* The box gets a key file with another key in its place. */
static int cover_account(struct ab_safe *safe, size_t i, const struct ab_secret *secret,
			 const struct ab_sourced *value, struct ab_error *err)
{
	const char *why = ab_service_account_check(value->data, value->len);
	ab_autobuf struct ab_buf file = { 0 };
	struct ab_rsa *key;

	if (why) {
		ab_fail(err, AB_EUSAGE, 0, "secret %s: %s %s", secret->name, secret->file, why);
		return fail_value(secret, err);
	}
	if (ab_vault_reserve(safe->vault, i, err) < 0 || ab_rsa_new(&key, err) < 0)
		return ab_step(err, "secrets");
	ab_vault_keep_key(safe->vault, i, key);
	ab_service_account_cover(value->data, value->len, secret->oauth, key,
				 ab_vault_at(safe->vault, i)->placeholder, &file);
	return ab_safe_show_file(safe, secret, file.data, file.len, err);
}

/* What is exchanged for access tokens: part 1. The tokens come later. */
static int take_credential(struct ab_safe *safe, size_t i, const struct ab_secret *secret,
			   char *const *env, struct ab_error *err)
{
	ab_autosourced struct ab_sourced value = { 0 };

	if (ab_source_read(secret, env, AB_SOURCE_MS, &value, err) < 0)
		return -1;
	note_source_file(safe, secret);
	if (!value.data)
		return skip_unset(safe, secret, err);
	if (ab_vault_reserve(safe->vault, i - 1, err) < 0 ||
	    take_client_secret(safe, i - 1, secret, env, err) < 0)
		return ab_step(err, "secrets");
	hold_value(safe, i, secret, &value);
	if (secret->oauth->grant == AB_OAUTH_ACCOUNT)
		return cover_account(safe, i, secret, &value, err);
	return ab_vault_set(safe->vault, i, value.data, value.len, err) < 0
		       ? fail_value(secret, err)
		       : 0;
}

static int take_value(struct ab_safe *safe, size_t i, const struct ab_secret *secret,
		      char *const *env, struct ab_error *err)
{
	ab_autosourced struct ab_sourced value = { 0 };

	if (secret->oauth)
		return secret->part ? take_credential(safe, i, secret, env, err) : 0;
	if (secret->part)
		return 0;
	/* Taken before reading, so a write in between causes another reading. */
	safe->stamps[i] = ab_source_stamp(secret);
	if (ab_source_read(secret, env, AB_SOURCE_MS, &value, err) < 0)
		return -1;
	note_source_file(safe, secret);
	safe->expires[i] = value.expires;
	if (!value.data)
		return skip_unset(safe, secret, err);
	return ab_vault_set(safe->vault, i, value.data, value.len, err) < 0
		       ? fail_value(secret, err)
		       : 0;
}

static bool any_derived(const struct ab_secrets *secrets)
{
	for (size_t i = 0; i < secrets->len; i++)
		if (secrets->v[i].life != AB_LIFE_RUN)
			return true;
	return false;
}

static int make_vault(const struct ab_secrets *secrets, int state, struct ab_vault **ret,
		      struct ab_error *err)
{
	uint8_t seed[AB_VAULT_SEED];
	int r;

	if (!any_derived(secrets))
		return ab_vault_new(secrets, NULL, ret, err);
	r = ab_safe_seed(state, seed, err);
	if (r == 0)
		r = ab_vault_new(secrets, seed, ret, err);
	explicit_bzero(seed, sizeof(seed));
	return r < 0 ? -1 : ab_safe_rotated(state, secrets, *ret, err);
}

/* We read the password of our own upstream proxy later. */
static bool is_upstream_proxy(const struct ab_policy *policy, const char *entry)
{
	ab_autofree char *name = ab_strndup(entry, strcspn(entry, "="));

	return policy->net.mode == AB_NET_FILTERED && strcmp(policy->net.upstream, "env") == 0 &&
	       ab_name_matches("*_PROXY", name, true);
}

/* A client secret, or the key of an account: nothing replaces it in the box. */
static bool has_held(const struct ab_safe *safe, const char *value)
{
	for (size_t i = 0; i < ab_vault_len(safe->vault); i++)
		if (safe->held[i] && !ab_vault_at(safe->vault, i)->value &&
		    strstr(value, safe->held[i]))
			return true;
	return false;
}

/* A copy for all later uses; values are wiped from our own block. */
static void cover_environ(struct ab_safe *safe, const struct ab_policy *policy, char *const *env)
{
	for (; env && *env; env++) {
		char *entry = *env, *value = strchr(entry, '=');
		size_t len;
		char *covered = ab_vault_cover(safe->vault, entry, strlen(entry), &len);

		bool held = value && has_held(safe, value + 1), kept = value && covered && !held;

		if (kept)
			ab_strv_give(&safe->environ, covered);
		else
			free(covered);
		if (!held && !kept)
			ab_strv_add(&safe->environ, entry);
		else if (!is_upstream_proxy(policy, entry))
			explicit_bzero(value + 1, strlen(value + 1));
	}
}

static int take_values(struct ab_safe *safe, const struct ab_secrets *secrets, bool commands,
		       struct ab_error *err)
{
	for (size_t i = 0; i < secrets->len; i++) {
		const struct ab_secret *secret = &secrets->v[i];

		if ((secret->from == AB_FROM_COMMAND) != commands)
			continue;
		/* The clock of file times. */
		if (commands && !safe->ran.tv_sec)
			clock_gettime(CLOCK_REALTIME_COARSE, &safe->ran);
		if (take_value(safe, i, secret, safe->input->environ, err) < 0)
			return -1;
	}
	return 0;
}

/* Files are read when all commands have ended: a command may write the file of another secret. */
static int fill_vault(struct ab_safe *safe, const struct ab_policy *policy, int state,
		      struct ab_error *err)
{
	const struct ab_secrets *secrets = &policy->secrets;

	if (secrets->len == 0)
		return 0;
	if (make_vault(secrets, state, &safe->vault, err) < 0 ||
	    take_values(safe, secrets, true, err) < 0 || take_values(safe, secrets, false, err) < 0)
		return -1;
	cover_environ(safe, policy, safe->input->environ);
	return 0;
}

/* Fills `intercepted`; true: some host or the gateway needs our TLS. */
static bool choose_hosts(struct ab_safe *safe, const struct ab_policy *policy)
{
	bool gateway = false;

	for (size_t i = 0; i < policy->secrets.len; i++) {
		const struct ab_secret *secret = &policy->secrets.v[i];

		if (!ab_vault_at(safe->vault, i)->placeholder)
			continue;
		gateway |= secret->via != AB_VIA_TLS;
		if (secret->via == AB_VIA_GATEWAY)
			continue;
		for (size_t k = 0; k < secret->hosts.len; k++)
			ab_strv_add_once(&safe->intercepted, secret->hosts.v[k]);
	}
	for (size_t i = 0; i < policy->net.http.len; i++)
		ab_http_rule_hosts(&policy->net.http.v[i], &safe->intercepted);
	return gateway || safe->intercepted.len > 0;
}

static int make_site(struct ab_safe *safe, const struct ab_policy *policy, struct ab_error *err)
{
	struct ab_tls_setup setup = { .hosts = &safe->intercepted };
	ab_autofree char *roots = NULL;

	if (ab_ca_store_roots(policy, ab_safe_environ(safe, safe->input), &roots, &setup.roots_len,
			      err) < 0)
		return -1;
	setup.roots = roots;
	return ab_tls_site_new(&setup, &safe->site, err);
}

static void note_unused(const struct ab_policy *policy, struct ab_strv *ret_notes)
{
	if (policy->secrets.len)
		ab_strv_addf(ret_notes,
			     "no secret is injected in this run: %s; it sees only placeholders",
			     policy->net.mode == AB_NET_ALLOWED ? "the box has the host's network"
								: "the box has no network");
}

int ab_safe_open(const struct ab_policy *policy, const struct ab_policy_input *input, int state,
		 struct ab_safe *ret, struct ab_strv *ret_notes, struct ab_error *err)
{
	struct ab_safe safe = { .input = input };

	if (fill_vault(&safe, policy, state, err) < 0 ||
	    ab_safe_read_files(&safe, policy, ret_notes, err) < 0)
		goto fail;
	if (policy->net.mode != AB_NET_FILTERED)
		note_unused(policy, ret_notes);
	else if (choose_hosts(&safe, policy) && make_site(&safe, policy, err) < 0)
		goto fail;
	*ret = safe;
	return 0;
fail:
	ab_safe_fini(&safe);
	return ab_step(err, "secrets");
}

void ab_safe_forget_held(struct ab_safe *safe)
{
	for (size_t i = 0; i < AB_COUNT(safe->held); i++)
		ab_free_wiped(ab_take(safe->held[i]));
}

void ab_safe_fini(struct ab_safe *safe)
{
	ab_safe_forget_held(safe);
	ab_vault_free(safe->vault);
	ab_tls_site_free(safe->site);
	ab_strv_fini_all(&safe->intercepted, &safe->environ, &safe->sources, &safe->hidden,
			 &safe->details);
	for (size_t i = 0; i < safe->nfiles; i++)
		ab_free_all(safe->files[i].path, safe->files[i].data);
	free(safe->files);
	*safe = (struct ab_safe){ 0 };
}

char *const *ab_safe_environ(const struct ab_safe *safe, const struct ab_policy_input *input)
{
	return safe->environ.len ? safe->environ.v : input->environ;
}

void ab_safe_find_covered(const struct ab_safe *safe, struct ab_strv *ret_names)
{
	for (size_t i = 0; safe->vault && i < safe->environ.len; i++) {
		const char *entry = safe->environ.v[i];

		if (entry && ab_vault_find(safe->vault, entry, strlen(entry)) >= 0)
			ab_strv_give(ret_names, ab_strndup(entry, strcspn(entry, "=")));
	}
}

size_t ab_safe_cover(const struct ab_vault *vault, struct ab_strv *words)
{
	size_t n = 0;

	for (size_t i = 0; i < words->len; i++) {
		size_t len = strlen(words->v[i]), covered_len;
		char *covered = ab_vault_cover(vault, words->v[i], len, &covered_len);

		if (!covered)
			continue;
		explicit_bzero(words->v[i], len);
		free(words->v[i]);
		words->v[i] = covered;
		n++;
	}
	return n;
}

struct ab_vault *ab_safe_peek(const struct ab_policy *policy, const struct ab_policy_input *input)
{
	static const uint8_t seed[AB_VAULT_SEED];
	struct ab_vault *vault = NULL;
	struct ab_error err;

	if (policy->secrets.len == 0 || ab_vault_new(&policy->secrets, seed, &vault, &err) < 0)
		return NULL;
	for (size_t i = 0; i < policy->secrets.len; i++) {
		const struct ab_secret *secret = &policy->secrets.v[i];
		ab_autosourced struct ab_sourced value = { 0 };

		/* Of a secret with tokens the value is part 1; that of an account has lines. */
		if (secret->from != AB_FROM_COMMAND &&
		    (secret->oauth ? secret->part && secret->oauth->grant != AB_OAUTH_ACCOUNT
				   : !secret->part) &&
		    ab_source_read(secret, input->environ, 0, &value, &err) == 0 && value.data)
			(void)ab_vault_set(vault, i, value.data, value.len, &err);
	}
	return vault;
}
