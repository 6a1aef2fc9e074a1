#include "workspace/quarantine/quarantine.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "base/system/clock.h"
#include "workspace/quarantine/journal.h"
#include "workspace/quarantine/spots.h"
#include "workspace_help.h"

static struct ab_survey s;
static struct ab_quarantine *q;
static int dir = -1;
static char *near; /* a quarantine on the same file system */

/* What was made before the survey is then older than it: file times may be ahead of the coarse clock,
 * which the survey reads, up to the present moment. */
static void tick(void)
{
	struct timespec first, now;

	clock_gettime(CLOCK_REALTIME, &first);
	do {
		usleep(1000);
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
	} while (now.tv_sec < first.tv_sec ||
		 (now.tv_sec == first.tv_sec && now.tv_nsec <= first.tv_nsec));
}

/* A root $T/w prepared by the script, surveyed; the quarantine is `where`. */
static void begin(const char *script, const char *where)
{
	struct ab_error err;

	sh("chmod -R u+rwX $T/w 2>/dev/null || :; rm -rf $T/w '%s'; mkdir -p $T/w '%s'; cd $T/w; %s",
	   where, where, script);
	tick();
	s = survey("w", NULL);
	dir = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ok(ab_quarantine_open(&s, dir, &q, &err) == 0, "open");
}

static void end(void)
{
	ab_quarantine_close(q);
	ab_survey_fini(&s);
	close(dir);
}

/* Twice: a folder that appears on the way down is looked into the next time. */
static void events(void)
{
	for (int i = 0; i < 2; i++) {
		ab_quarantine_events(q);
		ab_quarantine_look(q);
	}
}

static const struct ab_moved *moved(const char *rel)
{
	const struct ab_quarantine_report *r = ab_quarantine_report(q);
	ab_autofree char *path = at(rel);

	for (size_t i = 0; i < r->nmoved; i++)
		if (strcmp(r->moved[i].path, path) == 0)
			return &r->moved[i];
	return NULL;
}

static size_t count(void)
{
	return ab_quarantine_report(q)->nmoved;
}

static bool here(const char *rel)
{
	ab_autofree char *path = at(rel);
	struct stat st;

	return lstat(path, &st) == 0;
}

