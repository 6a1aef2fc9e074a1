# agentbox serve: runs for another program, over JSON lines (docs/serve.md).
load helpers

# client <SCRIPT: Python with a client `c` and `work`, the workspace.
client()
{
	cat >"$BATS_TEST_TMPDIR/script.py"
	run timeout 400 python3 - "$PROGRAM" "$PWD" "$BATS_TEST_TMPDIR/script.py" <<-END
		import json, os, sys, time
		sys.path.insert(0, "$ROOT/test")
		from serve_client import Client
		c = Client(sys.argv[1])
		work = sys.argv[2]
		exec(open(sys.argv[3]).read())
	END
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "serve: a run has its output, its status and its guarantees" {
	client <<-'END'
		assert c.hello["protocol"] == 1 and c.hello["descriptors"], c.hello
		run = c.run(argv=["sh", "-c", "echo out; printf '\\377' >&2; pwd; exit 3"], cwd=work)
		assert c.event("started", run)["run_id"]
		r = c.result(run)
		assert (r["exit"], r["stdout"], r["stdout_bytes"]) == (3, "out\n%s\n" % work, 5 + len(work)), r
		assert r["stderr_base64"] == "/w==" and not r["stderr_truncated"], r
		assert "write-fence" in r["assurance"]["holds"]
		r = c.result(c.run(shell="head -c 5000 /dev/zero", cwd=work, capture_max=10))
		assert len(r["stdout"]) == 10 and r["stdout_truncated"] and r["stdout_bytes"] == 5000
		r = c.result(c.run(argv=["sleep", "60"], cwd=work, deadline_ms=200))
		assert r["exit"] == 124 and r["timed_out"], r
		assert c.close() == 0
	END
}

@test "serve: streams, input, descriptors and an environment" {
	client <<-'END'
		run = c.run(argv=["cat"], cwd=work, stdin="pipe", stdout="stream", stderr="null")
		assert c.ask(do="input", run=run, text="héllo")["ok"]
		assert c.event("output", run)["text"] == "héllo"
		# Half a character waits for the rest; what is not text comes as base64.
		c.ask(do="input", run=run, base64="w6nD")
		assert c.event("output", run)["text"] == "é"
		c.ask(do="input", run=run, base64="qQ==", eof=True)
		assert c.event("output", run)["text"] == "é"
		assert c.result(run)["exit"] == 0
		assert not c.ask(do="input", run=run, text="x")["ok"]
		r, w = os.pipe()
		run = c.run([w], shell="cat; echo $HELLO", cwd=work, stdin={"text": "in "}, stdout={"fd": 0},
		            env={"HELLO": "there", "PATH": os.environ["PATH"], "HOME": os.environ["HOME"]},
		            options={"env.pass": ["HELLO"]})
		os.close(w)
		result = c.result(run)
		assert result["exit"] == 0, result
		got = os.read(r, 100)
		assert got == b"in there\n", got
		# A file in memory is a descriptor like any other.
		memory = os.memfd_create("in")
		os.write(memory, b"kept")
		os.lseek(memory, 0, 0)
		assert c.result(c.run([memory], argv=["cat"], cwd=work, stdin={"fd": 0}))["stdout"] == "kept"
		reply = c.ask(do="run", argv=["true"], stdout={"fd": 0})
		assert reply["code"] == "usage" and "fds" in reply["error"], reply
		assert c.close() == 0
	END
}

@test "serve: questions about hosts and commands are answered by the program" {
	client <<-'END'
		# Nobody is asked unless the program wants to be.
		r = c.result(c.run(shell="git push", cwd=work))
		assert r["exit"] == 126 and "needs approval" in r["hint"], r
		run = c.run(shell="git push; echo went on", cwd=work, ask=True)
		q = c.event("question", run)
		assert (q["kind"], q["rule"], q["question"]) == ("command", "git-publish", "command"), q
		assert not c.ask(do="answer", run=run, question="command", answer="perhaps")["ok"]
		assert c.ask(do="answer", run=run, question="command", answer="once")["ok"]
		r = c.result(run)
		assert r["stdout"] == "went on\n" and r["approved"] == "once", r
		run = c.run(shell="git push", cwd=work, ask=True)
		c.event("question", run)
		c.ask(do="answer", run=run, question="command", answer="no", reason="not today")
		r = c.result(run)
		assert r["exit"] == 126 and "not today" in r["hint"], r
		assert c.event("violation", run)["record"]["kind"] == "refused"
		run = c.run(shell="git push", cwd=work, ask=True, ask_ms=100)
		assert "gave no answer" in c.result(run)["hint"]
		# A host: the connection waits for the answer.
		run = c.run(shell="curl -sS http://files.example.com/", cwd=work, ask=True)
		q = c.event("question", run)
		assert (q["kind"], q["domain"], q["port"]) == ("host", "files.example.com", 80), q
		assert c.ask(do="answer", run=run, question=q["question"], answer="no")["ok"]
		assert c.event("settled", run)["how"] == "answered"
		assert c.event("violation", run)["record"]["id"] == q["question"]
		r = c.result(run)
		assert [v["id"] for v in r["violations"]] == [q["question"]], r
		# A host tool: words that are not text, or look like an event, stay in a string.
		program = os.path.expanduser("~/bin/tool")
		os.makedirs(os.path.dirname(program), exist_ok=True)
		open(program, "w").write("#!/bin/sh\necho ran\n")
		os.chmod(program, 0o755)
		policy = {"tools": {"tool": {"program": program, "ask": ["ask *"]}}}
		run = c.run(shell="""tool ask 1; tool ask "$(printf 'a\\377"\\n{}')"; tool "$(printf 'b\\377"\\n{}')" """,
		            cwd=work, ask=True, records=True, yes=True, policy=policy)
		q = c.event("question", run)
		assert (q["kind"], q["about"]) == ("tool", "run tool ask 1"), q
		assert c.ask(do="answer", run=run, question=q["question"], answer="once")["ok"]
		assert c.event("settled", run)["how"] == "answered"
		q = c.event("question", run)
		assert (q["kind"], "\n" in q["about"]) == ("tool", False), q
		assert c.ask(do="answer", run=run, question=q["question"], answer="no")["ok"]
		r = c.result(run)
		assert r["stdout"] == "ran\n" and r["stderr"].count("tool: denied:") == 2, r
		assert c.close() == 0
	END
}

@test "serve: a policy of its own, updated while it runs" {
	client <<-'END'
		policy = {"network": {"mode": "filtered", "unknown": "deny"}, "filesystem": {"write": []}}
		c.result(c.run(shell="touch x", cwd=work, policy=policy))
		assert not os.path.exists("x")
		r = c.result(c.run(shell="touch x", cwd=work))
		assert r["exit"] == 0 and os.path.exists("x"), r
		r = c.result(c.run(argv=["true"], cwd=work, policy={"network": {"alow": []}}))
		assert r["exit"] == 125 and "network.alow: unknown key" in r["error"], r
		r = c.result(c.run(argv=["true"], cwd=work, options={"limits.memory": "many"}))
		assert r["exit"] == 125 and "limits.memory" in r["error"], r
		run = c.run(shell="read x; curl -sS http://files.example.com/ >/dev/null; echo $?", cwd=work,
		            policy=policy, stdin="pipe", records=True)
		c.event("started", run)
		assert not c.ask(do="update", run=run, allow=["not a host"])["ok"]
		assert c.ask(do="update", run=run, allow=["a.example"], deny=["files.example.com"])["ok"]
		assert c.ask(do="status", run=run)["status"]["command"][0] == "/bin/sh"
		c.ask(do="input", run=run, text="\n")
		r = c.result(run)
		kinds = [e["record"]["kind"] for e in c.events if e["event"] == "record" and e["run"] == run]
		assert kinds[0] == "start" and kinds[-1] == "end" and "violation" in kinds, kinds
		record = c.event("violation", run)["record"]
		assert record["domain"] == "files.example.com" and not record["allowed"], record
		assert c.close() == 0
	END
}

@test "serve: signals, stop, and mistakes in requests" {
	client <<-'END'
		run = c.run(argv=["sleep", "60"], cwd=work)
		assert c.ask(do="signal", run=run, signal="SIGINT")["ok"]
		assert c.result(run)["signal"] == "SIGINT"
		run = c.run(shell="trap '' TERM; echo ready; while :; do sleep 1; done", cwd=work, stdout="stream")
		c.event("output", run)
		assert c.ask(do="stop", run=run, grace_ms=100)["ok"]
		assert c.result(run)["signal"] == "SIGKILL"
		assert c.ask(do="stop", run=run)["code"] == "not-found"
		# Read together: the box is not ready yet. Whether it still becomes ready depends on who is faster.
		lines = [{"id": 90, "do": "run", "argv": ["sleep", "60"], "cwd": work}, {"id": 91, "do": "stop", "run": run + 1}]
		c.sock.sendall("".join(json.dumps(line) + "\n" for line in lines).encode())
		result = c.result(run + 1)
		assert (result["signal"], result["status"], result["exit"]) == ("SIGTERM", None, 143), result
		assert result["error"] in ("the run was stopped before its command started",
		                           "the command was ended by agentbox stop"), result
		for request, wrong in (({"do": "rum"}, "unknown request"),
		                       ({"do": "run"}, "exactly one"),
		                       ({"do": "run", "argv": ["x"], "shell": "x"}, "exactly one"),
		                       ({"do": "run", "argv": ["x"], "alow": 1}, "no member"),
		                       ({"do": "run", "argv": ["a\0b"]}, "NUL"),
		                       ({"do": "signal", "run": 1, "signal": "NONE"}, "unknown signal"),
		                       ({"do": "hello", "protocol": 99}, "not supported")):
		    reply = c.ask(**request)
		    assert not reply["ok"] and wrong in reply["error"], reply
		c.sock.sendall(b"not json\n")
		assert c.read()["id"] is None
		assert c.ask(do="check", shell="git push --force")["verdict"]["decision"] == "escalated"
		assert c.ask(do="check", argv=["git", "status"])["verdict"]["decision"] == "allow"
		argv = c.ask(do="wrap", shell="echo $((6*7))", options={"network.mode": "blocked"},
		             policy={"env": {"set": {"A": "b"}}})["argv"]
		assert os.popen(" ".join("'%s'" % w for w in argv)).read() == "42\n", argv
		assert c.close() == 0
	END
}

@test "serve: the end of the channel, or of the program, ends every run" {
	client <<-'END'
		for how in "close", "kill":
		    c = Client(sys.argv[1])
		    runs = [c.run(argv=["sleep", "1000"], cwd=work) for _ in range(3)]
		    ids = [c.event("started", run)["run_id"] for run in runs]
		    assert all(i in os.popen(sys.argv[1] + " ps").read() for i in ids)
		    if how == "close":
		        assert c.close() == 0
		    else:
		        c.process.kill()
		        c.process.wait()
		    end = time.time() + 90
		    while any(i in os.popen(sys.argv[1] + " ps").read() for i in ids):
		        assert time.time() < end
		        time.sleep(0.1)
		# The program is gone, while another process holds its end of the channel.
		child = os.fork()
		if child == 0:
		    c = Client(sys.argv[1])
		    c.event("started", c.run(argv=["sleep", "1000"], cwd=work))
		    open("../pid", "w").write(str(c.process.pid))
		    os.set_inheritable(c.sock.fileno(), True)
		    holder = os.fork()
		    if holder == 0:
		        os.closerange(1, 3)
		        time.sleep(600)
		    open("../holder", "w").write(str(holder))
		    os._exit(0)
		os.waitpid(child, 0)
		pid = int(open("../pid").read())
		end = time.time() + 90
		while os.path.exists("/proc/%d" % pid) and time.time() < end:
		    time.sleep(0.1)
		assert not os.path.exists("/proc/%d" % pid)
		os.kill(int(open("../holder").read()), 9)
	END
}

@test "serve: the lines of docs/serve.md are requests, replies and events as they are" {
	client <<-END
		lines, inside = [], False
		for line in open("$ROOT/docs/serve.md"):
		    if line.startswith("\`\`\`"):
		        inside = line.strip() == "\`\`\`text"
		    elif inside:
		        lines.append(json.loads(line))
		table = [json.loads(cell) for line in open("$ROOT/docs/serve.md") if line.startswith("| \`{")
		         for cell in [line.split("\`")[1]]]
		requests = [line for line in lines if "do" in line]
		assert len(lines) > 20 and len(table) == 5, (lines, table)
		run = c.run(argv=["sleep", "60"], cwd=work, records=True, stdin="pipe")
		c.event("started", run)
		for request in [r for r in requests if r["do"] != "hello"] + table:
		    request.pop("id", None)
		    request.setdefault("cwd", work) if request["do"] == "run" else None
		    reply = c.ask(**request)
		    # One of them ends the run.
		    assert reply["ok"] or reply["code"] == "not-found" or "no question" in reply["error"] or \\
		        reply["error"] == "the run has ended", \\
		        (request, reply)
		c.result(run)
		# Every member of a reply or an event that is shown exists.
		seen = {"id", "ok", "code", "error", "hint", "left_ms", "count", "process"}
		r = c.run(shell="curl -sS http://files.example.com/; echo", cwd=work, ask=True, stdout="stream",
		          messages=True)
		q = c.event("question", r)
		c.ask(do="answer", run=r, question=q["question"], answer="no")
		c.result(r)
		for event in c.events + [q, c.hello, c.ask(do="check", shell="x"), c.ask(do="doctor"),
		                         c.ask(do="wrap", shell="x"), {"result": 1, "released": 1, "pool": 1, "size": 1}]:
		    seen |= set(event)
		for line in lines:
		    assert "do" in line or set(line) <= seen, (line, seen)
	END
}
