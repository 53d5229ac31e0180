"""A certificate authority for the sample web, and a certificate for each host name as it is asked.

The authority is kept in the directory, so that a server restarted there is trusted as before.
"""

import datetime as dt
import ipaddress
import ssl
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal, get_args

import trustme

CertificateKind = Literal["good", "unknown-ca", "expired", "wrong-name"]
"""What is wrong with a host's certificate, if anything."""

LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
"""Always in the certificate for clients that send no name."""

_DAY = dt.timedelta(days=1)


class Certificates:
    """Issues certificates; one TLS context per host name and kind, made on first use."""

    def __init__(self, directory: Path) -> None:
        self.ca_file = directory / "ca.pem"
        """The authority's certificate: what a client must trust."""
        self._directory = directory
        self._authority = _kept_authority(self.ca_file, directory / "ca.key")
        self._stranger: trustme.CA | None = None
        self._contexts: dict[tuple[str, CertificateKind], ssl.SSLContext] = {}
        self._nameless: dict[frozenset[str], ssl.SSLContext] = {}

    def context(self, name: str, kind: CertificateKind) -> ssl.SSLContext:
        """Return the context for a host name; raises ValueError if no certificate can bear it."""
        context = self._contexts.get((name, kind))
        if context is None:
            context = self._contexts[name, kind] = self._load(self._issue(name, kind))
        return context

    def entry(
        self,
        addresses: Iterable[str],
        choose: Callable[[ssl.SSLObject, str | None], ssl.SSLContext | None],
    ) -> ssl.SSLContext:
        """Return the context that a listener starts every handshake with.

        Clients name no IP address in their hello, so its own certificate is good for all of
        `addresses`. `choose` is told the name asked for, if any, and may give another context,
        or refuse with a ValueError.
        """
        names = frozenset(_bare(address) for address in addresses).union(LOCAL_NAMES)
        context = self._nameless.get(names)
        if context is None:
            context = self._load(self._authority.issue_cert(*sorted(names)))
            self._nameless[names] = context

        def on_hello(tls: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> int | None:
            try:
                chosen = choose(tls, name)
            except ValueError:
                return int(ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME)
            if chosen is not None:
                tls.context = chosen
            return None

        context.sni_callback = on_hello
        return context

    def _issue(self, name: str, kind: CertificateKind) -> trustme.LeafCert:
        if kind == "unknown-ca":
            self._stranger = self._stranger or trustme.CA()
            return self._stranger.issue_cert(name)
        if kind == "wrong-name":
            return self._authority.issue_cert("another-name.invalid")
        if kind == "expired":
            now = dt.datetime.now(dt.UTC)
            return self._authority.issue_cert(name, not_before=now - 2 * _DAY, not_after=now - _DAY)
        assert kind in get_args(CertificateKind)
        return self._authority.issue_cert(name)

    def _load(self, leaf: trustme.LeafCert) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        with leaf.private_key_and_cert_chain_pem.tempfile(dir=str(self._directory)) as path:
            context.load_cert_chain(path)
        return context


def is_address(host: str) -> bool:
    """Tell whether a host is an IP address, in brackets or not, rather than a name."""
    try:
        ipaddress.ip_address(_bare(host))
    except ValueError:
        return False
    return True


def _bare(host: str) -> str:
    """Return an IPv6 address without its brackets."""
    return host.removeprefix("[").removesuffix("]")


def _kept_authority(certificate: Path, key: Path) -> trustme.CA:
    """Return the authority kept in these files, or a new one, then kept there."""
    if certificate.exists() and key.exists():
        return trustme.CA.from_pem(certificate.read_bytes(), key.read_bytes())
    authority = trustme.CA()
    key.touch(mode=0o600)
    authority.private_key_pem.write_to_path(str(key))
    authority.cert_pem.write_to_path(str(certificate))
    return authority
