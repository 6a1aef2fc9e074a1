"""What a run, a verdict and a question are for a caller. No input or output here."""
from __future__ import annotations

import base64
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ._errors import CalledProcessError, CommandNotFound, Refused, StartError

Json = dict[str, Any]


@dataclass(frozen=True)
class Decoding:
    """How bytes become text; None as encoding keeps bytes."""

    encoding: str | None = None
    errors: str = "replace"

    def apply(self, data: bytes) -> str | bytes:
        if self.encoding is None:
            return data
        return data.decode(self.encoding, self.errors).replace("\r\n", "\n").replace("\r", "\n")


@dataclass(frozen=True)
class Assurance:
    """The guarantees that were proved before the command started."""

    engine: str | None
    holds: tuple[str, ...]
    missing: tuple[str, ...]
    given_up: tuple[str, ...]


def read_bytes(result: Mapping[str, Any], name: str) -> bytes | None:
    """A captured stream of a result, or None if it was not captured."""
    if f"{name}_base64" in result:
        return base64.b64decode(result[f"{name}_base64"])
    text = result.get(name)
    return None if text is None else text.encode()


def read_returncode(result: Mapping[str, Any]) -> int:
    """As subprocess has it: minus the signal, if one ended the command; 124 if its time was up."""
    name = result["signal"]
    if name is None or result["timed_out"]:
        return int(result["exit"])
    try:
        return -signal.Signals[name].value
    except KeyError:  # a real-time signal
        return 128 - int(result["exit"])


class CompletedProcess(subprocess.CompletedProcess[Any]):
    """The result of a run. `raw` is the whole object, as `agentbox exec --json` prints it."""

    def __init__(self, args: object, raw: Json, decoding: Decoding,
                 stdout: bytes | None = None, stderr: bytes | None = None) -> None:
        streams = [read_bytes(raw, "stdout") if stdout is None else stdout,
                   read_bytes(raw, "stderr") if stderr is None else stderr]
        super().__init__(args, read_returncode(raw),  # type: ignore[arg-type]
                         *(None if data is None else decoding.apply(data) for data in streams))
        self.raw = raw
        self.run_id: str | None = raw["run_id"]
        self.signal: str | None = raw["signal"]
        self.timed_out: bool = raw["timed_out"]
        self.error: str | None = raw["error"]
        self.hint: str | None = raw["hint"]
        self.duration: float = raw["duration_ms"] / 1000
        self.violations: list[Json] = raw["violations"]
        self.violations_total: int = raw["violations_total"]
        self.stdout_truncated: bool = raw.get("stdout_truncated", False)
        self.stderr_truncated: bool = raw.get("stderr_truncated", False)
        self.assurance = Assurance(raw["assurance"]["engine"],
                                   *(tuple(raw["assurance"][key]) for key in ("holds", "missing", "given_up")))

    @property
    def started(self) -> bool:
        """False if the command could not start; `error` says why."""
        return self.error is None or self.timed_out or not (
            self.raw["status"] is None and self.raw["signal"] is None)

    def check_started(self) -> None:
        if self.started:
            return
        kind = {"not-found": CommandNotFound, "refused": Refused}.get(str(self.raw.get("code")), StartError)
        raise kind(self.error or "the command did not start", self.hint, self)

    def check_returncode(self) -> None:
        self.check_started()
        if self.returncode:
            raise CalledProcessError(self)

    def __repr__(self) -> str:
        return (f"CompletedProcess(args={self.args!r}, returncode={self.returncode!r}, "
                f"violations={self.violations_total})")


@dataclass(frozen=True)
class Verdict:
    """How the policy judges a command: allow, sandboxed, escalated or forbidden."""

    decision: str
    rule: str | None
    reason: str | None
    notes: tuple[str, ...]
    raw: Json

    @property
    def runs(self) -> bool:
        """Would it run without being asked about?"""
        return self.decision in ("allow", "sandboxed")


@dataclass(frozen=True)
class Availability:
    """What this machine can enforce, determined by trying."""

    available: bool
    engine: str | None
    report: Json

    def __bool__(self) -> bool:
        return self.available


class Question:
    """Something in the box waits for an answer. Answer it from any thread, now or later."""

    def __init__(self, event: Json, send: Callable[[Question, str, str | None], int]) -> None:
        self.raw = event
        self.settled: str | None = None  # how: answered, time or gone
        self._send = send

    @property
    def id(self) -> str:
        return str(self.raw["question"])

    @property
    def kind(self) -> str:
        """host, ssh, tool, network or command; approve none that you do not know"""
        return str(self.raw["kind"])

    @property
    def domain(self) -> str | None:
        return self.raw.get("domain")

    @property
    def port(self) -> int | None:
        return self.raw.get("port")

    @property
    def command(self) -> str | None:
        return self.raw.get("command")

    @property
    def reason(self) -> str | None:
        return self.raw.get("reason")

    @property
    def left(self) -> float | None:
        """Seconds that were left when it was sent."""
        ms = self.raw.get("left_ms")
        return None if ms is None else ms / 1000

    def answer(self, answer: str | bool, reason: str | None = None) -> int:
        """Answer; True is "once" and False is "no". Returns how many waiting connections continue."""
        if isinstance(answer, bool):
            answer = "once" if answer else "no"
        return self._send(self, answer, reason)

    def __repr__(self) -> str:
        about = self.domain or self.command or self.raw.get("about") or ""
        return f"<Question {self.id} {self.kind} {about}>"
