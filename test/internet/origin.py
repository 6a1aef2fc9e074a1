"""An HTTP server that says what reached it, and speaks every form that a proxy
has to pass on. It records each request as one line of JSON: the address it
came to, and the bytes of its head and body."""
import asyncio
import base64
import hashlib
import json
import socket
import struct

CANNED = (b"HTTP/1.1 200 OK\r\nContent-Length: 32\r\nX-Canned: yes\r\n\r\n"
          b"0123456789abcdef0123456789abcdef")


def reset(writer):
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                    struct.pack("ii", 1, 0))
    writer.transport.abort()


class Request:
    def __init__(self, head):
        lines = head.decode("latin-1").split("\r\n")
        self.head = head
        self.line = lines[0]
        words = lines[0].split(" ")
        self.method, self.target = words[0], words[1] if words[1:] else ""
        self.headers = []
        for line in lines[1:]:
            if line:
                name, _, value = line.partition(":")
                self.headers.append((name, value.strip()))
        self.body = b""
        self.trailer = b""

    def get(self, name):
        for key, value in self.headers:
            if key.lower() == name:
                return value
        return None


async def read_body(reader, request):
    coding = request.get("transfer-encoding")
    if coding and coding.lower() == "chunked":
        while True:
            size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
            if size == 0:
                break
            request.body += await reader.readexactly(size)
            await reader.readexactly(2)
        while (line := await reader.readuntil(b"\r\n")) != b"\r\n":
            request.trailer += line
    elif request.get("content-length"):
        request.body = await reader.readexactly(
            int(request.get("content-length")))


class Origin:
    def __init__(self, record):
        self.record = record
        self.gates = {}

    def gate(self, key):
        return self.gates.setdefault(key, asyncio.Event())

    def whole(self, writer, body, status="200 OK", more=(), length=True):
        head = ["HTTP/1.1 " + status, *more]
        if length:
            head.append("Content-Length: %d" % len(body))
        writer.write("\r\n".join(head).encode() + b"\r\n\r\n" + body)

    async def serve(self, reader, writer):
        where = writer.get_extra_info("sockname")[0]
        self.record(json.dumps({"at": where, "event": "connection"}))
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                request = Request(head)
                if request.get("expect") == "100-continue":
                    writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                if request.target == "/early":
                    writer.write(b"HTTP/1.1 200 OK\r\n\r\nearly\n")
                await read_body(reader, request)
                self.record(json.dumps({
                    "at": where, "event": "request",
                    "head": head.decode("latin-1"),
                    "body": request.body[:1000].decode("latin-1")}))
                if not await self.reply(request, reader, writer):
                    break
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError,
                ConnectionError, ValueError):
            pass
        finally:
            writer.close()

    async def reply(self, request, reader, writer):
        """Answer one request; true: the connection stays."""
        path, _, query = request.target.partition("?")
        what = path.split("/")[1:]
        answer = getattr(self, "do_" + what[0].replace("-", "_"), None)
        if answer:
            return await answer(request, what[1:], query, reader, writer)
        body = json.dumps({
            "line": request.line, "headers": request.headers,
            "body": request.body[:1000].decode("latin-1"),
            "trailer": request.trailer.decode("latin-1"),
            "length": len(request.body),
            "sha256": hashlib.sha256(request.body).hexdigest()}).encode()
        if request.method == "HEAD":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
                         % len(body))
        else:
            self.whole(writer, body)
        return request.get("connection") != "close"

    async def do_chunked(self, request, what, query, reader, writer):
        if request.line.endswith("HTTP/1.0"):
            writer.write(b"HTTP/1.1 200 OK\r\n\r\none two three")
            return False
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                     b"Trailer: X-Sum\r\n\r\n")
        for part in (b"one ", b"two ", b"three"):
            writer.write(b"%x\r\n%s\r\n" % (len(part), part))
            await writer.drain()
        writer.write(b"0\r\nX-Sum: 13\r\n\r\n")
        return True

    async def do_early(self, request, what, query, reader, writer):
        """Was answered before its body came: see serve."""
        return False

    async def do_until_close(self, request, what, query, reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nto the end")
        return False

    async def do_events(self, request, what, query, reader, writer):
        """Server-sent events: the second comes only after /open/KEY."""
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                     b"\r\ndata: first\n\n")
        await writer.drain()
        await self.gate(what[0]).wait()
        writer.write(b"data: second\n\n")
        return False

    async def do_open(self, request, what, query, reader, writer):
        self.gate(what[0]).set()
        self.whole(writer, b"opened")
        return True

    async def do_hints(self, request, what, query, reader, writer):
        writer.write(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
        self.whole(writer, b"after hints")
        return True

    async def do_status(self, request, what, query, reader, writer):
        if what[0] in ("204", "304"):
            writer.write(b"HTTP/1.1 %s Nothing\r\n\r\n" % what[0].encode())
        else:
            self.whole(writer, b"status " + what[0].encode(),
                       what[0] + " So")
        return True

    async def do_hop(self, request, what, query, reader, writer):
        self.whole(writer, b"hop", more=(
            "Connection: keep-alive, X-Hop", "Keep-Alive: timeout=5",
            "X-Hop: 1", "X-End: 1"))
        return True

    async def do_bytes(self, request, what, query, reader, writer):
        left = int(what[0])
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % left)
        while left:
            part = min(left, 65536)
            writer.write(b"x" * part)
            await writer.drain()
            left -= part
        return True

    async def do_reset(self, request, what, query, reader, writer):
        """That many bytes of an answer, and then a reset."""
        writer.write(CANNED[:int(what[0])])
        await writer.drain()
        reset(writer)
        return False

    async def do_raw(self, request, what, query, reader, writer):
        """The answer that the path holds, in base64."""
        writer.write(base64.urlsafe_b64decode(what[0]))
        return False

    async def do_ws(self, request, what, query, reader, writer):
        """A WebSocket that sends back every message."""
        key = (request.get("sec-websocket-key") or "").encode()
        magic = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key + magic).digest())
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\n"
                     b"Upgrade: websocket\r\nConnection: Upgrade\r\n"
                     b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")
        while True:
            first, length = await reader.readexactly(2)
            length &= 127
            if length == 126:
                length, = struct.unpack("!H", await reader.readexactly(2))
            mask = await reader.readexactly(4)
            data = await reader.readexactly(length)
            data = bytes(b ^ mask[i % 4] for i, b in enumerate(data))
            if first & 15 == 8:
                return False
            writer.write(bytes([first, len(data)]) + data)
            await writer.drain()


async def start(record):
    origin = Origin(record)
    for where in ("203.0.113.20", "2001:db8::20", "127.0.0.1", "::1",
                  "10.0.0.5", "fd00:aaaa::5", "169.254.169.254",
                  "fd00:ec2::254", "100.100.100.200", "192.0.2.7"):
        for port in (80, 8088):
            await asyncio.start_server(origin.serve, where, port, backlog=4096)
