# `agentbox diff` shows what a layer would change. Most layers here are made by hand, as
# an overlay mount leaves them, so that they can be hostile in ways that a box cannot
# always bring about.
load helpers

# Is a file that is made now later than FILE?
is_past()
{
	touch "$TEST_DIR/now"
	[ "$TEST_DIR/now" -nt "$1" ]
}

# Wait until the clock of the file system has moved on.
wait_tick()
{
	touch "$TEST_DIR/clock"
	wait_for 60 is_past "$TEST_DIR/clock"
}

# make_set KEY [RUN...]: an empty layer above the workspace. Sets $upper.
make_set()
{
	local key=$1 dir=$AGENTBOX_STATE/layers/$1 now runs

	shift
	# The layer's start is later than every file so far, for coarse clocks, too.
	wait_tick
	now=$(date +%s%N)
	runs=$(printf '"%s",' "$@")
	(umask 077 && mkdir -p "$dir/project/upper" "$dir/project/work")
	chmod 755 "$dir/project/upper"
	(umask 077 && cat >"$dir/meta.json") <<-END
	{"version":1,"key":"$key","name":"$key","profile":"default","workspace":"$WORKSPACE",
	"home":"$HOME","kernel":"6.1","policy":"ab","created":$now,"started":$now,"used":$now,
	"runs":[${*:+${runs%,}}],"returns":[],"form":"overlay","project":$now,"waiting":-1}
	END
	upper=$dir/project/upper
}

# make_home KEY: a layer above the home folder in the same set. Sets $upper.
make_home()
{
	upper=$AGENTBOX_STATE/layers/$1/home/upper
	(umask 077 && mkdir -p "$upper")
}

# A project, and a layer above it with one change of each kind.
make_changes()
{
	printf 'a\nb\nc\n' >modified
	seq 1 40 >long
	echo old >deleted
	echo same >mode
	ln -s modified link
	printf 'a\0b' >binary
	echo was-file >becomes-link
	mkdir folder
	echo 1 >folder/one
	echo 2 >folder/two
	make_set dev
	printf 'a\nB\nc\nd' >"$upper/modified"
	seq 1 40 | sed 's/^5$/five/; s/^30$/thirty/' >"$upper/long"
	mknod "$upper/deleted" c 0 0
	echo same >"$upper/mode"
	chmod 755 "$upper/mode"
	ln -s long "$upper/link"
	printf 'a\0c' >"$upper/binary"
	ln -s long "$upper/becomes-link"
	mknod "$upper/folder" c 0 0
	mkdir "$upper/new"
	echo hello >"$upper/new/file"
	: >"$upper/new/empty"
}

# No byte that a terminal acts upon.
is_clean()
{
	! LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' "$1" || false
}

@test "diff: a patch has every change, and git applies it" {
	make_changes
	rm "$upper/binary" "$upper/becomes-link"
	agentbox_split diff dev
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	printf '%s\n' "$output" >"$TEST_DIR/patch"
	grep -qx -- '--- a/modified' "$TEST_DIR/patch"
	grep -qx -- '@@ -2,7 +2,7 @@' "$TEST_DIR/patch"
	grep -qx -- '@@ -27,7 +27,7 @@' "$TEST_DIR/patch"
	grep -qx 'deleted file mode 100644' "$TEST_DIR/patch"
	grep -qx 'old mode 100644' "$TEST_DIR/patch"
	grep -qx 'new mode 100755' "$TEST_DIR/patch"
	grep -qx '# folder: folder deleted, with 2 entries' "$TEST_DIR/patch"
	grep -qx '# new: new folder, mode 0755' "$TEST_DIR/patch"
	# The host is unchanged until it is applied.
	[ "$(cat modified)" = $'a\nb\nc' ]
	git apply "$TEST_DIR/patch"
	cmp modified "$upper/modified"
	cmp long "$upper/long"
	cmp new/file "$upper/new/file"
	[ -f new/empty ]
	[ ! -e deleted ]
	[ -x mode ]
	[ "$(readlink link)" = long ]
	# What the patch did is no change any more.
	rm -r folder
	agentbox diff dev
	[[ "$output" != *"diff --git"* ]]
}

