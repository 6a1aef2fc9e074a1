#include "steer/import/imported.h"

#include "agents/agents.h"
#include "policy/values/complaint.h"
#include "policy/values/host.h"
#include "policy/values/secret_text.h"

enum { PATH_MAX_LEN = 1024, LIST_MAX = 512 };

void ab_imported_fini(struct ab_imported *im)
{
	for (size_t i = 0; i < AB_COUNT(im->lists); i++)
		ab_strv_fini(&im->lists[i]);
	ab_strv_fini_all(&im->rules[0], &im->rules[1], &im->rules[2]);
}

void ab_imported_leave(struct ab_imported *im, const char *value, const char *why)
{
	if (im->left->len >= AB_IMPORTED_LEFT)
		return;
	ab_strv_add_safe(im->left, "line %u: %s%s%.80s%s: %s", im->line, im->path,
			 value ? ": \"" : "", value ? value : "", value ? "\"" : "", why);
	if (im->left->len == AB_IMPORTED_LEFT)
		ab_strv_add(im->left, "more is left out");
}

static bool is_variable(const char *s)
{
	return ab_has_only(s, strlen(s), "_") && s[0] && !ab_is_digit(s[0]) &&
	       strncmp(s, "AGENTBOX_", 9) != 0 && strcmp(s, "SANDBOX_RUNTIME") != 0 &&
	       strlen(s) < 200;
}

/* "$HOME/x" and the like as we write them; NULL: an unknown variable. */
static char *resolve_variable(const char *s)
{
	static const struct {
		const char *name, *path;
	} known[] = {
		{ "$HOME", "~" },
		{ "$WORKDIR", "." },
		{ "$XDG_CONFIG_HOME", "~/.config" },
		{ "$XDG_DATA_HOME", "~/.local/share" },
		{ "$XDG_STATE_HOME", "~/.local/state" },
		{ "$XDG_CACHE_HOME", "~/.cache" },
	};

	if (s[0] != '$')
		return ab_strdup(s);
	for (size_t i = 0; i < AB_COUNT(known); i++) {
		size_t n = strlen(known[i].name);

		if (strncmp(s, known[i].name, n) == 0 && (!s[n] || s[n] == '/'))
			return ab_printf("%s%s", known[i].path, s + n);
	}
	return NULL;
}

static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0 && (!path[n] || path[n] == '/');
}

/* Why the path cannot be an entry of this kind; NULL: it can. */
static const char *find_fault(enum ab_import_as as, const char *file)
{
	bool pattern = strpbrk(file, "*?[") != NULL;

	if (!file[0] || strlen(file) > PATH_MAX_LEN)
		return "not a path";
	if (file[0] == '~' && file[1] && file[1] != '/')
		return "the home folder of another user";
	if (strstr(file, "**"))
		return "a pattern with ** has no counterpart";
	if (pattern && as != AB_IMPORT_DENY_READ && as != AB_IMPORT_READ_BACK)
		return "a pattern is possible for denied reads only";
	if (as == AB_IMPORT_WRITE && strcmp(file, "/") == 0)
		return "the whole file system cannot be writable";
	if (as == AB_IMPORT_WRITE && (strcmp(file, "~") == 0 || strcmp(file, "~/") == 0))
		return "the home folder is a layer: it is writable, and its files stay as they are";
	if (as == AB_IMPORT_WRITE && (is_below(file, "/tmp") || is_below(file, "/private/tmp") ||
				      is_below(file, "/var/tmp") || is_below(file, "/dev")))
		return "the box has its own";
	return NULL;
}

/* Add a path as it is written there. */
static void add_path(struct ab_imported *im, enum ab_import_as as, const char *value)
{
	ab_autofree char *file = resolve_variable(value), *entry = NULL;
	struct ab_strv *list = &im->lists[as];
	const char *fault = file ? NULL : "this variable has no counterpart";
	size_t n;

	/* A folder stands for everything in it. */
	for (n = file ? strlen(file) : 0; n > 3 && strcmp(file + n - 3, "/**") == 0; n -= 3)
		file[n - 3] = '\0';
	if (!fault)
		fault = find_fault(as, file);
	if (!fault && list->len >= LIST_MAX)
		fault = "too many entries";
	if (fault) {
		ab_imported_leave(im, value, fault);
		return;
	}
	/* A bare name is a protected name here, and a path there. */
	if (as == AB_IMPORT_DENY_WRITE && !strchr("/~.", file[0]))
		entry = ab_printf("./%s", file);
	else
		entry = ab_strdup(file);
	if (as != AB_IMPORT_WRITE || (strcmp(entry, ".") != 0 && strcmp(entry, "./") != 0))
		ab_strv_add_once(list, entry);
}

