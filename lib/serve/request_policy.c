#include "policy/layers/layers.h"
#include "serve/request.h"

enum { SETTINGS_MAX = 4096 };

int ab_serve_text(const char *name, const json_t *value, const char **ret, struct ab_error *err)
{
	if (!json_is_string(value))
		return ab_fail(err, AB_EUSAGE, 0, "\"%s\": expected a string", name);
	if (strlen(json_string_value(value)) != json_string_length(value))
		return ab_fail(err, AB_EUSAGE, 0, "\"%s\": a NUL byte is not possible here", name);
	*ret = json_string_value(value);
	return 0;
}

static int add_setting(struct ab_serve_policy *p, const char *key, const char *value,
		       struct ab_error *err)
{
	if (p->nsettings == SETTINGS_MAX)
		return ab_fail(err, AB_EUSAGE, 0, "\"options\": more than %d values", SETTINGS_MAX);
	*ab_append(p->settings, p->nsettings) =
		(struct ab_setting){ .key = ab_strdup(key),
				     .value = ab_strdup(value),
				     .origin = ab_printf("option %s", key) };
	return 0;
}

/* A value as it would be typed. */
static int take_value(struct ab_serve_policy *p, const char *key, const json_t *value,
		      struct ab_error *err)
{
	ab_autofree char *number = NULL;
	const char *text = NULL;

	if (json_is_integer(value)) {
		number = ab_printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
		return add_setting(p, key, number, err);
	}
	if (json_is_boolean(value))
		return add_setting(p, key, json_is_true(value) ? "true" : "false", err);
	if (ab_serve_text(key, value, &text, err) < 0) {
		return ab_hint(err, "an option is a string, a number, true, false or a list of "
				    "strings; other settings belong in \"policy\"");
	}
	return add_setting(p, key, text, err);
}

static int take_options(struct ab_serve_policy *p, const json_t *options, struct ab_error *err)
{
	const char *key;
	json_t *value, *entry;
	size_t i;

	if (!json_is_object(options))
		return ab_fail(err, AB_EUSAGE, 0, "\"options\": expected an object");
	json_object_foreach((json_t *)options, key, value)
	{
		if (!json_is_array(value)) {
			if (take_value(p, key, value, err) < 0)
				return -1;
			continue;
		}
		/* An empty list means nothing, not the default. */
		if (json_array_size(value) == 0 && add_setting(p, key, NULL, err) < 0)
			return -1;
		json_array_foreach(value, i,
				   entry) if (take_value(p, key, entry, err) < 0) return -1;
	}
	return 0;
}

static int take_environment(struct ab_serve_policy *p, const json_t *env, struct ab_error *err)
{
	const char *name, *text = NULL;
	json_t *value;

	if (!json_is_object(env))
		return ab_fail(err, AB_EUSAGE, 0, "\"env\": expected an object");
	p->has_env = true;
	json_object_foreach((json_t *)env, name, value)
	{
		if (!*name || strchr(name, '='))
			return ab_fail(err, AB_EUSAGE, 0, "\"env\": invalid name of a variable");
		if (ab_serve_text(name, value, &text, err) < 0)
			return ab_wrap(err, "\"env\"");
		ab_strv_addf(&p->env, "%s=%s", name, text);
	}
	return 0;
}

static int take_config(struct ab_serve_policy *p, const char *name, const json_t *value,
		       struct ab_error *err)
{
	const char *path = "";

	if (p->config)
		return ab_fail(err, AB_EUSAGE, 0, "use \"policy\" or \"policy_file\", not both");
	if (strcmp(name, "policy") == 0) {
		if (!json_is_object(value))
			return ab_fail(err, AB_EUSAGE, 0, "\"policy\": expected an object");
		p->config = json_dumps(value, JSON_COMPACT);
		return 0;
	}
	if (ab_serve_text(name, value, &path, err) < 0)
		return -1;
	/* "{" begins a text. */
	p->config = ab_printf("%s%s", path[0] == '{' ? "./" : "", path);
	return 0;
}

