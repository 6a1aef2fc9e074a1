# --trace-denials reports what the box denied, to which process, where and by
# which rule, and nothing that was allowed.
# root-in-turn: the processes of root are held by other checks of the kernel

load helpers

UNJUDGED=1

# What is denied is the subject, also in the home folder.
setup()
{
	box_setup
	readonly_home
}

# script NAME <<TEXT
script()
{
	cat >"$1"
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

# seen CONDITION: one violation meets it.
seen()
{
	record | jq -es "map(select(.kind == \"violation\") |
		select($1)) | length == 1" >/dev/null
}

# Nothing was refused, and nothing is said.
nothing_seen()
{
	[ -z "$stderr" ]
	[ -z "$(violations .)" ]
	record | jq -es 'map(select(.kind == "end"))[0].files_denied == 0' >/dev/null
}

traced()
{
	agentbox_split run --trace-denials "$@"
}

@test "trace: a write outside is told with process, path and rule" {
	need program:jq
	mkdir "$HOME/other"
	script job <<-SH
	echo x >"$HOME/other/new file"
	SH
	traced -- sh job one "two three"
	[ "$status" -ne 0 ]
	[[ "$stderr" == *"Read-only file system"* ]]
	[[ "$stderr" == *"agentbox: 1 file access was denied"* ]]
	[[ "$stderr" == *"-f1  write $HOME/other/new file  outside the writable folders  sh, pid 2"* ]]
	[[ "$stderr" == *"allow it next time:  agentbox run --write $HOME/other -- ..."* ]]
	seen '.door == "file" and .access == "write" and
		.rule == "filesystem.write" and .allowed == false and
		(.id | test("^[a-z0-9]{5}-f1$")) and (.call | test("^open")) and
		(.path | endswith("/home/other/new file")) and
		.process[0].pid == 2 and (.process[0].exe | endswith("sh")) and
		.process[0].argv == ["sh", "job", "one", "two three"]'
	record | jq -es 'any(.kind == "assurance" and .denials_traced and
		(.holds | index("syscalls")))' >/dev/null
	# What is too long for the record is cut there, which is told.
	traced -- sh job "$(printf '%2000s' x)"
	[ "$status" -ne 0 ]
	seen '.access == "write" and .process[0].argv[:2] == ["sh", "job"] and .process[0].argv[-1] == "..."'
}

@test "trace: a write inside is not" {
	need program:jq
	mkdir "$HOME/other"
	script job <<-SH
	echo x >"new file" && mkdir -p a/b && mv "new file" a/b && rm -r a
	ln -s x l && rm l && : >/dev/null && : >/tmp/x && rm /tmp/x
	echo x >"$HOME/other/x"
	SH
	traced --write "$HOME/other" -- sh job
	[ "$status" -eq 0 ]
	nothing_seen
}

@test "trace: without it only writes are seen, not reads and not system calls" {
	need program:jq
	echo secret >"$HOME/.netrc"
	agentbox_split run -- sh -c 'cat ~/.netrc; unshare -n true; echo x >~/x'
	[[ "$output" != *secret* ]]
	[ "$(violations '.access + .call')" = '"writeopenat"' ]
	! record | grep -q 'denials_traced' || false
}

@test "trace: who asks for more is told of it when a command fails" {
	agentbox_split run -v -- sh -c 'exit 3'
	[ "$status" -eq 3 ]
	[[ "$stderr" == *"to see what was denied for reading: agentbox run --trace-denials"* ]]
	agentbox_split run -v -- true
	[[ "$stderr" != *trace-denials* ]]
	agentbox_split run -- false
	[ -z "$stderr" ]
	agentbox_split run -v --trace-denials -- false
	[[ "$stderr" != *"to see what was denied"* ]]
}

