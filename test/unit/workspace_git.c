/*
 * Repositories, worktrees and submodules made by git itself. Where the
 * machine lets us make a mount namespace, a command also runs with exactly
 * "write minus closed" writable.
 */
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include "workspace/git/gitlink.h"
#include "workspace/survey/survey.h"
#include "workspace_help.h"

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return good;
}

static int clone_of(const char *path)
{
	return open_tree(AT_FDCWD, path,
			 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW | AT_RECURSIVE);
}

static bool over(int fd, const char *path)
{
	return fd >= 0 && move_mount(fd, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) == 0;
}

static bool confine(const struct ab_survey *s)
{
	struct mount_attr ro = { .attr_set = MOUNT_ATTR_RDONLY, .propagation = MS_PRIVATE };
	ab_autofree char *uid = ab_printf("%u %u 1", getuid(), getuid());
	ab_autofree char *gid = ab_printf("%u %u 1", getgid(), getgid());
	int fds[16];

	if (s->write.len > 16 || unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ||
	    !put("/proc/self/setgroups", "deny") || !put("/proc/self/uid_map", uid) ||
	    !put("/proc/self/gid_map", gid))
		return false;
	for (size_t i = 0; i < s->write.len; i++)
		fds[i] = clone_of(s->write.v[i]);
	if (mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &ro, sizeof(ro)) < 0)
		return false;
	for (size_t i = 0; i < s->write.len; i++)
		if (!over(fds[i], s->write.v[i]))
			return false;
	for (size_t i = 0; i < s->nclosed; i++) {
		int fd;

		if (s->closed[i].kind == AB_NODE_LINK)
			continue;
		fd = clone_of(s->closed[i].path);
		if (mount_setattr(fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &ro, sizeof(ro)) < 0 ||
		    !over(fd, s->closed[i].path))
			return false;
	}
	return true;
}

/* The exit status of the script; 99: no namespace to be had here. */
static int boxed(const struct ab_survey *s, const char *script)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(confine(s) ? sh("%s", script) : 99);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void works(const struct ab_survey *s, const char *script, const char *name)
{
	int rc = boxed(s, script);

	if (rc == 99)
		lacks(name, "no user namespace here");
	else
		ok(rc == 0, "%s", name);
}

static void fails(const struct ab_survey *s, const char *script, const char *name)
{
	int rc = boxed(s, script);

	if (rc == 99)
		lacks(name, "no user namespace here");
	else
		ok(rc > 0 && rc != 127, "%s", name);
}

#define COMMIT                                                      \
	"echo x >> f; git add f; git commit -qm x; git branch b$$;" \
	"git stash list; git status"

static void main_repository(void)
{
	struct ab_survey s;

	sh("git init -q $T/main; cd $T/main; echo x > f; git add f;"
	   "git commit -qm 1; mkdir -p deep/er; git init -q deep/er/inner;"
	   "mkdir -p a/b/c/d/e/f; git init -q a/b/c/d/e/f/g");
	s = survey("main", NULL);
	ok(closed(&s, AB_NODE_DIR, "main/.git/hooks") &&
		   closed(&s, AB_NODE_FILE, "main/.git/config"),
	   "hooks and config of the repository are closed");
	ok(watched(&s, "main/.git", "commondir") && watched(&s, "main/.git", "config.worktree"),
	   "what would replace its config is watched for");
	ok(closed(&s, AB_NODE_FILE, "main/deep/er/inner/.git/config") &&
		   watched(&s, "main/deep/er/inner", ".envrc"),
	   "a nested repository is found, and its top is a top");
	ok(closed(&s, AB_NODE_FILE, "main/a/b/c/d/e/f/g/.git/config"), "at any depth");
	ok(s.repos.len == 3, "all are known");
	works(&s, "cd $T/main; " COMMIT, "commit works with these closed");
	fails(&s, "cd $T/main; echo x >> .git/config", "config is closed");
	fails(&s, "cd $T/main; echo x > .git/hooks/pre-commit", "hooks are closed");
	ab_survey_fini(&s);
}

