#!/usr/bin/env python3
"""Check that tests hold what is promised, and that they exist.

    claims.py ROOT [SECURITY [CLAIMS]]      each sentence of SECURITY.md
    claims.py --attacks ROOT [ATTACKS]      each attack that worked once

Prints what is wrong; exit status 1 if anything is.

CLAIMS (test/claims.txt) has the beginning of a sentence, and below it, indented, who holds it:

    FILE.bats: NAME         that test of test/FILE.bats
    unit NAME: WHAT         the check that is described so in test/unit/NAME.c
    source PATH: TEXT       that file has this text: the number that the sentence names
    none: REASON            nobody, because there is nothing to show, or no way to show it

Every sentence of SECURITY.md needs that, also one that says what is not promised: then the test shows that it
is so. A reason is for one that asks the reader for something, names who is meant, leads to other sentences, or
says what no test can show; then it says why.

ATTACKS (test/attacks.txt) has what an attack did, and below it its tests:

    attack FILE.bats: NAME      the attack itself
    variant FILE.bats: NAME     the same harm in another way; at least two of them
    twin FILE.bats: NAME        what is allowed and looks like it

If the twin is a part of the attack's own test, or of a variant's, a comment there says which part ("twin").
"""
import os
import re
import sys

# A sentence ends with a full stop, and the next one begins with a capital letter, a name, or a bracket.
END = re.compile(r'(?:(?<=\.)|(?<=\.\))) (?=[A-Z0-9`"(\[*]|agentbox )')

# How many tests of each kind an attack must have.
LEAST = {"attack": 1, "variant": 2, "twin": 1}


def sentences_of(path):
    """Those of its paragraphs and list items."""
    found, text = [], ""
    for line in open(path, encoding="utf-8").read().splitlines() + [""]:
        item = re.match(r" *(?:-|\d+\.) (.*)", line)
        if text and (item or not line.strip() or line.startswith("#")):
            found += END.split(text)
            text = ""
        if item:
            text = item[1]
        elif not line.startswith("#"):
            text = f"{text} {line.strip()}".strip()
    return found


def entries(path):
    """[(where, line, [line that is indented below it])]"""
    found = []
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip()
        if not line or line.startswith("#"):
            continue
        if line[0] in " \t":
            found[-1][2].append(line.strip())
        else:
            found.append((f"{path}:{number}", line, []))
    return found


class Tests:
    def __init__(self, root):
        self.folder = os.path.join(root, "test")
        self.names = {}

    def of(self, file):
        """{name: the test itself, where it has a body}"""
        if file not in self.names:
            text = ""
            if os.path.isfile(file):
                text = open(file, encoding="utf-8").read()
            if file.endswith(".c"):
                # What C joins is one text.
                text = re.sub(r'"\s*\n\s*"', "", text)
                found = [(name, "") for name in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text)]
            else:
                found = re.findall(r'^@test "([^\n]*)" \{$(.*?)^\}$', text, re.M | re.S)
                found = [(re.sub(r"\\(.)", r"\1", name), body) for name, body in found]
            self.names[file] = dict(found)
        return self.names[file]

    def find(self, holder):
        """The test with its name in bats, or None."""
        kind, _, what = holder.partition(": ")
        return re.fullmatch(r"\w+\.bats", kind) and self.of(os.path.join(self.folder, kind)).get(what)

    def mistake(self, holder):
        kind, colon, what = holder.partition(": ")
        unit = re.fullmatch(r"unit (\w+)", kind)
        source = re.fullmatch(r"source (lib/[\w/]+\.[ch])", kind)
        if not colon or not what:
            return "is neither a test nor a reason"
        if kind == "none":
            return "" if len(what.split()) > 2 else "is no reason"
        if source:
            path = os.path.join(self.folder, "..", source[1])
            has = os.path.isfile(path) and what in open(path, encoding="utf-8").read()
            return "" if has else "is not there"
        if unit:
            return "" if what in self.of(os.path.join(self.folder, f"unit/{unit[1]}.c")) else "does not exist"
        if not re.fullmatch(r"\w+\.bats", kind):
            return "is neither a test nor a reason"
        return "" if self.find(holder) is not None else "does not exist"


def check_claims(root, security="", list_="", *_):
    security = security or os.path.join(root, "SECURITY.md")
    list_ = list_ or os.path.join(root, "test/claims.txt")
    wrong, tests, held = [], Tests(root), set()
    sentences = sentences_of(security)
    for where, beginning, holders in entries(list_):
        of = [s for s in sentences if s.startswith(beginning)]
        if len(of) != 1:
            wrong.append(f"{where}: {len(of)} sentences begin so: {beginning}")
        if set(of) & held:
            wrong.append(f"{where}: twice: {beginning}")
        held.update(of)
        if not holders:
            wrong.append(f"{where}: nothing holds: {beginning}")
        for holder in holders:
            mistake = tests.mistake(holder)
            if mistake:
                wrong.append(f"{where}: {mistake}: {holder}")
    for sentence in sentences:
        if sentence not in held:
            wrong.append(f"{security}: no test is named for: {sentence}")
    if not sentences or not held:
        wrong.append(f"{security}, {list_}: there is nothing to compare")
    return wrong


def check_attacks(root, list_="", *_):
    list_ = list_ or os.path.join(root, "test/attacks.txt")
    wrong, tests, names = [], Tests(root), set()
    for where, name, lines in entries(list_):
        if name in names:
            wrong.append(f"{where}: twice: {name}")
        names.add(name)
        found = {role: [] for role in LEAST}
        for line in lines:
            role, _, holder = line.partition(" ")
            if role not in found:
                wrong.append(f"{where}: is neither an attack, a variant nor a twin: {line}")
                continue
            body = tests.find(holder)
            if body is None:
                wrong.append(f"{where}: does not exist: {holder}")
            if role != "twin" and holder in found["attack"] + found["variant"]:
                wrong.append(f"{where}: twice: {holder}")
            if role == "twin" and holder in found["attack"] + found["variant"] and body and \
                    not re.search(r"^\s*#.*\btwins?\b", body, re.M | re.I):
                wrong.append(f"{where}: does not say which part is the twin: {holder}")
            found[role].append(holder)
        for role, least in LEAST.items():
            if len(found[role]) < least:
                wrong.append(f"{where}: {len(found[role])} of at least {least} for {role}: {name}")
    if not names:
        wrong.append(f"{list_}: there is nothing to compare")
    return wrong


if __name__ == "__main__":
    of_attacks = sys.argv[1] == "--attacks"
    said = check_attacks(*sys.argv[2:]) if of_attacks else check_claims(*sys.argv[1:])
    print("\n".join(said), end="\n" if said else "")
    sys.exit(1 if said else 0)
