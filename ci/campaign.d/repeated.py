"""The scenarios of the repository, repeated: idle, beside busy loops, under memory pressure, throttled, on other kernels."""

import re
import subprocess
from contextlib import contextmanager
from typing import Iterator

from groups import Group
from lab import FAILURE, INCOMPLETE, ROOT, Lab, Row, Step, needs
from workloads import busy_loops

SHARDS = 12
REPEAT = 5
# Of memory, for a harness and its workloads, beside a file that is read again and again; and what the file has.
MEMORY = 320 << 20
FILE = 1 << 30
# Of 100 ms on both CPUs together.
QUOTA_MS = 40


def repeat(step: Step, groups: tuple[Group, ...] = (), patience: int = 1) -> None:
    """A share of the scenarios, each some times. The records of the last run of each are kept, and their account is checked."""
    shard = f"{step.rng.randint(1, SHARDS)}/{SHARDS}"
    saved = step.folder / "saved"
    done = step.harness("run", "--format", "json", "--shard", shard, "--repeat", str(REPEAT), "--patience", str(patience),
                        "--save", str(saved), "scenarios", cwd=ROOT, env={"CI": "1"}, groups=groups)
    step.sane(done, {0, 1})
    for report in step.reports(done, REPEAT):
        if report["verdict"] not in ("pass", "skipped"):
            kind = INCOMPLETE if report["verdict"] == "incomplete" else FAILURE
            step.trouble(kind, f"{report['name']}: {report['verdict']}: {'; '.join(report['reasons'])}")
    for file in sorted(saved.rglob("*.data")):
        step.balanced_file(file)
    step.survivors()
    step.leavings()


def beside(loops: int):
    def step_of(step: Step) -> None:
        with busy_loops(step.lab.bench, loops):
            repeat(step)
    return step_of


@contextmanager
def limited(step: Step, controller: str, values: dict[str, str]) -> Iterator[Group]:
    group = Group.of(controller, f"{controller}-{step.number}")
    if not group:
        raise OSError(f"no control group of {controller}")
    try:
        group.set(values)
        yield group
    finally:
        group.remove()


def pressed(step: Step) -> None:
    """The limit is reached all the time, as pages of the file take what there is: so the kernel reclaims, and kills nobody."""
    file = step.folder / "read"
    with file.open("wb") as sparse:
        sparse.truncate(FILE)
    values = {"memory.limit_in_bytes": str(MEMORY), "memory.max": str(MEMORY)}
    with limited(step, "memory", values) as group:
        reader = ["sh", "-c", 'while :; do cat "$0" > /dev/null; done', str(file)]
        reading = subprocess.Popen(reader, preexec_fn=group.enter)
        try:
            repeat(step, (group,), patience=6)
        finally:
            reading.kill()
            reading.wait()
        if kills := group.number("memory.oom_control", "oom_kill") + group.number("memory.events", "oom_kill"):
            # One of the scenarios is about just that, in a group of its own below this one in version 2.
            step.counted["killed for memory"] += kills
        step.counted["pages reclaimed"] += group.number("memory.stat", "pgpgout")


def throttled(step: Step) -> None:
    quota = QUOTA_MS * 1000
    with limited(step, "cpu", {"cpu.cfs_quota_us": str(quota), "cpu.max": f"{quota} 100000"}) as group:
        repeat(step, (group,), patience=6)
        step.counted["times throttled"] += group.number("cpu.stat", "nr_throttled")


def other_kernel(step: Step) -> None:
    """One folder of scenarios on one kernel of the list."""
    kernels = re.findall(r"^\s*-?\s*name: (\S+)", (ROOT / "harness/kernels.yaml").read_text(), re.MULTILINE)
    folders = sorted(folder.name for folder in (ROOT / "scenarios").iterdir() if list(folder.glob("*.yaml")))
    kernel = step.rng.choice(kernels).strip('"')
    filter_by = f"^{step.rng.choice(folders)}/"
    done = step.harness("matrix", "--kernel", kernel, "--filter", filter_by, "--format", "json", "scenarios", cwd=ROOT, env={"CI": "1"})
    step.sane(done, {0, 1, 77})
    for report in step.reports(done):
        if report["verdict"] not in ("pass", "skipped"):
            step.trouble(FAILURE, f"{report['name']} on {kernel}: {report['verdict']}: {'; '.join(report['reasons'])}")
    step.survivors()
    step.leavings()


def rows(lab: Lab) -> list[Row]:
    def without(controller: str):
        group = Group.of(controller, "tried")
        if group:
            group.remove()
            return None
        return f"no control groups of {controller} can be made here"

    return [
        Row("idle", "scenarios repeated, nothing beside them of ours", repeat),
        Row("two", "scenarios repeated beside two busy loops", beside(2)),
        Row("eight", "scenarios repeated beside eight busy loops", beside(8)),
        Row("memory", f"scenarios repeated in {MEMORY >> 20} MiB that a reader fills", pressed, without("memory")),
        Row("throttled", f"scenarios repeated with {QUOTA_MS} ms of CPU in each 100 ms", throttled, without("cpu")),
        Row("matrix", "a folder of scenarios on another kernel", other_kernel, needs("qemu-system-x86_64"), only_named=True),
    ]
