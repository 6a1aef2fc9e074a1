"""Servers that are not HTTP, and a proxy that forwards everything."""
import asyncio
import hashlib

from origin import CANNED, reset


async def banner(reader, writer):
    """Speaks first, as a mail server does."""
    writer.write(b"220 wire.test ready\r\n")
    while line := await reader.readline():
        if line.strip() == b"QUIT":
            writer.write(b"221 bye\r\n")
            break
        writer.write(b"250 got " + line)


async def echo(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


async def count(reader, writer):
    """Answers only when the client has ended its half."""
    total, digest = 0, hashlib.sha256()
    while data := await reader.read(65536):
        total += len(data)
        digest.update(data)
    writer.write(b"%d %s\n" % (total, digest.hexdigest().encode()))


async def pour(reader, writer):
    """Sends without end, until the client goes."""
    while True:
        writer.write(b"x" * 65536)
        await writer.drain()


async def cut(reader, writer):
    """The client says N: that many bytes, and then a reset."""
    writer.write(CANNED[:int(await reader.readline())])
    await writer.drain()
    reset(writer)


async def deaf(reader, writer):
    await asyncio.Event().wait()


async def slow(reader, writer):
    """Another server, after longer than a client has for its first request."""
    await asyncio.sleep(12)
    up_reader, up_writer = await asyncio.open_connection("203.0.113.80", 443)
    await asyncio.gather(pump(reader, up_writer), pump(up_reader, writer))


async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except (ConnectionError, OSError):
        pass


def proxy(record):
    """CONNECT, and plain requests in absolute form, without any rule."""
    async def serve(reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        record(head.decode("latin-1").replace("\r\n", "|"))
        method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
        if "refuse" in target:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n"
                         b"Content-Length: 0\r\n\r\n")
            return
        where = target
        if method != "CONNECT":
            where, _, path = target.partition("://")[2].partition("/")
            head = head.replace(target.encode(), b"/" + path.encode(), 1)
        name, _, port = where.rpartition(":")
        if not name:
            name, port = where, "80"
        up_reader, up_writer = await asyncio.open_connection(
            {"allowed.test": "203.0.113.10", "origin.test": "203.0.113.20",
             "private.test": "10.0.0.5"}.get(name, name), int(port))
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        else:
            up_writer.write(head)
        await asyncio.gather(pump(reader, up_writer), pump(up_reader, writer))
        up_writer.close()
    return serve


def quiet(serve):
    """A client that goes away ends its own connection, no more."""
    async def handler(reader, writer):
        try:
            await serve(reader, writer)
            await writer.drain()
        except (ConnectionError, OSError, ValueError,
                asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
    return handler


async def start(record):
    for where, port, serve in (
            ("203.0.113.50", 7, echo),
            ("203.0.113.50", 9, count),
            ("203.0.113.50", 19, pour),
            ("203.0.113.50", 25, banner),
            ("203.0.113.50", 9000, cut),
            ("127.0.0.1", 7, echo),
            ("::1", 7, echo),
            ("10.0.0.5", 7, echo),
            ("203.0.113.51", 80, deaf),
            ("203.0.113.51", 443, deaf),
            ("203.0.113.52", 443, slow),
            ("203.0.113.70", 3128, proxy(record))):
        await asyncio.start_server(quiet(serve), where, port, backlog=4096)
