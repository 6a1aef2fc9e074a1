# `run --review`: the command's changes of the workspace wait in a layer.
# root-in-turn: root may give files owners and modes that a user may not
UNJUDGED=1
load helpers

setup()
{
	need userns
	box_setup
	# The tests of tools need no network.
	export GIT_TERMINAL_PROMPT=0
}

# A repository with two folders of files.
make_repo()
{
	git init -q .
	mkdir -p src/lib docs
	echo one >src/a.c
	echo two >src/lib/b.c
	echo text >docs/manual.txt
	git add .
	git commit -q -m first
}

# The only set of layers.
set_key()
{
	(cd "$AGENTBOX_STATE/layers" && echo *)
}

no_sets()
{
	[ -z "$(ls "$AGENTBOX_STATE/layers" 2>/dev/null)" ]
}

@test "review: what the command changes does not reach the workspace" {
	make_repo
	host_snapshot "$WORKSPACE" >"$TEST_DIR/before"
	agentbox run --review -- sh -c '
		echo new >new.txt && echo more >>src/a.c && rm docs/manual.txt &&
		mkdir made && chmod 700 made && cat new.txt && git status --short'
	[ "$status" -eq 0 ]
	[[ "$output" == *"new"* ]]
	[[ "$output" == *" M src/a.c"* ]]
	[[ "$output" == *" D docs/manual.txt"* ]]
	host_snapshot "$WORKSPACE" | diff "$TEST_DIR/before" -
	# The twin: without review it does.
	agentbox run -- sh -c 'echo new >new.txt'
	[ "$status" -eq 0 ]
	[ "$(cat new.txt)" = new ]
}

@test "review: one line says how many changes there are, and how to go on" {
	make_repo
	agentbox run --review -- sh -c 'echo new >new.txt; echo more >>src/a.c'
	[ "$status" -eq 0 ]
	local key
	key=$(set_key)
	[[ "$output" == *"2 changes; to see and keep them: agentbox diff $key, agentbox apply $key"* ]]
}

@test "review: a run that changes nothing leaves no set and says nothing" {
	make_repo
	agentbox run --review -- sh -c 'cat src/a.c; touch src/a.c; ls >/dev/null'
	[ "$status" -eq 0 ]
	[ "$output" = one ]
	no_sets
}

@test "review: protected names can be written, and nothing outside sees them" {
	make_repo
	host_snapshot "$WORKSPACE" >"$TEST_DIR/before"
	agentbox run --review --result "$TEST_DIR/result" -- sh -c '
		set -e
		echo "touch ran" >.git/hooks/pre-commit
		echo "[core] pager = evil" >>.git/config
		echo x >.envrc
		mkdir .vscode
		echo {} >.vscode/tasks.json
		cat .envrc'
	[ "$status" -eq 0 ]
	host_snapshot "$WORKSPACE" | diff "$TEST_DIR/before" -
	jq -e '.assurance.missing == []' "$TEST_DIR/result"
	jq -e '.assurance.holds | index("protected-names") and index("write-fence")' "$TEST_DIR/result"
	jq -e '.review.labelled >= 3 and .review.waiting >= .review.labelled' "$TEST_DIR/result"
	jq -e '[.review.files[] | select(.path == ".envrc") | .labels[]] | length > 0' \
		"$TEST_DIR/result"
	[[ "$output" == *"want a look"* ]]
}

@test "review: another writable folder is direct, with its protected names" {
	make_repo
	mkdir "$HOME/other"
	agentbox run --review --write "$HOME/other" -- sh -c '
		echo direct >"$HOME/other/file" && echo layered >file
		echo x >"$HOME/other/.envrc" && echo HOLE
		echo x >.envrc && echo written'
	[ "$(cat "$HOME/other/file")" = direct ]
	[ ! -e file ]
	[ ! -e "$HOME/other/.envrc" ]
	[[ "$output" != *HOLE* ]]
	[[ "$output" == *written* ]]
}

@test "review: a writable folder inside the workspace is direct" {
	make_repo
	mkdir cache
	agentbox run --review --write "$WORKSPACE/cache" -- sh -c '
		echo direct >cache/file && echo layered >file'
	[ "$status" -eq 0 ]
	[ "$(cat cache/file)" = direct ]
	[ ! -e file ]
}

@test "review: denied files stay hidden" {
	make_repo
	echo key >secret.txt
	agentbox run --review --deny-read "$WORKSPACE/secret.txt" -- sh -c '
		cat secret.txt && echo HOLE
		mv src/a.c src/b.c && ls src'
	[[ "$output" != *HOLE* ]]
	[[ "$output" != *key* ]]
	[[ "$output" == *b.c* ]]
	[ "$(cat secret.txt)" = key ]
}

@test "review: rm -rf of everything, then discard: nothing has changed" {
	make_repo
	mkdir -p "$HOME/notes"
	echo mine >"$HOME/notes/file"
	host_snapshot "$HOME" >"$TEST_DIR/before"
	agentbox run --review -- sh -c 'rm -rf ~/* .git; echo x >.envrc'
	host_snapshot "$HOME" | diff "$TEST_DIR/before" -
	agentbox discard "$(set_key)"
	[ "$status" -eq 0 ]
	no_sets
	host_snapshot "$HOME" | diff "$TEST_DIR/before" -
}

@test "review: diff, apply one file, undo" {
	make_repo
	agentbox run --review -- sh -c 'rm -rf ~/* .git; echo x >.envrc'
	local key
	key=$(set_key)
	host_snapshot --no-times "$HOME" >"$TEST_DIR/before"
	agentbox diff "$key"
	[[ "$output" == *.envrc* ]]
	[[ "$output" == *.git* ]]
	agentbox apply "$key" .envrc
	[ "$(cat .envrc)" = x ]
	[ -d .git ]
	[ -e src/a.c ]
	agentbox undo "$key"
	[ "$status" -eq 0 ]
	[ ! -e .envrc ]
	host_snapshot --no-times "$HOME" | diff "$TEST_DIR/before" -
}

