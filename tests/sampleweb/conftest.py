from collections.abc import Iterator

import pytest

from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Web
from tests.sampleweb.webclient import Client


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedWeb]:
    """One process for a module; each test serves its own web there."""
    directory = tmp_path_factory.mktemp("web")
    with pytest.MonkeyPatch.context() as patch:
        # the server's own slips (unclosed sockets, lost tasks) must not go unseen
        patch.setenv("PYTHONDEVMODE", "1")
        with ServedWeb(Web(), directory) as served:
            yield served
    assert (directory / "server.err").read_text() == ""


@pytest.fixture
def client(served: ServedWeb) -> Iterator[Client]:
    client = Client(served)
    yield client
    client.close()
