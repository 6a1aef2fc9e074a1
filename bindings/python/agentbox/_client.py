"""Clients: one `agentbox serve` for many runs, or one for each call."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._channel import Channel
from ._errors import NotInstalled, TimeoutExpired
from ._process import Popen
from ._request import Args, Path, PolicyOptions, RunOptions, judged, policy_of
from ._result import Availability, CompletedProcess, Verdict
from ._streams import CAPTURE, DEVNULL, PIPE, Stream

if TYPE_CHECKING:
    from typing import Unpack


def captured(stream: Stream, capture_output: bool) -> Stream:
    """PIPE is what one says to subprocess.run; here it has a cap, too."""
    if stream == CAPTURE and not capture_output:
        return None
    return CAPTURE if stream == PIPE else stream


def complete(popen: Callable[..., Popen], args: Args, *, input: bytes | str | None = None, stdin: Stream = DEVNULL,
             stdout: Stream = CAPTURE, stderr: Stream = CAPTURE, capture_output: bool = True,
             timeout: float | None = None, check: bool = False, **rest: Any) -> CompletedProcess:
    stdout, stderr = captured(stdout, capture_output), captured(stderr, capture_output)
    if stdin == PIPE:
        raise ValueError("agentbox: run() with stdin=PIPE: pass input=")
    process = popen(args, stdin=stdin, stdout=stdout, stderr=stderr, input=input, **rest)
    with process:
        try:
            process.communicate(timeout=timeout)
        except TimeoutExpired:
            process.close()
            raise TimeoutExpired(args, timeout or 0, process.result) from None
        result = process.result
    if check:
        result.check_returncode()
    return result


class Client:
    """One `agentbox serve`, for any number of runs at once, from any thread.

    Leaving its context ends every run and waits until nothing is left of them.
    """

    def __init__(self, program: Path | None = None, **defaults: Unpack[RunOptions]) -> None:
        self._defaults: dict[str, Any] = dict(defaults)
        self._channel = Channel(program)

    @property
    def version(self) -> str:
        """The version of the program."""
        return str(self._channel.hello["version"])

    @property
    def pid(self) -> int:
        """The process of `agentbox serve`."""
        return self._channel.pid

    def popen(self, args: Args, **options: Any) -> Popen:
        """As Popen."""
        return Popen(args, _channel=self._channel, **(self._defaults | options))

    def run(self, args: Args, **options: Any) -> CompletedProcess:
        """As agentbox.run."""
        return complete(self.popen, args, **options)

    def check(self, args: Args, **options: Unpack[PolicyOptions]) -> Verdict:
        """Judge a command without running it."""
        reply = self._channel.request({"do": "check"} | judged(args, self._judged_by(options), "check"))
        verdict = reply["verdict"]
        return Verdict(verdict["decision"], verdict.get("rule"), verdict.get("reason"),
                       tuple(reply.get("notes", ())), verdict)

    def wrap(self, args: Args, **options: Unpack[PolicyOptions]) -> list[str]:
        """An argv that runs the command in a box, for programs that start processes themselves."""
        request = judged(args, self._judged_by(options), "wrap")
        return list(self._channel.request({"do": "wrap"} | request)["argv"])

    def doctor(self) -> Availability:
        """What this machine can enforce."""
        reply = self._channel.request({"do": "doctor"})
        return Availability(reply["available"], reply["report"].get("engine"), reply["report"])

    def _judged_by(self, options: Any) -> dict[str, Any]:
        known = {name: value for name, value in self._defaults.items() if name in PolicyOptions.__annotations__}
        return known | dict(options)

    def close(self) -> None:
        self._channel.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Pool(Client):
    """A client with boxes that are prepared before their commands are known: runs start faster.

    `boxes` wait at any time; options about the policy apply to all of them. A run gives only `cwd`,
    where it starts, and `env`. Everything else is as without a pool: a box that does not fit any more,
    because a protected file or the settings have changed, is not used.
    """

    def __init__(self, boxes: int = 1, program: Path | None = None, **defaults: Unpack[RunOptions]) -> None:
        given: dict[str, Any] = dict(defaults)
        self._policy = {name: given.pop(name) for name in list(given)
                        if name in PolicyOptions.__annotations__ and name != "shell"}
        super().__init__(program, **given)
        try:
            reply = self._channel.request({"do": "pool", "size": boxes} | policy_of(self._policy))
        except BaseException:
            self.close()
            raise
        self.boxes = boxes
        self._pool = int(reply["pool"])

    def popen(self, args: Args, **options: Any) -> Popen:
        """As Popen, in a box of the pool."""
        return Popen(args, _channel=self._channel, _pool=self._pool, **(self._defaults | options))

    def _judged_by(self, options: Any) -> dict[str, Any]:
        return self._policy | super()._judged_by(options)


def run(args: Args, *, input: bytes | str | None = None, stdin: Stream = DEVNULL, stdout: Stream = CAPTURE,
        stderr: Stream = CAPTURE, capture_output: bool = True, text: bool = False, encoding: str | None = None,
        errors: str = "replace", timeout: float | None = None, check: bool = False, program: Path | None = None,
        **options: Unpack[RunOptions]) -> CompletedProcess:
    """Run a command in a box and wait for it, like subprocess.run.

    Raises StartError if it could not start: Refused, CommandNotFound or another one.
    """
    return complete(Popen, args, input=input, stdin=stdin, stdout=stdout, stderr=stderr,
                    capture_output=capture_output, text=text, encoding=encoding, errors=errors,
                    timeout=timeout, check=check, program=program, **options)


def check(args: Args, *, program: Path | None = None, **options: Unpack[PolicyOptions]) -> Verdict:
    """Judge a command without running it."""
    with Client(program) as client:
        return client.check(args, **options)


def wrap(args: Args, *, program: Path | None = None, **options: Unpack[PolicyOptions]) -> list[str]:
    """An argv that runs the command in a box."""
    with Client(program) as client:
        return client.wrap(args, **options)


def doctor(*, program: Path | None = None) -> Availability:
    """What this machine can enforce. False if there is no agentbox."""
    try:
        client = Client(program)
    except NotInstalled as error:
        return Availability(False, None, {"summary": str(error)})
    with client:
        return client.doctor()
