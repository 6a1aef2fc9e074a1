#include <strings.h>

#include "agents/agents.h"
#include "host/ca_store.h"
#include "netns/capture.h"
#include "policy/layers/environment.h"
#include "policy/layers/layers.h"
#include "policy/model/policy.h"
#include "sandbox/plan/spec.h"
#include "secrets/secrets.h"

static void export_placeholders(const struct ab_safe *safe, struct ab_strv *env)
{
	for (size_t i = 0; i < ab_vault_len(safe->vault); i++) {
		const struct ab_vault_entry *e = ab_vault_at(safe->vault, i);

		/* Clients of AWS prefer a profile, and the box does not have its file. */
		if (e->placeholder && e->secret->sign && e->secret->part == AB_PART_ID) {
			ab_env_remove(env, "AWS_PROFILE");
			ab_env_remove(env, "AWS_DEFAULT_PROFILE");
		}
		for (size_t k = 0; e->placeholder && k < e->secret->names.len; k++)
			ab_env_set(env, e->secret->names.v[k], e->placeholder);
		if (e->key)
			ab_env_set(env, "GOOGLE_APPLICATION_CREDENTIALS", e->secret->file);
	}
}

/* A client with another base URL does not need our certificate. */
static void set_base_urls(const struct ab_safe *safe, struct ab_strv *env)
{
	for (size_t i = 0; i < ab_vault_len(safe->vault); i++) {
		const struct ab_vault_entry *e = ab_vault_at(safe->vault, i);
		const struct ab_provider *p = e->secret->provider;
		ab_autofree char *url = NULL;

		if (!e->placeholder || e->secret->via == AB_VIA_TLS || !p || !p->base_variable[0])
			continue;
		url = ab_printf("http://127.0.0.1:%d/%s%s", AB_PORT_DOOR, p->name, p->base_path);
		ab_env_set(env, p->base_variable, url);
	}
}

/* The memory of our own command line. */
static bool find_argv(char **ret_from, char **ret_to)
{
	ab_autofree char *text = NULL;
	unsigned long from, to;
	const char *at;
	size_t len;

	if (ab_read_file(AT_FDCWD, "/proc/self/stat", 0, 65536, &text, &len) < 0)
		return false;
	/* Field 2, the name, may contain anything; we need 48 and 49. */
	at = strrchr(text, ')');
	for (int field = 2; at && field < 48; field++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, "%lu %lu", &from, &to) != 2 || from == 0 || to <= from)
		return false;
	*ret_from = (char *)from;
	*ret_to = (char *)to;
	return true;
}

/* Other processes of the user can read our command line. */
static void wipe_argv(const struct ab_vault *vault)
{
	char *from, *to;

	if (!find_argv(&from, &to))
		return;
	for (size_t i = 0; i < ab_vault_len(vault); i++) {
		const struct ab_vault_entry *e = ab_vault_at(vault, i);
		char *at = from;

		while (e->value &&
		       (at = memmem(at, (size_t)(to - at), e->value, e->value_len)) != NULL)
			memset(at, '*', e->value_len);
	}
}

static void cover_argv(const struct ab_safe *safe, struct ab_spec *spec, struct ab_strv *ret_notes)
{
	/* Also covers values given with --env. */
	wipe_argv(safe->vault);
	if (ab_safe_cover(safe->vault, &spec->argv) == 0)
		return;
	ab_strv_add(ret_notes, "the command line contained the value of a secret and now has its "
			       "placeholder; quote the variable so that the shell in the box "
			       "expands it: '$NAME'");
}

static bool has_secret(const struct ab_vault *vault, const char *name)
{
	for (size_t i = 0; i < ab_vault_len(vault); i++)
		if (strcmp(ab_vault_at(vault, i)->secret->name, name) == 0)
			return true;
	return false;
}

/* A key that the agent does not read is never sent, and the service only says that there is none. */
static void note_unread(const struct ab_safe *safe, const struct ab_spec *spec,
			struct ab_strv *ret_notes)
{
	const struct ab_agent *agent = spec->argv.len ? ab_agent_of_program(spec->argv.v[0]) : NULL;

	for (size_t i = 0; agent && i < ab_vault_len(safe->vault); i++) {
		const char *name = ab_vault_at(safe->vault, i)->secret->name;
		const char *read = ab_agent_key(agent, (const char *const *)spec->argv.v,
						spec->argv.len, name);

		if (read && !has_secret(safe->vault, read))
			ab_strv_addf(ret_notes,
				     "this command of %s does not read %s; use --secret %s",
				     agent->name, name, read);
	}
}

