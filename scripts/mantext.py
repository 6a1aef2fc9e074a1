"""A manual page as plain text, for a program that carries its manual.

It knows the part of mdoc(7) that the pages of this project use; anything else is an error, so that a
page never loses a word silently.
"""
import re
import textwrap

WIDTH = 78
INDENT = 5
CLOSING = set(".,;:?!)")
GLUED = "\0"  # no space between this line and the next one, or the one before

ESCAPES = {r"\(dq": '"', r"\&": "", r"\e": "\\", r"\-": "-", r"\(bu": "*"}


class Bad(Exception):
    pass


def unescape(text):
    return re.sub(r"\\(\(..|.)", lambda m: ESCAPES[m[0]], text)


def split(line):
    """The words of a macro line; quoted ones are marked so that they are never macros."""
    words = []
    for m in re.finditer(r'"([^"]*)"|(\S+)', line):
        words.append((m[2], True) if m[2] is not None else (m[1], False))
    return words


# Before and behind each argument of a macro that only encloses or marks.
MARKS = {"Ar": ("", ""), "Cm": ("", ""), "Dv": ("", ""), "Em": ("", ""), "Er": ("", ""),
         "Ev": ("", ""), "Ic": ("", ""), "Li": ("", ""), "Pa": ("", ""), "Sy": ("", ""),
         "Va": ("", ""), "Nm": ("", ""), "No": ("", ""), "Sx": ("", "")}
ENCLOSE = {"Op": "[]", "Pq": "()", "Ql": "''", "Dq": '""', "Sq": "''"}
OPEN = {"Oo": "[", "Po": "("}
CLOSE = {"Oc": "]", "Pc": ")"}
CALLABLE = set(MARKS) | set(ENCLOSE) | set(OPEN) | set(CLOSE) | {"Fl", "Ns", "Xr", "Ta"}


def inline(words, name):
    """The text of a macro line."""
    out, glue = "", True

    def put(text, space=True):
        nonlocal out, glue
        if not text:
            return
        out += text if glue or not space or not out else " " + text
        glue = False

    def glued():
        nonlocal glue
        glue = True

    def enclosed(rest, pair):
        tail = ""
        while rest and rest[-1][0] in CLOSING and not any(w[0] == "Ns" for w in rest[-2:-1]):
            tail = rest.pop()[0] + tail
        put(pair[0] + inline(rest, name) + pair[1] + tail)

    i, macro, empty = 0, None, False
    while i < len(words):
        word, plain = words[i]
        i += 1
        if plain and word in CALLABLE:
            if macro == "Fl" and empty:
                put("-")
                if word in ("Ns", "Fl"):
                    glued()
            if word in ENCLOSE:
                enclosed(words[i:], ENCLOSE[word])
                return out
            if word in OPEN:
                put(OPEN[word])
                glued()
                macro = None
            elif word in CLOSE:
                glued()
                put(CLOSE[word])
                macro = None
            elif word == "Ns":
                glued()
                macro = None
            elif word == "Ta":
                out += "\t"
                glued()
                macro = None
            elif word == "Xr":
                put(f"{words[i][0]}({words[i + 1][0]})")
                i += 2
                macro = None
            else:
                macro, empty = word, True
                if word == "Nm" and (i == len(words) or words[i][0] in CLOSING):
                    put(name)
            continue
        if word in CLOSING and plain:
            if macro == "Fl" and empty:
                put("-")
                empty = False
            glued()
            put(unescape(word))
            continue
        if word == "(" and plain:
            put("(")
            glued()
            continue
        text = unescape(word)
        if macro == "Fl" and word != "|":
            text = "-" + text
        put(text)
        empty = False
    if macro == "Fl" and empty:
        put("-")
    return out