static void worktree(void)
{
	struct ab_survey s;

	sh("git init -q $T/proj; cd $T/proj; echo x > f; git add f;"
	   "git commit -qm 1; git worktree add -q $T/wt; "
	   "git worktree add -q $T/other; git worktree add -q $T/proj/in");
	s = survey("wt", NULL);
	ok(writable(&s, "wt") && writable(&s, "proj/.git") && s.write.len == 2,
	   "a worktree opens its repository's git directory");
	ok(closed(&s, AB_NODE_FILE, "wt/.git"), "its .git file is closed");
	ok(closed(&s, AB_NODE_DIR, "proj/.git/hooks") &&
		   closed(&s, AB_NODE_FILE, "proj/.git/config"),
	   "hooks and config there are closed");
	ok(closed(&s, AB_NODE_FILE, "proj/.git/worktrees/wt/commondir") &&
		   closed(&s, AB_NODE_FILE, "proj/.git/worktrees/wt/gitdir") &&
		   closed(&s, AB_NODE_FILE, "proj/.git/worktrees/other/gitdir"),
	   "and the files that tie worktrees together");
	ok(watched(&s, "proj/.git/worktrees/wt", "config.worktree"),
	   "a missing config.worktree is watched for");
	works(&s, "cd $T/wt; " COMMIT, "commit works in a worktree");
	fails(&s, "cd $T/wt; git config a.b c", "but not git config");
	fails(&s, "echo x > $T/proj/f", "nor the other checkout");
	ab_survey_fini(&s);
	s = survey("proj", NULL);
	ok(closed(&s, AB_NODE_FILE, "proj/in/.git") &&
		   closed(&s, AB_NODE_FILE, "proj/.git/worktrees/in/gitdir"),
	   "a worktree inside the root is known from git's list");
	ok(!writable(&s, "wt"), "one outside is not opened");
	works(&s, "cd $T/proj/in; " COMMIT, "commit works in the inner one");
	ab_survey_fini(&s);

	sh("git clone -q --bare $T/proj $T/bare; cd $T/bare;"
	   "git worktree add -q $T/bare/one; git worktree add -q $T/bare/two");
	s = survey("bare/one", NULL);
	ok(said(&s.findings, "bare/logs is not a folder"), "what git will miss is told");
	ab_survey_fini(&s);
	sh("mkdir $T/bare/logs");
	s = survey("bare/one", NULL);
	ok(!writable(&s, "bare") && writable(&s, "bare/objects") &&
		   writable(&s, "bare/worktrees/one"),
	   "a repository that holds its worktrees is opened in parts");
	works(&s, "cd $T/bare/one; " COMMIT, "commit works there");
	fails(&s, "echo x > $T/bare/two/f", "the neighbour stays closed");
	fails(&s, "echo x > $T/bare/hooks/x", "and so do the hooks");
	ab_survey_fini(&s);
	s = survey("bare", NULL);
	ok(closed(&s, AB_NODE_FILE, "bare/config") && closed(&s, AB_NODE_DIR, "bare/hooks"),
	   "a bare repository is a repository");
	ab_survey_fini(&s);
}