@test "diff: binary files and another type are shown as what they are" {
	make_changes
	agentbox diff dev binary becomes-link
	[ "$status" -eq 0 ]
	[[ "$output" == *"! binary is binary"* ]]
	[[ "$output" == *"# binary: binary, was 3 bytes, now 3 bytes"* ]]
	[[ "$output" == *"Binary files a/binary and b/binary differ"* ]]
	[[ "$output" == *$'deleted file mode 100644\n--- a/becomes-link\n+++ /dev/null\n@@ -1 +0,0 @@\n-was-file'* ]]
	[[ "$output" == *$'new file mode 120000\n--- /dev/null\n+++ b/becomes-link\n@@ -0,0 +1 @@\n+long'* ]]
}

@test "diff: random texts become patches that git applies" {
	make_set dev
	python3 - "$upper" <<-'END'
	import os, random, sys
	random.seed(3)
	for n in range(60):
	    words = [random.choice("abcdef") * random.randint(0, 3) for _ in range(random.randint(0, 40))]
	    new = list(words)
	    for _ in range(random.randint(1, 8)):
	        at = random.randint(0, len(new))
	        new[at:at + random.randint(0, 4)] = [random.choice("abxyz") for _ in range(random.randint(0, 4))]
	    end = random.choice(["\n", "", "\r\n"])
	    sep = "\r\n" if end == "\r\n" else "\n"
	    with open(f"f{n}", "w", newline="") as file:
	        file.write(sep.join(words) + end)
	    with open(os.path.join(sys.argv[1], f"f{n}"), "w", newline="") as file:
	        file.write(sep.join(new) + random.choice([end, "\n", ""]))
	END
	agentbox diff dev --stat
	[ "$status" -eq 0 ]
	launch diff dev >"$TEST_DIR/patch"
	# As many lines as git's own difference, or nearly so.
	mine=$(grep -c '^[+-][^+-]' "$TEST_DIR/patch")
	git=$( (git diff --no-index --minimal . "$upper" || true) | grep -c '^[+-][^+-]')
	[ "$mine" -le $((git + git / 50)) ]
	[ "$git" -gt 100 ]
	git apply --whitespace=nowarn "$TEST_DIR/patch"
	diff -r . "$upper"
}

@test "diff: --stat has one line per change, its labels and the sum" {
	make_changes
	echo 'echo hi' >"$upper/.envrc"
	agentbox_split diff --stat
	[ "$status" -eq 0 ]
	[[ "$output" == *" modified     | 3 ++-"* ]]
	[[ "$output" == *" .envrc       | 1 +  !folder"* ]]
	[[ "$output" == *" folder       | folder deleted, 2 entries"* ]]
	[[ "$output" == *" mode         | mode 0644 -> 0755  !executable"* ]]
	[[ "$output" == *" binary       | 3 bytes -> 3 bytes  !binary"* ]]
	[[ "$output" == *" link         | link"* ]]
	[[ "${lines[-1]}" == " 12 changes, "*" lines added, "*" removed; 4 want a look" ]]
}

@test "diff: labels say what runs a file and why; --labelled and --safe choose" {
	echo '{"scripts":{"test":"a"}}' >package.json
	git init -q
	make_set dev
	mkdir -p "$upper/.git/hooks" "$upper/src"
	printf '[core]\n\tfsmonitor = ./x\n' | cat .git/config - >"$upper/.git/config"
	echo x >"$upper/.git/hooks/pre-commit"
	echo x >"$upper/.git/COMMIT_EDITMSG"
	echo '{"scripts":{"test":"b"}}' >"$upper/package.json"
	echo x >"$upper/.envrc"
	echo x >"$upper/src/main.c"
	ln -s /etc/passwd "$upper/src/passwd"
	agentbox diff
	[[ "$output" == *"! .envrc runs when a folder is opened (direnv)"* ]]
	[[ "$output" == *"! .git/config runs on commit or checkout (git): core.fsmonitor "* ]]
	[[ "$output" == *"! .git/hooks/pre-commit runs on commit or checkout (git): a hook"* ]]
	[[ "$output" == *"! package.json runs on install or build (npm): scripts"* ]]
	[[ "$output" == *"! src/passwd is a link that leaves the tree: /etc/passwd"* ]]
	[[ "$output" != *"! src/main.c"* ]]
	agentbox diff --labelled --json
	[ "$(jq -r '.changes[].path' <<<"$output")" = "$(printf '%s\n' .envrc .git/config \
		.git/hooks/pre-commit package.json src/passwd)" ]
	jq -e '.changes[0].labels[0] | .name == "folder" and .who == "direnv" and (.why | length > 10)' \
		<<<"$output"
	# A commit is only counted, unless it is asked for.
	agentbox diff
	[[ "$output" == *"# 1 change of git's own data (objects, refs, index); to see it: agentbox diff dev .git"* ]]
	[[ "$output" != *COMMIT_EDITMSG* ]]
	agentbox diff dev .git
	[[ "$output" == *"+++ b/.git/COMMIT_EDITMSG"* ]]
	agentbox diff --safe --json
	[ "$(jq -r '.changes[].path' <<<"$output")" = "$(printf '%s\n' .git/COMMIT_EDITMSG src \
		src/main.c)" ]
}

