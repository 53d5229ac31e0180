"""TOML: an input is the file, and behind a NUL the environment, a variable on each line."""

from terrain.config import parse_config
from terrain.config.keys import known_keys
from terrain.config.model import Config
from terrain.errors import ConfigError
from tests.fuzz.target import Target

LONGEST_PROBLEM = 1000
"""Characters of the longest line that may be said about a problem."""

KEYS = tuple(".".join(path).encode() for path in known_keys(Config))
WORDS = (
    *KEYS,
    *(b"\n[%s]\n" % key for key in KEYS if b"." not in key),
    *(b"\n[[quality]]\n", b"\n[[blacklist]]\n", b"\n[[stub]]\n", b"\n[[", b"]]\n", b"[", b"]"),
    *(b"\ndomain = ", b"\nseeds = ", b"\nmax-depth = ", b"\nown = ", b"\nresolve = ", b" = ", b"="),
    *(b'"example.com"', b'"*.example.com"', b'["https://example.com/"]', b'"https://', b'"*."'),
    *(b"true", b"false", b"0", b"1", b"-1", b"500", b"1e400", b"nan", b"0xffff", b"1979-05-27"),
    *(b"9" * 5000, b"[]", b"{}", b"{ a = 1 }", b'{ "*.test" = "127.0.0.1:8443" }', b"{", b"}"),
    *(b'"""', b"'''", b'"', b"'", b"\\u0000", b"\\ud800", b"\\", b"#", b",", b".", b"\n", b"\r\n"),
    *(b'"respect"', b'"always"', b'"~nobody"', b'"./a/b"', b'"postgresql://me:secret@db/a"', b"@"),
    *(b"\0", b"\0TERRAIN_CRAWLER__MAX_DEPTH=", b"\nTERRAIN_QUALITY=[]", b"\nTERRAIN_X=1", b"a.a."),
    *(b"\xc3\xbc", b"\xe2\x80\xae", b"\x1b[31m", b"\xff", b"\xef\xbb\xbf", b"://", b"user:secret@"),
)
ENTRY = '\n[[quality]]\ndomain = "example.com"\nseeds = ["https://example.com/"]\n'


def check(data: bytes) -> None:
    file, _, environment = data.partition(b"\0")
    text = file.decode("utf-8", "replace")
    lines = environment.decode("utf-8", "surrogateescape").replace("\0", "").split("\n")
    variables = dict(line.split("=", 1) for line in lines if "=" in line[1:])
    for toml in (text, text + ENTRY):
        _load(toml, variables)


def _load(text: str, variables: dict[str, str]) -> None:
    try:
        config = parse_config(text, env=variables)
    except ConfigError as error:
        problems = error.problems
    else:
        _usable(config)
        return
    assert problems
    for line in problems:
        assert line.isprintable()
        assert len(line) <= LONGEST_PROBLEM
        assert "://user:secret@" not in line
        assert "://me:secret@" not in line
        assert line.startswith(("config.toml:", "environment: "))


def _usable(config: Config) -> None:
    """Whatever was accepted can be worked with."""
    rules = config.url_rules()
    for entry in config.quality:
        for seed in entry.seeds:
            address = rules.address(seed)
            assert address is not None
            assert config.host_rules().origins(address.host)
            assert config.host_terms(address.host).delay >= 0
            config.network.resolve_target(address.host)
    assert config.config_hash != config.terrain_hash
    assert all(line.isprintable() for line in config.warnings)
    assert config.user_agent.header.isprintable()


TARGET = Target(name="toml", check=check, words=WORDS, largest=64 * 1024, seconds=3.0, megabytes=64)
