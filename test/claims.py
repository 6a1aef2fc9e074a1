#!/usr/bin/env python3
"""Check that each sentence of SECURITY.md is held by a test that exists.

    claims.py ROOT [SECURITY [CLAIMS]]      print what is wrong, exit 1 if anything is

CLAIMS (test/claims.txt) has the beginning of a sentence, and below it, indented, who holds it:

    FILE.bats: NAME         that test of test/FILE.bats
    unit NAME: WHAT         the check that is described so in test/unit/NAME.c
    source PATH: TEXT       that file has this text: the number that the sentence names
    none: REASON            nobody, because there is nothing to show, or no way to show it

Every sentence of SECURITY.md needs that, also one that says what is not promised: then the test shows that it
is so. A reason is for one that asks the reader for something, names who is meant, leads to other sentences, or
says what no test can show; then it says why.
"""
import os
import re
import sys

# A sentence ends with a full stop, and the next one begins with a capital letter, a name, or a bracket.
END = re.compile(r'(?:(?<=\.)|(?<=\.\))) (?=[A-Z0-9`"(\[*]|agentbox )')


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


def claims(path):
    """[(number of the line, beginning, [holder])]"""
    found = []
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip()
        if not line or line.startswith("#"):
            continue
        if line[0] in " \t":
            found[-1][2].append(line.strip())
        else:
            found.append((number, line, []))
    return found


class Tests:
    def __init__(self, root):
        self.folder = os.path.join(root, "test")
        self.names = {}

    def of(self, file):
        if file not in self.names:
            text = ""
            if os.path.isfile(file):
                text = open(file, encoding="utf-8").read()
            if file.endswith(".c"):
                # What C joins is one text.
                text = re.sub(r'"\s*\n\s*"', "", text)
                self.names[file] = re.findall(r'"((?:[^"\\\n]|\\.)*)"', text)
            else:
                names = re.findall(r'^@test "(.*)" \{$', text, re.M)
                self.names[file] = [re.sub(r"\\(.)", r"\1", name) for name in names]
        return self.names[file]

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
        if not unit and not re.fullmatch(r"\w+\.bats", kind):
            return "is neither a test nor a reason"
        file = f"unit/{unit[1]}.c" if unit else kind
        return "" if what in self.of(os.path.join(self.folder, file)) else "does not exist"


def main(root, security="", list_="", *_):
    security = security or os.path.join(root, "SECURITY.md")
    list_ = list_ or os.path.join(root, "test/claims.txt")
    wrong, tests, held = [], Tests(root), set()
    sentences = sentences_of(security)
    for number, beginning, holders in claims(list_):
        of = [s for s in sentences if s.startswith(beginning)]
        if len(of) != 1:
            wrong.append(f"{list_}:{number}: {len(of)} sentences begin so: {beginning}")
        if set(of) & held:
            wrong.append(f"{list_}:{number}: twice: {beginning}")
        held.update(of)
        if not holders:
            wrong.append(f"{list_}:{number}: nothing holds: {beginning}")
        for holder in holders:
            mistake = tests.mistake(holder)
            if mistake:
                wrong.append(f"{list_}:{number}: {mistake}: {holder}")
    for sentence in sentences:
        if sentence not in held:
            wrong.append(f"{security}: no test is named for: {sentence}")
    if not sentences or not held:
        wrong.append(f"{security}, {list_}: there is nothing to compare")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
