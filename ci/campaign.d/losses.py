"""Losses that are planted, which must be told, and the great workloads, of which nothing may be lost."""

import json
import os
import re
import signal
import time
from itertools import product
from pathlib import Path

from lab import FAILURE, INCOMPLETE, UNBALANCED, Done, Lab, Row, Step, needs
from measure import Failed, Run, perf_counts
from workloads import Scale, busy_loops, generated_repository, harness_lost, json_lost
from workloads import Row as Workload
from workloads import rows as workloads

GETPPID = "syscalls:sys_enter_getppid"


def planted(step: Step) -> None:
    kinds = [backlog, stopped_reader, scenario, recording]
    kind = step.rng.choice(kinds)
    step.counted[kind.__name__] += 1
    step.runs += 1
    kind(step)
    step.survivors()
    step.leavings()


def told(step: Step, done: Done, lines: list[dict], calls: range) -> None:
    """As JSON of a trace that lacks something: each number agrees with the others and with what was planted."""
    step.sane(done, {125})
    missing = step.balanced_text(done.stderr)
    summary = lines[-1] if lines else {}
    if summary.get("type") != "summary" or summary.get("complete") is not False:
        step.trouble(FAILURE, f"a loss was planted, and the summary is {summary}")
        return
    if summary["lost"] < missing or missing == 0:
        step.trouble(UNBALANCED, f"{missing} lost by the complaint, {summary['lost']} by the summary")
    if len(lines) - 1 != summary["events"]:
        step.trouble(UNBALANCED, f"{len(lines) - 1} lines, {summary['events']} by the summary")
    counted = re.search(rf"`{GETPPID}`: (\d+) counted", done.stderr)
    if counted and int(counted.group(1)) not in calls:
        step.trouble(UNBALANCED, f"{counted.group(1)} calls counted of {calls.start} that were made")


def json_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def unread(step: Step, flood: str) -> str:
    """What a shell does to have a flood that nobody reads, by `stopped`."""
    os.mkfifo(step.folder / "go")
    folder = step.folder
    return f"echo ready > {folder}/ready; read go < {folder}/go; {flood}; echo done > {folder}/done"


def stopped(step: Step, words: list[str]) -> Done:
    """The harness is stopped from before the flood until after its end: however fast it reads, it cannot."""
    started = step.start([str(step.lab.harness), *words])
    end = time.monotonic() + 60

    def wait_for(name: str) -> None:
        while not (step.folder / name).exists() and time.monotonic() < end and not started.ends_within(0.002):
            pass

    wait_for("ready")
    started.send(signal.SIGSTOP)
    (step.folder / "go").write_text("go\n")
    wait_for("done")
    started.send(signal.SIGCONT)
    return started.wait()


def backlog(step: Step) -> None:
    """No room to wait in, and a reader of the trace that comes late: a pipe that nobody reads until the command is done."""
    script = f'"$0" getppid {step.rng.randrange(200_000, 300_000)}; echo done > done'
    fifo = step.folder / "pipe"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    words = [str(step.lab.harness), "trace", "-m", "8MiB", "--backlog", "1KiB", "-o", str(fifo), "--", "sh", "-c", script]
    started = step.start([*words, step.lab.bench.helper("load")])
    end = time.monotonic() + 60
    while not (step.folder / "done").exists() and time.monotonic() < end:
        started.ends_within(0.01)
    os.set_blocking(reader, True)
    size = 0
    while block := os.read(reader, 1 << 16):
        size += len(block)
    os.close(reader)
    done = started.wait()
    step.sane(done, {125})
    if step.balanced_text(done.stderr) == 0:
        step.trouble(FAILURE, f"the backlog was planted full, and nothing is said to be lost; {size} bytes of trace: {done.said()}")


def stopped_reader(step: Step) -> None:
    calls = step.rng.randrange(50_000, 100_000)
    size = step.rng.choice(["4KiB", "64KiB"])
    script = unread(step, f"{step.lab.bench.helper('load')} getppid {calls}")
    done = stopped(step, ["trace", "-m", size, "--format", "json", "-o", "trace", "-e", GETPPID, "--", "sh", "-c", script])
    # A shell asks for its parent once.
    told(step, done, json_lines(step.folder / "trace"), range(calls, calls + 2))


def scenario(step: Step) -> None:
    """Rings of a page in a scenario, which would pass if nothing were missing."""
    keys = step.rng.choice(["snapshot: false", "expect_failure: it is known to lose", "expect: { count: { connect: 0 } }\nsnapshot: false"])
    script = unread(step, f"{step.lab.bench.helper('load')} getppid 30000")
    step.write("scenarios/flood.yaml", (
        f"description: a flood\nsandbox: {{ root: host }}\nworkload:\n  shell: \"{script}\"\n"
        f"trace: {{ ring: {{ size: 4KiB }} }}\n{keys}\n"
    ))
    done = stopped(step, ["run", "--format", "json", "--update", "scenarios"])
    step.sane(done, {1})
    for report in step.reports(done):
        if report["verdict"] != "incomplete" or not report["lost"]:
            step.trouble(FAILURE, f"a loss was planted, and the verdict is {report['verdict']}, {report['lost']} lost")
        if sum(map(step.balanced_text, report["reasons"])) > report["lost"]:
            step.trouble(UNBALANCED, f"{report['lost']} lost, and the reasons say more: {report['reasons']}")
    if (step.folder / "snapshots").exists() and os.listdir(step.folder / "snapshots"):
        step.trouble(FAILURE, "a snapshot of an incomplete run")


