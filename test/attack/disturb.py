"""Another user of the machine, while `doctor --attack` runs: connects to whatever listens on loopback, and
leaves what looks as if the box had left it.

    disturb.py SAYINGS all|tcp|word [KNOWN]     until it is killed

One line for each thing that it did goes to SAYINGS. tcp: only connections of TCP. word: KNOWN is a pattern
for the file with the attack's word, and it says that, as only the box or our proxy can.
"""
import base64
import glob
import os
import socket
import sys
import time

# The first bytes of a connection; the first one stays silent.
SAY = [b"", b"GET / HTTP/1.1\r\n\r\n", b"CONNECT other.test:443 HTTP/1.1\r\n\r\n",
       b"CONNECT stand-in.test:443 HTTP/1.1\r\nProxy-Authorization: Basic %s\r\n\r\n"
       % base64.b64encode(b"doctor:" + 32 * b"0")]
done, open_, began = set(), [], set()


def note(what):
    if what not in done:
        done.add(what)
        with open(sys.argv[1], "a", encoding="utf-8") as out:
            out.write(what + "\n")


def listeners():
    for line in open("/proc/net/tcp", encoding="utf-8").read().splitlines()[1:]:
        word = line.split()
        if word[3] == "0A" and word[1].startswith("0100007F:"):
            yield int(word[1][9:], 16)


def connect(port, first):
    s = socket.create_connection(("127.0.0.1", port), 5)
    s.setblocking(False)
    if first:
        s.send(first)
    open_.append(s)


def disturb_tcp(known):
    for port in listeners():
        for i, first in enumerate(SAY):
            if known:
                login = base64.b64encode(b"doctor:" + known)
                first = [known, b"CONNECT other.test:443 HTTP/1.1\r\nProxy-Authorization: Basic %s\r\n\r\n"
                         % login][i % 2]
            try:
                connect(port, first)
                note(f"tcp {i}")
            except OSError:
                pass
    # So many wait at once; more than a process of the attack may have.
    while len(open_) > 300:
        open_.pop(0).close()


def disturb_unix():
    for line in open("/proc/net/unix", encoding="utf-8").read().splitlines():
        name = line.split()[-1]
        if not name.startswith("@agentbox-planted-"):
            continue
        tag = name[len("@agentbox-planted-"):].rstrip("@")
        s = socket.socket(socket.AF_UNIX)
        s.setblocking(False)
        try:
            s.connect(b"\0" + name[1:].rstrip("@").encode() + b"\0" * name.count("@", 1))
            note("unix")
        except OSError as error:
            note(f"unix: {error}")
        open_.append(s)
        for top in "/tmp", "/dev/shm":
            path = f"{top}/agentbox-inside-{tag}"
            if not os.path.exists(path):
                open(path, "x", encoding="utf-8").close()
                note("file " + top)
        if tag not in began:
            began.add(tag)
            open("/proc/self/comm", "w", encoding="utf-8").write("aba-" + tag)
            note("process")


def main():
    while True:
        known = b""
        if sys.argv[2] == "word":
            for path in glob.glob(sys.argv[3]):
                known = open(path, "rb").read()
        if known or sys.argv[2] != "word":
            disturb_tcp(known)
        if sys.argv[2] == "all":
            disturb_unix()
        time.sleep(0.01)


main()
