"""All servers of the internet: those written here, in one loop, and nginx,
sshd and redis as children that end with it."""
import asyncio
import ctypes
import os
import resource
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import aws      # noqa: E402
import dns      # noqa: E402
import keys     # noqa: E402
import models   # noqa: E402
import oauth    # noqa: E402
import origin   # noqa: E402
import registries   # noqa: E402
import wire     # noqa: E402

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
libc = ctypes.CDLL(None)


def recorder(path):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    return lambda line: os.write(fd, line.encode() + b"\n")


def daemon(directory, name, argv, uid):
    def before():
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
    log = open(os.path.join(directory, name + ".log"), "wb")
    ids = {} if uid == os.getuid() else {
        "user": uid, "group": uid, "extra_groups": []}
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log,
                            stderr=log, preexec_fn=before, **ids)


def daemons(directory, sshd_uid):
    uid = os.getuid()
    return [
        daemon(directory, "nginx", [
            "nginx", "-c", directory + "/nginx/conf",
            "-p", directory + "/nginx", "-g", "error_log stderr;"], uid),
        daemon(directory, "sshd", [
            "/usr/sbin/sshd", "-D", "-e", "-f", directory + "/ssh/config"],
            sshd_uid),
        daemon(directory, "redis", [
            "redis-server", "--bind", "203.0.113.40", "--port", "6379",
            "--save", "", "--dir", directory + "/redis",
            "--protected-mode", "no"], uid),
    ]


async def answers(where, port, children):
    deadline = time.monotonic() + 100
    while True:
        try:
            with socket.create_connection((where, port), 1):
                return
        except OSError:
            for child in children:
                if child.poll() is not None:
                    sys.exit("%s ended early" % child.args[0])
            if time.monotonic() > deadline:
                sys.exit("nothing answers at %s:%d" % (where, port))
            await asyncio.sleep(0.01)


async def serve(directory, sshd_uid):
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    children = daemons(directory, sshd_uid)
    try:
        await dns.start(recorder(directory + "/dns.log"))
        record = recorder(directory + "/origin.log")
        await origin.start(record)
        await keys.start(record, directory)
        await aws.start(record, directory)
        await models.start(record, directory)
        await oauth.start(record, directory)
        await registries.start(record, directory)
        await wire.start(recorder(directory + "/proxy.log"))
        for where, port in (("203.0.113.10", 443), ("203.0.113.30", 2222),
                            ("203.0.113.40", 6379)):
            await answers(where, port, children)
        open(directory + "/ready", "w").close()
        await stop.wait()
    finally:
        for child in children:
            child.kill()


def reap():
    """Nothing that a server started outlives it: sshd's sessions come to us
    when it is gone."""
    me = os.getpid()
    while True:
        try:
            with open("/proc/self/task/%d/children" % me) as children:
                for pid in children.read().split():
                    os.kill(int(pid), signal.SIGKILL)
            os.waitpid(-1, 0)
        except ProcessLookupError:
            continue
        except ChildProcessError:
            return


def main():
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    # Whoever began this may be killed.
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        asyncio.run(serve(sys.argv[1], int(sys.argv[2])))
    finally:
        reap()


if __name__ == "__main__":
    main()
