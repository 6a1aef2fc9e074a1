# shared-proc: the network is built differently
# The network of a box as its programs see it: what they own, what is captured,
# how names are resolved, and what happens if the kernel lacks a feature. How the
# proxy handles a connection is tested elsewhere.
# root-in-turn: root may bind low ports and make devices, which the box must not inherit
load helpers
load attack/attack

setup_file()
{
	attack_build refuse
}

teardown_file()
{
	attack_clean
}

# inside SCRIPT [OPTION...]: a python program in the box. It has try_tcp,
# try_udp and own. Its words are in $output, ours are not.
inside()
{
	local script=$1
	shift
	agentbox_split run "$@" -- python3 -c "
import errno, os, socket, sys

def name(e):
    return errno.errorcode.get(e.errno, str(e))

def sock(to, kind):
    return socket.socket(socket.AF_INET6 if ':' in to else socket.AF_INET, kind)

# What the program sees: where it is itself, or why not.
def try_tcp(to, port):
    s = sock(to, socket.SOCK_STREAM)
    s.settimeout(20)
    try:
        s.connect((to, port))
        return s.getsockname()[0]
    except OSError as e:
        return name(e)

def try_udp(to, port):
    s = sock(to, socket.SOCK_DGRAM)
    s.settimeout(20)
    try:
        s.connect((to, port))
        s.send(b'x')
        s.recv(1)
        return 'answer'
    except TimeoutError:
        return 'silence'
    except OSError as e:
        return name(e)

def own(at, kind):
    server, client = sock(at, kind), sock(at, kind)
    server.settimeout(20)
    server.bind((at, 0))
    if kind == socket.SOCK_STREAM:
        server.listen()
    client.connect(server.getsockname()[:2])
    if kind == socket.SOCK_STREAM:
        return server.accept()[0].getsockname()[0]
    client.send(b'x')
    return client.getpeername()[0] if server.recv(1) else 'nothing'

$script"
}

# with_etc SCRIPT CMD...: CMD on a machine whose /etc is a copy of this one's
# that SCRIPT has changed, in mount namespaces of their own.
with_etc()
{
	local how=(unshare --mount)
	[ "$(id -u)" -eq 0 ] || how=(unshare --user --map-root-user --mount)
	"${how[@]}" sh -euc '
		copy=$1 workspace=$2 script=$3
		shift 3
		mkdir "$copy"
		# Not all of it can be read by everybody.
		tar -C /etc -c . 2>/dev/null | tar -C "$copy" -x 2>/dev/null || true
		mount -t tmpfs none /run
		cd "$copy"
		eval "$script"
		cd "$workspace"
		mount --bind "$copy" /etc
		exec "$@"' sh "$TEST_DIR/etc" "$WORKSPACE" "$@" 3>&-
}

@test "network: lo is the only device, and every route leads to it" {
	need userns
	agentbox run -- sh -c 'tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "
		cat /proc/net/route | tail -n +2 | wc -l'
	[ "${lines[0]}" = lo ]
	[ "${lines[1]}" = 0 ]
}

@test "network: a filtered box holds net-fence, dns-fence and transparent" {
	need userns
	agentbox run -v --require transparent -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *"net-fence dns-fence"*transparent* ]]
	agentbox run -v --net blocked -- true
	[[ "$output" == *"net-fence dns-fence"* ]]
	[[ "$output" != *transparent* ]]
	agentbox run --net blocked --require transparent -- touch made
	[ "$status" -eq 125 ]
	[[ "$output" == *"transparent (connections are not captured"* ]]
	[ ! -e made ]
}

@test "network: loopback inside is the box's own, in every mode but the host's" {
	need userns
	need program:python3
	for mode in filtered blocked; do
		inside '
for at in "127.0.0.1", "127.3.2.1", "::1":
    print(own(at, socket.SOCK_STREAM), own(at, socket.SOCK_DGRAM))
print(try_tcp("127.0.0.1", 9), try_tcp("::1", 9), try_udp("127.0.0.1", 9))' --net "$mode"
		expect <<-END
		127.0.0.1 127.0.0.1
		127.3.2.1 127.3.2.1
		::1 ::1
		ECONNREFUSED ECONNREFUSED ECONNREFUSED
		END
	done
}

@test "network: a filtered box has an address besides loopback, its own too" {
	need userns
	need program:python3
	inside '
for at in "198.19.255.1", "fd61:6765:6e74:626f:ffff::1":
    print(own(at, socket.SOCK_STREAM), own(at, socket.SOCK_DGRAM))'
	expect <<-END
	198.19.255.1 198.19.255.1
	fd61:6765:6e74:626f:ffff::1 fd61:6765:6e74:626f:ffff::1
	END
	# Programs that ask for addresses only of families that the machine has.
	inside '
for family in socket.AF_INET, socket.AF_INET6:
    print(socket.getaddrinfo("localhost", 80, family, 0, 0, socket.AI_ADDRCONFIG)[0][4][0])'
	expect <<-END
	127.0.0.1
	::1
	END
}