@test "diff: a submodule that is added to the index is labelled, a file is not" {
	git init -q
	git commit -q --allow-empty -m one
	make_set dev
	mkdir "$upper/.git"
	cp -r "$WORKSPACE/.git" "$TEST_DIR/copy"
	echo x >file
	GIT_DIR=$TEST_DIR/copy GIT_WORK_TREE=$WORKSPACE git add file
	rm file
	cp "$TEST_DIR/copy/index" "$upper/.git/index"
	agentbox diff --json
	jq -e '.totals.changes == 1 and .totals.labelled == 0' <<<"$output"
	GIT_DIR=$TEST_DIR/copy git update-index --add --cacheinfo \
		"160000,$(git rev-parse HEAD),sub/module"
	cp "$TEST_DIR/copy/index" "$upper/.git/index"
	agentbox diff --json
	jq -e '.changes[0].labels == [.changes[0].labels[0]] and .changes[0].labels[0].name == "git"
		and .changes[0].labels[0].detail == "submodule sub/module"' <<<"$output"
}

@test "diff: a bare repository in a folder of any name is labelled" {
	git init -q --bare repo
	mkdir -p plain/hooks
	make_set dev
	mkdir -p "$upper/repo/hooks" "$upper/plain/hooks"
	echo x >"$upper/repo/hooks/post-update"
	echo x >"$upper/plain/hooks/post-update"
	agentbox diff --json
	[ "$(jq -r '.changes[] | "\(.path) \(.labels[].name)"' <<<"$output")" = \
		"repo/hooks/post-update git" ]
}

@test "diff: one hundred deletions want a look, ninety-nine do not" {
	mkdir d
	(cd d && seq 1 200 | xargs touch)
	make_set dev
	mkdir "$upper/d"
	for i in $(seq 1 99); do mknod "$upper/d/$i" c 0 0; done
	agentbox diff --json
	jq -e '.totals.changes == 99 and .totals.labelled == 0' <<<"$output"
	mknod "$upper/d/100" c 0 0
	agentbox diff --json
	jq -e '.totals.labelled == 100 and .changes[0].labels[0].name == "mass-deletion"' <<<"$output"
}

@test "diff: five deletions want a look if they are more than half of the project" {
	seq 1 9 | xargs touch
	make_set dev
	for i in 1 2 3 4; do mknod "$upper/$i" c 0 0; done
	agentbox diff --json
	jq -e '.totals.changes == 4 and .totals.labelled == 0' <<<"$output"
	mknod "$upper/5" c 0 0
	agentbox diff --json
	jq -e '.totals.labelled == 5 and .changes[0].labels[0].name == "mass-deletion"' <<<"$output"
	# The twin: half of it. The .git does not count.
	touch 10
	mkdir .git && (cd .git && seq 1 20 | xargs touch)
	agentbox diff --json
	jq -e '.totals.labelled == 0' <<<"$output"
}

