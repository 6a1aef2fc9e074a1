"""The Python package: run by test/bindings.bats, in a workspace, with agentbox on PATH."""
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

import agentbox

SECONDS = 60  # a bound for what takes milliseconds
FETCH = "curl -sS http://files.example.com/"


def active_runs():
    return subprocess.run(["agentbox", "ps"], capture_output=True, text=True).stdout


def descriptors():
    return sorted(os.listdir("/proc/self/fd"))


def until(condition):
    end = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it did not happen in time")
        time.sleep(0.02)


class Run(unittest.TestCase):
    def test_result(self):
        done = agentbox.run(["sh", "-c", "echo out; echo err >&2; exit 3"], text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "out\n", "err\n"))
        self.assertIn("write-fence", done.assurance.holds)
        self.assertFalse(done.stdout_truncated or done.timed_out)
        self.assertIsInstance(done, subprocess.CompletedProcess)
        self.assertEqual(agentbox.run("echo $((6 * 7))", shell=True).stdout, b"42\n")
        self.assertEqual(agentbox.run("echo $0", shell="/bin/bash", text=True).stdout, "/bin/bash\n")
        self.assertEqual(agentbox.run(["cat"], input=b"\xff\0").stdout, b"\xff\0")
        self.assertEqual(agentbox.run(["wc", "-c"], input=bytes(3 << 20), text=True).stdout, f"{3 << 20}\n")
        with self.assertRaises(agentbox.CalledProcessError) as caught:
            agentbox.run(["sh", "-c", "exit 4"], check=True)
        self.assertEqual((caught.exception.returncode, caught.exception.result.returncode), (4, 4))

    def test_request_that_is_too_large_ends_nothing_else(self):
        other = agentbox.Popen(["cat"], stdin=agentbox.PIPE, stdout=agentbox.PIPE)
        with self.assertRaisesRegex(agentbox.RequestError, "4 MiB"):
            agentbox.run(["echo", "x" * (5 << 20)])
        self.assertEqual(other.communicate(b"still")[0], b"still")

    def test_closed_streams_are_not_replaced_by_ours(self):
        code = ("import agentbox, os, sys; c = agentbox.Client(); "
                "sys.exit(any(os.path.exists(f'/proc/self/fd/{fd}') for fd in (0, 1)))")
        self.assertEqual(subprocess.call(["sh", "-c", 'exec "$0" -c "$1" <&- >&-', sys.executable, code]), 0)

    def test_denial_and_its_twin(self):
        policy = {"filesystem": {"write": []}, "network": {"mode": "filtered", "unknown": "deny"}}
        agentbox.run("touch denied", shell=True, policy=policy)
        self.assertFalse(os.path.exists("denied"))
        agentbox.run("touch allowed", shell=True, check=True)
        self.assertTrue(os.path.exists("allowed"))
        done = agentbox.run(FETCH, shell=True, policy=policy)
        self.assertEqual([v["domain"] for v in done.violations], ["files.example.com"])
        # The host is allowed, and then it is not agentbox that prevents the connection.
        done = agentbox.run(FETCH, shell=True, policy=policy, allow=["files.example.com"])
        self.assertEqual(done.violations, [])

    def test_command_that_does_not_start(self):
        with self.assertRaises(agentbox.CommandNotFound) as missing:
            agentbox.run(["no-such-program"])
        self.assertIsInstance(missing.exception, FileNotFoundError)
        with self.assertRaises(agentbox.Refused) as refused:
            agentbox.run(["git", "push"])
        self.assertEqual(refused.exception.result.returncode, 126)
        with self.assertRaisesRegex(agentbox.StartError, "network.alow: unknown key"):
            agentbox.run(["true"], policy={"network": {"alow": []}})
        with self.assertRaisesRegex(TypeError, "alow"):
            agentbox.run(["true"], alow=["x.example"])
        with self.assertRaisesRegex(TypeError, "allow: expected a list"):
            agentbox.run(["true"], allow="x.example")

    def test_caps_and_deadline(self):
        done = agentbox.run("head -c 5000 /dev/zero; echo e >&2", shell=True, max_output=10)
        self.assertEqual((done.stdout, done.stdout_truncated), (bytes(10), True))
        self.assertEqual((done.stderr, done.stderr_truncated), (b"e\n", False))
        done = agentbox.run(["sleep", "1000"], deadline=0.2)
        self.assertEqual((done.returncode, done.timed_out), (124, True))
        with self.assertRaises(subprocess.TimeoutExpired) as caught:
            agentbox.run(["sleep", "1000"], timeout=0.3)
        self.assertNotEqual(caught.exception.result.returncode, 0)
        with agentbox.Popen("echo one; read x; echo two", shell=True, stdin=agentbox.PIPE, stdout=agentbox.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b"one\n")
            with self.assertRaises(subprocess.TimeoutExpired):
                process.wait(0.1)
            self.assertEqual(process.communicate(b"\n", timeout=SECONDS)[0], b"two\n")
        done = agentbox.run("head -c 5000 /dev/zero", shell=True, stdout=agentbox.PIPE, max_output=10)
        self.assertTrue(done.stdout_truncated)

    def test_environment_and_folder(self):
        os.mkdir("below")
        env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "HELLO": "there"}
        done = agentbox.run("pwd; echo $HELLO", shell=True, cwd="below", workspace=".", env=env, text=True,
                            options={"env.pass": ["HELLO"]})
        self.assertEqual(done.stdout, f"{os.getcwd()}/below\nthere\n")

    def test_without_a_run(self):
        self.assertEqual(agentbox.check("git push --force", shell=True).rule, "history-rewrite")
        self.assertTrue(agentbox.check(["git", "status"]).runs)
        self.assertTrue(agentbox.doctor())
        self.assertFalse(agentbox.doctor(program="/nonexistent/agentbox"))
        argv = agentbox.wrap("echo $((6 * 7))", shell=True, allow=["x.example"])
        self.assertEqual(subprocess.check_output(argv), b"42\n")