static void submodule(void)
{
	struct ab_survey s;

	sh("git init -q $T/lib; cd $T/lib; echo x > f; git add f;"
	   "git commit -qm 1; git init -q $T/super; cd $T/super;"
	   "git submodule -q add $T/lib third/lib; git commit -qm 1;"
	   "git submodule -q add $T/lib a/b/c/d/e/f/g/lib; git commit -qm 2");
	s = survey("super/third/lib", NULL);
	ok(writable(&s, "super/.git/modules/third/lib") && s.write.len == 2,
	   "a submodule opens its own git directory only");
	ok(closed(&s, AB_NODE_FILE, "super/.git/modules/third/lib/config"),
	   "with its config closed");
	works(&s, "cd $T/super/third/lib; " COMMIT, "commit works in a submodule");
	fails(&s, "cd $T/super/third/lib; git config a.b c", "but not git config");
	ab_survey_fini(&s);
	s = survey("super", NULL);
	ok(closed(&s, AB_NODE_FILE, "super/.git/modules/third/lib/config") &&
		   closed(&s, AB_NODE_DIR, "super/.git/modules/third/lib/hooks"),
	   "from above, the modules' git directories are closed");
	ok(closed(&s, AB_NODE_FILE, "super/third/lib/.git") &&
		   closed(&s, AB_NODE_FILE, "super/a/b/c/d/e/f/g/lib/.git"),
	   "and their .git files, however deep");
	ok(closed(&s, AB_NODE_FILE, "super/.gitmodules"), ".gitmodules too");
	works(&s, "cd $T/super/third/lib; " COMMIT "; cd $T/super; " COMMIT,
	      "commit works in both");
	ab_survey_fini(&s);
}

/* A repository without hooks gets an empty folder, which is closed. */
static void missing_hooks(void)
{
	struct ab_survey s;

	sh("git init -q $T/nh; cd $T/nh; rm -r .git/hooks; git init -q --bare bare.git; rm -r "
	   "bare.git/hooks; echo x > f; git add f; git commit -qm 1; git worktree add -q tree;"
	   "mkdir -p fake/.git outside; ln -s ../nowhere $T/nh/outside/.git");
	s = survey("nh", NULL);
	ok(closed(&s, AB_NODE_DIR, "nh/.git/hooks") && closed(&s, AB_NODE_DIR, "nh/bare.git/hooks"),
	   "missing hooks are created and closed");
	ok(sh("cd $T/nh; [ -z \"$(ls -A .git/hooks bare.git/hooks | grep -v :)\" ];"
	      "[ $(stat -c %%a .git/hooks) = $(stat -c %%a .git/refs) ]") == 0,
	   "empty, with the mode that git gives");
	ok(sh("[ ! -e $T/nh/.git/worktrees/tree/hooks ] && [ ! -e $T/nh/fake/.git/hooks ]") == 0,
	   "but not where git does not look");
	ok(watched(&s, "nh/fake/.git", "hooks"), "there the name is watched for");
	ok(!s.findings.len, "nothing to tell");
	works(&s, "cd $T/nh; " COMMIT, "commit works");
	fails(&s, "echo x > $T/nh/.git/hooks/pre-commit", "hooks are closed");
	ab_survey_fini(&s);
	/* A link is not followed. */
	sh("rmdir $T/nh/.git/hooks; ln -s ../made $T/nh/.git/hooks");
	s = survey("nh", NULL);
	ok(closed(&s, AB_NODE_LINK, "nh/.git/hooks") && watched(&s, "nh", "made") &&
		   sh("[ ! -e $T/nh/made ]") == 0,
	   "a link in their place is pinned, and nothing is created behind it");
	ab_survey_fini(&s);
	sh("rm $T/nh/.git/hooks; chmod 0555 $T/nh/.git");
	s = survey("nh", NULL);
	if (getuid() == 0)
		ok(closed(&s, AB_NODE_DIR, "nh/.git/hooks"), "root can create them anywhere");
	else
		ok(said(&s.notes, "nh/.git/hooks does not exist and cannot be created") &&
			   watched(&s, "nh/.git", "hooks"),
		   "if they cannot be created, that is said");
	ab_survey_fini(&s);
	sh("chmod 0755 $T/nh/.git");
}

