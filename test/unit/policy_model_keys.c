#include "policy/model/keys.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "agents/obeyed.h"
#include "base/data/mem.h"
#include "policy/layers/profiles.h"
#include "policy/model/policy.h"
#include "policy/toolchains/toolchains.h"
#include "shell/command/rules.h"
#include "tap.h"

/*
 * The JSON Schema that ships with the program against the key table, in both
 * directions: every key, its type, its words and its range.
 */
static json_t *schema;

static json_t *load_schema(void)
{
	const char *root = getenv("AB_SOURCE_ROOT");
	const char *slash = strrchr(__FILE__, '/');
	ab_autofree char *path =
		root ? ab_printf("%s/share/agentbox.schema.json", root)
		     : ab_printf("%.*s/../../share/agentbox.schema.json",
				 slash ? (int)(slash - __FILE__) : 1, slash ? __FILE__ : ".");
	json_error_t e;
	json_t *j = json_load_file(path, JSON_REJECT_DUPLICATES, &e);

	if (!j)
		printf("# %s:%d: %s\n", path, e.line, e.text);
	return j;
}

static const json_t *property(const json_t *object, const char *name)
{
	return json_object_get(json_object_get(object, "properties"), name);
}

/* Follow "$ref": "#/$defs/x". */
static const char *ref(const json_t *s)
{
	const char *r = json_string_value(json_object_get(s, "$ref"));

	return r && strncmp(r, "#/$defs/", 8) == 0 ? r + 8 : NULL;
}

static const json_t *find(const char *path)
{
	const char *dot = strchr(path, '.');
	ab_autofree char *group = NULL;

	if (!dot)
		return property(schema, path);
	group = ab_strndup(path, (size_t)(dot - path));
	return property(property(schema, group), dot + 1);
}

static const char *get_word(const json_t *word)
{
	return json_is_true(word)    ? "true"
	       : json_is_false(word) ? "false"
				     : json_string_value(word);
}

static bool same_words(const json_t *list, const struct ab_key *key)
{
	if (json_array_size(list) != key->nwords)
		return false;
	for (size_t i = 0; i < key->nwords; i++)
		if (strcmp(get_word(json_array_get(list, i)), key->words[i].name) != 0)
			return false;
	return true;
}

/* clang-format off */
static const char *const definition[] = {
	[AB_TYPE_SIZE] = "size",	   [AB_TYPE_DURATION] = "duration",
	[AB_TYPE_PATHS] = "paths",	   [AB_TYPE_READ] = "paths",
	[AB_TYPE_PATTERNS] = "patterns",   [AB_TYPE_NAMES] = "names",
	[AB_TYPE_HOSTS] = "hosts",	   [AB_TYPE_CIDRS] = "cidrs",
	[AB_TYPE_VARIABLES] = "variables", [AB_TYPE_ASSIGNMENTS] = "assignments",
	[AB_TYPE_PROPERTIES] = "properties", [AB_TYPE_PORTS] = "ports",
	[AB_TYPE_PUBLISH] = "publish",	   [AB_TYPE_UPSTREAM] = "upstream",
	[AB_TYPE_RULES] = "rules",	   [AB_TYPE_OVERRIDES] = "overrides",
	[AB_TYPE_NOTICES] = "notices",	   [AB_TYPE_SSH_SIGN] = "sshSign",
	[AB_TYPE_SSH_HOSTS] = "sshHosts",  [AB_TYPE_SSH_KEYS] = "sshKeys",
	[AB_TYPE_SSH_USERS] = "sshUsers",  [AB_TYPE_IMAGES] = "images",
	[AB_TYPE_SOCKET] = "socket",
	[AB_TYPE_PRESETS] = "presets",	   [AB_TYPE_TOOLS] = "tools",
	[AB_TYPE_SECRETS] = "secrets",	   [AB_TYPE_HTTP] = "http",
	[AB_TYPE_HOST_TOOLS] = "hostTools",
};
/* clang-format on */

static bool is_ref(const json_t *s, enum ab_key_type type)
{
	return ref(s) && definition[type] && !strcmp(ref(s), definition[type]);
}

/* { "only": [...] } of this type. */
static bool is_only_ref(const json_t *s, enum ab_key_type type)
{
	const json_t *defs = json_object_get(schema, "$defs");
	const json_t *only = ref(s) ? json_object_get(defs, ref(s)) : NULL;

	return only && json_is_false(json_object_get(only, "additionalProperties")) &&
	       json_array_size(json_object_get(only, "required")) == 1 &&
	       is_ref(property(only, "only"), type);
}

