# connect() as a program knows it: errors, non-blocking, limits, threads, full queues.
import errno, os, select, socket, threading, time

def fails(want, call):
    try:
        call()
    except OSError as e:
        print("as in the kernel" if e.errno == want else e)
    else:
        print("no error")

def unix():
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

fails(errno.ENOENT, lambda: unix().connect("nothing"))
open("file", "w").close()
fails(errno.ECONNREFUSED, lambda: unix().connect("file"))
fails(errno.ECONNREFUSED, lambda: socket.create_connection(("127.0.0.1", 9)))

tcp = socket.create_server(("127.0.0.1", 0))
c = socket.socket()
c.setblocking(False)
assert c.connect_ex(tcp.getsockname()) in (0, errno.EINPROGRESS)
select.select([], [c], [], 30)
assert c.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
c.getpeername()
print("non-blocking")

# A queue that is full: a blocking connect waits, one with a limit gives up.
server = unix()
server.bind("full")
server.listen(0)
first = unix()
first.connect("full")
limited = unix()
limited.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, b"\0" * 8 + (200000).to_bytes(8, "little"))
fails(errno.EAGAIN, lambda: limited.connect("full"))
waiting = unix()
done = threading.Event()
def wait():
    waiting.connect("full")
    done.set()
threading.Thread(target=wait).start()
assert not done.wait(0.3)
server.accept()
assert done.wait(30)
print("waited")
assert os.get_blocking(waiting.fileno())

# Many threads at once.
server.listen(64)
def many():
    for i in range(50):
        s = unix()
        s.connect("many")
        s.close()
busy = unix()
busy.bind("many")
busy.listen(1024)
threads = [threading.Thread(target=many) for _ in range(8)]
for t in threads: t.start()
for i in range(400): busy.accept()[0].close()
for t in threads: t.join()
print("threads")

# More that wait than a queue has room for.
crowd = unix()
crowd.bind("crowd")
crowd.listen(0)
failed = []
def push():
    s = unix()
    try:
        s.connect("crowd")
    except OSError as e:
        failed.append(e)
    s.close()
threads = [threading.Thread(target=push) for _ in range(100)]
for t in threads: t.start()
time.sleep(0.3)
for i in range(100): crowd.accept()[0].close()
for t in threads: t.join()
print("crowd", failed)

# A group of netlink is for those who have rights over the network.
netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
fails(errno.EPERM, lambda: netlink.connect((0, 1)))
netlink.connect((0, 0))
print("netlink")
