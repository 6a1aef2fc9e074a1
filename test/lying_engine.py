"""A container engine that lies: a stand-in for Docker's, on a Unix socket.

    lying_engine.py SOCKET LOG

The command of an exec is the name of an answer below; its start gets that answer. LOG gets a line
for each start when its connection ends: "NAME, attached or detached, Upgrade or close: " and what
arrived after the request. An answer that lies waits until the client has asked for the version
twice: by then everything that the filter would pass on has arrived.
"""
import hashlib
import json
import os
import socket
import sys
import threading

RAW = b"Content-Type: application/vnd.docker.raw-stream\r\n"
UPGRADE = b"Connection: Upgrade\r\nUpgrade: tcp\r\n"
OK = b"HTTP/1.1 200 OK\r\n"
# Honest ones first: these open a stream.
ANSWERS = {
    "honest-101": b"HTTP/1.1 101 UPGRADED\r\n" + RAW + UPGRADE + b"\r\n",
    "honest-200": OK + RAW + b"\r\n",
    "honest-multiplexed":
        OK + b"Content-Type: application/vnd.docker.multiplexed-stream\r\n\r\n",
    "honest-100-first": b"HTTP/1.1 100 Continue\r\n\r\n" + OK + RAW + b"\r\n",
    "honest-fields": OK + b"Server: Docker/27\r\nApi-Version: 1.47\r\nOstype: linux\r\n" + RAW + b"\r\n",
    "later-field": OK + RAW + b"Body-Ends: after=0\r\n\r\n",
    "length-0": OK + b"Content-Length: 0\r\n\r\n",
    "length-0-raw": OK + RAW + b"Content-Length: 0\r\n\r\n",
    "length": OK + RAW + b"Content-Length: 2\r\n\r\nOK",
    "chunked": OK + RAW + b"Transfer-Encoding: chunked\r\n\r\n2\r\nOK\r\n0\r\n\r\n",
    "trailers": OK + RAW + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n",
    "no-content": b"HTTP/1.1 204 No Content\r\n" + RAW + b"\r\n",
    "conflict": b"HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\nno",
    "wrong-type": OK + b"Content-Type: application/json\r\n\r\n",
    "no-type": OK + b"\r\n",
    "type-twice": OK + RAW + RAW + b"\r\n",
    "folded": OK + b"X: y\r\n " + RAW + b"\r\n",
    "http-1.0": b"HTTP/1.0 200 OK\r\n" + RAW + b"\r\n",
    "keep-alive": OK + RAW + b"Connection: keep-alive\r\n\r\n",
    "two-answers": OK + b"Content-Length: 0\r\n\r\n" + OK + RAW + b"\r\n",
    "then-101": OK + b"Content-Length: 0\r\n\r\nHTTP/1.1 101 X\r\n" + UPGRADE + b"\r\n",
    "101-bare": b"HTTP/1.1 101 X\r\n" + RAW + b"\r\n",
    "101-http-1.0": b"HTTP/1.0 101 X\r\n" + UPGRADE + b"\r\n",
    "101-other": b"HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
    "101-length": b"HTTP/1.1 101 X\r\n" + UPGRADE + b"Content-Length: 0\r\n\r\n",
    "100-only": b"HTTP/1.1 100 Continue\r\n\r\n" * 40,
    "nothing": b"",
    "noise": b"\x00\x01 noise\r\n\r\n",
}


def identify(name):
    return hashlib.sha256(name.encode()).hexdigest()


NAMES = {identify(name): name for name in ANSWERS}


def read_request(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(4096)
        if not more:
            return None, b"", b""
        data += more
    head, rest = data.split(b"\r\n\r\n", 1)
    length = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    while len(rest) < length:
        rest += connection.recv(4096)
    return head.decode(), rest[:length], rest[length:]


def reply_json(connection, status, value):
    body = json.dumps(value).encode()
    connection.sendall(b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                       % (status, len(body)) + body)


versions = 0
asked = threading.Condition()


def await_client(enough):
    """Wait until the client has sent all that it sends."""
    with asked:
        asked.wait_for(lambda: versions >= enough, 60)


def receive(connection):
    try:
        return connection.recv(65536)
    except OSError:
        return b""


def serve_start(connection, name, detached, rest):
    honest = name.startswith("honest") and detached == "attached"
    enough = versions + 2
    connection.sendall(ANSWERS[name])
    if not ANSWERS[name]:
        connection.shutdown(socket.SHUT_WR)
    if not honest:
        await_client(enough)
        connection.setblocking(False)
    while True:
        more = receive(connection)
        if not more:
            return rest
        rest += more
        # A stream: what a command would print.
        if honest:
            connection.sendall(more)


def serve(connection, log):
    global versions
    head, body, rest = read_request(connection)
    if head is None:
        return
    method, path = head.split(" ")[:2]
    if path.startswith("/v1."):
        path = path[path.index("/", 1):]
    if path.startswith("/containers/create"):
        reply_json(connection, 201, {"Id": identify("container")})
    elif path.endswith("/exec"):
        name = json.loads(body)["Cmd"][0]
        reply_json(connection, 201, {"Id": identify(name)})
    elif path.startswith("/exec/") and path.endswith("/start"):
        name = NAMES[path.split("/")[2]]
        detached = "detached" if json.loads(body or b"{}").get("Detach") else "attached"
        how = "Upgrade" if "Upgrade" in head else "close"
        rest = serve_start(connection, name, detached, rest)
        os.write(log, f"{name}, {detached}, {how}: {rest!r}\n".encode())
    elif path.startswith("/containers/json"):
        reply_json(connection, 200, [])
    else:
        reply_json(connection, 200, {})
    if path.startswith("/version"):
        with asked:
            versions += 1
            asked.notify_all()
    connection.close()


def main(path, log):
    log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(16)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, log), daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
