#include "policy/layers/trust.h"

#include <dirent.h>

#include "base/text/text_diff.h"
#include "policy_help.h"
#include "tap.h"

static struct ab_trust_review review;

static bool look(const char *file)
{
	ab_trust_review_fini(&review);
	memset(&error, 0, sizeof(error));
	return ab_trust_review(&input, file, &review, &error) == 0;
}

static bool reaches(const char *host)
{
	struct ab_policy *p = load();
	bool r = p && ab_strv_has(&p->net.allow, host);

	ab_policy_free(p);
	return r;
}

static enum ab_trust_state status(void)
{
	enum ab_trust_state s = AB_TRUST_NONE;

	ok(ab_trust_status(&input, NULL, &s, &error) == 0, "it has a state");
	return s;
}

static void test_life(void)
{
	struct stat st;
	bool had;

	put_file(PROJECT_FILE, "{\n\"network\": {\n\"allow\": [\"a.example\"]\n}\n}\n");
	ok(!reaches("a.example") && notes.len == 2, "untrusted at first");
	ok(look(NULL) && review.state == AB_TRUST_NONE && review.diff.len == 5 &&
		   review.diff.v[2][0] == '+',
	   "a review shows the whole file");
	is_str(joined(&review.widens), "network.allow: a.example", "and what it would allow");
	ok(review.tightens.len == 0 && strlen(review.sha256) == 64, "and its digest");
	ok(ab_trust_record(&input, &review, &error) == 0, "it is recorded");
	ok(reaches("a.example") && notes.len == 0, "and trusted");
	ok(stat(at("home/.local/state/agentbox/trust"), &st) == 0 && (st.st_mode & 0777) == 0700,
	   "the records are the owner's");
	ok(status() == AB_TRUST_HOLDS, "which is trust");
	ok(look(NULL) && review.state == AB_TRUST_HOLDS && !review.diff.len,
	   "the review says that it holds");

	put_file(PROJECT_FILE,
		 "{\n\"network\": {\n\"allow\": [\"a.example\", \"b.example\"]\n}\n}\n");
	ok(!reaches("a.example") && notes.len == 2, "changed, it is untrusted again");
	ok(status() == AB_TRUST_CHANGED, "which is change");
	ok(look(".agentbox.json") && review.state == AB_TRUST_CHANGED && review.diff.len == 2,
	   "the review says so");
	is_str(joined(&review.diff),
	       "-\"allow\": [\"a.example\"] +\"allow\": [\"a.example\", \"b.example\"]",
	       "and shows what changed");

	/* What was reviewed is recorded, not what the file is by now. */
	put_file(PROJECT_FILE, "{\"network\":{\"allow\":[\"evil.example\"]}}");
	ok(ab_trust_record(&input, &review, &error) == 0 && !reaches("evil.example"),
	   "a change behind the review is not trusted");
	put_file(PROJECT_FILE,
		 "{\n\"network\": {\n\"allow\": [\"a.example\", \"b.example\"]\n}\n}\n");
	ok(reaches("b.example"), "what was reviewed is");

	ok(ab_trust_revoke(&input, NULL, &had, &error) == 0 && had && !reaches("b.example"),
	   "trust can be taken back");
	ok(ab_trust_revoke(&input, NULL, &had, &error) == 0 && !had, "once");
}

static void test_place(void)
{
	put_file(PROJECT_FILE, "{\"network\":{\"allow\":[\"a.example\"]}}");
	ok(look(NULL) && ab_trust_record(&input, &review, &error) == 0 && reaches("a.example"),
	   "trusted here");
	put_file("home/work/sub/.agentbox.json", "{\"network\":{\"allow\":[\"a.example\"]}}");
	input.workspace = "sub";
	ok(!reaches("a.example"), "a copy elsewhere is not trusted");
	reset_input();
	if (symlink(at("home/work"), at("home/alias")) == 0) {
		input.cwd = at("home/alias");
		ok(reaches("a.example"), "the same file by another way is");
	}
	reset_input();
	set_env("AGENTBOX_STATE", at("home/state2"));
	ok(!reaches("a.example"), "another state knows nothing");
	reset_input();
}

/* The path of the only record. */
static const char *record(void)
{
	const char *dir = at("home/.local/state/agentbox/trust");
	DIR *d = opendir(dir);
	struct dirent *e;
	const char *found = NULL;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.') {
			ab_strv_addf(&texts, "%s/%s", dir, e->d_name);
			found = texts.v[texts.len - 1];
		}
	if (d)
		closedir(d);
	return found;
}

static void test_record_safety(void)
{
	const char *path = record();
	FILE *f;

	ok(path && reaches("a.example"), "trusted before");
	if (!path)
		return;
	ok(chmod(path, 0666) == 0 && !reaches("a.example"),
	   "a record that others can write is none");
	ok(chmod(path, 0600) == 0 && reaches("a.example"), "else it is one");
	ok(rename(path, at("moved")) == 0 && symlink(at("moved"), path) == 0 &&
		   !reaches("a.example"),
	   "a record that is a link is none");
	ok(rename(at("moved"), path) == 0 && reaches("a.example"), "the file itself is one");
	f = fopen(path, "r+");
	ok(f && fseek(f, -3, SEEK_END) == 0 && fputc('x', f) == 'x' && fclose(f) == 0 &&
		   !reaches("a.example"),
	   "a record whose text was changed does not hold");
	ok(truncate(path, 10) == 0 && !reaches("a.example"), "nor one that was cut");
}

static void test_errors(void)
{
	ok(!look("~/work/none/.agentbox.json") && error.code == AB_EUSAGE,
	   "a folder that is not there");
	remove_file(PROJECT_FILE);
	ok(!look(NULL) && strstr(error.text, "does not exist"), "a file that is not there");
	put_file("home/work/x.json", "{}");
	ok(!look("x.json") && strstr(error.text, "only project files need trust"),
	   "a file that is not a project's");
	put_file(PROJECT_FILE, "{\"network\":{\"mode\":\"x\"}}");
	ok(!look(NULL) && error.code == AB_ECONFIG, "a file with a mistake");
	remove_file(PROJECT_FILE);
	input.home = NULL;
	put_file(PROJECT_FILE, "{}");
	ok(!look(NULL) && strstr(error.text, "there is no folder for"), "no state folder");
	reset_input();
}

static void test_textdiff(void)
{
	static const struct {
		const char *a, *b, *diff;
	} cases[] = {
		{ "", "", "" },
		{ "a\nb\n", "a\nb\n", "" },
		{ "", "a\nb", "+a +b" },
		{ "a\nb", "", "-a -b" },
		{ "a\nb\nc\n", "a\nx\nc\n", "-b +x" },
		{ "a\nb\nc\nd\n", "b\nd\ne\n", "-a -c +e" },
		{ "a\nb\nc\nd\ne\n", "a\nc\nx\ne\n", "-b -d +x" },
		{ "a\n", "a\n\033[2J\n", "+\\x1b[2J" },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_strv diff = { 0 };

		ab_text_diff(cases[i].a, strlen(cases[i].a), cases[i].b, strlen(cases[i].b), &diff);
		is_str(joined(&diff), cases[i].diff, "a difference of texts");
		ab_strv_fini(&diff);
	}
}

int main(void)
{
	world_init();
	test_life();
	test_place();
	test_record_safety();
	test_errors();
	test_textdiff();
	ab_trust_review_fini(&review);
	world_fini();
	return done();
}
