#!/usr/bin/env bats
# What a machine under WSL2 has: a socket that leads to Windows, and a kernel that starts Windows programs
# with a program that uses it. This is a picture of it; Windows itself was not there.
UNJUDGED=1
load helpers

# in_wsl COMMAND: "$1" is agentbox, "$2" runs what follows, and /run/WSL leads to a server that says hello.
in_wsl()
{
	cat >"$TEST_DIR/server" <<-'END'
		import os, socket, sys
		server = socket.socket(socket.AF_UNIX)
		server.bind("/run/WSL/1_interop")
		server.listen()
		if os.fork():
		    sys.exit()
		while True:
		    client, _ = server.accept()
		    client.sendall(b"hello from Windows\n")
		    client.close()
	END
	# Like WSL's own: static, and the way to the socket is in a variable or known.
	cat >"$TEST_DIR/interop.c" <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/socket.h>
		#include <sys/un.h>
		#include <unistd.h>

		int main(void)
		{
			struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "/run/WSL/1_interop" };
			int fd = socket(AF_UNIX, SOCK_STREAM, 0), vm = socket(AF_VSOCK, SOCK_STREAM, 0);
			char line[64];
			ssize_t n;

			printf("the interpreter runs, a socket to the VM's host %s\n", vm < 0 ? "cannot be made" : "can be made");
			if (getenv("WSL_INTEROP"))
				strcpy(to.sun_path, getenv("WSL_INTEROP"));
			if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 || (n = read(fd, line, sizeof(line))) <= 0) {
				perror("no way to Windows");
				return 1;
			}
			return printf("%.*s", (int)n, line) < 0;
		}
	END
	gcc -static -o "$TEST_DIR/interop" "$TEST_DIR/interop.c"
	printf 'MZ\220\0' >cmd.exe
	chmod 755 cmd.exe
	run --separate-stderr timeout --kill-after=5 120 unshare --user --map-root-user --mount --pid --fork \
		--kill-child --mount-proc sh -c '
		set -e
		mount -t tmpfs none /run
		mkdir /run/WSL
		python3 "$2/server"
		if [ -n "$4" ]; then
			mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
			echo ":WSLInterop:M::MZ::$2/interop:PF" >/proc/sys/fs/binfmt_misc/register
		fi
		eval "$3"' sh "$AGENTBOX" "$TEST_DIR" "$1" "${2:-}" 3>&-
	printf '%s\n[stderr]\n%s\n[status %s]\n' "$output" "$stderr" "$status"
}

@test "wsl: what starts Windows programs reaches Windows outside, and not from a box" {
	need userns
	in_wsl '"$2/interop"; WSL_INTEROP=/run/WSL/1_interop "$2/interop"'
	[ "$status" -eq 0 ]
	[ "$(grep -c '^hello from Windows$' <<<"$output")" -eq 2 ]
	in_wsl '
		cp "$2/interop" interop
		"$1" run -- sh -c "./interop; WSL_INTEROP=/run/WSL/1_interop ./interop; WSL_INTEROP=/proc/1/root/run/WSL/1_interop ./interop"
	'
	[ "$status" -eq 1 ]
	[ "$(grep -c '^the interpreter runs, a socket to the VM.s host cannot be made$' <<<"$output")" -eq 3 ]
	[ "$(grep -c '^no way to Windows: ' <<<"$stderr")" -eq 3 ]
	[[ "$output" != *hello* ]]
}

@test "wsl: a Windows program that the kernel starts for the box reaches nothing" {
	need userns
	unshare --user --map-root-user --mount mount -t binfmt_misc none /proc/sys/fs/binfmt_misc ||
		skip "a user namespace has no binfmt_misc of its own"
	in_wsl './cmd.exe' binfmt
	[ "$status" -eq 0 ]
	[[ "$output" == *"hello from Windows"* ]]
	in_wsl '"$1" run -- ./cmd.exe' binfmt
	[ "$status" -eq 1 ]
	[[ "$output" == "the interpreter runs, "*"cannot be made"* ]]
	[[ "$stderr" == *"no way to Windows: "* ]]
	# Nor can the box make the kernel start another program.
	in_wsl '"$1" run -- sh -c "echo :X:M::MZ::/bin/sh: >/proc/sys/fs/binfmt_misc/register"' binfmt
	[ "$status" -ne 0 ]
	[ -n "$stderr" ]
}

@test "wsl: doctor says that it is one, and that the way to Windows is closed" {
	need userns
	in_wsl '"$1" doctor --json'
	[ "$(jq -r '.checks[] | select(.name == "surroundings").seen' <<<"$output")" = \
		"inside WSL2: in a box, Windows programs start but reach nothing" ]
	in_wsl '"$1" doctor --attack --json'
	[ "$(jq -r '.attempts[] | select(.name == "Windows, from WSL2").result' <<<"$output")" = held ]
	run --separate-stderr "$AGENTBOX" doctor --json
	[[ "$(jq -r '.checks[] | select(.name == "surroundings").seen' <<<"$output")" != *WSL* ]]
}
