"""Whatever the file and the environment hold: a Config, or a ConfigError of single lines."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from terrain.config import parse_config
from terrain.config.environment import variable_name
from terrain.config.keys import known_keys
from terrain.config.model import Config
from terrain.errors import ConfigError

PATHS = list(known_keys(Config))
ENTRY = '[[quality]]\ndomain = "example.com"\nseeds = ["https://example.com/"]\n'


def load(text: str, env: dict[str, str]) -> None:
    try:
        parse_config(text, env=env)
    except ConfigError as error:
        lines = error.problems
    else:
        return
    assert lines
    for line in lines:
        assert line.isprintable()
        assert line.startswith(("config.toml:", "environment: TERRAIN_"))


texts = st.text(st.characters(codec="utf-8"), max_size=20)
odd = st.sampled_from(
    ["-1", "1e400", "nan", f"0x{'f' * 5000}", "1979-05-27", '"\\u0000\\u001b[31m\\u202e"', "[[[]]]",
     "{ a.b = 1 }", '"~"', '["https://[::1"]', "[{ domain = 1, seeds = {} }]", '"*."', '"."']
)  # fmt: skip
# A busy machine is no mistake; what one input may cost is held by tests/fuzz, in CPU time.
patient = settings(deadline=None)
dotted_keys = st.sampled_from(PATHS).map(".".join)


@patient
@given(texts)
def test_any_text(text):
    load(text, {})


@patient
@given(st.dictionaries(dotted_keys, odd, max_size=5))
def test_any_value_for_any_key(pairs):
    lines = [f"{key} = {value}" for key, value in pairs.items()]
    load("\n".join([*lines, ENTRY]), {})


@patient
@given(st.dictionaries(st.sampled_from(PATHS).map(variable_name), texts | odd, max_size=5))
def test_any_environment(env):
    load(ENTRY, env)


@patient
@given(st.lists(texts, min_size=1, max_size=3), texts)
def test_any_seeds_and_domain(seeds, domain):
    addresses = ", ".join(quoted(f"https://{seed}") for seed in seeds)
    load(f"[[quality]]\ndomain = {quoted(domain)}\nseeds = [{addresses}]\n", {})


def quoted(text: str) -> str:
    return '"' + "".join(f"\\U{ord(char):08x}" for char in text) + '"'
