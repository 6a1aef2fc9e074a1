"""For scripts in the box: is a value anywhere that can be read? It is given
as hexadecimal of its complement, so that looking for it does not plant it.
Says where it was found, or "clean" and how much was looked at."""
import os
import sys

# Only this process holds it as it is, and does not look into itself.
needle = bytes(255 - b for b in bytes.fromhex(sys.argv[1]))
roots = sys.argv[2:]
found = []
looked = {"files": 0, "processes": 0, "regions": 0}


# An engine that shares /proc has processes in a folder of it, under other numbers.
PROC = "/proc/.shared" if os.path.isdir("/proc/.shared") else "/proc"
OWN = os.readlink(PROC + "/self")


def look(file, size, where):
    """In blocks, with the end of the one before: it may lie across two."""
    end = b""
    while size and (block := file.read(min(size, 1 << 20))):
        if needle in end + block:
            found.append(where)
        end = block[1 - len(needle):]
        size -= len(block)


def look_at_file(path):
    try:
        with open(path, "rb") as file:
            look(file, 1 << 40, path)
        looked["files"] += 1
    except OSError:
        pass


def regions(pid):
    """Begin and end of each region, but those without a file of which no page was ever written:
    they are zeros, and some are of many gigabytes."""
    region, pages = None, 0
    with open("%s/%s/smaps" % (PROC, pid)) as maps:
        for line in maps:
            words = line.split()
            if not words[0].endswith(":"):
                region = [int(x, 16) for x in words[0].split("-")]
                pages = int(words[4])
            elif words[0] in ("Rss:", "Swap:"):
                pages += int(words[1])
            elif words[0] == "VmFlags:" and pages:
                yield region


def look_at_memory(pid):
    try:
        with open("%s/%s/mem" % (PROC, pid), "rb", 0) as memory:
            for begin, end in regions(pid):
                try:
                    memory.seek(begin)
                    look(memory, end - begin, "memory of %s" % pid)
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
