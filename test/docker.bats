# The container filter: a box starts containers, and gets nothing else of the engine.
#
# The engine is Podman's service with runc, as root, in folders of this file alone. Its image is a
# shell and a few programs of this machine; nothing is downloaded. One test has the rootless
# service of a user.
#
# unsanitized: containers take long to make, and run the same program
# root: containers need root here
load helpers
load rootless

POD_USER=12445
IMAGE=localhost/stand-in:1

setup_file()
{
	local base=${AB_TEST_DIR:-$HOME/.cache/agentbox-test} name file

	[ "$(id -u)" -eq 0 ] && command -v podman runc >/dev/null || return 0
	mkdir -p "$base"
	PODS=$(mktemp -d "$base/d.XXXXXX")
	export PODS
	chmod 711 "$PODS"
	mkdir -p "$PODS"/image/{bin,tmp,etc,proc,sys,dev}
	for name in sh cat sleep id ls touch; do
		file=$(readlink -f "$(command -v "$name")")
		cp "$file" "$PODS/image/bin/$name"
		ldd "$file" | grep -o '/[^ ]*' | while read -r file; do
			mkdir -p "$PODS/image${file%/*}"
			cp -L "$file" "$PODS/image$file"
		done
	done
	printf 'root:x:0:0::/:/bin/sh\n' >"$PODS/image/etc/passwd"
	printf '[engine]\nlock_type = "file"\n[containers]\ndefault_ulimits = []\n' >"$PODS/containers.conf"
	export CONTAINERS_CONF=$PODS/containers.conf
	{
		tar -C "$PODS/image" -c . | pod import - "$IMAGE" &&
			tar -C "$PODS/image/etc" -c . | pod import - localhost/other:1 &&
			pod run -d --name host-one --network none "$IMAGE" sleep 1400
	} >"$PODS/log" 2>&1 3>&- 4>&- || echo failed >>"$PODS/log"
	setsid timeout 1500 podman $(pod_options) system service --time 0 "unix://$PODS/engine.sock" \
		>"$PODS/service.log" 2>&1 3>&- 4>&- &
	echo $! >"$PODS/pid"
	wait_for 60 test -S "$PODS/engine.sock"
}

teardown_file()
{
	[ -n "${PODS:-}" ] || return 0
	pod rm -f -t 0 host-one >/dev/null 2>&1 3>&- 4>&- || :
	kill "$(cat "$PODS/pid")" 2>/dev/null || :
	findmnt -rno TARGET | grep -F "$PODS" | sort -r | xargs -r umount -l
	rm -rf --one-file-system "$PODS"
}

teardown()
{
	[ -z "${ROOTLESS:-}" ] || kill "$ROOTLESS" || wait "$ROOTLESS" || :
	box_teardown
}

pod()
{
	timeout 100 podman $(pod_options) "$@"
}

pod_options()
{
	local dir=${1:-$PODS} runtime=${2:-runc}

	echo "--root $dir/storage --runroot $dir/run --tmpdir $dir/tmp --storage-driver vfs" \
		"--runtime $runtime --cgroup-manager=cgroupfs --events-backend=none"
}

need_engine()
{
	only_root
	need program:podman
	need program:runc
	! grep -qx failed "$PODS/log" || lacks "Podman makes no container here: $(tail -n 2 "$PODS/log")"
	cp "$ROOT/test/docker_client.py" client.py
	mkdir -p "$HOME/.config/agentbox"
	printf '{ "docker": { "images": ["%s"], "mounts": ["."], "socket": "%s" } }\n' "$IMAGE" \
		"$PODS/engine.sock" >"$HOME/.config/agentbox/config.json"
}

# The names of all containers of the engine.
containers()
{
	pod ps -a --format '{{.Names}}' 3>&- 4>&- | sort
}

only_host_one()
{
	[ "$(containers)" = host-one ]
}