@test "diff: a deleted folder with a repository in it is labelled as git's, another one as a deletion" {
	mkdir -p vendor/a/.git plain/a/git
	touch vendor/a/.git/HEAD plain/a/git/HEAD 1 2 3 4 5 6 7 8 9
	make_set dev
	mknod "$upper/vendor" c 0 0
	mknod "$upper/plain" c 0 0
	agentbox diff --json
	[ "$(jq -r '.changes[] | "\(.path) \(.labels[].name)"' <<<"$output")" = $'plain deletion\nvendor git' ]
}

@test "diff: git's sample hooks are not labelled, real ones are" {
	make_set dev
	mkdir -p "$upper/.git/hooks" "$upper/hooks"
	for f in .git/hooks/pre-push.sample .git/hooks/pre-push hooks/x.sample; do
		echo x >"$upper/$f" && chmod 755 "$upper/$f"
	done
	agentbox diff --labelled --json
	[ "$(jq -r '.changes[].path' <<<"$output" | xargs)" = ".git/hooks/pre-push hooks/x.sample" ]
}

@test "diff: hostile names and contents are escaped in every form" {
	make_set dev
	printf 'x\033]0;title\007y\u202ez\r\033[2K\n\ttab\xff\n' >"$upper/content"
	echo x >"$upper/"$'new\nline'
	echo x >"$upper/"$'esc\033[31m'
	echo x >"$upper/"$'bidi\u202e'
	echo x >"$upper/"$'bytes\xff\xfe'
	echo '<script>alert(1)</script>' >"$upper/<img src=x onerror=alert(1)>"
	ln -s $'target\033[1m' "$upper/link"
	for form in "" --stat --json "--json --hunks" "--html -"; do
		launch diff dev $form >"$TEST_DIR/out"
		is_clean "$TEST_DIR/out"
		! LC_ALL=C grep -qF $'\u202e' "$TEST_DIR/out" || false
		LC_ALL=C grep -q 'esc' "$TEST_DIR/out"
	done
	launch diff dev >"$TEST_DIR/out"
	grep -qF '+x\x1b]0;title\x07y\xe2\x80\xaez\x0d\x1b[2K' "$TEST_DIR/out"
	grep -qF $'+\ttab\\xff' "$TEST_DIR/out"
	grep -qF 'diff --git "a/new\nline" "b/new\nline"' "$TEST_DIR/out"
	grep -qF '"a/bytes\377\376"' "$TEST_DIR/out"
	# A name cannot forge a label or the end of a file.
	! grep -qx 'line.*' "$TEST_DIR/out" || false
	launch diff dev --json >"$TEST_DIR/out"
	jq -e '.changes[] | select(.path_percent) | .path_percent == "bytes%ff%fe"' "$TEST_DIR/out"
	launch diff dev --html - >"$TEST_DIR/out"
	! grep -qi '<script\|<img' "$TEST_DIR/out" || false
	grep -qF '&lt;script&gt;alert(1)&lt;/script&gt;' "$TEST_DIR/out"
	grep -qF "default-src 'none'" "$TEST_DIR/out"
	# On a terminal there are colours, and nothing else.
	tty_start env PAGER=cat "$AGENTBOX" diff dev content
	tty_end
	tty_screen >"$TEST_DIR/out"
	grep -qF 'x\x1b]0;title' "$TEST_DIR/out"
}

@test "diff: files that cannot be compared are described, and nothing blocks" {
	echo short >grows
	echo x >replaced
	make_set dev
	truncate -s 4T "$upper/grows"
	mkfifo "$upper/fifo"
	seq 1 1000000 >"$upper/text"
	mkdir "$upper/closed"
	echo x >"$upper/closed/file"
	chmod 000 "$upper/closed"
	python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('$upper/replaced')"
	AB_TIMEOUT=20 agentbox diff dev
	chmod 700 "$upper/closed"
	[ "$status" -eq 0 ]
	[[ "$output" == *"! grows is very large, or much larger than before"* ]]
	[[ "$output" == *"# grows: binary, was 6 bytes, now 4T"* ]]
	[[ "$output" == *"# text: too large to compare, has 6727K"* ]]
	[[ "$output" == *"! text was not checked"* ]]
	[[ "$output" == *"! fifo is a device, FIFO or socket"* ]]
	[[ "$output" == *"# fifo: never applied: "* ]]
	[[ "$output" == *"! replaced is a device, FIFO or socket"* ]]
	[ "$EUID" -eq 0 ] || [[ "$output" == *"# closed: never applied: "* ]]
}

