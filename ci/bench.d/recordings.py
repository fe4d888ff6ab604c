"""What perf.data costs: read as text, written, and kept in rings that are overwritten."""

import os
import shutil
import statistics
import subprocess
from pathlib import Path
from typing import Optional

from measure import (
    Bench, Failed, Run, first_line, perf_counts, progress, ratio, seconds, table, thousands,
)

RAW = "raw_syscalls:sys_enter,raw_syscalls:sys_exit"
ONE = "raw_syscalls:sys_enter"
# As for the oracles: another perf than the machine's own may be compared with.
PERF = os.environ.get("HARNESS_PERF", "perf")


def missing(title: str, harness: Optional[Path]) -> bool:
    """Says so where there is nothing to compare."""
    if harness and shutil.which(PERF):
        return False
    print(f"\n{title}: not measured: {'perf is not installed' if harness else 'harness is not built'}")
    return True


def crates(scratch: Path) -> tuple[dict[str, Path], list[str]]:
    """The programs made with the crates that read perf.data, which are no crates of the product."""
    manifest = Path(__file__).parent / "crates" / "Cargo.toml"
    built = subprocess.run(["cargo", "build", "-q", "--release", "--locked", "--manifest-path", manifest, "--target-dir", scratch / "crates"],
                           capture_output=True, text=True, check=False)
    if built.returncode != 0:
        return {}, [f"The crates: absent: {first_line(built.stderr)}"]
    release = scratch / "crates" / "release"
    return {"linux-perf-data": release / "linux_perf_data", "tracepoint_perf": release / "tracepoint_perf"}, []


