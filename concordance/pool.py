"""Run stretches of numbers on many workers, local processes or a cluster, and lose none when a worker dies.

Workers are reached through `concurrent.futures.Executor` alone, so both kinds share one code path. A stretch whose
worker died is run again; if that goes on, alone in a process of this machine, in halves down to the one number that
kills. This module knows neither cases nor models, and bounds no time: a worker that hangs is waited for.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from concurrent.futures.process import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, TypeVar

from concordance.errors import ConcordanceError, UnusableInputError

T = TypeVar("T")

PATIENCE: Final = 20
"""Seconds that a cluster may take to answer, to have its first worker, and to have one again."""

_HINT: Final = "what is on record need not be run again"


@dataclass(frozen=True, eq=False)
class Crew:
    """Workers: how to start an executor on them, how many they are now, and which errors mean that one died.

    A `BrokenExecutor` always means that, and that the executor must be replaced.
    """

    start: Callable[[], Executor]
    size: Callable[[], int]
    died: tuple[type[BaseException], ...]
    end: Callable[[Executor], None]
    """End an executor at once, with all that it runs."""
    chances: int
    """How often a stretch is tried before it is suspected: what ran beside it may be to blame."""


def local(workers: int | None = None) -> Crew:
    """Processes of this machine, as many as it has cores unless told."""
    count = workers or os.cpu_count() or 1

    def start() -> Executor:
        pool = ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), initializer=_begin)
        try:
            # All start at once; and a pool that cannot start would have each number blamed for it.
            started, *_ = [pool.submit(os.getpid) for _ in range(count)]
            started.result()
        except BrokenExecutor:
            raise ConcordanceError(
                "worker processes end as soon as they start", hint='a script needs: if __name__ == "__main__"'
            ) from None
        return pool

    return Crew(start, lambda: count, (), _end_processes, chances=2)


@contextmanager
def cluster(address: str) -> Iterator[Crew]:
    """The workers of the Dask scheduler at an address. Raises `UnusableInputError` if there are none."""
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        hint = "pip install 'concordance-key[cluster]'"
        raise UnusableInputError("a cluster needs the package distributed", hint=hint) from None
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UnusableInputError(f"no Dask scheduler answers: {error}", where=address) from None

    def size() -> int:
        try:
            return len(client.nthreads())
        except OSError:
            raise ConcordanceError("the cluster was lost", where=address, hint=_HINT) from None

    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise UnusableInputError("the cluster has no workers", where=address) from None
        yield Crew(
            lambda: client.get_executor(pure=False),  # pure work would be remembered as failed, not run again
            size,
            (distributed.KilledWorker,),
            lambda executor: executor.shutdown(wait=False),
            chances=1,  # the scheduler has tried on several workers before it gives up
        )


def run(
    crew: Crew, work: Callable[[range], T], stretches: Iterable[range]
) -> Generator[tuple[range, T | None], None, None]:
    """Do the work for each stretch, in no order. None stands for a single number that kills its worker.

    Never takes more stretches than twice the workers at a time. Closing the generator ends what is running.
    """
    return _Run(crew, work, iter(stretches)).outcomes()


class _Task(NamedTuple):
    """A stretch under way, and on what."""

    stretch: range
    crew: Crew
    executor: Executor


class _Run(Generic[T]):
    """The state of one `run`."""

    def __init__(self, crew: Crew, work: Callable[[range], T], stretches: Iterator[range]) -> None:
        self._crew, self._work, self._stretches = crew, work, stretches
        self._solo = local(1)
        self._again: list[range] = []
        self._suspects: list[range] = []
        self._deaths: Counter[tuple[Crew, range]] = Counter()
        self._pending: dict[Future[T], _Task] = {}
        self._executors: dict[Crew, Executor] = {}
        self._rounds_without_workers = 0

    def outcomes(self) -> Generator[tuple[range, T | None], None, None]:
        try:
            while self._fill():
                done = wait(self._pending, PATIENCE, FIRST_COMPLETED).done
                self._notice_lost_workers(not done)
                for future in done:
                    yield from self._outcome(future)
        except BaseException:
            for crew, executor in self._executors.items():
                crew.end(executor)
            raise
        for executor in self._executors.values():
            executor.shutdown()

    def _fill(self) -> bool:
        """Hand out work; whether there is any to wait for. Suspects run one at a time, so that guilt is certain."""
        busy = Counter(task.crew for task in self._pending.values())
        if self._suspects and not busy[self._solo]:
            self._submit(self._suspects.pop(), self._solo)
        for _ in range(2 * max(self._crew.size(), 1) - busy[self._crew]):
            stretch = self._again.pop() if self._again else next(self._stretches, None)
            if stretch is None:
                break
            self._submit(stretch, self._crew)
        return bool(self._pending)

    def _submit(self, stretch: range, crew: Crew) -> None:
        if crew not in self._executors:
            self._executors[crew] = crew.start()
        try:
            future = self._executors[crew].submit(self._work, stretch)
        except BrokenExecutor:  # since it was last looked at
            self._renew(crew, self._executors[crew])
            future = self._executors[crew].submit(self._work, stretch)
        self._pending[future] = _Task(stretch, crew, self._executors[crew])

    def _outcome(self, future: Future[T]) -> Iterator[tuple[range, T | None]]:
        task = self._pending.pop(future)
        try:
            result = future.result()
        except BrokenExecutor:
            self._renew(task.crew, task.executor)
            yield from self._bury(task.crew, task.stretch)
        except self._crew.died:
            yield from self._bury(task.crew, task.stretch)
        except CancelledError:
            raise ConcordanceError("the cluster was lost", hint=_HINT) from None
        else:
            yield task.stretch, result

    def _renew(self, crew: Crew, broken: Executor) -> None:
        """Replace a broken executor, once: its other futures fail, too, and find it replaced."""
        if broken is self._executors[crew]:
            broken.shutdown()
            self._executors[crew] = crew.start()

    def _bury(self, crew: Crew, stretch: range) -> Iterator[tuple[range, None]]:
        """Decide what becomes of a stretch whose worker died."""
        self._deaths[crew, stretch] += 1
        deaths = self._deaths[crew, stretch]
        if crew is self._crew:
            (self._again if deaths < crew.chances else self._suspects).append(stretch)
        elif len(stretch) > 1:
            middle = len(stretch) // 2
            self._suspects += stretch[:middle], stretch[middle:]
        elif deaths < crew.chances:
            self._suspects.append(stretch)
        else:
            yield stretch, None

    def _notice_lost_workers(self, idle: bool) -> None:
        """Raise `ConcordanceError` if the workers are gone for good; those of a cluster may come back."""
        self._rounds_without_workers = self._rounds_without_workers + 1 if idle and not self._crew.size() else 0
        if self._rounds_without_workers > 1:
            raise ConcordanceError("the cluster has lost all its workers", hint=_HINT)


def _begin() -> None:
    """Prepare a worker process: the parent decides what an interrupt means, and none outlives a killed parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _end_processes(executor: Executor) -> None:
    assert isinstance(executor, ProcessPoolExecutor)
    for process in list((executor._processes or {}).values())[:1]:  # Python 3.14 has terminate_workers for this
        process.terminate()  # which breaks the pool, and that ends the others
    executor.shutdown(cancel_futures=True)
