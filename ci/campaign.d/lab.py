"""A step of a campaign: its folder, its commands, and what is counted when they have ended."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Iterator, Optional

from groups import Group, unified
from measure import Bench, Failed, first_line, perf_counts

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE_S = 20
TIMEOUT_S = 300

# What can be wrong, each a column of the table.
FAILURE, INCOMPLETE, UNBALANCED = "failed", "incomplete", "not conserved"
SURVIVORS, MOUNTS, GROUPS, FOLDERS, HALF = "survivors", "mounts", "groups", "folders", "half-written"
KINDS = [FAILURE, INCOMPLETE, UNBALANCED, SURVIVORS, MOUNTS, GROUPS, FOLDERS, HALF]


@dataclass
class Done:
    """A command that has ended: its status is negative where a signal ended it, None where the campaign had to."""

    words: list[str]
    status: Optional[int]
    stdout: str
    stderr: str
    wall: float

    def lines(self) -> list[dict]:
        return [json.loads(line) for line in self.stdout.splitlines() if line.startswith("{")]

    def said(self) -> str:
        return first_line(self.stderr) if self.stderr.strip() else first_line(self.stdout)


@dataclass
class Lab:
    """What all steps share."""

    harness: Path
    bench: Bench
    shared: dict = field(default_factory=dict)  # what a row keeps for its next steps


class Step:
    """One step of a row. Its number and the campaign's seed decide all that it chooses."""

    def __init__(self, lab: Lab, seed: int, row: str, number: int, folder: Path):
        self.lab, self.number, self.folder = lab, number, folder
        self.rng = random.Random(f"{seed} {row} {number}")
        self.runs = 0
        self.skipped = 0
        self.troubles: list[tuple[str, str]] = []
        self.counted: Counter = Counter()  # what else is worth a number
        self.log: list[str] = []
        for name in ("scenarios", "tmp"):
            (folder / name).mkdir(parents=True)

    def trouble(self, kind: str, text: str) -> None:
        self.troubles.append((kind, text))

    def write(self, path: str, text: str) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HARNESS_CACHE", "XDG_CACHE_HOME") if name in os.environ}
        return {**kept, "HOME": str(self.folder), "LANG": "C", "TMPDIR": str(self.folder / "tmp"), "CAMPAIGN": str(self.folder),
                "GIT_CONFIG_NOSYSTEM": "1"}

    def start(
        self, words: list[str], *, groups: tuple[Group, ...] = (), inside: Optional[Group] = None, cwd: Optional[Path] = None,
        env: Optional[dict[str, str]] = None,
    ) -> "Started":
        """In `groups`; and with `inside` for the hierarchy of control groups that the harness sees, in a mount namespace of its own."""
        command = words
        if inside:
            bind = 'mount --bind "$0" "$1" && shift && exec "$@"'
            command = ["unshare", "--mount", "sh", "-c", bind, str(inside.folder), str(unified()), *words]

        def enter() -> None:
            for group in groups:
                group.enter()

        environment = {**self.environment(), **(env or {})}
        return Started(self, words, command, cwd or self.folder, environment, enter)

    def run(self, words: list[str], timeout: float = TIMEOUT_S, **how) -> Done:
        return self.start(words, **how).wait(timeout)

    def harness(self, *words: str, **how) -> Done:
        return self.run([str(self.lab.harness), *words], **how)

    # What must hold of every command of the harness.

    def survivors(self, groups: tuple[Group, ...] = ()) -> None:
        """Waits for all that the step started to end; what does not is told, and ended."""
        end = time.monotonic() + PATIENCE_S
        while (left := self._living(groups)) and time.monotonic() < end:
            time.sleep(0.005)
        for pid in left:
            self.trouble(SURVIVORS, f"process {pid} lives on: {describe(pid)}")
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def _living(self, groups: tuple[Group, ...]) -> list[int]:
        mark, own = str(self.folder).encode(), os.getpid()
        pids = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        marked = {pid for pid in pids if mark in read(f"/proc/{pid}/environ")}
        marked |= {pid for group in groups for pid in group.members()}
        return sorted(pid for pid in marked if pid != own and not is_dead(pid))

    def leavings(self, inside: Optional[Group] = None) -> None:
        """What is left of mounts, control groups and temporary folders, when all processes are gone."""
        for line in Path("/proc/self/mounts").read_text().splitlines():
            if str(self.folder) in line and line.split()[1] not in self.lab.shared.get("own mounts", ()):
                self.trouble(MOUNTS, line)
        if inside:
            end = time.monotonic() + PATIENCE_S
            while (left := inside.children()) and time.monotonic() < end:
                time.sleep(0.005)
            for name in left:
                self.trouble(GROUPS, f"control group {name}")
        for entry in sorted(self.temporary()):
            self.trouble(FOLDERS, f"left in TMPDIR: {entry}")

    def temporary(self) -> list[str]:
        folder = self.folder / "tmp"
        return os.listdir(folder) if folder.is_dir() else []

    def sane(self, done: Done, statuses: set[int], of_command: frozenset[int] = frozenset()) -> bool:
        """It ended by itself, with a status that is documented, said why where it is no success nor that of the command that it
        traced, and did not panic."""
        what = None
        if done.status is None:
            what = f"no end after {done.wall:.0f} s"
        elif re.search(r"panicked at|RUST_BACKTRACE|internal error", done.stderr):
            what = "it panicked"
        elif done.status not in statuses | of_command:
            what = f"status {done.status} is none of {sorted(statuses | of_command)}"
        elif done.status not in of_command and done.status > 0 and done.status != 77 and not (done.stderr + done.stdout).strip():
            what = f"status {done.status} without a word"
        if what:
            self.trouble(FAILURE, f"{' '.join(done.words)}: {what}: {done.said()}")
        return what is None

    def reports(self, done: Done, repeat: int = 1) -> list[dict]:
        """The lines of scenarios of `run --format json`; those that did not pass are told by the caller, whose
        expectation it is. What cannot be in any of them is told here."""
        lines = [line for line in done.lines() if line.get("type") == "scenario"]
        summary = next((line for line in done.lines() if line.get("type") == "summary"), None)
        if summary is None:
            self.trouble(FAILURE, f"{' '.join(done.words)}: no summary, status {done.status}: {done.said()}")
        for line in lines:
            ran = line["verdict"] != "skipped"
            self.runs += repeat if ran else 0
            self.skipped += 0 if ran else 1
            if line["lost"] and line["verdict"] != "incomplete":
                self.trouble(UNBALANCED, f"{line['name']}: {line['lost']} records lost, and the verdict is {line['verdict']}")
            for text in line["reasons"]:
                self.balanced_text(text)
        return lines

    def balanced_text(self, text: str) -> int:
        """The lines about events in a complaint add up; how much they say is lost."""
        lost = 0
        for found in re.finditer(r"`([^`]+)`: (\d+) counted, (\d+) records(?:, (\d+) overwritten)?, (\d+) (?:lost|missing)", text):
            name, counted, records, overwritten, missing = found.group(1), *(int(number or 0) for number in found.groups()[1:])
            lost += missing
            if counted != records + overwritten + missing:
                self.trouble(UNBALANCED, f"`{name}`: {found.group(0)}")
        return lost

    def balanced_file(self, path: Path) -> None:
        """The account that a recording has, against the records that are in it by a reader that is not the harness."""
        account = account_of(path)
        if account is None:
            self.trouble(UNBALANCED, f"{path.name}: a recording without an account")
            return
        self.counted["accounts"] += 1
        exact = [event for event in account["events"] if not event["sampled"]]
        for event in exact:
            if event["counted"] != event["delivered"] + event["overwritten"] + (event["said_lost"] or 0):
                self.trouble(UNBALANCED, f"{path.name}: {event}")
        try:
            samples = perf_counts(self.lab.bench, path)["samples"]
        except Failed as failed:
            self.trouble(UNBALANCED, f"{path.name}: {failed}")
            return
        delivered = sum(event["delivered"] for event in exact)
        if len(exact) == len(account["events"]) and samples != delivered:
            self.trouble(UNBALANCED, f"{path.name}: {samples} records in the file, {delivered} by its account")


