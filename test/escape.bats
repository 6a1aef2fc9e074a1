# shared-proc: every wall must hold, or be reported as missing
# no-namespaces: the same
# One attempt for each known escape from a box, together with what must work, so
# that refusing everything fails too. Protected names are in protected.bats, the
# view of the files in files.bats.
#
# A script prints HOLE where it got through.
# root: root passes the checks of the kernel that stop others
# shared-proc-root: what that engine shares is more dangerous for root
# asan-root: what root does differs
UNJUDGED=1
load helpers
load attack/attack

setup_file()
{
	attack_build kernel sockets peer process files
}

teardown_file()
{
	attack_clean
}

teardown()
{
	stop_peers
	box_teardown
}

# ---------------------------------------------------------------- syscalls

@test "calls for administrators are refused, ordinary ones work" {
	agentbox_split run -- "$ATTACK/kernel"
	[ "$status" -eq 0 ]
	[ "$(grep -c ': EPERM$' <<<"$output")" -eq 53 ]
	# clone3 is missing rather than forbidden: libc then uses clone.
	output=$(grep -v ': EPERM$' <<<"$output")
	expect <"$ROOT/test/attack/kernel.expected"
}

@test "only ordinary kinds of sockets can be made" {
	local datagrams=EACCES
	# The kernel judges where they go.
	if have_landlock 9; then
		datagrams=ok
	fi
	agentbox_split run -- "$ATTACK/sockets"
	[ "$status" -eq 0 ]
	expect < <(sed "s/@datagrams@/$datagrams/" "$ROOT/test/attack/sockets.expected")
}

@test "the kinds of sockets are the same on the host's network" {
	agentbox run --profile development -- "$ATTACK/sockets"
	[ "$status" -eq 0 ]
	grep -qx 'packet: EAFNOSUPPORT' <<<"$output"
	grep -qx 'raw4: EPERM' <<<"$output"
	grep -qx 'mptcp: EPROTONOSUPPORT' <<<"$output"
	grep -qx 'add-route: EPERM' <<<"$output"
	grep -qx 'own-tcp: ok' <<<"$output"
}

# ------------------------------------------------------- mounts, namespaces

@test "the programs that mount and unshare get nowhere" {
	agentbox_split run -- sh -c '
		mount -t tmpfs x /mnt && echo HOLE
		mount --bind /usr . && echo HOLE
		mount -o remount,rw / && echo HOLE
		umount -l /proc && echo HOLE
		unshare --user --map-root-user true && echo HOLE
		unshare --mount true && echo HOLE
		chroot . /bin/true && echo HOLE
		for who in 1 self; do nsenter --mount=/proc/$who/ns/mnt true && echo HOLE; done
		mkdir folder && mv folder other && echo fine'
	[ "$status" -eq 0 ]
	no_hole
	[[ "$output" == *fine ]]
}

@test "no capability is left, and none comes back with exec" {
	agentbox run -- sh -c 'grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status'
	[ "$status" -eq 0 ]
	# Only who has a capability can give up that bound; no program can pass no-new-privs.
	claims user-ns || output=$(sed 's/^CapBnd:.*/CapBnd:	0000000000000000/' <<<"$output")
	expect <<-END
	CapInh:	0000000000000000
	CapPrm:	0000000000000000
	CapEff:	0000000000000000
	CapBnd:	0000000000000000
	CapAmb:	0000000000000000
	NoNewPrivs:	1
	Seccomp:	2
	END
}

@test "the limit that forbids user namespaces cannot be raised again" {
	agentbox run -- sh -c 'cat /proc/sys/user/max_user_namespaces
		echo 100 >/proc/sys/user/max_user_namespaces'
	[ "$status" -ne 0 ]
	if claims user-ns; then
		[ "${lines[0]}" = 0 ]
		[[ "${lines[1]}" == *"Read-only file system"* ]]
	else
		[[ "${lines[1]}" == *"Permission denied"* ]]
	fi
}

# ------------------------------------------------------------ /proc, /sys

@test "init cannot be looked into, a process of one's own can" {
	# An engine that shares /proc has its processes in a folder of it, where init has
	# another number.
	agentbox run -- sh -c '
		proc=/proc; [ ! -d /proc/.shared ] || proc=/proc/.shared
		while read -r key value; do
			[ "$key" != PPid: ] || init=$proc/$value
		done </proc/self/status
		cat $init/comm
		for what in root cwd exe; do
			readlink $init/$what && echo "HOLE $what"
		done
		for what in mem environ maps auxv; do
			head -c 1 $init/$what | grep -q . && echo "HOLE $what"
		done
		for what in fd/0 root/ cwd/; do
			ls $init/$what && echo "HOLE $what"
		done
		readlink /proc/self/root
		cat /proc/self/environ | tr "\0" "\n" | grep -c ^HOME='
	[ "$status" -eq 0 ]
	no_hole
	[ "${lines[0]}" = agentbox-init ]
	[ "${lines[-2]}" = / ]
	[ "${lines[-1]}" = 1 ]
}