static void add_host(struct ab_imported *im, enum ab_import_as as, const char *value)
{
	struct ab_strv *list = &im->lists[as];
	struct ab_complaint why = { .right = "" };
	char buf[AB_HOST_ENTRY_TEXT];
	struct ab_host_entry e;

	if (ab_host_entry_parse(value, strlen(value), &e, &why) < 0 ||
	    (as == AB_IMPORT_HOST && ab_host_entry_may_allow(&e, &why) < 0)) {
		ab_imported_leave(im, NULL, why.wrong);
		return;
	}
	if (list->len >= LIST_MAX) {
		ab_imported_leave(im, value, "too many entries");
		return;
	}
	ab_host_entry_format(&e, buf);
	ab_strv_add_once(list, buf);
}

/* A longer pattern would be refused in a settings file, and so would more rules. */
enum { PATTERN_MAX = 1024, RULES_MAX = 64 };

static size_t get_verdict(enum ab_import_as as)
{
	return as == AB_IMPORT_RULE_DENY || as == AB_IMPORT_PROGRAM_DENY ? 0
	       : as == AB_IMPORT_RULE_ASK				 ? 1
									 : 2;
}

/* A rule for the judge. `prefix`: the words begin a command; else it is a pattern. */
static void add_command(struct ab_imported *im, enum ab_import_as as, const char *text, bool prefix)
{
	static const char *const verdicts[] = { "forbidden", "escalated", "sandboxed" };
	ab_autobuf struct ab_buf b = { 0 };
	size_t verdict = get_verdict(as);

	if (!prefix) {
		ab_buf_jsonf(&b, "{ 'match': %s", text);
	} else {
		ab_buf_puts(&b, "{ \"prefix\": [");
		for (size_t n, i = 0; *text; text += n, i++) {
			text += strspn(text, " \t");
			n = strcspn(text, " \t");
			if (!n)
				break;
			ab_buf_puts(&b, i ? ", " : "");
			ab_buf_json_n(&b, text, n);
		}
		ab_buf_puts(&b, "]");
	}
	ab_buf_printf(&b, ", \"decision\": \"%s\" }", verdicts[verdict]);
	ab_strv_add_once(&im->rules[verdict], b.data);
}

/* "npm run test:*", "npm run *", "npm test", or nothing for every command. */
static void add_bash(struct ab_imported *im, enum ab_import_as as, const char *spec)
{
	ab_autofree char *text = ab_strdup(spec);
	size_t n = strlen(text);
	bool prefix = n > 2 && strcmp(text + n - 2, ":*") == 0;

	if (prefix)
		text[n - 2] = '\0';
	if (strlen(text) > PATTERN_MAX || im->rules[get_verdict(as)].len >= RULES_MAX) {
		ab_imported_leave(im, spec, "too long, or too many rules");
		return;
	}
	if (prefix && strpbrk(text, "*?\"'\\")) {
		ab_imported_leave(im, spec,
				  "a prefix with quotes or a pattern cannot be written as words");
		return;
	}
	if (as == AB_IMPORT_RULE_ALLOW && (!text[0] || strcmp(text, "*") == 0)) {
		ab_imported_leave(
			im, spec,
			"commands that no rule mentions run in the box without a question");
		return;
	}
	add_command(im, as, text[0] ? text : "*", prefix);
}