static void add_files(const struct ab_safe *safe, struct ab_spec *spec)
{
	for (size_t i = 0; i < safe->nfiles; i++) {
		const struct ab_safe_file *from = &safe->files[i];
		char *data = ab_alloc(from->len + 1);
		struct ab_file *f;

		memcpy(data, from->data, from->len);
		f = ab_spec_add_file(spec, ab_strdup(from->path), data, from->len);
		f->mode = from->mode;
		f->over_mask = true;
	}
}

/* The option or file that sets this variable. */
static const char *find_setter(const struct ab_policy_input *input, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < input->nsettings; i++) {
		const struct ab_setting *s = &input->settings[i];

		if ((strcmp(s->key, "env.set") == 0 || strcmp(s->key, "env.pass") == 0) &&
		    s->value && strncmp(s->value, name, len) == 0 && s->value[len] == '=')
			return s->origin;
	}
	return "env.set in the settings";
}

static int refuse_variable(const struct ab_safe *safe, const char *name, struct ab_error *err)
{
	const char *setter = find_setter(safe->input, name);

	ab_fail(err, AB_EUSAGE, 0, "%s sets %s, which agentbox itself sets in a run with secrets",
		setter, name);
	ab_hint(err, "remove %s from %s, or run without secrets", name, setter);
	return ab_step(err, "secrets");
}

/* Secrets are injected only by our proxy: a client that uses another one would
 * send its placeholder. */
static int check_proxies(const struct ab_safe *safe, const struct ab_policy *policy,
			 struct ab_error *err)
{
	ab_autostrv struct ab_strv plain = { 0 };
	struct ab_policy without = *policy;

	if (policy->net.mode != AB_NET_FILTERED)
		return 0;
	/* The environment without env.set: our own values of the proxy variables. */
	without.env.set = (struct ab_strv){ 0 };
	ab_environment_build(&without, NULL, &plain, NULL);
	for (size_t i = 0; i < policy->env.set.len; i++) {
		const char *entry = policy->env.set.v[i];
		ab_autofree char *name = ab_strndup(entry, strcspn(entry, "="));
		const char *ours = ab_env_get(&plain, name);

		if (ours && ab_name_matches("*_PROXY", name, true) &&
		    strcmp(entry + strlen(name) + 1, ours) != 0)
			return refuse_variable(safe, name, err);
	}
	return 0;
}

/* The box must have the values that were asked for. `asked` is the environment
 * before we changed it. */
static int check_asked(const struct ab_safe *safe, const struct ab_policy *policy,
		       const struct ab_strv *asked, const struct ab_spec *spec,
		       struct ab_error *err)
{
	for (size_t i = 0; i < policy->env.set.len; i++) {
		const char *entry = policy->env.set.v[i];
		ab_autofree char *name = ab_strndup(entry, strcspn(entry, "="));
		const char *before = ab_env_get(asked, name);
		const char *after = ab_env_get(&spec->env, name);

		if (before && after && strcmp(before, after) != 0)
			return refuse_variable(safe, name, err);
	}
	return 0;
}

static int show_authority(const struct ab_safe *safe, struct ab_spec *spec,
			  struct ab_strv *ret_notes, struct ab_error *err)
{
	const uint8_t *der;
	size_t len;

	if (!safe->site || safe->intercepted.len == 0)
		return 0;
	der = ab_tls_site_der(safe->site, &len);
	return ab_ca_store_fill(ab_tls_site_pem(safe->site), der, len,
				ab_safe_environ(safe, safe->input), spec, ret_notes, err);
}

int ab_safe_fill(const struct ab_safe *safe, const struct ab_policy *policy, struct ab_spec *spec,
		 struct ab_strv *ret_notes, struct ab_error *err)
{
	ab_autostrv struct ab_strv asked = { 0 };

	if (check_proxies(safe, policy, err) < 0)
		return -1;
	if (safe->vault) {
		note_unread(safe, spec, ret_notes);
		cover_argv(safe, spec, ret_notes);
		ab_safe_cover(safe->vault, &spec->env);
		ab_safe_cover(safe->vault, &spec->env_uncaptured);
	}
	ab_strv_extend(&asked, &spec->env);
	if (safe->vault) {
		export_placeholders(safe, &spec->env);
		if (safe->site)
			set_base_urls(safe, &spec->env);
	}
	add_files(safe, spec);
	if (show_authority(safe, spec, ret_notes, err) < 0)
		return -1;
	return check_asked(safe, policy, &asked, spec, err);
}
