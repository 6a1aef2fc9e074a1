#!/bin/bash
# What does it cost that calls which write are seen?
#
#   test/bench/writes.sh PROGRAM OTHER [ROUNDS]
#
# Runs real work with both programs in turn, so that both meet the same machine, and
# prints the shortest and the median time of each. OTHER is a program to compare with,
# such as the last release. The work: launch (/bin/true, 40 times), unpack (50,000 small
# files to a disk), clone (a repository of 1,200 files), copy (the same repository by its
# path, from which git copies files instead of packing them), build (120 C files), and npm
# (npm ci of a local package tree, if npm is there). FILES and WORK change it; BENCH_DIR is a
# folder on the disk to test, not below /tmp or /var/tmp. Nothing else should run
# meanwhile: each held call is a wake-up, which a busy machine delays.
#
# Each run gets a new folder, and all are removed at the end: ext4 passes over inodes that were
# deleted in the last minutes, one by one, which made a clone up to five times slower and hid
# the difference. It needs 250 MB for each run of unpack. What the work reads is outside the home
# folder, because reading through a layer of the home costs something that is not measured here.
set -eu

PROGRAM=$(realpath "${1:?usage: writes.sh PROGRAM OTHER [ROUNDS]}")
OTHER=$(realpath "${2:?usage: writes.sh PROGRAM OTHER [ROUNDS]}")
ROUNDS=${3:-7}
FILES=${FILES:-50000}
WORK=${WORK:-launch unpack clone copy build npm}
DIR=$(mktemp -d "${BENCH_DIR:-$HOME}/agentbox-writes.XXXXXX")
SRC=$DIR/src
trap 'rm -rf "$DIR"' EXIT
export HOME=$DIR/home AGENTBOX_STATE=$DIR/state GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=b GIT_AUTHOR_EMAIL=b@b GIT_COMMITTER_NAME=b GIT_COMMITTER_EMAIL=b@b
mkdir -p "$HOME" "$SRC"

make_unpack()
{
	mkdir "$SRC/tree"
	(cd "$SRC/tree" && seq 0 $((FILES / 100)) | xargs mkdir &&
		seq 1 "$FILES" | awk '{ f = int($1 / 100) "/f" $1; print $1 >f; close(f) }')
	tar -C "$SRC" -cf "$SRC/tree.tar" tree
}

make_clone()
{
	git init -q "$SRC/origin"
	(cd "$SRC/origin" && for i in $(seq 1 1200); do
		mkdir -p "d$((i / 40))"
		seq "$i" $((i + 50)) >"d$((i / 40))/f$i"
	done && git add . && git commit -qm one)
}

make_copy() { [ -d "$SRC/origin" ] || make_clone; }

make_build()
{
	mkdir "$SRC/c"
	(
		cd "$SRC/c"
		for i in $(seq 1 120); do
			printf '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint f%d(int n) { char b[64]; snprintf(b, 64, "%%d", n); return (int)strlen(b) + abs(n); }\n' "$i" >"f$i.c"
		done
		printf 'O = $(patsubst %%.c,$(OUT)/%%.o,$(wildcard *.c))\nlib: $(O)\n\tar rcs $(OUT)/lib.a $^\n$(OUT)/%%.o: %%.c\n\tgcc -O2 -c -o $@ $<\n' >Makefile
	)
}

make_npm()
{
	command -v npm >/dev/null || return 1
	mkdir -p "$SRC/app" "$SRC/packages"
	(
		cd "$SRC/packages"
		for i in $(seq 1 60); do
			mkdir -p "p$i/lib"
			printf '{ "name": "p%d", "version": "1.0.0" }\n' "$i" >"p$i/package.json"
			for k in $(seq 1 40); do echo "module.exports = $k" >"p$i/lib/m$k.js"; done
			tar -czf "$SRC/app/p$i.tgz" --transform "s,^p$i,package," "p$i"
		done
	)
	(
		cd "$SRC/app"
		printf '{ "name": "app", "version": "1.0.0", "dependencies": {' >package.json
		for i in $(seq 1 60); do printf '%s"p%d": "file:p%d.tgz"' "$([ "$i" = 1 ] || echo ,)" "$i" "$i"; done >>package.json
		echo '} }' >>package.json
		npm install --package-lock-only --offline --no-audit --no-fund >/dev/null 2>&1
	)
}

run_launch() { for _ in $(seq 1 40); do "$1" run -- /bin/true; done; }
run_unpack() { "$1" run -- tar -xf "$SRC/tree.tar"; }
run_clone() { "$1" run -- git clone -q "file://$SRC/origin" clone; }
run_copy() { "$1" run -- git clone -q "$SRC/origin" clone; }
run_build() { "$1" run -- make -s -C "$SRC/c" OUT="$PWD" lib; }
run_npm()
{
	"$1" run --yes -- npm ci --offline --no-audit --no-fund --cache "$PWD/cache" >/dev/null
}

# measure WORK PROGRAM: microseconds, into a new folder on a quiet disk.
measure()
{
	local before

	cd "$(mktemp -d "$HOME/ws.XXXXXX")"
	[ "$1" != npm ] || cp "$SRC"/app/* .
	sync
	before=$(date +%s%N)
	"run_$1" "$2" 2>/dev/null
	echo $((($(date +%s%N) - before) / 1000))
	cd "$DIR"
}

# report FILE: the smallest and the middle line.
report()
{
	sort -n "$1" | awk '{ v[NR] = $1 } END { printf "%10.1f %10.1f", v[1] / 1000, v[int((NR + 1) / 2)] / 1000 }'
}

printf '%-8s %21s   %21s   %s\n' "" "PROGRAM min, median ms" "OTHER min, median ms" "ratio of minima, medians"
for work in $WORK; do
	! declare -F "make_$work" >/dev/null || "make_$work" || continue
	: >"$DIR/new" >"$DIR/old"
	for round in $(seq 1 "$ROUNDS"); do
		if [ $((round % 2)) = 1 ]; then
			measure "$work" "$PROGRAM" >>"$DIR/new"
			measure "$work" "$OTHER" >>"$DIR/old"
		else
			measure "$work" "$OTHER" >>"$DIR/old"
			measure "$work" "$PROGRAM" >>"$DIR/new"
		fi
	done
	new=$(report "$DIR/new") old=$(report "$DIR/old")
	printf '%-8s %s   %s   %s\n' "$work" "$new" "$old" \
		"$(awk '{ printf "%.3f %.3f", $1 / $3, $2 / $4 }' <<<"$new $old")"
done
