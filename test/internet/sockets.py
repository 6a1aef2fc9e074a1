# How sockets behave, seen by a program: prints "NAME RESULT" for each check. The
# same is printed on a host without a box, but for the name "peer".
#
#   sockets.py HOST      a web server on port 80
import array, errno, fcntl, os, select, socket, struct, subprocess, sys, threading

host = socket.getaddrinfo(sys.argv[1], 80, socket.AF_INET, socket.SOCK_STREAM)[0][4]


def ask(s):
    s.settimeout(60)
    s.sendall(b'GET / HTTP/1.0\r\nHost: %s\r\n\r\n' % sys.argv[1].encode())
    got = b''
    while True:
        part = s.recv(4096)
        if not part:
            break
        got += part
    return b'hello' in got


def code(act, *args):
    try:
        act(*args)
        return 0
    except OSError as e:
        return errno.errorcode[e.errno]


def epoll_before():
    s = socket.socket()
    s.setblocking(False)
    e = select.epoll()
    e.register(s, select.EPOLLOUT)
    e.poll(0)
    first = s.connect_ex(host)
    ready = e.poll(60)
    return errno.errorcode[first], ready[0][0] == s.fileno(), ready[0][1] == select.EPOLLOUT, ask(s)


def epoll_after():
    s = socket.create_connection(host)
    e = select.epoll()
    e.register(s, select.EPOLLOUT)
    return e.poll(60)[0][1] == select.EPOLLOUT, ask(s)


def options():
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20000)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack('ll', 55, 0))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 7))
    s.connect(host)
    return (s.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY),
            s.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE),
            s.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF),
            struct.unpack('ll', s.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, 16))[0],
            struct.unpack('ii', s.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8)), ask(s))


def bound():
    s = socket.socket()
    s.bind(('', 0))
    port = s.getsockname()[1]
    s.connect(host)
    return s.getsockname()[1] == port, ask(s)


def twice():
    s = socket.create_connection(host)
    return code(s.connect, host), ask(s)


def unblocked():
    s = socket.socket()
    s.setblocking(False)
    codes = [s.connect_ex(host)]
    select.select([], [s], [], 60)
    codes += [s.connect_ex(host), s.connect_ex(host)]
    return [errno.errorcode.get(c, c) for c in codes], ask(s)


def duplicate():
    s = socket.socket()
    d = s.dup()
    s.connect(host)
    s.close()
    return ask(d)


def forked():
    s = socket.socket()
    pid = os.fork()
    if not pid:
        os._exit(s.connect_ex(host))
    return os.waitpid(pid, 0)[1], ask(s)


def spawned():
    s = socket.socket()
    os.set_inheritable(s.fileno(), True)
    child = 'import socket, sys; socket.socket(fileno=%d).connect((sys.argv[1], 80))' % s.fileno()
    r = subprocess.run([sys.executable, '-c', child, host[0]], close_fds=False).returncode
    return r, ask(s)


def peer():
    s = socket.create_connection(host)
    return s.getpeername()[0], ask(s)


def mapped():
    s = socket.socket(socket.AF_INET6)
    s.connect(('::ffff:' + host[0], 80))
    return ask(s)


def threads():
    got = []
    def one():
        got.append(ask(socket.create_connection(host)))
    all = [threading.Thread(target=one) for _ in range(16)]
    [t.start() for t in all]
    [t.join() for t in all]
    return got.count(True)


def closes_on_exec():
    a = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    a.connect(host)
    return bool(fcntl.fcntl(a, fcntl.F_GETFD) & fcntl.FD_CLOEXEC), ask(a)


def retry():
    l = socket.socket()
    l.bind(('127.0.0.1', 0))
    s = socket.socket()
    first = code(s.connect, l.getsockname())
    l.listen()
    s.connect(l.getsockname())
    return first, l.accept()[1] == s.getsockname()


def free_port():
    s = socket.socket()
    s.bind(('127.0.0.1', 0))
    at = s.getsockname()
    s.close()
    l = socket.socket()
    l.bind(at)
    l.listen()
    c = socket.create_connection(at)
    return l.accept()[0].send(b'x'), c.recv(1)


