# Which Unix sockets can be made?
import socket
for make in (lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM),
         lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
         lambda: socket.socket(socket.AF_UNIX, socket.SOCK_RAW),
         lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET),
         lambda: socket.socketpair()):
    try:
        make()
        print("made")
    except OSError as e:
        print(e.strerror)