@test "init cannot be traced, taken from or killed; a child can" {
	agentbox run -- sh -c "
		'$ATTACK/process' attach 1
		'$ATTACK/process' memory 1
		'$ATTACK/process' take-fd 1 0
		for n in 9 15 19 18 2 1; do '$ATTACK/process' signal 1 \$n; done
		echo still here
		'$ATTACK/process'"
	[ "$status" -eq 0 ]
	expect <<-END
	attach: EPERM
	memory: EPERM
	take-fd: EPERM
	signal: EPERM
	signal: EPERM
	signal: EPERM
	signal: EPERM
	signal: EPERM
	signal: EPERM
	still here
	attach: ok
	memory: ok
	take-fd: ok
	signal: ok
	END
}

@test "debuggers work on their own children" {
	need program:strace
	need program:gdb
	agentbox run -- strace -f -e trace=openat -o trace sh -c 'exit 3'
	[ "$status" -eq 3 ]
	grep -q openat trace
	agentbox run -- gdb -nx -batch -ex 'catch exec' -ex run -ex 'info inferiors' --args sh -c 'exec true'
	[ "$status" -eq 0 ]
	[[ "$output" == *Catchpoint* ]]
}

@test "the system's switches in /proc can be read and not moved" {
	local switches="kernel/core_pattern kernel/hostname vm/overcommit_memory
		kernel/pid_max kernel/yama/ptrace_scope fs/file-max net/ipv4/ip_forward"
	local before after
	before=$(cd /proc/sys && cat $switches 2>/dev/null || true)
	agentbox run -- sh -c '
		cat /proc/sys/kernel/ostype
		for f in '"$(echo $switches)"'; do
			[ -e /proc/sys/$f ] || continue
			echo 1 >/proc/sys/$f && echo "HOLE $f"
			chmod 777 /proc/sys/$f && echo "HOLE $f"
		done
		for f in /proc/sysrq-trigger /proc/irq/default_smp_affinity /proc/mtrr; do
			[ -e $f ] || continue
			echo h >$f && echo "HOLE $f"
		done'
	[ "${lines[0]}" = Linux ]
	no_hole
	after=$(cd /proc/sys && cat $switches 2>/dev/null || true)
	[ "$before" = "$after" ]
}

# Not every time: whoever writes to a terminal changes that of /dev/tty.
outside_modes()
{
	stat -c '%n %a %u %g' /dev/null /dev/zero /dev/full /dev/tty /dev/urandom
	stat -c '%n %Y' /dev/zero
	stat -c '%n %a' /proc/version /proc/devices /proc/meminfo
}

@test "nothing in /proc and /dev changes its mode, not even for root" {
	local before after
	before=$(outside_modes)
	agentbox run -- sh -c '
		chmod 600 /dev/null && echo HOLE
		chmod 600 /dev/full && echo HOLE
		touch -d @0 /dev/zero && echo HOLE
		chown "$(id -u)" /dev/tty && echo HOLE
		mv /dev/null /dev/none && echo HOLE
		rm -f /dev/zero && echo HOLE
		chmod 400 /proc/version && echo HOLE
		chmod 400 /proc/devices && echo HOLE
		chmod 400 /proc/meminfo && echo HOLE
		echo into >/dev/null && head -c 3 /dev/zero | wc -c'
	[ "$status" -eq 0 ]
	no_hole
	unsaid
	[ "${lines[-1]}" = 3 ]
	after=$(outside_modes)
	[ "$before" = "$after" ]
	# What another box sees is made anew from the kernel's own record.
	agentbox run -- stat -L -c %a /proc/version /proc/devices /proc/meminfo
	expect <<-END
	444
	444
	444
	END
}

@test "kernel memory, keys and timers are hidden" {
	agentbox run -- sh -c '
		for f in kcore keys timer_list sched_debug kmsg; do
			[ -e /proc/$f ] || continue
			head -c 1 /proc/$f | grep -q . && echo "HOLE $f"
		done
		head -c 5 /proc/meminfo'
	no_hole
	[ "${lines[-1]}" = MemTo ]
}

@test "the machine in /sys is hidden but for its processors" {
	agentbox run -- sh -c '
		ls /sys /sys/fs /sys/class /sys/kernel/debug /sys/firmware
		cat /sys/devices/system/cpu/online
		find /sys -writable ! -type l | grep . && [ "$(id -u)" != 0 ] && echo writable
		true >/sys/x && echo HOLE'
	no_hole
	[[ "$output" != *writable* ]]
	[[ "$output" == *"$(cat /sys/devices/system/cpu/online)"* ]]
	without_namespaces || [[ "$output" != *cgroup* && "$output" != *block* ]]
}

# ------------------------------------------------------------------ terminal

@test "nothing can be typed into a terminal for the next reader" {
	agentbox run -- sh -c '
		for n in TIOCSTI TIOCSTI-high TIOCSTI-top TIOCLINUX TIOCLINUX-high TIOCCONS TIOCSETD window-size; do
			"$1" $n 0
		done' sh "$ATTACK/files" </dev/null
	# The last would be "ok" on a terminal: it reached the kernel.
	expect <<-END
	TIOCSTI: EPERM
	TIOCSTI-high: EPERM
	TIOCSTI-top: EPERM
	TIOCLINUX: EPERM
	TIOCLINUX-high: EPERM
	TIOCCONS: EPERM
	TIOCSETD: EPERM
	window-size: ENOTTY
	END
}

