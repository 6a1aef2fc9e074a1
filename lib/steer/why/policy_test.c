#include "steer/why/policy_test.h"

#include "audit/read/words.h"
#include "base/text/json_scan.h"
#include "consent/consent.h"
#include "policy/layers/layers.h"
#include "policy/read/settings_file.h"
#include "steer/preview/preview.h"
#include "steer/why/why_policy.h"

static const char *const subjects[] = { "reach", "read", "write", "run" };
static const char *const accesses[] = { "allow", "ask", "deny" };

struct one_test {
	const char *subject; /* of `subjects` */
	const char *what;
	const char *expect; /* of `accesses` */
	const char *got;
	char *text; /* the answer, escaped */
	unsigned line;
};

struct testing {
	const struct ab_policy_input *input;
	const struct ab_preview *preview;
	const char *file;
	struct ab_error *err;
};

static int fail_at(const struct testing *t, const struct ab_json_scan_node *node, const char *wrong,
		   const char *right)
{
	ab_autofree char *name = ab_escape(t->file);

	ab_fail(t->err, AB_ECONFIG, 0, "%s:%u:%u: %s", name, node->line, node->column, wrong);
	return ab_hint(t->err, "%s", right);
}

static int read_test(const struct testing *t, const struct ab_json_scan_node *node,
		     struct one_test *ret)
{
	static const char right[] =
		"use one like { \"reach\": \"github.com\", \"expect\": \"allow\" }";

	*ret = (struct one_test){ .line = node->line };
	if (node->kind != '{')
		return fail_at(t, node, "expected an object", right);
	ab_json_scan_each(k, node)
	{
		if (strcmp(k->key, "reason") == 0)
			continue;
		if (!k->text || !*k->text)
			return fail_at(t, k, "expected a string", right);
		if (strcmp(k->key, "expect") == 0) {
			ret->expect = k->text;
			if (!ab_has_word(accesses, AB_COUNT(accesses), k->text))
				return fail_at(t, k, "invalid value", "use allow, ask or deny");
		} else if (!ab_has_word(subjects, AB_COUNT(subjects), k->key)) {
			return fail_at(t, k, "unknown key",
				       "use reach, read, write or run, expect and reason");
		} else if (ret->subject) {
			return fail_at(t, k, "a test has only one of reach, read, write and run",
				       "make two tests of it");
		} else {
			ret->subject = k->key;
			ret->what = k->text;
		}
	}
	return ret->subject && ret->expect ? 0
					   : fail_at(t, node, "the test is not complete", right);
}

static const char *judge_text(const struct testing *t, const char *text, char **ret_text)
{
	const struct ab_command command = { .policy = t->preview->policy,
					    .cwd = t->input->cwd,
					    .script = text };
	struct ab_arena arena = { 0 };
	struct ab_judgement j;
	const char *access;

	ab_consent_judge(&arena, &command, &j);
	access = j.decision == AB_FORBIDDEN ? "deny" : j.decision == AB_ESCALATED ? "ask" : "allow";
	*ret_text = ab_escape(j.reason);
	ab_arena_fini(&arena);
	return access;
}

/* The answer that `why` would give. */
static int answer_test(const struct testing *t, struct one_test *one)
{
	struct ab_why_answers answers = { .kind = "" };
	bool write = strcmp(one->subject, "write") == 0;
	ab_autofree char *path = NULL;
	int result = 0;

	if (strcmp(one->subject, "run") == 0) {
		one->got = judge_text(t, one->what, &one->text);
		return 0;
	}
	if (strcmp(one->subject, "reach") == 0) {
		result = ab_why_answer_host(t->preview, one->what, &answers, t->err);
	} else {
		path = ab_path_resolve(one->what, t->input->cwd, t->input->home);
		if (path)
			ab_why_answer_path(t->preview, path, !write, write, &answers);
		else
			result = ab_fail(t->err, AB_EUSAGE, 0, "%s: the home folder is unknown",
					 one->what);
	}
	if (result == 0) {
		one->got = answers.v[0].access;
		one->text = ab_strdup(answers.v[0].text);
	}
	ab_why_answers_fini(&answers);
	return result < 0 ? ab_wrap(t->err, "%s:%u", t->file, one->line) : 0;
}