static bool kept(const char *rel, const char *below)
{
	const struct ab_moved *m = moved(rel);
	ab_autofree char *path = NULL;
	struct stat st;

	if (!m || !m->name || here(rel))
		return false;
	path = ab_printf("%s%s", m->name, below);
	return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void live(void)
{
	struct ab_error err = { 0 };

	begin("echo mine > .envrc", near);
	sh("cd $T/w; mkdir .vscode; echo x > .vscode/tasks.json; echo x > f");
	events();
	ok(kept("w/.vscode", "/tasks.json") && count() == 1,
	   "a protected name that appears is moved");
	ok(here("w/f") && here("w/.envrc"), "nothing else is");
	sh("cd $T/w; mkdir .vscode");
	events();
	ok(count() == 2 && !here("w/.vscode"), "and again when it comes back");
	ok(!ab_quarantine_must_end(q, &err), "one retry is no reason to end the run");
	sh("cd $T/w; mkdir .config; touch .config/other");
	events();
	ok(here("w/.config/other") && count() == 2, "a folder on the way is harmless");
	sh("mkdir $T/w/.config/fish");
	events();
	ok(kept("w/.config/fish", "") && here("w/.config/other"), "the name inside it is not");
	sh("cd $T/w; rm -r .config; mkdir -p .config/fish/x");
	events();
	ok(!here("w/.config/fish") && here("w/.config"), "also when the folder is made anew");
	sh("mkdir $T/w/.config/fish");
	events();
	ok(!here("w/.config/fish"), "and the new one is watched");
	sh("cd $T/w; rm -r .config; ln -s / .config");
	events();
	ok(!here("w/.config") && moved("w/.config")->kind == AB_NODE_LINK,
	   "a link in its place is moved itself");
	end();
}

static void sweeps(void)
{
	begin("", near);
	sh("cd $T/w; mkdir -p .claude/x .config/fish; touch .mcp.json;"
	   "ln -s $T/precious .bashrc; echo x > $T/precious; mkfifo .envrc;"
	   "mkdir .vscode; chmod 0 .vscode");
	ab_quarantine_sweep(q);
	ok(kept("w/.claude", "/x") && kept("w/.config/fish", "") && kept("w/.mcp.json", ""),
	   "a sweep finds all");
	ok(kept("w/.bashrc", "") && here("precious"), "of a link only the link is moved");
	ok(kept("w/.envrc", "") && moved("w/.envrc")->kind == AB_NODE_OTHER,
	   "a FIFO does not hold us");
	ok(kept("w/.vscode", ""), "a folder without rights is moved too");
	ab_quarantine_sweep(q);
	ok(count() == 6, "a second sweep finds nothing");
	end();

	begin("mkdir .config", near);
	sh("mv $T/w $T/w2; mkdir -p $T/w/.vscode");
	ab_quarantine_close(q);
	{
		struct ab_error err;

		ok(ab_quarantine_open(&s, dir, &q, &err) == 0, "opened anew");
	}
	ab_quarantine_sweep(q);
	ok(count() == 0 && here("w/.vscode") &&
		   said(&ab_quarantine_report(q)->findings, "was replaced during the run"),
	   "another folder at the same path is left alone and told");
	sh("rm -rf $T/w2");
	end();
}

/* Root could move everything, so this is the last test: it goes on as another user. */
static void stuck(void)
{
	if (getuid() == 0 &&
	    (sh("chown -R 12345:12345 $T") != 0 || setresgid(12345, 12345, 12345) < 0 ||
	     setresuid(12345, 12345, 12345) < 0 || prctl(PR_SET_DUMPABLE, 1) < 0))
		abort();
	begin("", near);
	sh("mkdir $T/w/.vscode; chmod 0555 $T/w");
	ab_quarantine_sweep(q);
	ok(kept("w/.vscode", ""), "a folder that the box made read-only is no obstacle");
	ok(sh("test $(stat -c %%a $T/w) = 555; chmod 755 $T/w; chmod 555 '%s'", near) == 0,
	   "and stays as it was");
	sh("mkdir $T/w/.claude; touch $T/w/.claude/x");
	ab_quarantine_sweep(q);
	ok(!here("w/.claude") && moved("w/.claude") && moved("w/.claude")->parked &&
		   ab_quarantine_report(q)->nstayed == 0,
	   "without a quarantine it gets another name");
	ok(sh("cd $T/w; test $(stat -c %%a .agentbox-quarantine-*) = 0; chmod 755 '%s'", near) == 0,
	   "and nobody can open it");
	end();
}

static void across(void)
{
	ab_autofree char *far = ab_printf("/dev/shm/agentbox-test-%d", getpid());
	struct stat a, b;

	if (stat(top, &a) < 0 || stat("/dev/shm", &b) < 0 || a.st_dev == b.st_dev ||
	    access("/dev/shm", W_OK) < 0) {
		lacks("across file systems", "only one here");
		return;
	}
	begin("", far);
	sh("cd $T/w; mkdir -p .vscode/a/b; echo x > .vscode/a/b/c;"
	   "ln -s / .vscode/root; mkfifo .vscode/p; echo y > .mcp.json;"
	   "ln -s /etc/passwd .bashrc; mkdir .claude;"
	   "truncate -s 70M .claude/big; touch .claude/small");
	ab_quarantine_sweep(q);
	ok(kept("w/.vscode", "/a/b/c") && kept("w/.vscode", "/root"),
	   "a folder is copied and removed");
	ok(!kept("w/.vscode", "/p"), "special files are only removed");
	ok(kept("w/.mcp.json", "") && kept("w/.bashrc", ""), "a file and a link");
	ok(moved("w/.claude") && !moved("w/.claude")->name && moved("w/.claude")->parked &&
		   !here("w/.claude") && ab_quarantine_report(q)->nstayed == 0,
	   "what is too large gets a name that no tool knows");
	ok(sh("cd $T/w; test $(stat -c %%a .agentbox-quarantine-*) = 0;"
	      "chmod 700 .agentbox-quarantine-*; test -e .agentbox-quarantine-*/big") == 0,
	   "and nothing of it is lost");
	ok(sh("test $(ls '%s' | wc -l) = 3", far) == 0, "no half copy is left");
	sh("rm -rf '%s'", far);
	end();

	/* While the box runs there is no time to copy; at the end there is. */
	begin("", far);
	sh("cd $T/w; mkdir .claude; truncate -s 5M .claude/big; echo z > .claude/small");
	events();
	ok(!here("w/.claude") && moved("w/.claude") && moved("w/.claude")->parked,
	   "what takes long is only renamed while the box runs");
	ab_quarantine_sweep(q);
	ok(kept("w/.claude", "/big") && kept("w/.claude", "/small") && count() == 1,
	   "and moved at the end");
	ok(sh("test -z \"$(ls -A $T/w)\"") == 0, "the neutral name is gone");
	sh("rm -rf '%s'", far);
	end();
}

/* One that makes, replaces and removes the name as fast as it can. */
static pid_t fidget(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		ab_autofree char *name = at("w/.vscode"), *file = NULL;
		ab_autofree char *precious = at("precious");

		file = ab_printf("%s/keep", name);
		for (;;) {
			mkdir(name, 0700);
			close(open(file, O_WRONLY | O_CREAT, 0600));
			unlink(file);
			rmdir(name);
			if (symlink(precious, name) == 0)
				unlink(name);
			close(open(name, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600));
			unlink(name);
		}
	}
	return pid;
}