# The process of the one run that is active.
supervisor()
{
	jq -r .pid < <(head -n 1 "$AGENTBOX_STATE"/live/*/audit.jsonl)
}

@test "docker: it is off unless an image is named, and a project cannot turn it on" {
	agentbox run -- sh -c 'echo "${DOCKER_HOST:-none}"; ls /run'
	[ "$status" -eq 0 ]
	[ "$output" = none ]
	echo '{ "docker": { "images": ["*"], "network": "bridge", "pull": true } }' >.agentbox.json
	agentbox run -- sh -c 'echo "${DOCKER_HOST:-none}"'
	[[ "$output" == *none ]]
	[[ "$output" == *"asks for more (3 keys)"* ]]
	rm .agentbox.json
	agentbox run --docker 'a b' -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"is not the name of an image"*"postgres:16"* ]]
	agentbox run --docker x --dry-run -- true
	[[ "$output" == *"containers  of x:latest; without network"* ]]
	# Without an engine there is a note, and no variable.
	DOCKER_HOST=tcp://127.0.0.1:1 agentbox run --docker x -- sh -c 'echo "${DOCKER_HOST#tcp:*}."'
	[ "$status" -eq 0 ]
	[[ "$output" == *"DOCKER_HOST is not a Unix socket"* ]]
}

@test "docker: a socket where a box can write is refused" {
	python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("own.sock")'
	DOCKER_HOST=unix://$PWD/own.sock agentbox run --docker x -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"where a box can write"*docker.socket* ]]
	mkdir "$TEST_DIR/outside"
	(cd "$TEST_DIR/outside" && python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("s")')
	DOCKER_HOST=unix://$TEST_DIR/outside/s agentbox run --docker x -- sh -c 'echo "$DOCKER_HOST"'
	[ "$status" -eq 0 ]
	[[ "$output" == *unix:///run/agentbox/docker.sock* ]]
}

@test "docker: a container is created, started, used and removed" {
	need_engine
	agentbox run -- python3 client.py flow "$IMAGE"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ "$(containers)" = host-one ]
	agentbox log
	[[ "$output" == *"docker   POST /v1.41/containers/create"*"image $IMAGE"* ]]
	[ -z "$(ls "$AGENTBOX_STATE/containers")" ]
}

@test "docker: a rootless engine of the user is found by itself, and gives no more" {
	need_engine
	need program:newuidmap
	local user=$PODS/user runtime=runc
	local socket=$user/run/podman/podman.sock

	mkdir -p "$user"/{home,run/podman,work/{data,.git}}
	cp client.py "$user/work"
	echo content >"$user/work/data/file"
	chown -R "$POD_USER:$POD_USER" "$user"
	tar -C "$PODS/image" --owner=0 --group=0 -c . >"$PODS/image.tar"
	chmod 644 "$PODS/image.tar" "$CONTAINERS_CONF"
	cp "$CONTAINERS_CONF" "$PODS/rootless.conf"
	if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
		# Nobody delegated cgroups to this user, and runc insists on them.
		need program:crun
		runtime=crun
		sed -i 's/^\[containers\]/&\ncgroups = "disabled"/' "$PODS/rootless.conf"
	fi
	CONTAINERS_CONF=$PODS/rootless.conf as_pod_user 500 sh -c "podman $(pod_options "$user" $runtime) import '$PODS/image.tar' $IMAGE &&
		exec podman $(pod_options "$user" $runtime) system service --time 0 unix://$socket" >"$PODS/rootless.log" 2>&1 3>&- 4>&- &
	ROOTLESS=$!
	wait_for 200 test -S "$socket" || cat "$PODS/rootless.log"
	cd "$user/work"
	as_user()
	{
		run timeout 200 setpriv --reuid "$POD_USER" --regid "$POD_USER" --clear-groups \
			env HOME="$user/home" XDG_RUNTIME_DIR="$user/run" AGENTBOX_STATE="$user/state" "$AGENTBOX" "$@" 3>&-
		echo "$output"
	}
	as_user run --docker "$IMAGE" -- python3 client.py flow "$IMAGE"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	as_user run --config '{"docker": {"images": ["'"$IMAGE"'"], "mounts": ["."]}}' -- \
		python3 client.py hostile "$IMAGE"
	[ "$status" -eq 0 ]
	[[ "$output" == *"36 refused"*"requests to the container engine were denied"* ]]
	as_user run --config '{"docker": {"images": ["'"$IMAGE"'"], "mounts": ["./data"]}}' -- \
		python3 client.py mount "$IMAGE" "$PWD/data"
	# Root in the container is the user.
	[[ "$output" == *"content"*"0"*"Read-only file system"*file*"403 "*"runs as 0:0"* ]]
	[ "$(ls data)" = file ]
	[ "$(curl -s --unix-socket "$socket" 'http://engine/v1.41/containers/json?all=1')" = '[]' ]
}

@test "docker: hostile requests are refused with a reason and an id, and their twins are not" {
	local id

	need_engine
	mkdir .git
	agentbox run -- python3 client.py hostile "$IMAGE"
	[ "$status" -eq 0 ]
	[[ "$output" == *"36 refused"*"requests to the container engine were denied"* ]]
	[ "$(containers)" = host-one ]
	[[ "$output" =~ ([a-z2-9]+)-c1 ]]
	id=${BASH_REMATCH[0]}
	agentbox why "$id"
	[ "$status" -eq 0 ]
	[[ "$output" == *"the field HostConfig.Privileged"*"agentbox.json(5)"* ]]
	agentbox allow "$id"
	[ "$status" -ne 0 ]
}

@test "docker: containers that are not of the run do not exist" {
	need_engine
	agentbox run -- python3 client.py stranger host-one
	[ "$status" -eq 0 ]
	[ "$(pod ps --format "{{.Names}}" 3>&- 4>&-)" = host-one ]
}

@test "docker: a folder is mounted read-only, and cannot be replaced" {
	need_engine
	make_repo .
	mkdir data
	echo content >data/file
	sed -i 's|"mounts": \[[^]]*\]|"mounts": ["./data"]|' "$HOME/.config/agentbox/config.json"
	agentbox run -- sh -c "python3 client.py mount $IMAGE \$PWD/data; mv data other; ln -s / data"
	[[ "$output" == *"content"*"0"*"Read-only file system"*file* ]]
	[[ "$output" == *"403 "*"runs as 0:0"* ]]
	[ -d data ]
	[ ! -L data ]
	[ ! -e data/new ]
	# A hidden file would be visible to the container.
	touch data/secret
	agentbox run --deny-read "$PWD/data/secret" -- python3 client.py mount "$IMAGE" "$PWD/data"
	[ "$status" -ne 0 ]
	[[ "$output" == *"is hidden from the box"*"is not one of docker.mounts"* ]]
	[ "$(containers)" = host-one ]
}

@test "docker: containers go when the run is killed, or with the next run" {
	local filter pid

	need_engine
	launch run -- python3 client.py keep "$IMAGE" "$PWD/end" >out 2>&1 &
	pid=$!
	wait_for 60 grep -qs kept out
	[ "$(containers)" = "$(printf 'host-one\nkept')" ]
	kill -KILL "$(supervisor)"
	wait_for 60 only_host_one
	wait "$pid" || :
	wait_for 60 eval '[ -z "$(ls "$AGENTBOX_STATE/live")" ]'
	# The filter as well: only the next run can do it. Nobody must read what the last one said.
	rm out
	launch run -- python3 client.py keep "$IMAGE" "$PWD/end" >out 2>&1 &
	pid=$!
	wait_for 60 grep -qs kept out
	filter=$(pgrep -P "$(supervisor)" -x agentbox-docker)
	kill -KILL "$filter"
	touch end
	wait "$pid" || :
	grep -q "containers of this run may be left" out
	[ "$(containers)" = "$(printf 'host-one\nkept')" ]
	agentbox run -- true
	[[ "$output" == *"removed 1 container that run"* ]]
	[ "$(containers)" = host-one ]
}

@test "docker: attach, exec and logs are streams, with an upgrade and without" {
	need_engine
	agentbox run -- python3 client.py streams "$IMAGE"
	[ "$status" -eq 0 ]
	[ "$output" = "attach 101 ['got', 'a', 'then', 'b']
attach 200 ['got', 'a', 'then', 'b']
logs True
exec 101 ['got', 'typed']
exec 101 ['got', 'typed']
exec 200 ['got', 'typed']
exec 200 ['got', 'typed']" ]
	[ "$(containers)" = host-one ]
	[ "$(recorded '.stream == true')" -eq 6 ]
}

# detached BODY...: commands that are started with these; behind each, the box asks for a container that writes
# into the home folder as root. Each command runs, and nothing else is made.
detached()
{
	local number numbers='' said=''

	need_engine
	agentbox run -- python3 client.py detached "$IMAGE" "$HOME/owned" "$@"
	[ ! -e "$HOME/owned" ]
	[ "$(containers)" = host-one ]
	[ "$status" -eq 0 ]
	for ((number = 0; number < $#; number++)); do
		said+=$'detached 200 False\n'
		numbers+=${numbers:+, }"'$number'"
	done
	[ "$output" = "${said}[$numbers] [['/one']]" ]
	[ "$(recorded '(.path | test("/exec/.*/start")) and .status == 200 and .stream == null')" -eq $# ]
}

@test "docker: a detached command gives no connection to the engine" {
	detached '{"Detach":true}'
}

@test "docker: a detached command in another spelling gives none either" {
	detached '{"Tty":true,"Detach":true}' $' {"Detach" :\n true }' $'f\r\n{"Detach":true}\r\n0\r\n\r\n'
}

# recorded FILTER: how many records about containers are so.
recorded()
{
	cat "$AGENTBOX_STATE"/runs/*/audit.jsonl |
		jq -s "[.[] | select(.kind == \"container\" or .door == \"container\") | select($1)] | length"
}

# lies WAYS: an engine that lies answers starts of commands; its log is $TEST_DIR/log, $names what it says.
lies()
{
	local engine

	mkdir "$TEST_DIR/outside"
	python3 "$ROOT/test/lying_engine.py" "$TEST_DIR/outside/s" "$TEST_DIR/log" 3>&- 4>&- &
	engine=$!
	wait_for 30 test -S "$TEST_DIR/outside/s"
	cp "$ROOT/test/docker_client.py" client.py
	names=$(cd "$ROOT/test" && python3 -c 'import lying_engine; print(*lying_engine.ANSWERS)')
	DOCKER_HOST=unix://$TEST_DIR/outside/s agentbox run --docker stand-in:1 -- \
		python3 client.py lies "$1" $names
	kill "$engine"
}

@test "docker: an engine that lies about a detached command gets no byte of the box" {
	local names

	lies detached
	! grep /containers/create "$TEST_DIR/log" || false
	! grep ', detached, Upgrade' "$TEST_DIR/log" || false
	[ "$status" -eq 0 ]
	[ "$(wc -l <"$TEST_DIR/log")" -eq "$(wc -w <<<"$names")" ]
	[ "$(grep -c ", close: b''" "$TEST_DIR/log")" -gt 0 ]
	[ "$(recorded '.path | test("/exec/.*/start")')" -eq "$(wc -w <<<"$names")" ]
	[ "$(recorded '.stream == true')" -eq 0 ]
}