@test "diff: JSON describes each change" {
	make_changes
	agentbox diff dev --json --hunks
	[ "$status" -eq 0 ]
	jq -e '.version == 1 and .source == "layer" and .layer == "dev" and .root == "workspace"
		and .complete and (.busy | not)' <<<"$output"
	jq -e --arg w "$WORKSPACE" '.folder == $w' <<<"$output"
	jq -e '.changes | map(select(.path == "modified"))[0] | .kind == "modified" and
		.was == "file" and .is == "file" and .old_size == 6 and .new_size == 7 and
		.old_mode == "0644" and .added == 2 and .removed == 1 and (.conflict | not) and
		.refused == null and .labels == [] and .hunks[0].lines == [" a\n", "-b\n", "+B\n",
		" c\n", "+d"] and .hunks[0].old_line == 1' <<<"$output"
	jq -e '.changes | map(select(.path == "folder"))[0] | .kind == "deleted" and
		.was == "folder" and .entries == 2 and .new_mode == null' <<<"$output"
	jq -e '.changes | map(select(.path == "link"))[0] | .old_target == "modified" and
		.new_target == "long"' <<<"$output"
	jq -e '.changes | map(select(.path == "binary"))[0] | .binary and .added == null' <<<"$output"
	jq -e '.totals.changes == (.changes | length)' <<<"$output"
	agentbox diff dev --json
	jq -e '.changes | map(has("hunks")) | any | not' <<<"$output"
}

@test "diff: --html writes a page that only its owner can read" {
	make_changes
	echo x >"$upper/.envrc"
	agentbox_split diff dev --html "$TEST_DIR/page.html"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ "$stderr" = "agentbox: wrote $TEST_DIR/page.html" ]
	[ "$(stat -c %a "$TEST_DIR/page.html")" = 600 ]
	grep -q '<span class="a">+B</span>' "$TEST_DIR/page.html"
	grep -q 'runs when a folder is opened (direnv)' "$TEST_DIR/page.html"
	[ "$(grep -c '<html' "$TEST_DIR/page.html")" = "$(grep -c '</html>' "$TEST_DIR/page.html")" ]
	run bash -c '"$1" diff dev --stat >/dev/full' - "$AGENTBOX"
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot write the changes: No space left on device"* ]]
	agentbox diff dev --html /nowhere/page.html
	[ "$status" -eq 1 ]
	[[ "$output" == *"/nowhere/page.html"* ]]
}

@test "diff: the layer is found by folder, name, profile and run" {
	agentbox diff
	[ "$status" -eq 1 ]
	[[ "$output" == *"no changes are waiting for this folder"* ]]
	make_set old 11111 22222
	echo old >"$upper/file"
	make_set @claude
	echo claude >"$upper/file"
	mkdir sub
	for which in "" @claude; do
		agentbox diff $which
		[ "$status" -eq 0 ]
		[[ "$output" == *"+claude"* ]]
	done
	for which in old 22222; do
		agentbox diff $which
		[[ "$output" == *"+old"* ]]
	done
	cd sub
	agentbox diff
	[[ "$output" == *"+claude"* ]]
	cd "$HOME"
	agentbox diff
	[ "$status" -eq 1 ]
	agentbox diff old
	[[ "$output" == *"+old"* ]]
}