/* The user stopped in the middle of a rebase. */
static void paused(void)
{
	struct ab_survey s;

	sh("git init -q $T/rb; cd $T/rb; echo a > f; git add f; git commit -qm 1; echo b > f; "
	   "git commit -qam 2; git checkout -qb side HEAD~; echo c > f; git commit -qam 3;"
	   "! git rebase -q main");
	s = survey("rb", NULL);
	ok(closed(&s, AB_NODE_DIR, "rb/.git/rebase-merge"), "a rebase in progress is closed");
	ok(said(&s.findings, "rebase-merge is read-only"), "and that is told");
	ok(!watched(&s, "rb/.git", "sequencer") && !watched(&s, "rb/.git", "rebase-apply"),
	   "the box may begin one of its own");
	fails(&s, "cd $T/rb; echo 'exec evil' >> .git/rebase-merge/git-rebase-todo",
	      "no command can be added");
	works(&s, "cd $T/rb; echo d > f; git add f", "the conflict can be solved");
	ab_survey_fini(&s);
	sh("cd $T/rb; git rebase --abort");
	s = survey("rb", NULL);
	ok(!s.findings.len, "without one nothing is told");
	works(&s, "cd $T/rb; ! git rebase -q main && git rebase --abort", "and the box may rebase");
	ab_survey_fini(&s);
}

/* Configuration that is included, to any depth, and that applies to everybody. */
static void included(void)
{
	struct ab_survey s;

	sh("git init -q $T/inc; cd $T/inc; cp .git/config base; mkdir -p cfg/more .githooks link/real;"
	   "git config include.path ../cfg/one;"
	   "printf '[include]\npath = more/two\n' > cfg/one;"
	   "printf '[core]\nhooksPath = .githooks\n[includeIf \"onbranch:x\"]\npath = ../three\n' >"
	   "cfg/more/two; printf '[core]\nfsmonitor = tools/watch -x\npager = less\n"
	   "[include]\npath = missing\n' > cfg/three;"
	   "mkdir tools; echo x > tools/watch;"
	   "git config --add include.path ../link/inc; ln -s real/inc link/inc;"
	   "printf '[include]\npath = beside\n' > link/real/inc; echo > link/beside;"
	   "echo > link/real/beside");
	s = survey("inc", NULL);
	ok(closed(&s, AB_NODE_FILE, "inc/cfg/one") &&
		   closed(&s, AB_NODE_FILE, "inc/cfg/more/two") &&
		   closed(&s, AB_NODE_FILE, "inc/cfg/three"),
	   "included files are closed, each relative to the one before");
	ok(closed(&s, AB_NODE_DIR, "inc/.githooks"), "and the hooksPath that they name");
	ok(closed(&s, AB_NODE_FILE, "inc/tools/watch"), "and a program");
	ok(watched(&s, "inc/cfg", "missing"), "a missing one is watched for");
	ok(closed(&s, AB_NODE_LINK, "inc/link/inc") &&
		   closed(&s, AB_NODE_FILE, "inc/link/real/inc") &&
		   closed(&s, AB_NODE_FILE, "inc/link/beside") &&
		   !closed(&s, AB_NODE_FILE, "inc/link/real/beside"),
	   "behind a link it is relative to the link, as for git");
	ok(s.complete && !s.findings.len, "nothing to tell");
	ab_survey_fini(&s);

	sh("cd $T/inc; printf '[include]\npath = loop\npath = loop\n' > cfg/loop;"
	   "git config --add include.path ../cfg/loop;"
	   "i=0; while [ $i -lt 12 ]; do printf \"[include]\\npath = n$((i+1))\\n\" > cfg/n$i;"
	   "i=$((i+1)); done; echo > cfg/n12");
	s = survey("inc", NULL);
	ok(closed(&s, AB_NODE_FILE, "inc/cfg/loop"), "a file that includes itself comes to an end");
	ab_survey_fini(&s);
	sh("cd $T/inc; cp base .git/config; git config include.path ../cfg/n0");
	s = survey("inc", NULL);
	ok(closed(&s, AB_NODE_FILE, "inc/cfg/n9") && !closed(&s, AB_NODE_FILE, "inc/cfg/n12"),
	   "ten files in a row, as git reads them");
	ab_survey_fini(&s);
	sh("cd $T/inc; cp base .git/config; i=0; { echo '[include]'; while [ $i -lt 20000 ]; do "
	   "echo \"path = ../many/$i\"; i=$((i+1)); done; } >> .git/config");
	s = survey("inc", NULL);
	ok(!s.complete && said(&s.findings, "more than 4096 files"), "too many paths are told");
	for (size_t i = 0, n = 0; i < s.nwatch; i++) {
		n += s.watch[i].names.len;
		if (i + 1 == s.nwatch)
			ok(n < 5000, "and not watched for: %zu names", n);
	}
	ab_survey_fini(&s);
}

