#!/usr/bin/env python3
"""Command lines for the comparison with bash, NUL-separated on standard output.

    lines.py SEED COUNT CASES...

First each piece by itself; COUNT are made up from pieces of which bash knows the outcome before
anything runs; the others are the cases of the judge that can be compared: no
branches (both sides of which we list, and of which bash takes one), no file
that would have to be there.
"""
import random
import re
import sys

PLAIN = ["a", "foo", "-x", "--long=1", "x.c", "dir/file", "1", "A_b", "@", "%",
         "+x", "x,y", "x:y", "=", "a=b", "~x", "#", "]", "}", "{", "^", "-", "--",
         "."]
QUOTED = ["'a b'", '"a b"', "''", '""', "'$x'", '"it\'s"', "'say \"x\"'", "'\\n'", '"\\$x"',
          '"\\\\"', '"a\\"b"', "'*'", '"?"', "'a'\"b\"c", "\"a\"'b'", "a' 'b", "\\ ", "\\*", "\\'",
          '\\"', "a\\ b", "\\a", "\\\\", "\\$x", "\\;", "\\|", "$'a\\tb'", "$'\\x41'", "$'\\101'",
          "$'\\u00e9'", "$'it\\'s'", "$'\\e[0m'", '$"x y"', "'a\nb'", '"a\nb"', "a\\\nb", "'#'",
          "a#b", "'`'", '"\\$v"', '"\\${v}"', '"\\`"', '"\\`echo a\\`"', '"\\$(echo a)"', '"\\\\$v"', "\\$v",
          "\\\\$v", "'\\$v'", '"\\a"', '"a\\\nb"']
BRACES = ["{a,b}", "x{a,b}y", "{a,b}{1,2}", "{1..3}", "{3..1}", "{a..c}", "{01..03}", "{1..7..3}",
          "{a,{b,c}}", "{a}", "{}", "{a,}", "{,a}x", "'{a,b}'", "{a,'b c'}", "x{1..2}{a,b}",
          "\\{a,b}", "{a\\,b,c}", "{a,b", "a,b}", "{1..a}", "{$v,b}", "${v}{1,2}", "-{x,y}=1"]
PARAMS = ["$v", '"$v"', "${v}", '"${v}"', "x$v", '"x${v}y"', "$w", '"$w"', "${v:-d}", "${v-d}",
          "${v:+alt}", "${e:-d}", '"${e:-d e}"', "${e-d}", "${e:+alt}", '"$e"', "$e", "x${e}y", "${#v}",
          "${v#o}", "${v%e}", "${v/n/N}", "${v//e/E}", "${v:1}", "${v:0:2}", "${v^^}", "${v^}",
          "${v,,}", "${w%% *}", "${w##* }", '"${arr[@]}"', "${arr[0]}", '"${arr[1]}"', "${#arr[@]}",
          '"${arr[*]}"', "${v:-$w}", '"${v:-"q q"}"', "${w}", '"a $w b"', "$v$v", "$v.c", "${v}_x", "$HOME",
          '"$HOME/x"', "~", "~/x", '"~"', "x~"]
SUBSTITUTIONS = ["$(echo a)", '"$(echo a b)"', "$(echo a b)", "`echo a`", "$(printf '%s' x)",
                 "$(printf '%s-' a b)", '"$(printf "a\\nb")"', "$(echo 'a  b')", '"$(echo "a  b")"',
                 "$(echo $(echo n))", "$(echo -n x)", "$(echo q)",
                 "x$(echo y)z", "$((1 + 2))", '"$((3 * 4))"', "$((7 % 4))", "$((2 * (3 + 4)))", "$(echo)",
                 '"$(echo)"', "$(printf '\\x41')", "$(printf '%d' 7)", "$(echo {1,2})",
                 "`echo \\`echo a\\``", "`echo \\\\$v`", "`echo \\$v`", "`echo \"\\$v\"`", '"`echo \\"a  b\\"`"',
                 "`echo '\\\\'`"]
GROUPS = [PLAIN, QUOTED, BRACES, PARAMS, SUBSTITUTIONS]
NAMES = ["p", "q", "tool", "make", "node", "ls", "grep", "x-y", "x_y", "run.sh"]
PREFIX = ["", "", "", "", "X=1 ", "X='a b' Y=$v ", "2>/dev/null ", ">out "]
SUFFIX = ["", "", "", "", " 2>&1", " >out", " 2>/dev/null", " </dev/null", " >>out", " &>out",
          " <<< word", " # note"]
JOINTS = ["; ", " && ", " | ", "\n", " |& ", ";", "&&", "|", " \\\n && ", "\n\n"]
SETUP = "v=one; w='two three'; e=; arr=(un 'deux trois')\n"


def word(r):
    parts = 1 if r.random() < 0.75 else 2
    out = "".join(r.choice(r.choice(GROUPS)) for _ in range(parts))
    # A comment would swallow what follows, which is tested by the suffixes.
    return "x" + out if out.startswith("#") else out


def simple(r):
    name = r.choice(NAMES)
    if r.random() < 0.1:
        name = r.choice(["'%s'", '"%s"', "\\%s", "$'%s'"]) % name
    words = [name] + [word(r) for _ in range(r.randrange(5))]
    return r.choice(PREFIX) + r.choice([" ", " ", "  ", " \\\n "]).join(words) + r.choice(SUFFIX)


def command(r, depth=0):
    kind = r.random()
    if depth < 3 and kind < 0.08:
        return "( " + line(r, depth + 1) + "\n)"
    if depth < 3 and kind < 0.16:
        return "{ " + line(r, depth + 1) + "\n}"
    if depth < 3 and kind < 0.2:
        return 'p "$(' + line(r, depth + 1) + '\n)"'
    if kind < 0.24:
        return "p <<E\nplain $v `echo x` \\$v\nE\n:"
    if kind < 0.27:
        return "p <<'E' | q\n$v ` \\\nE\n:"
    if kind < 0.29:
        return "p <<-E\n\tx\n\tE\n:"
    return simple(r)


def line(r, depth=0):
    out = command(r, depth)
    while r.random() < 0.4:
        joint = r.choice(JOINTS)
        # Behind a comment or a here-document only a new line begins anew.
        if "#" in out.split("\n")[-1] or out.endswith("\n:"):
            joint = "\n"
        out += joint + command(r, depth)
    return out


SKIP = re.compile(r"\|\||\b(if|case|while|until|for|select|function|coproc|exit|return|break|trap|alias|"
                  r"exec|eval|source|set|shopt|read|wait|unset|kill|history|fc|command|builtin|time|"
                  r"test|false|cd|hash|type|base64|rev|tr)\b|^\. |\[|!|<\(|[<>]|\(\)|[*?]|&\s*$|& |&$|/bin/|/dev/|\$\{?[A-Z]")


def real(paths):
    for path in paths:
        with open(path, encoding="utf-8") as f:
            for text in f:
                fields = text.rstrip("\n").split(" ", 2)
                if text.startswith("##") or len(fields) < 3:
                    continue
                text = fields[2].replace("⏎", "\n").replace("␉", "\t")
                if not SKIP.search(text):
                    yield text


def main():
    r = random.Random(int(sys.argv[1]))
    # A line that we call unknown is not compared, so each piece is also in one that has to be known.
    lines = [SETUP + "known " + text for pieces in GROUPS for text in pieces if text != "~x"]
    lines += [SETUP + line(r) for _ in range(int(sys.argv[2]))]
    lines += real(sys.argv[3:])
    sys.stdout.write("".join(text + "\0" for text in lines))


main()
