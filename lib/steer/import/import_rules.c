#include "steer/import/imported.h"

/* A longer pattern would be refused in a settings file, and so would more rules. */
enum { PATTERN_MAX = 1024, RULES_MAX = 64 };

static size_t get_verdict(enum ab_import_as as)
{
	return as == AB_IMPORT_RULE_DENY || as == AB_IMPORT_PROGRAM_DENY ? 0
	       : as == AB_IMPORT_RULE_ASK				 ? 1
									 : 2;
}

void ab_imported_command(struct ab_imported *im, enum ab_import_as as, const char *text,
			 bool prefix)
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
	ab_imported_command(im, as, text[0] ? text : "*", prefix);
}

static void add_fetch(struct ab_imported *im, enum ab_import_as as, const char *spec)
{
	static const char start[] = "domain:";

	if (strncmp(spec, start, strlen(start)) != 0)
		ab_imported_leave(im, spec, "only domains can be allowed or denied");
	else if (as == AB_IMPORT_RULE_ASK)
		ab_imported_leave(im, spec, "hosts on neither list are asked about");
	else
		ab_imported_host(im,
				 as == AB_IMPORT_RULE_DENY ? AB_IMPORT_DENY_HOST : AB_IMPORT_HOST,
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
		ab_imported_path(im, write ? AB_IMPORT_DENY_WRITE : AB_IMPORT_DENY_READ, file);
	else if (write && !inside)
		ab_imported_path(im, AB_IMPORT_WRITE, file);
	/* What it allows is allowed anyway: reading, and writing in the workspace. */
}

void ab_imported_rule(struct ab_imported *im, enum ab_import_as as, const char *rule)
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