def script(bench: Bench, harness: Optional[Path], calls: int, rounds: int) -> None:
    """A file of perf's as text, by harness, by perf script and by the crates that read such files, in turns. It is to take a quarter of
    perf's time and no more than any crate's, and no more memory for more records."""
    title = f"perf.data ({RAW}) as text"
    if missing(title, harness):
        return
    progress("script")
    programs, notes = crates(bench.helpers)
    lines, peaks = [], []
    for n in (calls // 20, calls // 2):
        file = bench.scratch / "script.data"
        # Rings of one size; perf is to come to its turn before one is full, as a file with less in it is another.
        record = [PERF, "record", "-q", "-r", "1", "-m", "4M", "-o", str(file), "-e", RAW, "--", bench.helper("load"), "getppid", str(n)]
        recorded = bench.run(record, tracefs=True)
        if recorded.status != 0:
            notes.append(f"perf record: status {recorded.status}: {first_line(recorded.stderr)}")
            continue
        samples = perf_counts(bench, file)["samples"]
        reads = {
            "perf script": [PERF, "script", "-i", str(file)],
            "harness script": [str(harness), "script", "-i", str(file)],
            "harness script --format json": [str(harness), "script", "--format", "json", "-i", str(file)],
            **{name: [str(program), str(file)] for name, program in programs.items()},
        }
        runs: dict[str, list[Run]] = {name: [] for name in reads}
        for _ in range(rounds):
            for name, command in reads.items():
                runs[name].append(bench.run(command))
        for name, of_tool in runs.items():
            pairs = list(zip(runs["perf script"], of_tool))
            wall, cpu = (statistics.median(times) for times in zip(*((run.wall, run.cpu) for run in of_tool)))
            peak = max(run.peak_kib for run in of_tool)
            lines.append([
                thousands(samples), name, seconds(wall), f"{statistics.median(perf.wall / own.wall for perf, own in pairs):.1f}x",
                seconds(cpu), f"{statistics.median(perf.cpu / own.cpu for perf, own in pairs):.1f}x",
                f"{cpu / samples * 1e9:.0f} ns", f"{peak / 1024:.1f} MiB",
            ])
            notes.extend(f"{name}: status {run.status}: {first_line(run.stderr)}" for run in of_tool[:1] if run.status != 0)
            if name == "harness script":
                peaks.append((samples, peak))
        file.unlink()
    if len(peaks) == 2:
        (few, low), (many, high) = peaks
        notes.append(f"harness script: {many / few:.1f} times the records, {high / low:.2f} times the memory, in rings of one size.")
    notes.append("The crates: linux-perf-data has no formats, its program knows where the fields are; tracepoint_perf has no `print fmt`, "
                 "names of tasks, or strings.")
    table(f"{title}, median of {rounds}",
          ["samples", "", "wall", "perf script / it", "CPUs", "perf script / it", "a sample", "peak"], lines, notes)


def recorded(bench: Bench, title: str, commands: dict[str, list[str]], calls: int, rounds: int, statuses: tuple[int, ...]) -> None:
    """What an event costs the workload in each of these: the workload's own time over the untraced one's, so that no tool's start or end
    counts, and what the tool uses of the CPUs in all."""
    folder, own_time = bench.scratch / "recorded", bench.scratch / "own-time"
    took: dict[str, list[float]] = {name: [] for name in commands}
    cpus: dict[str, list[float]] = {name: [] for name in commands}
    counts: dict[str, list[tuple[int, int]]] = {name: [] for name in commands}
    try:
        for _ in range(rounds):
            for name, tracing in commands.items():
                folder.mkdir()
                options = [*tracing, "-o", str(folder / "data"), "--"] if tracing else []
                run = bench.run([*options, bench.helper("load"), "getppid", str(calls), str(own_time)], tracefs=True)
                if run.status not in statuses:
                    raise Failed(f"{name}: status {run.status}: {first_line(run.stderr)}")
                took[name].append(int(own_time.read_text()) / calls)
                cpus[name].append(run.cpu / calls * 1e9)
                files = [perf_counts(bench, file) for file in sorted(folder.iterdir())]
                counts[name].append((sum(file["lost"] for file in files), sum(file["samples"] for file in files)))
                shutil.rmtree(folder)
    except Failed as failure:
        print(f"\n{title}: not measured: {failure}")
        return
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        own_time.unlink(missing_ok=True)
    lines = []
    for name, of_tool in took.items():
        pairs = list(zip(of_tool, took["native"]))
        over, slower = statistics.median(own - native for own, native in pairs), statistics.median(own / native for own, native in pairs)
        lost, kept = zip(*counts[name])
        ends = [f"{over:.0f} ns", thousands(max(lost)), thousands(min(kept))] if commands[name] else ["", "", ""]
        lines.append([name, f"{statistics.median(of_tool):.0f} ns", ratio(slower), f"{statistics.median(cpus[name]):.0f} ns", *ends])
    table(f"{title}: {thousands(calls)} getppid, median of {rounds}",
          ["", "a call takes", "ratio to native", "CPUs, of all", "an event", "lost", "kept"], lines, [])


def record(bench: Bench, harness: Optional[Path], calls: int, rounds: int) -> None:
    """Recording into a file: each with its default rings, and with large ones. A recording that lost something has a
    status of its own."""
    title = f"Recording {ONE}"
    if missing(title, harness):
        return
    progress("record")
    ours, perfs = [str(harness), "record", "-e", ONE], [PERF, "record", "-q", "-e", ONE]
    recorded(bench, title, {
        "native": [], "harness record": ours, "perf record": perfs, "harness record -m 8M": [*ours, "-m", "8M"],
        "perf record -m 8M": [*perfs, "-m", "8M"],
    }, calls // 2, rounds, (0, 125))


def flight(bench: Bench, harness: Optional[Path], calls: int, rounds: int) -> None:
    """Rings that are overwritten, and written to a file when the command has ended."""
    title = f"The flight recorder, {ONE}"
    if missing(title, harness):
        return
    progress("flight")
    options = ["--overwrite", "--switch-output", "-m", "1M", "-e", ONE]
    recorded(bench, title, {
        "native": [], "harness record --overwrite": [str(harness), "record", *options],
        "perf record --overwrite": [PERF, "record", "-q", *options],
    }, calls // 2, rounds, (0,))
