"""What one input costs: CPU seconds, and by how much it makes the process grow."""

import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass

_RESET_PEAK = b"5"
"""To /proc/self/clear_refs: forget the peak of the resident size so far (proc(5))."""


@dataclass(frozen=True)
class Cost:
    """The price of one input."""

    seconds: float
    """CPU time, so that a busy machine does not count."""
    megabytes: float
    """Peak of the resident size during the call, above the size before it."""


class Meter:
    """Measures calls in this process. Without /proc it sees only growth beyond all earlier ones."""

    def __init__(self) -> None:
        self.peak = 0.0
        """Megabytes: the largest resident size during any call."""
        try:
            self._reset: int | None = os.open("/proc/self/clear_refs", os.O_WRONLY)
        except OSError:
            self._reset = None

    def __del__(self) -> None:
        if self._reset is not None:
            os.close(self._reset)

    def cost(self, check: Callable[[bytes], None], data: bytes) -> Cost:
        """Run a check; what it raises passes through."""
        if self._reset is not None:
            os.pwrite(self._reset, _RESET_PEAK, 0)
        size, started = peak_megabytes(), time.process_time()
        check(data)
        seconds, peak = time.process_time() - started, peak_megabytes()
        self.peak = max(self.peak, peak)
        return Cost(seconds, max(0.0, peak - size))


def peak_megabytes() -> float:
    """Return the largest resident size of this process since the last reset."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