static void shared_config(void)
{
	ab_autofree char *xdg = at("xdg"), *global = at("global");
	struct ab_survey s;

	sh("git init -q $T/sc; git init -q $T/sc/sub/repo; cd $T/sc; mkdir .githooks dot;"
	   "echo '[include]' > dot/gitconfig; echo 'path = extra' >> dot/gitconfig;"
	   "ln -s sc/dot/gitconfig $T/.gitconfig; mkdir -p $T/.config/git $T/xdg/git;"
	   "printf '[core]\nhooksPath = .githooks\n' > $T/extra;"
	   "printf '[include]\npath = ~/sc/by-xdg\n' > $T/.config/git/config;"
	   "echo x > by-xdg; printf '[include]\npath = ../../sc/by-env\n' > $T/xdg/git/config;"
	   "echo x > by-env; printf '[include]\npath = sc/by-global\n' > $T/global; echo x > by-global");
	s = survey("sc", NULL);
	ok(closed(&s, AB_NODE_FILE, "sc/dot/gitconfig"),
	   "the user's configuration is closed where it is a link into a root");
	ok(closed(&s, AB_NODE_DIR, "sc/.githooks") && watched(&s, "sc/sub/repo", ".githooks"),
	   "its hooksPath counts in each checkout");
	ok(closed(&s, AB_NODE_FILE, "sc/by-xdg") && !closed(&s, AB_NODE_FILE, "sc/by-env"),
	   "~/.config/git/config is read");
	ok(s.complete && !s.findings.len, "nothing to tell");
	ab_survey_fini(&s);
	setenv("XDG_CONFIG_HOME", xdg, 1);
	setenv("GIT_CONFIG_GLOBAL", global, 1);
	s = survey("sc", NULL);
	ok(closed(&s, AB_NODE_FILE, "sc/by-env") && closed(&s, AB_NODE_FILE, "sc/by-global") &&
		   !closed(&s, AB_NODE_FILE, "sc/by-xdg"),
	   "XDG_CONFIG_HOME and GIT_CONFIG_GLOBAL are obeyed");
	ab_survey_fini(&s);
	unsetenv("XDG_CONFIG_HOME");
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	sh("rm -r $T/.gitconfig $T/.config/git");
}

/* A git directory that takes its configuration from another folder. */
static void commondir(void)
{
	struct ab_survey s;

	sh("git init -q $T/cd/real; git init -q $T/cd/front; cd $T/cd; "
	   "mv real/.git store; rm -r real; echo ../../store > front/.git/commondir; rm -r store/hooks");
	s = survey("cd", NULL);
	ok(closed(&s, AB_NODE_FILE, "cd/front/.git/commondir"), "commondir is closed");
	ok(closed(&s, AB_NODE_FILE, "cd/store/config") && closed(&s, AB_NODE_DIR, "cd/store/hooks"),
	   "and the folder that it names is a repository");
	ab_survey_fini(&s);
}

/* 0, or what is wrong; 99: no namespace to be had here. */
static int survey_mounted(void)
{
	ab_autofree char *uid = ab_printf("%u %u 1", getuid(), getuid());
	ab_autofree char *gid = ab_printf("%u %u 1", getgid(), getgid());
	ab_autofree char *sub = at("fs/sub"), *proc = at("fs/proc");
	struct ab_survey s;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 || !put("/proc/self/setgroups", "deny") ||
	    !put("/proc/self/uid_map", uid) || !put("/proc/self/gid_map", gid) ||
	    mount("none", sub, "tmpfs", 0, NULL) < 0)
		return 99;
	/* Holds no files, and more entries than the limit. May be refused. */
	if (mount("/proc", proc, NULL, MS_BIND | MS_REC, NULL) < 0)
		perror("mount /proc");
	if (sh("git init -q $T/fs/sub/a/b/r") != 0)
		return 1;
	limits = &(struct ab_survey_limits){ .entries = 200, .generated = 0 };
	s = survey("fs", NULL);
	if (!s.complete)
		return 2;
	return closed(&s, AB_NODE_FILE, "fs/sub/a/b/r/.git/config") ? 0 : 3;
}

