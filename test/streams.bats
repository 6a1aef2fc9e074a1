# Descriptors 0-2 of the caller: data passes as it always did, and nothing else of
# the file or device can be changed through them.
# root-in-turn: the processes of root are held by other checks of the kernel
UNJUDGED=1
load helpers

# Tries to change everything but the content of the file on a descriptor, by
# number and by its names, and prints what worked.
TRY='
import ctypes, fcntl, os, sys
fd = int(sys.argv[1])
names = ["/proc/self/fd/%d" % fd, "/dev/std" + ["in", "out", "err"][fd]]
flags = lambda: fcntl.ioctl(fd, 0x40086602, b"\x40\0\0\0\0\0\0\0")
tries = {
    "fchmod": lambda: os.fchmod(fd, 0o4777), "futimens": lambda: os.utime(fd, (1, 1)),
    "touch": lambda: os.utime(fd), "fsetxattr": lambda: os.setxattr(fd, "user.x", b"1"),
    "flags": flags, "lease": lambda: fcntl.fcntl(fd, 1024, fcntl.F_RDLCK),
}
for n in names:
    tries["chmod " + n] = lambda n=n: os.chmod(n, 0o4777)
    tries["utime " + n] = lambda n=n: os.utime(n, (1, 1))
    tries["setxattr " + n] = lambda n=n: os.setxattr(n, "user.x", b"1")
out = open(sys.argv[2], "w")
for name, f in tries.items():
    try:
        f()
        print("HOLE", name, file=out)
    except OSError as e:
        print(name, e.strerror, file=out)
'

attributes()
{
	stat -c '%a %u %g %Y %i' "$1"
	getfattr -d "$1" 2>/dev/null || :
	lsattr "$1" 2>/dev/null || :
}

@test "standard input: the file can be read, and nothing of it can be changed" {
	echo content >"$HOME/in"
	touch -d 2020-01-01 "$HOME/in"
	attributes "$HOME/in" >"$TEST_DIR/before"
	agentbox run -- sh -c 'cat; python3 -c "$1" 0 tried </dev/stdin' - "$TRY" <"$HOME/in"
	[ "$status" -eq 0 ]
	[ "$output" = content ]
	cat tried
	[ "$(wc -l <tried)" -eq 12 ]
	run ! grep HOLE tried
	attributes "$HOME/in" | diff "$TEST_DIR/before" -
	[ "$(cat "$HOME/in")" = content ]
}

@test "standard output and error: the file gets the data, and nothing else of it can be changed" {
	for fd in 1 2; do
		: >"$HOME/out"
		chmod 640 "$HOME/out"
		stat -c '%a %u %g %i' "$HOME/out" >"$TEST_DIR/before"
		run --separate-stderr bash -c '"$1" run -- sh -c "echo data >&$2; python3 -c \"\$1\" $2 tried" - "$3" '"$fd"'>"$4"' - \
			"$AGENTBOX" "$fd" "$TRY" "$HOME/out" 3>&-
		[ "$status" -eq 0 ]
		cat tried
		[ "$(wc -l <tried)" -eq 12 ]
		# What it changes is its own pipe.
		stat -c '%a %u %g %i' "$HOME/out" | diff "$TEST_DIR/before" -
		[ "$(stat -c %Y "$HOME/out")" -gt 1000000 ]
		[ -z "$(getfattr -d "$HOME/out" 2>/dev/null)" ]
		[ "$(cat "$HOME/out")" = data ]
	done
}

