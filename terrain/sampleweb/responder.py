"""What a web answers to a request, and what it must remember for that: counts, nothing else."""

import math
import random
from collections import Counter
from dataclasses import replace

from terrain.sampleweb.answers import Answer, Asked, answer
from terrain.sampleweb.behaviours import (
    Behaviour,
    ByMethod,
    Drip,
    Flaky,
    Framed,
    GiantHeader,
    Gzipped,
    HalfBody,
    Slow,
    WrongLength,
)
from terrain.sampleweb.pages import Reset
from terrain.sampleweb.web import NOT_FOUND, Host, Latency, Web

_WRAPPERS = (Slow, Drip, HalfBody, WrongLength, Framed, Gzipped, GiantHeader)

_NOWHERE = Host()
"""A host that the web does not list: it answers, so that the log shows who asked."""


class Responder:
    """Answers for one web; a changed web gets a new one, and counting starts anew."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._requests: Counter[str] = Counter()
        self._asked: Counter[tuple[str, str, str]] = Counter()
        self._turns: Counter[tuple[str, str, str, tuple[int, ...]]] = Counter()

    def host(self, name: str) -> Host:
        """Return the host of that name; a trailing dot makes no difference."""
        return self._web.hosts.get(name.removesuffix("."), _NOWHERE)

    def answer(self, name: str, target: str, method: str, scheme: str) -> Answer:
        """Return the answer to one request, and count it."""
        host = self.host(name)
        asked = Asked(method, name, target)
        behaviour = self._settled(self._behaviour(host, asked, scheme), asked, ())
        made = answer(behaviour, asked)
        latency = host.latency or self._web.latency
        if latency is not None:
            made = replace(made, delay=made.delay + self._drawn(latency, asked))
        return made

    def _behaviour(self, host: Host, asked: Asked, scheme: str) -> Behaviour:
        if host is _NOWHERE:
            return NOT_FOUND
        if host.listener in {"refuse", "reset", "silent"}:
            # asked through the shared port, perhaps on a connection from before it was so
            return Reset()
        if host.limit is not None:
            self._requests[asked.host] += 1
            if self._requests[asked.host] > host.limit.requests:
                return host.limit.then
        if scheme == "http" and host.http is not None:
            return host.http
        return host.behaviour(asked.target)

    def _settled(self, behaviour: Behaviour, asked: Asked, place: tuple[int, ...]) -> Behaviour:
        """Return the behaviour with every `Flaky` in it replaced by the one whose turn it is.

        `place` tells apart several in one another: each counts for itself.
        """
        if isinstance(behaviour, Flaky):
            key = (asked.host, asked.target, asked.method, place)
            turn = min(self._turns[key], len(behaviour.then) - 1)
            self._turns[key] += 1
            return self._settled(behaviour.then[turn], asked, (*place, turn))
        if isinstance(behaviour, ByMethod):
            head = asked.method == "HEAD"
            return self._settled(behaviour.head if head else behaviour.get, asked, place)
        if isinstance(behaviour, _WRAPPERS):
            return replace(behaviour, then=self._settled(behaviour.then, asked, place))
        return behaviour

    def _drawn(self, latency: Latency, asked: Asked) -> float:
        key = (asked.host, asked.target, asked.method)
        seed = f"{latency.seed} {self._asked[key]} {asked.method} {asked.host}{asked.target}"
        self._asked[key] += 1
        draw = random.Random(seed).gauss(0.0, latency.sigma)  # noqa: S311 - weather, not a secret
        return min(latency.median * math.exp(min(draw, 100.0)), latency.ceiling)
