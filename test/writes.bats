# Refused writes, creations and renames are recorded like a refused host, without
# --trace-denials; and programs that create a protected name are told at once.
# root-in-turn: no permission of a file stops root, so only the walls can

load helpers

UNJUDGED=1

# What is denied is the subject, also in the home folder.
setup()
{
	box_setup
	readonly_home
}

record()
{
	cat "$AGENTBOX_STATE"/runs/*/audit*.jsonl
}

# violations FILTER: those that were recorded, through jq.
violations()
{
	record | jq -c "select(.kind == \"violation\") | $1"
}

# seen CONDITION: exactly one violation meets it.
seen()
{
	record | jq -es "map(select(.kind == \"violation\") | select($1)) | length == 1" >/dev/null
}

nothing_seen()
{
	[ -z "$stderr" ]
	[ -z "$(violations .)" ]
	record | jq -es 'map(select(.kind == "end"))[0].files_denied == 0' >/dev/null
}

# ------------------------------------------------------------ what is recorded

@test "writes: a denied write is recorded with path, process, rule, id and remedy" {
	need program:jq
	mkdir "$HOME/other"
	agentbox_split run -- sh -c 'echo x >~/other/new; echo "status $?"'
	[ "$status" -eq 0 ]
	[[ "$output" == "status "[12] ]]
	[[ "$stderr" == *"Read-only file system"* ]]
	[[ "$stderr" == *"agentbox: 1 file access was denied"* ]]
	[[ "$stderr" == *"-f1  write $HOME/other/new  outside the writable folders  sh, pid 2"* ]]
	[[ "$stderr" == *"allow it next time:  agentbox run --write $HOME/other -- ..."* ]]
	seen '.door == "file" and .access == "write" and .rule == "filesystem.write" and
		.allowed == false and (.id | test("^[a-z0-9]{5}-f1$")) and .process[0].pid == 2 and
		(.process[0].exe | endswith("sh")) and (.path | endswith("/home/other/new"))'
	[ ! -e "$HOME/other/new" ]
}

@test "writes: the same with the folder open is allowed, and nothing is said" {
	need program:jq
	mkdir "$HOME/other"
	agentbox_split run --write "$HOME/other" -- sh -c '
		echo x >~/other/new && mkdir -p a/b && echo y >a/b/c && mv a/b/c d && ln d e && ln -s d f &&
		rm -r a && : >/dev/null && echo z >/tmp/z && chmod 600 d && truncate -s 0 d'
	[ "$status" -eq 0 ]
	[ -e "$HOME/other/new" ]
	nothing_seen
}

@test "writes: every call that creates, renames or changes is seen" {
	need program:jq
	need program:python3
	mkdir "$HOME/other"
	echo x >"$HOME/other/file"
	cat >job.py <<-'PY'
	import os
	home = os.path.expanduser("~/other/")
	def no(f, *a, **k):
	    try:
	        f(*a, **k)
	    except OSError:
	        return
	    print("done", a)
	open("mine", "w")
	no(open, home + "file", "a")
	no(open, home + "created", "w")
	no(open, home + "exclusive", "x") # not asked about, and denied all the same
	no(os.open, home + "file", os.O_RDONLY | os.O_TRUNC)
	no(os.mkdir, home + "folder/")
	no(os.mkfifo, home + "fifo")
	no(os.symlink, "x", home + "symlink")
	no(os.link, "mine", home + "link")
	no(os.rename, "mine", home + "moved")
	no(os.rename, home + "file", "mine")
	no(os.truncate, home + "file", 0)
	no(os.chmod, home + "file", 0o777)
	no(open, "../other/relative", "w")
	d = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
	no(os.open, "at", os.O_WRONLY | os.O_CREAT, dir_fd=d)
	print(open(home + "file").read())
	PY
	agentbox_split run -- python3 job.py
	[ "$(xargs <<<"$output")" = x ]
	[ "$(violations '.path | split("/") | last' | tr -d '"' | sort -u | xargs)" = \
		"at created fifo file folder link moved relative symlink" ]
	[ "$(violations .rule | sort -u)" = '"filesystem.write"' ]
	[ "$(cat "$HOME/other/file")" = x ]
}

@test "writes: a refused removal is recorded, and what may be removed is not asked about twice" {
	need program:jq
	make_repo
	mkdir -p d/full/tree e
	touch d/full/tree/{1..9} d/f
	agentbox_split run --yes -- sh -c '
		rm -f .git/config; unlink .git/config; rmdir .git/hooks; rmdir d e; rm -f d/f nothing; rm -rf d; ls'
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"Device or resource busy"* ]]
	[ "$(violations .path | sort -u | xargs)" = "$WORKSPACE/.git/config $WORKSPACE/.git/hooks" ]
	[ "$(violations '[.access, .rule]' | sort -u)" = '["write","filesystem.denyWrite"]' ]
	[ "$(xargs <<<"$output")" = file ]
	[ -e .git/config ]
	rm -r "$AGENTBOX_STATE/runs"
	agentbox_split run --read-only --result "$TEST_DIR/result" -- rm -f file
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"agentbox: 1 file access was denied"* ]]
	seen '.door == "file" and .access == "write" and (.path | endswith("/project/file"))'
	jq -e '.violations_total == 1' "$TEST_DIR/result"
	[ -e file ]
	rm -r "$AGENTBOX_STATE/runs"
	agentbox_split run --read-only -- sh -c 'mkdir -p /tmp/a/b; touch /tmp/a/c; rm -f missing /tmp/a/c; rmdir /tmp/a/b; rm -r /tmp/a'
	[ "$status" -eq 0 ]
	nothing_seen
}

@test "writes: a caller that changes its folder is followed" {
	need program:jq
	mkdir -p "$HOME/other" a/b
	agentbox_split run -- sh -c '
		echo x >one; cd ~/other; echo x >two; cd - >/dev/null; echo x >three
		cd a/b && mv ../../a ../../c && echo x >../../four && echo x >five; true'
	[ "$status" -eq 0 ]
	[ -e one ]
	[ -e three ]
	[ -e c/b/five ]
	[ "$(violations .path)" = "\"$HOME/other/two\"" ]
}

@test "writes: reading is not asked about, and a run that only reads has no guard" {
	mkfifo go
	"$AGENTBOX" run -- sh -c 'cat /etc/passwd >&2; read line <go' >"$TEST_DIR/out" 2>&1 3>&- &
	local pid=$!
	wait_for 90 test -s "$TEST_DIR/out"
	[ -z "$(guard_of "$pid")" ]
	echo go >go
	wait "$pid"
	mkfifo up
	"$AGENTBOX" run -- sh -c 'echo x >file; echo up >up; read line <go' >"$TEST_DIR/out" 2>&1 3>&- &
	pid=$!
	read -r _ <up
	[ -n "$(guard_of "$pid")" ]
	echo go >go
	wait "$pid"
}

@test "writes: what fails outside as well is not a denial, nor is a missing folder" {
	need program:jq
	mkdir "$HOME/other"
	agentbox_split run -- sh -c '
		echo x >~/missing/x; mkdir -p ~/other; mkdir ~/other; mv missing ~/other/x
		[ "$(id -u)" = 0 ] || { echo x >/etc/agentbox-test; chmod 0 /etc/passwd; }; true'
	[ "$status" -eq 0 ]
	[[ "$stderr" != *agentbox:* ]]
	[ -z "$(violations .)" ]
}

@test "writes: the result, why, log and the HTML page know them" {
	need program:jq
	mkdir "$HOME/other"
	agentbox_split run --result "$TEST_DIR/result" -- sh -c 'echo x >~/other/new; true'
	[ "$status" -eq 0 ]
	jq -e '.violations_total == 1 and .violations[0].door == "file" and
		(.violations[0].path | endswith("/other/new"))' "$TEST_DIR/result"
	local id
	id=$(jq -r '.violations[0].id' "$TEST_DIR/result")
	agentbox why "$id"
	[ "$status" -eq 0 ]
	[[ "$output" == *"$HOME/other/new"* ]]
	[[ "$output" == *"--write"* ]]
	agentbox log --denied
	[[ "$output" == *"$id"* ]] || [[ "$output" == *"other/new"* ]]
	agentbox log --html "$TEST_DIR/page.html"
	[ "$status" -eq 0 ]
	grep -q "other/new" "$TEST_DIR/page.html"
}

@test "writes: the thresholds count them" {
	need program:python3
	mkdir -p "$HOME/.config/agentbox" "$HOME/other"
	echo '{ "monitor": { "denialsPerMinute": 5, "action": "stop" }, "filesystem": { "home": "readonly" } }' \
		>"$HOME/.config/agentbox/config.json"
	agentbox run -- python3 -c '
import os, time
for i in range(50):
    try:
        open(os.path.expanduser("~/other/x%d" % i), "w")
    except OSError:
        pass
time.sleep(60)'
	[ "$status" -eq 125 ]
	[[ "$output" == *"monitor.denialsPerMinute 5"* ]]
	mkdir "$HOME/.cache"
	agentbox run -- python3 -c '
import os
for i in range(50):
    try:
        open(os.path.expanduser("~/.cache/x%d" % i), "w")
    except OSError:
        pass
print("done")'
	[ "$status" -eq 0 ]
	[ "$output" = "done" ]
}

@test "writes: a refused command is a violation of the result" {
	need program:jq
	rm "$HOME/.config/agentbox/config.json"
	agentbox_split exec --json -- rm -rf /
	[ "$status" -eq 126 ]
	jq -e '.violations_total == 1 and .violations[0].kind == "refused" and
		.violations[0].rule == "recursive-delete-root" and .violations[0].allowed == false' <<<"$output"
	agentbox_split exec --json -- true
	jq -e '.violations_total == 0' <<<"$output"
}

@test "writes: caches and locks are listed only when the command fails, histories never" {
	need program:jq
	mkdir -p "$HOME/.cache" "$HOME/lib"
	agentbox_split run -- sh -c 'mkdir ~/.cache/tool ~/lib/__pycache__; echo x >~/.tool_history; true'
	[ "$status" -eq 0 ]
	[[ "$stderr" != *agentbox:* ]]
	[ "$(violations .incidental | xargs)" = "true true true" ]
	# npm's folder in a new home.
	agentbox_split run -- sh -c 'mkdir ~/.npm; true'
	[[ "$stderr" != *agentbox:* ]]
	# An interactive shell ends with the status of its last command.
	agentbox_split run -- sh -c 'echo x >~/.bash_history; exit 130' 2>/dev/null
	[ "$status" -eq 130 ]
	[[ "$stderr" != *agentbox:* ]]
	[ "$(violations .path | grep -c bash_history)" -eq 1 ]
	agentbox_split run -- sh -c 'mkdir ~/.cache/tool; exit 1'
	[[ "$stderr" == *"agentbox: 1 file access was denied"*".cache/tool"* ]]
	agentbox_split run -- sh -c 'mkdir ~/.cache/tool; echo x >~/other; true'
	[[ "$stderr" == *"agentbox: 2 file accesses were denied"*"$HOME/other"*"and 1 more"* ]]
	[[ "$stderr" != *.cache/tool\ * ]]
}

@test "writes: the same again is counted, and many are a few lines" {
	local minute

	need program:jq
	need program:python3
	minute=$(this_minute)
	mkdir "$HOME/other"
	agentbox_split run -- python3 -c '
import os
def no(name):
    try:
        os.open(os.path.expanduser("~/other/" + name), os.O_WRONLY | os.O_CREAT)
    except OSError:
        pass
for i in range(500):
    no("same")
for i in range(300):
    no("x%d" % i)'
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"800 file accesses were denied"* ]]
	[[ "$stderr" == *"write $HOME/other/same"*", 500 times"* ]]
	[ "$(wc -l <<<"$stderr")" -le 14 ]
	# A hundred a minute, and the numbers of the others.
	[ "$(violations . | wc -l)" -le $((105 * ($(this_minute) - minute + 1))) ]
	record | jq -es 'map(select(.kind == "end"))[0].files_denied == 800' >/dev/null
}

# ------------------------------------------------------------- protected names

@test "writes: a program that creates a protected name is told at once, with an id" {
	need program:jq
	need program:python3
	make_repo
	agentbox_split run -- sh -c '
		echo evil >.envrc; mkdir .vscode; mkdir .vscode/ && echo HOLE; echo x >plain; mv plain .mcp.json
		ln -s /etc/passwd .idea; ln plain .zshrc; mkfifo .gitmodules; mkdir -p .config/fish
		python3 -c "open(\".bashrc\", \"w\")"; mkdir .run/; echo x >.git/commondir
		echo evil >"$PWD/.profile"; echo evil >././/.zprofile; cd sub 2>/dev/null; ls -A'
	[ "$(xargs <<<"$output")" = ".config .git file plain" ]
	[ "$(grep -c 'Permission denied' <<<"$stderr")" -ge 12 ]
	[[ "$stderr" == *"write $WORKSPACE/.envrc"*"a protected name"*"agentbox run --deny-write '!.envrc' "* ]]
	[[ "$stderr" != *quarantine* ]]
	[ "$(violations .rule | sort -u)" = '"filesystem.denyWrite"' ]
	seen '(.path | endswith("/.run")) and (.call | test("^mkdir")) and (.id | test("-f[0-9]+$"))'
	seen '.path | endswith("/.mcp.json")'
	[ "$(ls -A)" = $'.config\n.git\nfile\nplain' ]
}

@test "writes: a protected name that was taken back, or in another place, can be created" {
	need program:jq
	mkdir -p sub/dir
	agentbox_split run --deny-write '!.envrc' --deny-write '!.vscode' -- sh -c '
		echo x >.envrc && mkdir .vscode && echo x >.vscode/settings.json && mkdir .config &&
		echo x >envrc && mkdir -p sub/dir/.idea && echo done'
	[ "$output" = "done" ]
	[ -e .envrc ]
	[ -e .vscode/settings.json ]
	[ -z "$(violations .)" ]
}

@test "writes: what exists already passes" {
	need program:jq
	make_repo
	agentbox_split run -- sh -c 'mkdir -p .git/hooks && mkdir -p .git .config && mkdir -p .config && echo done'
	[ "$output" = "done" ]
	nothing_seen
}

@test "writes: git init, clone, cp -r, tar and npm init work" {
	need program:git
	make_repo "$HOME/origin"
	make_repo
	cat >job <<-'SH'
	set -e
	git init -q new
	git init -q "$PWD/new2"
	git clone -q "$HOME/origin" clone
	cp -r clone copy
	tar cf x.tar clone && mkdir out && tar xf x.tar -C out
	git -C out/clone log -1 --format=%s
	git worktree add -q tree
	echo two >file && git commit -qam second && git branch other && git stash list
	if command -v npm >/dev/null; then mkdir n && cd n && npm init -y >/dev/null && test -s package.json; fi
	echo done
	SH
	agentbox_split run -- sh job
	[ "$status" -eq 0 ]
	[ "$(xargs <<<"$output")" = "first done" ]
	[ -d new/.git/hooks ]
	[ -d copy/.git/hooks ]
	[ -d out/clone/.git/hooks ]
}

@test "writes: node is told as well" {
	need program:node
	agentbox_split run -- node -e '
const fs = require("fs");
for (const f of [() => fs.mkdirSync(".vscode"), () => fs.writeFileSync(".envrc", "x"),
                 () => fs.writeFileSync("fine", "x")])
  try { f(); console.log("ok"); } catch (e) { console.log(e.code); }'
	[ "$output" = $'EACCES\nEACCES\nok' ]
}

# Exactly these flags are not asked about. The walls are the same, and the watch takes what appears.
@test "writes: files that are opened as npm unpacks them are denied and taken, others told at once" {
	need program:jq
	need program:python3
	make_repo
	mkdir "$HOME/other"
	echo old >"$HOME/other/old"
	agentbox_split run -- python3 - <<-'PY'
	import errno, os, time
	other = os.environ["HOME"] + "/other/"
	plain = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
	unpacks = plain | os.O_NOFOLLOW
	def attempt(name, flags):
	    try:
	        os.write(os.open(name, flags, 0o755), b"evil")
	        return "ok"
	    except OSError as e:
	        return errno.errorcode[e.errno]
	print(attempt(".envrc", plain), attempt(other + "a", plain), attempt(".git/config", plain))
	print(attempt(other + "old", unpacks), attempt(other + "b", unpacks), attempt(".git/config", unpacks))
	print(attempt("fine", unpacks), attempt(".bashrc", unpacks))
	end = time.monotonic() + 60
	while os.path.lexists(".bashrc") and time.monotonic() < end:
	    time.sleep(0.001)
	print("there" if os.path.lexists(".bashrc") else "taken")
	PY
	[ "$output" = $'EACCES EROFS EROFS\nEROFS EROFS EROFS\nok ok\ntaken' ]
	[[ "$stderr" == *"created a protected file ($WORKSPACE/.bashrc)"* ]]
	seen '.path | endswith("/.envrc")'
	seen '.path | endswith("/other/a")'
	seen '.path | endswith("/.git/config")'
	[ "$(violations "select(.id | test(\"-f\")) | .path" | wc -l)" -eq 3 ]
	[ "$(cat fine "$HOME/other/old")" = $'evilold' ]
	[ ! -e "$HOME/other/b" ]
	[ ! -e .bashrc ]
}

# A second thread changes the name while the call waits.
@test "writes: a name that changes meanwhile gains nothing that the box would not allow" {
	need program:gcc
	mkdir "$HOME/other"
	cat >race.c <<-'C'
	#define _GNU_SOURCE
	#include <fcntl.h>
	#include <pthread.h>
	#include <stdio.h>
	#include <string.h>
	#include <unistd.h>
	static char path[64];
	static volatile int over;
	static const char *names[] = { "inside", "../other/x", "/proc/self/fd/0", "/nowhere", "" };
	static void *change(void *p)
	{
		for (unsigned i = 0; !over; i++)
			strcpy(path, names[i % 5]);
		return p;
	}
	int main(void)
	{
		pthread_t t;
		pthread_create(&t, NULL, change, NULL);
		for (int i = 0; i < 2000; i++)
			close(open(path, O_WRONLY | O_CREAT, 0600));
		over = 1;
		pthread_join(t, NULL);
		puts("over");
		return 0;
	}
	C
	gcc -pthread -o race race.c
	agentbox_split run -- ./race
	[ "$status" -eq 0 ]
	[ "$output" = over ]
	[ ! -e "$HOME/other/x" ]
}

@test "writes: hostile arguments are answered as the kernel would" {
	need program:gcc
	need program:jq
	cat >odd.c <<-'C'
	#define _GNU_SOURCE
	#include <errno.h>
	#include <fcntl.h>
	#include <stdio.h>
	#include <string.h>
	#include <sys/mman.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	static void say(const char *what, long r)
	{
		printf("%s %s\n", what, r < 0 ? strerrorname_np(errno) : "0");
	}
	int main(void)
	{
		char *edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		static char longest[8192];
		unsigned long how[3] = { O_WRONLY | O_CREAT, 0600, 0 };
		munmap(edge + 4096, 4096);
		memset(longest, 'a', sizeof(longest) - 1);
		strcpy(edge + 4096 - 5, "name");
		say("null", syscall(SYS_openat, AT_FDCWD, NULL, O_WRONLY | O_CREAT, 0600));
		say("wild", syscall(SYS_openat, AT_FDCWD, (void *)8, O_WRONLY, 0));
		say("long", syscall(SYS_openat, AT_FDCWD, longest, O_WRONLY | O_CREAT, 0600));
		say("empty", syscall(SYS_openat, AT_FDCWD, "", O_WRONLY | O_CREAT, 0600));
		say("fd", syscall(SYS_openat, 999, "x", O_WRONLY | O_CREAT, 0600));
		say("edge", syscall(SYS_openat, AT_FDCWD, edge + 4096 - 5, O_WRONLY | O_CREAT, 0600));
		memset(edge + 4096 - 5, 'x', 5);
		say("unended", syscall(SYS_openat, AT_FDCWD, edge + 4096 - 5, O_WRONLY | O_CREAT, 0600));
		say("openat2", syscall(SYS_openat2, AT_FDCWD, "how", how, sizeof(how)));
		say("openat2 wild", syscall(SYS_openat2, AT_FDCWD, "how", (void *)8, sizeof(how)));
		say("mkdir dot", syscall(SYS_mkdirat, AT_FDCWD, ".vscode/.", 0700));
		say("rename", syscall(SYS_renameat2, AT_FDCWD, "name", AT_FDCWD, NULL, 0));
		return 0;
	}
	C
	gcc -o odd odd.c
	agentbox_split run -- ./odd
	[ "$status" -eq 0 ]
	[ "$output" = "$(cat <<-'TEXT'
	null EFAULT
	wild EFAULT
	long ENAMETOOLONG
	empty ENOENT
	fd EBADF
	edge 0
	unended EFAULT
	openat2 0
	openat2 wild EFAULT
	mkdir dot ENOENT
	rename EFAULT
	TEXT
	)" ]
	nothing_seen
}

# -------------------------------------------------------------- when it is gone

@test "writes: a judge that is killed ends the run" {
	"$AGENTBOX" run -- sh -c 'echo x >started; sleep 300' >"$TEST_DIR/out" 2>&1 3>&- &
	local supervisor=$! status=0
	wait_for 90 test -e started
	kill -KILL "$(guard_of "$supervisor")"
	wait "$supervisor" || status=$?
	[ "$status" -eq 125 ]
	grep -q 'the guard process has died' "$TEST_DIR/out"
}

@test "writes: without a listener the box is as closed, and writes work" {
	need program:jq
	need program:python3
	mkdir "$HOME/other"
	run busy "$AGENTBOX" run -v -- sh -c 'echo x >file; echo x >~/other/x; cat file; exit 3'
	echo "$output"
	[ "$status" -eq 3 ]
	[[ "$output" == *"denied writes are not recorded"* ]]
	[ "$(cat file)" = x ]
	[ ! -e "$HOME/other/x" ]
}
