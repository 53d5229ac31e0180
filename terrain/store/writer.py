"""The one thread that writes.

Work comes as operations; what is waiting when the thread gets to it goes into one transaction.
Nothing waits for a batch to fill: under light load a page is committed alone and at once, under
heavy load batches grow by themselves. An operation's future is resolved after its commit.
"""

import logging
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from sqlalchemy import URL, Connection, Engine

from terrain.errors import StoreError
from terrain.store.engine import errors_in_our_words

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

MAX_OPERATIONS = 256
"""Operations in one transaction: bounds both its memory and what a failure makes run again."""


@dataclass(slots=True)
class Operation(Generic[Result]):
    """Something to do in a transaction, and the promise of its result."""

    work: Callable[[Connection], Result] | None = None
    future: "Future[Result]" = field(default_factory=Future)
    merge: Callable[[Connection, list[Any]], list[Any]] | None = None
    """Instead of `work`: neighbours with the same function go together, payloads to results."""
    payload: Any = None


class Writer:
    """A thread, a queue, one connection."""

    def __init__(self, engine: Engine, url: URL, on_rollback: Callable[[], None]) -> None:
        self._engine = engine
        self._url = url
        self._on_rollback = on_rollback
        self._queue: queue.SimpleQueue[Operation[Any] | None] = queue.SimpleQueue()
        self._gate = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="terrain-writer", daemon=True)
        self._thread.start()
        self.transactions = 0
        """Committed so far, for the metrics."""

    def submit(self, work: Callable[[Connection], Result]) -> "Future[Result]":
        """Do `work` in a transaction; the future resolves after the commit."""
        return self._put(Operation(work))

    def submit_merged(
        self, merge: Callable[[Connection, list[Any]], list[Any]], payload: Any
    ) -> "Future[Any]":
        """Do `merge` for this payload and whatever neighbours it has in the queue."""
        return self._put(Operation(merge=merge, payload=payload))

    def close(self) -> None:
        """Finish what is queued and stop."""
        with self._gate:
            self._closed = True
        self._queue.put(None)
        self._thread.join()

    def _put(self, operation: Operation[Result]) -> "Future[Result]":
        with self._gate:
            # Nobody would ever take it out: a caller waiting for the result would wait for ever.
            if self._closed:
                raise StoreError("the store is closed")
            self._queue.put(operation)
        return operation.future

    def _run(self) -> None:
        running = True
        while running:
            operations: list[Operation[Any]] = []
            first = self._queue.get()
            if first is None:
                return
            operations.append(first)
            while len(operations) < MAX_OPERATIONS:
                try:
                    following = self._queue.get_nowait()
                except queue.Empty:
                    break
                if following is None:
                    running = False
                    break
                operations.append(following)
            # From here on a future can no longer be cancelled, so its result can be set.
            self._commit([o for o in operations if o.future.set_running_or_notify_cancel()])

    def _commit(self, operations: list[Operation[Any]]) -> None:
        if not operations:
            return
        try:
            results = self._transact(operations)
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits for the result
            self._on_rollback()
            if len(operations) == 1 or _is_the_machines(error):
                for operation in operations:
                    operation.future.set_exception(error)
                return
            # One bad operation must not take its neighbours down: do them one by one.
            logger.debug("a batch of %d failed (%s); trying one by one", len(operations), error)
            for operation in operations:
                self._commit([operation])
            return
        self.transactions += 1
        for operation, result in zip(operations, results, strict=True):
            operation.future.set_result(result)

    def _transact(self, operations: list[Operation[Any]]) -> list[Any]:
        results: list[Any] = []
        with errors_in_our_words(self._url), self._engine.begin() as connection:
            start = 0
            while start < len(operations):
                operation = operations[start]
                end = start + 1
                if operation.merge is None:
                    assert operation.work is not None
                    results.append(operation.work(connection))
                else:
                    while end < len(operations) and operations[end].merge == operation.merge:
                        end += 1
                    payloads = [each.payload for each in operations[start:end]]
                    results.extend(operation.merge(connection, payloads))
                start = end
        return results


def _is_the_machines(error: BaseException) -> bool:
    """Tell whether the file, not an operation, is at fault (full, locked, read-only, damaged).

    Trying the operations one by one would then only repeat it, at a minute each if it is locked.
    """
    return isinstance(error, StoreError) and error.__cause__ is not None
