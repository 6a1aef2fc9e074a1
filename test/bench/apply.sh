#!/bin/bash
# What does `apply` cost beside `cp -a`? A layer of 10,000 files, half of them changed
# and half new, and 250 deletions; cp copies it to a new folder, without undo. Both are
# timed in turn, and the medians printed. Nothing else should use the disk meanwhile.
# Each round has new folders: ext4 without a journal is slow to create files where many
# were removed a minute ago.
#
#   apply.sh [AGENTBOX] [ROUNDS]     TMPDIR chooses the disk
set -eu
agentbox=$(realpath "${1:-build/cmd/agentbox}")
rounds=${2:-5}
top=$(mktemp -d "${TMPDIR:-/var/tmp}/apply-bench.XXXXXX")
trap 'chmod -R u+rwX "$top"; rm -rf "$top"' EXIT
umask 022

# Each file has about 4 KB. make FOLDER FROM TO TEXT
make()
{
	python3 - "$@" <<-'PY'
	import os, sys
	top, first, last, text = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
	for i in range(first, last):
	    folder = f"{top}/d{i % 100}"
	    os.makedirs(folder, exist_ok=True)
	    with open(f"{folder}/f{i}", "w") as f:
	        f.write(f"{text} {i}\n" * 300)
	PY
}

make_layer()
{
	local set=$AGENTBOX_STATE/layers/bench now i

	mkdir -p "$HOME/project"
	make "$HOME/project" 0 5250 old
	mkdir -p -m 700 "$AGENTBOX_STATE" "$AGENTBOX_STATE/layers" "$set"
	mkdir -m 700 "$set/project" "$set/project/work"
	mkdir -m 755 "$set/project/upper"
	sleep 0.1
	now=$(date +%s%N)
	printf '{"version":1,"key":"bench","name":"bench","profile":"default","workspace":"%s","home":"%s","kernel":"","policy":"","created":%s,"started":%s,"used":%s,"runs":[],"returns":[],"form":"overlay","project":%s,"waiting":-1}\n' \
		"$HOME/project" "$HOME" "$now" "$now" "$now" "$now" >"$set/meta.json"
	: >"$set/lock"
	chmod 600 "$set/meta.json" "$set/lock"
	make "$set/project/upper" 250 10250 new
	for i in $(seq 0 249); do
		mknod "$set/project/upper/d$((i % 100))/f$i" c 0 0
	done
	sync
}

# The seconds of a command.
clock()
{
	local began=$EPOCHREALTIME

	"$@" >"$top/out" 2>&1 || { cat "$top/out" >&2; exit 1; }
	awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f\n", b - a }'
}

median()
{
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

for ((i = 0; i < rounds; i++)); do
	export AGENTBOX_STATE=$top/$i/state HOME=$top/$i/home
	make_layer
	clock cp -a "$AGENTBOX_STATE/layers/bench/project/upper" "$top/$i/copy" >>"$top/cp"
	sync
	clock "$agentbox" apply bench --all >>"$top/apply"
	clock "$agentbox" undo bench >>"$top/undo"
done
cp=$(median <"$top/cp")
echo "cp -a   $cp s"
for what in apply undo; do
	median <"$top/$what" | awk -v what="$what" -v cp="$cp" \
		'{ printf "%-7s %s s (%.2f times)\n", what, $1, $1 / cp }'
done
