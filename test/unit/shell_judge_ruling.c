#include "shell/judge/ruling.h"

#include <regex.h>
#include <time.h>

#include "shell_rows.h"

static const struct {
	const char *glob, *command;
	bool matches;
} globs[] = {
	{ "git push", "git push", true },
	{ "git push", "git push x", false },
	{ "git push*", "git push x", true },
	{ "git push *", "git push", false },
	{ "git push *", "git push a/b c", true },
	{ "git pus?", "git push", true },
	{ "git push *", "git push $", true },
	{ "git push ?", "git push $", false },
	{ "git push x", "git push x$", false },
	{ "git push x*", "git push x$", true },
	{ "*x*y*", "a xb cy d", true },
	{ "*x*y", "a xb cy d", false },
	{ "*", "anything at all", true },
	{ "", "x", false },
	{ "a*a*a*b", "aaaaaaaaaaaaaaaaaaaa", false },
	{ "make", "./make", false },
	{ "npm run *", "npm run 'a b'", true },
};

static bool match_one(struct ab_user_rule rule, const char *command)
{
	struct ab_ruling ruling = { .rules = &rule, .nrules = 1 };
	struct row_command c;

	row_read(&c, command);
	return ab_ruling_match(&ruling, &c.simple) == &rule;
}

static void test_globs(void)
{
	for (size_t i = 0; i < AB_COUNT(globs); i++)
		ok(match_one((struct ab_user_rule){ .text = globs[i].glob }, globs[i].command) ==
			   globs[i].matches,
		   "\"%s\" and \"%s\"", globs[i].glob, globs[i].command);
	ok(match_one((struct ab_user_rule){ .text = "make *", .decision = AB_ESCALATED },
		     "/usr/bin/make x"),
	   "a path does not evade a rule that asks");
}

static void test_prefix(void)
{
	static const char *const words[] = { "git", "push" };
	struct ab_user_rule rule = {
		.kind = AB_MATCH_PREFIX, .text = "git push", .words = words, .nwords = 2
	};

	ok(match_one(rule, "git push") && match_one(rule, "git push -f"),
	   "the first words are these");
	ok(!match_one(rule, "git pushy") && !match_one(rule, "git") && !match_one(rule, "git $"),
	   "not others, not fewer, not unknown ones");
}

static void test_regex(void)
{
	char longer[400];
	struct ab_user_rule rule = { .kind = AB_MATCH_REGEX };
	regex_t regex;

	if (regcomp(&regex, "^npm (run|test)( |$)", REG_EXTENDED | REG_NOSUB))
		return;
	rule.regex = &regex;
	ok(match_one(rule, "npm run x") && match_one(rule, "npm test"), "an expression finds");
	ok(!match_one(rule, "npm runx") && !match_one(rule, "npm r$n x"),
	   "an unknown stretch breaks the text");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	ok(!match_one(rule, longer), "a long word");
	regfree(&regex);
}

static void test_long(void)
{
	struct ab_field argv[3] = { { .text = { "npm", 3 } }, { .text = { "run", 3 } } };
	struct ab_simple command = { .name = { "npm", 3 }, .argv = argv, .argc = 3 };
	ab_autofree char *word = ab_alloc(100000);
	struct ab_user_rule rule = { .kind = AB_MATCH_REGEX };
	struct ab_ruling ruling = { .rules = &rule, .nrules = 1 };
	regex_t regex;

	memset(word, 'x', 100000);
	argv[2].text = (struct ab_text){ word, 100000 };
	if (regcomp(&regex, "^npm run x*$", REG_EXTENDED | REG_NOSUB))
		return;
	rule.regex = &regex;
	ok(ab_ruling_match(&ruling, &command) == &rule, "more text than the stack holds");
	regfree(&regex);
}

/* Neither a pattern that goes back at each byte nor a long command is rare
 * where both are a stranger's. */
