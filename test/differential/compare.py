#!/usr/bin/env python3
"""Does bash execute what we say it would?

    compare.py LINES VERDICTS

Inside a box: LINES is NUL-separated, VERDICTS has one line of JSON for each.
Each line whose words are all known is given to bash, with nothing on its PATH
but stubs that write down their arguments; then the two lists must be equal.
What runs at the same time has no order, so lists are compared sorted.
"""
import concurrent.futures
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys

STUB = """#!/bin/sh
printf '%s\\0' "${0##*/}" "$@" >"$AB_RECORD/$$"
"""
BASH = shutil.which("bash")
BUILTINS = set(subprocess.run([BASH, "-c", "compgen -b; compgen -k"], capture_output=True, text=True,
                              check=True).stdout.split())
TOP = os.getcwd()


def ours(verdict):
    """The argv lists, or None where one cannot be known."""
    lists = []
    if verdict.get("error") or verdict["rule"] == "unparsed":
        return None
    for command in verdict["commands"]:
        argv = command["argv"]
        if "via" in command or not argv:
            continue
        if any(word is None for word in argv):
            return None
        if argv[0] not in BUILTINS:
            lists.append(argv)
    # An empty name, or one with a folder, is not found along the PATH.
    if any(not argv[0] or "/" in argv[0] for argv in lists):
        return None
    return sorted(lists)


def bash(number, line):
    here = os.path.join(TOP, "work", str(number))
    record = os.path.join(here, "record")
    os.makedirs(record)
    # bash does not wait for what a subshell leaves behind: every process has the other end of this.
    end, other = os.pipe()
    held = fcntl.fcntl(other, fcntl.F_DUPFD, 200)
    os.close(other)
    with subprocess.Popen([BASH, "--norc", "-c", line + "\nwait"], cwd=here, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[held],
                          env={"PATH": os.path.join(TOP, "stubs"), "HOME": os.environ["HOME"],
                               "AB_RECORD": record, "LC_ALL": "C.UTF-8"}) as process:
        os.close(held)
        process.wait(120)
    if not select.select([end], [], [], 120)[0]:
        sys.exit("a process does not end: %r" % line)
    os.close(end)
    lists = []
    for name in os.listdir(record):
        with open(os.path.join(record, name), "rb") as f:
            lists.append([w.decode("utf-8", "surrogateescape") for w in f.read().split(b"\0")[:-1]])
    shutil.rmtree(here)
    return sorted(lists)


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        lines = f.read().split("\0")[:-1]
    with open(sys.argv[2], encoding="utf-8") as f:
        verdicts = [json.loads(text) for text in f]
    if len(lines) != len(verdicts):
        sys.exit("%d lines, %d verdicts" % (len(lines), len(verdicts)))
    wanted = [ours(verdict) for verdict in verdicts]
    os.mkdir("stubs")
    for name in {argv[0] for lists in wanted if lists for argv in lists}:
        with open(os.path.join("stubs", name), "w", encoding="utf-8") as f:
            f.write(STUB)
        os.chmod(os.path.join("stubs", name), 0o755)
    compared = different = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        # The stubs are found along our own PATH.
        known = [i for i, lists in enumerate(wanted) if lists and "PATH=" not in lines[i]]
        for i, got in zip(known, pool.map(lambda i: bash(i, lines[i]), known)):
            compared += 1
            if got == wanted[i]:
                continue
            different += 1
            if different <= 10:
                print("line: %r\n  bash: %r\n  ours: %r" % (lines[i], got, wanted[i]))
    print("%d of %d lines compared, %d different" % (compared, len(lines), different))
    sys.exit(different != 0)


main()