static void race(const char *where, const char *name)
{
	pid_t pid;

	sh("rm -rf $T/precious; mkdir -p $T/precious/sub;"
	   "echo x > $T/precious/keep; echo y > $T/precious/sub/z");
	begin("", where);
	pid = fidget();
	/* Until both have met often enough; the alarm ends a hopeless wait. */
	alarm(500);
	for (int i = 0; i < 2000 || count() < 20; i++)
		ab_quarantine_sweep(q);
	alarm(0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ab_quarantine_sweep(q);
	ok(!here("w/.vscode"), "%s: nothing is left", name);
	ok(sh("test \"$(cat $T/precious/keep $T/precious/sub/z)\" = 'x\ny'") == 0,
	   "%s: nothing outside was touched", name);
	sh("rm -rf '%s'", where);
	end();
}

static void made_by_the_run(void)
{
	const struct ab_quarantine_report *r;

	sh("git init -q $T/src; cd $T/src; echo x > f; git add f;"
	   "git commit -qm 1");
	begin("git init -q .; echo x > f; git add f; git commit -qm 1;"
	      "echo 'exit 0' > .git/hooks/pre-push; mkdir -p old/.vscode;"
	      /* What is as old as the survey's own tick counts as new. */
	      "touch now; until find now -newer old/.vscode | grep -q .;"
	      " do touch now; done; rm now",
	      near);
	sh("cd $T/w; git clone -q $T/src cl; git init -q deep;"
	   "git worktree add -q wt; git -c protocol.file.allow=always"
	   " submodule -q add $T/src sub; git init -q --bare bare.git;"
	   "for g in cl/.git deep/.git .git/modules/sub bare.git; do"
	   " mkdir -p $g/hooks; echo 'touch $T/owned' > $g/hooks/pre-commit;"
	   " chmod +x $g/hooks/pre-commit; touch $g/hooks/x.sample; done;"
	   "git -C cl config core.fsmonitor ./run;"
	   "git -C cl config alias.x '!sh';"
	   "git -C cl config alias.y status;"
	   "git --git-dir=bare.git config core.sshCommand ./x;"
	   "mkdir -p pkg/a/.vscode; echo x > pkg/a/.envrc");
	ab_quarantine_sweep(q);
	ab_quarantine_review(q, AB_SEARCH_USUAL, NULL);
	r = ab_quarantine_report(q);
	ok(kept("w/cl/.git/hooks/pre-commit", "") && kept("w/deep/.git/hooks/pre-commit", "") &&
		   kept("w/.git/modules/sub/hooks/pre-commit", "") &&
		   kept("w/bare.git/hooks/pre-commit", ""),
	   "hooks in clones, submodules, new and bare repositories are moved");
	ok(here("w/cl/.git/hooks/x.sample"), "samples stay");
	ok(here("w/.git/hooks/pre-push"), "and so does what was there before");
	ok(moved("w/cl/.git/config") &&
		   strcmp(moved("w/cl/.git/config")->keys, "core.fsmonitor, alias.x") == 0,
	   "keys that run programs are taken out, harmless ones are not");
	ok(sh("cd $T/w/cl; test -z \"$(git config core.fsmonitor)\";"
	      "test \"$(git config alias.y)\" = status; test -n \"$(git config remote.origin.url)\"") ==
		   0,
	   "the rest of the file stays");
	ok(moved("w/bare.git/config") &&
		   strcmp(moved("w/bare.git/config")->keys, "core.sshcommand") == 0,
	   "also in a bare repository");
	ok(!moved("w/deep/.git/config") && !moved("w/.git/modules/sub/config"),
	   "a file without such keys is left alone");
	ok(said(&r->findings, "2 files in deeper folders") &&
		   said(&r->findings, "w/pkg/a/.vscode") && !said(&r->findings, "old/.vscode"),
	   "new protected names deeper down are told, old ones are not");
	ok(sh("cd $T/w/cl;"
	      "echo y >> f; git commit -qam 2; cd ../wt; echo y >> f;"
	      "git commit -qam 3; cd ../sub; echo y >> f; git commit -qam 4;"
	      "test ! -e $T/owned") == 0,
	   "all of them work afterwards");
	end();

	begin("git init -q .", near);
	sh("cd $T/w; mkdir a b; echo \"gitdir: $T/src/.git\" > a/.git;"
	   "ln -s $T/src/.git b/.git; git init -q c; echo '[' > c/.git/config;"
	   "git init -q d; rm -r d/.git/hooks; ln -s $T/src d/.git/hooks;"
	   "git init -q e; echo ../.. > e/.git/commondir;"
	   "git init -q f; rm f/.git/config; mkfifo f/.git/config");
	ab_quarantine_review(q, AB_SEARCH_USUAL, NULL);
	r = ab_quarantine_report(q);
	ok(said(&r->findings, "w/a/.git was created by the run and points git to") &&
		   said(&r->findings, "w/b/.git was created by the run"),
	   "a .git file or link that leads outside is told");
	ok(moved("w/c/.git/config") &&
		   strstr(moved("w/c/.git/config")->keys, "line 1 is not valid"),
	   "a broken configuration is moved");
	ok(moved("w/f/.git/config") && moved("w/f/.git/config")->kind == AB_NODE_OTHER,
	   "one that is no file too, and does not hold us");
	ok(kept("w/d/.git/hooks", "") && here("src/f"), "linked hooks are moved as a link");
	ok(kept("w/e/.git/commondir", ""), "a commondir is moved");
	end();

	begin("git init -q .", near);
	ab_quarantine_sweep(q);
	ab_quarantine_review(q, AB_SEARCH_USUAL, NULL);
	r = ab_quarantine_report(q);
	ok(r->nmoved == 0 && r->findings.len == 0 && r->nmissed == 0,
	   "a run that made nothing has nothing to report");
	end();
}

static void again(void)
{
	struct ab_error err = { 0 };

	begin("", near);
	for (int i = 0; i < 3; i++) {
		ok(!ab_quarantine_must_end(q, &err), "%d times", i);
		sh("echo x > $T/w/.envrc");
		events();
	}
	ok(ab_quarantine_must_end(q, &err) && strstr(err.text, "/w/.envrc 3 times") &&
		   strstr(err.hint, "--deny-write '!.envrc'"),
	   "the third time the run must end: %s", err.text);
	end();

	begin("", near);
	sh("cd $T/w; for i in 1 2 3 4 5 6; do echo x > .envrc; rm .envrc; done;"
	   "mkdir .vscode; touch .mcp.json .bashrc");
	events();
	ok(!ab_quarantine_must_end(q, &err) && count() == 3, "different names are no loop");
	end();
}

/* Many new folders and repositories: nothing is lost, some is found at the end. */
static void many(void)
{
	begin("", near);
	sh("cd $T/w; mkdir -p $(seq -f d%%g/e 400); events=1");
	events();
	sh("cd $T/w; for i in $(seq 80); do mkdir -p r$i/.git/hooks; echo x > r$i/.git/hooks/update;"
	   "printf '[core]\n\tpager = x\n' > r$i/.git/config; done");
	events();
	ab_quarantine_sweep(q);
	ab_quarantine_review(q, AB_SEARCH_USUAL, NULL);
	ok(sh("cd $T/w; ! cat r*/.git/config | grep pager; ! ls r*/.git/hooks/update") == 0,
	   "every repository is examined");
	end();
}

/* Nothing but events: nobody looks. */
static void told_by_inotify(void)
{
	struct ab_error err = { 0 };

	begin("git init -q .", near);
	ok(ab_quarantine_fd(q) < 0 && ab_quarantine_due(q) != INT64_MAX,
	   "a run that is young and changes nothing has no inotify");
	sh("touch $T/w/f");
	ab_quarantine_look(q);
	if (ab_quarantine_fd(q) < 0) {
		ok(false, "inotify is not available");
		end();
		return;
	}
	ok(ab_quarantine_due(q) == INT64_MAX, "the first change arms it, and then nobody polls");
	sh("cd $T/w; touch g; mkdir .vscode .config; echo x > .envrc");
	ab_quarantine_events(q);
	ok(!here("w/.vscode") && !here("w/.envrc") && here("w/g"), "an event is enough");
	sh("cd $T/w; mkdir .config/fish; mkdir -p p/q");
	ab_quarantine_events(q);
	ok(!here("w/.config/fish"), "also in a folder on the way");
	sh("cd $T/w/p/q; git init -q r");
	ab_quarantine_events(q);
	sh("cd $T/w/p/q; git -C r config core.pager evil; touch r/.git/hooks/update");
	ab_quarantine_events(q);
	ok(moved("w/p/q/r/.git/config") && moved("w/p/q/r/.git/hooks/update"),
	   "and in a repository that appears in new folders");
	sh("cd $T/w; mkdir gone apart; git init -q --bare apart/dir; touch gone/.git");
	ab_quarantine_events(q);
	sh("cd $T/w; git --git-dir=apart/dir config core.pager evil;"
	   "mkdir link; touch link/.git");
	ab_quarantine_events(q);
	ok(moved("w/apart/dir/config"), "a bare repository in a new folder too");
	sh("cd $T/w; mkdir -p .git/x; cp -r apart/dir/. .git/x; rm -r apart;"
	   "git --git-dir=.git/x config core.sshCommand evil; echo gitdir: ../.git/x > link/.git");
	ab_quarantine_events(q);
	ok(moved("w/.git/x/config"), "and one that a .git file names after it was created");
	ok(!ab_quarantine_must_end(q, &err), "the run goes on");
	end();
}

/* When are the next events taken? */
static void events_in_a_row(void)
{
	begin("", near);
	sh("touch $T/w/f");
	ab_quarantine_look(q);
	ok(ab_quarantine_fd(q) >= 0 && ab_quarantine_events_at(q) == INT64_MAX,
	   "the first event is taken at once");
	sh("touch $T/w/g");
	ab_quarantine_events(q);
	ok(ab_quarantine_fd(q) < 0 && ab_quarantine_events_at(q) - ab_now_ms() <= 2,
	   "those after a harmless one are collected for two milliseconds at most");
	sh("touch $T/w/.envrc");
	ab_quarantine_events(q);
	ok(!here("w/.envrc") && ab_quarantine_fd(q) >= 0 && ab_quarantine_events_at(q) == INT64_MAX,
	   "those after a protected name are taken at once");
	sh("touch $T/w/h");
	ab_quarantine_events(q);
	ab_quarantine_events(q);
	ok(ab_quarantine_fd(q) >= 0, "and those after a pause without events");
	end();
}

static void live_repositories(void)
{
	const struct ab_quarantine_report *r;
	struct ab_error err = { 0 };

	begin("git init -q .; echo x > f; git add f; git commit -qm 1; mkdir -p a/b", near);
	events();
	sh("cd $T/w; git init -q sub; git -C sub commit -q --allow-empty -m 1;"
	   "git -C sub config user.name me");
	events();
	ok(count() == 0, "a new repository is left alone");
	sh("cd $T/w; git -C sub config core.fsmonitor $T/evil");
	events();
	r = ab_quarantine_report(q);
	ok(moved("w/sub/.git/config") && moved("w/sub/.git/config")->alert &&
		   sh("cd $T/w/sub; ! git config core.fsmonitor; test $(git config user.name) = me") ==
			   0,
	   "a program in its configuration is taken out at once");
	sh("cd $T/w; printf x > sub/.git/hooks/post-checkout; echo /tmp > sub/.git/commondir");
	events();
	ok(kept("w/sub/.git/hooks/post-checkout", "") && kept("w/sub/.git/commondir", ""),
	   "a hook and a commondir are moved at once");
	sh("cd $T/w; git update-index --add --cacheinfo 160000,$(git -C sub rev-parse HEAD),sub");
	events();
	ok(said(&r->alerts, "the run added the submodule sub to the index of"),
	   "a submodule in the index is told");
	/* Deep below a folder that nobody watches, known from the index alone. */
	sh("cd $T/w; git init -q a/b/deep; git -C a/b/deep commit -q --allow-empty -m 1;"
	   "git -C a/b/deep config core.sshCommand x");
	events();
	sh("cd $T/w; git update-index --index-version 4 --add"
	   " --cacheinfo 160000,$(git -C a/b/deep rev-parse HEAD),a/b/deep");
	events();
	ok(moved("w/a/b/deep/.git/config"), "one that the index names is examined at any depth");
	sh("cd $T/w; git -C a/b/deep config core.sshCommand x");
	events();
	ok(!ab_quarantine_must_end(q, &err), "a second time it is taken out again");
	sh("cd $T/w; git -C a/b/deep config core.sshCommand x");
	events();
	ok(ab_quarantine_must_end(q, &err) && strstr(err.text, "a/b/deep/.git/config 3 times") &&
		   strstr(err.text, "core.sshcommand"),
	   "the third time the run must end: %s", err.text);
	end();

	begin("git init -q .; mkdir -p x/y", near);
	events();
	sh("cd $T/w; git init -q x/y/z2");
	events();
	sh("cd $T/w; git -C x/y/z2 config core.pager evil");
	events();
	sh("mkdir -p $T/w/.git/rebase-merge; printf 'pick 1\n x\ttouch a\nexec evil \n' >"
	   " $T/w/.git/rebase-merge/git-rebase-todo");
	ab_quarantine_sweep(q);
	ab_quarantine_review(q, AB_SEARCH_USUAL, NULL);
	r = ab_quarantine_report(q);
	ok(said(&r->findings, "git-rebase-todo was created or changed by the run") &&
		   said(&r->findings, "would run: touch a, evil"),
	   "commands of a rebase are told");
	ok(moved("w/x/y/z2/.git/config"), "the end finds what was not seen");
	end();
}

/* `cp -r` of a repository shows half an index for a moment. In a new folder, which is watched. */
static void copied_index(void)
{
	const struct ab_quarantine_report *r;

	begin("git init -q .; echo 1 >a; git add a", near);
	r = ab_quarantine_report(q);
	events();
	sh("cd $T/w; git init -q n/y; head -c 20 .git/index >n/y/.git/index");
	events();
	ok(!said(&r->alerts, "n/y/.git/index"), "an index that is being written is not told");
	sh("cd $T/w; cat .git/index >n/y/.git/index");
	events();
	ab_quarantine_sweep(q);
	ok(!said(&r->alerts, "n/y/.git/index"), "nor one that is complete in the end");
	end();

	begin("git init -q .; echo 1 >a; git add a", near);
	r = ab_quarantine_report(q);
	events();
	sh("cd $T/w; git init -q n/y; head -c 20 .git/index >n/y/.git/index");
	events();
	ab_quarantine_sweep(q);
	ok(said(&r->alerts, "n/y/.git/index cannot be read"), "one that stays so is told");
	end();
}

/* The index stays as it is, and the shared index that it is based on gets another content. */
static void shared_index(void)
{
	begin("git init -q; echo 1 >f; git add f; git update-index --split-index;"
	      "mkdir -p 1/2/3/4/5/6/7/8/9",
	      near);
	events();
	sh("cd $T/w; x=$(ls .git/sharedindex.*); p=1/2/3/4/5/6/7/8/9/deep; git init -q $p;"
	   "git -C $p commit -q --allow-empty -m x; git -C $p config core.fsmonitor /bin/false;"
	   "export GIT_INDEX_FILE=.git/other;"
	   "git update-index --add --cacheinfo 160000,$(env -u GIT_INDEX_FILE git -C $p rev-parse HEAD),$p;"
	   "git update-index --split-index; cat $(ls .git/sharedindex.* | grep -v $x) >$x");
	events();
	ok(moved("w/1/2/3/4/5/6/7/8/9/deep/.git/config"), "a submodule of a changed shared index");
	end();
}

/* A run that is over before the watch begins: the index is read at its end. */
static void short_runs(void)
{
	const struct ab_quarantine_report *r;
	struct rlimit old, low;

	begin("git init -q; mkdir -p 1/2/3/4/5/6/7/8/9 x/1/2/3/4/5/6/7/8/9", near);
	sh("cd $T/w; p=1/2/3/4/5/6/7/8/9/deep; git init -q $p; git init -q x/$p; echo 'gitdir: ../.git' >x/.git;"
	   "git -C $p commit -q --allow-empty -m x; git -C $p config core.fsmonitor /bin/false;"
	   "git -C x/$p config core.fsmonitor /bin/false;"
	   "git update-index --add --cacheinfo 160000,$(git -C $p rev-parse HEAD),$p");
	ab_quarantine_sweep(q);
	ab_quarantine_review(q, AB_SEARCH_USUAL, NULL);
	r = ab_quarantine_report(q);
	ok(moved("w/1/2/3/4/5/6/7/8/9/deep/.git/config"), "a submodule that the index names");
	ok(moved("w/x/1/2/3/4/5/6/7/8/9/deep/.git/config"),
	   "and in another folder whose .git leads to the same repository");
	ok(r->nmissed == 0, "everything was searched");
	end();

	begin("git init -q", near);
	sh("cd $T/w; git init -q sub; git -C sub commit -q --allow-empty -m x; h=$(git -C sub rev-parse HEAD);"
	   "for i in $(seq 1001); do echo \"160000 $h 0\tsub$i\"; done | git update-index --index-info");
	ab_quarantine_sweep(q);
	ab_quarantine_review(q, AB_SEARCH_USUAL, NULL);
	r = ab_quarantine_report(q);
	ok(said(&r->alerts, "w/.git/index cannot be read"), "too many submodules are told");
	end();

	/* Each level of submodules needs descriptors. */
	begin("git init -q", near);
	sh("cd $T/w; git init -q sub; git -C sub commit -q --allow-empty -m x; h=$(git -C sub rev-parse HEAD);"
	   "git update-index --add --cacheinfo 160000,$h,sub; git -C sub update-index --add --cacheinfo 160000,$h,sub;"
	   "cp -r sub t; for i in 1 2 3 4 5 6 7 8; do mv sub u; cp -r t sub; mv u sub/sub; done");
	getrlimit(RLIMIT_NOFILE, &old);
	low = old;
	low.rlim_cur = 16;
	setrlimit(RLIMIT_NOFILE, &low);
	ab_quarantine_review(q, AB_SEARCH_USUAL, NULL);
	setrlimit(RLIMIT_NOFILE, &old);
	r = ab_quarantine_report(q);
	ok(r->nmissed > 0 && said(&r->missed, "/w"),
	   "what cannot be opened for lack of descriptors is not claimed");
	end();
}

/* A repository with a program of the box, and one without. */
static void plant(const char *rel)
{
	sh("cd $T/w; git init -q '%s/bad'; git -C '%s/bad' config core.fsmonitor /bin/false;"
	   "git init -q '%s/good'; git -C '%s/good' config core.ignorecase true",
	   rel, rel, rel, rel);
}

static bool cleaned(const char *rel)
{
	return sh("cd $T/w/'%s' && ! grep -q fsmonitor bad/.git/config && test -e bad/.git/config &&"
		  "grep -q ignorecase good/.git/config",
		  rel) == 0;
}

/* Where the watch does not come: the search at the end alone. */
static void deep(void)
{
	static const char *const places[] = {
		"1/2/3/4/5/6/7/8/9/10", "node_modules", "old/target/x/y", ".cache/a",
		"node_modules/p/new",
	};
	const struct ab_quarantine_report *r;

	begin("git init -q; mkdir -p 1/2/3/4/5/6/7/8/9/10 node_modules/p old/target/x/y .cache/a;"
	      "git init -q node_modules/p/own; git -C node_modules/p/own config core.pager mine",
	      near);
	for (size_t i = 0; i < AB_COUNT(places); i++)
		plant(places[i]);
	ab_quarantine_review(q, AB_SEARCH_USUAL, NULL);
	r = ab_quarantine_report(q);
	for (size_t i = 0; i < AB_COUNT(places); i++)
		ok(cleaned(places[i]), "%s", places[i]);
	ok(!moved("w/node_modules/p/own/.git/config"), "the user's own stays");
	ok(count() == AB_COUNT(places) && r->nmissed == 0, "and nothing is left out");
	end();
}

/* More generated files than the search looks at: only what is new, and the spots. */
static void spots(void)
{
	const struct ab_quarantine_report *r;
	struct ab_spots *noted;
	ab_autofree char *folder = at("w/node_modules/p1/a/b"),
			 *tree = at("w/node_modules/p1/c/in");
	ab_autofree char *bad = at("w/node_modules/p1/a/b/bad");

	begin("mkdir -p node_modules/p1/a/b node_modules/p1/c $(seq -f node_modules/p%g/d 2 120);"
	      " for i in $(seq 2 120); do for f in $(seq 100); do : >node_modules/p$i/$f; done; done",
	      near);
	plant("node_modules/p1/a/b");
	plant("node_modules/new/a");
	sh("cd $T/w; mkdir -p t; git init -q t/bad; git init -q t/good; git -C t/good config core.ignorecase true;"
	   "git -C t/bad config core.fsmonitor /bin/false; mv t node_modules/p1/c/in");
	noted = ab_spots_new(0);
	ab_quarantine_review(q, AB_SEARCH_USUAL, noted);
	r = ab_quarantine_report(q);
	ok(cleaned("node_modules/new/a"), "new folders are searched");
	ok(r->nmissed == 0, "with the spots, old ones are no matter");
	ab_spots_add(noted, AB_SPOT_FOLDER, folder);
	ab_quarantine_review(q, AB_SEARCH_USUAL, noted);
	ok(!cleaned("node_modules/p1/a/b") && !cleaned("node_modules/p1/c/in"),
	   "a spot is looked into, not below");
	ab_spots_add(noted, AB_SPOT_FOLDER, bad);
	ab_spots_add(noted, AB_SPOT_TREE, tree);
	ab_quarantine_review(q, AB_SEARCH_USUAL, noted);
	ok(cleaned("node_modules/p1/a/b") && cleaned("node_modules/p1/c/in"),
	   "the spots are examined, and everything in a folder that was put there");
	ab_spots_lose(noted);
	ab_quarantine_review(q, AB_SEARCH_USUAL, noted);
	ok(r->nmissed > 0 && said(&r->missed, "w/node_modules/p"),
	   "without all of them, what was left out is named");
	free(noted);
	end();

	begin("mkdir -p node_modules/p1/a/b $(seq -f node_modules/p%g/d 2 120);"
	      " for i in $(seq 2 120); do for f in $(seq 100); do : >node_modules/p$i/$f; done; done",
	      near);
	plant("node_modules/p1/a/b");
	ab_quarantine_review(q, AB_SEARCH_ALL, NULL);
	ok(cleaned("node_modules/p1/a/b") && ab_quarantine_report(q)->nmissed == 0,
	   "a search without limits finds it by itself");
	end();

	/* A file that is written in place does not make its folder new, so only the guard would know. */
	begin("mkdir leaf; echo old >leaf/.git", near);
	sh("echo 'gitdir: /usr' >$T/w/leaf/.git");
	ab_quarantine_review(q, AB_SEARCH_USUAL, NULL);
	ok(said(&ab_quarantine_report(q)->findings, "points git to /usr"),
	   "without spots, old folders without a folder in them are searched, too");
	end();
}

static void journal(void)
{
	struct ab_survey again = { 0 };
	struct ab_error err;
	char *text;
	int unread = 0, other = 0;

	begin("git init -q .; mkdir 'odd %\xff \"name'; git init -q odd*", near);
	text = ab_journal_write(&s);
	ok(!strchr(text, '\n'), "a journal is one line");
	ok(ab_journal_read(text, strlen(text), &again, &err) == 0, "read");
	ok(again.nwatch == s.nwatch && again.repos.len == 2 &&
		   ab_strv_has(&again.repos, s.repos.v[0]) &&
		   ab_strv_has(&again.repos, s.repos.v[1]) &&
		   again.watch[0].ino == s.watch[0].ino &&
		   again.started.tv_nsec == s.started.tv_nsec,
	   "paths of any bytes come back");
	for (size_t i = 0; i < s.nwatch; i++)
		other += again.watch[i].names.len != s.watch[i].names.len;
	ok(other == 0, "every folder has its names, also where they were not written");
	{
		struct ab_survey later = s; /* borrowed */
		ab_autofree char *whole = NULL, *restarted = NULL;

		later.started = (struct timespec){ .tv_sec = 1700000000, .tv_nsec = 7 };
		whole = ab_journal_write(&later);
		restarted = ab_journal_restart(text, &later.started);
		is_str(restarted, whole, "only the time is another one if it begins later");
	}
	ab_quarantine_close(q);
	sh("cd $T/w; mkdir .vscode; git init -q new; (cd odd*; mkdir .vscode);"
	   "echo x > new/.git/hooks/post-merge");
	ok(ab_quarantine_open(&again, dir, &q, &err) == 0, "open from it");
	ab_quarantine_sweep(q);
	ab_quarantine_review(q, AB_SEARCH_USUAL, NULL);
	ok(count() == 3 && !here("w/.vscode") && !here("w/new/.git/hooks/post-merge"),
	   "the next start sweeps for a dead run");
	for (size_t i = 0; i < strlen(text); i++) {
		struct ab_survey cut;

		unread += ab_journal_read(text, i, &cut, &err) < 0;
	}
	ok(unread == (int)strlen(text), "a cut journal is an error");
	ab_survey_fini(&again);
	free(text);
	end();
}

static void permissions(void)
{
	struct ab_folder_mode modes[] = { { .dev = 7, .ino = UINT64_MAX, .mode = 0750 },
					  { .dev = 7, .ino = 1, .mode = 02775, .acl = true } };
	struct ab_survey shared = { .modes = modes, .nmodes = 2, .mask = 027 }, again = { 0 };
	ab_autofree char *text = NULL;
	struct ab_error err;

	ab_strv_add(&shared.shared, "/x");
	text = ab_journal_write(&shared);
	ok(ab_journal_read(text, strlen(text), &again, &err) == 0 && again.mask == 027 &&
		   again.nmodes == 2 && again.modes[0].ino == UINT64_MAX &&
		   again.modes[0].mode == 0750 && !again.modes[0].acl && again.modes[1].dev == 7 &&
		   again.modes[1].mode == 02775 && again.modes[1].acl,
	   "permissions of shared folders come back");
	ab_survey_fini(&again);
	shared.nmodes = 0;
	free(text);
	text = ab_journal_write(&shared);
	ok(ab_journal_read(text, strlen(text), &again, &err) == 0 && again.nmodes == 0,
	   "or are not known");
	ab_survey_fini(&again);
	ab_strv_fini(&shared.shared);
}

/* What a pattern had closed at the start is the user's, also for the next start. */
static void patterns(void)
{
	struct ab_policy policy = { .home = top };
	struct ab_survey again = { 0 };
	struct ab_error err;
	ab_autofree char *text = NULL;

	sh("chmod -R u+rwX $T/w 2>/dev/null; rm -rf $T/w '%s'; mkdir -p $T/w '%s'; echo mine > $T/w/a.sh",
	   near, near);
	tick();
	ab_strv_give(&policy.fs.write, at("w"));
	ab_strv_add(&policy.fs.deny_write, "*.sh");
	ok(ab_survey_make(&policy, environ, NULL, &s, &err) == 0, "survey with a pattern");
	dir = open(near, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	text = ab_journal_write(&s);
	ok(ab_quarantine_open(&s, dir, &q, &err) == 0, "open with a pattern");
	sh("echo x > $T/w/b.sh");
	ab_quarantine_sweep(q);
	ok(here("w/a.sh") && !here("w/b.sh"), "a pattern moves only what is new");
	ab_quarantine_close(q);
	sh("echo x > $T/w/c.sh");
	ok(ab_journal_read(text, strlen(text), &again, &err) == 0 &&
		   ab_quarantine_open(&again, dir, &q, &err) == 0,
	   "open from the journal");
	ab_quarantine_sweep(q);
	ok(here("w/a.sh") && !here("w/c.sh"), "so does the next start for a dead run");
	end();
	ab_survey_fini(&again);
	ab_strv_fini(&policy.fs.write);
	ab_strv_fini(&policy.fs.deny_write);
}

/* A shared folder $T/w, in which $T/w/open is writable by itself. */
static void begin_shared(const char *script)
{
	struct ab_policy policy = { .home = top };
	struct ab_error err;

	sh("chmod -R u+rwX $T/w 2>/dev/null; rm -rf $T/w '%s'; mkdir -p $T/w/open '%s'; cd $T/w; %s",
	   near, near, script);
	tick();
	ab_strv_give(&policy.fs.write, at("w/open"));
	ab_strv_give(&policy.fs.write, at("w"));
	ab_strv_give(&policy.fs.share, at("w"));
	ab_strv_add(&policy.fs.deny_write, ".envrc");
	ok(ab_survey_make(&policy, environ, NULL, &s, &err) == 0, "survey of a shared folder");
	dir = open(near, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ok(ab_quarantine_open(&s, dir, &q, &err) == 0, "open");
	ab_strv_fini(&policy.fs.write);
	ab_strv_fini(&policy.fs.share);
	ab_strv_fini(&policy.fs.deny_write);
}

static void shared_folders(void)
{
	struct ab_survey again = { 0 };
	struct ab_error err = { 0 };
	ab_autofree char *text = NULL;

	begin_shared("mkdir -p old/deep; ln -s / old/deep/host; mkfifo old/pipe");
	sh("cd $T/w; mkdir -p new/a/b; echo x > new/a/b/f; ln -s / new/a/b/l; ln -s / old/deep/l;"
	   "mkfifo old/deep/p; ln -s / open/l; ln -s / l; echo x >> old/f;"
	   "mkdir -p .git/x node_modules/x; ln -s / .git/x/l; ln -s / node_modules/x/l");
	ab_quarantine_sweep(q);
	ok(kept("w/new/a/b/l", "") && kept("w/old/deep/l", "") && kept("w/l", "") &&
		   kept("w/.git/x/l", "") && kept("w/node_modules/x/l", ""),
	   "new links in a shared folder are moved, at any depth");
	ok(kept("w/old/deep/p", ""), "so is a FIFO");
	ok(moved("w/l")->shared && !moved("w/l")->entry, "and not as a protected name");
	ok(here("w/old/deep/host") && here("w/old/pipe"), "what the host had stays");
	ok(here("w/new/a/b/f") && here("w/old/f"), "files and folders stay");
	ok(here("w/open/l") && count() == 6, "a writable folder in it may have links");
	end();

	begin_shared("mkdir old; mkdir -m 0300 locked; ln -s / locked/host");
	sh("cd $T/w; mkdir -p x/y; ln -s / x/y/l; ln -s / x/l; chmod 0300 x/y; chmod 0400 x;"
	   "mkdir z; ln -s / z/l; chmod 0500 z");
	ab_quarantine_sweep(q);
	ok(kept("w/x/l", "") && kept("w/x/y/l", "") && kept("w/z/l", ""),
	   "folders without rights are searched too");
	ok(here("w/locked/host") && count() == 3, "the host's own stays as it is");
	end();

	begin_shared("");
	for (int i = 0; i < 600; i++) {
		ab_autofree char *name = ab_printf("w/l%d", i);
		ab_autofree char *path = at(name);

		if (symlink("/", path) < 0)
			abort();
	}
	ab_quarantine_sweep(q);
	ok(sh("test -z \"$(find $T/w -type l)\"") == 0 &&
		   said(&ab_quarantine_report(q)->findings, "more links and the like"),
	   "links beyond the limit are removed and told");
	end();

	begin_shared("mkdir old");
	text = ab_journal_write(&s);
	ab_quarantine_close(q);
	sh("ln -s / $T/w/old/l; ln -s / $T/w/open/l");
	ok(ab_journal_read(text, strlen(text), &again, &err) == 0 &&
		   ab_quarantine_open(&again, dir, &q, &err) == 0,
	   "open from the journal");
	ab_quarantine_sweep(q);
	ok(!here("w/old/l") && here("w/open/l"), "the next start does it for a dead run");
	end();
	ab_survey_fini(&again);

	begin_shared("");
	events();
	sh("cd $T/w; ln -s / l; mkdir -p new/a; echo x > new/f; ln -s / new/a/l");
	events();
	events();
	ok(kept("w/l", "") && kept("w/new/a/l", "") && here("w/new/f"),
	   "in watched folders while the box runs");
	for (int i = 0; i < 2; i++) {
		sh("ln -s / $T/w/l");
		events();
	}
	ok(ab_quarantine_must_end(q, &err), "and the third time ends the run");
	end();
}

int main(void)
{
	ab_autofree char *far = ab_printf("/dev/shm/agentbox-race-%d", getpid());

	start();
	near = at("q");
	live();
	sweeps();
	across();
	race(near, "rename");
	if (access("/dev/shm", W_OK) == 0)
		race(far, "copy");
	made_by_the_run();
	again();
	many();
	told_by_inotify();
	events_in_a_row();
	live_repositories();
	shared_folders();
	copied_index();
	shared_index();
	short_runs();
	deep();
	spots();
	journal();
	permissions();
	patterns();
	stuck();
	finish();
	free(near);
	return done();
}