static void test_undecided(void)
{
	char glob[1026] = "*";
	struct ab_field argv[2] = { { .text = { "echo", 4 } } };
	struct ab_simple command = { .name = { "echo", 4 }, .argv = argv, .argc = 2 };
	ab_autofree char *word = ab_alloc(1 << 20);
	struct ab_user_rule rule = { .text = glob, .decision = AB_FORBIDDEN };
	struct ab_ruling ruling = { .rules = &rule, .nrules = 1 };

	memset(glob + 1, 'a', 1000);
	glob[1001] = 'b';
	memset(word, 'a', 1 << 20);
	argv[1].text = (struct ab_text){ word, 1 << 20 };
	ok(ab_ruling_match(&ruling, &command) == &rule,
	   "a rule that refuses holds where it takes too long to tell");
	rule.decision = AB_ALLOW;
	ok(!ab_ruling_match(&ruling, &command), "one that permits does not");
}

static void test_order(void)
{
	struct ab_user_rule rules[] = {
		{ .text = "git push*", .decision = AB_ALLOW },
		{ .text = "git *", .decision = AB_FORBIDDEN },
	};
	struct ab_ruling ruling = { .rules = rules, .nrules = 2 };
	struct row_command c;

	row_read(&c, "git push x");
	ok(ab_ruling_match(&ruling, &c.simple) == &rules[0], "the first");
	row_read(&c, "git pull");
	ok(ab_ruling_match(&ruling, &c.simple) == &rules[1], "that matches");
	row_read(&c, "ls");
	ok(!ab_ruling_match(&ruling, &c.simple), "or none");
	ok(!ab_ruling_match(NULL, &c.simple), "no rules at all");
	c.simple.argc = 0;
	ok(!ab_ruling_match(&ruling, &c.simple), "no command at all");
}

/* What a project says that nobody trusts stands behind no rule of the user's,
 * and before none. */
static void test_untrusted(void)
{
	struct ab_user_rule rules[] = {
		{ .text = "git *", .decision = AB_SANDBOXED, .tighten = true },
		{ .text = "git push*", .decision = AB_ESCALATED },
		{ .text = "git pull*", .decision = AB_ALLOW },
		{ .text = "git p*", .decision = AB_FORBIDDEN, .tighten = true },
	};
	struct ab_ruling ruling = { .rules = rules, .nrules = 3 };
	struct row_command c;

	row_read(&c, "git push");
	ok(ab_ruling_match(&ruling, &c.simple) == &rules[1],
	   "a milder rule of a project does not hide a stricter one");
	row_read(&c, "git pull");
	ok(ab_ruling_match(&ruling, &c.simple) == &rules[0],
	   "a stricter one counts wherever it stands");
	row_read(&c, "git log");
	ok(ab_ruling_match(&ruling, &c.simple) == &rules[0], "and where there is no other");
	ruling.nrules = 4;
	row_read(&c, "git push");
	ok(ab_ruling_match(&ruling, &c.simple) == &rules[3], "of several the strictest");
}

static void test_decide(void)
{
	struct ab_ruling ruling = { 0 };
	struct ab_hit find = { .rule = AB_RULE_DESTRUCTIVE_FIND };
	struct ab_hit push = { .rule = AB_RULE_GIT_PUBLISH };

	ok(ab_ruling_decide(NULL, &find) == AB_FORBIDDEN, "the table's own");
	find.mild = true;
	ok(ab_ruling_decide(&ruling, &find) == AB_ESCALATED, "mild is milder");
	ruling.overrides[push.rule].changed = true;
	ruling.overrides[push.rule].decision = AB_SANDBOXED;
	ok(ab_ruling_decide(&ruling, &push) == AB_SANDBOXED, "an override");
	ruling.overrides[push.rule].tighten = true;
	ok(ab_ruling_decide(&ruling, &push) == AB_ESCALATED,
	   "one that may only make stricter does not loosen");
	ruling.overrides[push.rule].decision = AB_FORBIDDEN;
	ok(ab_ruling_decide(&ruling, &push) == AB_FORBIDDEN, "but makes stricter");
}

int main(void)
{
	test_globs();
	test_prefix();
	test_regex();
	test_long();
	test_undecided();
	test_order();
	test_untrusted();
	test_decide();
	return done();
}
