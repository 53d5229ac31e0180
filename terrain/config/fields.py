"""The types that configuration fields are made of, each with what it allows."""

from __future__ import annotations

import re
import ssl
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from terrain.config.problems import show_value
from terrain.config.wording import LARGEST, Allowed, Unit
from terrain.rules.hosts import HostPattern
from terrain.rules.patterns import UrlPattern as Pattern

# RFC 9110 5.6.2: the product and its version in a User-Agent field are tokens.
_PRODUCT = "[A-Za-z0-9!#$%&'*+.^_`|~-]+"
# Visible ASCII only, so that nothing can end the header line. Parentheses, quotes and backslashes
# would end or escape the comment that the contacts stand in (RFC 9110 5.6.5).
_CONTACT_URL = r"(?i:https?)://(?![/?#])(?:(?![()\"\\<>])[!-~])+"
_CONTACT_EMAIL = r"(?:(?![()\"\\<>@,;:])[!-~])+@(?:(?![()\"\\<>@,;:])[!-~])+"
LONGEST_PATH = 4096
"""Characters; what Linux and macOS take at most. Looking up a longer one can take forever."""

_TRACKING_PARAMETER = r"[^\s*&=#]+\*?|\*"


def _text(pattern: str, words: str) -> tuple[AfterValidator, Allowed]:
    """Annotate a string that must match as a whole, with what that means in words."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"must be {words}")
        return text

    return AfterValidator(check), Allowed(words)


def _database_url(text: str) -> str:
    if text.startswith("postgres://"):
        raise ValueError("must start with postgresql://, not postgres://")
    if not re.match(r"(postgresql|sqlite)(\+[a-z0-9_]+)?://", text):
        raise ValueError("must start with postgresql:// or sqlite://")
    return text


def _domain(text: str) -> str:
    host = re.sub(r"^[a-z][a-z0-9+.-]*://", "", text, flags=re.IGNORECASE)
    host = re.split(r"[/?#]", host, maxsplit=1)[0].rpartition("@")[2]
    if host != text:
        remedy = f"; write {show_value(host)}" if host else ""
        raise ValueError(f"must be a host, not an address{remedy}")
    try:
        return HostPattern.parse(text).text
    except ValueError as error:
        raise ValueError(f"not a host pattern: {error}") from None


def _url_pattern(text: str) -> str:
    return Pattern.parse(text).text


def _path(value: object) -> object:
    if not isinstance(value, str):
        return value
    if not value:
        raise ValueError("must not be empty")
    if "\0" in value:
        raise ValueError("must not contain a null character")
    if len(value) > LONGEST_PATH:
        raise ValueError(f"must be at most {LONGEST_PATH} characters long")
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise ValueError("starts with ~ and there is no such home directory") from None


def _place_to_write(path: Path) -> Path:
    # Said now, because the summary is written after days of crawling.
    try:
        if path.is_dir():
            raise ValueError("is a directory; give the name of a file")
        if not path.parent.is_dir():
            raise ValueError(
                f"the directory {show_value(str(path.parent))} does not exist; create it first"
            )
    except OSError as error:
        raise ValueError(f"cannot be used: {error.strerror}") from None
    return path


def _certificates(path: Path) -> Path:
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            # A pipe or a device may never end.
            raise ValueError("is not a file")
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except ssl.SSLError:
        raise ValueError("holds no certificates in PEM form") from None
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    return path


Natural = Annotated[int, Field(ge=0, le=LARGEST)]
Positive = Annotated[int, Field(ge=1, le=LARGEST)]
Bytes = Annotated[int, Field(ge=1024, le=LARGEST), Unit("bytes")]
Milliseconds = Annotated[int, Field(ge=0, le=LARGEST), Unit("milliseconds")]
PositiveMilliseconds = Annotated[int, Field(ge=1, le=LARGEST), Unit("milliseconds")]
PoliteMilliseconds = Annotated[int, Field(ge=100, le=LARGEST), Unit("milliseconds")]
Token = Annotated[
    str, *_text(_PRODUCT, "one word of letters, digits and !#$%&'*+-.^_`|~, without spaces")
]
ContactUrl = Annotated[
    str,
    *_text(_CONTACT_URL, "an http:// or https:// address without spaces, quotes or parentheses"),
]
ContactEmail = Annotated[
    str, *_text(_CONTACT_EMAIL, "an e-mail address such as crawler@example.com")
]
TrackingParameter = Annotated[
    str, *_text(_TRACKING_PARAMETER, "a query parameter's name, with * only at the end")
]
DatabaseUrl = Annotated[
    str, AfterValidator(_database_url), Allowed("a postgresql:// or sqlite:// address")
]
Domain = Annotated[
    str,
    AfterValidator(_domain),
    Allowed("a host such as example.com, or *.example.com for it and all below"),
]
UrlPattern = Annotated[
    str,
    AfterValidator(_url_pattern),
    Allowed("host/path?query with * for anything, a host alone, or re: and a regular expression"),
]
OutputPath = Annotated[Path, BeforeValidator(_path), AfterValidator(_place_to_write)]
CertificateFile = Annotated[Path, BeforeValidator(_path), AfterValidator(_certificates)]