class Process(unittest.TestCase):
    def test_pipes(self):
        with agentbox.Popen("read x; echo got $x; cat >&2", shell=True, text=True, stdin=agentbox.PIPE,
                            stdout=agentbox.PIPE, stderr=agentbox.PIPE, records=agentbox.PIPE) as process:
            process.stdin.write("one\n")
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), "got one\n")
            self.assertIsNone(process.poll())
            big = "x" * 300_000
            self.assertEqual(process.communicate(big, timeout=SECONDS), ("", big))
            self.assertEqual(process.returncode, 0)
            self.assertIn('"kind":"start"', process.records.readline())
        with tempfile.TemporaryFile() as file:
            agentbox.run("echo out; echo err >&2", shell=True, stdout=file, stderr=agentbox.STDOUT)
            file.seek(0)
            self.assertEqual(file.read(), b"out\nerr\n")

    def test_signals(self):
        process = agentbox.Popen(["sleep", "1000"])
        process.wait_started(SECONDS)
        with self.assertRaises(agentbox.TimeoutExpired):
            process.wait(0.01)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(SECONDS), -signal.SIGINT)
        process.kill()  # it has ended: nothing happens
        process = agentbox.Popen("trap '' TERM; echo ready; while :; do sleep 1; done", shell=True, stdout=agentbox.PIPE)
        process.stdout.readline()
        process.stop(grace=0.1)
        self.assertEqual(process.wait(SECONDS), -signal.SIGKILL)
        process.close()
        with self.assertRaises(KeyError), agentbox.Popen(["sleep", "1000"]) as process:
            raise KeyError
        self.assertLess(process.returncode, 0)

    def test_question_that_is_answered_later(self):
        asked = []
        process = agentbox.Popen("git push; echo continued", shell=True, on_question=asked.append)
        until(lambda: asked)
        self.assertEqual((asked[0].kind, asked[0].id), ("command", "command"))
        self.assertIsNone(process.poll())
        with self.assertRaises(agentbox.RequestError):
            asked[0].answer("perhaps")
        threading.Timer(0.1, lambda: asked[0].answer(True)).start()
        process.wait(SECONDS)
        self.assertEqual((process.result.stdout, process.result.raw["approved"]), (b"continued\n", "once"))
        self.assertEqual((asked[0].settled, process.questions), ("answered", []))
        with self.assertRaises(agentbox.Refused):
            agentbox.run(["git", "push"], on_question=lambda question: False)
        # A callback that fails has said no.
        with self.assertLogs("agentbox"), self.assertRaises(agentbox.Refused):
            agentbox.run(["git", "push"], on_question=lambda question: 1 / 0)

    def test_a_question_before_the_reply(self):
        request = agentbox._channel.Channel.request

        def slow(channel, members, *rest):
            reply = request(channel, members, *rest)
            if members["do"] == "run":
                until(lambda: asked)
            return reply

        asked = []
        with unittest.mock.patch.object(agentbox._channel.Channel, "request", slow):
            done = agentbox.run("git push; echo on", shell=True, text=True,
                                on_question=lambda question: asked.append(question) or True)
        self.assertEqual(done.stdout, "on\n")

    def test_events_and_updates(self):
        policy = {"network": {"mode": "filtered", "unknown": "ask"}}
        violations, records, asked = [], [], []
        process = agentbox.Popen(f"read x; {FETCH}; read x; {FETCH}", shell=True, stdin=agentbox.PIPE, policy=policy,
                                 on_question=asked.append, on_violation=violations.append, on_record=records.append)
        process.wait_started(SECONDS)
        self.assertIn(process.run_id, active_runs())
        process.stdin.write(b"\n")
        process.stdin.flush()
        until(lambda: asked)
        self.assertEqual((asked[0].kind, asked[0].domain, asked[0].port), ("host", "files.example.com", 80))
        self.assertEqual(process.questions, asked)
        self.assertEqual(process.status()["command"][0], "/bin/sh")
        self.assertEqual(process.update(deny=["files.example.com"]), 0)
        if asked[0].settled is None:
            asked[0].answer("no")
        process.communicate(b"\n", timeout=SECONDS)
        self.assertEqual({v["domain"] for v in violations}, {"files.example.com"})
        self.assertEqual(violations, process.violations)
        kinds = [record["kind"] for record in records]
        self.assertEqual((kinds[0], kinds[-1]), ("start", "end"))


