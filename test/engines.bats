# What a box is built of: engines, in real containers and by choice.
#
# Containers are made by Podman with runc, in folders of this file alone, by root,
# and by a user as rootless ones. Their root folder has links into /usr of this
# machine, mounted read-only, and the program; nothing is downloaded.
#
# unsanitized: containers take long to make, and run the same program
# root: containers need root here
load helpers
load rootless

UNMASK='--security-opt unmask=ALL'
POD_USER=12444	# of rootless containers

setup_file()
{
	local base=${AB_TEST_DIR:-$HOME/.cache/agentbox-test} dir

	[ "$(id -u)" -eq 0 ] && command -v podman runc >/dev/null || return 0
	mkdir -p "$base"
	PODS=$(mktemp -d "$base/c.XXXXXX")
	export PODS
	chmod 711 "$PODS"
	mkdir -p "$PODS"/root/{usr,proc,sys,dev,tmp,etc,run,var,root,work}
	for dir in bin sbin lib lib64; do
		[ ! -L "/$dir" ] || ln -s "usr/$dir" "$PODS/root/$dir"
	done
	chmod 1777 "$PODS/root/tmp" "$PODS/root/work"
	printf 'root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/work:/bin/sh\n' >"$PODS/root/etc/passwd"
	cp "$AGENTBOX" "$PODS/root/agentbox"
	printf '[engine]\nlock_type = "file"\n[containers]\ndefault_ulimits = []\n' >"$PODS/containers.conf"
	export CONTAINERS_CONF=$PODS/containers.conf
	# A user who is not root has folders of its own.
	mkdir "$PODS"/user{,/home}
	cp -a "$PODS/root" "$PODS/user/root"
	chown -R "$POD_USER:$POD_USER" "$PODS/user"
	# The first one makes the storage.
	podman_run true >"$PODS/first" 2>&1 || echo failed >>"$PODS/first"
}

teardown_file()
{
	[ -n "${PODS:-}" ] || return 0
	findmnt -rno TARGET | grep -F "$PODS" | sort -r | xargs -r umount -l
	rm -rf --one-file-system "$PODS"
}

# podman_run [OPTION...] COMMAND: a shell command in a new container, in an empty project.
podman_run()
{
	podman_in "$PODS" "$@"
}

podman_in()
{
	local dir=$1 script=${*: -1} most
	shift

	most=$(ulimit -Hu)
	[ "$most" != unlimited ] && [ "$most" -lt 4096 ] || most=4096
	timeout 200 podman --root "$dir/storage" --runroot "$dir/run" --tmpdir "$dir/tmp" \
		--storage-driver vfs --runtime runc --cgroup-manager=cgroupfs --events-backend=none \
		run --rm --network none --ulimit nofile=1024:4096 --ulimit "nproc=$most:$most" \
		--volume /usr:/usr:ro "${@:1:$#-1}" --rootfs "$dir/root" sh -c \
		"HOME=\$(mktemp -d /work/XXXXXX); export HOME; mkdir \$HOME/project; cd \$HOME/project
		$script" 3>&- 4>&-
}

# The same by a user who is not root.
rootless_run()
{
	export -f podman_in
	as_pod_user 220 bash -c 'podman_in "$@"' bash "$PODS/user" "$@"
}

# container [OPTION...] COMMAND, rootless [OPTION...] COMMAND: the same, or skip: for
# tests that need a container.
container()
{
	need_containers
	run podman_run "$@"
	echo "$output"
}

rootless()
{
	need_containers
	need program:newuidmap
	run rootless_run "$@"
	echo "$output"
}

need_containers()
{
	only_root
	need program:podman
	need program:runc
	! grep -qx failed "$PODS/first" || lacks "Podman makes no container here: $(head -n 1 "$PODS/first")"
}

# What a run tells about its assurance.
assurance()
{
	jq -e ".assurance | $1" "$TEST_DIR/result.json"
}

@test "engines: a full box is the first choice, and everything names the engine" {
	agentbox run -v --result "$TEST_DIR/result.json" -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *", engine full, guarantees in force: "*pid-view* ]]
	assurance '.engine == "full" and (.holds | index("pid-view") != null)'
	agentbox run -v --engine shared-proc --result "$TEST_DIR/result.json" -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *", engine shared-proc, guarantees in force: "* ]]
	[[ "$output" == *"engine shared-proc: the command can read names, arguments"* ]]
	assurance '.engine == "shared-proc" and .missing == ["pid-view"]'
	assurance '.holds | index("pid-fence") != null and index("pid-view") == null'
	agentbox log
	[[ "$output" == *"engine shared-proc"* && "$output" == *"missing pid-view"* ]]
	agentbox run --dry-run --engine shared-proc -- true
	[[ "$output" == *"engine      shared-proc: the command can read"* ]]
	# One that was chosen by name is no surprise.
	agentbox run --engine shared-proc -- true
	[ -z "$output" ]
	agentbox run --engine no-namespaces -- true
	[ -z "$output" ]
	# On a terminal each start says it.
	for _ in 1 2; do
		tty_run "$AGENTBOX" run --engine shared-proc -- true
		[[ "$output" == *"agentbox: engine shared-proc: without pid-view"* ]]
		tty_run "$AGENTBOX" run --engine no-namespaces -- true
		[[ "$output" == *"agentbox: engine no-namespaces: without user-ns, pid-view, protected-names"* ]]
	done
	tty_run "$AGENTBOX" run -- true
	[[ "$output" != *without* ]]
}

