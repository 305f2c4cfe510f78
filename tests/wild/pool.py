"""Each function in a process of its own, forked from one that has imported everything: a crash, an endless run or too much
memory ends that one only."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

SECONDS = 60  # of computing: the machine may be busy
PATIENCE = 10 * SECONDS  # by the clock, for what waits
BYTES = 2 * 1024**3

Record = dict[str, Any]


def run_all(
    names: Iterable[str], run: Callable[[str, Callable[[Record], None]], None], workers: int
) -> Iterator[tuple[str, list[Record], str]]:
    """For each name what ``run`` said of it, and how it ended: "", "time-out" or "crash ..."."""
    waiting = list(reversed(list(names)))
    alive: dict[int, tuple[str, int, float, bytes]] = {}  # by descriptor: name, process, start, what came
    while waiting or alive:
        while waiting and len(alive) < workers:
            name = waiting.pop()
            reader, process = _start(name, run)
            alive[reader] = (name, process, time.monotonic(), b"")
        ready = select.select(list(alive), [], [], 0.5)[0]
        for reader in list(alive):
            name, process, start, came = alive[reader]
            if reader in ready:
                more = os.read(reader, 1 << 16)
                alive[reader] = (name, process, start, came + more)
                if more:
                    continue
                yield name, _records(came), _ended(process)
            elif time.monotonic() - start > PATIENCE:
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
                yield name, _records(came), "time-out"
            else:
                continue
            os.close(reader)
            del alive[reader]


def _start(name: str, run: Callable[[str, Callable[[Record], None]], None]) -> tuple[int, int]:
    reader, writer = os.pipe()
    process = os.fork()
    if process:
        os.close(writer)
        return reader, process
    os.close(reader)
    code = 1
    try:
        used = (
            int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
            if os.path.exists("/proc/self/statm")
            else 0
        )
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (used + BYTES, used + BYTES))
        with open(os.devnull, "w") as nothing:
            os.dup2(nothing.fileno(), sys.stdout.fileno())
            os.dup2(nothing.fileno(), sys.stderr.fileno())
        run(name, lambda record: _say(writer, record))
        code = 0
    finally:
        os._exit(code)


def _say(writer: int, record: Record) -> None:
    os.write(writer, (json.dumps(record) + "\n").encode())


def _records(came: bytes) -> list[Record]:
    return [json.loads(line) for line in came.decode(errors="replace").splitlines() if line.endswith("}")]


def _ended(process: int) -> str:
    status = os.waitpid(process, 0)[1]
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return "time-out"
    if os.WIFSIGNALED(status):
        return f"crash {signal.Signals(os.WTERMSIG(status)).name}"
    return "" if os.WEXITSTATUS(status) == 0 else f"crash exit {os.WEXITSTATUS(status)}"