class Shared(unittest.TestCase):
    def test_several_at_once(self):
        with agentbox.Client(text=True) as client:
            got = {}
            threads = [threading.Thread(target=lambda i=i: got.update({i: client.run(["echo", str(i)]).stdout}))
                       for i in range(6)]
            [thread.start() for thread in threads]
            [thread.join(SECONDS) for thread in threads]
            self.assertEqual(got, {i: f"{i}\n" for i in range(6)})
            # They are there at the same time: each waits for the next one.
            names = [f"here.{i}" for i in range(4)]
            wait = "touch $0; until [ -e $1 ]; do sleep 0.02; done"
            runs = [client.popen(["sh", "-c", wait, name, names[(i + 1) % 4]]) for i, name in enumerate(names)]
            self.assertEqual([run.wait(SECONDS) for run in runs], [0] * 4)

    def test_the_end_leaves_nothing(self):
        before, threads = descriptors(), threading.active_count()
        with agentbox.Client() as client:
            runs = [client.popen(["sleep", "1000"], stdout=agentbox.DEVNULL) for _ in range(3)]
            [run.wait_started(SECONDS) for run in runs]
            ids = [run.run_id for run in runs]
            self.assertTrue(all(i in active_runs() for i in ids))
            pid = client.pid
        self.assertFalse(os.path.exists(f"/proc/{pid}"))
        self.assertFalse(any(i in active_runs() for i in ids))
        self.assertTrue(all(run.poll() != 0 for run in runs))
        with self.assertRaises(agentbox.ChannelClosed):
            client.run(["true"])
        for _ in range(5):
            agentbox.run(["true"])
        self.assertLessEqual(set(descriptors()), set(before))
        self.assertLessEqual(threading.active_count(), threads)

    def test_death_of_serve(self):
        client = agentbox.Client()
        run = client.popen(["sleep", "1000"])
        run.wait_started(SECONDS)
        os.kill(client.pid, signal.SIGKILL)
        with self.assertRaises(agentbox.ChannelClosed):
            run.wait(SECONDS)
        until(lambda: run.run_id not in active_runs())
        client.close()

    def test_death_of_the_program(self):
        code = ("import agentbox, os, signal; p = agentbox.Popen(['sleep', '1000']); p.wait_started(60); "
                "print(p.run_id, flush=True); os.kill(os.getpid(), signal.SIGKILL)")
        run_id = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip()
        self.assertTrue(run_id)
        until(lambda: run_id not in active_runs())


class Pools(unittest.TestCase):
    def test_pool(self):
        before = descriptors()
        with agentbox.Pool(2, text=True, deny=["x.example"]) as pool:
            with pool.popen(["sh", "-c", "cat; pwd; exit 3"], stdin=agentbox.PIPE, cwd="/usr") as process:
                self.assertEqual(process.communicate("in\n", timeout=SECONDS), ("in\n/usr\n", ""))
            self.assertEqual(process.returncode, 3)
            self.assertIsInstance(process.warm, bool)
            done = pool.run(FETCH, shell=True)
            self.assertEqual(len(done.violations), 1)
            self.assertEqual(pool.run("git push; echo on", shell=True, on_question=lambda q: True).stdout, "on\n")
            with self.assertRaisesRegex(TypeError, "the pool decides"):
                pool.run(["true"], allow=["x.example"])
            with self.assertRaises(agentbox.CommandNotFound):
                pool.run(["no-such-program"])
            self.assertTrue(pool.check(["true"]).runs)
        with self.assertRaisesRegex(agentbox.RequestError, "from 1 to 64"):
            agentbox.Pool(1000)
        self.assertEqual(descriptors(), before)


