import pytest, select
from tests.sampleweb.conftest import served, client
from tests.sampleweb.test_sample_faults import *
@pytest.mark.parametrize("n", range(200))
def test_rep(client, n):
    client.serve({"a.test": Host({"/": Hang(), "/ok": PAGE})})
    sock = client.connect("a.test")
    sock.sendall(request("a.test"))
    assert client.get("a.test", "/ok").status == 200
    assert not select.select([sock], [], [], 0)[0]
    sock.close()
    rs = client.log_when(lambda records: len(records) == 2)
    assert rs[0].target=="/", rs