@test "engines: the profile ci requires every guarantee" {
	only_user
	local engine
	for engine in shared-proc no-namespaces; do
		agentbox run --profile ci --engine "$engine" -- touch made
		[ "$status" -eq 125 ]
		[ ! -e made ]
		[[ "$output" == *"missing guarantees: "*pid-view* ]]
	done
	agentbox run --profile ci -v --engine full -- touch made
	[ "$status" -eq 0 ]
	[ -e made ]
	[[ "$output" == *pid-view*ipc-fence-late*limits* ]]
	# Others do without.
	agentbox run --profile workspace-write --engine shared-proc -- true
	[ "$status" -eq 0 ]
}

@test "engines: a guarantee that the engine cannot give stops the run" {
	agentbox run --engine shared-proc --require pid-view -- touch made
	[ "$status" -eq 125 ]
	[[ "$output" == *"pid-view"*"$UNMASK"*"--fallback warn"* ]]
	[ ! -e made ]
	agentbox run --engine shared-proc --require pid-view --fallback warn -- touch warned
	[ "$status" -eq 0 ]
	[[ "$output" == *"not in force: pid-view"* ]]
	agentbox run --engine full --require pid-view -- touch made
	[ "$status" -eq 0 ]
	[ -e made ]
	[ -e warned ]
}

@test "engines: an untrusted project may ask for a stronger one only" {
	echo '{ "assurance": { "engine": "shared-proc" } }' >.agentbox.json
	agentbox run -v -- true
	[[ "$output" == *", engine full,"* ]]
	mkdir -p "$HOME/.config/agentbox"
	echo '{ "assurance": { "engine": "shared-proc" } }' >"$HOME/.config/agentbox/config.json"
	echo '{ "assurance": { "engine": "full" } }' >.agentbox.json
	agentbox run -v -- true
	[[ "$output" == *", engine full,"* ]]
	rm .agentbox.json
	agentbox run -v -- true
	[[ "$output" == *", engine shared-proc,"* ]]
}