static void put_test(struct ab_buf *b, const struct one_test *one)
{
	bool good = strcmp(one->got, one->expect) == 0;

	ab_words_safe(b, "%-5s %-5s %s: %s", good ? "ok" : "FAIL", one->subject, one->what,
		      one->got);
	if (!good)
		ab_buf_printf(b, ", expected %s (line %u)\n      %s", one->expect, one->line,
			      one->text);
	ab_buf_puts(b, "\n");
}

static void put_test_json(struct ab_buf *b, const struct one_test *one)
{
	ab_buf_jsonf(b, ",{%s:%s,'expect':%s,'got':%s,'ok':%hhd,'line':%u,'text':%s}", one->subject,
		     one->what, one->expect, one->got, (bool)(strcmp(one->got, one->expect) == 0),
		     one->line, one->text);
}

/* The list of tests, or NULL after an error. */
static const struct ab_json_scan_node *find_tests(const struct testing *t,
						  const struct ab_json_scan *scan)
{
	const struct ab_json_scan_node *root = scan->nodes, *found = NULL;

	if (root->kind == '{')
		ab_json_scan_each(k, root)
		{
			if (strcmp(k->key, "tests") == 0 && k->kind == '[') {
				found = k;
			} else if (strcmp(k->key, "description") != 0) {
				fail_at(t, k, "unknown key, or not a list",
					"use { \"tests\": [ ... ] }");
				return NULL;
			}
		}
	if (!found || !found->count)
		fail_at(t, root, "there are no tests", "use { \"tests\": [ ... ] }");
	return found && found->count ? found : NULL;
}

static int run_tests(const struct testing *t, const struct ab_json_scan *scan, bool json,
		     struct ab_policy_tested *ret)
{
	const struct ab_json_scan_node *list = find_tests(t, scan);
	ab_autobuf struct ab_buf b = { 0 };
	struct ab_policy_tested done = { 0 };

	if (!list)
		return -1;
	ab_buf_puts(&b, json ? "[" : "");
	ab_json_scan_each(k, list)
	{
		ab_autofree char *text = NULL;
		struct one_test one;

		if (read_test(t, k, &one) < 0 || answer_test(t, &one) < 0)
			return -1;
		text = one.text;
		done.tests++;
		done.failed += strcmp(one.got, one.expect) != 0;
		(json ? put_test_json : put_test)(&b, &one);
	}
	ab_buf_puts(&b, json ? "]\n" : "");
	if (!json)
		ab_buf_printf(&b, "%zu test%s, %zu failed\n", done.tests,
			      done.tests == 1 ? "" : "s", done.failed);
	done.text = ab_buf_take(&b);
	*ret = done;
	return 0;
}

int ab_policy_test(const struct ab_policy_input *input, const char *file, bool json,
		   struct ab_policy_tested *ret, struct ab_error *err)
{
	struct ab_request request = { .policy = *input };
	ab_autofree char *text = NULL, *name = ab_escape(file);
	ab_autoscan struct ab_json_scan scan = { 0 };
	ab_auto(ab_preview_fini) struct ab_preview preview = { 0 };
	struct testing t = { .input = input, .preview = &preview, .file = file, .err = err };
	size_t len;

	if (ab_settings_file_read(file, name, false, &text, &len, err) < 0)
		return -1;
	if (!text)
		return ab_fail(err, AB_EUSAGE, 0, "%s does not exist", name);
	if (ab_jsonc_scan_parse(&scan, text, len) < 0) {
		ab_fail(err, AB_ECONFIG, 0, "%s:%u:%u: %s", name, scan.line, scan.column,
			scan.wrong);
		return ab_hint(err, "%s", scan.right);
	}
	return ab_preview_open(&request, true, &preview, err) < 0 ? -1
								  : run_tests(&t, &scan, json, ret);
}
