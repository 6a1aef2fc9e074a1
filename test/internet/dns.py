"""A DNS server for the names of the tests. It records every question it gets,
one line each: name, type, transport."""
import asyncio
import ipaddress
import struct

from zone import *      # noqa: F401, F403

A, CNAME, AAAA = 1, 5, 28
TYPES = {A: "A", CNAME: "CNAME", AAAA: "AAAA", 65: "HTTPS", 16: "TXT"}


class Zone:
    def __init__(self, record):
        self.record = record
        self.asked = {}

    def records(self, name, kind):
        """The (type, data, ttl) of a name, or None when there is no such."""
        if name.endswith(".rebind.test"):
            # A good address for the first question, loopback afterwards.
            if kind != A:
                return []
            n = self.asked[name] = self.asked.get(name, 0) + 1
            where = ORIGIN4 if n == 1 else "127.0.0.1"
            return [(A, ipaddress.ip_address(where).packed, 0)]
        entry = ZONE.get(name)
        if entry is None:
            return None
        if isinstance(entry, str):
            more = [] if entry == name else self.records(entry, kind)
            return [(CNAME, encode(entry), 60)] + (more or [])
        found = []
        for text in entry:
            addr = ipaddress.ip_address(text)
            its = A if addr.version == 4 else AAAA
            if its == kind:
                found.append((its, addr.packed, 60))
        return found

    def answer(self, query, transport):
        """The answer to a message; None: there is none."""
        name, end = decode(query, 12)
        kind, = struct.unpack_from("!H", query, end)
        lower = name.lower()
        self.record("%s %s %s" % (lower, TYPES.get(kind, kind), transport))
        if lower == "dead.test":
            return None
        found = self.records(lower, kind)
        code = 2 if lower == "servfail.test" else 3 if found is None else 0
        found = found or []
        flags = 0x8580 | code
        if lower == "big.test" and transport == "udp" and found:
            found, flags = [], flags | 0x0200
        body = b""
        for its, data, ttl in found:
            body += b"\xc0\x0c" if its != CNAME else encode(name)
            # Records behind an alias belong to its target.
            if its != CNAME and found[0][0] == CNAME:
                body = body[:-2] + encode(ZONE[lower])
            body += struct.pack("!HHIH", its, 1, ttl, len(data)) + data
        head = query[:2] + struct.pack("!HHHHH", flags, 1, len(found), 0, 0)
        return head + query[12:end + 4] + body


def encode(name):
    labels = [bytes([len(x)]) + x.encode() for x in name.split(".")]
    return b"".join(labels) + b"\0"


def decode(message, at):
    labels = []
    while message[at]:
        labels.append(message[at + 1:at + 1 + message[at]].decode("latin-1"))
        at += 1 + message[at]
    return ".".join(labels), at + 1


class Datagrams(asyncio.DatagramProtocol):
    def __init__(self, zone):
        self.zone = zone

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        reply = self.zone.answer(data, "udp")
        if reply:
            self.transport.sendto(reply, addr)


async def start(record):
    zone = Zone(record)

    async def stream(reader, writer):
        try:
            while True:
                length, = struct.unpack("!H", await reader.readexactly(2))
                reply = zone.answer(await reader.readexactly(length), "tcp")
                if reply:
                    writer.write(struct.pack("!H", len(reply)) + reply)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    loop = asyncio.get_running_loop()
    await loop.create_datagram_endpoint(
        lambda: Datagrams(zone), local_addr=("203.0.113.53", 53))
    await asyncio.start_server(stream, "203.0.113.53", 53)
