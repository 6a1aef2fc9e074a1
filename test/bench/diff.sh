#!/bin/bash
# How long does it take to look at many changes?
#
#   test/bench/diff.sh PROGRAM [ROUNDS]
#
# Makes a repository of FILES files (10,000) and a layer above it that changes all of
# them. Prints the shortest and the median time of `agentbox diff --stat`, and, beside it, of
# `git status` and `git diff --stat` in a copy of the repository with the same changes. Both
# run in turn, so that both meet the same machine, with warm caches. BENCH_DIR is a folder
# on the disk to test.
set -eu

PROGRAM=$(realpath "${1:?usage: diff.sh PROGRAM [ROUNDS]}")
ROUNDS=${2:-7}
FILES=${FILES:-10000}
DIR=$(mktemp -d "${BENCH_DIR:-$HOME}/agentbox-diff.XXXXXX")
trap 'rm -rf "$DIR"' EXIT
export HOME=$DIR/home AGENTBOX_STATE=$DIR/state GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=b GIT_AUTHOR_EMAIL=b@b GIT_COMMITTER_NAME=b GIT_COMMITTER_EMAIL=b@b
mkdir -p "$HOME/ws"

# files DIR TEXT: each file has 30 lines, of which one is TEXT.
files()
{
	(cd "$1" && seq 0 $((FILES / 100)) | xargs mkdir -p &&
		seq 1 "$FILES" | awk -v text="$2" '{
			f = int($1 / 100) "/f" $1 ".c"
			for (i = 0; i < 30; i++)
				print i == 15 ? text : "line " i " of " $1 >f
			close(f)
		}')
}

cd "$HOME/ws"
git init -q
files . old
git add .
git commit -qm one
cp -a "$HOME/ws" "$HOME/changed"
set_dir=$AGENTBOX_STATE/layers/bench
(umask 077 && mkdir -p "$set_dir/project/upper" "$set_dir/project/work")
now=$(date +%s%N)
(umask 077 && cat >"$set_dir/meta.json") <<END
{"version":1,"key":"bench","name":"bench","profile":"default","workspace":"$HOME/ws",
"home":"$HOME","kernel":"6.1","policy":"ab","created":$now,"started":$now,"used":$now,
"runs":[],"returns":[],"form":"overlay","project":$now,"waiting":-1}
END
files "$set_dir/project/upper" new
files "$HOME/changed" new

run_diff() { "$PROGRAM" diff bench --stat >"$DIR/out" && grep -q "$FILES changes" "$DIR/out"; }
run_status() { git -C "$HOME/changed" status --short >"$DIR/out"; }
run_gitdiff() { git -C "$HOME/changed" diff --stat >"$DIR/out"; }

# measure WORK: microseconds. git writes what it learned to the index, so make it look again.
measure()
{
	local before

	touch "$HOME/changed/.git/index"
	before=$(date +%s%N)
	"run_$1"
	echo $((($(date +%s%N) - before) / 1000))
}

# report FILE: the smallest and the middle line.
report()
{
	sort -n "$1" | awk '{ v[NR] = $1 } END { printf "%10.1f %10.1f", v[1] / 1000, v[int((NR + 1) / 2)] / 1000 }'
}

for round in $(seq 0 "$ROUNDS"); do
	for work in diff status gitdiff; do
		time=$(measure "$work")
		[ "$round" = 0 ] || echo "$time" >>"$DIR/$work"
	done
done
printf '%-20s %s\n' "$FILES changed files" "  min, median ms"
printf '%-20s %s\n' "agentbox diff --stat" "$(report "$DIR/diff")"
printf '%-20s %s\n' "git status" "$(report "$DIR/status")"
printf '%-20s %s\n' "git diff --stat" "$(report "$DIR/gitdiff")"
