#include "workspace/survey/survey.h"

#include "workspace_help.h"

static void simple(void)
{
	struct ab_survey s;

	sh("mkdir -p $T/w/.vscode $T/w/src; echo x > $T/w/.envrc;"
	   "echo x > $T/w/.bashrc2; mkdir -p $T/w/.config");
	s = survey("w", NULL);
	ok(writable(&s, "w") && s.write.len == 1, "the root is writable");
	ok(closed(&s, AB_NODE_DIR, "w/.vscode"), "an existing folder is closed");
	ok(closed(&s, AB_NODE_FILE, "w/.envrc"), "an existing file is closed");
	ok(s.nclosed == 2, "and nothing else");
	ok(watched(&s, "w", ".bashrc"), "a missing name is watched for");
	ok(!watched(&s, "w", ".envrc"), "an existing one is not");
	ok(watched(&s, "w/.config", "fish") && !watched(&s, "w", ".config/fish"),
	   "in the deepest folder that exists");
	ok(s.complete && s.searched && s.findings.len == 0 && s.notes.len == 0, "nothing to tell");
	ab_survey_fini(&s);
	sh("rmdir $T/w/.config");
	s = survey("w", NULL);
	ok(watched(&s, "w", ".config/fish"), "with its folder missing, from the root");
	ab_survey_fini(&s);
	sh("echo x > $T/w/.config");
	s = survey("w", NULL);
	ok(watched(&s, "w", ".config/fish") && !closed(&s, AB_NODE_FILE, "w/.config"),
	   "a file in the folder's place hides nothing");
	ab_survey_fini(&s);
}

static void roots(void)
{
	struct ab_survey s;

	sh("mkdir -p $T/r/sub/.vscode; ln -s r $T/alias; echo x > $T/onefile");
	s = survey("alias", "r/sub", "missing", "onefile", NULL);
	ok(writable(&s, "r") && writable(&s, "onefile") && s.write.len == 2,
	   "a linked root is resolved, a nested one is in it");
	ok(closed(&s, AB_NODE_DIR, "r/sub/.vscode"), "the top of a nested root counts as a top");
	ok(said(&s.findings, "/missing writable: it does not exist"), "a missing root is told");
	ab_survey_fini(&s);
	s = survey("r", NULL);
	ok(!closed(&s, AB_NODE_DIR, "r/sub/.vscode"), "a deeper folder is no top");
	ok(said(&s.notes, "r/sub/.vscode"), "but its protected name is noted");
	ab_survey_fini(&s);
}

static void links(void)
{
	struct ab_survey s;

	sh("mkdir -p $T/l/real/deep $T/l/other $T/out/vs;"
	   "ln -s real/deep $T/l/hop; ln -s hop $T/l/.vscode;"
	   "ln -s ../out/vs $T/l/.claude;"
	   "ln -s other/none $T/l/.envrc; ln -s nowhere/x $T/l/.bashrc;"
	   "ln -s .mcp.json $T/l/.mcp.json");
	s = survey("l", NULL);
	ok(closed(&s, AB_NODE_LINK, "l/.vscode") && closed(&s, AB_NODE_LINK, "l/hop") &&
		   closed(&s, AB_NODE_DIR, "l/real/deep"),
	   "each link of a chain is pinned and the target closed");
	ok(closed(&s, AB_NODE_LINK, "l/.claude") && !closed(&s, AB_NODE_DIR, "out/vs"),
	   "a target outside the roots needs no closing");
	ok(closed(&s, AB_NODE_LINK, "l/.envrc") && watched(&s, "l/other", "none"),
	   "a dangling link is pinned and its target watched for");
	ok(closed(&s, AB_NODE_LINK, "l/.bashrc") && watched(&s, "l", "nowhere/x"),
	   "also where the folder is missing");
	ok(closed(&s, AB_NODE_LINK, "l/.mcp.json"), "a link to itself ends");
	ab_survey_fini(&s);

	sh("mkdir -p $T/m/d; ln -s . $T/m/.vscode; ln -s / $T/m/.claude;"
	   "ln -s ../m/d/../d $T/m/.envrc; ln -s 'none/~x' $T/m/.bashrc;"
	   "ln -s gone/../up $T/m/.mcp.json");
	s = survey("m", NULL);
	ok(!closed(&s, AB_NODE_DIR, "m") && !s.complete && said(&s.findings, "stays open"),
	   "a link to the root does not close the root");
	ok(closed(&s, AB_NODE_DIR, "m/d"), "dots in a target are understood");
	ok(watched(&s, "m", "none/~x"), "a tilde in a target is a tilde");
	ok(watched(&s, "m", "gone"),
	   "a way that climbs behind a missing folder is watched from there");
	ab_survey_fini(&s);
}

