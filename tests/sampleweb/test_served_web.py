"""The serving process: how it starts, changes, stops, and never stays behind."""

import asyncio
import os
import select
import signal
import socket
import ssl
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from terrain.sampleweb.log import read
from terrain.sampleweb.pages import Hang, Html
from terrain.sampleweb.process import ServedWeb, ServedWebError
from terrain.sampleweb.server import Server
from terrain.sampleweb.web import Host, Web
from tests.sampleweb.webclient import PATIENCE, Client, ask, request

WEB = Web({"a.test": Host({"/": Html("First"), "/hang": Hang()})})


@pytest.fixture
def clients() -> Iterator[list[Client]]:
    clients: list[Client] = []
    yield clients
    for client in clients:
        client.close()


def ended(handle: int) -> bool:
    """Wait for the end of a process by its pidfd."""
    return bool(select.select([handle], [], [], PATIENCE)[0])


def test_a_change_is_in_force_when_update_returns_on_open_connections_too(client: Client) -> None:
    session = None
    for number in range(20):
        client.serve({"a.test": Host({"/": Html(f"Number {number}")})})
        session = session or client.session("a.test")
        assert f"<title>Number {number}</title>".encode() in ask(session).body


def test_a_host_and_a_page_may_disappear_and_appear(client: Client) -> None:
    client.serve({"a.test": Host({"/": Html("x"), "/old": Html("x")})})
    assert client.get("a.test", "/old").status == 200
    client.serve({"a.test": Host({"/": Html("x"), "/new": Html("x")}), "b.test": Host()})
    assert client.get("a.test", "/old").status == 404
    assert client.get("a.test", "/new").status == 200


def test_only_hosts_that_ever_had_a_port_of_their_own_are_mapped_by_name(client: Client) -> None:
    client.serve({"a.test": Host(), "refused.test": Host(listener="refuse")})
    resolve = client.served.resolve
    assert resolve["*"] == f"127.0.0.1:{client.served.port}"
    assert "a.test" not in resolve
    assert resolve["refused.test"] != resolve["*"]
    only = client.served.resolve_only("*.test")
    assert "*" not in only
    assert only["*.test"] == resolve["*"]
    assert only["refused.test"] == resolve["refused.test"]


def test_a_web_that_cannot_be_read_changes_nothing(client: Client) -> None:
    client.serve({"a.test": Host({"/": Html("Kept")})})
    wrong = Web({"a.test": Host({"/": Html("Never", status=7)})})
    with pytest.raises(ServedWebError, match=r"web\.json: hosts\.a\.test\.pages"):
        client.served.update(wrong)
    assert b"Kept" in client.get("a.test").body


def test_a_signal_makes_it_read_its_file_again(tmp_path: Path, clients: list[Client]) -> None:
    with ServedWeb(WEB, tmp_path) as served:
        clients.append(client := Client(served))
        (tmp_path / "web.json").write_text(
            Web({"a.test": Host({"/": Html("Second")})}).to_json(), encoding="utf-8"
        )
        os.kill(served.pid, signal.SIGHUP)
        session = client.session("a.test")
        while b"Second" not in (body := ask(session).body):
            assert b"First" in body


def test_it_leaves_nothing_behind_and_logs_what_was_in_flight(
    tmp_path: Path, clients: list[Client]
) -> None:
    with ServedWeb(WEB, tmp_path) as served:
        clients.append(client := Client(served))
        handle = os.pidfd_open(served.pid)
        sock = client.connect("a.test")
        sock.sendall(request("a.test", "/hang"))
        client.get("a.test")
        assert [record.target for record in client.log()] == ["/"]
        port = served.port
    assert ended(handle)
    os.close(handle)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))
    hung, answered = served.log()
    assert (hung.target, hung.outcome, hung.status) == ("/hang", "stopped", None)
    assert hung.start < answered.start
    assert answered.end < hung.end
    assert (tmp_path / "server.err").read_text() == ""


