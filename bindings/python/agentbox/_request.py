"""From the arguments of a call to a request of the protocol (docs/serve.md), and its descriptors."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, Union

from ._result import Json, Question

Path = Union[str, os.PathLike[str]]
Args = Union[str, os.PathLike[str], Sequence[Union[str, os.PathLike[str]]]]
Value = Union[str, int, bool, Sequence[str]]


class PolicyOptions(TypedDict, total=False):
    """What a command is judged by and confined to."""

    shell: bool | str
    cwd: Path
    env: Mapping[str, str]
    allow: Sequence[str]
    deny: Sequence[str]
    policy: Mapping[str, Any] | Path
    profile: str
    workspace: Path
    project: bool
    options: Mapping[str, Value]


class RunOptions(PolicyOptions, total=False):
    name: str
    deadline: float
    max_output: int
    approve: bool
    ask_timeout: float
    require_covered: bool
    trace_denials: bool
    on_question: Callable[[Question], str | bool | None]
    on_violation: Callable[[Json], object]
    on_record: Callable[[Json], object]
    on_message: Callable[[str, str], object]


def milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else max(1, round(seconds * 1000))


def command_of(args: Args, shell: bool | str = False) -> Json:
    """As subprocess reads them: a string is a text for a shell only with shell=True."""
    if not shell:
        words = [args] if isinstance(args, (str, os.PathLike)) else list(args)
        return {"argv": [text_of(word) for word in words]}
    if not isinstance(args, str):
        raise TypeError("agentbox: with shell=True the command is one string")
    return {"shell": args} | ({"shell_path": shell} if isinstance(shell, str) else {})


def text_of(word: object) -> str:
    word = os.fspath(word)  # type: ignore[call-overload]
    if not isinstance(word, str):
        raise TypeError(f"agentbox: expected a string, got {type(word).__name__}")
    return word


def list_of(name: str, value: object) -> list[str]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise TypeError(f"agentbox: {name}: expected a list of strings")
    return [text_of(word) for word in value]


def settings_of(options: Mapping[str, Value], lists: Mapping[str, object]) -> Json:
    """`options`, with the hosts of allow= and deny= in their lists."""
    settings: Json = {key: list(value) if isinstance(value, (list, tuple)) else value
                      for key, value in options.items()}
    for name, value in lists.items():
        if value:
            key = f"network.{name}"
            settings[key] = [*settings.get(key, []), *list_of(name, value)]
    return settings


def policy_of(given: Mapping[str, Any]) -> Json:
    """The members about the policy."""
    # The current folder may change while `agentbox serve` runs: always name it.
    request: Json = {"cwd": os.path.abspath(given.get("cwd") or os.getcwd())}
    if given.get("env") is not None:
        request["env"] = {text_of(key): text_of(value) for key, value in given["env"].items()}
    policy = given.get("policy")
    if isinstance(policy, Mapping):
        request["policy"] = dict(policy)
    elif policy is not None:
        request["policy_file"] = os.path.abspath(policy)
    if given.get("workspace") is not None:
        request["workspace"] = os.path.abspath(given["workspace"])
    for name in ("profile", "project"):
        if given.get(name) is not None:
            request[name] = given[name]
    settings = settings_of(given.get("options") or {}, {name: given.get(name) for name in ("allow", "deny")})
    return request | ({"options": settings} if settings else {})


def check_names(given: Mapping[str, Any], known: type, call: str) -> None:
    for name in given:
        if name not in known.__annotations__:
            raise TypeError(f"agentbox.{call}() has no option {name!r}")


def judged(args: Args, given: Mapping[str, Any], call: str) -> Json:
    """The members of `check` and `wrap`."""
    check_names(given, PolicyOptions, call)
    return command_of(args, given.get("shell", False)) | policy_of(given)


FIXED = ("allow", "deny", "policy", "profile", "workspace", "project", "options", "trace_denials")


def pooled(given: Mapping[str, Any], pool: int) -> Json:
    """The members of a run whose policy is that of its pool."""
    for name in FIXED:
        if given.get(name) is not None:
            raise TypeError(f"agentbox: {name}: the pool decides this; give it to Pool(), or run without a pool")
    request: Json = {"pool": pool}
    if given.get("cwd") is not None:
        request["cwd"] = os.path.abspath(given["cwd"])
    if given.get("env") is not None:
        request["env"] = {text_of(key): text_of(value) for key, value in given["env"].items()}
    return request


def run_of(args: Args, given: Mapping[str, Any], call: str, pool: int | None = None) -> Json:
    """The members of `run`, without its streams."""
    check_names(given, RunOptions, call)
    request = {"do": "run"} | command_of(args, given.get("shell", False))
    request |= policy_of(given) if pool is None else pooled(given, pool)
    for member, value in (
            ("name", given.get("name")),
            ("deadline_ms", milliseconds(given.get("deadline"))),
            ("capture_max", given.get("max_output")),
            ("yes", given.get("approve")),
            ("ask", True if given.get("on_question") else None),
            ("ask_ms", milliseconds(given.get("ask_timeout"))),
            ("records", True if given.get("on_record") else None),
            ("messages", True if given.get("on_message") else None),
            ("require_covered", given.get("require_covered")),
            ("trace_denials", given.get("trace_denials"))):
        if value is not None:
            request[member] = value
    return request