/* Does the schema of a key say what the table says? */
static bool agrees(const json_t *s, const struct ab_key *key)
{
	const json_t *one = json_object_get(s, "oneOf");
	const json_t *first = json_array_get(one, 0);
	const json_t *second = json_array_get(one, 1);

	if (key->none) {
		if (!ref(first) || strcmp(ref(first), "none") != 0)
			return false;
		s = second;
	}
	if (key->merge == AB_MERGE_ADD) {
		if (!is_only_ref(json_array_get(one, json_array_size(one) - 1), key->type))
			return false;
		s = first;
	}
	switch (key->type) {
	case AB_TYPE_PROFILE:
		return !strcmp(json_string_value(json_object_get(s, "type")), "string");
	case AB_TYPE_WORD:
		return same_words(json_object_get(s, "enum"), key);
	case AB_TYPE_INTEGER:
		return (uint64_t)json_integer_value(json_object_get(s, "minimum")) == key->min &&
		       (uint64_t)json_integer_value(json_object_get(s, "maximum")) == key->max;
	case AB_TYPE_READ:
	case AB_TYPE_SSH_KEYS:
	case AB_TYPE_SSH_USERS:
		return !strcmp(json_string_value(json_object_get(first, "const")), "all") &&
		       is_ref(second, key->type);
	case AB_TYPE_NOTICES:
	case AB_TYPE_SSH_SIGN:
		one = json_object_get(json_object_get(schema, "$defs"), definition[key->type]);
		return is_ref(s, key->type) &&
		       same_words(json_object_get(json_object_get(one, "items"), "enum"), key);
	case AB_TYPE_PRESETS:
		return !strcmp(json_string_value(json_object_get(first, "const")), "auto") &&
		       is_ref(second, key->type);
	case AB_TYPE_SIZE:
	case AB_TYPE_DURATION:
	case AB_TYPE_PATHS:
	case AB_TYPE_PATTERNS:
	case AB_TYPE_NAMES:
	case AB_TYPE_HOSTS:
	case AB_TYPE_CIDRS:
	case AB_TYPE_PORTS:
	case AB_TYPE_PUBLISH:
	case AB_TYPE_UPSTREAM:
	case AB_TYPE_IMAGES:
	case AB_TYPE_SOCKET:
	case AB_TYPE_VARIABLES:
	case AB_TYPE_ASSIGNMENTS:
	case AB_TYPE_PROPERTIES:
	case AB_TYPE_RULES:
	case AB_TYPE_OVERRIDES:
	case AB_TYPE_TOOLS:
	case AB_TYPE_SECRETS:
	case AB_TYPE_HOST_TOOLS:
	case AB_TYPE_HTTP:
	case AB_TYPE_SSH_HOSTS:
		return is_ref(s, key->type);
	}
	return false;
}

static void test_table_to_schema(void)
{
	for (int i = 0; i < AB_KEY_COUNT; i++) {
		const json_t *s = find(ab_keys[i].path);

		ok(s && agrees(s, &ab_keys[i]), "the schema has %s", ab_keys[i].path);
		ok(s && json_is_string(json_object_get(s, "description")), "and describes it");
	}
}

static void test_schema_to_table(void)
{
	const char *name, *inner;
	json_t *s, *below;

	json_object_foreach(json_object_get(schema, "properties"), name, s)
	{
		if (!strcmp(name, "$schema") || !strcmp(name, "managed") ||
		    !strcmp(name, "description"))
			continue;
		if (!json_object_get(s, "properties")) {
			ok(ab_key_find(name, strlen(name)), "the table has %s", name);
			continue;
		}
		ok(ab_key_is_group(name, strlen(name)) &&
			   json_is_false(json_object_get(s, "additionalProperties")),
		   "%s is a group, and closed", name);
		ok(json_object_size(json_object_get(s, "patternProperties")) == 1,
		   "but for a reason");
		json_object_foreach(json_object_get(s, "properties"), inner, below)
		{
			ab_autofree char *path = ab_printf("%s.%s", name, inner);

			ok(ab_key_find(path, strlen(path)), "the table has %s", path);
		}
	}
	ok(json_is_false(json_object_get(schema, "additionalProperties")), "the schema is closed");
}

static void test_definitions(void)
{
	const json_t *defs = json_object_get(schema, "$defs");
	const json_t *list = json_object_get(
		json_object_get(json_object_get(defs, "properties"), "items"), "enum");
	struct ab_profile profile;
	size_t same = 0, n = 0;

	for (size_t i = 0; i < json_array_size(list) && i < AB_PROP_COUNT; i++)
		same += !strcmp(json_string_value(json_array_get(list, i)), ab_property_names[i]);
	ok(same == AB_PROP_COUNT && json_array_size(list) == AB_PROP_COUNT,
	   "the schema has the properties");
	ok(json_object_size(defs) == 47, "and no other definitions");
	list = json_object_get(json_object_get(json_object_get(defs, "presets"), "items"), "enum");
	ok(json_array_size(list) == ab_toolchain_count + 1, "and the presets");
	for (size_t i = 0; i < ab_toolchain_count; i++)
		is_str(json_string_value(json_array_get(list, i + 1)), ab_toolchains[i].name,
		       "in order");
	list = json_object_get(json_object_get(defs, "decision"), "enum");
	ok(json_array_size(list) == AB_FORBIDDEN + 1, "and the decisions");
	for (size_t i = 0; i < json_array_size(list); i++)
		is_str(json_string_value(json_array_get(list, i)), ab_decision_names[i],
		       "in order");
	list = json_object_get(json_object_get(json_object_get(defs, "overrides"), "propertyNames"),
			       "enum");
	ok(json_array_size(list) == AB_RULE_COUNT, "and the rules");
	for (size_t i = 0; i < json_array_size(list); i++)
		is_str(json_string_value(json_array_get(list, i)), ab_rules[i].name, "in order");
	list = json_object_get(property(schema, "extends"), "examples");
	same = 0;
	for (size_t i = 0; ab_profile_at(i, &profile); i++, n++)
		same += !strcmp(json_string_value(json_array_get(list, i)), profile.name);
	ok(same == n && json_array_size(list) == same, "and the profiles");
}

