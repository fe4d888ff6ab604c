"""The commands that write, and how it is told whether what they wrote is whole."""

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from lab import FAILURE, HALF, Done, Step, files_below

RUN, TRACE = {0, 1, 2, 77, 99}, {0, 125, 126, 127}
SAVE = "echo new > config.new && sync config.new && mv config.new config"
# What the traced commands themselves write where they run: they are killed, too.
OWN = {"config", "config.new"}
FILES = {
    "scenarios/save.yaml": f"description: a file is replaced\nworkload:\n  shell: {SAVE}\n  files: {{ config: \"old\\n\" }}\n"
                           "trace: { events: [{ syscalls: [\"f*sync\", \"rename*\", write] }] }\n",
    "cut.yaml": f"description: a file is replaced\nworkload:\n  shell: {SAVE.replace('&& sync config.new ', '')}\n"
                "  files: { config: \"old\\n\" }\ntrace: { events: [{ syscalls: [\"f*sync\", \"rename*\"] }] }\n"
                "crash: { recovers: { shell: 'grep -q . config' } }\nsnapshot: false\n",
    "fail.yaml": "description: it is true\nworkload: { run: [\"false\"] }\non_failure: dump\nsnapshot: false\n",
    "old.snap": "---\nsource: x\n---\nwhat was stored\n",
}
# How reports and ends of runs begin and end, whatever the verdict.
ENDS = {
    "r.txt": rb".*\n", "r.json": rb"\{.*\}\n", "r.xml": rb"<\?xml.*</testsuites>\n",
    "r.html": rb"<!doctype html>.*</html>\n", "r.md": rb".*\n", "r.tap": rb"KTAP version 1\n.*\n", "dumps/fail.txt": rb"# fail: .*\n",
    "said.txt": rb".*\n", "rules.yaml": rb"# Written by .*\n",
}


@dataclass
class Command:
    """One that writes into its working directory."""

    name: str
    words: list[str]
    statuses: set[int]
    live: set[str] = field(default_factory=set)  # files that are looked at while they grow: these may be cut
    before: tuple[list[str], ...] = ()  # commands of the harness that make what it takes
    copies: dict[str, str] = field(default_factory=dict)  # what lies elsewhere, too

    def lay(self, step: Step, base: Path) -> dict[str, bytes]:
        for path, text in FILES.items():
            (base / path).parent.mkdir(parents=True, exist_ok=True)
            (base / path).write_text(text)
        for path, source in self.copies.items():
            (base / path).parent.mkdir(parents=True, exist_ok=True)
            (base / path).write_text(FILES[source])
        for words in self.before:
            step.harness(*words, cwd=base)
        return contents(base)


def commands() -> list[Command]:
    reports = [word for ending in ("txt", "json", "xml", "md", "html", "tap") for word in ("--report", f"r.{ending}")]
    shell = ["--", "sh", "-c", SAVE]
    recorded = (["record", "-e", "raw_syscalls:sys_enter", "-o", "perf.data", *shell],)
    return [
        Command("run --update", ["run", "--update", "scenarios"], RUN),
        Command("run --update, a snapshot before it", ["run", "--update", "scenarios"], RUN, copies={"snapshots/save.snap": "old.snap"}),
        Command("run, a snapshot that differs", ["run", "scenarios"], RUN, copies={"snapshots/save.snap": "old.snap"}),
        Command("run --save --report", ["run", "--update", "--save", "saved", *reports, "scenarios"], RUN),
        Command("run --dumps", ["run", "--dumps", "dumps", "--repeat", "3", "fail.yaml"], RUN),
        Command("run --repeat --update", ["run", "--update", "--repeat", "10", "scenarios"], RUN),
        Command("trace -o --save", ["trace", "-o", "trace", "--save", "trace.data", *shell], TRACE, {"trace"}),
        Command("trace --format json", ["trace", "--format", "json", "-o", "trace", *shell], TRACE, {"trace"}),
        Command("record", ["record", "-e", "raw_syscalls:sys_enter", "-o", "perf.data", *shell], TRACE),
        Command("inject", ["inject", "-b", "-i", "perf.data", "-o", "injected.data"], TRACE, before=recorded),
        Command("new", ["new", "-n", "4", "made", "--", "sh", "-c", "echo a > b && mv b c"], RUN),
        Command("calibrate", ["calibrate", "-n", "6", "scenarios/save.yaml"], RUN),
        Command("sweep --write", ["sweep", "--write", "found", "-e", "f*sync,rename*", "scenarios/save.yaml"], RUN),
        Command("crash --write", ["crash", "--write", "found", "cut.yaml"], RUN),
        Command("policy -o", ["policy", "--format", "oci", "-o", "policy.json", "scenarios"], RUN),
        Command("check --learn", ["check", "--learn", "rules.yaml", "-o", "said.txt", *shell], TRACE),
        Command("stat -o", ["stat", "-e", "execve", "-o", "counts.txt", *shell], TRACE),
        Command("man", ["man", "pages"], {0, 1, 2, 99}),
    ]