@test "network: a connection to anywhere begins on loopback, to any port" {
	need userns
	need program:python3
	inside '
for to in ("203.0.113.1", 443), ("203.0.113.1", 1), ("198.18.0.7", 5432), \
          ("169.254.169.254", 80), ("2001:db8::1", 25):
    seen = try_tcp(*to)
    # The door may have ended it already.
    print(seen if seen != "ECONNRESET" else {4: "127.0.0.1", 6: "::1"}[6 if ":" in to[0] else 4])'
	expect <<-END
	127.0.0.1
	127.0.0.1
	127.0.0.1
	127.0.0.1
	::1
	END
	inside 'print(try_tcp("203.0.113.1", 443))' --net blocked
	[ "$output" = ENETUNREACH ]
}

@test "network: a server of the box gets nothing that is meant for somebody else" {
	need userns
	need program:python3
	inside '
s = socket.create_server(("0.0.0.0", 0))
d = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
d.bind(("0.0.0.0", s.getsockname()[1]))
s.settimeout(0.2)
d.settimeout(0.2)
try_tcp("203.0.113.1", s.getsockname()[1])
print(try_udp("203.0.113.1", s.getsockname()[1]))
for what in s.accept, lambda: d.recv(1):
    try:
        what()
        print("HOLE")
    except TimeoutError:
        print("nothing")
try_tcp("127.0.0.1", s.getsockname()[1])
print("its own" if s.accept() else "")'
	expect <<-END
	ECONNREFUSED
	nothing
	nothing
	its own
	END
}

@test "network: a datagram is refused at once, so that programs take another way" {
	need userns
	need program:python3
	inside '
import time
begun = time.monotonic()
print(try_udp("203.0.113.1", 443), try_udp("2001:db8::1", 443), try_udp("198.18.0.1", 123))
print("at once" if time.monotonic() - begun < 15 else "late")'
	expect <<-END
	ECONNREFUSED ECONNREFUSED ECONNREFUSED
	at once
	END
}

@test "network: the ports of the door cannot be taken by the command" {
	need userns
	need program:python3
	inside '
for at, port in ("127.0.0.1", 61080), ("0.0.0.0", 61081), ("127.0.0.1", 61081), ("127.0.0.1", 53):
    try:
        socket.create_server((at, port))
        print("HOLE")
    except OSError as e:
        print(name(e))'
	expect <<-END
	EADDRINUSE
	EADDRINUSE
	EADDRINUSE
	EACCES
	END
}

@test "network: names are looked for in the box's own files and its own server" {
	need userns
	agentbox run -- sh -c 'cat /etc/resolv.conf; grep ^hosts: /etc/nsswitch.conf | tr -s " \t" " "'
	expect <<-END
	nameserver 127.0.0.1
	options edns0 timeout:2 attempts:2
	hosts: files dns
	END
	agentbox run -- getent hosts localhost
	[ "$status" -eq 0 ]
	# A file that the host does not have cannot be put over anything.
	if [ -e /etc/hosts ]; then
		agentbox run -- sh -c 'cat /etc/hosts'
		[ "${lines[0]}" = "127.0.0.1 localhost $(uname -n)" ]
		[ "${lines[1]}" = "::1 localhost ip6-localhost ip6-loopback" ]
		agentbox run -- getent hosts "$(uname -n)"
		[ "$status" -eq 0 ]
	fi
	# Whatever the command may write, these it may not.
	agentbox run --fallback warn -- sh -c 'echo x >>/etc/hosts || rm -f /etc/resolv.conf ||
		chmod 777 /etc/resolv.conf || umount /etc/hosts'
	[ "$status" -ne 0 ]
	# Without a door they are the host's.
	cp /etc/resolv.conf /etc/nsswitch.conf "$WORKSPACE"
	for mode in blocked allowed; do
		agentbox run --net "$mode" --fallback warn -- sh -c 'cmp resolv.conf /etc/resolv.conf && cmp nsswitch.conf /etc/nsswitch.conf'
		[ "$status" -eq 0 ]
	done
}

@test "network: a resolv.conf that is a link into /run is found in the box" {
	need userns
	run with_etc '
		mkdir -p /run/systemd/resolve
		echo "nameserver 127.0.0.53" >/run/systemd/resolve/stub-resolv.conf
		rm -f resolv.conf
		ln -s ../run/systemd/resolve/stub-resolv.conf resolv.conf' \
		"$AGENTBOX" run --fallback warn -- sh -c 'readlink /etc/resolv.conf; head -n 1 /etc/resolv.conf; ls -A /run/systemd'
	echo "$output"
	[ "$status" -eq 0 ]
	expect <<-END
	../run/systemd/resolve/stub-resolv.conf
	nameserver 127.0.0.1
	resolve
	END
}