@test "trace: what is not there, and what one could not do outside, is no refusal" {
	need program:jq
	mkdir "$HOME/other" "$HOME/other/dir"
	echo x >"$HOME/other/file"
	script job <<-SH
	cd "$HOME/other"
	cat missing; rm -f missing; mkdir -p dir; rmdir missing; chmod 1 missing
	cat <missing; mv missing elsewhere; ls dir; cat file; mkdir dir
	[ "$(id -u)" = 0 ] || {
		echo x >/etc/agentbox-test; rm -f /etc/passwd; chmod 0 /etc/passwd
		mkdir /etc/agentbox-test; mv /etc/passwd /etc/passwd2
	}
	true
	SH
	agentbox_split run --trace-denials -- sh job
	[ "$status" -eq 0 ]
	[[ "$stderr" != *agentbox:* ]]
	[ -z "$(violations .)" ]
}

@test "trace: a protected name, and the folder that leads to it" {
	need program:jq
	git init -q .
	script job <<-'SH'
	echo x >>.git/config
	rm -f .git/config
	mv .git elsewhere
	echo x >.git/hooks/pre-commit
	echo x >.git/other
	SH
	traced -- sh job
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"4 file accesses were denied"* ]]
	[[ "$stderr" == *"a protected name"*"agentbox run --deny-write '!.git/config' --deny-write '!.git/hooks' -- ..."* ]]
	[[ "$stderr" == *"it leads to a protected name"* ]]
	[ "$(violations .rule | sort -u)" = '"filesystem.denyWrite"' ]
	seen '.path | endswith("project/.git")'
	seen '.path | endswith(".git/hooks/pre-commit")'
	rm job
	script job <<-'SH'
	echo x >>.git/config
	SH
	rm -r "$AGENTBOX_STATE"
	traced --deny-write '!.git/config' -- sh job
	[ "$status" -eq 0 ]
	nothing_seen
}

@test "trace: a key that is hidden" {
	need program:jq
	mkdir -p "$HOME/.ssh" "$HOME/.gnupg/private-keys-v1.d"
	echo secret >"$HOME/.ssh/id_rsa"
	echo host >"$HOME/.ssh/known_hosts"
	script job <<-'SH'
	cat ~/.ssh/id_rsa
	cat ~/.ssh/known_hosts
	cat ~/.gnupg/private-keys-v1.d/key
	ls -d ~/.gnupg
	stat ~/.ssh/id_rsa
	SH
	traced -- sh job
	[[ "$output" != *secret* ]]
	[[ "$stderr" == *"2 file accesses were denied"* ]]
	[[ "$stderr" == *"agentbox run --read $HOME/.ssh/id_rsa "*" -- ..."* ]]
	[ "$(violations '.access + " " + .rule' | sort -u)" = '"read filesystem.denyRead"' ]
	seen '.path | endswith("/.ssh/id_rsa")'
	seen '.path | endswith("/.gnupg/private-keys-v1.d/key")'
	rm -r "$AGENTBOX_STATE" "$HOME/.gnupg"
	traced --deny-read "!$HOME/.ssh/id_rsa" -- cat "$HOME/.ssh/id_rsa"
	[ "$output" = secret ]
	nothing_seen
}

@test "trace: a socket of the host" {
	need program:jq
	need program:python3
	python3 -c '
import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
time.sleep(300)' "$TEST_DIR/sock" 3>&- &
	local host=$!
	wait_for 90 test -S "$TEST_DIR/sock"
	script job.py <<-'PY'
	import os, socket, sys
	def dial(path):
	    try:
	        socket.socket(socket.AF_UNIX).connect(path)
	        print("connected")
	    except OSError as e:
	        print("refused")
	dial(sys.argv[1])
	s = socket.socket(socket.AF_UNIX)
	s.bind("mine")
	s.listen()
	dial("mine")
	dial("/tmp/nobody")
	dial("\0abstract")
	try:
	    socket.socket(socket.AF_UNIX).bind(os.path.expanduser("~/outside"))
	except OSError as e:
	    print("no")
	PY
	traced -- python3 job.py "$TEST_DIR/sock"
	[ "$output" = refused$'\n'connected$'\n'refused$'\n'refused$'\n'no ]
	[ "$(violations .id | wc -l)" -eq 2 ]
	seen '.access == "connect" and .rule == "filesystem.unix" and
		.call == "connect" and (.path | endswith("/sock"))'
	seen '.access == "write" and .call == "bind" and
		(.path | endswith("/home/outside"))'
	[[ "$stderr" == *"agentbox run --allow-unix $TEST_DIR/sock -- ..."* ]]
	rm -r "$AGENTBOX_STATE" mine
	traced --allow-unix "$TEST_DIR/sock" -- python3 -c "$(cat <<-'PY'
	import socket, sys
	socket.socket(socket.AF_UNIX).connect(sys.argv[1])
	print("connected")
	PY
	)" "$TEST_DIR/sock"
	[ "$output" = connected ]
	nothing_seen
	kill "$host"
	wait "$host" || true
}