@test "engines: processes outside a shared /proc can be named, but not read or changed" {
	PRIVATE=outside-value timeout 200 sh -c 'echo $$ >../pid; exec sleep 180' shown-argument 3>&- &
	wait_for 60 test -s ../pid
	wait_for 60 grep -qx sleep "/proc/$(cat ../pid)/comm"
	cat >look.py <<-'END'
		import os, resource, signal, sys
		pid = int(sys.argv[1])
		proc = '/proc/.shared/%d' % pid
		def refused(what, act):
		    try:
		        act()
		    except OSError:
		        return
		    print('HOLE', what)
		print('seen', open(proc + '/comm').read().strip())
		for name in 'environ', 'mem', 'maps', 'root/.', 'cwd/.', 'fd/0', 'ns/net':
		    refused(name, lambda: os.open(proc + '/' + name, os.O_RDONLY))
		for name in 'oom_score_adj', 'autogroup', 'coredump_filter', 'comm', 'timerslack_ns':
		    refused(name, lambda: os.open(proc + '/' + name, os.O_WRONLY))
		refused('oom of its own', lambda: open('/proc/self/oom_score_adj', 'w'))
		refused('sys', lambda: open('/proc/sys/kernel/ns_last_pid', 'w'))
		# Numbers of the host mean nothing here, unless the box has such a process itself.
		if pid > 1000:
		    refused('kill', lambda: os.kill(pid, 0))
		    refused('prlimit', lambda: resource.prlimit(pid, resource.RLIMIT_CPU))
		    refused('priority', lambda: os.setpriority(os.PRIO_PROCESS, pid, 5))
		# And the same with a process of the box.
		child = os.fork()
		if child == 0:
		    signal.pause()
		resource.prlimit(child, resource.RLIMIT_CPU)
		os.setpriority(os.PRIO_PROCESS, child, 5)
		os.kill(child, signal.SIGKILL)
		print('ended', os.WTERMSIG(os.waitpid(child, 0)[1]))
		print('own', os.readlink('/proc/self/exe') != '', 'PATH=' in open('/proc/self/environ').read())
		print('listed', [n for n in os.listdir('/proc') if n.isdigit()])
	END
	agentbox_split run --engine shared-proc -- python3 look.py "$(cat ../pid)"
	[ "$status" -eq 0 ]
	[ "$output" = "seen sleep
ended 9
own True True
listed []" ]
	# Tools that look for processes end nobody, neither outside nor inside.
	agentbox run --engine shared-proc -- sh -c 'sleep 100 >/dev/null 2>&1 & pkill sleep; kill -0 $! && echo alive'
	[[ "$output" == *alive ]]
	kill -0 "$(cat ../pid)"
	kill "$(cat ../pid)"
}

@test "engines: programs are judged through a shared /proc, and links of the host lead nowhere" {
	mkdir -p "$HOME/.config/agentbox"
	echo '{ "commands": { "enforce": "children" } }' >"$HOME/.config/agentbox/config.json"
	printf '#!/bin/sh\ntouch ran\n' >rm
	chmod +x rm
	cat >job.py <<-'END'
		import os, sys
		def attempt(path, *argv):
		    pid = os.fork()
		    if pid == 0:
		        try:
		            os.execv(path, argv)
		        except OSError as e:
		            os._exit(e.errno)
		    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
		fd = os.open('rm', os.O_RDONLY)
		os.dup2(fd, 9)
		host = '/proc/.shared/' + sys.argv[1]
		print(attempt('/proc/self/fd/9', 'ls', '-rf', '/'), attempt('/dev/fd/9', 'ls', '-rf', '/'),
		      attempt('/proc/thread-self/cwd/rm', 'ls', '-rf', '/'),
		      attempt(host + '/root/bin/true', 'true'), attempt(host + '/exe', 'true'),
		      attempt('/proc/self/exe', 'python3', '-c', 'raise SystemExit(7)'))
	END
	agentbox_split run --engine shared-proc -- python3 job.py "$$"
	[ "$output" = "1 1 1 13 13 7" ]
	[ ! -e ran ]
	[[ "$stderr" == *"3 programs were denied"* ]]
	# The same is allowed if the rule does not apply.
	agentbox run --engine shared-proc -- python3 -c 'import os; os.execv("/proc/self/exe", ["python3", "-c", "print(5)"])'
	[ "$output" = 5 ]
}

@test "engines: a shared /proc in a box that stays, nested, and with what stays behind" {
	agentbox run --engine shared-proc --keep --name stays -- sh -c 'sleep 100 >/dev/null 2>&1 & echo first'
	[ "$status" -eq 0 ]
	agentbox run -v --in stays -- sh -c 'kill -0 1 2>/dev/null; echo second'
	[ "$status" -eq 0 ]
	[[ "$output" == *second* ]]
	agentbox stop stays
	[ "$status" -eq 0 ]
	agentbox run --engine shared-proc -- "$AGENTBOX" run --read-only -- sh -c 'touch made; echo inner'
	[[ "$output" == *inner* ]]
	[ ! -e made ]
	# The teardown of each test looks for processes that are left.
	agentbox run --engine shared-proc -- sh -c '
		setsid sleep 100 >/dev/null 2>&1 &
		setsid sh -c "sleep 100 & sleep 100" >/dev/null 2>&1 &'
	[ "$status" -eq 0 ]
}

@test "engines: with a shared /proc the limit of processes is told, and only the box's own count" {
	only_user
	local many='for i in 1 2 3 4 5 6 7 8 9; do sleep 300 & done; exit 3'
	agentbox_split run --engine shared-proc --processes 5 -- sh -c "$many"
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"agentbox: the limit of 5 processes was reached"* ]]
	agentbox_split run --engine shared-proc --processes 14 -- sh -c "$many"
	[ "$status" -eq 3 ]
	[ -z "$stderr" ]
}

@test "engines: a container with Podman's default options gets shared-proc, root and user" {
	local user
	for user in 0 1000; do
		container --user "$user" '
			echo "touch made; touch /work/bad /opt/bad" >write
			/agentbox run -- sh write 2>&1
			ls made; ls -d /work/bad /opt/bad
			/agentbox run -- true
			/agentbox run -v --result ../r -- true 2>&1
			cat ../r
			PRIVATE=outside sleep 100 & p=$!
			echo "cat /proc/.shared/$p/comm /proc/.shared/$p/environ" >look
			/agentbox run -- sh look 2>&1'
		# What it lacks, and what would help, is said once.
		[ "$(grep -c 'for a full box, start the container' <<<"$output")" -eq 1 ]
		[[ "$output" == *"$UNMASK"* ]]
		grep -qx made <<<"$output"
		! grep -qxE '/(work|opt)/bad' <<<"$output" || false
		[[ "$output" == *", engine shared-proc, guarantees in force: user-ns pid-fence net-fence"* ]]
		[[ "$output" == *'"engine":"shared-proc"'*'"missing":["pid-view"]'* ]]
		[[ "$output" == *sleep*"environ: Permission denied"* ]]
	done
}

