# passed_socket.py PROGRAM...: runs the program with a socket of the host's network as its standard
# input, in turn a TCP connection and a Unix socket without one. With "inside" it is the program: it
# tries to connect that socket to another server of the host.
import ctypes
import os
import socket
import struct
import subprocess
import sys

NAME = "\0agentbox-test-%d"


def try_inside(kind, number):
    libc = ctypes.CDLL(None, use_errno=True)
    if kind == "tcp":
        addresses = [struct.pack("=H14x", socket.AF_UNSPEC),
                     struct.pack("=H", socket.AF_INET) + struct.pack("!H", number) +
                     socket.inet_aton("127.0.0.1") + bytes(8)]
    else:
        addresses = [struct.pack("=H", socket.AF_UNIX) + (NAME % number).encode()]
    for address in addresses:
        failed = libc.connect(0, address, len(address)) < 0
        print(kind, os.strerror(ctypes.get_errno()) if failed else "connected", flush=True)
    if kind == "tcp":
        os.write(0, b"still")


def listen(kind):
    server = socket.socket(socket.AF_INET if kind == "tcp" else socket.AF_UNIX)
    server.bind(("127.0.0.1", 0) if kind == "tcp" else NAME % os.getpid())
    server.listen(8)
    server.setblocking(False)
    return server


def attempt(kind, program):
    server = listen(kind)
    number = server.getsockname()[1] if kind == "tcp" else os.getpid()
    if kind == "tcp":
        first = socket.create_server(("127.0.0.1", 0))
        passed = socket.create_connection(first.getsockname())
        peer = first.accept()[0]
    else:
        passed = socket.socket(socket.AF_UNIX)
    subprocess.run(program + ["inside", kind, str(number)], stdin=passed, check=True)
    try:
        server.accept()
        print(kind, "reached")
    except BlockingIOError:
        print(kind, "not reached")
    if kind == "tcp":
        print(kind, peer.recv(5).decode(), "usable")


if sys.argv[1] == "inside":
    try_inside(sys.argv[2], int(sys.argv[3]))
else:
    for kind in ("tcp", "unix"):
        attempt(kind, sys.argv[1:])
        sys.stdout.flush()