@dataclass
class Reference:
    """What a command does that nobody disturbs."""

    done: Done
    files: dict[str, bytes]


def reference(step: Step, command: Command) -> Optional[Reference]:
    """Made by the first step that asks for it."""
    made = step.lab.shared.setdefault("references", {})
    if command.name not in made:
        base = step.folder / "reference"
        base.mkdir()
        command.lay(step, base)
        done = step.harness(*command.words, cwd=base)
        step.runs += 1
        if not step.sane(done, command.statuses - {99, 125}):
            return None
        made[command.name] = Reference(done, contents(base))
    return made[command.name]


def contents(base: Path) -> dict[str, bytes]:
    return {path: (base / path).read_bytes() for path in files_below(base, but=("tmp",)) if path not in OWN}


def alike(content: bytes) -> bytes:
    """Without numbers, which differ from run to run."""
    return re.sub(rb"N (ns|us|\xc2\xb5s|ms|s)\b", b"N s", re.sub(rb"[\d.,]+", b"N", content))


def check_targets(step: Step, command: Command, base: Path, before: dict[str, bytes], must_be_there: bool) -> None:
    """Each file is as before, or not there if it was not, or as the command writes it when nobody disturbs it."""
    whole = reference(step, command)
    assert whole
    now = contents(base)
    for path, content in sorted(now.items()):
        if path in command.live or content == before.get(path):
            continue
        if path not in whole.files:
            step.trouble(HALF, f"{command.name}: {path} is left, {len(content)} bytes")
        elif path.endswith(".data"):
            read = subprocess.run([step.lab.harness, "script", "-i", base / path], capture_output=True, check=False)
            if read.returncode:
                said = read.stderr.decode(errors="replace").strip()
                step.trouble(HALF, f"{command.name}: {path}, {len(content)} bytes, cannot be read: {said}")
        elif ends := ENDS.get(path):  # of a run that did not finish it says that
            if not re.fullmatch(ends, content, re.DOTALL):
                step.trouble(HALF, f"{command.name}: {path}: {len(content)} bytes that are cut: {content[-60:]!r}")
        elif alike(content) != alike(whole.files[path]):
            kept = step.folder / "half" / path.replace("/", "_")
            kept.parent.mkdir(exist_ok=True)
            kept.write_bytes(content)
            kept.with_name(kept.name + ".whole").write_bytes(whole.files[path])
            step.trouble(HALF, f"{command.name}: {path}: {len(content)} bytes and not like the {len(whole.files[path])} of one undisturbed")
    for path in sorted(before.keys() - now.keys() - command.live):
        if path in whole.files:
            step.trouble(HALF, f"{command.name}: {path} was there and is gone")
    missing = sorted(whole.files.keys() - now.keys())
    if must_be_there and missing:
        step.trouble(FAILURE, f"{command.name} ended as if all were well, and {', '.join(missing)} is not there")
