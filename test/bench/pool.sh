#!/bin/bash
# Prepared boxes: how long until a command runs, and what waiting costs.
#
#	test/bench/pool.sh [AGENTBOX [ROUNDS]]
#
# Start to first instruction: the command reads the clock first, the client has read it before the
# request. Everything is measured in turns within one run, so that a busy machine slows all of them down.
# First through the C library of the same build, then through a client in Python, which takes longer itself.
set -eu

program=$(realpath "${1:-build/cmd/agentbox}")
rounds=${2:-200}
root=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d "${HOME:-/tmp}/agentbox-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/workspace"
cat >"$work/first.c" <<'C'
#include <stdio.h>
#include <time.h>
int main(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	printf("%lld\n", (long long)t.tv_sec * 1000000000 + t.tv_nsec);
	return 0;
}
C
cc -O2 -static -o "$work/workspace/first" "$work/first.c"
cc -O2 -o "$work/pool_start" "$root/test/bench/pool_start.c" -I"$root/bindings/c" \
	"$(dirname "$program")/../bindings/c/libagentbox.a" -ljansson -pthread
cd "$work/workspace"
AGENTBOX_STATE=$work/state "$work/pool_start" "$program" "$rounds" ./first >"$work/times"
awk '{ print $1 }' "$work/times" | sort -n | sed -n "$(((rounds + 1) / 2))p" >"$work/prepared"
awk '{ print $2 }' "$work/times" | sort -n | sed -n "$(((rounds + 1) / 2))p" >"$work/new"
awk -v n="$rounds" 'NR == 1 { p = $1 } NR == 2 {
	printf "start to first instruction through the library, %d rounds, medians:\n", n
	printf "  pool %.0f us, cold %.0f us, %.3f of a cold one\n", p, $1, p / $1 }' "$work/prepared" "$work/new"
AGENTBOX_STATE=$work/state PYTHONPATH=$root/test python3 - "$program" "$rounds" <<'PY'
import glob, os, shutil, statistics, subprocess, sys, threading, time
from serve_client import Client

program, rounds = sys.argv[1], int(sys.argv[2])
c = Client(program)
pool = c.ask(do="pool", size=4)["pool"]


def served(**members):
    begun = time.monotonic_ns()
    run = c.run(argv=["./first"], **members)
    warm = c.event("started", run)["warm"]
    result = c.result(run)
    return int(result["stdout"]) - begun, warm


def alone(*words):
    begun = time.monotonic_ns()
    out = subprocess.run([*words, "./first"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout
    return int(out) - begun, False


ways = {"pool": lambda: served(pool=pool), "serve, cold": served, "agentbox run": lambda: alone(program, "run", "--"),
        "no box": lambda: alone()}
if shutil.which("bwrap"):
    ways["bubblewrap"] = lambda: alone("bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev",
                                       "/dev", "--die-with-parent")
times, warm = {name: [] for name in ways}, 0
for _ in range(rounds):
    for name, way in ways.items():
        time.sleep(0.005)
        took, prepared = way()
        times[name].append(took / 1000)
        warm += prepared
cold = statistics.median(times["serve, cold"])
print(f"start to first instruction, {rounds} rounds ({warm} from the pool were prepared):")
for name, values in times.items():
    print(f"  {name:14} median {statistics.median(values):6.0f} us, least {min(values):6.0f} us, "
          f"{statistics.median(values) / cold:.2f} of a cold one")


def commands(total, at_once, way):
    left = iter(range(total))
    lock = threading.Lock()

    def work():
        mine = way()
        while True:
            with lock:
                if next(left, None) is None:
                    break
            mine()
    begun = time.monotonic()
    threads = [threading.Thread(target=work) for _ in range(at_once)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    return time.monotonic() - begun


def through(pooled):
    def make():
        client = Client(program)
        members = {"pool": client.ask(do="pool", size=2)["pool"]} if pooled else {}
        return lambda: client.result(client.run(argv=["true"], **members))
    return make


def plain():
    return lambda: subprocess.run(["true"])


total = 5 * rounds
print(f"{total} short commands (true), seconds in all:")
for at_once in 1, 4, 16:
    took = [commands(total, at_once, way) for way in (through(True), through(False), plain)]
    print(f"  {at_once:2} at once: pool {took[0]:.2f}, serve {took[1]:.2f}, without a box {took[2]:.2f}")


def memory(pid):
    values = dict(pss=0, private=0)
    for line in open(f"/proc/{pid}/smaps_rollup"):
        if line.startswith("Pss:"):
            values["pss"] += int(line.split()[1])
        if line.startswith("Private_"):
            values["private"] += int(line.split()[1])
    return values


def parent(pid):
    return int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1])


time.sleep(0.5)
tree = [int(path.split("/")[2]) for path in glob.glob("/proc/[0-9]*/stat")]
parents = {}
for pid in tree:
    try:
        parents[pid] = parent(pid)
    except OSError:
        pass
print("memory of a waiting box (KiB), four of them wait:")
for name, level in (("supervisor", 1), ("broker, and init with the process that waits", 2)):
    pids = [c.process.pid]
    for _ in range(level):
        pids = [pid for pid, of in parents.items() if of in pids]
    try:
        found = [memory(pid) for pid in pids]
    except OSError as error:
        print(f"  {name}: {error.strerror} (run it as root)")
        continue
    print(f"  {name}: Pss {sum(f['pss'] for f in found) / 4:.0f}, private {sum(f['private'] for f in found) / 4:.0f}")
c.close()
PY