@test "diff: paths choose changes; a word that is neither is an error" {
	make_changes
	mkdir sub
	agentbox diff dev modified new --json
	[ "$(jq -r '.changes[].path' <<<"$output" | tr '\n' ' ')" = "modified new new/empty new/file " ]
	# Without a name, and relative to the current folder.
	agentbox diff modified --json
	[ "$(jq -r '.changes[].path' <<<"$output")" = modified ]
	cd sub
	agentbox diff ../modified --json
	[ "$(jq -r '.changes[].path' <<<"$output")" = modified ]
	agentbox diff "$WORKSPACE/new/file" --json
	[ "$(jq -r '.changes[].path' <<<"$output")" = new/file ]
	cd ..
	# A deleted folder contains the path.
	agentbox diff dev folder/one --json
	[ "$(jq -r '.changes[].path' <<<"$output")" = folder ]
	agentbox diff nothing
	[ "$status" -eq 1 ]
	[[ "$output" == *"no run, layer or changed path named nothing (list: agentbox layers)"* ]]
	local form
	for form in "" --stat --json "--html -"; do
		agentbox diff $form -- nothing
		[ "$status" -eq 1 ]
		agentbox diff $form -- modified
		[ "$status" -eq 0 ]
		agentbox diff $form dev modified
		[ "$status" -eq 0 ]
	done
	agentbox_split diff dev nothing
	[ "$status" -eq 1 ]
	[ "$stderr" = "agentbox: no changes match" ]
	agentbox diff dev /etc
	[ "$status" -eq 2 ]
	[[ "$output" == *"/etc is not in $WORKSPACE"* ]]
	# A path that is called like a layer comes behind --.
	echo x >"$upper/dev"
	agentbox diff -- dev
	[[ "$output" == *"+++ b/dev"* ]]
	agentbox diff a b -- c
	[ "$status" -eq 2 ]
}

@test "diff: --home shows the layer above the home folder, labels included" {
	make_set dev
	echo 'alias x=y' >"$HOME/.bashrc"
	agentbox diff dev --home
	[ "$status" -eq 1 ]
	[ "$output" = "agentbox: dev has no layer above the home folder" ]
	agentbox run --name only -- sh -c 'echo x >~/written'
	agentbox layers
	[[ "$output" == *"only "*" home "* ]]
	agentbox_split diff only
	[[ "$output$stderr" == *"its home layer: agentbox diff --home only"* ]]
	rm -r "$AGENTBOX_STATE/runs"
	agentbox diff only
	[ "$status" -eq 1 ]
	[[ "$output" == *"only has no layer above the workspace"*"its home layer: agentbox diff --home only"* ]]
	make_home dev
	mkdir "$upper/.cache"
	echo x >"$upper/.cache/file"
	echo 'alias x=z' >"$upper/.bashrc"
	agentbox diff dev --home
	[ "$status" -eq 0 ]
	[[ "$output" == *"! .bashrc runs when a shell or session starts (bash)"* ]]
	[[ "$output" == *"-alias x=y"*"+alias x=z"* ]]
	[[ "$output" == *"+++ b/.cache/file"* ]]
	agentbox diff dev --home --json
	jq -e --arg h "$HOME" '.root == "home" and .folder == $h' <<<"$output"
	# Paths as it prints them, and relative to the current folder.
	agentbox diff --home dev .cache/file --json
	[ "$(jq -r '.changes[].path' <<<"$output")" = .cache/file ]
	agentbox diff --home dev ../.cache --json
	[ "$(jq -r '.changes[].path' <<<"$output" | xargs)" = ".cache .cache/file" ]
	agentbox diff --home dev . --json
	[ "$status" -eq 1 ]
	# Data of git is only counted; the hint shows it.
	mkdir -p "$upper/.cache/repo/.git/refs"
	echo x >"$upper/.cache/repo/.git/refs/one"
	agentbox diff --home dev --stat
	[[ "$output" == *"agentbox diff --home dev .cache/repo/.git"* ]]
	agentbox diff --home dev .cache/repo/.git
	[ "$status" -eq 0 ]
	[[ "$output" == *refs/one* ]]
}

@test "diff: a file that the host changed since is a conflict" {
	echo one >file
	echo one >other
	make_set dev
	echo box >"$upper/file"
	echo box >"$upper/other"
	wait_tick
	echo host >file
	agentbox diff dev --json
	jq -e '.changes[0].conflict and (.changes[1].conflict | not) and .totals.conflicts == 1' <<<"$output"
	agentbox diff dev
	[[ "$output" == *"# file: conflict: the host's file has changed as well"* ]]
	[[ "$output" != *"# other: conflict"* ]]
	[[ "$output" == *"-host"*"+box"* ]]
}

@test "diff: a layer that is in use is shown, with a note" {
	make_set dev
	echo x >"$upper/file"
	agentbox diff dev --json
	jq -e '.busy | not' <<<"$output"
	exec 9>>"$AGENTBOX_STATE/layers/dev/lock"
	flock 9
	agentbox_split diff dev
	exec 9>&-
	[ "$status" -eq 0 ]
	[[ "$output" == *"+++ b/file"* ]]
	[[ "$stderr" == *"dev is in use"* ]]
}

