#!/usr/bin/env python3
"""Check the documents and manual pages of this tree against the tree and the program.

    documents.py names ROOT FILE...     every file that is named exists
    documents.py forms FILE...          every example has a form that `run` knows
    documents.py count FILE...          "N FILE": how many examples there are
    documents.py run PROGRAM DIR FILE   the examples of one document do what they show
    documents.py commands FILE...       the commands of the examples, one a line, behind the name of the file
    documents.py type KEYS COMMAND      run a command on a terminal, and type until it ends

The examples of a Markdown document are fenced blocks; what is done with one depends on its language:

    console     "$ COMMAND" is run; the lines behind it are what it prints. "..." stands for
                anything, on a line of its own for any number of lines. A command with nothing
                behind it prints nothing and succeeds.
    sh          every line is run and succeeds, or has the status that its comment names
                ("# ...; exit status 3"). Nobody looks at what it prints.
    json        a settings file: `agentbox config check` accepts it
    python, js  a program that is run and succeeds. The comment behind a line that prints is
                what it prints; a comment that begins a line is a line
                of the output, too.
    c, text     for people

The line before a block can say why it is not run:

    <!-- not run: REASON -->
    <!-- shown by test/FILE.bats -->    a text that needs a terminal or a second process

The examples of a manual page are its .Dl lines and .Bd -literal blocks, in every section: JSON, or a
session like "console" above. Of a command with nothing behind it only the status counts: 0, or what
its comment names. In what is shown, numbers, units, blanks and line breaks may differ, 7kq2x is the run
$BOX, and /home/me is $HOME. The comment before an example (.\\" not run: REASON) can say the same as above, and

    .\\" typed: KEYS                     it runs on a terminal, where somebody types this

All commands of a document run in one shell, in DIR, in order.
"""
import os
import pty
import re
import select
import shlex
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../scripts"))
import mantext

FOLDERS = r"(?:lib|bindings|cmd|scripts|test|share|man|completions|docs|examples|cross|deploy|debian|\.ci)"
LANGUAGES = ("console", "sh", "json", "python", "js", "c", "text", "session")
PROGRAMS = {"python": ("python3", "example.py"), "js": ("node", "example.mjs")}
ID = "7kq2x"


def is_page(path):
    return re.search(r"\.[1-9]$", path) is not None


def page_blocks(path):
    """The same for a manual page; a comment becomes the mark that a document would have."""
    found, before, block = [], "", None
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            line = line.rstrip("\n")
            mark = re.match(r'\.\\" (.*)', before)
            mark = f"<!-- {mark[1]} -->" if mark else ""
            if line.startswith(".Bd -literal"):
                block = (number, mark, [])
            elif line == ".Ed":
                number, mark, lines = block
                language = {"$": "session", "{": "json"}.get(lines[0][0], "text")
                found.append((number, language, mark, lines))
                block = None
            elif block is not None:
                block[2].append(mantext.unescape(line).expandtabs())
            elif line.startswith(".Dl "):
                text = mantext.unescape(line[4:])
                found.append((number - 1, "session", mark, ["$ " + text.removeprefix("$ ")]))
            before = line
    return found


def blocks(path):
    """(line, language, mark, lines) of each example."""
    if is_page(path):
        return page_blocks(path)
    found, before, block = [], "", None
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            line = line.rstrip("\n")
            fence = re.match(r"( *)```(\w*)$", line)
            if block is None and fence:
                block = (number, fence[2], before.strip(), len(fence[1]), [])
            elif block is not None and fence:
                number, language, mark, indent, lines = block
                found.append((number, language, mark, [x[indent:] for x in lines]))
                block = None
            elif block is not None:
                block[4].append(line)
            before = line
    if block is not None:
        sys.exit(f"{path}:{block[0]}: a block without end")
    return found