class Started:
    """A command that runs."""

    def __init__(self, step: Step, words: list[str], command: list[str], cwd: Path, environment: dict, enter: Callable[[], None]):
        self.step, self.words = step, words
        # Files, not pipes: what a step leaves behind may hold them open for longer.
        self.outputs = [tempfile.TemporaryFile(dir=step.folder.parent) for _ in range(2)]
        self.began = time.monotonic()
        self.process = subprocess.Popen(command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=self.outputs[0],
                                        stderr=self.outputs[1], preexec_fn=enter)

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def ends_within(self, seconds: float) -> bool:
        try:
            self.process.wait(seconds)
            return True
        except subprocess.TimeoutExpired:
            return False

    def wait(self, timeout: float = TIMEOUT_S) -> Done:
        status: Optional[int]
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            status = None
        wall = time.monotonic() - self.began
        texts = []
        for file in self.outputs:
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
            file.close()
        done = Done(self.words, status, texts[0], texts[1], wall)
        self.step.log.append(f"$ {' '.join(done.words)}\nstatus {status}, {wall:.2f} s\n--- stdout\n{texts[0][-20_000:]}\n--- stderr\n{texts[1][-20_000:]}\n")
        return done


@dataclass
class Row:
    """A row of the table; why it is not there on this machine; whether it runs only where it is named."""

    name: str
    title: str
    step: Callable[[Step], None]
    absent: Optional[str] = None
    only_named: bool = False


def account_of(path: Path) -> Optional[dict]:
    """What the harness keeps in a recording behind all that perf reads: the account is JSON there."""
    data = path.read_bytes()
    at = data.rfind(b'"account":{')
    if at < 0:
        return None
    text = data[at + len(b'"account":'):].decode(errors="replace")
    account, _ = json.JSONDecoder().raw_decode(text)
    return account


def read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def is_dead(pid: int) -> bool:
    """Gone, or ended and not yet reaped."""
    fields = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return not fields or fields[0] in (b"Z", b"X")


def describe(pid: int) -> str:
    words = read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode(errors="replace").strip()
    return f"`{words}` {read(f'/proc/{pid}/stat').decode(errors='replace').strip()[:80]}"


def needs(*programs: str) -> Optional[str]:
    missing = [program for program in programs if not shutil.which(program)]
    return f"{', '.join(missing)}: not installed" if missing else None


def files_below(folder: Path, but: tuple[str, ...] = ()) -> Iterator[str]:
    """The regular files below a folder, by their paths from it."""
    for where, folders, names in os.walk(folder):
        inside = os.path.relpath(where, folder)
        if inside == ".":
            folders[:] = [name for name in folders if name not in but]
        for name in names:
            yield os.path.normpath(os.path.join(inside, name))
