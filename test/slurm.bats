# unsanitized: 200 starts
# deploy/slurm: a job array on two nodes (two slurmd on this machine), with a
# real slurmctld. Each task has its own policy, secret and workspace.
UNJUDGED=1
load helpers

TASKS=200

# A name for this user, where only the daemons and their children see it.
enter()
{
	if [ "$(id -u)" -eq 0 ]; then
		exec "$@"
	fi
	exec unshare --user --map-current-user --keep-caps --mount \
		sh -c 'mount --bind "$0/passwd" /etc/passwd &&
			exec setpriv --ambient-caps=-all --inh-caps=-all "$@"' "$TEST_DIR/slurm" "$@"
}

# inside CMD...: a client of Slurm, in the namespaces of the daemons.
inside()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		nsenter --target "$controller" --user --preserve-credentials --mount \
			env -C "$PWD" "$@"
	fi
}

# Ports that are free now; below those that the kernel gives to others meanwhile, and elsewhere for
# another process.
free_ports()
{
	python3 -c '
import os, socket
found, port = [], 20000 + os.getpid() * 7 % 9000
while len(found) < 3:
    s = socket.socket()
    try:
        s.bind(("127.0.0.1", port))
        found.append(s)
    except OSError:
        pass
    port += 1
print(*(s.getsockname()[1] for s in found))'
}

configure()
{
	local dir=$TEST_DIR/slurm ports

	mkdir -p "$dir"/{ctl,n1,n2}
	printf 'root:x:0:0:root:/root:/bin/sh\ntester:x:%d:%d::%s:/bin/sh\n' "$(id -u)" "$(id -g)" "$HOME" >"$dir/passwd"
	read -ra ports < <(free_ports)
	cat >"$dir/slurm.conf" <<-END
	ClusterName=test
	SlurmctldHost=$(uname -n)(127.0.0.1)
	SlurmctldPort=${ports[0]}
	AuthType=auth/none
	CredType=cred/none
	AuthInfo=cred_expire=5
	SlurmUser=$([ "$(id -u)" -eq 0 ] && echo root || echo tester)
	SlurmdUser=$([ "$(id -u)" -eq 0 ] && echo root || echo tester)
	StateSaveLocation=$dir/ctl
	SlurmdSpoolDir=$dir/%n
	SlurmctldPidFile=$dir/ctl.pid
	SlurmdPidFile=$dir/%n.pid
	SlurmdParameters=config_overrides
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	SelectType=select/cons_tres
	SelectTypeParameters=CR_CPU
	SchedulerType=sched/builtin
	SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_max_job_start=0
	MpiDefault=none
	JobAcctGatherType=jobacct_gather/none
	AccountingStorageType=accounting_storage/none
	JobCompType=jobcomp/none
	SwitchType=switch/none
	JobRequeue=1
	ReturnToService=2
	SlurmdTimeout=300
	KillWait=5
	MinJobAge=3600
	NodeName=n1 NodeAddr=127.0.0.1 NodeHostname=$(uname -n) Port=${ports[1]} CPUs=4 RealMemory=1000
	NodeName=n2 NodeAddr=127.0.0.1 NodeHostname=$(uname -n) Port=${ports[2]} CPUs=4 RealMemory=1000
	PartitionName=all Nodes=n1,n2 Default=YES MaxTime=10:00 State=UP
	END
	# Where cgroups are of version 2, the other plugin wants them delegated.
	echo CgroupPlugin=cgroup/v1 >"$dir/cgroup.conf"
	export SLURM_CONF=$dir/slurm.conf
}

start_node()
{
	inside slurmd -D -N "$1" >"$TEST_DIR/slurm/$1.out" 2>&1 3>&- &
}

# told DAEMON COUNT TEXT: for wait_for, before the first client: that takes a machine's time from what it waits for.
told()
{
	[ "$(grep -c "$3" "$TEST_DIR/slurm/$1.out")" -ge "$2" ]
}

nodes_ready()
{
	[ "$(inside sinfo -h -t idle -o %D 2>/dev/null)" = "${1:-2}" ]
}

