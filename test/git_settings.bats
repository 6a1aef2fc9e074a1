# Settings of git that a run may leave behind: in a repository that it made, and names of remotes
# anywhere. What is not in the table of harmless settings goes, whatever a later git makes of it.
# root-in-turn: no permission of a file stops root, so only the walls can
UNJUDGED=1
load helpers
load attack/attack

setup()
{
	box_setup
	# Nine folders down, and in a folder of generated files.
	DEEP=node_modules/a/b/c/d/e/f/g/h
}

# In the box: do COMMAND..., which must succeed or fail; evil DIR: a bare repository with a hook.
DO='well() { "$@" || echo "HOLE failed: $*"; }
	bad() { "$@" && echo "HOLE worked: $*"; }
	evil() { git init -q --bare "$1" && printf "#!/bin/sh\ntouch \"$HOME/owned\"\n" >"$1/hooks/pre-receive" &&
		chmod +x "$1/hooks/pre-receive"; }'

# settings REPO: what its configuration has, as git reads it.
settings()
{
	git -C "$1" config --local --list --name-only
}

@test "git settings: a repository that the run makes keeps what is known to be harmless, and nothing else" {
	make_repo
	agentbox run -- sh -c "$DO"'
		for r in sub .git/modules/x node/deep; do
			mkdir -p ${r%/*} && git init -q $r
		done
		git init -q --bare bare.git
		for c in sub/.git/config node/deep/.git/config bare.git/config; do
			cat >>$c <<END
[gc]
	auto = 1
	recentObjectsHook = touch $HOME/owned
[delta]
	pager = ./x
[sendemail "me"]
	smtpserver = ./x
[svn]
	authorsProg = ./x
[of]
	tomorrow = ./x
	flag
[alias]
	st = status
	x = -c core.pager=./x log
[user]
	name = Box
END
		done
		git -C sub config extensions.worktreeConfig true
		git -C sub config --worktree web.browser ./x
		echo done'
	[ "$status" -eq 0 ]
	no_hole
	for r in sub node/deep bare.git; do
		# git from 2.42 on would run gc.recentObjectsHook.
		git -C $r gc -q
		absent "$HOME/owned"
		! settings $r | grep -E 'recent|delta|sendemail|svn|^of|alias.x|web' || false
		[ "$(git -C $r config gc.auto)" = 1 ]
		[ "$(git -C $r config alias.st)" = status ]
		[ "$(git -C $r config user.name)" = Box ]
		[ "$(git -C $r config core.repositoryformatversion)" ]
		# Each is told, and what was taken is in quarantine.
		[[ "$output" == *"$WORKSPACE/$r/"*"of.tomorrow"* ]]
	done
	[[ "$output" == *"gc.recentobjectshook"*"delta.pager"*"sendemail.me.smtpserver"* ]]
	[[ "$output" == *"config.worktree (web.browser)"* ]]
}

# forked: in the box, makes a repository in which a rebase has something to do.
FORKED='forked() { git init -q $1 && git -C $1 commit -q --allow-empty -m one && git -C $1 checkout -q -b topic &&
	echo 1 >$1/one && git -C $1 add one && git -C $1 commit -q -m two && git -C $1 checkout -q main &&
	echo 2 >$1/two && git -C $1 add two && git -C $1 commit -q -m three && git -C $1 checkout -q topic; }
	run="%s%nexec touch $HOME/owned"
	'

# git runs what it finds behind a line break there.
@test "git settings: a rebase in a repository that the run makes runs no program" {
	agentbox run -- sh -c "$FORKED"'
		for r in sub new/old/sub linked; do
			mkdir -p $r && forked $r
		done
		for r in sub new/old/sub; do
			git -C $r config rebase.instructionFormat "$run"
			git -C $r config rebase.stat true
		done
		git -C linked config extensions.worktreeConfig true
		git -C linked config --worktree rebase.instructionFormat "$run"
		git -C linked config rebase.stat true'
	[ "$status" -eq 0 ]
	for r in sub new/old/sub linked; do
		git -C $r rebase -q main
		absent "$HOME/owned"
		[[ "$output" == *"$WORKSPACE/$r/"*"rebase.instructionformat"* ]]
		# The twins: the rebase is made, and a harmless setting beside that one stays.
		[ "$(git -C $r log --format=%s | paste -sd' ')" = "two three one" ]
		[ "$(git -C $r config rebase.stat)" = true ]
	done
}

@test "git settings: an alias in a repository that the run makes runs no program in place of the user's alias" {
	git config --global alias.st 'status --short'
	agentbox run -- sh -c '
		for r in bad good; do
			git init -q $r && printf "#!/bin/sh\ntouch \"$HOME/owned\"\n" >$r/x && chmod +x $r/x
		done
		git -C bad config alias.st "-c core.fsmonitor=./x status"
		git -C good config alias.st status'
	[ "$status" -eq 0 ]
	git -C bad st
	absent "$HOME/owned"
	[[ "$output" == *"$WORKSPACE/bad/.git/config (alias.st)"* ]]
	# The twin: another word for a command of git.
	[[ "$(git -C good st)" == *"No commits yet"* ]]
}

@test "git settings: repositories of every day leave no message and keep their settings" {
	make_repo
	git init -q --bare "$HOME/far.git"
	git -C "$HOME/far.git" config uploadpack.allowFilter true
	git push -q "$HOME/far.git" HEAD:refs/heads/main
	agentbox run -- sh -c "$DO"'
		well git init -q a
		well git -C a config user.name Box
		well git -C a config user.signingKey abc
		well git -C a config commit.gpgsign false
		well git -C a config core.fsmonitor false
		well git -C a config lfs.repositoryformatversion 0
		well git -C a config lfs.https://x.org/y.git/info/lfs.access basic
		well git -C a remote add origin https://x.org/y.git
		well git -C a remote add -t main upstream git@x.org:y.git
		well git -C a config remote.upstream.gh-resolved base
		well git -C a commit -q --allow-empty -m one
		well git -C a config branch.main.remote upstream
		well git -C a config branch.main.merge refs/heads/main
		well git -C a config branch.main.pushRemote https://x.org/z.git
		# As gh pr checkout does, and scalar clone.
		well git -C a config branch.pr.remote git@x.org:z/y.git
		well git -C a config branch.pr.pushRemote git@x.org:z/y.git
		for k in am.keepCR core.FSCache core.multiPackIndex core.preloadIndex core.untrackedCache \
			feature.manyFiles fetch.writeCommitGraph gui.GCWarning index.threads merge.stat merge.renames \
			pack.useBitmaps receive.autoGC status.aheadBehind http.postBuffer; do
			well git -C a config $k false
		done
		well git -C a config remote.pushDefault upstream
		well git -C a remote rename upstream other
		well git -C a config checkout.defaultRemote origin
		well git -C a worktree add -q ../tree
		well git init -q --shared=group b
		well git init -q --object-format=sha256 c
		well git init -q --bare d.git
		well git clone -q ~/far.git e
		well git -C e checkout -q -b topic --track origin/main
		well git -C e branch -q -u origin/main
		well git clone -q "file://$HOME/far.git" f
		well git clone -q --mirror ~/far.git g.git
		well git clone -q --sparse "file://$HOME/far.git" h
		well git clone -q --filter=blob:none --no-checkout "file://$HOME/far.git" i
		well git clone -q -o mine --no-tags --depth 1 "file://$HOME/far.git" j
		well git clone -q "$PWD" k
		well git clone -q "$PWD/e" l
		well git bundle create -q all.bundle main
		well git clone -q -b main "$PWD/all.bundle" n
		well git -C l push -q origin HEAD:refs/heads/new
		well git -c protocol.file.allow=always -C a submodule --quiet add ~/far.git s
		well git -C a commit -qm sub
		well git -c protocol.file.allow=always clone -q --recurse-submodules a m
		well git -C a remote remove other
		echo end'
	[ "$status" -eq 0 ]
	# The submodules are told as such.
	[ "$(grep -v 'files in deeper folders.*gitmodules' <<<"$output")" = end ]
	[ "$(git -C a config user.name)" = Box ]
	[ "$(git -C a config branch.pr.pushRemote)" = git@x.org:z/y.git ]
	[ "$(git -C a config http.postBuffer)" = false ]
	[ "$(git -C e config remote.origin.url)" = "$HOME/far.git" ]
	[ "$(git -C f config remote.origin.url)" = "file://$HOME/far.git" ]
	[ "$(git -C k config remote.origin.url)" = "$WORKSPACE" ]
	[ "$(git -C l config remote.origin.url)" = "$WORKSPACE/e" ]
	[ "$(git -C n config remote.origin.url)" = "$WORKSPACE/all.bundle" ]
	[ "$(git -C i config remote.origin.promisor)" = true ]
	[ "$(git -C h config core.sparseCheckout)" = true ]
	[ "$(git -C m/s rev-parse --show-toplevel)" = "$WORKSPACE/m/s" ]
	[ "$(git -C j config branch.main.remote)" = mine ]
	# They work outside.
	git -C e push -q origin HEAD:refs/heads/outside
	git -C a/s status --short
}

# git push runs the hooks of a repository on this machine.
@test "git settings: in a repository that the run makes, a remote is no path to hooks" {
	agentbox run -- sh -c "$DO"'
		evil "$1"; ln -s "$1" out; ln -s "$1" link.git
		for r in name dangling url pushurl file insteadof vcs relative suffix; do
			git init -q $r && git -C $r commit -q --allow-empty -m one
			ln -s "../$1" $r/out
		done
		cd name && git remote add web https://x.org/y && git config remote.pushDefault out && cd ..
		git -C dangling config branch.main.remote out
		git -C dangling config branch.main.merge refs/heads/main
		git -C url remote add origin "$PWD/$1"
		git -C pushurl remote add origin https://x.org/y
		git -C pushurl config remote.origin.pushurl "$PWD/out"
		git -C file remote add origin "file://$PWD/$1"
		git -C insteadof remote add origin https://x.org/y
		git -C insteadof config "url.$PWD/$1.insteadOf" https://x.org/y
		git -C vcs config remote.origin.vcs evil
		git -C relative remote add origin ../out
		git -C suffix remote add origin "$PWD/link"
		echo end' sh "$DEEP"
	[ "$status" -eq 0 ]
	no_hole
	for r in name dangling url pushurl file insteadof vcs relative suffix; do
		status=0
		timeout 20 git -C $r -c http.proxy=http://127.0.0.1:9 -c push.default=current push -q </dev/null || status=$?
		absent "$HOME/owned"
		[ "$status" -ne 0 ]
	done
	[[ "$output" == *"name/.git/config (remote.pushdefault)"* ]]
}

# A repository of the user's with a remote, and a commit that is not there.
make_pushed()
{
	make_repo
	git init -q --bare "$HOME/far.git"
	git remote add origin "$HOME/far.git"
	git push -q -u origin main
	echo two >file
	git commit -q -a -m two
}

# pushed: git push of the user goes where it went before, and runs nothing.
pushed()
{
	git push -q || :
	absent "$HOME/owned"
	[ -z "$(git --git-dir="$DEEP" for-each-ref)" ]
	no_hole
	# The twin.
	[ "$(git -C "$HOME/far.git" rev-parse main)" = "$(git rev-parse main)" ]
}

@test "git settings: git push runs no hook that remote.pushDefault leads to" {
	make_pushed
	agentbox run -- sh -c "$DO"'
		evil "$1"; ln -s "$1" out
		bad git config remote.pushDefault out' sh "$DEEP"
	pushed
}

@test "git settings: git push runs no hook that the remote of a branch leads to" {
	make_pushed
	agentbox run -- sh -c "$DO"'
		evil "$1"; ln -s "$1" out
		bad git config branch.main.pushRemote out
		bad git config branch.main.remote out' sh "$DEEP"
	pushed
}

@test "git settings: git push runs no hook in a folder with the name of a removed remote" {
	make_pushed
	agentbox run -- sh -c "$DO"'
		evil "$1"
		well git remote add web https://x.org/y
		well git config remote.pushDefault web
		well git config --remove-section remote.web
		git config remote.pushDefault && echo HOLE left
		ln -s "$1" web' sh "$DEEP"
	pushed
}

@test "git settings: a work tree outside of what the run may write goes, a submodule's stays" {
	mkdir "$HOME/precious"
	echo mine >"$HOME/precious/file"
	agentbox run -- sh -c "$DO"'
		for r in up link abs; do git init -q $r; done
		ln -s "$HOME/precious" link/out
		git -C up config core.worktree ../../../precious
		git --git-dir=link/.git config core.worktree ../out
		git --git-dir=abs/.git config core.worktree "$HOME/precious"
		git init -q fine && mkdir fine/tree && git --git-dir=fine/.git config core.worktree ../tree
		echo end'
	[ "$status" -eq 0 ]
	no_hole
	for r in up link abs; do
		git -C $r clean -q -f -d -x || :
		[ -e "$HOME/precious/file" ]
		[[ "$output" == *"$r/.git/config (core.worktree)"* ]]
		! git --git-dir=$r/.git config core.worktree || false
	done
	[[ "$output" != *fine/* ]]
	[ "$(git --git-dir=fine/.git config core.worktree)" = ../tree ]
}

@test "git settings: the name of a remote in a repository that was there is that of one with an address" {
	make_repo
	git init -q --bare "$HOME/far.git"
	git remote add far "$HOME/far.git"
	git config branch.old.remote gone
	mkdir docs
	agentbox run --write "$HOME/far.git" -- sh -c "$DO"'
		evil "$1"; ln -s "$1" out; ln -s "$1" up.git
		bad git config remote.pushDefault out
		bad git config branch.main.remote out
		bad git config branch.main.pushRemote out
		bad git config checkout.defaultRemote out
		bad git config branch.main.remote gone
		well git remote add docs https://x.org/y
		well git remote add up https://x.org/y
		bad git config branch.main.remote docs
		bad git config branch.main.pushRemote up
		# A remote that has an address to push to only has none.
		well git config remote.half.pushurl https://x.org/y
		bad git config remote.pushDefault half
		# When a remote goes, its name goes, too.
		well git remote add web https://x.org/y
		well git config remote.pushDefault web
		well git config branch.main.remote web
		well git config --remove-section remote.web
		git config remote.pushDefault && echo HOLE left
		git config branch.main.remote && echo HOLE left
		# Twins.
		well git remote add origin https://x.org/y
		well git config branch.main.remote origin
		well git config branch.main.merge refs/heads/main
		well git config remote.pushDefault origin
		well git remote rename origin mine
		[ "$(git config remote.pushDefault) $(git config branch.main.remote)" = "mine mine" ] || echo HOLE renamed
		well git remote remove mine
		git config remote.pushDefault && echo HOLE removed
		well git config branch.pr.remote git@x.org:z/y.git
		well git config branch.pr.pushRemote git@x.org:z/y.git
		well git config branch.main.remote .
		well git config remote.pushDefault far
		echo end' sh "$DEEP"
	[ "$status" -eq 0 ]
	no_hole
	[[ "$output" == *"remote.pushdefault may only name a remote that has an address here"* ]]
	git push -q
	absent "$HOME/owned"
	[ "$(git -C "$HOME/far.git" rev-parse main)" = "$(git rev-parse main)" ]
	[ "$(git config branch.old.remote)" = gone ]
}

# A file "name.git" in the checkout leads git push to such a repository, and the list of alternates git fetch.
@test "git settings: a repository inside a folder .git has no hooks and only harmless settings" {
	make_repo
	git remote add origin https://x.org/y
	agentbox run -- sh -c "$DO"'
		well git init -q made && git -C made commit -q --allow-empty -m one
		for r in .git/evil .git/refs/heads/a/b .git/objects/evil made/.git/evil .git/x/.git; do
			evil $r && git -C $r config core.sshCommand ./x && git -C $r config user.name Box
		done
		well git init -q --bare "$1"
		ln -s "$PWD/$1" .git/link
		well git remote remove origin
		echo "gitdir: .git/evil" >origin.git
		echo "gitdir: .git/x/.git" >second.git
		echo "gitdir: .git/evil" >made/origin.git
		echo end' sh .git/fine
	[ "$status" -eq 0 ]
	no_hole
	# What git says of the others does not matter yet.
	for r in origin second; do
		git push -q $r HEAD:refs/heads/one || :
	done
	git -C made push -q origin HEAD:refs/heads/one || :
	absent "$HOME/owned"
	for r in .git/evil .git/refs/heads/a/b .git/objects/evil made/.git/evil .git/x/.git; do
		absent $r/hooks/pre-receive
		! git --git-dir=$r config core.sshCommand || false
		# Only that.
		[ "$(git --git-dir=$r config user.name)" = Box ]
		[[ "$output" == *"$WORKSPACE/$r/"* ]]
	done
	[[ "$output" != *.git/fine* ]]
	# They were pushed to.
	for r in .git/evil .git/x/.git made/.git/evil; do
		git --git-dir=$r rev-parse -q --verify refs/heads/one
	done
}

# Nothing appears in a folder when a file in it is written in place.
@test "git settings: those of an old repository in generated files are examined when they are written in place" {
	make_repo
	mkdir -p node_modules/zz/deep node_modules/zy/deep
	for i in {1..110}; do
		mkdir -p node_modules/a$i/lib
		touch node_modules/a$i/lib/{1..100}
	done
	# Without a folder in it, so it looks as if there were no repository to be found.
	for r in node_modules/zz/deep/{bad,fine} node_modules/zy/deep/unseen; do
		git init -q --bare $r
		mv $r/objects $r.objects && mv $r/refs $r.refs && rm -rf $r/{hooks,branches,info}
		ln -s ../${r##*/}.objects $r/objects && ln -s ../${r##*/}.refs $r/refs
	done
	agentbox run -- sh -c '
		cd node_modules/zz/deep
		printf "[core]\n\tsshCommand = touch $HOME/owned; false\n[user]\n\tname = Box\n" >>bad/config
		printf "[user]\n\tname = Box\n" >>fine/config
		# The guard does not see a file that is opened as npm unpacks it.
		python3 -c "
import os
config = open(\"../../zy/deep/unseen/config\").read() + \"[core]\n\tfsmonitor = ./x\n\"
os.write(os.open(\"../../zy/deep/unseen/config\", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW), config.encode())"'
	[ "$status" -eq 0 ]
	git -C node_modules/zz/deep/bad ls-remote git@far.test:x || :
	absent "$HOME/owned"
	[[ "$output" == *"deep/bad/config (core.sshcommand)"* ]]
	[[ "$output" != *deep/fine* ]]
	for r in bad fine; do
		[ "$(git -C node_modules/zz/deep/$r config user.name)" = Box ]
	done
	! git -C node_modules/zz/deep/bad config core.sshCommand || false
	# Nobody looks for that one, as SECURITY.md says; the search that reads every folder finds it.
	[[ "$output" != *unseen* ]]
	[ "$(git -C node_modules/zy/deep/unseen config core.fsmonitor)" = ./x ]
	agentbox quarantine scan "$(basename "$AGENTBOX_STATE"/runs/*)"
	[[ "$output" == *unseen/config* ]]
}

@test "git settings: an automatic review applies no setting that makes git push run a hook" {
	need userns
	make_pushed
	agentbox run --review=auto -- sh -c "$DO"'
		evil "$1"; ln -s "$1" out
		git config remote.pushDefault out
		echo new >other' sh "$DEEP"
	pushed
	# The twin: what nobody obeys.
	[ "$(cat other)" = new ]
}

@test "git settings: an automatic review applies no setting that makes a rebase run a program" {
	need userns
	agentbox run --review=auto -- sh -c "$FORKED"'
		forked bad && git -C bad config rebase.instructionFormat "$run"
		forked good && git -C good config rebase.stat true'
	[ "$status" -eq 0 ]
	# Where its settings wait it may be no repository yet.
	git -C bad rebase -q main || :
	absent "$HOME/owned"
	# The twin: harmless ones.
	git -C good rebase -q main
	[ "$(git -C good config rebase.stat) $(git -C good log --format=%s | paste -sd' ')" = "true two three one" ]
}

@test "git settings: a reviewed change of them has a label, in a new repository too" {
	need userns
	make_repo
	agentbox run --review=auto -- sh -c "$DO"'
		evil "$1"; ln -s "$1" out
		git config remote.pushDefault out
		for r in hook name path fine; do git init -q $r; done
		git -C hook config gc.recentObjectsHook ./x
		git -C name config remote.pushDefault out
		git -C path remote add origin "$PWD/$1"
		# In folders of the data of git, and below names that a part of a repository has.
		for r in .git/objects/in .git/lfs/in src/hooks/in config/in; do
			evil $r; git -C $r config core.fsmonitor ./x
		done
		mkdir -p half other/objects other/refs
		echo "ref: refs/heads/main" >half/HEAD
		echo ../other >half/commondir
		git config -f other/config core.fsmonitor ./x
		mkdir settings; git config -f settings/config core.fsmonitor ./x
		git -C fine remote add origin https://x.org/y
		git -C fine config branch.main.remote origin
		git -C fine config user.name Box
		echo end' sh "$DEEP"
	[ "$status" -eq 0 ]
	no_hole
	! git config remote.pushDefault || false
	for r in hook name path; do
		absent $r/.git/config
	done
	for r in .git/objects/in .git/lfs/in src/hooks/in config/in; do
		absent $r/config $r/hooks/pre-receive
	done
	absent half/commondir other/config
	# The twins were applied.
	[ "$(git config -f settings/config core.fsmonitor)" = ./x ]
	[ "$(git -C fine config branch.main.remote)" = origin ]
}

@test "git settings: a program that any setting of the user's names is closed" {
	make_repo
	mkdir tools
	for f in recent pager other; do
		echo old >tools/$f
	done
	git config gc.recentObjectsHook 'tools/recent --all'
	git config of.tomorrow ./tools/pager
	git config --global safe.directory "$WORKSPACE"
	git config --global --add maintenance.repo "$WORKSPACE"
	git config --global scalar.repo "$WORKSPACE"
	agentbox run -- sh -c '
		for f in recent pager; do echo evil >tools/$f && echo HOLE; done
		echo new >tools/other; echo new >file'
	no_hole
	[ "$(cat tools/recent tools/pager)" = $'old\nold' ]
	[ "$(cat tools/other file)" = $'new\nnew' ]
}