def named_files(path):
    """Every path in the text, relative to the root; links are relative to the document."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for m in re.finditer(rf"(?<![\w/.~$-])(?:\./)?({FOLDERS}/[\w./*-]*)", text):
        yield m[1].rstrip("."), None
    for m in re.finditer(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in m[1]:
            yield m[1], os.path.dirname(path)


def check_names(root, paths):
    import glob
    bad = count = 0
    for path in paths:
        for name, folder in named_files(path):
            count += 1
            full = os.path.join(root if folder is None else folder, name)
            if not glob.glob(full):
                print(f"{os.path.relpath(path, root)}: there is no {name}")
                bad = 1
    print(f"{count} names")
    return bad or count == 0


def check_forms(paths):
    bad = count = 0
    for path in paths:
        def complain(line, what):
            nonlocal bad
            print(f"{path}:{line}: {what}")
            bad = 1

        for line, language, mark, lines in blocks(path):
            count += 1
            text = "\n".join(lines)
            shown = re.match(r"<!-- shown by (test/\w+\.bats) -->$", mark)
            if shown and is_page(path) and not os.path.exists(
                    os.path.join(os.path.dirname(path), "..", shown[1])):
                complain(line, f"there is no {shown[1]}")
            if language not in LANGUAGES:
                complain(line, f"a block of language '{language}'")
            if language == "text" and not shown and (
                    not mark if is_page(path) else re.search(r"^\$ |agentbox: ", text, re.M)):
                complain(line, "a session that no test shows")
            known = r"<!-- (not run|typed): \w.* -->$" if is_page(path) else r"<!-- not run: \w.* -->$"
            if "<!--" in mark and not shown and not re.match(known, mark):
                complain(line, f"unknown mark {mark}")
        fenced = is_page(path)
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                fenced ^= line.lstrip().startswith("```")
                if not fenced and re.match(r"(    |\t)\s*(\$ )?agentbox ", line):
                    complain(number, "an example that is not in a fenced block")
    print(f"{count} blocks")
    return bad or count == 0


def is_cut(command):
    """Does the command continue on the next line?"""
    try:
        shlex.split(command, comments=True)
    except ValueError:
        return True
    return command.endswith(("\\", "|"))


def session(path, line, lines, typed):
    """The steps of a session in a manual page."""
    at = 0
    while at < len(lines):
        first, command = at, lines[at]
        if not command.startswith("$ "):
            sys.exit(f"{path}:{line}: a session begins with a command")
        while is_cut(command):
            at += 1
            command += "\n" + lines[at]
        at += 1
        expected = []
        while at < len(lines) and not lines[at].startswith("$ "):
            expected.append(lines[at])
            at += 1
        m = re.search(r"#.*exit status (\d+)", command)
        command = command[2:]
        if typed:
            command = shlex.join([os.path.abspath(__file__), "type", typed, command])
        yield line + first + 1, command, expected or None, int(m[1]) if m else 0


def printed(lines):
    """What a program prints, from its comments."""
    found = []
    for line in lines:
        m = re.match(r"\s*(?:print|console\.log)\(.*\);?\s+(?:#|//) (.*)$|(?:#|//) (.*)$", line)
        if m:
            found.append(m[1] or m[2])
    return found


def steps(path):
    """(line, command, expected, status) of everything that is run."""
    for line, language, mark, lines in blocks(path):
        if re.match("<!-- (not run|shown by)", mark):
            continue
        if language == "session":
            typed = re.match(r"<!-- typed: (\w+) -->", mark)
            yield from session(path, line, lines, typed[1] if typed else None)
        elif language == "console":
            at = 0
            while at < len(lines):
                first, command = at, lines[at]
                if not command.startswith("$ "):
                    sys.exit(f"{path}:{line}: a session begins with a command")
                while command.endswith("\\"):
                    at += 1
                    command = command[:-1] + lines[at].strip()
                at += 1
                expected = []
                while at < len(lines) and not lines[at].startswith("$ "):
                    expected.append(lines[at])
                    at += 1
                yield line + first + 1, command[2:], expected, None
        elif language == "sh":
            for i, command in enumerate(lines):
                if command.strip() and not command.startswith("#"):
                    m = re.search(r"#.*exit status (\d+)", command)
                    yield line + i + 1, command, None, int(m[1]) if m else 0
        elif language in PROGRAMS:
            program, name = PROGRAMS[language]
            text = shlex.quote("\n".join(lines) + "\n")
            yield line, f"printf %s {text} >{name}; {program} {name}", printed(lines), None
        elif language == "json":
            text = shlex.quote("\n".join(lines) + "\n")
            yield (line, f"printf %s {text} >example.json; agentbox config check example.json; "
                   "r=$?; rm example.json; (exit $r)", None, 0)


def matches(expected, output):
    pattern = ""
    for line in expected:
        if line == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + r"[ \t]*\n"
    return re.fullmatch(pattern, output) is not None


def normal(text):
    """What is shown in a manual page, without what differs from run to run."""
    for real, name in ((os.environ.get("BOX"), ID), (os.environ["HOME"], "/home/me")):
        text = text.replace(real or ID, name)
    text = text.replace("_\b", "")
    text = re.sub(r"\b\d+(\.\d+)*( ?([KMGT]i?B|[BKMGT]|ms|[smhd]))?\b", "0", text)
    return " ".join(text.split())


def shows(expected, output):
    pattern = re.escape(normal("\n".join(expected))).replace(r"\.\.\.", ".*").replace(r"\ ", " ")
    return re.fullmatch(pattern, normal(output)) is not None


def run(program, folder, path):
    out = os.path.join(folder, "..", "outputs")
    os.makedirs(out, exist_ok=True)
    todo = list(steps(path))
    script = ["shopt -s expand_aliases"]
    for i, (line, command, _, _) in enumerate(todo):
        if is_page(path):
            command = command.replace(ID, os.environ.get("BOX") or ID)
        script.append(f"eval {shlex.quote(command)} >{out}/{i} 2>&1 </dev/null; echo $? >{out}/{i}.status")
    environ = dict(os.environ)
    environ["PATH"] = os.path.dirname(program) + ":" + environ["PATH"]
    subprocess.run(["bash", "-c", "\n".join(script)], cwd=folder, env=environ, timeout=110)
    bad = 0
    for i, (line, command, expected, status) in enumerate(todo):
        with open(f"{out}/{i}", encoding="utf-8", errors="replace") as f:
            output = f.read()
        with open(f"{out}/{i}.status", encoding="utf-8") as f:
            got = int(f.read())
        if is_page(path):
            good = got == status and (expected is None or shows(expected, output))
        elif expected is not None:
            if not expected:
                good = output == "" and got == 0
            else:
                good = matches(expected, output)
        else:
            good = got == status
        if not good:
            bad = 1
            print(f"{path}:{line}: $ {command}\n{output}[status {got}]")
            if expected:
                print("the document shows:\n" + "\n".join(expected))
    print(f"{len(todo)} commands")
    return bad


def type_keys(keys, command):
    """Run a command on a terminal. Nobody knows when it reads, so type again and again."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execvp("bash", ["bash", "-c", command])
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if select.select([fd], [], [], 0.3)[0]:
            try:
                data = os.read(fd, 65536)
            except OSError:  # the other side is closed
                data = b""
            if not data:
                break
            os.write(1, data)
        else:
            os.write(fd, keys.encode() + b"\n")
    else:
        os.kill(pid, 9)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main():
    what, args = sys.argv[1], sys.argv[2:]
    if what == "names":
        return check_names(args[0], args[1:])
    if what == "forms":
        return check_forms(args)
    if what == "count":
        for path in args:
            print(len(blocks(path)), path)
        return 0
    if what == "run":
        return run(*args)
    if what == "commands":
        for path in args:
            for line, language, _, lines in blocks(path):
                if language == "session":
                    for _, command, _, _ in session(path, line, lines, None):
                        print(os.path.basename(path) + "\t" + re.sub(r"\\\n\s*", "", command))
        return 0
    if what == "type":
        return type_keys(*args)
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
