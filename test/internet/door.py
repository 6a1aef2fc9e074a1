"""For scripts in the box: every way to the network, spelled out in bytes.
Each call says in one word what came of it."""
import errno
import os
import random
import re
import socket
import struct
import time
import urllib.parse

TIMEOUT = 60


def proxy_address():
    url = urllib.parse.urlsplit(os.environ["http_proxy"])
    return url.hostname, url.port


def say(label, what):
    print("%s: %s" % (label, what), flush=True)


def word(error):
    if isinstance(error, socket.gaierror):
        return "no name"
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, (ConnectionResetError, BrokenPipeError)):
        return "reset"      # before or after our bytes were taken
    return errno.errorcode.get(error.errno, str(error))


def nameserver():
    with open("/etc/resolv.conf") as lines:
        for line in lines:
            if line.startswith("nameserver"):
                return line.split()[1]


def to_proxy():
    return socket.create_connection(proxy_address(), TIMEOUT)


class Answer:
    """One HTTP answer, read from a file of the socket."""
    def __init__(self, stream, method="GET"):
        line = stream.readline()
        if not line:
            raise ConnectionError("closed")
        if not re.match(rb"HTTP/1\.[01] [1-9][0-9][0-9]", line):
            raise ConnectionError("malformed")
        self.status = int(line.split()[1])
        self.headers = []
        while (line := stream.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode("latin-1").partition(":")
            self.headers.append((name, value.strip()))
        self.body = b""
        if (method == "HEAD" or self.status in (204, 304) or
                self.status < 200 or method == "CONNECT" and
                self.status == 200):
            return
        if self.get("transfer-encoding") == "chunked":
            while size := int(stream.readline().split(b";")[0], 16):
                self.body += stream.read(size)
                stream.readline()
            while stream.readline() not in (b"\r\n", b""):
                pass
        elif self.get("content-length") is not None:
            length = int(self.get("content-length"))
            self.body = stream.read(length)
            if len(self.body) < length:
                raise ConnectionError("short")
        else:
            self.body = stream.read()

    def get(self, name):
        for key, value in self.headers:
            if key.lower() == name:
                return value
        return None

    def id(self):
        """The id in the text of a denial."""
        found = re.search(rb"id ([a-z0-9]+-[0-9]+)", self.body)
        return found.group(1).decode() if found else None


def ask(data, sock=None, n=1, method="GET"):
    """Send bytes, to the proxy if nothing else is said; the n answers."""
    if isinstance(data, str):
        data = data.encode("latin-1")
    sock = sock or to_proxy()
    sock.sendall(data)
    # What follows the answer to CONNECT is for the caller to read.
    stream = sock.makefile("rb", 0 if method == "CONNECT" else -1)
    return [Answer(stream, method) for _ in range(n)]


def statuses(data, sock=None):
    """Send bytes, all of them; the statuses of all answers until it ends."""
    if isinstance(data, str):
        data = data.encode("latin-1")
    found = []
    try:
        sock = sock or to_proxy()
        sock.sendall(data)
        sock.shutdown(socket.SHUT_WR)
        stream = sock.makefile("rb")
        while True:
            found.append(str(Answer(stream).status))
    except (OSError, ValueError) as error:
        # After a reset there is nothing to shut down.
        if getattr(error, "errno", 0) in (errno.ECONNRESET, errno.ENOTCONN,
                                          errno.EPIPE):
            found.append("reset")
        elif str(error) != "closed" or not found:
            found.append(str(error))
    return " ".join(found)


def outcome(call):
    """A status, or the word for an error."""
    try:
        return call()
    except OSError as error:
        return word(error) if error.errno or isinstance(
            error, TimeoutError) else str(error)


def forward(host, port=80, path="/", more=""):
    """A request in absolute form; its status."""
    url = host if port == 80 else "%s:%d" % (host, port)
    return outcome(lambda: ask(
        "GET http://%s%s HTTP/1.1\r\nHost: %s\r\n%s\r\n"
        % (url, path, url, more))[0].status)


def connect_to(host, port):
    """The answer to CONNECT and its socket."""
    sock = to_proxy()
    where = "%s:%d" % (host, port)
    return ask("CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (where, where),
               sock, method="CONNECT")[0], sock


def connect(host, port=443):
    return outcome(lambda: connect_to(host, port)[0].status)


def socks_to(address, port, kind=None):
    """The reply code of SOCKS5 and its socket. Address: a name as text or
    bytes, or an IPv4 or IPv6 address as text."""
    sock = to_proxy()
    if kind is None and isinstance(address, str):
        for family, its in ((socket.AF_INET, 1), (socket.AF_INET6, 4)):
            try:
                packed = socket.inet_pton(family, address)
            except OSError:
                continue
            return socks_send(sock, bytes([its]) + packed, port)
    if isinstance(address, str):
        address = address.encode("latin-1")
    return socks_send(sock, bytes([3, len(address)]) + address, port)


def socks_send(sock, address, port):
    sock.sendall(b"\5\1\0")
    if sock.recv(2) != b"\5\0":
        raise ConnectionError("no method")
    sock.sendall(b"\5\1\0" + address + struct.pack("!H", port))
    reply = b""
    while len(reply) < 10:
        more = sock.recv(10 - len(reply))
        if not more:
            raise ConnectionError("closed")
        reply += more
    return reply[1], sock


def socks(address, port=80, kind=None):
    return outcome(lambda: socks_to(address, port, kind)[0])


def direct(host, port=80, send=None):
    """Connect as a program does that knows no proxy. With bytes to send:
    "ok" when one comes back. Else a request: "ok", or its status."""
    def attempt():
        with socket.create_connection((host, port), TIMEOUT) as sock:
            if send:
                sock.sendall(send)
                return "ok" if sock.recv(1) else "closed"
            name = "[%s]" % host if ":" in host else host
            status = ask("GET / HTTP/1.1\r\nHost: %s\r\n\r\n" % name,
                         sock)[0].status
            return "ok" if status == 200 else status
    return outcome(attempt)


def tunnels(host, port):
    """Sockets that lead there, one through each door: (door, socket)."""
    answer, sock = connect_to(host, port)
    yield "connect", sock
    code, sock = socks_to(host, port)
    yield "socks", sock
    yield "direct", socket.create_connection((host, port), TIMEOUT)


A, AAAA, HTTPS, TXT, ANY = 1, 28, 65, 16, 255
CODES = ("ok", "format", "fail", "nx", "not implemented", "refused")


def dns_query(name, kind=A, more=b"", flags=0x0100):
    number = random.randrange(65536)
    if isinstance(name, str):
        name = b"".join(bytes([len(x)]) + x.encode("latin-1")
                        for x in name.split(".")) + b"\0"
    return struct.pack("!HHHHHH", number, flags, 1, 0, 0,
                       1 if more else 0) + name + struct.pack(
                           "!HH", kind, 1) + more


def dns_parse(query, reply):
    """The code in a word, and the addresses."""
    number, flags, _, answers = struct.unpack_from("!HHHH", reply)
    if reply[:2] != query[:2]:
        return "another id", []
    at, found = 12, []
    while reply[at]:
        at += 1 + reply[at]
    at += 5
    for _ in range(answers):
        if reply[at] & 0xc0:
            at += 2
        else:
            while reply[at]:
                at += 1 + reply[at]
            at += 1
        kind, _, _, length = struct.unpack_from("!HHIH", reply, at)
        data = reply[at + 10:at + 10 + length]
        if kind in (A, AAAA):
            found.append(socket.inet_ntop(
                socket.AF_INET if kind == A else socket.AF_INET6, data))
        at += 10 + length
    return CODES[flags & 15], found


def dns_send(query, server=None, tcp=False):
    server = server or nameserver()
    family = socket.AF_INET6 if ":" in server else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM if tcp
                       else socket.SOCK_DGRAM) as sock:
        sock.settimeout(TIMEOUT)
        sock.connect((server, 53))
        if tcp:
            sock.sendall(struct.pack("!H", len(query)) + query)
            stream = sock.makefile("rb")
            length = stream.read(2)
            if len(length) < 2:
                raise ConnectionError("closed")
            return stream.read(struct.unpack("!H", length)[0])
        sock.send(query)
        return sock.recv(65536)


def lookup(name, kind=A, server=None, tcp=False, more=b""):
    """As "ok ADDRESS...", "nx", ..."""
    query = dns_query(name, kind, more)

    def attempt():
        code, found = dns_parse(query, dns_send(query, server, tcp))
        return " ".join([code] + found)
    return outcome(attempt)


def address(name, kind=A):
    """The synthetic address of an allowed name."""
    return lookup(name, kind).split()[1]


def udp(host, port):
    """A datagram that should get nowhere: the error, and that it comes at
    once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.settimeout(20)

        def attempt():
            sock.connect((host, port))
            begun = time.monotonic()
            sock.send(b"\xc0\0\0\0\1" + b"x" * 1200)
            try:
                sock.recv(1)
            except ConnectionRefusedError:
                if time.monotonic() - begun > 15:
                    return "late"
                raise
            return "answered"
        return outcome(attempt)