static int take_folder(const char *name, const json_t *value, const char **ret,
		       struct ab_error *err)
{
	if (ab_serve_text(name, value, ret, err) < 0)
		return -1;
	return **ret ? 0 : ab_fail(err, AB_EUSAGE, 0, "\"%s\" is empty", name);
}

int ab_serve_policy_member(struct ab_serve_policy *p, const char *name, const json_t *value,
			   struct ab_error *err)
{
	const struct {
		const char *name;
		const char **to;
	} texts[] = {
		{ "cwd", &p->cwd },
		{ "profile", &p->profile },
		{ "workspace", &p->workspace },
	};

	for (size_t i = 0; i < AB_COUNT(texts); i++)
		if (strcmp(name, texts[i].name) == 0)
			return take_folder(name, value, texts[i].to, err);
	if (strcmp(name, "policy") == 0 || strcmp(name, "policy_file") == 0)
		return take_config(p, name, value, err);
	if (strcmp(name, "options") == 0)
		return take_options(p, value, err);
	if (strcmp(name, "env") == 0)
		return take_environment(p, value, err);
	if (strcmp(name, "project") != 0)
		return 1;
	if (!json_is_boolean(value))
		return ab_fail(err, AB_EUSAGE, 0, "\"project\": expected true or false");
	p->no_project = json_is_false(value);
	return 0;
}

void ab_serve_policy_fini(struct ab_serve_policy *p)
{
	for (size_t i = 0; i < p->nsettings; i++)
		ab_free_all((void *)(uintptr_t)p->settings[i].key,
			    (void *)(uintptr_t)p->settings[i].value,
			    (void *)(uintptr_t)p->settings[i].origin);
	ab_free_all(p->settings, p->config);
	ab_strv_fini(&p->env);
	*p = (struct ab_serve_policy){ 0 };
}

static void add_option(struct ab_strv *argv, const char *option, const char *value)
{
	if (!value)
		return;
	ab_strv_add(argv, option);
	ab_strv_add(argv, value);
}

static int add_settings(const struct ab_serve_policy *p, const char *(*option_of)(const char *key),
			struct ab_strv *argv, struct ab_error *err)
{
	for (size_t i = 0; i < p->nsettings; i++) {
		const struct ab_setting *s = &p->settings[i];
		const char *option = s->value ? option_of(s->key) : NULL;

		if (!option) {
			ab_fail(err, AB_EUSAGE, 0, "option %s%s cannot be part of an argv", s->key,
				s->value ? "" : " with an empty list");
			return ab_hint(err, "put it in \"policy\"");
		}
		/* In one word: a value may begin with a dash. */
		ab_strv_addf(argv, "--%s=%s", option, s->value);
	}
	return 0;
}

int ab_serve_wrap(const struct ab_serve_request *r, const char *program,
		  const char *(*option_of)(const char *key), struct ab_strv *argv,
		  struct ab_error *err)
{
	const struct ab_serve_policy *p = &r->policy;

	if (p->no_project || p->has_env)
		return ab_fail(
			err, AB_EUSAGE, 0,
			"\"%s\" cannot be part of an argv; set it where the argv is executed",
			p->has_env ? "env" : "project");
	ab_strv_add(argv, program);
	ab_strv_add(argv, "run");
	add_option(argv, "--profile", p->profile);
	add_option(argv, "--config", p->config);
	add_option(argv, "--workspace", p->workspace);
	add_option(argv, "--name", r->name);
	if (add_settings(p, option_of, argv, err) < 0)
		return -1;
	if (r->yes)
		ab_strv_add(argv, "--yes");
	if (r->script) {
		if (strcmp(r->argv.v[0], "/bin/sh") != 0)
			add_option(argv, "--shell", r->argv.v[0]);
		add_option(argv, "-c", r->script);
		return 0;
	}
	ab_strv_add(argv, "--");
	ab_strv_extend(argv, &r->argv);
	return 0;
}