static void add_fetch(struct ab_imported *im, enum ab_import_as as, const char *spec)
{
	static const char start[] = "domain:";

	if (strncmp(spec, start, strlen(start)) != 0)
		ab_imported_leave(im, spec, "only domains can be allowed or denied");
	else if (as == AB_IMPORT_RULE_ASK)
		ab_imported_leave(im, spec, "hosts on neither list are asked about");
	else
		add_host(im, as == AB_IMPORT_RULE_DENY ? AB_IMPORT_DENY_HOST : AB_IMPORT_HOST,
			 spec + strlen(start));
}

/* Paths of Claude Code: "//x" is absolute, "/x" and "x" start at the project. */
static char *convert_path(const char *spec)
{
	if (spec[0] == '/' && spec[1] == '/')
		return ab_strdup(spec + 1);
	if (spec[0] == '/')
		return ab_printf(".%s", spec);
	if (spec[0] == '~' || strncmp(spec, "./", 2) == 0)
		return ab_strdup(spec);
	return ab_printf("./%s", spec);
}

static void add_file(struct ab_imported *im, enum ab_import_as as, bool write, const char *spec)
{
	ab_autofree char *file = convert_path(spec);
	bool inside = file[0] == '.';

	if (!spec[0] || as == AB_IMPORT_RULE_ASK)
		ab_imported_leave(im, spec,
				  "files are allowed or denied by path, without questions");
	else if (as == AB_IMPORT_RULE_DENY)
		add_path(im, write ? AB_IMPORT_DENY_WRITE : AB_IMPORT_DENY_READ, file);
	else if (write && !inside)
		add_path(im, AB_IMPORT_WRITE, file);
	/* What it allows is allowed anyway: reading, and writing in the workspace. */
}

/* One rule of Claude Code. */
static void add_rule(struct ab_imported *im, enum ab_import_as as, const char *rule)
{
	size_t tool = strcspn(rule, "("), len = strlen(rule);
	ab_autofree char *name = ab_strndup(rule, tool);
	ab_autofree char *spec = NULL;

	if (rule[tool] && rule[len - 1] != ')') {
		ab_imported_leave(im, rule, "not a rule");
		return;
	}
	spec = rule[tool] ? ab_strndup(rule + tool + 1, len - tool - 2) : ab_strdup("");
	if (strcmp(name, "Bash") == 0)
		add_bash(im, as, spec);
	else if (strcmp(name, "WebFetch") == 0)
		add_fetch(im, as, spec);
	else if (strcmp(name, "Read") == 0)
		add_file(im, as, false, spec);
	else if (strcmp(name, "Edit") == 0 || strcmp(name, "Write") == 0)
		add_file(im, as, true, spec);
	else
		ab_imported_leave(im, rule, "agentbox does not judge this tool");
}

static void add_variable(struct ab_imported *im, const char *name, const char *value)
{
	static const char *const hints[] = {
		"TOKEN", "SECRET", "PASSW", "KEY", "CREDENTIAL", "AUTH"
	};
	struct ab_strv *set = &im->lists[AB_IMPORT_VARIABLE];
	bool named = false;

	for (size_t i = 0; i < AB_COUNT(hints); i++)
		named |= strcasestr(name, hints[i]) != NULL;
	if (named || ab_secret_text(value) || strstr(value, "://"))
		ab_imported_leave(
			im, NULL,
			"may be a credential, and is not copied; use a secret, or env.set");
	else if (!is_variable(name) || strlen(value) > PATH_MAX_LEN || set->len >= LIST_MAX)
		ab_imported_leave(im, NULL, "cannot be set");
	else
		ab_env_set(set, name, value);
}

static void add_port(struct ab_imported *im, const char *value)
{
	struct ab_strv *list = &im->lists[AB_IMPORT_PORT];
	uint16_t port;

	if (!ab_port_parse(value, strlen(value), &port) || list->len >= LIST_MAX)
		ab_imported_leave(im, value, "not a port");
	else
		ab_strv_add_once(list, value);
}

static void add_word(struct ab_imported *im, const struct ab_import_word *words, const char *value)
{
	for (; words->word[0]; words++) {
		if (strcmp(words->word, value) != 0)
			continue;
		if (words->extends[0])
			im->extends = words->extends;
		if (words->mode[0])
			im->mode = words->mode;
		if (words->why)
			ab_imported_leave(im, value, words->why);
		return;
	}
	ab_imported_leave(im, value, "has no counterpart");
}