@test "files: positions are shared with the caller, as without a box" {
	printf 'one\ntwo\nthree\n' >"$HOME/in"
	(launch run -- sh -c 'read a; echo "box $a"'; read -r b; echo "host $b"; launch run -- true; cat) <"$HOME/in" >"$HOME/out" 2>&1
	cat "$HOME/out"
	[ "$(cat "$HOME/out")" = $'box one\nhost two\nthree' ]
	(echo before; launch run -- sh -c 'echo out; echo err >&2; echo again'; echo after) >"$HOME/out" 2>&1
	[ "$(cat "$HOME/out")" = $'before\nout\nerr\nagain\nafter' ]
	launch run -- sh -c 'echo more; echo less >&2' >>"$HOME/out" 2>>"$HOME/err"
	[ "$(tail -n 1 "$HOME/out")" = more ]
	[ "$(cat "$HOME/err")" = less ]
	# Two separate files, and an input in the middle of one.
	(read -r _; launch run -- cat) <"$HOME/in" >"$HOME/out"
	[ "$(cat "$HOME/out")" = $'two\nthree' ]
	printf 0123456789 >"$HOME/out"
	(exec 1<>"$HOME/out"; printf ab; launch run -- printf cd; printf ef)
	[ "$(cat "$HOME/out")" = abcdef6789 ]
}

@test "files: all of a long output is there when the run ends" {
	launch run -- sh -c 'seq 1 2000000; seq 1 1000 >&2' >"$HOME/out" 2>"$HOME/err"
	seq 1 2000000 | cmp - "$HOME/out"
	seq 1 1000 | cmp - "$HOME/err"
	launch run -- cat <"$HOME/out" | cmp - "$HOME/out"
	# Of a killed command, too.
	launch run -- sh -c 'seq 1 100000; kill -KILL $$' >"$HOME/out" || [ "$?" -eq 137 ]
	seq 1 100000 | cmp - "$HOME/out"
}

@test "files: one that has no name any more, and one that is open for writing only" {
	exec 5<>"$TEST_DIR/gone" 6>"$TEST_DIR/write"
	echo nameless >&5
	exec 4<"$TEST_DIR/gone"
	rm "$TEST_DIR/gone"
	run launch run -- cat <&4
	exec 4<&- 5>&-
	[ "$output" = nameless ]
	run launch run -- cat 0>&6
	exec 6>&-
	[ "$status" -eq 125 ]
	[[ "$output" == *"open for writing only"* ]]
}

@test "files: a write that fails on the host ends the command's output, and is reported" {
	"$AGENTBOX" run -- sh -c 'touch ready; until [ -e go ]; do sleep 0.1; done; seq 1 1000000; echo "status $?" >&2' \
		>"$HOME/out" 2>"$HOME/err" 3>&- &
	wait_for 60 test -e ready
	prlimit --pid $! --fsize=65536
	touch go
	wait $! || :
	cat "$HOME/err"
	grep -q "cannot write the command's standard output: File too large" "$HOME/err"
	[ "$(stat -c %s "$HOME/out")" -le 65536 ]
}

@test "devices: the box gets its own nodes" {
	agentbox run -- sh -c 'test -c /dev/stdin && cat; ls -l /proc/self/fd/0' </dev/null
	[ "$status" -eq 0 ]
	[[ "$output" == *"/dev/null" ]]
	launch run -- sh -c 'head -c 4 | wc -c; echo gone >&2' </dev/zero >"$HOME/out" 2>/dev/null
	[ "$(cat "$HOME/out")" -eq 4 ]
}

# bats test_tags=root
@test "devices: root's nodes keep their modes, and others are refused" {
	only_root
	mknod "$TEST_DIR/null" c 1 3 || lacks "making a device is not permitted"
	mknod "$TEST_DIR/kmsg" c 1 11
	mknod "$TEST_DIR/loop" b 7 0
	chmod 666 "$TEST_DIR/null"
	launch run -- sh -c 'chmod 000 /dev/stdin; chmod 000 /dev/stdout; chmod 000 /dev/stderr; touch -d 2001-01-01 /dev/stdin; :' \
		<"$TEST_DIR/null" >"$TEST_DIR/null" 2>"$TEST_DIR/null"
	[ "$(stat -c %a "$TEST_DIR/null")" = 666 ]
	[ "$(stat -c %Y "$TEST_DIR/null")" -gt 1500000000 ]
	for node in kmsg loop; do
		agentbox run -- true <"$TEST_DIR/$node"
		[ "$status" -eq 125 ]
		[[ "$output" == *"standard input is a device of yours"*"cat DEVICE | agentbox run"* ]]
	done
}
