"""A client of `agentbox serve` for the tests: the protocol of docs/serve.md, and nothing else."""
import array
import json
import os
import socket
import subprocess


class Client:
    def __init__(self, program="agentbox"):
        ours, theirs = socket.socketpair()
        self.sock = ours
        self.sock.settimeout(60)
        self.process = subprocess.Popen([program, "serve", "--fd", str(theirs.fileno())],
                                        pass_fds=[theirs.fileno()])
        theirs.close()
        self.bytes, self.number, self.events = b"", 0, []
        self.hello = self.ask(do="hello", protocol=1, client="test")

    def read(self):
        while b"\n" not in self.bytes:
            block = self.sock.recv(1 << 20)
            if not block:
                raise EOFError
            self.bytes += block
        line, self.bytes = self.bytes.split(b"\n", 1)
        return json.loads(line)

    def send(self, fds=(), **request):
        self.number += 1
        request["id"] = self.number
        if fds:
            request["fds"] = len(fds)
        data = (json.dumps(request) + "\n").encode()
        if fds:
            passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
            data = data[self.sock.sendmsg([data], passed):]
        self.sock.sendall(data)
        return self.number

    def reply(self, number):
        while True:
            line = self.read()
            if line.get("id") == number:
                return line
            self.events.append(line)

    def ask(self, fds=(), **request):
        return self.reply(self.send(fds, **request))

    def run(self, fds=(), **request):
        reply = self.ask(fds, do="run", **request)
        assert reply["ok"], reply
        return reply["run"]

    def event(self, name, run):
        """The next event of this name."""
        at = 0
        while True:
            while at < len(self.events):
                event = self.events[at]
                if event.get("event") == name and event.get("run") == run:
                    return self.events.pop(at)
                at += 1
            self.events.append(self.read())

    def result(self, run):
        return self.event("exit", run)["result"]

    def close(self):
        self.sock.close()
        return self.process.wait(60)
