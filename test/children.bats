# commands.enforce "children": every program is judged before it runs in the box.
#
# Programs with dangerous names are stubs in the workspace that create a file. If
# one is not refused, that file shows it.
# root-in-turn: the processes of root are held by other checks of the kernel

load helpers

setup()
{
	box_setup
	enforce children
	mkdir bin
	local name
	for name in rm shutdown sudo frobnicate; do
		printf '#!/bin/sh\necho "$0 $*" >>%q\n' "$WORKSPACE/ran-$name" >"bin/$name"
		chmod +x "bin/$name"
	done
}

# judged ARG...: agentbox_split, with the stubs before the real programs.
judged()
{
	local -x PATH=$WORKSPACE/bin:$PATH

	agentbox_split "$@"
}

# enforce WORD [MORE]: the policy, in the user's own file.
enforce()
{
	mkdir -p "$HOME/.config/agentbox"
	printf '{ "commands": { "enforce": "%s"%s } }\n' "$1" "${2:-}" \
		>"$HOME/.config/agentbox/config.json"
}

# script NAME <<TEXT: a file that the judge does not read.
script()
{
	cat >"$1"
}

record()
{
	cat "$AGENTBOX_STATE"/runs/*/audit*.jsonl
}

# recorded KIND CONDITION: every record of that kind meets it, and there is one.
recorded()
{
	record | jq -es --arg kind "$1" "map(select(.kind == \$kind)) |
		length > 0 and all($2)" >/dev/null
}

# denied [RULE]: how many records there are of programs that were refused.
denied()
{
	record | jq -r --arg rule "${1:-}" 'select(.kind == "exec" and
		($rule == "" or .rule == $rule)) | .id' | wc -l
}

@test "children: a script's forbidden command is refused with EPERM, told and recorded" {
	need program:jq
	script job <<-'SH'
	/bin/echo before
	rm -rf /
	echo "status $?"
	/bin/echo after
	SH
	judged run -- sh job
	[ "$status" -eq 0 ]
	[[ "$output" == *before*"status 126"*after* ]]
	[[ "$stderr" == *"Operation not permitted"* ]]
	[[ "$stderr" == *"agentbox: 1 program was denied"* ]]
	[[ "$stderr" == *"-e1  rm -rf /  "*"rule recursive-delete-root"* ]]
	[[ "$stderr" == *'agentbox config set commands.override.recursive-delete-root sandboxed'* ]]
	[[ "$stderr" != *"--yes"* ]]
	[ ! -e ran-rm ]
	recorded exec '.command == "rm -rf /" and .decision == "forbidden" and
		.rule == "recursive-delete-root" and .allowed == false and
		.by == "sh" and (.id | endswith("-e1")) and
		(.path | endswith("/bin/rm"))'
	recorded end '.execs_denied == 1'
	recorded assurance .children_judged
}

@test "children: with enforce start the same script runs, and nobody judges it" {
	enforce start
	script job <<-'SH'
	rm -rf /
	SH
	judged run -- sh job
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ -e ran-rm ]
	! record | grep -q '"kind":"exec"\|execs_denied\|children_judged' || false
}

@test "children: harmless twins run" {
	script job <<-'SH'
	rm -rf ./build && rm -r node_modules && shutdown --help && frobnicate / -rf
	SH
	judged run -- sh job
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ "$(wc -l <ran-rm)" -eq 2 ]
	[ -e ran-shutdown ]
	[ -e ran-frobnicate ]
}

@test "children: what a shell text finds out is judged when it is executed" {
	script job <<-'SH'
	export X=/ Y=./x
	sh -c 'rm -rf "$Y"; $0 one' frobnicate
	sh -c 'd=$(printenv X); "$@" "$d"' x rm -rf
	sh -c 'eval "$T"' || :
	bash -c "shutdown now"
	SH
	judged run -- sh job
	[ "$(wc -l <ran-rm)" -eq 1 ]
	[ -e ran-frobnicate ]
	[ ! -e ran-shutdown ]
	[[ "$stderr" == *"2 programs were denied"* ]]
}

@test "children: neither argv[0] nor a link nor a descriptor hides a program" {
	ln -s rm bin/harmless
	script job.py <<-'PY'
	import os
	def attempt(what, path, argv):
	    pid = os.fork()
	    if pid == 0:
	        try:
	            if what == "fd":
	                path = os.open(path, os.O_RDONLY)
	                os.set_inheritable(path, True)
	            os.execve(path, argv, os.environ)
	        except OSError as e:
	            os._exit(100 + e.errno)
	    print(what, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) - 100)
	w = os.getcwd()
	attempt("argv", w + "/bin/rm", ["ls", "-rf", "/"])
	attempt("name", w + "/bin/frobnicate", ["rm", "-rf", "/"])
	attempt("link", "bin/harmless", ["harmless", "-rf", "/"])
	attempt("fd", w + "/bin/rm", ["ls", "-rf", "/"])
	fd = os.open(w + "/bin/rm", os.O_RDONLY)
	attempt("proc", "/proc/self/fd/%d" % fd, ["ls", "-rf", "/"])
	os.dup2(fd, 9)
	attempt("dev", "/dev/fd/9", ["ls", "-rf", "/"])
	attempt("none", "/nonexistent/rm", ["rm", "-rf", "/"])
	attempt("self", "/proc/self/exe", ["python3", "-c", "raise SystemExit(100)"])
	attempt("fine", w + "/bin/rm", ["rm", "-rf", "./x"])
	PY
	judged run -- python3 job.py
	[ "$status" -eq 0 ]
	[ "$output" = "argv 1
name 1
link 1
fd 1
proc 1
dev 1
none 2
self 0
fine -100" ]
	[ "$(cat ran-rm)" = "$WORKSPACE/bin/rm -rf ./x" ]
	[ ! -e ran-frobnicate ]
	[ "$(denied recursive-delete-root)" -eq 6 ]
}

@test "children: what the box hides does not show in an answer, and a file without a name in the record" {
	need program:jq
	# The box has a /tmp of its own.
	local there=$(mktemp /tmp/agentbox-test.XXXXXX)

	script job.py <<-'PY'
	import os, sys
	def attempt(path):
	    pid = os.fork()
	    if pid == 0:
	        try:
	            os.execve(path, ["shutdown", "now"], os.environ)
	        except OSError as e:
	            os._exit(e.errno)
	    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
	open("here", "w").close()
	for target in sys.argv[1], sys.argv[1] + "-not", os.path.realpath("here"):
	    os.symlink(target, "link")
	    print(attempt("link"), attempt("/proc/self/cwd/link"))
	    os.unlink("link")
	for path in "/..", "/proc/self/root", "/proc/self/../" + sys.argv[2] + "/root":
	    print(attempt(path + sys.argv[1]))
	fd = os.memfd_create("x")
	print(attempt(fd), attempt("/proc/self/root/bin/true"))
	PY
	judged run -- python3 job.py "$there" "$$"
	rm "$there"
	[ "$status" -eq 0 ]
	[ "$output" = "2 2
2 2
1 1
2
2
2
1 1" ]
	[ "$(denied shutdown-reboot)" -eq 4 ]
}

@test "children: posix_spawn, vfork, threads and a process that hides its memory" {
	script job.py <<-'PY'
	import ctypes, os, subprocess, threading
	def spawn(argv):
	    try:
	        return subprocess.run(argv).returncode
	    except OSError as e:
	        return e.errno
	print(spawn(["shutdown", "now"]), spawn(["shutdown", "--help"]))
	try:
	    os.posix_spawnp("shutdown", ["shutdown", "now"], os.environ)
	except OSError as e:
	    print(e.errno)
	out = []
	ts = [threading.Thread(target=lambda: out.append(spawn(["rm", "-rf", "/"]))) for _ in range(20)]
	[t.start() for t in ts], [t.join() for t in ts]
	print(out == [1] * 20)
	assert ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) == 0
	print(spawn(["shutdown", "now"]), spawn(["frobnicate"]))
	PY
	judged run -- python3 job.py
	[ "$status" -eq 0 ]
	[ "$output" = "1 0
1
True
1 0" ]
	[ ! -e ran-rm ]
	[ "$(wc -l <ran-shutdown)" -eq 1 ]
	[ -e ran-frobnicate ]
}

# bats test_tags=root
@test "children: a process whose memory cannot be read executes nothing" {
	only_root
	local as=(setpriv --reuid 54321 --regid 54321 --clear-groups)

	chmod 0755 "$TEST_DIR"
	"${as[@]}" test -x "$AGENTBOX" -a -x "$WORKSPACE" || lacks "other users cannot enter the folder of the tests"
	# Whoever may execute a file but not read it must not read it from memory.
	cp /bin/sh unreadable
	script job <<-'SH'
	/bin/echo child
	SH
	script outer <<-'SH'
	./unreadable job
	/bin/echo after
	SH
	chown -R 54321:54321 "$TEST_DIR"
	chown root unreadable && chmod 0711 unreadable
	run --separate-stderr timeout 240 "${as[@]}" "$AGENTBOX" run -- sh outer 3>&-
	chown -R 0:0 "$TEST_DIR"
	printf '%s\n%s\n' "$output" "$stderr"
	[ "$status" -eq 0 ]
	[ "$output" = after ]
	[[ "$stderr" == *"memory cannot be read"* ]]
	recorded exec '.by == "unreadable" and .rule == null'
}

@test "children: what is escalated needs --yes, an override, or the word for the start" {
	script job <<-'SH'
	sudo id
	SH
	judged run -- sh job
	[ "$status" -eq 126 ]
	[ ! -e ran-sudo ]
	[[ "$stderr" == *"rule sudo"*"agentbox run --yes"*'agentbox config set commands.override.sudo sandboxed'* ]]
	judged run --yes -- sh job
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ -e ran-sudo ]
	rm -f ran-sudo
	enforce children ', "override": { "sudo": "sandboxed" }'
	judged run -- sh job
	[ "$status" -eq 0 ]
	[ -e ran-sudo ]
	rm -f ran-sudo
	enforce children
	judged run --approver 'echo "{\"answer\":\"once\"}"' -- sh -c 'sudo true; sh job'
	[ "$status" -eq 0 ]
	[ "$(wc -l <ran-sudo)" -eq 2 ]
}

@test "children: --yes does not lift what is forbidden; an override does, and rules of one's own count" {
	script job <<-'SH'
	shutdown now
	frobnicate hard
	frobnicate softly
	SH
	enforce children ', "rules": [{ "match": "frobnicate hard*", "decision": "forbidden", "reason": "Not this." }]'
	judged run --yes -- sh job
	[ "$status" -eq 0 ]
	[ ! -e ran-shutdown ]
	[ "$(cat ran-frobnicate)" = "$WORKSPACE/bin/frobnicate softly" ]
	[[ "$stderr" == *"frobnicate hard"*"not this"*"rule user"* ]]
	enforce children ', "override": { "shutdown-reboot": "sandboxed" }'
	judged run -- sh job
	[ -e ran-shutdown ]
	[ -z "$stderr" ]
}

@test "children: a build of many programs and a git repository work" {
	need program:make
	need program:git
	{
		printf 'all: %s\n' "$(seq -f 'o%g' -s ' ' 50)"
		printf 'o%%:\n\t@for i in 1; do d=$$(dirname ./$@); test -d $$d && touch $@; done\n'
		printf 'clean:\n\t@D=./none; rm -rf $$D\n'
	} >Makefile
	script job <<-'SH'
	set -e
	make -s -j4 && make -s clean
	git init -q . && git add Makefile && git commit -qm 'stop using rm -rf /'
	git log --oneline | cat
	SH
	judged run -- sh job
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[[ "$output" == *"stop using rm -rf /" ]]
	[ "$(ls o* | wc -l)" -eq 50 ]
}

@test "children: arguments beyond every bound are the caller's error, not a stall" {
	script job.py <<-'PY'
	import os, sys
	def attempt(argv):
	    try:
	        os.execv("/bin/true", argv)
	    except OSError as e:
	        return e.errno
	print(attempt(["true"] + ["x"] * 70000))
	print(attempt(["true"] + ["y" * 100000] * 12))
	sys.stdout.flush()
	os.execv("/bin/true", ["true"] + ["y" * 100000] * 5)
	PY
	judged run -- python3 job.py
	[ "$status" -eq 0 ]
	[ "$output" = "7
7" ]
}

@test "children: a flood of refusals is bounded in the record and counted whole" {
	need program:jq
	script job.py <<-'PY'
	import os
	for i in range(3000):
	    try:
	        os.execv("bin/shutdown", ["shutdown", str(i)])
	    except PermissionError:
	        pass
	PY
	judged run -- python3 job.py
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"agentbox: 3000 programs were denied"* ]]
	[[ "$stderr" == *"and 2990 more: agentbox log "* ]]
	# The minute may turn over once.
	[ "$(denied)" -le 201 ]
	[ "$(record | jq -s '[.[] | select(.kind == "exec") |
		(if .id then 1 else 0 end) + (.repeated // 0)] | add')" -eq 3000 ]
	recorded end '.execs_denied == 3000'
}

# start_slowly SCRIPT: in the background; $supervisor and $guard.
start_slowly()
{
	local -x PATH=$WORKSPACE/bin:$PATH

	"$AGENTBOX" run -- sh "$1" >"$TEST_DIR/out" 2>&1 3>&- &
	supervisor=$!
	wait_for 240 test -e started
	guard=$(guard_of "$supervisor")
}

@test "children: a thousand programs leave no descriptor behind in the guard" {
	script job <<-'SH'
	count() { i=0; while [ $i -lt 500 ]; do "$@" 2>/dev/null; i=$((i + 1)); done; }
	count /bin/true; count shutdown now
	touch started
	read -r x <go
	SH
	mkfifo go
	start_slowly job
	# Its own few (supervisor, broker, listener, timer, its notes), and nobody else's to look into.
	if [ "$(id -u)" -eq 0 ]; then
		[ "$(ls "/proc/$guard/fd" | wc -l)" -le 16 ]
		[ -z "$(tr -d '\0' <"/proc/$guard/environ")" ]
	else
		! ls "/proc/$guard/fd" || false
	fi
	grep -q '^Seccomp:	2' "/proc/$guard/status"
	echo >go
	wait "$supervisor"
	grep -q '500 programs were denied' "$TEST_DIR/out"
}

@test "children: a guard that is killed ends the run" {
	script job <<-'SH'
	touch started
	sleep 200
	SH
	start_slowly job
	kill -KILL "$guard"
	status=0
	wait "$supervisor" || status=$?
	cat "$TEST_DIR/out"
	[ "$status" -eq 125 ]
	grep -q 'the guard process has died' "$TEST_DIR/out"
}

@test "children: a supervisor that is killed takes the guard with it" {
	script job <<-'SH'
	touch started
	sleep 300
	SH
	start_slowly job
	kill -KILL "$supervisor"
	wait "$supervisor" || true
	wait_for 90 test ! -e "/proc/$guard"
}

@test "children: signals, the time limit and the sweep work as ever" {
	script job <<-'SH'
	trap 'echo caught; exit 3' TERM
	mkdir .claude 2>/dev/null
	while :; do /bin/true; done
	SH
	judged run --timeout 5s -- sh job
	[ "$status" -eq 124 ]
	[[ "$output" == *caught* ]]
}

@test "children: inside a box only the start is judged, and that is said" {
	enforce start
	script job <<-'SH'
	mkdir -p inner && cd inner
	echo '{ "commands": { "enforce": "children" } }' >.agentbox.json
	../agentbox run --fallback warn -- sh -c 'exec true'
	SH
	cp "$AGENTBOX" agentbox
	agentbox run -- sh job
	[[ "$output" == *"only the command itself is judged"* ]]
}

@test "children: without a listener a strict run does not start, and --fallback warn says so" {
	script job <<-'SH'
	rm -rf /
	SH
	local -x PATH=$WORKSPACE/bin:$PATH
	run busy "$AGENTBOX" run -- sh job
	echo "$output"
	[ "$status" -eq 125 ]
	[[ "$output" == *"watch executed programs"*"--fallback warn"* ]]
	[ ! -e ran-rm ]
	run busy "$AGENTBOX" run --fallback warn -- sh job
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"programs that the command starts are not judged"* ]]
	[ -e ran-rm ]
}