/* A profile of nono for an agent is ours for it. */
static void add_agent(struct ab_imported *im, const char *value)
{
	for (size_t i = 0; ab_agents[i]; i++)
		if (ab_agents[i]->nono && strcmp(ab_agents[i]->nono, value) == 0) {
			im->extends = ab_agents[i]->name;
			return;
		}
	if (strcmp(value, "default") != 0)
		ab_imported_leave(im, value, "has no counterpart");
}

/* Names of variables and their patterns, as env.pass and env.strip have them. */
static void add_name(struct ab_imported *im, struct ab_strv *list, const char *value)
{
	ab_autofree char *plain = ab_strdup(value);

	for (char *p = plain; *p; p++)
		if (*p == '*' || *p == '?')
			*p = '_';
	if (!is_variable(plain) || list->len >= LIST_MAX)
		ab_imported_leave(im, value, "not the name of a variable");
	else
		ab_strv_add_once(list, value);
}

void ab_imported_add(struct ab_imported *im, const struct ab_import_row *row, const char *key,
		     const char *value)
{
	if (row->as != AB_IMPORT_NOTHING && row->as != AB_IMPORT_LEFT && !ab_all_printable(value)) {
		ab_imported_leave(im, value, "has hidden characters");
		return;
	}
	switch (row->as) {
	case AB_IMPORT_NOTHING:
		break;
	case AB_IMPORT_LEFT:
		ab_imported_leave(im, NULL, row->why);
		break;
	case AB_IMPORT_WRITE:
	case AB_IMPORT_DENY_READ:
	case AB_IMPORT_READ_BACK:
	case AB_IMPORT_DENY_WRITE:
	case AB_IMPORT_UNIX:
		add_path(im, row->as, value);
		break;
	case AB_IMPORT_HOST:
	case AB_IMPORT_DENY_HOST:
		add_host(im, row->as, value);
		break;
	case AB_IMPORT_PORT:
		add_port(im, value);
		break;
	case AB_IMPORT_RULE_ALLOW:
	case AB_IMPORT_RULE_ASK:
	case AB_IMPORT_RULE_DENY:
		add_rule(im, row->as, value);
		break;
	case AB_IMPORT_PROGRAM_ALLOW:
	case AB_IMPORT_PROGRAM_DENY:
		if (value[0] && strlen(value) < PATH_MAX_LEN && !strpbrk(value, " \t\"'\\*?"))
			add_command(im, row->as, value, true);
		else
			ab_imported_leave(im, value, "not the name of a program");
		break;
	case AB_IMPORT_VARIABLE:
		add_variable(im, key, value);
		break;
	case AB_IMPORT_PASS:
	case AB_IMPORT_STRIP:
		add_name(im, &im->lists[row->as], value);
		break;
	case AB_IMPORT_AGENT:
		add_agent(im, value);
		break;
	case AB_IMPORT_WORD:
		add_word(im, row->words, value);
		break;
	}
}

/* The text of a settings file, member by member. */
struct out {
	struct ab_buf b;
	const char *section; /* open, or NULL */
};

static void begin_member(struct out *o, const char *section, const char *key)
{
	bool same = o->section && section && strcmp(o->section, section) == 0;

	if (o->section && !same)
		ab_buf_puts(&o->b, "\n  }");
	ab_buf_puts(&o->b, o->b.len > 1 && (same || o->b.data[o->b.len - 1] != '{') ? ",\n" : "\n");
	if (section && !same)
		ab_buf_printf(&o->b, "  \"%s\": {\n", section);
	o->section = section;
	ab_buf_printf(&o->b, "%s\"%s\": ", section ? "    " : "  ", key);
}

static void put_text(struct out *o, const char *section, const char *key, const char *text)
{
	if (!text)
		return;
	begin_member(o, section, key);
	ab_buf_json(&o->b, text);
}

