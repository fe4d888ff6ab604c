"""Running, timing and tabulating: what `ci/bench` measures with."""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Optional

RUN_TIMEOUT_S = 150


@dataclass
class Run:
    """One measured command: wall times and that of the CPUs in seconds, peak memory in KiB, events lost (None: the tool does not say), and for how
    long a CPU waited for the host of this machine."""

    walls: list[float]
    cpu: float
    peak_kib: int
    status: int
    stderr: str
    lost: Optional[int] = 0
    stolen_ms: int = 0

    @property
    def wall(self) -> float:
        return statistics.median(self.walls)


class Failed(Exception):
    """A command that did not do what was to be measured; its text says why."""


def stolen_ms() -> int:
    """For how long CPUs have waited while the host did something else (proc_stat(5), `steal`)."""
    ticks = int(Path("/proc/stat").read_text().split()[8])
    return ticks * 1000 // os.sysconf("SC_CLK_TCK")


class Bench:
    """The scratch folder, the compiled helpers and the stopwatch."""

    def __init__(self, scratch: Path, helpers: Path):
        self.scratch = scratch
        self.helpers = helpers

    def compile_helpers(self, sources: Path) -> None:
        for source in sorted(sources.glob("*.c")):
            subprocess.run(["cc", "-O2", "-o", self.helpers / source.stem, source], check=True)

    def helper(self, name: str) -> str:
        return str(self.helpers / name)

    def run(self, command: list[str], *, tracefs: bool = False, times: int = 1, cwd: Optional[Path] = None) -> Run:
        """Waits until no tracepoint is being let go, then times the command."""
        spawn = [self.helper("spawn"), "-s", "-n", str(times), *(["-t"] if tracefs else []), "--", *command]
        # A file, not a pipe: what a tool leaves behind to close its events may hold the descriptor open for longer.
        with (self.scratch / "stderr").open("w+") as stderr:
            before_ms = stolen_ms()
            try:
                done = subprocess.run(
                    spawn, stdout=subprocess.PIPE, stderr=stderr, cwd=cwd, timeout=RUN_TIMEOUT_S, check=False
                )
            except subprocess.TimeoutExpired:
                raise Failed(f"no end after {RUN_TIMEOUT_S} s") from None
            stderr.seek(0)
            text = stderr.read()
        if done.returncode != 0:
            raise Failed(text.strip() or f"status {done.returncode}")
        result = json.loads(done.stdout)
        walls = [ns / 1e9 for ns in result["wall_ns"]]
        stolen = stolen_ms() - before_ms
        return Run(walls, result["cpu_ns"] / 1e9, result["peak_kib"], result["status"], text, stolen_ms=stolen)


@dataclass
class Tool:
    """A column: how it runs a command, and how it says what it lost."""

    name: str
    command: Callable[[list[str]], list[str]]
    lost: Callable[[Run], Optional[int]] = lambda run: 0
    tracefs: bool = False
    slow: bool = False  # gets the smaller variant of a workload
    output: Optional[Path] = None  # removed after each run
    statuses: tuple[int, ...] = (0,)
    absent: Optional[str] = None  # why it cannot run here

    def measure(self, bench: Bench, workload: list[str], cwd: Path) -> Run:
        try:
            run = bench.run(self.command(workload), tracefs=self.tracefs, cwd=cwd)
            if run.status not in self.statuses:
                raise Failed(f"status {run.status}: {first_line(run.stderr)}")
            run.lost = self.lost(run)
            return run
        finally:
            if self.output:
                self.output.unlink(missing_ok=True)


@dataclass
class Cell:
    """What one tool did with one workload, over the rounds."""

    ratios: list[float] = field(default_factory=list)
    walls: list[float] = field(default_factory=list)
    losts: list[Optional[int]] = field(default_factory=list)
    peaks: list[int] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    failure: Optional[str] = None

    def text(self, native: bool) -> str:
        if self.failure:
            return "failed"
        if not self.walls:
            return "absent"
        if native:
            return seconds(statistics.median(self.walls))
        shown = ratio(statistics.median(self.ratios))
        if any(lost is None for lost in self.losts):
            return f"{shown} (lost ?)"
        worst = max(lost for lost in self.losts if lost is not None)
        return f"{shown} (lost {thousands(worst)})"


def perf_counts(bench: Bench, path: Path) -> dict[str, int]:
    """How many samples a perf.data has, and how many its records say are lost."""
    walked = subprocess.run([bench.helper("lost"), path], capture_output=True, text=True, check=False)
    if walked.returncode != 0:
        raise Failed(walked.stderr.strip())
    return json.loads(walked.stdout)


def first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0][:200] if lines else "it said nothing"


def seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 0.095 else f"{value * 1000:.2f} ms"


def ratio(value: float) -> str:
    return f"{value:.2f}" if value < 2 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def thousands(value: int) -> str:
    return str(value) if value < 1000 else f"{value / 1e3:.3g} k" if value < 999_500 else f"{value / 1e6:.3g} M"


def table(title: str, header: list[str], rows: list[list[str]], notes: list[str]) -> None:
    """Prints one Markdown table, its columns aligned."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    print(f"\n### {title}\n")
    for row in [header, ["-" * width for width in widths], *rows]:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
    for note in dict.fromkeys(notes):
        print(f"\n{note}")
    sys.stdout.flush()


def progress(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


def version_of(program: str, *arguments: str) -> str:
    """The version a peer gives, or that it is absent."""
    if not shutil.which(program):
        return f"{program} absent"
    said = subprocess.run([program, *arguments], capture_output=True, text=True, check=False).stdout
    number = re.search(r"\d+(\.\d+)+", said)
    return f"{program} {number.group(0) if number else '?'}"
