"""The same for asyncio: `await agentbox.aio.run([...])`. Cancelling a task that runs a command ends its box."""
from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import inspect
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from ._client import Client as SyncClient
from ._client import Pool as SyncPool
from ._client import captured
from ._client import check as sync_check
from ._client import doctor as sync_doctor
from ._client import wrap as sync_wrap
from ._errors import TimeoutExpired
from ._process import Popen
from ._request import Args, Path
from ._result import Availability, CompletedProcess, Json, Question, Verdict
from ._streams import CAPTURE, PIPE

CALLBACKS = ("on_question", "on_violation", "on_record", "on_message")


async def finish(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run it to its end even if this task is cancelled meanwhile; then the task is cancelled."""
    task = asyncio.ensure_future(coroutine)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            if task.done() and task.cancelled():
                raise
            cancelled = error
        except BaseException:
            if cancelled is None:
                raise
    if cancelled:
        task.exception()
        raise cancelled
    return task.result()


async def start(make: Callable[[], Any]) -> Any:
    """Make something in a thread. If this task is cancelled meanwhile, close it again."""
    starting = asyncio.ensure_future(asyncio.to_thread(make))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        async def end() -> None:
            await asyncio.to_thread((await starting).close)
        await finish(end())
        raise


def in_loop(loop: asyncio.AbstractEventLoop, function: Callable[..., Any],
            calls: set[concurrent.futures.Future[Any]]) -> Callable[..., Any]:
    """A callback, plain or async, that is called in the loop, though the event arrives in a thread."""
    async def call(*args: Any) -> Any:
        value = function(*args)
        return await value if inspect.isawaitable(value) else value

    def from_thread(*args: Any) -> Any:
        future = asyncio.run_coroutine_threadsafe(call(*args), loop)
        calls.add(future)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            return False  # the run has ended
        finally:
            calls.discard(future)
    return from_thread


class _Popen(Popen):
    def __init__(self, *args: Any, changed: Callable[[], None], **options: Any) -> None:
        self._changed = changed
        super().__init__(*args, **options)

    def _on_change(self) -> None:
        self._changed()


class Process:
    """A command in a box. stdin is a StreamWriter, stdout, stderr and records are StreamReaders, if they are PIPE."""

    def __init__(self) -> None:
        self.stdin: asyncio.StreamWriter | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None
        self.records: asyncio.StreamReader | None = None
        self._popen: Popen
        self._started = asyncio.Event()
        self._ended = asyncio.Event()
        self._calls: set[concurrent.futures.Future[Any]] = set()
        self._transports: list[Any] = []

    async def _start(self, popen: Callable[..., Popen], args: Args, options: dict[str, Any]) -> None:
        loop = asyncio.get_running_loop()

        def tell() -> None:
            try:
                loop.call_soon_threadsafe(self._change)
            except RuntimeError:
                pass  # the loop is closed
        for name in CALLBACKS:
            if options.get(name):
                options[name] = in_loop(loop, options[name], self._calls)
        if any(options.get(name) for name in ("text", "encoding")) and any(
                options.get(name) == PIPE for name in ("stdin", "stdout", "stderr")):
            raise ValueError("agentbox: pipes of asyncio carry bytes: leave text and encoding out")
        make = functools.partial(popen, args, changed=tell, **options)
        self._popen = await start(make)
        self._change()
        try:
            for name in ("stdin", "stdout", "stderr", "records"):
                if pipe := getattr(self._popen, name):
                    setattr(self, name, await self._connect(loop, name, getattr(pipe, "buffer", pipe)))
                    setattr(self._popen, name, None)
        except BaseException:
            await finish(self.close())
            raise

    def _change(self) -> None:
        """In the loop: the run started or ended."""
        popen = getattr(self, "_popen", None)
        if popen is None:
            return
        if popen._started.is_set():
            self._started.set()
        if popen._ended.is_set():
            self._ended.set()

    async def _connect(self, loop: asyncio.AbstractEventLoop, name: str, pipe: Any) -> Any:
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        if name == "stdin":
            transport, _ = await loop.connect_write_pipe(lambda: protocol, pipe)
            self._transports.append(transport)
            return asyncio.StreamWriter(transport, protocol, reader, loop)
        read, _ = await loop.connect_read_pipe(lambda: protocol, pipe)
        self._transports.append(read)
        return reader

    @property
    def args(self) -> Args:
        return self._popen.args

    @property
    def run_id(self) -> str | None:
        return self._popen.run_id

    @property
    def returncode(self) -> int | None:
        return self._popen.returncode

    @property
    def violations(self) -> list[Json]:
        return self._popen.violations

    @property
    def questions(self) -> list[Question]:
        return self._popen.questions

    @property
    def result(self) -> CompletedProcess:
        return self._popen.result

    async def _settle(self) -> None:
        await self._ended.wait()
        for call in list(self._calls):
            call.cancel()  # nobody waits for its answer any more
        await asyncio.to_thread(self._popen.poll)

    async def wait(self) -> int:
        await self._settle()
        return self._popen.wait()

    async def wait_started(self) -> None:
        await self._started.wait()
        if self._ended.is_set():
            await self.wait()

    async def communicate(self, input: bytes | None = None) -> tuple[Any, Any]:
        """Write input, read pipes to their end, wait."""
        stdout, stderr, _ = await asyncio.gather(self._drain("stdout"), self._drain("stderr"), self._feed(input))
        await self.wait()
        captured = self.result
        return (captured.stdout if stdout is None else stdout, captured.stderr if stderr is None else stderr)

    async def _drain(self, name: str) -> bytes | None:
        reader: asyncio.StreamReader | None = getattr(self, name)
        return None if reader is None else await reader.read()

    async def _feed(self, data: bytes | None) -> None:
        if self.stdin is None:
            return
        try:
            if data:
                self.stdin.write(data)
                await self.stdin.drain()
            self.stdin.close()
        except (BrokenPipeError, ConnectionResetError):
            pass  # the command does not read any more

    async def send_signal(self, number: int | str) -> None:
        await asyncio.to_thread(self._popen.send_signal, number)

    async def stop(self, grace: float = 5.0) -> None:
        await asyncio.to_thread(self._popen.stop, grace)

    async def kill(self) -> None:
        await asyncio.to_thread(self._popen.kill)

    async def update(self, allow: Sequence[str] = (), deny: Sequence[str] = (), seconds: float | None = None) -> int:
        return await asyncio.to_thread(self._popen.update, allow, deny, seconds)

    async def status(self) -> Json:
        return await asyncio.to_thread(self._popen.status)

    async def close(self) -> None:
        """End the run if it is active, and leave nothing behind."""
        for transport in self._transports:
            transport.close()
        await self.kill()
        await self._settle()

    async def __aenter__(self) -> Process:
        return self

    async def __aexit__(self, *_: object) -> None:
        await finish(self.close())


async def create_process(args: Args, *, program: Path | None = None, **options: Any) -> Process:
    """Start a command in a box; options as for agentbox.Popen."""
    process = Process()
    await process._start(_Popen, args, {"program": program, **options})
    return process


async def run(args: Args, *, timeout: float | None = None, check: bool = False, **options: Any) -> CompletedProcess:
    """As agentbox.run. If the task is cancelled, the box has ended when it is."""
    return await complete(await create_process(args, **run_options(options)), timeout, check)


def run_options(options: dict[str, Any]) -> dict[str, Any]:
    if options.get("stdin") == PIPE:
        raise ValueError("agentbox: run() with stdin=PIPE: pass input=")
    capture = options.pop("capture_output", True)
    return options | {name: captured(options.get(name, CAPTURE), capture) for name in ("stdout", "stderr")}


async def complete(process: Process, timeout: float | None, check: bool) -> CompletedProcess:
    async with process:
        try:
            async with asyncio.timeout(timeout):
                await process.communicate()
        except TimeoutError:
            await process.close()
            raise TimeoutExpired(process.args, timeout or 0, process.result) from None
    if check:
        process.result.check_returncode()
    return process.result


async def check(args: Args, **options: Any) -> Verdict:
    """Judge a command without running it."""
    return await asyncio.to_thread(functools.partial(sync_check, args, **options))


async def wrap(args: Args, **options: Any) -> list[str]:
    return await asyncio.to_thread(functools.partial(sync_wrap, args, **options))


async def doctor(**options: Any) -> Availability:
    return await asyncio.to_thread(functools.partial(sync_doctor, **options))


class Client:
    """One `agentbox serve` for many runs: `async with agentbox.aio.Client() as client`."""

    def __init__(self, program: Path | None = None, **defaults: Any) -> None:
        self._make = functools.partial(SyncClient, program)
        self._defaults = defaults
        self._client: SyncClient | None = None

    async def __aenter__(self) -> Client:
        self._client = await start(self._make)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._client:
            await finish(asyncio.to_thread(self._client.close))

    def _channel(self) -> Any:
        if self._client is None:
            raise RuntimeError("agentbox: use it as: async with agentbox.aio.Client() as client")
        return self._client._channel

    async def create_process(self, args: Args, **options: Any) -> Process:
        process = Process()
        await process._start(functools.partial(_Popen, _channel=self._channel()), args, self._defaults | options)
        return process

    async def run(self, args: Args, *, timeout: float | None = None, check: bool = False,
                  **options: Any) -> CompletedProcess:
        return await complete(await self.create_process(args, **run_options(options)), timeout, check)


class Pool(Client):
    """As agentbox.Pool: `async with agentbox.aio.Pool(4) as pool`."""

    def __init__(self, boxes: int = 1, program: Path | None = None, **defaults: Any) -> None:
        super().__init__(program)
        self._make = functools.partial(SyncPool, boxes, program, **defaults)

    async def create_process(self, args: Args, **options: Any) -> Process:
        process = Process()
        popen = functools.partial(_Popen, _channel=self._channel(), _pool=self._client._pool)  # type: ignore[union-attr]
        await process._start(popen, args, self._client._defaults | options)  # type: ignore[union-attr]
        return process
