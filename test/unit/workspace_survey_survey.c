#include "workspace/survey/survey.h"

#include "workspace/survey/project_files.h"
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
	ok(s.complete && s.findings.len == 0 && s.notes.len == 0, "nothing to tell");
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
	static const char *const names[] = { "h/a/b/other", "h/a/tasks", "h/a/many/d150/late" };
	struct ab_survey s;
	char sentence[80];
	unsigned lost = 1; /* outside */

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
	sh("cd $T/h/a; mkdir many; cd many; mkdir $(seq -f d%%g 0 199);"
	   "ln $T/h/.envrc d150/late");
	s = survey("h", NULL);
	ok(s.complete && closed(&s, AB_NODE_FILE, "h/a/many/d150/late"),
	   "a name behind many folders is found");
	ab_survey_fini(&s);
	limits = &(struct ab_survey_limits){ .entries = 150, .generated = 100 };
	s = survey("h", NULL);
	/* File systems list a folder in different orders. */
	for (size_t i = 0; i < AB_COUNT(names); i++)
		lost += !closed(&s, AB_NODE_FILE, names[i]);
	snprintf(sentence, sizeof(sentence),
		 "%u of the hard links of protected files were not found", lost);
	ok(!s.complete && said(&s.findings, sentence),
	   "a search that was cut is told, with the number of names (%u)", lost);
	ok(closed(&s, AB_NODE_FILE, "h/.envrc"), "the file itself is closed");
	ab_survey_fini(&s);
	limits = NULL;
}

/* Repositories are found by number, not by depth. */
static void budget(void)
{
	struct ab_survey s;

	sh("mkdir $T/deep; cd $T/deep; mkdir -p a/b/c/d/e/f/g/h/i/j node_modules/x/node_modules/y "
	   ".git; git init -q a/b/c/d/e/f/g/h/i/j; git init -q node_modules/x/node_modules/y; "
	   "mkdir -p .git/odd; git init -q .git/odd; mkdir late; cd late; mkdir $(seq -f d%%g 0 199);"
	   "git init -q d150/r; cd ..;"
	   "mkdir -p looks/objects looks/refs looks/like; touch looks/HEAD; git init -q looks/like/one");
	s = survey("deep", NULL);
	ok(closed(&s, AB_NODE_FILE, "deep/a/b/c/d/e/f/g/h/i/j/.git/config") &&
		   closed(&s, AB_NODE_DIR, "deep/a/b/c/d/e/f/g/h/i/j/.git/hooks"),
	   "a repository ten folders down is closed");
	ok(watched(&s, "deep/a/b/c/d/e/f/g/h/i/j", ".envrc"), "and its top is a top");
	ok(closed(&s, AB_NODE_FILE, "deep/node_modules/x/node_modules/y/.git/config"),
	   "one in a folder of generated files too");
	ok(closed(&s, AB_NODE_FILE, "deep/late/d150/r/.git/config"), "and one among many folders");
	ok(closed(&s, AB_NODE_FILE, "deep/looks/like/one/.git/config"),
	   "and one below a folder that looks like a repository");
	ok(s.complete && !s.findings.len, "everything was searched");
	ab_survey_fini(&s);

	limits = &(struct ab_survey_limits){ .entries = 100, .generated = 100 };
	s = survey("deep", NULL);
	ok(!s.complete && said(&s.findings, "not searched for repositories"),
	   "a search that was cut is no complete one, and told");
	ab_survey_fini(&s);
	limits = &(struct ab_survey_limits){ .entries = 1000, .generated = 2 };
	s = survey("deep", NULL);
	ok(s.complete && said(&s.notes, "of generated files") && !s.findings.len,
	   "folders of generated files have a budget of their own, and are noted");
	ok(!closed(&s, AB_NODE_FILE, "deep/node_modules/x/node_modules/y/.git/config") &&
		   closed(&s, AB_NODE_FILE, "deep/late/d150/r/.git/config"),
	   "all others come before them");
	ab_survey_fini(&s);
	limits = NULL;
}

/* The box has our uid: it could open such a folder, or go deeper step by step. */
static void unreadable(void)
{
	struct ab_survey s;

	sh("mkdir -p $T/u/shut $T/u/open; git init -q $T/u/shut/r; chmod 000 $T/u/shut;"
	   "mkdir $T/long; cd $T/long; n=$(printf 'x%%.0s' $(seq 250)); i=0;"
	   "while [ $i -lt 20 ]; do mkdir $n; cd $n; i=$((i+1)); done");
	s = survey("u", NULL);
	ok(s.complete, "a folder that we may not read is no gap");
	if (getuid() == 0)
		ok(closed(&s, AB_NODE_FILE, "u/shut/r/.git/config"), "root may read it");
	else
		ok(closed(&s, AB_NODE_DIR, "u/shut") && said(&s.notes, "1 folder could not be"),
		   "because it is closed");
	ok(!closed(&s, AB_NODE_DIR, "u/open"), "one that we may read is open");
	ab_survey_fini(&s);
	s = survey("long", NULL);
	ok(s.complete && s.nclosed == 1 && strlen(s.closed[0].path) < PATH_MAX &&
		   strlen(s.closed[0].path) > PATH_MAX - 1000,
	   "folders whose paths are too long are closed from above");
	ab_survey_fini(&s);
	sh("chmod 700 $T/u/shut; cd $T/long; while d=$(ls | head -n 1); [ -n \"$d\" ]; do "
	   "mv $d ../part; rmdir ../long 2>/dev/null; mv ../part ../long; cd ../long; done");
}

