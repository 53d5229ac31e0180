"""Ways to use the command wrongly: what is typed, what is lying around, what comes back."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

VALID = """
[crawler]
minimum-time-on-page = 100
[output]
database-path = "terrain.db"
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
[network]
resolve = { "*" = "127.0.0.1:9" }
"""

Prepare = Callable[[Path], None]


@dataclass(frozen=True)
class Mistake:
    """One way to use it wrongly."""

    what: str
    arguments: str
    """As typed after `terrain`."""
    code: int
    says: str
    """The one line that comes back; `{}` is the directory."""
    prepare: Prepare = field(default=lambda _: None)
    env: dict[str, str] = field(default_factory=dict)


def wrote(name: str, text: str | bytes) -> Prepare:
    """Lay a file there."""
    data = text.encode() if isinstance(text, str) else text
    return lambda directory: (directory / name).write_bytes(data) and None


def config(change: str = "", instead_of: str = "") -> Prepare:
    """Lay a configuration there: a valid one, with one thing replaced or added."""
    assert not instead_of or instead_of in VALID
    text = VALID.replace(instead_of, change, 1) if instead_of else VALID + change
    return wrote("c.toml", text)


def both(*prepares: Prepare) -> Prepare:
    """Lay several things there."""

    def prepare(directory: Path) -> None:
        for each in prepares:
            each(directory)

    return prepare


def a_directory(name: str) -> Prepare:
    """Lay a directory there."""
    return lambda directory: (directory / name).mkdir()


def database_of_another_program(directory: Path) -> None:
    """Lay somebody's notes there."""
    with closing(sqlite3.connect(directory / "terrain.db")) as database:
        database.execute("CREATE TABLE notes (text)")


def database_of_a_newer_terrain(directory: Path) -> None:
    """Lay a database there whose schema this program does not know."""
    from terrain.config import load_config
    from terrain.store import Policy, Store

    settings = load_config(directory / "c.toml", {})
    store = Store(directory / "terrain.db", Policy.from_config(settings))
    store.open_run()
    store.close_run(completed=True)
    store.close()
    with closing(sqlite3.connect(directory / "terrain.db")) as database, database:
        database.execute("UPDATE alembic_version SET version_num = '9999_the_future'")


NO_DATABASE = "is not a SQLite database or is damaged (file is not a database); "
RESTORE = "name another output.database-path or restore the file from a copy"
STRANGER = (
    "terrain.db: is a database of another program (it has the tables notes); "
    "name another output.database-path"
)

COMMAND_LINE = [
    Mistake("an unknown command", "craw c.toml", 2,
            "terrain: no such command 'craw'. Did you mean 'crawl'? (see terrain --help)"),
    Mistake("an unknown option", "crawl --frsh c.toml", 2,
            "terrain crawl: no such option '--frsh'. Did you mean '--fresh'? "
            "(see terrain crawl --help)"),
    Mistake("no file named", "crawl", 2,
            "terrain crawl: missing argument 'CONFIG' (see terrain crawl --help)"),
    Mistake("two files named", "check a.toml b.toml", 2,
            "terrain check: got unexpected extra argument (b.toml) (see terrain check --help)"),
    Mistake("two starts at once", "crawl c.toml --fresh --resume", 2,
            "terrain crawl: --fresh and --resume exclude each other; leave one out "
            "(see terrain crawl --help)"),
    Mistake("loud and quiet", "crawl c.toml -q -v", 2,
            "terrain crawl: --quiet and --verbose exclude each other; leave one out "
            "(see terrain crawl --help)"),
    Mistake("a demo loud and quiet", "demo -vq", 2,
            "terrain demo: --quiet and --verbose exclude each other; leave one out "
            "(see terrain demo --help)"),
    Mistake("an interval in words", "crawl c.toml --interval often", 2,
            "terrain crawl: invalid value for '--interval': 'often' is not a valid float range "
            "(see terrain crawl --help)"),
    Mistake("an interval of nothing", "crawl c.toml --interval 0", 2,
            "terrain crawl: invalid value for '--interval': 0.0 is not in the range x>=0.1 "
            "(see terrain crawl --help)"),
    Mistake("a shell without completion", "completion csh", 2,
            "terrain completion: invalid value for 'SHELL': 'csh' is not one of "
            "'bash', 'zsh', 'fish' (see terrain completion --help)"),
    Mistake("an option without its value", "init c.toml --domain", 2,
            "terrain init: option '--domain' requires an argument (see terrain init --help)"),
]  # fmt: skip

FILES = [
    Mistake("a missing file", "crawl nowhere.toml", 2, "nowhere.toml: there is no such file"),
    Mistake("a directory instead of a file", "crawl here", 2,
            "here: is a directory; give the name of a TOML file", a_directory("here")),
    Mistake("a path through a file", "stats c.toml/inner.toml", 2,
            "c.toml/inner.toml: cannot be read: Not a directory", config()),
    Mistake("not TOML", "crawl c.toml", 2,
            "c.toml:1:11: not valid TOML: expected '=' after a key in a key/value pair",
            wrote("c.toml", "max depth = 3\n".replace("max depth", "max-depth x"))),
    Mistake("an empty file", "check c.toml", 2,
            "c.toml: is empty; start from examples/starter.toml", wrote("c.toml", "")),
    Mistake("not text", "check c.toml", 2,
            "c.toml:1: byte 0xff is not UTF-8; save the file as UTF-8",
            wrote("c.toml", b"\xff\xfe\x00")),
    Mistake("a film", "check c.toml", 2,
            "c.toml: is larger than 4 MiB; give the name of a TOML file",
            wrote("c.toml", b"#" * (4 * 1024 * 1024 + 1))),
]  # fmt: skip

