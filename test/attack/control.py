"""A client of a run's control socket: control.py SOCKET REQUEST, where the
request is JSON without its version. Prints the answer."""
import json
import socket
import sys


def ask(path, request):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    sock.settimeout(60)
    sock.connect(path)
    sock.send(json.dumps(dict(request, v=1)).encode())
    return sock.recv(1 << 17).decode()


if __name__ == "__main__":
    print(ask(sys.argv[1], json.loads(sys.argv[2])))
