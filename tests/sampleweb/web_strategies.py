"""Hypothesis strategies for whole sample webs."""

import string
from typing import get_args

from hypothesis import strategies as st

from terrain.sampleweb import behaviours as b
from terrain.sampleweb import pages as p
from terrain.sampleweb.certificates import CertificateKind
from terrain.sampleweb.web import Host, Latency, Limit, Listener, Web

words = st.text(max_size=8)
maybe = st.none() | words
octets = st.binary(max_size=20)
sizes = st.integers(0, 10**12)
some = st.integers(1, 5_000)
codes = st.integers(100, 999)
seconds = st.floats(0, 100)
endings = st.sampled_from(get_args(p.Ending))
# what can stand in a header: no line ends
values = st.text(string.ascii_letters + string.digits + " -/;=", max_size=8)
types = st.none() | values
headers = st.lists(st.tuples(values, values), max_size=2).map(tuple)
links = st.builds(
    p.Link,
    words,
    words,
    st.dictionaries(words, words, max_size=2),
    st.sampled_from(get_args(p.Region)),
)

leaves = st.one_of(
    st.builds(
        p.Html,
        title=maybe,
        links=st.lists(links, max_size=3).map(tuple),
        lang=maybe,
        description=maybe,
        meta_robots=maybe,
        base=maybe,
        canonical=maybe,
        text=st.lists(words, max_size=2).map(tuple),
        head=words,
        body=words,
        size=some,
        charset=st.sampled_from(["utf-8", "latin-1", "koi8-r"]),
        content_type=types,
        status=codes,
        headers=headers,
    ),
    st.builds(p.Redirect, types, codes, headers),
    st.builds(p.ToHttps, codes),
    st.builds(p.Status, codes, octets, types, headers),
    st.builds(p.NonHtml, types, sizes, octets, headers),
    st.builds(p.BigBody, sizes.filter(bool), types, headers),
    st.builds(p.GzipBomb, sizes.filter(bool), types),
    st.builds(p.Raw, octets, endings),
    st.builds(p.Garbage, some, st.integers()),
    st.builds(p.Reset),
    st.builds(p.Hang),
    st.builds(p.Endless, st.lists(words, max_size=2).map(tuple), words),
    st.builds(p.Tree, st.lists(st.integers(0, 9), max_size=3).map(tuple), some),
)


def _wrapped(inner: st.SearchStrategy[b.Behaviour]) -> st.SearchStrategy[b.Behaviour]:
    return st.one_of(
        st.builds(b.ByMethod, head=inner, get=inner),
        st.builds(b.Flaky, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(b.Slow, seconds, inner),
        st.builds(b.Drip, inner, some, seconds),
        st.builds(b.HalfBody, inner, st.floats(0, 1, exclude_max=True), endings),
        st.builds(b.WrongLength, inner, st.integers(), endings),
        st.builds(b.Framed, inner, st.sampled_from(["length", "chunked", "close"])),
        st.builds(b.Gzipped, inner),
        st.builds(b.GiantHeader, inner, some, st.integers(1, 3)),
    )


behaviours: st.SearchStrategy[b.Behaviour] = st.recursive(leaves, _wrapped, max_leaves=4)

latencies = st.builds(Latency, seconds, st.floats(0, 3), seconds, st.integers())
hosts = st.builds(
    Host,
    pages=st.dictionaries(words, behaviours, max_size=2),
    robots=maybe | behaviours,
    under=st.dictionaries(words, behaviours, max_size=1),
    otherwise=behaviours,
    http=st.none() | behaviours,
    listener=st.sampled_from(get_args(Listener)),
    certificate=st.sampled_from(get_args(CertificateKind)),
    limit=st.none() | st.builds(Limit, st.integers(0), behaviours),
    latency=st.none() | latencies,
)
webs = st.builds(
    Web, hosts=st.dictionaries(words, hosts, max_size=2), latency=st.none() | latencies
)