static void put_list(struct out *o, const char *section, const char *key,
		     const struct ab_strv *list, bool strings)
{
	if (!list->len)
		return;
	begin_member(o, section, key);
	ab_buf_puts(&o->b, "[");
	for (size_t i = 0; i < list->len; i++) {
		ab_buf_puts(&o->b, i ? ", " : "");
		if (strings)
			ab_buf_json(&o->b, list->v[i]);
		else
			ab_buf_puts(&o->b, list->v[i]);
	}
	ab_buf_puts(&o->b, "]");
}

static void put_variables(struct out *o, const struct ab_strv *set)
{
	if (!set->len)
		return;
	begin_member(o, "env", "set");
	for (size_t i = 0; i < set->len; i++) {
		const char *value = strchr(set->v[i], '=') + 1;

		ab_buf_puts(&o->b, i ? ", " : "{ ");
		ab_buf_json_n(&o->b, set->v[i], (size_t)(value - 1 - set->v[i]));
		ab_buf_puts(&o->b, ": ");
		ab_buf_json(&o->b, value);
	}
	ab_buf_puts(&o->b, " }");
}

static void put_rules(struct out *o, const struct ab_imported *im)
{
	bool any = false;

	/* The first match decides: the stricter verdicts come first. */
	for (size_t k = 0; k < AB_COUNT(im->rules); k++)
		for (size_t i = 0; i < im->rules[k].len; i++) {
			if (!any)
				begin_member(o, "commands", "rules");
			ab_buf_printf(&o->b, "%s\n      %s", any ? "," : "[", im->rules[k].v[i]);
			any = true;
		}
	if (any)
		ab_buf_puts(&o->b, "\n    ]");
}

/* An exception may open what the file itself denies, and nothing that agentbox denies. */
static void add_exceptions(const struct ab_strv *back, struct ab_strv *denied)
{
	size_t len = denied->len;

	for (size_t i = 0; i < back->len; i++) {
		bool own = false;

		for (size_t k = 0; k < len; k++)
			own |= strcmp(back->v[i], denied->v[k]) != 0 &&
			       is_below(back->v[i], denied->v[k]);
		if (own)
			ab_strv_addf(denied, "!%s", back->v[i]);
	}
}

char *ab_imported_text(struct ab_imported *im)
{
	struct out o = { 0 };
	struct ab_strv *lists = im->lists;
	bool hosts =
		lists[AB_IMPORT_HOST].len || lists[AB_IMPORT_DENY_HOST].len || im->format->closed;
	bool open = !im->mode || strcmp(im->mode, "blocked") != 0;

	add_exceptions(&lists[AB_IMPORT_READ_BACK], &lists[AB_IMPORT_DENY_READ]);
	ab_buf_puts(&o.b, "{");
	put_text(&o, NULL, "extends", im->extends);
	put_list(&o, "filesystem", "write", &lists[AB_IMPORT_WRITE], true);
	put_list(&o, "filesystem", "denyRead", &lists[AB_IMPORT_DENY_READ], true);
	put_list(&o, "filesystem", "denyWrite", &lists[AB_IMPORT_DENY_WRITE], true);
	put_list(&o, "filesystem", "unix", &lists[AB_IMPORT_UNIX], true);
	put_text(&o, "network", "mode", im->mode ? im->mode : hosts ? "filtered" : NULL);
	put_list(&o, "network", "allow", &lists[AB_IMPORT_HOST], true);
	put_list(&o, "network", "deny", &lists[AB_IMPORT_DENY_HOST], true);
	put_text(&o, "network", "unknown", im->format->closed ? "deny" : NULL);
	/* Only a filtered network has them. */
	if (open)
		put_list(&o, "network", "hostPorts", &lists[AB_IMPORT_PORT], false);
	put_text(&o, "env", "mode", lists[AB_IMPORT_PASS].len ? "listed" : NULL);
	put_list(&o, "env", "pass", &lists[AB_IMPORT_PASS], true);
	put_list(&o, "env", "strip", &lists[AB_IMPORT_STRIP], true);
	put_variables(&o, &lists[AB_IMPORT_VARIABLE]);
	put_rules(&o, im);
	if (o.section)
		ab_buf_puts(&o.b, "\n  }");
	ab_buf_puts(&o.b, o.b.len > 1 ? "\n}\n" : "}\n");
	return ab_buf_take(&o.b);
}
