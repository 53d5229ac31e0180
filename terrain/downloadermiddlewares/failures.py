"""What an exception of the download path means, in the words of the rules."""

from __future__ import annotations

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)

from terrain.downloadhandlers.errors import PrivateAddressError, TlsError
from terrain.rules.retries import FailureKind

_KINDS: tuple[tuple[type[BaseException], FailureKind], ...] = (
    (PrivateAddressError, FailureKind.PRIVATE_ADDRESS),
    (TlsError, FailureKind.TLS),
    (DownloadTimeoutError, FailureKind.TIMEOUT),
    (CannotResolveHostError, FailureKind.DNS),
    (DownloadConnectionRefusedError, FailureKind.REFUSED),
    (DownloadCancelledError, FailureKind.TOO_LARGE),
    (ResponseDataLossError, FailureKind.BROKEN_TRANSFER),
    (UnsupportedURLSchemeError, FailureKind.NO_HTTPS),
    (DownloadFailedError, FailureKind.BROKEN_TRANSFER),
    (TimeoutError, FailureKind.TIMEOUT),
)


def kind_of(exception: BaseException) -> FailureKind:
    """Return the kind of a failure; what nobody foresaw is OTHER."""
    for exception_class, kind in _KINDS:
        if isinstance(exception, exception_class):
            return kind
    if isinstance(exception, IgnoreRequest):
        # Scrapy's decompression refuses a body that grows beyond DOWNLOAD_MAXSIZE this way.
        return FailureKind.BOMB if "DOWNLOAD_MAXSIZE" in str(exception) else FailureKind.IGNORED
    return FailureKind.OTHER