# calls: system calls by name, and what each answers.
calls()
{
	script calls.c <<-'C'
	#define _GNU_SOURCE
	#include <errno.h>
	#include <stdio.h>
	#include <string.h>
	#include <sched.h>
	#include <sys/ioctl.h>
	#include <sys/prctl.h>
	#include <sys/ptrace.h>
	#include <sys/stat.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	#define TRY(n, ...) { #n, SYS_##n, { __VA_ARGS__ } }
	static const struct { const char *name; long nr, a[6]; } all[] = {
		TRY(mount), TRY(bpf, -1), TRY(keyctl), TRY(io_uring_setup),
		TRY(unshare, CLONE_NEWNET), TRY(ioctl, -1, TIOCSTI),
		TRY(mknodat, -100, (long)"device", S_IFCHR),
		TRY(ptrace, PTRACE_TRACEME), TRY(unshare, 0),
		TRY(ioctl, -1, TIOCGWINSZ), TRY(clone3), TRY(getpid),
		TRY(mknodat, -100, (long)"fifo", S_IFIFO | 0600),
	};
	int main(void)
	{
		for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
			const long *a = all[i].a;
			long r = syscall(all[i].nr, a[0], a[1], a[2], a[3], a[4], a[5]);
			printf("%s %s\n", all[i].name, r < 0 ? strerrorname_np(errno) : "0");
		}
		return 0;
	}
	C
	gcc -o calls calls.c
}