static void other_file_systems(void)
{
	int status;
	pid_t pid;

	sh("mkdir -p $T/fs/sub $T/fs/proc");
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(survey_mounted());
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 99) {
		lacks("other file systems", "no user namespace here");
		return;
	}
	tap_count++; /* the survey's own line, printed by the child */
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	   "a repository on another file system is found, the kernel's own ones are left out");
}

static void configured(void)
{
	struct ab_survey s;

	sh("git init -q $T/conf; cd $T/conf; mkdir -p .husky/_ shared;"
	   "echo x > shared/gitconfig; git config core.hooksPath .husky/_;"
	   "git config include.path ../shared/gitconfig;"
	   "git config --add include.path '~/conf/not-yet'");
	s = survey("conf", NULL);
	ok(closed(&s, AB_NODE_DIR, "conf/.husky/_"), "hooksPath in a writable root is closed");
	ok(closed(&s, AB_NODE_FILE, "conf/shared/gitconfig"), "an included file is closed");
	ok(watched(&s, "conf", "not-yet"), "a missing one is watched for");
	ab_survey_fini(&s);
	sh("git init -q $T/moved; mv $T/moved/.git $T/moved/dot;"
	   "ln -s dot $T/moved/.git; ln -s ../elsewhere $T/moved/dot/hooks2;"
	   "rm -r $T/moved/dot/hooks; ln -s ../h $T/moved/dot/hooks;"
	   "mkdir $T/moved/h");
	s = survey("moved", NULL);
	ok(closed(&s, AB_NODE_LINK, "moved/.git") && closed(&s, AB_NODE_FILE, "moved/dot/config"),
	   "a linked .git is pinned and its repository closed");
	ok(closed(&s, AB_NODE_LINK, "moved/dot/hooks") && closed(&s, AB_NODE_DIR, "moved/h"),
	   "linked hooks as well");
	ab_survey_fini(&s);
}

/* Each is a .git file that must open nothing. */
static const struct {
	const char *name, *script;
} hostile[] = {
	{ "another repository", "echo \"gitdir: $T/victim/.git\" > $T/evil/.git" },
	{ "another repository's worktree",
	  "echo \"gitdir: $T/victim/.git/worktrees/vt\" > $T/evil/.git" },
	{ "a hard link of another worktree's .git file", "ln $T/vt/.git $T/evil/.git" },
	{ "home", "echo \"gitdir: $T\" > $T/evil/.git" },
	{ "the root", "echo 'gitdir: /' > $T/evil/.git" },
	{ "the parent", "echo 'gitdir: ..' > $T/evil/.git" },
	{ "dots", "echo 'gitdir: ../victim/../victim/.git' > $T/evil/.git" },
	{ "a link to a repository",
	  "ln -s $T/victim/.git $T/evil/l; echo 'gitdir: l' > $T/evil/.git" },
	{ "a line end in the path", "printf 'gitdir: %s\\n/../victim/.git\\n' $T > $T/evil/.git" },
	{ "a NUL byte in the path", "printf 'gitdir: %s/victim/.git\\0x' $T > $T/evil/.git" },
	{ "garbage", "head -c 300 /dev/urandom > $T/evil/.git" },
	{ "a huge file", "{ printf 'gitdir: %s/victim/.git\\n' $T;"
			 "head -c 3000000 /dev/zero | tr '\\0' '\\n'; } > $T/evil/.git" },
	{ "an empty file", ": > $T/evil/.git" },
	{ "a FIFO", "mkfifo $T/evil/.git" },
	{ "a link to a worktree's .git file", "ln -s $T/vt/.git $T/evil/.git" },
	{ "a forged worktree whose common folder is home",
	  "mkdir -p $T/worktrees/evil2; cd $T/worktrees/evil2;"
	  "touch HEAD; echo ../.. > commondir;"
	  "echo $T/evil/.git > gitdir;"
	  "echo \"gitdir: $T/worktrees/evil2\" > $T/evil/.git" },
	{ "the same made inside the root", "mkdir -p $T/evil/worktrees/x; cd $T/evil/worktrees/x;"
					   "touch HEAD; echo $T/victim/.git > commondir;"
					   "echo $T/evil/.git > gitdir;"
					   "echo 'gitdir: worktrees/x' > $T/evil/.git" },
	{ "a copy of a submodule's .git file",
	  "cp $T/vsuper/m/.git $T/evil/.git;"
	  "echo \"gitdir: $T/vsuper/.git/modules/m\" > $T/evil/.git" },
};