static void many_repositories(void)
{
	struct ab_survey s;

	sh("mkdir $T/many; cd $T/many; git init -q r0; h=$(cat r0/.git/HEAD) c=$(cat r0/.git/config);"
	   "mkdir -p $(seq -f r%%g/.git/objects 299) $(seq -f r%%g/.git/refs 299);"
	   "for i in $(seq 299); do echo \"$h\" >r$i/.git/HEAD; echo \"$c\" >r$i/.git/config; done");
	s = survey("many", NULL);
	ok(s.complete && s.repos.len == 300, "300 repositories are found");
	ok(said(&s.findings, "more than 256 repositories"), "and that some are read-only is told");
	for (size_t i = 0, n = 0; i < s.nclosed; i++) {
		n += strcmp(ab_path_name(s.closed[i].path), ".git") == 0;
		if (i + 1 == s.nclosed)
			ok(n == 44, "%zu are closed as a whole", n);
	}
	ab_survey_fini(&s);
}

static void policy_forms(void)
{
	struct ab_policy p = { .home = top };
	struct ab_error err;
	struct ab_survey s;

	sh("mkdir -p $T/p/x/y $T/p/keep; touch $T/p/a.sh $T/p/b.txt $T/p/x/y/z $T/p/x/file;"
	   "ln -s p/b.txt $T/.profile");
	ab_strv_give(&p.fs.write, at("p"));
	ab_strv_add(&p.fs.deny_write, "*.sh");
	ab_strv_add(&p.fs.deny_write, "x/*/z");
	ab_strv_give(&p.fs.deny_write, at("p/keep"));
	ab_strv_give(&p.fs.deny_write, at("p/later/file"));
	ab_strv_give(&p.fs.deny_write, at("p/later/more"));
	ab_strv_add(&p.fs.deny_write, "no/*/z");
	ab_strv_give(&p.fs.deny_write, at(".profile"));
	ok(ab_survey_make(&p, environ, NULL, &s, &err) == 0, "patterns and absolute names");
	ok(closed(&s, AB_NODE_FILE, "p/a.sh"), "a pattern closes what matches");
	ok(watched(&s, "p", "*.sh"), "and is watched for");
	ok(closed(&s, AB_NODE_FILE, "p/x/y/z"), "also deeper");
	ok(s.complete && watched(&s, "p/x", "*/z") && watched(&s, "p/x", "!y") &&
		   !watched(&s, "p/x", "!file"),
	   "a file that could become a folder stays watched");
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
	ok(ab_survey_make(&p, environ, NULL, &s, &err) == 0 && s.write.len == 2 && !s.findings.len,
	   "a root may be a link");
	ab_survey_fini(&s);
	p.fs.write_itself = p.fs.write;
	ok(ab_survey_make(&p, environ, NULL, &s, &err) == 0 && s.write.len == 1 &&
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
	ab_survey_fini(&s);
	ok(ab_survey_make(&none, environ, NULL, &s, &err) == 0 && s.write.len == 0 &&
		   s.nclosed == 0 && s.nwatch == 0,
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
		skip("a foreign folder", "needs two users");
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
		_exit(!(s.complete && closed(&s, AB_NODE_DIR, "f/.vscode") &&
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

	sh("mkdir -p $T/ro/sub/.git; cd $T/ro; git init -q .; mkdir .vscode;"
	   "find . -printf '%%p %%T@ %%C@ %%m %%s\\n' | sort > $T/before");
	s = survey("ro", NULL);
	ab_survey_fini(&s);
	ok(sh("cd $T/ro; find . -printf '%%p %%T@ %%C@ %%m %%s\\n' | sort |"
	      "cmp - $T/before") == 0,
	   "nothing on the disk is changed");
}

/* The names of a file that is open to the box, as they are at the end. */
static void project_files(void)
{
	struct ab_survey s;
	struct ab_strv told = { 0 };

	sh("mkdir -p $T/pf/.github $T/pf/sub; cd $T/pf; git init -q sub; echo a > AGENTS.md;"
	   "echo a > .npmrc; echo a > sub/.yarnrc.yml; echo a > package.json");
	s = survey("pf", NULL);
	ok(!closed(&s, AB_NODE_FILE, "pf/.npmrc") && !closed(&s, AB_NODE_FILE, "pf/AGENTS.md"),
	   "ordinary project files are open");
	ab_project_files_report(&s, &told);
	ok(told.len == 0, "what did not change is not reported");
	sh("sleep 0.1; cd $T/pf; echo b >> .npmrc; echo b > sub/lefthook.yml;"
	   "echo b > .github/copilot-instructions.md; echo b > package.json; echo b > sub/x");
	ab_project_files_report(&s, &told);
	ok(told.len == 1 && said(&told, "3 project files") && said(&told, "pf/.npmrc") &&
		   said(&told, "pf/sub/lefthook.yml") && said(&told, "copilot-instructions.md"),
	   "what the run created or changed is");
	ok(!said(&told, "AGENTS.md") && !said(&told, "package.json") && !said(&told, ".yarnrc"),
	   "and nothing else");
	ab_strv_fini(&told);
	ab_survey_fini(&s);
}

int main(void)
{
	start();
	simple();
	roots();
	links();
	hard_links();
	budget();
	unreadable();
	many_repositories();
	policy_forms();
	named_itself();
	odd_roots();
	foreign_folder();
	reads_only();
	project_files();
	finish();
	return done();
}