@test "engines: in a container connections are confined as elsewhere" {
	container --user 1000 '
		python3 -m http.server --bind 127.0.0.1 8000 >/dev/null 2>&1 &
		for i in $(seq 300); do curl -s -o ../page 127.0.0.1:8000 && break; sleep 0.1; done
		get="curl -s -o page -w %{http_code} --noproxy localhost,127.0.0.1 --max-time 60"
		echo outside $($get http://127.0.0.1:8000/)
		echo closed $(/agentbox run -- $get http://127.0.0.1:8000/ 2>../err)
		echo open $(/agentbox run --host-port 8000 -- $get http://127.0.0.1:8000/ 2>../err)
		echo denied $(/agentbox run --unknown deny -- $get http://x.example/ 2>../err)'
	[[ "$output" == *"outside 200
closed 000
open 200
denied 403"* ]]
}

@test "engines: without namespaces, in a container like Docker's, connections are confined by the guard" {
	local user
	for user in 0 1000; do
		container --user "$user" --security-opt "seccomp=$ROOT/test/data/docker-like-seccomp.json" '
			python3 -m http.server --bind 127.0.0.1 8000 >/dev/null 2>&1 &
			for i in $(seq 300); do curl -s -o ../page 127.0.0.1:8000 && break; sleep 0.1; done
			get="curl -s -o page -w %{http_code} --noproxy localhost,127.0.0.1 --max-time 60"
			/agentbox run -v -- true 2>&1 | grep guarantees
			echo outside $($get http://127.0.0.1:8000/)
			echo closed $(/agentbox run -- $get http://127.0.0.1:8000/ 2>../err)
			echo open $(/agentbox run --host-port 8000 -- $get http://127.0.0.1:8000/ 2>../err)
			echo denied $(/agentbox run --unknown deny -- $get http://x.example/ 2>../err)
			grep -c "x.example.*not on the allow list" ../err
			/agentbox run --unknown deny -- getent hosts x.example 2>../err
			grep -c "x.example.*not on the allow list" ../err
			/agentbox run -- python3 -c "
import socket
l = socket.create_server((\"\", 0))
c = socket.create_connection(l.getsockname())
l.accept()[0].send(b\"own\")
print(c.recv(9).decode())
a, b = socket.socketpair()
print(socket.send_fds(a, [b\"passed\"], [0]), len(socket.recv_fds(b, 9, 1)[1]))
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
print(u.connect_ex((\"192.0.2.1\", 443)))
try: print(u.send(b\"x\"))
except OSError as e: print(e.strerror)" 2>../err'
		[[ "$output" == *"engine no-namespaces, guarantees in force: "*net-fence*dns-fence* ]]
		[[ "$output" == *"outside 200
closed 000
open 200
denied 403
1
1
own
6 1
0
Network is unreachable"* ]]
	done
}

@test "engines: doctor in a container ends with the option that gives a better engine" {
	container --user 1000 '/agentbox doctor; echo "status $?"; /agentbox doctor --json >../d
		jq -c "[.engine, .better != null, .ok]" ../d'
	[[ "$output" == *"warn  fresh /proc "*"shared-proc"* ]]
	[[ "$output" == *"for a better engine, start the container with unmasked system paths:  $UNMASK
status 0
"* ]]
	[[ "$output" == *'["shared-proc",true,true]'* ]]
	# With that option nothing is left to say.
	container --user 1000 $UNMASK '/agentbox run -v -- true 2>&1; /agentbox doctor; echo "status $?"'
	[[ "$output" == *", engine full,"* ]]
	[[ "$output" != *"better engine"* ]]
	[[ "$output" == *"this machine can run every profile
status 0"* ]]
}

# What a box without namespaces does, in files of the project: write.sh, look.py and others.
without_namespaces()
{
	cat >write.sh <<-'END'
		touch made "$TMPDIR/made" && echo "wrote in $TMPDIR"
		touch ../outside /tmp/outside.$$ /opt/outside 2>/dev/null && echo HOLE write
		chmod 640 made && stat -c %a made
		chmod 640 ../file 2>/dev/null && echo HOLE mode
		touch ../file 2>/dev/null && echo HOLE times
		cat "$HOME/.ssh/id_rsa" 2>/dev/null && echo HOLE read
		cat "$HOME/.ssh/known_hosts"
		cat <../file
	END
	cat >peers.py <<-'END'
		import os, resource, signal, sys
		def attempt(act):
		    try:
		        act()
		    except OSError:
		        return 'no'
		    return 'yes'
		child = os.fork()
		if child == 0:
		    signal.pause()
		# A process outside, init and a process of the box.
		for pid in int(sys.argv[1]), os.getppid(), child:
		    proc = '/proc/%d/' % pid
		    print(attempt(lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (9999, 9999))),
		          attempt(lambda: os.setpriority(os.PRIO_PROCESS, pid, 15)),
		          attempt(lambda: os.sched_setaffinity(pid, os.sched_getaffinity(0))),
		          attempt(lambda: os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0))),
		          attempt(lambda: open(proc + 'environ').read()),
		          attempt(lambda: os.kill(pid, signal.SIGKILL)))
		print(attempt(lambda: os.setpriority(os.PRIO_USER, os.getuid(), 15)),
		      attempt(lambda: open('/proc/%s/oom_score_adj' % sys.argv[1], 'w')))
	END
}

@test "engines: without namespaces only the project and TMPDIR can be changed" {
	without_namespaces
	mkdir -p "$HOME/.ssh"
	echo key >"$HOME/.ssh/id_rsa"
	echo hosts >"$HOME/.ssh/known_hosts"
	echo content >../file
	chmod 604 ../file
	agentbox_split run --engine no-namespaces --net blocked -- sh write.sh
	[ "$status" -eq 0 ]
	[ "$(sed 1d <<<"$output")" = "640
hosts
content" ]
	[[ "${lines[0]}" == "wrote in /tmp/agentbox."* ]]
	[ ! -e "${lines[0]#wrote in }" ]
	[ -e made ]
	[ ! -e ../outside ]
	[ "$(stat -c %a ../file)" = 604 ]
	# Denied writes are told as elsewhere.
	[[ "$stderr" == *"write $(realpath ..)/outside"* ]]
}

@test "engines: without namespaces files are renamed and linked between writable folders, and not out of them" {
	mkdir one two ../outside
	touch ../outside/file
	cat >move.py <<-'END'
		import errno, os, sys
		def attempt(act, *names):
		    try:
		        act(*names)
		        return 'yes'
		    except OSError as e:
		        return errno.errorcode[e.errno]
		for top in '.', os.environ['TMPDIR']:
		    os.chdir(top)
		    for name in 'a', 'b', 'a/sub':
		        os.mkdir(name)
		    open('a/file', 'w').close()
		    print(attempt(os.rename, 'a/file', 'b/file'), attempt(os.link, 'b/file', 'a/link'),
		          attempt(os.rename, 'a/sub', 'b/sub'), attempt(os.replace, 'a/link', 'b/file'),
		          attempt(os.rename, 'b', 'a/b'))
		    open('out', 'w').close()
		    # Neither out of the writable folders nor into them.
		    for act, names in ((os.rename, ('out', sys.argv[1] + '/out')), (os.link, ('out', sys.argv[1] + '/out')),
		                       (os.rename, ('a', sys.argv[1] + '/a')), (os.rename, (sys.argv[1] + '/file', 'in')),
		                       (os.link, (sys.argv[1] + '/file', 'in'))):
		        if attempt(act, *names) == 'yes':
		            print('HOLE', act.__name__, *names)
	END
	agentbox_split run --engine no-namespaces -- python3 move.py "$(realpath ../outside)"
	[ "$status" -eq 0 ]
	[ "$output" = "yes yes yes yes yes
yes yes yes yes yes" ]
	[ "$(ls ../outside)" = file ]
}

@test "engines: without namespaces a hidden file is hidden under each of its names, or it is said" {
	mkdir ../backup
	echo hunter2word >"$HOME/.netrc"
	echo plain >../plain
	ln ../plain ../backup/plain
	ln "$HOME/.netrc" ../backup/netrc
	agentbox run -v --engine no-namespaces --net blocked -- cat "$HOME/.netrc" ../backup/netrc ../backup/plain
	[[ "$output" == *" read-deny "* && "$output" == *plain* && "$output" != *hunter2* ]]
	# In a writable folder, or where it was not found, it can be read.
	ln "$HOME/.netrc" copy
	agentbox run --engine no-namespaces --net blocked -- cat copy
	[[ "$output" == *"not in force: "*"read-deny (readable: $PWD/copy)"* ]]
	mv copy "$TEST_DIR/copy"
	agentbox run --engine no-namespaces --net blocked -- cat "$TEST_DIR/copy"
	[[ "$output" == *"not in force: "*"read-deny (readable under another name: $HOME/.netrc)"* ]]
}

@test "engines: without namespaces npm packs and installs a local package" {
	need program:npm
	local engine
	mkdir package
	echo '{ "name": "left", "version": "1.0.0", "main": "left.js" }' >package/package.json
	echo 'module.exports = "installed"' >package/left.js
	for engine in no-namespaces full; do
		mkdir "$engine"
		cd "$engine"
		echo '{ "name": "app", "version": "1.0.0" }' >package.json
		# Its cache is renamed and linked into place.
		agentbox run --engine "$engine" --net blocked -- sh -c '
			npm pack --silent ../package && npm install --offline --no-audit --no-fund ./left-1.0.0.tgz &&
			npm cache verify && node -p "require(\"left\")"'
		[ "$status" -eq 0 ]
		[ "${lines[-1]}" = installed ]
		cd ..
	done
}

@test "engines: without namespaces a host's socket in the project stays closed under another name" {
	cat >../serve.py <<-'END'
	import socket, sys
	s = socket.socket(socket.AF_UNIX)
	s.bind(sys.argv[1])
	s.listen()
	print("ready", flush=True)
	while s.accept():
	    print("GOT ONE", flush=True)
	END
	cat >try.py <<-'END'
	import os, socket, sys
	def reach(path):
	    try:
	        socket.socket(socket.AF_UNIX).connect(path)
	        print(path, "reached")
	    except OSError as e:
	        print(path, e.strerror)
	reach("host")
	os.rename("host", "moved")
	reach("moved")
	os.link("moved", "linked")
	reach("./linked")
	own = socket.socket(socket.AF_UNIX)
	own.bind("own")
	own.listen()
	reach("own")
	END
	python3 ../serve.py "$PWD/host" >../served 3>&- &
	server=$!
	wait_for 60 grep -q ready ../served
	agentbox_split run --engine no-namespaces -- python3 try.py
	kill "$server"
	wait "$server" || :
	[ "$status" -eq 0 ]
	[ "$output" = "host Permission denied
moved Permission denied
./linked Permission denied
own reached" ]
	[ "$(cat ../served)" = ready ]
}

@test "engines: without namespaces settings with a login in them are hidden, and that is told" {
	mkdir -p "$HOME/.config/pip"
	printf '[global]\nindex-url = https://joe:hunter2@pypi.test/simple\n' >"$HOME/.config/pip/pip.conf"
	agentbox run --engine no-namespaces --net blocked -- cat "$HOME/.config/pip/pip.conf"
	[ "$status" -eq 1 ]
	[[ "$output" == *"pip.conf has more in it than the box may see, so it is hidden"* && "$output" != *hunter2* ]]
	printf '[global]\nindex-url = https://pypi.test/simple\n' >"$HOME/.config/pip/pip.conf"
	agentbox run --engine no-namespaces --net blocked -- cat "$HOME/.config/pip/pip.conf"
	[ "$status" -eq 0 ]
	[[ "$output" == *"https://pypi.test/simple"* && "$output" != *"has more in it"* ]]
}

@test "engines: without namespaces processes outside cannot be changed, and all of the box ends" {
	without_namespaces
	timeout 200 sh -c 'echo $$ >../pid; exec sleep 180' 3>&- &
	wait_for 60 test -s ../pid
	agentbox_split run --engine no-namespaces -- python3 peers.py "$(cat ../pid)"
	[ "$output" = "no no no no no no
no no no no no no
yes yes yes yes yes yes
no no" ]
	kill "$(cat ../pid)"
	# A fork bomb of sessions of their own ends with the box, at its limit of processes. The
	# teardown of each test looks for processes that are left.
	mkdir -p "$HOME/.config/agentbox"
	echo '{ "limits": { "processes": 60 } }' >"$HOME/.config/agentbox/config.json"
	cat >bomb.py <<-'END'
		import os, sys, time
		end = time.time() + 120
		most = 0
		if os.fork() == 0:
		    while time.time() < end:
		        try:
		            if os.fork() == 0:
		                os.setsid()
		        except OSError:
		            open('full', 'w')
		while not os.path.exists('full') and time.time() < end:
		    time.sleep(0.05)
		print('limited', os.path.exists('full'))
	END
	# The kernel does not limit root's processes.
	[ "$(id -u)" -eq 0 ] || {
		agentbox run --engine no-namespaces -- timeout 100 python3 bomb.py
		[ "${lines[-1]}" = "limited True" ]
	}
	agentbox run --engine no-namespaces -- sh -c '
		setsid sleep 100 >/dev/null 2>&1 &
		setsid sh -c "sleep 100 & sleep 100" >/dev/null 2>&1 &'
	[ "$status" -eq 0 ]
}

@test "engines: without namespaces names of hidden files and of processes outside are seen, and no contents" {
	local engine outside

	need userns
	mkdir "$HOME/closed"
	echo a-key >"$HOME/closed/id_of_mine"
	env SECRET_OF_IT=a-variable sleep 300 </dev/null >/dev/null 2>&1 3>&- &
	outside=$!
	wait_for 60 grep -qx sleep "/proc/$outside/comm"
	for engine in full no-namespaces; do
		agentbox run --yes --engine "$engine" --deny-read "$HOME/closed" -- sh -c 'ls ~/closed
			cat ~/closed/*
			echo "outside: $(cat "/proc/$1/comm")"
			tr "\\0" "\\n" <"/proc/$1/environ"
			unshare --user true && echo "a namespace"; echo mine >work' sh "$outside"
		# What neither shows.
		[[ "$output" != *a-key* && "$output" != *a-variable* && "$output" != *"a namespace"* ]]
		[ "$(cat work)" = mine ]
		if [ "$engine" = full ]; then
			[[ "$output" != *id_of_mine$'\n'* && "$output" != *"outside: sleep"* ]]
		else
			[[ "$output" == *id_of_mine$'\n'*"outside: sleep"* ]]
		fi
	done
	kill "$outside"
}

@test "engines: without namespaces the missing guarantees are told, and required ones stop the run" {
	agentbox run -v --engine no-namespaces --result "$TEST_DIR/result.json" -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *", engine no-namespaces, guarantees in force: "*write-fence* ]]
	assurance '.engine == "no-namespaces"'
	assurance '.missing == ["user-ns", "pid-view", "protected-names"]'
	assurance '.holds | index("pid-fence") != null and index("user-ns") == null'
	agentbox log
	[[ "$output" == *"engine no-namespaces"* && "$output" == *"missing user-ns"* ]]
	local option
	for option in "--require protected-names" "--profile ci" "--fallback strict" --review --keep; do
		agentbox run --engine no-namespaces $option -- touch made
		[ "$status" -eq 125 ]
		[[ "$output" == *"for another engine: use --engine auto"* ]]
		[ ! -e made ]
	done
	agentbox run --engine no-namespaces --require protected-names --fallback warn -- touch made
	[ "$status" -eq 0 ]
	[ -e made ]
	# A box in it can only tighten.
	agentbox run --engine no-namespaces -- "$AGENTBOX" run --read-only -- sh -c 'touch bad; echo inner'
	[[ "$output" == *inner* ]]
	[ ! -e bad ]
}

@test "engines: without user namespaces a run starts, and the sysctl is named" {
	need userns
	cat >start.sh <<-'END'
		echo 0 >/proc/sys/user/max_user_namespaces || exit 77
		"$AGENTBOX" run -- sh -c 'touch made; touch ../outside'
		"$AGENTBOX" run --engine full -- true
		echo "status $?"
	END
	AGENTBOX=$AGENTBOX run timeout 100 unshare -Ur sh start.sh
	[ "$status" -ne 77 ] || lacks "/proc/sys/user is read-only here"
	[[ "$output" == *"engine no-namespaces: "*"sysctl user.max_user_namespaces=15000"*"status 125" ]]
	[ -e made ]
	[ ! -e ../outside ]
}

@test "engines: a filter like Docker's gets no-namespaces, and the option that opens it" {
	local user docker="--security-opt seccomp=$ROOT/test/data/docker-like-seccomp.json"
	for user in 0 1000; do
		container --user "$user" $docker '
			echo "touch made; touch /work/bad /opt/bad; echo \$TMPDIR" >write
			/agentbox run -- sh write 2>&1
			ls made; ls -d /work/bad /opt/bad /tmp/agentbox.*
			/agentbox run -- true
			/agentbox run -v --result ../r -- true 2>&1
			cat ../r
			/agentbox run --require user-ns -- touch stopped 2>&1; echo "status $?"
			ls
			mkdir p; echo "{ \"name\": \"left\", \"version\": \"1.0.0\" }" >p/package.json
			/agentbox run -- sh -c "npm pack --silent ./p && npm install --offline --no-audit --no-fund ./left-1.0.0.tgz" 2>&1
			ls node_modules/left/package.json
			/agentbox doctor | tail -n 2'
		[ "$(grep -c 'for a full box: a system call filter forbids' <<<"$output")" -eq 1 ]
		grep -qx made <<<"$output"
		! grep -qxE '/(work|opt)/bad|stopped' <<<"$output" || false
		grep -qx node_modules/left/package.json <<<"$output"
		[ "$(grep -c '^/tmp/agentbox\.' <<<"$output")" -eq 1 ]
		[[ "$output" == *", engine no-namespaces, guarantees in force: pid-fence net-fence"* ]]
		[[ "$output" == *'"engine":"no-namespaces"'*'"missing":["user-ns","pid-view","protected-names"]'* ]]
		[[ "$output" == *"missing guarantees: user-ns"*"--security-opt seccomp=unconfined"*"status 125"* ]]
		[[ "${lines[-2]}" == "this machine cannot run these profiles: ci "* ]]
		[[ "${lines[-1]}" == "for a better engine, start the container with "*"seccomp=unconfined" ]]
	done
	container --user 1000 --security-opt seccomp=unconfined '/agentbox run -v -- true 2>&1'
	[[ "$output" == *", engine shared-proc,"* ]]
	container --user 1000 $docker '/agentbox doctor --attack; echo "status $?"'
	[[ "${lines[-1]}" == "status 0" ]]
	[[ "$output" == *"  open       see a process of the host "* ]]
	[[ "$output" == *"attempts, all stopped; "*" worked, as this engine says"* ]]
}

@test "engines: root without capabilities gets its own remedy" {
	container --cap-drop all '/agentbox run -v -- true 2>&1; echo "status $?"; /agentbox doctor | tail -n 1'
	[[ "$output" == *", engine no-namespaces,"*"status 0"* ]]
	[[ "$output" == *"--cap-add SETFCAP"* ]]
	[[ "$output" != *AppArmor* ]]
	[[ "${lines[-1]}" == "for a better engine, "*"--cap-add SETFCAP" ]]
	container --cap-drop all --cap-add SETFCAP '/agentbox run -v -- true 2>&1'
	[[ "$output" == *", engine shared-proc,"* ]]
	container --cap-drop all --user 1000 '/agentbox run -v -- true 2>&1'
	[[ "$output" == *", engine shared-proc,"* ]]
	# A weaker engine is refused if a full one is demanded.
	container --user 1000 '/agentbox run --engine full -- true 2>&1; echo "status $?"'
	[[ "$output" == *"$UNMASK"*"--engine auto"*"status 125"* ]]
}

@test "engines: an attack in a container succeeds nowhere but where the engine says so" {
	container --user 1000 '/agentbox doctor --attack; echo "status $?"'
	[[ "${lines[-1]}" == "status 0" ]]
	[ "$(grep -c '^  open ' <<<"$output")" -eq 1 ]
	[[ "$output" == *"  open       see a process of the host "* ]]
	[[ "$output" == *"attempts, all stopped; 1 worked, as this engine says"* ]]
}

@test "engines: rootless Podman gets shared-proc, with more identities and without" {
	local IDENTITIES
	for IDENTITIES in '' yes; do
		rootless 'id -u; wc -l </proc/self/uid_map
			echo "touch made; touch /work/bad" >write
			/agentbox run --result ../r -- sh write 2>&1
			ls made; ls -d /work/bad
			jq -c "[.assurance.engine, .assurance.missing]" ../r
			/agentbox run -- /agentbox run --read-only -- sh -c "touch inner; echo nested" 2>&1; ls inner
			/agentbox doctor | tail -n 1'
		[[ "$output" == *"
0
$((1 + ${#IDENTITIES} / 3))
"* ]]
		grep -qx made <<<"$output"
		grep -qx nested <<<"$output"
		! grep -qxE '/work/bad|inner' <<<"$output" || false
		[[ "$output" == *'["shared-proc",["pid-view"]]'* ]]
		[[ "${lines[-1]}" == *" with unmasked system paths:  $UNMASK" ]]
		rootless $UNMASK '/agentbox run -v -- true 2>&1'
		[[ "$output" == *", engine full,"* ]]
	done
	rootless --user 1000 'id -u; /agentbox run -v -- true 2>&1'
	[[ "$output" == *1000*", engine shared-proc,"* ]]
	rootless --cap-drop all '/agentbox run -v -- true 2>&1; echo "status $?"'
	[[ "$output" == *"--cap-add SETFCAP"*", engine no-namespaces,"*"status 0"* ]]
	[[ "$output" != *AppArmor* ]]
}

@test "engines: a container whose root folder is read-only needs a place for the state only" {
	local user
	for user in 0 1000; do
		# Podman passes on what comes through two streams in any order.
		container --user "$user" --read-only --tmpfs /work:mode=1777 'exec 2>&1
			/agentbox run -v -- sh -c "touch made /work/bad"; ls made; ls -d /work/bad
			touch /etc/x; /agentbox doctor | tail -n 1'
		[[ "$output" == *", engine shared-proc,"* ]]
		grep -qx made <<<"$output"
		! grep -qx /work/bad <<<"$output" || false
		[[ "$output" == *"/etc/x"*"Read-only file system"* ]]
		[[ "${lines[-1]}" == *" with unmasked system paths:  $UNMASK" ]]
	done
	# Doctor knows such a container, and does not blame it for the folder.
	container --read-only --tmpfs /work:mode=1777 '/agentbox doctor'
	[[ "$output" == *"inside a container (Podman)"* ]]
	container --read-only 'cd /tmp; HOME=/root AGENTBOX_STATE=/root/state /agentbox doctor'
	[[ "$output" == *"inside a container"*"cannot run any profile"*state* && "$output" != *"unmasked system paths: "* ]]
	# Without any place for it the run says which one it needs.
	container --read-only 'cd /tmp; HOME=/root AGENTBOX_STATE=/root/state /agentbox run --workspace /tmp -- true 2>&1
		echo "status $?"'
	[[ "$output" == *"/root/state"*"AGENTBOX_STATE"*"status 125"* ]]
}

@test "engines: without user namespaces the run names the setting, whatever engine with them is demanded" {
	need userns
	local engine
	for engine in full shared-proc; do
		run unshare --user --map-current-user --keep-caps sh -c '
			echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' sh \
			"$AGENTBOX" run --engine "$engine" -- touch made
		echo "$output"
		[ "$status" -eq 125 ]
		[[ "$output" == *"sysctl user.max_user_namespaces="* ]]
		[ ! -e made ]
	done
	run unshare --user --map-current-user --keep-caps sh -c '
		echo 100 >/proc/sys/user/max_user_namespaces && exec "$@"' sh "$AGENTBOX" run -- touch made
	[ "$status" -eq 0 ]
	[ -e made ]
}