start_cluster()
{
	configure
	(enter slurmctld -D) >"$TEST_DIR/slurm/ctl.out" 2>&1 3>&- &
	controller=$!
	wait_for 200 told ctl 1 'Running as primary controller'
	wait_for 200 inside scontrol ping
	start_node n1
	start_node n2
	wait_for 200 told n1 1 'slurmd started'
	wait_for 200 told n2 1 'slurmd started'
	wait_for 200 nodes_ready || { tail -n 20 "$TEST_DIR"/slurm/*.out; return 1; }
}

# kill_all node NODE: every process of a node, with the steps and boxes on it.
# kill_all cluster: every process of both nodes and the controller. Prints how
# many there were.
kill_all()
{
	python3 - "$TEST_DIR/slurm/slurm.conf" "$@" <<-'END'
	import os, signal, sys, time

	conf, what = sys.argv[1:3]

	def read(pid, name):
	    try:
	        with open(f"/proc/{pid}/{name}", "rb") as f:
	            return f.read().decode(errors="replace").split("\0")
	    except OSError:
	        return []

	def find():
	    pids = [int(p) for p in os.listdir("/proc") if p.isdigit()]
	    parent = {}
	    for pid in pids:
	        try:
	            with open(f"/proc/{pid}/stat") as f:
	                parent[pid] = int(f.read().rpartition(")")[2].split()[1])
	        except OSError:
	            pass
	    found = set()
	    for pid in parent:
	        env, words = read(pid, "environ"), read(pid, "cmdline")
	        if f"SLURM_CONF={conf}" not in env or pid == os.getpid() or pid == os.getppid():
	            continue
	        if what == "cluster":
	            if words[0].startswith("slurm") or "SLURM_JOB_ID" in "".join(env):
	                found.add(pid)
	        elif f"SLURMD_NODENAME={sys.argv[3]}" in env or words[:4] == ["slurmd", "-D", "-N", sys.argv[3]]:
	            found.add(pid)
	            if read(parent[pid], "cmdline")[0:1] and "slurmstepd" in read(parent[pid], "cmdline")[0]:
	                found.add(parent[pid])
	    # A supervisor hides its environment, but not its parents.
	    grew = True
	    while grew:
	        more = {p for p, q in parent.items() if q in found} - found
	        grew = bool(more)
	        found |= more
	    return found

	def runs(pid):
	    try:
	        with open(f"/proc/{pid}/stat") as f:
	            return f.read().rpartition(")")[2].split()[0] != "Z"
	    except OSError:
	        return False

	killed = set()
	for _ in range(200):
	    found = {pid for pid in find() if runs(pid)}
	    if not found:
	        break
	    # In one moment: a daemon that saw its step die would report that the task failed.
	    for number in signal.SIGSTOP, signal.SIGKILL:
	        for pid in sorted(found):
	            try:
	                os.kill(pid, number)
	            except OSError:
	                pass
	    killed |= found
	    time.sleep(0.05)
	print(len(killed))
	END
}

teardown()
{
	[ -z "${controller:-}" ] || kill_all cluster
	box_teardown
}

# task N COMMAND: its folder, with a policy and a secret of its own.
task()
{
	local dir=$TEST_DIR/tasks/$1

	mkdir -p "$dir/work"
	printf 'value-of-task-%03d-0123456789' "$1" >"$dir/token"
	chmod 600 "$dir/token"
	printf '{"filesystem":{"home":"private"},"limits":{"processes":%d},"secrets":{"TASK_TOKEN":{"from":"file","file":"%s","hosts":["task%d.test"]}}}\n' \
		"$((100 + $1))" "$dir/token" "$1" >"$dir/policy.json"
	echo "$2" >"$dir/command"
}

# A controller that does not answer does not count.
job_over()
{
	local left

	left=$(inside squeue -h -j "$1" 2>/dev/null) && [ -z "$left" ]
}

# have_run N: so many tasks have come to the end of their command.
have_run()
{
	local -a found=("$TEST_DIR"/tasks/*/work/fence)

	[ "${#found[@]}" -ge "$1" ]
}

