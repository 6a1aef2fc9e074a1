"""The channel to `agentbox serve`: one process, one thread that reads, any number that write."""
from __future__ import annotations

import array
import fcntl
import itertools
import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from ._errors import ChannelClosed, Error, NotInstalled, ProtocolError, RequestError
from ._result import Json

PROTOCOL = 1
REQUEST_MAX = 4 << 20
VERSION = "0.1.0"
HELLO_SECONDS = 60.0
END_SECONDS = 60.0

INSTALL = "install agentbox (docs/install.md), or pass program=\"/path/to/agentbox\""

Handler = Callable[[Json], None]


def find_program(program: str | os.PathLike[str] | None) -> str:
    """The absolute path of the program. A relative entry of PATH could be a folder that a box writes: skip it."""
    if program is not None and os.sep in os.fspath(program):
        path = os.path.abspath(os.fspath(program))
        if not os.path.isfile(path):
            raise NotInstalled(f"agentbox: there is no program {path}", INSTALL)
        if not os.access(path, os.X_OK):
            raise NotInstalled(f"agentbox: {path} is not executable", INSTALL)
        return path
    name = os.fspath(program) if program is not None else "agentbox"
    folders = [f for f in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(f)]
    found = shutil.which(name, path=os.pathsep.join(folders) or "/nonexistent")
    if found is None:
        raise NotInstalled(f"agentbox: the program \"{name}\" is not on PATH", INSTALL)
    return found


def _raised(fd: int) -> int:
    """Move a descriptor above 2: with a closed standard stream it has its number, and a run would be given it."""
    if fd > 2:
        return fd
    higher = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(fd)
    return higher


class Channel:
    def __init__(self, program: str | os.PathLike[str] | None = None) -> None:
        self.program = find_program(program)
        self._send_lock = threading.Lock()
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._pending: dict[int, tuple[Future[Json], Handler | None]] = {}
        self._runs: dict[int, Handler] = {}
        self._why: Error | None = None
        self._last_words = ""  # of the process, on its standard error
        self._stderr = _raised(os.memfd_create("agentbox-stderr"))
        self._sock, theirs = (socket.socket(fileno=_raised(end.detach()))
                              for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM))
        try:
            self._process = subprocess.Popen(
                [self.program, "serve", "--fd", str(theirs.fileno())], pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._stderr)
        except OSError as error:
            self._sock.close()
            os.close(self._stderr)
            raise NotInstalled(f"agentbox: cannot start {self.program}: {error.strerror}", INSTALL) from error
        finally:
            theirs.close()
        self._reader = threading.Thread(target=self._read, name="agentbox", daemon=True)
        self._reader.start()
        try:
            self.hello = self._greet()
        except BaseException:
            self.close()
            raise

    def _greet(self) -> Json:
        hello = {"do": "hello", "protocol": PROTOCOL, "client": f"python {VERSION}"}
        try:
            reply = self._begin(hello).result(HELLO_SECONDS)
        except ChannelClosed as error:
            raise ProtocolError(
                f"agentbox: {self.program} has no usable command \"serve\": it is too old for this package"
                + self._last_words, "update agentbox") from error
        except TimeoutError as error:
            raise ProtocolError(f"agentbox: {self.program} serve does not answer") from error
        if not reply.get("ok"):
            raise ProtocolError(
                f"agentbox: {self.program} speaks protocol {reply.get('protocols')}, this package needs {PROTOCOL}",
                "install versions of the program and of the package that belong together")
        return reply

    def request(self, members: Json, fds: Sequence[int] = (), handler: Handler | None = None) -> Json:
        """Send a request and wait for its reply. `handler` gets the events of the run that it starts."""
        reply = self._begin(members, fds, handler).result()
        if not reply.get("ok"):
            raise RequestError(f"agentbox: {reply.get('error')}", reply.get("hint"), reply.get("code", "system"))
        return reply

    def _begin(self, members: Json, fds: Sequence[int] = (), handler: Handler | None = None) -> Future[Json]:
        number = next(self._numbers)
        request = {"id": number, **members}
        if fds:
            request["fds"] = len(fds)
        try:
            # Bytes of a file name that are not UTF-8 cannot be sent as they are.
            data = memoryview(json.dumps(request, ensure_ascii=False).encode() + b"\n")
        except UnicodeEncodeError as error:
            raise RequestError("agentbox: arguments must be valid UTF-8", code="usage") from error
        if len(data) > REQUEST_MAX:
            # The server would end with all of its runs.
            raise RequestError("agentbox: the request is larger than 4 MiB; pass long data through a file or a pipe",
                               code="usage")
        future: Future[Json] = Future()
        with self._lock:
            if self._why:
                raise self._why
            self._pending[number] = (future, handler)
        try:
            with self._send_lock:
                if fds:
                    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
                    data = data[self._sock.sendmsg([data], rights):]
                self._sock.sendall(data)
        except OSError as error:
            gone = isinstance(error, (BrokenPipeError, ConnectionResetError)) or self._sock.fileno() < 0
            if not gone:  # a descriptor that cannot be passed
                with self._lock:
                    self._pending.pop(number, None)
                raise
            # The reader knows why, and tells the future.
        return future

    def _read(self) -> None:
        kept = bytearray()
        try:
            while block := self._sock.recv(1 << 18):
                start = len(kept)
                kept += block
                if (end := kept.rfind(b"\n", start)) < 0:
                    continue
                for line in bytes(kept[:end]).split(b"\n"):
                    self._dispatch(json.loads(line))
                del kept[:end + 1]
        except (OSError, ValueError):
            pass
        self._finish()

    def _dispatch(self, line: Json) -> None:
        if "event" in line:
            with self._lock:
                handler = self._runs.get(line["run"])
                if line["event"] == "exit":
                    self._runs.pop(line["run"], None)
            if handler:
                handler(line)
            return
        with self._lock:
            future, handler = self._pending.pop(line.get("id") or 0, (None, None))
            # Its events follow this reply: register it before the next line.
            if handler and line.get("ok"):
                self._runs[line["run"]] = handler
        if future:
            future.set_result(line)

    def _finish(self) -> None:
        """The channel ended. Wait for the process, so that nothing is left when callers hear of it."""
        self._sock.close()
        try:
            status = self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()  # its runs end with it
            status = self._process.wait()
        words = os.pread(self._stderr, 2000, 0).decode(errors="replace").strip()
        os.close(self._stderr)
        self._last_words = f": {words}" if words else ""
        with self._lock:
            if self._why is None:
                self._why = ChannelClosed(f"agentbox: {self.program} serve ended with status {status}"
                                          + self._last_words)
            pending, self._pending = self._pending, {}
            runs, self._runs = self._runs, {}
        for future, _ in pending.values():
            future.set_exception(self._why)
        for handler in runs.values():
            handler({"event": "lost", "why": self._why})

    @property
    def pid(self) -> int:
        return self._process.pid

    def end(self) -> None:
        """Say that nothing more will be requested. Runs end, then the process."""
        with self._lock:
            if self._why is None:
                self._why = ChannelClosed("agentbox: the client is closed")
        try:
            self._sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self) -> None:
        """End every run, and wait until nothing is left of them and of the process."""
        self.end()
        if threading.current_thread() is self._reader:
            return
        self._reader.join()
