"""For scripts in the box: is a value anywhere that can be read? It is given
as hexadecimal of its complement, so that looking for it does not plant it.
Says where it was found, or "clean" and how much was looked at."""
import os
import sys

FLIP = bytes(255 - i for i in range(256))
needle = bytes.fromhex(sys.argv[1])
roots = sys.argv[2:]
found = []
looked = {"files": 0, "processes": 0, "regions": 0}


# An engine that shares /proc has processes in a folder of it, under other numbers.
PROC = "/proc/.shared" if os.path.isdir("/proc/.shared") else "/proc"
OWN = os.path.basename(os.readlink("/proc/self"))


def look(data, where):
    if needle in data.translate(FLIP):
        found.append(where)


def look_at_file(path):
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                look(block, path)
        looked["files"] += 1
    except OSError:
        pass


def look_at_memory(pid):
    try:
        with open("%s/%s/maps" % (PROC, pid)) as maps, \
                open("%s/%s/mem" % (PROC, pid), "rb", 0) as memory:
            for line in maps:
                begin, end = (int(x, 16)
                              for x in line.split()[0].split("-"))
                try:
                    memory.seek(begin)
                    look(memory.read(end - begin), "memory of %s" % pid)
                    looked["regions"] += 1
                except (OSError, ValueError, OverflowError):
                    pass
    except OSError:
        pass


for pid in filter(str.isdigit, os.listdir(PROC)):
    for name in ("environ", "cmdline", "auxv", "status"):
        look_at_file("%s/%s/%s" % (PROC, pid, name))
    try:
        for fd in os.listdir("%s/%s/fd" % (PROC, pid)):
            path = "%s/%s/fd/%s" % (PROC, pid, fd)
            if os.path.isfile(path):
                look_at_file(path)
    except OSError:
        pass
    looked["processes"] += 1
    # Ours holds what is being looked at.
    if pid != OWN:
        look_at_memory(pid)
for root in roots:
    for folder, _, files in os.walk(root):
        for name in files:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and os.path.getsize(path) < 1 << 24:
                look_at_file(path)
print("\n".join(sorted(set(found))) or "clean", flush=True)
assert looked["files"] > 20 and looked["processes"] >= 3 and \
    looked["regions"] > 10, looked