static void hostile_gitfiles(void)
{
	struct ab_survey s;

	sh("git init -q $T/victim; cd $T/victim; echo x > f; git add f;"
	   "git commit -qm 1; git worktree add -q $T/vt;"
	   "git init -q $T/vsuper; cd $T/vsuper;"
	   "git submodule -q add $T/victim m");
	for (size_t i = 0; i < AB_COUNT(hostile); i++) {
		sh("rm -rf $T/evil $T/worktrees; mkdir $T/evil; %s", hostile[i].script);
		s = survey("evil", NULL);
		ok(s.write.len == 1 && writable(&s, "evil"), "a .git file opens nothing: %s",
		   hostile[i].name);
		ab_survey_fini(&s);
	}
	sh("rm -rf $T/evil; mkdir -p $T/victim/.git/worktrees/w2; mkdir $T/w;"
	   "cd $T/victim; git worktree add -q $T/evil");
	s = survey("evil", NULL);
	ok(writable(&s, "victim/.git"), "the true worktree does");
	ab_survey_fini(&s);
	sh("rm -rf $T/evil; mkdir $T/evil; echo 'gitdir: ../victim/.git' >"
	   "$T/evil/.git");
	s = survey("evil", NULL);
	ok(said(&s.findings, "stays read-only"), "and the refusal is told");
	ok(closed(&s, AB_NODE_FILE, "evil/.git"), "the .git file is closed");
	ab_survey_fini(&s);
	/* A nested checkout of a repository elsewhere was not asked for. */
	sh("rm -rf $T/evil; mkdir $T/evil; cd $T/victim;"
	   "git worktree prune; git worktree add -q $T/evil/nested");
	s = survey("evil", NULL);
	ok(s.write.len == 1 && closed(&s, AB_NODE_FILE, "evil/nested/.git"),
	   "a nested worktree opens nothing either");
	ab_survey_fini(&s);
}

static void parses(void)
{
	static const struct {
		const char *text;
		size_t len;
		const char *want;
	} cases[] = {
		{ "gitdir: /a/b\n", 13, "/a/b" },
		{ "gitdir: /a/b\r\n\r\n", 16, "/a/b" },
		{ "gitdir: a b", 11, "a b" },
		{ "gitdir: ", 8, NULL },
		{ "gitdir: \n", 9, NULL },
		{ "gitdir:/a", 9, NULL },
		{ "gitdir: /a\0b", 12, "/a" },
		{ "gitdir: /a\n\0b\n", 14, "/a\n" },
		{ "gitdir: \0b", 10, NULL },
		{ "", 0, NULL },
		{ "gitdi", 5, NULL },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autofree char *got = ab_gitlink_parse(cases[i].text, cases[i].len);

		is_str(got, cases[i].want, "the .git file as git reads it");
	}
}

int main(void)
{
	start();
	parses();
	main_repository();
	worktree();
	submodule();
	missing_hooks();
	paused();
	included();
	shared_config();
	commondir();
	other_file_systems();
	configured();
	hostile_gitfiles();
	finish();
	return done();
}