def again():
    s = socket.socket()
    s.bind(('127.0.0.1', 0))
    at = s.getsockname()
    for i in range(20):
        s.close()
        s = socket.socket(socket.AF_INET, [socket.SOCK_STREAM, socket.SOCK_DGRAM][i % 2])
        s.bind(at)
    return True


def server(family, at):
    l = socket.socket(family)
    l.bind(at)
    l.listen()
    name = l.getsockname()
    c = socket.socket(family)
    c.connect(name)
    a = l.accept()[0]
    c.sendall(b'question')
    q = a.recv(100)
    a.sendall(b'answer')
    got = c.recv(100)
    c.close()
    end = a.recv(100)       # no copy of it is left open
    l.close()
    c = socket.socket(family)
    return q, got, end, code(c.connect, name)


def dual():
    l = socket.create_server(('', 0), family=socket.AF_INET6, dualstack_ipv6=True)
    port = l.getsockname()[1]
    got = []
    for at in '127.0.0.1', '::1':
        c = socket.create_connection((at, port))
        l.accept()
        got.append(c.getpeername()[0])
    return got


def datagrams(family, at):
    a, b = socket.socket(family, socket.SOCK_DGRAM), socket.socket(family, socket.SOCK_DGRAM)
    a.settimeout(60)
    b.settimeout(60)
    a.bind((at, 0))
    b.sendto(b'question', a.getsockname())
    q, who = a.recvfrom(100)
    a.sendto(b'answer', who)
    got, sender = b.recvfrom(100)
    b.connect(a.getsockname())
    b.send(b'connected')
    b.sendmsg([b'in ', b'parts'])
    return q, got, sender == a.getsockname(), a.recv(100), a.recv(100)


def fast():
    # A program must go on without it.
    s = socket.socket()
    try:
        s.sendto(b'', socket.MSG_FASTOPEN, host)
    except OSError as e:
        if e.errno == errno.EOPNOTSUPP:
            s.connect(host)
    return ask(s)


def pass_descriptor(kind):
    a, b = socket.socketpair(socket.AF_UNIX, kind)
    r, w = os.pipe()
    a.sendmsg([b'here'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [w]))])
    text, control, _, _ = b.recvmsg(100, socket.CMSG_SPACE(4))
    os.write(array.array('i', control[0][2])[0], b'through')
    return text, os.read(r, 100)


checks = [
    ('epoll-before', epoll_before), ('epoll-after', epoll_after), ('options', options),
    ('bound', bound), ('twice', twice), ('unblocked', unblocked), ('duplicate', duplicate),
    ('forked', forked), ('spawned', spawned), ('peer', peer), ('mapped', mapped),
    ('threads', threads), ('closes-on-exec', closes_on_exec), ('retry', retry),
    ('free-port', free_port), ('again', again),
    ('server', lambda: server(socket.AF_INET, ('127.0.0.1', 0))),
    ('server-any', lambda: server(socket.AF_INET, ('0.0.0.0', 0))),
    ('server6', lambda: server(socket.AF_INET6, ('::1', 0))), ('dual', dual),
    ('unix', lambda: server(socket.AF_UNIX, 'own.sock')),
    ('abstract', lambda: server(socket.AF_UNIX, '\0agentbox-%d' % os.getpid())),
    ('datagrams', lambda: datagrams(socket.AF_INET, '127.0.0.1')),
    ('datagrams6', lambda: datagrams(socket.AF_INET6, '::1')), ('fast-open', fast),
    ('descriptor', lambda: pass_descriptor(socket.SOCK_STREAM)),
    ('packets', lambda: pass_descriptor(socket.SOCK_SEQPACKET)),
]
for name, check in checks:
    try:
        print(name, check(), flush=True)
    except Exception as e:
        print(name, 'failed:', repr(e), flush=True)
if os.path.exists('own.sock'):
    os.unlink('own.sock')