static void hard_links(void)
{
	struct ab_survey s;

	sh("mkdir -p $T/h/a/b $T/h/.vscode; echo x > $T/h/.envrc;"
	   "ln $T/h/.envrc $T/h/a/b/other; echo x > $T/h/.vscode/tasks.json;"
	   "ln $T/h/.vscode/tasks.json $T/h/a/tasks; ln $T/h/.envrc $T/outside;"
	   "echo x > $T/h/a/plain; ln $T/h/a/plain $T/h/a/plain2");
	s = survey("h", NULL);
	ok(closed(&s, AB_NODE_FILE, "h/a/b/other"), "another name of a closed file is closed");
	ok(closed(&s, AB_NODE_FILE, "h/a/tasks"), "also of a file in a closed folder");
	ok(!closed(&s, AB_NODE_FILE, "h/a/plain2"), "others are not");
	ok(s.complete, "names outside the roots are no harm");
	ab_survey_fini(&s);
	sh("cd $T/h/a; i=0; while [ $i -lt 4100 ]; do mkdir d$i; i=$((i+1)); "
	   "done");
	s = survey("h", NULL);
	ok(!s.complete && said(&s.findings, "hard links"), "a walk that was cut is told");
	ok(!s.searched, "and so is the scan");
	ok(closed(&s, AB_NODE_FILE, "h/.envrc"), "the file itself is closed");
	ab_survey_fini(&s);
}

static void policy_forms(void)
{
	struct ab_policy p = { .home = top };
	struct ab_error err;
	struct ab_survey s;

	sh("mkdir -p $T/p/x/y $T/p/keep; touch $T/p/a.sh $T/p/b.txt $T/p/x/y/z;"
	   "ln -s p/b.txt $T/.profile");
	ab_strv_give(&p.fs.write, at("p"));
	ab_strv_add(&p.fs.deny_write, "*.sh");
	ab_strv_add(&p.fs.deny_write, "x/*/z");
	ab_strv_give(&p.fs.deny_write, at("p/keep"));
	ab_strv_give(&p.fs.deny_write, at("p/later/file"));
	ab_strv_give(&p.fs.deny_write, at("p/later/more"));
	ab_strv_add(&p.fs.deny_write, "no/*/z");
	ab_strv_give(&p.fs.deny_write, at(".profile"));
	ok(ab_survey_make(&p, &s, &err) == 0, "patterns and absolute names");
	ok(closed(&s, AB_NODE_FILE, "p/a.sh"), "a pattern closes what matches");
	ok(watched(&s, "p", "*.sh"), "and is watched for");
	ok(closed(&s, AB_NODE_FILE, "p/x/y/z"), "also deeper");
	ok(closed(&s, AB_NODE_DIR, "p/keep"), "an absolute name is closed");
	ok(watched(&s, "p", "later/file") && watched(&s, "p", "later/more") &&
		   !watched(&s, "p", "later"),
	   "a missing one is watched for");
	ok(watched(&s, "p", "no/*/z"), "also with a pattern in it");
	ok(closed(&s, AB_NODE_FILE, "p/b.txt"),
	   "a name outside that leads inside closes its target");
	ab_survey_fini(&s);
	ab_strv_fini(&p.fs.write);
	ab_strv_fini(&p.fs.deny_write);
}