@test "diff: it changes neither the host nor the layer" {
	make_changes
	find "$WORKSPACE" "$upper" -printf '%p %i %m %s %C@\n' | sort >"$TEST_DIR/before"
	for form in "" --stat --json "--html $TEST_DIR/page"; do
		agentbox diff dev $form
		[ "$status" -eq 0 ]
	done
	find "$WORKSPACE" "$upper" -printf '%p %i %m %s %C@\n' | sort | diff "$TEST_DIR/before" -
}

@test "diff: colour and a pager on a terminal only" {
	make_changes
	cat >"$TEST_DIR/pager" <<-'END'
	#!/bin/sh
	{ echo "paged $*"; env | grep '^LESS'; cat; } >"$PAGED"
	END
	chmod +x "$TEST_DIR/pager"
	export PAGED=$TEST_DIR/paged LESSOPEN="|touch $TEST_DIR/ran %s"
	tty_start env AGENTBOX_PAGER="$TEST_DIR/pager a b" PAGER=false "$AGENTBOX" diff dev
	tty_end
	tty_stop
	[ "$(head -n 1 "$PAGED")" = "paged a b" ]
	grep -qx LESSSECURE=1 "$PAGED"
	! grep -q LESSOPEN "$PAGED" || false
	LC_ALL=C grep -q $'^\e\\[32m+B\e\\[m' "$PAGED"
	rm "$PAGED"
	tty_start env PAGER="$TEST_DIR/pager" NO_COLOR=1 LESS=-S "$AGENTBOX" diff dev
	tty_end
	tty_stop
	grep -qx '+B' "$PAGED"
	[ "$(grep -c '^LESS=' "$PAGED")" -eq 1 ]
	grep -qx 'LESS=-S' "$PAGED"
	is_clean "$PAGED"
	rm "$PAGED"
	# A pager that is not there, or none: plainly.
	for pager in /nowhere/pager nowhere-pager "" cat; do
		tty_start env AGENTBOX_PAGER="$pager" "$AGENTBOX" diff dev modified
		tty_end
		tty_screen | grep -q '^+B'
		tty_stop
	done
	# JSON and a pipe are not paged.
	tty_start env AGENTBOX_PAGER="$TEST_DIR/pager" "$AGENTBOX" diff dev --json
	tty_end
	tty_stop
	AGENTBOX_PAGER=$TEST_DIR/pager agentbox diff dev
	[ ! -e "$PAGED" ]
	! LC_ALL=C grep -q $'\e' <<<"$output" || false
}

@test "diff: a pager that a box could have made is not run" {
	make_changes
	mkdir -p .venv/bin "$TEST_DIR/bin"
	printf '#!/bin/sh\ntouch "%s/PWNED"\ncat\n' "$TEST_DIR" >.venv/bin/less
	printf '#!/bin/sh\n{ pwd; echo "$PATH"; cat; } >"%s/paged"\n' "$TEST_DIR" >"$TEST_DIR/bin/own-pager"
	chmod +x .venv/bin/less "$TEST_DIR/bin/own-pager"
	cp .venv/bin/less .venv/bin/planted
	ln -s "$PWD/.venv/bin" "$TEST_DIR/way"
	local -a pagers=(less planted "$PWD/.venv/bin/less" "$TEST_DIR/way/planted" .venv/bin/less '$UNKNOWN')
	# In the folder itself, and elsewhere with the PATH of its virtual environment.
	for folder in "$PWD" "$HOME"; do
		for pager in "${pagers[@]}"; do
			tty_start env -C "$folder" AGENTBOX_PAGER="$pager" LESS=FRX \
				PATH="$PWD/.venv/bin:$TEST_DIR/way:.venv/bin::$PATH" "$AGENTBOX" diff dev modified
			tty_end
			tty_screen | grep -q '^+B'
			tty_stop
			[ ! -e "$TEST_DIR/PWNED" ]
		done
		pagers=(planted)
	done
	# The user's own is, in / and without these folders in PATH.
	tty_start env AGENTBOX_PAGER=own-pager PATH="$PWD/.venv/bin:$TEST_DIR/bin:.:$PATH" \
		"$AGENTBOX" diff dev modified
	tty_end
	tty_stop
	[ "$(sed -n 1p "$TEST_DIR/paged")" = / ]
	[ "$(sed -n 2p "$TEST_DIR/paged")" = "$TEST_DIR/bin:$PATH" ]
	grep -q '+B' "$TEST_DIR/paged"
	[ ! -e "$TEST_DIR/PWNED" ]
}

