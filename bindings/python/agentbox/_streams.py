"""Standard streams of a run: what the caller gave, as members of the request and passed descriptors."""
from __future__ import annotations

import base64
import io
import os
import subprocess
from typing import IO, Any, Union

from ._result import Json

PIPE = subprocess.PIPE
STDOUT = subprocess.STDOUT
DEVNULL = subprocess.DEVNULL
CAPTURE = -10  # agentbox keeps the output, up to max_output, for the result

Stream = Union[None, int, IO[Any]]

# Above this, input is passed as a file in memory: a request has at most 4 MiB.
INPUT_IN_LINE = 1 << 20


class Streams:
    """Descriptors for one request. `close` closes those that were only made to be passed."""

    def __init__(self) -> None:
        self.fds: list[int] = []
        self.pipes: dict[str, int] = {}  # our ends
        self._passed: list[int] = []

    def _pass(self, fd: int) -> Json:
        if fd not in self.fds:
            self.fds.append(fd)
        return {"fd": self.fds.index(fd)}

    def _pipe(self, name: str, written_by_us: bool) -> Json:
        read, write = os.pipe()
        ours, theirs = (write, read) if written_by_us else (read, write)
        self.pipes[name] = ours
        self._passed.append(theirs)
        return self._pass(theirs)

    def input(self, data: bytes) -> Json:
        if len(data) <= INPUT_IN_LINE:
            return {"base64": base64.b64encode(data).decode()}
        memory = os.memfd_create("agentbox-input")
        with open(memory, "wb") as file:
            file.write(data)
            file.flush()
            fd = os.open(f"/proc/self/fd/{memory}", os.O_RDONLY)
        self._passed.append(fd)
        return self._pass(fd)

    def output(self, name: str, stream: Stream) -> Json | str:
        if stream == CAPTURE and isinstance(stream, int):
            if name in ("stdin", "records"):
                raise ValueError(f"agentbox: {name} cannot be CAPTURE")
            return "capture"
        if stream == STDOUT and isinstance(stream, int):
            if name != "stderr":
                raise ValueError("agentbox: STDOUT is only possible for stderr")
            return "stdout"
        if stream == DEVNULL and isinstance(stream, int):
            return "null"
        if stream == PIPE and isinstance(stream, int):
            return self._pipe(name, name == "stdin")
        if stream is None:
            return self._pass(("stdin", "stdout", "stderr").index(name))
        if isinstance(stream, int):
            if stream < 0:
                raise ValueError(f"agentbox: {name}: {stream} is not a descriptor")
            return self._pass(stream)
        if not name == "stdin":
            stream.flush()  # what was written before comes first
        return self._pass(stream.fileno())

    def open(self, name: str, encoding: str | None, errors: str, bufsize: int = -1) -> IO[Any] | None:
        """Our end of a pipe as a file."""
        fd = self.pipes.pop(name, None)
        if fd is None:
            return None
        raw = open(fd, "wb" if name == "stdin" else "rb", bufsize)
        if encoding is None:
            return raw
        return io.TextIOWrapper(raw, encoding=encoding, errors=errors)

    def close(self, also_ours: bool = False) -> None:
        for fd in self._passed + (list(self.pipes.values()) if also_ours else []):
            os.close(fd)
        self._passed = []