static void named_itself(void)
{
	struct ab_policy p = { .home = top };
	struct ab_error err;
	struct ab_survey s;

	sh("mkdir -p $T/n/real $T/n/own; ln -s real $T/n/link");
	ab_strv_give(&p.fs.write, at("n/link"));
	ab_strv_give(&p.fs.write, at("n/own"));
	ok(ab_survey_make(&p, &s, &err) == 0 && s.write.len == 2 && !s.findings.len,
	   "a root may be a link");
	ab_survey_fini(&s);
	p.fs.write_itself = p.fs.write;
	ok(ab_survey_make(&p, &s, &err) == 0 && s.write.len == 1 &&
		   said(&s.findings, "leads elsewhere"),
	   "but not where the thing itself was meant");
	is_str(s.write.v[0], p.fs.write.v[1], "which stays one");
	ab_survey_fini(&s);
	ab_strv_fini(&p.fs.write);
}

static void odd_roots(void)
{
	struct ab_survey s;
	struct ab_policy none = { 0 };
	struct ab_error err;

	sh("mkdir -p $T/big $T/dark/.vscode; cd $T/big; i=0;"
	   "while [ $i -lt 4100 ]; do : > f$i; i=$((i+1)); done;"
	   "mkdir .vscode; chmod 0311 $T/dark");
	s = survey("big", NULL);
	ok(closed(&s, AB_NODE_DIR, "big/.vscode") && watched(&s, "big", ".envrc"),
	   "a root with thousands of entries is asked by name");
	ok(!watched(&s, "big", "config"), "and is no repository");
	ab_survey_fini(&s);
	s = survey("dark", NULL);
	ok(closed(&s, AB_NODE_DIR, "dark/.vscode"), "a root that cannot be listed as well");
	ok(getuid() == 0 || !s.searched, "and is not called searched");
	ab_survey_fini(&s);
	ok(ab_survey_make(&none, &s, &err) == 0 && s.write.len == 0 && s.nclosed == 0 &&
		   s.nwatch == 0,
	   "no roots: nothing");
	ab_survey_fini(&s);
}

/* A folder of somebody else in the workspace, as containers leave them. */
static void foreign_folder(void)
{
	struct ab_survey s;
	int status;
	pid_t pid;

	if (getuid() != 0) {
		ok(true, "a foreign folder # SKIP needs two users");
		return;
	}
	sh("mkdir -p $T/f/.vscode $T/f/.config $T/f/data $T/f/.claude/x;"
	   "chmod 0700 $T/f/.config $T/f/data $T/f/.claude/x $T/f/.vscode;"
	   "chown 12345 $T/f $T/f/.claude; chmod 0755 $T");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (setresgid(12345, 12345, 12345) < 0 || setresuid(12345, 12345, 12345) < 0)
			_exit(2);
		s = survey("f", NULL);
		_exit(!(s.complete && s.searched && closed(&s, AB_NODE_DIR, "f/.vscode") &&
			closed(&s, AB_NODE_DIR, "f/.claude") && watched(&s, "f/.config", "fish")));
	}
	waitpid(pid, &status, 0);
	tap_count++; /* the survey's own line, printed by the child */
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	   "a folder of somebody else is no gap, and stays in its place");
}

static void reads_only(void)
{
	struct ab_survey s;

	sh("mkdir -p $T/ro; cd $T/ro; git init -q .; mkdir .vscode;"
	   "find . -printf '%%p %%T@ %%C@ %%m %%s\\n' | sort > $T/before");
	s = survey("ro", NULL);
	ab_survey_fini(&s);
	ok(sh("cd $T/ro; find . -printf '%%p %%T@ %%C@ %%m %%s\\n' | sort |"
	      "cmp - $T/before") == 0,
	   "nothing on the disk is changed");
}

int main(void)
{
	start();
	simple();
	roots();
	links();
	hard_links();
	policy_forms();
	named_itself();
	odd_roots();
	foreign_folder();
	reads_only();
	finish();
	return done();
}