@test "on a terminal the same holds, and the terminal is the box's own" {
	need program:tmux
	tty_run "$AGENTBOX" run -- sh -c '
		"$1" TIOCSTI 0; "$1" TIOCSTI-high 0; "$1" TIOCLINUX 0
		"$1" window-size 0; tty; true </dev/tty && echo opened' sh "$ATTACK/files"
	[ "$status" -eq 0 ]
	# An engine that lacks a guarantee says so there.
	[ -z "${AB_ENGINE:-}" ] || [[ "${output%%$'\n'*}" == "agentbox: engine $AB_ENGINE: without "* ]]
	output=${output#agentbox: engine *$'\n'}
	# The terminal is always one of its own; its number only where it has its own /dev/pts.
	! without_namespaces || output=$(sed 's,^/dev/pts/.*,/dev/pts/0,' <<<"$output")
	expect <<-END
	TIOCSTI: EPERM
	TIOCSTI-high: EPERM
	TIOCLINUX: EPERM
	window-size: ok
	/dev/pts/0
	opened
	END
}

# ------------------------------------------------------------- host sockets

# All ways to a socket at that path. $1 is "stream" or "dgram".
reach()
{
	if [ "$1" = stream ]; then
		agentbox_split run "${@:3}" -- "$ATTACK/sockets" stream "$2"
	else
		agentbox_split run "${@:3}" -- sh -c 'for way in connect sendto sendmsg sendmmsg; do
			"$1" dgram-$way "$2"; done' sh "$ATTACK/sockets" "$2"
	fi
}

@test "a host's stream socket is out of reach, unless it is allowed" {
	local where
	for where in "$HOME/s" "$WORKSPACE/s" "$TEST_DIR/s"; do
		host_peer stream "$where"
		reach stream "$where"
		[ "$output" = "stream: EACCES" ]
		[ "$(heard)" -eq 0 ]
		reach stream "$where" --allow-unix "$where"
		[ "$output" = "stream: ok" ]
		wait_for 90 eval '[ "$(heard)" -eq 1 ]'
	done
}

@test "a host's datagram socket is out of reach by every call, unless it is allowed" {
	local where
	for where in "$HOME/d" "$WORKSPACE/d"; do
		host_peer dgram "$where"
		reach dgram "$where"
		expect <<-END
		dgram-connect: EACCES
		dgram-sendto: EACCES
		dgram-sendmsg: EACCES
		dgram-sendmmsg: EACCES
		END
		[ "$(heard)" -eq 0 ]
		reach dgram "$where" --allow-unix "$where"
		[[ "$output" != *EACCES* ]]
		wait_for 90 eval '[ "$(heard)" -eq 3 ]'
	done
}

@test "a host's socket in a folder that is private does not exist" {
	local dir wall=ENOENT
	! without_namespaces || wall=EACCES
	for dir in /tmp /var/tmp; do
		dir=$(mktemp -d "$dir/agentbox-test.XXXXXX")
		host_peer stream "$dir/s"
		reach stream "$dir/s"
		[ "$output" = "stream: $wall" ]
		[ "$(heard)" -eq 0 ]
		reach stream "$dir/s" --allow-unix "$dir/s"
		[ "$output" = "stream: ok" ]
		wait_for 90 eval '[ "$(heard)" -eq 1 ]'
		rm -rf "$dir"
	done
}

@test "a host's socket is out of reach by another name of its folder" {
	mkdir "$HOME/real"
	ln -s real "$HOME/alias"
	host_peer stream "$HOME/alias/s"
	reach stream "$HOME/real/s"
	[ "$output" = "stream: EACCES" ]
	reach stream "$HOME/alias/s"
	[ "$output" = "stream: EACCES" ]
	[ "$(heard)" -eq 0 ]
	reach stream "$HOME/alias/s" --allow-unix "$HOME/alias/s"
	[ "$output" = "stream: ok" ]
}

@test "a socket in a folder that is hidden is not allowed by half" {
	mkdir -m 700 "$HOME/.gnupg"
	host_peer stream "$HOME/.gnupg/s"
	reach stream "$HOME/.gnupg/s" --allow-unix "$HOME/.gnupg/s"
	[ "$status" -eq 125 ]
	[[ "$stderr" == *"$HOME/.gnupg is hidden"*"--read $HOME/.gnupg"* ]]
	reach stream "$HOME/.gnupg/s" --allow-unix "$HOME/.gnupg/s" --read "$HOME/.gnupg"
	[ "$output" = "stream: ok" ]
}

# bats test_tags=root
@test "a socket that root sees in another user's folder does not stop root" {
	only_root
	mkdir -m 700 "$HOME/theirs"
	host_peer stream "$HOME/theirs/s"
	host_peer stream "$HOME/theirs/t"
	chown 65534 "$HOME/theirs"
	agentbox run -- sh -c 'ls "$1"; "$2" stream "$1/s"; echo fine' sh "$HOME/theirs" "$ATTACK/sockets"
	[ "$status" -eq 0 ]
	[[ "$output" == *"stream: EACCES"*fine ]]
	[ "$(heard)" -eq 0 ]
}

@test "a masked socket in the workspace cannot be moved back into view" {
	# It can be moved, and stays closed (engines.bats).
	! without_namespaces || skip "there are no mounts"
	mkdir -p a/b
	host_peer stream "$WORKSPACE/a/b/s"
	agentbox run -- sh -c '
		mv a/b/s c && echo HOLE; mv a/b c && echo HOLE; mv a c && echo HOLE
		rm -f a/b/s && echo HOLE; ln a/b/s c && echo HOLE
		chmod 777 a/b/s && echo HOLE
		"$1" stream a/b/s; touch a/b/file' sh "$ATTACK/sockets"
	[ "$status" -eq 0 ]
	no_hole
	[[ "$output" == *"stream: EACCES"* ]]
	[ "$(heard)" -eq 0 ]
	[ -e a/b/file ]
}

@test "sockets between processes of the box work" {
	local places='"$TMPDIR/own" /tmp/s /run/s'
	! without_namespaces || places='"$TMPDIR/own"'
	agentbox run -- sh -c 'for name in ./s @name '"$places"'; do "$1" own $name; done' \
		sh "$ATTACK/sockets"
	[ "$(sort -u <<<"$output")" = "own: ok" ]
}

@test "a host's abstract socket is out of reach, also on the host's network" {
	local name=@agentbox-test-$$-$RANDOM
	host_peer stream "$name"
	agentbox run -- "$ATTACK/sockets" stream "$name"
	[ "$output" = "stream: ECONNREFUSED" ]
	need landlock:6
	agentbox_split run --profile development -- "$ATTACK/sockets" stream "$name"
	# The kernel refuses, or the guard, which makes the connection.
	[ "$output" = "stream: $(without_namespaces && echo ECONNREFUSED || echo EPERM)" ]
	agentbox_split run --profile development -- "$ATTACK/sockets" own "$name-inside"
	[ "$output" = "own: ok" ]
	[ "$(heard)" -eq 0 ]
	# It does answer to others.
	"$ATTACK/sockets" stream "$name"
	wait_for 90 eval '[ "$(heard)" -eq 1 ]'
}

@test "System V memory of the host is not there, the box has its own" {
	local key=$((0x41420000 + RANDOM)) id
	"$ATTACK/process" make-shm "$key"
	id=$(ipcs -m | awk -v key="$(printf '0x%08x' "$key")" '$1 == key { print $2 }')
	[ -n "$id" ]
	agentbox run -- sh -c '"$1" shm $2; "$1" shm-id $3; "$1" make-shm $2; "$1" shm $2' \
		sh "$ATTACK/process" "$key" "$id"
	ipcrm -m "$id"
	if without_namespaces; then
		expect <<-END
		shm: EPERM
		shm-id: EPERM
		make-shm: EPERM
		shm: EPERM
		END
	else
		expect <<-END
		shm: ENOENT
		shm-id: EINVAL
		make-shm: ok
		shm: ok
		END
	fi
	run "$ATTACK/process" shm "$key"
	[ "$output" = "shm: ENOENT" ]
}

@test "a message queue of the host is not there" {
	local name=/agentbox-test-$$-$RANDOM
	cat >queue.py <<-'END'
	import ctypes, errno, sys
	rt = ctypes.CDLL("librt.so.1", use_errno=True)
	def opened(name, flags):
	    queue = rt.mq_open(name.encode(), flags, 0o600, None)
	    return "ok" if queue >= 0 else errno.errorcode[ctypes.get_errno()]
	print("host's:", opened(sys.argv[1], 2))
	print("own:", opened(sys.argv[1] + "-own", 0o102), opened(sys.argv[1] + "-own", 2))
	rt.mq_unlink((sys.argv[1] + "-own").encode())
	END
	queue()
	{
		python3 -c 'import ctypes, sys
rt = ctypes.CDLL("librt.so.1", use_errno=True)
sys.exit((rt.mq_open(sys.argv[2].encode(), 0o102, 0o600, None) if sys.argv[1] == "make" else
          rt.mq_unlink(sys.argv[2].encode())) < 0)' "$@"
	}
	queue make "$name"
	# It is there for everybody else.
	run python3 queue.py "$name"
	[ "$output" = $'host\'s: ok\nown: ok ok' ]
	agentbox run -- python3 queue.py "$name"
	queue remove "$name"
	[ "$status" -eq 0 ]
	# Some kernels refuse to open the box's own as well (Landlock knows no rule for them).
	if without_namespaces; then
		[[ "$output" != *ok* ]]
	else
		[[ "$output" == $'host\'s: ENOENT\nown: '* ]]
	fi
}

# ----------------------------------------------------------------- processes

@test "processes of the host are neither seen nor reached" {
	sleep 300 3>&- &
	PEERS+=($!)
	local pid=$!
	agentbox run -- sh -c '
		[ -d /proc/$2 ] && echo VISIBLE
		[ -d /proc/.shared/$2 ] && echo SEEN
		"$1" signal $2 9; "$1" attach $2; "$1" memory $2; "$1" take-fd $2 0
		kill -9 -1; ls -d /proc/[0-9]* | wc -l' sh "$ATTACK/process" "$pid"
	kill -0 "$pid"
	! claims pid-view || [[ "$output" != *SEEN* ]]
	if without_namespaces; then
		[[ "$output" == *"signal: EPERM"*"attach: EPERM"*"memory: EPERM"*"take-fd: EPERM"* ]]
	else
		[[ "$output" != *VISIBLE* ]]
		[[ "$output" == *"signal: ESRCH"*"attach: ESRCH"*"memory: ESRCH"*"take-fd: ESRCH"* ]]
	fi
}

@test "killing everything in the box ends at its walls" {
	agentbox run -- sh -c 'sleep 60 & kill -9 -1; wait; echo alone'
	[ "$status" -eq 0 ]
	[[ "$output" == *alone ]]
}

@test "two boxes do not see each other's processes and files in /tmp" {
	local tmp=/tmp
	! without_namespaces || tmp='$TMPDIR'
	mkfifo here go
	"$AGENTBOX" run -- sh -c '
		tmp='"$tmp"'; echo $tmp >place
		echo mine >$tmp/mark; { echo mine >/dev/shm/mark; } 2>/dev/null; echo ours >shared
		sleep 301 & echo up >here; read line <go; kill $!; cat $tmp/mark' \
		>"$TEST_DIR/first" 2>&1 3>&- &
	local first=$!
	PEERS+=($first)
	read -r _ <here
	agentbox run -- sh -c '
		cat shared
		place=$(cat place)
		cat $place/mark && echo HOLE; cat /dev/shm/mark && echo HOLE
		echo theirs >$place/mark
		grep -l "^sleep" /proc/[0-9]*/cmdline && echo SEEN
		grep -l "^sleep" /proc/.shared/[0-9]*/cmdline && echo SEEN
		pkill -9 sleep; kill -9 2 3 4 5 6 7 8 9 2>/dev/null; :'
	echo go >go
	wait "$first"
	[ "${lines[0]}" = ours ]
	no_hole
	! claims pid-view || [[ "$output" != *SEEN* ]]
	[ "$(cat "$TEST_DIR/first")" = mine ]
}

# --------------------------------------------------------------- descriptors

@test "descriptors of the caller are closed, named ones are kept" {
	echo secret >"$HOME/secret"
	exec 7<"$HOME/secret" 8<"$HOME" 9<>"$HOME/log"
	agentbox run -- sh -c 'cd /proc/self/fd && ls; cat <&7'
	[ "$status" -ne 0 ]
	[[ "$output" != *secret* ]]
	[ "$(head -n 3 <<<"$output" | tr '\n' ' ')" = "0 1 2 " ]
	[[ "${lines[3]}" != [0-9]* ]]
	agentbox run --fd 7 --fd 9 -- sh -c 'cat <&7; echo heard >&9'
	exec 7<&- 8<&- 9>&-
	[ "$status" -eq 0 ]
	[ "$output" = secret ]
	[ "$(cat "$HOME/log")" = heard ]
}

@test "a folder does not come in as a descriptor" {
	agentbox run -- true <"$HOME"
	[ "$status" -eq 125 ]
	[[ "$output" == *"standard input is a folder"* ]]
	exec 7<"$HOME"
	agentbox run --fd 7 -- "$ATTACK/files" above 7
	exec 7<&-
	[ "$status" -eq 125 ]
	[[ "$output" == *"descriptor 7 is a folder"* ]]
	agentbox run -- sh -c 'exec 7<.; ls /proc/self/fd/7/' </dev/null
	[ "$status" -eq 0 ]
}

@test "what came in for reading cannot be opened again for writing" {
	local f
	for f in "$HOME/file" "$WORKSPACE/.envrc"; do
		echo precious >"$f"
		agentbox run -- sh -c '
			"$1" reopen 0; "$1" reopen-truncate 0; "$1" reopen-read 0
			"$1" link-fd 0 stolen' sh "$ATTACK/files" <"$f"
		[[ "$output" != *"reopen: ok"* && "$output" != *"truncate: ok"* ]]
		[[ "$output" != *"link-fd: ok"* ]]
		[ "$(cat "$f")" = precious ]
	done
	# The protected one does not get that far.
	[ "$status" -eq 125 ]
	[[ "$output" == *"protected file"* ]]
	agentbox run -- "$ATTACK/files" reopen-read 0 <"$HOME/file"
	[ "$output" = "reopen-read: ok" ]
}

@test "what came in for writing can be opened again for that" {
	agentbox run -- sh -c 'echo ok >&2'
	[ "$output" = ok ]
	"$AGENTBOX" run -- sh -c 'echo first >/dev/stdout; echo second >>/dev/stdout
		echo third >/proc/self/fd/2' >>"$HOME/out" 2>"$HOME/err" 3>&-
	output=$(cat "$HOME/out")
	expect <<-END
	first
	second
	END
	[ "$(cat "$HOME/err")" = third ]
}

# ------------------------------------------------------------------- setuid

@test "setuid programs give nothing" {
	agentbox run -- sh -c '
		for p in su sudo passwd mount newgrp chsh pkexec; do
			path=$(command -v $p) && [ -u "$path" ] || continue
			echo found
			"$path" --version >/dev/null 2>&1
			grep Uid /proc/self/status
		done
		su -c "echo became" </dev/null
		id -u'
	no_hole
	unsaid
	[ "${lines[-1]}" = "$(id -u)" ]
}

# bats test_tags=root
@test "a setuid file and a device in the workspace are dead" {
	only_root
	cp "$(command -v id)" id
	chown 65534 id
	chmod 4755 id
	mknod null c 1 3 || lacks "making a device is not permitted"
	mknod disk b 7 0
	chmod 666 null disk
	# On the host they work.
	[ "$(./id -u)" = 65534 ]
	echo >null
	agentbox run -- sh -c './id -u
		true >null && echo HOLE; head -c 1 disk && echo HOLE; echo >/dev/null && echo fine'
	[ "${lines[0]}" = 0 ]
	no_hole
	[[ "$output" == *fine ]]
}

# ------------------------------------------------------------------ network

# An address of this machine that is not a loopback one, if it has any.
host_address()
{
	local address

	address=$(ip -4 -o addr show scope global | awk '{ sub("/.*", "", $4); print $4; exit }')
	echo "${address:-127.0.0.2}"
}

@test "blocked and filtered reach nothing but the box itself" {
	local tcp udp tcp_log udp_log
	host_peer tcp 0.0.0.0/0
	tcp=$PEER_PORT tcp_log=$PEER_LOG
	host_peer udp 0.0.0.0/0
	udp=$PEER_PORT udp_log=$PEER_LOG
	# A network of the box's own takes the datagram, though nobody is there.
	local nobody=ok fastopen=ECONNREFUSED ping=EACCES
	! without_namespaces || nobody=ECONNREFUSED fastopen=EOPNOTSUPP ping=EPROTONOSUPPORT
	agentbox run --net blocked -- sh -c '
		"$1" tcp 127.0.0.1 $2; "$1" tcp ::ffff:127.0.0.1 $2
		"$1" fastopen 127.0.0.1 $2; "$1" udp 127.0.0.1 $3
		"$1" tcp 203.0.113.1 80; "$1" tcp 2001:db8::1 80
		"$1" tcp 169.254.169.254 80; "$1" udp 203.0.113.1 53
		"$1" udp 2001:db8::1 53; "$1" fastopen 203.0.113.1 80
		"$1" ping 127.0.0.1; "$1" own-tcp 127.0.0.1; "$1" own-tcp ::1' \
		sh "$ATTACK/sockets" "$tcp" "$udp"
	expect <<-END
	tcp: ECONNREFUSED
	tcp: ECONNREFUSED
	fastopen: $fastopen
	udp: $nobody
	tcp: ENETUNREACH
	tcp: ENETUNREACH
	tcp: ENETUNREACH
	udp: ENETUNREACH
	udp: ENETUNREACH
	fastopen: ${fastopen/ECONNREFUSED/ENETUNREACH}
	ping: $ping
	own-tcp: ok
	own-tcp: ok
	END
	# Where there is a door, other addresses lead to it and no further.
	agentbox_split run --net filtered -- sh -c '
		"$1" tcp 127.0.0.1 $2; "$1" tcp ::ffff:127.0.0.1 $2
		"$1" fastopen 127.0.0.1 $2; "$1" udp 127.0.0.1 $3
		"$1" ping 127.0.0.1; "$1" own-tcp 127.0.0.1; "$1" own-tcp ::1
		for to in "$4" 203.0.113.1 2001:db8::1; do
			"$1" tcp $to $2; "$1" fastopen $to $2; "$1" udp $to $3
		done >/dev/null' \
		sh "$ATTACK/sockets" "$tcp" "$udp" "$(host_address)"
	expect <<-END
	tcp: ECONNREFUSED
	tcp: ECONNREFUSED
	fastopen: $fastopen
	udp: $nobody
	ping: $ping
	own-tcp: ok
	own-tcp: ok
	END
	[ "$(heard "$tcp_log")" -eq 0 ]
	[ "$(heard "$udp_log")" -eq 0 ]
	# The host's network is there when it was asked for.
	agentbox_split run --profile development -- sh -c '"$1" tcp 127.0.0.1 $2; "$1" udp 127.0.0.1 $3' \
		sh "$ATTACK/sockets" "$tcp" "$udp"
	expect <<-END
	tcp: ok
	udp: ok
	END
	wait_for 90 eval '[ "$(heard "$tcp_log")" -eq 1 ] && [ "$(heard "$udp_log")" -eq 1 ]'
}

@test "no name is resolved in a box without a network" {
	agentbox run -- getent hosts example.com
	[ "$status" -ne 0 ]
	agentbox run -- getent ahosts 127.0.0.1
	[ "$status" -eq 0 ]
}

@test "the box has one interface, the loopback" {
	agentbox run -- sh -c 'tail -n +3 /proc/net/dev | cut -d: -f1; cat /proc/net/route | wc -l'
	[ "$(tr -d ' ' <<<"${lines[0]}")" = lo ]
	without_namespaces || [ "${lines[1]}" = 1 ]
}

# -------------------------------------------------------------- environment

@test "code and doors in the caller's environment stay outside" {
	echo 'echo evil' >"$HOME/evil.sh"
	# Not through the helper: its programs would take LD_PRELOAD themselves,
	# as a sanitizer's build does, which is not static.
	local preload=(LD_PRELOAD="$HOME/none.so" LD_LIBRARY_PATH="$HOME")
	if sanitized; then
		preload=()
	fi
	run env -i "${preload[@]}" PATH="$PATH" HOME="$HOME" \
		ASAN_OPTIONS="${ASAN_OPTIONS:-}" AGENTBOX_STATE="$AGENTBOX_STATE" \
		BASH_ENV="$HOME/evil.sh" ENV="$HOME/evil.sh" SSH_AUTH_SOCK=/x \
		DOCKER_HOST=unix:///x GITHUB_TOKEN=hunter2 MY_API_KEY=hunter2 \
		EDITOR=vi "$AGENTBOX" run -- bash -c env
	[ "$status" -eq 0 ]
	[[ "$output" != *evil* && "$output" != *hunter2* && "$output" != *LD_* ]]
	[[ "$output" != *SSH_AUTH* && "$output" != *DOCKER* && "$output" != *none.so* ]]
	[[ "$output" == *EDITOR=vi* ]]
	GITHUB_TOKEN=hunter2 agentbox run --pass-env GITHUB_TOKEN -- sh -c 'echo $GITHUB_TOKEN'
	[ "$output" = hunter2 ]
}

@test "neither arguments nor environment of the supervisor are in the box" {
	# An engine that shares /proc shows processes in a folder of it.
	SECRET_WORD=hunter2 agentbox_split run --deny argument.example -- sh -c '
		cat /proc/[0-9]*/environ /proc/.shared/[0-9]*/environ | tr "\0" "\n"
		cat /proc/[0-9]*/cmdline /proc/.shared/[0-9]*/cmdline | tr "\0" " "'
	[[ "$output" != *hunter2* ]]
	[[ "$output" == *HOME=* ]]
	! claims pid-view || [[ "$output" != *argument.example* ]]
}

# ---------------------------------------------------------------- our files

@test "the state folder and the marker are closed, the run is recorded there" {
	agentbox_split run -- sh -c '
		ls "$1" && echo LISTED; cat "$1"/live/*/audit.jsonl "$1"/record.key && echo HOLE
		true >"$1/x" && echo HOLE; mv "$1" "$1.old" && echo HOLE; rmdir "$1" && echo HOLE
		chmod 777 "$1" && echo HOLE
		[ ! -e /dev/agentbox ] || { rm -f /dev/agentbox && echo HOLE; }
		echo x >/dev/agentbox && echo HOLE
		echo "$AGENTBOX"; cat /dev/agentbox' sh "$AGENTBOX_STATE"
	no_hole
	# Without mounts names can be seen, and there is no marker.
	if ! without_namespaces; then
		[ "$status" -eq 0 ]
		[[ "$output" != *LISTED* ]]
	fi
	[ -s "$AGENTBOX_STATE/runs/${lines[-1]}/audit.jsonl" ]
}

@test "the state folder stays closed when it lies in the workspace" {
	export AGENTBOX_STATE=$WORKSPACE/deep/er/state
	if without_namespaces; then
		agentbox run -- true
		[ "$status" -eq 125 ]
		[[ "$output" == *"only a mount could hide it"*AGENTBOX_STATE* ]]
		return
	fi
	agentbox run -- sh -c '
		ls deep/er/state && echo HOLE
		mv deep/er/state x && echo HOLE; mv deep/er x && echo HOLE; mv deep x && echo HOLE
		rm -rf deep; mkdir -p deep/er/state/live/zzzzz && echo HOLE
		touch deep/file && echo fine'
	no_hole
	[[ "$output" == *fine* ]]
	[ "$(ls deep/er/state)" = "$(printf '%s\n' live record.key record.pub runs)" ]
}

@test "the user's configuration cannot be written, wherever it is" {
	mkdir -p conf/agentbox "$HOME/.config/agentbox"
	echo '{}' >conf/agentbox/config.json
	echo '{}' >mine.json
	XDG_CONFIG_HOME=$WORKSPACE/conf agentbox run --yes -- sh -c '
		echo evil >conf/agentbox/config.json && echo HOLE
		mv conf x && echo HOLE; rm -rf conf && echo HOLE; echo ok >ok'
	no_hole
	AGENTBOX_CONFIG=$WORKSPACE/mine.json agentbox run --yes -- sh -c '
		echo evil >mine.json && echo HOLE; mv mine.json x && echo HOLE; cat ok'
	no_hole
	unsaid
	[[ "$output" == *ok ]]
	agentbox run --yes --config mine.json -- sh -c '
		echo evil >mine.json && echo HOLE; rm mine.json && echo HOLE; cat ok'
	no_hole
	unsaid
	[[ "$output" == *ok ]]
	agentbox run --write "$HOME/.config" -- sh -c '
		echo evil >~/.config/agentbox/config.json && echo HOLE; echo ok >~/.config/other'
	no_hole
	[ "$(cat "$HOME/.config/other")" = ok ]
}

@test "a run inside a box can only tighten" {
	agentbox run --home readonly --net blocked -- "$AGENTBOX" run --write "$HOME" --net allowed --fallback warn -- sh -c '
		true >"$HOME/x" && echo HOLE; "$1" tcp 203.0.113.1 80; echo in >inside' sh "$ATTACK/sockets"
	no_hole
	[[ "$output" == *"tcp: E"* ]]
	agentbox run -- "$AGENTBOX" run --read-only -- sh -c 'true >inside2 && echo HOLE'
	no_hole
	[ "$(cat inside)" = in ]
	[ ! -e inside2 ]
}

# -------------------------------------------------------- hostile workspaces

@test "a workspace whose .git leads elsewhere opens nothing there" {
	git init -q "$HOME/victim"
	ln -s "$HOME/victim/.git" .git
	agentbox run --home readonly -- sh -c 'echo evil >.git/hooks/pre-commit && echo HOLE
		echo evil >>.git/config && echo HOLE; echo fine >file'
	no_hole
	rm .git
	echo "gitdir: $HOME/victim/.git" >.git
	agentbox run --home readonly -- sh -c 'echo evil >"$HOME/victim/.git/hooks/pre-commit" && echo HOLE
		echo evil >"$HOME/victim/x" && echo HOLE; cat file'
	no_hole
	unsaid
	[[ "$output" == *fine ]]
	[ ! -e "$HOME/victim/.git/hooks/pre-commit" ]
}

@test "a workspace of odd objects starts quickly and harms nothing" {
	mkdir .vscode
	mkfifo .envrc .gitmodules .vscode/tasks.json
	mkdir -p .git/objects .git/refs
	mkfifo .git/HEAD .git/config
	ln -s /nonexistent/deep .claude
	ln -s .idea .fleet
	ln -s .fleet .idea
	ln -s / .zed
	ln -s .. .cursor
	AB_TIMEOUT=60 agentbox run -- sh -c 'echo hi >file; cat file'
	[ "$status" -eq 0 ]
	[[ "$output" == *hi ]]
	[ "$(stat -c %F .envrc)" = fifo ]
	[ -L .claude ]
	[ ! -e /nonexistent ]
}

@test "a protected name that leads to the workspace itself stops the run" {
	ln -s . .gemini
	agentbox run -- true
	[[ "$output" == *"stays open"* ]]
	# Who closes no protected name fails for none.
	without_namespaces || [ "$status" -eq 125 ]
	agentbox run --fallback warn -- sh -c 'echo hi >file; cat file'
	[ "$status" -eq 0 ]
	[[ "$output" == *hi* ]]
}

@test "a very deep workspace works and its parents stay closed" {
	local deep=d
	for _ in $(seq 1 199); do deep+=/d; done
	mkdir -p "$deep"
	git init -q "$deep" 2>/dev/null
	cd "$deep"
	agentbox run --home readonly -- sh -c 'echo hi >file && cat file
		echo evil >../evil && echo HOLE; echo evil >>.git/config && echo HOLE'
	[ "${lines[0]}" = hi ]
	no_hole
	[ ! -e ../evil ]
	cd "$WORKSPACE"
}

@test "names with control characters do not reach the terminal" {
	local evil=$'a\nagentbox: all is well\n\e]0;owned\a\e[31m'
	mkdir "$evil"
	git init -q "$evil/repo"
	cd "$evil"
	agentbox run -- sh -c '
		echo x >.envrc; mkdir -p "$1/.vscode" && echo x >"$1/.vscode/tasks.json"
		git init -q "$1/new" && echo x >"$1/new/.git/hooks/pre-commit"' sh "$evil"
	[[ "$output" == *.envrc* ]]
	[[ "$output" != *$'\e'* && "$output" != *$'\a'* ]]
	[[ "$output" != *$'\n'"agentbox: all is well"* ]]
	[ ! -e .envrc ]
	cd "$WORKSPACE"
}

@test "arguments in messages are escaped too" {
	local red
	red=$(printf '\033[31m')
	run -127 "$AGENTBOX" run -- "./none$red"
	[[ "$output" == *none* && "$output" != *"$red"* ]]
	run -125 "$AGENTBOX" run --write "/none$red" -- true
	[[ "$output" == *none* && "$output" != *"$red"* ]]
	agentbox run "--none$red" -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *none* && "$output" != *"$red"* ]]
}
