"""A run as an object like subprocess.Popen."""
from __future__ import annotations

import logging
import os
import queue
import selectors
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

from ._channel import Channel
from ._errors import Error, RequestError, TimeoutExpired
from ._request import Args, RunOptions, milliseconds, run_of
from ._result import CompletedProcess, Decoding, Json, Question
from ._streams import CAPTURE, DEVNULL, Stream, Streams

if TYPE_CHECKING:
    from typing import Unpack

log = logging.getLogger("agentbox")

# Events that wait for slow callbacks of one run; beyond that they are dropped and counted.
WAITING_MAX = 10_000
# Denials that a live run remembers: a command can cause any number of them.
VIOLATIONS_MAX = 10_000


class Callbacks:
    """Calls the caller's functions, one after the other, in a thread of the run."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given
        self._waiting: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def call(self, name: str, *args: Any) -> bool:
        """False: dropped."""
        function = self.given.get(name)
        if function is None:
            return True
        if self._waiting.qsize() >= WAITING_MAX:
            return False
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="agentbox-callbacks", daemon=True)
            self._thread.start()
        self._waiting.put(lambda: function(*args))
        return True

    def _run(self) -> None:
        while call := self._waiting.get():
            try:
                call()
            except Exception:
                log.exception("a callback of an agentbox run failed")

    def end(self) -> None:
        self._waiting.put(None)

    def join(self) -> None:
        """Wait until everything was called, unless a callback is who waits."""
        if self._thread and self._thread is not threading.current_thread():
            self._thread.join()


class Popen:
    """A command in a box. Everything that is not described here is as subprocess.Popen has it.

    Without other values stdin is empty, and stdout and stderr are captured up to `max_output`;
    None inherits, PIPE makes a pipe. `wait` and `communicate` raise StartError if the command
    could not start.
    """

    def __init__(self, args: Args, *, stdin: Stream = DEVNULL, stdout: Stream = CAPTURE, stderr: Stream = CAPTURE,
                 records: Stream = DEVNULL, text: bool = False, encoding: str | None = None,
                 errors: str = "replace", bufsize: int = -1, input: bytes | str | None = None,
                 program: Any = None, _channel: Channel | None = None, _pool: int | None = None,
                 **options: Unpack[RunOptions]) -> None:
        self.args = args
        self.returncode: int | None = None
        self.run_id: str | None = None
        self.warm: bool | None = None
        self.violations: list[Json] = []
        self.missed = 0
        self._decoding = Decoding(encoding or ("utf-8" if text else None), errors)
        self._questions: dict[str, Question] = {}
        self._started = threading.Event()
        self._ended = threading.Event()
        self._raw: Json | None = None
        self._lost: Error | None = None
        self._result: CompletedProcess | None = None
        self._read: dict[str, bytearray] = {}
        self._unwritten: memoryview | None = None
        given: dict[str, Any] = dict(options)
        if given.get("on_question"):
            given["on_question"] = answering(given["on_question"])
        self._callbacks = Callbacks(given)
        request = run_of(args, given, "run", _pool)
        streams = Streams()
        self._own = _channel is None
        self._channel: Channel | None = None
        try:
            if input is not None:
                request["stdin"] = streams.input(input.encode(encoding or "utf-8") if isinstance(input, str) else input)
            for name, stream in (("stdin", stdin), ("stdout", stdout), ("stderr", stderr)):
                if name not in request:
                    request[name] = streams.output(name, stream)
            if records != DEVNULL:
                if given.get("on_record"):
                    raise ValueError("agentbox: give one of records= and on_record=")
                request["records"] = streams.output("records", records)
            self._channel = _channel or Channel(program)
            self._run = self._channel.request(request, streams.fds, self._hear)["run"]
        except BaseException:
            streams.close(also_ours=True)
            if self._own and self._channel:
                self._channel.close()
            raise
        streams.close()
        kind = self._decoding.encoding, errors, bufsize
        self.stdin: IO[Any] | None = streams.open("stdin", *kind)
        self.stdout: IO[Any] | None = streams.open("stdout", *kind)
        self.stderr: IO[Any] | None = streams.open("stderr", *kind)
        self.records: IO[str] | None = streams.open("records", "utf-8", "replace")

    # Events, in the thread that reads the channel.

    def _hear(self, event: Json) -> None:
        match event["event"]:
            case "started":
                self.run_id = event["run_id"]
                self.warm = event.get("warm")
                self._started.set()
                self._on_change()
            case "violation":
                if len(self.violations) < VIOLATIONS_MAX:
                    self.violations.append(event["record"])
                self._count(self._callbacks.call("on_violation", event["record"]))
            case "record":
                self._count(self._callbacks.call("on_record", event["record"]))
            case "message":
                self._count(self._callbacks.call("on_message", event["level"], event["text"]))
            case "missed":
                self.missed += event["count"]
            case "question":
                self._hear_question(event)
            case "settled":
                if question := self._questions.pop(event["question"], None):
                    question.settled = event["how"]
            case "exit":
                self._raw = event["result"]
                self.run_id = event["result"]["run_id"]
                self._end()
            case "lost":
                self._lost = event["why"]
                self._end()

    def _count(self, called: bool) -> None:
        self.missed += not called

    def _hear_question(self, event: Json) -> None:
        known = self._questions.get(event["question"])
        if known:
            known.raw = event  # more is known about it
            return
        # The thread that starts the run may not have seen the reply yet.
        self._run = event["run"]
        question = Question(event, self._answer)
        self._questions[question.id] = question
        if ask := self._callbacks.given.get("on_question"):
            # A thread for each: a callback may wait for a person, and the end of the run must not wait for it.
            threading.Thread(target=ask, args=[question], name="agentbox-question", daemon=True).start()

    def _end(self) -> None:
        for question in self.questions:
            question.settled = question.settled or "gone"
        self._questions.clear()
        self._callbacks.end()
        if self._own and self._channel:
            self._channel.end()
        self._started.set()
        self._ended.set()
        self._on_change()

    def _on_change(self) -> None:
        """For asyncio."""

    # Requests.

    def _ask(self, do: str, **members: Any) -> Json:
        assert self._channel
        return self._channel.request({"do": do, "run": self._run, **members})

    def _answer(self, question: Question, answer: str, reason: str | None) -> int:
        because = {} if reason is None else {"reason": reason}
        reply = self._ask("answer", question=question.id, answer=answer, **because)
        question.settled = question.settled or "answered"
        return int(reply.get("released", 0))

    def _quietly(self, do: str, **members: Any) -> None:
        """A request about a run that may have ended meanwhile."""
        if self._ended.is_set():
            return
        try:
            self._ask(do, **members)
        except RequestError as error:
            if error.code != "not-found":
                raise
        except ConnectionError:
            pass

    def send_signal(self, number: int | str) -> None:
        self._quietly("signal", signal=number if isinstance(number, str) else int(number))

    def stop(self, grace: float = 5.0) -> None:
        """SIGTERM to everything in the box, and SIGKILL after `grace` seconds."""
        self._quietly("stop", grace_ms=round(grace * 1000))

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL to everything in the box, at once."""
        self.stop(0)

    def update(self, allow: Sequence[str] = (), deny: Sequence[str] = (), seconds: float | None = None) -> int:
        """Change the host lists while it runs. Returns how many waiting connections continue."""
        limit = {} if seconds is None else {"for_ms": milliseconds(seconds)}
        return int(self._ask("update", allow=list(allow), deny=list(deny), **limit).get("released", 0))

    def status(self) -> Json:
        """Age, open questions and totals per host, as agentbox ps knows them."""
        status: Json = self._ask("status")["status"]
        return status

    @property
    def questions(self) -> list[Question]:
        """Those that wait for an answer."""
        return list(self._questions.values())

    # The end.

    def wait_started(self, timeout: float | None = None) -> None:
        """Wait until the box is built and proved, and the command starts."""
        if not self._started.wait(timeout):
            raise TimeoutExpired(self.args, timeout or 0)
        if self._ended.is_set():
            self.wait()

    def poll(self) -> int | None:
        if self._ended.is_set():
            self._settle()
        return self.returncode

    def _settle(self) -> None:
        """The run has ended: wait for what belongs to it, too."""
        if self._own and self._channel:
            self._channel.close()
        self._callbacks.join()
        if self._raw is not None and self._result is None:
            streams = {name: bytes(self._read[name]) for name in ("stdout", "stderr") if name in self._read}
            self._result = CompletedProcess(self.args, self._raw, self._decoding, **streams)
            self.returncode = self._result.returncode

    def wait(self, timeout: float | None = None) -> int:
        if not self._ended.wait(timeout):
            raise TimeoutExpired(self.args, timeout or 0)
        self._settle()
        self.result.check_started()
        assert self.returncode is not None
        return self.returncode

    @property
    def result(self) -> CompletedProcess:
        """After the end: everything that is known about the run."""
        if self._ended.is_set():
            self._settle()
        if self._lost:
            raise self._lost
        if self._result is None:
            raise Error("agentbox: the run has not ended", "call wait() first")
        return self._result

    def communicate(self, input: bytes | str | None = None,
                    timeout: float | None = None) -> tuple[Any, Any]:
        """Write input, read pipes to their end, wait. After TimeoutExpired it can be called again."""
        end = None if timeout is None else time.monotonic() + timeout
        if input is not None and self._unwritten is None:
            data = input.encode(self._decoding.encoding or "utf-8") if isinstance(input, str) else input
            self._unwritten = memoryview(data)
        self._exchange(end, timeout)
        self.wait(None if end is None else max(0.0, end - time.monotonic()))
        result = self.result
        return result.stdout, result.stderr

    def _exchange(self, end: float | None, timeout: float | None) -> None:
        with selectors.DefaultSelector() as selector:
            for name in ("stdout", "stderr"):
                file = getattr(self, name)
                if file and not file.closed:
                    self._read.setdefault(name, bytearray())
                    selector.register(file, selectors.EVENT_READ, name)
            if self.stdin and not self.stdin.closed:
                flush(self.stdin)
                if self._unwritten:
                    selector.register(self.stdin, selectors.EVENT_WRITE, "stdin")
                else:
                    self.stdin.close()
            while selector.get_map():
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    raise TimeoutExpired(self.args, timeout or 0)
                for key, _ in selector.select(left):
                    if not self._move(key.data, key.fd):
                        selector.unregister(key.fileobj)
                        getattr(self, key.data).close()

    def _move(self, name: str, fd: int) -> bool:
        """False: this stream is at its end."""

        if name != "stdin":
            data = os.read(fd, 1 << 16)
            self._read[name] += data
            return bool(data)
        assert self._unwritten is not None
        try:
            self._unwritten = self._unwritten[os.write(fd, self._unwritten[:512]):]  # PIPE_BUF: it does not block
        except BrokenPipeError:
            self._unwritten = self._unwritten[:0]
        return bool(self._unwritten)

    def close(self) -> None:
        """End the run if it is active, and leave nothing behind."""
        self.kill()
        for file in (self.stdin, self.stdout, self.stderr, self.records):
            if file:
                try:
                    file.close()
                except BrokenPipeError:
                    pass
        self._ended.wait()
        self._settle()

    def __enter__(self) -> Popen:
        return self

    def __exit__(self, kind: object, value: object, trace: object) -> None:
        """As subprocess has it, wait; but after an exception end the box."""
        if kind is None:
            if self.stdin:
                self.stdin.close()
            for file in (self.stdout, self.stderr, self.records):
                if file:
                    file.close()
            self._ended.wait()
        self.close()

    def __repr__(self) -> str:
        return f"<agentbox.Popen: run_id: {self.run_id} returncode: {self.returncode} args: {self.args!r}>"


def flush(file: IO[Any]) -> None:
    try:
        file.flush()
    except BrokenPipeError:
        pass


def answering(function: Callable[[Question], str | bool | None]) -> Callable[[Question], None]:
    """Send what the callback returns; if it fails, the answer is no."""
    def ask(question: Question) -> None:
        answer: str | bool | None = False
        try:
            answer = function(question)
        except BaseException:
            log.exception("the callback for a question of an agentbox run failed; the answer is no")
        if answer is None:
            return  # later
        try:
            question.answer(answer)
        except (RequestError, ConnectionError) as error:
            if question.settled is None and getattr(error, "code", "") == "usage":
                log.error("%s", error)
                question.answer(False)
    return ask
