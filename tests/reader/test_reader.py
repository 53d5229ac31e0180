"""Pages are read here while there are few, and elsewhere when there are many or large ones."""

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from terrain.config import Config, parse_config
from terrain.reader import process as process_module
from terrain.reader import reader as reader_module
from terrain.reader.facts import FactsOf
from terrain.reader.process import ReaderDied
from terrain.reader.reader import LARGE, PageReader
from terrain.rules.extract import PageFacts

ROOT = Path(__file__).parents[2]
CONFIG = """
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
"""
PAGE = b'<html lang=en><title>One</title><nav><a href="/two" rel=nofollow>Two</a></nav><p>Text'
ADDRESS = ("text/html", "https://a.test/one", "https://a.test/one")

Result = TypeVar("Result")


@pytest.fixture
def config() -> Config:
    return parse_config(CONFIG)


def page(number: int, size: int = 0) -> bytes:
    return PAGE.replace(b"One", b"Page %d" % number) + b" " * size


def with_reader(
    config: Config, work: Callable[[PageReader], Awaitable[Result]], cores: int = 2
) -> Result:
    async def whole() -> Result:
        reader = PageReader(config, cores=cores)
        try:
            return await work(reader)
        finally:
            await reader.close()

    return asyncio.run(whole())


def here(config: Config, body: bytes) -> PageFacts:
    return FactsOf.configured(config)(body, *ADDRESS)


def pid_of(reader: PageReader) -> int:
    assert reader._process is not None
    assert reader._process._process is not None
    return reader._process._process.pid


def wait_for_the_end_of(pid: int) -> None:
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([handle], [], [], 30)[0], f"process {pid} is still there"
    finally:
        os.close(handle)


def test_a_few_pages_start_no_process(config: Config) -> None:
    async def work(reader: PageReader) -> list[PageFacts]:
        facts = [await reader.read(page(n), *ADDRESS) for n in range(5)]
        assert reader._process is None
        return facts

    assert with_reader(config, work) == [here(config, page(n)) for n in range(5)]


def test_a_large_page_is_read_elsewhere_and_says_the_same(config: Config) -> None:
    body = page(1, LARGE)

    async def work(reader: PageReader) -> PageFacts:
        facts = await reader.read(body, *ADDRESS)
        assert pid_of(reader) != os.getpid()
        return facts

    assert with_reader(config, work) == here(config, body)


@pytest.mark.parametrize(("cores", "started"), [(2, True), (1, False)])
def test_a_busy_crawl_starts_a_process_if_there_is_a_core_for_it(
    config: Config, monkeypatch: pytest.MonkeyPatch, cores: int, started: bool
) -> None:
    monkeypatch.setattr(reader_module, "BUSY", 0.0)

    async def work(reader: PageReader) -> PageFacts:
        await reader.read(page(0), *ADDRESS)
        assert (reader._starting is not None) is started
        if reader._starting is not None:
            await reader._starting
            assert reader._usable() is not None
        return await reader.read(page(1), *ADDRESS)

    assert with_reader(config, work, cores) == here(config, page(1))


def test_many_pages_at_once_come_back_to_their_askers(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_module, "BUSY", 0.0)

    async def work(reader: PageReader) -> list[PageFacts]:
        await reader.read(page(0, LARGE), *ADDRESS)
        return await asyncio.gather(*(reader.read(page(n), *ADDRESS) for n in range(100)))

    titles = [facts.title for facts in with_reader(config, work)]
    assert titles == [f"Page {n}" for n in range(100)]


def test_a_page_that_ends_the_process_costs_that_page_alone(config: Config) -> None:
    async def work(reader: PageReader) -> list[PageFacts | BaseException]:
        await reader.read(page(0, LARGE), *ADDRESS)
        first = pid_of(reader)
        os.kill(first, signal.SIGSTOP)  # so that all are on their way when it ends
        reading = [asyncio.ensure_future(reader.read(page(n), *ADDRESS)) for n in range(3)]
        await asyncio.sleep(0)
        os.kill(first, signal.SIGKILL)
        results = await asyncio.gather(*reading, return_exceptions=True)
        after = await reader.read(page(3, LARGE), *ADDRESS)
        assert pid_of(reader) != first
        return [*results, after]

    one, *others = with_reader(config, work)
    assert isinstance(one, ReaderDied)
    assert others == [here(config, page(n)) for n in (1, 2)] + [here(config, page(3, LARGE))]


def test_an_answer_that_nobody_waits_for_still_counts_for_the_next(config: Config) -> None:
    async def work(reader: PageReader) -> PageFacts:
        await reader.read(page(0, LARGE), *ADDRESS)
        elsewhere = page(1).replace(b"/two", b"/three")
        given_up = asyncio.ensure_future(reader.read(elsewhere, *ADDRESS))
        await asyncio.sleep(0)
        given_up.cancel()
        return await reader.read(elsewhere, *ADDRESS)

    assert with_reader(config, work) == here(config, page(1).replace(b"/two", b"/three"))


def test_a_page_that_is_never_done_is_given_up(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(reader: PageReader) -> None:
        await reader.read(page(0, LARGE), *ADDRESS)
        os.kill(pid_of(reader), signal.SIGSTOP)
        monkeypatch.setattr(process_module, "PATIENCE", 0.05)
        assert reader._process is not None
        reader._process._check_patience()  # the watch that is on has the old patience
        await reader.read(page(1), *ADDRESS)

    with pytest.raises(ReaderDied):
        with_reader(config, work)


def test_without_a_process_every_page_is_read_here(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    body = page(1, LARGE)

    async def work(reader: PageReader) -> PageFacts:
        return await reader.read(body, *ADDRESS)

    assert with_reader(config, work) == here(config, body)


def test_the_process_is_gone_when_the_reader_is_closed(config: Config) -> None:
    async def work(reader: PageReader) -> int:
        await reader.read(page(0, LARGE), *ADDRESS)
        return pid_of(reader)

    pid = with_reader(config, work)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


KILLED = """
import asyncio, sys, time
from terrain.config import parse_config
from terrain.reader.reader import PageReader

async def main():
    reader = PageReader(parse_config(sys.argv[1]))
    await reader.read(b" " * 600_000, "text/html", "https://a.test/", "https://a.test/")
    print(reader._process._process.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_the_process_does_not_outlive_a_crawl_that_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, CONFIG], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as crawl:
        assert crawl.stdout is not None
        pid = int(crawl.stdout.readline())
        crawl.kill()
    wait_for_the_end_of(pid)
