"""A DNS server for the names of the tests. It records every question it gets,
one line each: name, type, transport."""
import asyncio
import ipaddress
import os
import struct

WEB4, WEB6 = "203.0.113.10", "2001:db8::10"
ORIGIN4, ORIGIN6 = "203.0.113.20", "2001:db8::20"
PRIVATE = "10.0.0.5"

KEYS = "203.0.113.80"
MODELS = "203.0.113.90"
REGISTRIES = "203.0.113.91"
AWS = "203.0.113.92"
OAUTH = "203.0.113.93"

# Name: addresses, or the name it is an alias of.
ZONE = {
    "allowed.test": [WEB4, WEB6],
    "www.allowed.test": [WEB4, WEB6],
    "deep.www.allowed.test": [WEB4],
    "notallowed.test": [WEB4],
    "a_b.allowed.test": [WEB4],
    "foo_bar.test": [WEB4],
    "allowed.test.evil.test": [WEB4],
    "other.test": [WEB4, WEB6],
    "denied.test": [WEB4],
    "v4.test": [WEB4],
    "v6.test": [WEB6],
    "apt.test": [WEB4],
    "xn--bcher-kva.test": [WEB4],
    "cname.test": "allowed.test",
    "cname-private.test": "private.test",
    "cname-self.test": "cname-self.test",
    "origin.test": [ORIGIN4, ORIGIN6],
    "origin4.test": [ORIGIN4],
    "second.test": [ORIGIN4],
    "git.test": ["203.0.113.30"],
    "redis.test": ["203.0.113.40"],
    "wire.test": ["203.0.113.50"],
    "deaf.test": ["203.0.113.51"],
    "slow.test": ["203.0.113.52"],
    "refused.test": ["203.0.113.60"],
    "multi.test": ["203.0.113.60", "203.0.113.61", WEB4],
    "no6.test": [WEB4, "2001:db8::60"],
    "proxy.test": ["203.0.113.70"],
    "big.test": [ORIGIN4] + ["203.0.113.%d" % n for n in range(100, 160)],
    "empty.test": [],
    "expired.test": ["203.0.113.81"],
    "wrong.test": ["203.0.113.82"],
    "stranger.test": ["203.0.113.83"],
    # Where no box may go.
    "private.test": [PRIVATE],
    "private6.test": ["fd00:aaaa::5"],
    "mixed.test": [ORIGIN4, PRIVATE],
    "mixed6.test": [ORIGIN4, "fd00:aaaa::5"],
    "loop.test": ["127.0.0.1"],
    "loop6.test": ["::1"],
    "zero.test": ["0.0.0.0"],
    "mapped.test": ["::ffff:127.0.0.1"],
    "nat64.test": ["64:ff9b::7f00:1"],
    "metadata.test": ["169.254.169.254"],
    "metadata6.test": ["fd00:ec2::254"],
    "alibaba.test": ["100.100.100.200"],
    "own.test": ["192.0.2.7"],
    "synthetic.test": ["198.18.0.1"],
}
# Services that want a key.
ZONE.update((name, [KEYS]) for name in """
    openrouter.ai api.openai.com api.groq.com api.together.xyz
    api.deepseek.com api.mistral.ai api.x.ai inference-api.nousresearch.com
    api.anthropic.com here.openai.azure.com generativelanguage.googleapis.com
    github.com api.github.com upload.pypi.org huggingface.co keys.test
    other-keys.test""".split())
ZONE.update((name, [AWS]) for name in """
    s3.eu-west-1.amazonaws.com bucket.s3.eu-west-1.amazonaws.com
    sts.eu-west-1.amazonaws.com ec2.eu-west-1.amazonaws.com""".split())
ZONE.update((name, [OAUTH]) for name in """
    auth.test api.auth.test oauth2.googleapis.com
    storage.googleapis.com""".split())
# Stand-ins for what agents talk to.
ZONE.update((name, [MODELS]) for name in ("models.test", "platform.claude.com"))
# In the tests of agents also services that otherwise only want a key.
ZONE.update((name, [MODELS]) for name in
            os.environ.get("AB_MODEL_HOSTS", "").split())
ZONE.update((name, [REGISTRIES]) for name in """
    registry.npmjs.org pypi.org files.pythonhosted.org index.crates.io
    static.crates.io proxy.golang.org repo.maven.apache.org mirror.test""".split())
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