class Page:
    def __init__(self):
        self.out, self.para, self.indent = [], [], INDENT
        self.name = ""
        self.lists = []
        self.first = None  # text in front of the next paragraph

    def flush(self):
        text = " ".join(x for x in self.para if x)
        text = text.replace(GLUED + " ", "").replace(" " + GLUED, "")
        self.para = []
        first, self.first = self.first, None
        if not text and first is None:
            return
        pad = " " * self.indent
        if first is not None:
            at, tag = first
            if len(tag) + 1 < self.indent - at or not text:
                start = (" " * at + tag).ljust(self.indent)
            else:
                self.out.append(" " * at + tag)
                start = pad
            if not text:
                self.out.append(start.rstrip())
                return
        else:
            start = pad
        self.out += textwrap.wrap(text, WIDTH, initial_indent=start, subsequent_indent=pad,
                                  break_long_words=False, break_on_hyphens=False)

    def gap(self):
        self.flush()
        if self.out and self.out[-1]:
            self.out.append("")

    def heading(self, text, at):
        self.gap()
        self.out.append(" " * at + text)
        self.indent = INDENT

    def begin_list(self, words):
        kind = words[0][0]
        args = [w for w, _ in words[1:]]
        compact = "-compact" in args
        width = 6
        if "-width" in args:
            given = args[args.index("-width") + 1]
            width = 6 if given == "Ds" else len(given) + 2
        columns = [len(x) + 2 for x in args if x != "-compact"] if kind == "-column" else []
        if kind in ("-bullet", "-enum"):
            width = 4
        if not compact:
            self.gap()
        else:
            self.flush()
        self.lists.append((kind, self.indent, width, compact, columns, [0]))

    def item(self, words):
        kind, base, width, compact, columns, count = self.lists[-1]
        self.flush()
        if not compact and count[0] and kind != "-column":
            self.gap()
        count[0] += 1
        self.indent = base + width
        if kind == "-tag":
            self.first = (base, inline(words, self.name))
        elif kind == "-column":
            cells = inline(words, self.name).split("\t")
            line = " " * base
            for i, cell in enumerate(cells):
                cell = cell.strip()
                line += cell.ljust(max(columns[i], len(cell) + 1) if i < len(columns) else 0)
            self.out.append(line.rstrip())
            self.indent = base
        else:
            self.first = (base, "*" if kind == "-bullet" else f"{count[0]}.")

    def end_list(self):
        self.flush()
        self.indent = self.lists.pop()[1]

    def macro(self, line):
        words = split(line[1:])
        name = words[0][0]
        rest = words[1:]
        if name in ("Dd", "Dt", "Os"):
            return
        if name == "Sh":
            self.heading(" ".join(w for w, _ in rest), 0)
        elif name == "Ss":
            self.heading(" ".join(w for w, _ in rest), 2)
        elif name == "Pp":
            self.gap()
        elif name == "Bl":
            self.begin_list(rest)
        elif name == "It":
            self.item(rest)
        elif name == "El":
            self.end_list()
        elif name == "Dl":
            self.flush()
            self.out.append(" " * (self.indent + 6) + inline(rest, self.name))
        elif name == "Nd":
            self.para.append("- " + inline(rest, self.name))
        elif name == "Nm" and not self.para and self.out and self.out[-1] == "NAME":
            self.name = rest[0][0]
            self.para.append(self.name)
        elif name == "Nm" and self.out and "SYNOPSIS" in self.out[-1:] + self.out[-2:-1]:
            self.flush()
            self.para.append(inline(words, self.name))
        elif name in OPEN:
            self.para.append(inline(words, self.name) + GLUED * (not rest))
        elif name in CLOSE:
            self.para.append(GLUED + inline(words, self.name))
        elif name in CALLABLE:
            self.para.append(inline(words, self.name))
        else:
            raise Bad(f"unknown macro {line}")


def render(text):
    page = Page()
    literal = None
    synopsis = False
    for line in text.split("\n"):
        if literal is not None:
            if line.startswith(".Ed"):
                literal = None
            elif line.startswith("."):
                raise Bad(line)
            else:
                page.out.append((" " * literal + unescape(line).expandtabs()).rstrip())
            continue
        if line.startswith('.\\"'):
            continue  # a comment
        if line.startswith(".Sh"):
            synopsis = line == ".Sh SYNOPSIS"
        if line.startswith(".Bd -literal"):
            page.gap()
            literal = page.indent + (6 if "indent" in line else 0)
        elif line.startswith(".Nm") and synopsis:
            page.flush()
            page.macro(line)
        elif line.startswith("."):
            page.macro(line)
        elif line:
            page.para.append(unescape(line.strip()))
    page.flush()
    return "\n".join(page.out).strip("\n") + "\n"