# The home folder has no layer then, and the run's set is that of the review alone.
@test "review: with a name, and a home folder that is writable itself" {
	local out
	for out in "" old; do
		agentbox run --review --name dev --write "$HOME" -- sh -c 'cat f; echo old >f; echo new >~/real'
		[ "$status" -eq 0 ]
		[[ "$output" == *"$out"*"1 change; to see and keep it: agentbox diff dev"* ]]
		[ ! -e f ]
		[ "$(cat ~/real)" = new ]
	done
	agentbox apply dev --all
	[ "$(cat f)" = old ]
}

@test "review=auto: changes without a label are applied, the others wait" {
	make_repo
	agentbox run --review=auto --result "$TEST_DIR/result" -- sh -c '
		echo plain >plain.txt; echo more >>src/a.c; echo x >.envrc'
	[ "$status" -eq 0 ]
	[ "$(cat plain.txt)" = plain ]
	[ "$(tail -n 1 src/a.c)" = more ]
	[ ! -e .envrc ]
	jq -e '.review | .applied == 2 and .waiting == 1 and .labelled == 1' "$TEST_DIR/result"
	[[ "$output" == *"2 applied, 1 waits"* ]]
	agentbox undo "$(set_key)"
	[ "$status" -eq 0 ]
	[ ! -e plain.txt ]
	[ "$(tail -n 1 src/a.c)" = one ]
}

@test "review=auto: nothing is safe if the host's files could not all be searched" {
	make_repo
	cp .git/config "$TEST_DIR/config"
	# git reads all of it.
	{
		printf '[core]\n\thooksPath = docs\n'
		printf '# %01023d\n' $(seq 1100)
	} >>.git/config
	agentbox run --review=auto --name dev --result "$TEST_DIR/result" -- \
		sh -c 'echo box >docs/pre-commit; echo box >>src/a.c'
	[ "$status" -eq 0 ]
	[[ "$output" == *"2 changes, 2 want a look; 0 applied, 2 wait"* ]]
	jq -e '.review.files | map(.labels) == [["unchecked"], ["unchecked"]]' "$TEST_DIR/result"
	[ ! -e docs/pre-commit ]
	agentbox diff dev
	[[ "$output" == *"! src/a.c was not checked: not all files of the host were searched"* ]]
	agentbox diff --json dev
	jq -e '[.changes[] | .labels[].name] == ["unchecked", "unchecked"]' <<<"$output"
	# The twin: everything was searched.
	cp "$TEST_DIR/config" .git/config
	agentbox diff --json dev
	jq -e '[.changes[] | .labels[]?] == []' <<<"$output"
	agentbox apply dev --safe
	[ "$status" -eq 0 ]
	[ "$(cat docs/pre-commit)" = box ]
}

@test "review=auto: what the host's git or a labelled link leads to waits" {
	make_repo
	mkdir -p tools/hooks scripts
	git config core.hooksPath tools/hooks
	git config filter.z.clean scripts/clean.sh
	git config diff.z.command ./scripts/missing.sh
	git config filter.y.smudge 'sh scripts/smudge.sh %f'
	git config filter.y.clean 'python3 top.py'
	local f
	for f in tools/hooks/pre-commit scripts/clean.sh scripts/real-hook.sh docs/agents.txt \
		scripts/smudge.sh top.py tools/notes.txt; do
		echo old >"$f"
	done
	echo old >scripts/run.sh
	chmod 755 scripts/run.sh
	ln -s ../../scripts/real-hook.sh .git/hooks/post-commit
	ln -s docs/agents.txt CLAUDE.md
	ln -s docs/later.txt AGENTS.md
	agentbox run --review=auto -- sh -c '
		for f in tools/hooks/pre-commit tools/hooks/new scripts/clean.sh scripts/missing.sh \
			scripts/real-hook.sh docs/agents.txt docs/later.txt scripts/run.sh \
			scripts/smudge.sh top.py \
			tools/notes.txt src/a.c; do
			echo box >"$f"
		done'
	[ "$status" -eq 0 ]
	for f in tools/hooks/pre-commit scripts/clean.sh scripts/real-hook.sh docs/agents.txt \
		scripts/smudge.sh top.py scripts/run.sh; do
		[ "$(cat "$f")" = old ]
	done
	[ ! -e tools/hooks/new ]
	[ ! -e scripts/missing.sh ]
	[ ! -e docs/later.txt ]
	# Their twins beside them.
	[ "$(cat tools/notes.txt)" = box ]
	[ "$(cat src/a.c)" = box ]
	agentbox diff --json
	jq -e '[.changes[] | select(.path == "docs/agents.txt") | .labels[].name] == ["agent"]' <<<"$output"
	jq -e '[.changes[] | select(.path == "scripts/clean.sh") | .labels[].name] == ["git"]' <<<"$output"
	agentbox apply --safe
	[ "$(cat tools/hooks/pre-commit)" = old ]
	# Looking creates nothing.
	rm -rf .git/hooks
	agentbox diff --stat
	[ "$status" -eq 0 ]
	[ ! -e .git/hooks ]
}

@test "review=auto: without labels all is applied, and can be taken back" {
	make_repo
	agentbox run --review=auto -- sh -c 'echo plain >plain.txt'
	[ "$status" -eq 0 ]
	[ "$(cat plain.txt)" = plain ]
	[[ "$output" == *"1 change; all applied (to take it back: agentbox undo "* ]]
	agentbox undo "$(set_key)"
	[ "$status" -eq 0 ]
	[ ! -e plain.txt ]
}