class Installation(unittest.TestCase):
    def program(self, script):
        path = os.path.abspath("program")
        with open(path, "w") as file:
            file.write(script)
        os.chmod(path, 0o755)
        return path

    def test_program_that_is_missing_or_too_old(self):
        with self.assertRaisesRegex(agentbox.NotInstalled, "no program /nonexistent/agentbox\ninstall agentbox"):
            agentbox.run(["true"], program="/nonexistent/agentbox")
        with self.assertRaisesRegex(agentbox.NotInstalled, '"no-agentbox" is not on PATH'):
            agentbox.run(["true"], program="no-agentbox")
        old = self.program("#!/bin/sh\necho \"agentbox: unknown command 'serve'\" >&2\nexit 2\n")
        with self.assertRaisesRegex(agentbox.ProtocolError, "too old for this package: agentbox: unknown command"):
            agentbox.run(["true"], program=old)
        new = self.program("#!/bin/bash\nread -r -u $3\n"
                           "echo '{\"id\":1,\"ok\":false,\"protocols\":[2,3]}' >&$3\n")
        with self.assertRaisesRegex(agentbox.ProtocolError, r"speaks protocol \[2, 3\], this package needs 1"):
            agentbox.run(["true"], program=new)
        # A folder that a box can write is no place to find the program in.
        path, os.environ["PATH"] = os.environ["PATH"], ".:"
        try:
            os.rename("program", "agentbox")
            with self.assertRaises(agentbox.NotInstalled):
                agentbox.run(["true"])
        finally:
            os.environ["PATH"] = path


class Asyncio(unittest.IsolatedAsyncioTestCase):
    async def test_run(self):
        done = await asyncio.gather(*(agentbox.aio.run(["echo", str(i)], text=True) for i in range(4)))
        self.assertEqual([d.stdout for d in done], [f"{i}\n" for i in range(4)])
        with self.assertRaises(agentbox.TimeoutExpired):
            await agentbox.aio.run(["sleep", "1000"], timeout=0.5)
        with self.assertRaises(agentbox.CommandNotFound):
            await agentbox.aio.run(["no-such-program"])
        self.assertEqual((await agentbox.aio.check(["git", "status"])).decision, "allow")
        async with agentbox.aio.Client(text=True) as client:
            self.assertEqual((await client.run(["echo", "shared"])).stdout, "shared\n")

    async def test_streams(self):
        async with await agentbox.aio.create_process(
                "read x; echo got $x; cat", shell=True, stdin=agentbox.PIPE, stdout=agentbox.PIPE) as process:
            process.stdin.write(b"one\n")
            self.assertEqual(await process.stdout.readline(), b"got one\n")
            stdout, stderr = await process.communicate(b"x" * 300_000)
            self.assertEqual((stdout, stderr, process.returncode), (b"x" * 300_000, b"", 0))

    async def test_question(self):
        async def answer(question):
            await asyncio.sleep(0.05)
            return "once" if question.kind == "command" else "no"
        done = await agentbox.aio.run("git push; echo continued", shell=True, on_question=answer)
        self.assertEqual(done.stdout, b"continued\n")

    async def test_pool(self):
        async with agentbox.aio.Pool(1) as pool:
            process = await pool.create_process(["echo", "x"])
            async with process:
                await process.wait()
            self.assertEqual((await pool.run(["pwd"], cwd="/usr", text=True)).stdout, "/usr\n")

    async def test_cancellation_ends_the_box(self):
        asked = asyncio.Event()

        async def never(question):
            asked.set()
            await asyncio.sleep(1000)
        task = asyncio.create_task(agentbox.aio.run(FETCH, shell=True, on_question=never, name="cancelled"))
        await asyncio.wait_for(asked.wait(), SECONDS)
        self.assertIn("cancelled", active_runs())
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertNotIn("cancelled", active_runs())
        # Before it has started, too.
        task = asyncio.create_task(agentbox.aio.run(["sleep", "1000"], name="early"))
        await asyncio.sleep(0)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(until, lambda: "early" not in active_runs())


if __name__ == "__main__":
    unittest.main()