@test "network: a resolv.conf that leads nowhere, or is not there, is no failure" {
	need userns
	run with_etc 'rm -f resolv.conf; ln -s /run/resolvconf/resolv.conf resolv.conf' \
		"$AGENTBOX" run --fallback warn -- head -n 1 /etc/resolv.conf
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "nameserver 127.0.0.1" ]
	rm -rf "$TEST_DIR/etc"
	run with_etc 'rm -f resolv.conf hosts nsswitch.conf' \
		"$AGENTBOX" run --fallback warn -- sh -c 'ls /etc/resolv.conf /etc/hosts 2>/dev/null; echo started'
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = started ]
	[ ! -e "$TEST_DIR/etc/resolv.conf" ]
}

@test "network: other ways to names that the host has are not the box's" {
	need userns
	run with_etc 'printf "passwd: files\nhosts: mymachines resolve [!UNAVAIL=return] files dns\nrpc: db\n" >nsswitch.conf' \
		"$AGENTBOX" run --fallback warn -- cat /etc/nsswitch.conf
	echo "$output"
	expect <<-END
	passwd: files
	hosts: files dns
	rpc: db
	END
}

@test "network: a file for names that nobody may read stays closed" {
	need userns
	agentbox run --deny-read /etc/hosts -- cat /etc/hosts
	[ "$status" -ne 0 ]
	agentbox run --deny-read /etc/hosts -- cat /etc/resolv.conf
	[ "$status" -eq 0 ]
	[[ "$output" == "nameserver 127.0.0.1"* ]]
}

@test "network: without nftables well-known ports are captured, and that is said" {
	need userns
	need program:python3
	local lacking=("$ATTACK/refuse" netfilter "$AGENTBOX")
	run "${lacking[@]}" run -v -- true
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"net-fence dns-fence"* ]]
	[[ "$output" != *transparent* ]]
	run "${lacking[@]}" run --require transparent -- touch made
	echo "$output"
	[ "$status" -eq 125 ]
	[[ "$output" == *"transparent (only well-known ports are captured"* ]]
	[ ! -e made ]
	AGENTBOX=$TEST_DIR/lacking
	printf '#!/bin/sh\nexec %s "$@"\n' "${lacking[*]}" >"$AGENTBOX"
	chmod +x "$AGENTBOX"
	inside '
print(try_tcp("203.0.113.1", 443) in ("127.0.0.1", "ECONNRESET"),
      try_tcp("2001:db8::1", 22) in ("::1", "ECONNRESET"))
print(try_tcp("203.0.113.1", 4444), try_udp("203.0.113.1", 443))
print(own("127.0.0.1", socket.SOCK_STREAM), own("::1", socket.SOCK_DGRAM))
print("GIT_SSH_COMMAND" in os.environ)'
	expect <<-END
	True True
	ECONNREFUSED ECONNREFUSED
	127.0.0.1 ::1
	False
	END
	agentbox doctor --json
	[ "$(jq -r '.checks[] | select(.name == "transparent") | .result' <<<"$output")" = warn ]
}

@test "network: without routes the door is all there is, and git is told of it" {
	need userns
	need program:python3
	local lacking=("$ATTACK/refuse" routes "$AGENTBOX")
	AGENTBOX=$TEST_DIR/lacking
	printf '#!/bin/sh\nexec %s "$@"\n' "${lacking[*]}" >"$AGENTBOX"
	chmod +x "$AGENTBOX"
	agentbox run -v -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *"net-fence dns-fence"* ]]
	[[ "$output" != *transparent* ]]
	inside '
print(try_tcp("203.0.113.1", 443), own("127.0.0.1", socket.SOCK_STREAM))
print(try_tcp("127.0.0.1", 61080) in ("127.0.0.1", "ECONNRESET"))
print(os.environ["GIT_SSH_COMMAND"])'
	expect <<-END
	ENETUNREACH 127.0.0.1
	True
	ssh -o 'ProxyCommand=/dev/agentbox-program connect %h %p'
	END
	GIT_SSH_COMMAND='ssh -v' inside 'print(os.environ["GIT_SSH_COMMAND"])'
	[ "$output" = "ssh -v" ]
	inside 'print("GIT_SSH_COMMAND" in os.environ)' --net blocked
	[ "$output" = False ]
}

@test "network: a nested box that wants no network gets none, one with a door keeps it" {
	need userns
	need program:python3
	local try='
import socket, sys
try:
    s = socket.socket()
    s.settimeout(20)
    print(s.connect_ex(("127.0.0.1", 61080)))
except OSError as e:
    print(e.errno)'
	agentbox run -- "$AGENTBOX" run --net blocked -- python3 -c "$try"
	[ "$output" = 13 ]
	agentbox run -- "$AGENTBOX" run -- python3 -c "$try"
	[ "$output" = 0 ]
	agentbox run --net blocked -- "$AGENTBOX" run --net blocked -- python3 -c "$try"
	[ "$output" = 111 ]
}