@test "review=auto: nothing of a command that was killed or timed out is applied" {
	local how

	make_repo
	# By our own limit, by timeout(1), by a signal to itself, and to a child of the shell.
	for how in 'run --timeout 1s:sleep 60' 'run:exit 124' 'run:kill -9 $$' 'run:sh -c "kill -9 \$\$"; exit $?' \
		'run:sh -c "kill -TERM \$\$"; exit $?'; do
		agentbox ${how%%:*} --review=auto --name dev --result "$TEST_DIR/result" -- \
			sh -c 'echo half >>src/a.c; '"${how#*:}"
		[ "$status" -ne 0 ]
		[ "$(tail -n 1 src/a.c)" = one ]
		[[ "$output" == *"not applied, because the command was killed or timed out"*"agentbox apply dev"* ]]
		jq -e '.review | .applied == 0 and .waiting == 1' "$TEST_DIR/result"
	done
	# The twins: a command that fails has ended by itself, and so has one with a status above those.
	for how in 'exit 1' 'exit 123' 'exit 255'; do
		agentbox run --review=auto --name dev -- sh -c 'echo more >>src/a.c; '"$how"
		[ "$status" -eq "${how#exit }" ]
		[ "$(tail -n 1 src/a.c)" = more ]
		agentbox undo dev
		agentbox discard dev --yes
	done
}

@test "review=auto: a deleted folder waits, and the number of its files is shown" {
	make_repo
	# Otherwise it would be a large part of the tree.
	mkdir -p tools/deep empty more
	touch more/{1..30}
	echo 1 >tools/a
	echo 1 >tools/b
	echo 1 >tools/deep/c
	agentbox run --review=auto --name dev --result "$TEST_DIR/result" -- \
		sh -c 'rm -r tools empty; rm docs/manual.txt; echo more >>src/a.c'
	[ "$status" -eq 0 ]
	[ "$(ls tools)" = $'a\nb\ndeep' ]
	# The twins: a file, and a folder with nothing in it.
	[ ! -e docs/manual.txt ]
	[ ! -e empty ]
	[ "$(tail -n 1 src/a.c)" = more ]
	[[ "$output" == *"1 wants a look; 3 applied, 1 waits"* ]]
	jq -e '.review.files | map([.path, .labels[0]]) == [["tools", "deletion"]]' "$TEST_DIR/result"
	agentbox diff dev
	[[ "$output" == *"! tools deletes a folder"*"3 files"* ]]
	# What becomes something else is deleted, too.
	agentbox run --review=auto --name other -- sh -c 'rm -r tools; echo x >tools'
	[ -d tools ]
	agentbox apply dev --safe
	[ "$status" -eq 1 ]
	[ -e tools/deep/c ]
	agentbox apply dev --all
	[ "$status" -eq 0 ]
	[ ! -e tools ]
}

@test "review: a folder of the host can be renamed by git, mv and python" {
	need program:git
	make_repo
	mkdir tools && echo t >tools/t
	mkdir keep && echo k >keep/k && ln -s k keep/link && chmod 500 keep
	agentbox run --review -- sh -c '
		set -e
		git mv docs manuals
		cat manuals/manual.txt
		mv tools utils && cat utils/t
		python3 -c "import os; os.rename(\"src\", \"source\")"
		cat source/a.c source/lib/b.c
		python3 -c "import os; os.rename(\"keep/\", \"kept/\")"
		cat kept/link && stat -c %a kept
		ls
		git status --short'
	[ "$status" -eq 0 ]
	[[ "$output" == *"R  docs/manual.txt -> manuals/manual.txt"* ]]
	[[ "$output" == *$'one\ntwo'* ]]
	[[ "$output" == *$'k\n500'* ]]
	[[ "$output" != *agentbox-*tmp* ]]
	[ -e docs/manual.txt ]
	[ -e src/lib/b.c ]
}

@test "review: a folder of the host can be renamed by node" {
	need program:node
	need program:git
	make_repo
	agentbox run --review -- node -e 'require("fs").renameSync("docs", "d2"); console.log(require("fs").readdirSync("d2"))'
	[ "$status" -eq 0 ]
	[[ "$output" == *manual.txt* ]]
}

@test "review: a rename keeps to what rename(2) promises" {
	make_repo
	mkdir full && echo x >full/x
	agentbox run --review -- python3 -c '
import ctypes, errno, os
def err(f, *a):
    try:
        f(*a)
        return "done"
    except OSError as e:
        return errno.errorcode[e.errno]
print(err(os.rename, "src", "full"))
print(err(os.rename, "src", "src/lib/inside"))
print(err(os.rename, "src", "docs/manual.txt"))
print(err(os.rename, "missing", "x"))
os.mkdir("empty")
print(err(os.rename, "src", "empty"), sorted(os.listdir("empty")), os.path.exists("src"))
libc = ctypes.CDLL(None, use_errno=True)
r = libc.renameat2(-100, b"docs", -100, b"full", 1)
print(r, errno.errorcode[ctypes.get_errno()])
os.symlink("/etc", "link")
print(err(os.rename, "link", "link2"), os.readlink("link2"))
print(err(os.rename, "docs", "link2"))
print(sorted(os.listdir(".")))
'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = ENOTEMPTY ]
	[ "${lines[1]}" = EINVAL ]
	[ "${lines[2]}" = ENOTDIR ]
	[ "${lines[3]}" = ENOENT ]
	[ "${lines[4]}" = "done ['a.c', 'lib'] False" ]
	[ "${lines[5]}" = "-1 EEXIST" ]
	[ "${lines[6]}" = "done /etc" ]
	[ "${lines[7]}" = ENOTDIR ]
	[ "${lines[8]}" = "['.git', 'docs', 'empty', 'full', 'link2']" ]
}

