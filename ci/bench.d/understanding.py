"""What it takes to understand a record once it was drained, in instructions: the same on a busy machine."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Optional

from measure import Bench, Failed, first_line, perf_counts, progress, table


def instructions(bench: Bench, command: list[str]) -> int:
    """As callgrind counts them."""
    counted = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={bench.scratch / 'callgrind'}", *command]
    done = subprocess.run(counted, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    said = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not said:
        raise Failed(f"{command[1]}: status {done.returncode}: {first_line(done.stderr)}")
    return int(said.group(1))


def understanding(bench: Bench, harness: Optional[Path], quick: bool) -> None:
    """Recordings of the harness, read as each of its forms: the slope between two of them, so that no start counts."""
    title = "Instructions to understand a record of a recording"
    if not harness or not shutil.which("valgrind"):
        print(f"\n{title}: not measured: {'valgrind is not installed' if harness else 'harness is not built'}")
        return
    progress("understanding")
    few, many = (1_000, 6_000) if quick else (2_000, 42_000)
    load, data = bench.helper("load"), bench.scratch / "understanding.data"
    workloads = {
        "getppid": lambda n: [load, "getppid", str(n)],
        "dd bs=1": lambda n: ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "status=none", f"count={n // 2}"],
        "faccessat": lambda n: [load, "access", str(n)],
    }
    program = str(harness)
    forms = {
        "trace": [program, "trace", "-o", "/dev/null", "-i", str(data)],
        "trace --format json": [program, "trace", "--format", "json", "-o", "/dev/null", "-i", str(data)],
        "script": [program, "script", "-i", str(data)],
    }
    lines, notes = [], []
    for workload, command in workloads.items():
        try:
            samples, counts = [], []
            for n in (few, many):
                saved = bench.run([program, "trace", "--save", str(data), "-o", "/dev/null", "--", *command(n)])
                if saved.status != 0:
                    raise Failed(f"harness trace --save: status {saved.status}: {first_line(saved.stderr)}")
                samples.append(perf_counts(bench, data)["samples"])
                counts.append([instructions(bench, form) for form in forms.values()])
                data.unlink()
            more = samples[1] - samples[0]
            lines.append([workload, *(f"{(high - low) / more:.0f}" for low, high in zip(*counts))])
        except Failed as failure:
            notes.append(f"{workload}: not measured: {failure}")
    table(title, ["workload", *forms], lines, notes)
