"""Run commands in a box: confined to one folder, network by host name, like subprocess.

    done = agentbox.run(["make", "test"], allow=["github.com"])

The package starts the program `agentbox serve` and speaks its protocol. docs/python.md is the guide.
"""
from . import aio
from ._channel import VERSION as __version__
from ._client import Client, Pool, check, doctor, run, wrap
from ._errors import (CalledProcessError, ChannelClosed, CommandNotFound, Error, NotInstalled, ProtocolError,
                      Refused, RequestError, StartError, TimeoutExpired)
from ._process import Popen
from ._result import Assurance, Availability, CompletedProcess, Question, Verdict
from ._streams import CAPTURE, DEVNULL, PIPE, STDOUT

__all__ = [
    "CAPTURE", "DEVNULL", "PIPE", "STDOUT",
    "Assurance", "Availability", "Client", "CompletedProcess", "Pool", "Popen", "Question", "Verdict",
    "CalledProcessError", "ChannelClosed", "CommandNotFound", "Error", "NotInstalled", "ProtocolError", "Refused",
    "RequestError", "StartError", "TimeoutExpired",
    "aio", "check", "doctor", "run", "wrap", "__version__",
]