@test "trace: system calls that are closed, which answer as ever" {
	need program:jq
	need program:gcc
	calls
	agentbox_split run -- ./calls
	local untraced=$output
	rm -r "$AGENTBOX_STATE" fifo
	traced -- ./calls
	[ "$status" -eq 0 ]
	[ "$(sed '/^getpid/d' <<<"$output")" = "$(sed '/^getpid/d' <<<"$untraced")" ]
	[ "$(grep -c EPERM <<<"$output")" -eq 7 ]
	[[ "$output" == *"ptrace 0"*"unshare 0"*"clone3 ENOSYS"*"mknodat 0"* ]]
	[ "$(violations '.call' | tr -d '"' | sort | xargs)" = \
		"bpf io_uring_setup ioctl keyctl mknodat mount unshare" ]
	[ "$(violations '[.door, .rule, .path, .access] | tostring' | sort -u)" = \
		'"[\"call\",\"syscalls\",null,null]"' ]
	[[ "$stderr" == *"7 system calls were denied"* ]]
	[[ "$stderr" == *"mount  "*"calls, pid 2"* ]]
}

@test "trace: real work leaves nothing" {
	need program:jq
	need program:gcc
	need program:git
	printf '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { puts("built"); return 0; }\n' >main.c
	printf 'prog: main.o\n\tgcc -o $@ $^\nmain.o: main.c\n\tgcc -O2 -c -o $@ $<\n' >Makefile
	git init -q .
	script job <<-'SH'
	set -e
	if command -v make >/dev/null; then make -s; else gcc -o prog main.c; fi
	./prog
	git add main.c Makefile && git commit -qm x && git status --short >/dev/null && git log -1 --format=%s
	python3 -B -c 'import json, tempfile, threading, subprocess
	t = threading.Thread(target=print, args=("thread",)); t.start(); t.join()
	open(tempfile.mkstemp()[1], "w").write("x")
	print(subprocess.check_output(["echo", "child"], text=True).strip())'
	grep -rs agentbox-is-not-here /usr/include/linux || true
	find . -name '*.o' -exec touch {} + && tar cf x.tar main.c && tar xf x.tar && cp -a main.c copy.c
	if command -v node >/dev/null; then node -e 'require("fs").writeFileSync("n", "x"); console.log("node")'; fi
	SH
	traced -- sh job
	[ "$status" -eq 0 ]
	[[ "$output" == *built*x*thread*child* ]]
	nothing_seen
}

@test "trace: names are those that the box sees" {
	need program:jq
	need program:python3
	mkdir -p "$HOME/other/dir" sub
	echo x >"$HOME/other/file"
	echo x >"$HOME/other/fixed"
	chmod 444 "$HOME/other/fixed"
	ln -s "$HOME/other" link
	ln -s ../../other/file sub/relative
	ln -s "$HOME/other/dangling" hanging
	script job.py <<-'PY'
	import os
	home = os.path.expanduser("~")
	def no(f, *a, **k):
	    try:
	        f(*a, **k)
	    except OSError:
	        return
	    print("done", a)
	os.chdir("sub")
	no(open, "../../other/dir/relative", "w")
	no(open, "relative", "a")
	no(os.mkdir, home + "/other//dir/./folder/")
	d = os.open(home + "/other", os.O_RDONLY | os.O_DIRECTORY)
	no(os.open, "at", os.O_WRONLY | os.O_CREAT, dir_fd=d)
	no(os.unlink, "../link/file")
	no(open, "../hanging", "w")
	no(open, home + "/other/two\nlines\033[2J \u00e9", "w")
	no(open, os.fsencode(home) + b"/other/\xff", "w")
	no(os.rename, "../job.py", home + "/other/moved")
	no(os.link, "../job.py", home + "/other/linked")
	no(os.symlink, "x", home + "/other/symlinked")
	no(os.chmod, "../link/file", 0o600)
	no(os.utime, "../link/file")
	no(os.chmod, "../link/fixed", 0o600)
	no(os.truncate, "relative", 0)
	PY
	traced -- python3 job.py
	[ -z "$output" ]
	[ "$(violations .path | sed 's|.*/home/other/|"|' | LC_ALL=C sort | xargs -d '\n')" = \
		'"at" "dangling" "dir/folder" "dir/relative" "file" "file" "fixed" "linked" "moved" "symlinked" "two\nlines\u001b[2J é" "�"' ]
	record | jq -es 'map(select(.kind == "violation" and (.path | endswith("/file")))) |
		length == 2 and .[0].repeated == null and .[1].repeated == 4' >/dev/null
	[[ "$stderr" == *'two\x0alines\x1b[2J é'* ]]
	[[ "$stderr" != *$'\033'* ]]
	[[ "$stderr" == *"write $HOME/other/file"*", 5 times"* ]]
}

@test "trace: names that are changed meanwhile harm nobody" {
	need program:jq
	need program:gcc
	mkdir "$HOME/other"
	script race.c <<-'C'
	#define _GNU_SOURCE
	#include <fcntl.h>
	#include <pthread.h>
	#include <stdio.h>
	#include <string.h>
	#include <unistd.h>
	static char path[64];
	static volatile int over;
	static const char *names[] = { "inside", "../other/x", "/proc/self/fd/0",
				       "/nowhere", "" };
	static void *change(void *p)
	{
		for (unsigned i = 0; !over; i++)
			strcpy(path, names[i % 5]);
		return p;
	}
	int main(void)
	{
		pthread_t t;
		int made = 0;
		pthread_create(&t, NULL, change, NULL);
		for (int i = 0; i < 3000; i++) {
			int fd = open(path, O_WRONLY | O_CREAT, 0600);
			made += fd >= 0;
			close(fd);
		}
		over = 1;
		pthread_join(t, NULL);
		puts("over");
		return 0;
	}
	C
	gcc -pthread -o race race.c
	traced -- ./race
	[ "$status" -eq 0 ]
	[ "$output" = over ]
	[ ! -e "$HOME/other/x" ]
}

@test "trace: the same again is counted, and many are a few lines" {
	local minute

	need program:jq
	need program:python3
	minute=$(this_minute)
	mkdir "$HOME/other"
	script job.py <<-'PY'
	import os
	home = os.path.expanduser("~")
	def no(name):
	    try:
	        os.open(home + "/" + name, os.O_WRONLY | os.O_CREAT)
	    except OSError:
	        pass
	for i in range(2000):
	    no("same")
	for i in range(1500):
	    no("other/x%d" % i)
	PY
	traced -- python3 job.py
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"3500 file accesses were denied"* ]]
	[[ "$stderr" == *"-f1 "*"write $HOME/same"*", 2000 times"* ]]
	[[ "$stderr" == *"more: agentbox log "*" --denied"* ]]
	# Nobody is told to open the whole home; what helps all is said once.
	[ "$(grep -c 'allow them next time' <<<"$stderr")" -eq 1 ]
	[[ "$stderr" != *"--write $HOME -- "* ]]
	# A hundred a minute, and the numbers of the others.
	[ "$(violations . | wc -l)" -le $((105 * ($(this_minute) - minute + 1))) ]
	record | jq -es 'map(select(.kind == "end"))[0].files_denied == 3500' >/dev/null
}

