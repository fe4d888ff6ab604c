"""What is run and traced: the workloads of `ci/bench` and of `ci/campaign`, the load beside them, and how the harness says its losses."""

import argparse
import json
import os
import re
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Optional

from measure import Bench, Failed, Run, first_line, thousands


@dataclass
class Row:
    """A workload, and the smaller variant for the tools that would take minutes."""

    name: str
    title: str
    full: list[str]
    small: Optional[list[str]] = None
    small_title: str = ""


@dataclass
class Scale:
    """How much is done: everything that `--quick` makes smaller."""

    rounds: int
    seconds_per_row: float
    calls: int
    few_calls: int
    git_runs: int
    spawns: int
    scenarios: int
    forks: int
    peak_calls: int

    @staticmethod
    def chosen(options: argparse.Namespace) -> "Scale":
        if options.quick:
            return Scale(options.rounds or 1, 5, 100_000, 10_000, 2, 100, 50, 50, 500_000)
        per_row = float("inf") if options.rounds else 60
        return Scale(options.rounds or 3, per_row, 2_000_000, 100_000, 10, 1000, 200, 200, 5_000_000)


def harness_lost(run: Run) -> Optional[int]:
    """The text form says how many records were lost in its heading for people alone."""
    if run.status != 125:
        return 0
    said = re.search(r"the trace is incomplete: (\d+) records lost", run.stderr)
    if not said:
        raise Failed(f"status 125: {first_line(run.stderr)}")
    return int(said.group(1))


def json_lost(path: Path) -> int:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 4096))
        summary = json.loads(file.read().splitlines()[-1])
    if summary.get("type") != "summary":
        raise Failed("the last line is not the summary")
    return summary["lost"]


def generated_repository(scratch: Path, files: int) -> Path:
    """A git repository of its own, with the user's configuration out of the picture."""
    repository = scratch / "repository"
    for number in range(files):
        folder = repository / f"d{number % 100:02}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"file{number}").write_text(f"{number}\n")
    os.environ.update(
        GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1", GIT_AUTHOR_NAME="bench", GIT_AUTHOR_EMAIL="bench@localhost",
        GIT_COMMITTER_NAME="bench", GIT_COMMITTER_EMAIL="bench@localhost",
    )
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "generated"]):
        subprocess.run(["git", *command], cwd=repository, check=True, stdout=subprocess.DEVNULL)
    return repository


def rows(bench: Bench, scale: Scale, quick: bool) -> list[Row]:
    load, n, few = bench.helper("load"), scale.calls, scale.few_calls
    found = [Path("/usr/share/doc"), Path("/usr/share"), Path("/usr/lib")]
    small_tree = str(next((path for path in found if path.is_dir()), Path("/usr")))
    dd = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "status=none"]

    def statuses(times: int) -> list[str]:
        return ["sh", "-c", f"i=0; while [ $i -lt {times} ]; do git status; i=$((i+1)); done"]

    return [
        Row("getppid", f"{thousands(n)} getppid", [load, "getppid", str(n)], [load, "getppid", str(few)], thousands(few)),
        Row("find", f"find {small_tree if quick else '/usr'}", ["find", small_tree if quick else "/usr"],
            ["find", small_tree], small_tree),
        Row("git", f"git status x{scale.git_runs}", statuses(scale.git_runs), statuses(1), "x1"),
        Row("fork-exec", f"{scale.spawns} fork+exec", [load, "fork-exec", str(scale.spawns)]),
        Row("dd", f"dd bs=1, {thousands(n // 4)} blocks", [*dd, f"count={n // 4}"], [*dd, f"count={few // 4}"],
            thousands(few // 4)),
    ]


@contextmanager
def busy_loops(bench: Bench, count: int) -> Iterator[None]:
    hogs = [subprocess.Popen([bench.helper("load"), "busy"]) for _ in range(count)]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def scratch_parent() -> Optional[str]:
    """Memory-backed where the machine has 4 GiB of it to spare: the disk is not what is measured."""
    shared = Path("/dev/shm")
    return str(shared) if shared.is_dir() and shutil.disk_usage(shared).free > 4 << 30 else None
