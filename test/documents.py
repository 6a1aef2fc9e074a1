#!/usr/bin/env python3
"""Check the Markdown documents of this tree against the tree and the program.

    documents.py names ROOT FILE...     every file that is named exists
    documents.py forms FILE...          every example has a form that `run` knows
    documents.py run PROGRAM DIR FILE   the examples of one document do what they show

The examples of a document are fenced blocks; what is done with one depends on its language:

    console     "$ COMMAND" is run; the lines behind it are what it prints. "..." stands for
                anything, on a line of its own for any number of lines. A command with nothing
                behind it prints nothing and succeeds.
    sh          every line is run and succeeds, or has the status that its comment names
                ("# ...; exit status 3"). Nobody looks at what it prints.
    json        a settings file: `agentbox config check` accepts it
    c, text     for people

The line before a block can say why it is not run:

    <!-- not run: REASON -->
    <!-- shown by test/FILE.bats -->    a text that needs a terminal or a second process

All commands of a document run in one shell, in DIR, in order.
"""
import os
import re
import shlex
import subprocess
import sys

FOLDERS = r"(?:lib|cmd|scripts|test|share|man|completions|docs|examples|cross|\.ci)"
LANGUAGES = ("console", "sh", "json", "c", "text")


def blocks(path):
    """(line, language, mark, lines) of each fenced block."""
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
            if language not in LANGUAGES:
                complain(line, f"a block of language '{language}'")
            if language == "text" and re.search(r"^\$ |agentbox: ", text, re.M) and not shown:
                complain(line, "a session that no test shows")
            if "<!--" in mark and not shown and not re.match(r"<!-- not run: \w.* -->$", mark):
                complain(line, f"unknown mark {mark}")
        fenced = False
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                fenced ^= line.lstrip().startswith("```")
                if not fenced and re.match(r"(    |\t)\s*(\$ )?agentbox ", line):
                    complain(number, "an example that is not in a fenced block")
    print(f"{count} blocks")
    return bad or count == 0


def steps(path):
    """(line, command, expected, status) of everything that is run."""
    for line, language, mark, lines in blocks(path):
        if mark.startswith("<!-- not run"):
            continue
        if language == "console":
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


def run(program, folder, path):
    out = os.path.join(folder, "..", "outputs")
    os.makedirs(out, exist_ok=True)
    todo = list(steps(path))
    script = ["shopt -s expand_aliases"]
    for i, (line, command, _, _) in enumerate(todo):
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
        if expected is not None:
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


def main():
    what, args = sys.argv[1], sys.argv[2:]
    if what == "names":
        return check_names(args[0], args[1:])
    if what == "forms":
        return check_forms(args)
    if what == "run":
        return run(*args)
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