@test "docker: an engine that lies gets no byte of the box, and one that does not a stream" {
	local names starts

	lies attached
	! grep /containers/create "$TEST_DIR/log" | grep -v '^honest-' || false
	[ "$status" -eq 0 ]
	starts=$((2 * $(wc -w <<<"$names")))
	[ "$(wc -l <"$TEST_DIR/log")" -eq "$starts" ]
	[ "$(grep -c 'a stream' <<<"$output")" -eq 9 ]
	# Every byte that came is of a stream.
	[ "$(grep -c '^honest-.*, attached, .*/containers/create' "$TEST_DIR/log")" -eq 9 ]
	[ "$(grep -c ", close: b''" "$TEST_DIR/log")" -gt 0 ]
	[ "$(recorded '.path | test("/exec/.*/start")')" -eq "$starts" ]
	[ "$(recorded '.stream == true')" -eq 9 ]
	[ "$(recorded '.status == 502 and .engine_status == 101 and (.error | test("protocol switch"))')" -gt 0 ]
}

@test "docker: every request is in the record, also one that is malformed or about nothing" {
	local engine

	mkdir "$TEST_DIR/outside"
	python3 "$ROOT/test/lying_engine.py" "$TEST_DIR/outside/s" "$TEST_DIR/log" 3>&- 4>&- &
	engine=$!
	wait_for 30 test -S "$TEST_DIR/outside/s"
	cat >raw.py <<-'END'
		import os, socket
		for data in (b"GET /_ping HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /containers/no/json HTTP/1.1\r\nHost: x\r\n\r\n",
		             b"GET /x\x1b[31m HTTP/1.1\r\n\r\n", b"hello\r\n\r\n", b"GET /_ping HT",
		             b"POST /containers/create HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"):
		    s = socket.socket(socket.AF_UNIX)
		    s.connect(os.environ["DOCKER_HOST"][len("unix://"):])
		    s.sendall(data)
		    s.shutdown(socket.SHUT_WR)
		    print(s.recv(100).split(b" ")[1].decode())
	END
	DOCKER_HOST=unix://$TEST_DIR/outside/s agentbox run --docker stand-in:1 -- python3 raw.py
	kill "$engine"
	[[ "$output" == "200
404
400
400
400
400
"* ]]
	[ "$(recorded '.path == "/_ping" and .status == 200 and .engine_status == 200')" -eq 1 ]
	[ "$(recorded '.path == "/containers/no/json" and .status == 404 and .allowed == false')" -eq 1 ]
	[ "$(recorded '.path == "GET /x\\x1b[31m HTTP/1.1" and .id != null')" -eq 1 ]
	[ "$(recorded '.path == "hello" and .status == 400')" -eq 1 ]
	[ "$(recorded '.path == "GET /_ping HT" and (.reason | test("cut off"))')" -eq 1 ]
	[ "$(recorded '.path == "/containers/create" and .status == 400')" -eq 1 ]
	agentbox log
	[[ "$output" == *"docker"*"GET /_ping"* ]]
	[[ "$output" != *$'\e'* ]]
}