@test "trace: programs are judged beside it" {
	need program:jq
	mkdir -p "$HOME/.config/agentbox" bin
	printf '#!/bin/sh\ntouch ran\n' >bin/shutdown
	chmod +x bin/shutdown
	echo '{ "commands": { "enforce": "children" } }' >"$HOME/.config/agentbox/config.json"
	readonly_home
	script job <<-SH
	bin/shutdown now
	bin/shutdown --help
	echo x >"$HOME/outside"
	SH
	traced -- sh job
	[ -e ran ]
	[[ "$stderr" == *"1 program was denied"*"1 file access was denied"* ]]
	record | jq -es 'any(.kind == "exec" and .rule == "shutdown-reboot") and
		any(.kind == "end" and .execs_denied == 1 and .files_denied == 1)' >/dev/null
}

@test "trace: a tracer that is killed ends the run" {
	script job <<-'SH'
	touch started
	sleep 300
	SH
	"$AGENTBOX" run --trace-denials -- sh job >"$TEST_DIR/out" 2>&1 3>&- &
	local supervisor=$! judge
	wait_for 90 test -e started
	judge=$(guard_of "$supervisor")
	kill -KILL "$judge"
	status=0
	wait "$supervisor" || status=$?
	[ "$status" -eq 125 ]
}

@test "trace: inside a box it cannot be had, and that is said" {
	cp "$AGENTBOX" agentbox
	agentbox run -- ./agentbox run --trace-denials --fallback warn -- echo works
	[[ "$output" == *"cannot trace denials inside a box"*works* ]]
	agentbox run --trace-denials -- ./agentbox run --fallback warn -- sh -c 'echo x >/usr/x || echo works'
	[[ "$output" == *works* ]]
}

@test "trace: without a listener the box is as closed, and it is said that nothing is seen" {
	need program:jq
	need program:python3
	run busy "$AGENTBOX" run --trace-denials -- sh -c 'unshare -n true || echo held; exit 3'
	echo "$output"
	[ "$status" -eq 3 ]
	[[ "$output" == *held* ]]
	[[ "$output" == *"denials are not traced"* ]]
	record | jq -es 'any(.kind == "assurance" and .denials_traced == false)' >/dev/null
}