submit()
{
	job=$(inside sbatch --parsable --array="$1" "$ROOT/deploy/slurm/agents.sbatch" "$TEST_DIR/tasks" "$TEST_DIR/records")
}

@test "slurm: 200 tasks in boxes on two nodes, of which one fails" {
	need userns
	need program:slurmctld
	need program:slurmd
	mkdir -p "$TEST_DIR/records"
	export AGENTBOX_STATE_ROOT=$TEST_DIR/nodes
	mkdir "$AGENTBOX_STATE_ROOT"
	for i in $(seq 0 $((TASKS - 1))); do
		task "$i" 'echo "$AGENTBOX" >mine; echo "$TASK_TOKEN" >seen; touch ../x 2>/dev/null || echo confined >fence'
	done
	# One that is still there when its node fails.
	task 7 'if [ ! -e tried ]; then touch tried; exec sleep 300; fi; echo again >seen; echo >mine; echo confined >fence'
	start_cluster
	submit "0-$((TASKS - 1))"
	wait_for 240 [ -e "$TEST_DIR/tasks/7/work/tried" ]
	node=$(inside squeue -h -r -j "${job}_7" -o %N)
	[ -n "$node" ]

	# The machine stops: its daemon, its steps and all boxes in one moment.
	[ "$(kill_all node "$node")" -ge 5 ]
	inside scontrol update nodename="$node" state=down reason=failed
	wait_for 240 have_run "$TASKS"
	wait_for 240 told ctl "$TASKS" "_job_complete: JobId=${job}_.* done"
	wait_for 240 job_over "$job"

	# All of them ran, each with what was its own.
	for i in $(seq 0 $((TASKS - 1))); do
		[ "$(<"$TEST_DIR/tasks/$i/work/fence")" = confined ]
	done
	run ! grep -r "value-of-task" "$TEST_DIR"/tasks/*/work
	[ "$(cat "$TEST_DIR/tasks/7/work/seen")" = again ]
	[ "$(cat "$TEST_DIR"/tasks/*/work/seen | sort -u | wc -l)" -eq "$TASKS" ]
	[ ! -e "$TEST_DIR/tasks/3/x" ]

	# The failed node comes back, and its next task cleans up there.
	task 200 'echo hello'
	inside scontrol update nodename="$node" state=resume
	start_node "$node"
	wait_for 60 told ctl 1 "Node $node now responding"
	wait_for 60 nodes_ready 2
	job=$(inside sbatch --parsable --array=200 -w "$node" "$ROOT/deploy/slurm/agents.sbatch" "$TEST_DIR/tasks" "$TEST_DIR/records")
	wait_for 60 test -s "$TEST_DIR/tasks/200/out"
	wait_for 60 told ctl 1 "_job_complete: JobId=${job}_.* done"
	wait_for 60 job_over "$job"
	[ "$(cat "$TEST_DIR/tasks/200/out")" = hello ]

	# One folder of records, which answers for both nodes.
	cat "$TEST_DIR"/records/n?.pub >"$TEST_DIR/keys.pem"
	run "$AGENTBOX" log --verify --dir "$TEST_DIR/records" --key "$TEST_DIR/keys.pem" --json
	[ "$(jq -r 'select(.state == "whole") | .path' <<<"$output" | cut -d. -f1 | sort -u | wc -l)" -eq $((TASKS + 1)) ]
	# The task that was cut off: its first record has no end, unless the node's last act wrote it.
	jq -c 'select(.path | startswith("7.")) | [.path, .state]' <<<"$output"
	jq -es 'map(select(.path | startswith("7.")) | .state) |
		length >= 2 and any(. == "whole") and all(. == "whole" or . == "unended")' <<<"$output"
	# The node wrote the missing end into its own record.
	run "$AGENTBOX" log --verify --dir "$AGENTBOX_STATE_ROOT" --key "$TEST_DIR/keys.pem"
	grep -v whole <<<"$output" || true
	[ "$status" -eq 0 ]

	# Nothing is left behind. A run that was killed before its record began has done
	# nothing: its empty folder goes with a later start.
	run find "$AGENTBOX_STATE_ROOT"/*/live -mindepth 2 -size +0 -ls
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}