def test_it_ends_with_the_block_also_when_the_block_fails(tmp_path: Path) -> None:
    handles = []

    def fail() -> None:
        with ServedWeb(WEB, tmp_path) as served:
            handles.append(os.pidfd_open(served.pid))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    (handle,) = handles
    assert ended(handle)
    os.close(handle)


def test_it_does_not_outlive_whoever_started_it(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Web
with ServedWeb(Web(), Path(sys.argv[1])) as served:
    print(served.pid, flush=True)
    sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as parent:
        assert parent.stdout is not None
        handle = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    assert ended(handle)
    os.close(handle)


def test_a_server_restarted_in_its_place_is_the_same_web(
    tmp_path: Path, clients: list[Client]
) -> None:
    with ServedWeb(WEB, tmp_path) as first:
        clients.append(client := Client(first))
        client.get("a.test")
        authority = first.ca_file.read_bytes()
        assert len(first.log()) == 1
        first.kill()
        with pytest.raises(ServedWebError, match="it has ended"):
            first.update(WEB)
    with ServedWeb(WEB, tmp_path, port=first.port) as second:
        clients.append(client := Client(second))
        assert second.port == first.port
        assert second.ca_file.read_bytes() == authority
        client.get("a.test")
        assert len(second.log()) == 2
    assert stat.S_IMODE((tmp_path / "ca.key").stat().st_mode) == 0o600


def test_a_port_in_use_is_said_and_nothing_is_started(tmp_path: Path) -> None:
    with ServedWeb(WEB, tmp_path / "first") as first:
        second = ServedWeb(WEB, tmp_path / "second", port=first.port)
        with pytest.raises(ServedWebError, match="Address already in use"):
            second.__enter__()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "terrain.sampleweb", *arguments],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE,
    )


def test_the_command_refuses_what_is_not_a_web_in_its_own_words(tmp_path: Path) -> None:
    (tmp_path / "web.json").write_text('{"hosts": 3}')
    wrong = run(str(tmp_path / "web.json"), "--dir", str(tmp_path))
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == f"{tmp_path}/web.json: hosts: Input should be an object\n"
    missing = run(str(tmp_path / "none.json"), "--dir", str(tmp_path))
    assert missing.returncode == 2
    assert "No such file" in missing.stderr
    assert "Traceback" not in missing.stderr


def test_the_command_says_where_it_is_and_ends_with_its_input(tmp_path: Path) -> None:
    (tmp_path / "web.json").write_text(WEB.to_json())
    done = run(str(tmp_path / "web.json"), "--dir", str(tmp_path / "new"))
    # On a busy machine asyncio may remark on a slow step; that is not a complaint of ours.
    complaints = [line for line in done.stderr.splitlines() if not line.startswith("Executing <")]
    assert (done.returncode, complaints) == (0, [])
    assert done.stdout.count("\n") == 1
    assert f'"ca": "{tmp_path}/new/ca.pem"' in done.stdout


def test_an_unknown_command_is_answered_and_harmless(client: Client) -> None:
    with pytest.raises(ServedWebError, match="unknown command: dance"):
        client.served._command(b"dance")
    client.serve({"a.test": Host({"/": Html("x")})})
    assert client.get("a.test").status == 200


def test_a_web_can_be_served_in_the_same_process(tmp_path: Path) -> None:
    async def visit() -> bytes:
        async with Server(WEB, tmp_path) as server:
            reader, writer = await asyncio.open_connection(
                "127.0.0.1",
                server.port,
                ssl=ssl.create_default_context(cafile=str(server.ca_file)),
                server_hostname="a.test",
            )
            writer.write(request("a.test", extra="Connection: close\r\n"))
            answer = await reader.read()
            writer.close()
            await writer.wait_closed()
            return answer

    assert b"<title>First</title>" in asyncio.run(visit())
    assert [record.status for record in read(tmp_path / "requests.jsonl")] == [200]