@test "review: Landlock alone does not hold the rename of a folder in the layer, a filter does" {
	make_repo
	cat >alone.py <<-'END'
	import ctypes, errno, os, struct, sys
	libc = ctypes.CDLL(None, use_errno=True)
	def err(f, *a):
	    try:
	        f(*a)
	        return "done"
	    except OSError as e:
	        return errno.errorcode[e.errno]
	# No rights to change anything: landlock_create_ruleset(), landlock_restrict_self().
	attr = ctypes.create_string_buffer(struct.pack("Q", 0x3ff2))
	ruleset = libc.syscall(444, attr, 8, 0)
	assert ruleset >= 0 and libc.prctl(38, 1, 0, 0, 0) == 0 and libc.syscall(446, ruleset, 0) == 0
	if sys.argv[1] == "filter":
	    class Code(ctypes.Structure):
	        _fields_ = [("code", ctypes.c_ushort), ("t", ctypes.c_ubyte), ("f", ctypes.c_ubyte), ("k", ctypes.c_uint)]
	    class Program(ctypes.Structure):
	        _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.POINTER(Code))]
	    allow = Code(6, 0, 0, 0x7fff0000)
	    assert libc.prctl(22, 2, ctypes.byref(Program(1, ctypes.pointer(allow))), 0, 0) == 0
	print(err(os.mkdir, "made"), err(os.rename, "docs/manual.txt", "docs/other"), err(os.rename, "src", "moved"))
	END
	agentbox run --review -- sh -c 'python3 alone.py filter; python3 alone.py landlock; ls'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "EACCES EACCES EACCES" ]
	[ "${lines[1]}" = "EACCES EACCES done" ]
	grep -qx moved <<<"$output"
	[ -e src/lib/b.c ]
}

@test "review: many renames at once, and a folder that changes meanwhile, hurt only the layer" {
	make_repo
	for i in 1 2 3 4 5 6; do mkdir "d$i" && seq 50 | (cd "d$i" && xargs touch); done
	host_snapshot "$WORKSPACE" >"$TEST_DIR/before"
	agentbox run --review -- timeout 100 python3 -c '
import os, threading
def move(i):
    try:
        os.rename("d%d" % i, "e%d" % i)
    except OSError:
        pass
def swap():
    for i in range(200):
        try:
            os.symlink("/etc", "d1/link%d" % i)
            os.rename("d2/7", "d2/x")
            os.rename("d2/x", "d2/7")
        except OSError:
            pass
t = [threading.Thread(target=move, args=(i,)) for i in range(1, 7)] + [threading.Thread(target=swap)]
for x in t: x.start()
for x in t: x.join()
print(sum(os.path.isdir(p + str(i)) for i in range(3, 7) for p in "de"))
print(sum(len(os.listdir("e%d" % i)) for i in range(3, 7) if os.path.isdir("e%d" % i)) % 50)'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = 4 ]
	[ "${lines[1]}" = 0 ]
	host_snapshot "$WORKSPACE" | diff "$TEST_DIR/before" -
}

@test "layers: a rename of a folder leaves mounts in place" {
	mkdir -p "$HOME/P" "$HOME/.ssh" "$HOME/old/inner"
	echo s3cret >"$HOME/.ssh/id_rsa"
	cd "$HOME/P"
	agentbox run --workspace "$HOME/P" -- timeout 100 python3 -c '
import ctypes, errno, os, threading, time
home = os.environ["HOME"]
os.chdir(home)
libc = ctypes.CDLL(None, use_errno=True)
def mounts():
    with open("/proc/self/mountinfo") as f:
        return sorted(line.split()[4] for line in f if line.split()[4].startswith(home))
def exchange(a, b):
    return libc.renameat2(-100, a.encode(), -100, b.encode(), 2)
def attempt(a, b):
    try:
        os.rename(a, b)
        return True
    except OSError:
        return False
before = mounts()
print("workspace", home + "/P" in before, "key", any(m.startswith(home + "/.ssh") for m in before))
os.symlink(".", "ln")
os.mkdir("emp")
for a, b in (("P", "ln/emp"), ("ln/P", "ln/emp"), ("ln/P", "emp"), ("emp", "ln/P"), ("ln/P", "ln/Q")):
    attempt(home + "/" + a, home + "/" + b)
print("first", mounts() == before)
os.mkdir("x")
open("y", "w").close()
stop = False
def swap():
    while not stop:
        exchange("x", "y")
t = threading.Thread(target=swap)
t.start()
end = time.time() + 3
while time.time() < end and os.path.exists("x") and os.path.exists("y"):
    attempt(home + "/x", home + "/.ssh/id_rsa")
    attempt(home + "/x", home + "/P")
stop = True
t.join()
print("second", mounts() == before and os.path.exists("x") and os.path.exists("y"))
try:
    print(open(home + "/.ssh/id_rsa").read())
except OSError:
    pass
os.rename("old", "new")
os.mkdir("made")
os.rename("made", "made2")
print("twin", os.path.isdir("new/inner"), os.path.exists("old"), os.path.isdir("made2"))
'
	[ "$status" -eq 0 ]
	[[ "$output" == *"workspace True key True"* ]]
	[[ "$output" == *"first True"* ]]
	[[ "$output" == *"second True"* ]]
	[[ "$output" == *"twin True False True"* ]]
	[[ "$output" != *s3cret* ]]
	[[ "$output" != *"was replaced"* ]]
	[ "$(cat "$HOME/.ssh/id_rsa")" = s3cret ]
}

@test "review: a nested run cannot use the broker's rename" {
	make_repo
	agentbox run --review --pass-env AGENTBOX -- "$AGENTBOX" run --read-only -- \
		python3 -c 'import os; os.rename("src", "moved")'
	[ "$status" -ne 0 ]
	[[ "$output" == *"Error"* ]]
	[ -e src/a.c ]
}