static void test_invariants(void)
{
	struct ab_profile p, other;
	size_t bad = 0, doc = 0;

	for (int i = 0; i < AB_KEY_COUNT; i++) {
		const struct ab_key *k = &ab_keys[i];

		const char *text = json_string_value(json_object_get(find(k->path), "description"));

		doc += text && text[0] && text[strlen(text) - 1] == '.';
		bad += !k->path || ab_key_find(k->path, strlen(k->path)) != k;
		bad += (k->type == AB_TYPE_WORD || k->type == AB_TYPE_NOTICES ||
			k->type == AB_TYPE_SSH_SIGN) != (k->nwords > 0);
		/* Every list that permits is kept to what was permitted, every
		 * one that forbids can only grow. Presets add to the first kind. */
		bad += k->merge == AB_MERGE_GROW && i != AB_KEY_NET_QUIET &&
		       k->tighten !=
			       (k->type == AB_TYPE_PRESETS ? AB_TIGHTEN_NEVER : AB_TIGHTEN_UNION);
		bad += ab_key_is_list(k) == (k->merge == AB_MERGE_REPLACE);
		bad += k->merge == AB_MERGE_FRONT && k->tighten != AB_TIGHTEN_MARKED;
		bad += k->tighten == AB_TIGHTEN_COVERED && !ab_key_is_list(k);
		bad += k->tighten == AB_TIGHTEN_STRICTER && ab_key_is_list(k);
	}
	ok(bad == 0, "the table keeps its rules");
	ok(doc == AB_KEY_COUNT, "every key has its sentence");
	for (size_t i = 0; ab_profile_at(i, &p); i++) {
		bool before = false;

		for (size_t k = 0; k < i && ab_profile_at(k, &other); k++)
			before |= p.parent && !strcmp(other.name, p.parent);
		ok(i == 0 ? !p.parent : before, "profile %s builds on one before it", p.name);
	}
	/* The first profile sets everything but empty lists: nothing is left undefined. */
	for (int id = AB_KEY_EXTENDS + 1; id < AB_KEY_COUNT; id++) {
		ok(ab_key_is_list(&ab_keys[id]) || ab_keys[id].usual, "the first profile sets %s",
		   ab_keys[id].path);
	}
}

/* What is built in is used as it stands: it must be clean already. */
static size_t unclean(const char *const *list, bool names)
{
	size_t n = 0;

	for (; *list; list++) {
		const char *s = *list + (**list == '!');
		size_t len = strlen(s);

		n += !len || s[len - 1] == '/' || strstr(s, "//") || strstr(s, "/../") ||
		     strstr(s, "/./");
		n += names ? s[0] == '/' || s[0] == '~' : s[0] != '/' && strncmp(s, "~/", 2) != 0;
		for (const char *const *b = list + 1; *b; b++)
			n += !strcmp(*b, *list);
	}
	return n;
}

static void test_defaults(void)
{
	size_t bad = 0, n;
	const struct ab_obeyed_name *names = ab_obeyed_names(AB_OBEYED_CLOSED, &n);
	const char *closed[200] = { NULL };

	ok(unclean(ab_default_deny_read, false) == 0,
	   "what cannot be read is a list of clean paths");
	for (size_t i = 0; i < n; i++)
		closed[i] = names[i].pattern;
	ok(n < 200 && unclean(closed, true) == 0,
	   "what cannot be written is a list of clean names");
	for (size_t i = 0; ab_default_strip[i]; i++)
		for (size_t k = i + 1; ab_default_strip[k]; k++)
			bad += !strcmp(ab_default_strip[i], ab_default_strip[k]);
	ok(bad == 0, "no variable is stripped twice");
}

static void test_guess(void)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "network.modes", "network.mode" },
		{ "network.mdoe", "network.mode" },
		{ "Network.Mode", "network.mode" },
		{ "filesytem", "filesystem" },
		{ "allow", "network.allow" },
		{ "env.denyRead", "filesystem.denyRead" },
		{ "limits.file", "limits.files" },
		{ "something.else", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++)
		is_str(ab_key_guess(cases[i].in), cases[i].out, cases[i].in);
}

int main(void)
{
	schema = load_schema();
	ok(schema, "the schema is JSON");
	test_table_to_schema();
	test_schema_to_table();
	test_definitions();
	test_invariants();
	test_defaults();
	test_guess();
	json_decref(schema);
	return done();
}
