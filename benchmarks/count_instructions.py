"""Instructions that a page costs, counted by valgrind: the same however busy the machine is.

    python benchmarks/count_instructions.py [--pages 100 600] [TREE ...]

Times on a shared machine differ by a third from one minute to the next, so a change that saves a
twentieth cannot be timed. Here two sites are crawled, a small one and a larger one; what the larger
took more is the price of its pages, the rest that of start and end. All on one core, so that
Terrain reads pages itself and nothing is left out. TREE is a checkout to count, by default this:

    git worktree add /tmp/before HEAD~1 && python benchmarks/count_instructions.py /tmp/before .

What it does not see: the kernel, and what an instruction takes when its data are not in the cache.
"""

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import sites
from bench_crawl import bare_command, terrain_command

Command = Callable[[str, int, Path], list[str]]

VALGRIND = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]


def counted(command: list[str], tree: Path) -> int:
    """Return the instructions of a command, run with the modules of that checkout."""
    core = str(min(os.sched_getaffinity(0)))
    done = subprocess.run(
        ["taskset", "-c", core, *VALGRIND, *command],
        env={**os.environ, "PYTHONPATH": str(tree), "PYTHONHASHSEED": "0"},
        cwd=tree,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode or found is None:
        raise SystemExit(f"{command[1]} ended with {done.returncode}: {done.stderr[-500:]}")
    return int(found[1].replace(",", ""))


def count(name: str, command: Command, tree: Path, pages: list[int], work: Path) -> None:
    totals = []
    # The modules are compiled once, outside the count.
    for number in [min(pages), *pages]:
        root = work / f"site-{number}"
        home = sites.synthetic(root, number)
        directory = work / "run"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        with sites.nginx(root, work / "nginx") as port:
            totals.append(counted(command(home, port, directory), tree))
    small, large = totals[1:]
    each = (large - small) / (pages[1] - pages[0])
    print(f"| {name} | {each / 1e6:.2f} | {(small - pages[0] * each) / 1e9:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", nargs="*", type=Path, default=[Path()], metavar="TREE")
    parser.add_argument("--pages", nargs=2, type=int, default=[100, 600], metavar="N")
    options = parser.parse_args()
    for program in ("nginx", "valgrind"):
        if shutil.which(program) is None:
            raise SystemExit(f"{program} is missing: run scripts/install_bench_tools.sh")
    with tempfile.TemporaryDirectory(prefix="terrain-instructions-") as place:
        work = Path(place)
        work.chmod(0o755)
        print("| crawler | millions per page | start and end, thousand millions |")
        print("|---|--:|--:|", flush=True)
        here = Path().absolute()
        count("bare loop", bare_command, here, options.pages, work)
        for tree in options.trees:
            name = f"terrain ({tree})" if len(options.trees) > 1 else "terrain"
            count(name, terrain_command, tree.absolute(), options.pages, work)


if __name__ == "__main__":
    main()