@test "review: everyday git works in the layer" {
	make_repo
	local before
	before=$(git rev-parse HEAD)
	agentbox run --review -- sh -c '
		set -e
		git checkout -q -b topic
		echo topic >>src/a.c
		git commit -q -a -m topic
		git checkout -q main
		echo side >side.txt
		git add side.txt
		git commit -q -m side
		git merge -q -m merged topic
		echo dirty >>side.txt
		git stash -q
		git stash pop -q
		git checkout -q -- side.txt
		git checkout -q topic
		git rebase -q main
		git branch -m renamed
		git config user.name Other
		git remote add origin https://example.com/x.git
		git gc -q
		git fsck
		git log --oneline | wc -l'
	[ "$status" -eq 0 ]
	[[ "$output" == *4* ]]
	[ "$(git rev-parse HEAD)" = "$before" ]
	[ "$(git branch --format='%(refname:short)')" = main ]
	[ -z "$(git status --short)" ]
}

@test "review: make, a virtual environment and sqlite work in the layer" {
	need program:make
	printf 'out: in\n\tcp in out\n' >Makefile
	echo data >in
	agentbox run --review -- sh -c '
		set -e
		make >/dev/null && make | grep -q "up to date"
		cat out
		python3 -m venv --without-pip env && env/bin/python -c "import sys; print(sys.prefix)"
		python3 -c "
import sqlite3
d = sqlite3.connect(\"x.db\")
d.execute(\"PRAGMA journal_mode=WAL\")
d.execute(\"create table t(x)\")
d.executemany(\"insert into t values(?)\", [(i,) for i in range(1000)])
d.commit()
print(d.execute(\"select count(*) from t\").fetchone()[0])
"'
	[ "$status" -eq 0 ]
	[[ "$output" == *data* ]]
	[[ "$output" == *"$WORKSPACE/env"* ]]
	[[ "$output" == *1000* ]]
	[ ! -e out ]
	[ ! -e x.db ]
}

@test "review: a read-only run has nothing to review" {
	make_repo
	agentbox run --review --profile read-only -- cat src/a.c
	[ "$status" -eq 0 ]
	[[ "$output" == *"there is nothing to review: this run may not write to a workspace"* ]]
	[[ "$output" == *one* ]]
	no_sets
}

@test "review: together with --trace-denials and judged programs" {
	make_repo
	echo '{"filesystem":{"review":true},"commands":{"enforce":"children"}}' >"$TEST_DIR/s.json"
	agentbox run --config "$TEST_DIR/s.json" --trace-denials -- sh -c '
		git mv docs manuals && cat manuals/manual.txt; echo x >.envrc'
	[ "$status" -eq 0 ]
	[[ "$output" == *text* ]]
	[ -e docs/manual.txt ]
	[ ! -e .envrc ]
}

@test "review: the setting is true, false or \"auto\"" {
	agentbox config show --json
	[ "$(jq '.["filesystem.review"].value' <<<"$output")" = false ]
	echo '{"filesystem":{"review":true}}' >"$TEST_DIR/s.json"
	agentbox config show --json --config "$TEST_DIR/s.json"
	[ "$(jq '.["filesystem.review"].value' <<<"$output")" = true ]
	echo '{"filesystem":{"review":"auto"}}' >"$TEST_DIR/s.json"
	agentbox config check "$TEST_DIR/s.json"
	[ "$status" -eq 0 ]
	echo '{"filesystem":{"review":"maybe"}}' >"$TEST_DIR/s.json"
	agentbox config check "$TEST_DIR/s.json"
	[ "$status" -ne 0 ]
	agentbox run --review=never -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"--review: invalid value \"never\""*"use true, auto or false"* ]]
}

@test "review: a state folder inside the workspace is refused" {
	AGENTBOX_STATE=$WORKSPACE/.state agentbox run --review -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"cannot review $WORKSPACE: the state folder $WORKSPACE/.state is inside it"* ]]
}

@test "review: a workspace with a mount below it is copied" {
	make_repo
	mkdir mounted "$TEST_DIR/elsewhere"
	echo inner >"$TEST_DIR/elsewhere/inner"
	mkfifo pipe
	local as=(--user --map-current-user --keep-caps)
	[ "$(id -u)" -ne 0 ] || as=()
	host_snapshot "$WORKSPACE" >"$TEST_DIR/before"
	run timeout 200 unshare "${as[@]}" --mount sh -c '
		mount --bind "$1/elsewhere" mounted || exit 99
		shift
		"$0" run --review -- sh -c "
			cat mounted/inner && echo new >new.txt && echo more >>src/a.c &&
			rm docs/manual.txt && echo y >mounted/inner && mv src source && cat source/a.c"
		"$0" diff --stat' "$AGENTBOX" "$TEST_DIR"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"works on a copy of it"* ]]
	[[ "$output" == *"not copied: pipe"* ]]
	[[ "$output" == *$'inner\none\nmore'* ]]
	[ "$(cat "$TEST_DIR/elsewhere/inner")" = inner ]
	host_snapshot "$WORKSPACE" | diff "$TEST_DIR/before" -
	agentbox discard "$(set_key)"
	[ "$status" -eq 0 ]
	host_snapshot "$WORKSPACE" | diff "$TEST_DIR/before" -
}

@test "review: a copy can be applied" {
	make_repo
	mkdir mounted
	local as=(--user --map-current-user --keep-caps)
	[ "$(id -u)" -ne 0 ] || as=()
	run timeout 200 unshare "${as[@]}" --mount sh -c '
		mount -t tmpfs none mounted || exit 99
		"$0" run --review=auto -- sh -c "echo new >new.txt; rm docs/manual.txt; echo x >.envrc"' \
		"$AGENTBOX"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(cat new.txt)" = new ]
	[ ! -e .envrc ]
	[ -e src/a.c ]
}

# Run the script $1 in a namespace where something is mounted below the workspace, so that the review
# works on a copy.
with_mount()
{
	local as=(--user --map-current-user --keep-caps)
	[ "$(id -u)" -ne 0 ] || as=()
	run timeout 200 unshare "${as[@]}" --mount sh -c '
		mount -t tmpfs none mounted || exit 99
		eval "$1"' "$AGENTBOX" "$1"
	echo "$output"
}

@test "review: a copy does not contain denied files" {
	make_repo
	mkdir mounted conf vault
	echo s3cret >conf/key
	echo plain >conf/plain
	echo s3cret >vault/inner
	# shellcheck disable=SC2016
	with_mount '
		box() { "$0" run --review --name topic --deny-read "$PWD/conf/key" \
			--deny-read "$PWD/vault" -- sh -c "$1"; }
		box "mv conf conf2; mv vault vault2; mkdir -p conf; echo mine >conf/key; true"
		box "chmod -R u+rwX . 2>/dev/null; cat conf2/key; cat vault2/inner; cat conf2/plain; \
			grep -rs s3cret . && echo FOUND; true"
		"$0" diff --stat topic; "$0" apply --all topic; true'
	[[ "$output" == *"works on a copy of it"* ]]
	[[ "$output" == *plain* ]]
	[[ "$output" != *s3cret* ]]
	[[ "$output" != *FOUND* ]]
	# Apply neither removes nor replaces them.
	[ "$(cat conf/key)" = s3cret ]
	[ "$(cat vault/inner)" = s3cret ]
	run ! grep -rs s3cret "$AGENTBOX_STATE/layers"
}

@test "review: a folder with denied files is not deleted by a copy, another one is" {
	make_repo
	mkdir mounted conf
	echo s3cret >conf/key
	echo plain >conf/plain
	# shellcheck disable=SC2016
	with_mount '
		"$0" run --review --name topic --deny-read "$PWD/conf/key" -- \
			sh -c "mv conf conf2; rm -r docs; echo more >>src/a.c"
		"$0" diff topic; "$0" apply --all topic; true'
	[[ "$output" == *"it contains files of the host that the box may not read"* ]]
	[ "$(cat conf/key)" = s3cret ]
	[ ! -e docs ]
	[ "$(cat src/a.c)" = $'one\nmore' ]
	# The twin: without the rule it moves, with its content.
	rm -rf conf2
	# shellcheck disable=SC2016
	with_mount '
		"$0" run --review --name other -- sh -c "mv conf conf2; cat conf2/key"
		"$0" apply --all other; true'
	[[ "$output" == *s3cret* ]]
	[ "$(cat conf2/key)" = s3cret ]
	[ ! -e conf ]
}

@test "review: changes of a killed run wait" {
	make_repo
	launch run --review -- sh -c 'echo new >new.txt; echo ready; sleep 100' \
		>"$TEST_DIR/out" 2>&1 &
	local launched=$! id pid
	wait_for 60 grep -q ready "$TEST_DIR/out"
	id=$(run_id)
	pid=$(jq -r 'select(.kind == "start") | .pid' "$AGENTBOX_STATE/live/$id/audit.jsonl")
	kill -KILL "$pid"
	wait "$launched" || true
	[ -z "$(processes_left)" ]
	[ "$(set_key)" = "$id" ]
	agentbox diff "$id"
	[[ "$output" == *new.txt* ]]
	agentbox apply --all "$id"
	[ "$status" -eq 0 ]
	[ "$(cat new.txt)" = new ]
}

@test "diff, apply, undo, discard: without a name they say whose changes they use; with one they do not" {
	need userns
	agentbox run -q --review --name dev -- sh -c 'echo box >file; echo other >second'
	for what in "diff --stat" "apply file" undo "discard --yes second"; do
		agentbox_split $what
		[ "$status" -eq 0 ]
		[[ "$stderr" =~ ^agentbox:\ (these\ are|using)\ the\ (changes|last\ apply)\ of\ dev$ ]]
	done
	agentbox_split diff --stat dev
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	agentbox_split diff --json
	[ -z "$stderr" ]
	jq -e '.layer == "dev"' <<<"$output"
}

@test "layers: changes for a folder that is gone are said to be so, and can be removed or brought back" {
	need userns
	mkdir sub
	cd sub
	agentbox run -q --review --name dev -- sh -c 'echo 1 >a'
	cd ..
	rmdir sub
	agentbox layers
	[[ "$output" == *"1 change to apply, folder is gone"* ]]
	agentbox_split layers --json
	jq -e '.[0].gone and .[0].waiting' <<<"$output"
	for what in "diff dev" "diff --stat dev" "apply --all dev" "discard dev" "discard dev sub/a"; do
		agentbox $what
		[ "$status" -eq 1 ]
		[[ "$output" == *"the folder $WORKSPACE/sub, which the changes of dev are for, is gone"*"agentbox discard --yes dev"* ]]
	done
	mkdir sub
	agentbox apply --all dev
	[ "$status" -eq 0 ]
	[ "$(cat sub/a)" = 1 ]
	rm -r sub
	agentbox undo dev
	[ "$status" -eq 1 ]
	[[ "$output" == *"is gone"* ]]
	agentbox discard --yes dev
	[ "$status" -eq 0 ]
	mkdir other
	cd other
	agentbox run -q --review --name two -- sh -c 'echo 1 >a'
	cd ..
	rmdir other
	agentbox discard --yes two
	[ "$status" -eq 0 ]
	[[ "$output" == "the layer of two was removed" ]]
	agentbox_split layers --json
	jq -e '[.[] | select(.waiting)] == []' <<<"$output"
}

@test "review: a name continues where the last run stopped" {
	make_repo
	agentbox run --review --name topic -- sh -c 'echo 1 >file'
	[ "$status" -eq 0 ]
	agentbox run --review --name topic -- sh -c 'cat file; echo 2 >>file'
	[ "$status" -eq 0 ]
	[[ "$output" == *1* ]]
	[ ! -e file ]
	agentbox apply --all topic
	[ "$status" -eq 0 ]
	[ "$(cat file)" = $'1\n2' ]
}

@test "review: the record says that the run is reviewed" {
	make_repo
	agentbox run --review -- sh -c 'echo 1 >file'
	local id launched
	id=$(set_key)
	jq -es 'any(.[]; .kind == "start" and .review == "ask" and .layers == "'"$id"'")' \
		"$AGENTBOX_STATE/runs/$id/audit.jsonl"
	jq -es 'any(.[]; .kind == "end" and .review.changed == 1 and .review.waiting == 1)' \
		"$AGENTBOX_STATE/runs/$id/audit.jsonl"
	# While it is active.
	mkfifo "$TEST_DIR/end"
	launch run --review=auto -- sh -c 'echo ready; cat' <"$TEST_DIR/end" >"$TEST_DIR/out" 2>&1 &
	launched=$!
	exec 9>"$TEST_DIR/end"
	wait_for 60 grep -q ready "$TEST_DIR/out"
	agentbox ps
	[[ "${lines[0]}" == *REVIEW* ]]
	[[ "${lines[1]}" == *auto* ]]
	agentbox ps --json
	exec 9>&-
	wait "$launched"
	jq -e '.. | objects | select(has("review")) | .review == "auto"' <<<"$output"
}

unanswered()
{
	tty_matches "$1\$"
}

# answer QUESTION NAME: press the first letter of NAME until the question shows NAME as its
# answer. Keys count only some time after the question was drawn; on a slow machine the
# first one may come too early.
answer()
{
	local again

	wait_for 90 unanswered "$1"
	for again in {1..18}; do
		sleep 0.4
		tty_type "${2:0:1}"
		wait_for 5 tty_matches "$1 $2\$" && return 0
	done
	return 1
}

@test "review on a terminal: the question; r shows the diff, l leaves the changes" {
	need program:tmux
	make_repo
	export AGENTBOX_PAGER=cat
	tty_start "$AGENTBOX" run --review -- sh -c 'echo new >new.txt; echo x >.envrc'
	tty_wait '2 changes, 1 wants a look'
	tty_wait '\.envrc: '
	tty_wait '\[a\]pply the safe ones  \[r\]eview  \[d\]iscard  \[l\]ater'
	answer '\[l\]ater' review
	tty_wait 'new\.txt'
	answer '\[l\]ater' later
	tty_end
	[ "$status" -eq 0 ]
	[ ! -e new.txt ]
	# As without a terminal; the line wraps.
	[[ "${output//[$'\n ']/}" == *"toseeandkeepthem:agentboxdiff$(set_key),agentboxapply$(set_key)"* ]]
}

@test "review on a terminal: a applies the safe changes" {
	need program:tmux
	make_repo
	tty_start "$AGENTBOX" run --review -- sh -c 'echo new >new.txt; echo x >.envrc; exit 3'
	answer '\[l\]ater' apply
	tty_end
	[ "$status" -eq 3 ]
	[ "$(cat new.txt)" = new ]
	[ ! -e .envrc ]
}

@test "review on a terminal: a file that the host changes during the question is a conflict" {
	need program:tmux
	make_repo
	tty_start "$AGENTBOX" run --review -- sh -c 'echo new >new.txt; echo box >>src/a.c'
	wait_for 90 unanswered '\[l\]ater'
	echo host >>src/a.c
	answer '\[l\]ater' apply
	tty_end
	[ "$status" -eq 0 ]
	[[ "$output" == *"1 applied (to take it back: agentbox undo $(set_key))"* ]]
	[[ "$output" == *"1 waits: "* ]]
	[ "$(cat new.txt)" = new ]
	[ "$(tail -n 1 src/a.c)" = host ]
	agentbox layers
	[[ "$output" == *"1 change to apply"* ]]
	# After [r]eview the numbers are new.
	export AGENTBOX_PAGER=cat
	tty_start "$AGENTBOX" run --review -- sh -c 'echo more >>new.txt'
	tty_wait '1 change$'
	wait_for 90 unanswered '\[l\]ater'
	echo host >>new.txt
	answer '\[l\]ater' review
	tty_wait 'new\.txt'
	tty_wait '1 change, 1 conflict'
	answer '\[l\]ater' later
	tty_end
	[[ "${output//[$'\n ']/}" == *"1change,1conflict;toseeandkeepit:agentboxdiff"* ]]
}

@test "review: a run without --review says that changes of its name wait" {
	make_repo
	agentbox run --review --name w -- sh -c 'echo 1 >file'
	agentbox run --name w -- sh -c 'cat file || echo none'
	[[ "$output" == *"w has 1 change waiting; without --review this run does not see it"* ]]
	[[ "$output" == *none* ]]
	# The twins: with --review it sees them; another name has none.
	agentbox run --review --name w -- sh -c 'cat file; echo 2 >two'
	[[ "$output" != *"does not see"* ]]
	agentbox run --name w -- true
	[[ "$output" == *"w has 2 changes waiting; without --review this run does not see them"* ]]
	agentbox run --name other -- true
	[ -z "$output" ]
}

@test "review: the end, diff --stat, diff --json, layers and apply count alike" {
	need program:git
	make_repo
	agentbox run --review --result "$TEST_DIR/result" -- sh -c '
		git -c user.name=x -c user.email=x@x commit -q --allow-empty -m two
		mkdir -p made/below && echo 1 >made/below/file && rm -r docs && echo x >.envrc'
	[ "$status" -eq 0 ]
	local n
	n=$(jq .review.changed "$TEST_DIR/result")
	[ "$(jq .review.waiting "$TEST_DIR/result")" = "$n" ]
	[[ "$output" == *" $n changes, "* ]]
	agentbox diff --json
	[ "$(jq '.changes | length' <<<"$output")" = "$n" ]
	local totals
	totals=$(jq -r '.totals | "\(.added) lines added, \(.removed) removed; \(.labelled) want"' <<<"$output")
	agentbox_split diff --stat
	[[ "${lines[-1]}" == " $n changes, $totals"* ]]
	agentbox layers
	[[ "$output" == *"$n changes to apply"* ]]
}

@test "review on a terminal: d discards after a second question" {
	need program:tmux
	make_repo
	tty_start "$AGENTBOX" run --review -- sh -c 'echo new >new.txt'
	tty_wait '\[a\]pply  \[r\]eview'
	answer '\[l\]ater' discard
	answer 'Discard 1 change\? \[y/N\]' yes
	tty_end
	[ "$status" -eq 0 ]
	[ ! -e new.txt ]
	no_sets
}

@test "review on a terminal: the run ends when it is told to while the question waits" {
	need program:tmux
	make_repo
	tty_start sh -c 'echo $$ >"$0/pid"; exec "$1" run --review -- sh -c "echo new >new.txt"' \
		"$TEST_DIR" "$AGENTBOX"
	tty_wait '\[l\]ater'
	kill -TERM "$(cat "$TEST_DIR/pid")"
	tty_end
	[ ! -e new.txt ]
	[ -n "$(set_key)" ]
}

@test "review: a denied file that the host creates later does not appear" {
	make_repo
	agentbox run --review --deny-read "$WORKSPACE/late.env" -- true
	[ "$status" -eq 0 ]
	launch run --review --deny-read "$WORKSPACE/late.env" -- sh -c '
		echo ready
		until grep -q go src/a.c; do sleep 0.05; done
		while cat late.env 2>/dev/null | grep -q .; do echo seen; sleep 0.05; done
		echo mine >late.env && rm late.env
		cat late.env && echo HOLE
		cat src/a.c' >"$TEST_DIR/out" 2>&1 &
	local launched=$!
	wait_for 60 grep -q ready "$TEST_DIR/out"
	echo secret >late.env
	echo go >>src/a.c
	wait "$launched" || true
	cat "$TEST_DIR/out"
	run ! grep -q "HOLE\|secret" "$TEST_DIR/out"
	# In the first milliseconds of a run a name can appear; then it is told.
	if grep -qx seen "$TEST_DIR/out"; then
		grep -q 'created on the host during the run and is hidden now' "$TEST_DIR/out"
	fi
	grep -qx go "$TEST_DIR/out"
}

@test "layers: a folder that does not fit is left alone, and the end says why" {
	mkdir "$HOME/big"
	head -c 6M /dev/urandom >"$HOME/big/data"
	echo small >"$HOME/big/small"
	mkdir "$HOME/little" && echo l >"$HOME/little/l"
	echo '{"filesystem":{"tmpSize":"4M"}}' >"$TEST_DIR/s.json"
	agentbox run --config "$TEST_DIR/s.json" -- python3 -c '
import errno, os
os.chdir(os.environ["HOME"])
os.rename("little", "less")
print(os.listdir("less"))
try:
    os.rename("big", "moved")
except OSError as e:
    print(errno.errorcode[e.errno], sorted(os.listdir("big")), os.path.exists("moved"))
print([n for n in os.listdir(".") if n.endswith(".tmp")])'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "['l']" ]
	[ "${lines[1]}" = "EXDEV ['data', 'small'] False" ]
	[ "${lines[2]}" = "[]" ]
	[[ "$output" == *"$HOME/big could not be renamed in a layer, which needs room for a copy"* ]]
	[ -e "$HOME/big/small" ]
	[ -e "$HOME/little/l" ]
}

@test "review: npm installs a package in the layer" {
	need program:npm
	mkdir -p lib/part node_modules/old
	echo '{"name":"part","version":"1.0.0"}' >lib/part/package.json
	echo '{"name":"old","version":"1.0.0"}' >node_modules/old/package.json
	echo '{"name":"app","version":"1.0.0","dependencies":{"part":"file:lib/part"}}' >package.json
	host_snapshot "$WORKSPACE" >"$TEST_DIR/before"
	agentbox run --review --net blocked -- sh -c 'npm install --offline --no-audit --no-fund --install-links &&
		cat node_modules/part/package.json && ls node_modules'
	[ "$status" -eq 0 ]
	[[ "$output" == *'"name":"part"'* ]]
	[[ "$output" != *$'\nold'* ]]
	host_snapshot "$WORKSPACE" | diff "$TEST_DIR/before" -
}

@test "review: a workspace inside another writable folder is layered, the folder is direct" {
	make_repo
	echo '[alias]' >"$HOME/outer"
	agentbox run --review --write "$HOME" -- sh -c '
		echo direct >"$HOME/direct" && echo layered >file
		echo x >.envrc && echo written
		echo x >"$HOME/.envrc" && echo HOLE
		echo x >.git/hooks/pre-commit && mv src source && ls'
	[ "$(cat "$HOME/direct")" = direct ]
	[[ "$output" == *written* ]]
	[[ "$output" != *HOLE* ]]
	[[ "$output" == *source* ]]
	[ ! -e file ]
	[ ! -e .envrc ]
	[ ! -e .git/hooks/pre-commit ]
	[ -d src ]
	[ ! -e "$HOME/.envrc" ]
}

@test "review: rules that guard files of the host do not stop a reviewed run" {
	make_repo
	rm "$HOME/.config/agentbox/config.json"
	host_snapshot "$HOME" >"$TEST_DIR/before"
	agentbox run --review -c 'rm -rf .git; echo x >.envrc; ls -A'
	[ "$status" -eq 0 ]
	[[ "$output" == *.envrc* ]]
	agentbox run --review -- sh -c 'rm -rf ~/* .git; echo x >.envrc'
	[[ "$output" != *refused* ]]
	host_snapshot "$HOME" | diff "$TEST_DIR/before" -
	# The twins: without review, and with another folder that is direct.
	agentbox run -c 'rm -rf .git'
	[ "$status" -eq 126 ]
	mkdir "$HOME/other"
	agentbox run --review --write "$HOME/other" -c 'rm -rf ~/*'
	[ "$status" -eq 126 ]
	[[ "$output" == *recursive-delete-root* ]]
	[ -d .git ]
}