def recording(step: Step) -> None:
    """A recording in rings of a page; another reader counts what is in it and what it says is lost."""
    calls = step.rng.randrange(50_000, 100_000)
    script = unread(step, f"{step.lab.bench.helper('load')} getppid {calls}")
    done = stopped(step, ["record", "-m", "4K", "-e", GETPPID, "-o", "data", "--", "sh", "-c", script])
    step.sane(done, {125})
    try:
        counts = perf_counts(step.lab.bench, step.folder / "data")
    except Failed as failed:
        step.trouble(UNBALANCED, f"the recording: {failed}")
        return
    # A shell asks for its parent once, and among what a ring lost may be records of tasks, which are no calls.
    if counts["samples"] + counts["lost"] - calls not in range(20):
        step.trouble(UNBALANCED, f"{counts['samples']} records and {counts['lost']} lost, of {calls} calls")
    if step.balanced_text(done.stderr) - (calls - counts["samples"]) not in range(2):
        step.trouble(UNBALANCED, f"{counts['samples']} records of {calls} calls, and it says: {done.stderr.strip()}")


# The proof of issue 19: workloads, loops beside them, and forms.
LOOPS = (0, 2, 8)
FORMS = ("text", "json", "scenario")


def whole(step: Step) -> None:
    """One cell of the table; the cells come one after the other, so that each has been tried as often as the others."""
    lab = step.lab
    if "workloads" not in lab.shared:
        quick = lab.shared.get("quick", False)
        lab.shared["workloads"] = workloads(lab.bench, scale(quick), quick)
        lab.shared["repository"] = generated_repository(lab.bench.scratch, 500 if quick else 10_000)
    cells = list(product(range(len(lab.shared["workloads"])), FORMS, LOOPS))
    place, form, loops = cells[step.number % len(cells)]
    workload: Workload = lab.shared["workloads"][place]
    with busy_loops(lab.bench, loops):
        lost = traced_whole(step, workload, form)
    step.runs += 1
    step.counted[f"{workload.title}, {form}, {loops} loops"] += 1
    if lost:
        step.trouble(INCOMPLETE, f"{workload.title}, {form}, {loops} loops: {lost} records lost")
    step.survivors()
    step.leavings()


def scale(quick: bool) -> Scale:
    from argparse import Namespace
    return Scale.chosen(Namespace(quick=quick, rounds=1))


def traced_whole(step: Step, workload: Workload, form: str) -> int:
    """How much was lost."""
    repository, out = step.lab.shared["repository"], step.folder / "out"
    calls = int(workload.full[-1]) if workload.name == "getppid" else None
    if form == "scenario":
        count = f"getppid: {calls}" if calls else "exit_group: \"1..\""
        step.write("scenarios/whole.yaml", (
            f"description: all is counted\nworkload: {{ run: {json.dumps(in_folder(workload.full, repository))}, timeout: 280s }}\nsandbox: none\n"
            f"expect: {{ count: {{ {count} }} }}\nsnapshot: false\n"
        ))
        done = step.harness("run", "--format", "json", "scenarios")
        step.sane(done, {0, 1})
        reports = step.reports(done)
        step.runs -= len(reports)
        for report in reports:
            if report["verdict"] not in ("pass", "incomplete"):
                step.trouble(FAILURE, f"{workload.title}: {report['verdict']}: {report['reasons']}")
        return sum(report["lost"] for report in reports)
    done = step.harness("trace", "--format", form, "-o", str(out), "--", *workload.full, cwd=repository)
    step.sane(done, {0, 125})
    step.balanced_text(done.stderr)
    if form == "text":
        made = sum(" getppid(" in line for line in out.open(errors="replace")) if calls else None
        lost = harness_lost(Run([done.wall], 0, 0, done.status or 0, done.stderr)) or 0
    else:
        made, lines = 0, 0
        with out.open() as file:
            for line in file:
                made += '"name":"getppid"' in line
                lines += 1
        lost = json_lost(out)
        summary = json.loads(line)
        if lines - 1 != summary["events"] or summary["complete"] != (lost == 0):
            step.trouble(UNBALANCED, f"{lines - 1} lines, and the summary is {summary}")
    if calls and not lost and made != calls:
        step.trouble(UNBALANCED, f"{made} calls in a whole trace of {calls}")
    out.unlink()
    return lost


def in_folder(command: list[str], folder: Path) -> list[str]:
    return ["env", "-C", str(folder), *command]


def rows(lab: Lab) -> list[Row]:
    return [
        Row("planted", "losses that are planted are told", planted),
        Row("whole", "five great workloads, three loads, three forms: nothing is lost", whole, needs("git", "find", "dd")),
    ]
