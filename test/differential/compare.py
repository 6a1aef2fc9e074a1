#!/usr/bin/env python3
"""Does bash execute what we say it would?

    compare.py LINES VERDICTS RECORD

Inside a box: LINES is NUL-separated, VERDICTS has one line of JSON for each.
Each line whose words are all known is given to bash, with nothing on its PATH
but stubs that write down their arguments (RECORD is that program, record.c);
then the two lists must be equal. What runs at the same time has no order, so
lists are compared sorted. A line with the program "known" must be one of them.
"""
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile

# One shell for all lines, each in a subshell of it, which does with the text what a shell of its own
# would. It says the number of the line before it begins.
DRIVER = r"""
mapfile -t -d '' AB_LINES <known
for AB_NUMBER in "${!AB_LINES[@]}"; do
	echo "$AB_NUMBER" >&"$AB_SAID"
	(
		cd "$AB_NUMBER" && unset OLDPWD && eval "${AB_LINES[AB_NUMBER]}"$'\nwait'
	) </dev/null >/dev/null 2>&1
done
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


def bash(lines):
    """The argv lists that each of these lines executes."""
    # In memory: these are thousands.
    work = tempfile.mkdtemp(dir="/tmp")
    for number in range(len(lines)):
        os.mkdir(f"{work}/{number}")
    with open(f"{work}/known", "w", encoding="utf-8") as f:
        f.write("".join(line + "\0" for line in lines))
    open(f"{work}/record", "wb").close()
    # bash does not wait for what a subshell leaves behind: every process has the other end of this.
    end, other = os.pipe()
    held = fcntl.fcntl(other, fcntl.F_DUPFD, 200)
    os.close(other)
    with subprocess.Popen([BASH, "--norc", "-c", DRIVER], cwd=work, stdin=subprocess.DEVNULL, pass_fds=[held],
                          env={"PATH": os.path.join(TOP, "stubs"), "HOME": os.environ["HOME"],
                               "AB_RECORD": f"{work}/record", "AB_NUMBER": "", "AB_SAID": str(held), "LC_ALL": "C.UTF-8"}):
        os.close(held)
        said = b"0"
        while True:
            if not select.select([end], [], [], 120)[0]:
                sys.exit("a process does not end, in this line or one before it: %r" % lines[int(said.split()[-1])])
            more = os.read(end, 4096)
            if not more:
                break
            said = said[-16:] + more
    os.close(end)
    if int(said.split()[-1]) != len(lines) - 1:
        sys.exit("the shell ended at line %s" % said.split()[-1])
    return recorded(f"{work}/record", len(lines))


def recorded(path, count):
    """The lists of each line. The file has the number of the line, that of the words, and the words."""
    with open(path, "rb") as f:
        words = f.read().decode("utf-8", "surrogateescape").split("\0")[:-1]
    lists = [[] for _ in range(count)]
    at = 0
    while at < len(words):
        number, size = int(words[at]), int(words[at + 1])
        lists[number].append(words[at + 2:at + 2 + size])
        at += 2 + size
    return [sorted(found) for found in lists]


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
        os.link(sys.argv[3], os.path.join("stubs", name))
    different = 0
    # The stubs are found along our own PATH.
    known = [i for i, lists in enumerate(wanted) if lists and "PATH=" not in lines[i]]
    for i, got in zip(known, bash([lines[i] for i in known])):
        if got == wanted[i]:
            continue
        different += 1
        if different <= 10:
            print("line: %r\n  bash: %r\n  ours: %r" % (lines[i], got, wanted[i]))
    for i in set(range(len(lines))) - set(known):
        if "\nknown " in lines[i]:
            different += 1
            print("not read: %r" % lines[i])
    print("%d of %d lines compared, %d different" % (len(known), len(lines), different))
    sys.exit(different != 0)


main()