@test "diff: less shows it, and cannot be made to run anything" {
	need program:less
	make_set dev
	seq 1 200 >"$upper/file"
	tty_start env -u PAGER -u AGENTBOX_PAGER LESS= "$AGENTBOX" diff dev
	tty_wait '+++ b/file'
	tty_type "!touch $TEST_DIR/ran"
	tty_key Enter
	tty_key q
	tty_key q
	tty_end
	[ ! -e "$TEST_DIR/ran" ]
}

@test "diff: a run without review says which files changed meanwhile, and what is not known" {
	need userns
	echo a >before
	echo b >kept
	echo c >"$HOME/elsewhere"
	wait_tick
	agentbox run -- sh -c 'echo 1 >new; echo 2 >>before; echo x >Makefile; ln -s new link; sleep 0.1'
	[ "$status" -eq 0 ]
	id=$(ls "$AGENTBOX_STATE/runs")
	wait_tick
	wait_tick # the end of the run is recorded in milliseconds
	echo later >after
	agentbox diff "$id"
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == *"earlier content is not kept"*"agentbox run --review" ]]
	[[ "$output" == *"$WORKSPACE/Makefile  ! runs on install or build (make)"* ]]
	[[ "$output" == *"1 file changed after the run ended"* ]]
	[[ "$output" != *elsewhere* ]]
	agentbox diff "$id" --json
	[ "$(jq -r '.changes[] | "\(.path) \(.is)"' <<<"$output" | sed "s,$WORKSPACE/,," | sort)" = \
		$'Makefile file\nbefore file\nlink link\nnew file' ]
	jq -e --arg id "$id" '.run == $id and .source == "times" and .later == 1 and .complete and
		(.unknown | length > 10)' <<<"$output"
	jq -e '[.changes[] | select(.path | endswith("/Makefile")) | .labels[0].name] == ["build"]' \
		<<<"$output"
	agentbox diff "$id" before --json
	jq -e '.changes | length == 1' <<<"$output"
	agentbox diff "$id" --labelled --html -
	[[ "$output" == *Makefile* ]]
	[[ "$output" != */before* ]]
	# A workspace that is gone.
	cd "$HOME"
	mv "$WORKSPACE" "$WORKSPACE.moved"
	agentbox diff "$id"
	[ "$status" -eq 0 ]
	[[ "$output" == *"# cannot read $WORKSPACE"* ]]
	mv "$WORKSPACE.moved" "$WORKSPACE"
}

@test "diff: a refused run changed nothing, and an unknown run is an error" {
	dir=$AGENTBOX_STATE/runs/aaaaa
	mkdir -p -m 700 "$dir"
	echo '{"timestamp":"2026-01-31T12:00:00.000Z","run_id":"aaaaa","kind":"refused","command":["x"],"cwd":"/"}' \
		>"$dir/audit.jsonl"
	agentbox diff aaaaa
	[ "$status" -eq 0 ]
	[[ "$output" == *"the command was refused, so nothing was changed"* ]]
	echo '{"timestamp":"2026-01-31T12:00:00.000Z","run_id":"aaaaa","kind":"start","command":["x"],"cwd":"/"}' \
		>"$dir/audit.jsonl"
	agentbox diff aaaaa
	[ "$status" -eq 1 ]
	[[ "$output" == *"does not say where it could write"* ]]
	agentbox diff zzzzz
	[ "$status" -eq 1 ]
}

@test "diff: options that contradict each other are usage errors" {
	for words in "--stat --json" "--json --html x" "--hunks" "--labelled --safe" "--nope"; do
		agentbox diff $words
		[ "$status" -eq 2 ]
	done
}
