"""Exceptions. Every one is an Error, and where subprocess or the system has a name for it, that too."""
from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._result import CompletedProcess


class Error(Exception):
    """Anything that agentbox reports. `hint` says what to do about it, or is empty."""

    hint: str = ""

    def __init__(self, message: str, hint: str | None = "") -> None:
        self.hint = hint or ""
        super().__init__(f"{message}\n{self.hint}" if self.hint else message)


class NotInstalled(Error, FileNotFoundError):
    """There is no program `agentbox`, or it cannot be executed."""


class ProtocolError(Error):
    """The program does not speak the protocol of this package: it is too old or too new."""


class ChannelClosed(Error, ConnectionError):
    """`agentbox serve` ended, or the client was closed. Every run of it has ended."""


class RequestError(Error, ValueError):
    """A request was refused. `code` is one of those in docs/serve.md."""

    def __init__(self, message: str, hint: str | None = "", code: str = "system") -> None:
        self.code = code
        super().__init__(message, hint)


class StartError(Error):
    """The command did not start. `result` has everything that is known."""

    def __init__(self, message: str, hint: str | None, result: CompletedProcess) -> None:
        self.result = result
        super().__init__(message, hint)


class Refused(StartError, PermissionError):
    """The policy forbids the command, or it needs approval and did not get it."""


class CommandNotFound(StartError, FileNotFoundError):
    """The box has no such program."""


class CalledProcessError(subprocess.CalledProcessError, Error):
    """The command failed, and check=True was given."""

    def __init__(self, result: CompletedProcess) -> None:
        super().__init__(result.returncode, result.args, result.stdout, result.stderr)
        self.result = result


class TimeoutExpired(subprocess.TimeoutExpired, Error):
    """The time was up. `result` is None if the command still runs (wait, communicate)."""

    def __init__(self, args: object, timeout: float, result: CompletedProcess | None = None) -> None:
        super().__init__(args, timeout, result and result.stdout, result and result.stderr)  # type: ignore[arg-type]
        self.result = result