KEYS = [
    Mistake("a misspelt key", "crawl c.toml", 2,
            'c.toml:3: crawler.max-depht = 2: unknown key; did you mean "max-depth"?',
            config("max-depht = 2", "minimum-time-on-page = 100")),
    Mistake("a port that does not exist", "crawl c.toml", 2,
            'c.toml:10: network.resolve."*" = "127.0.0.1:99999": must be "ip", "ip:port" or '
            '"host:port", the port from 1 to 65535, IPv6 in brackets',
            config("127.0.0.1:99999", "127.0.0.1:9")),
    Mistake("a seed that is off its domain", "crawl c.toml", 2,
            'c.toml:8: quality[0].seeds[0] = "https://b.test/": is not on the domain "a.test"; '
            "give it a [[quality]] entry of its own",
            config("https://b.test/", "https://a.test/")),
    Mistake("a delay that is not polite", "crawl c.toml", 2,
            "c.toml:3: crawler.minimum-time-on-page = 5: must be a whole number of milliseconds, "
            "100 or more", config("= 5", "= 100")),
    Mistake("an environment that is wrong", "crawl c.toml", 2,
            'environment: TERRAIN_CRAWLER__MAX_DEPTH = "deep": must be a whole number, 0 or more',
            config(), {"TERRAIN_CRAWLER__MAX_DEPTH": "deep"}),
    Mistake("a summary in a directory that is not there", "crawl c.toml", 2,
            'c.toml:5: output.summary-path = "no/summary.md": the directory "no" does not exist; '
            "create it first",
            config('summary-path = "no/summary.md"', 'database-path = "terrain.db"')),
    Mistake("a directory as database", "crawl c.toml", 2,
            'c.toml:5: output.database-path = ".": is a directory; give the name of a file',
            config('database-path = "."', 'database-path = "terrain.db"')),
    Mistake("an authority that is not there", "crawl c.toml", 2,
            'c.toml:11: network.ca-file = "ca.pem": cannot be read: No such file or directory',
            config('ca-file = "ca.pem"\n')),
]  # fmt: skip

INIT_AND_DEMO = [
    Mistake("init over a file", "init c.toml --domain a.test", 2,
            "c.toml: exists already; --force overwrites it", config()),
    Mistake("init with an address for a domain", "init c.toml --domain https://a.test/x", 2,
            '--domain "https://a.test/x": not a host pattern'),
    Mistake("init with a seed that is none", "init c.toml --seed a.test", 2,
            '--seed "a.test": is not an https:// address'),
    Mistake("init with an address that is no e-mail", "init c.toml --domain a.test --email me", 2,
            'user-agent.contact-email = "me": must be an e-mail address such as '
            "crawler@example.com"),
    Mistake("init in a directory that is not there", "init no/c.toml --domain a.test", 2,
            "no/c.toml: cannot be written: No such file or directory"),
    Mistake("a demo in a file", "demo --dir c.toml", 2,
            "--dir c.toml: cannot be used: File exists", config()),
    Mistake("a demo over somebody's configuration", "demo --dir .", 2,
            "config.toml: is not the demo's; name another directory with --dir",
            wrote("config.toml", VALID)),
]  # fmt: skip

DATABASES = [
    Mistake("stats before the first crawl", "stats c.toml", 1,
            "terrain.db: there is no such file; run a crawl first, or check output.database-path",
            config()),
    Mistake("a summary of another program's database", "summary c.toml", 1, STRANGER,
            both(config(), database_of_another_program)),
    Mistake("a check beside another program's database", "check c.toml", 1, STRANGER,
            both(config(), database_of_another_program)),
    Mistake("a dry run to resume what is not there", "crawl c.toml --dry-run --resume", 1,
            "there is no unfinished run to resume; leave --resume out", config()),
    Mistake("stats of a file that is no database", "stats c.toml", 1,
            "terrain.db: " + NO_DATABASE + RESTORE,
            both(config(), wrote("terrain.db", b"no database, " * 200))),
    Mistake("stats of a newer terrain's database", "stats c.toml", 1,
            "terrain.db: was written by a newer terrain (schema 9999_the_future); "
            "upgrade terrain to read it", both(config(), database_of_a_newer_terrain)),
]  # fmt: skip

CRAWLS = [
    Mistake("a crawl into another program's database", "crawl c.toml -q", 1, STRANGER,
            both(config(), database_of_another_program)),
    Mistake("a crawl into a file that is no database", "crawl c.toml", 1,
            "terrain.db: " + NO_DATABASE + RESTORE,
            both(config(), wrote("terrain.db", b"no database, " * 200))),
    Mistake("a crawl into a newer terrain's database", "crawl c.toml", 1,
            "was written by a newer terrain (schema 9999_the_future); upgrade terrain, or name "
            "another output.database-path", both(config(), database_of_a_newer_terrain)),
    Mistake("a crawl to where nobody may write", "crawl c.toml", 1,
            "/proc/terrain.db: cannot be written (No such file or directory: "
            "/proc/terrain.db.lock); check that the directory exists and its permissions",
            config('"/proc/terrain.db"', '"terrain.db"')),
    Mistake("a crawl to resume what is not there", "crawl c.toml --resume", 1,
            "there is no unfinished run to resume; leave --resume out", config()),
]  # fmt: skip
"""These get as far as the crawl itself, so each needs a process of its own."""
