"""Ways to fail that Scrapy's own exceptions do not tell apart."""

from scrapy.exceptions import DownloadFailedError


class PrivateAddressError(DownloadFailedError):
    """The host leads to an address that must not be asked (design 6)."""


class TlsError(DownloadFailedError):
    """No handshake, or a certificate that does not hold."""
