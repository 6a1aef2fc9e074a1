# Pools of agentbox serve: boxes that are prepared before their command is known (docs/serve.md).
load helpers

# client <SCRIPT: Python with a client `c` and `work`, the workspace.
client()
{
	cat >"$BATS_TEST_TMPDIR/script.py"
	run timeout 400 python3 - "$PROGRAM" "$PWD" "$BATS_TEST_TMPDIR/script.py" <<-END
		import glob, json, os, shutil, signal, socket, sys, time
		sys.path.insert(0, "$ROOT/test")
		from serve_client import Client
		program, work = sys.argv[1:3]
		c = Client(program)
		def pool(size=1, **members):
		    """Others on this machine may change what a box hides, such as a socket, while it is prepared,
		    and the boxes of a closed pool take a while to go: the client asks again."""
		    end = time.time() + 90
		    while True:
		        reply = c.ask(do="pool", size=size, cwd=work, **members)
		        if reply["ok"] or time.time() > end or not any(
		            words in reply["error"] for words in ["has changed", "prepared boxes in all pools"]):
		            break
		        time.sleep(0.05)
		    assert reply["ok"], reply
		    return reply["pool"]
		def outcome(fds=(), **request):
		    run = c.run(fds, **request)
		    started = c.event("started", run)
		    return c.result(run), started["warm"], started["run_id"]
		def children(pid, name):
		    found = []
		    for path in glob.glob("/proc/[0-9]*/stat"):
		        try:
		            text = open(path).read()
		        except OSError:
		            continue
		        rest = text.rsplit(")", 1)[1].split()
		        if int(rest[1]) == pid and name in text:
		            found.append(int(text.split()[0]))
		    return found
		def send(pid, number):
		    """It may have ended since it was listed."""
		    try:
		        os.kill(pid, number)
		    except ProcessLookupError:
		        pass
		def wait_until(what, seconds=90):
		    end = time.time() + seconds
		    while not what():
		        assert time.time() < end
		        time.sleep(0.05)
		def wait_until_nothing_is_left(c):
		    """Of a supervisor that was killed: its broker removes it, a process of its own; if there was
		    no broker yet, the next start does, once it is old."""
		    live = os.environ["AGENTBOX_STATE"] + "/live"
		    def is_empty():
		        names = os.listdir(live)
		        for name in names:
		            try:
		                os.utime(live + "/" + name, (time.time() - 300, time.time() - 300))
		            except FileNotFoundError:
		                pass
		        if names:
		            assert c.result(c.run(cwd=work, argv=["true"]))["exit"] == 0
		        return not names
		    wait_until(is_empty)
		exec(open(sys.argv[3]).read())
	END
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "pool: a run in a prepared box is like every other" {
	mkdir sub
	client <<-'END'
		p = pool(2)
		same = ["exit", "signal", "timed_out", "stdout", "stderr", "decision", "rule", "profile", "cwd"]
		requests = [
		    {"argv": ["sh", "-c", "echo out; echo err >&2; pwd; exit 3"]},
		    {"shell": "cat; set -- /proc/[0-9]*; echo $#", "stdin": {"text": "in\n"}},
		    {"shell": "pwd; umask; ulimit -a; cat /proc/self/status | grep -e Cap -e Seccomp -e NoNew"},
		    {"argv": ["sleep", "60"], "deadline_ms": 200},
		    {"shell": "kill -TERM $$"},
		    {"argv": ["no-such-program"]},
		    {"shell": "echo x >/etc/x; echo x >sub/x; cat sub/x; rm sub/x; ls -l /dev/fd/ | wc -l"},
		    {"shell": "env | sort | grep -v AGENTBOX=", "env": dict(os.environ, TERM="x")},
		    {"shell": "readlink /proc/self/ns/net >/dev/null && curl -sSo /dev/null http://files.example.com/"},
		]
		# A socket of another program that comes or goes makes a box unfit: then all of it once more.
		def compare():
		    prepared = []
		    for request in requests:
		        c.events.clear()
		        cold = c.result(c.run(cwd=work, **request))
		        warm = c.result(c.run(pool=p, **request))
		        started = [e["warm"] for e in c.events if e["event"] == "started"]
		        assert started in ([False, True], [False, False], []), (request, started)
		        prepared += started[1:]
		        assert [cold.get(k) for k in same] == [warm.get(k) for k in same], (request, cold, warm)
		        assert cold["assurance"] == warm["assurance"], (cold, warm)
		        assert len(cold["violations"]) == len(warm["violations"]), (cold, warm)
		    return True in prepared
		wait_until(compare)
		# Its folder, descriptors, a name and records; the record is that of a run.
		r, w = os.pipe()
		run = c.run([w], pool=p, shell="pwd; echo $AGENTBOX >&2", cwd=work + "/sub", stdout={"fd": 0},
		            name="mine", records=True)
		os.close(w)
		run_id = c.event("started", run)["run_id"]
		assert c.result(run)["stderr"].strip() == run_id
		assert os.read(r, 100).decode() == work + "/sub\n"
		record = json.loads(os.popen(program + " log --json " + run_id).read().splitlines()[0])
		assert (record["kind"], record["name"]) == ("start", "mine"), record
		# Questions, signals, stop.
		run = c.run(pool=p, shell="git push; echo went on", ask=True)
		assert c.event("question", run)["kind"] == "command"
		assert c.ask(do="answer", run=run, question="command", answer="once")["ok"]
		assert c.result(run)["stdout"] == "went on\n"
		run = c.run(pool=p, shell="curl -sS http://files.example.com/", ask=True)
		q = c.event("question", run)
		c.ask(do="answer", run=run, question=q["question"], answer="no")
		assert [v["id"] for v in c.result(run)["violations"]] == [q["question"]]
		run = c.run(pool=p, shell="trap 'exit 5' INT; echo on; while :; do sleep 0.1; done", stdout="stream")
		c.event("output", run)
		c.ask(do="signal", run=run, signal="INT")
		assert c.result(run)["exit"] == 5
		run = c.run(pool=p, argv=["sleep", "100"])
		c.event("started", run)
		assert c.ask(do="update", run=run, allow=["x.example"])["ok"]
		c.ask(do="stop", run=run, grace_ms=60000)
		assert c.result(run)["exit"] == 143
		# A file as input needs a box of its own; the run is the same.
		memory = os.memfd_create("in")
		os.write(memory, b"kept")
		os.lseek(memory, 0, 0)
		r, warm, _ = outcome([memory], pool=p, argv=["cat"], stdin={"fd": 0})
		assert r["stdout"] == "kept" and not warm
		# Bigger than a packet.
		long = {"argv": ["printf", "%s", "x" * 100000]}
		cold, warm = c.result(c.run(cwd=work, **long)), c.result(c.run(pool=p, **long))
		assert [cold.get(k) for k in same] == [warm.get(k) for k in same]
		assert c.close() == 0
	END
}

@test "pool: a box that does not fit any more is not used" {
	git init -q .
	mkdir "$HOME/.cargo"
	client <<-'END'
		p = pool()
		def take(shell):
		    r, warm, _ = outcome(pool=p, shell=shell)
		    return r["exit"], r["stdout"], warm
		home = os.environ["HOME"]
		def says(why):
		    return [e for e in c.events if e["event"] == "message"
		            and e["text"].startswith("the prepared box is not used: " + why)]
		# A message says why; none about a box that is used.
		def used():
		    c.events.clear()
		    return outcome(pool=p, shell="true", messages=True)[1]
		wait_until(used)
		assert not says(""), c.events
		def told(change, why, fds=(), **more):
		    change()
		    c.events.clear()
		    assert outcome(fds, pool=p, shell="true", messages=True, **more)[0]["exit"] == 0
		    return says(why)
		def renamed():
		    open(home + "/fresh", "w").write("x")
		    os.rename(home + "/fresh", home + "/.pgpass")
		memory = os.memfd_create("input")
		wait_until(lambda: told(renamed, "what it protects, hides or may write has changed"))
		wait_until(lambda: told(lambda: None, "a standard stream is neither a pipe nor a socket nor /dev/null",
		                        [memory], stdin={"fd": 0}))
		# An ordinary file is seen at once, in the prepared box.
		open("new", "w").write("seen\n")
		wait_until(lambda: take("cat new") == (0, "seen\n", True))
		wait_until(lambda: take("echo x >new") == (0, "", True))
		def replaced(path, text):
		    """A file of the same name: the mount on the old one is gone, its number may be used again."""
		    os.unlink(path)
		    open(path, "w").write(text)
		def recreated(path):
		    shutil.rmtree(path)
		    # A box that is being prepared makes one, too.
		    os.makedirs(path, exist_ok=True)
		def registry(url):
		    open(home + "/.cargo/config.toml", "w").write('[registries.own]\nindex = "%s"\n' % url)
		def listens(path):
		    s = socket.socket(socket.AF_UNIX)
		    s.bind(path)
		    s.listen()
		    return s
		changes = [
		    (lambda: recreated(".git/hooks"), "echo x >.git/hooks/pre-commit"),
		    (lambda: replaced(".git/config", open(".git/config").read()), "echo x >>.git/config"),
		    (lambda: open(".envrc", "w").write("export A=1\n"), "echo x >>.envrc"),
		    (lambda: open(home + "/.netrc", "w").write("machine x password y\n"), "cat ~/.netrc"),
		    (lambda: replaced(home + "/.netrc", "newer"), "cat ~/.netrc"),
		    (lambda: registry("https://user:hunter22@registry.example/"), "grep hunter22 ~/.cargo/config.toml"),
		    (lambda: listens(home + "/socket"), "curl -sS --unix-socket ~/socket http://x/"),
		]
		for change, attack in changes:
		    # Until every waiting box knows the last change.
		    wait_until(lambda: take("true")[2])
		    kept = change()
		    # In a file, so that nobody judges its words.
		    open("attack", "w").write(attack)
		    status, out, _ = take("sh ./attack")
		    assert status != 0 and out == "", (attack, out)
		    assert not glob.glob(".git/hooks/*")
		# Whether the box was prepared before or after the change. The settings are read at the take.
		wait_until(lambda: take("true")[2])
		os.makedirs(home + "/.config/agentbox", exist_ok=True)
		open(home + "/.config/agentbox/config.json", "w").write('{"filesystem": {"denyRead": ["%s/new"]}}' % work)
		open("attack", "w").write("cat new")
		status, out, _ = take("sh ./attack")
		assert status != 0 and out == ""
		# What its start decides: the engine, the network, the limits of a cgroup.
		for settings in ({"assurance": {"engine": "no-namespaces", "fallback": "warn"}},
		                 {"network": {"mode": "blocked"}}, {"limits": {"memory": "1G", "processes": 99}}):
		    os.unlink(home + "/.config/agentbox/config.json")
		    p = pool()
		    open(home + "/.config/agentbox/config.json", "w").write(json.dumps(settings))
		    cold = c.result(c.run(cwd=work, shell="ulimit -d; ulimit -n"))
		    c.events.clear()
		    r, warm, _ = outcome(pool=p, shell="ulimit -d; ulimit -n", messages=True)
		    assert not warm and r["exit"] == 0, (settings, r)
		    assert says("the settings are others now"), c.events
		    assert [r[k] for k in ("stdout", "assurance")] == [cold[k] for k in ("stdout", "assurance")]
		    c.ask(do="close", pool=p)
		assert c.close() == 0
	END
}

@test "pool: a box whose mounts the host has undone or moved is not used" {
	echo secret >hidden
	echo plain >plain
	client <<-'END'
		def removed(path):
		    """The same file gets its name back: the mount on the name has ended."""
		    os.link(path, "other")
		    os.unlink(path)
		    os.rename("other", path)
		def moved(path):
		    """The mount goes with the old name, and the same file has the new one."""
		    os.link(path, "other")
		    os.rename(path, "old")
		    os.rename("other", path)
		def exchanged(path):
		    """As before, but the file had two names all the time."""
		    os.rename(path, "older")
		    os.rename("old", path)
		open("attack", "w").write("cat hidden plain; echo went on")
		# Where a missing guarantee would end the run, and where it would not.
		for fallback in "strict", "warn":
		    for path, fits in ("hidden", False), ("plain", True):
		        for change in removed, moved, exchanged:
		            # All boxes of a new pool are older than the change.
		            p = pool(options={"filesystem.denyRead": [work + "/hidden"], "assurance.fallback": fallback})
		            change(path)
		            r, warm, _ = outcome(pool=p, argv=["sh", "attack"])
		            assert r["stdout"] == "plain\nwent on\n", (fallback, change, path, r)
		            assert "read-deny" in r["assurance"]["holds"], r
		            # A socket of another program that comes or goes makes a box unfit, too.
		            assert fits or not warm, (fallback, change, path)
		            c.ask(do="close", pool=p)
		        os.unlink("older")
		# What is only written stays what it is.
		p = pool(options={"filesystem.denyRead": [work + "/hidden"]})
		def written():
		    open("hidden", "a").write("more")
		    return outcome(pool=p, argv=["true"])[1]
		wait_until(written)
		assert c.close() == 0
	END
}

@test "pool: commands see nothing of boxes that wait" {
	client <<-'END'
		p = pool(4)
		# Only its own processes, its own network and none of the descriptors of others.
		def look():
		    global r
		    r, warm, _ = outcome(pool=p, shell="""
		    ls -d /proc/[0-9]* | wc -l
		    for pid in $(seq 1 50); do kill -0 $pid 2>/dev/null && echo $pid; done | wc -l
		    ls -l /proc/self/fd | grep -c -e socket -e memfd
		    cat /proc/net/unix | wc -l
		    ls /tmp /run""")
		    return warm
		wait_until(look)
		lines = r["stdout"].split("\n")
		assert int(lines[0]) <= 4 and int(lines[1]) <= 3, lines
		assert lines[2] == "0" and int(lines[3]) <= 2, lines
		# What one leaves behind in its private folders, no other one finds.
		outcome(pool=p, shell="echo x >/tmp/left; nohup sleep 100 >/dev/null 2>&1 & until grep -q sleep /proc/$!/comm; do :; done")
		for _ in range(5):
		    r, warm, _ = outcome(pool=p, shell="test -e /tmp/left && echo found; ps -e 2>/dev/null | grep sleep")
		    assert r["stdout"] == "", r
		# No run, until one takes it.
		assert "no active runs" in os.popen(program + " ps 2>&1").read()
		assert c.close() == 0
	END
}

@test "pool: boxes that end are replaced, and nothing is left at the end" {
	client <<-'END'
		def boxes():
		    return [init for child in children(c.process.pid, "") for init in children(child, "agentbox-init")]
		for how in "close", "channel", "kill":
		    c = Client(program)
		    p = pool(3)
		    before = boxes()
		    assert len(before) == 3, before
		    os.kill(before[0], signal.SIGKILL)
		    wait_until(lambda: len(boxes()) == 3 and before[0] not in boxes())
		    # Its supervisor, too.
		    os.kill(next(s for s in children(c.process.pid, "") if before[1] in children(s, "")), signal.SIGKILL)
		    wait_until(lambda: len(boxes()) == 3 and set(before) - set(boxes()) == set(before[:2]))
		    assert outcome(pool=p, argv=["true"])[0]["exit"] == 0
		    wait_until(lambda: len(boxes()) == 3)
		    now = boxes() + children(c.process.pid, "")
		    if how == "close":
		        assert c.ask(do="close", pool=p)["ok"]
		        assert boxes() == [] and children(c.process.pid, "") == []
		        reply = c.ask(do="run", pool=p, argv=["true"])
		        assert reply["code"] == "not-found", reply
		        assert c.close() == 0
		    elif how == "channel":
		        assert c.close() == 0
		        assert not any(os.path.exists("/proc/%d" % pid) for pid in now)
		    else:
		        c.process.kill()
		        c.process.wait()
		        wait_until(lambda: not any(os.path.exists("/proc/%d" % pid) for pid in now))
		c = Client(program)
		wait_until_nothing_is_left(c)
		assert c.close() == 0
	END
}

@test "pool: no run is lost to a box that ends" {
	client <<-'END'
		def kill_now(pid):
		    send(pid, signal.SIGKILL)
		    def dead():
		        try:
		            return open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[0] in "ZX"
		        except OSError:
		            return True
		    while not dead():
		        pass
		p = pool(2)
		prepared = 0
		for i in range(40):
		    inits = [init for child in children(c.process.pid, "") for init in children(child, "agentbox-init")]
		    if inits and i % 2:
		        kill_now(inits[i // 2 % len(inits)])
		    r, warm, _ = outcome(pool=p, shell="echo ran")
		    prepared += warm
		    assert (r["exit"], r["stdout"]) == (0, "ran\n"), (i, r)
		assert prepared
		assert c.close() == 0
	END
	run ls -A "$AGENTBOX_STATE/live"
	echo "$output"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "pool: signals reach the run that they are for" {
	client <<-'END'
		p = pool(2)
		# Right after the request: the command may not have seen its start yet.
		for i in range(10):
		    run = c.run(pool=p, shell="echo ran")
		    reply = c.ask(do="signal", run=run, signal="WINCH")
		    over = any(e["event"] == "exit" and e["run"] == run for e in c.events)
		    assert reply["ok"] or over, reply
		    r = c.result(run)
		    assert (r["exit"], r["stdout"]) == (0, "ran\n"), r
		for i in range(10):
		    run = c.run(pool=p, argv=["sleep", "100"])
		    assert c.ask(do="stop", run=run, grace_ms=60000)["ok"]
		    assert c.result(run)["exit"] == 143
		# To a supervisor that waits: it is not the next run's.
		def settled(pid):
		    try:
		        return not any(int(line.split()[1], 16) for line in open("/proc/%d/status" % pid) if "Pnd:" in line)
		    except (OSError, IndexError):
		        return True
		for signal_ in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGWINCH:
		    wait_until(lambda: outcome(pool=p, shell="true")[1])
		    for child in children(c.process.pid, ""):
		        send(child, signal_)
		        wait_until(lambda: settled(child))
		    for more in {}, {"name": "mine"}:
		        r, _, _ = outcome(pool=p, shell="echo ran", **more)
		        assert (r["exit"], r["stdout"]) == (0, "ran\n"), (signal_, more, r)
		# A supervisor that dies at any point leaves nothing.
		for wait in range(0, 12):
		    wait_until(lambda: outcome(pool=p, shell="true")[1])
		    run = c.run(pool=p, argv=["sleep", "100"])
		    time.sleep(wait / 4000)
		    before = children(c.process.pid, "")
		    victim = before[wait % len(before)]
		    send(victim, signal.SIGKILL)
		    c.ask(do="stop", run=run, grace_ms=0)
		    c.result(run)
		    # A run that it gets before it is gone ends with it.
		    wait_until(lambda: victim not in children(c.process.pid, ""))
		assert c.ask(do="close", pool=p)["ok"]
		wait_until_nothing_is_left(c)
		# What a new run refuses, one in a prepared box does, too.
		p = pool()
		os.chmod(os.environ["AGENTBOX_STATE"], 0o777)
		run = c.run(pool=p, shell="true")
		r = c.result(run)
		assert r["exit"] == 125 and "others can write" in r["error"], r
		os.chmod(os.environ["AGENTBOX_STATE"], 0o700)
		assert c.close() == 0
	END
}

@test "pool: a run that is not like every other gets a box of its own" {
	mkdir -p "$HOME/bin"
	printf '#!/bin/sh\necho program\n' >"$HOME/bin/program"
	chmod +x "$HOME/bin/program"
	client <<-'END'
		p = pool()
		def why(**request):
		    c.events.clear()
		    r, warm, _ = outcome(pool=p, messages=True, **request)
		    said = [e["text"] for e in c.events if e["event"] == "message" and "prepared box is not used" in e["text"]]
		    return r, warm, said[0].partition(": ")[2] if said else ""
		for request, reason in [
		    (dict(name="mine"), "the run has a name"),
		    (dict(require_covered=True), "the run is only started if all credentials are covered"),
		    (dict(env=dict(os.environ, NEW="1")), "the environment is another one"),
		]:
		    r, warm, said = why(shell="true", **request)
		    assert r["exit"] in (0, 125) and not warm and said == reason, (request, r, said)
		    wait_until(lambda: why(shell="true")[1:] == (True, ""))
		# Records come in the same order, from either box.
		kinds = []
		for more in {"cwd": work}, {"pool": p}:
		    c.events.clear()
		    c.result(c.run(shell="true", records=True, **more))
		    kinds.append([e["record"]["kind"] for e in c.events if e["event"] == "record"])
		assert kinds[0] == kinds[1] and kinds[0][0] == "start" and kinds[0][-1] == "end", kinds
		# A folder that is gone, and one that was replaced while the box waited in it.
		os.mkdir("sub")
		p = pool(1)
		r, warm, _ = outcome(pool=p, shell="pwd; touch here", cwd=work + "/sub")
		assert r["stdout"] == work + "/sub\n" and os.path.exists("sub/here")
		reply = c.ask(do="pool", size=1, cwd=work + "/sub", workspace=work)
		assert reply["ok"], reply
		os.rename("sub", "old")
		os.mkdir("sub")
		r, _, _ = outcome(pool=reply["pool"], shell="touch there")
		assert r["exit"] == 0 and os.path.exists("sub/there") and not os.path.exists("old/there")
		assert c.close() == 0
	END
}

@test "pool: one whose boxes do not fit steps back, says so, and prepares again by itself" {
	client <<-'END'
		p = pool(2)
		def status():
		    return c.ask(do="status", pool=p)["status"]
		assert status() == {"size": 2, "ready": 2, "rests": 0}, status()
		# What is counted is runs. None of these is like the others.
		for i in range(40):
		    c.events.clear()
		    assert outcome(pool=p, argv=["true"], env=dict(os.environ, OTHER=str(i)))[1] is False
		    told = [e["text"] for e in c.events if e["event"] == "message"]
		    if told:
		        break
		assert told == ["most prepared boxes of the pool did not fit their runs; for the next 16 runs it prepares none"], told
		assert i >= 7, i
		assert status() == {"size": 2, "ready": 0, "rests": 16}, status()
		# These would fit, and work without.
		for i in range(16):
		    r, warm, _ = outcome(pool=p, argv=["true"])
		    assert (r["exit"], warm) == (0, False), (r, warm)
		    assert status()["rests"] == 15 - i, status()
		wait_until(lambda: status()["ready"] == 1)
		def fits():
		    return outcome(pool=p, argv=["true"])[1]
		wait_until(fits)
		wait_until(lambda: status() == {"size": 2, "ready": 2, "rests": 0})
		reply = c.ask(do="status", pool=p + 1)
		assert reply["code"] == "not-found", reply
		assert c.close() == 0
	END
}

@test "pool: a socket that no box can reach makes no box unfit" {
	client <<-'END'
		p = pool()
		used = []
		for i in range(12):
		    wait_until(lambda: c.ask(do="status", pool=p)["status"]["ready"] == 1)
		    s = socket.socket(socket.AF_UNIX)
		    s.bind("/tmp/socket-%d" % i)
		    s.listen()
		    used.append(outcome(pool=p, argv=["true"])[1])
		    # Others on this machine may make sockets that are in reach.
		    if used.count(True) == 3:
		        break
		assert used.count(True) >= 3, used
		# One in reach: that box is not used, and the socket is closed to the next one.
		wait_until(lambda: c.ask(do="status", pool=p)["status"]["ready"] == 1)
		s = socket.socket(socket.AF_UNIX)
		s.bind(work + "/socket")
		s.listen()
		r, warm, _ = outcome(pool=p, shell="curl -sS --unix-socket socket http://x/ && echo reached")
		assert not warm and "reached" not in r["stdout"], (r, warm)
		assert c.close() == 0
	END
}

@test "pool: what cannot be is refused" {
	client <<-'END'
		for request, words in [
		    ({"do": "pool"}, "size"),
		    ({"do": "pool", "size": 0}, "size"),
		    ({"do": "pool", "size": 1000}, "from 1 to 64"),
		    ({"do": "pool", "size": 1, "argv": ["true"]}, "argv"),
		    ({"do": "pool", "size": 1, "options": {"network.mode": "perhaps"}}, "perhaps"),
		    ({"do": "pool", "size": 1, "cwd": work, "options": {"filesystem.review": "ask"}}, "review"),
		    ({"do": "close", "pool": 7}, "no open pool 7"),
		    ({"do": "run", "pool": 7, "argv": ["true"]}, "no open pool 7"),
		    ({"do": "run", "pool": 0, "argv": ["true"]}, "from 1 to"),
		]:
		    reply = c.ask(**request)
		    assert not reply["ok"] and words in reply["error"], reply
		p = pool(60)
		reply = c.ask(do="pool", size=5, cwd=work)
		assert reply["code"] == "usage" and "64 prepared boxes" in reply["error"], reply
		assert c.ask(do="close", pool=p)["ok"]
		p = pool(1)
		for member, value in [("policy", {}), ("profile", "x"), ("workspace", "/"), ("project", False),
		                      ("options", {}), ("trace_denials", True), ("policy_file", "/x")]:
		    reply = c.ask(do="run", pool=p, argv=["true"], **{member: value})
		    assert reply["code"] == "usage" and member in reply["error"] and "pool" in reply["error"], reply
		reply = c.ask(do="run", pool=p, argv=["true"], cwd="/no/such")
		assert "/no/such" in c.result(reply["run"])["error"], reply
		assert c.close() == 0
	END
}
