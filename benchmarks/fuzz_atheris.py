"""The same targets under atheris, whose inputs are guided by coverage (`pip install atheris`).

    python benchmarks/fuzz_atheris.py html -max_total_time=600

What follows the target's name goes to libFuzzer. New inputs that reach new code are kept in
fuzz-findings/<target>/corpus, what is wrong beside it. Optional: nothing else here needs atheris.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

with atheris.instrument_imports(include=["terrain.rules", "terrain.config", "protego", "tomllib"]):
    from tests.fuzz.targets import TARGETS


def main() -> None:
    """Hunt until libFuzzer has had enough; it ends the process itself."""
    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        sys.exit(f"usage: fuzz_atheris.py {{{','.join(TARGETS)}}} [libFuzzer's arguments]")
    target = TARGETS[sys.argv[1]]
    directory = Path("fuzz-findings") / target.name
    corpus = directory / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    words = directory / "words.dict"
    escaped = ("".join(f"\\x{byte:02x}" for byte in word) for word in target.words)
    words.write_text("".join(f'"{word}"\n' for word in escaped), encoding="ascii")
    arguments = [
        *(sys.argv[0], str(corpus), str(ROOT / "tests/fuzz/corpus" / target.name)),
        *(f"-dict={words}", f"-artifact_prefix={directory}/", f"-max_len={target.largest}"),
        *("-timeout=30", "-rss_limit_mb=2048", *sys.argv[2:]),
    ]
    atheris.Setup(arguments, target.check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
